//! Test runs between two iterations as attempts: each on code that was edited since the one before is one.
//!
//! Commits that the gate refused for untested code, one after another: each with new code is an attempt.

use std::{borrow::Cow, collections::BTreeSet};

use serde::{Deserialize, Serialize};

use super::outcome::{failing_count, outcome};
use super::{Outcome, push_bounded};
use crate::domain::{
    CodeId, CommitRefused, RunValidity, Signature, TestEvidence, TestRun, TestStatus, Timestamp,
};
use testreport::stable_id;

/// Runs in a row that are given credit because they fail where the tests failed before any edit.
const CREDITS: u64 = 5;
/// Failing counts that are remembered, the newest.
const MAX_COUNTS: usize = 16;

/// Failed runs in a row since the newest commit, end of a turn, answer or passing run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RedRuns {
    /// Those in a row that failed in the same way.
    pub same: u64,
    /// Those in a row without a new low of the failing count, and without more tests passing than ever.
    pub stuck: u64,
    /// The failing tests of the newest one. Untrusted text.
    pub failing: Vec<String>,
    /// The code of the newest one.
    pub code: Option<CodeId>,
    /// The signature of the newest one.
    pub signature: Option<Signature>,
    /// Failing counts of the newest ones, oldest first: the trend within a turn.
    #[serde(default)]
    pub counts: Vec<u64>,
    /// The codes of the newest two that are held against the turn, oldest first.
    codes: [Option<CodeId>; 2],
    /// Those in a row whose code is that of the one before the last.
    returns: u64,
    errors: Option<Signature>,
    /// The command of the newest one.
    #[serde(default)]
    command: String,
    /// The number of tests that it ran, as far as it was seen.
    #[serde(default)]
    total: u64,
    /// It was a part of the tests, or was seen in part.
    #[serde(default)]
    in_part: bool,
    /// The tests that failed before any edit.
    before: BTreeSet<String>,
    credit: u64,
    low: Option<u64>,
    passed: u64,
    /// The fewest errors of builds that failed.
    #[serde(default)]
    low_of_build: Option<u64>,
}

impl RedRuns {
    /// Takes the next run that proves something, or claims to fail, while `committed` is the newest commit's code.
    pub(super) fn take(&mut self, run: &TestRun, committed: Option<CodeId>) {
        let tests = &run.evidence;
        match outcome(tests) {
            Outcome::Green => *self = Self::default(),
            Outcome::Red if is_unedited(run, committed) => self.unedited(tests),
            Outcome::Red if self.code != Some(tests.code) => self.failed(tests),
            Outcome::Red | Outcome::Stopped | Outcome::Nothing => {}
        }
    }

    /// Takes a run that shows a part of the tests, or of which a part was seen. Green ends the row where it shows what was red:
    /// the same command, or at least as many tests.
    pub(super) fn take_part(&mut self, run: &TestRun, committed: Option<CodeId>) {
        let tests = &run.evidence;
        let is_part =
            matches!(run.validity, RunValidity::Seen | RunValidity::OtherCommand | RunValidity::Filtered);
        if !is_part || tests.counts().ran() == 0 {
            return;
        }
        match outcome(tests) {
            Outcome::Green if tests.command == self.command || tests.passed >= self.total => {
                *self = Self::default();
            }
            Outcome::Red if is_unedited(run, committed) && self.code.is_none() => self.unedited(tests),
            Outcome::Red if self.code != Some(tests.code) && !is_unedited(run, committed) => {
                let same = self.shows_alike(tests);
                self.in_part = true;
                self.counted(tests, if same { Likeness::Same } else { Likeness::Other });
            }
            Outcome::Green | Outcome::Red | Outcome::Stopped | Outcome::Nothing => {}
        }
    }

    /// Returns whether two red runs, of which parts are known, may be the same failure: the names that one shows are among those of
    /// the other, or neither shows any.
    fn shows_alike(&self, tests: &TestEvidence) -> bool {
        let ours: BTreeSet<_> = self.failing.iter().map(|id| stable_id(id)).collect();
        let theirs: BTreeSet<_> = tests.compared().collect();
        match (ours.is_empty(), theirs.is_empty()) {
            (false, false) => ours.is_subset(&theirs) || theirs.is_subset(&ours),
            (true, true) => self.code.is_some() && self.command == tests.command,
            (true, false) | (false, true) => self.code.is_some(),
        }
    }

