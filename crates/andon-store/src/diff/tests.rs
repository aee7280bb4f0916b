use sha2::{Digest as _, Sha256};

use super::*;
use crate::testkit::Scratch;
use andon_core::change::normalize::Normalizer;
use andon_core::domain::{DiffHash, Hunk, HunkHash, Nature};

fn summary(scratch: &Scratch, old: Option<TreeId>, new: TreeId) -> (DiffSummary, ChangeFacts) {
    let reading = HashOptions { rules: &rules(), normalizer: &normalizer() };
    let repo = scratch.repo();
    let found = changes(&repo, reading.rules, old, new).unwrap();
    let sum = summarize_changes(&repo, &reading, &found).unwrap();
    (sum.diff, sum.facts)
}

fn normalizer() -> Normalizer {
    Normalizer::new(&[("build".into(), "build #[0-9]+".into())]).unwrap()
}

fn rules() -> PathRules {
    PathRules::new(&["**/*.md".into()], &["**/*.log".into()]).unwrap()
}

fn between(scratch: &Scratch, old: Option<TreeId>, new: TreeId) -> DiffSummary {
    summary(scratch, old, new).0
}

/// The summary of changing one file from `old` to `new`.
fn of_file(old: &str, new: &str) -> DiffSummary {
    let scratch = Scratch::new();
    scratch.write("a.rs", old);
    let before = scratch.add_all();
    scratch.write("a.rs", new);
    between(&scratch, Some(before), scratch.add_all())
}

#[test]
fn the_bytes_are_what_the_head_of_the_module_says() {
    let scratch = Scratch::new();
    scratch.write("a.rs", "one\ntwo\n");
    let before = scratch.add_all();
    scratch.write("a.rs", "one\n2 \n");
    scratch.write("b.bin", [0, 1]);
    let found = between(&scratch, Some(before), scratch.add_all());

    let mut bytes = b"andon/diff@1\n".to_vec();
    let put = |bytes: &mut Vec<u8>, text: &[u8]| {
        bytes.extend((text.len() as u64).to_be_bytes());
        bytes.extend(text);
    };
    bytes.extend(b"P");
    put(&mut bytes, b"a.rs");
    put(&mut bytes, b"a.rs");
    bytes.extend(0o100_644_u32.to_be_bytes().repeat(2));
    bytes.extend(b"H");
    bytes.extend(1_u64.to_be_bytes());
    put(&mut bytes, b"two");
    bytes.extend(1_u64.to_be_bytes());
    put(&mut bytes, b"2");
    bytes.extend(b"EP");
    put(&mut bytes, b"");
    put(&mut bytes, b"b.bin");
    bytes.extend(0_u32.to_be_bytes());
    bytes.extend(0o100_644_u32.to_be_bytes());
    bytes.extend(b"I");
    put(&mut bytes, b"");
    put(&mut bytes, scratch.git(&["hash-object", "b.bin"]).as_bytes());
    bytes.extend(b"E");
    assert_eq!(found.hash, DiffHash(Sha256::digest(&bytes).into()));
    assert_eq!(
        (found.files, found.added, found.removed, found.empty, found.truncated),
        (2, 1, 1, false, false)
    );
    let first = |text: &str| HunkHash(Sha256::digest(text)[..8].try_into().unwrap());
    assert_eq!(found.hunks, [Hunk { removed: first("two\n"), added: first("2\n") }]);
    assert_eq!(Hunk::NO_LINES, first(""));
}

#[test]
fn nothing_left_after_normalization_is_empty() {
    let same = of_file("a\n", "a\n");
    assert!(same.empty && same.files == 0);
    for (old, new) in [
        ("a\nb\n", "a  \nb\t\n"),
        ("a\nb\n", "a\r\nb\r\n"),
        ("a\nb", "a\nb\n"),
        ("at 2026-11-20T15:30:00Z\n", "at 2026-11-21T16:00:00Z\n"),
        ("build #1\n", "build #2\n"),
        ("p 0x7ffd5e8c1230\n", "p 0x7ffd5e8c9999\n"),
    ] {
        let found = of_file(old, new);
        assert_eq!((found.empty, found.hash, found.files), (true, same.hash, 1), "{old:?} {new:?}");
        assert!(found.added > 0 && found.hunks.is_empty());
    }
    for (old, new) in [("a\n", "b\n"), ("a\n", "a\n\n"), ("x = 1\n", "x = 2\n"), ("a\n", "")] {
        assert!(!of_file(old, new).empty, "{old:?} {new:?}");
    }
}

