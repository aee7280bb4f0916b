//! What a person may do to the evidence, and what `andon check` says about it: each in its own words.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod history;

use insta::assert_snapshot;

use crate::support::{Out, Stage, image::built};

/// Three clean commits on top of the first.
fn clean() -> Stage {
    built!({
        let stage = Stage::installed();
        for n in 2..5 {
            stage.iterate(&format!("{n}\n"), &["ok a", "ok b"], &format!("Step {n}")).ok();
        }
        check(&stage).ok();
        stage
    })
}

/// Three iterations with the same failing test: halted.
fn halted() -> Stage {
    let stage = Stage::installed();
    for n in 1..4 {
        stage.iterate(&format!("{n}\n"), &["ok a", "not ok b"], &format!("Try {n}")).ok();
    }
    stage
}

fn check(stage: &Stage) -> Out {
    stage.andon(&["check", "HEAD~3..HEAD"])
}

fn note(stage: &Stage, revision: &str) -> String {
    stage.git(&["notes", "--ref=andon", "show", revision]).ok().stdout
}

fn set_note(stage: &Stage, revision: &str, text: &str) {
    stage.git(&["notes", "--ref=andon", "add", "-f", "-m", text, revision]).ok();
}

fn ledger(stage: &Stage) -> String {
    let refs = stage.git(&["for-each-ref", "--format=%(refname)", "refs/andon/ledger/"]).ok().stdout;
    refs.lines().next().unwrap().to_owned()
}