    /// Takes a run that was handed in and passed. It proves nothing, but a loop whose tests pass by turns is not stuck. What
    /// another command said (a linter beside the tests) changes nothing.
    pub(super) fn take_claim(&mut self, tests: &TestEvidence) {
        if outcome(tests) == Outcome::Green && tests.command == self.command {
            *self = Self::default();
        }
    }

    /// A run on what is committed: nothing was tried yet.
    fn unedited(&mut self, tests: &TestEvidence) {
        let before = tests.compared().map(Cow::into_owned).collect();
        let (code, passed, command) = (Some(tests.code), tests.passed, tests.command.clone());
        *self = Self { before, code, passed, command, low: failing_count(tests), ..Self::default() };
    }

    /// Counts how many of the newest ones alternate between two states of the code.
    pub fn switches(&self) -> u64 {
        if self.returns == 0 { 0 } else { self.returns.saturating_add(2) }
    }

    fn failed(&mut self, tests: &TestEvidence) {
        let whole = self.signature == Some(tests.signature) && self.errors == tests.errors;
        let same = whole || self.in_part && self.shows_alike(tests);
        self.in_part = false;
        self.counted(tests, if same { Likeness::Same } else { Likeness::Other });
    }

    fn counted(&mut self, tests: &TestEvidence, like: Likeness) {
        let same = like == Likeness::Same;
        let count = failing_count(tests);
        if let Some(count) = count {
            push_bounded(&mut self.counts, count, MAX_COUNTS);
        }
        let unbuilt = Some(tests.build_errors).filter(|errors| *errors > 0);
        let falls =
            |count: Option<u64>, low: Option<u64>| count.zip(low).is_some_and(|(count, low)| count < low);
        let lower = falls(count, self.low) || falls(unbuilt, self.low_of_build);
        let gained = self.passed > 0 && tests.passed > self.passed;
        let known = !tests.failing.is_empty() && tests.compared().all(|id| self.before.contains(&*id));
        // Of a part the last lines may be all that is seen.
        let named = !tests.failing.is_empty() || tests.errors.is_some() || self.in_part;
        self.code = Some(tests.code);
        self.low = self.low.min(count).or(count);
        self.low_of_build = self.low_of_build.min(unbuilt).or(unbuilt);
        self.passed = self.passed.max(tests.passed);
        self.failing.clone_from(&tests.failing);
        self.command.clone_from(&tests.command);
        self.total = tests.counts().ran();
        (self.signature, self.errors) = (Some(tests.signature), tests.errors);
        if lower || gained {
            (self.same, self.stuck, self.credit) = (0, 0, 0);
            (self.codes, self.returns) = Default::default();
            return;
        }
        if known && self.credit < CREDITS {
            self.credit = self.credit.saturating_add(1);
            return;
        }
        let [before, last] = self.codes;
        self.returns = if before == Some(tests.code) { self.returns.saturating_add(1) } else { 0 };
        self.codes = [last, Some(tests.code)];
        // A build has an error of its own that names it; what else a runner prints differs without meaning.
        let is_build = tests.status == TestStatus::BuildFailed;
        if !named || (count.is_none() && !same && !is_build) {
            (self.same, self.stuck) = (u64::from(named), 0);
            return;
        }
        self.same = if same { self.same.saturating_add(1) } else { 1 };
        self.stuck = self.stuck.saturating_add(1);
    }
}

/// A red run beside the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Likeness {
    /// The same fails.
    Same,
    /// Something else does.
    Other,
}

/// Returns whether a run was on what is committed. One that was handed in may name its code alone.
fn is_unedited(run: &TestRun, committed: Option<CodeId>) -> bool {
    let clean = run.overlay.is_empty() && !run.overlay_truncated;
    clean && (run.base.is_some() || committed == Some(run.evidence.code))
}

/// Refused commits since the newest commit, run of the tests or answer.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Refusals {
    /// Those whose code was not that of the one before.
    pub times: u64,
    pub newest: Option<RefusedCode>,
}

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
    /// Returns whether a refusal of `code` is a new attempt.
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

    /// Counts how many there are.
    pub fn counted(self) -> u64 {
        self.given_up.saturating_add(u64::from(self.open.is_some()))
    }
}
