//! What the working tree has that HEAD's tree has not.
//!
//! For `andon test` and `andon status` only, through the git program: which paths differ is decided by its
//! attributes, filters, ignore rules and caches, and nothing is written to the repository.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use super::error::GitError;
use super::objects::{MODE_EXECUTABLE, MODE_FILE, MODE_LINK, MODE_SUBMODULE, from_git2};
use super::porcelain::{self, Content, Place, StatusKind, StatusLine};
use super::program;
use super::repo::{Repo, RepoEnv};
use crate::domain::ids::{Oid, TreeId};
use crate::domain::tests::{OverlayEntry, Tracking};

/// Tries when files vanish between listing and hashing.
const TRIES: usize = 3;

/// The working tree, as differences from HEAD's tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Overlay {
    /// HEAD's tree; `None` before the first commit.
    pub base: Option<TreeId>,
    /// The paths that differ, sorted: what is there now, or that nothing is.
    pub entries: Vec<OverlayEntry>,
}

/// A path whose content is still to be hashed or compared.
struct Seen {
    path: Vec<u8>,
    tracking: Tracking,
    head: Place,
    now: Now,
}

/// What is at a path of the working tree.
enum Now {
    Known(Place),
    /// A file of this mode, to be hashed with the path's filters.
    File(u32),
}

impl Repo {
    /// Compares the working tree (staged and unstaged together, untracked files included, ignored ones not)
    /// with HEAD's tree. Blob ids are computed without writing. A submodule counts as its checked-out commit;
    /// with changes of its own it gets an id that no commit has. Starts two processes.
    pub fn worktree_overlay(&self) -> Result<Overlay, GitError> {
        self.worktree_overlay_at(&BTreeSet::new())
    }

    /// The same for `paths` and what is below them only; for the whole working tree where there are none.
    pub fn worktree_overlay_at(&self, paths: &BTreeSet<Vec<u8>>) -> Result<Overlay, GitError> {
        let mut tries = 1;
        loop {
            match self.overlay_once(paths) {
                Err(GitError::Program { .. }) if tries < TRIES => tries += 1,
                answer => return answer,
            }
        }
    }

    fn overlay_once(&self, paths: &BTreeSet<Vec<u8>>) -> Result<Overlay, GitError> {
        let top = self.require_workdir()?.to_path_buf();
        let base = self.head()?.commit().map(|head| self.tree_of(head)).transpose()?;
        let options = [
            "--literal-pathspecs",
            "status",
            "--porcelain=v2",
            "-z",
            "-uall",
            "--no-renames",
            "--ignore-submodules=none",
            "--no-ahead-behind",
            "--",
        ];
        let mut args = options.map(OsStr::new).to_vec();
        args.extend(paths.iter().map(|path| OsStr::from_bytes(path)));
        let output = self.git(&args, b"")?;
        let lines = porcelain::parse(&output.stdout)
            .map_err(|detail| GitError::Answer { command: "git status".to_owned(), detail })?;
        let mut seen = Vec::with_capacity(lines.len());
        for line in lines {
            seen.push(self.look(&top, base, line)?);
        }
        Ok(Overlay { base, entries: self.settle(seen)? })
    }

    fn look(&self, top: &Path, base: Option<TreeId>, line: StatusLine) -> Result<Seen, GitError> {
        let StatusLine { mut path, kind } = line;
        match kind {
            StatusKind::Tracked { head, index, worktree, content } => {
                let now = match (content, worktree) {
                    (Content::AsIndexed, _) => Now::Known(index),
                    (Content::DirtySubmodule, _) => Now::Known(Some((MODE_SUBMODULE, dirty_id(&path)))),
                    (Content::Differs, None) => Now::Known(None),
                    (Content::Differs, Some(_)) => self.on_disk(top, &path, worktree)?,
                };
                Ok(Seen { path, tracking: Tracking::Tracked, head, now })
            }
            StatusKind::Unmerged => {
                let head = self.in_base(base, &path)?;
                let now = self.on_disk(top, &path, None)?;
                Ok(Seen { path, tracking: Tracking::Tracked, head, now })
            }
            StatusKind::Untracked => {
                // A trailing slash: a repository inside, which `git add` would make a submodule.
                if path.last() == Some(&b'/') {
                    path.pop();
                }
                let head = self.in_base(base, &path)?;
                let now = self.on_disk(top, &path, None)?;
                Ok(Seen { path, tracking: Tracking::Untracked, head, now })
            }
        }
    }

    fn in_base(&self, base: Option<TreeId>, path: &[u8]) -> Result<Place, GitError> {
        base.map_or(Ok(None), |tree| self.entry_at(tree, path))
    }

