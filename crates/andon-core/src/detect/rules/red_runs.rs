//! `red-runs`: within one turn code is edited and tested again and again, and the tests stay red.

use crate::detect::prelude::*;
use crate::history::RedRuns;

pub(in crate::detect) const SAME: Param<u64> = Param::total("same", 6, 2);
const MAX: Param<u64> = Param::total("max", 12, 2);
const SWITCHES: Param<u64> = Param::total("switches", 6, 4);

/// It is asked after a test run too, within a turn.
pub static RULE: Rule = Rule {
    about: About::nested(EventClass::NoProgress, RuleSubject::Attempts),
    params: &[SAME.spec, MAX.spec, SWITCHES.spec],
    ..Rule::of_events("red-runs", include_str!("red_runs.md"), check)
};

/// Failing counts that are shown, the newest.
const SHOWN: usize = 8;

fn check(situation: &Situation<'_>, setting: &RuleSetting) -> Option<Finding> {
    let red = &situation.timeline.activity.red;
    let RedRuns { same, stuck, failing, signature, counts, .. } = red;
    let (times, how) = if *same >= setting.count(&SAME) {
        (*same, "in the same way, with code edited before each")
    } else if red.switches() >= setting.count(&SWITCHES) {
        (red.switches(), "while the code went to and fro between two states")
    } else if *stuck >= setting.count(&MAX) {
        (*stuck, "without progress, with code edited before each")
    } else {
        return None;
    };
    let mut message = format!("{} in a row failed {how}", words::count(times, "test run"));
    let shown = &counts[counts.len().saturating_sub(SHOWN)..];
    if shown.len() > 1 {
        let shown: Vec<String> = shown.iter().map(ToString::to_string).collect();
        message += &format!(" (failing: {})", shown.join(" -> "));
    }
    if !failing.is_empty() {
        message += &format!(": {}", words::list(failing, words::len(failing)));
    }
    let evidence = signature.iter().copied().map(Evidence::Tests).collect();
    Some(Finding { evidence, ..RULE.finding(setting.level, message) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::testkit::{asked_of, asked_with};
    use crate::domain::{
        Fact, ParamValue, RunOrigin, RunValidity, Signature, TestEvidence, TestStatus, TreeId,
    };
    use crate::testkit::{ack, commit, folded, green, oid, other, red, run, turn_end};

    fn edited(tests: TestEvidence) -> Fact {
        let mut made = run(tests);
        made.overlay_truncated = true;
        Fact::TestRun(Box::new(made))
    }

    fn unedited(tests: TestEvidence) -> Fact {
        let mut made = run(tests);
        made.base = Some(TreeId(oid(1)));
        Fact::TestRun(Box::new(made))
    }

    /// A result that was handed in, with nothing but the code.
    fn told(tests: TestEvidence) -> Fact {
        let mut made = run(tests);
        made.validity = RunValidity::HandedIn;
        made.evidence.origin = RunOrigin::HandedIn;
        Fact::TestRun(Box::new(made))
    }

    /// A run that named no test, with this error.
    fn broken(state: u8, status: TestStatus, error: u8) -> TestEvidence {
        let mut tests = other(state, status);
        tests.errors = Some(Signature([error; 32]));
        tests
    }

    fn halts(facts: Vec<Fact>) -> bool {
        asked_of(&RULE, &folded(facts)).is_some()
    }

    fn same(states: std::ops::RangeInclusive<u8>) -> Vec<Fact> {
        states.map(|state| edited(red(state, &["a"], 9))).collect()
    }

    /// A run that was seen in the output of a shell call.
    fn seen(tests: TestEvidence) -> Fact {
        let mut made = run(tests);
        (made.validity, made.overlay_truncated) = (RunValidity::Seen, true);
        made.evidence.origin = RunOrigin::HandedIn;
        Fact::TestRun(Box::new(made))
    }

    #[test]
    fn runs_that_were_seen_in_part_are_attempts() {
        let part =
            |state: u8| seen(red(state, if state.is_multiple_of(2) { &["a"] } else { &["a", "b"] }, 9));
        assert!(!halts((1..=6).map(part).collect()), "the first with fewer was progress");
        assert!(halts((1..=9).map(part).collect()));
        let same = |last: u8| (1..=last).map(|state| seen(red(state, &["a"], 9)));
        assert!(!halts(same(5).collect()) && halts(same(6).collect()));
        assert!(!halts((0..30).map(|_| seen(red(1, &["a"], 9))).collect()), "an old log, printed again");
        let other = |state: u8| seen(red(state, &[["a"], ["b"]][usize::from(state % 2)], 9));
        assert!(!halts((1..=9).map(other).collect()), "another one fails each time");
        let passed = same(5).chain([seen(green(99, 10))]).chain(same(5)).collect();
        assert!(!halts(passed), "green of what was red");
        let mut little = green(99, 1);
        little.command = "pytest -k b".to_owned();
        assert!(
            halts(same(5).chain([seen(little)]).chain([seen(red(9, &["a"], 9))]).collect()),
            "another part"
        );
    }

    #[test]
    fn six_red_runs_on_new_code_halt() {
        assert!(!halts(same(1..=5)));
        assert!(halts(same(1..=6)));
        assert!(halts(same(1..=30)));
        assert!(!halts((0..30).map(|_| edited(red(1, &["a"], 9))).collect()), "the same code");
        for (between, why) in [
            (edited(green(99, 9)), "they passed"),
            (commit(99).fact(), "a commit"),
            (turn_end(99), "the turn ended"),
            (ack(1), "an answer"),
        ] {
            let facts: Vec<Fact> = same(1..=5).into_iter().chain([between]).chain(same(6..=10)).collect();
            assert!(!halts(facts), "{why}");
        }
    }

    /// Its parameters as large as anyone sets them: no window is shorter.
    #[test]
    fn large_parameters_trip_too() {
        let with = |facts: Vec<Fact>, name, value| {
            asked_with(
                &RULE,
                &folded(facts),
                &[(name, ParamValue::Count(value)), ("max", ParamValue::Count(900))],
            )
        };
        for (name, value) in [("same", 10), ("same", 40), ("same", 200)] {
            let last = u8::try_from(value).unwrap();
            assert!(with(same(1..=last - 1), name, value).is_none());
            assert!(with(same(1..=last), name, value).is_some(), "{name} {value}");
        }
        let others =
            |last: u8| (1..=last).map(|state| edited(red(state, &[["a", "b"][usize::from(state % 2)]], 9)));
        let with_max = |last, value| {
            asked_with(&RULE, &folded(others(last).collect()), &[("max", ParamValue::Count(value))])
        };
        assert!(with_max(19, 20).is_none() && with_max(20, 20).is_some() && with_max(60, 60).is_some());
        let to_and_fro =
            |last: u8| (0..last).map(|at| edited(red(1 + at % 2, &[["a"], ["b"]][usize::from(at % 2)], 9)));
        assert!(with(to_and_fro(49).collect(), "switches", 50).is_none());
        assert!(with(to_and_fro(50).collect(), "switches", 50).is_some());
    }

    #[test]
    fn work_that_goes_on_is_not_halted() {
        let names: Vec<String> = (0..40).map(|number| format!("t{number}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let fewer = (1..=30).map(|state: u8| edited(red(state, &names[usize::from(state)..], 40)));
        assert!(!halts(fewer.collect()), "fewer fail each time");
        let more = (1..=30).map(|state: u8| edited(red(state, &["acceptance"], 9 + u64::from(state))));
        assert!(!halts(more.collect()), "more pass each time");
        let builds = (1..=30).map(|state: u8| edited(other(state, TestStatus::BuildFailed)));
        assert!(!halts(builds.collect()), "a build that says nothing of its error");
        let others = (1..=30).map(|state: u8| edited(broken(state, TestStatus::RunnerError, state)));
        assert!(!halts(others.collect()), "a runner that prints something else each time");
        let repaired = |state: u8| match state {
            1..=10 => edited(broken(state, TestStatus::BuildFailed, state)),
            _ => edited(red(state, &["a"], u64::from(state))),
        };
        assert!(!halts((1..=30).map(repaired).collect()), "it builds, and more pass each time");
        let before = unedited(red(99, &["a"], 9));
        let known = |last| [before.clone()].into_iter().chain(same(1..=last)).collect();
        assert!(!halts(known(10)), "it was red before");
        assert!(halts(known(11)), "but not for ever");
    }

    #[test]
    fn builds_that_fail_count_like_tests() {
        let row = |last: u8, error: fn(u8) -> u8| -> Vec<Fact> {
            (1..=last).map(|state| edited(broken(state, TestStatus::BuildFailed, error(state)))).collect()
        };
        assert!(!halts(row(5, |_| 1)) && halts(row(6, |_| 1)), "the same error");
        assert!(!halts(row(11, |state| state)) && halts(row(12, |state| state)), "another one each time");
        let shows = |errors: fn(u64) -> u64| -> Vec<Fact> {
            let one = |state: u8| TestEvidence {
                build_errors: errors(state.into()),
                ..broken(state, TestStatus::BuildFailed, state)
            };
            (1..=30).map(|state| edited(one(state))).collect()
        };
        assert!(!halts(shows(|state| 31 - state)), "fewer each time");
        assert!(halts(shows(|state| state)), "more each time");
        assert!(halts(shows(|state| 2 + state % 2)), "one is repaired and comes back");
        let passed = row(11, |state| state).into_iter().chain([edited(green(50, 9))]);
        assert!(!halts(passed.chain(row(11, |state| state)).collect()), "it built between");
    }

    #[test]
    fn code_that_goes_to_and_fro_halts_and_a_comparison_does_not() {
        let to_and_fro = |last: u8| -> Vec<Fact> {
            let one = |at: u8| edited(red(1 + at % 2, &[["a"], ["b"]][usize::from(at % 2)], 9));
            (0..last).map(one).collect()
        };
        assert!(!halts(to_and_fro(5)));
        assert!(halts(to_and_fro(6)));
        let message = asked_of(&RULE, &folded(to_and_fro(6))).unwrap().message();
        assert_eq!(
            message,
            "6 test runs in a row failed while the code went to and fro between two states (failing: 1 -> 1 -> 1 -> 1 -> 1 -> 1): b"
        );
        // Each time with the change and, by `git stash`, without it.
        let stash = unedited(red(2, &["b"], 9));
        let compared: Vec<Fact> =
            (0..20).map(|at| if at % 2 == 0 { to_and_fro(1)[0].clone() } else { stash.clone() }).collect();
        assert!(!halts(compared));
        // Red and green by turns, on as many states.
        let cycles = (1..=40)
            .flat_map(|state: u8| [edited(red(2 * state, &["a"], 9)), edited(green(2 * state + 1, 9))]);
        assert!(!halts(cycles.collect()), "test first");
        let outer = (1..=40).map(|state: u8| {
            let failing = if state % 2 == 1 { &["acceptance", "inner"][..] } else { &["acceptance"][..] };
            edited(red(state, failing, 9 + u64::from(state)))
        });
        assert!(!halts(outer.collect()), "an acceptance test stays red until the end");
    }

    #[test]
    fn other_failures_each_time_are_no_progress_either() {
        let to_and_fro = |last: u8| -> Vec<Fact> {
            (1..=last).map(|state| edited(red(state, &[["a", "b"][usize::from(state % 2)]], 9))).collect()
        };
        assert!(!halts(to_and_fro(11)), "new code each time");
        assert!(halts(to_and_fro(12)));
    }
    #[test]
    fn runs_that_are_handed_in_count_as_those_that_were_seen() {
        let row = |last: u8| (1..=last).map(|state| told(red(state, &["a"], 9)));
        assert!(!halts(row(5).collect()));
        assert!(halts(row(6).collect()));
        // Committed code was not edited, whichever door reports the run.
        let known =
            |last| [commit(99).fact(), told(red(99, &["a"], 9))].into_iter().chain(row(last)).collect();
        assert!(!halts(known(10)), "it was red before");
        assert!(halts(known(11)));
        let compared =
            |at: u8| if at.is_multiple_of(2) { told(red(99, &["a"], 9)) } else { told(red(at, &["a"], 9)) };
        assert!(!halts([commit(99).fact()].into_iter().chain((0..40).map(compared)).collect()), "git stash");
        let cycles =
            (1..=40).flat_map(|state: u8| [told(red(2 * state, &["a"], 9)), told(green(2 * state + 1, 9))]);
        assert!(!halts(cycles.collect()), "test first");
        let linted = (1..=6).flat_map(|state: u8| {
            let mut lint = green(state, 1);
            lint.command = "eslint .".to_owned();
            [told(red(state, &["a"], 9)), told(lint)]
        });
        assert!(halts(linted.collect()), "another command passes");
    }
}
