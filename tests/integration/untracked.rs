//! Untracked files bind the tests where the project has code of their kind or the tests name them; others are reported
//! once.

use crate::support::Stage;

/// A project whose code is `*.sh` and `code.txt`, with the output of its tests.
fn project(prints: &str) -> Stage {
    let stage = Stage::installed();
    stage.write("check.sh", format!("{prints}\necho 1..1; echo ok 1 - a\n"));
    stage.tested_commit("-qam", "Print");
    stage
}

#[test]
fn one_of_no_kind_of_the_project_passes_and_is_told_once() {
    let stage = project(":");
    stage.steps("echo try this > scratch.notes; echo 1 > code.txt; andon test");
    let out = stage.git(&["commit", "-qam", "One"]).ok();
    insta::assert_snapshot!(out.shown(), @r"
    exit 0
    --- stderr
    warning[untracked-files]: 1 untracked file was there when the tests ran and will not be in the commit: scratch.notes
      help: name it in .gitignore, or, where the tests need it: git add -- scratch.notes
    ");
    assert_eq!(stage.record("HEAD")["tests"]["untracked"], serde_json::json!(["scratch.notes"]));
    // What becomes of it later changes nothing.
    stage.steps("echo try that > scratch.notes; andon complete; echo 2 > code.txt; andon test");
    stage.steps("echo or that > scratch.notes");
    let out = stage.git(&["commit", "-qam", "Two"]).ok();
    assert_eq!(out.stderr, "");
    assert_eq!(stage.record("HEAD")["tests"]["untracked"], serde_json::json!(["scratch.notes"]));
    stage.andon(&["check", "HEAD~2..HEAD"]).ok();
}

#[test]
fn what_the_tests_leave_behind_changes_no_code() {
    let stage = project("date +%N > run.log; echo 'log written: run.log'");
    for code in ["1\n", "2\n"] {
        stage.write("code.txt", code);
        stage.andon(&["test"]).ok().lacks("changed while the tests ran");
        stage.git(&["commit", "-qam", "More"]).ok();
    }
    stage.andon(&["check", "HEAD~2..HEAD"]).ok();
}

#[test]
fn programs_without_an_extension_are_of_one_kind() {
    let stage = project(":");
    stage.write("bin/one", "#!/bin/sh\n");
    stage.run_in(stage.dir(), "chmod", &["+x", "bin/one"], None).ok();
    stage.steps("git add bin/one; andon test; git commit -qm One; echo #!/bin/sh > bin/two");
    stage.steps("echo more > TODO");
    stage.run_in(stage.dir(), "chmod", &["+x", "bin/two"], None).ok();
    stage.steps("echo 1 > code.txt; andon test");
    stage.git(&["commit", "-qam", "Two"]).refused().says("bin/two").lacks("TODO");
}

#[test]
fn one_of_the_projects_kind_binds() {
    let stage = project(":");
    stage.steps("echo 1 > extra.SH; echo 1 > code.txt; andon test");
    let out = stage.git(&["commit", "-qam", "One"]).refused();
    insta::assert_snapshot!(out.shown(), @r"
    exit 1
    --- stderr
    error[untested-edit]: commit refused: the tests ran with work that is not part of this commit: extra.SH
      help: git add -- extra.SH
      help: or test exactly what is committed: andon test --tree HASH
    ");
    stage.steps("git add -- extra.SH; git commit -qam One");
}

#[test]
fn one_that_the_tests_name_binds_unless_they_wrote_it() {
    let stage = project("echo 'reading ./data/table.bin'");
    stage.steps("echo 1 > data/table.bin; echo 1 > code.txt; andon test");
    stage.git(&["commit", "-qam", "One"]).refused().says("data/table.bin").says("git add -- data/table.bin");
    // Another content is other code.
    stage.steps("echo 2 > data/table.bin; git add -- data/table.bin");
    stage.git(&["commit", "-qam", "One"]).refused().says("data/table.bin");
    stage.tested_commit("-qam", "One");
}

#[test]
fn adding_one_after_the_run_is_what_was_tested() {
    let stage = project(":");
    stage.steps("echo 1 > web/first.js; echo 1 > code.txt; andon test; git add web/first.js");
    stage.andon(&["complete"]).lacks("untested-edit");
    stage.git(&["commit", "-qam", "One"]).ok().lacks("warning");
    assert_eq!(stage.record("HEAD")["tests"]["untracked"], serde_json::Value::Null);
    stage.andon(&["check", "HEAD~1..HEAD"]).ok();
    // From now on it is a kind of the project; before, the one that is left out would have been of it.
    stage.steps("echo 1 > a.py; echo 1 > b.py; andon test; git add a.py");
    let out = stage.git(&["commit", "-qm", "Two"]).refused().says("b.py").lacks("a.py,");
    assert!(out.stderr.contains("git add -- b.py"), "{out}");
    stage.steps("git add -- b.py; git commit -qm Two");
    // Changed after the run, it was not tested.
    stage.steps("echo 1 > c.rb; andon test; echo 2 > c.rb; git add c.rb");
    stage.git(&["commit", "-qm", "Three"]).refused().says("c.rb");
}

#[test]
fn before_the_first_commit_all_of_them_bind() {
    let stage = Stage::new();
    stage.write("check.sh", "echo 1..1; echo ok 1 - a\n");
    stage.write("andon.toml", "[test]\ncommand = \"sh check.sh\"\n");
    stage.steps("echo 1 > code.py; andon install; andon test; git add check.sh andon.toml");
    stage.git(&["commit", "-qm", "Start"]).refused().says("code.py");
    stage.commit_of("code.py", "Start");
}
