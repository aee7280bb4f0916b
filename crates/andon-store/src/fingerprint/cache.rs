//! Fingerprints of directories, remembered. Losing the file costs time and nothing else.
//!
//! `<common dir>/andon/cache/fingerprints` holds one entry ([`crate::wire::envelope`]), a block of records sorted by key: 16
//! bytes of key, 32 of fingerprint. Of writers at once the last one's file stays: something is forgotten, nothing is wrong.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::{ops::Range, path::Path};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::{Memory, memory::Kind, wire::envelope::first};
use andon_core::domain::TreeId;

const KEY: usize = 16;
const RECORD: usize = KEY + 32;
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

/// The value of the file.
#[derive(Serialize, Deserialize, Default)]
struct Block<'a> {
    /// The largest number of records that a run has needed.
    needed: u32,
    /// The records, at the end of the file.
    records: &'a [u8],
}

/// The cache of one run.
#[derive(Debug)]
pub(super) struct Cache {
    memory: Memory,
    /// The file as it was read.
    bytes: Vec<u8>,
    /// The place of its records; empty when the file was not usable.
    sorted: Range<usize>,
    /// The largest number of records that a run has needed.
    needed: usize,
    /// The records of the file that were asked for.
    used: HashSet<Key>,
    new: HashMap<Key, [u8; 32]>,
    /// The number of the new records that are in the file.
    saved: usize,
}

impl Cache {
    /// Reads the cache of the repository at `common_dir`; an unusable one is an empty one.
    pub(super) fn load(common_dir: &Path) -> Self {
        let memory = Memory::below(&common_dir.join("andon"), Kind::FINGERPRINTS);
        let bytes = memory.bytes().unwrap_or_default();
        let block: Block<'_> = memory.decoded(&(), &bytes).unwrap_or_default();
        let (sorted, needed) = (bytes.len() - block.records.len()..bytes.len(), block.needed as usize);
        Self { memory, bytes, sorted, needed, used: HashSet::new(), new: HashMap::new(), saved: 0 }
    }

    /// The fingerprint of `key`, when it is known.
    pub(super) fn get(&mut self, key: &Key) -> Option<[u8; 32]> {
        if let Some(value) = self.new.get(key) {
            return Some(*value);
        }
        let (records, _) = self.bytes[self.sorted.clone()].as_chunks::<RECORD>();
        let at = records.binary_search_by(|record| record[..KEY].cmp(&key.0)).ok()?;
        self.used.insert(*key);
        Some(first(&records[at][KEY..]))
    }

    /// Remembers a fingerprint, for this run and, after [`Self::save`], for others.
    pub(super) fn insert(&mut self, key: Key, value: [u8; 32]) {
        self.new.insert(key, value);
    }

    /// Writes the new ones. A failure is ignored: the cache is only ever a saving.
    pub(super) fn save(&mut self) {
        if self.new.len() == self.saved {
            return;
        }
        self.saved = self.new.len();
        let needed = self.needed.max(self.used.len() + self.new.len()).min(MAX_RECORDS);
        let bound = needed.saturating_mul(4).clamp(MIN_RECORDS, MAX_RECORDS);
        let (old, _) = self.bytes[self.sorted.clone()].as_chunks::<RECORD>();
        let old = old.iter().map(|record| (Key(first(record)), first(&record[KEY..])));
        let mut all: BTreeMap<Key, [u8; 32]> =
            old.chain(self.new.iter().map(|(key, value)| (*key, *value))).collect();
        if all.len() > bound {
            all.retain(|key, _| self.new.contains_key(key) || self.used.contains(key));
        }
        let all = all.into_iter().take(MAX_RECORDS);
        let records: Vec<u8> = all.flat_map(|(key, value)| key.0.into_iter().chain(value)).collect();
        let needed = u32::try_from(needed).unwrap_or(u32::MAX);
        self.memory.put(&(), &Block { needed, records: &records });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use andon_core::domain::Oid;

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
    fn what_was_put_in_comes_out() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(known(dir.path(), 0..10), 0);
        let mut end = 0;
        for step in [3, 500, 500, 500, 2_000, 1, 1] {
            add(dir.path(), end..end + step);
            end += step;
            assert_eq!(known(dir.path(), 0..end + 10), end as usize);
        }
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
            assert_eq!(found, 0, "{at}");
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
        assert!(cache.sorted.len() / RECORD <= MIN_RECORDS);
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
