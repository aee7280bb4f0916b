//! What Andon has written here apart from hooks and configuration: records, the ledger and files.

use std::fs;
use std::path::{Path, PathBuf};

use super::{NOTES_REF, quoted};
use andon_core::domain::plural::count;
use andon_engine::effect::AndonDir;
use andon_git::Repo;

/// Everything of Andon's own among the refs, its copies of remotes included.
pub(crate) const OWN_REFS: &str = "refs/andon/";
/// The folder of Andon in each git directory.
const OWN_DIR: &str = "andon";

/// The folders of Andon that are there: plain ones, never what a link leads to.
pub(crate) fn folders_of(repo: &Repo) -> Vec<PathBuf> {
    let mut all = vec![repo.common_dir().join(OWN_DIR), repo.git_dir().join(OWN_DIR)];
    all.extend(repo.workdir().map(|top| AndonDir::below(top).path()));
    // The main working tree, seen from a linked one.
    let main = repo.common_dir().parent().filter(|_| repo.common_dir().ends_with(".git"));
    all.extend(main.map(|top| AndonDir::below(top).path()));
    for linked in repo.worktree_places() {
        all.push(linked.git_dir.join(OWN_DIR));
        all.extend(linked.top.map(|top| AndonDir::below(&top).path()));
    }
    all.sort();
    all.dedup();
    all.retain(|path| is_folder(path));
    all
}

fn is_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|facts| facts.is_dir())
}

/// What is there of it, in words.
pub(crate) fn left(repo: &Repo) -> Vec<String> {
    let mut left = Vec::new();
    if let Ok(notes) = repo.notes_list(NOTES_REF)
        && !notes.is_empty()
    {
        left.push(format!("the records of {} in {NOTES_REF}", count(notes.len(), "commit")));
    }
    let is_ledger = |(name, _): &(String, _)| name.contains("/ledger/");
    if repo.refs_with_prefix(OWN_REFS).is_ok_and(|found| found.iter().any(is_ledger)) {
        left.push("the ledger of halts and answers in refs/andon/".to_owned());
    }
    let folders = folders_of(repo);
    left.extend(folders.iter().map(|path| quoted(path)));
    left
}
