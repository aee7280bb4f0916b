//! Loops that rewrite: what was amended or rebased away is behind HEAD no more, and counts all the same.

use crate::support::{Out, Stage};

/// One test fails; the newest commit is amended with other code.
fn amend(stage: &Stage, number: u32) -> Out {
    stage.write("code.txt", format!("attempt {number}\n"));
    stage.andon(&["test"]);
    stage.git(&["commit", "--amend", "-qam", &format!("Attempt {number}")])
}

/// The number of the attempt that halted.
fn first_halt(
    attempts: std::ops::RangeInclusive<u32>,
    mut attempt: impl FnMut(u32) -> Out,
    rule: &str,
) -> Option<u32> {
    attempts.into_iter().find(|number| attempt(*number).all().contains(rule))
}

#[test]
fn attempts_that_amend_one_another_and_fail_alike_halt() {
    let stage = Stage::installed();
    stage.iterate("attempt 0\n", &["ok a", "not ok b"], "Attempt").ok();
    let halted = first_halt(1..=5, |number| amend(&stage, number), "error[repeated-failures]");
    assert_eq!(halted, Some(2), "three attempts in all");
    assert!(stage.exists(".andon/CHECKPOINT.md"));
    stage.git(&["commit", "--amend", "-qm", "Once more"]).refused();
    // The answer begins anew: what was amended before it counts no more.
    stage.andon(&["resume", "--reason", "looked at it"]).ok();
    amend(&stage, 10).ok().lacks("error[");
    amend(&stage, 11).ok().lacks("error[");
}

#[test]
fn amends_that_change_words_only_never_halt() {
    let stage = Stage::installed();
    stage.iterate("work\n", &["ok a", "ok b"], "Work").ok();
    let reword = |number: u32| stage.git(&["commit", "--amend", "-qm", &format!("Words {number}")]);
    assert_eq!(first_halt(1..=6, reword, "error["), None);
}

#[test]
fn a_rebase_over_and_over_never_halts() {
    let stage = Stage::installed();
    stage.git(&["branch", "base"]).ok();
    for number in 1..=3 {
        stage.iterate(&format!("step {number}\n"), &["ok a", "ok b"], &format!("Step {number}")).ok();
    }
    let rebase = |_| stage.git(&["rebase", "-q", "--no-ff", "base"]);
    assert_eq!(first_halt(1..=6, rebase, "error["), None);
}

#[test]
fn work_that_is_amended_once_or_twice_before_it_goes_out_passes() {
    let stage = Stage::installed();
    for number in 0..4 {
        stage.iterate(&format!("work {number}\n"), &["ok a", "not ok b"], &format!("Work {number}")).ok();
        stage.tests(&["ok a", "ok b"]);
        amend(&stage, 100 + number).ok();
        stage.git(&["commit", "--amend", "-qm", &format!("Said better {number}")]).ok();
    }
    stage.git(&["rebase", "-q", "--no-ff", "HEAD~3"]).ok();
    assert!(!stage.exists(".andon/CHECKPOINT.md") && !stage.exists(".andon/BLOCKER_REPORT.md"));
}
