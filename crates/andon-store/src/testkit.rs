//! Repositories for the tests of this module, made by the real git.

use std::{ffi::OsStr, fs, path::Path};

use andon_core::domain::{CommitId, TreeId};
use andon_git::{Repo, RepoEnv};

/// A repository in a temporary directory.
pub(super) struct Scratch {
    dir: tempfile::TempDir,
}

impl Scratch {
    pub(super) fn new() -> Self {
        let scratch = Self { dir: tempfile::tempdir().unwrap() };
        scratch.git(&["init", "-q", "-b", "main"]);
        scratch
    }

    pub(super) fn path(&self) -> &Path {
        self.dir.path()
    }

    pub(super) fn repo(&self) -> Repo {
        Repo::open(self.path(), &RepoEnv::default()).unwrap()
    }

    /// Runs git with an identity and without anything a machine's own configuration would add.
    pub(super) fn git(&self, args: &[&str]) -> String {
        let fixed =
            ["user.name=A", "user.email=a@example.org", "commit.gpgSign=false", "core.hooksPath=/dev/null"];
        let mut all: Vec<&OsStr> =
            fixed.iter().flat_map(|pair| [OsStr::new("-c"), OsStr::new(*pair)]).collect();
        all.extend(args.iter().map(OsStr::new));
        let output = andon_git::git(self.path(), &all, b"").unwrap();
        String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
    }

    pub(super) fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub(super) fn remove(&self, path: &str) {
        let path = self.path().join(path);
        if path.is_dir() { fs::remove_dir_all(path).unwrap() } else { fs::remove_file(path).unwrap() }
    }

    /// The working tree, as a tree.
    pub(super) fn add_all(&self) -> TreeId {
        self.git(&["add", "-A"]);
        self.git(&["write-tree"]).parse().unwrap()
    }

    pub(super) fn commit(&self, message: &str) -> CommitId {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", message]);
        self.git(&["rev-parse", "HEAD"]).parse().unwrap()
    }

    pub(super) fn head_tree(&self) -> TreeId {
        self.git(&["rev-parse", "HEAD^{tree}"]).parse().unwrap()
    }
}
