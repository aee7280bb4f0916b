use super::*;
use crate::detect::testkit::{checked, checked_with};
use crate::domain::change::Nature;
use crate::domain::facts::CommitKind::{CherryPick, Merge, Rebase, Revert};
use crate::domain::settings::ParamValue;
use crate::history::testkit::{Commit, commit};

fn states(codes: &[u8]) -> Vec<Commit> {
    codes.iter().map(|code| commit(*code)).collect()
}

fn level(commits: Vec<Commit>) -> Option<Level> {
    checked(&RULE, commits).map(|finding| finding.level)
}

#[test]
fn alternation_trips_at_the_fourth_state() {
    let table: [(&[u8], bool); 11] = [
        (&[], false),
        (&[1, 2, 1], false),
        (&[1, 2, 1, 2], true),
        (&[1, 2, 1, 2, 1], true),
        (&[3, 1, 2, 1, 2], true),
        (&[1, 2, 1, 2, 3], false),
        (&[1, 2, 3, 1, 2], false),
        (&[1, 2, 3, 1, 2, 3], true),
        (&[1, 1, 1, 1], false),
        (&[1, 1, 2, 2, 1, 1, 2, 2], true),
        (&[1, 2, 1, 1, 1], false),
    ];
    for (codes, trips) in table {
        assert_eq!(level(states(codes)), trips.then_some(Level::Halt), "{codes:?}");
    }
}

#[test]
fn going_back_on_purpose_is_a_note_and_half_of_it_warns() {
    let named = |third: &str, fourth: &str| {
        vec![commit(1), commit(2), commit(1).subject(third), commit(2).subject(fourth)]
    };
    assert_eq!(level(named("Revert \"x\"", "Reland \"x\"")), Some(Level::Note));
    assert_eq!(level(named("Release 1.0", "work")), Some(Level::Warn));
    assert_eq!(level(named("work", "v1.2.3")), Some(Level::Warn));
    assert_eq!(level(named("work", "more work")), Some(Level::Halt));
}

#[test]
fn a_loop_that_hides_behind_reverts_halts_all_the_same() {
    let mut commits = vec![commit(2), commit(1).kind(Revert), commit(2), commit(1).kind(Revert)];
    assert_eq!(level(commits.clone()), Some(Level::Warn));
    commits.push(commit(2));
    let finding = checked(&RULE, commits).unwrap();
    assert_eq!(finding.level, Level::Halt);
    assert!(
        finding.message().ends_with("1 of 3 returns by reverts, relands, releases or merges"),
        "{}",
        finding.message()
    );
}

#[test]
fn merges_and_picks_bring_states_but_are_no_strikes() {
    for kind in [Merge, Rebase, CherryPick] {
        let commits = states(&[1, 2, 1, 2]).into_iter().map(|commit| commit.kind(kind)).collect();
        assert_eq!(level(commits), Some(Level::Note), "{kind:?}");
    }
    // A pull request is merged, merging another branch undoes it, a commit makes it again.
    let merged = vec![commit(1), commit(2).kind(Merge), commit(1).kind(Merge), commit(2)];
    assert_eq!(level(merged), Some(Level::Warn));
}

#[test]
fn thresholds_and_patterns_are_parameters() {
    let with = |codes: &[u8], returns| {
        checked_with(&RULE, states(codes), &[("returns", ParamValue::Count(returns))]).is_some()
    };
    assert!(!with(&[1, 2, 1, 2], 3));
    assert!(with(&[1, 2, 1, 2, 1], 3));
    let none = checked_with(
        &RULE,
        vec![commit(1), commit(2), commit(1), commit(2).subject("Release 1.0")],
        &[("exempt", ParamValue::List(vec![]))],
    );
    assert_eq!(none.map(|finding| finding.level), Some(Level::Halt));
}

/// Path 1 in these states, beside other work in path 9.
fn file(states: &[u8]) -> Vec<Commit> {
    let mut old = 0;
    let mut one = |(at, new): (u8, &u8)| {
        let step = (1, old, *new);
        old = *new;
        commit(at).change(Nature::Work, &[step, (9, at, at + 1)])
    };
    (100..).zip(states).map(&mut one).collect()
}

#[test]
fn a_file_that_goes_round_behind_other_work_trips() {
    let table: [(&[u8], Option<Level>); 6] = [
        (&[1, 2, 1, 2], None),
        (&[1, 2, 1, 2, 1], Some(Level::Halt)),
        (&[1, 2, 3, 1, 2, 3], Some(Level::Halt)),
        (&[1, 2, 3, 4, 5, 6], None),
        (&[1, 2, 1, 2, 3], None),
        // There, gone, there, gone: a file that is moved to and fro.
        (&[1, 0, 1, 0, 1], Some(Level::Halt)),
    ];
    for (states, wanted) in table {
        assert_eq!(level(file(states)), wanted, "{states:?}");
    }
    let mut reverted = file(&[1, 2, 1, 2, 1]);
    reverted[4] = reverted[4].clone().kind(Revert);
    assert_eq!(level(reverted), Some(Level::Note));
    assert_eq!(level((1..9).map(commit).collect()), None, "records without paths prove nothing");
}

#[test]
fn a_file_that_goes_round_slowly_is_given_more_time() {
    let slow = |states: &[u8], between: u8| -> Vec<Commit> {
        let steps = file(states).into_iter().zip((0..).step_by(8));
        let behind = |(step, at): (Commit, u8)| {
            let others =
                (0..between).map(move |other| commit(at + other).change(Nature::Work, &[(8, at, at + 1)]));
            others.chain([step]).collect::<Vec<_>>()
        };
        steps.flat_map(behind).collect()
    };
    assert_eq!(level(slow(&[1, 2, 1, 2, 1], 1)), Some(Level::Halt));
    assert_eq!(level(slow(&[1, 2, 1, 2, 1], 2)), Some(Level::Note));
    assert_eq!(level(slow(&[1, 2, 1, 2, 1, 2, 1], 2)), Some(Level::Halt));
}

#[test]
fn a_path_that_changed_unseen_starts_anew() {
    let mut commits = file(&[1, 2, 1, 2, 1]);
    commits[2] = commit(102).change(Nature::Work, &[(9, 102, 103)]);
    assert_eq!(level(commits), None);
}

#[test]
fn three_comebacks_without_a_period_trip() {
    let table: [(&[u8], bool); 4] = [
        (&[1, 2, 1, 3, 1], false),
        (&[1, 2, 1, 3, 1, 4, 1], true),
        (&[1, 2, 3, 2, 4, 1, 5, 2], true),
        (&[1, 2, 1, 3, 4, 5, 6, 7, 8, 9, 10, 9, 11, 9], false),
    ];
    for (codes, trips) in table {
        assert_eq!(level(states(codes)), trips.then_some(Level::Halt), "{codes:?}");
    }
}

#[test]
fn a_lower_level_is_kept() {
    use crate::detect::testkit::checked_at;
    let exempt = || vec![commit(1), commit(2), commit(1).kind(Revert), commit(2).kind(Revert)];
    assert_eq!(checked_at(&RULE, exempt(), Level::Note).map(|finding| finding.level), Some(Level::Note));
    assert_eq!(checked_at(&RULE, states(&[1, 2, 1, 2]), Level::Warn).map(|f| f.level), Some(Level::Warn));
}
