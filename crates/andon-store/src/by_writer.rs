//! Records on the way between clones. At a remote each clone has a ref of its own, which no other clone writes: so no
//! push is ever refused because another was faster. `refs/notes/andon`, the union of all writers, is what people and
//! hooks read; it stays in the clone.
//!
//! The ref of a writer has the records that were written in its clone, commit by commit, and those that a remote was
//! found to lack. A record too many costs only bytes, because the writer of a line does not matter in a union; a
//! missing record would be lost. So where it is unknown what a remote has, everything is compared.

use std::collections::{BTreeMap, BTreeSet};

use super::RecordError;
use super::unite::{joined, note_to_keep};
use crate::wire::NOTES_REF;
use crate::wire::v1::decode_commit;
use andon_core::domain::ids::CommitId;
use andon_core::domain::time::Timestamp;
use andon_git::{GitError, NotesToJoin, Repo};

/// Where the refs of writers are, here and at a remote.
pub const PREFIX: &str = "refs/andon/records/";
/// Where those of remotes are kept here: `<remote>/<writer>` below it. Not below `refs/andon/remote/`, which each hook
/// looks into.
pub const REMOTE_PREFIX: &str = "refs/andon/remote-records/";
/// Most commits of notes that are carried over one by one; of more the history itself goes along.
const MAX_CARRIED: usize = 256;

/// Notes of several writers; `None` for a note that was removed and that no other of them has.
pub type UnitedNotes = BTreeMap<CommitId, Option<Vec<u8>>>;

/// Adds a note to those that are there.
pub fn line_up(lines: &mut UnitedNotes, commit: CommitId, note: Option<&[u8]>) {
    let there = lines.entry(commit).or_default();
    if let Some(note) = note {
        *there = Some(there.as_ref().map_or_else(|| note.to_vec(), |before| joined(before, note)));
    }
}

/// What writers have that was not taken in before.
#[derive(Debug, Default)]
pub struct WriterNews {
    /// The lines of all of them.
    pub notes: UnitedNotes,
    /// The commits that they point to.
    pub tips: Vec<CommitId>,
    /// Notes too large to be records, by writer.
    pub too_large: Vec<(String, CommitId)>,
    /// Writers whose records could not be read.
    pub unread: Vec<(String, GitError)>,
}

impl WriterNews {
    /// Adds what `writer` has at `tip` and had not at `known`.
    pub fn add(&mut self, repo: &Repo, writer: &str, known: Option<CommitId>, tip: CommitId) {
        let known = known.filter(|known| repo.is_ancestor(*known, tip).unwrap_or(false));
        match repo.notes_since(PREFIX, known, tip) {
            Ok(since) => {
                self.tips.push(tip);
                self.too_large.extend(since.too_large.into_iter().map(|commit| (writer.to_owned(), commit)));
                for (commit, note) in since.notes {
                    line_up(&mut self.notes, commit, note.as_deref());
                }
            }
            Err(error) => self.unread.push((writer.to_owned(), error)),
        }
    }
}

/// What taking in changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct IntakeReport {
    /// Records that are new or larger here.
    pub received: usize,
    /// Records that a writer removed and that are kept here all the same.
    pub kept: usize,
}

/// Joins what writers have to the records of this clone, in one commit dated `at`.
///
/// # Errors
/// [`RecordError::Git`]; then nothing has changed.
pub fn take_in(repo: &Repo, incoming: &WriterNews, at: Timestamp) -> Result<IntakeReport, RecordError> {
    let notes: Vec<_> = incoming.notes.iter().map(|(commit, note)| (*commit, note.clone())).collect();
    let (mut received, mut kept) = (BTreeSet::new(), BTreeSet::new());
    let joined = NotesToJoin { name: NOTES_REF, notes: &notes, from: &incoming.tips, at };
    repo.notes_join(joined, |commit, ours, theirs| {
        let note = note_to_keep(ours, theirs);
        let is_new = note.is_some() && note.as_deref() != ours;
        let is_kept = theirs.is_none() && note.is_some();
        for (counted, holds) in [(&mut received, is_new), (&mut kept, is_kept)] {
            if holds {
                counted.insert(commit);
            } else {
                counted.remove(&commit);
            }
        }
        note
    })?;
    Ok(IntakeReport { received: received.len(), kept: kept.len() })
}

/// The lines of `note` that none of `known` has; `None` where there are none, or where no line of the note can be read.
pub fn lacking(note: &[u8], known: &[Vec<u8>]) -> Option<Vec<u8>> {
    let lines = |note: &'_ [u8]| -> Vec<Vec<u8>> {
        let lines = note.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
        lines.map(<[u8]>::to_vec).collect()
    };
    let known: BTreeSet<Vec<u8>> = known.iter().flat_map(|note| lines(note)).collect();
    let all = lines(note);
    if !all.iter().any(|line| decode_commit(line).is_ok()) {
        return None;
    }
    let rest: Vec<u8> = all
        .into_iter()
        .filter(|line| !known.contains(line))
        .flat_map(|line| [line, b"\n".to_vec()].concat())
        .collect();
    (!rest.is_empty()).then_some(rest)
}

/// Carries what was written in this clone between two states of its records over to its own ref, commit by commit: a
/// record that was changed later shows in the history there as it does here. `false` where that is not known, or too much.
///
/// # Errors
/// [`RecordError::Git`]; what was carried over by then stays.
pub fn carry(
    repo: &Repo,
    own: &str,
    (since, tip): (CommitId, CommitId),
    at: Timestamp,
) -> Result<bool, RecordError> {
    let Ok(Some(written)) = repo.notes_written_since(tip, since, MAX_CARRIED) else { return Ok(false) };
    for commit in written {
        let before = repo.commit(commit)?.parents.first().copied();
        let since = repo.notes_since(NOTES_REF, before, commit)?;
        let joined = NotesToJoin { name: own, notes: &since.notes, from: &[], at };
        // The note as it is here by then, not a union: what was there before is in the history.
        repo.notes_join(joined, |_, there, now| {
            now.map(<[u8]>::to_vec).or_else(|| note_to_keep(there, None))
        })?;
    }
    Ok(true)
}

/// Joins a ref of this clone with what a remote has under its name.
///
/// # Errors
/// [`RecordError::Git`]; then nothing has changed.
pub fn unite(repo: &Repo, own: &str, theirs: CommitId, at: Timestamp) -> Result<(), RecordError> {
    repo.notes_unite(own, theirs, at, note_to_keep)?;
    Ok(())
}

/// Copies the records of others into this clone's own ref, which always moves: a clone that has taken it over and is
/// about to remove it in its old state finds another.
///
/// # Errors
/// [`RecordError::Git`].
pub fn take_over(repo: &Repo, own: &str, theirs: &WriterNews, at: Timestamp) -> Result<(), RecordError> {
    let notes: Vec<_> = theirs.notes.iter().map(|(commit, note)| (*commit, note.clone())).collect();
    add(repo, own, &notes, &[], at)?;
    repo.notes_move_on(own, &theirs.tips, at)?;
    Ok(())
}

/// Adds notes to this clone's own ref, in one commit that has `from` among its parents.
///
/// # Errors
/// [`RecordError::Git`]; then nothing has changed.
pub fn add(
    repo: &Repo,
    own: &str,
    notes: &[(CommitId, Option<Vec<u8>>)],
    from: &[CommitId],
    at: Timestamp,
) -> Result<(), RecordError> {
    repo.notes_join(NotesToJoin { name: own, notes, from, at }, |_, ours, theirs| {
        note_to_keep(ours, theirs)
    })?;
    Ok(())
}

#[cfg(test)]
mod tests;
