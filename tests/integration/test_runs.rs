//! Runs of the tests that say less than they seem to: without their report, cut to a part, flaky.

use insta::assert_snapshot;

use crate::{handed_in_runs::ALL_PASS, support::Stage};

/// A `pytest` that writes the report that it is asked for, and says so as the real one does.
const PYTEST: &str = r#"#!/bin/sh
echo "collected 2 items"
report=
for word; do
  case "$word" in --junitxml=*) report=${word#--junitxml=} ;; esac
done
echo "--- a rule ---"
if [ -n "$report" ]; then
  printf '<testsuite name="pytest" tests="2"><testcase classname="t" name="a"/><testcase classname="t" name="b"><failure message="no"/></testcase></testsuite>' > "$report"
  echo "----- generated xml file: $report -----"
fi
printf 'the end, without a line end'
exit 1
"#;

#[test]
fn a_runner_preset_adds_a_report_and_changes_nothing_to_see() {
    let stage = Stage::installed();
    stage.write("bin/pytest", PYTEST);
    let configure = |more: &str| {
        stage.write("andon.toml", format!("[test]\ncommand = [\"sh\", \"bin/pytest\", \"-q\"]\n{more}"));
        stage.andon(&["test"])
    };
    let plain = configure("").exits(1);
    let helped = configure("runner = \"pytest\"\n").exits(1);
    assert_eq!(
        (&plain.stdout, plain.code),
        (&helped.stdout, helped.code),
        "neither output nor exit code changes"
    );
    assert_eq!(helped.stderr, "");
    let plain = plain.says("no test report was recognised");
    assert_eq!(plain.stderr.lines().count(), 3, "{plain}");
    stage.commit_of(".", "Two");
    let tests = &stage.record("HEAD")["tests"];
    assert_eq!(tests["runner"], "junit");
    assert_eq!(tests["failing"], serde_json::json!(["t::b"]));
    assert_eq!(tests["command"], "sh bin/pytest -q", "the recorded command stays the configured one");
    let left = std::fs::read_dir(stage.path(".git/andon")).unwrap().flatten();
    assert!(left.map(|entry| entry.file_name()).all(|name| !name.to_string_lossy().starts_with("run-")));
}

#[test]
fn a_runner_that_ends_well_without_its_report_proves_nothing() {
    let stage = Stage::installed();
    stage.write("bin/pytest", "exit 0\n");
    stage.write("andon.toml", "[test]\ncommand = [\"sh\", \"bin/pytest\"]\nrunner = \"pytest\"\n");
    assert_snapshot!(stage.andon(&["test"]).shown(), @r#"
    exit 0
    --- stderr
    warning: the run ended without the report that test.runner asked for
    warning[test-run]: no test is named in the output of `sh bin/pytest`; the run does not count as passed
      help: have the runner write a report, and name it in andon.toml:  [test]  reports = ["report.xml"]
      help: if its exit code is all there is to know, add to andon.toml:  [test]  format = "exit"
    "#);
    stage.git(&["add", "."]).ok();
    assert_snapshot!(stage.git(&["commit", "-qm", "Two"]).shown(), @"
    exit 1
    --- stderr
    error[untested-edit]: commit refused: the test command ran on this code and named no test
      help: andon test
    ");
}

#[test]
fn one_run_read_in_two_forms_makes_no_test_flaky() {
    let stage = Stage::installed();
    stage.write("bin/pytest", PYTEST);
    stage.write("t.tap", "1..2\nok 1 - a\nnot ok 2 - b\n");
    let configure = |more: &str| {
        let command = "[test]\ncommand = \"cat t.tap; sh bin/pytest --junitxml=r.xml\"\n";
        stage.write("andon.toml", format!("{command}{more}[paths]\nignore = [\"r.xml\"]\n"));
        stage.andon(&["test"]).exits(1)
    };
    configure("format = \"tap\"\n").lacks("flaky");
    configure("format = \"junit\"\nreports = [\"r.xml\"]\n").lacks("flaky");
}

#[test]
fn what_only_the_exit_code_tells_is_shown_as_that_and_a_missing_program_is_explained() {
    let stage = Stage::installed();
    stage.write("andon.toml", "[test]\ncommand = \"true\"\nformat = \"exit\"\n");
    stage.andon(&["test"]).ok();
    stage.andon(&["status"]).ok().says("passed, by its exit code alone").lacks("0 passed");
    stage.write("andon.toml", "[test]\ncommand = [\"no-such-program-anywhere\"]\n");
    assert_snapshot!(stage.andon(&["test"]).lacks("\\n").brief(), @"exit 127, stderr: error: no-such-program-anywhere: command not found");
}

#[test]
fn a_passing_run_of_a_part_of_the_tests_is_named_or_refused() {
    let stage = Stage::installed();
    let part =
        "[test]\ncommand = 'grep \"${ONLY:-.}\" tests.txt; echo 1..$(grep -c \"${ONLY:-.}\" tests.txt)'\n";
    stage.write("andon.toml", part);
    stage.andon(&["test"]).ok().lacks("warning");
    stage.steps("git commit -qam 'Let tests be chosen'; echo two > code.txt");
    stage.set("ONLY", "a");
    let said = stage.andon(&["test"]).shown();
    assert_snapshot!(said, @"
    exit 0
    --- stdout
    ok a
    1..1
    --- stderr
    warning[test-run]: 1 of 2 tests ran that the last full run had; the run counts all the same (test.full = true refuses it)
      help: run them all: andon test
    ");
    stage.andon(&["status"]).ok().says("1 of 2 tests ran");
    stage.git(&["commit", "-qam", "Two"]).ok();
    assert_eq!(stage.record("HEAD")["tests"]["full_run"], 2);
    assert_snapshot!(stage.andon(&["log"]).shown(), @"
    exit 0
    --- stdout
       3  HASH  1 pass        +1 -1        [part of the tests] Two
          warning[test-weakening]: 1 test missing in this run (b); the tests that ran went 2 -> 1
       2  HASH  2 pass        ignored      Let tests be chosen
       1  HASH  2 pass        +15 -0       Start
    ");
    // It stays a part, however often it is repeated.
    assert_eq!(stage.andon(&["test"]).shown(), said);
    stage.write("andon.toml", format!("{part}full = true\n"));
    stage.write("code.txt", "three\n");
    assert_snapshot!(stage.andon(&["test"]).shown(), @"
    exit 0
    --- stdout
    ok a
    1..1
    --- stderr
    warning[test-run]: 1 of 2 tests ran that the last full run had; the run proves nothing
      help: run them all: andon test
    ");
    assert_snapshot!(stage.git(&["commit", "-qam", "Full"]).shown(), @"
    exit 1
    --- stderr
    error[untested-edit]: commit refused: the run on this code ran 1 of the 2 tests that the last full run had
      help: andon test
    ");
    stage.unset("ONLY");
    stage.andon(&["test"]).ok().lacks("warning");
    stage.git(&["commit", "-qam", "Full"]).ok();
    assert!(stage.record("HEAD")["tests"].get("full_run").is_none());
}

#[test]
fn fewer_tests_after_tests_were_deleted_are_no_part() {
    let stage = Stage::installed();
    let tests = |names: &[&str]| -> String {
        names.iter().map(|name| format!("def test_{name}():\n    assert {name}()\n\n")).collect()
    };
    stage.write("test_x.py", tests(&["a", "b"]));
    stage.write(
        "andon.toml",
        "[test]\ncommand = 'echo 1..$(grep -c def test_x.py); grep def test_x.py | sed \"s/^/ok - /\"'\n",
    );
    stage.steps("andon test; git add .; git commit -qm Python");
    stage.write("test_x.py", tests(&["a"]));
    stage.andon(&["test"]).ok().lacks("tests ran");
    let out = stage.git(&["commit", "-qam", "One less"]).ok();
    out.says("1 test removed (test_b); the tests that ran went 2 -> 1");
}

#[test]
fn flaky_tests_make_a_loop_neither_stuck_nor_better() {
    let stage = Stage::installed();
    let both = &["not ok a", "not ok f"][..];
    let one = &["not ok a", "ok f"][..];
    // The results live where they are no code: the same code gives both.
    stage.write(
        "andon.toml",
        "[test]\ncommand = \"sh check.sh\"\n[paths]\ndocs = []\nignore = [\"tests.txt\"]\n",
    );
    stage.write("code.txt", "one\n");
    stage.tests(both);
    stage.andon(&["test"]);
    stage.tests(one);
    assert_snapshot!(stage.andon(&["test"]).shown(), @"
    exit 1
    --- stdout
    1..2
    not ok 1 - a
    ok 2 - f
    --- stderr
    note[test-run]: flaky: the same code gave other results before for f
      help: andon status
    ");
    stage.git(&["commit", "-qam", "Set out"]).ok();
    assert_eq!(stage.record("HEAD")["tests"]["flaky_tests"], serde_json::json!(["f"]));
    // 2 -> 1 -> 2 -> 1 by the flaky one: `a` fails all along, and that is what is said.
    stage.iterate("two\n", both, "Two").ok();
    let out = stage.iterate("three\n", one, "Three");
    assert_snapshot!(out.shown());
    out.lacks("f and");
    stage.andon(&["status"]).ok().says("1 -> 1 -> 1").says("flaky");
    assert!(stage.read(".andon/CHECKPOINT.md").contains("Flaky"));
    assert_snapshot!(stage.andon(&["log"]).shown(), @"
    exit 0
    --- stdout
          -- TIME HALTED: the loop is stuck on 1 failing test (repeated-failures)
             the same test failed 3 times in a row although the code changed each time: a
       4  HASH  1/2 fail      +1 -1        [flaky tests] Three
          error[repeated-failures]: the same test failed 3 times in a row although the code changed e...
          error[consecutive-failures]: tests failed 3 times in a row
       3  HASH  2/2 fail      +1 -1        [flaky tests] Two
       2  HASH  1/2 fail      +1 -1        [flaky tests] Set out
       1  HASH  2 pass        +15 -0       Start
    ");
    stage.andon(&["show"]).ok().says("flaky: f");
    stage.andon(&["check", "HEAD~2..HEAD"]).lacks("unrecorded");
}

#[test]
fn a_test_that_is_only_flaky_does_not_stop_a_loop() {
    let stage = Stage::installed();
    stage.write(
        "andon.toml",
        "[test]\ncommand = \"sh check.sh\"\n[paths]\ndocs = []\nignore = [\"tests.txt\"]\n",
    );
    stage.tests(&["not ok f", "ok a"]);
    stage.andon(&["test"]);
    stage.tests(&["ok f", "ok a"]);
    stage.tested_commit("-qam", "Set out");
    for step in ["two", "three", "four", "five", "six"] {
        let said = stage.iterate(&format!("{step}\n"), &["not ok f", "ok a"], step).ok();
        let said = said.says("failing-tests").says("flaky: f").lacks("repeated-failures");
        said.lacks("consecutive-failures");
    }
    assert_snapshot!(stage.andon(&["complete"]).shown(), @"
    exit 1
    --- stdout
      code modified  no
      tests run      yes
      tests passing  no: 1 of 2 tests of this code fails
      docs updated   not known
    error[failing-tests]: 1 of 2 tests fails: f (flaky: f)
      help: fix what fails, then: andon test
    1 of 2 tests of this code fails; fix them, then run: andon test
    the task cannot be completed
    ");
}

#[test]
fn a_report_that_a_run_leaves_behind_is_not_its_code() {
    let stage = Stage::installed();
    let suite = format!("cat > out.xml <<'X'\n{ALL_PASS}\nX\n");
    stage.write("check.sh", &suite);
    stage.write("andon.toml", "[test]\ncommand = \"sh check.sh\"\nreports = [\"*.xml\"]\n");
    stage.git(&["add", "-A"]).ok();
    stage.andon(&["test"]).ok().lacks("changed");
    assert!(stage.path("out.xml").exists());
    stage.git(&["commit", "-qm", "Write a report"]).ok();
    assert_eq!(stage.record("HEAD")["tests"]["status"], "passed");
    stage.andon(&["complete"]).ok();
}

#[test]
fn files_that_change_during_a_run_are_named() {
    let stage = Stage::installed();
    stage.write("check.sh", "echo lock > new.txt; echo 1..1; echo ok 1\n");
    stage.write("andon.toml", "[test]\ncommand = \"sh check.sh\"\n");
    assert_snapshot!(stage.andon(&["test"]).brief(), @"
    exit 0, stdout: 1..1
    ok 1
    stderr: warning: written by this run, such as a new snapshot, so that it needs one more: new.txt (andon test; or, if it is no code, name it in .gitignore or paths.ignore)
    warning[test-run]: the code changed while the tests ran; the run proves nothing
    ");
    stage.andon(&["test"]).ok().lacks("changed");
}
