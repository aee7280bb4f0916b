use super::*;
use crate::detect::testkit::{checked, checked_with};
use crate::domain::{
    CommitKind::{Amend, CherryPick, Merge, Rebase, Revert},
    Nature, ParamValue, Recording,
};
use crate::testkit::{Commit, commit, green};

fn d(diff: u8) -> Commit {
    commit(diff).diff(diff)
}

fn e() -> Commit {
    commit(9).empty()
}

#[test]
fn two_repeats_running_trip() {
    let table: Vec<(&str, Vec<Commit>, bool)> = vec![
        ("nothing", vec![], false),
        ("one commit", vec![d(1)], false),
        ("one repeat", vec![d(1), d(1)], false),
        ("two repeats", vec![d(1), d(1), d(1)], true),
        ("two repeats after work", vec![d(2), d(1), d(1), d(1)], true),
        ("interrupted", vec![d(1), d(1), d(2), d(2)], false),
        ("over", vec![d(1), d(1), d(1), d(2)], false),
        ("alternating", vec![d(1), d(2), d(1), d(2)], false),
        ("one empty", vec![e()], false),
        ("one empty after work", vec![d(1), e()], false),
        ("two empty", vec![e(), e()], true),
        ("empty, work, empty", vec![e(), d(1), e()], false),
        ("a repeat and an empty one", vec![d(1), d(1), e()], true),
    ];
    for (name, commits, trips) in table {
        assert_eq!(checked(&RULE, commits).is_some(), trips, "{name}");
    }
}

#[test]
fn the_same_code_by_amends_or_rebases_is_nobodys_loop() {
    let amends = |codes: &[u8]| -> Vec<Commit> {
        let amends = codes.iter().map(|code| commit(*code).kind(Amend));
        [commit(1), commit(2)].into_iter().chain(amends).collect()
    };
    assert!(checked(&RULE, amends(&[2, 2, 2, 2, 2, 2])).is_none(), "only the message");
    assert!(checked(&RULE, amends(&[3, 4, 5, 6, 7, 8, 9])).is_none(), "each time something new");
    let picks = (0..6).flat_map(|_| [5, 6, 7]).map(|code| commit(code).kind(Rebase));
    assert!(checked(&RULE, [commit(1), commit(2)].into_iter().chain(picks).collect()).is_none());
}

#[test]
fn exempt_kinds_neither_count_nor_interrupt() {
    for kind in [Merge, Revert, CherryPick, Rebase] {
        assert!(checked(&RULE, vec![d(1), d(1), d(1).kind(kind)]).is_none(), "{kind:?} does not count");
        assert!(checked(&RULE, vec![e().kind(kind), e().kind(kind)]).is_none(), "{kind:?} does not count");
        let through = vec![d(1), d(1), d(7).kind(kind), d(1)];
        assert!(checked(&RULE, through).is_some(), "{kind:?} does not interrupt");
    }
}

#[test]
fn identical_empty_commits_are_no_series_of_releases() {
    let level = |subjects: &[&str]| {
        let commits = subjects.iter().map(|subject| e().subject(subject)).collect();
        checked(&RULE, commits).map(|finding| finding.level)
    };
    assert_eq!(level(&["Release 1.2.0"; 3]), Some(Level::Halt));
    assert_eq!(level(&["Release 1.2.0", "Release 1.2.1", "Release 1.3.0"]), Some(Level::Note));
}

#[test]
fn amending_a_message_repeats_nothing() {
    assert!(checked(&RULE, vec![d(1), d(1).kind(Amend), d(1).kind(Amend), d(1).kind(Amend)]).is_none());
    let amended = checked(&RULE, vec![d(1), d(1), d(1), d(1).kind(Amend)]);
    assert!(amended.is_some(), "the amended iteration still repeats");
}

#[test]
fn the_threshold_is_a_parameter() {
    let four = || vec![d(1), d(1), d(1), d(1)];
    let with = |repeats| checked_with(&RULE, four(), &[("repeats", ParamValue::Count(repeats))]);
    assert!(with(3).is_some());
    assert!(with(4).is_none());
}

