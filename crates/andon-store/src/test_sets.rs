//! Which tests a run had, by the hash of their set (`<common dir>/andon/cache/tests`): records hold the hash, and a commit is
//! compared by name with the one before while both lists are here. A saving: what is not here is not compared.

use std::path::{Path, PathBuf};

use crate::wire::envelope::{Key, open, seal};
use andon_core::domain::ids::Digest;
use andon_core::domain::tests::Identity;
use andon_git::{read_plain, replace_plain};

/// Lists that are kept, the newest.
const MAX_KEPT: usize = 32;
/// Largest list that is read, in bytes.
const MAX_BYTES: u64 = 24 << 20;

fn directory(common_dir: &Path) -> PathBuf {
    common_dir.join("andon").join("cache").join("tests")
}

fn key(set: Digest) -> Key {
    Key::of(&("tests", set))
}

/// Keeps the tests of the set. Failing to keep them costs a comparison only.
pub fn keep(common_dir: &Path, set: Digest, tests: &[Identity]) {
    let directory = directory(common_dir);
    let list: Vec<(&str, bool)> = tests.iter().map(|test| (test.id.as_str(), test.skipped)).collect();
    let _ = replace_plain(&directory.join(set.to_string()), &seal(key(set), &list));
    let files = std::fs::read_dir(&directory).into_iter().flatten().filter_map(Result::ok);
    let mut files: Vec<_> =
        files.filter_map(|file| Some((file.metadata().ok()?.modified().ok()?, file.path()))).collect();
    files.sort();
    for (_, old) in files.iter().rev().skip(MAX_KEPT) {
        let _ = std::fs::remove_file(old);
    }
}

/// The tests of the set, where they are here.
pub fn load(common_dir: &Path, set: Digest) -> Option<Vec<Identity>> {
    let bytes = read_plain(&directory(common_dir).join(set.to_string()), MAX_BYTES).ok()??;
    let list: Vec<(String, bool)> = open(key(set), &bytes)?;
    Some(list.into_iter().map(|(id, skipped)| Identity { id, skipped }).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_lists_are_kept_and_damaged_ones_are_none() {
        let dir = tempfile::tempdir().unwrap();
        let tests = [Identity { id: "a::b".into(), skipped: true }];
        for number in 0..40 {
            keep(dir.path(), Digest([number; 32]), &tests);
        }
        assert_eq!(std::fs::read_dir(directory(dir.path())).unwrap().count(), MAX_KEPT);
        assert_eq!(load(dir.path(), Digest([39; 32])), Some(tests.to_vec()));
        assert_eq!(load(dir.path(), Digest([0; 32])), None);
        let place = |number: u8| directory(dir.path()).join(Digest([number; 32]).to_string());
        std::fs::copy(place(39), place(38)).unwrap();
        assert_eq!(load(dir.path(), Digest([38; 32])), None, "another set");
        std::fs::write(place(39), "x").unwrap();
        assert_eq!(load(dir.path(), Digest([39; 32])), None);
    }
}
