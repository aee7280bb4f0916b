//! Whether anything was written since a moment, by the times of files and directories alone: what a turn's command did to the
//! working tree is known in a tenth of the time that a comparison with HEAD takes.

use std::collections::HashSet;
use std::fs::Metadata;
use std::path::Path;

use crate::index::entries::{self, Entries};
use crate::objects::MODE_SUBMODULE;
use crate::open::repo::Repo;
use crate::platform::files;
use crate::platform::paths::{bytes_of, path_from_bytes};

/// The clock of a file system may be a tick behind the system's, in seconds.
const BEHIND: i64 = 1;
/// Most untracked entries whose ignore rules are asked for.
const MAX_UNTRACKED: usize = 512;

/// One walk through the working tree.
struct Walk<'r> {
    repo: &'r Repo,
    since: i64,
    /// Tracked files, and the directories above them.
    tracked: HashSet<Vec<u8>>,
    untracked: usize,
}

impl Repo {
    /// Whether a file that git tracks, or would track, may have been written, made or removed since `since` (seconds of the
    /// Unix epoch). True where that is not known, as with submodules and a sparse index. Starts no process.
    pub fn may_be_written_since(&self, since: i64) -> bool {
        let since = since.saturating_sub(BEHIND);
        let (Some(top), Some(tracked)) = (self.workdir(), self.tracked()) else { return true };
        Walk { repo: self, since, tracked, untracked: 0 }.is_written(top, &[])
    }

    /// The paths in the index and the directories above them; `None` where it does not tell all of them.
    fn tracked(&self) -> Option<HashSet<Vec<u8>>> {
        let bytes = entries::read(&self.index_path())?;
        let (mut tracked, mut has_submodule) = (HashSet::new(), false);
        let walked = entries::walk(&bytes, &mut |entry| {
            has_submodule |= entry.mode == MODE_SUBMODULE;
            let mut above = entry.path;
            while let Some(at) = memchr::memrchr(b'/', above) {
                above = &above[..at];
                if tracked.contains(above) {
                    break;
                }
                tracked.insert(above.to_vec());
            }
            tracked.insert(entry.path.to_vec());
        });
        (walked == Some(Entries::All) && !has_submodule).then_some(tracked)
    }
}

impl Walk<'_> {
    /// Whether something in `dir`, which is at `path` from the top, was.
    fn is_written(&mut self, dir: &Path, path: &[u8]) -> bool {
        // What was made, renamed or removed shows in its directory.
        let Ok(facts) = dir.symlink_metadata() else { return true };
        if self.is_newer(&facts) {
            return true;
        }
        let Ok(entries) = std::fs::read_dir(dir) else { return true };
        for entry in entries {
            let Ok(entry) = entry else { return true };
            let (name, mut at) = (entry.file_name(), path.to_vec());
            if path.is_empty() && name == ".git" {
                continue;
            }
            if !at.is_empty() {
                at.push(b'/');
            }
            at.extend_from_slice(&bytes_of(&name));
            let Ok(facts) = entry.metadata() else { return true };
            let is_tracked = self.tracked.contains(&at);
            if !is_tracked && self.is_no_code(&at, &facts) {
                continue;
            }
            let is_written = if facts.is_dir() {
                entry.path().join(".git").exists() || self.is_written(&entry.path(), &at)
            } else {
                self.is_newer(&facts)
            };
            if is_written {
                return true;
            }
        }
        false
    }

    /// Whether git would not track the untracked `path`.
    fn is_no_code(&mut self, path: &[u8], facts: &Metadata) -> bool {
        self.untracked = self.untracked.saturating_add(1);
        if self.untracked > MAX_UNTRACKED {
            return false;
        }
        let mut asked = path.to_vec();
        if facts.is_dir() {
            asked.push(b'/');
        }
        self.repo.inner.is_path_ignored(path_from_bytes(&asked)).unwrap_or(false)
    }

    fn is_newer(&self, facts: &Metadata) -> bool {
        let stat = files::stat(facts);
        stat.modified.0.max(stat.changed.0) >= self.since
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::scratch::Scratch;
    use std::os::unix::fs::MetadataExt as _;
    use std::time::{Duration, UNIX_EPOCH};

    /// By the clock of the file system.
    fn seconds() -> i64 {
        tempfile::tempfile().unwrap().metadata().unwrap().mtime()
    }

    /// What a command does is seen; what it does where git looks at nothing is not.
    #[test]
    fn what_is_written_is_seen_and_what_is_ignored_is_not() {
        let scratch = Scratch::new();
        for path in ["a", "d/b", "d/e/c", "untracked/x", "target/old"] {
            scratch.write(path, "1");
        }
        scratch.write(".gitignore", "target/\n*.log\n");
        scratch.git(&["add", ".gitignore", "a", "d"]);
        let since = seconds() + 2;
        std::thread::sleep(Duration::from_millis(3100));
        let is_written = || scratch.open().may_be_written_since(since);
        assert!(!is_written());
        scratch.write("target/new", "1");
        scratch.git(&["status"]);
        assert!(!is_written(), "ignored");
        type Deed = fn(&Scratch);
        let deeds: [(&str, Deed); 5] = [
            ("an edit", |scratch| scratch.write("d/e/c", "2")),
            ("an untracked file", |scratch| scratch.write("untracked/x", "2")),
            ("a new one", |scratch| scratch.write("d/new", "2")),
            ("a removed one", |scratch| std::fs::remove_file(scratch.path().join("d/b")).unwrap()),
            ("with an old time", |scratch| {
                let file = std::fs::File::options().write(true).open(scratch.path().join("a")).unwrap();
                file.set_modified(UNIX_EPOCH).unwrap();
            }),
        ];
        for (what, deed) in deeds {
            deed(&scratch);
            assert!(is_written(), "{what}");
            assert!(!scratch.open().may_be_written_since(seconds() + 3), "{what}, by then");
        }
    }

    #[test]
    fn what_is_not_known_may_be() {
        assert!(Scratch::new().open().may_be_written_since(i64::MAX), "no index yet");
        let scratch = Scratch::new();
        scratch.write("a", "1");
        scratch.git(&["add", "a"]);
        assert!(!scratch.open().may_be_written_since(i64::MAX));
        scratch.git(&["init", "-q", "inner"]);
        assert!(scratch.open().may_be_written_since(i64::MAX), "a repository inside");
    }
}
