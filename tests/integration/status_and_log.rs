//! What a person sees: status, log, show and config, in text and JSON, wherever they may be called.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod output;

use insta::assert_snapshot;

use crate::support::{Out, Stage, image::built};

fn json(out: Out) -> serde_json::Value {
    serde_json::from_str(&out.ok().stdout).unwrap()
}

/// Failing counts 7, 4, 4, 4: halted.
fn halted() -> Stage {
    built!({
        let stage = Stage::installed();
        let tests = |failing: usize| -> Vec<String> {
            (0..8).map(|n| format!("{} t{n}", if n < failing { "not ok" } else { "ok" })).collect()
        };
        for (n, failing) in [7, 4, 4, 4].into_iter().enumerate() {
            let tests = tests(failing);
            let tests: Vec<&str> = tests.iter().map(String::as_str).collect();
            stage.iterate(&format!("{n}\n"), &tests, &format!("Try {n}")).ok();
        }
        stage
    })
}

#[test]
fn status_of_a_halted_loop_says_all_of_it() {
    let stage = halted();
    assert_snapshot!(stage.andon(&["status"]).shown(), @r"
    exit 0
    --- stdout
    Loop 5/100  HALTED AGE
      the loop is stuck on 4 failing tests (repeated-failures)
      what   the same 4 tests failed 3 times in a row although the code changed each time: t0, t1, t2, t3
      since  TIME, 3 commits; tests: 4 of 8 failing
      look   git diff HASH HASH, or .andon/CHECKPOINT.md
      answer a person decides, then runs: andon resume --reason '<decision>'
      then   or begin again at the best state: git switch -c andon-HASH HASH

      branch     main, HASH
      by         A. Author
      trend      0 -> 7 -> 4 -> 4 -> 4 failing  ▁█▅▅▅
      tests      sh check.sh
                 HEAD: 4 of 8 failing
                 work tree: 4 of 8 failing
    ");
    let value = json(stage.andon(&["status", "--format", "json"]));
    assert_eq!(value["badge"], "Loop 5/100");
    assert_eq!(value["state"], "halted");
    assert_eq!(value["trend"], serde_json::json!([0, 7, 4, 4, 4]));
    assert_eq!(value["last_halt"]["halt_reason"], "stalled");
    assert_eq!(value["last_halt"]["rule"], "repeated-failures");
    assert_eq!(value["last_halt"]["acknowledged"], serde_json::Value::Null);
    assert_eq!(value["loop_evidence"]["failures"][1]["iterations"], 3);
    assert_eq!(value["head"], stage.head());
}

#[test]
fn log_and_show_tell_the_story() {
    let stage = halted();
    stage.andon(&["resume", "--reason", "wrong fixture"]).ok();
    assert_snapshot!(stage.andon(&["log"]).shown(), @r#"
    exit 0
    --- stdout
          -- TIME answered by A. Author <author@example.org> with andon resume --yes (no terminal)
             "wrong fixture"
          -- TIME HALTED: the loop is stuck on 4 failing tests (repeated-failures)
             the same 4 tests failed 3 times in a row although the code changed each time: t0, t1, t2, t3
       5  HASH  4/8 fail      +1 -1        Try 3
          error[repeated-failures]: the same 4 tests failed 3 times in a row although the code change...
       4  HASH  4/8 fail      +1 -1        Try 2
       3  HASH  4/8 fail      +4 -4        Try 1
       2  HASH  7/8 fail      +9 -3        Try 0
       1  HASH  2 pass        +15 -0       Start
    "#);
    assert_snapshot!(stage.andon(&["show"]).shown(), @r#"
    exit 0
    --- stdout
    commit HASH
        Try 3

      iteration  5
      node       agent
      kind       normal
      gate       passed
      recorded   TIME
      tree       HASH
      parent     HASH
      prev       HASH
      code       HASH
      diff       HASH
                 1 file, +1 -1, 1 hunk
      tests      4 of 8 failing  (sh check.sh, tap)
                 signature HASH
                 failing   t0
                 failing   t1
                 failing   t2
                 failing   t3

    Findings at the commit
    error[repeated-failures]: the same 4 tests failed 3 times in a row although the code changed each time: t0, t1, t2, t3

      record     HASH
    "#);
}

#[test]
fn log_and_show_tell_programs_the_same_story() {
    let stage = halted();
    stage.andon(&["resume", "--reason", "wrong fixture"]).ok();
    let lines: Vec<serde_json::Value> = stage
        .andon(&["log", "--format", "json"])
        .ok()
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let types: Vec<&str> = lines.iter().map(|line| line["type"].as_str().unwrap()).collect();
    assert_eq!(types, ["loop.acknowledged", "loop.halted", "commit", "commit", "commit", "commit", "commit"]);
    assert_eq!(lines[0]["reason"], "wrong fixture");
    let record = json(stage.andon(&["show", "--format", "json"]));
    assert_eq!(record["record"]["iteration"], 5);
    for key in ["signature", "failing", "code", "status", "total"] {
        assert_eq!(record["record"]["tests"][key], stage.record("HEAD")["tests"][key], "{key}");
    }
    assert_eq!(stage.andon(&["log", "-n", "1", "--format", "json"]).ok().stdout.lines().count(), 3);
    assert_eq!(json(stage.andon(&["show", "HEAD~2", "--format", "json"]))["subject"], "Try 1");
}

#[test]
fn after_an_answer_the_status_does_not_say_that_nothing_is_recorded() {
    let stage = halted();
    stage.andon(&["resume", "--reason", "wrong fixture"]).ok();
    let out = stage.andon(&["status"]).ok().lacks("nothing recorded");
    assert!(out.stdout.starts_with("Loop 0/100  idle: no iteration since the halt was answered\n"), "{out}");
    assert!(out.stdout.contains("answered by A. Author"), "{out}");
    stage.iterate("on\n", &["ok a"], "On").ok();
    let out = stage.andon(&["status"]).ok();
    assert!(out.stdout.starts_with("Loop 1/100  running\n"), "{out}");
}

#[test]
fn a_halt_sends_nobody_to_a_file_that_is_not_there() {
    let stage = Stage::installed();
    for n in 1..3 {
        stage.iterate(&format!("{n}\n"), &["ok a", "not ok b"], "Try").ok();
    }
    // repeated-failures halts; consecutive-failures, whose file is another, trips with it.
    let out = stage.iterate("3\n", &["ok a", "not ok b"], "Try").ok();
    assert!(stage.exists(".andon/CHECKPOINT.md") && !stage.exists(".andon/BLOCKER_REPORT.md"));
    let told = out.lacks("BLOCKER_REPORT");
    assert_snapshot!(told.shown());
    assert_eq!(told.all().matches(".andon/").count(), 1, "{told}");
    stage.andon(&["status"]).ok().says(".andon/CHECKPOINT.md").lacks("BLOCKER_REPORT");
}

#[test]
fn an_empty_repository_has_a_status_and_an_empty_log() {
    let stage = Stage::new();
    assert_snapshot!(stage.andon(&["status"]).shown(), @r"
    exit 0
    --- stdout
    Loop 0/100  not installed: nothing is guarded (andon install)
      branch     main, no commit yet
      tests      no test.command is configured (andon.toml, [test])
                 work tree: never run
    ");
    assert_eq!(json(stage.andon(&["status", "--format", "json"]))["head"], serde_json::Value::Null);
    assert_eq!(stage.andon(&["log"]).ok().stdout, "no commits\n");
    assert_eq!(stage.andon(&["log", "--format", "json"]).ok().stdout, "");
    assert_snapshot!(stage.andon(&["show"]).brief(), @r#"exit 2, stderr: error: revision "HEAD": branch main has no commit yet"#);
    stage.andon(&["install"]).ok();
    stage.andon(&["status"]).ok().says("Loop 0/100  idle: nothing recorded yet");
}

#[test]
fn commits_without_records_are_shown_as_such() {
    let stage = Stage::new();
    stage.write("a", "a");
    stage.steps("git add .; git commit -qm 'Before Andon'; git switch -q --detach");
    assert_snapshot!(stage.andon(&["status"]).shown(), @r"
    exit 0
    --- stdout
    Loop 0/100  not installed: nothing is guarded (andon install)
      branch     detached HEAD, HASH
      tests      no test.command is configured (andon.toml, [test])
                 HEAD: never run
                 work tree: never run
    ");
    assert_snapshot!(stage.andon(&["log"]).shown(), @r#"
    exit 0
    --- stdout
       -  HASH  no record                  Before Andon
    "#);
    assert_snapshot!(stage.andon(&["show"]).shown(), @r#"
    exit 0
    --- stdout
    commit HASH
        Before Andon

    no record: the commit was made without Andon, or its note was not fetched
    "#);
    assert_eq!(json(stage.andon(&["show", "--format", "json"]))["state"], "missing");
    // A note that is no record is reported as such, with the remedy.
    stage.git(&["notes", "--ref=andon", "add", "-m", "not json", "HEAD"]).ok();
    assert_snapshot!(stage.andon(&["show"]).shown(), @"
    exit 0
    --- stdout
    commit HASH
        Before Andon

    error[unreadable-record]: the andon record of commit HASH is unreadable: not readable as JSON: expected ident at line 1 column 2
      help: git notes --ref=andon show HASH
    ");
    stage.steps("andon log; andon status");
}

#[test]
fn unknown_revisions_and_missing_repositories_are_wrong_usage() {
    let stage = Stage::installed();
    for args in [&["show", "nowhere"][..], &["log", "nowhere"], &["log", "--", "-n"], &["show", ""]] {
        stage.andon(args).exits(2).says("error: unknown revision").says("help: ");
    }
    assert_snapshot!(stage.andon(&["show", "HEAD^{tree}"]).lacks("panicked").shown(), @r#"
    exit 2
    --- stderr
    error: revision "HEAD^{tree}" is no commit: it is a tree (HASH)
      help: git log --oneline --all
    "#);
    assert_snapshot!(stage.andon(&["statsu"]).shown(), @"
    exit 2
    --- stderr
    error: no such command: andon statsu
      help: did you mean: andon status
      help: all commands: andon --help
    ");
    let nowhere = stage.root().canonicalize().unwrap().join("elsewhere");
    std::fs::create_dir(&nowhere).unwrap();
    for args in [&["status"][..], &["log"], &["show"], &["config", "show"], &["check", "HEAD"], &["replay"]] {
        stage.andon_in(&nowhere, args).exits(2).says("error: not a git repository").says("git init");
    }
    stage.andon_in(&nowhere, &["config", "schema"]).ok().says("untested-edit");
}

#[test]
fn bare_repositories_and_shallow_clones_are_shown() {
    let stage = Stage::installed();
    stage.iterate("two\n", &["ok a", "ok b"], "Two").ok();
    let root = stage.root().canonicalize().unwrap();
    stage.git_in(&root, &["clone", "-q", "--mirror", "repo", "bare.git"]).ok();
    let bare = root.join("bare.git");
    stage.andon_in(&bare, &["status"]).ok().says("Loop 2/100  running").lacks("work tree");
    assert_snapshot!(stage.andon_in(&bare, &["log"]).shown(), @"
    exit 0
    --- stdout
       2  HASH  2 pass        +1 -1        Two
       1  HASH  2 pass        +15 -0       Start
    ");
    assert_snapshot!(stage.andon_in(&bare, &["test"]).shown(), @"
    exit 2
    --- stderr
    error: this repository has no working tree: ROOT/bare.git
      help: run andon in a checkout: git worktree add ../checkout
    ");
    let url = format!("file://{}", stage.dir().display());
    stage.git_in(&root, &["clone", "-q", "--depth", "1", &url, "shallow"]).ok();
    let shallow = root.join("shallow");
    stage.steps_in(&shallow, "git fetch -q origin +refs/notes/andon:refs/notes/andon; andon status");
    let logged = stage.andon_in(&shallow, &["log"]).ok().stdout;
    assert!(logged.contains(" Two\n") && !logged.contains(" Start\n"), "{logged}");
    assert_snapshot!(stage.andon_in(&shallow, &["show", "HEAD~1"]).shown(), @r#"
    exit 3
    --- stderr
    error: unknown revision "HEAD~1" (this clone is shallow)
      help: git fetch --unshallow
    "#);
    assert_snapshot!(stage.andon_in(&shallow, &["replay"]).brief(), @"
    exit 0, stdout: warning: this clone is shallow: what was before is not seen, at 1 commit --> HASH Two
    replayed 1 step of HEAD: would not have halted
    ");
}
