//! The facts that can be derived from a commit alone. Hooks record it, `check` compares with it, `replay` uses nothing
//! else.

use crate::error::OpsError;
use andon_core::change::{hash::HashOptions, normalize::Normalizer};
use andon_core::domain::change::{ChangeFacts, Nature};
use andon_core::domain::facts::{CommitFact, CommitKind, CommitRecord, DiffSummary, Recording};
use andon_core::domain::ids::{CodeId, CommitId, Oid, TreeId};
use andon_core::domain::{paths::PathRules, platforms::Platform};
use andon_core::history::Iteration;
use andon_git::{CommitInfo, Repo, Texts};
use andon_store::{diff, fingerprint::Fingerprinter};

/// Texts that are kept in a walk over many commits, in bytes.
const KEPT: usize = 24 << 20;
/// The same of trees.
const KEPT_TREES: usize = 12 << 20;
/// Commits whose trees are remembered: parents are among the last ones nearly always.
const KEPT_COMMITS: usize = 256;

/// The derivable part of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DerivedCommit {
    /// The tree of the commit.
    pub tree: TreeId,
    /// Its first parent.
    pub parent: Option<CommitId>,
    /// Code fingerprint.
    pub code: CodeId,
    /// Normalized diff against the first parent.
    pub diff: DiffSummary,
    /// The parts of that diff.
    pub change: ChangeFacts,
    /// The first blob that a partial clone does not have: the diff then consists of ids, unlike that of a full clone.
    pub missing: Option<Oid>,
}

/// Derives the facts of one commit after the other under the same path rules and patterns.
pub struct Deriver<'r> {
    repo: &'r Repo,
    paths: &'r PathRules,
    normalizer: &'r Normalizer,
    prints: Fingerprinter<'r>,
    texts: Texts<'r>,
    /// The repository is shallow; asked once, not for each of thousands.
    shallow: bool,
    /// The trees of the newest commits, and where the next one is put.
    trees: (Vec<(CommitId, TreeId)>, usize),
}

impl<'r> Deriver<'r> {
    /// For a few commits: what it finds out about directories is kept for the next process.
    pub fn new(repo: &'r Repo, paths: &'r PathRules, normalizer: &'r Normalizer) -> Self {
        let (prints, texts, shallow) =
            (Fingerprinter::new(repo, paths), Texts::new(repo, 0), repo.is_shallow());
        Self { repo, paths, normalizer, prints, texts, shallow, trees: (Vec::new(), 0) }
    }

    /// For thousands of commits.
    pub fn in_bulk(repo: &'r Repo, paths: &'r PathRules, normalizer: &'r Normalizer) -> Self {
        repo.keep_trees(KEPT_TREES);
        let (prints, texts) = (Fingerprinter::in_bulk(repo, paths), Texts::new(repo, KEPT));
        Self { prints, texts, ..Self::new(repo, paths, normalizer) }
    }

    /// True if the repository is shallow.
    pub fn is_shallow(&self) -> bool {
        self.shallow
    }

    fn tree_of(&self, commit: CommitId) -> Result<TreeId, OpsError> {
        match self.trees.0.iter().find(|(known, _)| *known == commit) {
            Some((_, tree)) => Ok(*tree),
            None => Ok(self.repo.tree_of(commit)?),
        }
    }

    fn remember(&mut self, commit: &CommitInfo) {
        let (trees, next) = &mut self.trees;
        match trees.get_mut(*next) {
            Some(place) => *place = (commit.id, commit.tree),
            None => trees.push((commit.id, commit.tree)),
        }
        *next = (*next + 1) % KEPT_COMMITS;
    }

    /// The facts of a commit.
    pub fn derive(&mut self, commit: &CommitInfo) -> Result<DerivedCommit, OpsError> {
        let code = self.prints.of_tree(commit.tree)?;
        let before = self.parent_tree(commit)?;
        let changes = diff::changes(self.repo, self.paths, before, commit.tree)?;
        let reading = HashOptions { rules: self.paths, normalizer: self.normalizer };
        let (diff, mut change, missing) = diff::summarize_changes(&mut self.texts, &reading, &changes)?;
        if changes.is_empty() && before.is_some_and(|before| before != commit.tree) {
            change.nature = Nature::Ignored;
        }
        let parent = commit.parents.first().copied();
        Ok(DerivedCommit { tree: commit.tree, parent, code, diff, change, missing })
    }

    fn parent_tree(&mut self, commit: &CommitInfo) -> Result<Option<TreeId>, OpsError> {
        self.remember(commit);
        // The parent of a shallow clone's oldest commit is not there: the commit then counts as a root.
        match commit.parents.first() {
            Some(_) if self.shallow && is_cut_off(self.repo, commit) => Ok(None),
            Some(parent) => self.tree_of(*parent).map(Some),
            None => Ok(None),
        }
    }
}

/// Derives the facts of a commit under the given path rules and patterns.
pub fn derive(
    repo: &Repo,
    paths: &PathRules,
    normalizer: &Normalizer,
    commit: &CommitInfo,
) -> Result<DerivedCommit, OpsError> {
    Deriver::new(repo, paths, normalizer).derive(commit)
}

