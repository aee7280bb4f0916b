//! Fingerprints of directories, remembered. Losing the file costs time and nothing else.
//!
//! `<common dir>/andon/cache/fingerprints`: a head of 40 bytes (16 of magic and version, the number of sorted
//! records, the largest number of records a run has needed, 8 bytes of checksum), then records of 56 bytes: 16 of
//! key, 32 of fingerprint, 8 of checksum. The sorted part is searched, the rest is what later runs appended, each in
//! one write. When the rest outgrows [`MAX_TAIL`] the file is replaced by a sorted one. What is cut, torn or altered
//! fails its checksum and counts as not known; a file that ends within a record is replaced at the next save. Writers
//! at once append side by side or replace each other's file: something is forgotten, nothing is wrong.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{BuildHasherDefault, Hasher};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use crate::domain::ids::TreeId;
use crate::store::file;
use crate::wire::envelope::checksum;

const MAGIC: &[u8; 16] = b"andon-fprints\0\0\x03";
const HEAD: usize = 40;
const RECORD: usize = 56;
/// Appended records beyond this are sorted in.
const MAX_TAIL: usize = 1024;
/// The cache may hold at least this many records, and four times what one run has needed,
const MIN_RECORDS: usize = 16_384;
/// but never more than this: 56 MB.
const MAX_RECORDS: usize = 1_000_000;

/// Names a directory: its path, its tree and the rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Key([u8; 16]);

