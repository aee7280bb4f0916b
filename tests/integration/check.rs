//! `andon check`: the report to CI about a range, each kind of violation by its own message, and no false alarms.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod halts;

use insta::assert_snapshot;

use crate::support::{Out, Stage, image::built};

/// Three clean commits on top of the first.
pub(crate) fn clean() -> Stage {
    built!({
        let stage = Stage::installed();
        for n in 2..5 {
            stage.iterate(&format!("{n}\n"), &["ok a", "ok b"], &format!("Step {n}")).ok();
        }
        stage
    })
}

/// Three iterations with the same failing test: halted by `repeated-failures`.
pub(crate) fn halted() -> Stage {
    built!({
        let stage = Stage::installed();
        for n in 1..4 {
            stage.iterate(&format!("{n}\n"), &["ok a", "not ok b"], &format!("Try {n}")).ok();
        }
        stage
    })
}

fn check(stage: &Stage, range: &str) -> Out {
    stage.andon(&["check", range])
}

/// The codes of the violations, sorted, each once.
pub(crate) fn codes(stage: &Stage, range: &str) -> Vec<String> {
    let out = stage.andon(&["check", range, "--format", "json"]);
    let value: serde_json::Value =
        serde_json::from_str(&out.stdout).unwrap_or_else(|err| panic!("{err}: {out}"));
    let violations = value["violations"].as_array().unwrap();
    let grave = violations.iter().filter(|one| one["level"] == "block" || one["level"] == "halt");
    let mut codes: Vec<String> = grave.map(|one| one["code"].as_str().unwrap().to_owned()).collect();
    codes.sort();
    codes.dedup();
    assert_eq!(out.code == 1, !codes.is_empty(), "{out}");
    codes
}

/// The codes of what could not be decided.
fn undecided(stage: &Stage, range: &str) -> Vec<String> {
    let out = stage.andon(&["check", range, "--format", "json"]);
    let value: serde_json::Value =
        serde_json::from_str(&out.stdout).unwrap_or_else(|err| panic!("{err}: {out}"));
    let missing = value["undecided"].as_array().unwrap();
    missing.iter().map(|one| one["code"].as_str().unwrap().to_owned()).collect()
}

/// Replaces the note of `revision` by what `edit` makes of it.
fn edit_note(stage: &Stage, revision: &str, edit: impl Fn(&mut serde_json::Value)) {
    let mut record = stage.record(revision);
    edit(&mut record);
    stage.git(&["notes", "--ref=andon", "add", "-f", "-m", &record.to_string(), revision]).ok();
}

#[test]
fn a_clean_range_is_one_line() {
    let stage = clean();
    let out = check(&stage, "HEAD~3..HEAD").ok();
    assert_eq!(out.stdout, "checked 3 commits in HEAD~3..HEAD: ok\n");
    assert_eq!(out.stderr, "");
    assert_eq!(check(&stage, "HEAD").ok().stdout, "checked 4 commits in HEAD: ok\n");
}

