//! `andon check` over merges, rebases and clones: no false alarm, and what cannot be decided is said.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use insta::assert_snapshot;

use crate::check::{clean, codes, halted};
use crate::support::Stage;

#[test]
fn merges_reverts_and_picks_give_no_alarm() {
    let stage = clean();
    let base = stage.head();
    stage.git(&["switch", "-qc", "topic"]).ok();
    stage.write("topic.txt", "topic\n");
    stage.tested_commit_of(".", "Topic");
    stage.git(&["switch", "-q", "main"]).ok();
    stage.iterate("main\n", &["ok a", "ok b"], "Main").ok();
    stage.git(&["merge", "-q", "--no-edit", "topic"]).ok();
    stage.git(&["revert", "--no-edit", "HEAD^1"]).ok();
    stage.git(&["switch", "-qc", "picks", &base]).ok();
    stage.git(&["cherry-pick", "topic"]).ok();
    stage.git(&["merge", "-q", "--no-edit", "main"]).ok();
    assert_eq!(codes(&stage, &format!("{base}..picks")), [""; 0]);
    assert_eq!(codes(&stage, &format!("{base}..main")), [""; 0]);
    assert_eq!(codes(&stage, "picks"), [""; 0]);
}

#[test]
fn branches_that_fail_alike_are_not_one_loop() {
    let stage = Stage::installed();
    stage.git(&["switch", "-qc", "topic"]).ok();
    stage.iterate("t1\n", &["ok a", "not ok b"], "Topic 1").ok();
    stage.iterate("t2\n", &["ok a", "not ok b"], "Topic 2").ok();
    stage.iterate("t3\n", &["ok a", "ok b"], "Topic 3").ok();
    stage.git(&["switch", "-q", "main"]).ok();
    stage.iterate("m1\n", &["ok a", "not ok b"], "Main 1").ok();
    stage.iterate("m2\n", &["ok a", "not ok b"], "Main 2").ok();
    stage.iterate("m3\n", &["ok a", "ok b"], "Main 3").ok();
    stage.git(&["merge", "-q", "--no-edit", "-X", "ours", "topic"]).ok();
    assert_eq!(codes(&stage, "HEAD"), [""; 0]);
}

#[test]
fn rebased_amended_and_rewound_branches_give_no_alarm() {
    let stage = clean();
    stage.git(&["switch", "-qc", "topic"]).ok();
    for n in 0..3 {
        stage.write(&format!("file{n}.txt"), "x\n");
        stage.tested_commit_of(".", &format!("Add {n}"));
    }
    stage.git(&["commit", "-q", "--amend", "-m", "Add 2, said better"]).ok();
    stage.git(&["switch", "-q", "main"]).ok();
    stage.iterate("main\n", &["ok a", "ok b"], "Main").ok();
    stage.git(&["switch", "-q", "topic"]).ok();
    stage.git(&["rebase", "-q", "main"]).ok();
    assert_eq!(codes(&stage, "main..topic"), [""; 0]);
    stage.git(&["reset", "-q", "--hard", "HEAD~2"]).ok();
    stage.iterate("rewound\n", &["ok a", "ok b"], "Rewound").ok();
    assert_eq!(codes(&stage, "main..topic"), [""; 0]);
    assert_eq!(codes(&stage, "HEAD~1..HEAD"), [""; 0]);
}

#[test]
fn a_rebase_over_an_answered_halt_gives_no_alarm() {
    let stage = halted();
    stage.andon(&["resume", "--reason", "looked"]).ok();
    stage.iterate("4\n", &["ok a", "ok b"], "Four").ok();
    stage.git(&["branch", "other", "HEAD~4"]).ok();
    stage.git(&["switch", "-q", "other"]).ok();
    stage.write("other.txt", "other\n");
    stage.tested_commit_of(".", "Other");
    stage.git(&["switch", "-q", "main"]).ok();
    stage.git(&["rebase", "-q", "other"]).ok();
    assert_eq!(codes(&stage, "other..main"), [""; 0]);
}

#[test]
fn another_clone_comes_to_the_same_answer() {
    let stage = halted();
    stage.andon(&["resume", "--reason", "looked"]).ok();
    stage.iterate("4\n", &["ok a", "ok b"], "Four").ok();
    let root = stage.root().canonicalize().unwrap();
    stage.git_in(&root, &["clone", "-q", "repo", "clone"]).ok();
    let clone = root.join("clone");
    // Neither notes nor ledger come with a clone.
    let out = stage.andon_in(&clone, &["check", "HEAD~4..HEAD"]).exits(3);
    assert_eq!(
        out.stdout,
        "error[no-records]: there are no records here: refs/notes/andon does not exist\n  \
         help: andon sync --fetch-only\n  \
         help: if Andon is not installed yet: andon install\n\
         checked 4 commits in HEAD~4..HEAD: cannot decide: evidence is missing\n"
    );
    stage
        .git_in(
            &clone,
            &["fetch", "-q", "origin", "+refs/notes/andon*:refs/notes/andon*", "+refs/andon/*:refs/andon/*"],
        )
        .ok();
    let out = stage.andon_in(&clone, &["check", "HEAD~4..HEAD"]).ok();
    // The answer of a person is reported, and is no violation.
    assert!(
        out.stdout.starts_with("note[answered-halt]: the repeated-failures halt was answered by A. Author")
    );
    assert!(out.stdout.ends_with("checked 4 commits in HEAD~4..HEAD: ok\n"), "{out}");
    // A bare clone will do.
    stage.git_in(&root, &["clone", "-q", "--mirror", "repo", "bare.git"]).ok();
    assert_snapshot!(stage.andon_in(&root.join("bare.git"), &["check", "HEAD~4..HEAD"]).shown(), @"
    exit 0
    --- stdout
    note[answered-halt]: the repeated-failures halt was answered by A. Author <author@example.org> with andon resume --yes, without a terminal: looked
      --> HASH Try 3
      help: andon log --events
    checked 4 commits in HEAD~4..HEAD: ok
    ");
}

#[test]
fn a_shallow_clone_cannot_decide() {
    let stage = clean();
    let root = stage.root().canonicalize().unwrap();
    let url = format!("file://{}", stage.dir().display());
    stage.git_in(&root, &["clone", "-q", "--depth", "2", &url, "shallow"]).ok();
    let shallow = root.join("shallow");
    stage.git_in(&shallow, &["fetch", "-q", "origin", "+refs/notes/andon:refs/notes/andon"]).ok();
    stage.andon_in(&shallow, &["check", "HEAD~1..HEAD"]).ok();
    for range in ["HEAD", "HEAD~3..HEAD"] {
        stage
            .andon_in(&shallow, &["check", range])
            .exits(3)
            .says("error[shallow-clone]")
            .says("git fetch --unshallow")
            .says("cannot decide");
    }
    let json = stage.andon_in(&shallow, &["check", "HEAD", "--format", "json"]).exits(3).stdout;
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(
        (&value["outcome"], &value["undecided"][0]["code"]),
        (&"undecided".into(), &"shallow-clone".into())
    );
    stage.git_in(&shallow, &["fetch", "-q", "--unshallow"]).ok();
    stage.andon_in(&shallow, &["check", "HEAD~3..HEAD"]).ok();
}
