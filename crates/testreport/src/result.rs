//! The result of the tests of a run: a status class and counts.

use serde::{Deserialize, Serialize};

/// The status class of a test run. A doubt is a class of its own and never a pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TestStatus {
    /// At least one test ran and none failed, and the runner agreed.
    Passed,
    /// At least one test failed.
    Failed,
    /// The code under test did not build.
    BuildFailed,
    /// The runner itself failed: a non-zero exit with no failing case.
    #[default]
    RunnerError,
    /// Stopped by a time limit.
    TimedOut,
    /// The runner was killed by a signal.
    Crashed,
    /// The run ended well and not one test ran.
    NoTests,
    /// A report is cut short: what it says is not the whole.
    Incomplete,
}

impl TestStatus {
    /// Every class, in order, with its name.
    pub const ALL: [(Self, &'static str); 8] = [
        (Self::Passed, "passed"),
        (Self::Failed, "failed"),
        (Self::BuildFailed, "build_failed"),
        (Self::RunnerError, "runner_error"),
        (Self::TimedOut, "timed_out"),
        (Self::Crashed, "crashed"),
        (Self::NoTests, "no_tests"),
        (Self::Incomplete, "incomplete"),
    ];

    /// The name of the class, such as `build_failed`.
    pub fn as_str(self) -> &'static str {
        Self::ALL.iter().find(|(status, _)| *status == self).map_or("", |(_, name)| name)
    }

    /// The class of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, known)| *known == name).map(|(status, _)| *status)
    }
}

/// A place of tests, as a report tells it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReportedPlace {
    /// The whole path of a file that has some.
    File(String),
    /// A package of Go.
    GoPackage(String),
}

/// The numbers of tests of each kind. `total` is the sum of the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
pub struct Counts {
    /// Tests that the runner named or counted.
    pub total: u64,
    /// Tests that passed.
    pub passed: u64,
    /// Tests whose assertion failed.
    pub failed: u64,
    /// Tests that could not be carried through.
    pub errored: u64,
    /// Tests that were skipped or ignored.
    pub skipped: u64,
}

impl Counts {
    /// Failed and errored tests together: what the trend shows.
    pub fn failing(&self) -> u64 {
        self.failed.saturating_add(self.errored)
    }

    /// Adds those of another run.
    pub fn absorb(&mut self, more: Self) {
        self.total = self.total.saturating_add(more.total);
        self.passed = self.passed.saturating_add(more.passed);
        self.failed = self.failed.saturating_add(more.failed);
        self.errored = self.errored.saturating_add(more.errored);
        self.skipped = self.skipped.saturating_add(more.skipped);
    }

    /// Tests that really ran.
    pub fn ran(&self) -> u64 {
        self.total.saturating_sub(self.skipped)
    }
}

#[cfg(test)]
mod tests {
    use super::TestStatus;

    #[test]
    fn serde_uses_the_same_names() {
        for (status, name) in TestStatus::ALL {
            assert_eq!(serde_json::to_value(status).unwrap(), name);
        }
    }
}
