//! Runs of the tests that are not what they seem: handed in, cut to a part, weakened, flaky.

use crate::support::Stage;

const ONE_FAILS: &str = "<testsuite name='s' tests='2'><testcase classname='s' name='a'/><testcase classname='s' \
                         name='b'><failure message='no'/></testcase></testsuite>";
const ALL_PASS: &str = "<testsuite name='s' tests='2'><testcase classname='s' name='a'/><testcase classname='s' \
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
    hand_in(&stage, ONE_FAILS, "1", &["--command", "sh check.sh"])
        .ok()
        .says("handed-in test run")
        .says("1 of 2 failing")
        .says("proves nothing");
    stage.andon(&["status"]).ok().says("handed in").says("proves nothing");
    stage
        .git(&["commit", "-qam", "Two"])
        .refused()
        .says("error[untested-edit]")
        .says("handed in")
        .says("handed_in = \"count\"");
    stage.andon(&["complete"]).exits(1);
    stage.andon(&["test"]).ok();
    stage.git(&["commit", "-qam", "Two"]).ok();
    assert!(stage.record("HEAD")["tests"].get("handed_in").is_none());
}

#[test]
fn a_handed_in_run_counts_where_the_project_says_so_and_stays_marked() {
    let stage = Stage::installed();
    stage.write("andon.toml", "[test]\ncommand = \"sh check.sh\"\nhanded_in = \"count\"\n");
    stage.andon(&["test"]).ok();
    stage.git(&["commit", "-qam", "Let runs be handed in"]).ok().lacks("handed in:");
    stage.write("code.txt", "two\n");
    hand_in(&stage, ONE_FAILS, "1", &[]).ok().says("counts as a run of test.command");
    stage.git(&["commit", "-qam", "Two"]).ok().says("warning[failing-tests]").says("note[handed-in]");
    let record = stage.record("HEAD");
    assert_eq!(record["tests"]["handed_in"], true);
    assert_eq!(record["tests"]["status"], "failed");
    assert_eq!(record["tests"]["failing"], serde_json::json!(["s::b"]));
    stage.andon(&["log"]).ok().says("tests handed in");
    stage.andon(&["show"]).ok().says("(handed in)");
    stage.andon(&["status"]).ok().says("(handed in)");
    stage.andon(&["check", "HEAD~1..HEAD"]).exits(1).says("handed-in-tests");
    // The base decides: where it does not let them count, they do not.
    stage.andon(&["check", "HEAD~2..HEAD"]).exits(1).says("untested-code").says("handed in");

    // One that names another command never counts.
    stage.write("code.txt", "three\n");
    hand_in(&stage, ALL_PASS, "0", &["--command", "true"]).ok().says("not of test.command");
    stage.git(&["commit", "-qam", "Three"]).refused().says("another command");
    // Several reports of one run, and an exit code that no case explains.
    std::fs::write(stage.root().join("s.xml"), ALL_PASS).unwrap();
    hand_in(&stage, ALL_PASS, "1", &["--report", "../s.xml", "--format", "json"])
        .ok()
        .says("\"status\":\"runner_error\"")
        .says("\"total\":4");
}

#[test]
fn a_handed_in_run_is_bound_to_the_code_that_it_names() {
    let stage = Stage::installed();
    stage.write("andon.toml", "[test]\ncommand = \"sh check.sh\"\nhanded_in = \"count\"\n");
    stage.write("code.txt", "two\n");
    let status: serde_json::Value =
        serde_json::from_str(&stage.andon(&["status", "--format", "json"]).ok().stdout).unwrap();
    let code = status["code"]["work_tree"].as_str().unwrap().to_owned();
    assert_ne!(status["code"]["head"], status["code"]["work_tree"]);
    // An orchestrator tested a checkout of this code elsewhere, while here the work went on.
    stage.write("code.txt", "three\n");
    hand_in(&stage, ALL_PASS, "0", &["--code", &code]).ok();
    stage.git(&["commit", "-qam", "Three"]).refused().says("other code").lacks("check.sh");
    stage.write("code.txt", "two\n");
    stage.git(&["commit", "-qam", "Two"]).ok().says("note[handed-in]");
    assert_eq!(stage.record("HEAD")["tests"]["code"], code.as_str());
}

