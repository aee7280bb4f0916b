//! Scratch repositories for tests, made by the real git: no user configuration, fixed dates.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{GitError, Repo, RepoEnv, Result};
use andon_core::domain::{CommitId, TreeId};

/// Ids that look like commits; notes need no object behind them.
pub(crate) fn commit_id(number: u64) -> CommitId {
    let mixed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    format!("{mixed:016x}{number:024x}").parse().unwrap()
}

/// The result of `write` once it is its turn: as the hooks do, which write at the next commit what they could not at this one.
pub(crate) fn until_free<T>(mut write: impl FnMut() -> Result<T>) -> Result<T> {
    loop {
        match write() {
            Err(GitError::RefBusy { .. }) => {}
            done => return done,
        }
    }
}

/// A repository in a temporary directory.
pub(crate) struct Scratch {
    root: tempfile::TempDir,
}

impl Scratch {
    /// A repository with an unborn branch `main`.
    pub(crate) fn new() -> Self {
        Self::with(&[])
    }

    /// The same, with more arguments for `git init`.
    pub(crate) fn with(args: &[&str]) -> Self {
        let scratch = Self { root: tempfile::tempdir().unwrap() };
        std::fs::create_dir(scratch.path()).unwrap();
        scratch.git(&[&["init", "-q", "-b", "main"], args].concat());
        scratch
    }

    /// The directory in which the repository was made.
    pub(crate) fn path(&self) -> PathBuf {
        self.root.path().canonicalize().unwrap().join("r")
    }

    /// A path next to the repository.
    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.root.path().canonicalize().unwrap().join(name)
    }

    /// Runs git in the repository; panics when it fails.
    pub(crate) fn git(&self, args: &[&str]) -> String {
        git_in(&self.path(), args)
    }

    /// Runs git in the repository, whatever comes of it.
    pub(crate) fn try_git(&self, args: &[&str]) -> bool {
        command(&self.path(), args).output().unwrap().status.success()
    }

    pub(crate) fn write(&self, path: &str, content: &str) {
        let file = self.path().join(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, content).unwrap();
    }

    /// Writes a file and commits everything.
    pub(crate) fn commit(&self, path: &str, content: &str, message: &str) -> CommitId {
        self.write(path, content);
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", message]);
        self.rev("HEAD")
    }

    /// The commit that `git rev-parse` names.
    pub(crate) fn rev(&self, rev: &str) -> CommitId {
        self.git(&["rev-parse", rev]).parse().unwrap()
    }

    pub(crate) fn tree(&self, rev: &str) -> TreeId {
        self.git(&["rev-parse", &format!("{rev}^{{tree}}")]).parse().unwrap()
    }

    pub(crate) fn open(&self) -> Repo {
        Repo::open(&self.path(), &RepoEnv::default()).unwrap()
    }

    /// Installs a hook.
    pub(crate) fn hook(&self, name: &str, script: &str) {
        use std::os::unix::fs::PermissionsExt as _;
        let file = self.path().join(".git/hooks").join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
}

// Tests make their repositories with the real git.
#[allow(clippy::disallowed_methods)]
pub(crate) fn command(dir: &Path, args: &[&str]) -> Command {
    let mut command = Command::new("git");
    for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_CONFIG_PARAMETERS"] {
        command.env_remove(name);
    }
    command
        .args(["-c", "protocol.file.allow=always"])
        .args(args)
        .current_dir(dir)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_AUTHOR_NAME", "A U Thor")
        .env("GIT_AUTHOR_EMAIL", "author@example.com")
        .env("GIT_AUTHOR_DATE", "2026-11-20T15:30:00Z")
        .env("GIT_COMMITTER_NAME", "C O Mitter")
        .env("GIT_COMMITTER_EMAIL", "committer@example.com")
        .env("GIT_COMMITTER_DATE", "2026-11-20T15:30:00Z")
        .env("GIT_EDITOR", "true")
        .env("LC_ALL", "C");
    command
}

pub(crate) fn git_in(dir: &Path, args: &[&str]) -> String {
    let output = command(dir, args).output().unwrap();
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
}
