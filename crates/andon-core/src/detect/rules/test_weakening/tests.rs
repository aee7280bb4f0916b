use super::*;
use crate::detect::rules::{consecutive_failures, failures_not_decreasing};
use crate::detect::testkit::{checked, checked_at};
use crate::domain::CommitKind;
use crate::testkit::{Commit, commit, green, red};

const NAMES: [&str; 9] = ["a", "b", "c", "d", "e", "f", "g", "h", "i"];

fn f(state: u8, failing: usize, total: u64) -> Commit {
    commit(state).tests(red(state, &NAMES[..failing], total))
}

/// A commit after a test run in which seven tests of `ran` failed.
fn weakened(mut commit: Commit, ran: u64, removed: &[&str], waiver: Option<&str>) -> Commit {
    commit.record().weakening = Some(Weakening {
        failing: 7,
        ran,
        removed: removed.iter().map(ToString::to_string).collect(),
        total: removed.len() as u64,
        waiver: waiver.map(ToOwned::to_owned),
        ..Weakening::default()
    });
    commit
}

#[test]
fn the_message_says_the_facts() {
    let finding = checked(&RULE, vec![f(1, 7, 120), weakened(f(2, 2, 112), 120, &["x", "y"], None)]).unwrap();
    assert_eq!(
        finding.message(),
        "7 -> 2 failing while the tests that ran went 120 -> 112: 2 tests removed (x, y); this does not count \
         as progress"
    );
    assert_eq!(finding.level, Level::Warn);
    let finding = checked(&RULE, vec![f(1, 7, 120), f(2, 2, 112)]).unwrap();
    assert!(
        finding.message().ends_with("120 -> 112; this does not count as progress"),
        "{}",
        finding.message()
    );
    let mut untested = commit(2);
    untested.record().weakening = Some(Weakening {
        failing: 1,
        ran: 9,
        skipped: vec!["s".into()],
        loosened: vec!["l".into()],
        total: 2,
        ..Weakening::default()
    });
    let finding = checked(&RULE, vec![f(1, 1, 9), untested]).unwrap();
    assert_eq!(
        finding.message(),
        "1 test failed before this commit: 1 test newly skipped (s), 1 test with fewer assertions (l); this \
         does not count as progress"
    );
}

#[test]
fn a_waiver_is_shown_and_never_worth_a_warning() {
    let commits = || vec![f(1, 7, 9), weakened(f(2, 2, 4), 9, &["x"], Some("moved to the other crate"))];
    let finding = checked(&RULE, commits()).unwrap();
    assert_eq!(finding.level, Level::Note);
    assert!(finding.message().ends_with("waived by Tests-Removed: moved to the other crate"));
    assert_eq!(checked_at(&RULE, commits(), Level::Halt).map(|found| found.level), Some(Level::Note));
}

#[test]
fn a_green_suite_that_shrinks_is_told_in_one_line() {
    let swept = |ran: u64, kind| {
        let mut swept = commit(2).tests(green(2, ran)).kind(kind);
        swept.record().weakening = Some(Weakening {
            removed: (0..Weakening::MAX_NAMES).map(|at| format!("t{at}")).collect(),
            total: 2321,
            ..Weakening::default()
        });
        checked(&RULE, vec![commit(1).tests(green(1, 2400)), swept]).unwrap()
    };
    let finding = swept(79, CommitKind::Normal);
    assert_eq!(finding.level, Level::Warn);
    assert_eq!(
        finding.message(),
        "2321 tests removed (t0, t1, t2, t3, t4 and 2316 more); the tests that ran went 2400 -> 79"
    );
    assert_eq!(swept(79, CommitKind::Revert).level, Level::Note);
    let silent = vec![commit(1).tests(green(1, 90)), commit(2).tests(green(2, 80))];
    assert_eq!(
        checked(&RULE, silent).unwrap().message(),
        "the tests that ran went 90 -> 80, and no changed test file says why"
    );
}

#[test]
fn the_newest_commit_is_told_of_and_small_falls_of_the_count_are_not() {
    let table = [
        (vec![f(1, 2, 9), weakened(commit(2), 9, &["x"], None)], true),
        (vec![f(1, 2, 9), weakened(commit(2), 9, &["x"], None), commit(3)], false),
        (vec![commit(1).tests(green(1, 90)), commit(2).tests(green(2, 87))], false),
        (vec![f(1, 2, 9), commit(5), commit(2).tests(green(2, 8))], true),
        (vec![f(1, 2, 9), commit(5).tests(green(5, 9)), f(2, 1, 8)], false),
        (vec![f(1, 2, 9), f(2, 3, 8)], false),
        (vec![f(1, 2, 9), f(2, 1, 9)], false),
    ];
    for (commits, trips) in table {
        assert_eq!(checked(&RULE, commits.clone()).is_some(), trips, "{commits:?}");
    }
}

#[test]
fn removed_tests_earn_no_credit_even_where_others_take_their_place() {
    // Each step removes failing tests and adds as many that pass: the totals do not show it.
    let steps = |waiver| {
        vec![
            f(1, 7, 9),
            weakened(f(2, 5, 9), 9, &["f", "g"], waiver),
            weakened(f(3, 3, 9), 9, &["d", "e"], waiver),
            weakened(f(4, 1, 9), 9, &["b", "c"], waiver),
        ]
    };
    let consecutive = &consecutive_failures::RULE;
    assert!(checked(consecutive, steps(None)).is_some());
    assert!(checked(consecutive, steps(Some("obsolete"))).is_none());
    let mut stuck = steps(None);
    stuck.extend([f(5, 1, 9), f(6, 1, 9)]);
    assert!(checked(&failures_not_decreasing::RULE, stuck).is_some());
}
