//! The texts of entries.

use std::{collections::HashMap, sync::Arc};

use serde::{Deserialize, de::DeserializeOwned};

use super::{EntryStatement, SignedLedger, look};
use crate::{Workspace, json::RoundPrecedentJson};
use andon_core::domain::{HumanDecision, Timestamp, plural::count};
use andon_git::Repo;
use andon_review::payload::{fields::lenient, member::read};
use andon_review::{
    Precedent, PrecedentQuery, PrecedentStatus, ResolutionSubject, RoundPayload, RoundState, VoteChoice,
    VotePayload, Words,
};
use andon_store::{Ledger, WholeEntry, ledger::REF_PREFIX};

/// The type of entries that open a ballot.
const REVEAL: &str = "ballot-reveal";

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

    /// The subject of a resolution; a revealed ballot names neither halt nor code.
    pub fn resolved(&self, vote: usize) -> Option<ResolutionSubject> {
        self.said(vote).filter(|_| self.entries[vote].kind != REVEAL)
    }

    /// The body of an entry as the payload `T`; `None` where it is another.
    pub fn said<T: DeserializeOwned>(&self, entry: usize) -> Option<T> {
        read(&self.entries[entry].body).ok()
    }

    /// The question of a round, or the message of a halt.
    pub fn question(&self, round: usize) -> String {
        let said: Option<Subject> = self.said(round);
        said.and_then(|said| said.question.or(said.message)).unwrap_or_default()
    }

    /// The decision as it was signed: a resolution has it itself, a revealed ballot in its ballot.
    pub fn vote(&self, entry: usize) -> &EntryStatement {
        let WholeEntry { kind, body, .. } = &self.entries[entry];
        let ballot = Some(body).filter(|_| kind == REVEAL).and_then(|body| body.get("ballot")?.as_object());
        ballot.unwrap_or(body)
    }

    /// The same as the payload that it is.
    pub fn voted(&self, entry: usize) -> Option<VotePayload> {
        read(self.vote(entry)).ok()
    }

    /// The circumstances of a vote, where they leave open who gave it.
    pub fn given(&self, vote: usize) -> Option<String> {
        let given = self.voted(vote)?.given.filter(|given| given.terminal == Some(false))?;
        Some(match given.unmarked_above {
            None | Some(0) => "given without a terminal; nothing is known of the processes above".to_owned(),
            Some(seen) => {
                format!("given without a terminal; no agent's marker in {} above", count(seen, "process"))
            }
        })
    }

    pub fn precedent(&self, found: Precedent) -> RoundPrecedentJson {
        let (round, standing) = (self.entries[found.round].id.to_string(), found.standing.to_string());
        let tags = found.tags.iter().cloned().collect();
        let HumanDecision { question, decision, words, rationale, by, .. } = self.decided(found);
        RoundPrecedentJson { round, question, decision, words, rationale, standing, by, tags }
    }

    /// A decision, in words.
    pub fn decided(&self, found: Precedent) -> HumanDecision {
        let vote = found.votes.first().copied().unwrap_or(found.round);
        let said = self.voted(vote);
        HumanDecision {
            round: self.short(found.round),
            question: self.question(found.round),
            decision: said.as_ref().map_or(found.key, |said| said.decision.to_string()),
            words: said.as_ref().and_then(|said| self.words(found.round, said)),
            rationale: said.map(|said| said.rationale.0).unwrap_or_default(),
            by: found.by.into_iter().collect(),
            at: Timestamp(self.folded.graph.eff[vote]),
        }
    }

    /// The instruction that a vote on `round` gives the worker: the amended text, or the text that was accepted.
    pub fn words(&self, round: usize, vote: &VotePayload) -> Option<String> {
        if vote.decision == VoteChoice::Amend {
            return vote.amended_recommendation.as_ref().map(|text| text.0.clone());
        }
        let is_halt = self.folded.round(round).is_none_or(|state| state.is_halt);
        let said: RoundPayload = self.said(round).filter(|_| !is_halt)?;
        match vote.decision {
            VoteChoice::AcceptProposer => said.claim,
            VoteChoice::AcceptOpposer => said.critique,
            VoteChoice::AcceptSynthesis => said.verdict?.recommendation,
            VoteChoice::RejectRound | VoteChoice::Amend => None,
        }
    }

    /// The instruction of the decision of `round` that is in force.
    pub fn decided_words(&self, round: &RoundState) -> Option<String> {
        let vote = *round.decision()?.votes.first()?;
        self.words(round.entry, &self.voted(self.folded.state.votes.all[vote].entry)?)
    }

    /// Reads what [`Self::decided`] needs of `found`, where a remembered ledger does not hold it.
    pub fn fetch_decided(&mut self, repo: &Repo, found: &[Precedent]) {
        let votes = found.iter().flat_map(|found| found.votes.first().into_iter().chain([&found.round]));
        self.fetch(repo, votes.copied().collect::<Vec<_>>());
    }
}

/// The subject of a round; the entry may be a stranger's.
#[derive(Deserialize)]
struct Subject {
    #[serde(default, deserialize_with = "lenient")]
    question: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    message: Option<String>,
}

/// Decisions that are named to an agent which starts a session.
const NEAREST: usize = 2;

/// The nearest valid decisions; none where the ledger cannot be read, because nothing depends on them.
pub fn nearest(ws: &Workspace, about: &str) -> Vec<HumanDecision> {
    let is_empty = ws.repo.refs_with_prefix(REF_PREFIX).map_or(true, |refs| refs.is_empty());
    if is_empty || about.trim().is_empty() {
        return Vec::new();
    }
    let Ok(mut ledger) = look(ws) else { return Vec::new() };
    let about = Words::new(about);
    let all = ledger.folded.precedents(&PrecedentQuery::default()).into_iter();
    let all: Vec<Precedent> = all.filter(|found| found.standing == PrecedentStatus::Current).collect();
    let halts: Vec<usize> =
        ledger.folded.state.rounds.iter().filter(|round| round.is_halt).map(|round| round.entry).collect();
    ledger.fetch(&ws.repo, halts);
    let votes = ledger.folded.state.votes.all.iter();
    let reasons: HashMap<usize, &Words> = votes.map(|vote| (vote.entry, &vote.said.rationale)).collect();
    let near = all.into_iter().map(|found| {
        let asked = question_words(&ledger, &found);
        let all = reasons
            .get(found.votes.first().unwrap_or(&found.round))
            .map_or_else(|| asked.clone(), |reason| asked.and(reason));
        (about.compare(&all).cosine, found)
    });
    let mut near: Vec<(f64, Precedent)> = near.filter(|(likeness, _)| *likeness > 0.0).collect();
    // The sort is stable: of two that are as near the newer one goes first.
    near.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    near.truncate(NEAREST);
    let near: Vec<Precedent> = near.into_iter().map(|(_, found)| found).collect();
    ledger.fetch_decided(&ws.repo, &near);
    near.into_iter().map(|found| ledger.decided(found)).collect()
}

/// The words of what was asked; a halt asks by its message.
fn question_words(ledger: &SignedLedger, found: &Precedent) -> Words {
    match ledger.folded.round(found.round) {
        Some(round) if !round.is_halt => round.question.clone(),
        Some(_) | None => Words::new(&ledger.question(found.round)),
    }
}
