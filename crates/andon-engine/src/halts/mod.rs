//! The halt that binds here. The ledgers of all clones come first. Where they hold no halt, the journal and the records are asked,
//! which name what a ledger has lost, and then answers that lack the signature they need. Of the halts found, the newest binds,
//! so that all clones name the same one.

pub mod answer;
pub mod decisions;
pub mod lost_halts;
pub mod resolve;
pub mod stops;

pub use self::decisions::{HaltFate, PastHalt};
pub use self::lost_halts::{Gap, LedgerContents};

use std::collections::{BTreeSet, VecDeque};

use self::lost_halts::CleanLedgers;
use crate::{Context, OpsError, Result, Workspace, asking};
use andon_core::domain::{Attempt, CommitId, EntryId, Halt, HaltReach, StandingHalt};
use andon_store::{Journal, Ledger};

pub use self::answer::{Answer, ResumeReport, acknowledge};
pub use self::resolve::{answered_by_deletion, resolve};
pub use self::stops::{PAUSE_FILE, STOP_FILE, stop_files, stops};

/// An unanswered halt that binds here.
#[derive(Debug, Clone)]
pub struct Standing {
    pub halt: StandingHalt,
    pub bound_by: BoundBy,
}

/// The reason for which a halt binds here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BoundBy {
    /// The halt was made in this worktree.
    Worktree,
    /// This worktree was halted, and the ledger has lost the entry.
    Trace,
    /// The work here goes on from the run of another worktree of this clone.
    Sibling,
    /// HEAD is, or goes on from, a commit that was halted in another clone.
    Clone,
}

impl BoundBy {
    /// True for a halt that was made elsewhere: what it looks like here is only known once it was shown.
    pub(crate) fn is_foreign(self) -> bool {
        matches!(self, Self::Sibling | Self::Clone)
    }
}

/// The halt that binds here, even if its file was deleted.
///
/// # Errors
/// HEAD or the ledgers cannot be read: whether a halt binds is then unknown.
pub fn binding(ws: &Workspace) -> Result<Option<StandingHalt>> {
    Ok(standing(ws)?.map(|found| found.halt))
}

/// The same, with why it binds.
///
/// # Errors
/// As [`binding`].
pub fn standing(ws: &Workspace) -> Result<Option<Standing>> {
    standing_at(ws, ws.repo.head()?.commit())
}

/// The same, with HEAD at `head`.
///
/// # Errors
/// As [`binding`].
pub fn standing_at(ws: &Workspace, head: Option<CommitId>) -> Result<Option<Standing>> {
    let found = in_ledgers(ws, head)?;
    // A halt in a ledger binds by itself; what is gone from one is only looked for where none is there.
    let found = if found.is_empty() { beside_ledgers(ws, head)? } else { CleanLedgers::forget(ws, found) };
    Ok(found.into_iter().max_by_key(|found| (found.halt.halt.at, found.halt.id)))
}

/// The halt that binds here, unless its file was deleted by a person: for those who only look.
///
/// # Errors
/// As [`binding`].
pub fn unanswered(ctx: &Context, ws: &Workspace) -> Result<Option<StandingHalt>> {
    let found = standing(ws)?.filter(|found| !answered_by_deletion(ctx, ws, found));
    Ok(found.map(|found| found.halt))
}

/// The halts in the ledgers: that of this worktree, those of other worktrees that bind here, and the newest of another clone.
fn in_ledgers(ws: &Workspace, head: Option<CommitId>) -> Result<Vec<Standing>> {
    let all = Ledger::open(&ws.repo).unanswered(&ws.repo.worktree_name(), head)?;
    let found = [
        (all.own, BoundBy::Worktree),
        (newest_beside(ws, head, all.beside), BoundBy::Sibling),
        (all.elsewhere, BoundBy::Clone),
    ];
    let found = found.into_iter().filter_map(|(halt, bound_by)| Some(Standing { halt: halt?, bound_by }));
    Ok(found.collect())
}

/// A halt that the ledgers have lost, or else one that was answered without the signature that it needs. That there is none is
/// remembered.
fn beside_ledgers(ws: &Workspace, head: Option<CommitId>) -> Result<Vec<Standing>> {
    let settled = CleanLedgers::open(ws)?;
    if settled.is_known() {
        return Ok(Vec::new());
    }
    if !settled.has_lost_nothing()
        && let Some(halt) = lost_halts::standing(ws, head)?
    {
        return Ok(vec![Standing { halt, bound_by: BoundBy::Trace }]);
    }
    let unsigned = asking::unanswered(ws)?;
    // Halts found in a memory that only a look may trust are remembered nowhere else.
    if unsigned.is_none() && !Ledger::open(&ws.repo).is_from_memory() {
        settled.remember();
    }
    Ok(unsigned.and_then(|halt| unsigned_here(ws, head, halt)).into_iter().collect())
}

/// A halt of any worktree or clone, where it concerns work that continues from `head` here.
fn unsigned_here(ws: &Workspace, head: Option<CommitId>, halt: StandingHalt) -> Option<Standing> {
    let is_here = halt.halt.worktree == ws.repo.worktree_name();
    let is_own = !Ledger::open(&ws.repo).is_elsewhere(halt.id).unwrap_or(false);
    let builds_on = |halted| head.is_some_and(|head| ws.repo.is_ancestor(halted, head).unwrap_or(false));
    let bound_by = match (is_own, is_here) {
        (true, true) => BoundBy::Worktree,
        (true, false) => BoundBy::Sibling,
        (false, _) => BoundBy::Clone,
    };
    let binds_line = halt.halt.binds == HaltReach::Line && halt.halt.head.is_some_and(builds_on);
    (!bound_by.is_foreign() || binds_line).then_some(Standing { halt, bound_by })
}

/// The halt of a ledger entry.
///
/// # Errors
/// The entry is no halt.
pub fn of_entry(ws: &Workspace, id: EntryId) -> Result<StandingHalt> {
    let (entries, _) = Ledger::open(&ws.repo).read_all()?;
    let found = entries.iter().find(|entry| entry.id == id).and_then(|entry| entry.event.halt());
    found.map(|halt| StandingHalt { id, halt: halt.clone() }).ok_or_else(OpsError::nothing_to_resume)
}

/// Most commits that are looked at, behind HEAD and behind a halted commit.
const MAX_COMMITS: usize = 128;

/// The newest of `halts`, unanswered halts of other worktrees, that binds with HEAD at `head`: a halted loop cannot go on in a
/// worktree that was made from its base.
fn newest_beside(ws: &Workspace, head: Option<CommitId>, halts: Vec<StandingHalt>) -> Option<StandingHalt> {
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
