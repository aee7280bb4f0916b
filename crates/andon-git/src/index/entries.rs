//! The entries of the index, read from its bytes: the offset of each, its flags and its path.
//!
//! libgit2 makes an object of every entry and knows neither a split nor a sparse index; a look at paths, flags and stat
//! data needs neither, and takes a tenth of the time.

use std::path::Path;

use crate::files::read_plain;

/// Largest index that is read, in bytes.
const MAX_INDEX: u64 = 256 << 20;
/// Bytes of an id and of the trailing checksum. libgit2 opens SHA-1 repositories only.
pub(crate) const HASH: usize = 20;
/// Stat data before the id; the mode is at [`MODE_AT`] in it.
pub(crate) const STAT: usize = 40;
/// The offset of the mode in the stat data.
pub(crate) const MODE_AT: usize = 24;

/// Further flags follow.
const EXTENDED: u16 = 0x4000;
/// `git update-index --assume-unchanged`.
pub(crate) const ASSUME_UNCHANGED: u16 = 0x8000;
/// Stages of a conflict.
const STAGES: u16 = 0x3000;
/// Among the further flags: `git update-index --skip-worktree`.
pub(crate) const SKIP_WORKTREE: u16 = 0x4000;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry<'a> {
    /// The offset of its stat data.
    pub(crate) at: usize,
    pub(crate) mode: u32,
    flags: u16,
    further: u16,
    pub(crate) path: &'a [u8],
}

impl Entry<'_> {
    pub(crate) fn assumed_unchanged(&self) -> bool {
        self.flags & ASSUME_UNCHANGED != 0
    }

    pub(crate) fn skips_worktree(&self) -> bool {
        self.further & SKIP_WORKTREE != 0
    }

    pub(crate) fn in_conflict(&self) -> bool {
        self.flags & STAGES != 0
    }
}

/// Sets the bit of `git update-index --assume-unchanged` of the entry at this place.
pub(crate) fn assume_unchanged(bytes: &mut [u8], at: usize) {
    if let Some(flags) = bytes.get_mut(at + STAT + HASH) {
        *flags |= ASSUME_UNCHANGED.to_be_bytes()[0];
    }
}

/// The completeness of the entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Entries {
    /// They are.
    All,
    /// The index is split or sparse: it does not hold all of its entries.
    Some,
}

/// The bytes of the index at `path`; `None` when it cannot be read or is too large.
pub(crate) fn read(path: &Path) -> Option<Vec<u8>> {
    read_plain(path, MAX_INDEX).ok().flatten()
}

/// Calls `each` with every entry. `None`, with some of them seen or none, where the bytes are no index that is known.
pub(crate) fn walk(bytes: &[u8], each: &mut dyn FnMut(&Entry<'_>)) -> Option<Entries> {
    let version = be32(bytes, 4)?;
    if !bytes.starts_with(b"DIRC") || !(2..=4).contains(&version) {
        return None;
    }
    let mut at = 12;
    let mut path = Vec::new();
    for _ in 0..be32(bytes, 8)? {
        let start = at;
        let mode = be32(bytes, start + MODE_AT)?;
        at += STAT + HASH;
        let flags = be16(bytes, at)?;
        let further = if flags & EXTENDED == 0 { 0 } else { be16(bytes, at + 2)? };
        at += if flags & EXTENDED == 0 { 2 } else { 4 };
        if version == 4 {
            let strip = usize::try_from(varint(bytes, &mut at)?).ok()?;
            path.truncate(path.len().checked_sub(strip)?);
        } else {
            path.clear();
        }
        let name = bytes.get(at..)?;
        let name = &name[..memchr::memchr(0, name)?];
        path.extend_from_slice(name);
        each(&Entry { at: start, mode, flags, further, path: &path });
        // Up to version 3 the entry is filled with one to eight NULs to a multiple of eight.
        at += name.len();
        at = if version == 4 { at + 1 } else { start + ((at - start) / 8 + 1) * 8 };
    }
    extensions(bytes, at)
}

/// Looks for an extension which says that the entries are not all there.
fn extensions(bytes: &[u8], mut at: usize) -> Option<Entries> {
    let end = bytes.len().checked_sub(HASH)?;
    let mut entries = Entries::All;
    while at < end {
        if matches!(bytes.get(at..at + 4)?, b"link" | b"sdir") {
            entries = Entries::Some;
        }
        at = at.checked_add(8)?.checked_add(be32(bytes, at + 4)? as usize)?;
    }
    (at == end).then_some(entries)
}

fn be16(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..at.checked_add(2)?)?.try_into().ok().map(u16::from_be_bytes)
}

pub(crate) fn be32(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at.checked_add(4)?)?.try_into().ok().map(u32::from_be_bytes)
}

/// git's offset encoding: seven bits a byte, one added for each byte that follows.
fn varint(bytes: &[u8], at: &mut usize) -> Option<u64> {
    let mut value = 0_u64;
    loop {
        let byte = *bytes.get(*at)?;
        *at += 1;
        value = value.checked_shl(7)? | u64::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            return Some(value);
        }
        if value > u64::from(u32::MAX) {
            return None;
        }
        value += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::Scratch;

    fn paths(scratch: &Scratch) -> Option<Vec<String>> {
        let bytes = read(&scratch.path().join(".git/index"))?;
        let mut found = Vec::new();
        let entries =
            walk(&bytes, &mut |entry| found.push(String::from_utf8_lossy(entry.path).into_owned()))?;
        (entries == Entries::All).then_some(found)
    }

    fn with_files() -> Scratch {
        let scratch = Scratch::new();
        for number in 0..300 {
            // Lengths that need every width of padding, and prefixes that come and go.
            let name = "n".repeat(number % 23 + 1);
            scratch.write(&format!("d{}/{}/{name}{number}", number % 7, "e".repeat(number % 5 + 1)), "x");
        }
        scratch.write(&format!("{}/long", "l".repeat(200)), "x");
        scratch.commit("top", "1", "one");
        scratch
    }

    #[test]
    fn every_version_has_the_paths_that_git_lists() {
        let scratch = with_files();
        for setting in ["2", "3", "4"] {
            scratch.git(&["update-index", "--index-version", setting]);
            scratch.write("intent", "to add");
            scratch.git(&["add", "-N", "intent"]);
            let listed = scratch.git(&["ls-files"]);
            let listed: Vec<&str> = listed.lines().collect();
            assert_eq!(paths(&scratch).unwrap(), listed, "{setting}");
            scratch.git(&["status"]);
            assert_eq!(paths(&scratch).unwrap(), listed, "{setting}");
        }
    }

    #[test]
    fn an_index_that_is_split_or_sparse_is_not_all_there() {
        let scratch = with_files();
        scratch.git(&["update-index", "--split-index"]);
        assert_eq!(paths(&scratch), None);
        let scratch = with_files();
        scratch.git(&["sparse-checkout", "set", "--cone", "--sparse-index", "d1"]);
        assert_eq!(paths(&scratch), None);
    }

    #[test]
    fn a_cut_or_changed_index_never_panics() {
        let scratch = with_files();
        for version in ["2", "4"] {
            scratch.git(&["update-index", "--index-version", version]);
            let bytes = read(&scratch.path().join(".git/index")).unwrap();
            for at in (0..bytes.len()).step_by(7) {
                assert_eq!(walk(&bytes[..at], &mut |_| {}), None, "{at}");
                let mut changed = bytes.clone();
                changed[at] ^= 0xff;
                let _any = walk(&changed, &mut |_| {});
            }
        }
    }
}
