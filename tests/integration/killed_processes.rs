//! Sudden death: the program is killed (as by `kill -9`) at every named point of a debug build. Afterwards git works,
//! nothing that was recorded before is lost, and the next call puts right what was left undone and says so.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::{collections::BTreeSet, path::Path};

use insta::assert_snapshot;

use crate::support::{Out, Stage, andon_path, image::built, program};

const GREEN: &[&str] = &["ok a", "ok b"];
const RED: &[&str] = &["ok a", "not ok b"];
pub(crate) const KILLED: i32 = 128 + 9;

/// Runs something that dies at `point`.
pub(crate) fn dying(stage: &Stage, point: &str, run: impl Fn(&Stage) -> Out) -> Out {
    stage.set("ANDON_TEST_STOP", point);
    let out = run(stage);
    stage.unset("ANDON_TEST_STOP");
    out
}

fn notes(stage: &Stage, dir: &Path) -> BTreeSet<String> {
    crate::sync::notes(stage, dir).lines().map(str::to_owned).collect()
}

fn commits(stage: &Stage) -> usize {
    stage.git(&["rev-list", "--count", "HEAD"]).ok().stdout.trim().parse().unwrap()
}

/// git is well, and every record of before is still there.
fn sound(stage: &Stage, before: &BTreeSet<String>, point: &str) {
    stage.steps("git status; git fsck --strict");
    let now = notes(stage, stage.dir());
    assert!(before.is_subset(&now), "{point}: {before:?} {now:?}");
}

fn healed(stage: &Stage) -> String {
    let journal = stage.read(".git/andon/journal.jsonl");
    journal.lines().filter(|line| line.contains("\"healed\"")).map(|line| format!("{line}\n")).collect()
}

/// Three iterations with the same failing test; the third halts.
fn nearly_halted() -> Stage {
    built!({
        let stage = Stage::installed();
        for n in 1..3 {
            stage.iterate(&format!("{n}\n"), RED, &format!("Try {n}")).ok();
        }
        stage
    })
}

#[test]
fn at_every_step_of_post_commit() {
    let stage = Stage::installed();
    let lost = ["post-commit:begin", "post-commit:derived", "ref:locked", "ref:ready"];
    let kept =
        ["ref:moved", "post-commit:noted", "post-commit:told", "post-commit:remembered", "post-commit:end"];
    for (number, point) in lost.into_iter().chain(kept).enumerate() {
        let before = notes(&stage, stage.dir());
        let told = healed(&stage);
        dying(&stage, point, |stage| {
            stage.iterate(&format!("die {number}\n"), GREEN, &format!("Die at {point}"))
        })
        .ok();
        sound(&stage, &before, point);
        assert_eq!(notes(&stage, stage.dir()).len() == commits(&stage), kept.contains(&point), "{point}");
        stage.iterate(&format!("heal {number}\n"), GREEN, "Heal").ok();
        assert_eq!(notes(&stage, stage.dir()).len(), commits(&stage), "{point}");
        let new = healed(&stage).replace(&told, "");
        let told = new.contains("recorded 1 commit whose post-commit was cut short");
        assert_eq!(told, lost.contains(&point), "{point}: {new}");
        // The hooks saw this commit pass: no one is accused of a bypass.
        stage.andon(&["check", "HEAD~2..HEAD"]).ok();
        assert_eq!(
            new.contains("removed the lock of refs/notes/andon"),
            ["ref:locked", "ref:ready"].contains(&point),
            "{point}: {new}"
        );
        // Evidence that was in the journal came into the record that was caught up.
        assert_eq!(stage.record("HEAD~1")["tests"]["status"], "passed", "{point}");
    }
    stage.git(&["gc", "-q", "--prune=now"]).ok();
    assert_eq!(notes(&stage, stage.dir()).len(), commits(&stage));
}