fn level(commits: Vec<Commit>) -> Option<Level> {
    checked(&RULE, commits).map(|finding| finding.level)
}

#[test]
fn cosmetic_changes_are_given_more_time() {
    for (running, wanted) in
        [(1, None), (2, Some(Level::Warn)), (4, Some(Level::Warn)), (5, Some(Level::Halt))]
    {
        assert_eq!(level(vec![commit(1).cosmetic(); running]), wanted, "{running}");
    }
    assert_eq!(level(vec![e(), commit(1).cosmetic()]), Some(Level::Warn));
}

#[test]
fn empty_commits_that_start_a_build_are_given_more_time() {
    let poke = || e().subject("Trigger CI");
    assert_eq!(level(vec![poke(); 11]), Some(Level::Note));
    assert_eq!(level(vec![poke(); 12]), Some(Level::Halt));
    assert_eq!(level(vec![d(1).subject("Trigger CI"); 3]), Some(Level::Halt), "not empty");
}

#[test]
fn the_same_lines_in_a_document_with_a_new_text_are_given_more_time() {
    let write = |state| d(1).docs(state, (0, 0), (0, 0));
    assert_eq!(level((1..=3).map(write).collect()), Some(Level::Warn));
    assert_eq!(level((1..=13).map(write).collect()), Some(Level::Halt));
    assert_eq!(level(vec![write(1), write(2), write(1), write(2)]), Some(Level::Warn));
    assert_eq!(level(vec![write(1), write(1), write(1)]), Some(Level::Halt), "the text is not new");
}

#[test]
fn the_message_tells_which() {
    let message = |commits| checked(&RULE, commits).map(|finding| finding.message()).unwrap_or_default();
    assert_eq!(message(vec![e(), e()]), "2 iterations in a row changed nothing");
    assert_eq!(
        message(vec![d(1), d(1), d(1)]),
        "2 iterations in a row made the same change as the one before (diff 010101010101)"
    );
    assert_eq!(
        message(vec![d(1), d(1), e()]),
        "2 iterations in a row repeated the change before them or changed nothing (1 changed nothing)"
    );
    let reverted = |state| commit(state).diff(9).kind(Revert);
    assert_eq!(
        message(vec![d(1), reverted(3), d(1), reverted(3), d(1)]),
        "2 iterations made the same change again (diff 010101010101), with 2 commits in between (reverts, merges or picks)"
    );
    assert_eq!(
        message(vec![reverted(3), d(1), d(1), d(1), reverted(3)]),
        "2 iterations in a row made the same change as the one before (diff 010101010101)"
    );
}

/// The same lines at another place of the program: the diff of before, and a state that is new.
fn again(state: u8) -> Commit {
    commit(state).diff(1).change(Nature::Work, &[(1, state, state + 1)]).lines(2, 0)
}

#[test]
fn the_same_lines_at_another_place_are_given_more_time() {
    assert_eq!(level((1..=3).map(again).collect()), Some(Level::Note), "for three features");
    assert_eq!(level((1..=13).map(again).collect()), Some(Level::Halt));
    assert_eq!(level([1, 2, 1, 2].map(again).into()), Some(Level::Halt), "no new state");
    let replaced = |at| again(at).lines(1, 1);
    assert_eq!(level((1..=20).map(replaced).collect()), Some(Level::Note), "a list comes to its end");
    assert_eq!(level([1, 2, 1, 2].map(replaced).into()), Some(Level::Halt));
    let tested = |at: u8| again(at).tests(green(at, u64::from(at)));
    assert_eq!(level((1..=20).map(tested).collect()), Some(Level::Note), "tests newly pass");
    let found = checked(&RULE, (1..=13).map(again).collect()).map(|finding| finding.files);
    assert_eq!(found, Some(vec![crate::domain::HunkHash([1; 8])]), "the file is named");
    let of = |nature| level((1..=3).map(|at| again(at).change(nature, &[(1, at, at + 1)])).collect());
    assert_eq!(of(Nature::Comments), Some(Level::Note), "the documentation of one function after the other");
    assert_eq!(of(Nature::Version), Some(Level::Note), "one package after the other");
    assert_eq!(of(Nature::Log), Some(Level::Halt), "a log always grows");
}

