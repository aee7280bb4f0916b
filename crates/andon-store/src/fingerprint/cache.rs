//! Fingerprints of directories, remembered. Losing the file costs time and nothing else.
//!
//! `<common dir>/andon/cache/fingerprints` is a row of entries ([`crate::wire::envelope`]), each a block of records sorted
//! by key: 16 bytes of key, 32 of fingerprint. The first block is searched, the others are what later runs appended, each
//! in one write. When those outgrow [`MAX_TAIL`] records the file is replaced by one of a single block. What is cut, torn
//! or altered is no entry. Writers at once append side by side or replace each other's file: something is forgotten,
//! nothing is wrong.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};
use std::io::{self, Write as _};
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::file;
use crate::memory::{Kind, Memory};
use crate::wire::envelope::{self, Row, decoded, seal};
use andon_core::domain::ids::TreeId;

const KEY: usize = 16;
const RECORD: usize = KEY + 32;
/// Appended records beyond this are sorted in.
const MAX_TAIL: usize = 1024;
/// The cache may hold at least this many records, and four times what one run has needed,
const MIN_RECORDS: usize = 8_192;
/// but never more than this: 48 MB.
const MAX_RECORDS: usize = 1_000_000;

/// Names a directory: its path, its tree and the rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Key([u8; KEY]);

impl Key {
    pub(super) fn new(path: &[u8], tree: TreeId, rules: &[u8; 32]) -> Self {
        let id = tree.0.as_bytes();
        let length = u8::try_from(id.len()).unwrap_or(0);
        let hash = Sha256::new_with_prefix(rules).chain_update([length]).chain_update(id).chain_update(path);
        Self(first(&hash.finalize()))
    }
}

/// Keys are hashes: their first bytes serve as they are.
#[derive(Debug, Default)]
pub(super) struct AsItIs(u64);

impl Hasher for AsItIs {
    fn write(&mut self, bytes: &[u8]) {
        self.0 = bytes.first_chunk().map_or(self.0, |first| u64::from_le_bytes(*first));
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

type ByKey<T> = HashMap<Key, T, BuildHasherDefault<AsItIs>>;

/// What an entry of the file holds.
#[derive(Serialize, Deserialize)]
struct Block<'a> {
    /// The largest number of records a run has needed.
    needed: u32,
    /// The records. They come last, so that they are the end of the entry.
    records: &'a [u8],
}

/// The cache of one run.
#[derive(Debug)]
pub(super) struct Cache {
    path: PathBuf,
    /// The file as it was read.
    bytes: Vec<u8>,
    /// Where the records of its first block are; empty when the file was not usable.
    sorted: Range<usize>,
    /// What later runs appended.
    tail: ByKey<[u8; 32]>,
    /// The largest number of records a run has needed.
    needed: usize,
    /// Which records of the file were asked for.
    used: HashSet<Key, BuildHasherDefault<AsItIs>>,
    new: ByKey<[u8; 32]>,
    /// Those of `new` that are not in the file yet.
    unsaved: Vec<Key>,
}

impl Cache {
    /// Reads the cache of the repository at `common_dir`; an unusable one is an empty one.
    pub(super) fn load(common_dir: &Path) -> Self {
        let memory = Memory::below(&common_dir.join("andon"), Kind::Fingerprints);
        let (path, bytes) = (memory.path().to_owned(), memory.bytes().unwrap_or_default());
        let (mut sorted, mut tail, mut needed) = (0..0, ByKey::default(), 0);
        for (_, place) in Row::new(&bytes, bytes.len()).filter(|(key, _)| *key == file_key()) {
            let Some(block) = decoded::<Block<'_>>(&bytes[place.clone()]) else { continue };
            needed = needed.max(block.needed as usize);
            if sorted.is_empty() {
                sorted = place.end - block.records.len()..place.end;
            } else {
                tail.extend(records(block.records));
            }
        }
        let (used, new) = (HashSet::default(), ByKey::default());
        Self { path, bytes, sorted, tail, needed, used, new, unsaved: Vec::new() }
    }

    /// The fingerprint of `key`, when it is known.
    pub(super) fn get(&mut self, key: &Key) -> Option<[u8; 32]> {
        if let Some(value) = self.new.get(key) {
            return Some(*value);
        }
        let value = self.tail.get(key).copied().or_else(|| self.search(key))?;
        self.used.insert(*key);
        Some(value)
    }

    fn search(&self, key: &Key) -> Option<[u8; 32]> {
        let (records, _) = self.bytes[self.sorted.clone()].as_chunks::<RECORD>();
        let at = records.binary_search_by(|record| record[..KEY].cmp(&key.0)).ok()?;
        Some(first(&records[at][KEY..]))
    }

    /// Remembers a fingerprint, for this run and, after [`Self::save`], for others.
    pub(super) fn insert(&mut self, key: Key, value: [u8; 32]) {
        if self.new.insert(key, value).is_none() {
            self.unsaved.push(key);
        }
    }

    /// Writes what is new. A failure is ignored: the cache is only ever a saving.
    pub(super) fn save(&mut self) {
        if self.unsaved.is_empty() {
            return;
        }
        let appended = !self.sorted.is_empty() && self.tail.len() + self.new.len() <= MAX_TAIL;
        let _ = if appended { self.append() } else { self.replace() };
        self.unsaved.clear();
    }

