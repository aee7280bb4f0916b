//! The newest stretch of recorded commits: all that the rules look at, however long history is.

use serde::{Deserialize, Serialize};

use super::{NotesStore, RecordError, file, notes::REF, skipped_note};
use crate::wire::v1::{as_written, line_digest};
use crate::{Memory, Row, memory::Kind, wire::envelope};
use andon_core::domain::{CommitFact, CommitId, Diagnostic, Digest, Recording};
use andon_git::Repo;

/// The records and commits of a walk along first parents.
#[derive(Debug, Default, Clone)]
pub struct Window {
    /// The recorded commits, oldest first.
    pub facts: Vec<CommitFact>,
    /// The digest of the newest one's line; `None` where its note is to be asked.
    newest: Option<Digest>,
    /// Warnings about an early end of the walk, and about skipped records.
    pub warnings: Vec<Diagnostic>,
    /// The commits without a record that the walk crossed, oldest first: nothing is known of them, so they prove
    /// nothing and reset nothing.
    pub unrecorded: Vec<UnrecordedCommit>,
    /// The parent of the oldest commit of the walk; `None` for a root, and where nothing was walked.
    pub below: Option<CommitId>,
}

/// Most commits without a record that a walk crosses.
pub const MAX_UNRECORDED: usize = 128;

/// Most of those that are looked at below the first commit of a run: attempts that were moved since may build on them.
const MAX_BELOW: usize = 16;

/// A commit without a record: a colleague's, a bot's, or one that a tool made without hooks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnrecordedCommit {
    /// The number of the window's facts that are older.
    pub after: usize,
    pub commit: CommitId,
    /// Its further parents: what a merge brought in.
    pub merged: Vec<CommitId>,
}

/// Reads at most `max` records, from `head` along first parents. The last answer is kept by HEAD and holds as long as
/// neither HEAD nor the notes of its commits have moved: a walk costs some hundred objects. The walk ends at a record
/// that starts a window (`iteration` 1, included), at a backfilled one, at a commit that is not there (shallow clones),
/// and at the root. It crosses commits without a record, at most [`MAX_UNRECORDED`]. An unreadable record is skipped,
/// with a warning: breaking one must not start a new window.
pub fn read_window(repo: &Repo, store: &NotesStore<'_>, head: Option<CommitId>, max: usize) -> Window {
    let Some(id) = head else { return Window::default() };
    let kept = remembered(repo, &WindowKey { head: id, tip: store.tip(), max });
    // A record that came from another clone since may be older than the first one that was known here.
    let is_behind = |first: &CommitFact| {
        first.record.knew_nothing() && first.record.parent.is_some_and(|id| matches!(store.has(id), Ok(true)))
    };
    if let Some(window) = kept.filter(|window| !window.facts.first().is_some_and(is_behind)) {
        return window;
    }
    let window = walk(repo, store, head, max);
    remember(repo, store, id, &window, WindowVerdict { max, settled: None });
    window
}

/// The same of a commit that is not HEAD, for which nothing is kept.
pub fn read_apart(repo: &Repo, store: &NotesStore<'_>, commit: CommitId, max: usize) -> Window {
    walk(repo, store, Some(commit), max)
}

/// The verdict on a window.
#[derive(Debug, Clone, Copy)]
pub struct WindowVerdict {
    /// The number of records that were asked for.
    pub max: usize,
    /// The length of the journal when no halt was found to be owed; `None` when that was not asked, or one is.
    pub settled: Option<u64>,
}

/// Returns the length of the journal, in bytes, when the window behind `head` was judged and no halt was owed. `None` when HEAD
/// or the notes of the window have moved since, or it was not judged.
pub fn settled(repo: &Repo, head: CommitId, max: usize) -> Option<u64> {
    let key = WindowKey { head, tip: repo.ref_target(REF).ok()?.map(CommitId), max };
    // The first entry is enough, unless the notes have moved.
    let bytes = file::read_start(Memory::new(repo, Kind::WINDOW).path(), MAX_START).ok()??;
    let start: Start = envelope::open(key.start(), &bytes)?;
    let same = Some(start.tip) == key.tip
        || cached(repo, &key).is_some_and(|(old, window)| holds(repo, &key, old, &window));
    start.settled.filter(|_| same)
}

