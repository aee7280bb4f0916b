//! The differences between the working tree and HEAD's tree.
//!
//! For `andon test` and `andon status` only, through the git program: which paths differ is decided by its attributes,
//! ignore rules and caches, and nothing is written to the repository. Where git is configured to skip a file, or looks
//! at less than its content, the file is read here (`hidden_files`) or git is configured otherwise (`file_system`,
//! `filters`): what counts is what the tests read.

pub(crate) mod filters;
pub(crate) mod porcelain;
pub(crate) mod separate_checkout;
pub(crate) mod write_times;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::path::Path;

use crate::index::hidden_files::{IndexReport, Scope};
use crate::objects::{MODE_EXECUTABLE, MODE_FILE, MODE_LINK, MODE_SUBMODULE, blob_id};
use crate::open::file_system::{Modes, Settings};
use crate::platform::paths::{bytes_of, path_from_bytes};
use crate::worktree::filters::{FilteredPaths, Filters};
use crate::worktree::porcelain::{Content, Place, StatusKind, StatusLine};
use crate::{GitError, Repo, RepoEnv, Result, platform::files};
use andon_core::domain::{HiddenPath, Oid, OverlayEntry, Tracking, TreeId, Veil};

/// Tries when files vanish between listing and hashing.
const TRIES: usize = 3;
/// Deepest nesting of submodules that is looked into; below it one counts as changed.
const MAX_NESTED: usize = 16;
/// Largest file behind an untouched pointer of git-lfs that is read; a larger one counts by its size.
const MAX_LFS: u64 = 16 << 20;
/// The command that names what git would store of files.
const HASH_OBJECT: [&str; 2] = ["hash-object", "--stdin-paths"];

/// The working tree, as differences from HEAD's tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Overlay {
    /// HEAD's tree; `None` before the first commit.
    pub base: Option<TreeId>,
    /// The paths that differ, sorted: what is there now, or that nothing is.
    pub entries: Vec<OverlayEntry>,
    /// Those of them that git itself does not see, or not as they are.
    pub hidden: Vec<HiddenPath>,
}

/// A path whose content is still to be hashed or compared.
struct PendingPath {
    path: Vec<u8>,
    tracking: Tracking,
    head: Place,
    index: Place,
    now: PathContents,
}

/// The content at a path of the working tree.
enum PathContents {
    Known(Place),
    /// A file of this mode, to be hashed with what git itself converts.
    File(u32),
}

/// A repository inside, as the one around it sees it.
enum SubmoduleState {
    /// At this commit, without changes.
    Clean(Oid),
    /// With changes of its own; those that git does not see.
    Changed(Vec<HiddenPath>),
}

/// One look at the working tree.
struct Comparison<'r> {
    repo: &'r Repo,
    top: &'r Path,
    base: Option<TreeId>,
    settings: Settings,
    filters: Filters,
    examined: IndexReport,
    nested: usize,
    hidden: Vec<HiddenPath>,
}

impl Repo {
    /// Compares the working tree (staged and unstaged together, untracked files included, ignored ones not)
    /// with HEAD's tree. Blob ids are computed without writing. A submodule counts as its checked-out commit;
    /// with changes of its own it gets an id that no commit has. Starts two processes, and some more where there are
    /// filters, submodules, a split or a sparse index.
    pub fn worktree_overlay(&self) -> Result<Overlay> {
        self.overlay(0)
    }

    fn overlay(&self, nested: usize) -> Result<Overlay> {
        let mut tries = 1;
        loop {
            match self.overlay_once(nested) {
                Err(GitError::Program { .. }) if tries < TRIES => tries += 1,
                answer => return answer,
            }
        }
    }

