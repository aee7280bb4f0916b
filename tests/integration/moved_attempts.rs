//! Attempts whose commits are moved: a loop is seen however they are, and editing history is no loop.

use std::path::PathBuf;

use crate::support::{Out, START, Stage, image::built};

const RED: [&str; 2] = ["ok a", "not ok b"];
const GREEN: [&str; 2] = ["ok a", "ok b"];

/// A clone with Andon, and a colleague without.
struct Pair {
    stage: Stage,
    them: PathBuf,
}

impl Pair {
    fn new() -> Self {
        let stage = built!(Pair::stage());
        let them = stage.root().canonicalize().unwrap().join("them");
        Self { stage, them }
    }

    fn stage() -> Stage {
        let stage = Stage::installed();
        stage.steps("git init -q --bare -b main ../origin.git; git remote add origin ../origin.git");
        stage.steps("git push -q -u origin main; git clone -q ../origin.git ../them");
        stage
    }

    /// The colleague's main moves on: what a pull, a commit and a push of theirs leave, by one process.
    fn colleague(&self, number: u32) {
        let stream = format!(
            "commit refs/heads/main\ncommitter Them <them@example.org> {} +0000\ndata 8\nOther {number:>2}\n\
             from refs/heads/main^0\nM 100644 inline other{number}.txt\ndata 2\n{}\n\n",
            START + i64::from(number) * 60,
            number % 10
        );
        let origin = self.stage.root().join("origin.git");
        let import = ["fast-import", "--quiet"];
        self.stage.run_in(&origin, "git", &import, Some(stream.as_bytes())).ok();
    }

    /// One attempt: an edit, its tests, and what becomes of the commit.
    fn attempt(&self, number: u32, tests: &[&str]) -> Out {
        let stage = &self.stage;
        stage.write("code.txt", format!("{}attempt {number}\n", stage.read("code.txt")));
        stage.tests(tests);
        stage.andon(&["test"]);
        stage.git(&["commit", "-qam", &format!("Attempt {number}")])
    }
}

/// What becomes of each attempt.
type Move = fn(&Pair, u32);

fn pulled_by_rebase(pair: &Pair, number: u32) {
    pair.colleague(number);
    pair.stage.git(&["pull", "-q", "--rebase"]);
}

fn rebased_by_patches(pair: &Pair, number: u32) {
    pair.colleague(number);
    pair.stage.git(&["fetch", "-q"]).ok();
    pair.stage.git(&["rebase", "-q", "--apply", "origin/main"]);
}

fn pushed_and_pulled(pair: &Pair, number: u32) {
    pair.stage.git(&["push", "-q", "--no-verify"]);
    pair.colleague(number);
    pair.stage.git(&["pull", "-q", "--ff-only"]);
}

fn reworded_by_a_tool(pair: &Pair, number: u32) {
    let git = |args: &[&str]| pair.stage.git(args).ok().stdout.trim().to_owned();
    let tree = git(&["rev-parse", "HEAD^{tree}"]);
    let reworded = git(&["commit-tree", &tree, "-p", "HEAD^", "-m", &format!("By a tool {number}")]);
    git(&["update-ref", "refs/heads/main", &reworded]);
}

/// As git-revise and jj do: every commit anew on a moved main, without a hook.
fn rebased_without_hooks(pair: &Pair, number: u32) {
    pair.colleague(number);
    pair.stage.steps("git fetch -q; git -c core.hooksPath=/dev/null rebase -q origin/main");
}

fn amended_then_pulled(pair: &Pair, number: u32) {
    pair.stage.git(&["commit", "--amend", "-qm", &format!("Said better {number}")]);
    pulled_by_rebase(pair, number);
}

fn reset_and_applied(pair: &Pair, number: u32) {
    let patch = format!("../patch{number}");
    pair.stage.git(&["format-patch", "-q", "-1", "--output", &patch]);
    pair.stage.git(&["reset", "-q", "--hard", "HEAD^"]).ok();
    pair.stage.git(&["am", "-q", &patch]);
}

fn picked_to_another_branch(pair: &Pair, number: u32) {
    let tip = pair.stage.head();
    pair.stage.git(&["checkout", "-q", "-b", &format!("branch{number}"), "HEAD^"]).ok();
    pair.stage.git(&["cherry-pick", &tip]);
}

