//! Halts leave traces outside their own ref, and records travel with the branch.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use insta::assert_snapshot;

use crate::support::{Out, Stage, image::built};

const GREEN: &[&str] = &["ok a", "ok b"];

/// Runs a script in the repository; `git` at its end takes the place of the shell, and with it its process id.
fn sh(stage: &Stage, script: &str) -> Out {
    stage.run_in(stage.dir(), "sh", &["-c", script], None)
}

/// A receipt for what is staged, as pre-commit writes it but for who asked.
const FORGED: &str =
    r#"{"at":"2026-11-20T15:30:00Z",%s"head":"'$(git rev-parse HEAD)'","tree":"'$(git write-tree)'"}"#;

#[test]
fn no_receipt_lifts_a_halt() {
    let stage = Stage::installed();
    stage.steps("andon stop --reason lunch; echo on > code.txt; git add .");
    let forged = FORGED.replace("%s", "");
    for first in
        ["printf '%s\\n' $$", &format!("printf '%s\\n{forged}\\n' $$"), &format!("printf '{forged}\\n'")]
    {
        let script = format!("{first} > .git/andon/receipt; exec git commit -q --no-verify -m No");
        sh(&stage, &script).refused().says("user-stop").says("lunch");
    }
    stage.git(&["reset", "-q", "--hard"]).ok();
    // A commit that git makes without asking pre-commit is asked all the same.
    sh(&stage, "echo $$ > .git/andon/receipt; exec git revert --no-edit HEAD").refused().says("user-stop");
    assert_eq!(stage.git(&["rev-list", "--count", "HEAD"]).ok().stdout, "1\n");
}

