//! Opening a repository and where its parts are.

use std::path::{Path, PathBuf};
use std::sync::Once;

use git2::{ErrorCode, RepositoryOpenFlags, RepositoryState};

use super::error::{GitError, MissingBecause};
use super::program;
use crate::domain::ids::Oid;

/// The repository variables that git sets for its hooks, read once by `ops::context`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RepoEnv {
    /// `GIT_DIR`
    pub git_dir: Option<PathBuf>,
    /// `GIT_WORK_TREE`
    pub work_tree: Option<PathBuf>,
    /// `GIT_INDEX_FILE`
    pub index_file: Option<PathBuf>,
}

/// An open repository. Cheap to open (no index, no history is read); one per thread.
pub struct Repo {
    pub(super) inner: git2::Repository,
    git_dir: PathBuf,
    common_dir: PathBuf,
    workdir: Option<PathBuf>,
    index_file: Option<PathBuf>,
}

impl std::fmt::Debug for Repo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Repo").field("git_dir", &self.git_dir).finish_non_exhaustive()
    }
}

static SETTINGS: Once = Once::new();

impl Repo {
    /// Opens the repository that git itself would use in `dir` (the current directory) under `env`.
    ///
    /// `GIT_DIR` is taken as it stands; without it the repository is looked for in `dir` and above.
    /// `GIT_INDEX_FILE` is honoured by [`Repo::index_path`], [`Repo::index_tree`] and [`Repo::write_tree`].
    pub fn open(dir: &Path, env: &RepoEnv) -> Result<Self, GitError> {
        // Hashing every object again on reading is 43 % of a hook's instructions (GIT-FACTS.md).
        SETTINGS.call_once(|| git2::opts::strict_hash_verification(false));
        let (start, mut flags) = match &env.git_dir {
            Some(git_dir) => {
                (dir.join(git_dir), RepositoryOpenFlags::NO_SEARCH | RepositoryOpenFlags::NO_DOTGIT)
            }
            None => (dir.to_path_buf(), RepositoryOpenFlags::empty()),
        };
        // With a start path given, this flag only lets libgit2 see GIT_CONFIG_GLOBAL, GIT_OBJECT_DIRECTORY
        // and their like, which git sets for hooks too; GIT_DIR and GIT_INDEX_FILE come from `env`.
        flags |= RepositoryOpenFlags::FROM_ENV;
        let none: [&std::ffi::OsStr; 0] = [];
        let inner =
            git2::Repository::open_ext(&start, flags, none).map_err(|error| open_error(&start, &error))?;
        let mut repo = Self {
            git_dir: tidy(inner.path()),
            common_dir: tidy(inner.commondir()),
            workdir: None,
            index_file: None,
            inner,
        };
        repo.place_worktree(dir, env)?;
        let top = repo.workdir.clone().unwrap_or_else(|| dir.to_path_buf());
        repo.index_file = env.index_file.as_ref().map(|file| top.join(file));
        Ok(repo)
    }

    /// git's rule: `GIT_WORK_TREE`, else core.worktree, else with `GIT_DIR` the current directory.
    fn place_worktree(&mut self, dir: &Path, env: &RepoEnv) -> Result<(), GitError> {
        let wanted = match (&env.work_tree, &env.git_dir) {
            (Some(work_tree), _) => Some(dir.join(work_tree)),
            (None, Some(_)) if self.takes_current_dir() => Some(dir.to_path_buf()),
            (None, Some(_) | None) => None,
        };
        if let Some(top) = wanted {
            self.inner.set_workdir(&top, false).map_err(|error| open_error(&top, &error))?;
        }
        self.workdir = self.inner.workdir().map(tidy);
        Ok(())
    }

    fn takes_current_dir(&self) -> bool {
        !self.inner.is_bare() && !self.inner.is_worktree() && self.config_string("core.worktree").is_none()
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

    /// The top of the working tree, or an error that says the repository is bare.
    pub(super) fn require_workdir(&self) -> Result<&Path, GitError> {
        self.workdir().ok_or_else(|| GitError::NoWorkTree { git_dir: self.git_dir.clone() })
    }

    /// The effective index: `GIT_INDEX_FILE`, else the worktree's own.
    pub fn index_path(&self) -> PathBuf {
        self.index_file.clone().unwrap_or_else(|| self.git_dir.join("index"))
    }

    /// `GIT_INDEX_FILE` as an absolute path, when it was given.
    pub(super) fn given_index(&self) -> Option<&Path> {
        self.index_file.as_deref()
    }

    /// True without a working tree.
    pub fn is_bare(&self) -> bool {
        self.workdir.is_none()
    }

    /// True when history was cut at cloning.
    pub fn is_shallow(&self) -> bool {
        self.inner.is_shallow()
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

    /// Where git looks for hooks, as `git rev-parse --git-path hooks` says (`core.hooksPath` honoured).
    /// Starts a process: for installing, never for a hook.
    pub fn hooks_dir(&self) -> Result<PathBuf, GitError> {
        let output = self.git(&["rev-parse", "--git-path", "hooks"], b"")?;
        let path = program::path_from_bytes(output.stdout.strip_suffix(b"\n").unwrap_or(&output.stdout));
        Ok(self.workdir().unwrap_or(&self.git_dir).join(path))
    }

    /// What libgit2 makes of the state files.
    pub(super) fn state(&self) -> RepositoryState {
        self.inner.state()
    }

    /// The error for an object that could not be read.
    pub(super) fn object_error(&self, kind: &'static str, id: Oid, error: &git2::Error) -> GitError {
        let git_dir = self.git_dir.clone();
        if error.code() == ErrorCode::NotFound {
            let because = self.missing_because();
            GitError::Missing { kind, id, git_dir, because }
        } else {
            GitError::BadObject { kind, id, git_dir, message: error.message().to_owned() }
        }
    }

    fn missing_because(&self) -> MissingBecause {
        if self.config_string("extensions.partialclone").is_some() {
            MissingBecause::Partial
        } else if self.is_shallow() {
            MissingBecause::Shallow
        } else {
            MissingBecause::Damaged
        }
    }
}

/// Without the trailing slash that libgit2 appends.
fn tidy(path: &Path) -> PathBuf {
    path.components().collect()
}

fn open_error(dir: &Path, error: &git2::Error) -> GitError {
    let dir = dir.to_path_buf();
    let message = error.message().to_owned();
    let lower = message.to_lowercase();
    if error.code() == ErrorCode::Owner {
        return GitError::Unsafe { dir: owned_path(&message).unwrap_or(dir) };
    }
    if error.code() == ErrorCode::NotFound && !lower.contains("extension") {
        return GitError::NotARepository { dir };
    }
    let feature = [
        ("refstorage", "reftable"),
        ("objectformat", "SHA-256 object ids"),
        ("object format", "SHA-256 object ids"),
    ]
    .into_iter()
    .find(|(sign, _)| lower.contains(sign))
    .map(|(_, feature)| feature.to_owned());
    match feature {
        Some(feature) => GitError::Unsupported { dir, feature },
        None if lower.contains("extension") || lower.contains("repository version") => {
            GitError::Unsupported { dir, feature: message }
        }
        None => GitError::Open { dir, message },
    }
}

/// The path that libgit2 names in `repository path '...' is not owned by current user`.
fn owned_path(message: &str) -> Option<PathBuf> {
    let rest = message.strip_prefix("repository path '")?;
    rest.rfind('\'').map(|end| PathBuf::from(&rest[..end]))
}
