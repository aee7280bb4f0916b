//! Stops that people agree with: what was red before halts once, and the stuck are not hidden by how they move.

use std::path::PathBuf;

use crate::support::{Out, Stage};

/// Appends a line of work, tests it and commits.
fn feature(stage: &Stage, number: usize) -> Out {
    let lines: String = (0..=number).map(|at| format!("f{at}\n")).collect();
    stage.write("code.txt", lines);
    stage.andon(&["test"]);
    stage.git(&["commit", "-qam", &format!("Feature {number}")])
}

const OLD: [&str; 3] = ["not ok old", "ok b", "ok c"];

#[test]
fn a_test_that_was_red_before_halts_once_and_counts_again_when_it_has_passed() {
    let stage = Stage::new();
    stage.write("check.sh", Stage::installed().read("check.sh"));
    stage.write("andon.toml", "[test]\ncommand = \"sh check.sh\"\n");
    stage.tests(&OLD);
    stage.write("code.txt", "start\n");
    stage.andon(&["install"]).ok();
    stage.git(&["add", "-A"]).ok();
    let halts = (1..=15).filter(|number| {
        let out = feature(&stage, *number);
        let halted = out.all().contains("HALTED");
        if halted {
            assert!(out.all().contains("known_red = [\"old\"]"), "{}", out.all());
            stage.andon(&["resume", "--mistaken", "--reason", "it is red on this machine"]).ok();
        }
        halted
    });
    assert_eq!(halts.count(), 1);
    stage.andon(&["status"]).ok().says("known red  old (halts nothing until it passes)");
    // Another test on top of it is not known.
    stage.tests(&["not ok old", "not ok b", "ok c"]);
    stage.git(&["add", "-A"]).ok();
    let at = (16..24).find(|number| feature(&stage, *number).all().contains("HALTED"));
    assert_eq!(at, Some(18));
    stage.andon(&["resume", "--reason", "mend b"]).ok();
    stage.tests(&["ok old", "ok b", "ok c"]);
    stage.git(&["add", "-A"]).ok();
    feature(&stage, 24).ok();
    stage.andon(&["status"]).ok().lacks("known red");
    stage.tests(&OLD);
    stage.git(&["add", "-A"]).ok();
    assert!((25..30).any(|number| feature(&stage, number).all().contains("HALTED")), "it broke");
}

#[test]
fn tests_that_the_configuration_names_as_red_halt_nothing_and_are_shown() {
    let stage = Stage::installed();
    stage.tests(&OLD);
    let settings = stage.read("andon.toml").replace("[test]\n", "[test]\nknown_red = [\"old\"]\n");
    stage.write("andon.toml", settings);
    stage.git(&["add", "-A"]).ok();
    for number in 1..8 {
        feature(&stage, number).ok().lacks("HALTED");
    }
    stage.andon(&["status"]).ok().says("known red  old");
    let shown = stage.andon(&["status", "--format", "json"]).ok().stdout;
    let shown: serde_json::Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(shown["known_red"]["old"], "configuration");
    stage
        .andon(&["check", "HEAD~2..HEAD"])
        .says("test.known_red: these tests halt nothing while they fail: old");
}

/// A refused commit that is then made with `--no-verify`; whether the loop is halted.
fn past_the_gate(stage: &Stage, text: &str) -> bool {
    stage.write("code.txt", text);
    let refused = stage.git(&["commit", "-qam", text]).all();
    let made = stage.git(&["commit", "--no-verify", "-qam", text]).all();
    refused.contains("HALTED") || made.contains("HALTED")
}

#[test]
fn refused_commits_that_are_made_past_the_gate_halt_all_the_same() {
    let stage = Stage::installed();
    let at = (1..=14).find(|number| past_the_gate(&stage, &format!("{number}\n")));
    assert_eq!(at, Some(5));
    let stage = Stage::installed();
    stage.tests(&["not ok a"]);
    stage.git(&["add", "-A"]).ok();
    let at = (1..=14).find(|number| {
        stage.write("code.txt", format!("{number}\n"));
        stage.andon(&["test"]);
        past_the_gate(&stage, &format!("{number} and more\n"))
    });
    assert_eq!(at, Some(3), "the run before it says what the commit is");
}

#[test]
fn amending_one_green_commit_counts_against_the_cap() {
    let stage = Stage::installed();
    stage.write("andon.toml", stage.read("andon.toml") + "[rules]\niteration-cap = { max = 6 }\n");
    stage.tested_commit("-qam", "Cap");
    let at = (1..=12).find(|number| {
        stage.write("code.txt", format!("{number}\n"));
        stage.andon(&["test"]).ok();
        stage.git(&["commit", "-qa", "--amend", "-m", "Work"]).all().contains("HALTED")
    });
    assert!(at.is_some_and(|at| at <= 6), "{at:?}");
    stage.andon(&["status"]).says("Loop 6/6");
}

