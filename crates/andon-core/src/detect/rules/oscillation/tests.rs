use super::*;
use crate::detect::testkit::{asked_of, checked, checked_with};
use crate::domain::{
    CommitKind::{CherryPick, Merge, Rebase, Revert},
    Nature, ParamValue, Recording,
};
use crate::testkit::{Commit, commit, folded, green};

mod lines;

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
fn the_states_are_those_of_their_commits() {
    let message = |codes: &[u8]| checked(&RULE, states(codes)).unwrap().message();
    let commits = message(&[1, 2, 1, 2]);
    assert!(
        commits.starts_with("the code has switched between the same two versions 4 times (commits "),
        "{commits}"
    );
    let three = message(&[1, 2, 3, 1, 2, 3]);
    assert!(
        three.starts_with("the code has gone round the same 3 versions in 6 changes (commits "),
        "{three}"
    );
    let unnamed = |codes: &[u8]| {
        let facts = states(codes).into_iter().map(Commit::fact).collect();
        asked_of(&RULE, &folded(facts)).unwrap().message()
    };
    assert_eq!(
        unnamed(&[1, 2, 1, 2]),
        "the code has switched between the same two versions 4 times (010101010101 and 020202020202)"
    );
    assert_eq!(unnamed(&[1, 2, 3, 1, 2, 3]), "the code has gone round the same 3 versions in 6 changes");
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
    for (kind, expected) in [(Merge, Some(Level::Note)), (CherryPick, Some(Level::Note)), (Rebase, None)] {
        let commits = states(&[1, 2, 1, 2]).into_iter().map(|commit| commit.kind(kind)).collect();
        assert_eq!(level(commits), expected, "{kind:?}");
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

/// A line of one file goes from `old` to `new`, with documents beside it or not; the code is in state `code`.
fn switch(code: u8, (old, new): (u8, u8), documents: &[(u8, u8, u8)]) -> Commit {
    let paths: Vec<(u8, u8, u8)> = [(1, old, new)].iter().chain(documents).copied().collect();
    commit(code).change(Nature::Work, &paths).lines(1 + documents.len() as u64 * 29, 1)
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

/// The same beside work in path 9 that brings nothing new: its states come round in their turn, later.
fn file_alone(states: &[u8]) -> Vec<Commit> {
    let one = |(at, mut commit): (u8, Commit)| {
        let (old, new) = (9 + at % 7, 9 + (at + 1) % 7);
        let step = commit.record().change.as_ref().map(|change| change.paths[0]).unwrap();
        commit = commit.change(Nature::Work, &[(1, step.old.0[0], step.new.0[0]), (9, old, new)]);
        commit
    };
    let seen = (0..7).map(|at| commit(at + 50).change(Nature::Work, &[(9, 9 + at, 9 + (at + 1) % 7)]));
    seen.chain((0..).zip(file(states)).map(one)).collect()
}

#[test]
fn a_file_that_goes_round_while_nothing_new_comes_beside_it_trips() {
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
        assert_eq!(level(file_alone(states)), wanted, "{states:?}");
    }
    let mut reverted = file(&[1, 2, 1, 2, 1]);
    reverted[4] = reverted[4].clone().kind(Revert);
    assert_eq!(level(reverted), Some(Level::Note));
    assert_eq!(level((1..9).map(commit).collect()), None, "records without paths prove nothing");
}

#[test]
fn a_file_that_is_toggled_beside_real_work_is_no_loop() {
    let toggled = |times: usize| -> Vec<u8> { (0..times).map(|at| [1, 2][at % 2]).collect() };
    let finding = checked(&RULE, file(&toggled(5))).unwrap();
    assert_eq!(finding.level, Level::Note);
    assert_eq!(finding.files, [crate::domain::HunkHash([1; 8])]);
    assert_eq!(finding.message(), "one file goes back and forth between 2 states, 3 returns");
    assert_eq!(level(file(&toggled(30))), Some(Level::Warn), "nothing is known of tests");
    let tested = |times: usize, tests: fn(u8) -> Option<u64>| {
        let one = |(at, commit): (u8, Commit)| match tests(at) {
            Some(total) => commit.tests(green(100 + at, total)),
            None => commit,
        };
        level((0..).zip(file(&toggled(times))).map(one).collect())
    };
    assert_eq!(tested(30, |at| Some(9 + u64::from(at))), Some(Level::Note), "tests green and growing");
    assert_eq!(tested(9, |_| Some(9)), Some(Level::Warn));
    assert_eq!(tested(10, |_| Some(9)), Some(Level::Halt), "eight returns, and the tests make no progress");
    assert_eq!(tested(10, |at| (at > 4).then_some(9)), Some(Level::Halt), "no test ran before it");
    let once = |at: u8| Some(if at < 6 { 9 } else { 12 });
    assert_eq!(tested(20, once), Some(Level::Note), "tests newly passed within sixteen returns");
    assert_eq!(tested(24, once), Some(Level::Halt), "what newly passed long ago excuses nothing");
}

#[test]
fn a_file_that_is_toggled_while_others_are_deleted_is_no_loop() {
    let came: Vec<(u8, u8, u8)> = (1..7).map(|at| (10 + at, 0, 50 + at)).collect();
    let one = |at: u8| {
        let toggle = [(1, 2, 3), (1, 3, 2)][usize::from(at % 2)];
        commit(at).change(Nature::Work, &[toggle, (10 + at, 50 + at, 0)]).lines(1, 17)
    };
    let row = |last: u8| {
        let first = commit(100).change(Nature::Work, &came);
        level(std::iter::once(first).chain((1..last).map(one)).collect())
    };
    assert_eq!(row(5), Some(Level::Note), "they came within the window");
    assert_eq!(row(7), Some(Level::Warn), "nothing is known of tests");
}

#[test]
fn a_document_that_goes_round_is_none_of_its_business() {
    let mut commits = file_alone(&[1, 2, 1, 2, 1]);
    let count = commits.len();
    commits[count - 1] = commits[count - 1].clone();
    let code = commits[count - 2].record().code;
    commits[count - 1].record().code = code;
    assert_eq!(level(commits), None, "the code stayed when it was changed");
}

#[test]
fn a_file_that_goes_round_slowly_is_given_more_time() {
    let slow = |states: &[u8], between: u8| -> Vec<Commit> {
        let behind = |(at, step): (u8, Commit)| {
            let others = (0..between)
                .map(move |other| commit(at * 8 + other).change(Nature::Work, &[(8, other, other + 1)]));
            others.chain([step]).collect::<Vec<_>>()
        };
        (0..).zip(file_alone(states)).flat_map(behind).collect()
    };
    assert_eq!(level(slow(&[1, 2, 1, 2, 1], 1)), Some(Level::Halt));
    assert_eq!(level(slow(&[1, 2, 1, 2, 1], 2)), Some(Level::Note));
    assert_eq!(level(slow(&[1, 2, 1, 2, 1, 2, 1], 2)), Some(Level::Halt));
}

#[test]
fn release_pairs_in_words_of_ones_own_are_learned() {
    let pairs = |subjects: [&str; 4]| {
        level(
            [1, 2, 1, 2]
                .iter()
                .zip(subjects)
                .map(|(state, subject)| commit(*state).subject(subject))
                .collect(),
        )
    };
    let learned = [
        "Prepare before 1.2 release",
        "Cleanup after 1.2 release",
        "Prepare before 1.3 release",
        "Cleanup after 1.3 release",
    ];
    assert_eq!(pairs(learned), Some(Level::Note));
    assert_eq!(pairs(["Attempt 1", "Attempt 2", "Attempt 3", "Attempt 4"]), Some(Level::Halt));
    let same = ["Fix 1.2", "Undo 1.2", "Fix 1.2", "Undo 1.2"];
    assert_eq!(pairs(same), Some(Level::Halt), "of one version");
}

#[test]
fn a_pull_request_that_lands_again_after_its_revert_is_meant() {
    let commits = |third: &str| {
        vec![
            commit(1),
            commit(2).subject("Add a cache (#10)"),
            commit(1).subject("Revert \"Add a cache (#10)\" (#11)"),
            commit(2).subject(third),
            commit(1).subject("Revert \"Add a cache, again (#12)\" (#13)"),
            commit(2).subject(third),
        ]
    };
    assert_eq!(level(commits("Add a cache, again (#12)")), Some(Level::Note));
    assert_eq!(level(commits("Add a cache, again")), Some(Level::Halt));
}

#[test]
fn what_is_switched_on_and_off_over_hours_is_given_more_time() {
    let hourly = |states: &[u8], seconds: i64| {
        level((1..).zip(states).map(|(at, state)| commit(*state).at(at * seconds)).collect())
    };
    assert_eq!(hourly(&[1, 2, 1, 2], 4000), Some(Level::Note));
    assert_eq!(hourly(&[1, 2, 1, 2], 600), Some(Level::Halt));
    assert_eq!(hourly(&[1, 2, 1, 2, 1, 2], 4000), Some(Level::Halt));
    let flag = |seconds: i64, toggles: usize| {
        let switch = |(at, old, new): (i64, u8, u8)| {
            commit(new).at(at * seconds).change(Nature::Work, &[(1, old, new)])
        };
        let steps = [(1, 0, 1), (2, 1, 2), (3, 2, 1), (4, 1, 2), (5, 2, 1), (6, 1, 2)];
        level(steps[..toggles].iter().copied().map(switch).collect())
    };
    assert_eq!(flag(4000, 5), Some(Level::Note), "the one file of it, too");
    assert_eq!(flag(600, 5), Some(Level::Warn), "a line");
    assert_eq!(flag(600, 6), Some(Level::Halt));
}

#[test]
fn what_is_tried_out_minutes_apart_unobserved_is_given_more_time() {
    let unobserved = |commit: Commit| commit.recording(Recording::Derived);
    let row = |states: &[u8], seconds: i64, change: fn(Commit) -> Commit| {
        // A person is not as regular as a clock.
        let one = |(at, state): (i64, &u8)| change(commit(*state).at(at * seconds + at % 2 * seconds / 5));
        level((1..).zip(states).map(one).collect())
    };
    assert_eq!(row(&[1, 2, 1, 2], 200, unobserved), Some(Level::Warn), "an edit goes in, out and in again");
    assert_eq!(row(&[1, 2, 1, 2], 60, unobserved), Some(Level::Halt), "two programs undo each other");
    assert_eq!(row(&[1, 2, 1, 2], 200, |one| one), Some(Level::Halt), "a hook saw the loop");
    assert_eq!(row(&[1, 2, 1, 2, 1, 2, 1], 200, unobserved), Some(Level::Warn));
    assert_eq!(row(&[1, 2, 1, 2, 1, 2, 1, 2], 200, unobserved), Some(Level::Halt), "for ever");
    assert_eq!(row(&[1, 2, 1, 3, 1, 4, 1], 200, unobserved), Some(Level::Warn), "without a period");
    assert_eq!(row(&[1, 2, 1, 3, 1, 4, 1], 60, unobserved), Some(Level::Halt));
    let spaces = |count: usize, change: fn(Commit) -> Commit| {
        let states: Vec<u8> = (0..=count).map(|at| [1, 2][at % 2]).collect();
        let turn = |(at, pair): (i64, &[u8])| {
            change(switch(pair[1], (pair[0], pair[1]), &[]).at(at * 200 + at % 2 * 40))
        };
        level((1..).zip(states.windows(2)).map(turn).collect())
    };
    assert_eq!(spaces(5, unobserved), Some(Level::Warn), "a space goes in and out");
    assert_eq!(spaces(5, |one| one), Some(Level::Halt));
    assert_eq!(spaces(8, unobserved), Some(Level::Halt));
}

#[test]
fn what_is_tried_out_minutes_apart_in_the_mean_is_given_more_time() {
    // A space goes in and out, so that a build elsewhere begins.
    let row = |states: &[u8], times: &[i64]| {
        let one = |(state, at): (&u8, &i64)| commit(*state).at(*at).recording(Recording::Derived);
        level(states.iter().zip(times).map(one).collect())
    };
    let states = [1, 2, 3, 1, 4, 5, 4, 1, 4];
    let times = [10, 660, 1_380, 2_500, 2_740, 2_870, 3_840, 4_000, 4_118];
    assert_eq!(row(&states, &times), Some(Level::Warn), "the last one sooner");
    let hurried = [10, 20, 30, 40, 50, 60, 70, 80, 90];
    assert_eq!(row(&states, &hurried), Some(Level::Halt), "a program");
}

#[test]
fn a_program_that_fetches_data_by_the_clock_is_a_note() {
    let row = |states: &[u8], subject: fn(i64) -> String, change: fn(Commit) -> Commit| {
        let one = |(at, state): (i64, &u8)| change(commit(*state).at(at * 600).subject(&subject(at)));
        level((1..).zip(states).map(one).collect())
    };
    let unobserved = |commit: Commit| commit.recording(Recording::Derived);
    let data = |at: i64| format!("Update data: run {at}");
    assert_eq!(
        row(&[1, 2, 1, 2, 1, 2, 1, 2, 1, 2], data, unobserved),
        Some(Level::Note),
        "two answers in turn"
    );
    assert_eq!(row(&[1, 2, 1, 3, 1, 4, 1, 2, 1], data, unobserved), Some(Level::Note));
    assert_eq!(row(&[1, 2, 1, 2], data, |one| one), Some(Level::Halt), "a hook saw a loop");
    let words = |at: i64| ["Use a lock", "Use a queue"][usize::try_from(at % 2).unwrap()].to_owned();
    assert_eq!(row(&[1, 2, 1, 2, 1, 2, 1, 2, 1], words, unobserved), Some(Level::Halt), "somebody tries");
}

#[test]
fn a_deployment_that_is_taken_back_at_once_is_no_loop() {
    let row = |times: &[i64], files: u64| {
        let states = [1, 2, 1, 2, 1, 2];
        let one = |(state, at): (&u8, &i64)| {
            let mut commit = commit(*state).at(*at);
            commit.0.record.diff.files = files;
            commit
        };
        level(states.iter().zip(times).map(one).collect())
    };
    assert_eq!(row(&[10, 8_000, 16_000, 16_060], 2), Some(Level::Note), "the last one at once");
    assert_eq!(row(&[10, 8_000, 16_000, 16_060], 9), Some(Level::Halt), "a whole state");
    assert_eq!(row(&[10, 70, 130, 16_000], 2), Some(Level::Halt), "only one of them lasted");
    assert_eq!(row(&[10, 8_000, 16_000, 24_000, 32_000, 32_060], 2), Some(Level::Halt), "two returns more");
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
