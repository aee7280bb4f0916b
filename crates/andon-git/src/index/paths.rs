//! The paths in the index, read from its bytes.
//!
//! Whatever is not plain files all the way through (submodules, sparse directories, a split
//! index, a version that is not known) is no answer.

use std::fs::File;
use std::io::Read;
use std::path::Path;

#[cfg(target_os = "linux")]
use crate::index::entries::{self, Entries};
#[cfg(target_os = "linux")]
use crate::objects::{MODE_EXECUTABLE, MODE_FILE, MODE_LINK};

/// Largest index that is read, in bytes.
const MAX_INDEX: u64 = 256 << 20;

/// The bytes of the index at `path`; `None` when it cannot be read or is too large.
pub(crate) fn read(path: &Path) -> Option<Vec<u8>> {
    let file = File::open(path).ok()?;
    let size = file.metadata().ok()?.len();
    let mut bytes = Vec::with_capacity(usize::try_from(size.min(MAX_INDEX)).ok()?);
    file.take(MAX_INDEX + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 <= MAX_INDEX).then_some(bytes)
}

/// Calls `each` with every path. `None`, with some of them seen or none, unless the index has plain files only.
#[cfg(target_os = "linux")]
pub(crate) fn walk(bytes: &[u8], each: &mut dyn FnMut(&[u8])) -> Option<()> {
    let mut plain = Some(());
    let entries = entries::walk(bytes, &mut |entry| {
        if !matches!(entry.mode, MODE_FILE | MODE_EXECUTABLE | MODE_LINK) {
            plain = None;
        }
        each(entry.path);
    })?;
    plain.filter(|()| entries == Entries::All)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate::scratch::Scratch;

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
