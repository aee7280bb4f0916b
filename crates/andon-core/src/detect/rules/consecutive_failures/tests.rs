use super::*;
use crate::detect::testkit::{asked_of, checked, checked_with};
use crate::domain::{
    CommitKind::{CherryPick, Merge, Rebase, Revert},
    ParamValue,
};
use crate::testkit::{Commit, chain, commit, folded, green, other, red, reset, turn_end};

const NAMES: [&str; 9] = ["a", "b", "c", "d", "e", "f", "g", "h", "i"];

/// `failing` of `total` tests fail on code `state`.
fn f(state: u8, failing: usize, total: u64) -> Commit {
    commit(state).tests(red(state, &NAMES[..failing], total))
}

fn only(state: u8, failing: &str) -> Commit {
    commit(state).tests(red(state, &[failing], 9))
}

fn g(state: u8) -> Commit {
    commit(state).tests(green(state, 9))
}

fn o(state: u8, status: TestStatus) -> Commit {
    commit(state).tests(other(state, status))
}

fn trips(commits: Vec<Commit>) -> bool {
    checked(&RULE, commits).is_some()
}

#[test]
fn three_failures_running_trip() {
    use TestStatus::{BuildFailed, Crashed, NoTests, RunnerError, TimedOut};
    let table: Vec<(&str, Vec<Commit>, bool)> = vec![
        ("two", vec![f(1, 2, 9), f(2, 3, 9)], false),
        ("three", vec![f(1, 2, 9), f(2, 2, 9), f(3, 2, 9)], true),
        ("to and fro", vec![f(1, 2, 9), f(2, 3, 9), f(3, 2, 9), f(4, 3, 9)], true),
        (
            "a refactoring",
            vec![f(1, 2, 9), f(2, 4, 9), f(3, 7, 9), f(4, 9, 9), f(5, 6, 9), f(6, 3, 9), f(7, 1, 9)],
            false,
        ),
        ("worse and worse", (1..=8).map(|at| f(at, usize::from(at), 9)).collect(), true),
        ("mended unseen", vec![only(1, "a"), commit(8), only(2, "b"), commit(9), only(3, "c")], false),
        ("one after the other", vec![only(1, "a"), only(2, "b"), only(3, "c")], true),
        ("green in between", vec![f(1, 2, 9), f(2, 3, 9), g(3), f(4, 2, 9)], false),
        ("green at last", vec![f(1, 2, 9), f(2, 3, 9), f(3, 2, 9), g(4)], false),
        ("untested in between", vec![f(1, 2, 9), commit(8), f(2, 2, 9), commit(9), f(3, 2, 9)], true),
        ("only untested", vec![commit(1), commit(2), commit(3), commit(4)], false),
        ("builds", vec![o(1, BuildFailed), o(2, BuildFailed), o(3, BuildFailed)], true),
        ("of every kind", vec![o(1, BuildFailed), o(2, TimedOut), o(3, Crashed)], true),
        ("a runner once", vec![o(1, RunnerError), o(2, TimedOut), o(3, Crashed)], false),
        ("no tests", vec![o(1, NoTests), o(2, NoTests), o(3, NoTests)], false),
        ("empty diffs", vec![commit(1).empty(), commit(1).empty(), commit(1).empty()], true),
        ("markers", vec![commit(1).empty(), commit(2).empty(), commit(3).empty()], false),
        ("a marker said again", vec![commit(1).empty(), commit(2).empty(), commit(1).empty()], true),
        (
            "empty diffs with edits in between",
            vec![commit(1).empty(), commit(2), commit(2).empty(), commit(3), commit(3).empty()],
            false,
        ),
        ("a mixture", vec![o(1, BuildFailed), f(2, 3, 9), commit(2).empty()], true),
    ];
    for (name, commits, expected) in table {
        assert_eq!(trips(commits), expected, "{name}");
    }
}