#[test]
fn the_same_diff_on_new_code_proves_nothing_where_nobody_tells_what_it_touched() {
    let told = |state: u8| commit(state).diff(1);
    assert_eq!(level((1..=20).map(told).collect()), Some(Level::Note));
    assert_eq!(level([1, 1, 1].map(told).into()), Some(Level::Halt), "no new code");
    assert_eq!(level([1, 2, 1, 2].map(told).into()), Some(Level::Halt), "the same two states");
    assert_eq!(level(vec![told(1), told(2), e(), e()]), Some(Level::Halt), "two bring nothing");
    let same_place = |state: u8| told(state).change(Nature::Log, &[(1, state, state + 1)]);
    assert_eq!(level((1..=3).map(same_place).collect()), Some(Level::Halt), "what it touched is known");
}

#[test]
fn empty_commits_of_releases_and_forges_are_given_more_time() {
    let row = |subjects: [&str; 3]| level(subjects.iter().map(|subject| e().subject(subject)).collect());
    assert_eq!(row(["core 1.2.0", "Publish cli v0.4.1", "@scope/pkg@2.0.0"]), Some(Level::Note));
    assert_eq!(row(["Add a parser (#12)", "Mend it (#13)", "Say why (#14)"]), Some(Level::Note));
    assert_eq!(row(["Fix the parser", "Fix the parser", "Fix it 3"]), Some(Level::Halt));
    assert_eq!(level((0..20).map(|at| unobserved(e()).subject(&format!("Add it (#{at})"))).collect()), None);
    assert_eq!(level((0..20).map(|at| unobserved(e()).subject(&format!("cli 1.{at}"))).collect()), None);
}

#[test]
fn empty_commits_that_each_say_something_else_are_given_more_time() {
    let row = |count: usize, subject: fn(usize) -> String| {
        level((0..count).map(|at| unobserved(e()).subject(&subject(at))).collect())
    };
    let milestones = |at| format!("milestone: phase {at} complete");
    assert_eq!(row(2, milestones), Some(Level::Warn), "a property, a trial of a hook");
    assert_eq!(row(7, milestones), Some(Level::Warn));
    assert_eq!(row(8, milestones), Some(Level::Halt), "for ever");
    assert_eq!(row(3, |_| "Wait".to_owned()), Some(Level::Halt), "the same is said again");
    assert_eq!(row(3, |at| format!("Try {}", at % 2)), Some(Level::Halt), "and again later");
    let observed = |count| level((0..count).map(|at| e().subject(&milestones(at))).collect());
    assert_eq!((observed(4), observed(5)), (Some(Level::Warn), Some(Level::Halt)), "hooks saw them");
    let observed = (0..2).map(|_| e().subject("Wait")).collect();
    assert_eq!(level(observed), Some(Level::Halt), "a hook saw the loop");
}

/// A commit of a history without records.
fn unobserved(one: Commit) -> Commit {
    one.recording(Recording::Derived)
}

#[test]
fn without_observation_it_takes_one_more() {
    let row = |count: usize, one: fn() -> Commit| level((0..count).map(|_| one()).collect());
    assert_eq!(row(2, || e().subject("Try again")), Some(Level::Halt));
    assert_eq!(row(2, || unobserved(e()).subject("Try again")), Some(Level::Warn));
    assert_eq!(row(3, || unobserved(e()).subject("Try again")), Some(Level::Halt));
    assert_eq!(row(3, || unobserved(d(1))), Some(Level::Warn));
    assert_eq!(row(4, || unobserved(d(1))), Some(Level::Halt));
    let red = || crate::testkit::red(9, &["a"], 3);
    let tested = (0..2).map(|_| unobserved(e()).subject("Wait").tests(red())).collect();
    assert_eq!(level(tested), Some(Level::Halt), "its tests are known");
}

