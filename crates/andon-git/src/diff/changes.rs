//! The differences between two trees.
//!
//! An own walk, because libgit2's tree diff visits equal subtrees too: here the cost is that of the change,
//! not of the repository (39 against 1.5 ms at 50,000 files, docs/git-facts.md).

use std::{cmp::Ordering, collections::BTreeMap, ops::Range, rc::Rc};

use crate::objects::{MODE_SUBMODULE, MODE_TREE};
use crate::{DifferingEntries, GitError, RawEntry, RawTree, Repo, Result};
use andon_core::domain::{Change, Oid, TreeId};

/// Deepest nesting of directories that is followed.
const MAX_DEPTH: usize = 4096;

/// Most trees of one depth, and most texts, that are read ahead.
const AHEAD: usize = 2048;

/// Mode and id on one side of the walk.
type Side = (u32, Oid);

/// One directory that the walk is in; a tree per side that has it.
struct Level {
    old: Option<Rc<RawTree>>,
    new: Option<Rc<RawTree>>,
    /// The entries of each side that are left.
    left: (Range<usize>, Range<usize>),
    /// Length of the directory's path.
    path: usize,
}

impl Repo {
    /// The paths that differ from `old` (`None`: the empty tree) to `new`, sorted by path bytes.
    /// A blob that moved unchanged is one change with `old_path`; directories are never listed, submodules are.
    pub fn changes(&self, old: Option<TreeId>, new: TreeId) -> Result<Vec<Change>> {
        let mut found = join_renames(self.changed_paths(old, new)?);
        found.sort_by(|left, right| left.path.cmp(&right.path));
        Ok(found)
    }

    /// The same where a move is a deletion and an addition, in git's order. The walk has its own stack: a hostile tree may
    /// nest deeper than a thread's.
    pub(crate) fn changed_paths(&self, old: Option<TreeId>, new: TreeId) -> Result<Vec<Change>> {
        let mut found = Vec::new();
        let mut path = Vec::new();
        let mut open = Vec::new();
        open.extend(self.enter(old.map(|tree| tree.0), Some(new.0), 0)?);
        while let Some(level) = open.last_mut() {
            let Some((old, new)) = level.next_difference(&mut path) else {
                open.pop();
                continue;
            };
            let file = |side: Option<Side>| side.filter(|side| side.0 != MODE_TREE);
            let tree = |side: Option<Side>| side.filter(|side| side.0 == MODE_TREE).map(|side| side.1);
            if file(old).is_some() || file(new).is_some() {
                found.push(Change { path: path.clone(), old_path: None, old: file(old), new: file(new) });
            }
            if open.len() >= MAX_DEPTH {
                return Err(GitError::TooDeep {
                    path: String::from_utf8_lossy(&path[..path.len().min(80)]).into_owned(),
                    limit: MAX_DEPTH,
                });
            }
            open.extend(self.enter(tree(old), tree(new), path.len())?);
        }
        Ok(found)
    }

    /// Reads what the changes between pairs of trees need, all of one depth at once, where git is asked for objects: texts of paths
    /// that are `wanted`, of at most `max` bytes.
    pub fn read_changes_ahead(&self, pairs: &[[TreeId; 2]], wanted: &dyn Fn(&[u8]) -> bool, max: usize) {
        let mut trees: Vec<(Option<Oid>, Option<Oid>, Vec<u8>)> =
            pairs.iter().map(|[old, new]| (Some(old.0), Some(new.0), Vec::new())).collect();
        trees.retain(|_| self.reads_by_git());
        let mut texts: Vec<Oid> = Vec::new();
        while !trees.is_empty() && trees.len() <= AHEAD && texts.len() <= AHEAD {
            let ids = trees.iter().flat_map(|(old, new, _)| [*old, *new]).flatten();
            self.read_ahead(git2::ObjectType::Tree, ids, usize::MAX);
            for (old, new, mut path) in std::mem::take(&mut trees) {
                let Ok(Some(mut level)) = self.enter(old, new, path.len()) else { continue };
                while let Some(sides) = level.next_difference(&mut path) {
                    let below =
                        |side: Option<Side>| side.filter(|side| side.0 == MODE_TREE).map(|side| side.1);
                    let sides = [sides.0, sides.1];
                    if let [None, None] = sides.map(below) {
                        let files = sides.into_iter().flatten().filter(|side| side.0 != MODE_SUBMODULE);
                        texts.extend(files.map(|side| side.1).filter(|_| wanted(&path)));
                    } else {
                        trees.push((below(sides[0]), below(sides[1]), path.clone()));
                    }
                }
            }
        }
        texts.truncate(AHEAD);
        self.read_ahead(git2::ObjectType::Blob, texts.into_iter(), max);
    }

