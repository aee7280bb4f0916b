//! Facts derived from commits, remembered: a walk over a long history continues where it was stopped.
//!
//! `<common dir>/andon/cache/derived` is a row of entries ([`crate::wire::envelope`]), appended some hundred at a time,
//! each write whole entries. Their keys are made of the commit id and of what else the answer depends on (path rules,
//! patterns). Several writers append at the same time. A file that would grow too large (about 150,000 commits) begins
//! anew. `check`, which must not trust files, reads it only on request.

use std::path::{Path, PathBuf};
use std::{collections::HashMap, io::Write as _, ops::Range};

use serde::{Deserialize, Serialize};

use super::file;
use crate::wire::envelope::{Key, decoded, seal};
use crate::{Memory, Row, memory::Kind};
use andon_core::domain::{ChangeFacts, CodeId, CommitId, DiffSummary, Weakening};

/// The longest value holds as many hunks, paths and tests as a record.
const MAX_VALUE: usize =
    1024 + 20 * DiffSummary::MAX_HUNKS + 48 * ChangeFacts::MAX_PATHS + 3 * 256 * Weakening::MAX_NAMES;
/// Bytes that are collected before they are written.
const BATCH: usize = 128 << 10;

/// The facts of a commit that are remembered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommitMemory {
    /// Code fingerprint.
    pub code: CodeId,
    /// Normalized diff against the first parent.
    pub diff: DiffSummary,
    /// The parts of that diff.
    pub change: ChangeFacts,
    /// The tests that it took away, and its member `file`, which no form of a record has.
    pub taken: Option<(Weakening, Option<String>)>,
}

/// The file as it was when it was opened; shared by threads.
#[derive(Debug, Default)]
pub struct DerivedCache {
    bytes: Vec<u8>,
    /// The place of the value of each entry.
    entries: HashMap<Key, Range<usize>>,
    salt: Vec<u8>,
}

impl DerivedCache {
    /// Nothing, for facts that depend on `salt` and the commit.
    pub fn empty(salt: &[u8]) -> Self {
        Self { salt: salt.to_vec(), ..Self::default() }
    }

    /// The cache of the repository at `common_dir`; an unusable file is an empty one.
    pub fn load(common_dir: &Path, salt: &[u8]) -> Self {
        let bytes = memory(common_dir).bytes().unwrap_or_default();
        Self { entries: Row::new(&bytes, MAX_VALUE).collect(), bytes, ..Self::empty(salt) }
    }

    /// The facts of `commit`, where they are remembered.
    pub fn get(&self, commit: CommitId) -> Option<CommitMemory> {
        decoded(&self.bytes[self.entries.get(&self.key(commit))?.clone()])
    }

    /// The entry that remembers `known` of `commit`.
    pub fn entry(&self, commit: CommitId, known: &CommitMemory) -> Vec<u8> {
        seal(self.key(commit), known)
    }

    fn key(&self, commit: CommitId) -> Key {
        Key::new(&("derived", &self.salt, commit))
    }
}

/// Appends entries to the file.
#[derive(Debug)]
pub struct DerivedWriter {
    path: PathBuf,
    batch: Vec<u8>,
}

impl DerivedWriter {
    /// For the repository at `common_dir`. Writes nothing yet.
    pub fn new(common_dir: &Path) -> Self {
        Self { path: memory(common_dir).path().to_owned(), batch: Vec::new() }
    }

    /// Takes in an entry of [`DerivedCache::entry`].
    pub fn push(&mut self, entry: &[u8]) {
        self.batch.extend_from_slice(entry);
        if self.batch.len() >= BATCH {
            self.flush();
        }
    }

    /// Writes what was taken in. A failure is ignored: the cache is only ever a saving.
    pub fn flush(&mut self) {
        let batch = std::mem::take(&mut self.batch);
        if batch.is_empty() {
            return;
        }
        let there = std::fs::metadata(&self.path).map_or(0, |found| found.len());
        let _ = if there.saturating_add(batch.len() as u64) > Kind::DERIVED.max() {
            file::replace(&self.path, &batch)
        } else {
            file::open_append(&self.path).and_then(|mut file| file.write_all(&batch))
        };
    }
}

fn memory(common_dir: &Path) -> Memory {
    Memory::below(&common_dir.join("andon"), Kind::DERIVED)
}

#[cfg(test)]
mod tests;
