//! What is recorded about a commit, however it was made.

use insta::assert_snapshot;

use crate::support::Stage;

#[test]
fn a_record_is_one_line_of_json_that_plain_git_shows() {
    let stage = Stage::installed();
    stage.iterate("two\n", &["ok a", "ok b"], "Two").ok();
    let out = stage.git(&["notes", "--ref=andon", "show", "HEAD"]).ok();
    assert_eq!(out.stdout.matches('\n').count(), 1, "{out}");
    let record = stage.record("HEAD");
    assert_eq!(record["schema"], "andon/commit@1");
    assert_eq!(record["kind"], "normal");
    assert_eq!(record["tree"], stage.git(&["rev-parse", "HEAD^{tree}"]).stdout.trim());
    assert_eq!(record["parent"], stage.git(&["rev-parse", "HEAD^"]).stdout.trim());
    assert_eq!(record["iteration"], 2);
    assert_eq!(record["tests"]["total"], 2);
    assert_eq!(record["tests"]["code"], record["code"]);
    // With the display ref plain git shows it.
    stage.andon(&["install", "--show-notes"]).ok();
    stage.git(&["log", "-1"]).ok().says("andon/commit@1");
}

#[test]
fn each_record_names_the_hash_of_its_parents() {
    let stage = Stage::installed();
    stage.iterate("two\n", &["ok a"], "Two").ok();
    let parent = stage.git(&["notes", "--ref=andon", "show", "HEAD~1"]).ok().stdout;
    let dir = stage.dir().to_owned();
    let hash = stage.run_in(&dir, "sha256sum", &[], Some(parent.trim_end().as_bytes())).stdout;
    assert_eq!(stage.record("HEAD")["prev"], hash.split(' ').next().unwrap());
}

#[test]
fn the_same_change_has_the_same_diff_hash() {
    let stage = Stage::installed();
    stage.iterate("two\n", &["ok a"], "Two").ok();
    let first = stage.record("HEAD");
    stage.git(&["commit", "-q", "--amend", "-m", "Another message"]).ok();
    assert_eq!(stage.record("HEAD")["diff"], first["diff"]);
    assert_eq!(stage.record("HEAD")["kind"], "amend");
    assert_eq!(stage.record("HEAD")["iteration"], first["iteration"]);
}

#[test]
fn commits_made_while_the_hooks_were_off_are_caught_up() {
    let stage = Stage::installed();
    for n in 0..3 {
        stage.write("code.txt", format!("off {n}\n"));
        stage.git(&["-c", "core.hooksPath=/dev/null", "commit", "-qam", "Off"]).ok();
    }
    assert_snapshot!(stage.iterate("on\n", &["ok a", "ok b"], "On").brief(),
        @"exit 0, stderr: note: recorded 3 commits made while the hooks were off");
    for n in 1..4 {
        let record = stage.record(&format!("HEAD~{n}"));
        assert_eq!(record["caught_up"], true);
        assert_eq!(record["gate"], "not-run");
    }
    assert!(stage.record("HEAD").get("caught_up").is_none());
    assert!(stage.read(".git/andon/journal.jsonl").contains("hooks were off"));
}

#[test]
fn what_was_there_before_andon_is_left_alone() {
    let stage = Stage::new();
    for n in 0..3 {
        stage.write("code.txt", format!("{n}\n"));
        stage.commit_of(".", "Before");
    }
    stage.steps("andon install; echo after > code.txt; git commit -qam After");
    stage.steps("git notes --ref=andon show HEAD");
    stage.git(&["notes", "--ref=andon", "show", "HEAD~1"]).refused();
}

#[test]
fn amend_and_rebase_keep_records() {
    let stage = Stage::installed();
    stage.git(&["switch", "-qc", "topic"]).ok();
    for n in 0..3 {
        stage.write(&format!("file{n}.txt"), "x\n");
        stage.tested_commit_of(".", &format!("Add {n}"));
    }
    let before: Vec<_> = (0..3).map(|n| stage.record(&format!("HEAD~{n}"))).collect();
    stage.git(&["switch", "-q", "main"]).ok();
    stage.iterate("main\n", &["ok a"], "Main").ok();
    stage.steps("git switch -q topic; git rebase -q main");
    for (n, old) in before.iter().enumerate() {
        let new = stage.record(&format!("HEAD~{n}"));
        assert_eq!(new["kind"], "rebase");
        assert_eq!(new["diff"], old["diff"]);
        assert_eq!(new["iteration"], old["iteration"]);
        assert_eq!(new["tree"], stage.git(&["rev-parse", &format!("HEAD~{n}^{{tree}}")]).stdout.trim());
        assert!(new.get("tests").is_none(), "the tests ran on other code than the rebased one");
    }
    stage.andon(&["check", "main..topic"]).lacks("broken-chain").lacks("edited-record");
}

#[test]
fn kinds_of_commits_are_recognised() {
    let stage = Stage::installed();
    stage.iterate("two\n", &["ok a"], "Two").ok();
    stage.git(&["revert", "--no-edit", "HEAD"]).ok();
    assert_eq!(stage.record("HEAD")["kind"], "revert");
    stage.steps("git switch -qc topic HEAD~1; echo topic > topic.txt");
    stage.steps("git add .; andon test; git commit -qm Topic; git switch -q main; git cherry-pick topic");
    assert_eq!(stage.record("HEAD")["kind"], "cherry-pick");
    stage.steps("git reset -q --hard HEAD~1; git merge -q --no-edit topic");
    assert_eq!(stage.record("HEAD")["kind"], "merge");
}

#[test]
fn linked_worktrees_record_into_the_same_notes() {
    let stage = Stage::installed();
    stage.git(&["worktree", "add", "-q", "../side", "-b", "side"]).ok();
    let side = stage.root().canonicalize().unwrap().join("side");
    std::fs::write(side.join("code.txt"), "side\n").unwrap();
    assert_snapshot!(stage.git_in(&side, &["commit", "-qam", "Side"]).brief(),
        @"exit 1, stderr: error[untested-edit]: commit refused: code changed and its tests never ran on it");
    stage.steps_in(&side, "andon test; git commit -qam Side");
    assert_eq!(stage.record("side")["gate"], "passed");
}

#[test]
fn detached_heads_and_orphan_branches_are_recorded() {
    let stage = Stage::installed();
    stage.git(&["switch", "-q", "--detach"]).ok();
    stage.iterate("detached\n", &["ok a"], "Detached").ok();
    assert_eq!(stage.record("HEAD")["iteration"], 2);
    stage.git(&["switch", "-q", "--orphan", "fresh"]).ok();
    stage.write("andon.toml", "[test]\ncommand = \"true\"\nformat = \"exit\"\n");
    stage.write("fresh.txt", "fresh\n");
    stage.tested_commit_of(".", "Fresh");
    assert_eq!(stage.record("HEAD")["iteration"], 1);
}
