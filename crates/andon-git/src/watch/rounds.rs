//! Empties the kernel's queue while the tests run, and looks at contents that stand.
//!
//! Ten times a second, so that the queue does not run over, and so that a content which is there for a while is
//! seen. What counts is a content that a file was closed with or that was moved there, and to which nothing happened
//! for a whole round: a file that is being written, or that is gone while it is made anew, is none.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use nix::errno::Errno;
use nix::sys::inotify::{AddWatchFlags, Inotify, InotifyEvent, WatchDescriptor};

use super::observed::{self, Digest};

/// How often.
const ROUND: Duration = Duration::from_millis(100);
/// Most names that are remembered; beyond, the whole look is cheaper than many small ones.
const MAX_NAMES: usize = 4096;
/// Most reads of the queue in one round, some dozens of events each: whoever writes faster than that never ends.
const MAX_READS: usize = 10_000;
/// Most contents that are remembered of a file.
const MAX_CONTENTS: usize = 4;

/// What happened to a name.
#[derive(Debug, Default)]
pub(super) struct Name {
    /// Whether it is or was a directory.
    pub(super) kind: Kind,
    /// The contents that stood there for a while.
    pub(super) observed: BTreeSet<Digest>,
    /// The round in which something last happened to it.
    round: u64,
    left: Left,
}

/// What a name stands for.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    #[default]
    File,
    Directory,
}

/// What the last that happened to a file left there.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Left {
    #[default]
    Unfinished,
    /// A content that somebody closed the file with; not looked at yet.
    Whole,
}

/// Paths from the top, each with what happened to it.
pub(super) type Names = BTreeMap<Vec<u8>, Name>;

/// The kernel did not tell everything, or told that more changed than single paths can answer for.
struct Uncertain;

/// Goes round until the other end of `ended` is dropped.
pub(super) fn until(rounds: &Mutex<Rounds>, ended: &Receiver<()>) {
    while ended.recv_timeout(ROUND) == Err(RecvTimeoutError::Timeout) {
        let Ok(mut rounds) = rounds.lock() else { return };
        if rounds.go().is_none() {
            return;
        }
    }
}

/// The rounds of one watch.
#[derive(Debug)]
pub(super) struct Rounds {
    inotify: Inotify,
    watched: BTreeMap<WatchDescriptor, Vec<u8>>,
    top: PathBuf,
    names: Names,
    round: u64,
    /// Bytes that may still be hashed.
    budget: u64,
    /// Gone once something was not told.
    certain: Option<()>,
}

impl Rounds {
    pub(super) fn new(inotify: Inotify, watched: BTreeMap<WatchDescriptor, Vec<u8>>, top: PathBuf) -> Self {
        Self {
            inotify,
            watched,
            top,
            names: Names::new(),
            round: 0,
            budget: observed::BUDGET,
            certain: Some(()),
        }
    }

    /// Takes what has come to the end, and says what happened; `None` where that is not certain.
    pub(super) fn last(&mut self) -> Option<Names> {
        self.round += 1;
        self.read().ok()?;
        self.certain.map(|()| std::mem::take(&mut self.names))
    }

    /// One round; `None` when nothing more can be certain.
    fn go(&mut self) -> Option<()> {
        self.round += 1;
        self.certain = self.read().and_then(|()| self.look()).ok();
        self.certain
    }

    /// Takes what the kernel has to tell.
    fn read(&mut self) -> Result<(), Uncertain> {
        for _ in 0..MAX_READS {
            match self.inotify.read_events() {
                Ok(events) => events.into_iter().try_for_each(|event| self.take(&event))?,
                Err(Errno::EAGAIN) => return Ok(()),
                Err(Errno::EINTR) => {}
                Err(_) => return Err(Uncertain),
            }
        }
        Err(Uncertain)
    }

    fn take(&mut self, event: &InotifyEvent) -> Result<(), Uncertain> {
        let has = |flags| event.mask.intersects(flags);
        if has(AddWatchFlags::IN_Q_OVERFLOW | AddWatchFlags::IN_UNMOUNT) {
            return Err(Uncertain);
        }
        if has(AddWatchFlags::IN_IGNORED) {
            return Ok(());
        }
        let directory = self.watched.get(&event.wd).ok_or(Uncertain)?;
        let path = match &event.name {
            Some(name) if directory.is_empty() && name.as_bytes() == b".git" => return Ok(()),
            // They decide over other paths than their own.
            Some(name) if matches!(name.as_bytes(), b".git" | b".gitignore" | b".gitattributes") => {
                return Err(Uncertain);
            }
            Some(name) if directory.is_empty() => name.as_bytes().to_vec(),
            Some(name) => [directory.as_slice(), b"/", name.as_bytes()].concat(),
            // The directory itself; the top has none above it to tell what became of it.
            None if has(AddWatchFlags::IN_DELETE_SELF | AddWatchFlags::IN_MOVE_SELF)
                && directory.is_empty() =>
            {
                return Err(Uncertain);
            }
            None if directory.is_empty() => return Ok(()),
            None => directory.clone(),
        };
        let own = self.watched.get(&event.wd).is_some_and(|directory| *directory == path);
        let room = self.names.len() < MAX_NAMES;
        if !room && !self.names.contains_key(&path) {
            return Err(Uncertain);
        }
        let name = self.names.entry(path).or_default();
        if own || has(AddWatchFlags::IN_ISDIR) {
            name.kind = Kind::Directory;
        }
        name.round = self.round;
        if has(AddWatchFlags::IN_CLOSE_WRITE | AddWatchFlags::IN_MOVED_TO) {
            name.left = Left::Whole;
        } else if !has(AddWatchFlags::IN_ATTRIB) {
            name.left = Left::Unfinished;
        }
        Ok(())
    }

