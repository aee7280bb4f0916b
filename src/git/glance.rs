//! Whether the working tree is still as it was, by its stat data alone.
//!
//! `andon test` looks at the working tree before and after a run. The second look is not for what is there but for
//! whether anything changed meanwhile, and stat data answers that: a change of content, mode or name moves the
//! change time of the file or of its directory, which no program can set back. So nothing is listed or hashed
//! again, and no program started; where the answer is not certain, the whole look is taken once more. What it cannot
//! see is a file that appears in a directory that was there and held nothing that git knows: such a file was no part
//! of the code that was tested.

use std::collections::{BTreeMap, BTreeSet};
use std::os::fd::{AsFd as _, OwnedFd};

use nix::fcntl::{AtFlags, OFlag, open, openat};
use nix::sys::stat::{FileStat, Mode, fstat, fstatat};

use super::objects::MODE_SUBMODULE;
use super::repo::Repo;
use super::worktree::Overlay;

/// Stat data that changes with content, mode or name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stat {
    modified: (i64, i64),
    changed: (i64, i64),
    size: i64,
    inode: u64,
    mode: u32,
}

impl Stat {
    fn of(stat: &FileStat) -> Self {
        Self {
            modified: (stat.st_mtime, stat.st_mtime_nsec),
            changed: (stat.st_ctime, stat.st_ctime_nsec),
            size: stat.st_size,
            inode: stat.st_ino,
            mode: stat.st_mode,
        }
    }
}

/// What the index says of a file; its fields are 32 bits wide.
#[derive(Debug, Clone, Copy)]
struct Indexed {
    modified: (i32, u32),
    changed: (i32, u32),
    size: u32,
    inode: u32,
}

impl Indexed {
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the index has the lower 32 bits"
    )]
    fn is(&self, stat: &Stat) -> bool {
        self.modified == (stat.modified.0 as i32, stat.modified.1 as u32)
            && self.changed == (stat.changed.0 as i32, stat.changed.1 as u32)
            && self.size == stat.size as u32
            && self.inode == stat.inode as u32
    }
}

/// What is expected of a path.
#[derive(Debug)]
enum Expected {
    /// As the index has it.
    Indexed(Indexed),
    /// As it was at the first look, which found it to differ; `None`: not there.
    Seen(Option<Stat>),
}

/// A working tree as it was.
#[derive(Debug)]
pub struct Glance {
    top: OwnedFd,
    index: Stat,
    directories: Vec<Directory>,
}

/// A directory with the files in it that git knows.
#[derive(Debug)]
struct Directory {
    path: Vec<u8>,
    stat: Stat,
    files: Files,
}

/// Names, each with what is expected of it.
type Files = Vec<(Vec<u8>, Expected)>;

impl Repo {
    /// Remembers the working tree of which `overlay` is the difference from HEAD. `None` where stat data cannot
    /// answer for it: another index, submodules, entries that git does not look at.
    pub fn glance(&self, overlay: &Overlay) -> Option<Glance> {
        if self.given_index().is_some() {
            return None;
        }
        let top = open(self.workdir()?, OFlag::O_DIRECTORY | OFlag::O_CLOEXEC, Mode::empty()).ok()?;
        let mut seen: BTreeSet<&[u8]> = overlay.entries.iter().map(|entry| entry.path.as_slice()).collect();
        let mut files: BTreeMap<Vec<u8>, Files> = BTreeMap::from([(Vec::new(), Vec::new())]);
        let mut add = |path: &[u8], expected| {
            let (dir, name) = split(path);
            match files.get_mut(dir) {
                Some(known) => known.push((name.to_vec(), expected)),
                None => {
                    files.insert(dir.to_vec(), vec![(name.to_vec(), expected)]);
                }
            }
        };
        let index = self.inner.index().ok()?;
        for entry in index.iter() {
            // Skip-worktree and intent-to-add are extended flags; assume-valid is the topmost plain one.
            if entry.mode == MODE_SUBMODULE || entry.flags & 0x8000 != 0 || entry.flags_extended & 0x4000 != 0
            {
                return None;
            }
            if seen.remove(entry.path.as_slice()) {
                add(&entry.path, Expected::Seen(stat_at(&top, &entry.path)));
                continue;
            }
            add(
                &entry.path,
                Expected::Indexed(Indexed {
                    modified: (entry.mtime.seconds(), entry.mtime.nanoseconds()),
                    changed: (entry.ctime.seconds(), entry.ctime.nanoseconds()),
                    size: entry.file_size,
                    inode: entry.ino,
                }),
            );
        }
        for path in seen {
            add(path, Expected::Seen(stat_at(&top, path)));
        }
        let mut directories = Vec::with_capacity(files.len());
        for (path, files) in files {
            let stat = if path.is_empty() { fstat(&top).ok() } else { raw_stat(&top, &path) };
            directories.push(Directory { stat: Stat::of(&stat?), path, files });
        }
        Some(Glance { index: self.index_stat()?, top, directories })
    }

