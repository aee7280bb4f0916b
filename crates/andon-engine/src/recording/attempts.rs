//! Attempts that HEAD was moved away from or that were moved themselves, from what the repository remembers
//! (`andon_core::history::side_attempts`).

use std::{cell::LazyCell, collections::BTreeSet};

use crate::recording::derive::{self, DerivedCommit};
use crate::{Result, Workspace};
use andon_core::domain::{
    Attempt, CarriedAttempt, CommitFact, CommitId, CommitKind, DiffSummary, TestEvidence, TestRun,
};
use andon_core::history::{self, LineOfWork, MAX_REWRITTEN, Outcome, PlacedAttempt, SideAttempt, outcome};
use andon_git::{CommitInfo, platform::test_seam::stop_point};
use andon_store::{Journal, JournalLine, NotesStore, Window, union};

/// Remembers a commit that was recorded here, for all worktrees.
pub fn remember(ws: &Workspace, commit: &CommitInfo) -> Result<()> {
    let worktree = ws.repo.worktree_mark();
    let beside = ws.repo.worktrees_beside();
    let made = Attempt { commit: commit.id, parent: commit.parents.first().copied(), worktree, beside };
    Journal::of_attempts(ws.repo.common_dir()).append(&JournalLine::Attempt(Box::new(made)))?;
    stop_point("post-commit:attempted");
    Ok(())
}

/// Attempts that are not commits of a window, and the unknown part of the window.
#[derive(Debug, Default)]
pub struct SideAttempts {
    /// The attempts that count, oldest first; the newest, at most [`MAX_REWRITTEN`].
    pub aside: Vec<PlacedAttempt>,
    /// Those of tasks that are done, on branches that are kept: they do not count here, but a squash may join them.
    pub done: Vec<CommitFact>,
    /// Commits of other worktrees that the line came to hold: they neither count nor interrupt.
    pub elsewhere: BTreeSet<CommitId>,
    /// Those of them that came from other clones, which may have been thrown away.
    pub synced: BTreeSet<CommitId>,
    /// Commits of the window without a record, about which nothing is known.
    pub unknown: usize,
}

impl SideAttempts {
    /// Keeps what came from other clones only where the work here is at the same tests: one that failed there failed in a run
    /// here, later and after a change. What fails without a change is not the loop's doing.
    pub fn keep_same_task(&mut self, ws: &Workspace, runs: &[TestRun]) {
        let Self { aside, synced, .. } = self;
        let began = runs.iter().filter_map(|run| run.at).min();
        let is_same = |fact: &CommitFact| {
            let (Some(tests), Some(parent)) = (&fact.record.tests, fact.record.parent) else { return false };
            let base = ws.repo.tree_of(parent).ok();
            let unchanged = |run: &&TestRun| {
                base.is_some() && run.base == base && run.overlay.is_empty() && !run.overlay_truncated
            };
            let (before, after): (Vec<&TestRun>, Vec<_>) = runs.iter().partition(unchanged);
            let fails = |runs: &[&TestRun]| runs.iter().any(|run| fail_alike(&run.evidence, tests));
            began.is_some_and(|began| fact.record.recorded_at < began) && fails(&after) && !fails(&before)
        };
        aside.retain(|one| one.fact.id.is_none_or(|id| !synced.contains(&id)) || is_same(&one.fact));
    }
}

/// True if two runs failed in the same way, or in one test at least.
fn fail_alike(one: &TestEvidence, other: &TestEvidence) -> bool {
    let both = outcome(one) == Outcome::Red && outcome(other) == Outcome::Red;
    both && (one.signature == other.signature || one.compared().any(|id| other.compared().any(|it| it == id)))
}

