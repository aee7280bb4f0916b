//! `andon check --squash-of RANGE`: a squash merge leaves one commit without records. What was judged on the branch
//! holds for it when its tree is what the branch leads to: the same tree, or the one that merging the branch into the
//! squash commit's parent gives.

use super::{Diagnostic, at, violation};
use andon_core::domain::findings::Level;
use andon_core::domain::ids::{CommitId, TreeId};
use andon_engine::error::OpsError;
use andon_git::{CommitInfo, Repo};

/// Proves or refutes that `squash` is the squash of what `tip` adds to its parent.
pub(super) fn judge(repo: &Repo, squash: CommitId, tip: CommitId) -> Result<Vec<Diagnostic>, OpsError> {
    let commit = repo.commit(squash)?;
    let tip_tree = repo.tree_of(tip)?;
    if commit.tree == tip_tree {
        return Ok(Vec::new());
    }
    let merged = match commit.parents.first() {
        Some(parent) => repo.merged_tree(*parent, tip)?,
        None => None,
    };
    if merged == Some(commit.tree) {
        let what = "the branch was squashed onto a newer base: the tests never ran on exactly this tree";
        return Ok(vec![violation(Some(at(&commit)), "untested-squash", Level::Warn, what, "andon test")]);
    }
    Ok(vec![refuted(repo, &commit, tip, merged.unwrap_or(tip_tree))?])
}

fn refuted(repo: &Repo, commit: &CommitInfo, tip: CommitId, wanted: TreeId) -> Result<Diagnostic, OpsError> {
    let differing = repo.changes(Some(wanted), commit.tree)?;
    let named: Vec<String> =
        differing.iter().take(3).map(|change| String::from_utf8_lossy(&change.path).into_owned()).collect();
    let what = format!(
        "the commit is no squash of that range: {} path(s) differ from what it leads to, first: {}",
        differing.len(),
        named.join(", ")
    );
    let help = format!("git diff {} {}", tip.short(), commit.id.short());
    Ok(violation(Some(at(commit)), "not-the-squash", Level::Block, what, &help))
}
