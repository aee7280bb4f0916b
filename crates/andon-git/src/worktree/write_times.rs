//! A look for anything written since a given moment, by the times of files and directories alone. This takes a tenth of the
//! time of a comparison with HEAD, and tells whether a command of a turn changed the working tree.

use std::fs::{Metadata, read_dir};
use std::{collections::HashSet, num::NonZero, ops::Range, path::Path, thread};

use crate::index::entries::{self, Entries};
use crate::platform::paths::{bytes_of, path_from_bytes};
use crate::{Repo, objects::MODE_SUBMODULE, platform::files};

/// The clock of a file system may be a tick behind the system's, in seconds.
const BEHIND: i64 = 1;
/// Most paths whose ignore rules are asked for.
const MAX_ASKED: usize = 512;
/// Directories that are worth a thread.
const MANY: usize = 8;

/// One look at a working tree.
struct Scan<'r> {
    repo: &'r Repo,
    top: &'r Path,
    since: i64,
    /// The number of questions to the ignore rules.
    asked: usize,
    /// Files that were written and are ignored by the rules: the index may have them all the same.
    ignored: HashSet<Vec<u8>>,
}

/// The content of a directory: paths from the top, as git writes them.
#[derive(Default)]
struct Listing {
    dirs: Vec<Vec<u8>>,
    written: Vec<Vec<u8>>,
}

impl Repo {
    /// True when a file that git tracks, or would track, may have been written, made or removed since `since` (seconds of the
    /// Unix epoch). Also true where that is not known, as with submodules and a sparse index. Starts no process.
    pub fn may_be_written_since(&self, since: i64) -> bool {
        let since = since.saturating_sub(BEHIND);
        let (Some(top), Some(index)) = (self.workdir(), entries::read(&self.index_path())) else {
            return true;
        };
        let look = Scan { repo: self, top, since, asked: 0, ignored: HashSet::new() };
        look.finds_written(&index).unwrap_or(true)
    }
}

impl Scan<'_> {
    /// Level by level, the directories of a level side by side: to ask for the times of files is most of the work.
    fn finds_written(mut self, index: &[u8]) -> Option<bool> {
        let tracked = tracked_directories(index)?;
        let mut level = vec![Vec::new()];
        while !level.is_empty() {
            let listed = list_all(self.top, &level, self.since)?;
            level.clear();
            for Listing { dirs, written } in listed {
                for path in written {
                    if !self.is_ignored(&path)? {
                        return Some(true);
                    }
                    self.ignored.insert(path);
                }
                for dir in dirs {
                    if tracked.contains(&dir) || !self.is_ignored(&[&dir[..], b"/"].concat())? {
                        level.push(dir);
                    }
                }
            }
        }
        Some(self.has_ignored(index))
    }

    /// By the rules alone; `None` where they were asked too often.
    fn is_ignored(&mut self, path: &[u8]) -> Option<bool> {
        self.asked += 1;
        let asks = self.asked <= MAX_ASKED;
        asks.then(|| self.repo.inner.is_path_ignored(path_from_bytes(path)).unwrap_or(false))
    }

    /// True if the index has one of the ignored files.
    fn has_ignored(&self, index: &[u8]) -> bool {
        let mut found = false;
        if !self.ignored.is_empty() {
            entries::walk(index, &mut |entry| found |= self.ignored.contains(entry.path));
        }
        found
    }
}

/// The directories above the files of the index; `None` where it does not tell all of them.
fn tracked_directories(index: &[u8]) -> Option<HashSet<Vec<u8>>> {
    let (mut tracked, mut has_submodule) = (HashSet::new(), false);
    let mut last = Vec::new();
    let walked = entries::walk(index, &mut |entry| {
        has_submodule |= entry.mode == MODE_SUBMODULE;
        let mut above = &entry.path[..memchr::memrchr(b'/', entry.path).unwrap_or(0)];
        if above == last {
            return;
        }
        last.clear();
        last.extend_from_slice(above);
        while !above.is_empty() && tracked.insert(above.to_vec()) {
            above = &above[..memchr::memrchr(b'/', above).unwrap_or(0)];
        }
    });
    (walked == Some(Entries::All) && !has_submodule).then_some(tracked)
}