#[test]
fn a_note_edited_dropped_or_moved() {
    let stage = clean();
    let edited = note(&stage, "HEAD~1").replace("\"files\":1", "\"files\":2");
    set_note(&stage, "HEAD~1", &edited);
    assert_snapshot!(check(&stage).brief(), @"
    exit 1, stdout: error[edited-record]: the record was edited: its diff is not what the commit gives --> HASH Step 3
    error[broken-chain]: the record of its parent was edited after this one was written --> HASH Step 4
    checked 3 commits in HEAD~3..HEAD: 2 errors
    ");

    let stage = clean();
    stage.git(&["notes", "--ref=andon", "remove", "HEAD~1"]).ok();
    assert_snapshot!(check(&stage).brief(), @"
    exit 1, stdout: error[broken-chain]: the record of its parent was dropped --> HASH Step 4
    error[missing-record]: the commit has no record --> HASH Step 3
    checked 3 commits in HEAD~3..HEAD: 1 error
    ");

    let stage = clean();
    set_note(&stage, "HEAD", &note(&stage, "HEAD~1"));
    assert_snapshot!(check(&stage).brief(), @"
    exit 1, stdout: error[broken-chain]: the record of its parent was edited after this one was written --> HASH Step 4
    error[copied-record]: the record is that of another commit: tree or parent differ --> HASH Step 4
    checked 3 commits in HEAD~3..HEAD: 2 errors
    ");
}

#[test]
fn a_second_line_that_speaks_better_of_a_commit_is_not_believed() {
    let stage = Stage::installed();
    stage.write("code.txt", "bypass\n");
    stage.git(&["commit", "-qam", "Bypass", "--no-verify"]).ok();
    stage.iterate("on\n", &["ok a", "ok b"], "On").ok();
    assert_snapshot!(stage.andon(&["check", "HEAD~2..HEAD"]).brief(), @"
    exit 1, stdout: error[bypassed]: the commit bypassed the gate (--no-verify) --> HASH Bypass
    error[untested-code]: the code changed, and no test run on exactly this code is recorded --> HASH Bypass
    checked 2 commits in HEAD~2..HEAD: 2 errors
    ");
    let better = note(&stage, "HEAD~1")
        .replace("\"gate\":\"bypassed\"", "\"gate\":\"passed\"")
        .replace("2026-11-20", "2026-11-19");
    stage.git(&["notes", "--ref=andon", "append", "--no-separator", "-m", &better, "HEAD~1"]).ok();
    assert_eq!(note(&stage, "HEAD~1").trim().lines().count(), 2);
    assert_snapshot!(stage.andon(&["check", "HEAD~2..HEAD"]).shown(), @"
    exit 1
    --- stdout
    error[contradicting-records]: its records contradict each other in their gate; the worst of them counts
      --> HASH Bypass
      help: git notes --ref=andon show HASH; git log -p refs/notes/andon
    error[bypassed]: the commit bypassed the gate (--no-verify)
      --> HASH Bypass
      help: have a person review the commit, then merge it by hand or commit it again with hooks on
    error[untested-code]: the code changed, and no test run on exactly this code is recorded
      --> HASH Bypass
      help: git rebase -r --exec 'andon test && git commit --amend --no-edit' HASH
    checked 2 commits in HEAD~2..HEAD: 3 errors
    ");
}

#[test]
fn a_record_that_names_no_predecessor_breaks_the_chain() {
    let stage = clean();
    let mut record = stage.record("HEAD");
    record.as_object_mut().unwrap().remove("prev");
    set_note(&stage, "HEAD", &record.to_string());
    assert_snapshot!(check(&stage).shown(), @"
    exit 1
    --- stdout
    error[broken-chain]: the record does not name its parent's, which is there
      --> HASH Step 4
      help: git log -p refs/notes/andon
    checked 3 commits in HEAD~3..HEAD: 1 error
    ");
}

#[test]
fn saying_that_the_chain_begins_here_hides_no_edit() {
    let stage = clean();
    let edited = note(&stage, "HEAD~2").replace("\"iteration\":2", "\"iteration\":1");
    set_note(&stage, "HEAD~2", &edited);
    let mut record = stage.record("HEAD~1");
    let members = record.as_object_mut().unwrap();
    members.remove("prev");
    members.insert("begins".to_owned(), true.into());
    set_note(&stage, "HEAD~1", &record.to_string());
    assert_snapshot!(check(&stage).shown(), @"
    exit 1
    --- stdout
    error[broken-chain]: the record of its parent was edited after this one was written
      --> HASH Step 4
      help: git log -p refs/notes/andon
    warning[chain-begins-anew]: the record begins a chain: that of its parent was not there when it was written
      --> HASH Step 3
      help: git log -p refs/notes/andon
    checked 3 commits in HEAD~3..HEAD: 1 error, 1 warning
    ");
}

#[test]
fn the_gate_avoided() {
    let stage = clean();
    stage.steps("echo bypass > code.txt; andon test; git commit -qam Bypass --no-verify");
    assert_snapshot!(check(&stage).brief(), @"
    exit 1, stdout: error[bypassed]: the commit bypassed the gate (--no-verify) --> HASH Bypass
    checked 3 commits in HEAD~3..HEAD: 1 error
    ");

    let stage = clean();
    stage.steps("echo off > code.txt; andon test; git -c core.hooksPath=no-hooks commit -qam Off");
    assert_snapshot!(check(&stage).brief(), @"
    exit 3, stdout: error[missing-record]: the commit has no record --> HASH Off
    checked 3 commits in HEAD~3..HEAD: cannot decide: evidence is missing
    ");
    stage.iterate("on\n", &["ok a", "ok b"], "On").ok();
    assert_snapshot!(check(&stage).brief(), @"
    exit 1, stdout: error[bypassed]: the commit was made while the hooks were off --> HASH Off
    checked 3 commits in HEAD~3..HEAD: 1 error
    ");
}

#[test]
fn a_record_written_only_after_the_fact() {
    let stage = clean();
    stage.steps("echo off > code.txt; andon test; andon hook pre-commit; git add .; andon hook pre-commit");
    stage.steps("git -c core.hooksPath=no-hooks commit -qm Off");
    stage.pass(3 * 3600);
    stage.andon(&["hook", "post-commit"]);
    assert_snapshot!(check(&stage).shown(), @"
    exit 1
    --- stdout
    error[late-record]: the record was written long after the commit: the hooks did not see it being made
      --> HASH Off
      help: git show --format=fuller HASH; andon show HASH
    checked 3 commits in HEAD~3..HEAD: 1 error
    ");
}

#[test]
fn a_committer_date_of_long_ago_is_said_and_not_refused() {
    let stage = clean();
    stage.steps("echo dated > code.txt; andon test");
    for name in ["GIT_COMMITTER_DATE", "GIT_AUTHOR_DATE"] {
        stage.set(name, "2001-02-03T04:05:06Z");
    }
    stage.git(&["commit", "-qam", "Dated"]).ok();
    assert_snapshot!(check(&stage).shown(), @"
    exit 0
    --- stdout
    warning[late-record]: the record is much younger than the committer date, which was set back (GIT_COMMITTER_DATE), or the record was written long after the commit
      --> HASH Dated
      help: git show --format=fuller HASH; andon show HASH
    checked 3 commits in HEAD~3..HEAD: ok, 1 warning
    ");
}

#[test]
fn the_configuration_loosened_and_the_test_command_changed_in_the_range() {
    let stage = clean();
    stage.write("andon.toml", "[test]\ncommand = \"sh check.sh\"\n[rules]\nuntested-edit = \"off\"\n");
    stage.git(&["commit", "-qam", "Loosen"]);
    stage.write("code.txt", "untested\n");
    stage.git(&["commit", "-qam", "Untested"]);
    assert_snapshot!(check(&stage).brief(), @"
    exit 1, stdout: error[untested-code]: the code changed, and no test run on exactly this code is recorded --> HASH Untested
    warning[config-changed]: andon.toml changed in this range; the one of its base was used, HASH
    checked 3 commits in HEAD~3..HEAD: 1 error, 1 warning
    ");

    let stage = clean();
    stage.write("andon.toml", "[test]\ncommand = \"echo 1..1; echo ok 1 - a\"\n");
    stage.tested_commit("-qam", "Test less");
    assert_snapshot!(check(&stage).shown(), @"
    exit 1
    --- stdout
    error[other-test-command]: its tests were run by `echo 1..1; echo ok 1 - a`, and the base of the range says `sh check.sh`
      --> HASH Test less
      help: andon check --test 'HEAD~3..HEAD'
    warning[config-changed]: andon.toml changed in this range; the one of its base was used, HASH
      help: git diff HASH HASH -- andon.toml
    checked 3 commits in HEAD~3..HEAD: 1 error, 1 warning
    ");
}

#[test]
fn tests_claimed_on_other_code() {
    let stage = clean();
    let mut record = stage.record("HEAD");
    record["tests"]["code"] = "0".repeat(64).into();
    set_note(&stage, "HEAD", &record.to_string());
    assert_snapshot!(check(&stage).shown(), @"
    exit 1
    --- stdout
    error[foreign-tests]: the record claims tests on other code: HASH instead of HASH
      --> HASH Step 4
      help: git notes --ref=andon show HASH
    checked 3 commits in HEAD~3..HEAD: 1 error
    ");
}

#[test]
fn the_report_file_of_a_halt_deleted_by_an_agent() {
    let stage = halted();
    stage.set("CLAUDECODE", "1");
    std::fs::remove_file(stage.path(".andon/CHECKPOINT.md")).unwrap();
    stage.iterate("4\n", &["ok a", "ok b"], "Go on").exits(1).says("does not answer the halt");
    assert!(stage.exists(".andon/CHECKPOINT.md"), "it came back");
    check(&stage).exits(1).says("error[open-halt]").lacks("agent-answer").lacks("answered-halt");
}
