//! Files that Andon keeps for the length of one run of the tests, in a directory of their own in the git directory.

use std::io;
use std::path::{Path, PathBuf};

/// A private directory; removed with what is in it when the value goes.
#[derive(Debug)]
pub struct PrivateDir(tempfile::TempDir);

impl PrivateDir {
    /// A new one in `<git dir>/andon/`.
    ///
    /// # Errors
    /// When it cannot be created.
    pub fn create(git_dir: &Path) -> io::Result<Self> {
        let parent = git_dir.join("andon");
        std::fs::create_dir_all(&parent)?;
        tempfile::Builder::new().prefix("run-").tempdir_in(parent).map(Self)
    }

    /// A new one where temporary files go: for a working tree, which no tool takes for a part of another.
    ///
    /// # Errors
    /// When it cannot be created.
    pub fn outside() -> io::Result<Self> {
        tempfile::Builder::new().prefix("andon-").tempdir().map(Self)
    }

    /// Its path, for a program that is to write there.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Writes a file of it.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, path: &PathBuf, text: &str) -> io::Result<()> {
        std::fs::write(path, text)
    }
}
