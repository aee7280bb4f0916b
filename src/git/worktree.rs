//! What the working tree has that HEAD's tree has not.
//!
//! For `andon test` and `andon status` only, through the git program: which paths differ is decided by its
//! attributes, filters, ignore rules and caches, and nothing is written to the repository.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

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
        let mut tries = 1;
        loop {
            match self.overlay_once() {
                Err(GitError::Program { .. }) if tries < TRIES => tries += 1,
                answer => return answer,
            }
        }
    }

    fn overlay_once(&self) -> Result<Overlay, GitError> {
        let top = self.require_workdir()?.to_path_buf();
        let base = self.head()?.commit().map(|head| self.tree_of(head)).transpose()?;
        let args = [
            "status",
            "--porcelain=v2",
            "-z",
            "-uall",
            "--no-renames",
            "--ignore-submodules=none",
            "--no-ahead-behind",
        ];
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
        // A path that left the index and stayed on disk comes twice: as deleted and as untracked.
        let mut settled: BTreeMap<Vec<u8>, (Place, Place, Tracking)> = BTreeMap::new();
        for one in seen {
            let now = match one.now {
                Now::Known(place) => place,
                Now::File(mode) => ids.next().map(|id| (mode, id)),
            };
            if now.is_some() || !settled.contains_key(&one.path) {
                settled.insert(one.path, (one.head, now, one.tracking));
            }
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
fn checked_out(dir: &PathBuf) -> Option<Oid> {
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
