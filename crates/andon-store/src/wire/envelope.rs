//! The one form of every cache: entries that know their version, what they are about, and whether they are whole.
//!
//! ```text
//! "AND" version   u32(length of the rest)   8 bytes of sha256 over the rest
//! rest = 16 bytes of key, the value (postcard)
//! ```
//!
//! A file holds one entry, or a row of them that is only appended to. An entry that is torn, altered or of another
//! version is none; in a row the next one is found by its first four bytes. The key is a hash of all that the value
//! depends on, and of the version of the program: values are stored as the program has them in memory, so that what
//! another version wrote is never read. No cache is a format for others: deleting one costs time and nothing else.

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// The last byte changes with the layout of an entry, and with every value that is kept in one.
const MARK: [u8; 4] = *b"AND\x1c";
/// Mark, length, checksum.
const HEAD: usize = 16;
const KEY: usize = 16;

/// The hash of everything that an entry depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key([u8; KEY]);

impl Key {
    /// The key of what depends on `parts` and on this version alone.
    pub fn new(parts: &impl Serialize) -> Self {
        let version = env!("CARGO_PKG_VERSION").as_bytes();
        let hash = Sha256::new_with_prefix(MARK).chain_update(version).chain_update(bytes_of(parts));
        Self(first(&hash.finalize()))
    }
}

/// The entry that holds `value` under `key`.
pub fn seal(key: Key, value: &(impl Serialize + ?Sized)) -> Vec<u8> {
    let value = bytes_of(value);
    let length = u32::try_from(KEY + value.len()).unwrap_or(u32::MAX);
    let sum = checksum(&[&key.0, &value]);
    [&MARK[..], &length.to_le_bytes(), &sum, &key.0, &value].concat()
}

/// The value of the entry at the beginning of `bytes`, if it is whole and about `key`.
pub fn open<'a, T: Deserialize<'a>>(key: Key, bytes: &'a [u8]) -> Option<T> {
    let (found, value) = entry(bytes)?;
    decoded(value).filter(|_| found == key)
}

/// A row of entries.
#[derive(Debug, Clone)]
pub struct Row<'a> {
    bytes: &'a [u8],
    longest: usize,
    at: usize,
}

impl<'a> Row<'a> {
    /// The entries among `bytes` whose values have at most `longest` bytes.
    pub fn new(bytes: &'a [u8], longest: usize) -> Self {
        Self { bytes, longest: longest.saturating_add(HEAD + KEY), at: 0 }
    }
}

/// Each whole entry: its key, and where its value is.
impl Iterator for Row<'_> {
    type Item = (Key, std::ops::Range<usize>);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            self.at += memchr::memmem::find(self.bytes.get(self.at..)?, &MARK)?;
            let end = self.bytes.len().min(self.at.saturating_add(self.longest));
            if let Some((key, value)) = entry(&self.bytes[self.at..end]) {
                let start = self.at + HEAD + KEY;
                self.at = start + value.len();
                return Some((key, start..self.at));
            }
            self.at += 1;
        }
    }
}

/// The value that these bytes of an entry are; it may borrow from them.
pub fn decoded<'a, T: Deserialize<'a>>(value: &'a [u8]) -> Option<T> {
    let (value, rest) = postcard::take_from_bytes(value).ok()?;
    rest.is_empty().then_some(value)
}

/// A value as an entry holds it.
pub fn bytes_of(value: &(impl Serialize + ?Sized)) -> Vec<u8> {
    // Only values without a known length fail, and no type of ours is one.
    postcard::to_allocvec(value).unwrap_or_default()
}

/// The first bytes of the sha256 of what the parts are together.
pub fn checksum(parts: &[&[u8]]) -> [u8; 8] {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part);
    }
    first(&hash.finalize())
}

/// The key and the value of the entry at the beginning of `bytes`, when it is whole.
fn entry(bytes: &[u8]) -> Option<(Key, &[u8])> {
    let (head, rest) = bytes.split_at_checked(HEAD).filter(|(head, _)| head.starts_with(&MARK))?;
    let length = usize::try_from(u32::from_le_bytes(first(&head[4..]))).ok()?;
    let rest = rest.get(..length).filter(|rest| checksum(&[rest]) == head[8..])?;
    let (key, value) = rest.split_at_checked(KEY)?;
    Some((Key(first(key)), value))
}

/// The first `N` of `bytes`, which are at least as many.
pub(crate) fn first<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut taken = [0; N];
    taken.copy_from_slice(&bytes[..N]);
    taken
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    type Value = (String, Option<u64>, BTreeMap<String, Vec<u8>>);

    fn value() -> impl Strategy<Value = Value> {
        (".{0,20}", any::<Option<u64>>(), prop::collection::btree_map(".{0,4}", any::<Vec<u8>>(), 0..4))
    }

    proptest! {
        #[test]
        fn what_is_sealed_is_opened_by_its_key_alone(value in value(), more in any::<Vec<u8>>()) {
            let key = Key::new(&("a", 1));
            let sealed = seal(key, &value);
            prop_assert_eq!(open::<Value>(key, &sealed), Some(value.clone()));
            prop_assert_eq!(open::<Value>(Key::new(&("a", 2)), &sealed), None);
            prop_assert_eq!(open::<Value>(key, &[&sealed[..], &more].concat()), Some(value), "what follows is another's");
        }

        #[test]
        fn what_is_cut_or_altered_is_no_entry(value in value(), at in any::<prop::sample::Index>(), bit in 0..8_u8) {
            let key = Key::new(&"a");
            let sealed = seal(key, &value);
            let at = at.index(sealed.len());
            prop_assert_eq!(open::<Value>(key, &sealed[..at]), None);
            let mut bent = sealed;
            bent[at] ^= 1 << bit;
            prop_assert_eq!(open::<Value>(key, &bent), None);
        }

        #[test]
        fn no_bytes_panic_or_cost_memory(bytes in any::<Vec<u8>>(), at in any::<prop::sample::Index>()) {
            let mut row = [seal(Key::new(&1), "one"), seal(Key::new(&2), "two")].concat();
            let at = at.index(row.len());
            row.splice(at..at, bytes.clone());
            prop_assert!(Row::new(&row, 99).count() >= 1);
            prop_assert!(Row::new(&bytes, 99).all(|(_, place)| place.end <= bytes.len()));
            let _: Option<Value> = decoded(&bytes);
        }
    }

    #[test]
    fn a_row_goes_on_behind_what_is_torn() {
        let [one, two, three] = [1_u32, 2, 3].map(|number| seal(Key::new(&number), &number));
        for length in 0..two.len() {
            let row = [&one[..], &two[..length], &three].concat();
            let found: Vec<u32> = Row::new(&row, 99).filter_map(|(_, place)| decoded(&row[place])).collect();
            assert_eq!(found, [1, 3], "{length}");
        }
    }
}
