//! Halts leave traces outside their own ref, and records travel with the branch.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use crate::support::{Out, Stage};

const GREEN: &[&str] = &["ok a", "ok b"];

/// Runs a script in the repository; `git` at its end takes the place of the shell, and with it its process id.
fn sh(stage: &Stage, script: &str) -> Out {
    stage.run_in(stage.dir(), "sh", &["-c", script], None)
}

/// A receipt for what is staged, as pre-commit writes it but for who asked.
const FORGED: &str =
    r#"{"at":"2026-11-20T15:30:00Z",%s"head":"'$(git rev-parse HEAD)'","tree":"'$(git write-tree)'"}"#;

#[test]
fn no_receipt_lifts_a_halt() {
    let stage = Stage::installed();
    stage.andon(&["stop", "--reason", "lunch"]).ok();
    stage.write("code.txt", "on\n");
    stage.git(&["add", "."]).ok();
    let forged = FORGED.replace("%s", "");
    for first in
        ["printf '%s\\n' $$", &format!("printf '%s\\n{forged}\\n' $$"), &format!("printf '{forged}\\n'")]
    {
        let script = format!("{first} > .git/andon/receipt; exec git commit -q --no-verify -m No");
        sh(&stage, &script).refused().says("user-stop").says("lunch");
    }
    stage.git(&["reset", "-q", "--hard"]).ok();
    // A commit that git makes without asking pre-commit is asked all the same.
    sh(&stage, "echo $$ > .git/andon/receipt; exec git revert --no-edit HEAD").refused().says("user-stop");
    assert_eq!(stage.git(&["rev-list", "--count", "HEAD"]).ok().stdout, "1\n");
}

#[test]
fn a_receipt_that_was_written_by_hand_is_none() {
    let stage = Stage::installed();
    stage.write("code.txt", "1\n");
    stage.git(&["add", "."]).ok();
    let own = r#""by":[{"pid":1,"started":1}],"#;
    for (number, by) in ["", own].into_iter().enumerate() {
        stage.write("code.txt", format!("{number}\n"));
        stage.git(&["add", "."]).ok();
        let forged = FORGED.replace("%s", by);
        sh(
            &stage,
            &format!("printf '{forged}\\n' > .git/andon/receipt; git commit -q --no-verify -m Forged"),
        )
        .ok();
        assert_eq!(stage.record("HEAD")["gate"], "bypassed", "{by}");
    }
    // Nor one for another parent, or for none.
    stage.write("code.txt", "2\n");
    stage.git(&["add", "."]).ok();
    let rootless = FORGED.replace("%s", "").replace(r#""head":"'$(git rev-parse HEAD)'","#, "");
    sh(&stage, &format!("printf '{rootless}\\n' > .git/andon/receipt")).ok();
    stage.git(&["commit", "-q", "--no-verify", "-m", "Forged"]).ok();
    assert_eq!(stage.record("HEAD")["gate"], "bypassed");
    // One that pre-commit wrote for a commit that was given up does not serve the next one.
    stage.write("code.txt", "3\n");
    stage.andon(&["test"]).ok();
    stage.git(&["commit", "-qam", ""]).refused();
    stage.git(&["commit", "-qam", "Round the gate", "--no-verify"]).ok();
    assert_eq!(stage.record("HEAD")["gate"], "bypassed");
    stage.iterate("4\n", GREEN, "Honest").ok();
    assert_eq!(stage.record("HEAD")["gate"], "passed");
    stage.git(&["commit", "-q", "--amend", "-m", "Honest too"]).ok();
    assert_eq!(stage.record("HEAD")["gate"], "passed");
}
