//! What entries say, as texts.

use std::sync::Arc;

use serde_json::Value;

use super::{EntryStatement, SignedLedger};
use crate::json::RoundPrecedentJson;
use andon_core::domain::briefing::HumanDecision;
use andon_core::domain::plural::count;
use andon_core::domain::time::Timestamp;
use andon_git::Repo;
use andon_review::payload::vote::VoteChoice;
use andon_review::precedents::Precedent;
use andon_review::round::RoundState;
use andon_store::ledger::Ledger;

impl SignedLedger {
    /// Reads what `entries` say, where a remembered ledger does not hold it. One that cannot be read says nothing.
    pub fn fetch(&mut self, repo: &Repo, entries: impl IntoIterator<Item = usize>) {
        for at in entries {
            let entry = &mut self.entries[at];
            if entry.body.is_empty()
                && let Some(said) = Ledger::open(repo).said(entry.commit)
            {
                entry.body = Arc::new(said);
            }
        }
    }

    /// A text of an entry.
    pub fn text(&self, entry: usize, name: &str) -> Option<String> {
        text(&self.entries[entry].body, name)
    }

    /// What a round asks; of a halt its message.
    pub fn question(&self, round: usize) -> String {
        self.text(round, "question").or_else(|| self.text(round, "message")).unwrap_or_default()
    }

    /// The decision: a resolution has it itself, a revealed ballot in its ballot.
    pub fn vote(&self, entry: usize) -> &EntryStatement {
        let body = &self.entries[entry].body;
        body.get("ballot").and_then(Value::as_object).unwrap_or(body)
    }

    /// What the folds know of the round of `entry`.
    pub fn round(&self, entry: usize) -> Option<&RoundState> {
        let state = &self.folded.state;
        state.round_at.get(&entry).map(|at| &state.rounds[*at])
    }

    /// The reason for a vote.
    pub fn rationale(&self, vote: usize) -> String {
        text(self.vote(vote), "rationale").unwrap_or_default()
    }

    /// How a vote was given, where that leaves open who gave it.
    pub fn given(&self, vote: usize) -> Option<String> {
        let given = self.vote(vote).get("given")?.as_object()?;
        if given.get("terminal").and_then(Value::as_bool) != Some(false) {
            return None;
        }
        Some(match given.get("unmarked_above").and_then(Value::as_u64) {
            None | Some(0) => "given without a terminal; nothing is known of the processes above".to_owned(),
            Some(seen) => {
                format!("given without a terminal; no agent's marker in {} above", count(seen, "process"))
            }
        })
    }

    /// A precedent for readers.
    pub fn precedent(&self, found: Precedent) -> RoundPrecedentJson {
        let (round, standing) = (self.entries[found.round].id.to_string(), found.standing.name());
        let tags = found.tags.iter().cloned().collect();
        let HumanDecision { question, decision, words, rationale, by, .. } = self.decided(found);
        RoundPrecedentJson { round, question, decision, words, rationale, standing, by, tags }
    }

    /// What people decided, in words.
    pub fn decided(&self, found: Precedent) -> HumanDecision {
        let vote = found.votes.first().copied().unwrap_or(found.round);
        HumanDecision {
            round: self.short(found.round),
            question: self.question(found.round),
            decision: text(self.vote(vote), "decision").unwrap_or(found.key),
            words: self.words(found.round, vote),
            rationale: self.rationale(vote),
            by: found.by.into_iter().collect(),
            at: Timestamp(self.folded.graph.eff[vote]),
        }
    }

    /// What the worker is to do after the vote of the entry `vote`: the amended text, or the text that was accepted.
    pub fn words(&self, round: usize, vote: usize) -> Option<String> {
        let said = self.vote(vote);
        let choice = text(said, "decision")?;
        if choice == VoteChoice::Amend.name() {
            return text(said, "amended_recommendation");
        }
        let state = &self.folded.state;
        if state.round_at.get(&round).is_none_or(|at| state.rounds[*at].is_halt) {
            return None;
        }
        let verdict = || self.entries[round].body.get("verdict")?.as_object();
        match VoteChoice::ALL.into_iter().find(|known| known.name() == choice)? {
            VoteChoice::AcceptProposer => self.text(round, "claim"),
            VoteChoice::AcceptOpposer => self.text(round, "critique"),
            VoteChoice::AcceptSynthesis => text(verdict()?, "recommendation"),
            VoteChoice::RejectRound | VoteChoice::Amend => None,
        }
    }

    /// What the worker is to do after the decision of `round` that is in force.
    pub fn decided_words(&self, round: &RoundState) -> Option<String> {
        let vote = *round.decision()?.votes.first()?;
        self.words(round.entry, self.folded.state.votes.all[vote].entry)
    }

    /// Reads what [`Self::decided`] needs of `found`, where a remembered ledger does not hold it.
    pub fn fetch_decided(&mut self, repo: &Repo, found: &[Precedent]) {
        let votes = found.iter().flat_map(|found| found.votes.first().into_iter().chain([&found.round]));
        self.fetch(repo, votes.copied().collect::<Vec<_>>());
    }
}

fn text(body: &EntryStatement, name: &str) -> Option<String> {
    body.get(name).and_then(Value::as_str).map(str::to_owned)
}