const MOVES: [(&str, Move); 9] = [
    ("pull --rebase", pulled_by_rebase),
    ("rebase --apply", rebased_by_patches),
    ("push, and pull --ff-only", pushed_and_pulled),
    ("commit-tree", reworded_by_a_tool),
    ("rebased without hooks", rebased_without_hooks),
    ("amended, then pull --rebase", amended_then_pulled),
    ("format-patch, reset and am", reset_and_applied),
    ("cherry-picked to another branch", picked_to_another_branch),
    ("nothing", |_, _| {}),
];

#[test]
fn three_failures_alike_halt_however_their_commits_are_moved_and_so_do_three_after_the_answer() {
    for (name, moved) in MOVES {
        let pair = Pair::new();
        let mut halts = Vec::new();
        for number in 1..=6 {
            let said = pair.attempt(number, &RED).all();
            if said.contains("error[repeated-failures]") {
                halts.push(number);
            }
            if number == 3 {
                pair.stage.andon(&["resume", "--reason", "go on"]).ok();
            }
            moved(&pair, number);
        }
        assert_eq!(halts, [3, 6], "{name}\n{}", pair.stage.andon(&["log", "--events"]));
        // The second halt stands after the move, where it was not refused.
        pair.stage.andon(&["status", "--exit-code"]).exits(1);
    }
}

#[test]
fn progress_and_green_work_are_never_halted_however_they_are_moved() {
    let failing = |count: usize| -> Vec<String> {
        (0..9).map(|test| format!("{} t{test}", if test < count { "not ok" } else { "ok" })).collect()
    };
    for (name, moved) in MOVES {
        let pair = Pair::new();
        for (number, count) in (1..).zip([7, 4, 2, 0, 0, 0, 0]) {
            let lines = failing(count);
            let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
            // A halt of the move before refuses this one.
            let said = pair.attempt(number, &lines).ok().all();
            let warned = said.lines().filter(|line| line.starts_with("warning["));
            let other: Vec<&str> =
                warned.filter(|line| !line.starts_with("warning[failing-tests]")).collect();
            assert!(other.is_empty() && !said.contains("error["), "{name}, {number}: {said}");
            moved(&pair, number);
        }
        pair.stage.andon(&["status", "--exit-code"]).exits(0);
    }
}

#[test]
fn a_conflict_in_each_rebase_hides_no_loop() {
    let pair = Pair::new();
    let stage = &pair.stage;
    let halted = (1..=6).find(|number| {
        let theirs = |args: &[&str]| stage.git_in(&pair.them, args).ok();
        theirs(&["pull", "-q", "--rebase"]);
        std::fs::write(pair.them.join("code.txt"), format!("theirs {number}\n")).unwrap();
        theirs(&["commit", "-qam", "Theirs"]);
        theirs(&["push", "-q"]);
        let said = pair.attempt(*number, &RED).all();
        stage.git(&["pull", "-q", "--rebase"]);
        for _ in 0..8 {
            if !stage.exists(".git/rebase-merge") {
                break;
            }
            stage.add("code.txt", format!("resolved {number}\n"));
            if stage.git(&["rebase", "--continue"]).all().contains("halted") {
                break;
            }
        }
        said.contains("repeated-failures")
    });
    assert_eq!(halted, Some(3));
}

#[test]
fn an_attempt_that_was_moved_without_hooks_is_not_unknown() {
    let pair = Pair::new();
    pair.attempt(1, &RED);
    rebased_without_hooks(&pair, 1);
    let json = pair.stage.andon(&["status", "--format", "json"]);
    let json = json.json();
    // The colleague's alone.
    assert_eq!(json["unrecorded"], 1, "{}", pair.stage.andon(&["status"]));
}

#[test]
fn commits_of_others_are_counted_as_unknown() {
    let pair = Pair::new();
    pair.attempt(1, &GREEN).ok();
    pair.stage.git(&["push", "-q", "--no-verify"]).ok();
    pair.colleague(1);
    pair.colleague(2);
    pair.stage.git(&["pull", "-q", "--ff-only"]).ok();
    let status = pair.stage.andon(&["status"]).ok().says("Loop 2/100").says("2 commits of the window");
    let json = pair.stage.andon(&["status", "--format", "json"]).ok();
    let json = json.json();
    assert_eq!(json["unrecorded"], 2, "{status}");
}

