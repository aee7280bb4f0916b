//! The default branch after a merge button: it ends like the pull request did.

use super::{judged, outcome};
use crate::support::Stage;

/// A forge's committer, where no hook runs.
fn on_the_website(stage: &Stage, args: &[&str]) {
    stage.set("GIT_COMMITTER_NAME", "GitHub");
    stage.set("GIT_COMMITTER_EMAIL", "noreply@github.com");
    let args: Vec<&str> = ["-c", "core.hooksPath=/dev/null"].iter().chain(args).copied().collect();
    stage.git(&args).ok();
    stage.unset("GIT_COMMITTER_NAME");
    stage.unset("GIT_COMMITTER_EMAIL");
    stage.set("GIT_COMMITTER_NAME", "A. Author");
    stage.set("GIT_COMMITTER_EMAIL", "author@example.org");
}

/// Two tested commits on `topic`; main has moved on where that is said.
fn pull_request(main_moves: bool) -> Stage {
    let stage = Stage::installed();
    stage.git(&["switch", "-qc", "topic"]).ok();
    for n in 1..3 {
        stage.write(&format!("topic{n}.txt"), "tested\n");
        stage.tested_commit_of(".", &format!("Topic {n}"));
    }
    stage.git(&["switch", "-q", "main"]).ok();
    if main_moves {
        stage.iterate("main\n", &["ok a", "ok b"], "Main").ok();
    }
    stage.git(&["tag", "before"]).ok();
    stage
}

fn squash(stage: &Stage) {
    stage.git(&["-c", "core.hooksPath=/dev/null", "merge", "-q", "--squash", "topic"]).ok();
    on_the_website(stage, &["commit", "-qm", "Topic (#1)"]);
}

#[test]
fn each_button_on_a_base_that_stood_still() {
    let merge: fn(&Stage) =
        |stage| on_the_website(stage, &["merge", "-q", "--no-ff", "-m", "Merge #1", "topic"]);
    let rebase: fn(&Stage) = |stage| on_the_website(stage, &["cherry-pick", "before..topic"]);
    for (name, button) in [("merge", merge), ("squash", squash), ("rebase", rebase)] {
        let stage = pull_request(false);
        button(&stage);
        assert_eq!(judged(&stage, "before..main"), outcome(0, &[]), "{name}");
        stage.andon(&["check", "before..main"]).ok().says("covers it: its code is the same").says("Topic 2");
    }
}

#[test]
fn each_button_on_a_base_that_moved_on_warns() {
    let merge: fn(&Stage) =
        |stage| on_the_website(stage, &["merge", "-q", "--no-ff", "-m", "Merge #1", "topic"]);
    let rebase: fn(&Stage) = |stage| on_the_website(stage, &["cherry-pick", "topic~2..topic"]);
    for (name, button) in [("merge", merge), ("squash", squash), ("rebase", rebase)] {
        let stage = pull_request(true);
        button(&stage);
        assert_eq!(judged(&stage, "before..main"), outcome(0, &[]), "{name}");
        let out = stage.andon(&["check", "before..main"]).ok();
        out.says("warning[untested-code]: the tests never ran on exactly");
    }
}

#[test]
fn a_pull_request_that_was_refused_is_refused_after_the_button() {
    let stage = Stage::installed();
    stage.steps("git switch -qc topic; echo bypass > code.txt; andon test");
    stage.steps("git commit -qam Topic --no-verify; git switch -q main; git tag before");
    squash(&stage);
    assert_eq!(judged(&stage, "before..main"), outcome(1, &["bypassed"]));
    // So is one whose tests fail.
    let stage = Stage::installed();
    stage.git(&["switch", "-qc", "topic"]).ok();
    stage.iterate("red\n", &["ok a", "not ok b"], "Red").ok();
    stage.steps("git switch -q main; git tag before");
    squash(&stage);
    assert_eq!(judged(&stage, "before..main"), outcome(1, &["failing-tests"]));
}

#[test]
fn code_that_was_edited_on_the_website_is_missing_evidence() {
    for moved in [false, true] {
        let stage = pull_request(moved);
        stage.write("code.txt", "edited on the website\n");
        on_the_website(&stage, &["commit", "-qam", "Update code.txt"]);
        assert_eq!(judged(&stage, "before..main"), outcome(3, &["missing-record"]));
        // Nor does it pass with a squash.
        stage.steps("git reset -q --hard before; git -c core.hooksPath=/dev/null merge -q --squash topic");
        stage.steps("echo slipped in > code.txt");
        on_the_website(&stage, &["commit", "-qam", "Topic (#1)"]);
        assert_eq!(judged(&stage, "before..main"), outcome(3, &["missing-record"]));
    }
}
