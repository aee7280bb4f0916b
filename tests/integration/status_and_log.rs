//! What a person sees: status, log, show and config, in text and JSON, wherever they may be called.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use insta::assert_snapshot;

use crate::support::{Out, Stage, andon_path};

/// Exit code and both streams, with ids and times made alike in every run.
fn shown(out: &Out) -> String {
    let local = regex::Regex::new(r"2026-\d\d-\d\d \d\d:\d\d( \([^)]* ago\))?").unwrap();
    let text = local.replace_all(&out.to_string(), "TIME").into_owned();
    let mut shown = String::new();
    let mut word = String::new();
    for c in text.chars().chain(['\n']) {
        if c.is_ascii_alphanumeric() || c == '-' && !word.is_empty() || c == ':' && word.starts_with("20") {
            word.push(c);
            continue;
        }
        let hex = word.len() >= 12
            && word.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
        let time = word.starts_with("2026-") && word.ends_with('Z');
        shown.push_str(if hex {
            "HASH"
        } else if time {
            "TIME"
        } else {
            &word
        });
        word.clear();
        shown.push(c);
    }
    shown.pop();
    shown
}

fn json(out: Out) -> serde_json::Value {
    serde_json::from_str(&out.ok().stdout).unwrap()
}

/// Failing counts 7, 4, 4, 4: halted.
fn halted() -> Stage {
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
}