#[test]
fn a_squash_is_one_attempt_with_those_that_it_joins() {
    for soft in [false, true] {
        let pair = Pair::new();
        let stage = &pair.stage;
        for turn in 0..3 {
            let base = stage.head();
            stage.git(&["checkout", "-q", "-b", &format!("feature{turn}")]).ok();
            for step in 1..=2 {
                pair.attempt(10 * turn + step, &GREEN).ok();
            }
            if soft {
                stage.git(&["checkout", "-q", "-B", "main"]).ok();
                stage.git(&["reset", "-q", "--soft", &base]).ok();
            } else {
                stage.git(&["checkout", "-q", "main"]).ok();
                pair.colleague(turn);
                stage.git(&["pull", "-q", "--ff-only"]).ok();
                stage.git(&["merge", "-q", "--squash", &format!("feature{turn}")]).ok();
            }
            stage.andon(&["test"]).ok();
            stage.git(&["commit", "-qm", &format!("Feature {turn}")]).ok().lacks("warning").lacks("halted");
            stage.git(&["push", "-q", "--no-verify", "origin", "main"]);
            stage.git(&["branch", "-qD", &format!("feature{turn}")]).ok();
        }
        assert!(stage.record("HEAD")["carries"].is_object(), "{}", stage.record("HEAD"));
    }
}

/// The attempt is committed once more on a main that moved.
fn squashed_alone(pair: &Pair, number: u32) {
    let stage = &pair.stage;
    stage.git(&["checkout", "-q", "main"]).ok();
    pair.colleague(number);
    stage.steps("git pull -q --ff-only; git merge -q --squash feature");
    stage.andon(&["test"]);
    stage.git(&["commit", "-qm", &format!("Feature {number}")]);
}

/// The same by a soft reset, which leaves the tree of the attempt as it is.
fn reset_alone(pair: &Pair, number: u32) {
    let stage = &pair.stage;
    pair.colleague(number);
    stage.steps("git checkout -q -B main; git fetch -q; git reset -q --soft origin/main");
    stage.git(&["commit", "-qm", &format!("Feature {number}")]);
}

/// As [`reset_alone`], and the tests run again on what the attempt came to.
fn reset_and_tested(pair: &Pair, number: u32) {
    let stage = &pair.stage;
    pair.colleague(number);
    stage.steps("git checkout -q -B main; git fetch -q; git reset -q --soft origin/main");
    stage.andon(&["test"]).exits(1);
    stage.git(&["commit", "-qm", &format!("Feature {number}")]);
}

#[test]
fn a_squash_of_one_attempt_onto_a_moved_main_is_that_attempt() {
    let moves: [(_, Move); 3] = [
        ("merge --squash", squashed_alone),
        ("reset --soft", reset_alone),
        ("reset --soft, tested again", reset_and_tested),
    ];
    for (name, moved) in moves {
        let pair = Pair::new();
        let stage = &pair.stage;
        let halted = (1..=4).find(|number| {
            stage.git(&["checkout", "-q", "-B", "feature"]).ok();
            pair.attempt(*number, &RED);
            if stage.andon(&["status", "--exit-code"]).code == 1 {
                return true;
            }
            let attempt = stage.head();
            moved(&pair, *number);
            assert_eq!(stage.record("HEAD")["carries"]["commit"], attempt, "{name}, {number}");
            stage.git(&["push", "-q", "--no-verify", "origin", "main"]).ok();
            stage.andon(&["status", "--exit-code"]).code == 1
        });
        assert_eq!(halted, Some(3), "{name}: {}", stage.andon(&["status"]));
    }
}

#[test]
fn the_same_change_made_anew_on_a_moved_main_is_another_attempt() {
    let pair = Pair::new();
    let stage = &pair.stage;
    let halted = (1..=6).find(|number| {
        pair.attempt(1, &RED);
        if stage.andon(&["status", "--exit-code"]).code == 1 {
            return true;
        }
        assert!(stage.record("HEAD").get("carries").is_none(), "{number}");
        pair.colleague(*number);
        stage.steps("git fetch -q; git reset -q --hard origin/main");
        false
    });
    assert_eq!(halted, Some(3), "{}", stage.andon(&["status"]));
}

