//! Where git looks for hooks: only the program knows (`core.hooksPath`, worktree configuration, includes).

use std::path::PathBuf;

use super::error::GitError;
use super::program;
use super::repo::Repo;

impl Repo {
    /// Where git looks for hooks, as `git rev-parse --git-path hooks` says (`core.hooksPath` honoured).
    /// Starts a process: for installing, never for a hook.
    pub fn hooks_dir(&self) -> Result<PathBuf, GitError> {
        let output = self.git_as_configured(&["rev-parse", "--git-path", "hooks"])?;
        let path = program::path_from_bytes(output.stdout.strip_suffix(b"\n").unwrap_or(&output.stdout));
        Ok(self.workdir().unwrap_or(self.git_dir()).join(path))
    }
}
