//! What somebody may do to the evidence, and what `andon check` says of it: each in its own words.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use crate::support::{Out, Stage};

/// Three clean commits on top of the first.
fn clean() -> Stage {
    let stage = Stage::installed();
    for n in 2..5 {
        stage.iterate(&format!("{n}\n"), &["ok a", "ok b"], &format!("Step {n}")).ok();
    }
    check(&stage).ok();
    stage
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
    check(&stage).exits(1).says("error[edited-record]").says("error[broken-chain]");

    let stage = clean();
    stage.git(&["notes", "--ref=andon", "remove", "HEAD~1"]).ok();
    check(&stage).exits(1).says("error[missing-record]").says("the record of its parent was dropped");

    let stage = clean();
    set_note(&stage, "HEAD", &note(&stage, "HEAD~1"));
    check(&stage).exits(1).says("error[copied-record]: the record is that of another commit");
}

#[test]
fn a_second_line_that_speaks_better_of_a_commit_is_not_believed() {
    let stage = Stage::installed();
    stage.write("code.txt", "bypass\n");
    stage.git(&["commit", "-qam", "Bypass", "--no-verify"]).ok();
    stage.iterate("on\n", &["ok a", "ok b"], "On").ok();
    stage.andon(&["check", "HEAD~2..HEAD"]).exits(1).says("did not pass the gate (--no-verify)");
    let better = note(&stage, "HEAD~1")
        .replace("\"gate\":\"bypassed\"", "\"gate\":\"passed\"")
        .replace("2026-11-20", "2026-11-19");
    stage.git(&["notes", "--ref=andon", "append", "--no-separator", "-m", &better, "HEAD~1"]).ok();
    assert_eq!(note(&stage, "HEAD~1").trim().lines().count(), 2);
    stage.andon(&["check", "HEAD~2..HEAD"]).exits(1).says("did not pass the gate (--no-verify)");
}

#[test]
fn a_record_that_names_no_predecessor_breaks_the_chain() {
    let stage = clean();
    let mut record = stage.record("HEAD");
    record.as_object_mut().unwrap().remove("prev");
    set_note(&stage, "HEAD", &record.to_string());
    check(&stage).exits(1).says("error[broken-chain]: the record does not name its parent's, which is there");
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
    check(&stage)
        .exits(1)
        .says("warning[chain-begins-anew]")
        .says("error[broken-chain]: the record of its parent was edited after this one was written");
}

#[test]
fn the_gate_avoided() {
    let stage = clean();
    stage.write("code.txt", "bypass\n");
    stage.andon(&["test"]).ok();
    stage.git(&["commit", "-qam", "Bypass", "--no-verify"]).ok();
    check(&stage).exits(1).says("error[bypassed]: the commit did not pass the gate (--no-verify)");

    let stage = clean();
    stage.write("code.txt", "off\n");
    stage.andon(&["test"]).ok();
    stage.git(&["-c", "core.hooksPath=/nowhere", "commit", "-qam", "Off"]).ok();
    check(&stage).exits(3).says("error[missing-record]: the commit has no record");
    stage.iterate("on\n", &["ok a", "ok b"], "On").ok();
    check(&stage).exits(1).says("error[bypassed]: the commit was made while the hooks were off");
}

#[test]
fn a_record_written_only_after_the_fact() {
    let stage = clean();
    stage.write("code.txt", "off\n");
    stage.andon(&["test"]).ok();
    stage.andon(&["hook", "pre-commit"]).ok();
    stage.git(&["add", "."]).ok();
    stage.andon(&["hook", "pre-commit"]).ok();
    stage.git(&["-c", "core.hooksPath=/nowhere", "commit", "-qm", "Off"]).ok();
    stage.pass(3 * 3600);
    stage.andon(&["hook", "post-commit"]);
    check(&stage).exits(1).says("error[late-record]: the record was written long after the commit");
}

