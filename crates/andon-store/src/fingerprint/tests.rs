use std::fmt::Write as _;

use proptest::prelude::*;
use sha2::{Digest as _, Sha256};

use super::*;
use crate::testkit::Scratch;
use andon_core::domain::{REST, Scope, Scopes, Tracking};

fn rules() -> PathRules {
    PathRules::new(&["**/*.md".into(), "docs/**".into()], &["**/*.log".into()]).unwrap()
}

fn of_tree(scratch: &Scratch, tree: TreeId) -> CodeId {
    Fingerprinter::new(&scratch.repo(), &rules()).of_tree(tree).unwrap()
}

fn sha(text: &str) -> [u8; 32] {
    Sha256::digest(text).into()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    })
}

#[test]
fn it_is_what_the_head_of_the_module_says() {
    let scratch = Scratch::new();
    for (path, text) in [
        ("a.rs", "a"),
        ("a/b.rs", "b"),
        ("a/notes.md", "no code"),
        ("docs/x.rs", "no code"),
        ("andon.toml", "no code"),
    ] {
        scratch.write(path, text);
    }
    let blob = |path: &str| scratch.git(&["hash-object", path]);
    let inner = sha(&format!("100644 b.rs\0{}\n", blob("a/b.rs")));
    let outer = format!("100644 a.rs\0{}\n40000 a\0{}\n", blob("a.rs"), hex(&inner));
    assert_eq!(of_tree(&scratch, scratch.add_all()), CodeId(sha(&outer)));
}

#[test]
fn no_code_is_the_hash_of_nothing() {
    assert_eq!(EMPTY, CodeId(sha("")));
    let scratch = Scratch::new();
    assert_eq!(of_tree(&scratch, scratch.add_all()), EMPTY);
    scratch.write("docs/deep/er/x.rs", "x");
    scratch.write("README.md", "x");
    assert_eq!(of_tree(&scratch, scratch.add_all()), EMPTY);
    let repo = scratch.repo();
    assert_eq!(Fingerprinter::new(&repo, &rules()).of(Content::Overlay(None, &[])).unwrap(), EMPTY);
}

#[test]
fn it_follows_code_and_nothing_else() {
    let scratch = Scratch::new();
    scratch.write("src/a.rs", "a");
    let first = of_tree(&scratch, scratch.add_all());
    scratch.write("README.md", "words");
    scratch.write("src/x.log", "noise");
    assert_eq!(of_tree(&scratch, scratch.add_all()), first);
    scratch.write("src/a.rs", "b");
    assert_ne!(of_tree(&scratch, scratch.add_all()), first);
    scratch.write("src/a.rs", "a");
    assert_eq!(of_tree(&scratch, scratch.add_all()), first);
    scratch.git(&["update-index", "--chmod=+x", "src/a.rs"]);
    let executable = scratch.git(&["write-tree"]).parse().unwrap();
    assert_ne!(of_tree(&scratch, executable), first);
}

#[test]
fn other_rules_do_not_meet_in_the_cache() {
    let scratch = Scratch::new();
    scratch.write("src/a.rs", "a");
    scratch.write("src/b.txt", "b");
    let tree = scratch.add_all();
    let repo = scratch.repo();
    let all = PathRules::new(&[], &[]).unwrap();
    let some = PathRules::new(&["**/*.txt".into()], &[]).unwrap();
    let wide = Fingerprinter::new(&repo, &all).of_tree(tree).unwrap();
    let narrow = Fingerprinter::new(&repo, &some).of_tree(tree).unwrap();
    assert_ne!(wide, narrow);
    assert_eq!(Fingerprinter::new(&repo, &all).of_tree(tree).unwrap(), wide);
}