    /// Two directories of one path; equal ones are not read.
    fn enter(&self, old: Option<Oid>, new: Option<Oid>, path: usize) -> Result<Option<Level>> {
        if old == new {
            return Ok(None);
        }
        let old = old.map(|id| self.tree(TreeId(id))).transpose()?;
        let new = new.map(|id| self.tree(TreeId(id))).transpose()?;
        let all = |tree: &Option<Rc<RawTree>>| 0..tree.as_ref().map_or(0, |tree| tree.count());
        let left = match (&old, &new) {
            (Some(old), Some(new)) => {
                let DifferingEntries { old, new } = new.differing(old);
                (old, new)
            }
            (None, _) | (_, None) => (all(&old), all(&new)),
        };
        Ok(Some(Level { old, new, left, path }))
    }
}

impl Level {
    /// The next name in git's order at which the sides differ, with what each has there; `path` is then its path. A file
    /// and a directory of one name are two names in that order: a deletion and additions, which is what a replacement is.
    fn next_difference(&mut self, path: &mut Vec<u8>) -> Option<(Option<Side>, Option<Side>)> {
        loop {
            let old = self.old.as_ref().zip(self.left.0.clone().next()).and_then(|(tree, at)| tree.entry(at));
            let new = self.new.as_ref().zip(self.left.1.clone().next()).and_then(|(tree, at)| tree.entry(at));
            let order = match (&old, &new) {
                (None, None) => return None,
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some(old), Some(new)) => old.cmp_in_tree(new),
            };
            let old = old.filter(|_| order != Ordering::Greater);
            let new = new.filter(|_| order != Ordering::Less);
            self.left.0.start += usize::from(old.is_some());
            self.left.1.start += usize::from(new.is_some());
            if old == new {
                continue;
            }
            let name = old.or(new)?.name;
            path.truncate(self.path);
            if !path.is_empty() {
                path.push(b'/');
            }
            path.extend_from_slice(name);
            return Some((old.map(side), new.map(side)));
        }
    }
}

fn side(entry: RawEntry<'_>) -> Side {
    (entry.mode, entry.id())
}