/// The attempts that count in addition to the commits of `window`, which lies behind `head`.
pub fn aside(
    ws: &Workspace,
    store: &NotesStore<'_>,
    head: Option<CommitId>,
    window: &Window,
) -> SideAttempts {
    let attempts = Journal::of_attempts(ws.repo.common_dir()).attempts();
    let walked = window.walked();
    let commits: Vec<CommitId> = walked.iter().map(|(_, commit)| *commit).collect();
    let base = if walked.is_empty() { head } else { window.below };
    let here = ws.repo.worktree_mark();
    let elsewhere = history::from_elsewhere(&attempts, &here);
    let again = recognised(ws, store, &attempts, window);
    let mut line = LineOfWork {
        commits: &commits,
        base,
        again: &again,
        merged: &[],
        elsewhere: &elsewhere,
        here: &here,
    };
    let (synced, known) = with_synced(ws, &attempts, &here);
    let mut found = history::aside(&known, &line);
    let unknown = |first: usize| window.unrecorded.iter().filter(|one| one.after >= first).count();
    // The common case: nothing was given up.
    if found.is_empty() {
        let unknown = if window.facts.is_empty() { 0 } else { unknown(1) };
        return SideAttempts { elsewhere, unknown, ..SideAttempts::default() };
    }
    let merged = merged(ws, window);
    if !merged.is_empty() {
        line.merged = &merged;
        found = history::aside(&known, &line);
    }
    found.drain(..found.len().saturating_sub(MAX_REWRITTEN));
    let read = found.iter().filter_map(|one| Some((*one, recorded(ws, store, one.commit)?)));
    let read = read.filter(|(one, fact)| !synced.contains(&one.commit) || !was_red(store, fact, &synced));
    let read: Vec<(SideAttempt, CommitFact)> = read.collect();
    // Branches may be many: they are listed only where it depends on them.
    let tips = LazyCell::new(|| branch_tips(ws));
    // A change that is made again was not done.
    let counts = |(one, fact): &&(SideAttempt, CommitFact)| {
        let made_here = attempts.iter().any(|made| made.commit == one.commit && made.worktree == here);
        let Some(done) = ended_well(&read, one.group) else { return true };
        made_here && !tips.contains(&done)
            || read.iter().filter(|(_, other)| fact.record.diff.is_again(&other.record.diff)).count() > 1
    };
    // From places among all commits to places among those with a record.
    let after = |place: usize| walked.get(place).map_or(window.facts.len(), |(older, _)| *older);
    let (counted, done): (Vec<_>, Vec<_>) = read.iter().partition(counts);
    let attempted = |(one, fact): &(SideAttempt, CommitFact)| PlacedAttempt {
        after: after(one.after),
        fact: fact.clone(),
    };
    let aside: Vec<PlacedAttempt> = counted.into_iter().map(attempted).collect();
    let done = done.into_iter().map(|(_, fact)| fact.clone()).collect();
    let unknown = crossed(window, found.first().map_or(0, |one| one.after), &again);
    SideAttempts { aside, done, elsewhere, synced, unknown }
}

/// Counts the commits without a record from the place of the `first` attempt on, but for those that are attempts once more.
fn crossed(window: &Window, first: usize, again: &[(CommitId, CommitId)]) -> usize {
    let walked = window.walked().into_iter().enumerate();
    let crossed = walked.filter(|(place, (older, _))| *place >= first || *older > 0).map(|(_, (_, id))| id);
    let is_known = |id: CommitId| again.iter().any(|(_, moved)| *moved == id);
    crossed.filter(|id| !is_known(*id) && window.unrecorded.iter().any(|one| one.commit == *id)).count()
}

/// True if the tests of a commit of another clone failed on the commit below it, which none of `synced` is.
fn was_red(store: &NotesStore<'_>, fact: &CommitFact, synced: &BTreeSet<CommitId>) -> bool {
    let before = fact.record.parent.filter(|parent| !synced.contains(parent));
    let before = before.and_then(|parent| store.readable(parent)?.tests);
    before.zip(fact.record.tests.as_ref()).is_some_and(|(before, tests)| fail_alike(&before, tests))
}

/// The failing commits of other clones, and `made` behind them: they were made before the work here began.
fn with_synced(ws: &Workspace, made: &[Attempt], here: &str) -> (BTreeSet<CommitId>, Vec<Attempt>) {
    let is_new = |commit: CommitId| made.iter().all(|made| made.commit != commit);
    let red = union::red_commits(&ws.repo).into_iter().filter(|(_, commit, _)| is_new(*commit));
    let synced: Vec<Attempt> = red
        .map(|(_, commit, parent)| Attempt { commit, parent, worktree: here.to_owned(), beside: Vec::new() })
        .collect();
    (synced.iter().map(|one| one.commit).collect(), [&synced, made].concat())
}