#[test]
fn what_is_handed_in_wrongly_is_a_mistake_of_use() {
    let stage = Stage::installed();
    hand_in(&stage, ALL_PASS, "0", &["--code", "abc"]).exits(2).says("not a code fingerprint: abc");
    stage
        .andon(&["observe", "test_run", "--report", "nowhere.xml", "--exit-code", "0"])
        .exits(2)
        .says("nowhere.xml cannot be read");
    stage.andon(&["observe", "test_run"]).exits(2).says("--exit-code");
    let cut = "<testsuite><testcase name='a'>";
    hand_in(&stage, cut, "0", &[]).ok().says("../r.xml").says("the report is incomplete");
    hand_in(&stage, ALL_PASS, "-1", &[]).ok().says("runner failed");
}

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
    assert_eq!(plain, helped, "neither stream nor the exit code changes");
    stage.git(&["add", "."]).ok();
    stage.git(&["commit", "-qm", "Two"]).ok();
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
    stage.andon(&["test"]).ok().says("without the report that test.runner asked for").says("cut short");
    stage.git(&["add", "."]).ok();
    stage.git(&["commit", "-qm", "Two"]).refused().says("error[untested-edit]");
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
    stage.write("andon.toml", "[test]\ncommand = \"true\"\n");
    stage.andon(&["test"]).ok();
    stage.andon(&["status"]).ok().says("passed, by its exit code alone").lacks("0 passed");
    stage.write("andon.toml", "[test]\ncommand = [\"no-such-program-anywhere\"]\n");
    stage
        .andon(&["test"])
        .exits(127)
        .says("error: no-such-program-anywhere: command not found\n  help: install it")
        .lacks("\\n");
}

#[test]
fn a_passing_run_of_a_part_of_the_tests_is_named_or_refused() {
    let stage = Stage::installed();
    let part =
        "[test]\ncommand = 'grep \"${ONLY:-.}\" tests.txt; echo 1..$(grep -c \"${ONLY:-.}\" tests.txt)'\n";
    stage.write("andon.toml", part);
    stage.andon(&["test"]).ok().lacks("warning");
    stage.git(&["commit", "-qam", "Let tests be chosen"]).ok();
    stage.write("code.txt", "two\n");
    stage.set("ONLY", "a");
    stage.andon(&["test"]).ok().says("1 of 2 tests ran").says("test.full");
    stage.andon(&["status"]).ok().says("1 of 2 tests ran");
    stage.git(&["commit", "-qam", "Two"]).ok();
    assert_eq!(stage.record("HEAD")["tests"]["full_run"], 2);
    stage.andon(&["log"]).ok().says("part of the tests");
    // It stays a part, however often it is repeated.
    stage.andon(&["test"]).ok().says("1 of 2 tests ran");
    stage.write("andon.toml", format!("{part}full = true\n"));
    stage.write("code.txt", "three\n");
    stage.andon(&["test"]).ok().says("proves nothing");
    stage.git(&["commit", "-qam", "Full"]).refused().says("ran 1 of the 2 tests");
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
    stage.andon(&["test"]).ok();
    stage.git(&["add", "."]).ok();
    stage.git(&["commit", "-qm", "Python"]).ok();
    stage.write("test_x.py", tests(&["a"]));
    stage.andon(&["test"]).ok().lacks("tests ran");
    stage.git(&["commit", "-qam", "One less"]).ok().lacks("test-weakening");
}

#[test]
fn flaky_tests_make_a_loop_neither_stuck_nor_better() {
    let stage = Stage::installed();
    let both = &["not ok a", "not ok f"][..];
    let one = &["not ok a", "ok f"][..];
    // The results live where they are no code: the same code gives both.
    stage.write("andon.toml", "[test]\ncommand = \"sh check.sh\"\n[paths]\nignore = [\"tests.txt\"]\n");
    stage.write("code.txt", "one\n");
    stage.tests(both);
    stage.andon(&["test"]);
    stage.tests(one);
    stage.andon(&["test"]).exits(1).says("flaky").says("for f");
    stage.git(&["commit", "-qam", "Set out"]).ok();
    assert_eq!(stage.record("HEAD")["tests"]["flaky_tests"], serde_json::json!(["f"]));
    // 2 -> 1 -> 2 -> 1 by the flaky one: `a` fails all along, and that is what is said.
    stage.iterate("two\n", both, "Two").ok();
    let out = stage.iterate("three\n", one, "Three").says("repeated-failures");
    let out = out.says("the same 1 test failed in 3 iterations running").lacks("f and");
    assert!(out.all().contains(": a"), "{out}");
    stage.andon(&["status"]).ok().says("1 -> 1 -> 1").says("flaky");
    assert!(stage.read(".andon/CHECKPOINT.md").contains("Flaky"));
    stage.andon(&["log"]).ok().says("flaky tests");
    stage.andon(&["show"]).ok().says("flaky: f");
    stage.andon(&["check", "HEAD~2..HEAD"]).lacks("unrecorded");
}

