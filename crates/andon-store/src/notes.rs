//! Commit records in git notes: `refs/notes/andon`, readable with `git notes --ref=andon show`.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::{RecordError, Result, note_help, skipped_note, union};
use crate::wire::v1::{choose_record, decode_commit, disagreement, encode_commit, line_digest};
use crate::{Choice, DecodedRecord, DerivedFacts, UnknownKeys};
use andon_core::domain::{CommitId, CommitRecord, Diagnostic, Digest, PrevRecord, Recording, Timestamp};
use andon_core::format::FormatError;
use andon_git::{NotesTree, Repo, platform::files};

pub use crate::wire::NOTES_REF as REF;
/// Largest note that is read back, in bytes.
const MAX_NOTE: usize = 1 << 20;

/// Fewer records are written as objects of their own.
const PACKED: usize = 100;

/// The record that counts for a commit.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredRecord {
    /// The record, decoded.
    pub record: CommitRecord,
    /// sha256 of its line without LF: what the `prev` of a child's record holds.
    pub line_digest: Digest,
    /// Keys of a newer minor version, to be written back on rewrite.
    pub extra: UnknownKeys,
    /// Other lines of the note that could not be read.
    pub warnings: Vec<Diagnostic>,
}

/// One line of a note, as far as chains go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordLine {
    /// The digest of the bytes of its line.
    pub digest: Digest,
    /// The digest of the record before it that it names.
    pub prev: Option<Digest>,
    /// When it was written.
    pub recording: Recording,
}

/// The note of one commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    commit: CommitId,
    bytes: Vec<u8>,
}

impl Note {
    /// Bytes of the note.
    pub(crate) fn length(&self) -> usize {
        self.bytes.len()
    }

    /// True if there are several lines to choose from.
    pub fn has_several(&self) -> bool {
        has_several(&self.bytes)
    }

    /// The line that agrees best with what was derived from the commit. Of those that hold, the ones whose digest is in
    /// `named` go first: the record of a child names the line that spoke when it was written, and what was added later is
    /// not that.
    ///
    /// # Errors
    /// [`RecordError::Unreadable`] when the note has no readable line.
    pub fn choose(&self, derived: &DerivedFacts, named: &BTreeSet<Digest>) -> Result<StoredRecord> {
        let known = |line: &&[u8]| {
            named.contains(&line_digest(line))
                && decode_commit(line).is_ok_and(|decoded| derived.agrees(&decoded.record))
        };
        let known: Vec<&[u8]> = self.bytes.split(|byte| *byte == b'\n').filter(known).collect();
        // A child may name a forged line: where lines contradict each other, the worst of all of them counts.
        if known.is_empty() || self.disagreement(derived).is_some() {
            best(self.commit, &self.bytes, derived)
        } else {
            best(self.commit, &known.join(&b'\n'), derived)
        }
    }

    /// In what its lines contradict each other, if they do.
    pub fn disagreement(&self, derived: &DerivedFacts) -> Option<&'static str> {
        if self.has_several() { disagreement(&self.bytes, derived) } else { None }
    }

    /// Each readable line.
    pub fn lines(&self) -> Vec<RecordLine> {
        let read = |line: &[u8]| {
            let record = decode_commit(line).ok()?.record;
            Some(RecordLine {
                digest: line_digest(line),
                prev: record.prev.line(),
                recording: record.recording,
            })
        };
        self.bytes.split(|byte| *byte == b'\n').filter_map(read).collect()
    }
}

/// True if a note has several lines.
fn has_several(note: &[u8]) -> bool {
    note.trim_ascii().contains(&b'\n')
}

/// A record to be written.
#[derive(Debug, Clone, PartialEq)]
pub struct NewRecord {
    /// The commit that the note belongs to.
    pub commit: CommitId,
    /// The record, decoded.
    pub record: CommitRecord,
    /// Keys of a newer minor version, from the record it is a rewrite of.
    pub extra: UnknownKeys,
}