#[test]
fn editing_history_is_nobodys_loop() {
    let stage = Stage::installed();
    for number in 1..=4 {
        stage.write(&format!("code{number}.txt"), format!("{number}\n"));
        stage.tested_commit_of(".", &format!("Step {number}"));
    }
    let quiet = |out: Out| out.ok().lacks("warning[").lacks("error[").lacks("halted");
    quiet(stage.git(&["rebase", "-i", "--exec", "git commit --amend --no-edit --signoff", "HEAD~4"]));
    for number in 1..=6 {
        quiet(stage.git(&["commit", "--amend", "-qm", &format!("Words {number}")]));
    }
    stage.steps("echo 1, mended > code1.txt; andon test");
    let first = stage.git(&["rev-parse", "HEAD~3"]).ok().stdout;
    quiet(stage.git(&["commit", "-qa", "--fixup", first.trim()]));
    quiet(stage.git(&["rebase", "-i", "--autosquash", "HEAD~5"]));
    stage.steps("echo Words > README.md; git add .");
    quiet(stage.git(&["commit", "-qm", "Document"]));
    for _ in 0..5 {
        quiet(stage.git(&["rebase", "-q", "--no-ff", "HEAD~3"]));
        quiet(stage.git(&["rebase", "-q", "--no-ff", "--apply", "HEAD~3"]));
    }
    stage.andon(&["status", "--exit-code"]).exits(0).lacks("oscillation").lacks("recurrence");
    let replay = stage.andon(&["replay", "--format", "json"]).ok();
    assert!(!replay.stdout.contains("\"decision\":\"halt\""), "{replay}");
}

#[test]
fn a_rebase_is_refused_before_it_moves_anything_while_the_loop_is_halted() {
    let pair = Pair::new();
    let stage = &pair.stage;
    for number in 1..=3 {
        pair.attempt(number, &RED);
    }
    pair.colleague(1);
    let before = stage.head();
    let out = stage.git(&["pull", "-q", "--rebase"]).refused().says("rebase refused, nothing was moved");
    out.says("repeated-failures");
    assert_eq!(stage.head(), before);
    assert!(!stage.exists(".git/rebase-merge") && !stage.exists(".git/rebase-apply"));
    stage.andon(&["resume", "--reason", "looked at it"]).ok();
    stage.git(&["pull", "-q", "--rebase"]).ok().lacks("error[");
    pair.attempt(4, &RED).ok().lacks("error[");
    stage.andon(&["status", "--exit-code"]).exits(0);
}

#[test]
fn a_rebase_that_is_halted_on_its_way_goes_on_after_the_answer() {
    for backend in ["--merge", "--apply"] {
        let pair = Pair::new();
        let stage = &pair.stage;
        for number in 1..=2 {
            pair.attempt(number, &GREEN).ok();
        }
        // Their edit is in conflict with the first of ours; while it is resolved, a person stops the loop.
        std::fs::write(pair.them.join("code.txt"), "theirs\n").unwrap();
        stage.git_in(&pair.them, &["commit", "-qam", "Theirs"]).ok();
        stage.git_in(&pair.them, &["push", "-q"]).ok();
        stage.git(&["fetch", "-q"]).ok();
        stage.git(&["rebase", "-q", backend, "origin/main"]).refused();
        stage.andon(&["stop", "--reason", "wait"]);
        stage.add("code.txt", "both\n");
        let out = stage.git(&["rebase", "--continue"]).refused().says("git rebase --continue");
        out.says("git rebase --abort");
        stage.andon(&["resume", "--reason", "go on"]).ok();
        for number in 0..4 {
            if !stage.exists(".git/rebase-merge") && !stage.exists(".git/rebase-apply") {
                break;
            }
            stage.add("code.txt", format!("both {number}\n"));
            stage.git(&["rebase", "--continue"]);
        }
        let log = stage.git(&["log", "--format=%an %s"]).ok().stdout;
        assert!(
            log.starts_with("A. Author Attempt 2\nA. Author Attempt 1\nA. Author Theirs\n"),
            "{backend}: {log}"
        );
        stage.git(&["status", "--porcelain"]).ok().lacks("code.txt");
    }
}

#[test]
fn patches_are_recorded_and_refused_while_halted() {
    let stage = Stage::installed();
    stage.iterate("one\n", &GREEN, "One").ok();
    stage.steps("git format-patch -q -1 --output ../one.patch; git reset -q --hard HEAD^");
    stage.steps("git am -q ../one.patch");
    assert_eq!(
        (stage.record("HEAD")["kind"].as_str(), stage.record("HEAD")["gate"].as_str()),
        (Some("normal"), Some("not-run"))
    );
    stage.git(&["reset", "-q", "--hard", "HEAD^"]).ok();
    stage.andon(&["stop", "--reason", "wait"]);
    stage.git(&["am", "-q", "../one.patch"]).refused().says("patch refused").says("git am --continue");
    stage.steps("andon resume --reason 'go on'; git am --continue");
    assert_eq!(stage.git(&["log", "-1", "--format=%s"]).ok().stdout, "One\n");
}

