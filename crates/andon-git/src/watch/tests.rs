use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use super::*;
use crate::scratch::{Scratch, git_in};

type Change = fn(&Scratch);

fn stage() -> Scratch {
    let scratch = Scratch::new();
    for file in ["a", "d/b", "d/e/f", "dirty", "gone"] {
        scratch.write(file, "1");
    }
    scratch.write(".gitignore", "*.log\ntarget/\n");
    scratch.commit("x", "1", "one");
    scratch.write("dirty", "2");
    scratch.write("new", "1");
    std::fs::remove_file(scratch.path().join("gone")).unwrap();
    scratch
}

fn events(scratch: &Scratch, change: Change) -> Option<Events> {
    let repo = scratch.open();
    let watch = repo.watch().unwrap();
    let first = repo.worktree_overlay().unwrap();
    change(scratch);
    watch.end().events(&repo, &first.entries)
}

fn remove(scratch: &Scratch, path: &str) {
    std::fs::remove_file(scratch.path().join(path)).unwrap();
}

fn rename(scratch: &Scratch, from: &str, to: &str) {
    std::fs::rename(scratch.path().join(from), scratch.path().join(to)).unwrap();
}

#[test]
fn what_happened_is_where_to_look_again() {
    let cases: [(&str, Change, &[&str]); 14] = [
        ("nothing", |_| {}, &[]),
        ("reading", |scratch| drop(std::fs::read(scratch.path().join("a"))), &[]),
        ("content", |scratch| scratch.write("d/e/f", "2"), &["d/e/f"]),
        ("an untracked file", |scratch| scratch.write("new", "2"), &["new"]),
        ("a file is gone", |scratch| remove(scratch, "d/b"), &["d/b"]),
        ("an untracked file is gone", |scratch| remove(scratch, "new"), &["new"]),
        ("a deleted file is back", |scratch| scratch.write("gone", "1"), &["gone"]),
        (
            "a file that comes and goes",
            |scratch| {
                scratch.write("d/tmp", "1");
                remove(scratch, "d/tmp");
            },
            &[],
        ),
        (
            "a mode",
            |scratch| {
                let mode = std::fs::Permissions::from_mode(0o755);
                std::fs::set_permissions(scratch.path().join("d/b"), mode).unwrap();
            },
            &["d/b"],
        ),
        ("a new directory", |scratch| scratch.write("n/m/o", "1"), &["n"]),
        ("an ignored directory", |scratch| scratch.write("target/x", "1"), &["target"]),
        ("a file is renamed", |scratch| rename(scratch, "a", "d/a"), &["a", "d/a"]),
        ("a directory is renamed", |scratch| rename(scratch, "d/e", "z"), &["d/e", "z"]),
        (
            "a renamed directory is written in, and back",
            |scratch| {
                rename(scratch, "d", "z");
                scratch.write("z/b", "2");
                rename(scratch, "z", "d");
            },
            &["d", "d/b", "z"],
        ),
    ];
    for (name, change, expected) in cases {
        let found = events(&stage(), change).unwrap();
        let paths: Vec<_> =
            found.paths.iter().map(|path| String::from_utf8_lossy(path).into_owned()).collect();
        assert_eq!(paths, expected, "{name}");
        assert_eq!(found.index, IndexFile::AsItWas, "{name}");
        assert!(found.put_back.is_empty(), "{name}");
    }
}

#[test]
fn what_single_paths_cannot_answer_for_is_no_answer() {
    let cases: [(&str, Change); 4] = [
        ("ignore rules", |scratch| scratch.write("d/.gitignore", "x")),
        ("attributes", |scratch| scratch.write(".gitattributes", "x")),
        ("a repository inside", |scratch| drop(git_in(&scratch.path().join("d"), &["init", "-q"]))),
        ("the top itself", |scratch| {
            std::fs::rename(scratch.path(), scratch.beside("s")).unwrap();
            std::fs::rename(scratch.beside("s"), scratch.path()).unwrap();
        }),
    ];
    for (name, change) in cases {
        assert!(events(&stage(), change).is_none(), "{name}");
    }
    let written = events(&stage(), |scratch| drop(scratch.git(&["add", "dirty"]))).unwrap();
    assert_eq!(written.index, IndexFile::Written);
}

#[test]
fn what_is_not_plain_is_not_watched() {
    let scratch = stage();
    let env = crate::RepoEnv { index_file: Some(".git/other".into()), ..Default::default() };
    assert!(Repo::open(&scratch.path(), &env).unwrap().watch().is_none());
    scratch.git(&["update-index", "--split-index"]);
    assert!(scratch.open().watch().is_none());
    assert!(Scratch::with(&["--bare"]).open().watch().is_none());
    // No index yet.
    assert!(Scratch::new().open().watch().is_none());
}

#[test]
fn directories_of_which_git_tracks_nothing_are_beside_the_watch() {
    let scratch = stage();
    scratch.write("u/v/w", "1");
    scratch.write("d/u/v", "1");
    scratch.write("d/w", "1");
    let repo = scratch.open();
    let watch = repo.watch().unwrap();
    let overlay = repo.worktree_overlay().unwrap();
    let beside: Vec<_> = watch.unwatched(&overlay.entries).into_iter().collect();
    assert_eq!(beside, [b"d/u".to_vec(), b"u".to_vec()]);
}

#[test]
fn a_content_that_stood_and_was_put_back_is_named() {
    let scratch = stage();
    let repo = scratch.open();
    for (path, other, named) in
        [("a", "2", true), ("dirty", "3", true), ("a", "1", false), ("noise.log", "2", false)]
    {
        let file = scratch.path().join(path);
        let before = std::fs::read_to_string(&file).unwrap_or_default();
        let watch = repo.watch().unwrap();
        let first = repo.worktree_overlay().unwrap();
        scratch.write(path, other);
        // However busy the machine: until the thread has looked.
        std::thread::sleep(Duration::from_millis(1500));
        scratch.write(path, &before);
        let found = watch.end().events(&repo, &first.entries).unwrap();
        assert_eq!(found.put_back.contains(path.as_bytes()), named, "{path} {other}");
        assert!(found.paths.contains(path.as_bytes()));
    }
}

#[test]
fn the_paths_of_a_look_are_those_that_were_asked_for() {
    let scratch = stage();
    scratch.write("d/e/f", "2");
    scratch.write("n/m/o", "1");
    scratch.write("*", "odd");
    scratch.write("noise.log", "1");
    let repo = scratch.open();
    let cases: [(&[&str], &[&str]); 5] = [
        (&["dirty"], &["dirty"]),
        (&["d", "no/such"], &["d/e/f"]),
        (&["n", "noise.log"], &["n/m/o"]),
        (&["*"], &["*"]),
        (&["gone", "new", "x"], &["gone", "new"]),
    ];
    for (asked, expected) in cases {
        let asked = asked.iter().map(|path| path.as_bytes().to_vec()).collect();
        let found = repo.worktree_overlay_at(&asked).unwrap();
        let paths: Vec<_> =
            found.entries.iter().map(|entry| String::from_utf8_lossy(&entry.path).into_owned()).collect();
        assert_eq!(paths, expected);
    }
}
