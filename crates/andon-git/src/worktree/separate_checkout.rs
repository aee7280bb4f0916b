//! A tree checked out in a working tree of its own, apart from the repository's: no index, file, ref or state of an
//! operation that is under way is touched.
//!
//! It is what `git worktree add` would make, but is entered nowhere: when the directory goes, nothing is left.

use std::path::{Path, PathBuf};
use std::{ffi::OsStr, fs};

use crate::platform::paths::{bytes_of, path_from_bytes};
use crate::{GitError, Repo, RepoEnv, Result, objects::MODE_SUBMODULE, platform::files, program};
use andon_core::domain::{CommitId, TreeId};

/// Deepest nesting of submodules that are checked out.
const MAX_NESTED: usize = 16;

/// A working tree that was checked out apart.
#[derive(Debug)]
pub struct SeparateCheckout {
    /// The top of the working tree.
    pub top: PathBuf,
    /// Submodules whose commit is not here: their directories are empty.
    pub missing: Vec<Vec<u8>>,
}

impl Repo {
    /// Checks `tree` out below `place`, an empty directory, with the submodules that are checked out here. HEAD is that
    /// of this worktree.
    ///
    /// # Errors
    /// A file cannot be written, or git refuses.
    pub fn check_out_apart(&self, tree: TreeId, place: &Path) -> Result<SeparateCheckout> {
        let name = self.workdir().and_then(Path::file_name).unwrap_or(OsStr::new("tree"));
        let mut apart = SeparateCheckout { top: place.join("work").join(name), missing: Vec::new() };
        let head = match self.head()?.commit() {
            Some(commit) => commit.to_string(),
            None => "ref: refs/heads/unborn".to_owned(),
        };
        let mut made = CheckoutFiles { place, missing: &mut apart.missing, count: 0 };
        match made.check_out(self, &head, tree, &apart.top, 0) {
            // The hint leads to a place that is still there afterwards.
            Err(GitError::Program { command, status, stderr, .. }) => {
                let dir = self.workdir().unwrap_or(self.git_dir()).to_owned();
                Err(GitError::Program { command, dir, status, stderr })
            }
            done => done.map(|()| apart),
        }
    }
}

struct CheckoutFiles<'a> {
    place: &'a Path,
    missing: &'a mut Vec<Vec<u8>>,
    count: usize,
}

impl CheckoutFiles<'_> {
    fn check_out(&mut self, repo: &Repo, head: &str, tree: TreeId, top: &Path, nested: usize) -> Result<()> {
        let git_dir = self.place.join("git").join(self.count.to_string());
        self.count += 1;
        make_dir(top)?;
        make_dir(&git_dir)?;
        let as_line = |path: &Path| [bytes_of(path.as_os_str()).as_ref(), b"\n"].concat();
        let link = top.join(".git");
        write(&git_dir.join("HEAD"), format!("{head}\n").as_bytes())?;
        write(&git_dir.join("commondir"), &as_line(repo.common_dir()))?;
        write(&git_dir.join("gitdir"), &as_line(&link))?;
        write(&link, &[b"gitdir: ".as_slice(), &as_line(&git_dir)].concat())?;
        // git-crypt keeps its keys in the git directory of each worktree. Its own message says where they are missing.
        let _no_keys = files::link(&repo.git_dir().join("git-crypt"), &git_dir.join("git-crypt"));
        let tree = tree.to_string();
        program::git_there(top, &["read-tree", "--reset", "-u", &tree].map(OsStr::new))?;
        let listed = program::git_there(top, &["ls-files", "--stage", "-z"].map(OsStr::new))?;
        for (path, commit) in links(&listed.stdout) {
            let (from, to) = (path_from_bytes(path), top.join(path_from_bytes(path)));
            let checked_out = nested < MAX_NESTED && self.submodule(repo, &from, commit, &to, nested)?;
            if !checked_out {
                self.missing.push(path.to_vec());
            }
        }
        Ok(())
    }

    /// Checks a submodule out at the commit that is wanted; false where it has not got that commit.
    fn submodule(
        &mut self,
        repo: &Repo,
        path: &Path,
        commit: CommitId,
        to: &Path,
        nested: usize,
    ) -> Result<bool> {
        let Some(dir) = repo.workdir().map(|top| top.join(path)).filter(|dir| dir.join(".git").exists())
        else {
            return Ok(false);
        };
        let inside = Repo::open(&dir, &RepoEnv::default()).ok();
        let tree = inside.as_ref().and_then(|inside| inside.tree_of(commit).ok());
        let (Some(inside), Some(tree)) = (inside, tree) else { return Ok(false) };
        self.check_out(&inside, &commit.to_string(), tree, to, nested + 1).map(|()| true)
    }
}