#[test]
fn a_new_low_resets_unless_tests_are_gone() {
    assert!(!trips(vec![f(1, 7, 9), f(2, 4, 9), f(3, 2, 9)]), "7 -> 4 -> 2 goes well");
    assert!(!trips(vec![g(9), f(1, 7, 9), f(2, 4, 9), f(3, 2, 9)]), "after a green one too");
    assert!(!trips(vec![f(1, 7, 9), f(2, 7, 9), f(3, 6, 9), f(4, 6, 9), f(5, 6, 9)]), "two since the low");
    assert!(trips(vec![f(1, 7, 9), f(2, 6, 9), f(3, 6, 9), f(4, 6, 9), f(5, 6, 9)]), "three since the low");
    assert!(trips(vec![f(1, 7, 9), f(2, 5, 8), f(3, 4, 7)]), "tests are gone");
    assert!(
        trips(vec![f(1, 1, 9), commit(2).tests(green(2, 8)), f(3, 1, 8), f(4, 1, 8), f(5, 1, 8)]),
        "a failing test was taken away, and the next ones fail"
    );
    assert!(!trips(vec![f(1, 7, 9), f(2, 5, 12), f(3, 4, 15)]), "tests were added");
}

#[test]
fn documentation_counts_once_and_resets_nothing() {
    assert!(!trips(vec![f(1, 2, 9), f(1, 2, 9), f(1, 2, 9), f(1, 2, 9)]));
    assert!(trips(vec![f(1, 2, 9), f(1, 2, 9), f(2, 2, 9), f(2, 2, 9), f(3, 2, 9)]));
    assert!(!trips(vec![f(1, 2, 9), f(2, 3, 9), g(3), g(3), f(4, 3, 9)]));
}

#[test]
fn what_may_be_mended_does_not_count_until_it_fails_again() {
    let red_then = |rest: Vec<crate::domain::Fact>| -> Vec<crate::domain::Fact> {
        chain(vec![only(1, "a"), commit(2)]).into_iter().chain(rest).collect()
    };
    let idle = |count: usize| vec![turn_end(2); count];
    // The first end belongs to the turn of the commit.
    assert!(asked_of(&RULE, &folded(red_then(idle(3)))).is_none(), "red, mended unseen, two idle turns");
    assert!(asked_of(&RULE, &folded(red_then(idle(4)))).is_some(), "three idle turns");
    let docs = |state: u8, failing: &str| only(state, failing).subject("docs");
    assert!(
        trips(vec![only(1, "a"), docs(1, "a"), only(2, "b"), docs(2, "b"), only(3, "c")]),
        "nothing untested"
    );
    for kind in [Merge, Rebase] {
        let merged = vec![only(1, "a"), only(2, "a"), commit(7).kind(kind), only(3, "b")];
        assert!(!trips(merged), "{kind:?}");
        let same = vec![only(1, "a"), only(2, "a"), commit(7).kind(kind), only(3, "a")];
        assert!(trips(same), "{kind:?}");
    }
    assert!(
        !trips(vec![o(1, TestStatus::BuildFailed), commit(2), only(3, "a"), only(4, "a")]),
        "the build was mended, who knows when"
    );
    assert!(
        trips(vec![o(1, TestStatus::BuildFailed), commit(2), o(3, TestStatus::BuildFailed), only(4, "a")]),
        "the build fails again"
    );
}

#[test]
fn exempt_kinds_neither_count_nor_reset() {
    for kind in [Merge, Revert, CherryPick, Rebase] {
        assert!(!trips(vec![f(1, 2, 9), f(2, 3, 9), f(3, 3, 9).kind(kind)]), "{kind:?}");
        assert!(trips(vec![f(1, 3, 9), f(2, 3, 9), g(8).kind(kind), f(3, 3, 9)]), "{kind:?}");
    }
}

