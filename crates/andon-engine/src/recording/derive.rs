//! The facts that can be derived from a commit alone. Hooks record it, `check` compares with it, `replay` uses nothing
//! else.

use std::rc::Rc;

use crate::Result;
use andon_core::change::rewrites::ChangedLines;
use andon_core::change::{hash::HashOptions, normalize::Normalizer, path_hash};
use andon_core::domain::{
    Change, ChangeFacts, CodeId, CommitFact, CommitId, CommitKind, CommitRecord, DiffSummary, Nature, Oid,
    PathClass, PathRules, Platform, Recording, Rewrite, TreeId, Weakening,
};
use andon_core::history::Iteration;
use andon_git::{CommitInfo, Repo};
use andon_store::{Fingerprinter, SummedChanges, diff};

/// Texts that are kept in a walk over many commits, in bytes.
const KEPT: usize = 24 << 20;
/// The same of trees.
const KEPT_TREES: usize = 12 << 20;
/// Commits that are remembered: parents are among the last ones nearly always.
const KEPT_COMMITS: usize = 256;
/// Commits before a commit in which its author may have written what it removes.
const REACH: usize = 10;
/// A commit of more files goes over all of them for one reason, and writes none of them.
const SWEEP: usize = 100;

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
    /// The tests that it took away, where that was asked.
    pub taken: Option<Weakening>,
}

/// Derives the facts of one commit after the other under the same path rules and patterns.
pub struct Deriver<'r> {
    repo: &'r Repo,
    paths: &'r PathRules,
    normalizer: &'r Normalizer,
    prints: Fingerprinter<'r>,
    /// The repository is shallow; asked once, not for each of thousands.
    shallow: bool,
    /// The newest commits, and where the next one is put.
    recent: (Vec<RecentCommit>, usize),
}

/// A commit as the commits after it ask for it.
#[derive(Clone)]
struct RecentCommit {
    id: CommitId,
    tree: TreeId,
    parents: Vec<CommitId>,
    author: [String; 2],
    lines: Rc<ChangedLines>,
}

impl RecentCommit {
    fn new(commit: &CommitInfo, lines: ChangedLines) -> Self {
        let author = [commit.author.clone(), commit.email.clone()];
        let (id, tree, parents) = (commit.id, commit.tree, commit.parents.clone());
        Self { id, tree, parents, author, lines: Rc::new(lines) }
    }
}

impl<'r> Deriver<'r> {
    /// For a few commits: what it finds out about directories is kept for the next process.
    pub fn new(repo: &'r Repo, paths: &'r PathRules, normalizer: &'r Normalizer) -> Self {
        let (prints, shallow) = (Fingerprinter::new(repo, paths), repo.is_shallow());
        Self { repo, paths, normalizer, prints, shallow, recent: (Vec::new(), 0) }
    }

    /// For thousands of commits.
    pub fn in_bulk(repo: &'r Repo, paths: &'r PathRules, normalizer: &'r Normalizer) -> Self {
        repo.keep(KEPT_TREES, KEPT);
        Self { prints: Fingerprinter::in_bulk(repo, paths), ..Self::new(repo, paths, normalizer) }
    }

    /// True if the repository is shallow.
    pub fn is_shallow(&self) -> bool {
        self.shallow
    }

    fn recent(&self, commit: CommitId) -> Option<&RecentCommit> {
        self.recent.0.iter().find(|known| known.id == commit)
    }

    fn tree_of(&self, commit: CommitId) -> Result<TreeId> {
        self.recent(commit).map_or_else(|| Ok(self.repo.tree_of(commit)?), |known| Ok(known.tree))
    }

    fn remember(&mut self, commit: RecentCommit) {
        let (recent, next) = &mut self.recent;
        match recent.get_mut(*next) {
            Some(place) => *place = commit,
            None => recent.push(commit),
        }
        *next = (*next + 1) % KEPT_COMMITS;
    }

    /// Reads ahead what the facts of `commits` need, where git is asked for objects.
    pub fn read_ahead(&self, commits: &[&CommitInfo]) {
        let tree_of = |id: &CommitId| {
            let here = commits.iter().find(|commit| commit.id == *id).map(|commit| commit.tree);
            here.or_else(|| self.recent(*id).map(|known| known.tree))
        };
        let pair = |commit: &&CommitInfo| Some([commit.parents.first().and_then(tree_of)?, commit.tree]);
        let pairs: Vec<[TreeId; 2]> = commits.iter().filter_map(pair).collect();
        let counts = |path: &[u8]| self.paths.class(path) != PathClass::Ignored;
        self.repo.read_changes_ahead(&pairs, &counts, diff::MAX_FILE);
    }