    fn overlay_once(&self, nested: usize) -> Result<Overlay> {
        let top = self.workdir().ok_or_else(|| GitError::NoWorkTree { git_dir: self.git_dir.clone() })?;
        let comparison = Comparison {
            repo: self,
            top,
            base: self.head()?.commit().map(|head| self.tree_of(head)).transpose()?,
            settings: self.honest_settings(top),
            filters: self.filters()?,
            examined: IndexReport::read(self, &Scope { top, paths: &BTreeSet::new() })?,
            nested,
            hidden: Vec::new(),
        };
        comparison.overlay()
    }
}

impl Comparison<'_> {
    fn overlay(mut self) -> Result<Overlay> {
        let mut seen = Vec::new();
        for line in self.status()? {
            seen.extend(self.look(line)?);
        }
        self.unread(&mut seen)?;
        let filtered = self.filtered(&mut seen)?;
        self.through_filters(&mut seen, &filtered);
        self.submodules(&mut seen)?;
        let entries = self.settle(seen, &filtered)?;
        Ok(Overlay { base: self.base, entries, hidden: self.hidden })
    }

    /// Runs git so that it looks at every file and runs no filter: those whose result counts run file by file.
    fn git(
        &self,
        variables: &[(&str, &OsStr)],
        args: &[&OsStr],
        input: &[u8],
    ) -> Result<std::process::Output> {
        let mut all: Vec<OsString> = self.settings.options.clone();
        all.extend(self.filters.options());
        all.extend(args.iter().map(|arg| (*arg).to_owned()));
        self.repo.git_with(&[&Filters::variables(), variables].concat(), &all, input)
    }

    fn status(&self) -> Result<Vec<StatusLine>> {
        // Their contents are looked at by the same rules as everything else.
        let args = "status --porcelain=v2 -z -uall --no-renames --ignore-submodules=dirty --no-ahead-behind";
        let mut args: Vec<&OsStr> = args.split(' ').map(OsStr::new).collect();
        let settled = self.examined.settled.as_ref().map(|bytes| self.repo.index_copy(bytes)).transpose()?;
        let index = settled.as_ref().map(|copy| ("GIT_INDEX_FILE", copy.as_os_str()));
        if index.is_some() {
            // It asks for the times of all files side by side, whatever the index says of them.
            args.splice(0..0, ["-c", "core.preloadIndex=false"].map(OsStr::new));
        }
        let output = self.git(index.as_slice(), &args, b"")?;
        porcelain::parse(&output.stdout)
            .map_err(|detail| GitError::Answer { command: "git status".to_owned(), detail })
    }

    /// `None` of what is no part of this working tree.
    fn look(&mut self, line: StatusLine) -> Result<Option<PendingPath>> {
        let StatusLine { mut path, kind } = line;
        match kind {
            StatusKind::Tracked { head, index, worktree, content } => {
                let now = match (content, worktree) {
                    (Content::AsIndexed, _) => PathContents::Known(index),
                    (Content::DirtySubmodule, _) => {
                        PathContents::Known(Some((MODE_SUBMODULE, dirty_id(&path))))
                    }
                    (Content::Differs, None) => PathContents::Known(None),
                    (Content::Differs, Some(_)) => self.on_disk(&path, worktree)?,
                };
                Ok(Some(PendingPath { path, tracking: Tracking::Tracked, head, index, now }))
            }
            StatusKind::Unmerged | StatusKind::Untracked => {
                // A trailing slash: a repository inside, which `git add` would make a submodule.
                if path.last() == Some(&b'/') {
                    path.pop();
                    if self.repo.is_own_worktree(&self.top.join(path_from_bytes(&path))) {
                        return Ok(None);
                    }
                }
                let tracking =
                    if kind == StatusKind::Unmerged { Tracking::Tracked } else { Tracking::Untracked };
                let head = self.in_base(&path)?;
                let now = self.on_disk(&path, None)?;
                Ok(Some(PendingPath { path, tracking, head, index: None, now }))
            }
        }
    }

    fn in_base(&self, path: &[u8]) -> Result<Place> {
        self.repo.entry_at(self.base, path)
    }

    /// The content at `path` of the working tree; `mode` is the one that git gave, if it did.
    fn on_disk(&mut self, path: &[u8], mode: Option<u32>) -> Result<PathContents> {
        let file = self.top.join(path_from_bytes(path));
        let io = |source| GitError::Io { path: file.clone(), source };
        let meta = match std::fs::symlink_metadata(&file) {
            Ok(meta) => meta,
            Err(error) if gone(&error) => return Ok(PathContents::Known(None)),
            Err(error) => return Err(io(error)),
        };
        if meta.is_symlink() {
            let target = std::fs::read_link(&file).map_err(io)?;
            return Ok(PathContents::Known(Some((MODE_LINK, blob_id(&bytes_of(target.as_os_str()))?))));
        }
        if meta.is_dir() {
            if !file.join(".git").exists() {
                return Ok(PathContents::Known(None));
            }
            let id = match self.inside(&file, path) {
                SubmoduleState::Clean(commit) => commit,
                SubmoduleState::Changed(_) => dirty_id(path),
            };
            return Ok(PathContents::Known(Some((MODE_SUBMODULE, id))));
        }
        if !meta.is_file() {
            // A pipe, a socket or a device: git stores none, and reading it may never end.
            return Ok(PathContents::Known(None));
        }
        if mode == Some(MODE_LINK) {
            // core.symlinks = false: a plain file holds the target.
            let target = std::fs::read(&file).map_err(io)?;
            return Ok(PathContents::Known(Some((MODE_LINK, blob_id(&target)?))));
        }
        let plain = if self.executable(&meta) { MODE_EXECUTABLE } else { MODE_FILE };
        Ok(PathContents::File(
            mode.filter(|mode| matches!(*mode, MODE_FILE | MODE_EXECUTABLE)).unwrap_or(plain),
        ))
    }

    fn executable(&self, meta: &std::fs::Metadata) -> bool {
        self.settings.modes != Modes::InIndex && files::owner_executes(meta)
    }

    /// Reads the files that git may not have read, also where it names them: a staged change says nothing of the disk.
    fn unread(&mut self, seen: &mut Vec<PendingPath>) -> Result<()> {
        let named: BTreeMap<Vec<u8>, usize> =
            seen.iter().enumerate().map(|(at, one)| (one.path.clone(), at)).collect();
        for (path, (mode, id)) in std::mem::take(&mut self.examined.unread) {
            let known = mode == MODE_LINK || self.settings.modes == Modes::InIndex;
            let now = self.on_disk(&path, known.then_some(mode))?;
            if let Some(one) = named.get(&path).and_then(|at| seen.get_mut(*at)) {
                one.now = now;
                continue;
            }
            let head = self.in_base(&path)?;
            seen.push(PendingPath { path, tracking: Tracking::Tracked, head, index: Some((mode, id)), now });
        }
        Ok(())
    }

    /// The drivers of the files that are to be hashed, and of those that git takes for unchanged: the ones of git-lfs join `seen`.
    fn filtered(&mut self, seen: &mut Vec<PendingPath>) -> Result<FilteredPaths> {
        if self.filters.is_empty() {
            return Ok(FilteredPaths::new());
        }
        let tracked = self.examined.files.iter().map(|(path, _)| path.as_slice());
        let others = seen.iter().map(|one| one.path.as_slice());
        let filtered = self.repo.filtered(&self.filters, tracked.chain(others))?;
        let already: BTreeSet<Vec<u8>> = seen.iter().map(|one| one.path.clone()).collect();
        for (path, id) in std::mem::take(&mut self.examined.files) {
            if already.contains(&path) || !is_lfs(&filtered, &path) {
                continue;
            }
            if let now @ PathContents::File(mode) = self.on_disk(&path, None)? {
                let (index, head) = (Some((mode, id)), self.in_base(&path)?);
                let now = if self.is_behind_pointer(&path, id) { PathContents::Known(index) } else { now };
                seen.push(PendingPath { path, tracking: Tracking::Tracked, head, index, now });
            }
        }
        Ok(filtered)
    }

    /// Has the other drivers say what git would store of the files that may have changed. Where one fails, or says something
    /// else each time, the file counts as the index has it, and is reported.
    fn through_filters(&mut self, seen: &mut [PendingPath], filtered: &FilteredPaths) {
        for one in seen {
            let (PathContents::File(mode), Some(driver)) = (&one.now, filtered.get(&one.path)) else {
                continue;
            };
            if driver == filters::LFS {
                continue;
            }
            let mut line = Vec::new();
            porcelain::quote_line(&one.path, &mut line);
            let stored = || {
                let mut args = self.settings.options.clone();
                args.extend(HASH_OBJECT.map(OsString::from));
                let output = self.repo.git_with(&[], &args, &line).ok()?;
                String::from_utf8_lossy(&output.stdout).trim().parse::<Oid>().ok()
            };
            let known = stored()
                .filter(|id| one.index.is_some_and(|(_, known)| known == *id) || stored() == Some(*id));
            if known.is_none() {
                let veil = Veil::Filter(String::from_utf8_lossy(driver).into_owned());
                self.hidden.push(HiddenPath { submodule: Vec::new(), path: one.path.clone(), veil });
            }
            one.now = PathContents::Known(known.map_or(one.index, |id| Some((*mode, id))));
        }
    }

    /// True if a file is a large one for which git-lfs has stored this pointer.
    fn is_behind_pointer(&self, path: &[u8], id: Oid) -> bool {
        let size = self.top.join(path_from_bytes(path)).metadata().map_or(0, |meta| meta.len());
        size > MAX_LFS && self.repo.points_at(id, size)
    }

    /// Looks into what is checked out inside.
    fn submodules(&mut self, seen: &mut Vec<PendingPath>) -> Result<()> {
        for path in std::mem::take(&mut self.examined.submodules) {
            let dir = self.top.join(path_from_bytes(&path));
            if let SubmoduleState::Changed(hidden) = self.inside(&dir, &path) {
                self.hidden.extend(hidden);
                let (head, now) =
                    (self.in_base(&path)?, PathContents::Known(Some((MODE_SUBMODULE, dirty_id(&path)))));
                seen.push(PendingPath { path, tracking: Tracking::Tracked, head, index: None, now });
            }
        }
        Ok(())
    }

    /// The repository in `dir`. What cannot be read of it counts as changed.
    fn inside(&self, dir: &Path, path: &[u8]) -> SubmoduleState {
        let clean = || {
            let inside = Repo::open(dir, &RepoEnv::default()).ok()?;
            let same = inside.workdir()?.canonicalize().ok()? == dir.canonicalize().ok()?;
            let commit = inside.head().ok().filter(|_| same && self.nested < MAX_NESTED)?.commit()?;
            let overlay = inside.overlay(self.nested + 1).ok()?;
            Some(if overlay.entries.is_empty() { Ok(commit.0) } else { Err(overlay.hidden) })
        };
        match clean() {
            Some(Ok(commit)) => SubmoduleState::Clean(commit),
            Some(Err(hidden)) => {
                SubmoduleState::Changed(hidden.into_iter().map(|one| one.within(path)).collect())
            }
            None => SubmoduleState::Changed(Vec::new()),
        }
    }

    /// Hashes what is to be hashed in one process, and drops what is as in HEAD.
    fn settle(&mut self, seen: Vec<PendingPath>, filtered: &FilteredPaths) -> Result<Vec<OverlayEntry>> {
        let mut paths = Vec::new();
        let mut count = 0_usize;
        let mut pointers = BTreeMap::new();
        for one in seen.iter().filter(|one| matches!(one.now, PathContents::File(_))) {
            let pointer = if is_lfs(filtered, &one.path) { self.pointer(&one.path)? } else { None };
            if let Some(id) = pointer {
                pointers.insert(one.path.clone(), id);
            } else {
                porcelain::quote_line(&one.path, &mut paths);
                count += 1;
            }
        }
        let mut ids = self.hash_files(&paths, count)?.into_iter();
        // A path that left the index and stayed on disk comes twice: as deleted, then as untracked.
        let mut settled: BTreeMap<Vec<u8>, (PendingPath, Place)> = BTreeMap::new();
        for one in seen {
            let now = match one.now {
                PathContents::Known(place) => place,
                PathContents::File(mode) => {
                    pointers.get(&one.path).copied().or_else(|| ids.next()).map(|id| (mode, id))
                }
            };
            settled.insert(one.path.clone(), (one, now));
        }
        let mut entries = Vec::new();
        for (one, now) in settled.into_values().filter(|(one, now)| one.head != *now) {
            self.hidden.extend(self.veiled(&one, now));
            entries.push(OverlayEntry { path: one.path, entry: now, tracking: one.tracking });
        }
        Ok(entries)
    }

    fn pointer(&self, path: &[u8]) -> Result<Option<Oid>> {
        let file = self.top.join(path_from_bytes(path));
        let pointer = filters::pointer(&file).map_err(|source| GitError::Io { path: file, source })?;
        pointer.map(|text| blob_id(&text)).transpose()
    }

    /// The reason why git does not see that a path is as it is `now`.
    fn veiled(&self, one: &PendingPath, now: Place) -> Option<HiddenPath> {
        let mode = |place: Place| place.map(|(mode, _)| mode);
        let known = mode(one.index).unwrap_or(MODE_FILE);
        let modes_differ = mode(now).is_some_and(|now| now != known && is_plain(now) && is_plain(known));
        let veil = if now == one.index || mode(now) == Some(MODE_SUBMODULE) {
            None
        } else if let Some(veil) = self.examined.veils.get(&one.path).filter(|veil| **veil != Veil::Stat) {
            Some(veil.clone())
        } else if modes_differ && self.settings.modes == Modes::OnDiskUnseen {
            Some(Veil::FileMode)
        } else {
            self.examined.veils.get(&one.path).cloned()
        };
        veil.map(|veil| HiddenPath { submodule: Vec::new(), path: one.path.clone(), veil })
    }

    fn hash_files(&self, paths: &[u8], count: usize) -> Result<Vec<Oid>> {
        if count == 0 {
            return Ok(Vec::new());
        }
        let output = self.git(&[], &HASH_OBJECT.map(OsStr::new), paths)?;
        let text = String::from_utf8_lossy(&output.stdout);
        let ids: Vec<Oid> = text.lines().filter_map(|line| line.parse().ok()).collect();
        if ids.len() == count {
            return Ok(ids);
        }
        let detail = format!("{} ids for {count} paths", ids.len());
        Err(GitError::Answer { command: "git hash-object --stdin-paths".to_owned(), detail })
    }
}

fn is_lfs(filtered: &FilteredPaths, path: &[u8]) -> bool {
    filtered.get(path).is_some_and(|driver| driver == filters::LFS)
}

fn is_plain(mode: u32) -> bool {
    matches!(mode, MODE_FILE | MODE_EXECUTABLE)
}

fn gone(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory)
}

/// True if a place of the working tree is a submodule with changes of its own.
pub fn is_changed_submodule(path: &[u8], mode: u32, id: Oid) -> bool {
    mode == MODE_SUBMODULE && id == dirty_id(path)
}

/// An id that no commit has: that of a blob which says what it means.
fn dirty_id(path: &[u8]) -> Oid {
    let text = [b"andon: submodule with changes of its own at ".as_slice(), path].concat();
    blob_id(&text).unwrap_or_else(|_| crate::objects::zero())
}

#[cfg(test)]
mod tests;
