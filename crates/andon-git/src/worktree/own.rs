//! Worktrees of the same repository that lie inside a working tree, as agents make them below `.claude/worktrees/`: they
//! are no part of it, whatever `git status` says.

use std::fs;
use std::path::{Path, PathBuf};

use crate::open::repo::{Repo, RepoEnv};
use crate::platform::paths::path_from_bytes;

/// Largest `.git` file that is read.
const MAX_LINK: u64 = 8 << 10;

impl Repo {
    /// Whether the working tree in `dir` is one of this repository.
    pub(crate) fn is_own_worktree(&self, dir: &Path) -> bool {
        let same = |path: &Path| {
            let ours = self.common_dir();
            path == ours
                || matches!((path.canonicalize(), ours.canonicalize()), (Ok(path), Ok(ours)) if path == ours)
        };
        match named_by(dir) {
            // `<common dir>/worktrees/<name>`.
            Some(git_dir) => git_dir.parent().and_then(Path::parent).is_some_and(same),
            None => Self::open(dir, &RepoEnv::default()).is_ok_and(|inside| same(inside.common_dir())),
        }
    }
}

/// The git directory of a linked worktree, as its `.git` file names it.
fn named_by(dir: &Path) -> Option<PathBuf> {
    let link = dir.join(".git");
    let facts = link.symlink_metadata().ok()?;
    if !facts.is_file() || facts.len() > MAX_LINK {
        return None;
    }
    let text = fs::read(&link).ok()?;
    let named = text.strip_prefix(b"gitdir: ")?.trim_ascii_end();
    let git_dir = dir.join(path_from_bytes(named));
    git_dir.parent().is_some_and(|parent| parent.ends_with("worktrees")).then_some(git_dir)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;

    #[test]
    fn worktrees_of_the_same_repository_are_no_code_and_others_are_named() {
        let scratch = Scratch::new();
        scratch.commit("a", "1", "one");
        let paths = || -> Vec<String> {
            let overlay = scratch.open().worktree_overlay().unwrap();
            overlay.entries.into_iter().map(|entry| String::from_utf8(entry.path).unwrap()).collect()
        };
        scratch.git(&["worktree", "add", "-q", "--detach", ".claude/worktrees/x"]);
        assert_eq!(paths(), Vec::<String>::new());
        scratch.git(&["clone", "-q", ".", "other"]);
        assert_eq!(paths(), ["other"]);
        // Seen from the other side, the main worktree may be the one inside.
        scratch.git(&["worktree", "add", "-q", "--detach", "../around"]);
        let around = scratch.beside("around");
        std::fs::rename(scratch.path(), around.join("main")).unwrap();
        let git_dir = around.join("main/.git");
        std::fs::write(around.join(".git"), format!("gitdir: {}/worktrees/around\n", git_dir.display()))
            .unwrap();
        let around = Repo::open(&around, &RepoEnv::default()).unwrap().worktree_overlay().unwrap();
        assert_eq!(around.entries, []);
    }
}