#[test]
fn an_idle_loop_halts_its_own_worktree_alone() {
    let stage = Stage::installed();
    stage.iterate("one\n", &GREEN, "One").ok();
    let trees: Vec<PathBuf> =
        (0..2).map(|number| stage.root().canonicalize().unwrap().join(format!("w{number}"))).collect();
    for tree in &trees {
        stage.git(&["worktree", "add", "-q", tree.to_str().unwrap()]).ok();
    }
    for _ in 0..4 {
        stage.andon_in(&trees[0], &["tick"]);
    }
    stage.andon_in(&trees[0], &["status", "--exit-code"]).exits(1);
    for free in [stage.dir(), &trees[1]] {
        let status = stage.andon_in(free, &["status", "--exit-code"]).exits(0);
        assert!(!status.all().contains("does not answer the halt"), "{status}");
        stage.git_in(free, &["commit", "-q", "--allow-empty", "-m", "Goes on"]).ok().lacks("halted");
    }
    // One that is made from there afterwards is no part of it either.
    let later = stage.root().canonicalize().unwrap().join("later");
    stage.git(&["worktree", "add", "-q", "--detach", later.to_str().unwrap(), "HEAD^"]).ok();
    stage.andon_in(&later, &["status", "--exit-code"]).exits(0);
    stage.andon(&["check", "HEAD"]).lacks("halted-commit");
}

#[test]
fn numbers_follow_the_attempts_and_not_the_memos_of_records() {
    let stage = Stage::installed();
    let work = |file: &str| {
        stage.write(file, format!("{file}\n"));
        stage.git(&["add", file]).ok();
        stage.tests(&GREEN);
        stage.tested_commit("-qm", &format!("Add {file}"));
    };
    let numbers = || {
        let log = stage.andon(&["log", "--format", "json"]).ok().stdout;
        let number = |line: &str| {
            serde_json::from_str::<serde_json::Value>(line).unwrap()["record"]["iteration"].as_u64().unwrap()
        };
        log.lines().map(number).collect::<Vec<_>>()
    };
    stage.git(&["checkout", "-q", "-b", "feature"]).ok();
    work("one.txt");
    work("two.txt");
    stage.git(&["checkout", "-q", "main"]).ok();
    work("main.txt");
    // On main two attempts of the other branch had not been seen; they were made before this one all the same.
    stage.steps("git checkout -q feature; git rebase -q main");
    stage.steps("git commit -q --amend -m 'Add two, said better'");
    assert_eq!(numbers(), [3, 2, 4, 1]);
    stage.andon(&["status"]).ok().says("Loop 4/100");
    work("three.txt");
    assert_eq!(numbers(), [5, 3, 2, 4, 1]);
    stage.andon(&["show", "HEAD~1"]).ok().says("iteration  3");
    stage.andon(&["check", "HEAD~4..HEAD"]).ok();
}

#[test]
fn a_loop_that_amends_is_seen_after_an_answer_too() {
    let stage = Stage::installed();
    let attempt = |number: u32, amend: bool| {
        stage.write("code.txt", format!("{}attempt {number}\n", stage.read("code.txt")));
        stage.tests(&RED);
        stage.andon(&["test"]);
        let message = format!("Attempt {number}");
        let args = ["commit", "-qam", &message, "--amend"];
        stage.git(if amend { &args } else { &args[..3] })
    };
    let standing = || stage.andon(&["status", "--exit-code"]).code;
    for number in 1..=3 {
        attempt(number, false);
    }
    assert_eq!(standing(), 1, "three failures alike halt");
    stage.andon(&["resume", "--reason", "go on"]).ok();
    // To say the same in other words is no attempt.
    for number in 0..4 {
        stage.git(&["commit", "-q", "--amend", "-m", &format!("Reworded {number}")]).ok();
    }
    stage.andon(&["status"]).says("Loop 0/100");
    assert_eq!(standing(), 0);
    for number in 4..=5 {
        attempt(number, true);
        assert_eq!(standing(), 0, "{number}");
    }
    attempt(6, true);
    assert_eq!(standing(), 1, "and three more halt again");
}
