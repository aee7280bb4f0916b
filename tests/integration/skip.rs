//! Overrides: a dirty bit is skipped for one commit, with a reason, and that shows wherever the commit is shown.

use insta::assert_snapshot;

use crate::support::{Stage, image::built};

/// An edit that no test ran on, staged.
fn untested() -> Stage {
    built!({
        let stage = Stage::installed();
        stage.steps("echo hotfix > code.txt; git add .");
        stage.git(&["commit", "-qm", "No"]).refused().says("untested-edit");
        stage
    })
}

fn skipped(stage: &Stage, reason: Option<&str>) {
    stage.set("ANDON_SKIP", "untested-edit");
    if let Some(reason) = reason {
        stage.set("ANDON_SKIP_REASON", reason);
    }
}

fn no_more_skips(stage: &Stage) {
    stage.unset("ANDON_SKIP");
    stage.unset("ANDON_SKIP_REASON");
}

#[test]
fn a_skip_with_a_reason_passes_once_and_is_shown_everywhere() {
    let stage = untested();
    skipped(&stage, Some("the site is down\u{1b}[2J"));
    let out = stage.git(&["commit", "-qm", "Hotfix"]);
    assert_snapshot!(out.brief(), @"exit 0, stderr: warning[untested-edit]: skipped for this commit: the code changed after the tests ran: code.txt");
    no_more_skips(&stage);
    let record = stage.record("HEAD");
    assert_eq!(record["skipped"][0]["rule"], "untested-edit");
    assert_eq!(record["skipped"][0]["reason"], "the site is down\u{1b}[2J");
    assert_eq!(record["skipped"][0].get("agent"), None);
    assert_eq!(record["gate"], "passed");
    assert_eq!(record["schema"], "andon/commit@1");
    let journal = stage.read(".git/andon/journal.jsonl");
    assert!(journal.contains(r#""type":"skipped""#) && journal.contains(r#""type":"refused""#), "{journal}");
    for shown in [&["show"][..], &["log"], &["status"], &["check", "HEAD~1..HEAD"]] {
        let out = stage.andon(shown).ok().says("untested-edit").says("the site is down");
        assert!(!out.all().contains('\u{1b}'), "{out}");
    }
    assert_snapshot!(stage.andon(&["check", "HEAD~1..HEAD"]).lacks("untested-code").shown(), @r"
    exit 0
    --- stdout
    warning[skipped-rule]: untested-edit was skipped for this commit: the site is down\u{1b}[2J
      --> HASH Hotfix
      help: have a person review the commit, then merge it by hand or test it and commit it again
    checked 1 commit in HEAD~1..HEAD: ok, 1 warning
    ");
    for json in [&["show", "--format", "json"][..], &["status", "--format", "json"]] {
        stage.andon(json).ok().says(r#""rule":"untested-edit""#);
    }
    // For one commit: the next one is asked again.
    stage.write("code.txt", "more\n");
    assert_snapshot!(stage.git(&["commit", "-qam", "No"]).brief(),
        @"exit 1, stderr: error[untested-edit]: commit refused: the code changed after the tests ran: code.txt");
}

#[test]
fn a_skip_without_a_reason_is_refused_with_the_command_that_gives_one() {
    let stage = untested();
    skipped(&stage, None);
    assert_snapshot!(stage.git(&["commit", "-qm", "No"]).shown(), @r#"
    exit 1
    --- stderr
    error[skip]: commit refused: untested-edit is to be skipped for this commit, and no reason is given
      help: ANDON_SKIP=untested-edit ANDON_SKIP_REASON="why" git commit, or in the message: ANDON_SKIP=untested-edit git commit -m "..." --trailer "Andon-Skip: untested-edit: why"
    "#);
    // Nothing was recorded, and nothing is left that would open the gate.
    no_more_skips(&stage);
    assert_snapshot!(stage.git(&["commit", "-qm", "No"]).brief(),
        @"exit 1, stderr: error[untested-edit]: commit refused: the code changed after the tests ran: code.txt");
}

#[test]
fn the_reason_may_stand_in_a_trailer() {
    let stage = untested();
    skipped(&stage, None);
    stage.git(&["commit", "-qm", "Hotfix", "--trailer", "Andon-Skip: failing-tests: no"]).refused();
    stage.git(&["commit", "-qm", "Hotfix", "--trailer", "Andon-Skip: untested-edit: site: down"]).ok();
    no_more_skips(&stage);
    assert_eq!(stage.record("HEAD")["skipped"][0]["reason"], "site: down");
    assert_snapshot!(stage.andon(&["check", "HEAD~1..HEAD"]).shown(), @"
    exit 0
    --- stdout
    warning[skipped-rule]: untested-edit was skipped for this commit: site: down
      --> HASH Hotfix
      help: have a person review the commit, then merge it by hand or test it and commit it again
    checked 1 commit in HEAD~1..HEAD: ok, 1 warning
    ");
    // A trailer alone skips nothing.
    stage.write("code.txt", "more\n");
    stage.git(&["commit", "-qam", "No", "--trailer", "Andon-Skip: untested-edit: x"]).refused();
}

#[test]
fn a_skip_in_the_shell_of_an_agent_is_named_and_fails_the_check() {
    let stage = untested();
    skipped(&stage, Some("I am sure"));
    stage.set("CLAUDECODE", "1");
    stage.git(&["commit", "-qm", "Hotfix"]).ok();
    stage.unset("CLAUDECODE");
    no_more_skips(&stage);
    assert_eq!(stage.record("HEAD")["skipped"][0]["agent"], "CLAUDECODE");
    stage.andon(&["show"]).ok().says("agent's shell: CLAUDECODE");
    assert_snapshot!(stage.andon(&["check", "HEAD~1..HEAD"]).shown(), @"
    exit 1
    --- stdout
    error[agent-skip]: untested-edit was skipped in the shell of an agent (CLAUDECODE): I am sure
      --> HASH Hotfix
      help: have a person review the commit, then merge it by hand or test it and commit it again
    note[unguarded-agent]: an agent made the commit, and no hook of its client was live
      --> HASH Hotfix
      help: andon agent install CLIENT --project
    checked 1 commit in HEAD~1..HEAD: 1 error
    ");
}

#[test]
fn what_is_no_dirty_bit_is_refused_with_a_suggestion() {
    let stage = untested();
    for (word, hint) in [
        ("untested-edt", "did you mean `untested-edit`?"),
        ("untested-edit,oscillation", "andon resume"),
        ("all", "known here: untested-edit"),
        ("identity-drift", ""),
    ] {
        stage.set("ANDON_SKIP", word);
        stage.set("ANDON_SKIP_REASON", "why");
        stage.git(&["commit", "-qm", "No"]).refused().says("ANDON_SKIP").says(hint);
    }
    // Even where nothing is to be skipped.
    stage.set("ANDON_SKIP", "bogus");
    assert_snapshot!(stage.git(&["commit", "-q", "--allow-empty", "-m", "No"]).shown(), @r#"
    exit 1
    --- stderr
    error[skip]: commit refused: ANDON_SKIP: no such rule: "bogus"
      help: known here: untested-edit, failing-tests, docs-not-updated
    "#);
    // Empty is unset.
    stage.set("ANDON_SKIP", " , ");
    stage.tested_commit("-qm", "Tested");
}

#[test]
fn a_halt_cannot_be_skipped() {
    let stage = Stage::installed();
    for number in 1..=3 {
        stage.iterate(&format!("{number}\n"), &["not ok b"], "Try").ok();
    }
    stage.write("code.txt", "4\n");
    skipped(&stage, Some("why"));
    assert_snapshot!(stage.git(&["commit", "-qam", "No"]).brief(), @"
    exit 1, stderr: error[repeated-failures]: commit refused: halted AGE: the loop is stuck on 1 failing test
    error[untested-edit]: the code changed after the tests ran: code.txt
    ");
    assert_snapshot!(stage.git(&["commit", "-qam", "No", "--no-verify"]).brief(),
        @"exit 1, stderr: error[repeated-failures]: commit refused: halted AGE: the loop is stuck on 1 failing test");
    let events = stage.read(".git/andon/journal.jsonl");
    assert!(!events.contains(r#""type":"skipped""#), "{events}");
}

#[test]
fn a_skip_that_was_not_needed_is_none() {
    let stage = Stage::installed();
    skipped(&stage, Some("why"));
    stage.iterate("1\n", &["ok a"], "Tested").ok().lacks("skipped");
    assert_eq!(stage.record("HEAD").get("skipped"), None);
}

#[test]
fn amending_the_message_does_not_lose_the_skip() {
    let stage = untested();
    skipped(&stage, Some("the site is down"));
    stage.git(&["commit", "-qm", "Hotfix"]).ok();
    no_more_skips(&stage);
    stage.git(&["commit", "-q", "--amend", "-m", "Hotfix, reworded"]).ok();
    assert_eq!(stage.record("HEAD")["skipped"][0]["reason"], "the site is down");
    assert_snapshot!(stage.andon(&["check", "HEAD~1..HEAD"]).shown(), @"
    exit 0
    --- stdout
    warning[skipped-rule]: untested-edit was skipped for this commit: the site is down
      --> HASH Hotfix, reworded
      help: have a person review the commit, then merge it by hand or test it and commit it again
    checked 1 commit in HEAD~1..HEAD: ok, 1 warning
    ");
}

#[test]
fn a_framework_that_leaves_the_gate_out_by_name_is_named() {
    let stage = untested();
    // What pre-commit does for `SKIP=andon git commit`: the gate does not run, post-commit does, and sees the variables.
    stage.set("SKIP", "andon");
    stage.set("PRE_COMMIT", "1");
    stage.git(&["commit", "-qm", "Hotfix", "--no-verify"]).ok();
    stage.unset("SKIP");
    stage.unset("PRE_COMMIT");
    assert_eq!(stage.record("HEAD")["gate"], "bypassed");
    assert_eq!(stage.record("HEAD")["skipped"][0]["reason"], "SKIP=andon");
    stage.andon(&["show"]).ok().says("hook-bypass: SKIP=andon").says("gate bypassed");
    assert_snapshot!(stage.andon(&["check", "HEAD~1..HEAD"]).lacks("--no-verify").shown(), @"
    exit 1
    --- stdout
    error[bypassed]: the commit bypassed the gate (SKIP=andon)
      --> HASH Hotfix
      help: have a person review the commit, then merge it by hand or commit it again with hooks on
    error[untested-code]: the code changed, and no test run on exactly this code is recorded
      --> HASH Hotfix
      help: git rebase -r --exec 'andon test && git commit --amend --no-edit' HASH
    checked 1 commit in HEAD~1..HEAD: 2 errors
    ");
}

#[test]
fn the_same_refusal_is_told_once() {
    let stage = untested();
    for _ in 0..5 {
        stage.git(&["commit", "-qm", "No"]).refused();
    }
    let journal = stage.read(".git/andon/journal.jsonl");
    assert_eq!(journal.matches(r#""type":"refused""#).count(), 1, "{journal}");
}

#[test]
fn every_use_of_the_stop_switch_shows_in_check() {
    let stage = Stage::installed();
    let base = stage.head();
    let range = format!("{base}..HEAD");
    stage.steps("andon stop --reason lunch; andon resume --reason back");
    stage.iterate("1\n", &["ok a"], "One").ok();
    assert_snapshot!(stage.andon(&["check", &range]).brief(), @"
    exit 0, stdout: note[user-stop]: the loop was stopped by hand: .andon/STOP exists: a person stopped this loop: lunch --> HASH
    note[answered-halt]: the user-stop halt was answered by A. Author <author@example.org> with andon resume --yes, without a terminal: back --> HASH
    checked 1 commit in HASH..HEAD: ok
    ");
    stage.steps("andon pause --reason review; andon resume --reason reviewed");
    stage.steps("andon resume --counter consecutive-failures --reason 'flaky network'");
    stage.iterate("2\n", &["ok a"], "Two").ok();
    let out = stage.andon(&["check", &range]);
    assert_snapshot!(out.shown());
}

#[test]
fn a_cleared_blocker_shows_in_check() {
    let stage = Stage::installed();
    let base = stage.head();
    stage.write("andon.toml", format!("{}[rules]\nrepeated-failures = \"off\"\n", stage.read("andon.toml")));
    for number in 1..=3 {
        stage.iterate(&format!("{number}\n"), &[&format!("not ok b{number}")], "Try");
    }
    assert!(stage.exists(".andon/BLOCKER_REPORT.md"));
    std::fs::remove_file(stage.path(".andon/BLOCKER_REPORT.md")).unwrap();
    stage.iterate("4\n", &["ok a"], "Mended").ok();
    assert_snapshot!(stage.andon(&["check", &format!("{base}..HEAD")]).shown(), @"
    exit 0
    --- stdout
    warning[config-changed]: andon.toml changed in this range; the one of its base was used, HASH
      help: git diff HASH HASH -- andon.toml
    note[cleared-blocker]: the consecutive-failures halt was answered by A. Author <author@example.org> by deleting BLOCKER_REPORT.md
      --> HASH Try
      help: andon log --events
    checked 4 commits in HASH..HEAD: ok, 1 warning
    ");
}