#[test]
fn cosmetic_changes_minutes_apart_are_tried_out_by_a_person() {
    let row = |count: i64, seconds: i64| {
        level((1..=count).map(|at| unobserved(commit(1).cosmetic()).at(at * seconds)).collect())
    };
    assert_eq!(row(5, 60), Some(Level::Halt), "a program, minute by minute");
    assert_eq!(row(11, 300), Some(Level::Warn));
    assert_eq!(row(12, 300), Some(Level::Halt));
    let observed = (1..=5).map(|at| commit(1).cosmetic().at(at * 300)).collect();
    assert_eq!(level(observed), Some(Level::Halt));
}

#[test]
fn cosmetic_changes_that_claim_no_work_are_given_more_time() {
    let row = |count: usize, subject: &str| level(vec![commit(1).cosmetic().subject(subject); count]);
    for subject in ["_", "", "fix code style", "Remove blank line", "Remove last endl"] {
        assert_eq!(row(7, subject), Some(Level::Warn), "{subject}");
        assert_eq!(row(8, subject), Some(Level::Halt), "{subject}");
    }
    assert_eq!(row(5, "Mend the parser"), Some(Level::Halt));
}

#[test]
fn white_space_put_right_file_by_file_is_a_note() {
    let row = |files: &[u8]| {
        let cleaned = |file: &u8| commit(1).cosmetic().change(Nature::Space, &[(*file, *file, *file + 100)]);
        level(files.iter().map(cleaned).collect())
    };
    let folders: Vec<u8> = (1..=40).collect();
    assert_eq!(row(&folders), Some(Level::Note));
    assert_eq!(row(&[1, 2, 3, 4, 1]), Some(Level::Halt), "a file comes again");
    assert_eq!(row(&[1; 5]), Some(Level::Halt));
}

#[test]
fn properties_that_git_does_not_keep_are_given_more_time() {
    let row = |count: usize, subject: &str| level(vec![unobserved(e()).subject(subject); count]);
    for subject in ["svn:eol-style=native", "Remove svn:keywords property from coyote/**"] {
        assert_eq!(row(11, subject), Some(Level::Note), "{subject}");
        assert_eq!(row(12, subject), Some(Level::Halt), "{subject}");
    }
    for subject in ["Leave svn: use git", "Read csvn:a"] {
        assert_eq!(row(3, subject), Some(Level::Halt), "{subject}");
    }
}

#[test]
fn an_empty_chore_is_given_one_more() {
    let beads = |commit: Commit| commit.subject("Update beads");
    let row = |chores: u8, empty: usize| {
        let work = (1..=chores).flat_map(|at| [beads(d(at)), d(100 + at)]);
        level(work.chain(vec![beads(e()); empty]).collect())
    };
    assert_eq!(row(2, 2), Some(Level::Warn));
    assert_eq!(row(2, 3), Some(Level::Halt));
    assert_eq!(row(1, 2), Some(Level::Halt), "twice is no habit");
    let stamps = (1..=2).flat_map(|at| [beads(commit(1).cosmetic()), d(100 + at)]);
    assert_eq!(level(stamps.chain(vec![beads(e()); 2]).collect()), Some(Level::Warn), "new timestamps");
}

#[test]
fn empty_doubles_of_a_line_of_commits_are_given_more_time() {
    let line = |subjects: [&str; 2]| {
        let work =
            ["Add a parser", "Add a lexer"].iter().zip([1, 2]).map(|(subject, at)| d(at).subject(subject));
        level(work.chain(subjects.iter().map(|subject| e().subject(subject))).collect())
    };
    assert_eq!(line(["Add a parser", "Add a lexer"]), Some(Level::Note));
    assert_eq!(line(["Add a lexer", "Add a lexer"]), Some(Level::Halt), "the same again");
    assert_eq!(line(["Add a lexer", "Add a grammar"]), Some(Level::Warn), "no double");
}

#[test]
fn neighbours_by_different_authors_do_not_repeat_each_other() {
    let by = |who: &str, recording| e().recording(recording).author(who);
    let row = |recording| level(["ann", "ben", "ann"].iter().map(|who| by(who, recording)).collect());
    assert_eq!((row(Recording::Derived), row(Recording::AtCommit)), (None, None));
    assert_eq!(level(["", "ben", "ben"].iter().map(|who| e().author(who)).collect()), Some(Level::Halt));
}
