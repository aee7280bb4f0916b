//! Stop and resume: what halts, what is refused until the answer, and how a person answers.

use insta::assert_snapshot;

use crate::support::{Stage, image::built};

/// Three iterations with the same failing test: halted by `repeated-failures`.
fn halted() -> Stage {
    built!({
        let stage = Stage::installed();
        stage.iterate("1\n", &["ok a", "not ok b"], "Try 1").ok();
        stage.iterate("2\n", &["ok a", "not ok b"], "Try 2").ok().lacks("repeated-failures");
        let out = stage.iterate("3\n", &["ok a", "not ok b"], "Try 3").ok().says("repeated-failures");
        out.says("CHECKPOINT.md");
        stage
    })
}

#[test]
fn the_same_failure_three_times_halts() {
    let stage = halted();
    let checkpoint = stage.read(".andon/CHECKPOINT.md");
    let once = "`[notify]` names none; this says how: `andon doctor --live`";
    for words in ["Try 1", "Try 3", "andon resume", "3 commits; tests: 1 of 2 failing", once] {
        assert!(checkpoint.contains(words), "{words}\n{checkpoint}");
    }
    assert_eq!(stage.read(".andon/.gitignore"), "*\n");
    let called = stage.read(".andon/notifications.jsonl");
    for words in ["is stuck on 1 failing test", ": b (since 2026-11-20 15:", "then: andon resume"] {
        assert!(called.contains(words), "{words}\n{called}");
    }
    let status = stage.andon(&["status"]).ok().says("HALTED").says("Loop 4/100").stdout;
    stage.andon(&["status", "--exit-code"]).refused().says("HALTED");
    assert!(status.contains("repeated-failures"), "{status}");
}

#[test]
fn a_mistake_in_the_configuration_hides_no_halt() {
    let stage = halted();
    stage.write("andon.toml", "[ruels]\nuntested-edit = \"off\"\n");
    for args in [&["complete"][..], &["test"], &["tick"], &["pin", "--check"]] {
        let out = stage.andon(args).exits(2).says("andon.toml:1:");
        out.says("stuck on 1 failing test").says("a person decides, then runs: andon resume").says("ago");
    }
    stage.andon(&["resume", "--reason", "the fixture was wrong"]).ok();
    stage.andon(&["tick"]).exits(2).lacks("stuck");
}

#[test]
fn a_pasted_hint_answers_nothing() {
    let stage = halted();
    for (reason, why) in [("<decision>", "<why>"), ("keep A", "<why>"), ("...", "cron"), ("", "cron")] {
        stage.andon(&["resume", "--reason", reason, "--yes", why]).exits(2).says("reason");
    }
    stage.andon(&["resume", "--yes", "<why>"]).exits(2);
    stage.andon(&["status", "--exit-code"]).refused().says("HALTED");
    stage.andon(&["resume", "--reason", "keep A", "--yes", "cron"]).ok();
}

#[test]
fn what_is_written_is_as_readable_as_the_umask_lets() {
    use std::os::unix::fs::PermissionsExt as _;
    for (umask, wanted) in [("022", 0o644), ("077", 0o600), ("002", 0o664)] {
        let stage = Stage::new();
        stage.write("check.sh", "echo 1..1; echo not ok 1 - b; exit 1\n");
        stage.write("andon.toml", "[test]\ncommand = \"sh check.sh\"\n");
        let path = crate::support::andon_path();
        let steps = format!(
            "umask {umask}; andon={}; $andon install && git add . && for n in 1 2 3; do echo $n > code.txt; git add .; \
             $andon test; git commit -qm $n; done; exit 0",
            path.display()
        );
        stage.run_in(stage.dir(), "sh", &["-c", &steps], None).ok();
        let mode = |path: &str| stage.path(path).metadata().unwrap().permissions().mode() & 0o777;
        let files = [
            ".andon/CHECKPOINT.md",
            ".andon/.gitignore",
            ".git/andon/install.json",
            ".git/andon/writer",
            ".git/andon/journal.jsonl",
        ];
        for file in files {
            assert_eq!(format!("{:o}", mode(file)), format!("{wanted:o}"), "{file}, umask {umask}");
        }
        assert_eq!(mode(".git/hooks/pre-commit"), wanted & 0o644 | ((wanted & 0o444) >> 2), "umask {umask}");
    }
}