#[test]
fn a_test_that_is_only_flaky_does_not_stop_a_loop() {
    let stage = Stage::installed();
    stage.write("andon.toml", "[test]\ncommand = \"sh check.sh\"\n[paths]\nignore = [\"tests.txt\"]\n");
    stage.tests(&["not ok f", "ok a"]);
    stage.andon(&["test"]);
    stage.tests(&["ok f", "ok a"]);
    stage.andon(&["test"]).ok();
    stage.git(&["commit", "-qam", "Set out"]).ok();
    for step in ["two", "three", "four", "five", "six"] {
        stage
            .iterate(&format!("{step}\n"), &["not ok f", "ok a"], step)
            .ok()
            .says("failing-tests")
            .says("flaky: f")
            .lacks("repeated-failures")
            .lacks("consecutive-failures");
    }
    stage.andon(&["complete"]).exits(1).says("flaky: f");
}

/// A stage whose tests are those of `test_x.py`: one that says `broken` fails, one marked skip is skipped.
fn python() -> Stage {
    let stage = Stage::installed();
    stage.write("run.sh", RUN);
    let rules = "[rules]\nconsecutive-failures = \"off\"\nrepeated-failures = \"off\"\n";
    stage.write("andon.toml", format!("[test]\ncommand = \"sh run.sh\"\n{rules}"));
    stage.write("test_x.py", source(&["a", "b", "c", "broken_d", "broken_e"], ""));
    stage.git(&["add", "."]).ok();
    stage.andon(&["test"]).exits(1);
    stage.git(&["commit", "-qm", "Python"]).ok();
    assert_eq!(stage.record("HEAD")["tests"]["failed"], 2);
    stage
}

const RUN: &str = r#"echo "1..$(grep -c 'def test' test_x.py)"
code=0
grep -B1 'def test' test_x.py | while read -r word name rest; do
  case "$word" in
    @*) skip=" # SKIP" ;;
    def) case "$name" in *broken*) echo "not ok - $name$skip" ;; *) echo "ok - $name$skip" ;; esac; skip= ;;
  esac
done
! grep -q 'def test_broken' test_x.py
"#;

fn source(names: &[&str], mark: &str) -> String {
    let test = |name: &&str| {
        let mark = if mark == *name { "@pytest.mark.skip\n" } else { "\n" };
        format!(
            "{mark}def test_{name}():\n    value = {name}(1)\n    assert value == '{name}'\n    assert value\n\n"
        )
    };
    names.iter().map(test).collect()
}

#[test]
fn tests_that_go_while_others_fail_earn_no_credit_and_are_named() {
    let stage = python();
    stage.write("test_x.py", source(&["a", "b", "c", "broken_d"], ""));
    stage.andon(&["test"]).exits(1);
    stage
        .git(&["commit", "-qam", "Tidy"])
        .ok()
        .says("warning[test-weakening]")
        .says("2 -> 1 failing while the tests that ran went 5 -> 4")
        .says("1 test removed (test_broken_e)")
        .says("no credit");
    assert_eq!(stage.record("HEAD")["weakening"]["removed"], serde_json::json!(["test_broken_e"]));
    stage.andon(&["show"]).ok().says("removed: test_broken_e");
    stage.andon(&["log"]).ok().says("tests weakened");
    stage.andon(&["check", "HEAD~1..HEAD"]).says("test-weakening").says("test_broken_e");

    // A record that keeps silent about it is no way around: the commit itself tells.
    stage.git(&["commit", "-q", "--amend", "-m", "Tidy\n\nTests-Removed: the feature is gone"]).ok();
    let record = stage.record("HEAD");
    assert_eq!(record["weakening"]["waiver"], "the feature is gone");
    stage.andon(&["status"]).ok().says("waived by Tests-Removed: the feature is gone");
    stage.andon(&["log"]).ok().says("tests removed, waived");
    stage.andon(&["show"]).ok().says("Tests-Removed: the feature is gone");
    stage.andon(&["check", "HEAD~1..HEAD"]).says("waived by Tests-Removed: the feature is gone");
}

#[test]
fn renamed_and_moved_tests_are_not_gone_and_skipped_ones_are_named() {
    let stage = python();
    let renamed =
        source(&["a", "b", "c", "broken_d", "broken_e"], "").replace("def test_a", "def test_first");
    stage.write("test_x.py", renamed);
    stage.andon(&["test"]).exits(1);
    stage.git(&["commit", "-qam", "Rename"]).ok().lacks("test-weakening");
    stage.write("test_x.py", source(&["a", "b", "c", "broken_d", "broken_e"], "broken_d"));
    stage.andon(&["test"]).exits(1);
    stage.git(&["commit", "-qam", "Skip"]).ok().says("1 test newly skipped (test_broken_d)");
    let loose = source(&["a", "b", "c", "broken_d", "broken_e"], "broken_d")
        .replace("    assert value\n\n\ndef test_b()", "\n\ndef test_b()");
    stage.write("test_x.py", loose);
    stage.andon(&["test"]).exits(1);
    stage.git(&["commit", "-qam", "Loosen"]).ok().says("1 test with fewer assertions (test_a)");
}