/// Joins a deleted and an added path of the same blob, in path order. Submodules are not moved files.
fn join_renames(found: Vec<Change>) -> Vec<Change> {
    if found.iter().all(|change| change.new.is_some()) || found.iter().all(|change| change.old.is_some()) {
        return found;
    }
    let mut gone: BTreeMap<Oid, Vec<(Vec<u8>, Side)>> = BTreeMap::new();
    for change in found.iter().rev().filter(|change| change.new.is_none()) {
        if let Some(old) = change.old.filter(|(mode, _)| *mode != MODE_SUBMODULE) {
            gone.entry(old.1).or_default().push((change.path.clone(), old));
        }
    }
    let mut moved_from = std::collections::BTreeSet::new();
    let mut joined = Vec::with_capacity(found.len());
    for mut change in found {
        if let (None, Some((mode, id))) = (change.old, change.new) {
            let source = gone.get_mut(&id).filter(|_| mode != MODE_SUBMODULE).and_then(Vec::pop);
            if let Some((path, old)) = source {
                moved_from.insert(path.clone());
                change.old_path = Some(path);
                change.old = Some(old);
            }
        }
        joined.push(change);
    }
    joined.retain(|change| change.new.is_some() || !moved_from.contains(&change.path));
    joined
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::{MODE_TREE, TreeEntry, testkit::Scratch};

    /// The changes that `git diff-tree` shows, by path.
    fn by_git(scratch: &Scratch, old: TreeId, new: TreeId) -> BTreeMap<String, (Option<Side>, Option<Side>)> {
        let (old, new) = (old.to_string(), new.to_string());
        let raw = scratch.git(&["diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", &old, &new]);
        let mut fields = raw.split('\0').filter(|field| !field.is_empty());
        let mut found = BTreeMap::new();
        while let (Some(meta), Some(path)) = (fields.next(), fields.next()) {
            let words: Vec<&str> = meta.trim_start_matches(':').split(' ').collect();
            let side = |mode: &str, id: &str| {
                let mode = u32::from_str_radix(mode, 8).unwrap();
                (mode != 0).then(|| (mode, id.parse().unwrap()))
            };
            found.insert(path.to_owned(), (side(words[0], words[2]), side(words[1], words[3])));
        }
        found
    }

    fn without_renames(changes: Vec<Change>) -> BTreeMap<String, (Option<Side>, Option<Side>)> {
        let mut found = BTreeMap::new();
        for change in changes {
            let path = String::from_utf8(change.path).unwrap();
            match change.old_path {
                Some(old_path) => {
                    found.insert(String::from_utf8(old_path).unwrap(), (change.old, None));
                    found.insert(path, (None, change.new));
                }
                None => {
                    found.insert(path, (change.old, change.new));
                }
            }
        }
        found
    }

    #[test]
    fn agrees_with_git_on_trees_made_at_random() {
        let scratch = Scratch::new();
        let repo = scratch.open();
        let mut seed = 1_u64;
        let mut random = |bound: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % bound
        };
        let names = ["a", "a.b", "a-b", "a0", "b", "ab", "c d"];
        let mut previous = None;
        for _ in 0..40 {
            // Names that sort differently as files and as directories, files and directories changing places.
            std::fs::read_dir(scratch.path())
                .unwrap()
                .flatten()
                .filter(|e| e.file_name() != ".git")
                .for_each(|entry| {
                    let _one_of_them =
                        std::fs::remove_dir_all(entry.path()).or_else(|_| std::fs::remove_file(entry.path()));
                });
            for name in names {
                match random(5) {
                    0 => {}
                    1 => scratch.write(name, &format!("{}", random(2))),
                    2 => scratch.write(&format!("{name}/x"), &format!("{}", random(2))),
                    3 => scratch.write(&format!("{name}/x/y"), &format!("{}", random(3))),
                    _ => {
                        scratch.write(&format!("{name}/a"), "1");
                        scratch.write(&format!("{name}/a.b/z"), &format!("{}", random(3)));
                    }
                }
            }
            scratch.git(&["add", "-A"]);
            let tree: TreeId = scratch.git(&["write-tree"]).parse().unwrap();
            if let Some(old) = previous {
                let found = repo.changes(Some(old), tree).unwrap();
                assert!(found.windows(2).all(|pair| pair[0].path < pair[1].path));
                assert_eq!(without_renames(found), by_git(&scratch, old, tree));
            }
            previous = Some(tree);
        }
    }

    #[test]
    fn a_root_commit_adds_everything() {
        let scratch = Scratch::new();
        scratch.write("dir/b", "1");
        scratch.commit("a", "2", "one");
        let changes = scratch.open().changes(None, scratch.tree("HEAD")).unwrap();
        let paths: Vec<&[u8]> = changes.iter().map(|change| change.path.as_slice()).collect();
        assert_eq!(paths, [b"a".as_slice(), b"dir/b"]);
        assert!(changes.iter().all(|change| change.old.is_none() && change.new.is_some()));
    }

    #[test]
    fn exact_moves_are_joined_once() {
        let scratch = Scratch::new();
        scratch.write("one", "same");
        scratch.write("two", "same");
        scratch.commit("x", "x", "one");
        for name in ["one", "two"] {
            std::fs::remove_file(scratch.path().join(name)).unwrap();
        }
        scratch.write("dir/three", "same");
        scratch.commit("x", "y", "two");
        let changes = scratch.open().changes(Some(scratch.tree("HEAD~1")), scratch.tree("HEAD")).unwrap();
        let shown: Vec<String> = changes
            .iter()
            .map(|change| {
                let text = |path: &[u8]| String::from_utf8_lossy(path).into_owned();
                format!("{:?} -> {}", change.old_path.as_deref().map(text), text(&change.path))
            })
            .collect();
        assert_eq!(shown, ["Some(\"one\") -> dir/three", "None -> two", "None -> x"]);
        assert!(changes[1].new.is_none());
    }

    #[test]
    fn nesting_beyond_the_bound_is_an_error_not_a_crash() {
        let scratch = Scratch::new();
        let repo = scratch.open();
        let file = repo.write_blob(b"x").unwrap();
        let mut entry = TreeEntry { name: b"f".to_vec(), mode: 0o100_644, id: file };
        for _ in 0..MAX_DEPTH + 10 {
            let tree = repo.write_tree_entries(&[entry]).unwrap();
            entry = TreeEntry { name: b"d".to_vec(), mode: MODE_TREE, id: tree.0 };
        }
        let error = repo.changes(None, TreeId(entry.id)).unwrap_err();
        assert!(matches!(error, GitError::TooDeep { limit: MAX_DEPTH, .. }), "{error}");
    }

    #[test]
    fn a_missing_tree_is_named() {
        let scratch = Scratch::new();
        let missing = "1234567890123456789012345678901234567890".parse().unwrap();
        let error = scratch.open().changes(None, missing).unwrap_err();
        assert!(error.to_string().contains("tree 1234567890"), "{error}");
        assert_eq!(error.help().as_deref(), Some("git fsck"));
    }
}
