//! What entries say, as texts.

use std::sync::Arc;

use serde_json::Value;

use super::{EntryStatement, SignedLedger};
use crate::json::RoundPrecedentJson;
use andon_core::domain::counted::count;
use andon_git::Repo;
use andon_review::precedents::Precedent;
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

    /// A precedent for readers, without its reason.
    pub fn precedent(&self, found: Precedent) -> RoundPrecedentJson {
        RoundPrecedentJson {
            round: self.entries[found.round].id.to_string(),
            question: self.question(found.round),
            decision: found.key,
            standing: found.standing.name(),
            by: found.by.into_iter().collect(),
            tags: found.tags.into_iter().collect(),
        }
    }
}

fn text(body: &EntryStatement, name: &str) -> Option<String> {
    body.get(name).and_then(Value::as_str).map(str::to_owned)
}
