//! Facts that no commit holds yet: `<git dir of the worktree>/andon/journal.jsonl`, one line each, append only.
//!
//! A line is one `write` on a file opened with `O_APPEND`, so that writers need no lock. A line that a dying process
//! left without its end is ended by the next writer; then only that line is lost. Beyond 1 MiB the file becomes the
//! next numbered generation (`journal.1.jsonl`, `journal.2.jsonl`, ...) and stays: a rename that never replaces, so
//! that writers that rotate at the same time lose nothing. Readers read from the end, at most 256 KiB, across
//! generations when the newest is short; what counts from the beginning of a run is folded once and kept together with
//! the place that the fold reached ([`super::totals`]), so that a hook reads only what came after that place and
//! nothing is left out.
//!
//! The file is not synced (see the head of [`crate`]).

mod recent;
mod tail;

use std::fs::{self, File, TryLockError};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::{thread, time::Duration};

use super::{RecordError, Result, file};
use crate::wire::v1::{MAX_LINE, encode_line};
use andon_core::domain::{AgentFact, Attempt, Diagnostic};

pub use crate::wire::v1::{JournalLine, Marker, Repair};
pub(super) use recent::passing;
pub use recent::{Reach, RecentFacts};
pub use tail::Position;

/// The range of one reading, in bytes from the end.
pub const TAIL: u64 = 256 << 10;
/// The same for attempts: some hundred of them.
const ATTEMPTS: u64 = 32 << 10;
/// Size in bytes beyond which the file becomes a generation.
pub const ROTATE_AT: u64 = 1 << 20;

/// The journal of one worktree.
#[derive(Debug, Clone)]
pub struct Journal {
    dir: PathBuf,
    name: &'static str,
}

/// The extents of the journals of a worktree: facts, attempts and what agents did. Each is the number of generations and the length
/// of the file, which never fall, whatever is appended.
pub fn extents(git_dir: &Path, common_dir: &Path) -> [(u64, u64); 3] {
    [Journal::open(git_dir), Journal::of_attempts(common_dir), Journal::of_agents(git_dir)]
        .map(|journal| (journal.generations().first().copied().unwrap_or(0), journal.size().unwrap_or(0)))
}

impl Journal {
    /// The journal in `git_dir`. Touches nothing.
    pub fn open(git_dir: &Path) -> Self {
        Self { dir: git_dir.join("andon"), name: "journal" }
    }

    /// Returns the journal of what the repository with `common_dir` remembers of the commits of all its worktrees, those that
    /// are gone too: `attempts.jsonl` there. Touches nothing.
    pub fn of_attempts(common_dir: &Path) -> Self {
        Self { dir: common_dir.join("andon"), name: "attempts" }
    }

    /// Returns the journal of the runs of all linked worktrees, those that are gone too: `runs.jsonl` in `common_dir`. Touches
    /// nothing.
    pub(crate) fn of_linked_runs(common_dir: &Path) -> Self {
        Self { dir: common_dir.join("andon"), name: "runs" }
    }

    /// Returns the journal of what the hooks of agents' clients did in this worktree: `agents.jsonl` in `git_dir`. Touches
    /// nothing.
    pub fn of_agents(git_dir: &Path) -> Self {
        Self { dir: git_dir.join("andon"), name: "agents" }
    }

    /// The newest facts of agents' hooks, oldest first. What cannot be read is none.
    pub fn agent_facts(&self) -> Vec<AgentFact> {
        let fact = |line| if let JournalLine::Agent(fact) = line { Some(*fact) } else { None };
        self.read_tail().0.into_iter().filter_map(fact).collect()
    }

    /// The newest attempts, oldest first. What cannot be read is no attempt.
    pub fn attempts(&self) -> Vec<Attempt> {
        let (lines, _) = self.read_back(ATTEMPTS);
        let attempt = |line| if let JournalLine::Attempt(made) = line { Some(*made) } else { None };
        lines.into_iter().filter_map(attempt).collect()
    }

    /// The directory in which it lies.
    pub(super) fn dir(&self) -> &Path {
        &self.dir
    }

    /// The file that is appended to.
    pub fn path(&self) -> PathBuf {
        self.dir.join(format!("{}.jsonl", self.name))
    }

    /// Returns the length of the file, in bytes.
    pub fn size(&self) -> Option<u64> {
        fs::metadata(self.path()).ok().map(|meta| meta.len())
    }

    fn generation(&self, number: u64) -> PathBuf {
        self.dir.join(format!("{}.{number}.jsonl", self.name))
    }

    /// Numbers of the generations, newest first.
    fn generations(&self) -> Vec<u64> {
        let Ok(entries) = fs::read_dir(&self.dir) else { return Vec::new() };
        let mut numbers: Vec<u64> = entries
            .filter_map(|entry| {
                let name = entry.ok()?.file_name();
                let rest = name.to_str()?.strip_prefix(self.name)?.strip_prefix('.')?;
                rest.strip_suffix(".jsonl")?.parse().ok()
            })
            .collect();
        numbers.sort_unstable_by(|a, b| b.cmp(a));
        numbers
    }