/// Attempts that are looked at for one that was moved, the newest.
const LOOKED_AT: usize = 64;
/// Changes that are derived to know one again.
const DERIVED: usize = 16;

/// The attempts that commits of the window without a record are once more, each with that commit: a tool moved or reworded
/// them without hooks. They have the tree of the attempt, or its author, date and change.
fn recognised(
    ws: &Workspace,
    store: &NotesStore<'_>,
    attempts: &[Attempt],
    window: &Window,
) -> Vec<(CommitId, CommitId)> {
    let in_line = |id: CommitId| window.facts.iter().any(|fact| fact.id == Some(id));
    let newest = attempts.iter().rev().filter(|made| !in_line(made.commit)).take(LOOKED_AT);
    let newest: Vec<&Attempt> = newest.collect();
    // Commits below the first one of a run were there before it.
    let begins = window.facts.first().is_some_and(|first| first.record.iteration <= 1);
    let crossed = || window.unrecorded.iter().rev().filter(|one| !begins || one.after > 0);
    if crossed().next().is_none() || newest.is_empty() {
        return Vec::new();
    }
    let mut known: Vec<CommitInfo> =
        newest.into_iter().filter_map(|made| ws.repo.commit(made.commit).ok()).collect();
    let (mut found, mut derived) = (Vec::new(), 0);
    for one in crossed() {
        let Ok(commit) = ws.repo.commit(one.commit) else { continue };
        let same = known.iter().position(|made| {
            made.tree == commit.tree && made.parents.len() == commit.parents.len()
                || is_dated_alike(made, &commit) && derived < DERIVED && {
                    derived += 1;
                    changes_alike(ws, store, made.id, &commit)
                }
        });
        found.extend(same.map(|at| (known.remove(at).id, commit.id)));
    }
    found
}

/// The attempt that `commit`, which is being recorded, carries on: the one from which git says that it moves it, or one
/// with its author, date and change (`diff`).
pub fn carried(
    ws: &Workspace,
    store: &NotesStore<'_>,
    commit: &CommitInfo,
    diff: &DiffSummary,
) -> Option<CarriedAttempt> {
    let of = |id: CommitId| Some(CarriedAttempt::new(id, &store.readable(id)?));
    if let Some(carried) = ws.repo.rebased_from().filter(|id| *id != commit.id).and_then(of) {
        return Some(carried);
    }
    let attempts = Journal::of_attempts(ws.repo.common_dir()).attempts();
    let newest = attempts.iter().rev().filter(|made| made.commit != commit.id).take(LOOKED_AT);
    newest
        .filter_map(|made| ws.repo.commit(made.commit).ok())
        .filter(|made| is_dated_alike(made, commit))
        .find_map(|made| {
            let record = store.readable(made.id)?;
            diff.is_again(&record.diff).then(|| CarriedAttempt::new(made.id, &record))
        })
}

/// Rows of attempts that are compared with a squash, the newest.
const ROWS: usize = 4;

/// The newest of the attempts that a plain commit joins into one (`merge --squash`, a soft reset): two or more that
/// build on each other, whose code it has, or whose whole change it makes on another parent. A single attempt was moved
/// by a soft reset when nothing was tried since and the tree is the same: making the same change again on another
/// parent is a new attempt.
pub fn joined(ws: &Workspace, made: &DerivedCommit, beside: &[&CommitFact]) -> Option<CarriedAttempt> {
    if beside.is_empty() || made.diff.empty {
        return None;
    }
    let with_id = |id: Option<CommitId>| beside.iter().copied().find(|fact| id.is_some() && fact.id == id);
    let builds_on = |tip: &CommitFact| beside.iter().any(|fact| fact.record.parent == tip.id);
    let tips = beside.iter().rev().copied().filter(|tip| !builds_on(tip));
    for tip in tips.take(ROWS) {
        let row: Vec<&CommitFact> =
            std::iter::successors(Some(tip), |fact| with_id(fact.record.parent)).take(beside.len()).collect();
        let base = row.last().and_then(|first| first.record.parent);
        let is_it = if row.len() > 1 {
            tip.record.code == made.code || makes_all_of(ws, base, tip, made)
        } else {
            tip.record.tree == made.tree && tip.record.parent != made.parent && is_newest(ws, tip)
        };
        if is_it {
            return tip.id.map(|id| CarriedAttempt::new(id, &tip.record));
        }
    }
    None
}