/// The records as they were when it was opened.
#[derive(Debug)]
pub struct NotesStore<'r> {
    repo: &'r Repo,
    notes: NotesTree<'r>,
    /// The records that were fetched of others, where they cannot be taken in since nothing may be written.
    fetched: Vec<NotesTree<'r>>,
}

/// Most refs of others that are read where they are not taken in.
const MAX_FETCHED: usize = 64;

/// The trees of what was fetched and is not taken in.
fn fetched(repo: &Repo) -> Vec<NotesTree<'_>> {
    let refs = union::fetched(repo, &union::taken(repo)).unwrap_or_default().into_iter();
    refs.take(MAX_FETCHED).map(|(name, tip)| repo.notes_at(&name, Some(tip))).collect()
}

/// The same in a clone that may not be written, where nothing can be taken in.
fn fetched_for_good(repo: &Repo) -> Vec<NotesTree<'_>> {
    let is_writable = files::check_writable(&repo.common_dir().join("refs")).is_ok();
    if is_writable { Vec::new() } else { fetched(repo) }
}

impl<'r> NotesStore<'r> {
    /// Opens the records of `repo`; no ref means no records.
    pub fn open(repo: &'r Repo) -> Result<Self> {
        Ok(Self { repo, notes: repo.notes(REF)?, fetched: fetched_for_good(repo) })
    }

    /// The records as notes commit `tip` has them: several handles of one repository then see the same.
    pub fn at(repo: &'r Repo, tip: Option<CommitId>) -> Self {
        Self { repo, notes: repo.notes_at(REF, tip), fetched: fetched_for_good(repo) }
    }

    /// The records of `repo` with those that were fetched of others and are not taken in yet.
    ///
    /// # Errors
    /// [`RecordError::Git`] when our own cannot be read.
    pub fn with_fetched(repo: &'r Repo) -> Result<Self> {
        Ok(Self { repo, notes: repo.notes(REF)?, fetched: fetched(repo) })
    }

    /// The refs whose records these are, with the notes commit of each.
    pub(crate) fn tips(&self) -> impl Iterator<Item = (&str, CommitId)> {
        let trees = std::iter::once(&self.notes).chain(&self.fetched);
        trees.filter_map(|notes| Some((notes.name(), notes.tip()?)))
    }

    /// The notes commit whose records these are: what is derived from them holds as long as it is the tip.
    pub fn tip(&self) -> Option<CommitId> {
        self.notes.tip().or_else(|| self.fetched.iter().find_map(NotesTree::tip))
    }

    /// The bytes of a note: our own, else those that were fetched.
    fn bytes(&self, commit: CommitId) -> Result<Option<Vec<u8>>> {
        let trees = std::iter::once(&self.notes).chain(&self.fetched);
        Ok(trees.map(|notes| notes.get(commit)).find_map(Result::transpose).transpose()?)
    }

    /// The record of `commit`, if there is one. Among several lines the commit's own tree and first parent choose.
    ///
    /// # Errors
    /// [`RecordError::Unreadable`] naming the commit when the note has no readable line.
    pub fn get(&self, commit: CommitId) -> Result<Option<StoredRecord>> {
        let Some(note) = self.bytes(commit)? else { return Ok(None) };
        let derived =
            if has_several(&note) { self.cheaply_derived(commit)? } else { DerivedFacts::default() };
        best(commit, &note, &derived).map(Some)
    }

    /// The record of a commit as this clone wrote it: also where another program, such as `git notes append`, took it out of
    /// the ref since, where the next write puts it back.
    ///
    /// # Errors
    /// As [`Self::get`].
    pub fn get_written(&self, commit: CommitId) -> Result<Option<StoredRecord>> {
        if let Some(stored) = self.get(commit)? {
            return Ok(Some(stored));
        }
        for tip in self.repo.written_tips(REF).into_iter().rev() {
            let there = self.repo.notes_at(REF, Some(tip)).get(commit).ok().flatten();
            if let Some(note) = there {
                return best(commit, &note, &self.cheaply_derived(commit)?).map(Some);
            }
        }
        Ok(None)
    }

    /// The record of a commit, where there is one that can be read.
    pub fn readable(&self, commit: CommitId) -> Option<CommitRecord> {
        self.get(commit).ok().flatten().map(|stored| stored.record)
    }

