//! What a commit calls itself: only trees are believed.

use insta::assert_snapshot;

use super::{edit_note, judged, outcome};
use crate::support::{Stage, image::built};

/// A tested commit on main, and one on `topic` that bypassed the gate with untested code.
fn bypassed_topic() -> Stage {
    built!({
        let stage = Stage::installed();
        stage.steps("git switch -qc topic; echo untested > topic.txt; git add .");
        stage.steps("git commit -qm Topic --no-verify; git switch -q main");
        stage.iterate("main\n", &["ok a", "ok b"], "Main").ok();
        stage
    })
}

/// The same with a tested commit on `topic`.
fn tested_topic() -> Stage {
    built!({
        let stage = Stage::installed();
        stage.steps("git switch -qc topic; echo tested > topic.txt");
        stage.steps("git add .; andon test; git commit -qm Topic; git switch -q main");
        stage.iterate("main\n", &["ok a", "ok b"], "Main").ok();
        stage
    })
}

#[test]
fn a_bypassed_commit_is_not_washed_by_a_pick_a_rebase_or_a_merge() {
    for wash in [
        &["cherry-pick", "topic"][..],
        &["cherry-pick", "-x", "topic"],
        &["merge", "-q", "--no-edit", "topic"],
    ] {
        let stage = bypassed_topic();
        stage.git(wash).ok();
        let (code, codes) = judged(&stage, "HEAD^1..HEAD");
        assert_eq!(code, 1, "{wash:?}");
        assert!(codes.contains(&"untested-code".to_owned()), "{wash:?}: {codes:?}");
    }
    let stage = bypassed_topic();
    stage.steps("git switch -q topic; git rebase -q main");
    let (code, codes) = judged(&stage, "main..topic");
    assert!(code == 1 && codes.contains(&"untested-code".to_owned()), "{codes:?}");
}

