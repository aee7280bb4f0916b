//! The tree that is about to be committed, without reading the index's entries.
//!
//! git keeps the tree ids it already knows in the index's TREE extension, behind the entries. At pre-commit
//! they are complete (GIT-FACTS.md), so that the root tree is known from the file's last few kilobytes.
//! The extension has no pointer to it: it is found from the end, as the one place from which a chain of
//! known extensions leads exactly to the trailing checksum. What is found must parse to its last byte, cover
//! as many entries as the header counts, and agree with the tree object it names; anything else is `Unknown`.

use std::fs::File;
use std::io::{ErrorKind, Read, Seek, SeekFrom};

use super::error::GitError;
use super::objects::{MODE_TREE, from_git2, mode_of};
use super::repo::Repo;
use crate::domain::ids::{Oid, TreeId};

/// Bytes of the trailing checksum, and of an id. libgit2 opens SHA-1 repositories only.
const HASH: usize = 20;
/// First read from the end; grows fourfold.
const FIRST_WINDOW: u64 = 64 << 10;
/// Most that is ever read from the end: beyond it `git write-tree` is as good.
const MAX_WINDOW: u64 = 32 << 20;
/// Deepest nesting that is followed.
const MAX_DEPTH: usize = 4096;
/// The extensions git writes behind TREE, and it.
const KNOWN: [&[u8; 4]; 8] = [b"TREE", b"REUC", b"UNTR", b"FSMN", b"EOIE", b"IEOT", b"link", b"sdir"];

/// What the index knows about the tree that it would make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexTree {
    /// The tree, exactly.
    Known(TreeId),
    /// Only `git write-tree` can tell: [`Repo::write_tree`].
    Unknown,
}

/// The root of a TREE extension that parsed to its last byte.
struct CachedRoot {
    entries: u32,
    id: Oid,
    /// Names and ids of the directories right below, where known.
    children: Vec<(Vec<u8>, Option<Oid>)>,
}

impl Repo {
    /// The tree that the effective index stands for, if its TREE extension says so.
    /// Never a wrong tree: whatever is doubtful is [`IndexTree::Unknown`].
    pub fn index_tree(&self) -> Result<IndexTree, GitError> {
        let path = self.index_path();
        let found = read_root(&path).map_err(|source| GitError::Io { path, source })?;
        match found {
            Some(root) if self.agrees(&root) => Ok(IndexTree::Known(TreeId(root.id))),
            Some(_) | None => Ok(IndexTree::Unknown),
        }
    }

    /// `git write-tree` under the effective index: the honest fallback. Fails with unmerged paths.
    pub fn write_tree(&self) -> Result<TreeId, GitError> {
        let output = self.git(&["write-tree"], b"")?;
        let text = String::from_utf8_lossy(&output.stdout);
        text.trim().parse().map_err(|error: crate::domain::ids::BadId| GitError::Answer {
            command: "git write-tree".to_owned(),
            detail: error.to_string(),
        })
    }

    /// The tree object exists and has exactly the directories that the extension lists.
    fn agrees(&self, root: &CachedRoot) -> bool {
        let Ok(tree) = self.find_tree(root.id) else { return false };
        let directories = tree.iter().filter(|entry| mode_of(entry) == MODE_TREE);
        let mut there: Vec<(Vec<u8>, Option<Oid>)> =
            directories.map(|entry| (entry.name_bytes().to_vec(), Some(from_git2(entry.id())))).collect();
        let mut listed = root.children.clone();
        there.sort_unstable();
        listed.sort_unstable();
        there == listed
    }
}

/// The root of the TREE extension of the index at `path`; `None` when there is none that can be trusted.
fn read_root(path: &std::path::Path) -> Result<Option<CachedRoot>, std::io::Error> {
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut header = [0; 12];
    let len = file.seek(SeekFrom::End(0))?;
    if len < 12 + HASH as u64 {
        return Ok(None);
    }
    file.seek(SeekFrom::Start(0))?;
    file.read_exact(&mut header)?;
    let Some(count) = entry_count(&header) else { return Ok(None) };
    let mut window = FIRST_WINDOW;
    loop {
        let start = len.saturating_sub(window).max(12);
        file.seek(SeekFrom::Start(start))?;
        let mut tail = Vec::with_capacity(usize::try_from(len - start).unwrap_or(0));
        file.by_ref().take(len - start).read_to_end(&mut tail)?;
        if tail.len() as u64 != len - start {
            return Ok(None);
        }
        match find_root(&tail[..tail.len() - HASH]) {
            Some(root) => return Ok(Some(root).filter(|root| root.entries == count)),
            None if start == 12 || window >= MAX_WINDOW => return Ok(None),
            None => window *= 4,
        }
    }
}

/// `DIRC`, version 2 to 4, number of entries.
fn entry_count(header: &[u8; 12]) -> Option<u32> {
    let version = be32(&header[4..8])?;
    if &header[..4] == b"DIRC" && (2..=4).contains(&version) { be32(&header[8..12]) } else { None }
}

fn be32(bytes: &[u8]) -> Option<u32> {
    bytes.get(..4)?.try_into().ok().map(u32::from_be_bytes)
}

