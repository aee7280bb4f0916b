//! One gate, at prepare-commit-msg: pre-commit only marks git's process, and what other hooks do to the tree is seen.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use insta::assert_snapshot;

use crate::support::{Stage, andon_path, program};

const GREEN: &[&str] = &["ok a", "ok b"];

fn marks(stage: &Stage) -> usize {
    std::fs::read_dir(stage.path(".git/andon/asked")).map_or(0, Iterator::count)
}

/// A manager's pre-commit: Andon judges early, then the manager formats and stages.
fn formatting_manager(stage: &Stage, file: &str) {
    let andon = andon_path();
    let lines = format!(
        "#!/bin/sh\n'{}' hook pre-commit || exit 1\nsed -i 's/  */ /g' {file} && git add {file}\n",
        andon.display()
    );
    program(&stage.path(".git/hooks/pre-commit"), &lines);
}

#[test]
fn a_mark_is_left_by_each_commit_and_swept_by_the_next() {
    let stage = Stage::installed();
    assert_eq!(marks(&stage), 0);
    for _ in 0..3 {
        // git runs pre-commit before it sees that there is nothing to commit.
        stage.git(&["commit", "-qm", "Nothing"]).exits(1);
    }
    assert!((1..=3).contains(&marks(&stage)), "{}", marks(&stage));
    // None of them speaks for another process.
    stage.write("code.txt", "2\n");
    stage.git(&["commit", "-qam", "Round", "--no-verify"]).ok().lacks("untested");
    assert_eq!(stage.record("HEAD")["gate"], "bypassed");
    assert_eq!(marks(&stage), 0);
    // One that was killed between.
    stage.git(&["-c", "core.editor=kill -9 $PPID; false", "commit", "-q", "--allow-empty"]);
    stage.iterate("3\n", GREEN, "Three").ok();
    assert_eq!(stage.record("HEAD")["gate"], "passed");
    assert_eq!(marks(&stage), 0);
}

#[test]
fn a_gate_that_is_killed_refuses_and_leaves_nothing_that_counts() {
    let stage = Stage::installed();
    for point in ["hook:begin", "hook:begin#2"] {
        stage.write("code.txt", format!("{point}\n"));
        stage.andon(&["test"]).ok();
        crate::killed_processes::dying(&stage, point, |stage| stage.git(&["commit", "-qam", "Killed"]));
        // The next one is judged for itself.
        stage.write("code.txt", format!("{point}, untested\n"));
        stage.git(&["commit", "-qam", "Untested"]).refused().says("untested-edit");
        stage.iterate(&format!("{point}, tested\n"), GREEN, "Tested").ok();
        assert_eq!(stage.record("HEAD")["gate"], "passed", "{point}");
        assert_eq!(marks(&stage), 0, "{point}");
    }
    stage.andon(&["check", "HEAD~1..HEAD"]).ok();
}

#[test]
fn without_the_mark_a_halt_refuses_all_the_same() {
    let stage = Stage::installed();
    stage.steps("andon stop --reason 'look first'; echo 2 > code.txt");
    stage.git(&["commit", "-qam", "Round", "--no-verify"]).refused().says("user-stop");
}

