//! Tests after edits, by content: what passes the gate and what the refusal says.

use insta::assert_snapshot;

use crate::support::{Stage, andon_path};

/// What is done, the flag of the commit, what its refusal says, and what makes it pass.
const UNTESTED: [(&str, &str, &str, &str); 4] = [
    (
        "echo two > code.txt",
        "-qam",
        "the code changed after the tests ran: code.txt\n  help: andon test",
        "andon test; git commit -qam Two",
    ),
    // Back to what was tested: no clock and no mtime is asked.
    (
        "echo two > code.txt; andon test; echo three > code.txt",
        "-qam",
        "the code changed after the tests ran: code.txt\n  help: andon test",
        "echo two > code.txt; git commit -qam Two",
    ),
    (
        "echo other > other.txt; git add other.txt; echo unstaged > code.txt; andon test",
        "-qm",
        "the tests ran with work that is not part of this commit: code.txt\n  help: git add -- code.txt\n  \
         help: or test exactly what is committed: andon test --staged",
        "git stash -q -k; andon test; git commit -qm Other",
    ),
    (
        "echo two > code.txt; echo new > new.txt; andon test",
        "-qam",
        "the tests ran with work that is not part of this commit: new.txt\n  help: git add -- new.txt\n  \
         help: or test exactly what is committed: andon test --tree HASH",
        "git add .; git commit -qm Two",
    ),
];

#[test]
fn an_edit_that_was_not_tested_as_it_is_committed_is_refused_until_it_is() {
    for (done, flag, said, mended) in UNTESTED {
        let stage = Stage::installed();
        stage.steps(done);
        let refused = format!("exit 1\n--- stderr\nerror[untested-edit]: commit refused: {said}\n");
        assert_eq!(stage.git(&["commit", flag, "No"]).shown(), refused, "{done}");
        stage.steps(mended);
        assert_eq!(stage.record("HEAD")["gate"], "passed", "{done}");
        assert_eq!(stage.record("HEAD")["tests"]["status"], "passed", "{done}");
    }
}

