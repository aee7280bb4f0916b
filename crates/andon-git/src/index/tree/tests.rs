use std::path::Path;

use super::*;
use crate::testkit::{Scratch, git_in};
use crate::{Repo, RepoEnv};

/// Keeps the index that git shows its pre-commit hook, and what `git write-tree` makes of it.
const KEEP: &str = r#"cp "$GIT_INDEX_FILE" "$(git rev-parse --git-common-dir)/kept"
echo "$GIT_INDEX_FILE" > "$(git rev-parse --git-common-dir)/kept-name"
git write-tree > "$(git rev-parse --git-common-dir)/kept-tree""#;

fn index_tree(scratch: &Scratch, index: &Path) -> IndexTree {
    let env = RepoEnv { index_file: Some(index.to_path_buf()), ..RepoEnv::default() };
    Repo::open(&scratch.path(), &env).unwrap().index_tree().unwrap()
}

/// The tree of the kept index; panics when that is a wrong one.
fn kept(scratch: &Scratch) -> IndexTree {
    let found = index_tree(scratch, &scratch.path().join(".git/kept"));
    let right = std::fs::read_to_string(scratch.path().join(".git/kept-tree")).unwrap();
    let right: TreeId = right.trim().parse().unwrap();
    assert!(found == IndexTree::Known(right) || found == IndexTree::Unknown, "{found:?}, not {right}");
    found
}

fn is_known(found: IndexTree) -> bool {
    matches!(found, IndexTree::Known(_))
}

fn with_files(count: usize) -> Scratch {
    let scratch = Scratch::new();
    for number in 0..count {
        scratch.write(&format!("d{}/e{}/file{number}", number % 7, number % 31), "x");
    }
    scratch.write("top", "1");
    scratch.git(&["add", "-A"]);
    scratch.hook("pre-commit", KEEP);
    scratch
}

#[test]
fn known_at_pre_commit_for_the_index_as_it_is_and_for_all() {
    for count in [0, 1, 300, 5_000] {
        let scratch = with_files(count);
        scratch.git(&["commit", "-q", "-m", "first"]);
        assert!(is_known(kept(&scratch)), "{count}: first");
        scratch.write("top", "2");
        scratch.git(&["add", "-A"]);
        scratch.git(&["commit", "-q", "-m", "as it is"]);
        assert!(is_known(kept(&scratch)), "{count}: as it is");
        scratch.write("top", "3");
        scratch.git(&["commit", "-q", "-a", "-m", "all"]);
        let name = std::fs::read_to_string(scratch.path().join(".git/kept-name")).unwrap();
        assert!(name.trim().ends_with("index.lock"), "{name}");
        assert!(is_known(kept(&scratch)), "{count}: all");
        scratch.git(&["commit", "-q", "--amend", "-m", "amended"]);
        assert!(is_known(kept(&scratch)), "{count}: amended");
    }
}

#[test]
fn a_commit_of_single_files_is_never_the_wrong_tree() {
    let scratch = with_files(100);
    scratch.git(&["commit", "-q", "-m", "first"]);
    scratch.write("top", "2");
    scratch.write("d1/e1/file1", "staged and left out");
    scratch.git(&["add", "d1"]);
    scratch.git(&["commit", "-q", "-m", "one file", "top"]);
    let name = std::fs::read_to_string(scratch.path().join(".git/kept-name")).unwrap();
    assert!(name.contains("next-index"), "{name}");
    let _known_or_not = kept(&scratch);
    let index = scratch.path().join(".git/kept");
    let env = RepoEnv { index_file: Some(index), ..RepoEnv::default() };
    let repo = Repo::open(&scratch.path(), &env).unwrap();
    assert_eq!(repo.write_tree().unwrap(), scratch.tree("HEAD"));
}

#[test]
fn other_versions_and_extensions() {
    let settings: [&[&str]; 6] = [
        &["update-index", "--index-version", "4"],
        &["update-index", "--force-untracked-cache"],
        &["update-index", "--fsmonitor"],
        &["config", "index.threads", "4"],
        &["config", "index.skipHash", "true"],
        &["config", "index.recordEndOfIndexEntries", "true"],
    ];
    for setting in settings {
        let scratch = with_files(500);
        scratch.hook("fsmonitor", r"printf 'token\0'; printf 'top\0'");
        scratch.git(&["config", "core.fsmonitor", ".git/hooks/fsmonitor"]);
        scratch.git(setting);
        scratch.git(&["commit", "-q", "-m", "first"]);
        scratch.write("TREE", "an untracked file");
        scratch.git(&["status"]);
        scratch.write("top", "2");
        scratch.git(&["commit", "-q", "-a", "-m", "second"]);
        assert!(is_known(kept(&scratch)), "{setting:?}");
        scratch.git(&["status"]);
        let index = scratch.path().join(".git/index");
        assert_eq!(index_tree(&scratch, &index), IndexTree::Known(scratch.tree("HEAD")), "{setting:?}");
    }
}

