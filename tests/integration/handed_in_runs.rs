//! Runs of the tests that are handed in: what they prove, and how they are shown.

use insta::assert_snapshot;

use crate::support::{Stage, andon_path};

const ONE_FAILS: &str = "<testsuite name='s' tests='2'><testcase classname='s' name='a'/><testcase classname='s' \
                         name='b'><failure message='no'/></testcase></testsuite>";
pub(crate) const ALL_PASS: &str = "<testsuite name='s' tests='2'><testcase classname='s' name='a'/><testcase classname='s' \
                        name='b'/></testsuite>";

fn hand_in(stage: &Stage, report: &str, exit: &str, more: &[&str]) -> crate::support::Out {
    std::fs::write(stage.root().join("r.xml"), report).unwrap();
    let args = [&["observe", "test_run", "--report", "../r.xml", "--exit-code", exit], more].concat();
    stage.andon(&args)
}

#[test]
fn a_handed_in_run_is_kept_and_shown_and_proves_nothing_by_itself() {
    let stage = Stage::installed();
    stage.write("code.txt", "two\n");
    assert_snapshot!(hand_in(&stage, ONE_FAILS, "1", &["--command", "sh check.sh"]).brief(),
        @r#"exit 0, stdout: kept a handed-in test run on code HASH: 1 of 2 failing; it counts as a failure, and proves nothing else (test.handed_in = "record")"#);
    assert_snapshot!(stage.andon(&["status"]).shown(), @r#"
    exit 0
    --- stdout
    Loop 1/100  running
      branch     main, HASH
      by         A. Author
      this turn  1 failing  █
      tests      sh check.sh
                 HEAD: 2 passed
                 work tree: 1 of 2 failing (handed in), but the run proves nothing: handed in, and test.handed_in is "record"
    "#);
    assert_snapshot!(stage.git(&["commit", "-qam", "Two"]).brief(),
        @"exit 1, stderr: error[untested-edit]: commit refused: the run on this code was handed in, and it is not known which command it was");
    stage.andon(&["complete"]).exits(1);
    stage.tested_commit("-qam", "Two");
    assert!(stage.record("HEAD")["tests"].get("handed_in").is_none());
}

#[test]
fn a_handed_in_run_counts_where_the_project_says_so_and_stays_marked() {
    let stage = Stage::installed();
    stage.write("andon.toml", "[test]\ncommand = \"sh check.sh\"\nhanded_in = \"count\"\n");
    stage.andon(&["test"]).ok();
    stage.git(&["commit", "-qam", "Let runs be handed in"]).ok().lacks("handed in:");
    stage.write("code.txt", "two\n");
    assert_snapshot!(hand_in(&stage, ONE_FAILS, "1", &[]).brief(),
        @"exit 0, stdout: kept a handed-in test run on code HASH: 1 of 2 failing; it counts as a run of test.command (test.handed_in)");
    assert_snapshot!(stage.git(&["commit", "-qam", "Two"]).shown(), @"
    exit 0
    --- stderr
    note[handed-in]: the tests of this code were handed in: what ran is somebody's word (test.handed_in)
      help: to see for yourself: andon test
    warning[failing-tests]: 1 of 2 tests fails: s::b
      help: fix what fails, then: andon test
    ");
    let record = stage.record("HEAD");
    assert_eq!(record["tests"]["handed_in"], true);
    assert_eq!(record["tests"]["status"], "failed");
    assert_eq!(record["tests"]["failing"], serde_json::json!(["s::b"]));
    assert_snapshot!(stage.andon(&["log"]).shown(), @"
    exit 0
    --- stdout
       3  HASH  1/2 fail      +1 -1        [tests handed in] Two
       2  HASH  2 pass        ignored      Let runs be handed in
       1  HASH  2 pass        +15 -0       Start
    ");
    stage.andon(&["show"]).ok().says("(handed in)");
    stage.andon(&["status"]).ok().says("(handed in)");
    assert_snapshot!(stage.andon(&["check", "HEAD~1..HEAD"]).shown());
    // The base decides: where it does not let them count, they do not.
    assert_snapshot!(stage.andon(&["check", "HEAD~2..HEAD"]).shown());

    // One that names another command never counts.
    stage.write("code.txt", "three\n");
    assert_snapshot!(hand_in(&stage, ALL_PASS, "0", &["--command", "true"]).brief(),
        @"exit 0, stdout: kept a handed-in test run on code HASH: 2 passed; it is not of test.command and proves nothing");
    assert_snapshot!(stage.git(&["commit", "-qam", "Three"]).brief(),
        @"exit 1, stderr: error[untested-edit]: commit refused: the run on this code was of another command: `true` instead of `sh check.sh`");
    // Several reports of one run, and an exit code that no case explains.
    std::fs::write(stage.root().join("s.xml"), ALL_PASS).unwrap();
    let out = hand_in(&stage, ALL_PASS, "1", &["--report", "../s.xml", "--format", "json"]).ok();
    out.says("\"status\":\"runner_error\"").says("\"total\":4");
}

#[test]
fn a_handed_in_run_is_bound_to_the_code_that_it_names() {
    let stage = Stage::installed();
    stage.write("andon.toml", "[test]\ncommand = \"sh check.sh\"\nhanded_in = \"count\"\n");
    stage.write("code.txt", "two\n");
    let status = stage.andon(&["status", "--format", "json"]).ok().json();
    let code = status["code"]["work_tree"].as_str().unwrap().to_owned();
    assert_ne!(status["code"]["head"], status["code"]["work_tree"]);
    // An orchestrator tested a checkout of this code elsewhere, while here the work went on.
    stage.write("code.txt", "three\n");
    hand_in(&stage, ALL_PASS, "0", &["--code", &code]).ok();
    assert_snapshot!(stage.git(&["commit", "-qam", "Three"]).lacks("check.sh").shown(), @"
    exit 1
    --- stderr
    error[untested-edit]: commit refused: the tests ran on other code
      help: andon test
    ");
    stage.write("code.txt", "two\n");
    assert_snapshot!(stage.git(&["commit", "-qam", "Two"]).brief(),
        @"exit 0, stderr: note[handed-in]: the tests of this code were handed in: what ran is somebody's word (test.handed_in)");
    assert_eq!(stage.record("HEAD")["tests"]["code"], code.as_str());
}

#[test]
fn what_is_handed_in_wrongly_is_a_mistake_of_use() {
    let stage = Stage::installed();
    assert_snapshot!(hand_in(&stage, ALL_PASS, "0", &["--code", "abc"]).shown(), @"
    exit 2
    --- stderr
    error: not a code fingerprint: abc
      help: 64 hexadecimal digits, as `code` in: andon status --format json
    ");
    assert_snapshot!(
        stage.andon(&["observe", "test_run", "--report", "nowhere.xml", "--exit-code", "0"]).shown(),
        @"
    exit 2
    --- stderr
    error: the report nowhere.xml cannot be read: No such file or directory (os error 2)
      help: andon observe test_run --report FILE --exit-code N
    "
    );
    assert_snapshot!(stage.andon(&["observe", "test_run"]).shown(), @"
    exit 2
    --- stderr
    error: no test run came in on standard input
      help: give one JSON object a line on standard input, or hand in report files: andon observe test_run --report FILE --exit-code N
    ");
    let cut = "<testsuite><testcase name='a'>";
    assert_snapshot!(hand_in(&stage, cut, "0", &[]).brief(), @r#"
    exit 0, stdout: kept a handed-in test run on code HASH: the report is incomplete; it proves nothing (test.handed_in = "record")
    stderr: warning: ../r.xml: cut short: 2 elements are not closed
    "#);
    assert_snapshot!(hand_in(&stage, ALL_PASS, "-1", &[]).brief(),
        @r#"exit 0, stdout: kept a handed-in test run on code HASH: the runner failed, no test did; it counts as a failure, and proves nothing else (test.handed_in = "record")"#);
}

/// Six failing runs as an orchestrator hands them in, each followed by the end of a turn.
fn six_failing(turn_end: impl Fn(u32) -> String) -> String {
    let run = |at| {
        format!(r#"{{"type":"test_run","code":"{at:064}","status":"failed","total":10,"failing":["a::b"]}}"#)
    };
    (1..=6).map(|at| format!("{}\n{}\n", run(at), turn_end(at))).collect()
}

#[test]
fn six_failing_handed_in_runs_halt_at_every_door() {
    let table: [(&str, String); 3] = [
        ("with code", six_failing(|at| format!(r#"{{"type":"turn_end","code":"{at:064}"}}"#))),
        ("without code", six_failing(|_| r#"{"type":"turn_end"}"#.to_owned())),
        ("begun", six_failing(|_| "{\"type\":\"turn_end\"}\n{\"type\":\"turn_start\"}".to_owned())),
    ];
    for (name, events) in table {
        let stage = Stage::installed();
        std::fs::write(stage.root().join("events"), &events).unwrap();
        let replayed = stage.andon(&["replay", "--events", "../events"]);
        assert!(replayed.all().contains("would have halted once"), "{name}: {replayed}");
        let batch = stage.run_in(stage.dir(), andon_path(), &["observe", "event"], Some(events.as_bytes()));
        batch.exits(1).says("HALTED");
        stage.write("code.txt", "two\n");
        stage.git(&["commit", "-qam", "Two"]).refused().says("commit refused: halted");

        let stage = Stage::installed();
        let one = |line: &str| {
            stage.run_in(stage.dir(), andon_path(), &["observe", "event"], Some(line.as_bytes()))
        };
        let codes: Vec<i32> = events.lines().map(|line| one(line).code).collect();
        assert!(codes.contains(&1), "{name}: {codes:?}");
        stage.andon(&["tick"]).exits(1);
    }
}

#[test]
fn failing_runs_of_code_from_elsewhere_count_at_the_ticks_of_this_tree() {
    let stage = Stage::installed();
    let mut ticks = Vec::new();
    for at in 1..=6 {
        stage.write("code.txt", format!("{at}\n"));
        let run = format!(r#"{{"code":"{at:064}","status":"failed","total":10,"failing":["a::b"]}}"#);
        stage.run_in(stage.dir(), andon_path(), &["observe", "test_run"], Some(run.as_bytes()));
        ticks.push(stage.andon(&["tick"]).code);
    }
    assert_eq!(ticks.last(), Some(&1), "{ticks:?}");
}