#[test]
fn failures_of_a_run_that_nobody_committed_are_open_too() {
    let stage = Stage::installed();
    stage.write("run.sh", RUN);
    stage.write("andon.toml", "[test]\ncommand = \"sh run.sh\"\n");
    stage.write("test_x.py", source(&["a", "b"], ""));
    stage.git(&["add", "."]).ok();
    stage.andon(&["test"]).ok();
    stage.git(&["commit", "-qm", "Python"]).ok();
    stage.write("code.txt", "break b\n");
    stage.write("test_x.py", source(&["a", "b"], "").replace("test_b", "test_broken_b"));
    stage.andon(&["test"]).exits(1);
    stage.write("test_x.py", source(&["a"], ""));
    stage.andon(&["test"]).ok();
    stage.git(&["commit", "-qam", "Green again"]).ok().says("test-weakening").says("test_b");
}

#[test]
fn documentation_goes_with_the_declared_api() {
    let stage = Stage::installed();
    let configure = |level: &str| {
        stage.write(
            "andon.toml",
            format!("[test]\ncommand = \"sh check.sh\"\n[paths]\napi = [\"src/api/**\"]\n[rules]\ndocs-not-updated = \"{level}\"\n"),
        );
    };
    configure("off");
    stage.git(&["commit", "-qam", "Declare the API"]).ok();
    stage.git(&["init", "-q", "--bare", "../remote.git"]).ok();
    stage.git(&["remote", "add", "origin", "../remote.git"]).ok();
    stage.write("src/api/a.rs", "pub fn a() {}\n");
    stage.andon(&["test"]).ok();
    stage.git(&["add", "."]).ok();
    // Uncommitted work counts, and the rule being off does not: the task is not done.
    stage.andon(&["complete"]).exits(1).says("docs updated   no").says("documentation");
    stage.git(&["commit", "-qm", "Add to the API"]).ok().lacks("docs-not-updated");
    let out = stage.andon(&["complete", "--format", "json"]).exits(1);
    let value: serde_json::Value = serde_json::from_str(&out.stdout).unwrap();
    assert_eq!(value["dirty_bits"]["docs_updated"], false);
    assert_eq!(value["dirty_bits"]["tests_passing"], true);
    assert!(value["prompt"].as_str().unwrap().contains("documentation"));
    configure("block");
    stage
        .git(&["push", "-q", "origin", "main"])
        .refused()
        .says("error[docs-not-updated]")
        .says("src/api/a.rs");
    stage.git(&["stash", "-q"]).ok();
    stage.andon(&["check", "HEAD~1..HEAD"]).lacks("docs-not-updated");
    stage.git(&["stash", "pop", "-q"]).ok();
    stage.write("src/api/a.rs", "pub fn a(x: u8) {}\n");
    stage.andon(&["test"]).ok();
    stage.git(&["commit", "-qam", "Change the API"]).refused().says("error[docs-not-updated]");
    stage.write("docs/api.md", "# a\n");
    stage.git(&["add", "."]).ok();
    stage.git(&["commit", "-qm", "Change the API"]).ok();
    stage.andon(&["complete"]).ok().says("docs updated   yes");
    stage.git(&["push", "-q", "origin", "main"]).ok();
    stage.write("src/api/b.rs", "pub fn b() {}\n");
    stage.andon(&["test"]).ok();
    stage.git(&["add", "."]).ok();
    stage.git(&["commit", "-qnm", "Go around"]).ok();
    stage.andon(&["check", "HEAD~1..HEAD"]).exits(1).says("docs-not-updated").says("src/api/b.rs");
}

#[test]
fn what_is_pushed_is_judged_like_a_finished_task() {
    let stage = Stage::installed();
    stage.git(&["init", "-q", "--bare", "../remote.git"]).ok();
    stage.git(&["remote", "add", "origin", "../remote.git"]).ok();
    stage.git(&["push", "-q", "origin", "main"]).ok();
    stage.write("code.txt", "two\n");
    stage.git(&["commit", "-qanm", "Around the gate"]).ok();
    stage.git(&["push", "-q", "origin", "main"]).refused().says("error[untested-edit]").says("andon test");
    stage.andon(&["complete"]).exits(1).says("andon test");
    stage.andon(&["test"]).ok();
    stage.git(&["push", "-q", "origin", "main"]).ok();
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
    stage.write("check.sh", "echo lock > new.lock; echo 1..1; echo ok 1\n");
    stage.write("andon.toml", "[test]\ncommand = \"sh check.sh\"\n");
    stage.andon(&["test"]).ok().says("changed while the tests ran: new.lock (git add it");
    stage.andon(&["test"]).ok().lacks("changed");
}