#[test]
fn the_first_commit_of_a_repository_is_gated_too() {
    let stage = Stage::new();
    stage.write("andon.toml", "[test]\ncommand = \"true\"\nformat = \"exit\"\n");
    stage.andon(&["install"]).ok();
    stage.write("a", "1");
    stage.git(&["add", "."]).ok();
    assert_snapshot!(stage.git(&["commit", "-qm", "First"]).shown(), @"
    exit 1
    --- stderr
    error[untested-edit]: commit refused: code changed and its tests never ran on it
      help: andon test
    ");
    stage.tested_commit("-qm", "First");
    assert!(stage.record("HEAD").get("parent").is_none());
}

#[test]
fn failing_tests_warn_at_commit_and_block_at_push_and_completion() {
    let stage = Stage::installed();
    stage.steps("git init -q --bare ../remote.git; git remote add origin ../remote.git");
    stage.steps("git push -q origin main");
    assert_snapshot!(stage.iterate("two\n", &["ok a", "not ok b"], "Two").brief(), @"exit 0, stderr: warning[failing-tests]: 1 of 2 tests fails: b");
    assert_snapshot!(stage.git(&["push", "-q", "origin", "main"]).shown(), @"
    exit 1
    --- stderr
    error[failing-tests]: push refused: refs/heads/main (HASH): 1 of 2 tests fails: b
      help: fix what fails, then: andon test
    error: failed to push some refs to '../remote.git'
    ");
    assert_snapshot!(stage.andon(&["complete"]).shown());
    stage.iterate("three\n", &["ok a", "ok b"], "Three").ok().lacks("failing-tests");
    stage.git(&["push", "-q", "origin", "main"]).ok();
    stage.andon(&["complete"]).exits(0);
    // Notes and tags are no code.
    stage.git(&["push", "-q", "origin", "refs/notes/andon"]).ok();
}

#[test]
fn zero_tests_prove_nothing() {
    let stage = Stage::installed();
    stage.write("code.txt", "two\n");
    stage.write("tests.txt", "");
    assert_snapshot!(stage.andon(&["test"]).shown(), @"
    exit 0
    --- stdout
    1..0
    --- stderr
    warning[test-run]: not one test ran; the run proves nothing
      help: andon config show test
    ");
    assert_snapshot!(stage.git(&["commit", "-qam", "Two"]).shown(), @"
    exit 1
    --- stderr
    error[untested-edit]: commit refused: the test command ran on this code, but not one test ran
      help: andon test
      help: andon config show test
    ");
}

#[test]
fn another_command_proves_nothing() {
    let stage = Stage::installed();
    stage.write("code.txt", "two\n");
    assert_snapshot!(stage.andon(&["test", "--", "echo", "1..1", "ok 1"]).shown(), @"
    exit 0
    --- stdout
    1..1 ok 1
    --- stderr
    warning[test-run]: this is not the configured test.command; the run is kept, and proves nothing
      help: andon test
    ");
    assert_snapshot!(stage.git(&["commit", "-qam", "Two"]).shown(), @"
    exit 1
    --- stderr
    error[untested-edit]: commit refused: the run on this code was of another command: `echo 1..1 'ok 1'` instead of `sh check.sh`
      help: andon test
    ");
}

#[test]
fn code_that_changes_during_the_run_proves_nothing() {
    let stage = Stage::installed();
    stage.write("andon.toml", "[test]\ncommand = \"sh check.sh; echo changed >> code.txt\"\n");
    stage.write("code.txt", "two\n");
    assert_snapshot!(stage.andon(&["test"]).brief(), @"
    exit 0, stdout: 1..2
    ok 1 - a
    ok 2 - b
    stderr: warning: changed while the tests ran: code.txt (stage it, or name it in .gitignore or paths.ignore)
    warning[test-run]: the code changed while the tests ran; the run proves nothing
    ");
    stage.write("code.txt", "two\n");
    assert_snapshot!(stage.git(&["commit", "-qam", "Two"]).shown(), @"
    exit 1
    --- stderr
    error[untested-edit]: commit refused: the code changed while its tests ran, so that run proves nothing
      help: andon test
    ");
}

#[test]
fn documentation_needs_no_tests() {
    let stage = Stage::installed();
    stage.steps("echo # Words > README.md; echo more words > docs/guide.txt; echo noise > run.log");
    stage.steps("git add .");
    stage.git(&["commit", "-qm", "Document"]).ok().lacks("untested");
    let record = stage.record("HEAD");
    assert_eq!(record["code"], stage.record("HEAD~1")["code"]);
    assert_eq!(record["diff"]["files"], 2, "the ignored log is no part of the diff");
}

#[test]
fn commit_a_commit_file_and_commit_p_judge_what_is_committed() {
    let stage = Stage::installed();
    // commit -a: git hands over index.lock.
    stage.steps("echo two > code.txt; andon test; git commit -qam All");
    // commit FILE: another index again; the other edit stays out, so what is committed was not tested.
    stage.write("code.txt", "three\n");
    stage.write("tests.txt", "ok a\nok b\nok c\n");
    stage.andon(&["test"]).ok();
    assert_snapshot!(stage.git(&["commit", "-qm", "One file", "code.txt"]).shown(), @"
    exit 1
    --- stderr
    error[untested-edit]: commit refused: the tests ran with work that is not part of this commit: tests.txt
      help: andon test --tree HASH
    ");
    stage.steps("git checkout -q tests.txt; andon test");
    stage.write("tests.txt", "ok a\nok b\nok c\n");
    stage.steps("git commit -qm 'One file' code.txt; git checkout -q tests.txt");
    // commit -p: one hunk of two.
    let long: String = (0..40).map(|line| format!("{line}\n")).collect();
    stage.write("code.txt", &long);
    stage.tested_commit("-qam", "Long");
    stage.write("code.txt", long.replace("\n5\n", "\nfive\n").replace("\n35\n", "\nthirty-five\n"));
    stage.andon(&["test"]).ok();
    let dir = stage.dir().to_owned();
    stage
        .run_in(&dir, "git", &["commit", "-qpm", "Half"], Some(b"y\nn\n"))
        .refused()
        .says("code.txt")
        .says("help: andon test --tree ");
    stage.run_in(&dir, "git", &["commit", "-qpm", "Whole"], Some(b"y\ny\n")).ok();
}

#[test]
fn a_broken_configuration_refuses_and_names_the_line() {
    let stage = Stage::installed();
    stage.write("andon.toml", "[test]\ncommand = \"true\"\n[rules]\nuntested-edits = \"off\"\n");
    stage.write("code.txt", "two\n");
    assert_snapshot!(stage.git(&["commit", "-qam", "Two"]).shown(), @r#"
    exit 1
    --- stderr
    error[config]: commit refused: unknown rule `untested-edits`
      --> andon.toml:4:1
         |
       4 | untested-edits = "off"
         | ^
      help: did you mean `untested-edit`?
    "#);
    stage.andon(&["status"]).exits(2);
}

#[test]
fn without_a_test_command_an_edit_warns_and_says_how_to_set_one() {
    let stage = Stage::new();
    stage.andon(&["install"]).ok();
    stage.write("a", "1");
    stage.git(&["add", "."]).ok();
    assert_snapshot!(stage.git(&["commit", "-qm", "First"]).brief(),
        @"exit 0, stderr: warning[untested-edit]: code changed and no test command is configured, so nothing can show that it was tested");
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
    stage.tested_commit_of(".", "With a report");
    assert_eq!(stage.record("HEAD")["tests"]["runner"], "junit");
    assert_eq!(stage.record("HEAD")["tests"]["passed"], 2);
    // The report of the last run is there; a run that writes none has shown nothing.
    stage.write("andon.toml", config("true"));
    stage.write("code.txt", "two\n");
    assert_snapshot!(stage.andon(&["test"]).brief(), @"
    exit 0, stderr: warning: out/deep/junit.xml was not written by this run: not read
    warning: test.reports is set, and this run wrote no such report
    warning[test-run]: not one test ran; the run proves nothing
    ");
    assert_snapshot!(stage.git(&["commit", "-qam", "Without"]).brief(),
        @"exit 1, stderr: error[untested-edit]: commit refused: the test command ran on this code, but not one test ran");
}

/// The command's first act: whatever moment that is for us, the signal is passed on, and the run is kept.
#[test]
fn termination_in_the_moment_of_the_start_reaches_the_tests_too() {
    let stage = Stage::installed();
    let line = "trap 'echo told; exit 7' TERM; kill -TERM $PPID; while :; do sleep 0.02; done";
    stage.write("andon.toml", format!("[test]\ncommand = \"{line}\"\n"));
    stage.steps("echo one > code.txt; git add .");
    for _ in 0..5 {
        assert_eq!(stage.andon(&["test"]).says("told").code, 7);
    }
    assert_snapshot!(stage.git(&["commit", "-qm", "Stopped"]).shown(), @"
    exit 1
    --- stderr
    error[untested-edit]: commit refused: the run of the tests on this code was interrupted
      help: andon test
    ");
}

#[test]
fn termination_reaches_the_tests_and_the_run_proves_nothing() {
    let stage = Stage::installed();
    stage.write("andon.toml", "[test]\ncommand = \"touch started; exec sleep 30\"\n");
    stage.steps("echo started > .gitignore; echo one > code.txt; git add .");
    let mut child = stage.command(stage.dir(), andon_path()).arg("test").spawn().unwrap();
    while !stage.exists("started") {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    stage.run_in(stage.dir(), "kill", &["-TERM", &child.id().to_string()], None).ok();
    assert_eq!(child.wait().unwrap().code(), Some(128 + 15));
    assert_snapshot!(stage.git(&["commit", "-qm", "Stopped"]).brief(),
        @"exit 1, stderr: error[untested-edit]: commit refused: the run of the tests on this code was interrupted");
}