/// The notes commit at which the last window was kept, whatever it was of.
pub(crate) fn last_tip(repo: &Repo) -> Option<CommitId> {
    let bytes = file::read_start(Memory::new(repo, Kind::WINDOW).path(), MAX_START).ok()??;
    let (_, place) = Row::new(&bytes, bytes.len()).next()?;
    Some(envelope::decoded::<Start>(&bytes[place])?.tip)
}

/// Keeps the window behind `head` for the next reader. One that was read with warnings is not kept: they must be
/// said each time. That it cannot be written only costs time.
pub fn remember(repo: &Repo, store: &NotesStore<'_>, head: CommitId, window: &Window, judged: WindowVerdict) {
    let Some(tip) = store.tip() else { return };
    if window.warnings.is_empty() && window.facts.last().is_some_and(|newest| newest.id == Some(head)) {
        let key = WindowKey { head, tip: Some(tip), max: judged.max };
        let start = Start { tip, settled: judged.settled, newest: window.newest };
        let mut bytes = envelope::seal(key.start(), &start);
        bytes.extend(envelope::seal(key.facts(tip), &(&window.facts, &window.unrecorded, window.below)));
        let _ = file::overwrite(Memory::new(repo, Kind::WINDOW).path(), &bytes);
    }
}

impl Window {
    /// The commits of the walk, oldest first, each with how many facts are older.
    pub fn walked(&self) -> Vec<(usize, CommitId)> {
        let mut crossed = self.unrecorded.iter().peekable();
        let mut walked = Vec::with_capacity(self.facts.len() + self.unrecorded.len());
        for (older, fact) in self.facts.iter().enumerate() {
            while let Some(one) = crossed.next_if(|one| one.after <= older) {
                walked.push((older, one.commit));
            }
            walked.extend(fact.id.map(|id| (older, id)));
        }
        walked.extend(crossed.map(|one| (self.facts.len(), one.commit)));
        walked
    }

    /// The digest of the line of `commit`, which the record of a child names; `None` where its note is to be asked.
    pub fn line_of(&self, commit: CommitId) -> Option<Digest> {
        self.newest.filter(|_| self.facts.last().is_some_and(|newest| newest.id == Some(commit)))
    }

    /// The window behind a commit whose parent's window this is. `line` is its record's, where that is all that its note
    /// holds.
    #[must_use]
    pub fn followed_by(mut self, fact: CommitFact, line: Option<&[u8]>, max: usize) -> Self {
        // As a reader of the note would have it: what is beyond a bound of the format is cut there.
        let record = as_written(fact.record, line);
        self.newest = line.map(line_digest);
        let fact = CommitFact { record, ..fact };
        if fact.record.iteration <= 1 {
            self.begin_anew();
        }
        if self.facts.is_empty() && self.unrecorded.is_empty() {
            self.below = fact.record.parent;
        }
        self.facts.push(fact);
        let surplus = self.facts.len().saturating_sub(max);
        self.facts.drain(..surplus);
        if self.facts.len() >= max {
            self.unrecorded.retain(|one| one.after > surplus);
            self.below = self.facts.first().and_then(|oldest| oldest.record.parent);
        }
        for one in &mut self.unrecorded {
            one.after = one.after.saturating_sub(surplus);
        }
        self
    }
}

impl Window {
    /// A run begins: of what was there only the commits without a record right below it are looked at.
    fn begin_anew(&mut self) {
        let newest = self.facts.last().and_then(|fact| fact.id);
        let recorded = self.facts.len();
        self.facts.clear();
        self.unrecorded.retain(|one| one.after == recorded);
        self.below = newest.or(self.below);
        let surplus = self.unrecorded.len().saturating_sub(MAX_BELOW);
        if let Some(last) = self.unrecorded.drain(..surplus).next_back() {
            self.below = Some(last.commit);
        }
        for one in &mut self.unrecorded {
            one.after = 0;
        }
    }
}

