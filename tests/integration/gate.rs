//! Tests after edits, by content: what passes the gate and what the refusal says.

use crate::support::{Stage, andon_path};

#[test]
fn an_untested_edit_is_refused_and_a_tested_one_passes() {
    let stage = Stage::installed();
    stage.write("code.txt", "two\n");
    stage
        .git(&["commit", "-qam", "Two"])
        .refused()
        .says("error[untested-edit]")
        .says("code.txt")
        .says("andon test");
    stage.andon(&["test"]).ok();
    stage.git(&["commit", "-qam", "Two"]).ok().lacks("untested");
    assert_eq!(stage.record("HEAD")["gate"], "passed");
    assert_eq!(stage.record("HEAD")["tests"]["status"], "passed");
}

#[test]
fn the_first_commit_of_a_repository_is_gated_too() {
    let stage = Stage::new();
    stage.write("andon.toml", "[test]\ncommand = \"true\"\n");
    stage.andon(&["install"]).ok();
    stage.write("a", "1");
    stage.git(&["add", "."]).ok();
    stage.git(&["commit", "-qm", "First"]).refused().says("untested-edit").says("never");
    stage.andon(&["test"]).ok();
    stage.git(&["commit", "-qm", "First"]).ok();
    assert!(stage.record("HEAD").get("parent").is_none());
}

#[test]
fn tests_on_other_code_do_not_count() {
    let stage = Stage::installed();
    stage.write("code.txt", "two\n");
    stage.andon(&["test"]).ok();
    stage.write("code.txt", "three\n");
    stage.git(&["commit", "-qam", "Three"]).refused().says("code.txt");
    // Back to what was tested: no clock and no mtime is asked.
    stage.write("code.txt", "two\n");
    stage.git(&["commit", "-qam", "Two"]).ok();
}

#[test]
fn a_difference_of_unstaged_work_only_is_named_so() {
    let stage = Stage::installed();
    stage.write("other.txt", "other\n");
    stage.git(&["add", "other.txt"]).ok();
    stage.write("code.txt", "unstaged\n");
    stage.andon(&["test"]).ok();
    stage.git(&["commit", "-qm", "Other"]).refused().says("code.txt").says("staged");
    stage.git(&["stash", "-q", "-k"]).ok();
    stage.andon(&["test"]).ok();
    stage.git(&["commit", "-qm", "Other"]).ok();
}

#[test]
fn an_untracked_file_that_the_tests_saw_is_named() {
    let stage = Stage::installed();
    stage.write("code.txt", "two\n");
    stage.write("new.txt", "new\n");
    stage.andon(&["test"]).ok();
    stage.git(&["commit", "-qam", "Two"]).refused().says("new.txt");
    stage.git(&["add", "."]).ok();
    stage.git(&["commit", "-qm", "Two"]).ok();
}

#[test]
fn failing_tests_warn_at_commit_and_block_at_push_and_completion() {
    let stage = Stage::installed();
    stage.git(&["init", "-q", "--bare", "../remote.git"]).ok();
    stage.git(&["remote", "add", "origin", "../remote.git"]).ok();
    stage.git(&["push", "-q", "origin", "main"]).ok();
    stage.iterate("two\n", &["ok a", "not ok b"], "Two").ok().says("warning[failing-tests]");
    stage
        .git(&["push", "-q", "origin", "main"])
        .refused()
        .says("error[failing-tests]")
        .says("refs/heads/main");
    stage.andon(&["complete"]).exits(1).says("andon test");
    stage.iterate("three\n", &["ok a", "ok b"], "Three").ok().lacks("failing-tests");
    stage.git(&["push", "-q", "origin", "main"]).ok();
    stage.andon(&["complete"]).exits(0);
    // Notes and tags are nobody's code.
    stage.git(&["push", "-q", "origin", "refs/notes/andon"]).ok();
}