    /// The facts of a commit.
    pub fn derive(&mut self, commit: &CommitInfo) -> Result<DerivedCommit> {
        let code = self.prints.of_tree(commit.tree)?;
        let before = self.parent_tree(commit)?;
        let changes = diff::changes(self.repo, self.paths, before, commit.tree)?;
        let SummedChanges { diff, facts: mut change, lines, missing } = self.sum(&changes)?;
        if changes.is_empty() && before.is_some_and(|before| before != commit.tree) {
            change.nature = Nature::Ignored;
        }
        let parent = commit.parents.first().copied();
        let lines = Some(lines).filter(|_| changes.len() <= SWEEP).unwrap_or_default();
        let made = RecentCommit::new(commit, lines);
        change.rewrites = self.rewrites(&made);
        self.remember(made);
        Ok(DerivedCommit { tree: commit.tree, parent, code, diff, change, missing, taken: None })
    }

    fn sum(&self, changes: &[Change]) -> Result<SummedChanges> {
        let reading = HashOptions { rules: self.paths, normalizer: self.normalizer };
        Ok(diff::summarize_changes(self.repo, &reading, changes)?)
    }

    /// The files that `made` rewrites: what it removes was added by its author in the commits right before.
    fn rewrites(&mut self, made: &RecentCommit) -> Vec<Rewrite> {
        let mut next =
            made.parents.first().copied().filter(|_| made.parents.len() == 1 && made.lines.removes());
        let mut before = Vec::new();
        for _ in 0..REACH {
            // Beyond the end of a shallow history, nothing is known.
            let Some(earlier) =
                next.and_then(|id| self.recent(id).cloned().or_else(|| self.look_up(id, made)))
            else {
                break;
            };
            next = earlier.parents.first().copied();
            if earlier.author == made.author && earlier.parents.len() == 1 {
                before.push(earlier.lines);
            }
        }
        made.lines.rewrites(&before)
    }

    /// A commit that was not derived here, with its lines in the files that `later`, of the same author, takes lines from.
    fn look_up(&mut self, id: CommitId, later: &RecentCommit) -> Option<RecentCommit> {
        let commit = self.repo.commit(id).ok()?;
        let mut found = RecentCommit::new(&commit, ChangedLines::default());
        if let [parent] = commit.parents.as_slice()
            && found.author == later.author
        {
            let before = self.tree_of(*parent).ok()?;
            let mut changes = diff::changes(self.repo, self.paths, Some(before), commit.tree).ok()?;
            let is_sweep = changes.len() > SWEEP;
            changes.retain(|change| !is_sweep && later.lines.removes_from(path_hash(&change.path)));
            found.lines = Rc::new(self.sum(&changes).ok()?.lines);
        }
        Some(found)
    }

    fn parent_tree(&self, commit: &CommitInfo) -> Result<Option<TreeId>> {
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
) -> Result<DerivedCommit> {
    Deriver::new(repo, paths, normalizer).derive(commit)
}

/// The normalized diff between two trees.
pub fn between(
    repo: &Repo,
    paths: &PathRules,
    normalizer: &Normalizer,
    old: Option<TreeId>,
    new: TreeId,
) -> Result<DiffSummary> {
    let changes = diff::changes(repo, paths, old, new)?;
    let reading = HashOptions { rules: paths, normalizer };
    Ok(diff::summarize_changes(repo, &reading, &changes)?.diff)
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
    // Most commits have no trailers, and this is asked of each more than once.
    let goes_back = !commit.trailers.is_empty()
        && platform(commit).is_some_and(|platform| platform.goes_back(&commit.trailers));
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
    // A person's save in an editor, and the empty commit of a button that was pressed, are no iterations of a loop.
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
        weakening: derived.taken,
        ..CommitRecord::new(commit.committed_at, derived.tree, derived.code, derived.diff)
    };
    commit.fact(record)
}

#[cfg(test)]
mod tests {
    use super::*;
    use andon_core::domain::Timestamp;
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
