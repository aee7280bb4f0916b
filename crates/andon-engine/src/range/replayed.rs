//! The facts of commits that are judged again, with or without records.

use crate::recording::{CommitFacts, DerivedCommit, derive};
use crate::{Context, Result};
use andon_core::domain::{CommitFact, CommitId, CommitKind, Diagnostic};
use andon_core::history::{self, Fold, Iteration, NextCommit, Strike};
use andon_git::{CommitInfo, Repo};
use andon_store::NotesStore;

/// The facts about a range that are known before its commits are looked at.
pub struct RangeFacts {
    pub commits: Vec<CommitId>,
    /// The first parents of those commits.
    pub parents: Vec<CommitId>,
    /// The notes commit whose records count.
    pub tip: Option<CommitId>,
}

/// With a handle of its own, as everything that reads objects here: libgit2 maps and caches what it reads of each pack
/// until no handle has it open.
pub fn range_facts(ctx: &Context, range: &str) -> Result<RangeFacts> {
    Repo::cache_nothing();
    let repo = Repo::open(&ctx.cwd, &ctx.repo_env)?;
    let tip = NotesStore::open(&repo)?.tip();
    let (commits, parents): (Vec<_>, Vec<_>) = repo.range_with_parents(range)?.into_iter().unzip();
    Ok(RangeFacts { commits, parents: parents.into_iter().flatten().collect(), tip })
}

pub fn fact(commit: &CommitInfo, facts: CommitFacts, fold: &Fold) -> (CommitFact, Option<Diagnostic>) {
    let (derived, warning): (Box<DerivedCommit>, _) = match facts {
        CommitFacts::Recorded(record) => {
            return (commit.fact(*record), None);
        }
        CommitFacts::Derived(derived, warning) => (derived, warning),
    };
    let mut fact = derive::unrecorded(commit, *derived);
    fact.record.kind = derive::kind_after(commit, fold.timeline().newest());
    // Another system's history that was brought here on two branches has each commit twice, of the very same second.
    let same = |one: &Iteration| {
        one.at == commit.committed_at && one.subject == fact.subject && one.author == fact.author
    };
    if fact.record.kind == CommitKind::Normal && fold.timeline().iterations.iter().any(same) {
        fact.record.kind = CommitKind::CherryPick;
    }
    let upcoming = NextCommit {
        parent: fact.record.parent,
        at: commit.committed_at,
        uptime: None,
        kind: if fact.record.kind == CommitKind::Amend { CommitKind::Normal } else { fact.record.kind },
        code: fact.record.code,
        strike: Strike::new(fact.record.kind, fact.record.change.as_ref()),
    };
    fact.record.iteration = history::next_iteration(fold.timeline(), &upcoming);
    (fact, warning)
}
