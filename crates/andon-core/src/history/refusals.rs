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

/// Refused commits as attempts, since the newest iteration. The last one may still be tested and committed, as it is or
/// after a repair, and then counts as that commit; those before it were given up, and are iterations of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RefusedAttempts {
    /// Those that another one followed.
    pub given_up: u64,
    /// The code of the last one.
    pub open: Option<CodeId>,
}

impl RefusedAttempts {
    /// Takes the next one. Code that is there already, as a commit, as the end of a turn or as the last refused commit,
    /// is no new attempt.
    pub(super) fn take(&mut self, code: CodeId, known: Option<CodeId>) {
        if self.open == Some(code) || (self.open.is_none() && known == Some(code)) {
            return;
        }
        self.given_up = self.counted();
        self.open = Some(code);
    }

    /// How many there are.
    pub fn counted(self) -> u64 {
        self.given_up.saturating_add(u64::from(self.open.is_some()))
    }
}
