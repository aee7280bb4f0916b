//! `andon check`: what CI is told about a range, each kind of violation by its own message, and no false alarms.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use crate::support::{Out, Stage};

/// Three clean commits on top of the first.
pub(crate) fn clean() -> Stage {
    let stage = Stage::installed();
    for n in 2..5 {
        stage.iterate(&format!("{n}\n"), &["ok a", "ok b"], &format!("Step {n}")).ok();
    }
    stage
}

/// Three iterations with the same failing test: halted by `repeated-failures`.
pub(crate) fn halted() -> Stage {
    let stage = Stage::installed();
    for n in 1..4 {
        stage.iterate(&format!("{n}\n"), &["ok a", "not ok b"], &format!("Try {n}")).ok();
    }
    stage
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
    stage.andon(&["check", "--from-ref", "HEAD~2", "--to-ref", "HEAD"]).ok().says("checked 2 commits");
    stage.andon(&["check", "--from-ref", "HEAD~2"]).exits(2).says("--to-ref");
    stage.andon(&["check", "HEAD", "--from-ref", "HEAD~2", "--to-ref", "HEAD"]).exits(2);
    stage.andon(&["check"]).exits(2).says("andon check origin/main..HEAD");
    stage.set("PRE_COMMIT_FROM_REF", "HEAD~1");
    stage.set("PRE_COMMIT_TO_REF", "HEAD");
    stage.andon(&["check"]).ok().says("checked 1 commit in");
    stage.set("PRE_COMMIT_FROM_REF", &"0".repeat(40));
    stage.andon(&["check"]).ok().says("checked 4 commits in");
    stage.andon(&["check", "nowhere..HEAD"]).exits(2).says("unknown revision \"nowhere\"");
}

#[test]
fn a_missing_record_is_named() {
    let stage = clean();
    stage.git(&["notes", "--ref=andon", "remove", "HEAD"]).ok();
    check(&stage, "HEAD~3..HEAD")
        .exits(3)
        .says("error[missing-record]: the commit has no record")
        .says("Step 4")
        .says("cannot decide: evidence is missing");
    assert_eq!(codes(&stage, "HEAD~3..HEAD"), [""; 0]);
    assert_eq!(undecided(&stage, "HEAD~3..HEAD"), ["missing-record"]);
}

#[test]
fn a_dropped_record_breaks_the_chain_too() {
    let stage = clean();
    stage.git(&["notes", "--ref=andon", "remove", "HEAD~1"]).ok();
    assert_eq!(codes(&stage, "HEAD~3..HEAD"), ["broken-chain"]);
    assert_eq!(undecided(&stage, "HEAD~3..HEAD"), ["missing-record"]);
    check(&stage, "HEAD~3..HEAD").says("the record of its parent was dropped");
    // Below the range the first commit still shows it.
    assert_eq!(codes(&stage, "HEAD~1..HEAD"), ["broken-chain"]);
}

#[test]
fn an_edited_record_is_named_whatever_was_edited() {
    let stage = clean();
    edit_note(&stage, "HEAD~1", |record| record["diff"]["added"] = 7.into());
    assert_eq!(codes(&stage, "HEAD~3..HEAD"), ["broken-chain", "edited-record"]);
    check(&stage, "HEAD~3..HEAD").says("its diff is not what the commit gives").says("Step 3");

    let stage = clean();
    edit_note(&stage, "HEAD~1", |record| {
        record["code"] = "0".repeat(64).into();
        record["tests"]["code"] = "0".repeat(64).into();
    });
    check(&stage, "HEAD~3..HEAD").exits(1).says("its code fingerprint is not what the commit gives");

    let stage = clean();
    edit_note(&stage, "HEAD", |record| record["tests"]["code"] = "0".repeat(64).into());
    assert_eq!(codes(&stage, "HEAD~3..HEAD"), ["foreign-tests"]);
    check(&stage, "HEAD~3..HEAD").says("tests on other code: 000000000000 instead of");

    let stage = clean();
    edit_note(&stage, "HEAD", |record| record["kind"] = "merge".into());
    check(&stage, "HEAD~3..HEAD").exits(1).says("error[edited-record]").says("its kind");

    // What no commit gives shows in the chain.
    let stage = clean();
    edit_note(&stage, "HEAD~1", |record| record["session"] = "another".into());
    assert_eq!(codes(&stage, "HEAD~3..HEAD"), ["broken-chain"]);
    check(&stage, "HEAD~3..HEAD").says("the record of its parent was edited after this one was written");
    // So does an edit right below the range.
    assert_eq!(codes(&stage, "HEAD~1..HEAD"), ["broken-chain"]);
}

