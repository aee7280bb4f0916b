//! What happens to the working tree while the tests run, as the kernel tells it (inotify).
//!
//! `andon test` must know whether the code changed during a run. To look at every file once more costs what `git
//! status` costs; the kernel tells which names something happened to for next to nothing. The order makes it sound:
//! first every directory of the index is watched, then the working tree is looked at, then the tests run, so that
//! there is no moment in between. What happened is only where to look again: whether it is other code now is for
//! the contents to say.
//!
//! A change that is undone before the end of the run leaves no trace in the contents. So a content that a file was
//! closed with, and that stood for a tenth of a second, is hashed while it is there (`rounds`).
//!
//! Where the kernel may not tell everything there is no watch, and the whole look is taken once more: network and
//! user-space file systems, mounts below the top, submodules, sparse and split indexes, no watches left, a queue that
//! ran over. What it never tells: writes through a mapping that stays open beyond the run, or through a hard link that
//! lies elsewhere. Directories of which git tracks nothing are not watched; of them the end of the run tells.

pub(crate) mod events;
mod observed;
mod rounds;
mod trusted;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;

use nix::sys::inotify::{AddWatchFlags, InitFlags, Inotify, WatchDescriptor};
use nix::sys::signal::{SigSet, SigmaskHow};

use self::rounds::{Kind, Name, Names, Rounds};
use crate::index::paths;
use crate::open::repo::Repo;
use crate::platform::paths::{bytes_of, path_from_bytes};
use crate::watch::events::{Events, IndexFile};
use andon_core::domain::tests::OverlayEntry;

/// Most directories that are watched; the kernel's own limit is usually lower.
const MAX_DIRECTORIES: usize = 100_000;

/// What is asked of the kernel.
const EVENTS: AddWatchFlags = AddWatchFlags::IN_MODIFY
    .union(AddWatchFlags::IN_CLOSE_WRITE)
    .union(AddWatchFlags::IN_ATTRIB)
    .union(AddWatchFlags::IN_CREATE)
    .union(AddWatchFlags::IN_DELETE)
    .union(AddWatchFlags::IN_MOVED_FROM)
    .union(AddWatchFlags::IN_MOVED_TO)
    .union(AddWatchFlags::IN_DELETE_SELF)
    .union(AddWatchFlags::IN_MOVE_SELF)
    .union(AddWatchFlags::IN_ONLYDIR)
    .union(AddWatchFlags::IN_DONT_FOLLOW);

/// A working tree under watch, until [`Watch::end`] or until it is dropped.
#[derive(Debug)]
pub struct Watch {
    directories: BTreeSet<Vec<u8>>,
    index: IndexStat,
    rounds: Arc<Mutex<Rounds>>,
    /// Dropped to end the thread, which nobody waits for.
    over: Sender<()>,
}

/// Changes whenever git writes an index: modified, changed, size, inode.
type IndexStat = [i128; 4];

impl Repo {
    /// Watches every directory that the index knows; `None` where the kernel may not tell everything.
    pub fn watch(&self) -> Option<Watch> {
        let top = self.workdir()?;
        if self.given_index().is_some() || !trusted::tells_all(top) {
            return None;
        }
        let index = self.index_stat()?;
        let directories = directories(&paths::read(&self.index_path())?)?;
        let inotify = Inotify::init(InitFlags::IN_CLOEXEC | InitFlags::IN_NONBLOCK).ok()?;
        let watched = add(&inotify, top, &directories)?;
        let rounds = Arc::new(Mutex::new(Rounds::new(inotify, watched, top.to_path_buf())));
        let (over, ended) = channel();
        let theirs = Arc::clone(&rounds);
        // A signal is for the thread that runs the tests: this one takes none from its first moment on.
        let before = SigSet::all().thread_swap_mask(SigmaskHow::SIG_SETMASK).ok()?;
        let started = thread::Builder::new().spawn(move || rounds::until(&theirs, &ended));
        before.thread_set_mask().ok()?;
        started.is_ok().then_some(Watch { directories, index, rounds, over })
    }

    fn index_stat(&self) -> Option<IndexStat> {
        let stat = nix::sys::stat::stat(&self.index_path()).ok()?;
        let time = |seconds: i64, nanoseconds: i64| (i128::from(seconds) << 32) + i128::from(nanoseconds);
        Some([
            time(stat.st_mtime, stat.st_mtime_nsec),
            time(stat.st_ctime, stat.st_ctime_nsec),
            stat.st_size.into(),
            stat.st_ino.into(),
        ])
    }
}

