//! One note into a tree of notes, by the bytes of its trees.
//!
//! A hook adds one note, and the trees above it have 256 entries each once there are thousands: to take them apart and
//! put them together again took longer than everything else that adding does. What is not of the plain shape (directories
//! of two digits alone, or notes alone) is left to the writer that looks at the whole.

use std::cmp::Ordering;
use std::ops::Range;

use super::error::GitError;
use super::notes::{is_digits, is_fanout};
use super::notes_write::MAX_FLAT;
use super::objects::{MODE_FILE, MODE_TREE};
use super::repo::Repo;
use super::trees::{ID, RawTree};
use crate::domain::ids::{Oid, TreeId};

/// Where the note belongs in one tree.
enum Slot {
    /// In the directory of this id, whose digits take the last bytes up to here.
    Below(Oid, usize),
    /// In place of these bytes: an older note of the commit, or none.
    Here(Range<usize>),
}

impl Repo {
    /// The tree `tree` with the note `blob` under `digits`; `None` where its shape is not plain or has to change. Then
    /// nothing was written.
    pub(super) fn patched(&self, tree: TreeId, digits: &str, blob: Oid) -> Result<Option<TreeId>, GitError> {
        let raw = self.note_tree(tree)?;
        let old = raw.bytes();
        let (place, new) = match slot(&raw, digits) {
            None => return Ok(None),
            Some(Slot::Below(id, end)) => {
                let below = digits.get(2..).unwrap_or_default();
                let Some(below) = self.patched(TreeId(id), below, blob)? else { return Ok(None) };
                (end - ID..end, below.0.as_bytes().to_vec())
            }
            Some(Slot::Here(place)) => {
                (place, [b"100644 ", digits.as_bytes(), b"\0", blob.as_bytes()].concat())
            }
        };
        let bytes = [&old[..place.start], &new, &old[place.end..]].concat();
        self.write_object("a tree", git2::ObjectType::Tree, &bytes).map(|id| Some(TreeId(id)))
    }
}

fn slot(raw: &RawTree, digits: &str) -> Option<Slot> {
    let first = raw.read(0)?.0;
    if first.mode == MODE_TREE { directory(raw, digits) } else { file(raw, digits) }
}

/// In a tree of nothing but directories of two digits.
fn directory(raw: &RawTree, digits: &str) -> Option<Slot> {
    let (wanted, _) = digits.as_bytes().split_at_checked(2).filter(|(_, below)| !below.is_empty())?;
    let (mut found, mut at) = (None, 0);
    while let Some((entry, next)) = raw.read(at) {
        if entry.mode != MODE_TREE || !std::str::from_utf8(entry.name).is_ok_and(is_fanout) {
            return None;
        }
        if entry.name == wanted {
            found = Some(Slot::Below(entry.id(), next));
        }
        at = next;
    }
    found
}

/// In a tree of nothing but notes of as many digits, if it may have one more.
fn file(raw: &RawTree, digits: &str) -> Option<Slot> {
    let (mut place, mut at, mut count) = (None, 0, 0);
    while let Some((entry, next)) = raw.read(at) {
        let plain = entry.mode == MODE_FILE && entry.name.len() == digits.len();
        if !plain || !std::str::from_utf8(entry.name).is_ok_and(is_digits) {
            return None;
        }
        match entry.name.cmp(digits.as_bytes()) {
            Ordering::Less => {}
            Ordering::Equal => place = Some(at..next),
            Ordering::Greater => place = place.or(Some(at..at)),
        }
        (at, count) = (next, count + 1);
    }
    (count <= MAX_FLAT).then(|| Slot::Here(place.unwrap_or(at..at)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::notes_write::Notes;
    use super::super::scratch::Scratch;
    use super::*;

    /// Few first digits, so that directories fill.
    fn digits() -> impl Strategy<Value = String> {
        (0_u8..3, 0_u8..40, any::<u64>())
            .prop_map(|(first, second, rest)| format!("{first:02x}{second:02x}{rest:016x}{:020x}", 7))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn the_patched_tree_is_the_one_that_is_made_anew(
            many in prop::collection::btree_set(digits(), 1..900),
            more in prop::collection::vec(digits(), 1..12),
        ) {
            let scratch = Scratch::new();
            let repo = scratch.open();
            let blob = repo.write_blob(b"note").unwrap();
            let other = repo.write_blob(b"other").unwrap();
            let notes: Notes = many.iter().map(|digits| (digits.clone(), blob)).collect();
            let mut tree = repo.notes_tree(None, &notes).unwrap();
            // A second look makes the directories that have grown too large.
            tree = repo.notes_tree(Some(tree), &Notes::from([(format!("ff{}", "0".repeat(38)), blob),
                (format!("fe{}", "0".repeat(38)), blob)])).unwrap();
            for digits in more.iter().chain(many.iter().step_by(97)) {
                let one = Notes::from([(digits.clone(), other)]);
                let anew = repo.notes_tree_anew(Some(tree), &one).unwrap();
                if let Some(patched) = repo.patched(tree, digits, other).unwrap() {
                    prop_assert_eq!(patched, anew);
                }
                tree = anew;
            }
        }
    }

    #[test]
    fn a_plain_tree_is_patched_and_no_other() {
        let scratch = Scratch::new();
        let repo = scratch.open();
        let blob = repo.write_blob(b"note").unwrap();
        let digits = |first: &str| format!("{first}{}", "0".repeat(40 - first.len()));
        let tree = |names: &[&str]| {
            let notes = names.iter().map(|name| (digits(name), blob)).collect();
            repo.notes_tree(None, &notes).unwrap()
        };
        let plain = tree(&["aa1", "bb1"]);
        assert!(repo.patched(plain, &digits("aa2"), blob).unwrap().is_some());
        assert!(repo.patched(plain, &digits("aa1"), blob).unwrap().is_some());
        assert!(repo.patched(plain, &digits("cc1"), blob).unwrap().is_none(), "a directory is missing");
        let mut entries = repo.tree_entries(plain).unwrap();
        let name = b"README".to_vec();
        entries.push(super::super::TreeEntry { name, mode: MODE_FILE, id: blob });
        let mixed = repo.write_tree_entries(&entries).unwrap();
        assert!(repo.patched(mixed, &digits("aa2"), blob).unwrap().is_none());
        let empty = repo.write_tree_entries(&[]).unwrap();
        assert!(repo.patched(empty, &digits("aa2"), blob).unwrap().is_none());
    }
}
