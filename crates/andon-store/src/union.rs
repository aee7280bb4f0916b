//! Records on the way between clones, and their union. Every line of all clones is kept, sorted and once: exactly what
//! `git notes merge -s cat_sort_uniq` leaves, so that clones which use that and clones which sync agree. The reader decides
//! which line counts for a commit ([`crate::wire::v1::choose_record`]), never the merge.
//!
//! `refs/notes/andon`, the union of all writers, is what people and hooks read. At a remote each clone has a ref of its own,
//! to which it pushes its union and which no other clone writes: so no push is ever refused because another was faster. A
//! record that several refs hold costs only bytes, because the writer of a line does not matter in a union.

use std::collections::{BTreeMap, HashSet};

use sha2::{Digest as _, Sha256};

use super::Result;
use crate::wire::v1::{choose_record, decode_commit};
use crate::{DerivedFacts, Memory, ledger, memory::Kind, wire::NOTES_REF};
use andon_core::domain::{CommitId, Digest, Timestamp};
use andon_core::history::{Outcome, outcome};
use andon_git::{CommitNotes, GitError, NotesToJoin, NotesUnion, Repo};

/// The refs of writers at a remote, under the names that a plain fetch may have given them here too.
pub const PREFIX: &str = "refs/andon/records/";
/// The prefix under which the refs of remotes are kept here: `<remote>/<writer>` below it. It is not below
/// `refs/andon/remote/`, which each hook looks into.
pub const REMOTE_PREFIX: &str = "refs/andon/remote-records/";
/// The refs under which a fetch keeps the plain notes of remotes.
pub const REMOTE_NOTES: &str = "refs/notes/remotes/";
/// Largest note that is read back, in bytes.
const MAX_NOTE: usize = 1 << 20;

/// The notes of writers that were not taken in before.
#[derive(Debug, Default)]
pub struct WriterNews {
    /// The lines of all of them.
    pub notes: CommitNotes,
    /// The commits that they point to.
    pub tips: Vec<CommitId>,
    /// Notes too large to be records, by writer.
    pub too_large: Vec<(String, CommitId)>,
    /// Writers whose records could not be read.
    pub unread: Vec<(String, GitError)>,
}

impl WriterNews {
    /// Adds the notes that `writer` has at `tip` and had not at `known`.
    pub fn add(&mut self, repo: &Repo, writer: &str, known: Option<CommitId>, tip: CommitId) {
        let known = known.filter(|known| repo.is_ancestor(*known, tip).unwrap_or(false));
        match repo.notes_since(PREFIX, known, tip) {
            Ok(since) => {
                self.tips.push(tip);
                self.too_large.extend(since.too_large.into_iter().map(|commit| (writer.to_owned(), commit)));
                for (commit, note) in since.notes {
                    let there = self.notes.entry(commit).or_default();
                    *there = match (there.take(), note) {
                        (Some(before), Some(note)) => Some(joined(&before, &note)),
                        (before, note) => before.or(note),
                    };
                }
            }
            Err(error) => self.unread.push((writer.to_owned(), error)),
        }
    }
}

/// The refs of writers as they were taken in, by name: each state of one is taken in once. Without this memory all of a ref is
/// compared, and so it is where our own notes are gone.
pub fn taken(repo: &Repo) -> BTreeMap<String, CommitId> {
    match repo.ref_target(NOTES_REF) {
        Ok(Some(_)) => Memory::new(repo, Kind::SYNC).get(&"taken").unwrap_or_default(),
        Ok(None) | Err(_) => BTreeMap::new(),
    }
}

/// Remembers what was taken in.
pub fn remember_taken(repo: &Repo, taken: &BTreeMap<String, CommitId>) {
    Memory::new(repo, Kind::SYNC).put(&"taken", taken);
}

/// The refs in which a fetch left the records of writers and the notes of remotes, of those that are not `taken` in as they are.
///
/// # Errors
/// [`GitError`] when the refs cannot be read.
pub fn fetched(repo: &Repo, taken: &BTreeMap<String, CommitId>) -> Result<Vec<(String, CommitId)>, GitError> {
    let mut found = repo.refs_with_prefix(PREFIX)?;
    found.extend(repo.refs_with_prefix(REMOTE_PREFIX)?);
    found.retain(|(name, _)| name.rsplit('/').next().is_some_and(ledger::is_writer));
    let notes = repo.refs_with_prefix(REMOTE_NOTES)?;
    found.extend(notes.into_iter().filter(|(name, _)| name.ends_with("/andon")));
    let found = found.into_iter().map(|(name, tip)| (name, CommitId(tip)));
    Ok(found.filter(|(name, tip)| taken.get(name) != Some(tip)).collect())
}

/// Joins the news of writers to the records of this clone, in one commit dated `at`.
///
/// # Errors
/// [`RecordError::Git`](crate::RecordError::Git); then nothing has changed.
pub fn take_in(repo: &Repo, incoming: &WriterNews, at: Timestamp) -> Result<NotesUnion> {
    let joined = NotesToJoin { name: NOTES_REF, notes: &incoming.notes, from: &incoming.tips, at };
    let joined = repo.notes_join(joined, note_to_keep)?;
    remember_red(repo, &incoming.notes);
    Ok(joined)
}

/// A failing commit of another clone of this clone's owner. The commit itself may never arrive.
pub type RedCommit = (Timestamp, CommitId, Option<CommitId>);

/// Most of them that are remembered, the newest.
const MAX_RED: usize = 64;