#[test]
fn it_does_not_depend_on_where_the_lines_are() {
    let found = of_file("a\nb\nc\n", "a\nB\nc\n");
    let shifted = of_file("x\ny\nz\na\nb\nd\n", "x\ny\nz\na\nB\nd\n");
    assert_eq!(found.hash, shifted.hash);
    assert_eq!(of_file("a\nb\n", "a\nB  \n").hash, of_file("a\r\nb\r\n", "a\r\nB\r\n").hash);
    let undone = of_file("a\nB\nc\n", "a\nb\nc\n");
    assert_ne!(undone.hash, found.hash);
    assert_eq!(
        (undone.hunks[0].removed, undone.hunks[0].added),
        (found.hunks[0].added, found.hunks[0].removed)
    );
}

#[test]
fn it_survives_amending_the_message_and_rebasing_over_other_files() {
    let scratch = Scratch::new();
    scratch.write("a.rs", "a\n");
    scratch.commit("base");
    scratch.git(&["checkout", "-q", "-b", "work"]);
    scratch.write("a.rs", "b\n");
    scratch.commit("work");
    let summary = || {
        let parent = scratch.git(&["rev-parse", "HEAD~^{tree}"]).parse().unwrap();
        between(&scratch, Some(parent), scratch.head_tree())
    };
    let first = summary();
    scratch.git(&["commit", "-q", "--amend", "-m", "other words"]);
    assert_eq!(summary(), first);
    scratch.git(&["checkout", "-q", "main"]);
    scratch.write("b.rs", "b\n");
    scratch.commit("other file");
    scratch.git(&["checkout", "-q", "work"]);
    scratch.git(&["rebase", "-q", "main"]);
    assert_eq!(summary(), first);
}

#[test]
fn paths_and_modes_count_and_ignored_paths_do_not() {
    let scratch = Scratch::new();
    scratch.write("a.rs", "a\n");
    scratch.write("x.log", "1\n");
    let first = scratch.add_all();
    scratch.write("x.log", "2\n");
    scratch.write("andon.toml", "[guard]\n");
    let quiet = between(&scratch, Some(first), scratch.add_all());
    assert_eq!((quiet.empty, quiet.files), (true, 0));
    scratch.write("README.md", "words\n");
    assert!(!between(&scratch, Some(first), scratch.add_all()).empty);
    let base = scratch.add_all();
    scratch.git(&["mv", "a.rs", "b.rs"]);
    let moved = between(&scratch, Some(base), scratch.add_all());
    assert_eq!((moved.empty, moved.files, moved.hunks.len()), (false, 1, 0));
    let base = scratch.add_all();
    scratch.git(&["mv", "b.rs", "b.log"]);
    let into_ignored = between(&scratch, Some(base), scratch.add_all());
    assert_eq!((into_ignored.empty, into_ignored.removed, into_ignored.added), (false, 1, 0));
    let back = between(&scratch, Some(scratch.add_all()), base);
    assert_eq!((back.removed, back.added, back.files), (0, 1, 1));
    scratch.git(&["mv", "b.log", "c.log"]);
    scratch.git(&["update-index", "--chmod=+x", "README.md"]);
    let base = scratch.git(&["write-tree", "--prefix="]).parse().unwrap();
    scratch.git(&["update-index", "--chmod=-x", "README.md"]);
    let mode = between(&scratch, Some(base), scratch.add_all());
    assert_eq!((mode.empty, mode.files, mode.hunks.len()), (false, 1, 0));
}

#[test]
fn binary_large_and_missing_content_goes_by_id() {
    let scratch = Scratch::new();
    let before = scratch.add_all();
    scratch.write("a.bin", b"a\0b");
    scratch.write("large.txt", "line\n".repeat(1 << 20));
    let tree = scratch.add_all();
    let found = between(&scratch, Some(before), tree);
    assert_eq!((found.files, found.added, found.hunks.len(), found.truncated), (2, 0, 0, false));
    scratch.write("b.rs", "text\n");
    let tree = scratch.add_all();
    let id = scratch.git(&["hash-object", "b.rs"]);
    std::fs::remove_file(scratch.path().join(format!(".git/objects/{}/{}", &id[..2], &id[2..]))).unwrap();
    let found = between(&scratch, Some(before), tree);
    assert_eq!((found.files, found.added, found.truncated), (3, 0, true));
}