impl Key {
    pub(super) fn of(path: &[u8], tree: TreeId, rules: &[u8; 32]) -> Self {
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

/// The cache of one run.
#[derive(Debug)]
pub(super) struct Cache {
    path: PathBuf,
    /// The file as it was read; empty when it was not usable.
    bytes: Vec<u8>,
    /// Records in the sorted part.
    sorted: usize,
    /// Whether it ends with a whole record, so that more can be appended.
    end: End,
    /// Where appended records are, by key.
    tail: ByKey<usize>,
    /// The largest number of records a run has needed.
    needed: usize,
    /// Which records of the file were asked for, by where they are.
    used: Vec<bool>,
    new: ByKey<[u8; 32]>,
    /// Those of `new` that are not in the file yet.
    unsaved: Vec<Key>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Whole,
    Ragged,
}

impl Cache {
    /// Reads the cache of the repository at `common_dir`; an unusable one is an empty one.
    pub(super) fn load(common_dir: &Path) -> Self {
        let path = common_dir.join("andon").join("cache").join("fingerprints");
        let max = (HEAD + RECORD * (MAX_RECORDS + MAX_TAIL)) as u64;
        let bytes = file::read(&path, max).ok().flatten().unwrap_or_default();
        let mut cache = Self {
            path,
            bytes,
            sorted: 0,
            end: End::Ragged,
            tail: ByKey::default(),
            needed: 0,
            used: Vec::new(),
            new: ByKey::default(),
            unsaved: Vec::new(),
        };
        cache.index();
        cache
    }

    fn index(&mut self) {
        let total = self.bytes.len().saturating_sub(HEAD) / RECORD;
        match head(&self.bytes) {
            Some((sorted, needed)) if sorted <= total => {
                if self.bytes.len() == HEAD + total * RECORD {
                    self.end = End::Whole;
                }
                self.sorted = sorted;
                self.needed = needed;
                self.tail = (sorted..total).map(|at| (self.key_at(at), at)).collect();
                self.used = vec![false; total];
            }
            Some(_) | None => self.bytes.clear(),
        }
    }

    fn record_at(&self, at: usize) -> &[u8] {
        let start = HEAD + at * RECORD;
        self.bytes.get(start..start + RECORD).unwrap_or(&[0; RECORD])
    }

    fn key_at(&self, at: usize) -> Key {
        Key(first(self.record_at(at)))
    }

    fn value_at(&self, at: usize) -> Option<[u8; 32]> {
        let record = self.record_at(at);
        (checksum(&[&record[..48]]) == record[48..]).then(|| first(&record[16..]))
    }

    /// Its value, and where it is.
    fn find(&self, key: &Key) -> Option<([u8; 32], usize)> {
        let value = |at: usize| Some((self.value_at(at)?, at));
        if let Some(found) = self.tail.get(key).and_then(|at| value(*at)) {
            return Some(found);
        }
        let (mut low, mut high) = (0, self.sorted);
        while low < high {
            let middle = low + (high - low) / 2;
            match self.record_at(middle)[..16].cmp(&key.0) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return value(middle),
            }
        }
        None
    }

    /// The fingerprint of `key`, when it is known.
    pub(super) fn get(&mut self, key: &Key) -> Option<[u8; 32]> {
        if let Some(value) = self.new.get(key) {
            return Some(*value);
        }
        let (value, at) = self.find(key)?;
        self.used[at] = true;
        Some(value)
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
        let appended = self.end == End::Whole && self.tail.len() + self.new.len() <= MAX_TAIL;
        let _ = if appended { self.append() } else { self.replace() };
        self.unsaved.clear();
    }

    fn append(&self) -> io::Result<()> {
        let new = self.unsaved.iter().filter_map(|key| Some(record(key, self.new.get(key)?)));
        file::open_append(&self.path)?.write_all(&new.flatten().collect::<Vec<u8>>())
    }

    fn replace(&self) -> io::Result<()> {
        let used = self.used.iter().enumerate().filter(|(_, used)| **used);
        let used: BTreeSet<Key> = used.map(|(at, _)| self.key_at(at)).collect();
        let needed = self.needed.max(used.len() + self.new.len()).min(MAX_RECORDS);
        let bound = needed.saturating_mul(4).clamp(MIN_RECORDS, MAX_RECORDS);
        let total = self.bytes.len().saturating_sub(HEAD) / RECORD;
        let old = (0..total).filter_map(|at| Some((self.key_at(at), self.value_at(at)?)));
        let mut records: BTreeMap<Key, [u8; 32]> = old.collect();
        records.extend(&self.new);
        if records.len() > bound {
            records.retain(|key, _| self.new.contains_key(key) || used.contains(key));
        }
        let kept = records.len().min(MAX_RECORDS);
        let body: Vec<u8> = records.iter().take(kept).flat_map(|(key, value)| record(key, value)).collect();
        file::replace(&self.path, &[&encode_head(kept, needed)[..], &body].concat())
    }
}

fn record(key: &Key, value: &[u8; 32]) -> [u8; RECORD] {
    let mut bytes = [0; RECORD];
    bytes[..16].copy_from_slice(&key.0);
    bytes[16..48].copy_from_slice(value);
    let check = checksum(&[&bytes[..48]]);
    bytes[48..].copy_from_slice(&check);
    bytes
}

fn encode_head(sorted: usize, needed: usize) -> [u8; HEAD] {
    let mut bytes = [0; HEAD];
    bytes[..16].copy_from_slice(MAGIC);
    bytes[16..24].copy_from_slice(&(sorted as u64).to_le_bytes());
    bytes[24..32].copy_from_slice(&(needed as u64).to_le_bytes());
    let check = checksum(&[&bytes[..32]]);
    bytes[32..].copy_from_slice(&check);
    bytes
}

/// The first `N` of `bytes`, which are at least as many.
fn first<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut taken = [0; N];
    taken.copy_from_slice(&bytes[..N]);
    taken
}

fn head(bytes: &[u8]) -> Option<(usize, usize)> {
    let head = bytes.get(..HEAD)?;
    if head[..16] != *MAGIC || checksum(&[&head[..32]]) != head[32..] {
        return None;
    }
    let number = |at: usize| usize::try_from(u64::from_le_bytes(first(&head[at..]))).ok();
    Some((number(16)?, number(24)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ids::Oid;

    fn key(number: u32) -> Key {
        Key::of(&number.to_be_bytes(), TreeId(Oid::from_bytes(&[1; 20]).unwrap()), &[0; 32])
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
        assert!(cache.sorted > 0 && !cache.tail.is_empty());
    }

    #[test]
    fn damage_is_forgotten_and_mended() {
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
            assert!(found == 0 || found >= 112, "{at}: {found}");
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
        assert!(cache.sorted + cache.tail.len() <= MIN_RECORDS + MAX_TAIL);
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
