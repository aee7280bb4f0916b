//! Trees as git stores them, looked at without a copy of every name.

use std::{cmp::Ordering, ops::Range};

use andon_core::domain::Oid;

/// Mode of a directory.
pub const MODE_TREE: u32 = 0o040_000;
/// Mode of a plain file.
pub const MODE_FILE: u32 = 0o100_644;
/// Mode of an executable file.
pub const MODE_EXECUTABLE: u32 = 0o100_755;
/// Mode of a symbolic link.
pub const MODE_LINK: u32 = 0o120_000;
/// Mode of a submodule: the id is a commit of another repository.
pub const MODE_SUBMODULE: u32 = 0o160_000;

/// Bytes of an id; libgit2 opens no repository with longer ones.
pub(crate) const ID: usize = 20;
/// The longest name that libgit2 takes, in bytes.
const MAX_NAME: usize = u16::MAX as usize;
/// Bytes of an entry, for a first guess at how many there are.
const USUAL_ENTRY: usize = 40;

/// The entries of one directory, well formed.
#[derive(Debug, PartialEq, Eq)]
pub struct RawTree {
    bytes: Vec<u8>,
    /// The offset of each entry.
    starts: Vec<u32>,
}

/// The entries of two directories that may differ: all before them and all after them are the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DifferingEntries {
    /// Numbers of the entries of the one.
    pub old: Range<usize>,
    /// Numbers of the entries of the other.
    pub new: Range<usize>,
}

/// One entry of a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RawEntry<'a> {
    /// The mode, normalized as git does with the odd ones of old repositories.
    pub mode: u32,
    /// One path component.
    pub name: &'a [u8],
    id: &'a [u8],
}

impl RawEntry<'_> {
    /// The blob, tree or commit.
    pub fn id(&self) -> Oid {
        Oid::from_bytes(self.id).unwrap_or(Oid::ZERO)
    }

    /// git's order of two entries of one tree.
    pub fn cmp_in_tree(&self, other: &Self) -> Ordering {
        git_order(self.name, self.mode, other.name, other.mode)
    }
}

impl RawTree {
    pub(crate) fn new(bytes: Vec<u8>) -> Result<Self, &'static str> {
        let mut starts = Vec::with_capacity(bytes.len() / USUAL_ENTRY);
        let mut at = 0;
        while at < bytes.len() {
            starts.push(u32::try_from(at).map_err(|_| "it is too large")?);
            at = parse(&bytes, at)?.1;
        }
        Ok(Self { bytes, starts })
    }

    /// The entry of that name.
    pub(crate) fn find(&self, name: &[u8]) -> Option<RawEntry<'_>> {
        self.entries().find(|entry| entry.name == name)
    }

    /// The number of entries.
    pub fn count(&self) -> usize {
        self.starts.len()
    }

    /// Entry `number`, from 0, in git's order.
    pub fn entry(&self, number: usize) -> Option<RawEntry<'_>> {
        let at = *self.starts.get(number)?;
        parse(&self.bytes, usize::try_from(at).ok()?).ok().map(|(entry, _)| entry)
    }

    /// The entries in git's order.
    pub fn entries(&self) -> impl Iterator<Item = RawEntry<'_>> {
        (0..self.count()).filter_map(|number| self.entry(number))
    }

    /// Returns the entries that may differ from those of `old`, found by comparing bytes, not names.
    pub fn differing(&self, old: &Self) -> DifferingEntries {
        let common = common_bytes(&old.bytes, &self.bytes);
        let first = old.number_at(common).min(self.number_at(common));
        let (mut ends, mut bytes) = ((old.count(), self.count()), (old.bytes.len(), self.bytes.len()));
        while ends.0 > first && ends.1 > first {
            let starts = (old.starts[ends.0 - 1] as usize, self.starts[ends.1 - 1] as usize);
            if old.bytes[starts.0..bytes.0] != self.bytes[starts.1..bytes.1] {
                break;
            }
            (ends, bytes) = ((ends.0 - 1, ends.1 - 1), starts);
        }
        DifferingEntries { old: first..ends.0, new: first..ends.1 }
    }

    /// The number of entries that end at byte `at` or before it.
    fn number_at(&self, at: usize) -> usize {
        if at >= self.bytes.len() {
            return self.count();
        }
        self.starts.partition_point(|start| *start as usize <= at).saturating_sub(1)
    }

    pub(crate) fn size(&self) -> usize {
        self.bytes.len() + self.starts.len() * size_of::<u32>()
    }
}

