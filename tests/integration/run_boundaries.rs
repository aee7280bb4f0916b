//! Attempts count wherever HEAD is moved to, and only a pause ends a run.

mod healthy;

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
    fails(&stage, 9).refused().says("repeated-failures");
    stage.git(&["checkout", "-q", "-f", "--detach", &base]).ok();
    fails(&stage, 10).refused().says("repeated-failures");
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
