//! Whose turn it is to write a ref of ours, and what a writer that died left locked.
//!
//! A process that is killed between locking a ref and moving it leaves `REF.lock` behind, and git never removes one.
//! So whoever of us is about to lock a ref says so in `<common dir>/andon/writing`, which it holds with `flock` as
//! long as it writes: the kernel lets go of that with the process. What the next one finds in it was left by the dead,
//! and a lock file that is still the very file it names is nobody's. Where the file cannot be had, nothing is lost but
//! this.

use std::fs::{self, File, OpenOptions};
use std::io::Read as _;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::Path;
use std::time::Duration;

use nix::fcntl::{Flock, FlockArg};

/// In place of the inode before there is a lock.
const MEANT: &str = "-";
/// Most bytes that are read of what a dead writer left.
const MAX_LEFT: u64 = 4096;

/// The right to lock refs of ours, until it is dropped. Drop it after the lock of the ref.
pub(super) struct Turn {
    file: Option<Flock<File>>,
}

/// What taking a turn came to.
pub(super) enum Taken {
    /// It is ours.
    Ours(Turn),
    /// Another process of ours is writing.
    Others,
}

impl Turn {
    /// Takes the turn, without waiting.
    pub(super) fn take(common_dir: &Path) -> Taken {
        let path = common_dir.join("andon").join("writing");
        let open = || OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
        let opened = match open() {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| open())
            }
            opened => opened,
        };
        let Ok(file) = opened else { return Taken::Ours(Self { file: None }) };
        match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
            Ok(file) => Taken::Ours(Self { file: Some(file) }),
            Err((_, nix::errno::Errno::EWOULDBLOCK)) => Taken::Others,
            // A file system without locks.
            Err(_) => Taken::Ours(Self { file: None }),
        }
    }

    /// Removes the lock that a dead writer left, and says of which ref.
    pub(super) fn clear(&mut self, common_dir: &Path) -> Option<String> {
        let file = self.file.as_mut()?;
        let mut left = String::new();
        (&mut **file).take(MAX_LEFT).read_to_string(&mut left).ok()?;
        let meant = file.metadata().ok()?;
        let (name, inode) = left.lines().next()?.split_once(' ')?;
        let ours = name.starts_with("refs/notes/") || name.starts_with("refs/andon/");
        if !ours || !git2::Reference::is_valid_name(name) {
            return None;
        }
        let lock = common_dir.join(format!("{name}.lock"));
        let found = fs::symlink_metadata(&lock).ok()?;
        let same =
            if inode == MEANT { made_then(&meant, &found) } else { Some(found.ino()) == inode.parse().ok() };
        if !found.is_file() || !same {
            return None;
        }
        fs::remove_file(&lock).ok()?;
        Some(name.to_owned())
    }

    /// Says which ref is about to be locked.
    pub(super) fn means(&self, name: &str) {
        self.write(&format!("{name} {MEANT}\n"));
    }

    /// Says which lock file is held from here on.
    pub(super) fn locked(&self, common_dir: &Path, name: &str) {
        if let Ok(lock) = fs::symlink_metadata(common_dir.join(format!("{name}.lock"))) {
            self.write(&format!("{name} {}\n", lock.ino()));
        }
    }

    fn write(&self, line: &str) {
        if let Some(file) = &self.file {
            let _ = file.write_all_at(line.as_bytes(), 0);
        }
    }
}

/// Whether an empty lock was made within a second after somebody meant to make it.
fn made_then(meant: &fs::Metadata, lock: &fs::Metadata) -> bool {
    let (Ok(meant), Ok(made)) = (meant.modified(), lock.modified()) else { return false };
    lock.len() == 0 && made.duration_since(meant).is_ok_and(|pause| pause < Duration::from_secs(1))
}

impl Drop for Turn {
    fn drop(&mut self) {
        if let Some(file) = &self.file {
            let _ = file.set_len(0);
        }
    }
}