/// The length of the common prefix of two texts, in bytes.
fn common_bytes(one: &[u8], other: &[u8]) -> usize {
    const STEP: usize = 64;
    let equal = one.chunks(STEP).zip(other.chunks(STEP)).take_while(|(one, other)| one == other).count();
    let at = (equal * STEP).min(one.len()).min(other.len());
    at + one[at..].iter().zip(&other[at..]).take_while(|(one, other)| one == other).count()
}

fn parse(bytes: &[u8], at: usize) -> Result<(RawEntry<'_>, usize), &'static str> {
    let rest = bytes.get(at..).filter(|rest| !rest.is_empty()).ok_or("it ends early")?;
    let mut mode = 0_u32;
    let mut digits = 0;
    for byte in rest {
        match byte {
            b'0'..=b'7' if mode <= 0o17_777 => mode = mode << 3 | u32::from(byte - b'0'),
            b' ' if digits > 0 => break,
            _ => return Err("a mode is none"),
        }
        digits += 1;
    }
    let rest = rest.get(digits + 1..).unwrap_or_default();
    // Not by memchr: asking the processor what it can takes longer than a search this short.
    let length = rest.iter().position(|byte| *byte == 0).ok_or("a name has no end")?;
    if length == 0 || length > MAX_NAME {
        return Err("a name is empty or too long");
    }
    let id = rest.get(length + 1..length + 1 + ID).ok_or("an id is cut short")?;
    let entry = RawEntry { mode: normalized(mode), name: &rest[..length], id };
    Ok((entry, at + digits + 1 + length + 1 + ID))
}

/// git's order of two entries of one tree.
pub(crate) fn git_order(name: &[u8], mode: u32, other: &[u8], other_mode: u32) -> Ordering {
    let common = name.len().min(other.len());
    name[..common].cmp(&other[..common]).then_with(|| {
        let end = |name: &[u8], mode| match name.get(common) {
            Some(byte) => *byte,
            None if mode == MODE_TREE => b'/',
            None => 0,
        };
        end(name, mode).cmp(&end(other, other_mode)).then(name.len().cmp(&other.len()))
    })
}

/// As git and libgit2 take the modes that old versions wrote.
fn normalized(mode: u32) -> u32 {
    match mode & 0o170_000 {
        MODE_TREE => MODE_TREE,
        _ if mode & 0o100 != 0 => MODE_EXECUTABLE,
        MODE_SUBMODULE => MODE_SUBMODULE,
        MODE_LINK => MODE_LINK,
        _ => MODE_FILE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(entries: &[(&str, &str)]) -> Vec<u8> {
        let entry =
            |(mode, name): &(&str, &str)| [mode.as_bytes(), b" ", name.as_bytes(), b"\0", &[7; ID]].concat();
        entries.iter().flat_map(entry).collect()
    }

    #[test]
    fn modes_of_old_repositories_are_normalized() {
        let bytes = tree(&[
            ("100644", "a"),
            ("100664", "b"),
            ("100755", "c"),
            ("120000", "d"),
            ("160000", "e"),
            ("40000", "f"),
            ("040000", "g"),
            ("100775", "h"),
        ]);
        let raw = RawTree::new(bytes).unwrap();
        let found: Vec<(u32, &[u8])> = raw.entries().map(|entry| (entry.mode, entry.name)).collect();
        let modes = [
            MODE_FILE,
            MODE_FILE,
            MODE_EXECUTABLE,
            MODE_LINK,
            MODE_SUBMODULE,
            MODE_TREE,
            MODE_TREE,
            MODE_EXECUTABLE,
        ];
        assert_eq!(found.iter().map(|entry| entry.0).collect::<Vec<u32>>(), modes);
        assert_eq!(found[3].1, b"d");
        assert_eq!(raw.entries().next().unwrap().id(), Oid::from_bytes(&[7; ID]).unwrap());
    }

    proptest::proptest! {
        /// Entries outside of those that may differ are the same, and nothing is missed.
        #[test]
        fn only_what_is_the_same_is_left_out(
            old in proptest::collection::btree_map("[a-c]{1,3}", 0_u8..3, 0..9),
            new in proptest::collection::btree_map("[a-c]{1,3}", 0_u8..3, 0..9),
        ) {
            let raw = |entries: &std::collections::BTreeMap<String, u8>| {
                let entry = |(name, id): (&String, &u8)| [b"100644 ", name.as_bytes(), b"\0", &[*id; ID]].concat();
                RawTree::new(entries.iter().flat_map(entry).collect()).unwrap()
            };
            let (one, other) = (raw(&old), raw(&new));
            let found = other.differing(&one);
            let all = |tree: &RawTree, range: Range<usize>| -> Vec<(Vec<u8>, Oid)> {
                range.filter_map(|at| tree.entry(at)).map(|entry| (entry.name.to_vec(), entry.id())).collect()
            };
            proptest::prop_assert_eq!(
                all(&one, 0..found.old.start), all(&other, 0..found.new.start)
            );
            proptest::prop_assert_eq!(
                all(&one, found.old.end..one.count()), all(&other, found.new.end..other.count())
            );
            proptest::prop_assert_eq!(one.bytes == other.bytes, found.old.is_empty() && found.new.is_empty());
        }
    }

    proptest::proptest! {
        /// Whatever a tree holds, it is refused, or every byte of it belongs to an entry.
        #[test]
        fn damaged_bytes_are_refused_or_read_to_their_end(
            names in proptest::collection::btree_set("[0-9a-f]{2}", 1..20),
            file in proptest::bool::ANY,
            damage in proptest::option::of((0_usize..600, proptest::num::u8::ANY)),
            cut in 0_usize..3,
        ) {
            let mode = if file { "100644" } else { "40000" };
            let entries: Vec<(&str, &str)> = names.iter().map(|name| (mode, name.as_str())).collect();
            let mut bytes = tree(&entries);
            if let Some((at, byte)) = damage {
                let at = at % bytes.len();
                bytes[at] = byte;
            }
            bytes.truncate(bytes.len() - cut);
            let whole = cut == 0 && damage.is_none();
            let raw = RawTree::new(bytes.clone());
            proptest::prop_assert!(raw.is_ok() || !whole);
            if let Ok(raw) = raw {
                proptest::prop_assert_eq!(raw.entries().count(), raw.count());
                let name = |entry: RawEntry<'_>| String::from_utf8_lossy(entry.name).into_owned();
                proptest::prop_assert!(!whole || raw.entries().map(name).eq(names.iter().cloned()));
            }
        }
    }

    #[test]
    fn an_entry_is_found_by_its_name() {
        let names: Vec<String> = (0..=255).step_by(3).map(|number| format!("{number:02x}")).collect();
        let even: Vec<(&str, &str)> = names.iter().map(|name| ("40000", name.as_str())).collect();
        let mut odd = even.clone();
        odd.push(("100644", "README"));
        for entries in [even, odd] {
            let raw = RawTree::new(tree(&entries)).unwrap();
            for number in 0..=256 {
                let name = format!("{number:02x}");
                let found = raw.find(name.as_bytes()).map(|entry| entry.name);
                assert_eq!(found.is_some(), names.contains(&name), "{name}");
            }
            assert!(["", "0", "000", "fff"].iter().all(|name| raw.find(name.as_bytes()).is_none()));
        }
        assert!(RawTree::new(Vec::new()).unwrap().find(b"00").is_none());
    }

    #[test]
    fn what_is_no_tree_is_refused() {
        let good = tree(&[("100644", "name"), ("40000", "dir")]);
        assert!(RawTree::new(Vec::new()).unwrap().entries().next().is_none());
        for end in 1..good.len() {
            assert_eq!(RawTree::new(good[..end].to_vec()).is_ok(), end == good.len() / 2 + 1, "{end}");
        }
        for bad in [&b" name\0"[..], b"1064x name\0", b"10064400 name\0", b"100644 \0"] {
            assert!(RawTree::new([bad, &[1; ID]].concat()).is_err(), "{}", String::from_utf8_lossy(bad));
        }
    }
}
