//! A look at the file of a loose object before libgit2 reads it.
//!
//! libgit2 waits for ever for the rest of a loose object whose file was cut short, by a full disk or a dead machine, and
//! makes room for whatever length the object claims (libgit2 issue 7342; 1.9.7 has it). So every id that libgit2 is to read
//! goes through [`Repo::vetted`], which inflates the file once in bounded memory, and nothing in this module lets libgit2
//! find its own way over objects: walks over commits are in [`crate::objects::ancestry`], revisions in [`crate::refs::revisions`], and before
//! a merge every tree and changed file is vetted. Packs need none of this: libgit2 stops where one ends.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use crate::objects::{MODE_TREE, from_git2, inflate::DamagedObject};
use crate::{Repo, Result, files::read_plain, platform::paths::path_from_bytes};
use andon_core::domain::{Oid, TreeId};

/// Largest list of alternates that is read, in bytes, and how many of them lead to one another.
const MAX_ALTERNATES: u64 = 64 * 1024;
const MAX_DELTAS: usize = 5;
/// The message about a file that is not whole.
const DAMAGED: &str = "its file is cut short or altered";

impl Repo {
    /// The id for libgit2 to read, unless the object is loose and its file is damaged.
    pub(crate) fn vetted(&self, kind: &'static str, id: Oid) -> Result<git2::Oid> {
        self.vetting
            .check(id, || self.object_dirs())
            .map_err(|DamagedObject| self.bad_object(kind, id, DAMAGED))?;
        self.to_git2(kind, id)
    }

    /// Vets `root` and every tree below it.
    pub(crate) fn vet_trees(&self, root: TreeId, vetted: &mut HashSet<TreeId>) -> Result<()> {
        let mut open = vec![root];
        while let Some(tree) = open.pop() {
            if vetted.insert(tree) {
                let entries = self.tree(tree)?;
                open.extend(
                    entries.entries().filter(|entry| entry.mode == MODE_TREE).map(|entry| TreeId(entry.id())),
                );
            }
        }
        Ok(())
    }

    /// Vets what `index` has as attributes of `path`: libgit2 reads them together with those of the working tree.
    pub(crate) fn vet_attributes(&self, index: &git2::Index, path: &[u8]) -> Result<()> {
        let directories = memchr::memchr_iter(b'/', path).map(|end| &path[..=end]);
        for directory in std::iter::once(&b""[..]).chain(directories) {
            let file = [directory, b".gitattributes"].concat();
            if let Some(entry) = index.get_path(&path_from_bytes(&file), 0) {
                self.vetted("blob", from_git2(entry.id))?;
            }
        }
        Ok(())
    }

    /// The directories of objects: the repository's own, those that the environment names, and their alternates.
    fn object_dirs(&self) -> Vec<PathBuf> {
        let mut dirs = vec![self.common_dir().join("objects")];
        dirs.extend(self.more_objects.iter().cloned());
        let mut from = 0;
        for _ in 0..MAX_DELTAS {
            let news: Vec<PathBuf> = dirs[from..].iter().flat_map(|dir| alternates_of(dir)).collect();
            from = dirs.len();
            dirs.extend(news);
        }
        dirs
    }
}

/// The directories that `info/alternates` of a directory of objects names.
fn alternates_of(dir: &Path) -> Vec<PathBuf> {
    let Ok(Some(bytes)) = read_plain(&dir.join("info").join("alternates"), MAX_ALTERNATES) else {
        return Vec::new();
    };
    let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty() && !line.starts_with(b"#"));
    lines.map(|line| dir.join(path_from_bytes(line))).collect()
}

#[cfg(test)]
mod tests;