#[test]
fn a_copied_record_is_that_of_another_commit() {
    let stage = clean();
    stage.git(&["notes", "--ref=andon", "copy", "-f", "HEAD~1", "HEAD"]).ok();
    assert_eq!(codes(&stage, "HEAD~1..HEAD"), ["broken-chain", "copied-record"]);
    check(&stage, "HEAD~1..HEAD").says("the record is that of another commit");
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
    check(&stage, "HEAD~1..HEAD").says("did not pass the gate (--no-verify)").says("Bypass");
    // A project may want it otherwise.
    let stage = Stage::installed();
    let config = "[rules]\nhook-bypass = { level = \"warn\", block_in_check = false }\n";
    stage.write("andon.toml", format!("{}{config}", stage.read("andon.toml")));
    stage.iterate("2\n", &["ok a", "ok b"], "Two").ok();
    stage.write("code.txt", "3\n");
    stage.andon(&["test"]).ok();
    stage.git(&["commit", "-qam", "Bypass", "--no-verify"]).ok();
    check(&stage, "HEAD~1..HEAD").ok().says("warning[bypassed]");
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
    check(&stage, "HEAD~2..HEAD").says("made while the hooks were off").says("Off");
}

#[test]
fn untested_code_is_named() {
    let stage = clean();
    stage.write("code.txt", "untested\n");
    stage.git(&["commit", "-qam", "Untested", "--no-verify"]).ok();
    assert_eq!(codes(&stage, "HEAD~1..HEAD"), ["bypassed", "untested-code"]);
    check(&stage, "HEAD~1..HEAD").says("no test run on exactly this code is recorded");
}

#[test]
fn failing_tests_count_at_the_tip_only() {
    let stage = Stage::installed();
    stage.iterate("red\n", &["ok a", "not ok b"], "Red").ok();
    assert_eq!(codes(&stage, "HEAD~1..HEAD"), ["failing-tests"]);
    check(&stage, "HEAD~1..HEAD").says("1 of 2 failing, first: b");
    stage.iterate("green\n", &["ok a", "ok b"], "Green").ok();
    assert_eq!(codes(&stage, "HEAD~2..HEAD"), [""; 0]);
}

#[test]
fn commits_forced_through_a_halt_are_named() {
    let stage = halted();
    stage.git(&["commit", "-q", "--allow-empty", "-m", "No"]).refused();
    stage.write("code.txt", "forced\n");
    stage.tests(&["ok a", "ok b"]);
    stage.andon(&["test"]).ok();
    stage.git(&["-c", "core.hooksPath=/dev/null", "commit", "-qam", "Forced"]).ok();
    assert_eq!(codes(&stage, "HEAD~4..HEAD"), ["halted-commit"]);
    assert_eq!(undecided(&stage, "HEAD~4..HEAD"), ["missing-record"]);
    check(&stage, "HEAD~4..HEAD").says("made while the loop was halted by repeated-failures").says("Forced");
    // Answered later: what was forced stays forced, what follows is free.
    stage.andon(&["resume", "--reason", "seen"]).ok();
    stage.iterate("free\n", &["ok a", "ok b"], "Free").ok();
    check(&stage, "HEAD~5..HEAD").exits(1).says("halted-commit").says("Forced").lacks("Free");
    // A range above it has nothing to answer for.
    assert_eq!(codes(&stage, "HEAD~1..HEAD"), [""; 0]);
}

