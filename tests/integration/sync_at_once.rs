//! Writers that commit and sync at the same time, and remotes that are busy meanwhile.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::path::PathBuf;

use crate::support::andon_path;
use crate::sync::{GREEN, clone, hub, iterate, notes, refs, root, sync, writers};

/// A configuration that asks for no tests.
const UNTESTED: &str = "[rules]\nuntested-edit = \"off\"\n";

/// Worktrees of one store commit at once: the small form of `bench/writers.py`.
#[test]
fn worktrees_that_commit_at_once_lose_nothing() {
    const WORKTREES: usize = 4;
    const COMMITS: usize = 8;
    let (stage, _) = hub();
    stage.write("andon.toml", UNTESTED);
    stage.git(&["commit", "-qam", "Ask for no tests"]).ok();
    let before = notes(&stage, stage.dir()).lines().count();
    let script = format!(
        "set -e; i=0; while [ $i -lt {COMMITS} ]; do i=$((i+1)); echo \"$1 $i\" > code.txt; git commit -qam \"$1 $i\"; done"
    );
    let children: Vec<_> = (0..WORKTREES)
        .map(|number| {
            let dir = root(&stage).join(format!("w{number}"));
            stage.git(&["worktree", "add", "-q", "-b", &format!("w{number}"), dir.to_str().unwrap()]).ok();
            let mut command = stage.command(&dir, "sh");
            command.env_remove("ANDON_TEST_NOW").env_remove("GIT_COMMITTER_DATE");
            command.args(["-c", &script, "sh", &number.to_string()]);
            command.stderr(std::process::Stdio::piped()).spawn().unwrap()
        })
        .collect();
    for child in children {
        let out = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&out.stderr).into_owned();
        assert!(out.status.success(), "{said}");
        assert_eq!(said, "");
    }
    assert_eq!(notes(&stage, stage.dir()).lines().count(), before + WORKTREES * COMMITS);
    stage.git(&["fsck", "--strict"]).ok();
    stage.andon(&["check", "w0~8..w0"]).ok();
}

/// Several clones commit and sync through one hub at once: the small form of `bench/writers.py`.
#[test]
fn clones_that_sync_at_once_lose_nothing_and_end_equal() {
    const CLONES: usize = 3;
    const COMMITS: usize = 6;
    let (stage, hub) = hub();
    sync(&stage, stage.dir()).ok();
    let dirs: Vec<PathBuf> = (0..CLONES).map(|number| clone(&stage, &format!("clone{number}"))).collect();
    let script = format!(
        "set -e; git switch -qc \"work-$1\"; i=0; while [ $i -lt {COMMITS} ]; do i=$((i+1)); \
         echo \"$1 $i\" > code.txt; git commit -qam \"$1 $i\"; \"$2\" sync >/dev/null; done"
    );
    let children: Vec<_> = dirs
        .iter()
        .enumerate()
        .map(|(number, dir)| {
            let mut command = stage.command(dir, "sh");
            command.env_remove("ANDON_TEST_NOW");
            command.args(["-c", &script, "sh", &number.to_string(), andon_path().to_str().unwrap()]);
            std::fs::write(dir.join("andon.toml"), UNTESTED).unwrap();
            command.spawn().unwrap()
        })
        .collect();
    for child in children {
        let out = child.wait_with_output().unwrap();
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    }
    for dir in &dirs {
        sync(&stage, dir).ok();
    }
    assert_eq!(notes(&stage, &hub).lines().count(), 1 + CLONES * COMMITS);
    for dir in &dirs {
        assert_eq!(refs(&stage, dir), refs(&stage, &hub));
        stage.git_in(dir, &["fsck", "--strict"]).ok();
    }
}

/// Another process holds the ref of this clone at the remote for a while: sync waits, grows nothing meanwhile, and
/// arrives.
#[test]
fn a_remote_whose_ref_is_locked_for_a_while_is_waited_for() {
    let (stage, hub) = hub();
    let one = stage.dir().to_path_buf();
    sync(&stage, &one).ok();
    iterate(&stage, &one, "on\n", GREEN, "On").ok();
    let lock = hub.join(format!("{}.lock", writers(&stage, &hub)[0]));
    std::fs::write(&lock, "").unwrap();
    let held = lock.clone();
    let waiting = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_secs(2));
        std::fs::remove_file(held).unwrap();
    });
    let out = stage.andon_in(&one, &["sync", "--format", "json"]).ok();
    waiting.join().unwrap();
    assert_eq!(notes(&stage, &hub), notes(&stage, &one));
    let report = out.json();
    assert!(report["retries"].as_u64().unwrap() > 1, "{out}");
    let merges = stage.git(&["rev-list", "--merges", "--count", "refs/notes/andon"]).ok().stdout;
    assert_eq!(merges, "0\n");
}