#[test]
fn what_a_hook_changed_after_the_gate_is_judged_again() {
    let stage = Stage::installed();
    formatting_manager(&stage, "code.txt");
    // What was tested is what the manager left.
    stage.iterate("a b\n", GREEN, "Formatted already").ok();
    assert_eq!(stage.record("HEAD")["gate"], "passed");
    let out = stage.iterate("a   b   c\n", GREEN, "Formatted by the manager");
    assert_snapshot!(out.shown(), @r#"
    exit 1
    --- stderr
    error[untested-edit]: commit refused: a hook changed code.txt after the tests ran
      help: andon test
      help: or have each commit run the tests that are missing, in andon.toml:  [test]  at_commit = "run"
    "#);
    stage.tested_commit("-qam", "Formatted by the manager");
    assert_eq!(stage.record("HEAD")["gate"], "passed");
    // Documents need no tests.
    formatting_manager(&stage, "README.md");
    stage.add("README.md", "a   b\n");
    stage.git(&["commit", "-qm", "Documents"]).ok();
    assert_eq!(stage.git(&["show", "HEAD:README.md"]).ok().stdout, "a b\n");
    assert_eq!(stage.record("HEAD")["gate"], "passed");
    stage.andon(&["check", "HEAD~3..HEAD"]).ok();
}

#[test]
fn a_chained_hook_that_changes_what_is_committed_is_named() {
    let stage = Stage::installed();
    stage.andon(&["uninstall"]).ok();
    program(
        &stage.path(".git/hooks/pre-commit"),
        "#!/bin/sh\nsed -i 's/  */ /g' code.txt && git add code.txt\n",
    );
    stage.andon(&["install"]).ok();
    stage.iterate("a   b\n", GREEN, "Chained").refused().says("a hook changed code.txt after the tests ran");
    stage.tested_commit("-qam", "Chained");
    assert_eq!(stage.record("HEAD")["gate"], "passed");
    stage.andon(&["check", "HEAD~1..HEAD"]).ok();
}

#[test]
fn what_a_hook_stages_too_late_is_not_what_is_judged() {
    let stage = Stage::installed();
    stage.andon(&["uninstall"]).ok();
    // git has fixed the tree by then: only the index is another one.
    let late = "#!/bin/sh\necho late > late.txt && git add late.txt\n";
    program(&stage.path(".git/hooks/prepare-commit-msg"), late);
    stage.andon(&["install"]).ok();
    stage.iterate("2\n", GREEN, "Two").ok();
    assert_eq!(stage.record("HEAD")["gate"], "passed");
    stage.git(&["cat-file", "-e", "HEAD:late.txt"]).exits(128);
    stage.andon(&["check", "HEAD~1..HEAD"]).ok();
}

#[test]
fn hooks_that_a_manager_took_are_named_and_nobody_is_said_to_go_round() {
    let own = "#!/bin/sh\nexit 0\n";
    // The shim of pre-commit sees that no hook would judge later, and has the program judge at once.
    let stage = Stage::installed();
    program(&stage.path(".git/hooks/prepare-commit-msg"), own);
    stage.write("code.txt", "2\n");
    stage.git(&["commit", "-qam", "Two"]).refused().says("untested-edit");
    stage.tested_commit("-qam", "Two");
    assert_eq!(stage.record("HEAD")["gate"], "passed");
    stage.andon(&["check", "HEAD~1..HEAD"]).ok();
    // Without that of pre-commit no gate is wanted.
    let stage = Stage::installed();
    program(&stage.path(".git/hooks/pre-commit"), own);
    stage.iterate("2\n", GREEN, "Two").ok();
    let record = stage.record("HEAD");
    assert_eq!(record["gate"], "not-run");
    assert!(record["skipped"][0]["reason"].as_str().unwrap().contains("pre-commit was replaced"), "{record}");
    stage.andon(&["check", "HEAD~1..HEAD"]).refused().says("gate-not-run").lacks("bypassed");
}

#[test]
fn a_framework_that_runs_some_of_the_hooks_is_named() {
    let stage = Stage::installed();
    stage.andon(&["uninstall"]).ok();
    let andon = andon_path();
    // What pre-commit writes, in short: its own script, which runs what the configuration names.
    for hook in ["prepare-commit-msg", "post-commit"] {
        let lines = format!(
            "#!/bin/sh\n# File generated by pre-commit: https://pre-commit.com\n'{}' hook {hook} \"$@\"\n",
            andon.display()
        );
        program(&stage.path(&format!(".git/hooks/{hook}")), &lines);
    }
    let reason =
        |stage: &Stage| stage.record("HEAD")["skipped"][0]["reason"].as_str().unwrap_or_default().to_owned();
    stage.iterate("2\n", GREEN, "No hook at all").ok();
    assert_eq!(reason(&stage), "pre-commit is missing");
    let framework = "#!/bin/sh\n# File generated by pre-commit: https://pre-commit.com\n";
    program(&stage.path(".git/hooks/pre-commit"), framework);
    let yaml = "repos:\n- repo: x\n  hooks:\n  - id: andon-post-commit\n  - id: andon-prepare-commit-msg\n";
    stage.write(".pre-commit-config.yaml", yaml);
    stage.iterate("3\n", GREEN, "Not that one").ok();
    let wanted = ".pre-commit-config.yaml runs no andon at pre-commit";
    assert_eq!(reason(&stage), wanted);
    assert_eq!(stage.record("HEAD")["gate"], "not-run");
    // Where it is named, it was left out on purpose.
    stage.write(".pre-commit-config.yaml", format!("{yaml}  - id: andon\n"));
    stage.iterate("4\n", GREEN, "All").ok();
    assert_eq!(stage.record("HEAD")["gate"], "bypassed");
}

#[test]
fn an_amend_that_gives_the_commit_again_went_through_the_gate() {
    let stage = Stage::installed();
    stage.steps("echo 2 > code.txt; andon test");
    let date = "@1795190000 +0000";
    for name in ["GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"] {
        stage.set(name, date);
    }
    stage.git(&["-c", "core.hooksPath=no-hooks", "commit", "-qam", "Two"]).ok();
    let before = stage.head();
    stage.git(&["commit", "-q", "--amend", "--no-edit"]).ok();
    assert_eq!(stage.head(), before);
    assert_eq!(stage.record("HEAD")["gate"], "passed");
    for _ in 0..2 {
        stage.git(&["commit", "-q", "--amend", "--no-edit"]).ok();
    }
    stage.andon(&["check", "HEAD~1..HEAD"]).ok();
}

#[test]
fn commits_at_once_in_one_worktree_keep_their_receipts() {
    let stage = Stage::installed();
    // Between the gate of the first and its commit, another commit is made.
    let editor = "sh -c 'unset GIT_INDEX_FILE; git commit -q --allow-empty -m Between; echo Outer > \"$0\"'";
    stage.set("GIT_EDITOR", editor);
    stage.add("README.md", "Words\n");
    // git refuses the outer one, for HEAD has moved; the inner one has taken all.
    stage.git(&["commit", "-q"]).exits(128);
    assert_eq!(stage.record("HEAD")["gate"], "passed");
    stage.set("GIT_EDITOR", "true");
    stage.iterate("2\n", GREEN, "Two").ok();
    assert_eq!(stage.record("HEAD")["gate"], "passed");
    stage.andon(&["check", "HEAD~2..HEAD"]).ok();
}

#[test]
fn a_program_that_cannot_be_started_is_looked_for_on_the_path() {
    let broken: [&[u8]; 3] = [b"\x7fELF\x02\x01\x01\x00of no machine\x00", b"#!/nonexistent/sh\n", b""];
    for bytes in broken {
        let stage = Stage::installed();
        let at = stage.root().join("program");
        std::fs::create_dir(&at).unwrap();
        // By a process of its own: a file that a test holds open for writing while another test forks cannot be started.
        let copy = [andon_path(), at.join("andon")].map(|path| path.display().to_string());
        stage.run_in(stage.dir(), "cp", &[&copy[0], &copy[1]], None).ok();
        stage.run_in(stage.dir(), at.join("andon"), &["install"], None).ok();
        let whole = at.join("andon");
        if bytes.is_empty() {
            std::fs::remove_file(&whole).unwrap();
        } else {
            program(&whole, "");
            std::fs::write(&whole, bytes).unwrap();
        }
        // Without any: one line a commit, and the commit passes.
        stage.set("PATH", "/usr/bin:/bin");
        stage.write("code.txt", "2\n");
        let out = stage.git(&["commit", "-qam", "Two"]).ok();
        assert_eq!(out.stderr.matches("andon: no program that starts here").count(), 1, "{out}");
        assert!(!stage.git(&["notes", "--ref=andon", "show", "HEAD"]).stdout.contains("schema"));
        // With one on the PATH it is as ever.
        let bin = andon_path();
        stage.set("PATH", &format!("{}:/usr/bin:/bin", bin.parent().unwrap().display()));
        stage.write("code.txt", "3\n");
        stage.git(&["commit", "-qam", "Three"]).refused().says("untested-edit");
        stage.andon(&["test"]).ok();
        stage.git(&["commit", "-qam", "Three"]).ok().lacks("no program");
        assert_eq!(stage.record("HEAD")["gate"], "passed");
    }
}
