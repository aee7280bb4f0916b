//! How objects and refs are kept, and where.

use std::path::Path;

use super::Kind;

#[test]
fn packed_and_loose() {
    let kind = Kind::init(&[]);
    kind.steps("git gc -q; git pack-refs --all; git commit-graph write --reachable");
    kind.steps("git multi-pack-index write");
    kind.job();
    kind.steps("git gc -q; git pack-refs --all --prune");
    kind.work(|| kind.write("code.txt", "packed\n"));
}

#[test]
fn ten_thousand_refs_loose_and_packed() {
    let kind = Kind::init(&[]);
    let head = kind.git(&["rev-parse", "HEAD"]).ok().stdout;
    let head = head.trim();
    let names: String = (0..10_000).map(|n| format!("create refs/tags/v{}/{n} {head}\n", n % 7)).collect();
    let names = Some(names.as_bytes());
    kind.stage.run_in(&kind.dir, "git", &["update-ref", "--stdin"], names).ok();
    kind.job();
    kind.git(&["pack-refs", "--all"]).ok();
    kind.work(|| kind.write("code.txt", "packed\n"));
}

#[test]
fn objects_borrowed_from_another_store() {
    let mut kind = Kind::init(&[]);
    let (from, to) = (kind.dir.clone(), kind.beside("borrower"));
    kind.git(&["clone", "-q", "--shared", from.to_str().unwrap(), to.to_str().unwrap()]).ok();
    kind.dir = to;
    kind.job();
    kind.git(&["repack", "-adlq"]).ok();
    // The lender has the records' blobs too: writing them again is no change.
    kind.git(&["push", "-q", "origin", "refs/notes/andon", "HEAD:refs/heads/side"]).ok();
    kind.work(|| kind.write("code.txt", "again\n"));
    assert!(kind.dir.join(".git/objects/info/alternates").exists());
}

#[test]
fn a_dozen_worktrees_on_one_store() {
    let mut kind = Kind::init(&[]);
    kind.adopt();
    let main = kind.dir.clone();
    let trees: Vec<_> = (0..12).map(|n| kind.beside(&format!("tree{n}"))).collect();
    for tree in &trees {
        kind.git(&["worktree", "add", "-q", tree.to_str().unwrap()]).ok();
    }
    for tree in &trees {
        kind.dir.clone_from(tree);
        kind.write("code.txt", &format!("{}\n", tree.display()));
        kind.andon(&["test"]).ok();
    }
    std::thread::scope(|scope| {
        for tree in &trees {
            let mut command = kind.stage.command(tree, "git");
            scope.spawn(move || {
                let out = command.args(["commit", "-qam", "At once"]).output().unwrap();
                assert!(out.status.success() && out.stderr.is_empty(), "{out:?}");
            });
        }
    });
    let listed = kind.git(&["notes", "--ref=andon", "list"]).ok().stdout;
    assert_eq!(listed.lines().count(), 13);
    for tree in &trees {
        kind.stage.andon_in(tree, &["check", "HEAD~1..HEAD"]).ok();
        kind.stage.andon_in(tree, &["status"]).ok().says("HEAD: 2 passed");
    }
    // A halt in one of them is that of all who build on the halted commit, and of no other.
    kind.stage.andon_in(&trees[3], &["stop", "--reason", "enough"]).ok();
    kind.dir = main;
    kind.work(|| kind.write("code.txt", "main goes on\n"));
}

#[test]
fn worktrees_with_their_own_configuration_and_relative_paths() {
    let mut kind = Kind::init(&[]);
    kind.git(&["config", "extensions.worktreeConfig", "true"]).ok();
    let tree = kind.beside("tree");
    kind.git(&["worktree", "add", "-q", tree.to_str().unwrap()]).ok();
    kind.dir = tree;
    kind.steps("git config --worktree core.quotePath false; echo gitdir: ../repo/.git/worktrees/tree > .git");
    kind.job();
}

#[test]
fn the_git_directory_elsewhere() {
    let kind = Kind::init(&["--separate-git-dir", "../apart.git"]);
    assert!(kind.dir.join(".git").is_file());
    kind.job();
}

#[test]
fn submodules_count_by_the_commit_that_is_checked_out() {
    let library = Kind::init(&[]);
    let kind = Kind::init(&[]);
    let url = library.dir.to_str().unwrap();
    kind.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", url, "lib"]).ok();
    kind.job();
    let sub = kind.dir.join("lib");
    let commit_below = |text: &str| {
        std::fs::write(sub.join("code.txt"), text).unwrap();
        kind.stage.git_in(&sub, &["commit", "-qam", "Below"]).ok();
    };
    kind.work(|| commit_below("1\n"));
    // What is changed below and not committed there is on no tree.
    std::fs::write(sub.join("code.txt"), "dirty\n").unwrap();
    kind.andon(&["status"]).ok().says("work tree: not run on this code");
    kind.stage.git_in(&sub, &["checkout", "-q", "."]).ok();
    kind.git(&["submodule", "--quiet", "deinit", "-f", "lib"]).ok();
    kind.work(|| kind.write("code.txt", "without the submodule\n"));
    // Inside, a submodule is a repository of its own.
    let below = Kind { dir: inside(&kind.stage, &library.dir), stage: kind.stage };
    below.job();
}

/// A fresh superproject's submodule.
fn inside(stage: &crate::support::Stage, library: &Path) -> std::path::PathBuf {
    let top = stage.root().canonicalize().unwrap().join("top");
    std::fs::create_dir(&top).unwrap();
    stage.git_in(&top, &["init", "-q", "."]).ok();
    let url = library.to_str().unwrap();
    stage.git_in(&top, &["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", url, "lib"]).ok();
    top.join("lib")
}
