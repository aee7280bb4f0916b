//! Commits that the gate refused for untested code, one after another: each with new code is an attempt.

use serde::{Deserialize, Serialize};

use crate::domain::events::CommitRefused;
use crate::domain::ids::CodeId;
use crate::domain::time::Timestamp;

/// Refused commits since the newest commit, run of the tests or answer.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Refusals {
    /// Those whose code was not that of the one before.
    pub times: u64,
    /// The newest.
    pub newest: Option<RefusedCode>,
}

/// Code that was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedCode {
    /// Its fingerprint.
    pub code: CodeId,
    /// The rule that refused it.
    pub rule: String,
    /// When, where that is known.
    pub at: Option<Timestamp>,
}

impl Refusals {
    /// Whether a refusal of `code` is a new attempt.
    pub fn is_new(&self, code: CodeId) -> bool {
        self.newest.as_ref().is_none_or(|newest| newest.code != code)
    }

    /// Takes the next one.
    pub(super) fn take(&mut self, refused: CommitRefused, at: Option<Timestamp>) {
        if self.is_new(refused.code) {
            self.times = self.times.saturating_add(1);
        }
        self.newest = Some(RefusedCode { code: refused.code, rule: refused.rule, at });
    }
}
