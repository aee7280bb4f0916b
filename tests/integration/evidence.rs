//! What test evidence says of itself, and what is made of it.

use insta::assert_snapshot;
use serde_json::Value;

use crate::support::{Out, Stage, andon_path};

/// TAP of tests of which the first `failing` fail, out of `total`, the last `skipped` skipped.
fn tap(failing: usize, total: usize, skipped: usize) -> Vec<String> {
    let line = |number: usize| match number {
        _ if number <= failing => format!("not ok t{number}"),
        _ if number > total - skipped => format!("ok t{number} # SKIP no database"),
        _ => format!("ok t{number}"),
    };
    (1..=total).map(line).collect()
}

fn iterate(stage: &Stage, code: &str, (failing, total, skipped): (usize, usize, usize)) -> Out {
    let lines = tap(failing, total, skipped);
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    stage.iterate(code, &lines, code.trim())
}

#[test]
fn a_fall_without_credit_is_marked_in_the_trend() {
    let stage = Stage::installed();
    stage.write(
        "andon.toml",
        "[test]\ncommand = \"sh check.sh\"\n[paths]\ndocs = []\nignore = [\"tests.txt\"]\n[rules]\nrepeated-failures = \"off\"\n",
    );
    iterate(&stage, "two\n", (7, 20, 0)).ok();
    iterate(&stage, "three\n", (4, 20, 0)).ok();
    stage.andon(&["status"]).ok().says("7 -> 4 failing").lacks("credit");
    iterate(&stage, "four\n", (2, 12, 0)).ok();
    let status = stage.andon(&["status"]).ok();
    let status = status.says("7 -> 4 -> 2 failing");
    status.says("4 -> 2 does not count as progress: 8 tests that ran before did not run");
    let value = stage.andon(&["status", "--format", "json"]).ok().json();
    assert_eq!(value["trend"], serde_json::json!([0, 7, 4, 2]));
    assert_eq!(value["trend_without_credit"], serde_json::json!([{ "from": 4, "to": 2, "gone": 8 }]));
}