/// The hash of the name and address that git is set up with here.
pub fn owner(repo: &Repo) -> Digest {
    Digest(Sha256::digest(repo.committer()).into())
}

/// The failing commits that came from other clones of this owner, oldest first: when each was recorded, and its parent. Its memory
/// lies beside that of what was taken in, and is made again with it.
pub fn red_commits(repo: &Repo) -> Vec<RedCommit> {
    Memory::new(repo, Kind::RED).get(&"red").unwrap_or_default()
}

fn remember_red(repo: &Repo, notes: &CommitNotes) {
    let owner = Some(owner(repo));
    let red = notes.iter().filter_map(|(commit, note)| {
        let record = choose_record(note.as_ref()?, &DerivedFacts::default()).best?.1.record;
        let failed = record.tests.as_ref().is_some_and(|tests| outcome(tests) == Outcome::Red);
        (failed && record.by == owner).then_some((record.recorded_at, *commit, record.parent))
    });
    let mut all = red_commits(repo);
    let known = all.len();
    all.extend(red);
    all.sort_unstable();
    all.dedup();
    all.drain(..all.len().saturating_sub(MAX_RED));
    if known < all.len() || known == MAX_RED {
        Memory::new(repo, Kind::RED).put(&"red", &all);
    }
}

/// Returns the number of commits that have a record in the notes of `tip` of which none of `others` has every line. A note
/// without a readable line is no record, and is not spread.
///
/// # Errors
///
/// [`RecordError::Git`](crate::RecordError::Git) when the notes of `tip` cannot be read.
pub fn lacking(repo: &Repo, tip: CommitId, others: &[CommitId]) -> Result<usize> {
    let ours = repo.notes_at(NOTES_REF, Some(tip));
    let others_notes: Vec<_> = others.iter().map(|other| repo.notes_at(PREFIX, Some(*other))).collect();
    let mut count = 0;
    for commit in repo.notes_lacking(tip, others)? {
        let Ok(Some(note)) = ours.get(commit) else { continue };
        let known: Vec<Vec<u8>> =
            others_notes.iter().filter_map(|other| other.get(commit).ok().flatten()).collect();
        count += usize::from(has_more(&note, &known));
    }
    Ok(count)
}

/// True if `note` has a line that none of `known` has, and a record at all.
fn has_more(note: &[u8], known: &[Vec<u8>]) -> bool {
    let known: HashSet<&[u8]> = known.iter().flat_map(|note| lines(note)).collect();
    lines(note).any(|line| !known.contains(line)) && lines(note).any(|line| decode_commit(line).is_ok())
}

/// Unites the records of this clone with those of the notes commit `theirs`, in one notes commit dated `at`.
///
/// A record that the other side removed is kept here: facts are not undone. A note without a readable line is dropped,
/// so that removing a broken one repairs all clones.
///
/// # Errors
/// [`RecordError::Git`](crate::RecordError::Git); then nothing has changed.
pub fn unite(repo: &Repo, theirs: CommitId, at: Timestamp) -> Result<NotesUnion> {
    Ok(repo.notes_unite(NOTES_REF, theirs, at, note_to_keep)?)
}

/// Restores the records that a writer other than Andon removed from the notes, and returns how many: `git notes append`
/// during a hook drops what the hook wrote.
///
/// # Errors
/// [`RecordError::Git`](crate::RecordError::Git); then nothing has changed.
pub fn restore(repo: &Repo, at: Timestamp) -> Result<usize> {
    Ok(repo.notes_restore(NOTES_REF, at, |ours, written| match (ours, written) {
        (ours, Some(written)) if lines(written).any(|line| decode_commit(line).is_ok()) => {
            let has_all = |ours: &&[u8]| lines(written).all(|line| lines(ours).any(|there| there == line));
            Some(match ours {
                Some(ours) if has_all(&ours) => ours.to_vec(),
                Some(ours) => joined(ours, written),
                None => written.to_vec(),
            })
        }
        (ours, Some(_) | None) => ours.map(<[u8]>::to_vec),
    })?)
}

fn note_to_keep(ours: Option<&[u8]>, theirs: Option<&[u8]>) -> Option<Vec<u8>> {
    match (ours, theirs) {
        (Some(ours), Some(theirs)) => Some(joined(ours, theirs)),
        (Some(ours), None) => lines(ours).any(|line| decode_commit(line).is_ok()).then(|| ours.to_vec()),
        (None, theirs) => theirs.map(<[u8]>::to_vec),
    }
}

/// All lines of both notes, as [`unite`] leaves them; beyond what is read back, ours and what else can be read.
pub fn joined(ours: &[u8], theirs: &[u8]) -> Vec<u8> {
    let mut all: Vec<&[u8]> = lines(ours).chain(lines(theirs)).collect();
    all.sort_unstable();
    all.dedup();
    let note = |all: &[&[u8]]| {
        let mut note = all.join(&b'\n');
        note.push(b'\n');
        note
    };
    let whole = note(&all);
    if whole.len() <= MAX_NOTE {
        return whole;
    }
    let mut kept: Vec<&[u8]> = lines(ours).collect();
    let mut size: usize = kept.iter().map(|line| line.len() + 1).sum();
    for line in lines(theirs).filter(|line| decode_commit(line).is_ok()) {
        if size + line.len() < MAX_NOTE && !kept.contains(&line) {
            size += line.len() + 1;
            kept.push(line);
        }
    }
    kept.sort_unstable();
    kept.dedup();
    note(&kept)
}

fn lines(note: &[u8]) -> impl Iterator<Item = &[u8]> {
    note.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty())
}

#[cfg(test)]
mod tests;