/// Looks from the end for a TREE whose chain of extensions leads exactly to the end of `tail`.
fn find_root(tail: &[u8]) -> Option<CachedRoot> {
    let starts = (0..tail.len().saturating_sub(7)).rev();
    starts.filter(|at| tail[*at..].starts_with(b"TREE") && chain_ends(tail, *at)).find_map(|at| {
        let len = be32(&tail[at + 4..])? as usize;
        parse(tail.get(at + 8..at + 8 + len)?)
    })
}

/// Whether known extensions, each at most once, fill `tail` from `at` exactly to its end.
fn chain_ends(tail: &[u8], mut at: usize) -> bool {
    let mut seen = [false; KNOWN.len()];
    while at < tail.len() {
        let known = KNOWN.iter().position(|name| tail[at..].starts_with(*name));
        let (Some(kind), Some(len)) = (known, tail.get(at + 4..).and_then(be32)) else { return false };
        if std::mem::replace(&mut seen[kind], true) {
            return false;
        }
        at = at.saturating_add(8).saturating_add(len as usize);
    }
    at == tail.len()
}

/// Parses a whole TREE extension; `None` unless it is well formed to its last byte and its root is valid.
fn parse(data: &[u8]) -> Option<CachedRoot> {
    let mut rest = data;
    let (name, entries, id, subtrees) = node(&mut rest)?;
    if !name.is_empty() {
        return None;
    }
    let mut children = Vec::new();
    // How many directories are still to come on each level.
    let mut open = vec![subtrees];
    while let Some(left) = open.last_mut() {
        if *left == 0 {
            open.pop();
            continue;
        }
        *left -= 1;
        let (name, _, id, subtrees) = node(&mut rest)?;
        if name.is_empty() || name.contains(&b'/') || open.len() > MAX_DEPTH {
            return None;
        }
        if open.len() == 1 {
            children.push((name.to_vec(), id));
        }
        open.push(subtrees);
    }
    if !rest.is_empty() {
        return None;
    }
    Some(CachedRoot { entries: u32::try_from(entries).ok()?, id: id?, children })
}

/// One node: `name NUL entries SP subtrees LF`, then the id unless `entries` is negative.
fn node<'a>(rest: &mut &'a [u8]) -> Option<(&'a [u8], i64, Option<Oid>, u32)> {
    let name = until(rest, 0)?;
    let entries = number(until(rest, b' ')?)?;
    let subtrees = u32::try_from(number(until(rest, b'\n')?)?).ok()?;
    if entries < 0 {
        return Some((name, entries, None, subtrees));
    }
    let id = Oid::from_bytes(rest.get(..HASH)?)?;
    *rest = &rest[HASH..];
    Some((name, entries, Some(id), subtrees))
}

fn until<'a>(rest: &mut &'a [u8], end: u8) -> Option<&'a [u8]> {
    let at = rest.iter().position(|byte| *byte == end)?;
    let found = &rest[..at];
    *rest = &rest[at + 1..];
    Some(found)
}

fn number(digits: &[u8]) -> Option<i64> {
    std::str::from_utf8(digits).ok().filter(|text| text.len() <= 11)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::scratch::{Scratch, git_in};
    use super::super::{Repo, RepoEnv};
    use super::*;

    /// Keeps the index that git shows its pre-commit hook, and what `git write-tree` makes of it.
    const KEEP: &str = r#"cp "$GIT_INDEX_FILE" "$(git rev-parse --git-common-dir)/kept"
echo "$GIT_INDEX_FILE" > "$(git rev-parse --git-common-dir)/kept-name"
git write-tree > "$(git rev-parse --git-common-dir)/kept-tree""#;

    fn of(scratch: &Scratch, index: &Path) -> IndexTree {
        let env = RepoEnv { index_file: Some(index.to_path_buf()), ..RepoEnv::default() };
        Repo::open(&scratch.path(), &env).unwrap().index_tree().unwrap()
    }

    /// What the kept index gives; panics when that is a wrong tree.
    fn kept(scratch: &Scratch) -> IndexTree {
        let found = of(scratch, &scratch.path().join(".git/kept"));
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
            assert_eq!(of(&scratch, &index), IndexTree::Known(scratch.tree("HEAD")), "{setting:?}");
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
        assert_eq!(of(&scratch, &index), IndexTree::Known(scratch.tree("HEAD")));
        scratch.write("d1/e1/file1", "changed");
        scratch.git(&["add", "-A"]);
        assert_eq!(of(&scratch, &index), IndexTree::Unknown);
        scratch.git(&["reset", "-q", "--hard"]);
        scratch.write("new", "x");
        scratch.git(&["add", "-N", "new"]);
        assert_eq!(of(&scratch, &index), IndexTree::Unknown);
        assert_eq!(of(&scratch, &scratch.path().join("nowhere")), IndexTree::Unknown);
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
                assert_eq!(of(&scratch, &scratch.path().join(".git/index")), IndexTree::Unknown);
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
                let found = of(&scratch, &file);
                assert!(found == IndexTree::Unknown || found == IndexTree::Known(right), "{at}");
            }
        }
        for len in 0..bytes.len() {
            std::fs::write(&file, &bytes[..len]).unwrap();
            assert_eq!(of(&scratch, &file), IndexTree::Unknown, "cut to {len}");
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
        assert_eq!(of(&scratch, &file), IndexTree::Unknown);
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
        assert_eq!(of(&scratch, &file), IndexTree::Unknown);
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
}