#[test]
fn amending_the_first_commit_counts_too() {
    let stage = Stage::new();
    stage.write("check.sh", Stage::installed().read("check.sh"));
    stage.write("andon.toml", "[test]\ncommand = \"sh check.sh\"\n");
    stage.tests(&["ok a", "not ok b"]);
    stage.andon(&["install"]).ok();
    let at = (1..=8).find(|number| {
        stage.write("code.py", format!("{number}\n"));
        stage.git(&["add", "-A"]).ok();
        stage.andon(&["test"]);
        let flags: &[&str] = if *number > 1 { &["--amend"] } else { &[] };
        stage.git(&[&["commit", "-qm", "Work"], flags].concat()).all().contains("HALTED")
    });
    assert!(at.is_some_and(|at| at <= 4), "{at:?}");
}

#[test]
fn a_transcript_that_grows_hides_no_idle_turns() {
    let stage = Stage::installed();
    let at = (1..=8).find(|number| {
        stage.write("transcript.jsonl", "{}\n".repeat(*number));
        stage.write("agent.out", format!("turn {number}"));
        stage.write(&format!("run-{number}.jsonl"), "{}\n");
        !stage.andon(&["tick"]).all().is_empty() && stage.exists(".andon/CHECKPOINT.md")
    });
    assert_eq!(at, Some(4), "the first turn brought the files");
    let stage = Stage::installed();
    for number in 1..=8 {
        stage.write("tool.py", format!("print({number})\n"));
        stage.andon(&["tick"]).ok();
    }
}

/// The ways in which a line comes to hold the work of another worktree.
const WAYS: [&str; 7] = ["rebase before", "rebase after", "pick", "squash", "worktree", "branch", "reset"];

#[test]
fn a_line_is_halted_however_it_follows_a_main_that_moves() {
    let red = |number: usize| (number.to_string(), "not ok b");
    assert!(tries_on_a_moving_main("pick after", &red) <= 6);
    for way in WAYS {
        assert!(tries_on_a_moving_main(way, &red) <= 6, "{way}");
        let to_and_fro = |number: usize| (["A\n", "B\n"][number % 2].to_owned(), "ok b");
        assert!(tries_on_a_moving_main(way, &to_and_fro) <= 6, "{way}, green to and fro");
    }
}

#[test]
fn other_work_on_branches_from_a_main_that_moves_halts_nothing() {
    for way in ["branch", "worktree", "pick after"] {
        let new = |number: usize| (format!("work {number}\n"), "ok b");
        assert_eq!(tries_on_a_moving_main(way, &new), usize::MAX, "{way}");
    }
}