#[test]
fn a_halt_that_was_removed_from_the_ledger_is_derived_again() {
    let stage = halted();
    stage.andon(&["resume", "--reason", "looked"]).ok();
    stage.iterate("on\n", &["ok a", "ok b"], "On").ok();
    assert_eq!(codes(&stage, "HEAD~4..HEAD"), [""; 0]);
    let refs = stage.git(&["for-each-ref", "--format=%(refname)", "refs/andon/"]).ok().stdout;
    for name in refs.lines() {
        stage.git(&["update-ref", "-d", name]).ok();
    }
    check(&stage, "HEAD~4..HEAD")
        .exits(1)
        .says("error[unrecorded-halt]: repeated-failures halts here, the ledger has no such halt")
        .says("Try 3");
}

#[test]
fn an_answer_in_the_shell_of_an_agent_is_named() {
    let stage = halted();
    stage.set("CLAUDECODE", "1");
    std::fs::remove_file(stage.path(".andon/CHECKPOINT.md")).unwrap();
    stage.iterate("4\n", &["ok a", "ok b"], "Go on").ok();
    stage.iterate("5\n", &["ok a", "ok b"], "And on").ok();
    stage.unset("CLAUDECODE");
    assert_eq!(codes(&stage, "HEAD~5..HEAD"), ["agent-answer"]);
    check(&stage, "HEAD~5..HEAD").says("deleting CHECKPOINT.md in the shell of an agent (CLAUDECODE)");
    // Right above the answer too; a later range has nothing to do with it.
    assert_eq!(codes(&stage, "HEAD~2..HEAD"), ["agent-answer"]);
    assert_eq!(codes(&stage, "HEAD~1..HEAD"), [""; 0]);
}

#[test]
fn an_answered_halt_is_fine() {
    let stage = halted();
    stage.andon(&["resume", "--reason", "looked"]).ok();
    stage.iterate("4\n", &["ok a", "ok b"], "Four").ok();
    assert_eq!(codes(&stage, "HEAD~4..HEAD"), [""; 0]);
    stage.git(&["commit", "-q", "--amend", "-m", "Four, said better"]).ok();
    assert_eq!(codes(&stage, "HEAD~4..HEAD"), [""; 0]);
}

#[test]
fn the_configuration_of_the_base_counts() {
    let stage = clean();
    stage.write("andon.toml", "[test]\ncommand = \"sh check.sh\"\n[rules]\nuntested-edit = \"off\"\n");
    stage.write("code.txt", "loosened\n");
    stage.git(&["commit", "-qam", "Loosen"]).ok();
    check(&stage, "HEAD~1..HEAD")
        .exits(1)
        .says("warning[config-changed]: andon.toml changed in this range; the one of its base was used")
        .says("error[untested-code]");
    stage.git(&["rm", "-q", "andon.toml"]).ok();
    stage.git(&["commit", "-qm", "Remove"]).ok();
    check(&stage, "HEAD~2..HEAD").exits(1).says("error[config-removed]");
}

#[test]
fn path_rules_that_leave_code_out_do_not_make_it_tested() {
    let stage = clean();
    stage.write("andon.toml", "[test]\ncommand = \"sh check.sh\"\n[paths]\nignore = [\"code.txt\"]\n");
    stage.git(&["commit", "-qam", "Ignore the code"]);
    stage.andon(&["test"]).ok();
    stage.git(&["commit", "-qam", "Ignore the code"]);
    stage.write("code.txt", "never tested\n");
    stage.git(&["commit", "-qam", "Sneak"]).ok();
    check(&stage, "HEAD~2..HEAD")
        .exits(1)
        .says("warning[other-paths]")
        .says("error[untested-code]: code.txt is code by the path rules of the base")
        .says("Sneak");
}

#[test]
fn a_loosened_threshold_does_not_hide_a_halt() {
    let stage = Stage::installed();
    stage.write("andon.toml", "[test]\ncommand = \"sh check.sh\"\n[rules]\nrepeated-failures = \"off\"\nconsecutive-failures = \"off\"\n");
    for n in 1..5 {
        stage.iterate(&format!("{n}\n"), &["ok a", "not ok b"], &format!("Try {n}")).ok();
    }
    check(&stage, "HEAD~4..HEAD").exits(1).says("error[unrecorded-halt]").says("Try 3");
}