#[test]
fn a_lost_or_broken_cache_changes_nothing() {
    let scratch = Scratch::new();
    for number in 0..40 {
        scratch.write(&format!("d{}/e{number}/f.rs", number % 4), format!("{number}"));
    }
    let tree = scratch.add_all();
    let wanted = of_tree(&scratch, tree);
    let cache = scratch.path().join(".git/andon/cache/fingerprints");
    let good = std::fs::read(&cache).unwrap();
    for bad in [&b""[..], b"garbage", &good[..100], &vec![0xff; 10_000]] {
        std::fs::write(&cache, bad).unwrap();
        assert_eq!(of_tree(&scratch, tree), wanted);
    }
    std::fs::remove_file(&cache).unwrap();
    assert_eq!(of_tree(&scratch, tree), wanted);
    std::fs::remove_dir_all(scratch.path().join(".git/andon")).unwrap();
    std::fs::write(scratch.path().join(".git/andon"), "in the way").unwrap();
    assert_eq!(of_tree(&scratch, tree), wanted);
}

#[test]
fn a_tree_without_end_is_an_error_that_names_it() {
    let scratch = Scratch::new();
    let repo = scratch.repo();
    let blob = repo.write_blob(b"x").unwrap();
    let file = andon_git::TreeEntry { name: b"f.rs".to_vec(), mode: andon_git::MODE_FILE, id: blob };
    let mut tree = repo.write_tree_entries(&[file]).unwrap();
    for _ in 0..2_000 {
        let below = andon_git::TreeEntry { name: b"d".to_vec(), mode: MODE_TREE, id: tree.0 };
        tree = repo.write_tree_entries(&[below]).unwrap();
    }
    let run = std::thread::Builder::new().stack_size(8 << 20);
    let path = scratch.path().to_path_buf();
    let error = run
        .spawn(move || {
            let repo = Repo::open(&path, &andon_git::RepoEnv::default()).unwrap();
            Fingerprinter::new(&repo, &rules()).of_tree(tree).unwrap_err()
        })
        .unwrap()
        .join()
        .unwrap();
    assert!(error.to_string().contains(&tree.to_string()), "{error}");
}

/// The entries that `git status` would report, read off two trees.
fn overlay(scratch: &Scratch, base: Option<TreeId>, tree: TreeId) -> Vec<OverlayEntry> {
    let mut entries = Vec::new();
    for change in scratch.repo().changes(base, tree).unwrap() {
        if let Some(path) = change.old_path {
            entries.push(OverlayEntry { path, entry: None, tracking: Tracking::Tracked });
        }
        entries.push(OverlayEntry { path: change.path, entry: change.new, tracking: Tracking::Untracked });
    }
    entries
}

fn check_overlay(scratch: &Scratch, base: Option<TreeId>, tree: TreeId) {
    let repo = scratch.repo();
    let rules = rules();
    let mut fingerprinter = Fingerprinter::new(&repo, &rules);
    let wanted = fingerprinter.of_tree(tree).unwrap();
    let mut entries = overlay(scratch, base, tree);
    assert_eq!(fingerprinter.of(Content::Overlay(base, &entries)).unwrap(), wanted);
    // Code paths alone, in any order, are enough.
    entries.retain(|entry| rules.class(&entry.path) == PathClass::Code);
    entries.reverse();
    assert_eq!(fingerprinter.of(Content::Overlay(base, &entries)).unwrap(), wanted);
    assert!(differing(&repo, &rules, base, &entries, tree).unwrap().is_empty());
    if let Some(base) = base {
        let same = fingerprinter.of_tree(base).unwrap() == wanted;
        let differences = differing(&repo, &rules, Some(base), &[], tree).unwrap();
        assert_eq!(differences.is_empty(), same);
        // The tests ran on `tree`; the base is what is committed.
        let differences = differing(&repo, &rules, Some(base), &entries, base).unwrap();
        assert_eq!(differences.is_empty(), same);
    }
}

