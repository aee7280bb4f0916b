//! What people and agents do every day with branches, resets, stashes, rebases and worktrees is no loop.

use std::path::Path;

use insta::assert_snapshot;

use crate::support::{Out, Stage};

/// One more line in a file that every change touches, and a piece of new code; all tests pass.
fn feature(stage: &Stage, number: u32) -> Out {
    stage.write(&format!("feature{number}.txt"), format!("feature {number}\n"));
    let news = format!(
        "{}- feature {number}\n",
        std::fs::read_to_string(stage.path("news.txt")).unwrap_or_default()
    );
    stage.write("news.txt", news);
    stage.steps("git add -A; andon test");
    stage.git(&["commit", "-qm", &format!("Add feature {number}")])
}

fn no_word(out: Out) -> Out {
    assert_eq!((out.code, out.stderr.as_str()), (0, ""), "{out}");
    out
}

fn goes_on(stage: &Stage) {
    assert!(!stage.exists(".andon/CHECKPOINT.md"));
    stage.andon(&["status"]).ok().lacks("halted");
}

#[test]
fn feature_branches_one_after_the_other() {
    let stage = Stage::installed();
    for number in 1..=6 {
        stage.git(&["checkout", "-q", "-b", &format!("feature-{number}"), "main"]).ok();
        no_word(feature(&stage, number * 2));
        no_word(feature(&stage, number * 2 + 1));
    }
    for number in 1..=3 {
        stage.git(&["checkout", "-q", &format!("feature-{number}")]).ok();
        no_word(feature(&stage, number + 100));
    }
    goes_on(&stage);
}

#[test]
fn branches_that_are_merged_are_no_attempts() {
    let stage = Stage::installed();
    for number in 1..=4 {
        stage.git(&["checkout", "-q", "-b", &format!("feature-{number}"), "main"]).ok();
        stage.iterate(&format!("half of {number}\n"), &["not ok a", "ok b"], "Half of it").ok();
        stage.iterate(&format!("all of {number}\n"), &["ok a", "ok b"], "All of it").ok();
        stage.git(&["checkout", "-q", "main"]).ok();
        no_word(stage.git(&["merge", "-q", "--no-ff", "--no-edit", &format!("feature-{number}")]));
        stage.git(&["branch", "-q", "-D", &format!("feature-{number}")]).ok();
    }
    stage.andon(&["status"]).ok().says("Loop 5/100");
    goes_on(&stage);
}

#[test]
fn commits_are_squashed_reworded_and_split_by_soft_resets() {
    let stage = Stage::installed();
    for round in 1..=4 {
        let base = stage.head();
        for number in 1..=3 {
            no_word(feature(&stage, round * 10 + number));
        }
        stage.git(&["reset", "-q", "--soft", &base]).ok();
        no_word(stage.git(&["commit", "-qm", "All three"]));
        for wording in ["All three features", "Add three features"] {
            stage.git(&["reset", "-q", "--soft", "HEAD~1"]).ok();
            no_word(stage.git(&["commit", "-qm", wording]));
        }
    }
    goes_on(&stage);
}

#[test]
fn commits_are_reordered_and_dropped_by_a_rebase() {
    let stage = Stage::installed();
    for number in 1..=4 {
        stage.write(&format!("part{number}.txt"), format!("{number}\n"));
        stage.steps("git add -A; andon test");
        no_word(stage.git(&["commit", "-qm", &format!("Part {number}")]));
    }
    for script in ["1{h;d};2{G}", "1d", "1s/pick/reword/;2s/pick/fixup/"] {
        stage.set("GIT_SEQUENCE_EDITOR", &format!("sed -i '{script}'"));
        stage.git(&["rebase", "-q", "-i", "HEAD~3"]).ok().lacks("error[");
    }
    goes_on(&stage);
}

#[test]
fn work_is_stashed_and_taken_up_again() {
    let stage = Stage::installed();
    for number in 1..=4 {
        stage.write("code.txt", format!("interrupted {number}\n"));
        stage.git(&["stash", "-q"]).ok();
        no_word(feature(&stage, number));
        stage.steps("git stash pop -q; andon test");
        no_word(stage.git(&["commit", "-qam", &format!("Interrupted {number}")]));
    }
    goes_on(&stage);
}

/// One attempt at `task` in the worktree `dir`.
fn attempt(stage: &Stage, dir: &Path, task: &str, tests: &str) -> Out {
    std::fs::write(dir.join(format!("{task}.txt")), format!("{:?}\n", std::time::Instant::now())).unwrap();
    std::fs::write(dir.join("tests.txt"), tests).unwrap();
    stage.git_in(dir, &["add", "-A"]).ok();
    stage.andon_in(dir, &["test"]);
    stage.git_in(dir, &["commit", "-qm", &format!("Try {task}")])
}

#[test]
fn worktrees_side_by_side_do_not_count_for_each_other() {
    let stage = Stage::installed();
    let dirs = ["one", "two", "three"].map(|name| stage.root().join(name));
    for dir in &dirs {
        stage.git(&["worktree", "add", "-q", "--detach", dir.to_str().unwrap(), "main"]).ok();
    }
    for _ in 0..2 {
        for dir in &dirs {
            let name = dir.file_name().unwrap().to_str().unwrap();
            attempt(&stage, dir, name, "not ok a\nok b\n").ok().lacks("error[");
        }
    }
    // One after the other as well: the first is given up before the last begins.
    assert_snapshot!(attempt(&stage, &dirs[0], "one", "not ok a\nok b\n").shown());
    attempt(&stage, &dirs[1], "two", "ok a\nok b\n").ok().lacks("error[");
    attempt(&stage, &dirs[2], "three", "ok a\nok b\n").ok().lacks("error[");
}

#[test]
fn tasks_that_end_well_in_worktrees_of_their_own_are_done() {
    let stage = Stage::installed();
    for task in ["one", "two", "three", "four"] {
        let dir = stage.root().join(task);
        stage.git(&["worktree", "add", "-q", "-b", task, dir.to_str().unwrap(), "main"]).ok();
        attempt(&stage, &dir, task, "not ok a\nok b\n").ok().lacks("error[");
        attempt(&stage, &dir, task, "ok a\nok b\n").ok().lacks("error[");
        assert_eq!(stage.record(task)["iteration"], 3, "{task}");
    }
}