    fn append(&mut self) -> io::Result<()> {
        self.unsaved.sort_unstable();
        let new = self.unsaved.iter().filter_map(|key| Some((*key, *self.new.get(key)?)));
        file::open_append(&self.path)?.write_all(&block(self.needed, new))
    }

    fn replace(&self) -> io::Result<()> {
        let needed = self.needed.max(self.used.len() + self.new.len()).min(MAX_RECORDS);
        let bound = needed.saturating_mul(4).clamp(MIN_RECORDS, MAX_RECORDS);
        let mut all: BTreeMap<Key, [u8; 32]> = records(&self.bytes[self.sorted.clone()]).collect();
        all.extend(self.tail.iter().chain(&self.new));
        if all.len() > bound {
            all.retain(|key, _| self.new.contains_key(key) || self.used.contains(key));
        }
        file::replace(&self.path, &block(needed, all.into_iter().take(MAX_RECORDS)))
    }
}

/// What every entry of the file is about.
fn file_key() -> envelope::Key {
    envelope::Key::new(&"fingerprints")
}

/// The entry that holds these records, which come sorted.
fn block(needed: usize, records: impl Iterator<Item = (Key, [u8; 32])>) -> Vec<u8> {
    let records: Vec<u8> = records.flat_map(|(key, value)| key.0.into_iter().chain(value)).collect();
    seal(file_key(), &Block { needed: u32::try_from(needed).unwrap_or(u32::MAX), records: &records })
}

fn records(block: &[u8]) -> impl Iterator<Item = (Key, [u8; 32])> {
    let (records, _) = block.as_chunks::<RECORD>();
    records.iter().map(|record| (Key(first(record)), first(&record[KEY..])))
}

/// The first `N` of `bytes`, which are at least as many.
fn first<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut taken = [0; N];
    taken.copy_from_slice(&bytes[..N]);
    taken
}

#[cfg(test)]
mod tests {
    use super::*;
    use andon_core::domain::ids::Oid;

    fn key(number: u32) -> Key {
        Key::new(&number.to_be_bytes(), TreeId(Oid::from_bytes(&[1; 20]).unwrap()), &[0; 32])
    }

    fn value(number: u32) -> [u8; 32] {
        Sha256::digest(number.to_be_bytes()).into()
    }

    fn add(dir: &Path, numbers: std::ops::Range<u32>) {
        let mut cache = Cache::load(dir);
        for number in numbers {
            cache.insert(key(number), value(number));
        }
        cache.save();
    }

    fn known(dir: &Path, numbers: std::ops::Range<u32>) -> usize {
        let mut cache = Cache::load(dir);
        numbers
            .filter(|number| {
                let found = cache.get(&key(*number));
                assert!(found.is_none_or(|found| found == value(*number)));
                found.is_some()
            })
            .count()
    }

    #[test]
    fn what_was_put_in_comes_out_sorted_or_appended() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(known(dir.path(), 0..10), 0);
        let mut end = 0;
        for step in [3, 500, 500, 500, 2_000, 1, 1] {
            add(dir.path(), end..end + step);
            end += step;
            assert_eq!(known(dir.path(), 0..end + 10), end as usize);
        }
        let cache = Cache::load(dir.path());
        assert!(!cache.sorted.is_empty() && !cache.tail.is_empty());
    }

    #[test]
    fn damage_is_forgotten_and_repaired() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("andon/cache/fingerprints");
        add(dir.path(), 0..100);
        add(dir.path(), 100..120);
        let good = std::fs::read(&path).unwrap();
        for at in (0..good.len()).step_by(7) {
            let mut bad = good.clone();
            bad[at] ^= 0x40;
            std::fs::write(&path, &bad).unwrap();
            let found = known(dir.path(), 0..120);
            assert!([20, 100].contains(&found), "{at}: {found}");
        }
        for length in (0..good.len()).step_by(11) {
            std::fs::write(&path, &good[..length]).unwrap();
            known(dir.path(), 0..120);
            add(dir.path(), 200..201);
            assert_eq!(known(dir.path(), 200..201), 1, "{length}");
        }
    }

    #[test]
    fn size_is_bounded_by_what_is_needed() {
        let dir = tempfile::tempdir().unwrap();
        for round in 0..20 {
            add(dir.path(), round * 2_000..(round + 1) * 2_000);
        }
        let cache = Cache::load(dir.path());
        assert!(cache.sorted.len() / RECORD + cache.tail.len() <= MIN_RECORDS + MAX_TAIL);
        assert_eq!(known(dir.path(), 38_000..40_000), 2_000);
    }

    #[test]
    fn writers_at_once_do_no_harm() {
        let dir = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for writer in 0..8 {
                let dir = dir.path();
                scope.spawn(move || {
                    for round in 0..30 {
                        let start = writer * 10_000 + round * 60;
                        add(dir, start..start + 60);
                        known(dir, 0..500);
                    }
                });
            }
        });
        assert!(known(dir.path(), 0..80_000) > 0);
    }
}
