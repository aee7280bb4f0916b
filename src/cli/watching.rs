//! The state of all loops between two refreshes of `andon watch`, for the screen and for plain lines alike.

use std::time::Duration;

use crate::verbs::round;
use crate::verbs::watch::run::{Watcher, WorktreeViews};
use andon_core::domain::{Diagnostic, Timestamp};
use andon_engine::asking::{self, WaitingRound};
use andon_engine::{Context, Result, Workspace, view::WatchView};

/// The pause between two looks at the loops.
pub(crate) const PAUSE: Duration = Duration::from_secs(1);
/// After how many seconds the rounds are read again though no ledger has moved: who may answer depends on the time.
const ROUNDS_EVERY: u64 = 60;

/// The context of this process at the time of the call.
pub(crate) fn now(ctx: &Context) -> Context {
    Context { now: ctx.later(), ..ctx.clone() }
}

/// The state between two looks.
pub(crate) struct WatchMemory {
    ws: Workspace,
    watcher: Watcher,
    rounds: Vec<WaitingRound>,
    rounds_at: Option<Timestamp>,
    warning: Option<Diagnostic>,
}

impl WatchMemory {
    /// Opens the repository.
    pub(crate) fn begin(ctx: &Context) -> Result<Self> {
        let ws = Workspace::open_lenient(ctx)?;
        Ok(Self { ws, watcher: Watcher::default(), rounds: Vec::new(), rounds_at: None, warning: None })
    }

    /// Looks at the time of `ctx`.
    pub(crate) fn look(&mut self, ctx: &Context) -> Result<WatchView> {
        let _left = round::expire(ctx, &self.ws);
        let WorktreeViews { mut view, ledger_moved } = self.watcher.look(ctx, &self.ws)?;
        let is_old = self.rounds_at.is_none_or(|at| ctx.now.since(at).0 >= ROUNDS_EVERY);
        if ledger_moved || is_old {
            self.ask_for_rounds(ctx);
        }
        view.rounds.clone_from(&self.rounds);
        view.warnings.extend(self.warning.clone());
        Ok(view)
    }

    /// Rounds that cannot be read hide no loop.
    fn ask_for_rounds(&mut self, ctx: &Context) {
        self.rounds_at = Some(ctx.now);
        let waiting = Workspace::open_lenient(ctx).and_then(|ws| asking::waiting(&ws));
        let told = waiting.map(|waiting| (waiting.warning(), waiting.rounds));
        (self.warning, self.rounds) = told.unwrap_or_else(|err| (Some(err.as_warning()), Vec::new()));
    }
}
