//! A hostile repository runs nothing and touches nothing.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{fs, process::Stdio};

use insta::assert_snapshot;

use super::support::Stage;

/// Every command that looks at a repository.
const COMMANDS: &[&[&str]] = &[
    &["status"],
    &["complete"],
    &["tick"],
    &["pin"],
    &["log"],
    &["check", "HEAD"],
    &["doctor"],
    &["context"],
    &["sync"],
    &["replay"],
    &["config", "show"],
];

/// A program that leaves a mark, and where.
fn trap(stage: &Stage) -> (PathBuf, PathBuf) {
    let (program, mark) = (stage.root().join("trap.sh"), stage.root().join("ran"));
    fs::write(&program, format!("#!/bin/sh\ntouch '{}'\n", mark.display())).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    (program, mark)
}

/// Sets everything by which git starts programs for questions like ours.
fn arm(stage: &Stage, dir: &Path, program: &Path) {
    let hooks = stage.root().join("evil-hooks");
    fs::create_dir_all(&hooks).unwrap();
    for hook in ["post-index-change", "reference-transaction", "pre-auto-gc"] {
        fs::copy(program, hooks.join(hook)).unwrap();
    }
    let program = program.to_str().unwrap();
    for (key, value) in
        [("core.fsmonitor", program), ("core.hooksPath", hooks.to_str().unwrap()), ("diff.external", program)]
    {
        stage.git_in(dir, &["config", key, value]).ok();
    }
}

#[test]
fn an_embedded_bare_repository_is_refused_by_every_command() {
    let stage = Stage::installed();
    let (program, mark) = trap(&stage);
    let embedded = stage.path("vendor/embedded");
    stage.git(&["clone", "-q", "--bare", ".", embedded.to_str().unwrap()]).ok();
    arm(&stage, &embedded, &program);
    for (key, value) in [("core.bare", "false"), ("core.worktree", stage.dir().to_str().unwrap())] {
        stage.git_in(&embedded, &["config", key, value]).ok();
    }
    let config = stage.root().join("user.gitconfig");
    fs::write(&config, "[safe]\n\tbareRepository = explicit\n").unwrap();
    stage.set("GIT_CONFIG_GLOBAL", config.to_str().unwrap());
    for dir in [embedded.clone(), embedded.join("refs")] {
        for args in COMMANDS {
            let out = stage.andon_in(&dir, args);
            assert_ne!(out.code, 0, "{args:?}: {out}");
            out.says("safe.bareRepository");
        }
    }
    assert!(!mark.exists(), "a program of the repository ran");
    // The repository around it, and its git directory, are no such thing.
    stage.andon_in(&stage.path("vendor"), &["status"]).ok();
    stage.andon_in(&stage.path(".git"), &["log"]).ok();
}

#[test]
fn settings_that_start_programs_are_overruled() {
    let stage = Stage::installed();
    let (program, mark) = trap(&stage);
    arm(&stage, stage.dir(), &program);
    stage.write("code.txt", "changed\n");
    for args in COMMANDS {
        let _any_answer = stage.andon(args);
        assert!(!mark.exists(), "{args:?}");
    }
    stage.andon(&["test"]);
    assert!(!mark.exists(), "andon test");
}