#[test]
fn a_committer_date_of_long_ago_is_said_and_not_refused() {
    let stage = clean();
    stage.write("code.txt", "dated\n");
    stage.andon(&["test"]).ok();
    for name in ["GIT_COMMITTER_DATE", "GIT_AUTHOR_DATE"] {
        stage.set(name, "2001-02-03T04:05:06Z");
    }
    stage.git(&["commit", "-qam", "Dated"]).ok();
    check(&stage)
        .exits(0)
        .says("warning[late-record]: the record is much younger than the committer date, which was set back");
}

#[test]
fn the_configuration_loosened_and_the_test_command_changed_in_the_range() {
    let stage = clean();
    stage.write("andon.toml", "[test]\ncommand = \"sh check.sh\"\n[rules]\nuntested-edit = \"off\"\n");
    stage.git(&["commit", "-qam", "Loosen"]);
    stage.write("code.txt", "untested\n");
    stage.git(&["commit", "-qam", "Untested"]);
    check(&stage).exits(1).says("warning[config-changed]: andon.toml changed in this range");

    let stage = clean();
    stage.write("andon.toml", "[test]\ncommand = \"echo 1..1; echo ok 1 - a\"\n");
    stage.andon(&["test"]).ok();
    stage.git(&["commit", "-qam", "Test less"]).ok();
    check(&stage)
        .exits(1)
        .says("error[other-test-command]: its tests were run by `echo 1..1; echo ok 1 - a`")
        .says("the base of the range says `sh check.sh`");
}

#[test]
fn tests_claimed_on_other_code() {
    let stage = clean();
    let mut record = stage.record("HEAD");
    record["tests"]["code"] = "0".repeat(64).into();
    set_note(&stage, "HEAD", &record.to_string());
    check(&stage).exits(1).says("error[foreign-tests]: the record claims tests on other code");
}

#[test]
fn the_face_of_a_halt_deleted_by_an_agent() {
    let stage = halted();
    stage.set("CLAUDECODE", "1");
    std::fs::remove_file(stage.path(".andon/CHECKPOINT.md")).unwrap();
    stage.iterate("4\n", &["ok a", "ok b"], "Go on").ok();
    check(&stage)
        .exits(1)
        .says("error[agent-answer]")
        .says("deleting CHECKPOINT.md in the shell of an agent");
}

#[test]
fn a_ledger_rewound_removed_or_forced() {
    let stage = halted();
    let name = ledger(&stage);
    // Another writer has seen the halt.
    let writer = stage.read(".git/andon/writer");
    std::fs::write(stage.path(".git/andon/writer"), format!("{}\n", "a".repeat(32))).unwrap();
    stage.andon(&["resume", "--reason", "seen by another"]).ok();
    std::fs::write(stage.path(".git/andon/writer"), &writer).unwrap();
    let tip = stage.git(&["rev-parse", &name]).ok().stdout;
    stage.andon(&["check", "HEAD"]).lacks("-ledger]");
    stage.git(&["update-ref", "-d", &name]).ok();
    stage
        .andon(&["check", "HEAD"])
        .exits(1)
        .says("error[missing-ledger]")
        .says("is gone: another ledger has seen its entry");
    // Rewritten from the start: the halt is not in it.
    let tree = stage.git(&["rev-parse", &format!("{}^{{tree}}", tip.trim())]).ok().stdout;
    let other = stage.git(&["commit-tree", tree.trim(), "-m", "loop.halted"]).ok().stdout;
    stage.git(&["update-ref", &name, other.trim()]).ok();
    stage.andon(&["check", "HEAD"]).exits(1).says("error[rewound-ledger]").says("went back");
    // A remote that holds the true one.
    let tracking = name.replace("refs/andon/ledger/", "refs/andon/remote/origin/ledger/");
    stage.git(&["update-ref", &tracking, tip.trim()]).ok();
    stage.andon(&["check", "HEAD"]).exits(1).says("error[forked-ledger]: there are two ledgers of");
}