#[test]
fn a_skip_that_only_the_report_shows_is_named() {
    let stage = Stage::installed();
    stage.write(
        "andon.toml",
        "[test]\ncommand = \"sh check.sh\"\n[paths]\ndocs = []\nignore = [\"tests.txt\"]\n",
    );
    iterate(&stage, "two\n", (3, 10, 0)).ok();
    assert_snapshot!(iterate(&stage, "three\n", (1, 10, 4)).shown(), @"
    exit 0
    --- stderr
    warning[failing-tests]: 1 of 10 tests fails: t1
      help: fix what fails, then: andon test
    warning[test-weakening]: 3 -> 1 failing while the tests that ran went 10 -> 6 and those that were skipped 0 -> 4; this does not count as progress
      help: if the tests were wrong, say why: git commit --amend --trailer 'Tests-Removed: REASON'
      help: git show HASH
    ");
}

#[test]
fn each_dirty_bit_says_why() {
    let stage = Stage::installed();
    stage.write(
        "andon.toml",
        "[test]\ncommand = \"sh check.sh\"\n[paths]\ndocs = [\"**/*.md\"]\napi = [\"api.txt\"]\n[rules]\ndocs-not-updated = \"off\"\n",
    );
    stage.steps("git commit -qam 'Declare the API'; echo call > api.txt");
    let reasons =
        |stage: &Stage| stage.andon(&["complete", "--format", "json"]).exits(1).json()["reasons"].clone();
    let untested = reasons(&stage);
    assert_eq!(untested["tests_run"], "the code was modified and the tests have not run on it");
    assert_eq!(untested["docs_updated"], "the API was modified and no documentation with it: api.txt");
    stage.tests(&["ok a", "not ok b"]);
    stage.andon(&["test"]).exits(1);
    let failing = reasons(&stage);
    assert_eq!(failing["tests_run"], Value::Null);
    assert_eq!(failing["tests_passing"], "1 of 2 tests of this code fails");
    assert_eq!(failing["docs_updated"], "the API was modified and no documentation with it: api.txt");
    assert_snapshot!(stage.andon(&["complete"]).shown(), @"
    exit 1
    --- stdout
      code modified  yes
      tests run      yes
      tests passing  no: 1 of 2 tests of this code fails
      docs updated   no: the API was modified and no documentation with it: api.txt
    error[failing-tests]: 1 of 2 tests fails: b
      help: fix what fails, then: andon test
    note: code in the working tree is not committed yet
      help: git status
    1 of 2 tests of this code fails; fix them, then run: andon test
    the task cannot be completed
    ");
}

#[test]
fn json_stream_of_mocha_is_read() {
    let stage = Stage::installed();
    stage.write(
        "out.txt",
        "> test\n[\"start\",{\"total\":3}]\nnoise\n\
         [\"pass\",{\"title\":\"adds\",\"fullTitle\":\"math adds\",\"file\":null,\"duration\":0,\"currentRetry\":0}]\n\
         [\"fail\",{\"title\":\"divides\",\"fullTitle\":\"math divides\",\"file\":null,\"currentRetry\":0,\
         \"err\":\"no\",\"stack\":\"Error: no\\n    at x (a.js:1:1)\"}]\n\
         [\"end\",{\"suites\":1,\"tests\":3,\"passes\":1,\"pending\":1,\"failures\":1}]\n",
    );
    stage.write("andon.toml", "[test]\ncommand = \"cat out.txt; exit 1\"\n");
    stage.andon(&["test"]).exits(1);
    let tests = &stage.andon(&["status", "--format", "json"]).ok().json()["tests"]["work_tree"]["run"];
    assert_eq!((&tests["total"], &tests["skipped"]), (&3.into(), &1.into()), "{tests}");
    assert_eq!(tests["failing"], serde_json::json!(["math divides"]));
}

#[test]
fn lines_on_standard_input_are_worth_what_reports_are() {
    let stage = Stage::installed();
    let config = "[test]\ncommand = \"sh check.sh\"\nhanded_in = \"count\"\n";
    stage.write("andon.toml", config);
    stage.steps("andon test; git commit -qam 'Let runs be handed in'; echo two > code.txt");
    let status = stage.andon(&["status", "--format", "json"]).ok().json();
    let code = status["code"]["work_tree"].as_str().unwrap().to_owned();
    let hand_in = |more: &str| {
        let line = format!(
            "{{\"type\":\"test_run\",\"code\":\"{code}\",\"status\":\"passed\",\"total\":2{more}}}\n"
        );
        stage.run_in(stage.dir(), andon_path(), &["observe", "event"], Some(line.as_bytes())).ok()
    };
    hand_in(",\"command\":\"true\"");
    assert_snapshot!(stage.git(&["commit", "-qam", "Two"]).shown(), @"
    exit 1
    --- stderr
    error[untested-edit]: commit refused: the run on this code was of another command: `true` instead of `sh check.sh`
      help: andon test
    ");
    hand_in("");
    assert_snapshot!(stage.git(&["commit", "-qam", "Two"]).brief(),
        @"exit 0, stderr: note[handed-in]: the tests of this code were handed in: what ran is somebody's word (test.handed_in)");
    assert_eq!(stage.record("HEAD")["tests"]["handed_in"], true);
    assert_eq!(stage.record("HEAD")["tests"]["command"], "sh check.sh");
    stage.write("andon.toml", config.replace("count", "record"));
    stage.write("code.txt", "three\n");
    hand_in("");
    assert_snapshot!(stage.git(&["commit", "-qam", "Three"]).brief(),
        @"exit 1, stderr: error[untested-edit]: commit refused: the code changed after the tests ran: code.txt");
}

#[test]
fn a_program_that_cannot_be_started_leaves_a_run_that_proves_nothing() {
    let stage = Stage::installed();
    stage.write("andon.toml", "[test]\ncommand = [\"no-such-program-anywhere\"]\n");
    stage.write("code.txt", "two\n");
    assert_snapshot!(stage.andon(&["test"]).shown(), @"
    exit 127
    --- stderr
    error: no-such-program-anywhere: command not found
      help: install it, or correct `test.command` in andon.toml (a string runs in a shell, a list does not)
    ");
    let tests = stage.andon(&["status", "--format", "json"]).ok().json()["tests"]["work_tree"].clone();
    assert_eq!(tests["run"]["status"], "runner_error", "{tests}");
    assert_eq!(tests["validity"], "not_started");
    stage.andon(&["status"]).ok().says("the test program could not be started");
    assert_snapshot!(stage.git(&["commit", "-qam", "Two"]).shown(), @"
    exit 1
    --- stderr
    error[untested-edit]: commit refused: the tests of this code could not be started: `no-such-program-anywhere` (no-such-program-anywhere: command not found)
      help: see what is missing: andon doctor
      help: andon test
    ");
}

#[test]
fn what_only_the_exit_code_tells_is_told_apart() {
    let stage = Stage::installed();
    for (command, code, words) in
        [("true", 0, "passed, by its exit code alone"), ("false", 1, "failed, by its exit code alone")]
    {
        stage.write("andon.toml", format!("[test]\ncommand = \"{command}\"\nformat = \"exit\"\n"));
        stage.andon(&["test"]).exits(code);
        stage.andon(&["status"]).ok().says(words).lacks("0 passed");
        let tests =
            stage.andon(&["status", "--format", "json"]).ok().json()["tests"]["work_tree"]["run"].clone();
        assert_eq!(tests["known_by"], "exit_code", "{tests}");
    }
    stage.write("andon.toml", "[test]\ncommand = \"sh check.sh\"\n");
    stage.andon(&["test"]).ok();
    let tests = stage.andon(&["status", "--format", "json"]).ok().json()["tests"]["work_tree"]["run"].clone();
    assert_eq!(tests["known_by"], "report", "{tests}");
}

/// A run of `command` with that configuration: exit code, status of the run and what was said.
fn run_of(stage: &Stage, config: &str) -> (Out, String) {
    stage.write("andon.toml", format!("[test]\n{config}"));
    let out = stage.andon(&["test"]);
    let status = stage.andon(&["status", "--format", "json"]).ok().json();
    (out, status["tests"]["work_tree"]["run"]["status"].as_str().unwrap_or_default().to_owned())
}

#[test]
fn what_only_looks_green_is_no_pass() {
    let stage = Stage::installed();
    let ok = "running 1 test\\ntest a ... ok\\n\\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\\n";
    stage.write("both.sh", "printf '1..1\\nok 1\\n'; printf '1..1\\nnot ok 1 - b\\n' >&2\n");
    stage.write("other.sh", "printf '1..1\\nnot ok 1 - b\\n'; printf '1..1\\nok 1\\n' >&2\n");
    stage.write("build.sh", format!("printf '{ok}'; echo 'error: Could not compile `b`.' >&2\n"));
    stage.write("short.sh", format!("printf '{ok}' | sed 's/running 1 test/running 2 tests/'\n"));
    stage.write("go.sh", "printf 'testing: warning: no tests to run\\nPASS\\nok  \\tp\\t0.005s\\n'\n");
    stage.write("tap.sh", "printf '1..2\\nok 1\\nok 1\\n'\n");
    for (script, status) in [
        ("both", "failed"),
        ("other", "failed"),
        ("build", "build_failed"),
        ("short", "incomplete"),
        ("go", "no_tests"),
        ("tap", "incomplete"),
    ] {
        let (out, found) = run_of(&stage, &format!("command = \"sh {script}.sh\"\n"));
        assert_eq!(found, status, "{script} {out}");
    }
    stage.write("green.sh", format!("printf '{ok}'\n"));
    let (out, found) = run_of(&stage, "command = \"sh green.sh\"\nreports = [\"out/*.xml\"]\n");
    assert_eq!(found, "incomplete", "{out}");
    assert_snapshot!(out.shown(), @"
    exit 0
    --- stdout
    running 1 test
    test a ... ok

    test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out
    --- stderr
    warning: test.reports is set, and this run wrote no such report
    warning[test-run]: the test report is cut short; the run does not count as passed
      help: andon test
    ");
    stage.write(
        "writes.sh",
        format!("printf '{ok}'; mkdir -p out; printf '<testsuite tests=\"1\"><testcase name=\"a\"/></testsuite>' > out/a.xml\n"),
    );
    stage.write(".gitignore", "out/\n");
    let (out, found) = run_of(&stage, "command = \"sh writes.sh\"\nreports = [\"out/*.xml\"]\n");
    assert_eq!(found, "passed", "{out}");
    let (out, found) = run_of(&stage, "command = \"sh green.sh\"\nreports = [\"out/*.xml\"]\n");
    assert_eq!(found, "incomplete", "{out}");
    out.says("out/a.xml was not written by this run: not read");
}

#[test]
fn a_wrong_byte_in_a_log_is_told_and_explained_alike() {
    let stage = Stage::installed();
    stage.write(".gitignore", "*.xml\n");
    stage.write(
        "write.sh",
        "printf '<testsuite tests=\"1\"><testcase name=\"a\"><system-out>x \\377 \\000 y</system-out></testcase></testsuite>' > r.xml\n",
    );
    let (out, found) = run_of(&stage, "command = \"sh write.sh\"\nreports = [\"r.xml\"]\n");
    assert_eq!(found, "passed", "{out}");
    assert_snapshot!(out.brief(), @"
    exit 0, stderr: warning: r.xml: a NUL at byte 58: read with a replacement there
    warning: r.xml: not UTF-8 at byte 54: read with a replacement there; have the runner write UTF-8
    ");
    let explained = stage.andon(&["explain", "r.xml", "--format", "json"]).ok().json();
    assert_eq!(explained["status"], "passed", "{explained}");
    assert_eq!(explained["warnings"].as_array().map(Vec::len), Some(2), "{explained}");
}

#[test]
fn a_file_of_tests_that_is_reported_alone_was_ended_from_within() {
    let stage = Stage::installed();
    let run = |file: &str| {
        stage.write("a.test.js", file);
        stage.write("check.sh", "printf 'TAP version 13\\nok 1 - %s/a.test.js\\n1..1\\n' \"$(pwd -P)\"\n");
        stage.andon(&["test"])
    };
    run("console.log('a script without tests');\n").ok().says("ok 1 - ").lacks("is reported");
    let declares = "const {test} = require('node:test');\ntest('a', () => process.exit(0));\n";
    run(declares).says("no test of a.test.js is reported").says("does not count as passed");
}
