//! `andon watch`: the loops of all worktrees, derived from records, journals and the ledger at each look.
//!
//! A look asks the file system what has moved, and reads those worktrees again and no other. Nothing is shown that was
//! not read: what `stat` could miss (a change within the clock tick of the last one, a note that came by a sync) is
//! read again all the same, a few worktrees at each look.

mod loops;
mod stamp;

pub use self::loops::context_in;

use std::collections::BTreeMap;

use rayon::prelude::*;

use self::stamp::Stamp;
use crate::situation::SharedHooks;
use andon_core::domain::{decision::StandingHalt, time::Timestamp};
use andon_engine::error::{OpsError, or_warn};
use andon_engine::view::watch::{BranchView, WatchView, WorktreeView};
use andon_engine::{context::Context, workspace::Workspace};
use andon_git::WorktreePlace;
use andon_store::ledger::Ledger;

/// Worktrees that are read again at a look though nothing of their own has moved.
const EXTRA: usize = 4;
/// After how many seconds that is done in any case.
const AT_LEAST_EVERY: u64 = 60;
/// After how many seconds the place of git's hooks is read again.
const HOOKS_EVERY: u64 = 60;

/// The last view of a worktree, and the stamp of its files at that time.
struct WorktreeMemory {
    stamp: Stamp,
    /// The tip of the notes, which all worktrees share.
    notes: Stamp,
    read_at: Timestamp,
    view: WorktreeView,
}

/// Watches the worktrees of a repository.
#[derive(Default)]
pub struct Watcher {
    cache: BTreeMap<String, WorktreeMemory>,
    hooks: Option<(SharedHooks, Timestamp, Stamp)>,
    ledger: Option<String>,
    branches: Option<(Stamp, Timestamp, Vec<BranchView>)>,
}

/// The result of a look at the worktrees; rounds are read separately.
pub struct WorktreeViews {
    /// Everything but the rounds.
    pub view: WatchView,
    /// True when the ledger has moved since the last look: then rounds may have, too.
    pub ledger_moved: bool,
}

impl Watcher {
    /// Looks, from the worktree of `ws`, at the time of `ctx`.
    ///
    /// # Errors
    /// No worktree is known: the repository is bare and has none.
    pub fn look(&mut self, ctx: &Context, ws: &Workspace) -> Result<WorktreeViews, OpsError> {
        let places = loops::places(&ws.repo);
        if places.is_empty() {
            return Err(OpsError::NoWorkTree(ws.repo.git_dir().to_owned()));
        }
        self.ask_for_hooks(ctx, ws);
        let mut warnings = Vec::new();
        let ledger = Ledger::open(&ws.repo);
        let state = or_warn(ledger.state(), &mut warnings);
        let ledger_moved = self.ledger.as_ref() != Some(&state);
        self.ledger = Some(state);
        self.read_what_moved(ctx, ws, &places);
        let of_place = |place: &WorktreePlace| Some(self.cache.get(&place.name)?.view.clone());
        let worktrees: Vec<WorktreeView> = places.iter().filter_map(of_place).collect();
        let elsewhere = or_warn(ledger.unanswered_elsewhere(), &mut warnings);
        let bound = |id| worktrees.iter().any(|worktree: &WorktreeView| worktree.seen.is_bound_by(id));
        // A halt that binds a worktree of this repository is shown with that worktree.
        let shown: Vec<StandingHalt> = elsewhere.iter().filter(|other| !bound(other.id)).cloned().collect();
        let branches = or_warn(self.branches(ctx, ws, &elsewhere), &mut warnings);
        let view =
            WatchView { at: ctx.now, worktrees, elsewhere: shown, branches, rounds: Vec::new(), warnings };
        Ok(WorktreeViews { view, ledger_moved })
    }

    /// The loops of other clones: read again when something was fetched or recorded, and after a while, for they end.
    fn branches(
        &mut self,
        ctx: &Context,
        ws: &Workspace,
        halted: &[StandingHalt],
    ) -> Result<Vec<BranchView>, OpsError> {
        let stamp = Stamp::of_fetched(&ws.repo);
        if let Some((known, read_at, branches)) = &self.branches
            && *known == stamp
            && stamp.is_settled(*read_at)
            && ctx.now.since(*read_at).0 < AT_LEAST_EVERY
        {
            return Ok(branches.clone());
        }
        let branches = loops::read_branches(ctx, ws, halted)?;
        self.branches = Some((stamp, ctx.now, branches.clone()));
        Ok(branches)
    }

    /// Only git knows its hooks folder. To ask it is a process: not at each look.
    fn ask_for_hooks(&mut self, ctx: &Context, ws: &Workspace) {
        let stamp = Stamp::of_configuration(&ws.repo, ctx);
        let is_new = |asked: &Timestamp| ctx.now.since(*asked).0 < HOOKS_EVERY;
        if !self.hooks.as_ref().is_some_and(|(_, asked, known)| *known == stamp && is_new(asked)) {
            self.hooks = Some((SharedHooks::read(&ws.repo), ctx.now, stamp));
        }
    }

    fn read_what_moved(&mut self, ctx: &Context, ws: &Workspace, places: &[WorktreePlace]) {
        self.cache.retain(|name, _| places.iter().any(|place| place.name == *name));
        let Some((hooks, _, _)) = &self.hooks else { return };
        let shared = Stamp::shared(&ws.repo, ctx, hooks.dir(), self.ledger.as_deref());
        let notes = Stamp::of_notes(&ws.repo);
        let (mut due, mut later) = (Vec::new(), Vec::new());
        for place in places {
            let known = self.cache.get(&place.name);
            let stamp = shared.and(Stamp::of_worktree(&ws.repo, place));
            match known {
                Some(known) if known.stamp == stamp && stamp.is_settled(known.read_at) => {
                    let is_old = ctx.now.since(known.read_at).0 >= AT_LEAST_EVERY;
                    if is_old || known.notes != notes || !notes.is_settled(known.read_at) {
                        later.push((known.read_at, (place, stamp)));
                    }
                }
                Some(_) | None => due.push((place, stamp)),
            }
        }
        later.sort_by_key(|(read_at, _)| *read_at);
        due.extend(later.into_iter().take(EXTRA).map(|(_, one)| one));
        let read = |(place, stamp): (&WorktreePlace, Stamp)| {
            let view = loops::read(ctx, place, hooks);
            (place.name.clone(), WorktreeMemory { stamp, notes: notes.clone(), read_at: ctx.now, view })
        };
        self.cache.extend(due.into_par_iter().map(read).collect::<Vec<_>>());
    }
}