#[test]
fn objects_shown_in_place_of_others() {
    let stage = clean();
    let other = stage.git(&["commit-tree", "HEAD^{tree}", "-p", "HEAD~2", "-m", "Shown instead"]).ok().stdout;
    stage.git(&["replace", "HEAD~1", other.trim()]).ok();
    check(&stage).exits(1).says("error[replaced-object]: git shows another object in place of this commit");
    stage.set("GIT_NO_REPLACE_OBJECTS", "1");
    check(&stage).exits(1).says("error[replaced-object]");
    stage.unset("GIT_NO_REPLACE_OBJECTS");
    stage.git(&["replace", "-d", "HEAD~1"]).ok();
    let id = stage.git(&["rev-parse", "HEAD~1"]).ok().stdout;
    stage.git(&["replace", id.trim(), other.trim()]).ok();
    stage.andon(&["check", "HEAD~1..HEAD"]).says("warning[replaced-object]");
}

#[test]
fn parents_that_a_graft_invents() {
    let stage = clean();
    let (tip, root) = (stage.head(), stage.git(&["rev-parse", "HEAD~3"]).ok().stdout);
    stage.write(".git/info/grafts", format!("{tip} {root}"));
    stage
        .andon(&["check", &format!("{}..HEAD", root.trim())])
        .exits(1)
        .says("error[grafted-history]: a graft gives");
}

#[test]
fn a_clock_set_back() {
    let stage = clean();
    stage.pass(-7200);
    stage.iterate("earlier\n", &["ok a", "ok b"], "Earlier").ok();
    check(&stage).ok().says("warning[clock-set-back]: the record is older than that of its parent");
    stage.pass(7200);
    stage.set("GIT_COMMITTER_DATE", "2026-12-24T00:00:00Z");
    stage.iterate("later\n", &["ok a", "ok b"], "Later").ok();
    check(&stage).says("the record is older than its commit");
}

#[test]
fn a_name_that_is_not_the_committers() {
    let stage = clean();
    stage.write("code.txt", "forged\n");
    stage.andon(&["test"]).ok();
    stage.git(&["commit", "-qam", "Forged", "--author", "The Boss <boss@example.org>"]).ok();
    check(&stage).ok().says("warning[forged-author]: the author <boss@example.org> is not who committed it");
}

#[test]
fn a_squash_is_proved_by_its_tree() {
    let stage = clean();
    stage.git(&["switch", "-qc", "topic"]).ok();
    for n in 0..3 {
        stage.write("topic.txt", format!("{n}\n"));
        stage.git(&["add", "."]).ok();
        stage.andon(&["test"]).ok();
        stage.git(&["commit", "-qm", &format!("Topic {n}")]).ok();
    }
    stage.git(&["switch", "-q", "main"]).ok();
    let squash = |stage: &Stage| {
        stage.git(&["-c", "core.hooksPath=/nowhere", "merge", "-q", "--squash", "topic"]).ok();
        stage.git(&["-c", "core.hooksPath=/nowhere", "commit", "-qm", "Squashed"]).ok();
    };
    let base = stage.head();
    squash(&stage);
    let range = format!("{base}..topic");
    let out = stage.andon(&["check", "--squash-of", &range]).ok();
    assert_eq!(out.stdout, format!("checked 3 commits in {range}: ok\n"));
    // Something else slipped in.
    stage.write("code.txt", "slipped in\n");
    stage
        .git(&["-c", "core.hooksPath=/nowhere", "commit", "-qa", "--amend", "-m", "Squashed, and more"])
        .ok();
    stage
        .andon(&["check", "HEAD", "--squash-of", &range])
        .exits(1)
        .says("error[not-the-squash]: the commit is no squash of that range: 1 path(s) differ")
        .says("first: code.txt");
    // Onto a newer base.
    stage.git(&["reset", "-q", "--hard", &base]).ok();
    stage.iterate("newer\n", &["ok a", "ok b"], "Newer").ok();
    squash(&stage);
    stage.andon(&["check", "--squash-of", &range]).ok().says("warning[untested-squash]");
    // What was bypassed on the branch is told there.
    stage.git(&["switch", "-q", "topic"]).ok();
    stage.write("topic.txt", "bypassed\n");
    stage.git(&["commit", "-qam", "Bypassed", "--no-verify"]).ok();
    stage.git(&["switch", "-q", "main"]).ok();
    stage.git(&["reset", "-q", "--hard", &base]).ok();
    squash(&stage);
    stage.andon(&["check", "--squash-of", &range]).exits(1).says("error[bypassed]");
}
