//! Values that the program remembers to save time. Each kind has a file of its own below `andon/cache/`, in which a value is stored
//! under a key made of its inputs ([`crate::wire::envelope`]). A value that is missing, damaged, from other inputs or from
//! another version is computed again. Failing to store it costs time only.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::file;
use crate::wire::envelope::{Key, open, seal};
use andon_git::Repo;

/// A kind of memories: its file, whose it is, and the most bytes that are kept and read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kind(&'static str, Scope, u64);

/// Whose a memory is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scope {
    Repository,
    Worktree,
}

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

impl Kind {
    /// Diffs and fingerprints of commits, for walks over long histories.
    pub const DERIVED: Self = Self("derived", Scope::Repository, 64 * MIB);
    /// Code fingerprints of trees.
    pub const FINGERPRINTS: Self = Self("fingerprints", Scope::Repository, 64 * MIB);
    /// The unanswered halts of all ledgers, and the answers.
    pub const HALTS: Self = Self("halts", Scope::Repository, 5 * MIB);
    /// The signed ledger, read and verified.
    pub const LEDGER: Self = Self("ledger", Scope::Repository, 128 * MIB);
    /// The newest halt of a worktree.
    pub const NEWEST_HALT: Self = Self("newest-halt", Scope::Repository, 4 * KIB);
    /// Failing commits that came from other clones.
    pub const RED: Self = Self("red", Scope::Repository, 64 * KIB);
    /// The places of the results of tests, by the code that they ran on.
    pub const RESULTS: Self = Self("results", Scope::Repository, 4 * MIB);
    /// The list of rounds that wait for people.
    pub const ROUNDS: Self = Self("rounds", Scope::Repository, 8 * MIB);
    /// The refs of writers that were taken in.
    pub const SYNC: Self = Self("sync", Scope::Repository, 32 * MIB);
    /// The names of the tests of a run, a file for each set.
    pub const TESTS: Self = Self("tests", Scope::Repository, 24 * MIB);
    /// The fold of the first part of the journal.
    pub const TOTALS: Self = Self("totals", Scope::Worktree, 8 * MIB);
    /// That no lost halt was found in any ledger.
    pub const TRACES: Self = Self("traces", Scope::Worktree, KIB);
    /// The remote whose answer a push waited for in vain, and when.
    pub const WAITS: Self = Self("waits", Scope::Repository, KIB);
    /// The newest window of records.
    pub const WINDOW: Self = Self("window", Scope::Worktree, 16 * MIB);

    /// The most bytes that are kept and read.
    pub const fn max(self) -> u64 {
        self.2
    }
}

/// One memory of a repository or of a worktree.
#[derive(Debug, Clone)]
pub struct Memory {
    path: PathBuf,
    kind: Kind,
}

impl Memory {
    /// The memory of `kind` that belongs to `repo`.
    pub fn new(repo: &Repo, kind: Kind) -> Self {
        let folder = match kind.1 {
            Scope::Repository => repo.common_dir(),
            Scope::Worktree => repo.git_dir(),
        };
        Self::below(&folder.join("andon"), kind)
    }

    /// The same, where only the folder of Andon's files is known.
    pub fn below(andon: &Path, kind: Kind) -> Self {
        Self { path: andon.join("cache").join(kind.0), kind }
    }

    /// The value that was made of `inputs`, among the bytes of the file.
    pub fn decoded<'a, T: Deserialize<'a>>(&self, inputs: &impl Serialize, bytes: &'a [u8]) -> Option<T> {
        open(self.key(inputs), bytes)
    }

    /// The value that was made of `inputs`.
    pub fn get<T: DeserializeOwned>(&self, inputs: &impl Serialize) -> Option<T> {
        self.decoded(inputs, &self.bytes()?)
    }

    /// Keeps the value that was made of `inputs`, instead of the one before.
    pub fn put(&self, inputs: &impl Serialize, value: &(impl Serialize + ?Sized)) {
        let bytes = seal(self.key(inputs), value);
        if bytes.len() as u64 <= self.kind.max() {
            let _ = file::replace(&self.path, &bytes);
        }
    }

    /// The one of several memories of a kind that has this name.
    #[must_use]
    pub fn named(&self, name: &str) -> Self {
        Self { path: self.path.join(name), kind: self.kind }
    }

    /// The file, or the folder of several.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// All of the file, for kinds that hold a row of entries.
    pub fn bytes(&self) -> Option<Vec<u8>> {
        file::read(&self.path, self.kind.max()).ok()?
    }

    fn key(&self, inputs: &impl Serialize) -> Key {
        Key::new(&(self.kind.0, inputs))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_damaged_memory_or_one_of_other_inputs_is_forgotten(
            garbage in prop::collection::vec(any::<u8>(), 0..300),
            cut in any::<prop::sample::Index>(),
            value in ".{0,20}",
        ) {
            let dir = tempfile::tempdir().unwrap();
            let memory = Memory::below(dir.path(), Kind::HALTS);
            prop_assert_eq!(memory.get::<String>(&1), None);
            memory.put(&1, &value);
            prop_assert_eq!(memory.get::<String>(&1), Some(value.clone()));
            prop_assert_eq!(memory.get::<String>(&2), None);
            let good = std::fs::read(memory.path()).unwrap();
            std::fs::write(memory.path(), &good[..cut.index(good.len())]).unwrap();
            prop_assert_eq!(memory.get::<String>(&1), None);
            std::fs::write(memory.path(), &garbage).unwrap();
            prop_assert_eq!(memory.get::<String>(&1), None);
        }
    }

    #[test]
    fn what_is_too_large_is_not_kept_and_not_read() {
        let dir = tempfile::tempdir().unwrap();
        let memory = Memory::below(dir.path(), Kind::TRACES);
        memory.put(&1, "small");
        memory.put(&1, &"x".repeat(2000));
        assert_eq!(memory.get::<String>(&1).as_deref(), Some("small"));
        std::fs::write(memory.path(), [b'x'; 2000]).unwrap();
        assert_eq!(memory.bytes(), None);
    }
}
