//! `repeated-failures`: the same tests fail again after every edit.

use crate::detect::attempts::{Attempt, attempts};
use crate::detect::{prelude::*, progress::Credit};
use crate::domain::Hint;
use crate::history::{Outcome, outcome, steady_count};

pub(in crate::detect) const ITERATIONS: Param<u64> = Param::count("iterations", 3, 2);

/// The demo waits for its halt.
pub static RULE: Rule = Rule {
    about: About::nested(EventClass::NoProgress, RuleSubject::Tests),
    params: &[ITERATIONS.spec],
    ..Rule::of_iterations("repeated-failures", include_str!("repeated_failures.md"), check)
};

fn check(situation: &Situation<'_>, setting: &RuleSetting) -> Option<Finding> {
    let attempts = attempts(situation.timeline);
    let mut running = same_failures(&attempts);
    if running.first()?.credit != Credit::Strike {
        return None;
    }
    // Newly passing tests show progress; tests that were red before are passed over.
    let since = running.iter().position(|attempt| attempt.credit == Credit::Gain);
    running.truncate(since.unwrap_or(running.len()));
    running.retain(|attempt| attempt.credit == Credit::Strike);
    let times = words::len(&running);
    if times < 2 || times < setting.count(&ITERATIONS) {
        return None;
    }
    let tests = running.first()?.tests?;
    let (flaky, beside) = (situation.timeline.flaky(), situation.timeline.beside_the_point());
    let (_, steady) = tests.apart(&beside);
    let failing = steady_count(tests, &beside).unwrap_or_else(|| words::len(&steady));
    let message = format!(
        "the same {} failed {} although the code changed each time: {}{}",
        if failing == 1 { "test".to_owned() } else { words::count(failing, "test") },
        words::in_a_row(times),
        words::list(&steady, failing),
        words::flaky_aside(&words::flaky_of(tests, &flaky)),
    );
    let mut evidence = vec![Evidence::Tests(tests.signature)];
    evidence
        .extend(running.iter().rev().filter_map(|attempt| attempt.iteration.commit).map(Evidence::Commit));
    let mut help = vec![Hint::Test.led("read the first failing test's error before the next edit")];
    help.extend(words::git_diff(running.last()?.iteration, running.first()?.iteration));
    Some(Finding { evidence, help, ..RULE.finding(setting.level, message) })
}

