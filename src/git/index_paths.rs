//! The paths in the index, read from its bytes.
//!
//! libgit2 makes an object of every entry; a look at which directories and files there are needs none, and takes a
//! tenth of the time. Whatever is not plain files all the way through (submodules, sparse directories, a split
//! index, a version that is not known) is no answer.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use super::objects::{MODE_EXECUTABLE, MODE_FILE, MODE_LINK};

/// Largest index that is read, in bytes.
const MAX_INDEX: u64 = 256 << 20;
/// Bytes of an id and of the trailing checksum. libgit2 opens SHA-1 repositories only.
const HASH: usize = 20;
/// Stat data before the id; the mode stands at [`MODE_AT`] in it.
const STAT: usize = 40;
const MODE_AT: usize = 24;
const EXTENDED: u16 = 0x4000;

/// The bytes of the index at `path`; `None` when it cannot be read or is too large.
pub(super) fn read(path: &Path) -> Option<Vec<u8>> {
    let file = File::open(path).ok()?;
    let size = file.metadata().ok()?.len();
    let mut bytes = Vec::with_capacity(usize::try_from(size.min(MAX_INDEX)).ok()?);
    file.take(MAX_INDEX + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 <= MAX_INDEX).then_some(bytes)
}

/// Calls `each` with every path. `None`, with some of them seen or none, unless the index has plain files only.
pub(super) fn walk(bytes: &[u8], each: &mut dyn FnMut(&[u8])) -> Option<()> {
    let version = be32(bytes, 4)?;
    if !bytes.starts_with(b"DIRC") || !(2..=4).contains(&version) {
        return None;
    }
    let mut at = 12;
    let mut path = Vec::new();
    for _ in 0..be32(bytes, 8)? {
        let start = at;
        if !matches!(be32(bytes, start + MODE_AT)?, MODE_FILE | MODE_EXECUTABLE | MODE_LINK) {
            return None;
        }
        at += STAT + HASH;
        let flags = u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?);
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
        each(&path);
        // Up to version 3 the entry is filled with one to eight NULs to a multiple of eight.
        at += name.len();
        at = if version == 4 { at + 1 } else { start + ((at - start) / 8 + 1) * 8 };
    }
    whole(bytes, at)
}

/// No extension says that the entries are not all there.
fn whole(bytes: &[u8], mut at: usize) -> Option<()> {
    let end = bytes.len().checked_sub(HASH)?;
    while at < end {
        if matches!(bytes.get(at..at + 4)?, b"link" | b"sdir") {
            return None;
        }
        at = at.checked_add(8)?.checked_add(be32(bytes, at + 4)? as usize)?;
    }
    (at == end).then_some(())
}

fn be32(bytes: &[u8], at: usize) -> Option<u32> {
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
    use super::super::scratch::Scratch;
    use super::*;

    fn paths(scratch: &Scratch) -> Option<Vec<String>> {
        let bytes = read(&scratch.path().join(".git/index"))?;
        let mut found = Vec::new();
        walk(&bytes, &mut |path| found.push(String::from_utf8_lossy(path).into_owned()))?;
        Some(found)
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
    fn what_is_not_plain_files_is_no_answer() {
        let scratch = with_files();
        scratch.git(&["update-index", "--split-index"]);
        assert_eq!(paths(&scratch), None);
        let scratch = with_files();
        scratch.git(&["sparse-checkout", "set", "--cone", "--sparse-index", "d1"]);
        assert_eq!(paths(&scratch), None);
        let scratch = with_files();
        let head = scratch.rev("HEAD");
        scratch.git(&["update-index", "--add", "--cacheinfo", &format!("160000,{head},sub")]);
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
