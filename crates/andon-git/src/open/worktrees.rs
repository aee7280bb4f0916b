//! Which worktrees a repository has: distinguished by when they were made, because names are reused.

use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};

use crate::platform::{files, paths::path_from_bytes};
use crate::{Repo, RepoEnv, open::named_git_dir};

/// Most linked worktrees that are looked at.
const MAX_WORKTREES: usize = 1024;

/// A worktree of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorktreePlace {
    /// The name that git gives it, unique in the repository; `main` for the main one.
    pub name: String,
    /// Its own git directory.
    pub git_dir: PathBuf,
    /// The top of its working tree.
    pub top: Option<PathBuf>,
}

impl Repo {
    /// The linked worktrees: name, git directory, and the top of the working tree where it is known.
    pub fn worktree_places(&self) -> Vec<WorktreePlace> {
        let Ok(entries) = std::fs::read_dir(self.common_dir().join("worktrees")) else { return Vec::new() };
        let of_one = |git_dir: PathBuf| {
            let name = git_dir.file_name()?.to_string_lossy().into_owned();
            let link = std::fs::read(git_dir.join("gitdir")).ok()?;
            let link = git_dir.join(path_from_bytes(link.trim_ascii_end()));
            Some(WorktreePlace { name, top: link.parent().map(PathBuf::from), git_dir })
        };
        entries.filter_map(Result::ok).filter_map(|entry| of_one(entry.path())).collect()
    }

    /// A mark that no other worktree has, not even an earlier one of the same name.
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

impl Repo {
    /// True if the working tree in `dir` is one of this repository.
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
    named_git_dir(dir).filter(|git_dir| git_dir.parent().is_some_and(|above| above.ends_with("worktrees")))
}

#[cfg(test)]
mod tests {
    use crate::{Repo, RepoEnv, testkit::Scratch};

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
