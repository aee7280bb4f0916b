//! A repository and where its parts are.

use std::any::{Any, TypeId};
use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};
use std::{collections::HashMap, ffi::OsString, rc::Rc};

use git2::ErrorCode;

use crate::objects::commit_text::CommitText;
use crate::{Cache, GitError, MissingBecause, ObjectReader, RawTree, Text, VettedObjects};
use andon_core::domain::Oid;

/// The repository variables that git sets for its hooks, read once by `andon_engine::context`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RepoEnv {
    pub git_dir: Option<PathBuf>,
    /// `GIT_WORK_TREE`
    pub work_tree: Option<PathBuf>,
    /// `GIT_INDEX_FILE`
    pub index_file: Option<PathBuf>,
    /// `GIT_OBJECT_DIRECTORY`
    pub object_dir: Option<PathBuf>,
    /// `GIT_ALTERNATE_OBJECT_DIRECTORIES`
    pub alternate_objects: Option<OsString>,
    /// `GIT_CEILING_DIRECTORIES`: where the search upwards ends.
    pub ceilings: Option<OsString>,
}

/// An open repository. Cheap to open (no index, no history is read); one per thread.
pub struct Repo {
    pub(crate) inner: git2::Repository,
    pub(crate) git_dir: PathBuf,
    pub(crate) common_dir: PathBuf,
    pub(crate) workdir: Option<PathBuf>,
    pub(crate) index_file: Option<PathBuf>,
    /// Directories of objects that the environment names.
    pub(crate) more_objects: Vec<PathBuf>,
    /// The loose objects that libgit2 may read.
    pub(crate) vetting: VettedObjects,
    /// Refs whose locks were left by dead writers and removed here.
    pub(crate) healed: RefCell<Vec<String>>,
    /// Objects that were written and that no ref leads to yet.
    pub(crate) written: RefCell<Vec<Oid>>,
    /// Trees that are wanted again soon.
    pub(crate) trees: RefCell<Cache<Rc<RawTree>>>,
    /// The same of texts.
    pub(crate) texts: RefCell<Cache<Text>>,
    /// The same of commits.
    pub(crate) commits: RefCell<Cache<Rc<CommitText>>>,
    /// A git that reads objects, and whether it is to be started by the next one.
    pub(crate) reader: RefCell<Option<ObjectReader>>,
    pub(crate) asks_git: Cell<bool>,
    /// Values that readers derived from it.
    pub(crate) made: Products,
}

impl std::fmt::Debug for Repo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Repo").field("git_dir", &self.git_dir).finish_non_exhaustive()
    }
}

impl Repo {
    /// Values that readers derived from this repository.
    pub fn made(&self) -> &Products {
        &self.made
    }

    /// The git directory of this worktree.
    pub fn git_dir(&self) -> &Path {
        &self.git_dir
    }

    /// The git directory that all worktrees share.
    pub fn common_dir(&self) -> &Path {
        &self.common_dir
    }

    /// The top of the working tree; `None` when bare.
    pub fn workdir(&self) -> Option<&Path> {
        self.workdir.as_deref()
    }

    /// The effective index: `GIT_INDEX_FILE`, else the worktree's own.
    pub fn index_path(&self) -> PathBuf {
        self.index_file.clone().unwrap_or_else(|| self.git_dir.join("index"))
    }

    /// True without a working tree.
    pub fn is_bare(&self) -> bool {
        self.workdir.is_none()
    }

    /// True when history was cut at cloning.
    pub fn is_shallow(&self) -> bool {
        self.inner.is_shallow()
    }

    /// True when objects are left to be fetched on demand.
    pub fn is_partial(&self) -> bool {
        let promised = |pattern| {
            let config = self.inner.config().ok()?;
            config.entries(Some(pattern)).ok()?.next().map(|_| ())
        };
        self.config_string("extensions.partialclone").is_some()
            || promised(r"^remote\..*\.(promisor|partialclonefilter)$").is_some()
    }

    /// `main`, or the name of the linked worktree.
    pub fn worktree_name(&self) -> String {
        let linked = self.git_dir != self.common_dir
            && self.git_dir.parent().is_some_and(|p| p.ends_with("worktrees"));
        match self.git_dir.file_name() {
            Some(name) if linked => name.to_string_lossy().into_owned(),
            Some(_) | None => "main".to_owned(),
        }
    }

    /// The error for an object that could not be read.
    pub(crate) fn object_error(&self, kind: &'static str, id: Oid, error: &git2::Error) -> GitError {
        let git_dir = self.git_dir.clone();
        if error.code() == ErrorCode::NotFound {
            let because = self.missing_because();
            self.unreadable().unwrap_or(GitError::Missing { kind, id, git_dir, because })
        } else {
            GitError::BadObject { kind, id, git_dir, message: error.message().to_owned() }
        }
    }

    /// Returns the reason that nothing is found in the store when it may not be read: libgit2 takes that for an empty one.
    pub(crate) fn unreadable(&self) -> Option<GitError> {
        let path = self.common_dir.join("objects");
        std::fs::read_dir(&path).err().map(|source| GitError::Io { path, source })
    }

    fn missing_because(&self) -> MissingBecause {
        if self.is_partial() {
            MissingBecause::Partial
        } else if self.is_shallow() {
            MissingBecause::Shallow
        } else {
            MissingBecause::Damaged
        }
    }
}

/// Without the trailing slash that libgit2 appends.
pub(crate) fn tidy(path: &Path) -> PathBuf {
    path.components().collect()
}

/// By type the newest that was made.
#[derive(Default)]
pub struct Products(RefCell<HashMap<TypeId, Product>>);

/// A product, behind the text that it was made from.
type Product = (String, Rc<dyn Any>);

impl Products {
    /// The value that was made from `source`, if that was the newest of its type.
    pub fn get<T: Any>(&self, source: &str) -> Option<Rc<T>> {
        let made = self.0.borrow();
        let (_, known) = made.get(&TypeId::of::<T>()).filter(|(known, _)| known == source)?;
        Rc::clone(known).downcast().ok()
    }

    /// Keeps what was made from `source` in the place of what was made before.
    pub fn keep<T: Any>(&self, source: String, made: Rc<T>) {
        self.0.borrow_mut().insert(TypeId::of::<T>(), (source, made));
    }
}