#[test]
fn the_search_for_a_repository_ends_at_a_ceiling() {
    let stage = Stage::installed();
    fs::create_dir_all(stage.path("below/deeper")).unwrap();
    let deeper = stage.path("below/deeper");
    stage.andon_in(&deeper, &["status"]).ok();
    stage.set("GIT_CEILING_DIRECTORIES", stage.path("below").to_str().unwrap());
    assert_snapshot!(stage.andon_in(&deeper, &["status"]).shown(), @"
    exit 2
    --- stderr
    error: not a git repository (or any of its parents): ROOT/repo/below/deeper
      help: run `git init`, or change into a repository
    ");
    stage.git_in(&deeper, &["status"]).refused();
    stage.andon_in(&stage.path("below"), &["status"]).ok();
}

#[test]
fn a_link_in_place_of_our_directory_answers_nobody_elses_halt() {
    let victim = Stage::installed();
    victim.andon(&["stop", "--reason", "mine"]).ok();
    let halted = victim.andon(&["status", "--format", "json"]).stdout;
    let stage = Stage::installed();
    fs::remove_dir_all(stage.path(".andon")).ok();
    stage.write(".git/info/exclude", "/.andon\n");
    symlink(victim.path(".andon"), stage.path(".andon")).unwrap();
    for args in [
        &["resume", "--reason", "gone"][..],
        &["stop", "--reason", "x"],
        &["pause"],
        &["context", "--brief"],
        &["advise"],
        &["status"],
        &["tick"],
    ] {
        let _any_answer = stage.andon(args);
        assert!(victim.exists(".andon/STOP") && victim.exists(".andon/CHECKPOINT.md"), "{args:?}");
    }
    assert_snapshot!(stage.andon(&["resume", "--reason", "gone"]).shown(), @"
    exit 70
    --- stderr
    error: cannot look into ROOT/repo/.andon: it is a symbolic link, and no link is followed here
      help: ROOT/repo/.andon must be a directory: mv ROOT/repo/.andon ROOT/repo/.andon.old
    ");
    assert_snapshot!(stage.iterate("2\n", &["ok a", "ok b"], "Two").shown(), @"
    exit 0
    --- stderr
    warning: cannot look into ROOT/repo/.andon: it is a symbolic link, and no link is followed here
      help: ROOT/repo/.andon must be a directory: mv ROOT/repo/.andon ROOT/repo/.andon.old
    ");
    assert_eq!(victim.andon(&["status", "--format", "json"]).stdout.len(), halted.len());
    victim.iterate("2\n", &["ok a"], "Two").refused();
}

#[test]
fn a_stream_without_an_end_is_bounded() {
    let stage = Stage::new();
    assert_snapshot!(stage.andon(&["replay", "--events", "/dev/zero"]).shown(), @"
    exit 2
    --- stderr
    error: the events cannot be read: more than 64 MiB without the end of a line: no stream of events
      help: give a file that can be read, or `-` for standard input
    ");
    stage.andon(&["replay", "--events", "."]).refused();
}

/// The process that holds the turn to write, once it is stopped.
fn stopped_writer(stage: &Stage) -> u32 {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        assert!(Instant::now() < deadline, "nothing has stopped");
        let line = fs::read_to_string(stage.path(".git/andon/writing")).unwrap_or_default();
        let owner = line.split(' ').nth(2).and_then(|word| word.trim().parse::<u32>().ok());
        let stat = owner.and_then(|owner| fs::read_to_string(format!("/proc/{owner}/stat")).ok());
        if let (Some(owner), Some(stat)) = (owner, stat)
            && stat.rsplit_once(')').is_some_and(|(_, rest)| rest.trim_start().starts_with('T'))
        {
            return owner;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn signal(pid: u32, name: &str) {
    let status = std::process::Command::new("kill").args([name, &pid.to_string()]).status().unwrap();
    assert!(status.success());
}

#[test]
fn a_stopped_writer_loses_its_turn_and_its_record_is_not_lost() {
    for point in ["ref:begun", "ref:locked", "ref:ready"] {
        let stage = Stage::installed();
        stage.steps("echo by the one that is stopped > code.txt; andon test");
        let mut command = stage.command(stage.dir(), "git");
        command.args(["commit", "-qam", "Stopped"]).env("ANDON_TEST_STOP", format!("{point}=stop"));
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let owner = stopped_writer(&stage);
        stage.iterate("beside\n", &["ok a"], "Beside").ok();
        assert_eq!(stage.record("HEAD")["schema"], "andon/commit@1", "{point}");
        signal(owner, "-CONT");
        child.wait().unwrap();
        stage.iterate("after\n", &["ok a"], "After").ok();
        for revision in ["HEAD", "HEAD~1", "HEAD~2"] {
            assert_eq!(stage.record(revision)["schema"], "andon/commit@1", "{point} {revision}");
        }
        stage.git(&["fsck", "--strict"]).ok();
        let locks = fs::read_dir(stage.path(".git/refs/notes")).unwrap().flatten();
        assert!(!locks.into_iter().any(|entry| entry.file_name().to_string_lossy().ends_with(".lock")));
    }
}

#[test]
fn notes_that_others_append_beside_us_cost_no_record() {
    let stage = Stage::installed();
    let before = stage.git(&["rev-parse", "refs/notes/andon"]).ok().stdout;
    stage.iterate("2\n", &["ok a"], "Two").ok();
    let ours = stage.git(&["rev-parse", "refs/notes/andon"]).ok().stdout;
    // `git notes append` reads, we write, `git notes append` writes what it read and its own.
    stage.git(&["update-ref", "refs/notes/andon", before.trim()]).ok();
    stage.git(&["notes", "--ref=andon", "append", "-m", "a remark", "HEAD~1"]).ok();
    let tree = stage.git(&["rev-parse", "refs/notes/andon^{tree}"]).ok().stdout;
    let theirs = stage.git(&["commit-tree", tree.trim(), "-p", ours.trim(), "-m", "x"]).ok().stdout;
    stage.git(&["update-ref", "refs/notes/andon", theirs.trim()]).ok();
    stage.git(&["notes", "--ref=andon", "show", "HEAD"]).refused();
    stage.iterate("3\n", &["ok a"], "Three").ok();
    for revision in ["HEAD", "HEAD~1"] {
        assert_eq!(stage.record(revision)["gate"], "passed", "{revision}");
    }
    stage.git(&["notes", "--ref=andon", "show", "HEAD~2"]).ok().says("a remark").says("andon/commit@1");
}

#[test]
fn what_killed_writers_left_goes_with_the_next_write() {
    let stage = Stage::installed();
    let name = format!(".tmp-{}-x", i32::MAX);
    for dir in [".git/andon", ".andon"] {
        fs::create_dir_all(stage.path(dir)).unwrap();
        stage.write(&format!("{dir}/{name}"), "half");
    }
    stage.steps("andon stop --reason x; andon resume --reason y");
    stage.iterate("2\n", &["ok a"], "Two").ok();
    for dir in [".git/andon", ".andon"] {
        assert!(!stage.exists(&format!("{dir}/{name}")), "{dir}");
    }
    // Where others have files too, ours are known by their name.
    let (ours, theirs) = (format!(".andon-tmp-{}-x", i32::MAX), format!(".tmp-{}-x", i32::MAX));
    for name in [&ours, &theirs] {
        stage.write(&format!(".git/hooks/{name}"), "half");
    }
    fs::remove_file(stage.path(".git/hooks/post-merge")).unwrap();
    stage.andon(&["install"]).ok();
    assert!(!stage.exists(&format!(".git/hooks/{ours}")) && stage.exists(&format!(".git/hooks/{theirs}")));
}
