//! Halts that were forced, removed or answered, and settings that were loosened.

use insta::assert_snapshot;

use super::{check, clean, codes, halted, undecided};
use crate::support::Stage;
use andon_core::domain::{Ack, AckHow, LedgerEvent};
use andon_git::{Repo, RepoEnv};
use andon_store::Ledger;
use andon_testkit::samples::ack;

#[test]
fn commits_forced_through_a_halt_are_named() {
    let stage = halted();
    stage.git(&["commit", "-q", "--allow-empty", "-m", "No"]).refused();
    stage.write("code.txt", "forced\n");
    stage.tests(&["ok a", "ok b"]);
    stage.andon(&["test"]).ok();
    stage.git(&["-c", "core.hooksPath=/dev/null", "commit", "-qam", "Forced"]).ok();
    assert_eq!(codes(&stage, "HEAD~4..HEAD"), ["halted-commit", "open-halt"]);
    assert_eq!(undecided(&stage, "HEAD~4..HEAD"), ["missing-record"]);
    assert_snapshot!(check(&stage, "HEAD~4..HEAD").shown(), @r"
    exit 1
    --- stdout
    error[open-halt]: the loop on this branch is halted by repeated-failures: the loop is stuck on 1 failing test: the same test failed 3 times in a row although the code changed each time: b (since TIME, 3 commits; tests: 1 of 2 failing)
      --> HASH Try 3
      help: a person decides, then runs: andon resume --reason '<decision>'
      help: look at it: git diff HASH HASH
    error[halted-commit]: made while the loop was halted by repeated-failures at HASH
      --> HASH Forced
      help: a person answers the halt where it was made: andon resume --reason '<decision>'
    error[missing-record]: the commit has no record
      --> HASH Forced
      help: where the commit was made, if Andon ran there: andon sync
      help: to let the tests of the tip count instead: andon check --test 'HEAD~4..HEAD'
    checked 4 commits in HEAD~4..HEAD: 2 errors
    ");
    // Answered later: what was forced stays forced, what follows is free.
    stage.andon(&["resume", "--reason", "seen"]).ok();
    stage.iterate("free\n", &["ok a", "ok b"], "Free").ok();
    assert_snapshot!(check(&stage, "HEAD~5..HEAD").lacks("Free").shown(), @"
    exit 1
    --- stdout
    error[bypassed]: the commit was made while the hooks were off
      --> HASH Forced
      help: have a person review the commit, then merge it by hand or commit it again with hooks on
    error[halted-commit]: made while the loop was halted by repeated-failures at HASH
      --> HASH Forced
      help: a person answers the halt where it was made: andon resume --reason '<decision>'
    note[answered-halt]: the repeated-failures halt was answered by A. Author <author@example.org> with andon resume --yes, without a terminal: seen
      --> HASH Forced
      help: andon log --events
    checked 5 commits in HEAD~5..HEAD: 2 errors
    ");
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
    stage.forget();
    assert_snapshot!(check(&stage, "HEAD~4..HEAD").shown(), @"
    exit 1
    --- stdout
    error[unrecorded-halt]: repeated-failures halts here, the ledger has no such halt, and the work went on
      --> HASH Try 3
      help: andon sync --fetch-only
    error[missing-ledger]: the record names entry HASH of the ledger of HASH, which is not there: it was removed, rewound or not fetched
      --> HASH On
      help: where no clone has it, a person finds out who removed refs/andon/ledger/HASH: andon sync
    checked 4 commits in HEAD~4..HEAD: 2 errors
    ");
}

#[test]
fn budgets_of_the_declared_workflow_are_those_of_the_hooks() {
    let stage = Stage::installed();
    let node = |name: &str| format!("nodes.{name} = {{ trailer = \"Agent: {name}\" }}\n");
    stage.write(
        "andon.toml",
        format!(
            "[test]\ncommand = \"sh check.sh\"\n[workflow]\n{}{}edges = [\n  {{ from = \"coder\", to = \"verifier\" }},\n  \
             {{ from = \"verifier\", to = \"coder\", anchor = true, max_iterations = 2 }},\n]\n",
            node("coder"),
            node("verifier")
        ),
    );
    stage.git(&["commit", "-qam", "Declare the workflow"]).ok();
    let base = stage.head();
    let turn = |number: usize, name: &str| {
        stage.iterate(&format!("{number}\n"), &["ok a", "ok b"], &format!("Turn {number}\n\nAgent: {name}"))
    };
    let halted = (1..=12).zip(["coder", "verifier"].into_iter().cycle()).find(|(number, name)| {
        turn(*number, name);
        stage.andon(&["status", "--exit-code"]).code == 1
    });
    assert!(halted.is_some(), "{}", stage.andon(&["status"]));
    stage.andon(&["status"]).says("cycle-iterations");
    stage.andon(&["resume", "--reason", "go on"]).ok();
    turn(20, "coder").ok();
    turn(21, "verifier").ok();
    let range = format!("{base}..HEAD");
    assert_eq!(codes(&stage, &range), [""; 0], "the ledger has the halt and its answer");
    let refs = stage.git(&["for-each-ref", "--format=%(refname)", "refs/andon/"]).ok().stdout;
    for name in refs.lines() {
        stage.git(&["update-ref", "-d", name]).ok();
    }
    stage.forget();
    check(&stage, &range).exits(1).says("unrecorded-halt").says("cycle-iterations halts here");
}

#[test]
fn an_answer_in_the_shell_of_an_agent_is_named() {
    let stage = halted();
    // As versions recorded it to which a deletion was an answer there.
    let repo = Repo::open(stage.dir(), &RepoEnv::default()).unwrap();
    let ledger = Ledger::open(&repo);
    let halt = ledger.newest_halt("main").unwrap().0.unwrap().halt;
    let ack = Ack {
        halt: Some(halt.id),
        by: "A. Author <author@example.org>".to_owned(),
        how: AckHow::FileDeleted,
        agent: Some("CLAUDECODE".to_owned()),
        reason: String::new(),
        head: repo.head().unwrap().commit(),
        ..ack()
    };
    ledger.append(&LedgerEvent::Acknowledged(Box::new(ack.clone())), ack.at).unwrap();
    std::fs::remove_file(stage.path(".andon/CHECKPOINT.md")).unwrap();
    stage.set("CLAUDECODE", "1");
    stage.iterate("4\n", &["ok a", "ok b"], "Go on").ok();
    stage.iterate("5\n", &["ok a", "ok b"], "And on").ok();
    stage.unset("CLAUDECODE");
    assert_eq!(codes(&stage, "HEAD~5..HEAD"), ["agent-answer"]);
    assert_snapshot!(check(&stage, "HEAD~5..HEAD").shown(), @r#"
    exit 1
    --- stdout
    error[agent-answer]: the repeated-failures halt was answered by deleting CHECKPOINT.md in the shell of an agent (CLAUDECODE)
      --> HASH Try 3
      help: a person reads the work since then; guard.ack = "resume" closes this way
    note[answered-halt]: the repeated-failures halt was answered by A. Author <author@example.org> by deleting CHECKPOINT.md
      --> HASH Try 3
      help: andon log --events
    note[unguarded-agent]: an agent made the commit, and no hook of its client was live
      --> HASH Go on
      --> HASH And on
      help: andon agent install CLIENT --project
    checked 5 commits in HEAD~5..HEAD: 1 error
    "#);
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
    assert_snapshot!(check(&stage, "HEAD~1..HEAD").shown(), @"
    exit 1
    --- stdout
    error[untested-code]: the code changed, and no test run on exactly this code is recorded
      --> HASH Loosen
      help: git rebase -r --exec 'andon test && git commit --amend --no-edit' HASH
    warning[config-changed]: andon.toml changed in this range; the one of its base was used, HASH
      help: git diff HASH HASH -- andon.toml
    checked 1 commit in HEAD~1..HEAD: 1 error, 1 warning
    ");
    stage.git(&["rm", "-q", "andon.toml"]).ok();
    stage.git(&["commit", "-qm", "Remove"]).ok();
    assert_snapshot!(check(&stage, "HEAD~2..HEAD").shown(), @"
    exit 1
    --- stdout
    error[config-removed]: andon.toml was removed in this range; the one of its base was used, HASH
      help: put it back: git checkout HASH -- andon.toml && git commit -m 'Bring andon.toml back'
      help: where the project leaves Andon, a person does it: docs/ci.md#leaving-andon
    error[untested-code]: the code changed, and no test run on exactly this code is recorded
      --> HASH Loosen
      help: git rebase -r --exec 'andon test && git commit --amend --no-edit' HASH
    warning[other-paths]: the record holds under the commit's own configuration, not under that of the base
      --> HASH Remove
      help: git log -p -- andon.toml
    checked 2 commits in HEAD~2..HEAD: 2 errors, 1 warning
    ");
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
    assert_snapshot!(check(&stage, "HEAD~2..HEAD").shown());
}

#[test]
fn a_loosened_threshold_does_not_hide_a_halt() {
    let stage = Stage::installed();
    stage.write("andon.toml", "[test]\ncommand = \"sh check.sh\"\n[rules]\nrepeated-failures = \"off\"\nconsecutive-failures = \"off\"\n");
    for n in 1..5 {
        stage.iterate(&format!("{n}\n"), &["ok a", "not ok b"], &format!("Try {n}")).ok();
    }
    assert_snapshot!(check(&stage, "HEAD~4..HEAD").shown(), @"
    exit 1
    --- stdout
    error[unrecorded-halt]: repeated-failures halts here, the ledger has no such halt, and the work went on
      --> HASH Try 3
      help: andon sync --fetch-only
    error[failing-tests]: the tests of this code do not pass: failed, 1 of 2 failing, first: b
      --> HASH Try 4
      help: andon test
    warning[config-changed]: andon.toml changed in this range; the one of its base was used, HASH
      help: git diff HASH HASH -- andon.toml
    checked 4 commits in HEAD~4..HEAD: 2 errors, 1 warning
    ");
}