#[test]
fn an_overlay_is_the_tree_that_committing_it_would_give() {
    let scratch = Scratch::new();
    scratch.write("a.rs", "1");
    scratch.write("b/c.rs", "2");
    scratch.write("b/d/e.rs", "3");
    scratch.write("docs/x.md", "4");
    let base = scratch.add_all();
    check_overlay(&scratch, None, base);
    scratch.remove("a.rs");
    scratch.write("a.rs/now/a/directory.rs", "5");
    scratch.remove("b");
    scratch.write("b", "now a file");
    scratch.write("b.c/x", "sorts between b and b/");
    let turned = scratch.add_all();
    check_overlay(&scratch, Some(base), turned);
    check_overlay(&scratch, Some(turned), base);
    scratch.write("docs/x.md", "other words");
    check_overlay(&scratch, Some(turned), scratch.add_all());
}

#[test]
fn differences_are_named_with_both_sides() {
    let scratch = Scratch::new();
    for path in ["a.rs", "b.rs", "c.rs", "old.rs"] {
        scratch.write(path, path);
    }
    let base = scratch.add_all();
    scratch.write("a.rs", "unstaged");
    scratch.write("new.rs", "untracked");
    scratch.write("doc.md", "words");
    let entries = overlay(&scratch, Some(base), scratch.add_all());
    scratch.git(&["mv", "old.rs", "moved.rs"]);
    scratch.remove("new.rs");
    scratch.write("a.rs", "a.rs");
    let tree = scratch.add_all();
    let repo = scratch.repo();
    let rules = rules();
    let found = differing(&repo, &rules, Some(base), &entries, tree).unwrap();
    let shown: Vec<(String, bool, bool)> = found
        .iter()
        .map(|one| {
            let path = String::from_utf8(one.path.clone()).unwrap();
            (path, one.run_side.is_some(), one.commit_side.is_some())
        })
        .collect();
    let want = |path: &str, run, commit| (path.to_owned(), run, commit);
    assert_eq!(
        shown,
        [
            want("a.rs", true, true),
            want("moved.rs", false, true),
            want("new.rs", true, false),
            want("old.rs", true, false)
        ]
    );
}

/// A path of a small world in which names clash: files, directories of the same names, documentation.
fn any_files() -> impl Strategy<Value = Vec<(Vec<usize>, u8)>> {
    prop::collection::vec((prop::collection::vec(0..6_usize, 1..4), 0..3_u8), 0..12)
}

/// Writes the files; a later one that clashes with an earlier one is left out.
fn write_world(scratch: &Scratch, files: &[(Vec<usize>, u8)]) -> TreeId {
    const NAMES: [&str; 6] = ["a", "b", "a.rs", "a-b", "docs", "n.md"];
    for entry in std::fs::read_dir(scratch.path()).unwrap() {
        let name = entry.unwrap().file_name();
        if name != ".git" {
            scratch.remove(name.to_str().unwrap());
        }
    }
    for (path, content) in files {
        let path: Vec<&str> = path.iter().map(|name| NAMES[*name]).collect();
        let path = scratch.path().join(path.join("/"));
        if !path.exists() && std::fs::create_dir_all(path.parent().unwrap()).is_ok() {
            std::fs::write(path, [*content]).unwrap();
        }
    }
    scratch.add_all()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn overlays_and_trees_agree(before in any_files(), after in any_files()) {
        let scratch = Scratch::new();
        let base = write_world(&scratch, &before);
        let tree = write_world(&scratch, &after);
        check_overlay(&scratch, Some(base), tree);
        check_overlay(&scratch, None, tree);
    }
}

