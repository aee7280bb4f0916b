//! Tests that go, are skipped or lose assertions while others fail.

use insta::assert_snapshot;

use crate::support::{Stage, image::built};

/// A stage whose tests are those of `test_x.py`: one that says `broken` fails, one marked skip is skipped.
fn python() -> Stage {
    built!({
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
    })
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
    assert_snapshot!(stage.git(&["commit", "-qam", "Tidy"]).shown(), @"
    exit 0
    --- stderr
    warning[failing-tests]: 1 of 4 tests fails: test_broken_d():
      help: fix what fails, then: andon test
    warning[test-weakening]: 2 -> 1 failing while the tests that ran went 5 -> 4: 1 test removed (test_broken_e); this does not count as progress
      help: if the tests were wrong, say why: git commit --amend --trailer 'Tests-Removed: REASON'
      help: git show HASH
    ");
    assert_eq!(stage.record("HEAD")["weakening"]["removed"], serde_json::json!(["test_broken_e"]));
    stage.andon(&["show"]).ok().says("removed: test_broken_e");
    assert_snapshot!(stage.andon(&["log"]).shown(), @"
    exit 0
    --- stdout
       3  HASH  1/4 fail      +0 -6        [tests weakened] Tidy
          warning[test-weakening]: 2 -> 1 failing while the tests that ran went 5 -> 4: 1 test remove...
       2  HASH  2/5 fail      +39 -0       Python
       1  HASH  2 pass        +15 -0       Start
    ");
    let annotations = stage.andon(&["check", "HEAD~1..HEAD", "--format", "github"]).stdout;
    assert!(annotations.contains(" file=test_x.py,title=test-weakening::"), "{annotations}");
    assert_snapshot!(stage.andon(&["check", "HEAD~1..HEAD"]).shown(), @"
    exit 1
    --- stdout
    error[failing-tests]: the tests of this code do not pass: failed, 1 of 4 failing, first: test_broken_d():
      --> HASH Tidy
      help: andon test
    warning[test-weakening]: 2 -> 1 failing while the tests that ran went 5 -> 4: 1 test removed (test_broken_e); this does not count as progress
      --> HASH Tidy
      help: if the tests were wrong, say why: git commit --amend --trailer 'Tests-Removed: REASON'
      help: git show HASH
    checked 1 commit in HEAD~1..HEAD: 1 error, 1 warning
    ");

    // A record that keeps silent about it is no way around: the commit itself tells.
    stage.git(&["commit", "-q", "--amend", "-m", "Tidy\n\nTests-Removed: the feature is gone"]).ok();
    let record = stage.record("HEAD");
    assert_eq!(record["weakening"]["waiver"], "the feature is gone");
    stage.andon(&["status"]).ok().says("waived by Tests-Removed: the feature is gone");
    assert_snapshot!(stage.andon(&["log"]).shown(), @"
    exit 0
    --- stdout
       3  HASH  1/4 fail      +0 -6        [amend, tests removed, waived] Tidy
       2  HASH  2/5 fail      +39 -0       Python
       1  HASH  2 pass        +15 -0       Start
    ");
    stage.andon(&["show"]).ok().says("Tests-Removed: the feature is gone");
    assert_snapshot!(stage.andon(&["check", "HEAD~1..HEAD"]).brief(), @"
    exit 1, stdout: error[failing-tests]: the tests of this code do not pass: failed, 1 of 4 failing, first: test_broken_d(): --> HASH Tidy
    note[test-weakening]: 2 -> 1 failing while the tests that ran went 5 -> 4: 1 test removed (test_broken_e); waived by Tests-Removed: the feature is gone --> HASH Tidy
    checked 1 commit in HEAD~1..HEAD: 1 error
    ");
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
    assert_snapshot!(stage.git(&["commit", "-qam", "Skip"]).shown(), @"
    exit 0
    --- stderr
    warning[failing-tests]: 1 of 5 tests fails: test_broken_e():
      help: fix what fails, then: andon test
    warning[test-weakening]: 2 -> 1 failing while the tests that ran went 5 -> 4 and those that were skipped 0 -> 1: 1 test newly skipped (test_broken_d); this does not count as progress
      help: if the tests were wrong, say why: git commit --amend --trailer 'Tests-Removed: REASON'
      help: git show HASH
    ");
    let loose = source(&["a", "b", "c", "broken_d", "broken_e"], "broken_d")
        .replace("    assert value\n\n\ndef test_b()", "\n\ndef test_b()");
    stage.write("test_x.py", loose);
    stage.andon(&["test"]).exits(1);
    assert_snapshot!(stage.git(&["commit", "-qam", "Loosen"]).shown(), @"
    exit 0
    --- stderr
    warning[failing-tests]: 1 of 5 tests fails: test_broken_e():
      help: fix what fails, then: andon test
    warning[test-weakening]: 1 test failed before this commit: 1 test with fewer assertions (test_a); this does not count as progress
      help: if the tests were wrong, say why: git commit --amend --trailer 'Tests-Removed: REASON'
      help: git show HASH
    ");
}

#[test]
fn failures_of_a_run_that_nobody_committed_are_open_too() {
    let stage = Stage::installed();
    stage.write("run.sh", RUN);
    stage.write("andon.toml", "[test]\ncommand = \"sh run.sh\"\n");
    stage.write("test_x.py", source(&["a", "b"], ""));
    stage.steps("git add .; andon test; git commit -qm Python; echo break b > code.txt");
    stage.write("test_x.py", source(&["a", "b"], "").replace("test_b", "test_broken_b"));
    stage.andon(&["test"]).exits(1);
    stage.write("test_x.py", source(&["a"], ""));
    stage.andon(&["test"]).ok();
    assert_snapshot!(stage.git(&["commit", "-qam", "Green again"]).shown(), @"
    exit 0
    --- stderr
    warning[test-weakening]: 1 -> 0 failing while the tests that ran went 2 -> 1: 1 test removed (test_b); this does not count as progress
      help: if the tests were wrong, say why: git commit --amend --trailer 'Tests-Removed: REASON'
      help: git show HASH
    ");
}

/// A stage whose runner names the tests that `suite.txt` lists, whatever the test files hold.
fn listed(tests: &[&str]) -> Stage {
    let stage = Stage::installed();
    stage.write(
        "run.sh",
        "awk 'BEGIN { n = 0 } { n++; print \"ok \" n \" - \" $0 } END { print \"1..\" n }' suite.txt\n",
    );
    stage.write("andon.toml", "[test]\ncommand = \"sh run.sh\"\n");
    list(&stage, tests);
    stage.tested_commit_of(".", "List the suite");
    assert_eq!(stage.record("HEAD")["tests"]["set"].as_str().map(str::len), Some(64));
    stage
}

fn list(stage: &Stage, tests: &[&str]) {
    stage.write("suite.txt", tests.iter().map(|name| format!("{name}\n")).collect::<String>());
}

/// Tests and commits it.
fn commit_list(stage: &Stage, tests: &[&str], message: &str) -> crate::support::Out {
    list(stage, tests);
    stage.andon(&["test"]).ok();
    stage.git(&["commit", "-qam", message])
}

#[test]
fn tests_that_no_file_tells_of_are_missed_by_name() {
    let stage = listed(&["a::one", "a::two", "b::three # SKIP", "b::four", "c::five", "c::six"]);
    let swept = ["a::one", "a::two", "b::three # SKIP", "b::four # SKIP", "c::five"];
    assert_snapshot!(commit_list(&stage, &swept, "Sweep").shown(), @"
    exit 0
    --- stderr
    warning[test-weakening]: 1 test missing in this run (c::six), 1 test newly skipped (b::four); the tests that ran went 5 -> 3
      help: if the tests were wrong, say why: git commit --amend --trailer 'Tests-Removed: REASON'
      help: git show HASH
    ");
    stage.andon(&["show"]).ok().says("gone      c::six").says("skipped   b::four");
    // In a clone that has nothing but the records, and against the base of a range.
    assert_snapshot!(commit_list(&stage, &swept[1..], "Sweep on").brief(),
        @"exit 0, stderr: warning[test-weakening]: 1 test missing in this run (a::one); the tests that ran went 3 -> 2");
    let root = stage.root();
    stage.git_in(root, &["clone", "-q", "--no-local", "repo", "clone"]).ok();
    let clone = root.join("clone");
    stage.git_in(&clone, &["fetch", "-q", "origin", "+refs/notes/andon:refs/notes/andon"]).ok();
    assert_snapshot!(stage.andon_in(&clone, &["check", "HEAD~2..HEAD"]).shown(), @"
    exit 0
    --- stdout
    warning[test-weakening]: 1 test missing in this run (c::six), 1 test newly skipped (b::four); the tests that ran went 5 -> 3
      --> HASH Sweep
      help: if the tests were wrong, say why in a new commit: git commit --allow-empty -m 'Say why tests went' --trailer 'Tests-Removed: REASON'
      help: git show HASH
    warning[test-weakening]: 1 test missing in this run (a::one); the tests that ran went 3 -> 2
      --> HASH Sweep on
      help: if the tests were wrong, say why: git commit --amend --trailer 'Tests-Removed: REASON'
      help: git show HASH
    warning[test-weakening]: against the base: 2 tests removed (c::six, a::one), 1 test newly skipped (b::four)
      --> HASH Sweep on
      help: if the tests were wrong, say why in a new commit: git commit --allow-empty -m 'Say why tests went' --trailer 'Tests-Removed: REASON'
    checked 2 commits in HEAD~2..HEAD: ok, 3 warnings
    ");
}

#[test]
fn tests_that_move_are_renamed_or_asked_for_otherwise_are_not_missed() {
    let stage = listed(&["a::one", "a::two", "b::three", "b::four"]);
    let waived = ["a::uno", "n::two", "b::three[1]", "b::three[2]", "b::four"];
    for (tests, message) in [
        (&["a::uno", "n::two", "b::three", "b::four"][..], "Rename one, move another"),
        (&waived[..], "Give one rows"),
        (&waived[..4], "Four goes\n\nTests-Removed: there is no four"),
    ] {
        commit_list(&stage, tests, message).ok().lacks("warning[test-weakening]");
    }
    assert_eq!(stage.record("HEAD")["weakening"]["waiver"], "there is no four");
    stage.write("andon.toml", "[test]\ncommand = \"sh run.sh some\"\n");
    commit_list(&stage, &["n::two"], "Ask for a part").ok().lacks("test-weakening");
    // A clone that has no list of its own takes it from the records.
    std::fs::remove_dir_all(stage.path(".git/andon/cache/tests")).unwrap();
    stage.write("andon.toml", "[test]\ncommand = \"sh run.sh\"\n");
    commit_list(&stage, &["n::two"], "Without a memory").ok().says("3 tests removed (a::uno, ");
}

#[test]
fn the_reason_that_check_asks_for_waives_when_it_is_given_as_printed() {
    let stage = listed(&["a::one", "a::two", "b::three", "b::four"]);
    commit_list(&stage, &["a::one", "a::two", "b::three"], "Four goes").ok();
    commit_list(&stage, &["a::one", "a::two"], "Three goes").ok();
    stage.git(&["commit", "-q", "--allow-empty", "-m", "Other work"]).ok();
    let before = stage.andon(&["check", "HEAD~3..HEAD"]).ok();
    let printed = "git commit --allow-empty -m 'Say why tests went' --trailer 'Tests-Removed: REASON'";
    assert_eq!(before.stdout.matches(printed).count(), 3, "{}", before.stdout);
    before.lacks("--amend").says("ok, 3 warnings");
    stage.run_in(stage.dir(), "sh", &["-c", printed], None).ok();
    stage
        .andon(&["check", "HEAD~4..HEAD"])
        .ok()
        .says("note[test-weakening]: 1 test missing in this run (b::four)")
        .says("; waived by Tests-Removed in ")
        .says("note[test-weakening]: against the base: 2 tests removed (b::four, b::three); waived by Tests-Removed: REASON")
        .lacks("warning[test-weakening]");
    // A loss after the reason is reported again.
    commit_list(&stage, &["a::one"], "Two goes").ok();
    let after = stage.andon(&["check", "HEAD~5..HEAD"]).ok();
    let out = after.says("warning[test-weakening]: 1 test missing in this run (a::two)");
    out.says("'Tests-Removed: REASON'");
}

#[test]
fn what_a_run_alone_told_as_lost_survives_an_amend_until_the_tests_are_back() {
    let stage = listed(&["a::one", "a::two", "b::three", "b::four"]);
    commit_list(&stage, &["a::one", "a::two"], "Sweep").ok();
    let lost = "2 tests missing in this run (b::four, b::three)";
    stage.andon(&["check", "HEAD~1..HEAD"]).ok().says("2 tests missing in this run");
    stage.git(&["commit", "-q", "--amend", "-m", "Sweep, reworded"]).ok();
    stage.andon(&["check", "HEAD~1..HEAD"]).ok().says("2 tests missing in this run");
    stage.steps("andon test; git commit -q --amend -m 'Sweep, tested again'");
    stage.andon(&["check", "HEAD~1..HEAD"]).ok().says(lost);
    list(&stage, &["a::one", "a::two", "b::three"]);
    stage.steps("andon test; git commit -qa --amend -m 'Sweep less'");
    stage.andon(&["check", "HEAD~1..HEAD"]).ok().says("1 test missing in this run (b::four)");
    stage.git(&["commit", "-q", "--amend", "-m", "Sweep less\n\nTests-Removed: four was wrong"]).ok();
    stage.andon(&["check", "HEAD~1..HEAD"]).ok().says("waived by Tests-Removed: four was wrong");
}
