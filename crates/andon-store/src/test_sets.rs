//! Which tests a run had, by the hash of their set (`<common dir>/andon/cache/tests`): records hold the hash, and a commit is
//! compared by name with the one before while both lists are here. A saving: what is not here is not compared.

use std::path::Path;

use crate::{Memory, memory::Kind};
use andon_core::domain::{Digest, NamedTest};

/// Lists that are kept, the newest: each scope has its own.
const MAX_KEPT: usize = 256;

fn memory(common_dir: &Path) -> Memory {
    Memory::below(&common_dir.join("andon"), Kind::TESTS)
}

/// Keeps the tests of the set. Failing to keep them costs a comparison only.
pub fn keep(common_dir: &Path, set: Digest, tests: &[NamedTest]) {
    let memory = memory(common_dir);
    let list: Vec<(&str, bool)> = tests.iter().map(|test| (test.id.as_str(), test.skipped)).collect();
    memory.named(&set.to_string()).put(&set, &list);
    let files = std::fs::read_dir(memory.path()).into_iter().flatten().filter_map(Result::ok);
    let mut files: Vec<_> =
        files.filter_map(|file| Some((file.metadata().ok()?.modified().ok()?, file.path()))).collect();
    files.sort();
    for (_, old) in files.iter().rev().skip(MAX_KEPT) {
        let _ = std::fs::remove_file(old);
    }
}

/// The tests of the set, where they are here.
pub fn load(common_dir: &Path, set: Digest) -> Option<Vec<NamedTest>> {
    let list: Vec<(String, bool)> = memory(common_dir).named(&set.to_string()).get(&set)?;
    Some(list.into_iter().map(|(id, skipped)| NamedTest { id, skipped }).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_lists_are_kept_and_damaged_ones_are_none() {
        let dir = tempfile::tempdir().unwrap();
        let tests = [NamedTest { id: "a::b".into(), skipped: true }];
        let digest = |number: usize| {
            let mut bytes = [0; 32];
            bytes[24..].copy_from_slice(&number.to_be_bytes());
            Digest(bytes)
        };
        let newest = MAX_KEPT + 7;
        for number in 0..=newest {
            keep(dir.path(), digest(number), &tests);
        }
        assert_eq!(std::fs::read_dir(memory(dir.path()).path()).unwrap().count(), MAX_KEPT);
        assert_eq!(load(dir.path(), digest(newest)), Some(tests.to_vec()));
        assert_eq!(load(dir.path(), digest(0)), None);
        let place = |number| memory(dir.path()).path().join(digest(number).to_string());
        std::fs::copy(place(newest), place(newest - 1)).unwrap();
        assert_eq!(load(dir.path(), digest(newest - 1)), None, "another set");
        std::fs::write(place(newest), "x").unwrap();
        assert_eq!(load(dir.path(), digest(newest)), None);
    }
}
