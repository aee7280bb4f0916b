//! Refusals are seen: an agent that runs its tests past Andon and commits is halted, a person who reads the message is not.

use crate::support::Stage;

/// Edits and commits without `andon test`.
fn attempt(stage: &Stage, text: &str) -> crate::support::Out {
    stage.write("code.txt", text);
    stage.git(&["commit", "-qam", text.trim()]).refused().says("error[untested-edit]")
}

#[test]
fn an_agent_that_runs_plain_tests_and_commits_is_halted_at_the_fifth_refusal() {
    let stage = Stage::installed();
    stage.set("CLAUDECODE", "1");
    attempt(&stage, "1\n").lacks("refused-commits");
    for round in 2..=4 {
        stage.run_in(stage.dir(), "sh", &["check.sh"], None).ok();
        attempt(&stage, &format!("{round}\n"))
            .says(&format!(
                "warning[refused-commits]: {round} commits in a row were refused for untested code"
            ))
            .says("help: andon test");
        stage.andon(&["status", "--exit-code"]).exits(0);
        stage.andon(&["tick"]).ok();
    }
    stage.andon(&["status"]).ok().says("4 commits for untested code (untested-edit), the last at");
    let out = stage.andon(&["status", "--format", "json"]).ok();
    let status = out.json();
    assert_eq!(status["refused"]["count"], 4);
    assert_eq!(status["refused"]["rule"], "untested-edit");
    attempt(&stage, "5\n").says("refused-commits").says("5 commits in a row were refused");
    assert!(stage.exists(".andon/CHECKPOINT.md"));
    stage.andon(&["status", "--exit-code"]).exits(1).says("HALTED").says("refused-commits");
    stage.andon(&["tick"]).exits(1).says("refused-commits");
    // While it is unanswered, tested code is refused as well.
    stage.andon(&["test"]).ok();
    stage.git(&["commit", "-qam", "Tested"]).refused();
    stage.unset("CLAUDECODE");
    stage.steps("andon resume --reason 'it runs andon test from now on'; git commit -qam Tested");
    stage.andon(&["status", "--exit-code"]).exits(0);
    let out = stage.andon(&["status", "--format", "json"]).ok();
    let status = out.json();
    assert!(status["refused"].is_null(), "{status}");
}

#[test]
fn the_same_code_is_refused_as_often_as_one_likes() {
    let stage = Stage::installed();
    for _ in 0..12 {
        attempt(&stage, "1\n").lacks("refused-commits");
    }
    stage.andon(&["status", "--exit-code"]).exits(0).says("1 commit for untested code");
}

#[test]
fn whoever_runs_the_tests_in_between_is_never_halted() {
    let stage = Stage::installed();
    for round in 0..8 {
        attempt(&stage, &format!("edit {round}\n")).lacks("refused-commits");
        stage.andon(&["test"]).ok();
        if round % 3 == 0 {
            stage.git(&["commit", "-qam", "Tested"]).ok();
        }
    }
    // Four refusals, a commit, and four more.
    for round in 0..4 {
        attempt(&stage, &format!("more {round}\n"));
    }
    stage.tested_commit("-qam", "Tested");
    for round in 0..4 {
        attempt(&stage, &format!("still more {round}\n"));
    }
    stage.andon(&["status", "--exit-code"]).exits(0);
    assert!(!stage.exists(".andon/CHECKPOINT.md"));
}

#[test]
fn the_thresholds_are_parameters_and_events_tell_the_same() {
    let stage = Stage::installed();
    stage.write(
        "andon.toml",
        "[test]\ncommand = \"sh check.sh\"\n[rules]\nrefused-commits = { max = 3, warn = 3 }\n",
    );
    stage.git(&["commit", "-qam", "Tune"]).ok();
    attempt(&stage, "1\n");
    attempt(&stage, "2\n").lacks("refused-commits");
    attempt(&stage, "3\n").says("refused-commits");
    stage.andon(&["status", "--exit-code"]).exits(1);
    let replayed = stage.andon(&["replay", "--events", ".git/andon/journal.jsonl"]);
    replayed.says("refused-commits");
}

/// The number that `status` and `log` give.
fn counted(stage: &Stage) -> (u64, Vec<Option<u64>>) {
    let status = stage.andon(&["status", "--format", "json"]).ok().json();
    let log = stage.andon(&["log", "--format", "json"]).ok().stdout;
    let numbers = log.lines().filter_map(|line| {
        let entry: serde_json::Value = serde_json::from_str(line).unwrap();
        (entry["state"] == "recorded").then(|| entry["record"]["iteration"].as_u64())
    });
    (status["iteration"].as_u64().unwrap(), numbers.collect())
}

#[test]
fn a_refused_commit_counts_once_as_the_commit_that_came_of_it() {
    let stage = Stage::installed();
    stage.steps("echo one > code.txt; andon test; git commit -qam One");
    let (before, _) = counted(&stage);
    attempt(&stage, "two\n");
    assert_eq!(counted(&stage).0, before + 1, "an attempt");
    stage.tested_commit("-qam", "As it was refused");
    assert_eq!(counted(&stage).0, before + 1);
    // Repaired after the tests.
    attempt(&stage, "three\n");
    stage.steps("andon test; echo four > code.txt; andon test; git commit -qam Repaired");
    let (now, numbers) = counted(&stage);
    assert_eq!(now, before + 2);
    assert_eq!(numbers[..2], [Some(before + 2), Some(before + 1)]);
    stage.andon(&["check", "HEAD~2..HEAD"]).ok();
}

#[test]
fn refused_commits_that_are_given_up_reach_the_cap() {
    let stage = Stage::installed();
    stage.write(
        "andon.toml",
        "[test]\ncommand = \"sh check.sh\"\n[rules]\nrefused-commits = \"off\"\niteration-cap = { max = 4 }\n",
    );
    stage.git(&["commit", "-qam", "Tune"]).ok();
    let (before, _) = counted(&stage);
    for round in before..4 {
        attempt(&stage, &format!("{round}\n")).lacks("iteration-cap");
    }
    attempt(&stage, "and more\n").says("Reached iteration cap: 4/4");
    stage.andon(&["status", "--exit-code"]).exits(1).says("iteration-cap");
    assert!(stage.exists(".andon/CHECKPOINT.md"));
    stage.andon(&["resume", "--reason", "told it to run andon test"]).ok();
    attempt(&stage, "once more\n").lacks("iteration-cap");
}