/// The submodules among the lines of `git ls-files --stage -z`.
fn links(listed: &[u8]) -> Vec<(&[u8], CommitId)> {
    let mode = format!("{MODE_SUBMODULE:o} ");
    let of = |line: &'_ [u8]| -> Option<(usize, CommitId)> {
        let rest = line.strip_prefix(mode.as_bytes())?;
        let id = std::str::from_utf8(rest.split(|byte| *byte == b' ').next()?).ok()?.parse().ok()?;
        Some((line.iter().position(|byte| *byte == b'\t')? + 1, id))
    };
    let lines = listed.split(|byte| *byte == 0);
    lines.filter_map(|line| of(line).map(|(at, id)| (&line[at..], id))).collect()
}

fn make_dir(path: &Path) -> Result<()> {
    fs::create_dir_all(path).map_err(|source| GitError::Io { path: path.to_owned(), source })
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    fs::write(path, bytes).map_err(|source| GitError::Io { path: path.to_owned(), source })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::Scratch;

    #[test]
    fn a_tree_is_checked_out_and_nothing_else_is_touched() {
        let scratch = Scratch::new();
        scratch.commit("dir/a", "1", "one");
        std::fs::write(scratch.path().join("dir/a"), "2").unwrap();
        scratch.git(&["add", "."]);
        std::fs::write(scratch.path().join("dir/a"), "3").unwrap();
        let repo = scratch.open();
        let tree = repo.write_tree().unwrap();
        let place = tempfile::tempdir().unwrap();
        let before = scratch.git(&["status", "--porcelain=v2"]);
        let apart = repo.check_out_apart(tree, place.path()).unwrap();
        assert_eq!(std::fs::read(apart.top.join("dir/a")).unwrap(), b"2");
        let there = Repo::open(&apart.top, &RepoEnv::default()).unwrap();
        assert_eq!(there.common_dir().canonicalize().unwrap(), repo.common_dir().canonicalize().unwrap());
        assert_eq!(there.workdir().unwrap().canonicalize().unwrap(), apart.top.canonicalize().unwrap());
        let overlay = there.worktree_overlay().unwrap();
        assert_eq!(overlay.entries.len(), 1);
        assert_eq!(scratch.git(&["status", "--porcelain=v2"]), before);
        assert_eq!(std::fs::read(scratch.path().join("dir/a")).unwrap(), b"3");
    }

    /// As git-crypt does it: its key is in the git directory, and without it nothing is checked out.
    #[test]
    fn filters_find_their_keys_and_a_failure_names_a_place_that_stays() {
        let scratch = Scratch::new();
        scratch.commit(".gitattributes", "secret filter=vault\n", "one");
        scratch.commit("secret", "1", "two");
        scratch.git(&["config", "filter.vault.smudge", "cat \"$(git rev-parse --git-dir)/git-crypt/key\""]);
        scratch.git(&["config", "filter.vault.required", "true"]);
        let repo = scratch.open();
        let tree = repo.tree_of(repo.head().unwrap().commit().unwrap()).unwrap();
        let check_out = || {
            let place = tempfile::tempdir().unwrap();
            let apart = repo.check_out_apart(tree, place.path())?;
            Ok(std::fs::read_to_string(apart.top.join("secret")).unwrap())
        };
        let failed: Result<String, GitError> = check_out();
        let Err(GitError::Program { dir, .. }) = failed else { panic!("{failed:?}") };
        assert!(dir.is_dir());
        std::fs::create_dir(repo.git_dir().join("git-crypt")).unwrap();
        std::fs::write(repo.git_dir().join("git-crypt/key"), "in clear").unwrap();
        assert_eq!(check_out().unwrap(), "in clear");
        assert!(repo.git_dir().join("git-crypt/key").exists());
    }

    #[test]
    fn submodules_are_told_from_files() {
        let one = "1".repeat(40);
        let listed = format!("100644 {one} 0\ta\0160000 {one} 0\ts ub\0");
        assert_eq!(links(listed.as_bytes()), [(b"s ub".as_slice(), one.parse().unwrap())]);
    }
}
