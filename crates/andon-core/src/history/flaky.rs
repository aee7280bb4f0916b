//! Tests that give both results on the very same code.
//!
//! Derived, never stored as a verdict: equal code fingerprints with different results. A flaky test says nothing about
//! the edit before it, so it makes a loop look neither stuck nor better; the gates still count its failure.

use std::collections::{BTreeMap, BTreeSet};
use std::{borrow::Cow, sync::Arc};

use super::Timeline;
use crate::domain::{CodeId, RunOrigin, TestEvidence, TestStatus};
use testreport::stable_id;

/// The tests that failed in runs that can be compared.
struct ComparableFailures<'a> {
    /// In any of them.
    once: BTreeSet<Cow<'a, str>>,
    /// In all of them.
    always: BTreeSet<Cow<'a, str>>,
}

/// The tests that differ between `results` on the same code, and those that were found to differ before.
///
/// Compared are results of the same command, read in the same form, that ran to their end with the same number of
/// tests: a test that is not named because it did not run has not passed, and each form has ids of its own.
pub fn flaky<'a>(results: impl IntoIterator<Item = &'a TestEvidence>) -> BTreeSet<String> {
    let mut flaky = BTreeSet::new();
    let mut seen: BTreeMap<(CodeId, u64, &str, &str), ComparableFailures<'_>> = BTreeMap::new();
    let mut results: Vec<&TestEvidence> = results.into_iter().collect();
    results.sort_by_key(|tests| tests.code);
    for same_code in results.chunk_by(|one, next| one.code == next.code) {
        for tests in same_code {
            flaky.extend(tests.flaky.iter().map(|id| stable_id(id).into_owned()));
        }
        // Most code has one result, in its test run and in its record: nothing to compare.
        if same_code.iter().all(|tests| tests.failing == same_code[0].failing) {
            continue;
        }
        compare(same_code, &mut seen);
    }
    for failed in seen.into_values() {
        flaky.extend(failed.once.difference(&failed.always).map(|id| id.clone().into_owned()));
    }
    flaky
}

fn compare<'a>(
    results: &[&'a TestEvidence],
    seen: &mut BTreeMap<(CodeId, u64, &'a str, &'a str), ComparableFailures<'a>>,
) {
    for tests in results {
        let whole = matches!(tests.status, TestStatus::Passed | TestStatus::Failed) && !tests.truncated;
        if !whole || tests.counts().ran() == 0 {
            continue;
        }
        let failing: BTreeSet<Cow<'_, str>> = tests.compared().collect();
        let key = (tests.code, tests.counts().ran(), tests.command.as_str(), tests.runner.as_str());
        match seen.get_mut(&key) {
            Some(failed) => {
                failed.once.extend(failing.iter().cloned());
                failed.always.retain(|id| failing.contains(id));
            }
            None => {
                seen.insert(key, ComparableFailures { once: failing.clone(), always: failing });
            }
        }
    }
}

impl Timeline {
    /// The flaky tests of the window: of its iterations and of the test runs that are known.
    pub fn flaky(&self) -> Arc<BTreeSet<String>> {
        let derive = || {
            let committed = self.iterations.iter().filter_map(|iteration| iteration.tests.as_ref());
            // A result that was handed in makes no test flaky: naming others as failing would be a way out of every repetition.
            let (reported, seen): (Vec<&TestEvidence>, Vec<&TestEvidence>) =
                committed.partition(|tests| tests.origin == RunOrigin::HandedIn);
            let mut found = flaky(seen.into_iter().chain(self.runs.iter().map(|run| &run.evidence)));
            let told = reported.into_iter().flat_map(|tests| &tests.flaky);
            found.extend(told.map(|id| stable_id(id).into_owned()));
            Arc::new(found)
        };
        self.known_flaky.get(derive)
    }
}

impl Timeline {
    /// The tests whose failures say nothing about an edit: flaky ones, and those that were red before.
    pub(crate) fn beside_the_point(&self) -> Arc<BTreeSet<String>> {
        let flaky = self.flaky();
        if self.known_red.is_empty() {
            return flaky;
        }
        Arc::new(flaky.iter().chain(self.known_red.keys()).cloned().collect())
    }

    /// Returns whether `tests` fail in nothing but tests that were red before.
    pub(crate) fn is_known_red(&self, tests: &TestEvidence) -> bool {
        tests.status == TestStatus::Failed
            && !tests.truncated
            && !tests.failing.is_empty()
            && tests.compared().all(|id| self.known_red.contains_key(&*id))
    }
}

/// Counts how many of the tests that fail in `tests` are flaky.
pub fn flaky_failures(tests: &TestEvidence, flaky: &BTreeSet<String>) -> u64 {
    let count = tests.compared().filter(|id| flaky.contains(&**id)).count();
    u64::try_from(count).unwrap_or(u64::MAX)
}

/// As [`super::failing_count`], flaky tests aside.
pub fn steady_count(tests: &TestEvidence, flaky: &BTreeSet<String>) -> Option<u64> {
    Some(super::failing_count(tests)?.saturating_sub(flaky_failures(tests, flaky)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::{commit, green, other, red, timeline};

    fn found(results: &[TestEvidence]) -> Vec<String> {
        flaky(results).into_iter().collect()
    }

    #[test]
    fn names_that_are_made_up_in_every_run_are_the_same_test() {
        let names = ["t[<object at 0x7f3a2b4c5d6e>]", "t[<object at 0x7f3a2b4c0000>]"];
        let [one, two] = names.map(|name| red(1, &[name], 3));
        assert_eq!(found(&[one.clone(), two.clone()]), [""; 0]);
        assert_eq!(found(&[one.clone(), green(1, 3)]), ["t[<object at <address>>]"]);
        assert_eq!(flaky_failures(&two, &flaky(&[one, green(1, 3)])), 1);
    }

    #[test]
    fn equal_code_with_different_results_is_flaky() {
        assert_eq!(found(&[red(1, &["a", "b"], 9), red(1, &["a"], 9)]), ["b"]);
        assert_eq!(found(&[green(1, 9), red(1, &["a"], 9)]), ["a"]);
        assert_eq!(found(&[red(1, &["a"], 9), red(1, &["a"], 9)]), [""; 0]);
        assert_eq!(found(&[red(1, &["a"], 9), green(2, 9)]), [""; 0], "other code");
        assert_eq!(found(&[red(1, &["a"], 9), green(1, 3)]), [""; 0], "a part of the tests");
        assert_eq!(found(&[red(1, &["a"], 9), other(1, TestStatus::Crashed)]), [""; 0]);
        let mut elsewhere = green(1, 9);
        elsewhere.command = "true".into();
        assert_eq!(found(&[red(1, &["a"], 9), elsewhere]), [""; 0], "another command");
        let mut otherwise = green(1, 9);
        otherwise.runner = "junit".into();
        assert_eq!(found(&[red(1, &["a"], 9), otherwise]), [""; 0], "read in another form, with other ids");
        let mut known = green(1, 9);
        known.flaky = vec!["z".into()];
        assert_eq!(found(&[known]), ["z"], "as an earlier run was told");
    }

    #[test]
    fn iterations_tell_too() {
        let line = timeline(vec![
            commit(1).tests(red(1, &["a", "f"], 9)),
            commit(2).tests(red(2, &["a"], 9)),
            commit(1).tests(red(1, &["a"], 9)),
        ]);
        assert_eq!(line.flaky().iter().collect::<Vec<_>>(), ["f"]);
        assert_eq!(line.trend(), [1, 1, 1], "the trend is of the others");
    }
}