    /// Hashes what has stood since the round before. What changed meanwhile, after all, does not count.
    fn look(&mut self) -> Result<(), Uncertain> {
        let mut seen: Vec<(Vec<u8>, Digest)> = Vec::new();
        for (path, name) in &mut self.names {
            if name.left == Left::Whole && name.round < self.round && name.observed.len() < MAX_CONTENTS {
                name.left = Left::Unfinished;
                seen.extend(
                    observed::digest(&self.top, path, &mut self.budget).map(|digest| (path.clone(), digest)),
                );
            }
        }
        if seen.is_empty() {
            return Ok(());
        }
        self.round += 1;
        self.read()?;
        for (path, digest) in seen {
            if let Some(name) = self.names.get_mut(&path).filter(|name| name.round < self.round) {
                name.observed.insert(digest);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::path::Path;

    use nix::sys::inotify::InitFlags;
    use sha2::Digest as _;

    use super::super::EVENTS;
    use super::*;

    fn rounds(top: &Path) -> Rounds {
        let inotify = Inotify::init(InitFlags::IN_CLOEXEC | InitFlags::IN_NONBLOCK).unwrap();
        let descriptor = inotify.add_watch(top, EVENTS).unwrap();
        Rounds::new(inotify, BTreeMap::from([(descriptor, Vec::new())]), top.to_path_buf())
    }

    fn round(rounds: &mut Rounds) {
        rounds.round += 1;
        assert!(rounds.go().is_some());
    }

    /// The contents that `change`, which may let rounds pass, made stand for a while.
    fn stood(change: impl Fn(&Path, &mut dyn FnMut())) -> BTreeSet<Digest> {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a");
        std::fs::write(&file, "one").unwrap();
        let mut rounds = rounds(dir.path());
        change(&file, &mut || round(&mut rounds));
        round(&mut rounds);
        round(&mut rounds);
        rounds.names.remove(b"a".as_slice()).unwrap().observed
    }

    type Case = (&'static str, fn(&Path, &mut dyn FnMut()), &'static [&'static str]);

    fn assert_stood(cases: &[Case]) {
        for (name, change, expected) in cases {
            let expected = expected.iter().map(|text| sha2::Sha256::digest(text).into()).collect();
            assert_eq!(stood(change), expected, "{name}");
        }
    }

    #[test]
    fn contents_that_stand_are_seen() {
        let cases: [Case; 3] = [
            (
                "an edit that is undone",
                |file, pass| {
                    std::fs::write(file, "two").unwrap();
                    pass();
                    pass();
                    std::fs::write(file, "one").unwrap();
                },
                &["one", "two"],
            ),
            (
                "an edit that is undone at once",
                |file, _| {
                    std::fs::write(file, "two").unwrap();
                    std::fs::write(file, "one").unwrap();
                },
                &["one"],
            ),
            (
                "replaced by rename, and back",
                |file, pass| {
                    let other = file.with_file_name("b");
                    std::fs::write(&other, "two").unwrap();
                    std::fs::rename(&other, file).unwrap();
                    pass();
                    pass();
                    std::fs::write(&other, "one").unwrap();
                    std::fs::rename(&other, file).unwrap();
                },
                &["one", "two"],
            ),
        ];
        assert_stood(&cases);
    }

    #[test]
    fn unfinished_and_equal_contents_are_none() {
        let cases: [Case; 4] = [
            (
                "the same again",
                |file, pass| {
                    std::fs::write(file, "one").unwrap();
                    pass();
                    pass();
                    std::fs::write(file, "one").unwrap();
                },
                &["one"],
            ),
            (
                "the same again, slowly",
                |file, pass| {
                    let mut open = std::fs::File::create(file).unwrap();
                    pass();
                    pass();
                    open.write_all(b"on").unwrap();
                    pass();
                    pass();
                    open.write_all(b"e").unwrap();
                },
                &["one"],
            ),
            (
                "gone and made anew",
                |file, pass| {
                    std::fs::remove_file(file).unwrap();
                    pass();
                    pass();
                    std::fs::write(file, "one").unwrap();
                },
                &["one"],
            ),
            (
                "a touch",
                |file, pass| {
                    std::fs::File::options()
                        .append(true)
                        .open(file)
                        .unwrap()
                        .set_modified(std::time::UNIX_EPOCH)
                        .unwrap();
                    pass();
                },
                &["one"],
            ),
        ];
        assert_stood(&cases);
    }

    #[test]
    fn what_it_remembers_is_bounded() {
        let dir = tempfile::tempdir().unwrap();
        let mut rounds = rounds(dir.path());
        for number in 0..=MAX_NAMES {
            std::fs::write(dir.path().join(number.to_string()), "x").unwrap();
        }
        assert!(rounds.read().is_err());
        assert!(rounds.names.len() <= MAX_NAMES);
    }

    #[test]
    fn a_queue_that_ran_over_is_no_answer() {
        let dir = tempfile::tempdir().unwrap();
        let files = ["a", "b"].map(|name| std::fs::File::create(dir.path().join(name)).unwrap());
        let mut rounds = rounds(dir.path());
        let most: usize = std::fs::read_to_string("/proc/sys/fs/inotify/max_queued_events")
            .unwrap()
            .trim()
            .parse()
            .unwrap();
        // The same event twice running is one: the files take turns.
        for file in files.iter().cycle().take(most + 10) {
            file.set_modified(std::time::UNIX_EPOCH).unwrap();
        }
        assert!(rounds.go().is_none());
        assert!(rounds.last().is_none(), "it is not forgotten");
    }
}