#[test]
fn zero_tests_prove_nothing() {
    let stage = Stage::installed();
    stage.write("code.txt", "two\n");
    stage.write("tests.txt", "");
    stage.andon(&["test"]).says("not one test ran");
    stage.git(&["commit", "-qam", "Two"]).refused().says("untested-edit");
}

#[test]
fn another_command_proves_nothing() {
    let stage = Stage::installed();
    stage.write("code.txt", "two\n");
    stage.andon(&["test", "--", "echo", "1..1", "ok 1"]).ok().says("not the configured");
    stage.git(&["commit", "-qam", "Two"]).refused().says("untested-edit");
}

#[test]
fn code_that_changes_during_the_run_proves_nothing() {
    let stage = Stage::installed();
    stage.write("andon.toml", "[test]\ncommand = \"sh check.sh; echo changed >> code.txt\"\n");
    stage.write("code.txt", "two\n");
    stage.andon(&["test"]).ok().says("changed while the tests ran");
    stage.write("code.txt", "two\n");
    stage.git(&["commit", "-qam", "Two"]).refused().says("untested-edit");
}

#[test]
fn documentation_needs_no_tests() {
    let stage = Stage::installed();
    stage.write("README.md", "# Words\n");
    stage.write("docs/guide.txt", "more words\n");
    stage.write("run.log", "noise\n");
    stage.git(&["add", "."]).ok();
    stage.git(&["commit", "-qm", "Document"]).ok().lacks("untested");
    let record = stage.record("HEAD");
    assert_eq!(record["code"], stage.record("HEAD~1")["code"]);
    assert_eq!(record["diff"]["files"], 2, "the ignored log is no part of the diff");
}

#[test]
fn commit_a_commit_file_and_commit_p_judge_what_is_committed() {
    let stage = Stage::installed();
    // commit -a: git hands over index.lock.
    stage.write("code.txt", "two\n");
    stage.andon(&["test"]).ok();
    stage.git(&["commit", "-qam", "All"]).ok();
    // commit FILE: another index again; the other edit stays out, so what is committed was not tested.
    stage.write("code.txt", "three\n");
    stage.write("tests.txt", "ok a\nok b\nok c\n");
    stage.andon(&["test"]).ok();
    stage.git(&["commit", "-qm", "One file", "code.txt"]).refused().says("tests.txt");
    stage.git(&["checkout", "-q", "tests.txt"]).ok();
    stage.andon(&["test"]).ok();
    stage.write("tests.txt", "ok a\nok b\nok c\n");
    stage.git(&["commit", "-qm", "One file", "code.txt"]).ok();
    stage.git(&["checkout", "-q", "tests.txt"]).ok();
    // commit -p: one hunk of two.
    let long: String = (0..40).map(|line| format!("{line}\n")).collect();
    stage.write("code.txt", &long);
    stage.andon(&["test"]).ok();
    stage.git(&["commit", "-qam", "Long"]).ok();
    stage.write("code.txt", long.replace("\n5\n", "\nfive\n").replace("\n35\n", "\nthirty-five\n"));
    stage.andon(&["test"]).ok();
    let dir = stage.dir().to_owned();
    stage
        .run_in(&dir, "git", &["commit", "-qpm", "Half"], Some(b"y\nn\n"))
        .refused()
        .says("code.txt")
        .says("staged");
    stage.run_in(&dir, "git", &["commit", "-qpm", "Whole"], Some(b"y\ny\n")).ok();
}

#[test]
fn a_broken_configuration_refuses_and_names_the_line() {
    let stage = Stage::installed();
    stage.write("andon.toml", "[test]\ncommand = \"true\"\n[rules]\nuntested-edits = \"off\"\n");
    stage.write("code.txt", "two\n");
    stage
        .git(&["commit", "-qam", "Two"])
        .refused()
        .says("andon.toml:4")
        .says("untested-edits")
        .says("did you mean")
        .says("untested-edit");
    stage.andon(&["status"]).exits(2);
}