/// Scopes over the same small world: every way in which parts of a directory can be named.
fn any_scopes() -> impl Strategy<Value = Scopes> {
    const PATHS: [&str; 7] = ["a/**", "b/**", "a-b/**", "a/b/**", "**/a.rs", "b", "docs/a/**"];
    let scope = (prop::collection::vec(0..PATHS.len(), 1..3), prop::collection::vec(0..4_usize, 0..3));
    prop::collection::vec(scope, 1..4).prop_map(|scopes| {
        let declared = scopes.into_iter().enumerate().map(|(at, (paths, needs))| Scope {
            name: format!("s{at}"),
            paths: paths.into_iter().map(|path| PATHS[path].to_owned()).collect(),
            // Only what comes before, so that there is no cycle.
            needs: needs.into_iter().filter(|need| *need < at).map(|need| format!("s{need}")).collect(),
        });
        Scopes::new(declared.collect()).unwrap()
    })
}

/// The files of a tree that a scope reads.
fn read_by(repo: &Repo, tree: TreeId, rules: &PathRules) -> Vec<(Vec<u8>, Option<String>)> {
    let files = repo.changes(None, tree).unwrap().into_iter();
    let code = files.filter(|file| rules.class(&file.path) == PathClass::Code);
    code.map(|file| (file.path, file.new.map(|side| format!("{side:?}")))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn the_fingerprint_of_a_scope_changes_with_what_it_reads_and_nothing_else(
        scopes in any_scopes(), before in any_files(), after in any_files()
    ) {
        let scratch = Scratch::new();
        let (base, tree) = (write_world(&scratch, &before), write_world(&scratch, &after));
        let repo = scratch.repo();
        let mut found = std::collections::BTreeSet::new();
        for name in scopes.in_order().into_iter().chain([REST]) {
            let rules = rules().of_scope(scopes.view(name).unwrap());
            let mut prints = Fingerprinter::new(&repo, &rules);
            let (then, now) = (prints.of_tree(base).unwrap(), prints.of_tree(tree).unwrap());
            let same = read_by(&repo, base, &rules) == read_by(&repo, tree, &rules);
            prop_assert_eq!(then == now, same, "{}", name);
            prop_assert_eq!(prints.of(Content::Overlay(Some(base), &overlay(&scratch, Some(base), tree))).unwrap(), now);
            prop_assert!(found.insert(now), "another scope has the fingerprint of {}", name);
        }
    }
}

#[test]
fn the_working_tree_has_the_fingerprint_of_what_add_all_would_commit() {
    let scratch = Scratch::new();
    let check = || {
        let repo = scratch.repo();
        let rules = rules();
        let overlay = repo.worktree_overlay().unwrap();
        let found =
            Fingerprinter::new(&repo, &rules).of(Content::Overlay(overlay.base, &overlay.entries)).unwrap();
        let index = std::fs::read(scratch.path().join(".git/index")).ok();
        let wanted = of_tree(&scratch, scratch.add_all());
        match index {
            Some(index) => std::fs::write(scratch.path().join(".git/index"), index).unwrap(),
            None => scratch.git(&["read-tree", "--empty"]).clear(),
        }
        assert_eq!(found, wanted);
        wanted
    };
    assert_eq!(check(), EMPTY);
    scratch.write("a.rs", "1");
    scratch.write("b/c.rs", "2");
    scratch.write("b/d/e.rs", "3");
    scratch.write(".gitignore", "target\n");
    scratch.write("target/x.rs", "not there");
    let before = check();
    scratch.commit("base");
    assert_eq!(check(), before);
    scratch.write("docs/x.md", "words");
    assert_eq!(check(), before);
    scratch.write("b/c.rs", "staged");
    scratch.git(&["add", "b/c.rs"]);
    scratch.write("b/c.rs", "and changed again");
    check();
    scratch.remove("a.rs");
    scratch.write("a.rs/now/a/directory.rs", "4");
    check();
    scratch.remove("b");
    scratch.write("b", "now a file");
    check();
    scratch.git(&["add", "-A"]);
    scratch.remove("b");
    scratch.write("b/c.rs", "2");
    assert_ne!(check(), before);
    std::os::unix::fs::symlink("b/c.rs", scratch.path().join("link.rs")).unwrap();
    check();
}