/// Lists `dirs`; `None` where one of them cannot be.
fn list_all(top: &Path, dirs: &[Vec<u8>], since: i64) -> Option<Vec<Listing>> {
    let list_part = |part: Range<usize>| dirs[part].iter().map(|dir| list(top, dir, since)).collect();
    let listed: Vec<Vec<Listing>> = side_by_side(dirs.len(), MANY, list_part)?;
    Some(listed.into_iter().flatten().collect())
}

/// Does `work` for each part of that many things, on several threads where there are enough of them for more than one.
pub(crate) fn side_by_side<T: Send>(
    count: usize,
    worth: usize,
    work: impl Fn(Range<usize>) -> Option<T> + Sync,
) -> Option<Vec<T>> {
    let threads = thread::available_parallelism().map_or(1, NonZero::get).min(count / worth).max(1);
    let part = |at: usize| at * count / threads..(at + 1) * count / threads;
    thread::scope(|scope| {
        let work = &work;
        let others: Vec<_> = (1..threads).map(|at| scope.spawn(move || work(part(at)))).collect();
        let mut done = vec![work(part(0))?];
        for other in others {
            done.push(other.join().ok()??);
        }
        Some(done)
    })
}

/// Lists `dir`. `None` for whatever is not known, which a directory that is new itself says (what was made, renamed or removed
/// in it shows there), and a repository inside.
fn list(top: &Path, dir: &[u8], since: i64) -> Option<Listing> {
    let path = top.join(path_from_bytes(dir));
    let is_newer = |facts: &Metadata| {
        let stat = files::stat(facts);
        stat.modified.0.max(stat.changed.0) >= since
    };
    if is_newer(&path.symlink_metadata().ok()?) {
        return None;
    }
    let mut listing = Listing::default();
    for entry in read_dir(&path).ok()? {
        let entry = entry.ok()?;
        let name = entry.file_name();
        if name == ".git" {
            if dir.is_empty() {
                continue;
            }
            return None;
        }
        let is_dir = entry.file_type().ok()?.is_dir();
        if !is_dir && !is_newer(&entry.metadata().ok()?) {
            continue;
        }
        let mut at = dir.to_vec();
        if !at.is_empty() {
            at.push(b'/');
        }
        at.extend_from_slice(&bytes_of(&name));
        if is_dir { listing.dirs.push(at) } else { listing.written.push(at) }
    }
    Some(listing)
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt as _;
    use std::time::{Duration, UNIX_EPOCH};

    use crate::testkit::Scratch;

    type Deed = fn(&Scratch);

    /// By the clock of the file system.
    fn seconds() -> i64 {
        let now = tempfile::tempfile().and_then(|file| file.metadata());
        now.map_or(0, |now| now.mtime())
    }

    /// A command's writes are seen, but not those where git looks at nothing.
    #[test]
    fn what_is_written_is_seen_and_what_is_ignored_is_not() {
        let scratch = Scratch::new();
        for path in ["a", "d/b", "d/e/c", "untracked/x", "target/old", "kept/a.log"] {
            scratch.write(path, "1");
        }
        // More than one thread has something to do.
        for number in 0..40 {
            scratch.write(&format!("many/{number}/f"), "1");
        }
        scratch.write(".gitignore", "target/\n*.log\nkept/\n");
        scratch.git(&["add", ".gitignore", "a", "d", "many"]);
        scratch.git(&["add", "-f", "kept"]);
        let since = seconds() + 2;
        std::thread::sleep(Duration::from_millis(3100));
        let is_written = || scratch.open().may_be_written_since(since);
        assert!(!is_written());
        scratch.write("target/new", "1");
        scratch.git(&["status"]);
        assert!(!is_written(), "ignored");
        let deeds: [(&str, Deed); 7] = [
            ("an edit", |scratch| scratch.write("d/e/c", "2")),
            ("one among many", |scratch| scratch.write("many/37/f", "2")),
            ("what is tracked and ignored", |scratch| scratch.write("kept/a.log", "2")),
            ("an untracked file", |scratch| scratch.write("untracked/x", "2")),
            ("a new one", |scratch| scratch.write("d/new", "2")),
            ("a removed one", |scratch| std::fs::remove_file(scratch.path().join("d/b")).expect("removed")),
            ("with an old time", |scratch| {
                let file = std::fs::File::options().write(true).open(scratch.path().join("a"));
                file.and_then(|file| file.set_modified(UNIX_EPOCH)).expect("an old time");
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
