//! Appending what a person or an orchestrator says. Before anything is signed, the entry is folded in where it would
//! stand: what would be invalid is refused with its reason, and never appended.

use std::collections::BTreeSet;

use serde_json::Value;

use super::faults::reason;
use super::{Said, SignedLedger};
use crate::domain::ids::EntryId;
use crate::domain::time::Timestamp;
use crate::engine::context::Context;
use crate::engine::error::OpsError;
use crate::engine::workspace::Workspace;
use crate::ledger::{EvidenceText, Ledger, NewEntry};
use crate::review::entry::ReviewEntry;
use crate::review::fold;
use crate::signing::Signer;

/// Most witnesses who are asked whether they may take a round.
const MAX_ASKED: usize = 16;

/// An entry to be appended.
#[derive(Debug, Clone, Copy)]
pub struct Draft<'a> {
    /// Its type.
    pub kind: &'static str,
    /// What it says.
    pub said: &'a Said,
    /// Texts beside it.
    pub evidence: &'a [EvidenceText],
    /// Who signs it; nobody for what agents write.
    pub signer: Option<&'a Signer>,
}

impl SignedLedger {
    /// Appends a draft.
    ///
    /// # Errors
    /// [`OpsError::Refused`] with the rule that forbids it; or it could not be signed or written.
    pub fn append(&self, ctx: &Context, ws: &Workspace, draft: &Draft<'_>) -> Result<EntryId, OpsError> {
        self.allow(ctx, draft)?;
        let new = NewEntry {
            kind: draft.kind,
            ledger: self.id,
            body: draft.said,
            evidence: draft.evidence,
            at: ctx.now,
        };
        Ok(Ledger::open(&ws.repo).append_open(&new, draft.signer)?)
    }

    /// Whether a draft would be valid here and now.
    ///
    /// # Errors
    /// [`OpsError::Refused`] with the rule that forbids it.
    pub fn allow(&self, ctx: &Context, draft: &Draft<'_>) -> Result<(), OpsError> {
        let mut entries = self.review.clone();
        let new = entries.len();
        // A head from the future is no parent of what is appended.
        let is_now = |at: &usize| self.review[*at].at <= ctx.now.0.saturating_add(300);
        let parents: Vec<usize> = self.heads().into_iter().filter(is_now).collect();
        entries.push(ReviewEntry {
            id: "this entry".to_owned(),
            rank: [0xff; 32],
            writer: "here".to_owned(),
            at: ctx.now.0,
            kind: draft.kind.to_owned(),
            signer: draft.signer.map(|signer| signer.public().to_string()),
            // Only the signature itself will tell.
            touched: draft.signer.is_some_and(|signer| signer.public().is_hardware()),
            parents,
            body: draft.said.clone(),
        });
        let folded = fold::fold(&entries, ctx.now.0);
        let Some(code) = folded.state.codes.get(&new) else { return Ok(()) };
        let (what, help) = reason(self, &entries[new], *code);
        Err(OpsError::Refused { what, help })
    }
}

impl SignedLedger {
    /// Who may take each of `rounds` now: everybody named by the policy tries, and what the rules say of that is asked.
    pub fn may_accept(&self, now: Timestamp, rounds: &[usize]) -> Vec<Vec<String>> {
        let mut may = vec![Vec::new(); rounds.len()];
        let keys = &self.folded.authority.at_end.keys;
        let witnesses = self.folded.authority.at_end.witnesses.iter().take(MAX_ASKED);
        for who in witnesses.filter(|_| !rounds.is_empty()) {
            let key =
                keys.values().find(|grant| grant.who == *who && !self.folded.authority.is_out(&grant.key));
            let Some(key) = key else { continue };
            let heads = self.heads();
            let mut entries = self.review.clone();
            entries.extend(rounds.iter().enumerate().map(|(number, round)| ReviewEntry {
                id: format!("try {number}"),
                rank: [0xff; 32],
                writer: "here".to_owned(),
                at: now.0,
                kind: "accept".to_owned(),
                signer: Some(key.key.clone()),
                touched: true,
                parents: heads.clone(),
                body: said(serde_json::json!({"round": self.review[*round].id})),
            }));
            let folded = fold::fold(&entries, now.0);
            for (number, may) in may.iter_mut().enumerate() {
                if !folded.state.codes.contains_key(&(self.review.len() + number)) {
                    may.push(who.clone());
                }
            }
        }
        may
    }

    /// The entries that nothing follows yet.
    fn heads(&self) -> Vec<usize> {
        let parents: BTreeSet<usize> =
            self.review.iter().flat_map(|entry| entry.parents.iter().copied()).collect();
        (0..self.review.len()).filter(|at| !parents.contains(at)).collect()
    }
}

/// An object as what an entry says.
pub fn said(value: Value) -> Said {
    match value {
        Value::Object(said) => said,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => Said::new(),
    }
}
