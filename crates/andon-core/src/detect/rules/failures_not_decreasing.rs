//! `failures-not-decreasing`: tests run, and the number of failures does not go down.

use crate::detect::attempts::{Attempt, attempts};
use crate::detect::prelude::*;
use crate::detect::progress::{Credit, Step};
use crate::history::steady_count;

const ITERATIONS: Param<u64> = Param::count("iterations", 5, 1);

pub(in crate::detect) static RULE: Rule = Rule {
    level: Level::Warn,
    about: About {
        signal: Some(Signal::FailuresNotDecreasing),
        ..About::judging(EventClass::NoProgress, RuleSubject::Tests)
    },
    params: &[ITERATIONS.spec],
    ..Rule::of_iterations("failures-not-decreasing", include_str!("failures_not_decreasing.md"), check)
};

fn check(situation: &Situation<'_>, setting: &RuleSetting) -> Option<Finding> {
    let attempts = attempts(situation.timeline);
    let newest = attempts.last().filter(|newest| Some(newest.iteration) == situation.timeline.newest())?;
    let (Step::NotLower { gone } | Step::Rise { gone }) = newest.step else { return None };
    let flaky = situation.timeline.flaky();
    let tests = newest.tests?;
    let failing =
        steady_count(tests, &situation.timeline.beside_the_point()).filter(|failing| *failing > 0)?;
    // While an acceptance test stays red, tests that newly pass show the progress.
    if newest.credit != Credit::Strike {
        return None;
    }
    let mut since = since_the_lowest(&attempts);
    since.retain(|attempt| attempt.credit == Credit::Strike);
    if words::len(&since) < setting.count(&ITERATIONS) {
        return None;
    }
    let gone = match gone {
        0 => String::new(),
        gone => format!(", and {} that ran before did not run this time", words::count(gone, "test")),
    };
    let message = format!(
        "the lowest failing count has not fallen for {}: now {}{gone}{}",
        words::count(since.len(), "test-bearing iteration"),
        words::count(failing, "failing test"),
        words::flaky_aside(&words::flaky_of(tests, &flaky)),
    );
    let evidence = since.iter().rev().filter_map(|attempt| attempt.tests);
    let evidence = evidence.map(|tests| Evidence::Tests(tests.signature)).collect();
    Some(Finding { evidence, ..RULE.finding(setting.level, message) })
}

/// The attempts with a known count after the lowest one, newest first.
fn since_the_lowest<'a>(attempts: &[Attempt<'a>]) -> Vec<Attempt<'a>> {
    let mut since = Vec::new();
    for attempt in attempts.iter().rev() {
        match attempt.step {
            Step::NotLower { .. } | Step::Rise { .. } => since.push(*attempt),
            Step::Unknown => {}
            Step::Green | Step::First | Step::Recovery | Step::Fall { .. } => break,
        }
    }
    since
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::testkit::{checked, checked_with};
    use crate::domain::{ParamValue, TestStatus};
    use crate::testkit::{Commit, commit, green, other, red};

    const NAMES: [&str; 9] = ["a", "b", "c", "d", "e", "f", "g", "h", "i"];

    /// Iterations with these failing counts of 9 tests.
    fn counts(counts: &[usize]) -> Vec<Commit> {
        (1_u8..)
            .zip(counts)
            .map(|(state, count)| match count {
                0 => commit(state).tests(green(state, 9)),
                count => commit(state).tests(red(state, &NAMES[..*count], 9)),
            })
            .collect()
    }

    #[test]
    fn an_acceptance_test_may_stay_red_while_others_newly_pass() {
        let grows = |totals: &[u64]| {
            let one = |(state, total): (u8, &u64)| commit(state).tests(red(state, &["acceptance"], *total));
            checked(&RULE, (1..).zip(totals).map(one).collect()).is_some()
        };
        assert!(!grows(&[3, 4, 6, 7, 9, 12]));
        assert!(grows(&[3, 3, 3, 3, 3, 3]));
        assert!(!grows(&[3, 4, 5, 6, 7, 8, 9, 9, 9, 9]));
        assert!(grows(&[3, 4, 5, 6, 7, 8, 9, 9, 9, 9, 9]), "for ever it may not");
    }

    #[test]
    fn five_without_a_new_low_trip() {
        let table: [(&[usize], bool); 12] = [
            (&[2, 4, 6, 8, 9, 7, 5, 4], false),
            (&[2, 4, 6, 8, 9, 7, 7, 8, 9, 8, 7], true),
            (&[], false),
            (&[3], false),
            (&[3, 3, 3, 3, 3], false),
            (&[3, 3, 3, 3, 3, 3], true),
            (&[7, 4, 4, 5, 4, 6, 4], true),
            (&[7, 4, 4, 5, 4, 6, 3], false),
            (&[7, 6, 5, 4, 3, 2, 1], false),
            (&[3, 3, 3, 0, 3, 3, 3, 3, 3], false),
            (&[3, 3, 3, 0, 3, 3, 3, 3, 3, 3], true),
            (&[3, 3, 3, 3, 3, 0], false),
        ];
        for (failing, trips) in table {
            assert_eq!(checked(&RULE, counts(failing)).is_some(), trips, "{failing:?}");
        }
    }

    #[test]
    fn deleted_tests_earn_no_credit() {
        let shrinking: Vec<Commit> = (0_u8..6)
            .map(|step| {
                let left = usize::from(6 - step);
                commit(step).tests(red(step, &NAMES[..left], 20 - u64::from(step)))
            })
            .collect();
        let finding = checked(&RULE, shrinking).unwrap();
        assert_eq!(
            finding.message(),
            "the lowest failing count has not fallen for 5 test-bearing iterations: now 1 failing test, \
             and 5 tests that ran before did not run this time"
        );
    }

    #[test]
    fn what_is_unknown_neither_counts_nor_resets() {
        let mut commits = counts(&[3, 3, 3, 3, 3]);
        commits.push(commit(20).tests(other(20, TestStatus::BuildFailed)));
        commits.push(commit(21));
        assert!(checked(&RULE, commits.clone()).is_none());
        commits.push(commit(22).tests(red(22, &NAMES[..3], 9)));
        assert!(checked(&RULE, commits.clone()).is_some());
        commits.push(commit(22).tests(red(22, &NAMES[..3], 9)));
        assert!(checked(&RULE, commits).is_none(), "a documentation commit does not say it again");
    }

    #[test]
    fn the_threshold_is_a_parameter() {
        let with =
            |count| checked_with(&RULE, counts(&[3, 3, 3]), &[("iterations", ParamValue::Count(count))]);
        assert!(with(2).is_some());
        assert!(with(3).is_none());
    }
}
