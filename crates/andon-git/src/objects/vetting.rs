//! A look at the file of a loose object before libgit2 reads it.
//!
//! libgit2 waits for ever for the rest of a loose object whose file was cut short, by a full disk or a dead machine, and
//! makes room for whatever length the object claims (libgit2 issue 7342; 1.9.7 has it). So every id that libgit2 is to read
//! goes through [`Repo::vetted`], which inflates the file once in bounded memory, and nothing in this module lets libgit2
//! find its own way over objects: walks over commits are in [`crate::objects::ancestry`], revisions in [`crate::refs::revisions`], and before
//! a merge every tree and changed file is vetted. Packs need none of this: libgit2 stops where one ends.

use crate::files::{open_plain, read_plain};
use crate::objects::{MODE_TREE, from_git2};
use crate::{error::GitError, open::repo::Repo, platform::paths::path_from_bytes};
use andon_core::domain::ids::{Oid, TreeId};
use flate2::{Decompress, FlushDecompress, Status};
use std::cell::{OnceCell, RefCell};
use std::path::{Path, PathBuf};
use std::{cmp::Ordering, collections::HashSet};

/// Largest list of alternates that is read, in bytes, and how many of them lead to one another.
const MAX_ALTERNATES: u64 = 64 * 1024;
const MAX_DELTAS: usize = 5;
/// The message about a file that is not whole.
const DAMAGED: &str = "its file is cut short or altered";

impl Repo {
    /// The id for libgit2 to read, unless the object is loose and its file is damaged.
    pub(crate) fn vetted(&self, kind: &'static str, id: Oid) -> Result<git2::Oid, GitError> {
        self.vetting.check(id, || self.object_dirs()).map_err(|DamagedObject| self.damaged(kind, id))?;
        self.to_git2(kind, id)
    }

    /// Vets `root` and every tree below it.
    pub(crate) fn vet_trees(&self, root: TreeId, vetted: &mut HashSet<TreeId>) -> Result<(), GitError> {
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
    pub(crate) fn vet_attributes(&self, index: &git2::Index, path: &[u8]) -> Result<(), GitError> {
        let directories = memchr::memchr_iter(b'/', path).map(|end| &path[..=end]);
        for directory in std::iter::once(&b""[..]).chain(directories) {
            let file = [directory, b".gitattributes"].concat();
            if let Some(entry) = index.get_path(&path_from_bytes(&file), 0) {
                self.vetted("blob", from_git2(entry.id))?;
            }
        }
        Ok(())
    }

    fn damaged(&self, kind: &'static str, id: Oid) -> GitError {
        GitError::BadObject { kind, id, git_dir: self.git_dir().to_path_buf(), message: DAMAGED.to_owned() }
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

/// Bytes that are read and inflated at once.
pub(crate) const STEP: usize = 16 * 1024;
/// Bytes that name kind and length of an object, at the most.
const MAX_HEADER: usize = 32;

/// Which loose objects were found to be whole.
#[derive(Default)]
pub(crate) struct VettedObjects {
    whole: RefCell<HashSet<Oid>>,
    /// The directories in which libgit2 looks for loose objects.
    dirs: OnceCell<Vec<PathBuf>>,
    inflater: RefCell<Option<Inflater>>,
}

impl VettedObjects {
    /// Checks the object, where it is loose in one of the directories. What was found whole once is not looked at again.
    pub(crate) fn check(&self, id: Oid, dirs: impl FnOnce() -> Vec<PathBuf>) -> Result<(), DamagedObject> {
        if self.whole.borrow().contains(&id) {
            return Ok(());
        }
        let digits = id.to_string();
        let (first, rest) = digits.split_at(2);
        for dir in self.dirs.get_or_init(dirs) {
            match open_plain(&dir.join(first).join(rest)) {
                Ok(Some(file)) => {
                    self.inflater.borrow_mut().get_or_insert_with(Inflater::new).check(file)?;
                    self.whole.borrow_mut().insert(id);
                    return Ok(());
                }
                Ok(None) => {}
                // What may not be opened, libgit2 cannot open either, and says so.
                Err(error) if error.raw_os_error().is_some() => {}
                Err(_no_plain_file) => return Err(DamagedObject),
            }
        }
        Ok(())
    }
}

/// The file is there, and what it holds is no object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DamagedObject;

/// Inflates files one after the other.
pub(crate) struct Inflater {
    stream: Decompress,
    input: Vec<u8>,
    output: Vec<u8>,
}

impl Inflater {
    pub(crate) fn new() -> Self {
        Self { stream: Decompress::new(true), input: vec![0; STEP], output: vec![0; STEP] }
    }

    /// Checks that the file is one stream to its end, of an object as long as it says.
    pub(crate) fn check(&mut self, mut file: impl std::io::Read) -> Result<(), DamagedObject> {
        self.stream.reset(true);
        let (mut from, mut to, mut filled) = (0, 0, false);
        let mut length = None;
        loop {
            // What did not fit into the output comes before anything else is read.
            if from == to && !filled {
                (from, to) = (0, file.read(&mut self.input).map_err(|_| DamagedObject)?);
                if to == 0 {
                    return Err(DamagedObject);
                }
            }
            let (taken, given) = (self.stream.total_in(), self.stream.total_out());
            let status =
                self.stream.decompress(&self.input[from..to], &mut self.output, FlushDecompress::None);
            let status = status.map_err(|_| DamagedObject)?;
            from += usize::try_from(self.stream.total_in() - taken).map_err(|_| DamagedObject)?;
            let made = usize::try_from(self.stream.total_out() - given).map_err(|_| DamagedObject)?;
            filled = made == self.output.len();
            if length.is_none() && made > 0 {
                length = Some(whole_length(&self.output[..made]).ok_or(DamagedObject)?);
            }
            let made_all = length.map(|length| self.stream.total_out().cmp(&length));
            match (status, made_all) {
                (Status::StreamEnd, Some(Ordering::Equal)) => {
                    let at_end = from == to && file.read(&mut self.input[..1]).is_ok_and(|more| more == 0);
                    return if at_end { Ok(()) } else { Err(DamagedObject) };
                }
                (Status::StreamEnd, _) | (_, Some(Ordering::Greater)) => return Err(DamagedObject),
                (Status::Ok | Status::BufError, _) => {}
            }
        }
    }
}

/// The length of an object with its header `KIND SP LENGTH NUL`, by that header.
fn whole_length(object: &[u8]) -> Option<u64> {
    let end = object.iter().take(MAX_HEADER).position(|byte| *byte == 0)?;
    let (kind, digits) = std::str::from_utf8(object.get(..end)?).ok()?.split_once(' ')?;
    let length: u64 = digits.parse().ok()?;
    let is_known = git2::ObjectType::from_str(kind).is_some_and(|kind| kind.is_loose());
    (is_known && digits == length.to_string()).then(|| length.checked_add(end as u64 + 1)).flatten()
}

#[cfg(test)]
mod tests;
