//! Nobody is accused by where they stand: a colleague's branch, a copy of a clone, a moved repository, a worktree beside.

use std::path::{Path, PathBuf};

use crate::support::Stage;

/// An installed repository with a remote that has its branch and its records, and the directory of the remote.
fn with_remote() -> (Stage, PathBuf) {
    let stage = Stage::installed();
    let hub = stage.root().join("hub.git");
    stage.git(&["init", "-q", "--bare", "-b", "main", hub.to_str().unwrap()]).ok();
    stage.git(&["remote", "add", "origin", hub.to_str().unwrap()]).ok();
    stage.git(&["push", "-q", "origin", "main"]).ok();
    stage.andon(&["sync"]).ok();
    (stage, hub)
}

fn clone(stage: &Stage, hub: &Path, name: &str) -> PathBuf {
    let dir = stage.root().canonicalize().unwrap().join(name);
    stage
        .run_in(stage.root(), "git", &["clone", "-q", hub.to_str().unwrap(), dir.to_str().unwrap()], None)
        .ok();
    dir
}

fn tested_commit(stage: &Stage, dir: &Path, code: &str) {
    std::fs::write(dir.join("code.txt"), code).unwrap();
    stage.andon_in(dir, &["test"]).ok();
    stage.git_in(dir, &["commit", "-qam", code.trim()]).ok();
}

/// What CI says of `range` in a clone of its own.
fn ci(stage: &Stage, hub: &Path, range: &str) -> crate::support::Out {
    let dir = clone(stage, hub, &format!("ci-{}", stage.head()));
    stage.andon_in(&dir, &["sync", "--fetch-only"]).ok();
    let said = stage.andon_in(&dir, &["check", range]);
    std::fs::remove_dir_all(dir).unwrap();
    said
}

#[test]
fn a_colleague_who_begins_where_main_moved_to_begins_no_chain() {
    let (stage, hub) = with_remote();
    let colleague = clone(&stage, &hub, "colleague");
    stage.andon_in(&colleague, &["install"]).ok();
    stage.write("code.txt", "main\n");
    stage.tested_commit("-qam", "Main");
    stage.git(&["push", "-q", "origin", "main"]).ok();
    stage.andon(&["sync"]).ok();
    stage.git_in(&colleague, &["pull", "-q"]).ok();
    stage.git_in(&colleague, &["switch", "-qc", "theirs"]).ok();
    tested_commit(&stage, &colleague, "theirs\n");
    stage.git_in(&colleague, &["push", "-q", "origin", "theirs"]).ok();
    stage.andon_in(&colleague, &["sync"]).ok();
    ci(&stage, &hub, "origin/main..origin/theirs").ok().lacks("chain-begins-anew").lacks("warning");
}

#[test]
fn a_copy_of_a_clone_halts_by_itself_and_both_ledgers_arrive() {
    let (stage, hub) = with_remote();
    let copy = stage.root().canonicalize().unwrap().join("copy");
    stage.andon(&["stop", "--reason", "before"]).ok();
    stage.andon(&["status", "--exit-code"]).exits(1);
    stage
        .run_in(stage.root(), "cp", &["-a", stage.dir().to_str().unwrap(), copy.to_str().unwrap()], None)
        .ok();
    // It keeps what it has: the halt stands in both, and each answers its own.
    stage.andon_in(&copy, &["status", "--exit-code"]).exits(1);
    for dir in [stage.dir(), &copy] {
        stage.andon_in(dir, &["resume", "--reason", "seen"]).ok();
        stage.andon_in(dir, &["status", "--exit-code"]).exits(0);
    }
    for (dir, code) in [(stage.dir(), "one\n"), (&*copy, "copy\n")] {
        stage.git_in(dir, &["switch", "-qc", code.trim()]).ok();
        tested_commit(&stage, dir, code);
        stage.git_in(dir, &["push", "-q", "origin", code.trim()]).ok();
    }
    for dir in [stage.dir(), &copy, stage.dir()] {
        stage.andon_in(dir, &["sync"]).ok().lacks("warning").lacks("error");
    }
    for branch in ["one", "copy"] {
        ci(&stage, &hub, &format!("origin/main..origin/{branch}"))
            .ok()
            .lacks("missing-ledger")
            .lacks("error");
    }
}

#[test]
fn a_worktree_that_stands_at_main_with_a_halt_of_its_own_halts_nobody_else() {
    let (stage, hub) = with_remote();
    let idle = stage.root().canonicalize().unwrap().join("idle");
    stage.write("code.txt", "main\n");
    stage.tested_commit("-qam", "Main");
    stage.git(&["worktree", "add", "-q", "--detach", idle.to_str().unwrap(), "main"]).ok();
    for _ in 0..4 {
        stage.andon_in(&idle, &["tick"]);
    }
    stage.andon_in(&idle, &["status", "--exit-code"]).exits(1).says("idle-turns");
    stage.andon(&["status", "--exit-code"]).exits(0);
    stage.git(&["push", "-q", "origin", "main"]).ok();
    stage.andon(&["sync"]).ok();
    ci(&stage, &hub, "origin/main~1..origin/main").ok().lacks("open-halt");
    // A turn that halts on its own commit halts what it made.
    for _ in 0..4 {
        stage.andon(&["tick"]);
    }
    stage.andon(&["check", "main~1..main"]).exits(1).says("open-halt");
}

#[test]
fn a_branch_that_is_older_than_a_test_command_is_tested_by_its_own() {
    let stage = Stage::installed();
    stage.git(&["switch", "-qc", "topic"]).ok();
    stage.write("code.txt", "topic\n");
    stage.tested_commit("-qam", "Topic");
    stage.git(&["switch", "-q", "main"]).ok();
    stage.write("andon.toml", "[test]\ncommand = \"sh new.sh\"\n");
    stage.write("new.sh", "echo 1..1; echo ok 1 - new\n");
    stage.tested_commit_of(".", "Another command");
    stage.git(&["switch", "-q", "topic"]).ok();
    let said = stage.andon(&["check", "--test", "main..topic"]).ok();
    said.says("config-older").lacks("test-command-changed");
    // A branch that changes the command itself is judged by that of the base as well.
    stage.write("andon.toml", "[test]\ncommand = \"true\"\n");
    stage.git(&["commit", "-qam", "Weaker", "--no-verify"]).ok();
    stage.andon(&["check", "main..topic"]).exits(1).says("config-changed");
}

#[test]
fn a_moved_repository_is_upgraded_and_uninstalled_where_it_is() {
    let stage = Stage::installed();
    let moved = stage.root().canonicalize().unwrap().join("moved");
    let copy = stage.root().canonicalize().unwrap().join("copy");
    stage
        .run_in(stage.root(), "cp", &["-a", stage.dir().to_str().unwrap(), copy.to_str().unwrap()], None)
        .ok();
    std::fs::rename(stage.dir(), &moved).unwrap();
    for dir in [&moved, &copy] {
        stage.andon_in(dir, &["install"]).ok().lacks("warning");
        tested_commit(&stage, dir, "moved\n");
    }
    stage.andon_in(&copy, &["uninstall"]).ok();
    assert!(moved.join(".git/hooks/post-commit").exists(), "the copy took away what is not its own");
    stage.andon_in(&moved, &["uninstall"]).ok();
    for dir in [&moved, &copy] {
        assert!(!dir.join(".git/hooks/post-commit").exists(), "{}", dir.display());
    }
}