#[test]
fn status_of_a_halted_loop_says_all_of_it() {
    let stage = halted();
    assert_snapshot!(shown(&stage.andon(&["status"])), @r#"
    exit 0
    --- stdout
    Loop 5/100  halted
      branch     main, HASH
      node       agent
      last halt  stalled (repeated-failures) at TIME, iteration 5
                 the same 4 tests failed in 3 iterations in a row, with code edited in between: t0, t1, t2, t3
                 not acknowledged: read .andon/CHECKPOINT.md, then andon resume --reason "..."
      trend      0 -> 7 -> 4 -> 4 -> 4 failing  ▁█▅▅▅
      tests      sh check.sh
                 HEAD: 4 of 8 failing
                 work tree: 4 of 8 failing

    Loop Evidence
      diffs      HASH HASH HASH HASH HASH
      code       HASH HASH HASH HASH HASH
      failures   HASH HASH HASH HASH
                 HASH in 1 iteration: t0, t1, t2 and 4 more
                 HASH in 3 iterations: t0, t1, t2 and 1 more

    Findings
    error[repeated-failures]: the same 4 tests failed in 3 iterations in a row, with code edited in between: t0, t1, t2, t3
      help: read the first failing test's error before the next edit: andon test
      help: git diff HASH HASH
      evidence: tests HASH, commit HASH, commit HASH, commit HASH
    --- stderr
    "#);
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
    assert_snapshot!(shown(&stage.andon(&["log"])), @r#"
    exit 0
    --- stdout
          -- TIME acknowledged by A. Author <author@example.org> with andon resume
             "wrong fixture"
          -- TIME halted: stalled (repeated-failures)
             the same 4 tests failed in 3 iterations in a row, with code edited in between: t0, t1, t...
       5  HASH  4/8 fail      +1 -1        Try 3
          error[repeated-failures]: the same 4 tests failed in 3 iterations in a row, with code edite...
       4  HASH  4/8 fail      +1 -1        Try 2
       3  HASH  4/8 fail      +4 -4        Try 1
       2  HASH  7/8 fail      +9 -3        Try 0
       1  HASH  2 pass        +15 -0       Start
    --- stderr
    "#);
    assert_snapshot!(shown(&stage.andon(&["show"])), @r#"
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
    error[repeated-failures]: the same 4 tests failed in 3 iterations in a row, with code edited in between: t0, t1, t2, t3

      record     HASH
    --- stderr
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
    assert!(out.stdout.contains("acknowledged by A. Author"), "{out}");
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
    let told = out.says("error[repeated-failures]").says("read .andon/CHECKPOINT.md").lacks("BLOCKER_REPORT");
    assert_eq!(told.all().matches("read .andon/").count(), 1, "{told}");
    stage.andon(&["status"]).ok().says("read .andon/CHECKPOINT.md").lacks("BLOCKER_REPORT");
}

#[test]
fn an_empty_repository_has_a_status_and_an_empty_log() {
    let stage = Stage::new();
    assert_snapshot!(shown(&stage.andon(&["status"])), @r#"
    exit 0
    --- stdout
    Loop 0/100  not installed: nothing is guarded (andon install)
      branch     main, no commit yet
      node       agent
      last halt  none
      trend      no tests ran on recorded commits
      tests      no test.command is configured (andon.toml, [test])
                 work tree: never run
    --- stderr
    "#);
    assert_eq!(json(stage.andon(&["status", "--format", "json"]))["head"], serde_json::Value::Null);
    assert_eq!(stage.andon(&["log"]).ok().stdout, "no commits\n");
    assert_eq!(stage.andon(&["log", "--format", "json"]).ok().stdout, "");
    assert_snapshot!(shown(&stage.andon(&["show"])), @r#"
    exit 2
    --- stdout
    --- stderr
    error: revision "HEAD": branch main has no commit yet
      help: make a first commit
    "#);
    stage.andon(&["install"]).ok();
    stage.andon(&["status"]).ok().says("Loop 0/100  idle: nothing recorded yet");
}

#[test]
fn commits_without_records_are_shown_as_such() {
    let stage = Stage::new();
    stage.write("a", "a");
    stage.git(&["add", "."]).ok();
    stage.git(&["commit", "-qm", "Before Andon"]).ok();
    stage.git(&["switch", "-q", "--detach"]).ok();
    assert_snapshot!(shown(&stage.andon(&["status"])), @r#"
    exit 0
    --- stdout
    Loop 0/100  not installed: nothing is guarded (andon install)
      branch     detached HEAD, HASH
      node       agent
      last halt  none
      trend      no tests ran on recorded commits
      tests      no test.command is configured (andon.toml, [test])
                 HEAD: never run
                 work tree: never run
    --- stderr
    "#);
    assert_snapshot!(shown(&stage.andon(&["log"])), @r#"
    exit 0
    --- stdout
       -  HASH  no record                  Before Andon
    --- stderr
    "#);
    assert_snapshot!(shown(&stage.andon(&["show"])), @r#"
    exit 0
    --- stdout
    commit HASH
        Before Andon

    no record: the commit was made without Andon, or its note was not fetched
    --- stderr
    "#);
    assert_eq!(json(stage.andon(&["show", "--format", "json"]))["state"], "missing");
    // A note that is no record is said to be one, with the mend.
    stage.git(&["notes", "--ref=andon", "add", "-m", "not json", "HEAD"]).ok();
    stage.andon(&["show"]).ok().says("error[unreadable-record]").says("git notes");
    stage.andon(&["log"]).ok();
    stage.andon(&["status"]).ok();
}

#[test]
fn unknown_revisions_and_missing_repositories_are_wrong_usage() {
    let stage = Stage::installed();
    for args in [&["show", "nowhere"][..], &["log", "nowhere"], &["log", "--", "-n"], &["show", ""]] {
        stage.andon(args).exits(2).says("error: unknown revision").says("help: ");
    }
    stage.andon(&["show", "HEAD^{tree}"]).says("is no commit").lacks("panicked");
    stage.andon(&["statsu"]).exits(2).says("status");
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
    stage.iterate("two\n", &["ok a"], "Two").ok();
    let root = stage.root().canonicalize().unwrap();
    stage.git_in(&root, &["clone", "-q", "--mirror", "repo", "bare.git"]).ok();
    let bare = root.join("bare.git");
    stage.andon_in(&bare, &["status"]).ok().says("Loop 2/100  running").lacks("work tree");
    stage.andon_in(&bare, &["log"]).ok().says("Two").says("Start");
    stage.andon_in(&bare, &["test"]).exits(2).says("has no working tree");
    let url = format!("file://{}", stage.dir().display());
    stage.git_in(&root, &["clone", "-q", "--depth", "1", &url, "shallow"]).ok();
    let shallow = root.join("shallow");
    stage.git_in(&shallow, &["fetch", "-q", "origin", "+refs/notes/andon:refs/notes/andon"]).ok();
    stage.andon_in(&shallow, &["status"]).ok();
    assert_eq!(stage.andon_in(&shallow, &["log"]).ok().stdout.lines().count(), 1);
    stage.andon_in(&shallow, &["show", "HEAD~1"]).exits(3).says("git fetch --unshallow");
    stage.andon_in(&shallow, &["replay"]).ok().says("replayed 1 step");
}

#[test]
fn configuration_names_the_layer_of_every_value() {
    let stage = Stage::installed();
    stage.write(".config/andon/config.toml", "");
    let home = stage.root().canonicalize().unwrap().join(".config/andon");
    std::fs::create_dir_all(&home).unwrap();
    std::fs::write(home.join("config.toml"), "[guard]\nsession_gap = \"2h\"\n").unwrap();
    let out = stage.andon(&["config", "show"]).ok();
    let line = |key: &str| out.stdout.lines().find(|line| line.starts_with(key)).unwrap().to_owned();
    assert!(line("test.command").ends_with("# repository, andon.toml:2"), "{out}");
    assert!(
        line("guard.session_gap").contains("2h") && line("guard.session_gap").contains("config.toml:2"),
        "{out}"
    );
    assert!(line("guard.ack").ends_with("# default"), "{out}");
    let values = json(stage.andon(&["config", "show", "--format", "json"]));
    assert!(values.to_string().contains("session_gap"), "{values}");
    assert_eq!(stage.andon(&["config", "check"]).ok().stdout, "the configuration is fine\n");
    let schema = json(stage.andon(&["config", "schema"]));
    assert!(schema["$schema"].is_string(), "{schema}");
    stage.write("andon.toml", "[rules]\nunchanged-dif = \"off\"\n[guard]\nack = \"always\"\n");
    assert_snapshot!(shown(&stage.andon(&["config", "check"])), @r#"
    exit 2
    --- stdout
    --- stderr
    error[config]: unknown rule `unchanged-dif`
      --> andon.toml:2:1
      help: did you mean `unchanged-diff`?
    error[config]: `guard.ack` must be "delete" or "resume" or "signed", not "always"
      --> andon.toml:4:7
      help: write ack = "delete"
    "#);
    // What only looks back does not need it.
    stage.andon(&["log"]).ok();
    stage.andon(&["show"]).ok();
}

#[test]
fn colour_is_for_terminals_and_for_those_who_ask() {
    let stage = Stage::installed();
    let coloured = |stage: &Stage, args: &[&str]| stage.andon(args).ok().stdout.contains('\u{1b}');
    assert!(!coloured(&stage, &["status"]));
    assert!(coloured(&stage, &["status", "--color=always"]));
    assert!(coloured(&stage, &["--color", "always", "log"]));
    stage.set("CLICOLOR_FORCE", "1");
    assert!(coloured(&stage, &["status"]));
    assert!(!coloured(&stage, &["status", "--color=never"]));
    stage.set("NO_COLOR", "1");
    assert!(!coloured(&stage, &["status"]));
    assert!(coloured(&stage, &["status", "--color=always"]), "what was asked for wins");
    stage.andon(&["status", "--color=purple"]).exits(2).says("always");
}

#[test]
fn a_terminal_gets_colour_unless_told_otherwise() {
    let stage = Stage::installed();
    let command = format!("{} status", andon_path().display());
    let on_terminal = |stage: &Stage| {
        let dir = stage.dir().to_owned();
        stage.run_in(&dir, "script", &["-qec", &command, "/dev/null"], None)
    };
    let version = stage.run_in(stage.dir(), "sh", &["-c", "command -v script"], None);
    if version.code != 0 {
        return; // util-linux is not everywhere
    }
    stage.set("TERM", "xterm");
    assert!(on_terminal(&stage).ok().stdout.contains("\u{1b}["));
    for (name, value) in [("NO_COLOR", "1"), ("CLICOLOR", "0"), ("TERM", "dumb")] {
        stage.set(name, value);
        assert!(!on_terminal(&stage).ok().stdout.contains('\u{1b}'), "{name}={value}");
        stage.unset(name);
    }
}

#[test]
fn hostile_subjects_and_test_names_stay_on_their_line() {
    let stage = Stage::installed();
    stage.write("code.txt", "two\n");
    stage.tests(&["ok a", "not ok evil \u{1b}[2Jname"]);
    stage.andon(&["test"]);
    stage.git(&["commit", "-qam", "evil \u{1b}]0;title\u{7} subject"]).ok();
    for args in [&["status"][..], &["log"], &["show"], &["replay"], &["check", "HEAD"]] {
        let out = stage.andon(args);
        assert!(!out.all().chars().any(|c| c.is_control() && c != '\n'), "{out}");
    }
}

#[test]
fn a_closed_pipe_is_no_error() {
    let stage = Stage::installed();
    let command =
        format!("{} log | true; {} status | head -n 1", andon_path().display(), andon_path().display());
    stage.run_in(stage.dir(), "sh", &["-c", &command], None).ok().lacks("panicked").says("Loop 1/100");
}