    /// The error of the file where nothing may be appended to it.
    pub fn denied(&self) -> Option<RecordError> {
        let path = self.path();
        let source = file::open_append(&path).err()?;
        let denied =
            matches!(source.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem);
        denied.then_some(RecordError::Io { doing: "append to", path, source })
    }

    /// Appends one fact. A run in a linked worktree is kept beside it too: it is worth as much once the worktree is removed.
    ///
    /// # Errors
    /// [`RecordError::Io`] naming the file; then the fact is not in it, or as a broken line.
    pub fn append(&self, line: &JournalLine) -> Result<()> {
        let linked = self.dir.parent().filter(|git_dir| git_dir.join("commondir").exists());
        if let (JournalLine::TestRun(_), Some(common_dir)) =
            (line, linked.and_then(|dir| dir.parent()?.parent()))
        {
            Self::of_linked_runs(common_dir).append(line)?;
        }
        let path = self.path();
        self.write(&path, line).map_err(|source| RecordError::Io { doing: "append to", path, source })
    }

    fn write(&self, path: &Path, line: &JournalLine) -> io::Result<()> {
        let mut file = file::open_append(path)?;
        let mut len = file.metadata()?.len();
        if len > ROTATE_AT {
            self.rotate(path);
            file = file::open_append(path)?;
            len = file.metadata()?.len();
        }
        let mut text = encode_line(line);
        if text.len() > MAX_LINE {
            return Err(io::Error::other(format!("a line of {} bytes", text.len())));
        }
        if len > 0 && !ends_well(&mut file)? {
            text.insert(0, '\n');
        }
        let written = loop {
            match file.write(text.as_bytes()) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => break result?,
            }
        };
        if written == text.len() { Ok(()) } else { Err(io::ErrorKind::WriteZero.into()) }
    }

    /// Makes the file the next generation. A failure does no harm: the file grows a little further, and the next
    /// writer tries again.
    fn rotate(&self, path: &Path) {
        let next = self.generations().first().map_or(1, |newest| newest.saturating_add(1));
        let Ok(mut source) = tempfile::TempPath::try_from_path(path) else { return };
        source.disable_cleanup(true);
        let _ = source.persist_noclobber(self.generation(next));
    }

    /// The newest facts, oldest first, and what had to be skipped. No journal is an empty one.
    pub fn read_tail(&self) -> (Vec<JournalLine>, Vec<Diagnostic>) {
        self.read_back(TAIL)
    }

    /// As [`Self::read_tail`], but `max` bytes of it.
    pub fn read_back(&self, max: u64) -> (Vec<JournalLine>, Vec<Diagnostic>) {
        let mut parts = vec![tail::read(&self.path(), max)];
        let mut left = max.saturating_sub(parts[0].bytes);
        if left > 0 && self.is_rotated() {
            for number in self.generations() {
                let part = tail::read(&self.generation(number), left);
                left = left.saturating_sub(part.bytes);
                parts.push(part);
                if left == 0 {
                    break;
                }
            }
        }
        let (mut lines, mut warnings) = (Vec::new(), Vec::new());
        for part in parts.into_iter().rev() {
            lines.extend(part.lines);
            warnings.extend(part.warnings);
        }
        (lines, warnings)
    }
}

/// The pauses for a line that another writer may be putting there at this moment, 50 ms in all. It costs that once where a
/// process died at its line.
const END_TRIES: u32 = 50;

/// Returns whether the last line has its end. Another's `write` is seen in parts: its end comes within a moment.
fn ends_well(file: &mut fs::File) -> io::Result<bool> {
    let mut last = [0];
    for _ in 0..END_TRIES {
        file.seek(SeekFrom::End(-1))?;
        // A file that shrank meanwhile was not written by us: end the line, whatever it is.
        if file.read(&mut last)? == 1 && last[0] == b'\n' {
            return Ok(true);
        }
        thread::sleep(Duration::from_millis(1));
    }
    Ok(false)
}

/// The number of tries, and the pause in between: a second in all at most, because a client waits.
const LOCK_TRIES: u32 = 250;
const PAUSE: Duration = Duration::from_millis(4);

/// While this lives no other process has one of the same journal. It ends with its process, too.
#[derive(Debug)]
pub struct JournalLock {
    _locked: File,
}

impl Journal {
    /// Waits for the others. `None` where that took too long, or the file system has no locks: the caller then
    /// continues without.
    pub fn alone(&self) -> Option<JournalLock> {
        let locked = file::open_append(&self.dir.join(format!("{}.lock", self.name))).ok()?;
        for _ in 0..LOCK_TRIES {
            match locked.try_lock() {
                Ok(()) => return Some(JournalLock { _locked: locked }),
                Err(TryLockError::WouldBlock) => thread::sleep(PAUSE),
                Err(TryLockError::Error(_)) => return None,
            }
        }
        None
    }
}

#[cfg(test)]
mod tests;
