//! The halts of other worktrees that bind here: a halted loop cannot go on in a worktree that was made from its base.

use std::collections::{BTreeSet, VecDeque};

use crate::workspace::Workspace;
use andon_core::domain::decision::{Halt, HaltReach, StandingHalt};
use andon_core::domain::{facts::Attempt, ids::CommitId};
use andon_store::journal::Journal;

/// Most commits that are looked at, behind HEAD and behind a halted commit.
const MAX_COMMITS: usize = 128;

/// The newest of `halts`, unanswered halts of other worktrees, that binds with HEAD at `head`.
pub fn binding(ws: &Workspace, head: Option<CommitId>, halts: Vec<StandingHalt>) -> Option<StandingHalt> {
    let head = head?;
    if halts.is_empty() {
        return None;
    }
    let here = ws.repo.worktree_mark();
    let attempts = Journal::of_attempts(ws.repo.common_dir()).attempts();
    let place = Place { ws, here: &here, head, attempts: &attempts };
    halts
        .into_iter()
        .filter(|found| place.is_bound_by(&found.halt))
        .max_by_key(|found| (found.halt.at, found.id))
}

/// The worktree in which a halt may bind.
struct Place<'a> {
    ws: &'a Workspace,
    here: &'a str,
    head: CommitId,
    attempts: &'a [Attempt],
}

impl Place<'_> {
    /// HEAD builds on the halted commit; or this worktree was made after the halt, and from a commit of the halted run
    /// or from its base. Those that were there already go their own ways.
    fn is_bound_by(&self, halt: &Halt) -> bool {
        let Some(halted) = halt.head.filter(|_| halt.binds == HaltReach::Line) else { return false };
        let was_there = |other: &String| other == self.here || other == Attempt::MANY;
        let made_since = self.here != Attempt::MAIN && !halt.beside.iter().any(was_there);
        self.builds_on(halted) || (made_since && self.begins_in(halt, &self.run_of(halt, halted)))
    }

    fn builds_on(&self, halted: CommitId) -> bool {
        let (mut seen, mut next) = (BTreeSet::new(), VecDeque::from([self.head]));
        while let Some(id) = next.pop_front() {
            if id == halted {
                return true;
            }
            if seen.len() < MAX_COMMITS && seen.insert(id) {
                next.extend(self.parents(id));
            }
        }
        false
    }

    /// The commits of the halted run and its base; without one as many as it had iterations.
    fn run_of(&self, halt: &Halt, halted: CommitId) -> BTreeSet<CommitId> {
        let most = usize::try_from(halt.iteration).unwrap_or(MAX_COMMITS).clamp(1, MAX_COMMITS);
        let most = if halt.base.is_some() { most.saturating_add(1) } else { most };
        let (mut run, mut next) = (BTreeSet::new(), Some(halted));
        while let Some(id) = next.filter(|_| run.len() < most) {
            run.insert(id);
            next = self.parents(id).first().copied().filter(|_| halt.base != Some(id));
        }
        run.extend(halt.base);
        run
    }

    /// True where the work here began in `run`: below what was made here, or tried in that run, lies a commit of it.
    fn begins_in(&self, halt: &Halt, run: &BTreeSet<CommitId>) -> bool {
        let tried = self.tried_in(halt);
        let made_here =
            |id: CommitId| self.attempts.iter().any(|made| made.commit == id && made.worktree == self.here);
        let mut next = Some(self.head);
        for _ in 0..MAX_COMMITS {
            match next {
                Some(id) if run.contains(&id) => return true,
                Some(id) if tried.contains(&id) || made_here(id) => next = self.parents(id).first().copied(),
                Some(_) | None => return false,
            }
        }
        false
    }

    /// The commits that the halted worktree made up to the halted one: as many as the run had other iterations,
    /// whatever HEAD was moved to.
    fn tried_in(&self, halt: &Halt) -> BTreeSet<CommitId> {
        let halted = self.attempts.iter().rposition(|made| Some(made.commit) == halt.head);
        let Some((last, before)) = halted.and_then(|at| self.attempts.get(..=at)?.split_last()) else {
            return BTreeSet::new();
        };
        let most = usize::try_from(halt.iteration.saturating_sub(1)).unwrap_or(MAX_COMMITS);
        let same = before.iter().rev().filter(|made| made.worktree == last.worktree);
        same.take(most).map(|made| made.commit).collect()
    }

    fn parents(&self, id: CommitId) -> Vec<CommitId> {
        self.ws.repo.commit(id).map(|commit| commit.parents).unwrap_or_default()
    }
}