/// The normalized diff between two trees.
pub fn between(
    repo: &Repo,
    paths: &PathRules,
    normalizer: &Normalizer,
    old: Option<TreeId>,
    new: TreeId,
) -> Result<DiffSummary, OpsError> {
    let changes = diff::changes(repo, paths, old, new)?;
    let reading = HashOptions { rules: paths, normalizer };
    Ok(diff::summarize_changes(&mut Texts::new(repo, 0), &reading, &changes)?.0)
}

/// True if the history of a shallow clone ends at this commit.
pub fn is_cut_off(repo: &Repo, commit: &CommitInfo) -> bool {
    // libgit2 hides the parents of such a commit; the second half is for versions that do not.
    repo.is_shallow()
        && (repo.is_cut_at(commit.id).unwrap_or(false)
            || commit.parents.first().is_some_and(|parent| repo.tree_of(*parent).is_err()))
}

/// The kind of a commit without a record, as far as the commit itself says.
fn kind(commit: &CommitInfo) -> CommitKind {
    let goes_back = platform(commit).is_some_and(|platform| platform.goes_back(&commit.trailers));
    if commit.parents.len() > 1 {
        CommitKind::Merge
    } else if goes_back || commit.subject.starts_with("Revert \"") {
        CommitKind::Revert
    } else {
        CommitKind::Normal
    }
}

fn platform(commit: &CommitInfo) -> Option<&'static Platform> {
    Platform::of([&commit.committer_email, &commit.email])
}

/// Seconds between two commits of one rebase.
const AT_ONCE: u64 = 2;
/// The same where the commit was made [`LONG_BEFORE`]: a slow rebase, which work that is amended is not taken for.
const AT_ONCE_OLD: u64 = 10;
/// Seconds from the making of a commit to the rebase of it.
const LONG_BEFORE: u64 = 24 * 3600;

/// The kind of a commit without a record, after `before`, its parent. A row of commits that were made long before and
/// committed all at once comes from a rebase: each is a pick.
pub fn kind_after(commit: &CommitInfo, before: Option<&Iteration>) -> CommitKind {
    let own = kind(commit);
    let again = commit.authored_at < commit.committed_at;
    let at_once = |before: &Iteration| {
        let first = before.commit == commit.parents.first().copied() && before.at <= commit.committed_at;
        let old = commit.committed_at.since(commit.authored_at).0 >= LONG_BEFORE;
        first && commit.committed_at.since(before.at).0 <= if old { AT_ONCE_OLD } else { AT_ONCE }
    };
    if own == CommitKind::Normal && again && before.is_some_and(at_once) {
        CommitKind::CherryPick
    } else {
        own
    }
}

/// A commit without a record, as the fold would have it: derived facts, no tests, the number still to be given.
pub fn unrecorded(commit: &CommitInfo, mut derived: DerivedCommit) -> CommitFact {
    // What a person saves in an editor, and the empty commit of a button that was pressed, are no iterations of a loop.
    if platform(commit)
        .is_some_and(|platform| platform.saves || derived.diff.empty && derived.diff.files == 0)
    {
        derived.change.nature = Nature::Ignored;
    }
    let record = CommitRecord {
        parent: derived.parent,
        kind: kind(commit),
        recording: Recording::Derived,
        node: commit.author.clone(),
        change: Some(derived.change),
        ..CommitRecord::new(commit.committed_at, derived.tree, derived.code, derived.diff)
    };
    commit.fact(record)
}

#[cfg(test)]
mod tests {
    use super::*;
    use andon_core::domain::time::Timestamp;
    use andon_testkit::facts::{commit, oid, timeline};

    #[test]
    fn a_row_made_long_before_and_all_at_once_was_put_there_by_a_rebase() {
        let line = timeline(vec![commit(1).at(1000)]);
        let before = line.newest();
        let parent = before.and_then(|one| one.commit);
        let made = |authored_at: i64, committed_at: i64, parents: Vec<CommitId>, subject: &str| {
            let info = CommitInfo {
                id: CommitId(oid(7)),
                tree: TreeId(oid(8)),
                parents,
                subject: subject.to_owned(),
                trailers: Vec::new(),
                author: "A".to_owned(),
                email: String::new(),
                committer: String::new(),
                committer_email: String::new(),
                closes_as_agent: false,
                authored_at: Timestamp(authored_at),
                committed_at: Timestamp(committed_at),
            };
            kind_after(&info, before)
        };
        let on_it = || parent.into_iter().collect::<Vec<_>>();
        assert_eq!(made(400, 1000, on_it(), "Fix"), CommitKind::CherryPick);
        assert_eq!(made(400, 1002, on_it(), "Fix"), CommitKind::CherryPick);
        assert_eq!(made(400, 1060, on_it(), "Fix"), CommitKind::Normal, "amended a minute later");
        assert_eq!(made(400, 1006, on_it(), "Fix"), CommitKind::Normal, "amended at once");
        assert_eq!(made(1006 - 24 * 3600, 1006, on_it(), "Fix"), CommitKind::CherryPick, "a slow rebase");
        assert_eq!(made(1001, 1001, on_it(), "Fix"), CommitKind::Normal, "a hasty one");
        assert_eq!(made(400, 1000, vec![CommitId(oid(3))], "Fix"), CommitKind::Normal, "on another");
        assert_eq!(made(400, 1000, on_it(), "Revert \"Fix\""), CommitKind::Revert);
    }
}