#[test]
fn without_a_test_command_an_edit_warns_and_says_how_to_set_one() {
    let stage = Stage::new();
    stage.andon(&["install"]).ok();
    stage.write("a", "1");
    stage.git(&["add", "."]).ok();
    stage
        .git(&["commit", "-qm", "First"])
        .ok()
        .says("warning[untested-edit]")
        .says("test")
        .says("andon.toml");
}

#[test]
fn andon_0_switches_everything_off_byte_for_byte() {
    let stage = Stage::installed();
    let snapshot = |stage: &Stage| {
        let files = stage.run_in(stage.dir(), "sh", &["-c", "find .git/andon .andon .git/refs/notes .git/refs/andon -type f -exec sha256sum {} + 2>/dev/null | sort"], None);
        files.stdout
    };
    let before = snapshot(&stage);
    assert!(!before.is_empty());
    stage.set("ANDON", "0");
    stage.write("code.txt", "two\n");
    let out = stage.git(&["commit", "-qam", "Off"]).ok();
    assert_eq!(out.all(), "");
    assert_eq!(snapshot(&stage), before);
    stage.unset("ANDON");
    stage.git(&["notes", "--ref=andon", "show", "HEAD"]).refused();
}

#[test]
fn junit_reports_are_read_and_stale_ones_are_not() {
    let stage = Stage::installed();
    let report = "<testsuite name='s' tests='2'><testcase name='a'/><testcase name='b'/></testsuite>";
    stage.write("report.txt", report);
    stage.write(".gitignore", "out/\n");
    let config = |command: &str| format!("[test]\ncommand = \"{command}\"\nreports = [\"out/**/*.xml\"]\n");
    stage.write("andon.toml", config("mkdir -p out/deep && cp report.txt out/deep/junit.xml"));
    stage.git(&["add", "."]).ok();
    stage.andon(&["test"]).ok();
    stage.git(&["commit", "-qm", "With a report"]).ok();
    assert_eq!(stage.record("HEAD")["tests"]["runner"], "junit");
    assert_eq!(stage.record("HEAD")["tests"]["passed"], 2);
    // The report of the last run is there; a run that writes none has shown nothing.
    stage.write("andon.toml", config("true"));
    stage.write("code.txt", "two\n");
    stage.andon(&["test"]).ok().says("out/deep/junit.xml").says("not one test ran");
    stage.git(&["commit", "-qam", "Without"]).refused().says("untested-edit");
}

/// The command's first act: whatever moment that is for us, the signal is passed on, and the run is kept.
#[test]
fn termination_in_the_moment_of_the_start_reaches_the_tests_too() {
    let stage = Stage::installed();
    let line = "trap 'echo told; exit 7' TERM; kill -TERM $PPID; while :; do sleep 0.02; done";
    stage.write("andon.toml", format!("[test]\ncommand = \"{line}\"\n"));
    stage.write("code.txt", "one\n");
    stage.git(&["add", "."]).ok();
    for _ in 0..5 {
        assert_eq!(stage.andon(&["test"]).says("told").code, 7);
    }
    stage.git(&["commit", "-qm", "Stopped"]).refused().says("untested-edit").says("interrupted");
}

#[test]
fn termination_reaches_the_tests_and_the_run_proves_nothing() {
    let stage = Stage::installed();
    stage.write("andon.toml", "[test]\ncommand = \"touch started; exec sleep 30\"\n");
    stage.write(".gitignore", "started\n");
    stage.write("code.txt", "one\n");
    stage.git(&["add", "."]).ok();
    let mut child = stage.command(stage.dir(), andon_path()).arg("test").spawn().unwrap();
    while !stage.exists("started") {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    stage.run_in(stage.dir(), "kill", &["-TERM", &child.id().to_string()], None).ok();
    assert_eq!(child.wait().unwrap().code(), Some(128 + 15));
    stage.git(&["commit", "-qm", "Stopped"]).refused().says("untested-edit").says("interrupted");
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
