//! The meaning of a test status for a loop: one reading for every rule, so that none of them takes a
//! missing answer for a good or a bad one (docs/spec-map.md, settled choice 6).

use crate::domain::{ScopeTests, TestEvidence, TestStatus};

/// The meaning of a test result for the code it ran on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Outcome {
    /// The tests pass.
    Green,
    /// They ran to their end and something fails: a test, the build, the runner.
    Red,
    /// They were stopped (timeout, signal): a failed attempt, but no proof that the tests ran.
    Stopped,
    /// Nothing can be said: no test ran, or the report is cut short.
    Nothing,
}

/// The scopes whose tests fail.
pub fn red_scopes(tests: &TestEvidence) -> impl Iterator<Item = &ScopeTests> {
    tests.scopes.iter().filter(|scope| outcome(&scope.tests) == Outcome::Red)
}

/// Returns the outcome that `tests` shows.
pub fn outcome(tests: &TestEvidence) -> Outcome {
    match tests.status {
        TestStatus::Passed => Outcome::Green,
        TestStatus::Failed | TestStatus::BuildFailed | TestStatus::RunnerError => Outcome::Red,
        TestStatus::TimedOut | TestStatus::Crashed => Outcome::Stopped,
        TestStatus::NoTests | TestStatus::Incomplete => Outcome::Nothing,
    }
}

/// Counts how many tests fail, where that is known. A build that failed and a run that was stopped have no count, and neither
/// has a failure that is known by its exit code alone: none of these is a zero.
pub fn failing_count(tests: &TestEvidence) -> Option<u64> {
    let named = u64::try_from(tests.failing.len()).unwrap_or(u64::MAX);
    let failing = tests.counts().failing().max(named);
    let known = tests.status == TestStatus::Passed || (tests.status == TestStatus::Failed && failing > 0);
    known.then_some(failing)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::{green, red};

    #[test]
    fn every_status_has_one_reading() {
        let cases = [
            (TestStatus::Passed, Outcome::Green, Some(2)),
            (TestStatus::Failed, Outcome::Red, Some(2)),
            (TestStatus::BuildFailed, Outcome::Red, None),
            (TestStatus::RunnerError, Outcome::Red, None),
            (TestStatus::TimedOut, Outcome::Stopped, None),
            (TestStatus::Crashed, Outcome::Stopped, None),
            (TestStatus::NoTests, Outcome::Nothing, None),
            (TestStatus::Incomplete, Outcome::Nothing, None),
        ];
        assert_eq!(cases.len(), TestStatus::ALL.len());
        for (status, expected, count) in cases {
            let tests = TestEvidence { status, ..red(1, &["a", "b"], 10) };
            assert_eq!((outcome(&tests), failing_count(&tests)), (expected, count), "{status:?}");
        }
    }

    #[test]
    fn a_failure_known_by_its_exit_code_only_has_no_count() {
        assert_eq!(failing_count(&red(1, &[], 0)), None);
        assert_eq!(failing_count(&green(1, 10)), Some(0));
    }
}
