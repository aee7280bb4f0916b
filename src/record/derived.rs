//! What was derived from commits, remembered: a walk over a long history that was stopped goes on where it was.
//!
//! `<common dir>/andon/cache/derived` is a row of entries, appended some hundred at a time, each write whole entries:
//!
//! ```text
//! "AND" version   u32(length of the rest)   8 bytes of sha256 over the rest
//! rest = 16 bytes of key, 32 of code fingerprint, the diff, the change (see `compact`)
//! ```
//!
//! The key is the sha256 over the version, what else the answer depends on (path rules, patterns) and the commit id.
//! An entry that is torn, altered or of another version is stepped over: the next one is found by its first four
//! bytes. Writers at once append side by side. A file that would outgrow `MAX_BYTES` begins anew. Deleting it costs
//! time and nothing else; whoever must not believe what lies about (`check`) does not read it unless told to.

use std::collections::HashMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use super::checksum::{checksum, first};
use super::compact::{Put, Take};
use super::file;
use crate::domain::change::ChangeFacts;
use crate::domain::facts::DiffSummary;
use crate::domain::ids::{CodeId, CommitId};

/// Changes with the entries, and with the bytes of [`super::compact`].
const MARK: [u8; 4] = *b"AND\x03";
/// Mark, length, checksum.
const HEAD: usize = 16;
/// The longest entry holds as many hunks and paths as a record.
const MAX_ENTRY: usize = 256 + 16 * DiffSummary::MAX_HUNKS + 24 * ChangeFacts::MAX_PATHS;
/// About 150,000 commits.
const MAX_BYTES: usize = 64 << 20;
/// Bytes that are collected before they are written.
const BATCH: usize = 128 << 10;

/// What is remembered of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known {
    /// Code fingerprint.
    pub code: CodeId,
    /// Normalized diff against the first parent.
    pub diff: DiffSummary,
    /// What that diff is made of.
    pub change: ChangeFacts,
}

type Key = [u8; 16];

/// The file as it was when it was opened; shared by threads.
#[derive(Debug, Default)]
pub struct DerivedCache {
    bytes: Vec<u8>,
    /// Where the rest of an entry begins and ends, by key.
    entries: HashMap<Key, (u32, u32)>,
    salt: Vec<u8>,
}

impl DerivedCache {
    /// Nothing, for facts that depend on `salt` beside the commit.
    pub fn empty(salt: &[u8]) -> Self {
        Self { salt: salt.to_vec(), ..Self::default() }
    }

    /// What the repository at `common_dir` has; an unusable file is an empty one.
    pub fn load(common_dir: &Path, salt: &[u8]) -> Self {
        let bytes = file::read(&path(common_dir), MAX_BYTES as u64).ok().flatten().unwrap_or_default();
        let mut cache = Self { bytes, ..Self::empty(salt) };
        cache.index();
        cache
    }

    fn index(&mut self) {
        let mut at = 0;
        while let Some(found) = memchr::memmem::find(&self.bytes[at..], &MARK) {
            at += found;
            match entry(&self.bytes[at..]) {
                Some(rest) => {
                    let start = at + HEAD;
                    let key = first(rest);
                    at = start + rest.len();
                    if let (Ok(start), Ok(end)) = (u32::try_from(start), u32::try_from(at)) {
                        self.entries.insert(key, (start, end));
                    }
                }
                None => at += 1,
            }
        }
    }

    /// What is remembered of `commit`.
    pub fn get(&self, commit: CommitId) -> Option<Known> {
        let (start, end) = self.entries.get(&self.key(commit))?;
        decode(self.bytes.get(*start as usize + 16..*end as usize)?)
    }

    /// The entry that remembers `known` of `commit`.
    pub fn entry(&self, commit: CommitId, known: &Known) -> Vec<u8> {
        enveloped(&encode(known, self.key(commit).to_vec()))
    }

    fn key(&self, commit: CommitId) -> Key {
        let hash = Sha256::new_with_prefix(MARK).chain_update(&self.salt).chain_update(commit.0.as_bytes());
        first(&hash.finalize())
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
        Self { path: path(common_dir), batch: Vec::new() }
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
        let _ = if there.saturating_add(batch.len() as u64) > MAX_BYTES as u64 {
            file::replace(&self.path, &[&batch])
        } else {
            file::open_append(&self.path).and_then(|mut file| file.write_all(&batch))
        };
    }
}

fn path(common_dir: &Path) -> PathBuf {
    common_dir.join("andon").join("cache").join("derived")
}

/// The rest of the entry at the beginning of `bytes`, when it is whole.
fn entry(bytes: &[u8]) -> Option<&[u8]> {
    let length = usize::try_from(u32::from_le_bytes(first(bytes.get(4..8)?))).ok()?;
    let rest = bytes.get(HEAD..HEAD + length).filter(|_| (16..=MAX_ENTRY).contains(&length))?;
    (checksum(rest) == bytes[8..HEAD]).then_some(rest)
}

/// An entry of that rest.
fn enveloped(rest: &[u8]) -> Vec<u8> {
    let length = u32::try_from(rest.len()).unwrap_or(u32::MAX);
    [&MARK[..], &length.to_le_bytes(), &checksum(rest), rest].concat()
}

fn encode(known: &Known, into: Vec<u8>) -> Vec<u8> {
    let Known { code, diff, change } = known;
    let mut into = Put(into);
    into.0.extend(code.0);
    into.diff(diff);
    into.change(change);
    into.0
}

fn decode(bytes: &[u8]) -> Option<Known> {
    let mut left = Take(bytes);
    let known = Known { code: CodeId(left.array()?), diff: left.diff()?, change: left.change()? };
    left.is_empty().then_some(known)
}

#[cfg(test)]
mod tests;
