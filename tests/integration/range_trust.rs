//! `andon check` believes nothing that a branch says of itself: not its configuration, not what its commits call
//! themselves, not the better one of two records.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod buttons;
mod claims;

use insta::assert_snapshot;

use crate::support::{Out, Stage};

const CONFIG: &str = "[test]\ncommand = \"sh check.sh\"\n";

/// The codes of the errors, sorted, each once; with them those of missing evidence.
fn codes(out: &Out) -> Vec<String> {
    let value: serde_json::Value =
        serde_json::from_str(&out.stdout).unwrap_or_else(|err| panic!("{err}: {out}"));
    let grave = |one: &&serde_json::Value| {
        one["level"].is_null() || one["level"] == "block" || one["level"] == "halt"
    };
    let both = value["violations"].as_array().unwrap().iter().chain(value["undecided"].as_array().unwrap());
    let mut codes: Vec<String> =
        both.filter(grave).map(|one| one["code"].as_str().unwrap().to_owned()).collect();
    codes.sort();
    codes.dedup();
    codes
}

/// The exit code of `check`, and the codes of what it says.
fn judged(stage: &Stage, range: &str) -> (i32, Vec<String>) {
    let out = stage.andon(&["check", range, "--format", "json"]);
    (out.code, codes(&out))
}

fn outcome(code: i32, codes: &[&str]) -> (i32, Vec<String>) {
    (code, codes.iter().map(ToString::to_string).collect())
}

fn edit_note(stage: &Stage, revision: &str, edit: impl Fn(&mut serde_json::Value)) {
    let mut record = stage.record(revision);
    edit(&mut record);
    stage.git(&["notes", "--ref=andon", "add", "-f", "-m", &record.to_string(), revision]).ok();
}

/// A repository whose main has an `andon.toml` since a branch was cut from it.
fn cut_before() -> Stage {
    let stage = Stage::installed();
    stage.git(&["rm", "-q", "--cached", "andon.toml"]).ok();
    stage.iterate("without\n", &["ok a", "ok b"], "Without").ok();
    stage.steps("git branch early; git add andon.toml");
    stage.iterate("with\n", &["ok a", "ok b"], "With").ok();
    stage
}

