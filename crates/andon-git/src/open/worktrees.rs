//! Which worktrees a repository has: distinguished by when they were made, because names are reused.

use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};

use crate::open::repo::Repo;
use crate::platform::files;

/// Most linked worktrees that are looked at.
const MAX_WORKTREES: usize = 1024;

impl Repo {
    /// What distinguishes this worktree from every other one, also from an earlier one of the same name.
    pub fn worktree_mark(&self) -> String {
        let name = self.worktree_name();
        if self.git_dir() == self.common_dir() { name } else { mark(&name, self.git_dir()) }
    }

    /// The top of the main worktree, wherever this one is; `None` for a bare repository.
    pub fn main_worktree(&self) -> Option<PathBuf> {
        if self.git_dir() == self.common_dir() {
            return self.workdir().map(Path::to_owned);
        }
        let common = self.common_dir();
        if let Some(top) = self.config_string("core.worktree") {
            return Some(common.join(top));
        }
        let is_bare = self.config_string("core.bare").is_some_and(|bare| bare == "true");
        let is_ordinary = common.file_name().is_some_and(|name| name == ".git");
        common.parent().filter(|_| is_ordinary && !is_bare).map(Path::to_owned)
    }

    /// The marks of the other linked worktrees.
    pub fn worktrees_beside(&self) -> Vec<String> {
        let mut beside = self.linked_worktrees();
        if !beside.is_empty() {
            let here = self.worktree_mark();
            beside.retain(|other| *other != here);
        }
        beside
    }

    /// The marks of all linked worktrees that are there, in order.
    pub fn linked_worktrees(&self) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.common_dir().join("worktrees")) else { return Vec::new() };
        let entries = entries.filter_map(Result::ok).take(MAX_WORKTREES);
        let mut marks: Vec<String> =
            entries.map(|entry| mark(&entry.file_name().to_string_lossy(), &entry.path())).collect();
        marks.sort_unstable();
        marks
    }
}

/// git writes `commondir` once, when it makes a worktree; moving and repairing one leaves it alone.
fn mark(name: &str, git_dir: &Path) -> String {
    let made = |facts: Metadata| {
        let (seconds, nanoseconds) = files::stat(&facts).modified;
        format!("{name}@{seconds:x}.{nanoseconds:x}")
    };
    fs::metadata(git_dir.join("commondir")).map_or_else(|_| name.to_owned(), made)
}

#[cfg(test)]
mod tests {
    use crate::scratch::Scratch;
    use crate::{Repo, RepoEnv};

    #[test]
    fn a_worktree_is_another_one_once_it_was_made_anew() {
        let scratch = Scratch::new();
        scratch.commit("a", "1", "one");
        assert_eq!(
            (scratch.open().worktree_mark().as_str(), scratch.open().linked_worktrees()),
            ("main", vec![])
        );
        let dir = scratch.path().join("side");
        let path = dir.to_str().unwrap();
        let mark = || Repo::open(&dir, &RepoEnv::default()).unwrap().worktree_mark();
        scratch.git(&["worktree", "add", "-q", "--detach", path]);
        let linked = Repo::open(&dir, &RepoEnv::default()).unwrap();
        assert_eq!(linked.main_worktree().as_deref(), scratch.open().workdir());
        let first = mark();
        assert_eq!(scratch.open().linked_worktrees(), std::slice::from_ref(&first));
        scratch.git(&["worktree", "remove", path]);
        assert_eq!(scratch.open().linked_worktrees(), Vec::<String>::new());
        scratch.git(&["worktree", "add", "-q", "--detach", path]);
        assert!(first.starts_with("side@") && mark().starts_with("side@"));
        assert_ne!(mark(), first);
    }
}