    /// The note of `commit`, for `check`: read once for all questions.
    ///
    /// # Errors
    /// [`RecordError::Git`] when it cannot be read.
    pub fn note(&self, commit: CommitId) -> Result<Option<Note>> {
        Ok(self.bytes(commit)?.map(|bytes| Note { commit, bytes }))
    }

    /// True if `commit` has a record, readable or not.
    pub fn has(&self, commit: CommitId) -> Result<bool> {
        Ok(self.notes.has(commit)? || self.fetched.iter().any(|notes| notes.has(commit).unwrap_or(false)))
    }

    fn cheaply_derived(&self, commit: CommitId) -> Result<DerivedFacts> {
        let info = self.repo.commit(commit)?;
        let parent = Some(info.parents.first().copied());
        Ok(DerivedFacts { tree: Some(info.tree), parent, ..DerivedFacts::default() })
    }

    /// True if a remote has a record of `commit`, as far as is known here.
    pub fn is_published(&self, commit: CommitId) -> bool {
        let refs = union::fetched(self.repo, &BTreeMap::new()).unwrap_or_default();
        refs.into_iter().any(|(name, tip)| self.repo.notes_at(&name, Some(tip)).has(commit).unwrap_or(false))
    }

    /// Writes records of commits that have none, parents first, in one notes commit dated `at`; sees them from then on
    /// and says how many there were. A note that is there by then, readable or not, stays as it is, byte for byte: the
    /// ref moves only from where it was looked at. Each record gets the `prev` that `digests` has for its parent, and
    /// adds its own. Many come as one pack.
    ///
    /// # Errors
    /// [`RecordError::Git`] when the ref cannot be moved; then nothing is written.
    pub fn put_missing(
        &mut self,
        records: &[(CommitId, CommitRecord)],
        digests: &mut HashMap<CommitId, Digest>,
        at: Timestamp,
    ) -> Result<usize> {
        let by_id: HashMap<CommitId, &CommitRecord> =
            records.iter().map(|(id, record)| (*id, record)).collect();
        let wanted: Vec<(CommitId, Vec<u8>)> = records.iter().map(|(id, _)| (*id, Vec::new())).collect();
        self.restore(at)?;
        // A set: because of another writer or a concurrent `gc` this may be called twice.
        let mut written = BTreeSet::new();
        let line = |commit, _: &[u8], there: Option<&[u8]>| {
            let Some(record) = by_id.get(&commit) else { return there.unwrap_or_default().to_vec() };
            if there.is_none() {
                written.insert(commit);
            } else {
                written.remove(&commit);
            }
            let line = there.map_or_else(
                || {
                    let prev = record.parent.and_then(|parent| digests.get(&parent).copied());
                    let record = CommitRecord {
                        prev: prev.map_or(PrevRecord::Unsaid, PrevRecord::Line),
                        ..(*record).clone()
                    };
                    encode_commit(&record, &UnknownKeys::default()).into_bytes()
                },
                <[u8]>::to_vec,
            );
            if let Some((best, _)) = choose_record(&line, &DerivedFacts::of(record)).best {
                digests.insert(commit, line_digest(best));
            }
            line
        };
        let tip = if records.len() < PACKED {
            self.repo.notes_write(REF, &wanted, at, line)?
        } else {
            self.repo.notes_write_packed(REF, &wanted, at, line)?
        };
        self.notes = self.repo.notes_at(REF, tip);
        Ok(written.len())
    }

    /// Writes records in one notes commit dated `at`, and sees them from then on. See [`Self::put_records`].
    pub fn put(
        &mut self,
        records: &[(CommitId, CommitRecord)],
        at: Timestamp,
    ) -> Result<Vec<Option<Vec<u8>>>> {
        let new = |(commit, record): &(CommitId, CommitRecord)| NewRecord {
            commit: *commit,
            record: record.clone(),
            extra: UnknownKeys::default(),
        };
        self.put_records(&records.iter().map(new).collect::<Vec<_>>(), at)
    }