#[test]
fn hooks_that_were_off_are_told_from_a_hook_that_was_killed() {
    let stage = Stage::installed();
    dying(&stage, "post-commit:begin", |stage| stage.iterate("2\n", GREEN, "Killed")).ok();
    stage.steps("echo 3 > code.txt; andon test; git -c core.hooksPath=no-hooks commit -qam Off");
    assert_snapshot!(stage.iterate("4\n", GREEN, "On again").ok().brief(), @"
    exit 0, stderr: note: recorded 1 commit whose post-commit was cut short
    note: recorded 1 commit made while the hooks were off
    ");
    assert_eq!(stage.record("HEAD~2")["gate"], "passed");
    assert_eq!(stage.record("HEAD~1")["gate"], "not-run");
    stage.andon(&["check", "HEAD~3..HEAD~2"]).ok();
    assert_snapshot!(stage.andon(&["check", "HEAD~2..HEAD~1"]).brief(), @"
    exit 1, stdout: error[bypassed]: the commit was made while the hooks were off --> HASH Off
    checked 1 commit in HEAD~2..HEAD~1: 1 error
    ");
    // What passed on top of another commit is no receipt for this one.
    dying(&stage, "post-commit:noted", |stage| stage.iterate("5\n", GREEN, "Killed late")).ok();
    stage.git(&["commit", "-q", "--no-verify", "--allow-empty", "-m", "Round the gate"]).ok();
    assert_snapshot!(stage.andon(&["check", "HEAD~1..HEAD"]).brief(), @"
    exit 1, stdout: error[bypassed]: the commit bypassed the gate (--no-verify) --> HASH Round the gate
    checked 1 commit in HEAD~1..HEAD: 1 error
    ");
    // One that was given up in the editor, then committed after all.
    stage.steps("echo 6 > code.txt; andon test");
    stage.git(&["-c", "core.editor=false", "commit", "-qa"]).refused();
    stage.iterate("7\n", GREEN, "Another first").ok();
    assert_eq!(stage.record("HEAD")["gate"], "passed");
    // Amending is on top of the same parent.
    stage.steps("echo 8 > code.txt; andon test");
    stage.steps("git -c core.logAllRefUpdates=false commit -qa --amend -m Amended");
    assert_eq!(stage.record("HEAD")["gate"], "passed");
}

#[test]
fn between_the_steps_of_a_halt() {
    for point in
        ["post-commit:remembered", "halt:shown", "ref:locked#2", "ref:ready#2", "ref:moved#2", "halt:kept"]
    {
        let stage = nearly_halted();
        let before = notes(&stage, stage.dir());
        dying(&stage, point, |stage| stage.iterate("3\n", RED, "Try 3")).ok();
        sound(&stage, &before, point);
        // The halt binds, whatever was written of it.
        stage.iterate("4\n", GREEN, "Go on").refused().says("repeated-failures");
        assert!(stage.exists(".andon/CHECKPOINT.md"), "{point}");
        let in_time = ["ref:moved#2", "halt:kept"].contains(&point);
        assert_eq!(healed(&stage).contains("wrote the halt of"), !in_time, "{point}");
        let entries = stage.git(&["log", "--format=%s", "--glob=refs/andon/ledger/*"]).ok().stdout;
        assert_eq!(entries, "loop.halted\n", "{point}");
        stage.andon(&["resume", "--reason", "seen"]).ok();
        stage.iterate("4\n", GREEN, "Go on").ok();
    }
}

#[test]
fn between_the_steps_of_a_resume() {
    for point in ["ack:told", "ref:locked", "ref:ready", "ref:moved", "ack:kept", "ack:cleared"] {
        let stage = nearly_halted();
        stage.iterate("3\n", RED, "Try 3").ok();
        let before = notes(&stage, stage.dir());
        dying(&stage, point, |stage| stage.andon(&["resume", "--reason", "seen"])).exits(KILLED);
        sound(&stage, &before, point);
        // Half an answer is none, and a whole one is valid; the same command ends both.
        let again = stage.andon(&["resume", "--reason", "seen"]);
        assert!(again.code == 0 || again.all().contains("nothing to resume"), "{point}: {again}");
        assert!(!stage.exists(".andon/CHECKPOINT.md"), "{point}");
        stage.iterate("4\n", GREEN, "Go on").ok();
        stage.andon(&["check", "HEAD~4..HEAD"]).ok();
    }
}

#[test]
fn at_every_step_of_a_test_run() {
    let stage = Stage::installed();
    for point in ["test:begin", "test:ran", "test:kept"] {
        let before = notes(&stage, stage.dir());
        stage.write("code.txt", point);
        dying(&stage, point, |stage| stage.andon(&["test"])).exits(KILLED);
        sound(&stage, &before, point);
        let out = stage.git(&["commit", "-qam", point]);
        assert_eq!(out.code == 0, point == "test:kept", "{point}: {out}");
        stage.andon(&["test"]).ok();
        stage.git(&["commit", "-q", "--allow-empty", "-am", point]).ok();
    }
}

#[test]
fn at_every_step_of_an_install() {
    // After the manifest come andon.toml, the second name of the hook that is there, its shim and another.
    for point in [
        "install:staged",
        "install:manifest",
        "install:put",
        "install:put#2",
        "install:put#3",
        "install:put#5",
    ] {
        let stage = Stage::new();
        let own = "#!/bin/sh\necho own hook ran >&2\n";
        program(&stage.path(".git/hooks/pre-commit"), own);
        stage.add("code.txt", "start\n");
        let config = stage.read(".git/config");
        dying(&stage, point, |stage| stage.andon(&["install"])).exits(KILLED);
        stage.git(&["commit", "-qm", point]).ok().says("own hook ran");
        stage.steps("git fsck --strict; andon install");
        stage.git(&["commit", "-q", "--allow-empty", "-m", "Installed"]).ok().says("own hook ran");
        assert!(!notes(&stage, stage.dir()).is_empty(), "{point}");
        stage.andon(&["uninstall"]).ok();
        assert_eq!(stage.read(".git/hooks/pre-commit"), own, "{point}");
        if point != "install:staged" {
            assert_eq!(stage.read(".git/config"), config, "{point}");
        }
    }
}

#[test]
fn at_every_step_of_a_sync() {
    let stage = Stage::installed();
    let root = stage.root().canonicalize().unwrap();
    let hub = root.join("hub.git");
    let two = root.join("two");
    stage.steps_in(&root, "git clone -q --bare repo hub.git; git clone -q hub.git two");
    stage.andon_in(&two, &["install"]).ok();
    stage.git(&["remote", "add", "origin", hub.to_str().unwrap()]).ok();
    let points = [
        "sync:begin",
        "sync:fetched",
        "ref:locked",
        "ref:ready",
        "ref:moved",
        "sync:joined",
        "sync:adopted",
        "sync:offered",
        "sync:pushed",
        "sync:tracked",
        "ref:locked#2",
        "ref:moved#2",
    ];
    for (number, point) in points.into_iter().enumerate() {
        // Both sides have something new.
        stage.iterate(&format!("one {number}\n"), GREEN, &format!("One {number}")).ok();
        std::fs::write(two.join("code.txt"), format!("two {number}\n")).unwrap();
        stage.andon_in(&two, &["test"]).ok();
        stage.git_in(&two, &["commit", "-qam", &format!("Two {number}")]).ok();
        stage.andon_in(&two, &["sync"]).ok();
        let before = notes(&stage, stage.dir());
        dying(&stage, point, |stage| stage.andon(&["sync"])).exits(KILLED);
        sound(&stage, &before, point);
        stage.git_in(&hub, &["fsck", "--strict"]).ok();
        stage.andon(&["sync"]).ok();
        stage.andon_in(&two, &["sync"]).ok();
        assert_eq!(notes(&stage, &two), notes(&stage, stage.dir()), "{point}");
        assert_eq!(notes(&stage, &hub).len(), 1 + 2 * (number + 1), "{point}");
    }
}

#[test]
fn a_lock_that_somebody_holds_a_while_is_waited_for_and_a_stale_one_is_named() {
    let stage = Stage::installed();
    let lock = stage.path(".git/refs/notes/andon.lock");
    std::fs::write(&lock, "").unwrap();
    let held = lock.clone();
    let waiting = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_secs(1));
        std::fs::remove_file(held).unwrap();
    });
    stage.iterate("2\n", GREEN, "Two").ok().lacks("lock");
    waiting.join().unwrap();
    assert_eq!(notes(&stage, stage.dir()).len(), 2);
    std::fs::write(&lock, "").unwrap();
    assert_snapshot!(stage.iterate("3\n", GREEN, "Three").shown(), @"
    exit 0
    --- stderr
    error: ref refs/notes/andon stayed locked for 2 s by ROOT/repo/.git/refs/notes/andon.lock
      help: if no git process is running, remove the stale lock: rm ROOT/repo/.git/refs/notes/andon.lock
    warning: post-commit: Andon could not judge this; git goes on without it
      help: andon doctor
    ");
    std::fs::remove_file(&lock).unwrap();
    stage.iterate("4\n", GREEN, "Four").ok();
    assert_eq!(notes(&stage, stage.dir()).len(), 4);
}

#[test]
fn a_lock_whose_owner_had_no_time_to_sign_it_is_removed_too() {
    let stage = Stage::installed();
    dying(&stage, "ref:begun", |stage| stage.iterate("2\n", GREEN, "Two")).ok();
    assert!(stage.exists(".git/refs/notes/andon.lock"));
    stage.iterate("3\n", GREEN, "Three").ok().lacks("locked");
    assert_eq!(notes(&stage, stage.dir()).len(), 3);
    assert!(healed(&stage).contains("removed the lock of refs/notes/andon"));
}

#[test]
fn a_lock_of_another_program_is_not_taken_for_one_of_the_dead() {
    let stage = Stage::installed();
    dying(&stage, "ref:ready", |stage| stage.iterate("2\n", GREEN, "Two")).ok();
    let lock = stage.path(".git/refs/notes/andon.lock");
    std::fs::remove_file(&lock).unwrap();
    // Another inode under the same name.
    std::fs::write(stage.path(".git/other"), "").unwrap();
    std::fs::write(&lock, "").unwrap();
    let inode = |path: &Path| std::os::unix::fs::MetadataExt::ino(&path.metadata().unwrap());
    let named = stage.read(".git/andon/writing");
    if !named.contains(&format!(" {} ", inode(&lock))) {
        stage.iterate("3\n", GREEN, "Three").ok().says("stayed locked");
        assert!(lock.exists());
    }
}

#[test]
fn a_full_disk_costs_the_record_not_the_commit() {
    let stage = Stage::installed();
    stage.steps("echo 2 > code.txt; andon test; git -c core.hooksPath=no-hooks commit -qam Two");
    // No file may grow: what a full disk answers, without one.
    let script = "trap '' XFSZ; ulimit -f 0; exec \"$0\" hook post-commit";
    let out = stage.run_in(stage.dir(), "sh", &["-c", script, andon_path().to_str().unwrap()], None);
    assert!(out.code == 0 || out.code == 70, "{out}");
    out.says("cannot write");
    stage.git(&["fsck", "--strict"]).ok();
    stage.iterate("3\n", GREEN, "Three").ok();
    assert_eq!(notes(&stage, stage.dir()).len(), 3);
}

/// `git gc --prune=now` takes what git itself is writing, too: so the commits are made before it, and only the hooks
/// run beside it.
#[test]
fn maintenance_meanwhile_loses_nothing() {
    let stage = Stage::installed();
    let script =
        "while [ ! -e .git/stop ]; do git gc -q --prune=now; git repack -adq; git pack-refs --all; done";
    for n in 2..8 {
        stage.write("code.txt", format!("{n}\n"));
        stage.andon(&["test"]).ok();
        stage.git(&["-c", "core.hooksPath=no-hooks", "commit", "-qam", &format!("Step {n}")]).ok();
        let mut command = stage.command(stage.dir(), "sh");
        let mut busy = command.args(["-c", script]).stderr(std::process::Stdio::null()).spawn().unwrap();
        let at = std::time::Duration::from_millis(7 * n);
        std::thread::sleep(at);
        stage.andon(&["hook", "post-commit"]).ok().lacks("cannot");
        stage.write(".git/stop", "");
        busy.wait().unwrap();
        std::fs::remove_file(stage.path(".git/stop")).unwrap();
        stage.git(&["fsck", "--strict"]).ok();
        assert_eq!(notes(&stage, stage.dir()).len(), commits(&stage));
    }
}