impl Watch {
    /// The directories in which `entries` lie and that are not watched, each by its uppermost one: they hold nothing
    /// that the index knows.
    pub fn unwatched(&self, entries: &[OverlayEntry]) -> BTreeSet<Vec<u8>> {
        let uppermost = |entry: &OverlayEntry| {
            let slashes = memchr::memchr_iter(b'/', &entry.path);
            let mut above = slashes.map(|at| &entry.path[..at]);
            above.find(|directory| !self.directories.contains(*directory)).map(<[u8]>::to_vec)
        };
        entries.iter().filter_map(uppermost).collect()
    }

    /// Ends the watch: what happens from now on does not count. The kernel takes some milliseconds for it, in which
    /// the thread waits and not the caller.
    pub fn end(self) -> Ended {
        let names = self.rounds.lock().ok().and_then(|mut rounds| rounds.last());
        drop(self.rounds);
        drop(self.over);
        Ended { names, index: self.index }
    }
}

/// A watch that is over.
#[derive(Debug)]
pub struct Ended {
    names: Option<Names>,
    index: IndexStat,
}

impl Ended {
    /// What happened; `None` where it is not certain. `first` is what differed from HEAD when the working tree was
    /// looked at, sorted.
    pub fn events(self, repo: &Repo, first: &[OverlayEntry]) -> Option<Events> {
        let mut names = self.names?;
        let top = repo.workdir()?;
        let index =
            if repo.index_stat() == Some(self.index) { IndexFile::AsItWas } else { IndexFile::Written };
        if !names.is_empty() {
            let known = known(repo, &names, first)?;
            // A file that was not there and is not there again is nothing.
            let there = |path: &[u8]| top.join(path_from_bytes(path)).symlink_metadata().is_ok();
            names.retain(|path, name| name.kind == Kind::Directory || known.contains(path) || there(path));
            for (path, name) in &mut names {
                if !known.contains(path) || !held_another(top, path, name) {
                    name.observed.clear();
                }
            }
        }
        let put_back =
            names.iter().filter(|(_, name)| !name.observed.is_empty()).map(|(path, _)| path.clone());
        Some(Events { put_back: put_back.collect(), paths: names.into_keys().collect(), index })
    }
}

/// Those of `names` that were files when the working tree was looked at.
fn known(repo: &Repo, names: &Names, first: &[OverlayEntry]) -> Option<BTreeSet<Vec<u8>>> {
    let mut known = BTreeSet::new();
    let mut note = |path: &[u8]| {
        if names.contains_key(path) {
            known.insert(path.to_vec());
        }
    };
    paths::walk(&paths::read(&repo.index_path())?, &mut note)?;
    first.iter().filter(|entry| entry.entry.is_some()).for_each(|entry| note(&entry.path));
    for gone in first.iter().filter(|entry| entry.entry.is_none()) {
        known.remove(&gone.path);
    }
    Some(known)
}

/// Whether a file held for a while what it does not hold now.
fn held_another(top: &Path, path: &[u8], name: &Name) -> bool {
    let mut budget = observed::BUDGET;
    if name.observed.is_empty() {
        return false;
    }
    observed::digest(top, path, &mut budget).is_some_and(|now| name.observed.iter().any(|then| *then != now))
}

/// Every directory that an index has files below, the top (an empty path) among them.
fn directories(index: &[u8]) -> Option<BTreeSet<Vec<u8>>> {
    let mut found = BTreeSet::from([Vec::new()]);
    let mut last = Vec::new();
    paths::walk(index, &mut |path| {
        let mut directory = parent(path);
        if directory == last {
            return;
        }
        last = directory.to_vec();
        while found.insert(directory.to_vec()) {
            directory = parent(directory);
        }
    })?;
    (found.len() <= MAX_DIRECTORIES).then_some(found)
}

fn parent(path: &[u8]) -> &[u8] {
    memchr::memrchr(b'/', path).map_or(b"", |at| &path[..at])
}

/// Asks for the events of each directory, uppermost first: one that is not there can only come with an event of the
/// one above it.
fn add(
    inotify: &Inotify,
    top: &Path,
    directories: &BTreeSet<Vec<u8>>,
) -> Option<BTreeMap<WatchDescriptor, Vec<u8>>> {
    use nix::errno::Errno;
    let mut watched = BTreeMap::new();
    let mut full = [&*bytes_of(top.as_os_str()), b"/"].concat();
    let length = full.len();
    for directory in directories {
        full.truncate(length);
        full.extend_from_slice(directory);
        match inotify.add_watch(full.as_slice(), EVENTS) {
            // The same directory by two names: events would tell one of them.
            Ok(descriptor) if watched.insert(descriptor, directory.clone()).is_some() => return None,
            Ok(_) => {}
            Err(Errno::ENOENT | Errno::ENOTDIR | Errno::ELOOP) if !directory.is_empty() => {}
            Err(_) => return None,
        }
    }
    Some(watched)
}

#[cfg(test)]
mod tests;
