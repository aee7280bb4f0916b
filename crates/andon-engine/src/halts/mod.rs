//! The halt that binds here. The ledgers of all clones come first. Where they hold no halt, the journal and the records are asked,
//! which name what a ledger has lost, and then answers that lack the signature they need. Of the halts found, the newest binds,
//! so that all clones name the same one.

pub mod answer;
pub mod decisions;
pub mod lost_halts;
pub mod resolve;
mod siblings;
pub mod stops;

use self::lost_halts::CleanLedgers;
use crate::{asking, context::Context, error::OpsError, workspace::Workspace};
use andon_core::domain::decision::{HaltReach, StandingHalt};
use andon_core::domain::ids::{CommitId, EntryId};
use andon_store::ledger::Ledger;

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
        match self {
            Self::Worktree | Self::Trace => false,
            Self::Sibling | Self::Clone => true,
        }
    }
}

/// The halt that binds here, even if its file was deleted.
///
/// # Errors
/// HEAD or the ledgers cannot be read: whether a halt binds is then unknown.
pub fn binding(ws: &Workspace) -> Result<Option<StandingHalt>, OpsError> {
    Ok(standing(ws)?.map(|found| found.halt))
}

/// The same, with why it binds.
///
/// # Errors
/// As [`binding`].
pub fn standing(ws: &Workspace) -> Result<Option<Standing>, OpsError> {
    standing_at(ws, ws.repo.head()?.commit())
}

/// The same, with HEAD at `head`.
///
/// # Errors
/// As [`binding`].
pub fn standing_at(ws: &Workspace, head: Option<CommitId>) -> Result<Option<Standing>, OpsError> {
    let found = in_ledgers(ws, head)?;
    // A halt in a ledger binds by itself; what is gone from one is only looked for where none is there.
    let found = if found.is_empty() { beside_ledgers(ws, head)? } else { CleanLedgers::forget(ws, found) };
    Ok(found.into_iter().max_by_key(|found| (found.halt.halt.at, found.halt.id)))
}

/// The halt that binds here, unless its file was deleted by a person: for those who only look.
///
/// # Errors
/// As [`binding`].
pub fn unanswered(ctx: &Context, ws: &Workspace) -> Result<Option<StandingHalt>, OpsError> {
    let found = standing(ws)?.filter(|found| !answered_by_deletion(ctx, ws, found));
    Ok(found.map(|found| found.halt))
}

/// The halts in the ledgers: that of this worktree, those of other worktrees that bind here, and the newest of another clone.
fn in_ledgers(ws: &Workspace, head: Option<CommitId>) -> Result<Vec<Standing>, OpsError> {
    let all = Ledger::open(&ws.repo).unanswered(&ws.repo.worktree_name(), head)?;
    let found = [
        (all.own, BoundBy::Worktree),
        (siblings::binding(ws, head, all.beside), BoundBy::Sibling),
        (all.elsewhere, BoundBy::Clone),
    ];
    let found = found.into_iter().filter_map(|(halt, bound_by)| Some(Standing { halt: halt?, bound_by }));
    Ok(found.collect())
}

/// A halt that the ledgers have lost, or else one that was answered without the signature that it needs. That there is none is
/// remembered.
fn beside_ledgers(ws: &Workspace, head: Option<CommitId>) -> Result<Vec<Standing>, OpsError> {
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
    // What was found in a memory that only looking may trust is remembered nowhere else.
    if unsigned.is_none() && !Ledger::open(&ws.repo).is_from_memory() {
        settled.remember();
    }
    Ok(unsigned.and_then(|halt| unsigned_here(ws, head, halt)).into_iter().collect())
}

/// A halt of any worktree or clone, where it concerns work that continues from `head` here.
fn unsigned_here(ws: &Workspace, head: Option<CommitId>, halt: StandingHalt) -> Option<Standing> {
    let is_here = halt.halt.worktree == ws.repo.worktree_name();
    let is_own = !Ledger::open(&ws.repo).is_elsewhere(halt.id).unwrap_or(false);
    let builds_on = |halted: CommitId| {
        head.is_some_and(|head| head == halted || ws.repo.is_ancestor(halted, head).unwrap_or(false))
    };
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
pub fn of_entry(ws: &Workspace, id: EntryId) -> Result<StandingHalt, OpsError> {
    let (entries, _) = Ledger::open(&ws.repo).read_all()?;
    let found = entries.iter().find(|entry| entry.id == id).and_then(|entry| entry.event.halt());
    found.map(|halt| StandingHalt { id, halt: halt.clone() }).ok_or_else(OpsError::nothing_to_resume)
}
