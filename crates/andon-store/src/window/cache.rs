//! The last window, kept in the worktree's git directory under the two ids that it depends on. Where others have moved
//! the notes since, it serves as long as the notes of its own commits are as they were: with many writers on one store
//! that is nearly always. Safe to delete.
//!
//! Two entries ([`crate::wire::envelope`]): how the window was judged, and its commits. Bytes after them are of a
//! window that was longer. The file is written over in place: the first entry is in its first block and valid by
//! itself, whatever happened to the rest.

use serde::{Deserialize, Serialize};

use super::{UnrecordedCommit, Window};
use crate::memory::{Kind, Memory};
use crate::wire::envelope::{self, Row};
use crate::{file, notes::REF};
use andon_core::domain::facts::CommitFact;
use andon_core::domain::ids::{CommitId, Digest};
use andon_git::Repo;

/// The first entry is shorter.
const MAX_START: usize = 512;

/// The inputs of a window.
pub(super) struct Key {
    /// The newest commit.
    pub(super) head: CommitId,
    /// The notes commit.
    pub(super) tip: Option<CommitId>,
    /// The number of records that were asked for.
    pub(super) max: usize,
}

impl Key {
    fn start(&self) -> envelope::Key {
        envelope::Key::new(&("window of unrecorded commits too", self.head, self.max))
    }

    /// The key of the commits of the window that was kept at `tip`.
    fn facts(&self, tip: CommitId) -> envelope::Key {
        envelope::Key::new(&("facts", self.head, self.max, tip))
    }
}

/// The first entry.
#[derive(Serialize, Deserialize)]
struct Start {
    /// The notes commit then.
    tip: CommitId,
    /// The length of the journal when no halt was found to be owed.
    settled: Option<u64>,
    /// The digest of the newest record's line.
    newest: Option<Digest>,
}

/// True if the window that was kept under the tip `old` still holds: its commits have the notes that they had.
fn holds(repo: &Repo, key: &Key, old: CommitId, window: &Window) -> bool {
    let Some(new) = key.tip else { return false };
    let unrecorded = window.unrecorded.iter().map(|one| one.commit);
    let commits = window.facts.iter().filter_map(|fact| fact.id).chain(unrecorded);
    old == new || repo.same_notes(REF, old, new, commits).unwrap_or(false)
}

/// The window under `key`, if that is what is kept.
pub(super) fn read(repo: &Repo, key: &Key) -> Option<Window> {
    let (old, window) = cached(repo, key)?;
    holds(repo, key, old, &window).then_some(window)
}

/// The window behind the commit of `key`, and the tip of the notes then.
fn cached(repo: &Repo, key: &Key) -> Option<(CommitId, Window)> {
    let bytes = Memory::new(repo, Kind::Window).bytes()?;
    let Start { tip, newest, .. } = envelope::open(key.start(), &bytes)?;
    let (found, place) = Row::new(&bytes, bytes.len()).nth(1)?;
    let (facts, unrecorded, below): (Vec<CommitFact>, Vec<UnrecordedCommit>, Option<CommitId>) =
        (found == key.facts(tip)).then(|| envelope::decoded(&bytes[place]))??;
    Some((tip, Window { facts, newest, warnings: Vec::new(), unrecorded, below }))
}

/// Returns the length of the journal when the window under `key` was judged and no halt was owed; `None` when that is not
/// known. Reads the first entry only, unless the notes have moved.
pub(super) fn settled(repo: &Repo, key: &Key) -> Option<u64> {
    let bytes = file::read_start(Memory::new(repo, Kind::Window).path(), MAX_START).ok()??;
    let start: Start = envelope::open(key.start(), &bytes)?;
    let same = Some(start.tip) == key.tip
        || cached(repo, key).is_some_and(|(old, window)| holds(repo, key, old, &window));
    start.settled.filter(|_| same)
}

/// Keeps `window` under `key`; a failure only costs time.
pub(super) fn write(repo: &Repo, key: &Key, window: &Window, settled: Option<u64>) {
    let Some(tip) = key.tip else { return };
    let start = Start { tip, settled, newest: window.newest };
    let mut bytes = envelope::seal(key.start(), &start);
    bytes.extend(envelope::seal(key.facts(tip), &(&window.facts, &window.unrecorded, window.below)));
    let _ = file::overwrite(Memory::new(repo, Kind::Window).path(), &bytes);
}