#[test]
fn a_halt_refuses_every_way_to_commit() {
    let stage = halted();
    let head = stage.head();
    stage.steps("git branch other HEAD~2; echo 4 > code.txt");
    assert_snapshot!(stage.git(&["commit", "-qam", "Try 4"]).shown());
    let said = stage.git(&["commit", "-qam", "Try 4", "--no-verify"]).shown();
    assert_snapshot!(said, @r"
    exit 1
    --- stderr
    error[repeated-failures]: commit refused: halted AGE: the loop is stuck on 1 failing test
      what   the same test failed 3 times in a row although the code changed each time: b
      since  TIME, 3 commits; tests: 1 of 2 failing
      look   git diff HASH HASH, or .andon/CHECKPOINT.md
      answer a person decides, then runs: andon resume --reason '<decision>'
    ");
    assert_eq!(stage.git(&["commit", "-q", "--amend", "--no-edit"]).shown(), said);
    stage.git(&["checkout", "-q", "code.txt", "tests.txt"]).ok();
    stage.git(&["revert", "--no-edit", "HEAD"]).refused().says("halted");
    stage.git(&["revert", "--abort"]);
    stage.git(&["reset", "-q", "--hard"]).ok();
    stage.git(&["cherry-pick", "--allow-empty", "HEAD~1"]).refused();
    stage.git(&["cherry-pick", "--abort"]);
    stage.git(&["reset", "-q", "--hard"]).ok();
    stage.set("ANDON", "0");
    stage.steps("git switch -q other; echo side > side.txt; git add .; git commit -qm Side");
    stage.steps("git switch -q main");
    stage.unset("ANDON");
    stage.git(&["merge", "-q", "--no-edit", "other"]).refused().says("halted");
    stage.git(&["merge", "--abort"]);
    stage.git(&["rebase", "-q", "other"]).refused().says("halted");
    stage.git(&["rebase", "--abort"]);
    assert_eq!(stage.head(), head);
}

#[test]
fn resume_answers_and_starts_the_window_anew() {
    let stage = halted();
    assert_snapshot!(stage.andon(&["resume"]).shown(), @r"
    exit 2
    --- stderr
    error: a reason is required: say what was decided
      help: andon resume --reason '<decision>'
    ");
    assert_snapshot!(stage.andon(&["resume", "--reason", "looked at it"]).brief(),
        @"exit 0, stdout: resumed: A. Author <author@example.org> answered the halt of TIME (repeated-failures); counting starts over");
    assert!(!stage.exists(".andon/CHECKPOINT.md"));
    stage.iterate("4\n", &["ok a", "not ok b"], "Try 4").ok().lacks("repeated-failures");
    assert_eq!(stage.record("HEAD")["iteration"], 1);
    stage.iterate("5\n", &["ok a", "not ok b"], "Try 5").ok();
    assert_snapshot!(stage.iterate("6\n", &["ok a", "not ok b"], "Try 6").shown());
    stage.git(&["commit", "-q", "--allow-empty", "-m", "No"]).refused();
    assert!(!stage.read(".andon/CHECKPOINT.md").contains("[notify]"), "it is said once");
    stage.andon(&["log"]).ok().says("looked at it").says("A. Author");
}

#[test]
fn deleting_the_file_answers_and_is_recorded() {
    let stage = halted();
    std::fs::remove_file(stage.path(".andon/CHECKPOINT.md")).unwrap();
    stage.iterate("4\n", &["ok a", "not ok b"], "Try 4").ok();
    assert_snapshot!(stage.andon(&["log"]).shown(), @"
    exit 0
    --- stdout
       1  HASH  1/2 fail      +1 -1        Try 4
          -- TIME answered by A. Author <author@example.org> by deleting the file
          -- TIME HALTED: the loop is stuck on 1 failing test (repeated-failures)
             the same test failed 3 times in a row although the code changed each time: b
       4  HASH  1/2 fail      +1 -1        Try 3
          error[repeated-failures]: the same test failed 3 times in a row although the code changed e...
          error[consecutive-failures]: tests failed 3 times in a row
       3  HASH  1/2 fail      +1 -1        Try 2
       2  HASH  1/2 fail      +2 -2        Try 1
       1  HASH  2 pass        +15 -0       Start
    ");
    let status = stage.andon(&["status", "--format", "json"]).ok().json();
    assert_eq!(status["state"], "running", "{status}");
}

#[test]
fn with_ack_resume_a_deleted_file_comes_back() {
    let stage = halted();
    let config = stage.read("andon.toml");
    stage.write("andon.toml", format!("[guard]\nack = \"resume\"\n{config}"));
    std::fs::remove_file(stage.path(".andon/CHECKPOINT.md")).unwrap();
    assert_snapshot!(stage.git(&["commit", "-q", "--allow-empty", "-m", "No"]).brief(),
        @"exit 1, stderr: error[repeated-failures]: commit refused: halted AGE: the loop is stuck on 1 failing test");
    assert!(stage.exists(".andon/CHECKPOINT.md"));
}

#[test]
fn an_agent_cannot_resume_and_its_deletion_answers_nothing() {
    let stage = halted();
    stage.set("CLAUDECODE", "1");
    assert_snapshot!(stage.andon(&["resume", "--reason", "I say so"]).shown(), @r"
    exit 1
    --- stderr
    error[agent-shell]: `andon resume` was called in the shell of an agent (CLAUDECODE is set): only a person answers a halt
      help: a person runs in a shell of their own: andon resume --reason '<decision>'
    ");
    let checkpoint = stage.path(".andon/CHECKPOINT.md");
    // Whatever looks first says so, and shows the halt again.
    std::fs::remove_file(&checkpoint).unwrap();
    stage.andon(&["status", "--exit-code"]).exits(1).says("HALTED");
    assert!(checkpoint.exists());
    std::fs::remove_file(&checkpoint).unwrap();
    stage.iterate("4\n", &["ok a", "ok b", "ok c"], "Try 4").refused().says(
        "deleting .andon/CHECKPOINT.md in the shell of an agent (CLAUDECODE is set) does not answer the halt; the file was restored",
    );
    stage.andon(&["complete"]).refused().says("repeated-failures");
    // A person's own shell is another matter.
    stage.unset("CLAUDECODE");
    stage.andon(&["status", "--exit-code"]).exits(1);
    std::fs::remove_file(&checkpoint).unwrap();
    stage.andon(&["status", "--exit-code"]).exits(0);
    assert!(!checkpoint.exists(), "looking answers nothing either");
    let out = stage.iterate("4\n", &["ok a", "ok b", "ok c"], "Try 4").ok();
    out.says("answered by deleting .andon/CHECKPOINT.md");
}

#[test]
fn a_stop_by_hand_that_an_agent_takes_away_stands() {
    let stage = Stage::installed();
    stage.andon(&["stop", "--reason", "look at this"]).ok();
    stage.set("CLAUDECODE", "1");
    std::fs::remove_file(stage.path(".andon/STOP")).unwrap();
    stage.git(&["commit", "-q", "--allow-empty", "-m", "Go on"]).refused().says("removing .andon/STOP");
    assert!(stage.exists(".andon/STOP"));
    stage.unset("CLAUDECODE");
    std::fs::remove_file(stage.path(".andon/STOP")).unwrap();
    stage.git(&["commit", "-q", "--allow-empty", "-m", "Go on"]).ok();
}

#[test]
fn a_receipt_of_another_git_process_opens_nothing() {
    let stage = Stage::installed();
    stage.iterate("1\n", &["ok a"], "Try 1").ok();
    stage.steps("echo 2 > code.txt; andon test");
    // pre-commit passes, then the commit is given up: its receipt stays.
    stage.git(&["commit", "-qam", ""]).refused();
    assert!(stage.exists(".git/andon/receipt"));
    stage.andon(&["stop", "--reason", "lunch"]).ok();
    assert_snapshot!(stage.git(&["commit", "-qam", "No", "--no-verify"]).shown(), @"
    exit 1
    --- stderr
    error[user-stop]: commit refused: halted AGE: a person stopped the loop
      what   .andon/STOP exists: a person stopped this loop: lunch
      since  TIME, after 2 commits; tests: 1 passed
      look   git diff HASH HASH, or .andon/CHECKPOINT.md
      answer a person decides, then runs: andon resume --reason '<decision>'
    ");
}

#[test]
fn stop_and_pause_refuse_until_resumed_or_removed() {
    let stage = Stage::installed();
    stage.andon(&["stop", "--reason", "lunch"]).ok();
    assert_snapshot!(stage.git(&["commit", "-q", "--allow-empty", "-m", "No"]).brief(),
        @"exit 1, stderr: error[user-stop]: commit refused: halted AGE: a person stopped the loop");
    stage.git(&["commit", "-q", "--allow-empty", "-m", "No", "--no-verify"]).refused();
    stage.andon(&["status"]).ok().says("stopped");
    stage.andon(&["status", "--exit-code"]).refused().says("stopped");
    stage.steps("andon resume --reason back; andon status --exit-code; git commit -q --allow-empty -m Yes");
    stage.steps("andon pause");
    assert_snapshot!(stage.git(&["commit", "-q", "--allow-empty", "-m", "No"]).shown(), @"
    exit 1
    --- stderr
    error[user-stop]: commit refused: halted AGE: a person stopped the loop
      what   .andon/PAUSE exists: this loop is paused
      since  TIME, after 1 commit; tests: 2 passed
      look   .andon/CHECKPOINT.md
      answer a person decides, then runs: andon resume --reason '<decision>'
    ");
    std::fs::remove_file(stage.path(".andon/PAUSE")).unwrap();
    stage.git(&["commit", "-q", "--allow-empty", "-m", "Yes"]).ok();
    // A bare file does the same as the command.
    stage.write(".andon/STOP", "");
    assert_snapshot!(stage.git(&["commit", "-q", "--allow-empty", "-m", "No"]).shown(), @r"
    exit 1
    --- stderr
    error[user-stop]: commit refused: HALTED: a person stopped the loop
      what   .andon/STOP exists: a person stopped this loop
      since  TIME, after 1 commit; tests: 2 passed
      look   .andon/CHECKPOINT.md
      answer a person decides, then runs: andon resume --reason '<decision>'
      No commit is accepted until then.
    ");
    std::fs::remove_file(stage.path(".andon/STOP")).unwrap();
    stage.steps("echo on > code.txt; andon test; git commit -qam On");
    assert_snapshot!(stage.andon(&["resume"]).brief(),
        @"exit 1, stderr: error: nothing to resume: no halt waits for an answer, and there is no .andon/STOP or .andon/PAUSE");
}

/// Whatever is put up as STOP holds the loop, and goes with the answer that names it.
#[test]
fn a_stop_is_one_whatever_it_is_made_of() {
    let stage = Stage::installed();
    for made in [
        "mkdir .andon/STOP",
        "ln -s nowhere .andon/STOP",
        "mkfifo .andon/STOP",
        "install -m 000 /dev/null .andon/STOP",
    ] {
        stage.run_in(stage.dir(), "sh", &["-c", &format!("mkdir -p .andon; {made}")], None).ok();
        stage
            .andon(&["resume", "--mistaken", "--reason", "back"])
            .refused()
            .says("a person stopped this loop");
        stage.git(&["commit", "-q", "--allow-empty", "-m", "No"]).refused().says("user-stop");
        stage.andon(&["resume", "--reason", "back"]).ok().says("lifted: STOP");
        stage.andon(&["status", "--exit-code"]).ok();
    }
}

#[test]
fn a_stop_of_another_worktree_stays_there_and_that_is_said() {
    let stage = Stage::installed();
    stage.steps("git worktree add -q ../beside");
    let beside = stage.root().join("beside");
    stage.write(".andon/STOP", "");
    stage.git(&["commit", "-q", "--allow-empty", "-m", "No"]).refused();
    let out = stage.andon_in(&beside, &["resume", "--reason", "go on"]).ok();
    out.says("what stops the worktree main is lifted there: andon resume");
    assert!(stage.exists(".andon/STOP"));
    stage.git_in(&beside, &["commit", "-q", "--allow-empty", "-m", "Go on"]).ok();
    stage.git(&["commit", "-q", "--allow-empty", "-m", "No"]).refused().says("user-stop");
    stage.andon(&["resume", "--reason", "go on"]).ok().says("lifted: STOP").lacks("worktree");
}

#[test]
fn oscillation_halts_whatever_the_tests_say() {
    let stage = Stage::installed();
    stage.iterate("A\n", &["ok a"], "A").ok();
    stage.iterate("B\n", &["ok a"], "B").ok();
    stage.iterate("A\n", &["ok a"], "A again").ok().lacks("[oscillation]");
    assert_snapshot!(stage.iterate("B\n", &["ok a"], "B again").shown());
    stage.git(&["commit", "-q", "--allow-empty", "-m", "No"]).refused();
}

#[test]
fn the_iteration_cap_halts() {
    let stage = Stage::installed();
    stage.write("andon.toml", "[test]\ncommand = \"sh check.sh\"\n[rules]\niteration-cap = { max = 3 }\n");
    stage.iterate("1\n", &["ok a"], "1").ok();
    let out = stage.iterate("2\n", &["ok a", "ok b"], "2").ok();
    out.says("error[iteration-cap]: HALTED: the loop has used up a budget")
        .says("Reached iteration cap: 3/3");
    let out = stage.git(&["commit", "-q", "--allow-empty", "-m", "No"]).exits(1);
    out.says("error[iteration-cap]: commit refused: halted").says("Reached iteration cap: 3/3");
    stage.andon(&["status"]).ok().says("Loop 3/3");
}

#[test]
fn different_failures_running_write_a_blocker_report() {
    let stage = Stage::installed();
    stage.iterate("1\n", &["ok a", "ok b", "not ok c"], "Try 1").ok();
    stage.iterate("2\n", &["ok a", "not ok b", "ok c"], "Try 2").ok();
    assert_snapshot!(stage.iterate("3\n", &["not ok a", "ok b", "ok c"], "Try 3").shown());
    assert!(stage.exists(".andon/BLOCKER_REPORT.md"));
    std::fs::remove_file(stage.path(".andon/BLOCKER_REPORT.md")).unwrap();
    stage.iterate("4\n", &["ok a", "ok b"], "Try 4").ok();
}