#[test]
fn split_and_sparse_indexes_are_right_or_unknown() {
    let scratch = with_files(200);
    scratch.git(&["commit", "-q", "-m", "first"]);
    scratch.git(&["update-index", "--split-index"]);
    scratch.write("top", "2");
    scratch.git(&["commit", "-q", "-a", "-m", "split"]);
    let _known_or_not = kept(&scratch);
    let scratch = with_files(200);
    scratch.git(&["commit", "-q", "-m", "first"]);
    scratch.git(&["sparse-checkout", "set", "--cone", "--sparse-index", "d1"]);
    scratch.write("top", "2");
    scratch.git(&["commit", "-q", "-a", "-m", "sparse"]);
    let _known_or_not = kept(&scratch);
}

#[test]
fn a_changed_index_is_unknown() {
    let scratch = with_files(20);
    scratch.git(&["commit", "-q", "-m", "first"]);
    let index = scratch.path().join(".git/index");
    assert_eq!(index_tree(&scratch, &index), IndexTree::Known(scratch.tree("HEAD")));
    scratch.write("d1/e1/file1", "changed");
    scratch.git(&["add", "-A"]);
    assert_eq!(index_tree(&scratch, &index), IndexTree::Unknown);
    scratch.git(&["reset", "-q", "--hard"]);
    scratch.write("new", "x");
    scratch.git(&["add", "-N", "new"]);
    assert_eq!(index_tree(&scratch, &index), IndexTree::Unknown);
    assert_eq!(index_tree(&scratch, &scratch.path().join("nowhere")), IndexTree::Unknown);
}

#[test]
fn names_that_look_like_the_extension_lead_nowhere() {
    for version in ["2", "4"] {
        for length in 0..10 {
            let scratch = Scratch::new();
            scratch.git(&["config", "index.version", version]);
            scratch.write("aTREE", "x");
            scratch.write("TREE/TREE", "x");
            let pad = "z".repeat(length);
            for tail in ["TREE", "TREE\x01\x01\x01\x01\x01", "TREE-1 0\n"] {
                scratch.write(&format!("z{pad}{tail}"), "x");
            }
            scratch.hook("pre-commit", KEEP);
            scratch.git(&["add", "-A"]);
            scratch.git(&["commit", "-q", "-m", "one"]);
            assert!(is_known(kept(&scratch)), "{version} {length}");
            // Without the extension there is only what the names pretend.
            std::fs::remove_file(scratch.path().join(".git/index")).unwrap();
            scratch.git(&["add", "-A"]);
            assert_eq!(index_tree(&scratch, &scratch.path().join(".git/index")), IndexTree::Unknown);
        }
    }
}

#[test]
fn a_damaged_index_never_gives_another_tree() {
    let scratch = with_files(12);
    scratch.git(&["commit", "-q", "-m", "one"]);
    let right = scratch.tree("HEAD");
    let bytes = std::fs::read(scratch.path().join(".git/index")).unwrap();
    let file = scratch.path().join(".git/damaged");
    let start = bytes.windows(4).rposition(|window| window == b"TREE").unwrap();
    for at in (0..12).chain(start..bytes.len()) {
        for flip in [0x01_u8, 0x10, 0x80] {
            let mut damaged = bytes.clone();
            damaged[at] ^= flip;
            std::fs::write(&file, &damaged).unwrap();
            let found = index_tree(&scratch, &file);
            assert!(found == IndexTree::Unknown || found == IndexTree::Known(right), "{at}");
        }
    }
    for len in 0..bytes.len() {
        std::fs::write(&file, &bytes[..len]).unwrap();
        assert_eq!(index_tree(&scratch, &file), IndexTree::Unknown, "cut to {len}");
    }
}

#[test]
fn a_valid_extension_for_another_tree_must_match_the_count_of_entries() {
    let scratch = with_files(12);
    scratch.git(&["commit", "-q", "-m", "one"]);
    let old = std::fs::read(scratch.path().join(".git/index")).unwrap();
    scratch.commit("another", "x", "two");
    let new = std::fs::read(scratch.path().join(".git/index")).unwrap();
    let ext = |bytes: &[u8]| bytes.windows(4).rposition(|window| window == b"TREE").unwrap();
    let spliced = [&new[..ext(&new)], &old[ext(&old)..]].concat();
    let file = scratch.path().join(".git/spliced");
    std::fs::write(&file, spliced).unwrap();
    assert_eq!(index_tree(&scratch, &file), IndexTree::Unknown);
}