#[test]
fn what_git_makes_of_tested_commits_warns() {
    for made in [
        &["cherry-pick", "topic"][..],
        &["cherry-pick", "-x", "topic"],
        &["merge", "-q", "--no-edit", "topic"],
    ] {
        let stage = tested_topic();
        stage.git(made).ok();
        assert_eq!(judged(&stage, "HEAD^1..HEAD"), outcome(0, &[]), "{made:?}");
        let out = stage.andon(&["check", "HEAD^1..HEAD"]).ok();
        out.says("warning[untested-code]: the tests never ran on exactly");
    }
    let stage = tested_topic();
    stage.steps("git switch -q topic; git rebase -q main");
    assert_eq!(judged(&stage, "main..topic"), outcome(0, &[]));
    stage.iterate("more\n", &["ok a", "ok b"], "More").ok();
    stage.iterate("most\n", &["ok a", "ok b"], "Most").ok();
    stage.git(&["revert", "--no-edit", "HEAD~2"]).ok();
    assert_eq!(judged(&stage, "main..topic"), outcome(0, &[]));
    assert_snapshot!(stage.andon(&["check", "main..topic"]).shown(), @r#"
    exit 0
    --- stdout
    warning[untested-code]: the tests never ran on exactly this code; it is HASH, applied cleanly to tested code
      --> HASH Topic
      help: andon test
    warning[untested-code]: the tests never ran on exactly this code; it is a clean revert of HASH
      --> HASH Revert "Topic"
      help: andon test
    checked 4 commits in main..topic: ok, 2 warnings
    "#);
    // The clone of CI does not have the commits that were rebased.
    let root = stage.root().canonicalize().unwrap();
    let url = format!("file://{}", stage.dir().display());
    stage.git_in(&root, &["clone", "-q", &url, "ci"]).ok();
    let ci = root.join("ci");
    let refs = ["+refs/notes/andon*:refs/notes/andon*", "+refs/andon/*:refs/andon/*"];
    stage.git_in(&ci, &["fetch", "-q", "origin", refs[0], refs[1]]).ok();
    assert_snapshot!(stage.andon_in(&ci, &["check", "origin/main..origin/topic"]).brief(), @r#"
    exit 0, stdout: warning[untested-code]: the tests never ran on exactly this code; it is HASH, applied cleanly to tested code --> HASH Topic
    warning[untested-code]: the tests never ran on exactly this code; it is a clean revert of HASH --> HASH Revert "Topic"
    checked 4 commits in origin/main..origin/topic: ok, 2 warnings
    "#);
}

#[test]
fn saying_that_it_is_a_revert_makes_no_revert() {
    let stage = Stage::installed();
    stage.iterate("2\n", &["ok a", "ok b"], "Two").ok();
    let named = format!("Revert \"Two\"\n\nThis reverts commit {}.", stage.head());
    for (action, message) in
        [("revert", "Say so"), ("commit", &named), ("rebase (pick)", "Say so"), ("cherry-pick", "Say so")]
    {
        stage.set("GIT_REFLOG_ACTION", action);
        stage.write("code.txt", "anything\n");
        stage.git(&["commit", "-qam", message, "--no-verify"]).ok();
        stage.unset("GIT_REFLOG_ACTION");
        let (code, codes) = judged(&stage, "HEAD~1..HEAD");
        assert!(code == 1 && codes.contains(&"untested-code".to_owned()), "{action}: {codes:?}");
        stage.git(&["reset", "-q", "--hard", "HEAD~1"]).ok();
    }
}

#[test]
fn an_edited_kind_excuses_nothing() {
    let stage = Stage::installed();
    stage.steps("echo untested > code.txt; git commit -qam Untested --no-verify");
    for kind in ["revert", "cherry-pick", "rebase"] {
        edit_note(&stage, "HEAD", |record| {
            record["kind"] = kind.into();
            record["gate"] = "not-run".into();
        });
        let (code, codes) = judged(&stage, "HEAD~1..HEAD");
        assert!(code == 1 && codes.contains(&"untested-code".to_owned()), "{kind}: {codes:?}");
        stage.andon(&["check", "HEAD~1..HEAD"]).says(&format!("its record calls it a {kind}"));
    }
}

#[test]
fn an_evil_merge_is_ordinary_work() {
    let stage = tested_topic();
    stage.steps("git merge -q --no-commit --no-ff topic; echo evil > evil.txt; git add .");
    stage.steps("git commit -qm 'Merge topic' --no-verify");
    let (code, codes) = judged(&stage, "HEAD^1..HEAD");
    assert!(code == 1 && codes.contains(&"untested-code".to_owned()), "{codes:?}");
    // Repaired by testing what is there.
    stage.steps("andon test; git commit -q --amend --no-edit");
    assert_eq!(judged(&stage, "HEAD^1..HEAD"), outcome(0, &[]));
}

#[test]
fn documents_on_top_of_untested_code_do_not_make_it_tested() {
    let stage = bypassed_topic();
    stage.steps("git cherry-pick topic; echo docs > README.md; git add .; git commit -qm Docs");
    assert_eq!(judged(&stage, "HEAD~2..HEAD").0, 1);
}

/// Pushes HEAD to a new bare repository.
fn push(stage: &Stage) -> crate::support::Out {
    let root = stage.root().canonicalize().unwrap();
    stage.git_in(&root, &["init", "-q", "--bare", "remote.git"]).ok();
    stage.git(&["push", "-q", root.join("remote.git").to_str().unwrap(), "HEAD:refs/heads/main"])
}

#[test]
fn a_push_judges_the_same_way() {
    let stage = bypassed_topic();
    stage.git(&["cherry-pick", "topic"]).ok();
    assert_snapshot!(push(&stage).shown(), @"
    exit 1
    --- stderr
    error[untested-edit]: push refused: refs/heads/main (HASH): the tests ran without topic.txt, which is in the commit
      help: andon test
    error: failed to push some refs to 'ROOT/remote.git'
    ");

    let stage = tested_topic();
    stage.steps("git switch -q topic; git rebase -q main");
    assert_snapshot!(push(&stage).shown(), @"
    exit 0
    --- stderr
    warning[untested-edit]: refs/heads/main (HASH): the tests ran without topic.txt, which is in the commit
      help: andon test
    ");

    let stage = Stage::installed();
    stage.set("GIT_REFLOG_ACTION", "revert");
    stage.steps("echo anything > code.txt; git commit -qam 'Say so' --no-verify");
    stage.unset("GIT_REFLOG_ACTION");
    assert_snapshot!(push(&stage).brief(), @"
    exit 1, stderr: error[untested-edit]: push refused: refs/heads/main (HASH): the code changed after the tests ran: code.txt
    error: failed to push some refs to 'ROOT/remote.git'
    ");
}