    /// What is at `path` of the working tree; `told` is the mode that git gave, if it did.
    fn on_disk(&self, top: &Path, path: &[u8], told: Option<u32>) -> Result<Now, GitError> {
        let file = top.join(program::path_from_bytes(path));
        let io = |source| GitError::Io { path: file.clone(), source };
        let meta = match std::fs::symlink_metadata(&file) {
            Ok(meta) => meta,
            Err(error) if gone(&error) => return Ok(Now::Known(None)),
            Err(error) => return Err(io(error)),
        };
        if meta.is_symlink() {
            let target = std::fs::read_link(&file).map_err(io)?;
            return Ok(Now::Known(Some((MODE_LINK, hash_blob(program::bytes_of(&target))?))));
        }
        if meta.is_dir() {
            let submodule = || (MODE_SUBMODULE, checked_out(&file).unwrap_or_else(|| dirty_id(path)));
            return Ok(Now::Known(file.join(".git").exists().then(submodule)));
        }
        if told == Some(MODE_LINK) {
            // core.symlinks = false: a plain file holds the target.
            let target = std::fs::read(&file).map_err(io)?;
            return Ok(Now::Known(Some((MODE_LINK, hash_blob(&target)?))));
        }
        let plain = if self.executable(&meta) { MODE_EXECUTABLE } else { MODE_FILE };
        Ok(Now::File(told.filter(|mode| matches!(*mode, MODE_FILE | MODE_EXECUTABLE)).unwrap_or(plain)))
    }

    fn executable(&self, meta: &std::fs::Metadata) -> bool {
        use std::os::unix::fs::PermissionsExt as _;
        let trusted = self.config_string("core.filemode").is_none_or(|value| value != "false");
        trusted && meta.permissions().mode() & 0o100 != 0
    }

    /// Hashes what is to be hashed in one process, and drops what is as in HEAD.
    fn settle(&self, seen: Vec<Seen>) -> Result<Vec<OverlayEntry>, GitError> {
        let mut paths = Vec::new();
        let mut count = 0_usize;
        for one in &seen {
            if let Now::File(_) = one.now {
                porcelain::quote_line(&one.path, &mut paths);
                count += 1;
            }
        }
        let mut ids = self.hash_files(&paths, count)?.into_iter();
        // A path that left the index and stayed on disk comes twice: as deleted, then as untracked.
        let mut settled: BTreeMap<Vec<u8>, (Place, Place, Tracking)> = BTreeMap::new();
        for one in seen {
            let now = match one.now {
                Now::Known(place) => place,
                Now::File(mode) => ids.next().map(|id| (mode, id)),
            };
            settled.insert(one.path, (one.head, now, one.tracking));
        }
        let differs = settled.into_iter().filter(|(_, (head, now, _))| head != now);
        Ok(differs.map(|(path, (_, entry, tracking))| OverlayEntry { path, entry, tracking }).collect())
    }

    fn hash_files(&self, paths: &[u8], count: usize) -> Result<Vec<Oid>, GitError> {
        if count == 0 {
            return Ok(Vec::new());
        }
        let output = self.git(&["hash-object", "--stdin-paths"], paths)?;
        let text = String::from_utf8_lossy(&output.stdout);
        let ids: Vec<Oid> = text.lines().filter_map(|line| line.parse().ok()).collect();
        if ids.len() == count {
            return Ok(ids);
        }
        let detail = format!("{} ids for {count} paths", ids.len());
        Err(GitError::Answer { command: "git hash-object --stdin-paths".to_owned(), detail })
    }
}

fn gone(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory)
}

/// The commit that the repository in `dir` has checked out.
fn checked_out(dir: &Path) -> Option<Oid> {
    let inside = Repo::open(dir, &RepoEnv::default()).ok()?;
    let same = inside.workdir()?.canonicalize().ok()? == dir.canonicalize().ok()?;
    inside.head().ok().filter(|_| same)?.commit().map(|commit| commit.0)
}

/// An id that no commit has: that of a blob which says what it stands for.
fn dirty_id(path: &[u8]) -> Oid {
    let text = [b"andon: submodule with changes of its own at ".as_slice(), path].concat();
    hash_blob(&text).unwrap_or_else(|_| super::objects::zero())
}

fn hash_blob(bytes: &[u8]) -> Result<Oid, GitError> {
    git2::Oid::hash_object(git2::ObjectType::Blob, bytes)
        .map(from_git2)
        .map_err(|error| super::objects::write_error("a blob id", &error))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::super::scratch::{Scratch, command, git_in};
    use super::*;

    /// What the overlay must be: the difference from HEAD to what `git add -A` in a scratch index would make.
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
        let not_utf8 = scratch.path().join(program::path_from_bytes(b"\xff\xfe"));
        std::fs::write(not_utf8, "bytes").unwrap();
        assert_eq!(ours(&scratch).len(), names.len() + 1);
        assert_as_git(&scratch);
    }

    #[test]
    fn filters_and_line_endings_are_applied() {
        let scratch = Scratch::new();
        scratch.git(&["config", "filter.up.clean", "tr a-z A-Z"]);
        scratch.write(".gitattributes", "*.txt text eol=crlf\n*.up filter=up\n");
        scratch.commit("a.txt", "one\r\ntwo\r\n", "one");
        scratch.write("a.txt", "one\r\nthree\r\n");
        scratch.write("b.txt", "new\r\n");
        scratch.write("c.up", "shout");
        assert_as_git(&scratch);
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
        let sub = scratch.path().join("sub");
        std::fs::write(sub.join("b"), "2").unwrap();
        let dirty = ours(&scratch);
        assert_eq!(dirty.len(), 1);
        let (mode, id) = dirty[0].1.unwrap();
        assert_eq!(mode, MODE_SUBMODULE);
        assert!(scratch.open().find_commit(crate::domain::ids::CommitId(id)).is_err());
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
}