#[test]
fn the_same_error_counts_where_the_report_is_cut_short() {
    let cut = |state: u8, error: u8| {
        let mut tests = other(state, TestStatus::Incomplete);
        tests.errors = Some(Signature([error; 32]));
        commit(state).tests(tests)
    };
    assert!(!trips(vec![cut(1, 1), cut(2, 1), cut(3, 1)]), "the first shows it for the first time");
    assert!(trips(vec![cut(1, 1), cut(2, 1), cut(3, 1), cut(4, 1)]));
    assert!(!trips(vec![cut(1, 1), cut(2, 2), cut(3, 1), cut(4, 2)]));
}

#[test]
fn the_threshold_is_a_parameter_and_the_report_file_a_blocker_report() {
    let two = || vec![f(1, 2, 9), o(2, TestStatus::BuildFailed)];
    let with = |max| checked_with(&RULE, two(), &[("max", ParamValue::Count(max))]);
    assert!(with(3).is_none());
    let finding = with(2).unwrap();
    assert_eq!(finding.report_file, ReportFile::BlockerReport);
    assert_eq!(finding.message(), "2 iterations in a row failed: tests failed in 1, the build failed in 1");
}

#[test]
fn idle_turns_fail_and_a_person_can_reset_this_counter_alone() {
    let red_then = |turns: usize| -> Vec<crate::domain::Fact> {
        let red = commit(1).tests(red(1, &["a"], 9));
        chain(vec![red]).into_iter().chain(vec![turn_end(1); turns]).collect()
    };
    // The first end belongs to the turn of the commit.
    assert!(asked_of(&RULE, &folded(red_then(2))).is_none());
    assert!(asked_of(&RULE, &folded(red_then(3))).is_some());
    let mut answered = red_then(3);
    answered.push(reset("consecutive-failures"));
    answered.push(turn_end(1));
    let line = folded(answered);
    assert!(asked_of(&RULE, &line).is_none());
    assert_eq!(line.number(), 4, "the window goes on");
}

#[test]
fn empty_commits_of_different_authors_are_no_failures() {
    let row = |authors: [&str; 5]| {
        trips(authors.iter().map(|who| commit(1).empty().subject("Sign the CLA").author(who)).collect())
    };
    assert!(!row(["ann", "ben", "eve", "ann", "ben"]));
    assert!(row(["ann", "ann", "ann", "ann", "ann"]));
    assert!(row([""; 5]), "the author is not named");
}

/// The runner failed, named no test, and printed `said`.
fn unread(state: u8, said: Option<u8>) -> Commit {
    let mut tests = other(state, TestStatus::RunnerError);
    tests.errors = said.map(|said| Signature([said; 32]));
    commit(state).tests(tests)
}

#[test]
fn a_run_that_names_no_test_counts_where_it_printed_what_the_one_before_did() {
    let all =
        |said: &[u8]| (1..).zip(said).map(|(state, said)| unread(state, Some(*said))).collect::<Vec<_>>();
    let table: Vec<(&str, Vec<Commit>, bool)> = vec![
        ("the same thrice", all(&[7, 7, 7]), true),
        ("the same twice", all(&[7, 7]), false),
        ("seven, four, two", all(&[7, 4, 2]), false),
        ("and on", all(&[7, 4, 2, 9, 8, 3, 1]), false),
        ("another in between", all(&[7, 7, 4, 7, 7]), false),
        ("another before", all(&[9, 7, 7, 7]), true),
        ("another at last", all(&[7, 7, 4]), false),
        ("nothing printed", (1..=3).map(|state| unread(state, None)).collect(), true),
        ("green in between", vec![unread(1, Some(7)), unread(2, Some(7)), g(3), unread(4, Some(7))], false),
        ("beside named ones", vec![only(1, "a"), unread(2, Some(7)), only(3, "a"), only(4, "a")], true),
        ("named ones stay", vec![only(1, "a"), only(2, "a"), unread(3, Some(7)), only(4, "a")], true),
    ];
    for (name, commits, expected) in table {
        assert_eq!(trips(commits), expected, "{name}");
    }
}