#[test]
fn a_branch_from_before_the_configuration_is_judged_by_that_of_the_left_side() {
    let stage = cut_before();
    // Seen from the other side the defaults count: the left side has no configuration.
    assert_snapshot!(stage.andon(&["check", "early..main"]).brief(), @"
    exit 0, stdout: warning[config-added]: andon.toml is new in this range; its base HASH has none, so the defaults were used
    warning[other-paths]: the record holds under the commit's own configuration, not under that of the base --> HASH With
    checked 1 commit in early..main: ok, 2 warnings
    ");
    stage.git(&["switch", "-q", "early"]).ok();
    stage.write("andon.toml", "[rules]\nuntested-edit = \"off\"\nhook-bypass = \"off\"\n");
    stage.steps("echo untested > code.txt; git add .; git commit -qm 'Own rules' --no-verify");
    let main = stage.git(&["rev-parse", "main"]).ok().stdout.trim().to_owned();
    for range in ["main..early", "main...early"] {
        let said = stage.andon(&["check", range]).exits(1).says("error[untested-code]");
        let said = said.says("error[bypassed]");
        said.says(&format!("the one of its base was used, {}", &main[..12]));
    }
    assert_snapshot!(stage.andon(&["check", "--from-ref", "main", "--to-ref", "early"]).brief(), @"
    exit 1, stdout: error[bypassed]: the commit bypassed the gate (--no-verify) --> HASH Own rules
    error[untested-code]: code.txt is code by the path rules of the base; the commit's own rules leave it out, so no test run on it is recorded --> HASH Own rules
    error[untested-code]: the code changed, and no test run on exactly this code is recorded --> HASH Own rules
    warning[config-changed]: andon.toml changed in this range; the one of its base was used, HASH
    warning[other-paths]: the record holds under the commit's own configuration, not under that of the base --> HASH Own rules
    checked 1 commit in main..early: 3 errors, 2 warnings
    ");
    let json = stage.andon(&["check", "main..early", "--format", "json"]).stdout;
    assert_eq!(serde_json::from_str::<serde_json::Value>(&json).unwrap()["configuration"], main);
}

#[test]
fn a_branch_that_is_older_than_the_configuration_is_told_so_without_blame() {
    let stage = Stage::installed();
    stage.git(&["branch", "topic"]).ok();
    stage.write("andon.toml", format!("{CONFIG}[paths]\ndocs = [\"notes/**\"]\n"));
    stage.steps("git commit -qam Docs; git switch -q topic");
    stage.iterate("2\n", &["ok a", "ok b"], "Two").ok();
    assert_snapshot!(stage.andon(&["check", "main..topic"]).lacks("config-changed").shown(), @"
    exit 0
    --- stdout
    note[config-older]: andon.toml is another one at HASH than here, where it is older; that of HASH was used, with the tests that the branch knows
      help: git diff HASH HASH -- andon.toml
    checked 1 commit in main..topic: ok
    ");
}

#[test]
fn a_broken_configuration_on_the_left_is_an_error_with_its_place() {
    let stage = Stage::installed();
    stage.write("andon.toml", "[test\n");
    stage.git(&["commit", "-qam", "Break", "--no-verify"]);
    let broken = stage.git(&["rev-parse", "--short=12", "HEAD"]).ok().stdout.trim().to_owned();
    stage.write("andon.toml", CONFIG);
    stage.git(&["commit", "-qam", "Mend", "--no-verify"]);
    stage.andon(&["check", "HEAD~1..HEAD"]).exits(2).says(&format!("{broken}:andon.toml"));
    stage.andon(&["check", "HEAD~2..HEAD~1"]).lacks(":andon.toml");
}

#[test]
fn empty_and_reversed_ranges_say_so() {
    let stage = Stage::installed();
    stage.iterate("2\n", &["ok a", "ok b"], "Two").ok();
    let head = stage.head();
    let out = stage.andon(&["check", "HEAD..HEAD~1"]).exits(2);
    assert_eq!(
        out.stderr,
        "error: the range is the wrong way round: HEAD~1 is an ancestor of HEAD, so it holds no commit\n  \
         help: andon check HEAD~1..HEAD\n"
    );
    let same = format!(
        "error: nothing to check: main and HEAD are the same commit, {}\n  \
         help: to judge its newest commit: andon check HEAD~1..HEAD\n",
        &head[..12]
    );
    assert_eq!(stage.andon(&["check", "main..HEAD"]).exits(2).stderr, same);
    assert_eq!(stage.andon(&["check", "main...HEAD"]).exits(2).stderr, same);
    assert_eq!(stage.andon(&["check", "--from-ref", "main", "--to-ref", "HEAD"]).exits(2).stderr, same);
    assert_snapshot!(stage.andon(&["check", "HEAD~1..HEAD~1"]).shown(), @"
    exit 2
    --- stderr
    error: nothing to check: HEAD~1 and HEAD~1 are the same commit, HASH
      help: to judge its newest commit: andon check HEAD~1
    ");
    stage.andon(&["check", "HEAD~1..HEAD"]).ok();
    // A new branch, as a forge names it.
    assert_snapshot!(stage.andon(&["check", &format!("{}..HEAD", "0".repeat(40))]).brief(), @"exit 0, stdout: checked 2 commits in HEAD: ok");
    // A framework asks whatever is pushed.
    stage.set("PRE_COMMIT_FROM_REF", "HEAD");
    stage.set("PRE_COMMIT_TO_REF", "HEAD~1");
    assert_snapshot!(stage.andon(&["check"]).brief(), @"exit 0, stdout: checked 0 commits in HEAD..HEAD~1: ok");
}

#[test]
fn two_records_that_contradict_each_other_are_an_error_and_the_worst_counts() {
    let stage = Stage::installed();
    stage.steps("echo bypass > code.txt; andon test; git commit -qam Bypass --no-verify");
    let honest = stage.record("HEAD");
    for recorded_at in ["2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z"] {
        let mut forged = honest.clone();
        forged["gate"] = "passed".into();
        forged["recorded_at"] = recorded_at.into();
        let note = format!("{honest}\n{forged}\n");
        stage.git(&["notes", "--ref=andon", "add", "-f", "-m", &note, "HEAD"]).ok();
        assert_eq!(judged(&stage, "HEAD~1..HEAD"), outcome(1, &["bypassed", "contradicting-records"]));
        stage.andon(&["check", "HEAD~1..HEAD"]).says("contradict each other in their gate");
        stage.andon(&["show"]).says("bypassed");
    }
}

#[test]
fn test_results_that_contradict_themselves_or_each_other_are_an_error() {
    let stage = Stage::installed();
    stage.iterate("red\n", &["ok a", "not ok b"], "Red").ok();
    let honest = stage.record("HEAD");
    edit_note(&stage, "HEAD", |record| record["tests"]["status"] = "passed".into());
    assert_eq!(judged(&stage, "HEAD~1..HEAD"), outcome(1, &["edited-record"]));
    assert_snapshot!(stage.andon(&["check", "HEAD~1..HEAD"]).shown(), @"
    exit 1
    --- stdout
    error[edited-record]: the record contradicts itself: the tests passed, and it names tests that fail
      --> HASH Red
      help: git notes --ref=andon show HASH
    error[edited-record]: the record was edited: an earlier version of its note says that the tests of this code did not pass
      --> HASH Red
      help: git log -p refs/notes/andon
    checked 1 commit in HEAD~1..HEAD: 2 errors
    ");
    let whitewashed = |record: &mut serde_json::Value| {
        let tests = &mut record["tests"];
        tests["status"] = "passed".into();
        (tests["failed"], tests["passed"], tests["failing"]) = (0.into(), 2.into(), serde_json::json!([]));
    };
    edit_note(&stage, "HEAD", whitewashed);
    assert_snapshot!(stage.andon(&["check", "HEAD~1..HEAD"]).shown(), @"
    exit 1
    --- stdout
    error[edited-record]: the record contradicts itself: the signature of its tests is that of another result
      --> HASH Red
      help: git notes --ref=andon show HASH
    error[edited-record]: the record was edited: an earlier version of its note says that the tests of this code did not pass
      --> HASH Red
      help: git log -p refs/notes/andon
    checked 1 commit in HEAD~1..HEAD: 2 errors
    ");
    // With a second line, the one that fails counts.
    let mut forged = honest.clone();
    whitewashed(&mut forged);
    let note = format!("{honest}\n{forged}\n");
    stage.git(&["notes", "--ref=andon", "add", "-f", "-m", &note, "HEAD"]).ok();
    assert_eq!(judged(&stage, "HEAD~1..HEAD"), outcome(1, &["contradicting-records", "failing-tests"]));
}

#[test]
fn a_gate_that_was_changed_later_shows_in_the_history_of_the_notes() {
    let stage = Stage::installed();
    stage.steps("echo bypass > code.txt; andon test; git commit -qam Bypass --no-verify");
    edit_note(&stage, "HEAD", |record| record["gate"] = "passed".into());
    assert_eq!(judged(&stage, "HEAD~1..HEAD"), outcome(1, &["edited-record"]));
    assert_snapshot!(stage.andon(&["check", "HEAD~1..HEAD"]).brief(), @"
    exit 1, stdout: error[edited-record]: the record was edited: an earlier version of its note says that the commit bypassed the gate --> HASH Bypass
    checked 1 commit in HEAD~1..HEAD: 1 error
    ");
    // Away with it altogether: what was there is not missing, it is known.
    stage.git(&["notes", "--ref=andon", "remove", "HEAD"]).ok();
    assert_eq!(judged(&stage, "HEAD~1..HEAD"), outcome(1, &["edited-record", "missing-record"]));
}

#[test]
fn the_number_of_an_iteration_is_a_memo_that_proves_nothing() {
    let stage = Stage::installed();
    for n in 2..5 {
        stage.iterate(&format!("{n}\n"), &["ok a", "ok b"], &format!("Step {n}")).ok();
    }
    for number in [1, 3, 99] {
        edit_note(&stage, "HEAD", |record| record["iteration"] = number.into());
        assert_eq!(judged(&stage, "HEAD~3..HEAD"), outcome(0, &[]), "{number}");
    }
    stage.pass(7 * 3600);
    stage.iterate("after a pause\n", &["ok a", "ok b"], "Five").ok();
    assert_eq!(stage.record("HEAD")["iteration"], 1);
    assert_eq!(judged(&stage, "HEAD~1..HEAD"), outcome(0, &[]));
}

#[test]
fn a_node_that_its_trailer_contradicts_was_edited() {
    let stage = Stage::installed();
    let nodes = "[workflow]\nnodes.coder = { trailer = \"Agent: coder\" }\n\
                 nodes.reviewer = { trailer = \"Agent: reviewer\" }\n";
    stage.write("andon.toml", format!("{CONFIG}{nodes}"));
    stage.steps("andon config check; git commit -qam Workflow; echo 2 > code.txt");
    stage.tested_commit("-qam", "Two\n\nAgent: coder");
    assert_eq!(stage.record("HEAD")["node"], "coder");
    assert_eq!(judged(&stage, "HEAD~1..HEAD"), outcome(0, &[]));
    edit_note(&stage, "HEAD", |record| record["node"] = "reviewer".into());
    assert_eq!(judged(&stage, "HEAD~1..HEAD"), outcome(1, &["edited-record"]));
    assert_snapshot!(stage.andon(&["check", "HEAD~1..HEAD"]).shown(), @r#"
    exit 1
    --- stdout
    error[edited-record]: the record was edited: its node is "reviewer", and author and trailers of the commit say another
      --> HASH Two
      help: git notes --ref=andon show HASH
    checked 1 commit in HEAD~1..HEAD: 1 error
    "#);
}