#[test]
fn a_root_that_disagrees_with_the_listed_directories_is_unknown() {
    let scratch = with_files(12);
    scratch.git(&["commit", "-q", "-m", "one"]);
    let right = scratch.tree("HEAD");
    let bytes = std::fs::read(scratch.path().join(".git/index")).unwrap();
    // As many files, all in other directories.
    scratch.git(&["mv", "d1", "elsewhere"]);
    let other: TreeId = scratch.git(&["write-tree"]).parse().unwrap();
    let at = bytes.windows(20).rposition(|window| window == right.0.as_bytes()).unwrap();
    let forged = [&bytes[..at], other.0.as_bytes(), &bytes[at + 20..]].concat();
    let file = scratch.path().join(".git/forged");
    std::fs::write(&file, forged).unwrap();
    assert_eq!(index_tree(&scratch, &file), IndexTree::Unknown);
}

fn extension(name: &[u8], data: &[u8]) -> Vec<u8> {
    [name, &u32::try_from(data.len()).unwrap().to_be_bytes(), data].concat()
}

#[test]
fn only_a_whole_chain_from_a_whole_extension_counts() {
    let root = [b"\x003 1\n".as_slice(), &[7; 20], b"dir\x002 0\n", &[8; 20]].concat();
    let tree = extension(b"TREE", &root);
    let conflicts = extension(b"REUC", b"x\x00");
    let cases: Vec<(&str, Vec<u8>, bool)> = vec![
        ("alone", tree.clone(), true),
        ("behind entries", [b"entries TREE\0\0\0\0".as_slice(), &tree].concat(), true),
        ("before another", [tree.clone(), conflicts.clone()].concat(), true),
        ("the next one too long", [tree.as_slice(), b"REUC\0\0\0\x09x"].concat(), false),
        ("bytes behind the chain", [tree.clone(), b"x".to_vec()].concat(), false),
        ("an unknown one behind", [tree.clone(), extension(b"ABCD", b"")].concat(), false),
        ("the other twice", [tree.clone(), conflicts.clone(), conflicts].concat(), false),
        ("bytes behind the root", extension(b"TREE", &[root.as_slice(), b"x"].concat()), false),
        ("cut short", extension(b"TREE", &root[..root.len() - 1]), false),
        ("an invalid root", extension(b"TREE", b"\x00-1 0\n"), false),
        ("a signed count", extension(b"TREE", &[b"\x00+3 0\n".as_slice(), &[7; 20]].concat()), false),
        ("no count", extension(b"TREE", &[b"\x00 0\n".as_slice(), &[7; 20]].concat()), false),
        ("two signs", extension(b"TREE", b"\x00--1 0\n"), false),
        (
            "too many digits",
            extension(b"TREE", &[b"\x0099999999999 0\n".as_slice(), &[7; 20]].concat()),
            false,
        ),
        (
            "more than 32 bits",
            extension(b"TREE", &[b"\x009999999999 0\n".as_slice(), &[7; 20]].concat()),
            false,
        ),
        (
            "a slash in a name",
            extension(b"TREE", &[b"\x003 1\n".as_slice(), &[7; 20], b"a/b\x002 0\n", &[8; 20]].concat()),
            false,
        ),
        ("a root with a name", extension(b"TREE", &[b"x".as_slice(), &root].concat()), false),
        ("a directory missing", extension(b"TREE", &[b"\x003 1\n".as_slice(), &[7; 20]].concat()), false),
        ("inside another's data", extension(b"UNTR", &[tree, b"tail".to_vec()].concat()), false),
    ];
    for (what, tail, want) in cases {
        assert_eq!(find_root(&tail).is_some(), want, "{what}");
    }
}

#[test]
fn a_linked_worktree_has_its_own_index() {
    let scratch = with_files(5);
    scratch.git(&["commit", "-q", "-m", "one"]);
    let linked = scratch.beside("linked");
    scratch.git(&["worktree", "add", "-q", linked.to_str().unwrap()]);
    std::fs::write(linked.join("top"), "in the linked one").unwrap();
    git_in(&linked, &["commit", "-q", "-a", "-m", "two"]);
    assert!(is_known(kept(&scratch)));
}