    /// True when the working tree is certainly as it was; false when it may not be.
    pub fn is_as_seen(&self, glance: &Glance) -> bool {
        if self.index_stat() != Some(glance.index) {
            return false;
        }
        glance.directories.iter().all(|Directory { path: dir, stat: was, files }| {
            let path = if dir.is_empty() { b".".as_slice() } else { dir };
            let flags = OFlag::O_DIRECTORY | OFlag::O_CLOEXEC | OFlag::O_NOFOLLOW;
            let Ok(fd) = openat(&glance.top, path, flags, Mode::empty()) else { return false };
            let same = fstat(&fd).is_ok_and(|now| Stat::of(&now) == *was);
            same && files.iter().all(|(name, expected)| {
                let now = raw_stat(&fd, name).map(|stat| Stat::of(&stat));
                match expected {
                    Expected::Indexed(indexed) => now.is_some_and(|now| indexed.is(&now)),
                    Expected::Seen(then) => *then == now,
                }
            })
        })
    }

    fn index_stat(&self) -> Option<Stat> {
        let file = self.git_dir().join("index");
        nix::sys::stat::stat(&file).ok().map(|stat| Stat::of(&stat))
    }
}

fn split(path: &[u8]) -> (&[u8], &[u8]) {
    match path.iter().rposition(|byte| *byte == b'/') {
        Some(at) => (&path[..at], &path[at + 1..]),
        None => (b"", path),
    }
}

fn stat_at(top: &OwnedFd, path: &[u8]) -> Option<Stat> {
    raw_stat(top, path).map(|stat| Stat::of(&stat))
}

fn raw_stat(dir: &OwnedFd, name: &[u8]) -> Option<FileStat> {
    fstatat(dir.as_fd(), name, AtFlags::AT_SYMLINK_NOFOLLOW).ok()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::super::scratch::Scratch;

    #[test]
    fn any_change_is_seen_and_none_is_made_up() {
        type Change = fn(&Scratch);
        let changes: [(&str, Change); 9] = [
            ("content", |scratch| scratch.write("a", "2")),
            ("content of the same size, put back", |scratch| {
                scratch.write("a", "x");
                scratch.write("a", "1");
            }),
            ("a dirty file", |scratch| scratch.write("dirty", "more")),
            ("an untracked file", |scratch| scratch.write("d/new", "more")),
            ("another untracked file", |scratch| scratch.write("d/other", "x")),
            ("a file is gone", |scratch| std::fs::remove_file(scratch.path().join("d/b")).unwrap()),
            ("a deleted file is back", |scratch| scratch.write("gone", "1")),
            ("a mode", |scratch| {
                let mode = std::fs::Permissions::from_mode(0o755);
                std::fs::set_permissions(scratch.path().join("d/b"), mode).unwrap();
            }),
            ("the index", |scratch| {
                scratch.git(&["add", "dirty"]);
            }),
        ];
        for (name, change) in changes {
            let scratch = Scratch::new();
            for file in ["a", "d/b", "d/e/f", "dirty", "gone"] {
                scratch.write(file, "1");
            }
            scratch.commit("x", "1", "one");
            scratch.write("dirty", "2");
            scratch.write("d/new", "1");
            std::fs::remove_file(scratch.path().join("gone")).unwrap();
            scratch.git(&["status"]);
            let repo = scratch.open();
            let glance = repo.glance(&repo.worktree_overlay().unwrap()).unwrap();
            assert!(repo.is_as_seen(&glance), "nothing changed: {name}");
            std::thread::sleep(std::time::Duration::from_millis(12));
            change(&scratch);
            assert!(!repo.is_as_seen(&glance), "{name}");
        }
    }
}