#[test]
fn the_range_comes_from_arguments_or_the_framework() {
    let stage = clean();
    assert_snapshot!(stage.andon(&["check", "--from-ref", "HEAD~2", "--to-ref", "HEAD"]).shown(), @"
    exit 0
    --- stdout
    checked 2 commits in HEAD~2..HEAD: ok
    ");
    assert_snapshot!(stage.andon(&["check", "--from-ref", "HEAD~2"]).shown(), @"
    exit 2
    --- stderr
    error: the following required arguments were not provided:
      --to-ref <REV>

    Usage: andon check --from-ref <REV> --to-ref <REV> [RANGE]

    For more information, try '--help'.
    ");
    stage.andon(&["check", "HEAD", "--from-ref", "HEAD~2", "--to-ref", "HEAD"]).exits(2);
    assert_snapshot!(stage.andon(&["check"]).shown(), @"
    exit 2
    --- stderr
    error: no range given
      help: name both sides: andon check origin/main..HEAD
    ");
    stage.set("PRE_COMMIT_FROM_REF", "HEAD~1");
    stage.set("PRE_COMMIT_TO_REF", "HEAD");
    assert_snapshot!(stage.andon(&["check"]).shown(), @"
    exit 0
    --- stdout
    checked 1 commit in HEAD~1..HEAD: ok
    ");
    stage.set("PRE_COMMIT_FROM_REF", &"0".repeat(40));
    assert_snapshot!(stage.andon(&["check"]).shown(), @"
    exit 0
    --- stdout
    checked 4 commits in HEAD: ok
    ");
    assert_snapshot!(stage.andon(&["check", "nowhere..HEAD"]).shown(), @r#"
    exit 2
    --- stderr
    error: unknown revision "nowhere"
      help: git log --oneline --all
    "#);
}

#[test]
fn a_missing_record_is_named() {
    let stage = clean();
    stage.git(&["notes", "--ref=andon", "remove", "HEAD"]).ok();
    assert_snapshot!(check(&stage, "HEAD~3..HEAD").shown(), @"
    exit 3
    --- stdout
    error[missing-record]: the commit has no record
      --> HASH Step 4
      help: where the commit was made, if Andon ran there: andon sync
      help: to let the tests of the tip count instead: andon check --test 'HEAD~3..HEAD'
    checked 3 commits in HEAD~3..HEAD: cannot decide: evidence is missing
    ");
    assert_eq!(codes(&stage, "HEAD~3..HEAD"), [""; 0]);
    assert_eq!(undecided(&stage, "HEAD~3..HEAD"), ["missing-record"]);
}

#[test]
fn a_dropped_record_breaks_the_chain_too() {
    let stage = clean();
    stage.git(&["notes", "--ref=andon", "remove", "HEAD~1"]).ok();
    assert_eq!(codes(&stage, "HEAD~3..HEAD"), ["broken-chain"]);
    assert_eq!(undecided(&stage, "HEAD~3..HEAD"), ["missing-record"]);
    assert_snapshot!(check(&stage, "HEAD~3..HEAD").shown(), @"
    exit 1
    --- stdout
    error[broken-chain]: the record of its parent was dropped
      --> HASH Step 4
      help: git log -p refs/notes/andon
    error[missing-record]: the commit has no record
      --> HASH Step 3
      help: where the commit was made, if Andon ran there: andon sync
      help: to let the tests of the tip count instead: andon check --test 'HEAD~3..HEAD'
    checked 3 commits in HEAD~3..HEAD: 1 error
    ");
    // Below the range the first commit still shows it.
    assert_eq!(codes(&stage, "HEAD~1..HEAD"), ["broken-chain"]);
}

#[test]
fn an_edited_record_is_named_whatever_was_edited() {
    let stage = clean();
    edit_note(&stage, "HEAD~1", |record| record["diff"]["added"] = 7.into());
    assert_eq!(codes(&stage, "HEAD~3..HEAD"), ["broken-chain", "edited-record"]);
    assert_snapshot!(check(&stage, "HEAD~3..HEAD").shown());

    let stage = clean();
    edit_note(&stage, "HEAD~1", |record| {
        record["code"] = "0".repeat(64).into();
        record["tests"]["code"] = "0".repeat(64).into();
    });
    assert_snapshot!(check(&stage, "HEAD~3..HEAD").shown());

    let stage = clean();
    edit_note(&stage, "HEAD", |record| record["tests"]["code"] = "0".repeat(64).into());
    assert_eq!(codes(&stage, "HEAD~3..HEAD"), ["foreign-tests"]);
    assert_snapshot!(
        check(&stage, "HEAD~3..HEAD").says("tests on other code: 000000000000 instead of").shown(),
        @"
    exit 1
    --- stdout
    error[foreign-tests]: the record claims tests on other code: HASH instead of HASH
      --> HASH Step 4
      help: git notes --ref=andon show HASH
    checked 3 commits in HEAD~3..HEAD: 1 error
    "
    );

    let stage = clean();
    edit_note(&stage, "HEAD", |record| record["kind"] = "merge".into());
    assert_snapshot!(check(&stage, "HEAD~3..HEAD").shown(), @"
    exit 1
    --- stdout
    error[edited-record]: the record was edited: its kind is not what the commit gives
      --> HASH Step 4
      help: git notes --ref=andon show HASH
    checked 3 commits in HEAD~3..HEAD: 1 error
    ");

    // What no commit gives shows in the chain.
    let stage = clean();
    edit_note(&stage, "HEAD~1", |record| record["session"] = "another".into());
    assert_eq!(codes(&stage, "HEAD~3..HEAD"), ["broken-chain"]);
    assert_snapshot!(check(&stage, "HEAD~3..HEAD").shown(), @"
    exit 1
    --- stdout
    error[broken-chain]: the record of its parent was edited after this one was written
      --> HASH Step 4
      help: git log -p refs/notes/andon
    checked 3 commits in HEAD~3..HEAD: 1 error
    ");
    // So does an edit right below the range.
    assert_eq!(codes(&stage, "HEAD~1..HEAD"), ["broken-chain"]);
}

#[test]
fn a_copied_record_is_that_of_another_commit() {
    let stage = clean();
    stage.git(&["notes", "--ref=andon", "copy", "-f", "HEAD~1", "HEAD"]).ok();
    assert_eq!(codes(&stage, "HEAD~1..HEAD"), ["broken-chain", "copied-record"]);
    assert_snapshot!(check(&stage, "HEAD~1..HEAD").shown(), @"
    exit 1
    --- stdout
    error[broken-chain]: the record of its parent was edited after this one was written
      --> HASH Step 4
      help: git log -p refs/notes/andon
    error[copied-record]: the record is that of another commit: tree or parent differ
      --> HASH Step 4
      help: git notes --ref=andon show HASH
    checked 1 commit in HEAD~1..HEAD: 2 errors
    ");
}

#[test]
fn a_note_that_is_no_record_is_named() {
    let stage = clean();
    for text in ["looks fine to me", "{}", "{\"schema\":\"andon/commit@9\"}"] {
        stage.git(&["notes", "--ref=andon", "add", "-f", "-m", text, "HEAD"]).ok();
        check(&stage, "HEAD~1..HEAD").exits(1).says("error[unreadable-record]");
    }
}

#[test]
fn lines_appended_by_a_merge_of_notes_are_no_edit() {
    let stage = clean();
    let mut other = stage.record("HEAD");
    other["recorded_at"] = "2027-01-01T00:00:00Z".into();
    stage.git(&["notes", "--ref=andon", "append", "-m", &other.to_string(), "HEAD"]).ok();
    assert_eq!(codes(&stage, "HEAD~3..HEAD"), [""; 0]);
    // A line that does not hold loses against one that does.
    other["code"] = "0".repeat(64).into();
    other["recorded_at"] = "2020-01-01T00:00:00Z".into();
    other.as_object_mut().unwrap().remove("tests");
    stage.git(&["notes", "--ref=andon", "append", "-m", &other.to_string(), "HEAD"]).ok();
    assert_eq!(codes(&stage, "HEAD~3..HEAD"), [""; 0]);
}

#[test]
fn a_bypassed_commit_is_named() {
    let stage = clean();
    stage.write("code.txt", "bypass\n");
    stage.andon(&["test"]).ok();
    stage.git(&["commit", "-qam", "Bypass", "--no-verify"]).ok();
    assert_eq!(codes(&stage, "HEAD~1..HEAD"), ["bypassed"]);
    assert_snapshot!(check(&stage, "HEAD~1..HEAD").shown(), @"
    exit 1
    --- stdout
    error[bypassed]: the commit bypassed the gate (--no-verify)
      --> HASH Bypass
      help: have a person review the commit, then merge it by hand or commit it again with hooks on
    checked 1 commit in HEAD~1..HEAD: 1 error
    ");
    // A project may want it otherwise.
    let stage = Stage::installed();
    let config = "[rules]\nhook-bypass = { level = \"warn\", block_in_check = false }\n";
    stage.write("andon.toml", format!("{}{config}", stage.read("andon.toml")));
    stage.iterate("2\n", &["ok a", "ok b"], "Two").ok();
    stage.write("code.txt", "3\n");
    stage.andon(&["test"]).ok();
    stage.git(&["commit", "-qam", "Bypass", "--no-verify"]).ok();
    assert_snapshot!(check(&stage, "HEAD~1..HEAD").shown(), @"
    exit 0
    --- stdout
    warning[bypassed]: the commit bypassed the gate (--no-verify)
      --> HASH Bypass
      help: have a person review the commit, then merge it by hand or commit it again with hooks on
    checked 1 commit in HEAD~1..HEAD: ok, 1 warning
    ");
}

#[test]
fn commits_with_the_hooks_off_are_named_whether_caught_up_or_not() {
    let stage = clean();
    stage.write("code.txt", "off\n");
    stage.andon(&["test"]).ok();
    stage.git(&["-c", "core.hooksPath=/dev/null", "commit", "-qam", "Off"]).ok();
    assert_eq!(undecided(&stage, "HEAD~1..HEAD"), ["missing-record"]);
    stage.iterate("on\n", &["ok a", "ok b"], "On").ok();
    assert_eq!(codes(&stage, "HEAD~2..HEAD"), ["bypassed"]);
    assert_snapshot!(check(&stage, "HEAD~2..HEAD").shown(), @"
    exit 1
    --- stdout
    error[bypassed]: the commit was made while the hooks were off
      --> HASH Off
      help: have a person review the commit, then merge it by hand or commit it again with hooks on
    checked 2 commits in HEAD~2..HEAD: 1 error
    ");
}

#[test]
fn untested_code_is_named() {
    let stage = clean();
    stage.write("code.txt", "untested\n");
    stage.git(&["commit", "-qam", "Untested", "--no-verify"]).ok();
    assert_eq!(codes(&stage, "HEAD~1..HEAD"), ["bypassed", "untested-code"]);
    assert_snapshot!(check(&stage, "HEAD~1..HEAD").shown(), @"
    exit 1
    --- stdout
    error[bypassed]: the commit bypassed the gate (--no-verify)
      --> HASH Untested
      help: have a person review the commit, then merge it by hand or commit it again with hooks on
    error[untested-code]: the code changed, and no test run on exactly this code is recorded
      --> HASH Untested
      help: git rebase -r --exec 'andon test && git commit --amend --no-edit' HASH
    checked 1 commit in HEAD~1..HEAD: 2 errors
    ");
}

#[test]
fn failing_tests_count_at_the_tip_only() {
    let stage = Stage::installed();
    stage.iterate("red\n", &["ok a", "not ok b"], "Red").ok();
    assert_eq!(codes(&stage, "HEAD~1..HEAD"), ["failing-tests"]);
    assert_snapshot!(check(&stage, "HEAD~1..HEAD").shown(), @"
    exit 1
    --- stdout
    error[failing-tests]: the tests of this code do not pass: failed, 1 of 2 failing, first: b
      --> HASH Red
      help: andon test
    checked 1 commit in HEAD~1..HEAD: 1 error
    ");
    stage.iterate("green\n", &["ok a", "ok b"], "Green").ok();
    assert_eq!(codes(&stage, "HEAD~2..HEAD"), [""; 0]);
}
