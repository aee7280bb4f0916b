//! Opening a repository: by libgit2, with git's own word where that does not understand `safe.directory`.

pub(crate) mod file_system;
pub(crate) mod repo;
pub(crate) mod settings;
pub(crate) mod worktrees;

use std::path::{Path, PathBuf};
use std::{cell::RefCell, sync::Once};

use git2::{ErrorCode, RepositoryOpenFlags};

use crate::objects::{cache::MAX_CACHED, texts::MAX_TEXTS};
use crate::open::repo::{Products, Repo, RepoEnv, tidy};
use crate::platform::paths::{listed, path_from_bytes};
use crate::{Cache, GitError, Result, VettedObjects, files::read_plain, program};

static SETTINGS: Once = Once::new();

impl Repo {
    /// Opens the repository that git itself would use in `dir` (the current directory) under `env`.
    ///
    /// `GIT_DIR` is taken literally; without it the repository is looked for in `dir` and above. `GIT_INDEX_FILE` is
    /// honoured by [`Repo::index_path`], [`Repo::index_tree`] and [`Repo::write_tree`].
    pub fn open(dir: &Path, env: &RepoEnv) -> Result<Self> {
        // Hashing every object again on reading is 43 % of a hook's instructions (docs/git-facts.md).
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
        if let Some(top) = env.work_tree.as_ref().map(|top| dir.join(top)).filter(|top| !top.is_dir()) {
            return Err(GitError::Open { dir: top, message: "GIT_WORK_TREE names no directory".to_owned() });
        }
        let mut ceilings = env.ceilings.as_ref().map(|list| listed(list)).unwrap_or_default();
        ceilings.retain(|path| path.is_absolute());
        let inner = match git2::Repository::open_ext(&start, flags, &ceilings) {
            Err(error) if error.code() == ErrorCode::Owner => {
                open_trusted(dir, env).ok_or_else(|| open_error(&start, &error))?
            }
            opened => opened.map_err(|error| open_error(&start, &error))?,
        };
        if env.git_dir.is_none()
            && is_implicitly_bare(dir, inner.path())
            && program::trusted_by_git(dir, env).is_none()
        {
            return Err(GitError::BareRefused { git_dir: tidy(inner.path()) });
        }
        let mut repo = Self {
            git_dir: tidy(inner.path()),
            common_dir: tidy(inner.commondir()),
            workdir: None,
            index_file: None,
            more_objects: more_objects(env),
            vetting: VettedObjects::default(),
            healed: RefCell::default(),
            written: RefCell::default(),
            trees: RefCell::new(Cache::up_to(MAX_CACHED, usize::MAX)),
            texts: RefCell::new(Cache::up_to(0, MAX_TEXTS)),
            commits: RefCell::new(Cache::up_to(0, MAX_TEXTS)),
            reader: RefCell::default(),
            asks_git: std::cell::Cell::default(),
            made: Products::default(),
            inner,
        };
        repo.place_worktree(dir, env)?;
        let top = repo.workdir.clone().unwrap_or_else(|| dir.to_path_buf());
        repo.index_file = env.index_file.as_ref().map(|file| top.join(file));
        Ok(repo)
    }

    /// git's rule: `GIT_WORK_TREE`, else core.worktree, else with `GIT_DIR` the current directory.
    fn place_worktree(&mut self, dir: &Path, env: &RepoEnv) -> Result<()> {
        let wanted = match (&env.work_tree, &env.git_dir) {
            (Some(work_tree), _) => Some(dir.join(work_tree)),
            (None, Some(_)) if self.takes_current_dir() => Some(dir.to_path_buf()),
            (None, None) if self.is_moved() => top_of(dir),
            (None, Some(_) | None) => None,
        };
        if let Some(top) = wanted {
            self.inner.set_workdir(&top, false).map_err(|error| open_error(&top, &error))?;
        }
        self.workdir = self.inner.workdir().map(tidy);
        Ok(())
    }

    fn takes_current_dir(&self) -> bool {
        let is_listed = self.inner.is_worktree() && !self.is_moved();
        !self.inner.is_bare() && !is_listed && self.config_string("core.worktree").is_none()
    }