/// The newest attempts that fail in the same tests, newest first.
fn same_failures<'a>(attempts: &[Attempt<'a>]) -> Vec<Attempt<'a>> {
    let mut running: Vec<Attempt<'a>> = Vec::new();
    for attempt in attempts.iter().rev() {
        let Some(tests) = attempt.tests else { continue };
        if outcome(tests) != Outcome::Red
            || tests.failing.is_empty()
            || running.first().is_some_and(|newest| newest.failures != attempt.failures)
        {
            break;
        }
        let edited = running.last().is_none_or(|later| later.iteration.code != attempt.iteration.code);
        if edited {
            running.push(*attempt);
        }
    }
    running
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::testkit::{checked, checked_with};
    use crate::domain::{
        CommitKind::{Amend, Merge, Revert},
        ParamValue, TestStatus,
    };
    use crate::testkit::{Commit, commit, green, other, red};

    fn r(state: u8, failing: &[&str]) -> Commit {
        commit(state).tests(red(state, failing, 9))
    }

    #[test]
    fn three_running_trip() {
        let a = &["a"][..];
        let ab = &["a", "b"][..];
        let table: Vec<(&str, Vec<Commit>, bool)> = vec![
            ("two", vec![r(1, a), r(2, a)], false),
            ("three", vec![r(1, a), r(2, a), r(3, a)], true),
            ("another set in between", vec![r(1, a), r(2, ab), r(3, a)], false),
            ("another set at last", vec![r(1, a), r(2, a), r(3, ab)], false),
            ("another set before", vec![r(9, ab), r(1, a), r(2, a), r(3, a)], true),
            ("green in between", vec![r(1, a), r(2, a), commit(3).tests(green(3, 9)), r(4, a)], false),
            ("green at last", vec![r(1, a), r(2, a), r(3, a), commit(4).tests(green(4, 9))], false),
            ("untested in between", vec![r(1, a), commit(8), r(2, a), commit(9), r(3, a)], true),
            ("docs in between", vec![r(1, a), r(1, a), r(1, a), r(2, a)], false),
            ("docs only", vec![r(1, a), r(1, a), r(1, a)], false),
            ("a merge counts not", vec![r(1, a), r(2, a), r(3, a).kind(Merge)], false),
            ("nor interrupts", vec![r(1, a), r(2, a), commit(7).kind(Revert), r(3, a)], true),
            ("the same code between reverts", vec![r(1, a), r(2, a), commit(7).kind(Revert), r(2, a)], false),
            ("amends are attempts", vec![r(1, a), r(2, a).kind(Amend), r(3, a).kind(Amend)], true),
            ("amended to another set", vec![r(1, a), r(2, ab).kind(Amend), r(3, a).kind(Amend)], false),
            ("no names", vec![r(1, &[]), r(2, &[]), r(3, &[])], false),
        ];
        for (name, commits, trips) in table {
            assert_eq!(checked(&RULE, commits).is_some(), trips, "{name}");
        }
    }

    #[test]
    fn an_acceptance_test_that_was_written_first_may_stay_red_while_others_newly_pass() {
        let grows = |totals: &[u64]| -> Option<Finding> {
            let one = |(state, total): (u8, &u64)| commit(state).tests(red(state, &["acceptance"], *total));
            checked(&RULE, (1..).zip(totals).map(one).collect())
        };
        assert!(grows(&[3, 4, 6, 7, 9, 12]).is_none());
        assert!(grows(&[3, 4, 4, 6, 6, 7]).is_none(), "the newest brings one");
        assert!(grows(&[3, 4, 4, 5, 5, 6, 6]).is_none(), "every second one tidies up");
        assert!(grows(&[3, 4, 6, 6, 6, 6]).is_some(), "and then none any more");
        assert!(grows(&[3, 4, 5, 6, 7, 8, 9, 10, 11]).is_some(), "for ever it may not");
    }

    #[test]
    fn tests_that_were_red_before_do_not_count() {
        use crate::domain::{Ack, Fact, Timestamp};
        let known =
            || Fact::Ack(Box::new(Ack { known_red: vec!["old".to_owned()], ..Ack::new("P", Timestamp(1)) }));
        let told = |results: &[&[&str]]| -> Option<String> {
            let one = |(state, failing): (u8, &&[&str])| {
                let passed = commit(state).tests(green(state, 9));
                if failing.is_empty() { passed.fact() } else { r(state, failing).fact() }
            };
            let before = r(90, &["old"]).fact();
            let facts = [before, known()].into_iter().chain((1..).zip(results).map(one)).collect();
            crate::detect::testkit::asked_of(&RULE, &crate::testkit::folded(facts)).map(|it| it.message())
        };
        assert_eq!(told(&[&["old"][..]; 20]), None);
        let with_a = told(&[&["old"], &["a", "old"], &["a", "old"], &["a", "old"]]);
        let wanted = "the same test failed 3 times in a row although the code changed each time: a";
        assert_eq!(with_a.as_deref(), Some(wanted));
        assert_eq!(told(&[&["a", "old"], &["a", "old"], &["old"], &["a", "old"]]), None, "mended between");
        let green: &[&str] = &[];
        assert!(told(&[green, &["old"], &["old"], &["old"]]).is_some(), "it passed: it counts again");
    }

    #[test]
    fn a_run_before_a_commit_past_the_gate_says_what_the_commit_is() {
        use crate::domain::{Fact, Gate};
        let late = |state: u8| {
            let mut made = commit(state + 100);
            made.record().gate = Gate::Bypassed;
            [Fact::TestRun(Box::new(crate::testkit::run(red(state, &["a"], 9)))), made.fact()]
        };
        let halts = |rounds: u8| {
            let line = crate::testkit::folded((1..=rounds).flat_map(late).collect());
            crate::detect::testkit::asked_of(&RULE, &line).is_some()
        };
        assert!(!halts(2) && halts(3));
    }

    #[test]
    fn results_that_say_nothing_are_passed_over_and_failed_builds_interrupt() {
        let with = |status| vec![r(1, &["a"]), r(2, &["a"]), commit(5).tests(other(5, status)), r(3, &["a"])];
        assert!(checked(&RULE, with(TestStatus::NoTests)).is_some());
        assert!(checked(&RULE, with(TestStatus::Incomplete)).is_some());
        assert!(checked(&RULE, with(TestStatus::BuildFailed)).is_none());
        assert!(checked(&RULE, with(TestStatus::TimedOut)).is_none());
    }

    #[test]
    fn the_threshold_is_a_parameter() {
        let three = || vec![r(1, &["a"]), r(2, &["a"]), r(3, &["a"])];
        let with = |count| checked_with(&RULE, three(), &[("iterations", ParamValue::Count(count))]);
        assert!(with(2).is_some());
        assert!(with(4).is_none());
    }

    #[test]
    fn the_message_names_the_first_five() {
        let names = ["a", "b", "c", "d", "e", "f"];
        let finding = checked(&RULE, vec![r(1, &names), r(2, &names), r(3, &names)]).unwrap();
        assert_eq!(
            finding.message(),
            "the same 6 tests failed 3 times in a row although the code changed each time: \
             a, b, c, d, e and 1 more"
        );
        assert_eq!(finding.evidence.len(), 4);
        assert!(finding.help[1].starts_with("git diff "));
    }
}