/// The try at which a line halts that writes this again and again, with these tests, while another worktree brings green
/// commits.
fn tries_on_a_moving_main(way: &str, attempt: &dyn Fn(usize) -> (String, &'static str)) -> usize {
    let stage = Stage::installed();
    let beside = |name: &str| -> PathBuf { stage.root().join(name) };
    let (trunk, mut line) = (beside("trunk"), beside("line"));
    stage.git(&["worktree", "add", "-q", trunk.to_str().unwrap(), "-b", "trunk"]).ok();
    stage.git(&["worktree", "add", "-q", line.to_str().unwrap(), "-b", "line0"]).ok();
    let moves = |number: usize| {
        std::fs::write(trunk.join("other.txt"), number.to_string()).unwrap();
        stage.git_in(&trunk, &["add", "-A"]).ok();
        stage.andon_in(&trunk, &["test"]).ok();
        stage.git_in(&trunk, &["commit", "-qm", &format!("Trunk {number}")]).ok();
    };
    for number in 1..=10 {
        let (branch, before) = (format!("line{number}"), format!("line{}", number - 1));
        if way != "rebase after" {
            moves(number);
        }
        match way {
            "rebase before" => drop(stage.git_in(&line, &["rebase", "-q", "trunk"]).ok()),
            "pick" => {
                let base = stage.git_in(&line, &["merge-base", "HEAD", "trunk~"]).ok().stdout;
                stage.git_in(&line, &["switch", "-qc", &branch, "trunk"]).ok();
                stage.git_in(&line, &["cherry-pick", &format!("{}..{before}", base.trim())]);
            }
            "squash" => {
                stage.git_in(&line, &["switch", "-qc", &branch, "trunk"]).ok();
                stage.git_in(&line, &["merge", "-q", "--squash", &before]).ok();
                if stage.git_in(&line, &["commit", "-qm", "Squash"]).all().contains("HALTED") {
                    return number;
                }
            }
            "branch" => drop(stage.git_in(&line, &["switch", "-qc", &branch, "trunk"]).ok()),
            "reset" => drop(stage.git_in(&line, &["reset", "-q", "--hard", "trunk"]).ok()),
            "worktree" => {
                line = beside(&branch);
                stage.git(&["worktree", "add", "-q", line.to_str().unwrap(), "-b", &branch, "trunk"]).ok();
            }
            _ => {}
        }
        let (code, result) = attempt(number);
        std::fs::write(line.join("tests.txt"), format!("ok a\n{result}\n")).unwrap();
        let file = if way == "pick after" { format!("code{number}.py") } else { "code.py".to_owned() };
        std::fs::write(line.join(file), code).unwrap();
        stage.git_in(&line, &["add", "-A"]).ok();
        stage.andon_in(&line, &["test"]);
        if stage.git_in(&line, &["commit", "-qm", &format!("Try {number}")]).all().contains("HALTED") {
            return number;
        }
        match way {
            "rebase after" => {
                moves(number);
                stage.git_in(&line, &["rebase", "-q", "trunk"]).ok();
            }
            "pick after" => {
                stage.git_in(&line, &["switch", "-qc", &branch, "trunk"]).ok();
                stage.git_in(&line, &["cherry-pick", &before]).ok();
            }
            _ => {}
        }
    }
    usize::MAX
}

#[test]
fn padding_and_steps_without_an_end_are_told_once() {
    let told = |work: &dyn Fn(&Stage, usize)| -> Vec<usize> {
        let stage = Stage::installed();
        let one = |number: &usize| {
            work(&stage, *number);
            stage.git(&["add", "-A"]).ok();
            stage.andon(&["test"]).ok();
            let subject = format!("refactor step {number}");
            stage.git(&["commit", "-qm", &subject]).all().contains("warning[monotony]")
        };
        (1..=17).filter(one).collect()
    };
    assert_eq!(told(&|stage, number| stage.write("NOTES.md", "More of it.\n".repeat(number))), [14]);
    assert_eq!(told(&|stage, number| stage.write(&format!("f{number}.sh"), number.to_string())), [14]);
}

/// The round of a loop that is the first to show a halt: each has a clone of its own, which is thrown away. `work` says which tests
/// fail in it and who works there, `sent` what becomes of its commit.
fn halted_round(sent: &[&str], work: impl Fn(usize) -> (String, &'static str)) -> Option<usize> {
    let stage = Stage::installed();
    let hub = stage.root().join("hub.git");
    stage.git(&["clone", "-q", "--bare", ".", hub.to_str().unwrap()]).ok();
    (1..=6).find(|round| {
        let name = format!("round{round}");
        let clone = stage.root().join(&name);
        let (tests, who) = work(*round);
        stage.git_in(stage.root(), &["clone", "-q", "hub.git", &name]).ok();
        stage.git_in(&clone, &["config", "user.email", who]).ok();
        stage.andon_in(&clone, &["install"]).ok();
        std::fs::write(clone.join("tests.txt"), tests).unwrap();
        std::fs::write(clone.join("code.txt"), round.to_string()).unwrap();
        stage.git_in(&clone, &["add", "-A"]).ok();
        stage.andon_in(&clone, &["test"]);
        stage.git_in(&clone, &["commit", "-qm", &format!("Round {round}")]).ok();
        if !sent.is_empty() {
            stage.git_in(&clone, sent).ok();
        }
        stage.andon_in(&clone, &["sync"]);
        stage.andon_in(&clone, &["status"]).all().contains("HALTED")
    })
}

#[test]
fn rounds_in_clones_that_are_thrown_away_are_counted_through_the_hub() {
    let red = |test: &str| format!("ok a\nnot ok {test}\n");
    let same = |_: usize| (red("b"), "loop@example.org");
    assert_eq!(halted_round(&["push", "-q", "--no-verify", "origin", "HEAD"], same), Some(3));
    assert_eq!(halted_round(&[], same), Some(3), "the commits never arrive");
    let other = |round: usize| (red(&format!("b{round}")), "loop@example.org");
    assert_eq!(halted_round(&[], other), None, "other tasks");
    assert_eq!(halted_round(&[], |_| ("ok a\nok b\n".to_owned(), "loop@example.org")), None, "green");
    let people = ["one@example.org", "two@example.org", "three@example.org"];
    assert_eq!(halted_round(&[], |round| (red("b"), people[round % 3])), None, "colleagues, two tries each");
}