#[test]
fn a_receipt_that_was_written_by_hand_is_none() {
    let stage = Stage::installed();
    stage.steps("echo 1 > code.txt; git add .");
    let own = r#""by":[{"pid":1,"started":1}],"#;
    for (number, by) in ["", own].into_iter().enumerate() {
        stage.write("code.txt", format!("{number}\n"));
        stage.git(&["add", "."]).ok();
        let forged = FORGED.replace("%s", by);
        sh(
            &stage,
            &format!("printf '{forged}\\n' > .git/andon/receipt; git commit -q --no-verify -m Forged"),
        )
        .ok();
        assert_eq!(stage.record("HEAD")["gate"], "bypassed", "{by}");
    }
    // Nor one for another parent, or for none.
    stage.steps("echo 2 > code.txt; git add .");
    let rootless = FORGED.replace("%s", "").replace(r#""head":"'$(git rev-parse HEAD)'","#, "");
    sh(&stage, &format!("printf '{rootless}\\n' > .git/andon/receipt")).ok();
    stage.git(&["commit", "-q", "--no-verify", "-m", "Forged"]).ok();
    assert_eq!(stage.record("HEAD")["gate"], "bypassed");
    // One that pre-commit wrote for a commit that was given up does not serve the next one.
    stage.steps("echo 3 > code.txt; andon test");
    stage.git(&["commit", "-qam", ""]).refused();
    stage.git(&["commit", "-qam", "Round the gate", "--no-verify"]).ok();
    assert_eq!(stage.record("HEAD")["gate"], "bypassed");
    stage.iterate("4\n", GREEN, "Honest").ok();
    assert_eq!(stage.record("HEAD")["gate"], "passed");
    stage.git(&["commit", "-q", "--amend", "-m", "Honest too"]).ok();
    assert_eq!(stage.record("HEAD")["gate"], "passed");
}

fn ledger_ref(stage: &Stage) -> String {
    let refs = stage.git(&["for-each-ref", "--format=%(refname)", "refs/andon/ledger"]).ok().stdout;
    refs.lines().next().unwrap().to_owned()
}

fn remove(stage: &Stage, paths: &[&str]) {
    for path in paths {
        let path = stage.path(path);
        let gone = if path.is_dir() { std::fs::remove_dir_all(&path) } else { std::fs::remove_file(&path) };
        gone.unwrap();
    }
}

/// A repository with a few recorded commits, an answered halt among them, that is stopped by hand.
fn stopped() -> Stage {
    built!({
        let stage = Stage::installed();
        stage.steps("andon pause; andon resume --reason looked");
        stage.iterate("1\n", GREEN, "One").ok();
        stage.andon(&["stop", "--reason", "lunch"]).ok();
        stage
    })
}

fn still_halted(stage: &Stage, how: &str) {
    stage.write("code.txt", "on\n");
    stage.andon(&["test"]);
    let out = stage.git(&["commit", "-qam", "No"]);
    assert_ne!(out.code, 0, "{how}: {out}");
    assert!(out.all().contains("andon resume"), "{how}: {out}");
    let out = stage.git(&["commit", "-qam", "No", "--no-verify"]);
    assert_ne!(out.code, 0, "{how}: {out}");
    stage.git(&["checkout", "-q", "code.txt"]).ok();
}

const CACHES: [&str; 2] = [".andon", ".git/andon/cache"];

#[test]
fn a_ledger_that_is_taken_away_shows_and_the_halt_stands() {
    for how in ["deleted", "rewound", "rewritten", "everything of ours", "packed and deleted"] {
        let stage = stopped();
        let name = ledger_ref(&stage);
        match how {
            "rewound" => stage.git(&["update-ref", &name, &format!("{name}~1")]).ok(),
            "rewritten" => {
                let tree = format!("{name}~1^{{tree}}");
                let other =
                    stage.git(&["commit-tree", "-p", &format!("{name}~1"), "-m", "x", &tree]).ok().stdout;
                stage.git(&["update-ref", &name, other.trim()]).ok()
            }
            "packed and deleted" => {
                stage.git(&["pack-refs", "--all"]).ok();
                stage.git(&["update-ref", "-d", &name]).ok()
            }
            _ => stage.git(&["update-ref", "-d", &name]).ok(),
        };
        remove(&stage, &CACHES);
        if how == "everything of ours" {
            remove(&stage, &[".git/refs/andon"]);
        }
        still_halted(&stage, how);
        let status = stage.andon(&["status"]).ok();
        assert!(status.all().contains("lunch"), "{how}: {status}");
        stage.andon(&["doctor"]).exits(1).says("lunch").says("andon sync");
        // The files of the halt are no way around either: without its entry their absence answers nothing.
        remove(&stage, &[".andon"]);
        still_halted(&stage, how);
        // A person answers, and the work goes on.
        stage.andon(&["resume", "--reason", "looked"]).ok();
        stage.iterate("2\n", GREEN, "Two").ok();
        stage.iterate("3\n", GREEN, "Three").ok();
    }
}

#[test]
fn another_id_for_this_clone_lifts_nothing() {
    for (how, path) in [("removed", CACHES[1]), ("changed", ".andon")] {
        let stage = stopped();
        remove(&stage, &[path]);
        if how == "removed" {
            remove(&stage, &[".git/andon/writer"]);
        } else {
            stage.write(".git/andon/writer", "0123456789abcdef0123456789abcdef");
        }
        still_halted(&stage, how);
    }
}

#[test]
fn records_tell_of_a_ledger_when_the_journal_is_gone_too() {
    let stage = stopped();
    stage.andon(&["resume", "--reason", "back"]).ok();
    stage.iterate("2\n", GREEN, "Two").ok();
    let heads = stage.record("HEAD")["ledger"].clone();
    let name = ledger_ref(&stage);
    let writer = name.rsplit('/').next().unwrap();
    assert_eq!(heads.as_object().unwrap().len(), 1);
    assert_eq!(heads[writer].as_str().unwrap().len(), 64);
    stage.andon(&["check", "HEAD~1..HEAD"]).ok();
    stage.git(&["update-ref", "-d", &name]).ok();
    remove(&stage, &[".andon", ".git/andon/cache", ".git/andon/journal.jsonl"]);
    assert_snapshot!(stage.andon(&["check", "HEAD~1..HEAD"]).says(writer).brief(), @"
    exit 1, stdout: error[missing-ledger]: the record names entry HASH of the ledger of HASH, which is not there: it was removed, rewound or not fetched --> HASH Two
    checked 1 commit in HEAD~1..HEAD: 1 error
    ");
    still_halted(&stage, "only notes");
    stage.andon(&["status"]).ok().says("does not hold any more");
    stage.andon(&["resume", "--reason", "looked"]).ok();
    stage.iterate("3\n", GREEN, "Three").ok();
    // Answered for: said, no error any more.
    assert_snapshot!(stage.andon(&["check", "HEAD~2..HEAD"]).lacks("error[missing-ledger]").shown(), @"
    exit 0
    --- stdout
    warning[missing-ledger]: the record names entry HASH of the ledger of HASH, which is not there: it was removed, rewound or not fetched
      --> HASH Two
      help: where no clone has it, a person finds out who removed refs/andon/ledger/HASH: andon sync
    note[answered-halt]: the loop was resumed by A. Author <author@example.org>: looked
      --> HASH Two
      help: andon log --events
    checked 2 commits in HEAD~2..HEAD: ok, 1 warning
    ");
}

#[test]
fn a_clone_without_ledgers_lost_nothing_and_a_sync_brings_a_ledger_back() {
    let stage = stopped();
    let root = stage.root().canonicalize().unwrap();
    stage.git_in(&root, &["init", "-q", "--bare", "-b", "main", "hub.git"]).ok();
    stage.steps("git remote add origin ../hub.git; git push -q --no-verify origin main; andon sync");
    // Records alone: what was never here is not gone.
    stage.git_in(&root, &["clone", "-q", "hub.git", "other"]).ok();
    let other = root.join("other");
    stage.andon_in(&other, &["install"]).ok();
    let records = "+refs/andon/records/*:refs/andon/remote-records/origin/*";
    stage.git_in(&other, &["fetch", "-q", "origin", records]).ok();
    stage.steps_in(&other, "andon log; echo other > code.txt; andon test; git commit -qam Other");
    assert_snapshot!(stage.andon_in(&other, &["check", "HEAD~2..HEAD~1"]).brief(), @"
    exit 1, stdout: error[missing-ledger]: the record names entry HASH of the ledger of HASH, which is not there: it was removed, rewound or not fetched --> HASH One
    checked 1 commit in HEAD~2..HEAD~1: 1 error
    ");
    // Here the ledger goes, and comes back from the remote as it was.
    let name = ledger_ref(&stage);
    let tip = stage.git(&["rev-parse", &name]).ok().stdout;
    stage.git(&["update-ref", "-d", &name]).ok();
    remove(&stage, &CACHES);
    still_halted(&stage, "before the sync");
    stage.andon(&["sync"]).ok();
    stage.git(&["merge-base", "--is-ancestor", tip.trim(), &name]).ok();
    still_halted(&stage, "after the sync");
    stage.andon(&["resume", "--reason", "back"]).ok();
    stage.iterate("2\n", GREEN, "Two").ok();
    stage.andon(&["check", "HEAD~1..HEAD"]).ok();
}