    /// Writes records in one notes commit dated `at`, all or none, and sees them from then on.
    ///
    /// The lines of a note are kept, but for those that say the same of the commit (tree, parent, code, diff):
    /// those the new record replaces, taking over their unknown keys. A record that was caught up never replaces
    /// one that was made at the commit. Returns the lines; `None` for one that is not all that its note holds.
    ///
    /// # Errors
    /// [`RecordError::NoteTooLarge`] naming the commit; then nothing is written.
    pub fn put_records(&mut self, records: &[NewRecord], at: Timestamp) -> Result<Vec<Option<Vec<u8>>>> {
        self.restore(at)?;
        let line = |new: &NewRecord| (new.commit, encode_commit(&new.record, &new.extra).into_bytes());
        let lines: Vec<(CommitId, Vec<u8>)> = records.iter().map(line).collect();
        for (commit, line) in &lines {
            let there = self.notes.get(*commit)?;
            let bytes = united(line, there.as_deref()).len();
            if bytes > MAX_NOTE {
                return Err(RecordError::NoteTooLarge { commit: *commit, bytes, max: MAX_NOTE });
            }
        }
        // Overwritten when another writer or a concurrent `gc` causes a second call.
        let mut shared: HashMap<CommitId, bool> = HashMap::new();
        let tip = self.repo.notes_write(REF, &lines, at, |commit, line, there| {
            shared.insert(commit, there.is_some());
            united(line, there)
        })?;
        self.notes = self.repo.notes_at(REF, tip);
        let alone = |(commit, line)| Some(line).filter(|_| shared.get(&commit) == Some(&false));
        Ok(lines.into_iter().map(alone).collect())
    }
}

impl NotesStore<'_> {
    /// Sees, from then on, what others had taken out and what was put back.
    fn restore(&mut self, at: Timestamp) -> Result<()> {
        if union::restore(self.repo, at)? > 0 {
            self.notes = self.repo.notes(REF)?;
        }
        Ok(())
    }
}

fn best(commit: CommitId, note: &[u8], derived: &DerivedFacts) -> Result<StoredRecord> {
    let Choice { best, unreadable } = choose_record(note, derived);
    let Some((line, DecodedRecord { record, extra })) = best else {
        let source = unreadable.into_iter().next().map_or(FormatError::NotAnObject, |(_, error)| error);
        return Err(RecordError::Unreadable { commit, source });
    };
    let warnings = unreadable
        .into_iter()
        .map(|(line, error)| skipped_note(commit, line, error.to_string()).help(note_help(commit, &error)))
        .collect();
    Ok(StoredRecord { record, line_digest: line_digest(line), extra, warnings })
}

/// The note with `line` in it: its lines sorted, as `git notes merge -s cat_sort_uniq` leaves them.
fn united(line: &[u8], there: Option<&[u8]>) -> Vec<u8> {
    if there.is_none() {
        return line.to_vec();
    }
    let Ok(mut new) = decode_commit(line) else { return line.to_vec() };
    let facts = DerivedFacts::of(&new.record);
    let mut keep: Vec<Vec<u8>> = Vec::new();
    let mut newest_wins = true;
    for old in
        there.unwrap_or_default().split(|byte| *byte == b'\n').filter(|old| !old.trim_ascii().is_empty())
    {
        match decode_commit(old) {
            Ok(same) if facts.agrees(&same.record) => {
                let before = same.record.recording;
                let made_at_commit = before.is_by_hook() && !before.is_later();
                if new.record.recording.is_later() && made_at_commit {
                    newest_wins = false;
                    keep.push(old.to_vec());
                } else {
                    new.extra = new.extra.or(same.extra);
                }
            }
            Ok(_) | Err(_) => keep.push(old.to_vec()),
        }
    }
    if newest_wins {
        keep.push(encode_commit(&new.record, &new.extra).trim_end().as_bytes().to_vec());
    }
    keep.sort_unstable();
    keep.dedup();
    let mut note = keep.join(&b'\n');
    note.push(b'\n');
    note
}

#[cfg(test)]
mod tests;
