//! Appending what a person or an orchestrator says. Before anything is signed, the entry is folded in where it would
//! stand: what would be invalid is refused with its reason, and never appended.

use serde_json::Value;

use super::faults::reason;
use super::{Said, SignedLedger};
use crate::domain::ids::EntryId;
use crate::engine::context::Context;
use crate::engine::error::OpsError;
use crate::engine::workspace::Workspace;
use crate::ledger::{EvidenceText, Ledger, NewEntry};
use crate::review::entry::ReviewEntry;
use crate::review::fold;
use crate::signing::Signer;

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
        let is_parent = |at: &usize| !entries.iter().any(|entry| entry.parents.contains(at));
        // A head from the future is no parent of what is appended.
        let is_now = |at: &usize| self.review[*at].at <= ctx.now.0.saturating_add(300);
        let parents: Vec<usize> = (0..new).filter(is_parent).filter(is_now).collect();
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

/// An object as what an entry says.
pub fn said(value: Value) -> Said {
    match value {
        Value::Object(said) => said,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => Said::new(),
    }
}
