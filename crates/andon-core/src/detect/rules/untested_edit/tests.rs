use super::*;
use crate::detect::situation::{PathHint, Whereabouts};
use crate::detect::testkit::{judged, judged_at, made};
use crate::domain::{CommitKind, Tracking};
use crate::testkit::{commit, green, other, red, run, timeline};

fn at_commit(state: EvidenceState) -> Option<Finding> {
    judged(&RULE, state, CodeChange::Changed, Stage::PreCommit)
}

fn elsewhere(paths: &[(&str, Tracking)], staging: Staging) -> EvidenceState {
    let differing: Vec<PathDifference> = paths
        .iter()
        .map(|(path, tracking)| {
            let (path, tracking) = (path.as_bytes().to_vec(), *tracking);
            PathDifference {
                path,
                tracking,
                hint: None,
                side: Side::Run,
                state: Whereabouts::Unstaged,
                word: String::new(),
            }
        })
        .collect();
    let total = words::len(&differing);
    EvidenceState::OtherCode { run: Box::new(run(green(2, 9))), differing, total, staging }
}

/// `z.c` is the first of `total` paths that came after the run.
fn left_out(total: u64, staging: Staging) -> EvidenceState {
    let path = PathDifference {
        path: b"z.c".to_vec(),
        tracking: Tracking::Tracked,
        side: Side::CandidateOnly,
        hint: None,
        state: Whereabouts::AsCommitted,
        word: String::new(),
    };
    let run = Box::new(run(green(2, 9)));
    EvidenceState::OtherCode { run, differing: vec![path], total, staging }
}

/// The run itself wrote `z.c`.
fn written_by_the_run() -> EvidenceState {
    let mut state = left_out(1, Staging::Edited);
    if let EvidenceState::OtherCode { run, .. } = &mut state {
        run.validity = RunValidity::CodeChanged;
    }
    state
}

#[test]
fn a_run_on_this_code_is_enough_even_if_it_failed() {
    use TestStatus::{BuildFailed, Crashed, Incomplete, NoTests, RunnerError, TimedOut};
    assert!(at_commit(EvidenceState::Tested(Box::new(green(1, 9)))).is_none());
    assert!(at_commit(EvidenceState::Tested(Box::new(red(1, &["a"], 9)))).is_none());
    for (status, trips) in [
        (BuildFailed, false),
        (RunnerError, false),
        (NoTests, true),
        (TimedOut, true),
        (Crashed, true),
        (Incomplete, true),
    ] {
        assert_eq!(
            at_commit(EvidenceState::Tested(Box::new(other(1, status)))).is_some(),
            trips,
            "{status:?}"
        );
    }
}

#[test]
fn documentation_needs_no_tests_and_no_candidate_says_nothing() {
    assert!(judged(&RULE, EvidenceState::NeverRan, CodeChange::Unchanged, Stage::PreCommit).is_none());
    let line = timeline(vec![commit(1)]);
    let situation = Situation {
        timeline: &line,
        stage: Stage::PreCommit,
        candidate: None,
        stops: crate::detect::Stops::NONE,
        episode: None,
    };
    assert!(check(&situation, &RULE.defaults()).is_none());
}

#[test]
fn the_message_says_what_is_missing() {
    use Tracking::{Tracked, Untracked};
    let void_run = |validity| {
        let mut run = run(green(1, 9));
        run.validity = validity;
        run.evidence.command = "true".into();
        EvidenceState::Void(Box::new(run))
    };
    let table = [
        (EvidenceState::NeverRan, "code changed and its tests never ran on it"),
        (
            EvidenceState::Tested(Box::new(other(1, TestStatus::NoTests))),
            "the test command ran on this code, but not one test ran",
        ),
        (
            void_run(RunValidity::OtherCommand),
            "the run on this code was of another command: `true` instead of `sh tests.sh`",
        ),
        (
            void_run(RunValidity::CodeChanged),
            "the code changed while its tests ran, so that run proves nothing",
        ),
        (void_run(RunValidity::Interrupted), "the run of the tests on this code was interrupted"),
        (
            elsewhere(&[("src/a.rs", Tracked), ("src/b.rs", Tracked)], Staging::Edited),
            "the code changed after the tests ran: src/a.rs, src/b.rs",
        ),
        (
            elsewhere(&[("src/a.rs", Untracked)], Staging::OnlyUnstaged),
            "the tests ran with work that is not part of this commit: src/a.rs",
        ),
        (elsewhere(&[], Staging::Edited), "the tests ran on other code"),
        (left_out(1, Staging::Edited), "the tests ran without z.c, which is in the commit"),
        (left_out(400, Staging::Edited), "the code changed after the tests ran: z.c and 399 more"),
        (left_out(1, Staging::OnlyUnstaged), "the tests ran without z.c, which is in the commit"),
        (
            written_by_the_run(),
            "z.c was written while the tests ran, such as a new snapshot, so that they have to run once more",
        ),
    ];
    for (state, expected) in table {
        let finding = at_commit(state).unwrap();
        assert_eq!((finding.message().as_str(), finding.level), (expected, Level::Block));
    }
}

#[test]
fn a_path_that_git_does_not_see_says_why_and_how_to_show_it() {
    let hint = PathHint { reason: "it is marked x".to_owned(), command: "git unmark".to_owned() };
    let path = b"src/a.rs".to_vec();
    let differing = vec![PathDifference {
        path,
        tracking: Tracking::Tracked,
        hint: Some(hint),
        side: Side::Run,
        state: Whereabouts::Veiled,
        word: "src/a.rs".to_owned(),
    }];
    let state = EvidenceState::OtherCode {
        total: 1,
        run: Box::new(run(green(2, 9))),
        differing,
        staging: Staging::OnlyUnstaged,
    };
    let finding = at_commit(state).unwrap();
    assert_eq!(
        finding.message(),
        "the tests ran with work that is not part of this commit: src/a.rs (git does not see it: it is marked x)"
    );
    assert_eq!(finding.help, ["andon test"]);
}

#[test]
fn without_a_command_it_warns_and_says_how_to_set_one() {
    let finding = at_commit(EvidenceState::Unconfigured).unwrap();
    assert_eq!(finding.level, Level::Warn);
    insta::assert_snapshot!(finding.help[0], @r#"name the test command in andon.toml, such as:  [test]  command = "cargo test""#);
    let noted = judged_at(&RULE, EvidenceState::Unconfigured, Stage::PreCommit, Level::Note);
    assert_eq!(noted.map(|finding| finding.level), Some(Level::Note), "a lower level is kept");
}

#[test]
fn behind_the_commit_it_warns_for_what_git_made_of_tested_commits() {
    let line = timeline(vec![commit(1).kind(CommitKind::Merge)]);
    for (stage, origin, level) in [
        (Stage::PrePush, Origin::MadeByGit, Level::Warn),
        (Stage::PrePush, Origin::Work, Level::Block),
        (Stage::Complete, Origin::MadeByGit, Level::Warn),
        (Stage::PreCommit, Origin::MadeByGit, Level::Block),
    ] {
        let found = made(&RULE, &line, origin, stage).map(|finding| finding.level);
        assert_eq!(found, Some(level), "{stage:?} {origin:?}");
    }
}