#[test]
fn hunks_are_bounded_and_the_hash_is_not() {
    let lines = |mark: &str, count| -> String {
        (0..count).flat_map(|n| [format!("same {n}\n"), format!("{mark}\n")]).collect()
    };
    let many = of_file(&lines("a", 300), &lines("b", 300));
    assert_eq!((many.hunks.len(), many.truncated, many.added), (256, true, 300));
    assert_ne!(many.hash, of_file(&lines("a", 299), &lines("b", 299)).hash);
}

#[test]
fn a_root_commit_adds_everything_and_nothing_is_no_tree() {
    let scratch = Scratch::new();
    scratch.write("a.rs", "a\n");
    scratch.write("empty.rs", "");
    let tree = scratch.add_all();
    let root = between(&scratch, None, tree);
    assert_eq!((root.files, root.added, root.empty), (2, 1, false));
    assert!(between(&scratch, Some(tree), tree).empty);
}

/// The facts of a change of `path` from `old` to `new`.
fn made_of(path: &str, old: &str, new: &str) -> ChangeFacts {
    let scratch = Scratch::new();
    scratch.write(path, old);
    let before = scratch.add_all();
    scratch.write(path, new);
    summary(&scratch, Some(before), scratch.add_all()).1
}

#[test]
fn what_a_change_is_made_of_is_told_from_its_lines() {
    for (path, old, new, wanted) in [
        ("a.rs", "a\n", "b\n", Nature::Work),
        ("a.rs", "// a\nx\n", "// b\nx\n", Nature::Comments),
        ("a.rs", "// a\nx\n", "// b\ny\n", Nature::Work),
        ("a.rs", "f( a )\n", "f(a)\n", Nature::Space),
        ("a.rs", "a\n", "a  \n", Nature::Nothing),
        ("a.rs", "a\n", "a\r\n", Nature::Nothing),
        ("Cargo.toml", "version = \"1.0\"\n", "version = \"1.1\"\n", Nature::Version),
        ("README.md", "a\n", "b\n", Nature::Docs),
        ("log.txt", "a\n", "a\nb\n", Nature::Log),
        ("x.log", "a\n", "a\nb\n", Nature::Nothing),
    ] {
        assert_eq!(made_of(path, old, new).nature, wanted, "{path} {old:?} {new:?}");
    }
    let scratch = Scratch::new();
    scratch.write("a.rs", "a\n");
    let before = scratch.add_all();
    scratch.git(&["update-index", "--chmod=+x", "a.rs"]);
    let mode = scratch.git(&["write-tree"]).parse().unwrap();
    let found = summary(&scratch, Some(before), mode).1;
    assert_eq!((found.nature, found.paths.len()), (Nature::Mode, 1));
    scratch.write("b.rs", "// only a comment\n");
    let found = summary(&scratch, Some(before), scratch.add_all()).1;
    assert_eq!(found.nature, Nature::Work, "a new file");
}

#[test]
fn a_path_that_goes_back_has_its_two_states_swapped() {
    let there = made_of("a.rs", "a\n", "b\n").paths;
    let back = made_of("a.rs", "b\n", "a\n").paths;
    assert_eq!((there[0].path, there[0].old, there[0].new), (back[0].path, back[0].new, back[0].old));
    let scratch = Scratch::new();
    scratch.write("a.rs", "same\n");
    let before = scratch.add_all();
    scratch.git(&["mv", "a.rs", "b.rs"]);
    let moved = summary(&scratch, Some(before), scratch.add_all()).1;
    assert_eq!((moved.nature, moved.paths.len()), (Nature::Work, 2));
    assert_eq!((moved.paths[0].old, moved.paths[0].new), (moved.paths[1].new, moved.paths[1].old));
}

#[test]
fn documents_are_hashed_without_white_space_and_their_checklists_are_counted() {
    let docs = |old: &str, new: &str| made_of("plan.md", old, new).docs.unwrap();
    let ticked = docs("- [ ] a\n- [ ] b\n", "- [x] a\n- [ ] b\n");
    assert_eq!((ticked.was.done, ticked.now.done, ticked.now.total), (0, 1, 2));
    let spaced = docs("x\n", "-   [x]  a\n\n\n- [ ]  b\n");
    assert_eq!(spaced.hash, ticked.hash);
    assert_ne!(docs("x\n", "- [x] a\n- [x] b\n").hash, ticked.hash);
    assert_eq!(made_of("a.rs", "a\n", "b\n").docs, None);
}
