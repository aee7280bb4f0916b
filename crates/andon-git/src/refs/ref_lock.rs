//! Which process may write a ref of ours, and the lock that a killed writer left.
//!
//! A process that is killed between locking a ref and moving it leaves `REF.lock` behind, and git never removes one. So
//! a process of ours that is about to lock a ref writes that into `<common dir>/andon/writing`, which it holds with
//! `flock` while it writes: the kernel releases it with the process. An entry that the next process finds there was
//! left by a killed one, and a lock file that is still the very file that the entry names has no owner. Where the file
//! cannot be opened, only this repair is lost.
//!
//! A process that is stopped in the middle keeps all of it. A process that has waited for some time looks at the
//! process that the file names: where that is stopped, a new file replaces the old one, and the process that locks the
//! new one may write. The stopped process sees, when it continues, that the file is not the one it holds, and begins
//! again.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::files::{read_plain, temporary_in};
use crate::platform::files::{inode, is_at};
use crate::platform::process_stat::ProcessStat;

/// In place of the inode before there is a lock.
const MEANT: &str = "-";
/// Most bytes that are read of what a dead writer left.
const MAX_LEFT: u64 = 4096;

/// The right to lock refs of ours, until it is dropped. Drop it after the lock of the ref.
pub(crate) struct RefLock {
    file: Option<File>,
}

impl RefLock {
    /// Takes the right to write, without waiting; `None` where another process of ours is writing.
    pub(crate) fn take(common_dir: &Path) -> Option<Self> {
        let path = place(common_dir);
        let open = || OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
        let opened = match open() {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| open())
            }
            opened => opened,
        };
        let Ok(file) = opened else { return Some(Self { file: None }) };
        match file.try_lock() {
            // It may have been replaced between opening and locking.
            Ok(()) if !is_at(&file, &path) => None,
            Ok(()) => Some(Self { file: Some(file) }),
            Err(TryLockError::WouldBlock) => None,
            // A file system without locks.
            Err(TryLockError::Error(_)) => Some(Self { file: None }),
        }
    }

    /// Removes the lock that a killed writer left, and returns its ref.
    pub(crate) fn clear(&mut self, common_dir: &Path) -> Option<String> {
        let file = self.file.as_mut()?;
        let mut left = String::new();
        (&mut *file).take(MAX_LEFT).read_to_string(&mut left).ok()?;
        let meant = file.metadata().ok()?;
        let mut words = left.lines().next()?.split(' ');
        let (name, file) = (words.next()?, words.next()?);
        let ours = name.starts_with("refs/notes/") || name.starts_with("refs/andon/");
        if !ours || !git2::Reference::is_valid_name(name) {
            return None;
        }
        let lock = common_dir.join(format!("{name}.lock"));
        let found = fs::symlink_metadata(&lock).ok()?;
        let same = match file {
            MEANT => made_then(&meant, &found),
            known => inode(&found).is_some_and(|found| known.parse() == Ok(found)),
        };
        if !found.is_file() || !same {
            return None;
        }
        fs::remove_file(&lock).ok()?;
        Some(name.to_owned())
    }

    /// Says which ref is about to be locked.
    pub(crate) fn means(&self, name: &str) {
        self.write(name, MEANT);
    }

    /// Says which lock file is held from here on.
    pub(crate) fn locked(&self, common_dir: &Path, name: &str) {
        if let Ok(lock) = fs::symlink_metadata(common_dir.join(format!("{name}.lock"))) {
            self.write(name, &inode(&lock).map_or_else(|| MEANT.to_owned(), |inode| inode.to_string()));
        }
    }

    /// True while the file is the one that is held here. Where there is none, no other process can take over.
    pub(crate) fn is_still_ours(&self, common_dir: &Path) -> bool {
        self.file.as_ref().is_none_or(|file| is_at(file, &place(common_dir)))
    }

    /// Takes the right to write from a stopped process, for the next one.
    pub(crate) fn free_from_stopped(common_dir: &Path) {
        let path = place(common_dir);
        let Ok(Some(left)) = read_plain(&path, MAX_LEFT) else { return };
        let line = String::from_utf8_lossy(&left).into_owned();
        let mut owner = line.trim_end().splitn(3, ' ').skip(2);
        if !owner.next().is_some_and(|owner| Process::parse(owner).is_some_and(|it| it.is_stopped())) {
            return;
        }
        let replace = || {
            let meant = fs::metadata(&path)?.modified()?;
            let mut new = temporary_in(path.parent().unwrap_or(common_dir))?;
            new.write_all(&left)?;
            new.as_file().set_modified(meant)?;
            new.persist(&path).map_err(|error| error.error)
        };
        let _left_to_the_next: std::io::Result<File> = replace();
    }

    fn write(&self, name: &str, inode: &str) {
        let line = format!("{name} {inode} {}\n", Process::own());
        if let Some(file) = &self.file {
            let mut file = file;
            let _ = file.rewind().and_then(|()| file.write_all(line.as_bytes()));
        }
    }
}

fn place(common_dir: &Path) -> PathBuf {
    common_dir.join("andon").join("writing")
}

/// A process, by its id and when it began: ids are used again.
#[derive(Debug, PartialEq, Eq)]
struct Process {
    id: u32,
    began: Option<u64>,
}

impl Process {
    fn own() -> Self {
        let id = std::process::id();
        Self { id, began: ProcessStat::of(id).map(|stat| stat.started) }
    }

    fn parse(text: &str) -> Option<Self> {
        let (id, began) = text.split_once(' ')?;
        Some(Self { id: id.parse().ok()?, began: began.parse().ok() })
    }

    /// True if it is there and was stopped by a signal or a debugger; false where that cannot be seen.
    fn is_stopped(&self) -> bool {
        ProcessStat::of(self.id)
            .is_some_and(|stat| matches!(stat.state, 'T' | 't') && self.began == Some(stat.started))
    }
}

impl std::fmt::Display for Process {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.id, self.began.unwrap_or_default())
    }
}

/// True if an empty lock was made within a second after a process announced it.
fn made_then(meant: &fs::Metadata, lock: &fs::Metadata) -> bool {
    let (Ok(meant), Ok(made)) = (meant.modified(), lock.modified()) else { return false };
    lock.len() == 0 && made.duration_since(meant).is_ok_and(|pause| pause < Duration::from_secs(1))
}

impl Drop for RefLock {
    fn drop(&mut self) {
        if let Some(file) = &self.file {
            let _ = file.set_len(0).and_then(|()| file.unlock());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_are_known_by_id_and_start() {
        let own = Process::own();
        assert_eq!(Process::parse(&own.to_string()), Some(Process { id: own.id, began: own.began }));
        assert!(!own.is_stopped());
        for text in ["", "x", "1", "x 1"] {
            assert_eq!(Process::parse(text), None, "{text}");
        }
        if cfg!(target_os = "linux") {
            assert!(own.began.is_some());
        }
    }

    #[test]
    fn a_file_that_was_replaced_is_nobodys_turn_any_more() {
        let dir = tempfile::tempdir().unwrap();
        let turn = RefLock::take(dir.path()).unwrap();
        turn.means("refs/notes/andon");
        assert!(RefLock::take(dir.path()).is_none());
        // Its owner runs.
        RefLock::free_from_stopped(dir.path());
        assert!(turn.is_still_ours(dir.path()));
        fs::rename(place(dir.path()), dir.path().join("away")).unwrap();
        assert!(!turn.is_still_ours(dir.path()));
        assert!(RefLock::take(dir.path()).is_some());
    }
}
