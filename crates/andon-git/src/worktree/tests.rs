use std::os::unix::fs::{PermissionsExt as _, symlink};

use super::*;
use crate::testkit::{Scratch, command, git_in};

/// The expected overlay: the difference from HEAD to what `git add -A` in a scratch index would make.
fn by_git(scratch: &Scratch) -> Vec<(Vec<u8>, Place)> {
    let index = scratch.path().join(".git/scratch-index");
    let _none_yet = std::fs::remove_file(&index);
    let run = |args: &[&str]| {
        let output = command(&scratch.path(), args).env("GIT_INDEX_FILE", &index).output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    if scratch.try_git(&["rev-parse", "-q", "--verify", "HEAD"]) {
        run(&["read-tree", "HEAD"]);
    }
    run(&["add", "-A"]);
    let tree: TreeId = run(&["write-tree"]).parse().unwrap();
    let repo = scratch.open();
    let base = repo.head().unwrap().commit().map(|head| repo.tree_of(head).unwrap());
    let mut found = Vec::new();
    for change in repo.changes(base, tree).unwrap() {
        if let Some(old_path) = change.old_path {
            found.push((old_path, None));
        }
        found.push((change.path, change.new));
    }
    found.sort();
    found
}

fn ours(scratch: &Scratch) -> Vec<(Vec<u8>, Place)> {
    let overlay = scratch.open().worktree_overlay().unwrap();
    overlay.entries.into_iter().map(|entry| (entry.path, entry.entry)).collect()
}

fn assert_as_git(scratch: &Scratch) {
    assert_eq!(ours(scratch), by_git(scratch));
}

#[test]
fn before_the_first_commit_everything_is_new() {
    let scratch = Scratch::new();
    scratch.write("a", "1");
    scratch.write("d/b", "2");
    scratch.git(&["add", "a"]);
    let overlay = scratch.open().worktree_overlay().unwrap();
    assert_eq!(overlay.base, None);
    let tracking: Vec<Tracking> = overlay.entries.iter().map(|entry| entry.tracking).collect();
    assert_eq!(tracking, [Tracking::Tracked, Tracking::Untracked]);
    assert_as_git(&scratch);
}

#[test]
fn every_kind_of_difference_is_what_git_would_add() {
    let scratch = Scratch::new();
    for name in [
        "same",
        "changed",
        "staged",
        "both",
        "gone",
        "unstaged-back",
        "mode",
        "to-link",
        "to-dir",
        "rm-cached",
    ] {
        scratch.write(name, name);
    }
    scratch.write("from-dir/x", "x");
    scratch.write(".gitignore", "*.log\n");
    symlink("same", scratch.path().join("link")).unwrap();
    scratch.commit("crlf", "x", "one");
    scratch.write("changed", "2");
    scratch.write("staged", "2");
    scratch.write("both", "2");
    scratch.write("unstaged-back", "2");
    scratch.write("added", "new");
    scratch.write("added-gone", "new");
    scratch.git(&["add", "staged", "both", "unstaged-back", "added", "added-gone"]);
    scratch.write("both", "3");
    scratch.write("unstaged-back", "unstaged-back");
    scratch.write("intent", "to add");
    scratch.git(&["add", "-N", "intent"]);
    scratch.git(&["rm", "-q", "--cached", "rm-cached"]);
    for name in ["gone", "to-link", "to-dir", "added-gone", "link"] {
        std::fs::remove_file(scratch.path().join(name)).unwrap();
    }
    symlink("no/such target", scratch.path().join("to-link")).unwrap();
    symlink("changed", scratch.path().join("link")).unwrap();
    scratch.write("to-dir/inside", "x");
    std::fs::remove_dir_all(scratch.path().join("from-dir")).unwrap();
    scratch.write("from-dir", "now a file");
    let executable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(scratch.path().join("mode"), executable.clone()).unwrap();
    scratch.write("new-tool", "#!/bin/sh");
    std::fs::set_permissions(scratch.path().join("new-tool"), executable).unwrap();
    symlink("x", scratch.path().join("new-link")).unwrap();
    scratch.write("noise.log", "ignored");
    assert_as_git(&scratch);
    let paths: Vec<Vec<u8>> = ours(&scratch).into_iter().map(|(path, _)| path).collect();
    for path in ["same", "unstaged-back", "rm-cached", "noise.log", "added-gone"] {
        assert!(!paths.contains(&path.as_bytes().to_vec()), "{path} is no difference");
    }
    assert!(paths.windows(2).all(|pair| pair[0] < pair[1]));
}

#[test]
fn odd_names_are_hashed_as_they_are() {
    let scratch = Scratch::new();
    scratch.commit("a", "1", "one");
    let names = [
        "new\nline",
        "\"quoted\"",
        "back\\slash",
        "tab\there",
        "cr\r",
        " space ",
        "ünï",
        "-dash",
        "\"",
        "\x01",
        "d\n/e\n",
    ];
    for name in names {
        scratch.write(name, &format!("content of {name:?}"));
    }
    let not_utf8 = scratch.path().join(path_from_bytes(b"\xff\xfe"));
    std::fs::write(not_utf8, "bytes").unwrap();
    assert_eq!(ours(&scratch).len(), names.len() + 1);
    assert_as_git(&scratch);
}

#[test]
fn line_endings_are_converted_and_a_filter_is_asked_only_of_what_may_have_changed() {
    let scratch = Scratch::new();
    scratch.write(".gitattributes", "*.txt text eol=crlf\n*.up filter=up\n");
    scratch.write("old.up", "shout");
    scratch.commit("a.txt", "one\r\ntwo\r\n", "one");
    scratch.write("a.txt", "one\r\nthree\r\n");
    scratch.write("b.txt", "new\r\n");
    scratch.write("c.up", "shout");
    assert_as_git(&scratch);
    let ran = scratch.path().join(".git/ran");
    scratch.git(&["config", "filter.up.clean", &format!("tr a-z A-Z; touch {}", ran.display())]);
    scratch.git(&["config", "filter.up.required", "true"]);
    // The driver says what would be stored of a file that was written since.
    scratch.write("old.up", "shout");
    assert_as_git(&scratch);
    // Else git has to read it again: it changed in the second in which the index was written.
    std::thread::sleep(std::time::Duration::from_millis(1100));
    scratch.git(&["add", "--renormalize", "old.up"]);
    scratch.git(&["commit", "-q", "-m", "two"]);
    std::fs::rename(scratch.path().join("c.up"), scratch.path().join(".git/c.up")).unwrap();
    std::fs::remove_file(&ran).unwrap();
    let differing = |scratch: &Scratch| {
        let overlay = scratch.open().worktree_overlay().unwrap();
        let hidden: Vec<_> = overlay.hidden.into_iter().map(|one| (one.path, one.veil)).collect();
        (overlay.entries.iter().any(|entry| entry.path == b"old.up"), hidden)
    };
    assert_eq!(differing(&scratch), (false, vec![]));
    assert!(!ran.exists(), "its stat data say that it is unchanged");
    scratch.write("old.up", "other");
    assert_eq!(differing(&scratch), (true, vec![]));
    // A driver that fails, or says something else each time, tells nothing of the file.
    for clean in ["exit 1", "date +%N"] {
        scratch.git(&["config", "filter.up.clean", clean]);
        let left_out = (b"old.up".to_vec(), Veil::Filter("up".to_owned()));
        assert_eq!(differing(&scratch), (false, vec![left_out]), "{clean}");
    }
}

#[test]
fn conflicts_count_as_what_the_files_hold() {
    let scratch = Scratch::new();
    scratch.write("deleted-here", "1");
    scratch.commit("a", "1", "one");
    scratch.git(&["checkout", "-q", "-b", "side"]);
    scratch.write("deleted-here", "2");
    scratch.commit("a", "side", "side");
    scratch.git(&["checkout", "-q", "main"]);
    scratch.git(&["rm", "-q", "deleted-here"]);
    scratch.commit("a", "main", "main");
    assert!(!scratch.try_git(&["merge", "-q", "side"]));
    assert_as_git(&scratch);
    scratch.write("a", "main");
    assert_as_git(&scratch);
    assert!(!ours(&scratch).iter().any(|(path, _)| path == b"a"), "back to HEAD's content");
}

#[test]
fn submodules_count_as_their_commit_and_never_when_dirty() {
    let scratch = Scratch::new();
    let other = Scratch::new();
    other.commit("b", "1", "b");
    scratch.git(&["submodule", "-q", "add", other.path().to_str().unwrap(), "sub"]);
    scratch.git(&["commit", "-q", "-m", "with a submodule"]);
    assert_eq!(ours(&scratch), vec![]);
    // A clone that was just made, in which it is an empty folder.
    let clone = scratch.beside("clone");
    scratch.git(&["clone", "-q", ".", clone.to_str().unwrap()]);
    let fresh = Repo::open(&clone, &RepoEnv::default()).unwrap();
    assert_eq!(fresh.worktree_overlay().unwrap().entries, vec![]);
    let sub = scratch.path().join("sub");
    std::fs::write(sub.join("b"), "2").unwrap();
    let dirty = ours(&scratch);
    assert_eq!(dirty.len(), 1);
    let (mode, id) = dirty[0].1.unwrap();
    assert_eq!(mode, MODE_SUBMODULE);
    assert!(scratch.open().tree_of(andon_core::domain::CommitId(id)).is_err());
    git_in(&sub, &["commit", "-q", "-a", "-m", "inside"]);
    assert_as_git(&scratch);
    let nested = scratch.path().join("nested");
    std::fs::create_dir(&nested).unwrap();
    git_in(&nested, &["init", "-q"]);
    git_in(&nested, &["commit", "-q", "--allow-empty", "-m", "x"]);
    assert_as_git(&scratch);
}

#[test]
fn it_works_in_a_linked_worktree_and_writes_nothing() {
    let scratch = Scratch::new();
    scratch.commit("a", "1", "one");
    let linked = scratch.beside("linked");
    scratch.git(&["worktree", "add", "-q", linked.to_str().unwrap()]);
    std::fs::write(linked.join("a"), "2").unwrap();
    std::fs::write(linked.join("new"), "never stored").unwrap();
    let repo = Repo::open(&linked, &RepoEnv::default()).unwrap();
    let overlay = repo.worktree_overlay().unwrap();
    assert_eq!(overlay.base, Some(scratch.tree("HEAD")));
    assert_eq!(overlay.entries.len(), 2);
    let (_, id) = overlay.entries[1].entry.unwrap();
    assert!(repo.read_blob(id, 100).is_err());
    assert_eq!(ours(&scratch), vec![]);
}

/// With as many files as make it worth a copy of the index, what differs is found all the same, and the index stays as it is.
#[test]
fn what_the_index_settles_is_not_looked_at_again_and_the_rest_is() {
    let scratch = Scratch::new();
    for number in 0..1200 {
        scratch.write(&format!("d{}/f{number}", number % 7), "1\n");
    }
    scratch.git(&["add", "."]);
    scratch.git(&["commit", "-qm", "many"]);
    // The index has to be older than a tick of the clock.
    std::thread::sleep(std::time::Duration::from_millis(2100));
    scratch.git(&["update-index", "-q", "--really-refresh"]);
    std::thread::sleep(std::time::Duration::from_millis(50));
    let before = std::fs::read(scratch.path().join(".git/index")).unwrap();
    let seen = || {
        let overlay = scratch.open().worktree_overlay().unwrap();
        let path = |entry: &OverlayEntry| String::from_utf8_lossy(&entry.path).into_owned();
        overlay.entries.iter().map(path).collect::<Vec<_>>()
    };
    assert!(seen().is_empty());
    scratch.write("d1/f1", "2\n");
    scratch.write("d2/new", "2\n");
    std::fs::remove_file(scratch.path().join("d3/f3")).unwrap();
    assert_eq!(seen(), ["d1/f1", "d2/new", "d3/f3"]);
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(scratch.path().join("d5/f5"), mode).unwrap();
    // The files below are the very same, behind a link.
    let (inside, outside) = (scratch.path().join("d6"), scratch.path().join(".git/moved"));
    std::fs::rename(&inside, &outside).unwrap();
    symlink(&outside, &inside).unwrap();
    assert_eq!(seen().iter().filter(|path| path.starts_with("d6/")).count(), 171);
    assert!(seen().contains(&"d5/f5".to_owned()) && seen().contains(&"d6".to_owned()));
    assert_eq!(std::fs::read(scratch.path().join(".git/index")).unwrap(), before);
}