/// The attempt that `git merge --squash` of it alone commits once more, with the same change on another parent or the same
/// code. `squashed` is what git said.
pub fn squashed(
    store: &NotesStore<'_>,
    squashed: &[CommitId],
    made: &DerivedCommit,
) -> Option<CarriedAttempt> {
    let [one] = squashed else { return None };
    let record = store.readable(*one)?;
    let same = record.diff.hash == made.diff.hash || record.code == made.code;
    (same && !made.diff.empty).then(|| CarriedAttempt::new(*one, &record))
}

/// True if nothing was recorded here since an attempt.
fn is_newest(ws: &Workspace, attempt: &CommitFact) -> bool {
    let attempts = Journal::of_attempts(ws.repo.common_dir()).attempts();
    attempts.last().is_some_and(|last| Some(last.commit) == attempt.id)
}

fn makes_all_of(ws: &Workspace, base: Option<CommitId>, tip: &CommitFact, made: &DerivedCommit) -> bool {
    let Some(before) = base.and_then(|base| ws.repo.tree_of(base).ok()) else { return false };
    let Ok(normalizer) = ws.normalizer() else { return false };
    derive::between(&ws.repo, &ws.config.paths.rules, &normalizer, Some(before), tip.record.tree)
        .is_ok_and(|diff| diff.hash == made.diff.hash)
}

/// True if two commits have the same author and author date, which moving and rewording keep.
fn is_dated_alike(one: &CommitInfo, other: &CommitInfo) -> bool {
    one.authored_at == other.authored_at && one.email == other.email && one.author == other.author
}

fn changes_alike(ws: &Workspace, store: &NotesStore<'_>, attempt: CommitId, commit: &CommitInfo) -> bool {
    let Some(stored) = store.readable(attempt) else { return false };
    let Ok(normalizer) = ws.normalizer() else { return false };
    let derived = derive::derive(&ws.repo, &ws.config.paths.rules, &normalizer, commit);
    derived.is_ok_and(|derived| derived.diff.is_again(&stored.diff))
}

/// The newest of a group, where it passed its tests: in a worktree of its own, or on a branch that is kept, that is a task
/// done, not one given up.
fn ended_well(read: &[(SideAttempt, CommitFact)], group: CommitId) -> Option<CommitId> {
    let (newest, fact) = read.iter().rev().find(|(one, _)| one.group == group)?;
    let tests = fact.record.tests.as_ref().filter(|tests| tests.code == fact.record.code)?;
    (outcome(tests) == Outcome::Green).then_some(newest.commit)
}

/// The commits at which branches of this clone end. During a rebase the branch still ends at the commits that it
/// replaces.
fn branch_tips(ws: &Workspace) -> BTreeSet<CommitId> {
    if !ws.repo.head().is_ok_and(|head| head.branch().is_some()) {
        return BTreeSet::new();
    }
    let tips = ws.repo.refs_with_prefix("refs/heads/").unwrap_or_default();
    tips.into_iter().map(|(_, tip)| CommitId(tip)).collect()
}

/// The commits that the merges of the window brought in.
fn merged(ws: &Workspace, window: &Window) -> Vec<CommitId> {
    let merges = window.facts.iter().filter(|fact| fact.record.kind == CommitKind::Merge);
    let parents = merges.filter_map(|fact| Some(ws.repo.commit(fact.id?).ok()?.parents));
    let recorded = parents.flat_map(|parents| parents.into_iter().skip(1));
    recorded.chain(window.unrecorded.iter().flat_map(|one| one.merged.iter().copied())).collect()
}

/// The record, with what its commit says while that is still there.
fn recorded(ws: &Workspace, store: &NotesStore<'_>, id: CommitId) -> Option<CommitFact> {
    Some(ws.repo.fact(id, store.readable(id)?))
}
