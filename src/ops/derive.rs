//! What can be derived from a commit alone. Hooks record it, `check` compares with it, `replay` lives on it.

use super::error::OpsError;
use crate::domain::change::ChangeFacts;
use crate::domain::facts::{CommitFact, CommitKind, CommitRecord, DiffSummary, Gate, Recording};
use crate::domain::ids::{CodeId, CommitId, Oid, TreeId};
use crate::domain::paths::PathRules;
use crate::git::{CommitInfo, Repo};
use crate::record::diff;
use crate::record::fingerprint::Fingerprinter;
use crate::record::normalize::Normalizer;

/// The derivable part of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Derived {
    /// The commit's tree.
    pub tree: TreeId,
    /// Its first parent.
    pub parent: Option<CommitId>,
    /// Code fingerprint.
    pub code: CodeId,
    /// Normalized diff against the first parent.
    pub diff: DiffSummary,
    /// What that diff is made of.
    pub change: ChangeFacts,
    /// The first blob that a partial clone does not have: the diff then stands by ids, as no full clone has it.
    pub missing: Option<Oid>,
}

/// Derives the facts of a commit under the given path rules and patterns.
pub fn derive(
    repo: &Repo,
    paths: &PathRules,
    normalizer: &Normalizer,
    commit: &CommitInfo,
) -> Result<Derived, OpsError> {
    let parent = commit.parents.first().copied();
    // The parent of a shallow clone's oldest commit is not there: the commit then counts as a root.
    let parent_tree = match parent {
        Some(_) if is_cut_off(repo, commit) => None,
        Some(parent) => Some(repo.tree_of(parent)?),
        None => None,
    };
    let code = Fingerprinter::new(repo, paths).of_tree(commit.tree)?;
    let (diff, change, missing) = diff::summarize(repo, paths, normalizer, parent_tree, commit.tree)?;
    Ok(Derived { tree: commit.tree, parent, code, diff, change, missing })
}

/// Whether the history of a shallow clone ends at this commit.
pub fn is_cut_off(repo: &Repo, commit: &CommitInfo) -> bool {
    // libgit2 hides the parents of such a commit; the second half is for versions that do not.
    repo.is_cut_at(commit.id).unwrap_or(false)
        || repo.is_shallow() && commit.parents.first().is_some_and(|parent| repo.tree_of(*parent).is_err())
}

/// The kind of a commit that nobody recorded, as far as the commit itself says.
pub fn kind_of(commit: &CommitInfo) -> CommitKind {
    if commit.parents.len() > 1 {
        CommitKind::Merge
    } else if commit.subject.starts_with("Revert \"") {
        CommitKind::Revert
    } else {
        CommitKind::Normal
    }
}

/// A commit without a record, as the fold would have it: derived facts, no tests, the number still to be given.
pub fn unrecorded(commit: &CommitInfo, derived: &Derived) -> CommitFact {
    let record = CommitRecord {
        recorded_at: commit.committed_at,
        tree: derived.tree,
        parent: derived.parent,
        prev: None,
        kind: kind_of(commit),
        gate: Gate::NotRun,
        recording: Recording::Derived,
        node: commit.author.clone(),
        session: None,
        iteration: 0,
        code: derived.code,
        diff: derived.diff.clone(),
        change: Some(derived.change.clone()),
        tests: None,
        weakening: None,
        outputs: Vec::new(),
        usage: None,
        findings: Vec::new(),
    };
    CommitFact { id: Some(commit.id), subject: commit.subject.clone(), record }
}
