//! Attempts count wherever HEAD is moved to, and only a pause ends a run.

mod healthy;

use insta::assert_snapshot;

use crate::support::{Out, Stage};

/// The test that never passes, in other code each time, made by `attempt` from the base: how many it takes to be halted.
fn halts_after(stage: &Stage, attempt: impl Fn(u32) -> Out) -> u32 {
    for number in 1..=8 {
        let out = attempt(number);
        if stage.exists(".andon/CHECKPOINT.md") || out.all().contains("[repeated-failures]") {
            assert!(out.code == 0 || out.all().contains("repeated-failures"), "{out}");
            return number;
        }
        out.ok();
    }
    0
}

/// Every red test is `a`.
fn fails(stage: &Stage, number: u32) -> Out {
    stage.iterate(&format!("attempt {number}\n"), &["not ok a", "ok b"], &format!("Try {number}"))
}

#[test]
fn resetting_before_each_attempt_does_not_begin_anew() {
    let stage = Stage::installed();
    let base = stage.head();
    let found = halts_after(&stage, |number| {
        stage.git(&["reset", "-q", "--hard", &base]).ok();
        fails(&stage, number)
    });
    assert_eq!(found, 3);
    stage.andon(&["status"]).says("Loop 4/100");
    // Nor does it afterwards.
    stage.git(&["reset", "-q", "--hard", &base]).ok();
    let said = fails(&stage, 9).shown();
    assert_snapshot!(said, @r"
    exit 1
    --- stderr
    error[repeated-failures]: commit refused: halted AGE: the loop is stuck on 1 failing test
      what   the same test failed 3 times in a row although the code changed each time: a
      since  TIME, 3 commits; tests: 1 of 2 failing
      look   git diff HASH HASH, or .andon/CHECKPOINT.md
      answer a person decides, then runs: andon resume --reason '<decision>'
    warning[failing-tests]: 1 of 2 tests fails: a
      help: fix what fails, then: andon test
    ");
    stage.git(&["checkout", "-q", "-f", "--detach", &base]).ok();
    assert_eq!(fails(&stage, 10).shown(), said);
}

#[test]
fn a_branch_from_the_base_for_each_attempt_is_the_same_loop() {
    let stage = Stage::installed();
    let found = halts_after(&stage, |number| {
        stage.git(&["checkout", "-q", "-f", "-b", &format!("try-{number}"), "main"]).ok();
        fails(&stage, number)
    });
    assert_eq!(found, 3);
    assert_eq!(stage.record("try-3")["iteration"], 4);
}

#[test]
fn a_worktree_from_the_base_for_each_attempt_is_the_same_loop() {
    let stage = Stage::installed();
    let dir = stage.root().join("try");
    let path = dir.to_str().unwrap().to_owned();
    let mut halted = 0;
    for number in 1..=5 {
        stage.git(&["worktree", "add", "-q", "--detach", &path, "main"]).ok();
        std::fs::write(dir.join("code.txt"), format!("attempt {number}\n")).unwrap();
        std::fs::write(dir.join("tests.txt"), "not ok a\nok b\n").unwrap();
        stage.andon_in(&dir, &["test"]);
        let out = stage.git_in(&dir, &["commit", "-qam", &format!("Try {number}")]).ok();
        if out.all().contains("[repeated-failures]") {
            halted = number;
            break;
        }
        stage.git(&["worktree", "remove", "--force", &path]).ok();
    }
    assert_eq!(halted, 3);
}

#[test]
fn the_cap_counts_attempts_that_were_given_up() {
    let stage = Stage::installed();
    stage.write("andon.toml", "[test]\ncommand = \"sh check.sh\"\n[rules]\niteration-cap = { max = 4 }\n");
    stage.git(&["commit", "-qam", "Lower the cap"]).ok();
    let base = stage.head();
    for number in 1..=3 {
        stage.git(&["reset", "-q", "--hard", &base]).ok();
        let out = stage.iterate(&format!("{number}\n"), &["ok a", "ok b"], &format!("Other work {number}"));
        assert_eq!(out.ok().all().contains("Reached iteration cap: 4/4"), number >= 2, "{number}");
        if number == 2 {
            break;
        }
    }
}

#[test]
fn two_states_by_resets_alternate() {
    let stage = Stage::installed();
    let base = stage.head();
    let mut said = String::new();
    for (number, state) in ["one", "two", "one", "two"].into_iter().enumerate() {
        stage.git(&["reset", "-q", "--hard", &base]).ok();
        let out = stage.iterate(&format!("{state}\n"), &["ok a", "ok b"], &format!("State {number}"));
        said = out.ok().all();
    }
    assert!(said.contains("[oscillation]"), "{said}");
}

#[test]
fn an_answer_forgets_what_was_given_up() {
    let stage = Stage::installed();
    let base = stage.head();
    let again = |number| {
        stage.git(&["reset", "-q", "--hard", &base]).ok();
        fails(&stage, number)
    };
    assert_eq!(halts_after(&stage, again), 3);
    stage.git(&["reset", "-q", "--hard", &base]).ok();
    stage.andon(&["resume", "--reason", "go on"]).ok();
    assert_eq!(halts_after(&stage, |number| again(number + 10)), 3);
}

#[test]
fn setting_the_clock_ahead_at_each_commit_ends_no_run() {
    let stage = Stage::installed();
    let found = halts_after(&stage, |number| {
        stage.set_clock_ahead(7 * 3600);
        fails(&stage, number)
    });
    assert_eq!(found, 3);
}

#[test]
fn turns_are_no_more_deceived_by_a_clock_than_commits() {
    let stage = Stage::installed();
    // The first one belongs to the commit before it.
    for turn in 0..=3 {
        stage.set_clock_ahead(7 * 3600);
        let out = stage.andon(&["tick"]);
        assert_eq!(out.code, i32::from(turn == 3), "{turn}: {out}");
    }
    let real = Stage::installed();
    for _ in 0..=4 {
        real.pass(7 * 3600);
        real.andon(&["tick"]).ok();
    }
}

#[test]
fn a_pause_ends_a_run_as_does_one_with_the_system_off() {
    let stage = Stage::installed();
    for number in 1..=4 {
        if number % 2 == 0 {
            stage.pass(7 * 3600);
        } else {
            // Started anew: the clock alone tells.
            stage.set_clock_ahead(7 * 3600);
            stage.set("ANDON_TEST_UPTIME", &format!("000000000000000{number}+60"));
        }
        fails(&stage, number).ok().lacks("[repeated-failures]");
        stage.unset("ANDON_TEST_UPTIME");
    }
}

#[test]
fn a_halted_loop_cannot_go_on_in_a_worktree_from_its_base() {
    let stage = Stage::installed();
    let base = stage.head();
    let other = stage.root().join("other");
    stage.git(&["worktree", "add", "-q", "-b", "other", other.to_str().unwrap(), "main"]).ok();
    assert_eq!(halts_after(&stage, |number| fails(&stage, number)), 3);
    let commit = |dir: &std::path::Path| {
        std::fs::write(dir.join("code.txt"), "again\n").unwrap();
        stage.andon_in(dir, &["test"]);
        stage.git_in(dir, &["commit", "-qam", "Go on", "--no-verify"])
    };
    for (name, from) in [("at-base", base.as_str()), ("within", "main~1"), ("on-top", "main")] {
        let dir = stage.root().join(name);
        stage.git(&["worktree", "add", "-q", "--detach", dir.to_str().unwrap(), from]).ok();
        commit(&dir).refused().says("repeated-failures").says("andon resume");
        assert!(dir.join(".andon/CHECKPOINT.md").is_file(), "{name}");
    }
    // What was there already goes its own way, until it builds on the halted commit.
    commit(&other).ok();
    stage.git_in(&other, &["reset", "-q", "--hard", "main"]).ok();
    assert_snapshot!(commit(&other).brief(),
        @"exit 1, stderr: error[repeated-failures]: commit refused: halted AGE: the loop is stuck on 1 failing test");
    stage.git_in(&other, &["reset", "-q", "--hard", &base]).ok();
    // An answer there frees all of them.
    stage.andon_in(&stage.root().join("at-base"), &["resume", "--reason", "looked at it"]).ok();
    commit(&stage.root().join("at-base")).ok();
    commit(&stage.root().join("within")).ok();
    fails(&stage, 20).ok().lacks("[repeated-failures]");
}

#[test]
fn a_worktree_of_other_work_goes_on_beside_a_halt() {
    let stage = Stage::installed();
    stage.git(&["checkout", "-q", "-b", "release"]).ok();
    stage.iterate("released\n", &["ok a", "ok b"], "A release").ok();
    stage.pass(7 * 3600);
    stage.git(&["checkout", "-q", "main"]).ok();
    assert_eq!(halts_after(&stage, |number| fails(&stage, number)), 3);
    let dir = stage.root().join("release");
    stage.git(&["worktree", "add", "-q", dir.to_str().unwrap(), "release"]).ok();
    std::fs::write(dir.join("code.txt"), "mended\n").unwrap();
    stage.andon_in(&dir, &["test"]);
    stage.git_in(&dir, &["commit", "-qam", "Mend the release"]).ok();
}

#[test]
fn what_a_commit_calls_itself_makes_it_no_revert_or_pick() {
    for action in
        ["revert", "cherry-pick", "commit (cherry-pick)", "rebase (pick)", "merge side", "commit (merge)"]
    {
        let stage = Stage::installed();
        stage.set("GIT_REFLOG_ACTION", action);
        let found = halts_after(&stage, |number| {
            let out = fails(&stage, number);
            assert_eq!(stage.record("HEAD")["kind"], "normal", "{action}");
            out
        });
        assert_eq!(found, 3, "{action}");
    }
}

#[test]
fn a_message_makes_no_revert_and_hides_no_bypass() {
    let stage = Stage::installed();
    let head = stage.head();
    stage.set("GIT_REFLOG_ACTION", "revert");
    stage.write("code.txt", "something else\n");
    let message = format!("Revert \"Start\"\n\nThis reverts commit {head}.\n");
    stage.git(&["commit", "-qam", &message, "--no-verify"]).ok();
    let record = stage.record("HEAD");
    assert_eq!((&record["kind"], &record["gate"]), (&"normal".into(), &"bypassed".into()));
}

#[test]
fn reverts_and_picks_are_told_by_git() {
    let stage = Stage::installed();
    let kind = || stage.record("HEAD")["kind"].as_str().unwrap().to_owned();
    let gate = || stage.record("HEAD")["gate"].as_str().unwrap().to_owned();
    stage.iterate("one\n", &["ok a"], "One").ok();
    stage.git(&["checkout", "-q", "-b", "side"]).ok();
    stage.iterate("side\n", &["ok a"], "Side").ok();
    stage.steps("git checkout -q main; git cherry-pick side");
    assert_eq!((kind(), gate()), ("cherry-pick".into(), "not-run".into()));
    stage.git(&["revert", "--no-edit", "HEAD"]).ok();
    assert_eq!((kind(), gate()), ("revert".into(), "not-run".into()));
    // With a conflict that is resolved by hand git's state files tell.
    stage.iterate("two\n", &["ok a"], "Two").ok();
    for (command, want) in [(["cherry-pick", "side"], "cherry-pick"), (["revert", "HEAD~1"], "revert")] {
        stage.git(&command).refused();
        stage.add("code.txt", format!("resolved {want}\n"));
        stage.andon(&["test"]).ok();
        stage.git(&[command[0], "--continue"]).ok();
        assert_eq!((kind().as_str(), gate().as_str()), (want, "passed"));
    }
}
