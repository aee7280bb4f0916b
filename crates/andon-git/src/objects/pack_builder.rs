//! Objects that are gathered in memory, until they are made into a pack.

use std::{cell::RefCell, path::Path};

/// git's own mode of packs, under the mask of the process.
const MODE: u32 = 0o444;

/// Objects that are in memory only.
pub(crate) struct PackBuilder {
    memory: git2::Repository,
    ids: RefCell<Vec<git2::Oid>>,
}

impl PackBuilder {
    pub(crate) fn new() -> Result<Self, git2::Error> {
        let store = git2::Odb::new()?;
        store.add_new_mempack_backend(1)?;
        Ok(Self { memory: git2::Repository::from_odb(store)?, ids: RefCell::default() })
    }

    pub(crate) fn write(&self, kind: git2::ObjectType, bytes: &[u8]) -> Result<git2::Oid, git2::Error> {
        let id = self.memory.odb()?.write(kind, bytes)?;
        self.ids.borrow_mut().push(id);
        Ok(id)
    }

    /// The object that came last.
    pub(crate) fn last(&self) -> Option<git2::Oid> {
        self.ids.borrow().last().copied()
    }

    /// Makes the pack and its index in `dir` and says what they are called.
    pub(crate) fn pack(self, dir: &Path) -> Result<String, git2::Error> {
        let mut builder = self.memory.packbuilder()?;
        for id in self.ids.take() {
            builder.insert_object(id, None)?;
        }
        builder.write(dir, MODE)?;
        Ok(format!("pack-{}", builder.name()?.unwrap_or_default()))
    }
}