    /// True for a linked worktree that is elsewhere than the repository knows: it was moved by hand, or is the host's, seen in a
    /// container.
    fn is_moved(&self) -> bool {
        self.inner.is_worktree() && self.inner.workdir().is_some_and(|top| !top.join(".git").exists())
    }
}

/// The directories of objects that git was given in addition to the repository's own.
fn more_objects(env: &RepoEnv) -> Vec<PathBuf> {
    let alternates = env.alternate_objects.iter().flat_map(|list| listed(list));
    let alternates = alternates.filter(|path| !path.as_os_str().is_empty());
    env.object_dir.iter().cloned().chain(alternates).collect()
}

/// True when the search came upon a git directory itself, not upon a `.git` that leads to one. Such a directory can come with a
/// clone, its configuration with it; git refuses it where `safe.bareRepository` is `explicit`, and knows best where that is
/// set. The git directory of an ordinary repository is not bare.
fn is_implicitly_bare(dir: &Path, git_dir: &Path) -> bool {
    let git_dir = tidy(git_dir);
    if git_dir.file_name().is_some_and(|name| name == ".git") {
        return false;
    }
    let Ok(dir) = dir.canonicalize() else { return true };
    dir.ancestors().find(|at| at.join(".git").exists() || **at == git_dir) == Some(&git_dir)
}

/// Opens a repository of another user where git's `safe.directory` allows it in a way that libgit2 does not read: a
/// glob, or a setting of this command. libgit2 checks no owner where it is given the git directory.
fn open_trusted(dir: &Path, env: &RepoEnv) -> Option<git2::Repository> {
    let (git_dir, top) = program::trusted_by_git(dir, env)?;
    let opened = git2::Repository::open_bare(git_dir).ok()?;
    top.map_or(Ok(()), |top| opened.set_workdir(&top, false)).ok()?;
    Some(opened)
}

/// The directory at or above `dir` that has a `.git`.
fn top_of(dir: &Path) -> Option<PathBuf> {
    let dir = dir.canonicalize().ok()?;
    dir.ancestors().find(|at| at.join(".git").symlink_metadata().is_ok()).map(Path::to_path_buf)
}

/// The worktree at or above `dir` whose `.git` names a directory that is not there.
fn lost_worktree(dir: &Path) -> Option<GitError> {
    let top = top_of(dir)?;
    let git_dir = named_git_dir(&top)?;
    (!git_dir.exists()).then_some(GitError::LostWorktree { top, git_dir })
}

/// Most bytes of a `.git` that is a file.
const MAX_GIT_FILE: u64 = 8 << 10;

/// The git directory that the file `.git` in `dir` names.
fn named_git_dir(dir: &Path) -> Option<PathBuf> {
    let text = read_plain(&dir.join(".git"), MAX_GIT_FILE).ok()??;
    Some(dir.join(path_from_bytes(text.strip_prefix(b"gitdir:")?.trim_ascii())))
}

fn open_error(dir: &Path, error: &git2::Error) -> GitError {
    let dir = dir.to_path_buf();
    let message = error.message().to_owned();
    let lower = message.to_lowercase();
    if error.code() == ErrorCode::Owner {
        return GitError::Unsafe { dir: owned_path(&message).unwrap_or(dir) };
    }
    if error.code() == ErrorCode::NotFound && !lower.contains("extension") {
        return lost_worktree(&dir).unwrap_or(GitError::NotARepository { dir });
    }
    let feature = [
        ("partialclone", "the mark of old versions of git for a partial clone"),
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

/// The path that libgit2 names in `repository path '...' is not owned by current user`, as `safe.directory`
/// wants it: the top of the working tree, not its `.git`.
fn owned_path(message: &str) -> Option<PathBuf> {
    let rest = message.strip_prefix("repository path '")?;
    let path = &rest[..rest.rfind('\'')?];
    Some(PathBuf::from(path.strip_suffix("/.git").unwrap_or(path)))
}

#[cfg(test)]
mod tests;