fn walk(repo: &Repo, store: &NotesStore<'_>, head: Option<CommitId>, max: usize) -> Window {
    let mut window = Window::default();
    // Nothing was ever recorded: there is nothing to look for behind the commits of others.
    if store.tip().is_none() {
        return window;
    }
    let mut next = head;
    let mut looked_at = 0;
    while let Some(id) = next.filter(|_| looked_at < max && window.unrecorded.len() < MAX_UNRECORDED) {
        let stored = match store.get(id) {
            // A record of `andon backfill` is from a time without hooks: the window does not reach there.
            Ok(Some(stored)) if stored.record.recording == Recording::Backfilled => break,
            Ok(found) => {
                looked_at += usize::from(found.is_some());
                Some(found)
            }
            Err(error) => {
                looked_at += 1;
                window.warnings.push(unreadable(id, &error));
                None
            }
        };
        let info = match repo.commit(id) {
            Ok(info) => info,
            Err(error) => {
                window.warnings.push(skipped_note(id, 1, error.to_string()).helps(error.help()));
                break;
            }
        };
        next = info.parents.first().copied();
        window.below = next;
        let Some(stored) = stored else { continue };
        let Some(stored) = stored else {
            let merged = info.parents.into_iter().skip(1).collect();
            window.unrecorded.push(UnrecordedCommit { after: window.facts.len(), commit: id, merged });
            continue;
        };
        window.warnings.extend(stored.warnings);
        if Some(id) == head {
            window.newest = Some(stored.line_digest);
        }
        let is_told =
            stored.record.knew_nothing() && next.is_some_and(|id| matches!(store.has(id), Ok(true)));
        let starts = stored.record.iteration <= 1 && !is_told;
        window.facts.push(info.fact(stored.record));
        if starts {
            look_below(repo, store, &mut window);
            break;
        }
    }
    window.facts.reverse();
    window.unrecorded.reverse();
    for one in &mut window.unrecorded {
        // Counted from the newest one so far.
        one.after = window.facts.len() - one.after;
    }
    window
}

/// The commits without a record below the first commit of a run, up to the next that has one.
fn look_below(repo: &Repo, store: &NotesStore<'_>, window: &mut Window) {
    for _ in 0..MAX_BELOW {
        let Some(id) = window.below.filter(|id| matches!(store.has(*id), Ok(false))) else { return };
        let Ok(info) = repo.commit(id) else { return };
        window.below = info.parents.first().copied();
        let merged = info.parents.into_iter().skip(1).collect();
        window.unrecorded.push(UnrecordedCommit { after: window.facts.len(), commit: id, merged });
    }
}

/// The warning names the commit; the error would name it again.
fn unreadable(commit: CommitId, error: &RecordError) -> Diagnostic {
    let why = if let RecordError::Unreadable { source, .. } = error {
        format!("unreadable record: {source}")
    } else {
        error.to_string()
    };
    skipped_note(commit, 1, why).helps(error.help())
}

// The last window, kept in the worktree's git directory under the two ids that it depends on. Where others have moved
// the notes since, it serves as long as the notes of its own commits are as they were: with many writers on one store
// that is nearly always. Safe to delete.
//
// Two entries ([`crate::wire::envelope`]): how the window was judged, and its commits. Bytes after them are of a
// window that was longer. The file is written over in place: the first entry is in its first block and valid by
// itself, whatever happened to the rest.

/// The first entry is shorter.
const MAX_START: usize = 512;

/// The inputs of a window.
struct WindowKey {
    /// The newest commit.
    head: CommitId,
    /// The notes commit.
    tip: Option<CommitId>,
    /// The number of records that were asked for.
    max: usize,
}

impl WindowKey {
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
fn holds(repo: &Repo, key: &WindowKey, old: CommitId, window: &Window) -> bool {
    let Some(new) = key.tip else { return false };
    let unrecorded = window.unrecorded.iter().map(|one| one.commit);
    let commits = window.facts.iter().filter_map(|fact| fact.id).chain(unrecorded);
    old == new || repo.same_notes(REF, old, new, commits).unwrap_or(false)
}

/// The window under `key`, if that is what is kept.
fn remembered(repo: &Repo, key: &WindowKey) -> Option<Window> {
    let (old, window) = cached(repo, key)?;
    holds(repo, key, old, &window).then_some(window)
}

/// The window behind the commit of `key`, and the tip of the notes then.
fn cached(repo: &Repo, key: &WindowKey) -> Option<(CommitId, Window)> {
    let bytes = Memory::new(repo, Kind::WINDOW).bytes()?;
    let Start { tip, newest, .. } = envelope::open(key.start(), &bytes)?;
    let (found, place) = Row::new(&bytes, bytes.len()).nth(1)?;
    let (facts, unrecorded, below): (Vec<CommitFact>, Vec<UnrecordedCommit>, Option<CommitId>) =
        (found == key.facts(tip)).then(|| envelope::decoded(&bytes[place]))??;
    Some((tip, Window { facts, newest, warnings: Vec::new(), unrecorded, below }))
}
