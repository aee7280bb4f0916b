//! A commit without a receipt did not pass the gate. Whether somebody went round it, or a hook manager had taken the hook
//! away, is told by the file beside the hook that runs now. Asked only for such a commit.

use crate::detect;
use crate::domain::facts::Skip;
use crate::effect::install::hooks::Hook;
use crate::effect::install::inspect::{self, Standing};
use crate::effect::install::manifest::Manifest;
use crate::effect::install::mode::Integration;
use crate::effect::install::shim::Owner;
use crate::engine::context::Context;
use crate::engine::setup::live;
use crate::engine::workspace::Workspace;

/// Why pre-commit could not run: the shim of post-commit is there and that of pre-commit is not. `None` where it is, or
/// where it is not known.
pub(super) fn lost(ctx: &Context, ws: &Workspace) -> Option<Skip> {
    let dir = ctx.hook_file.as_deref()?.parent()?;
    let manifest = Manifest::read(&Manifest::path(ws.repo.common_dir())).ok().flatten().unwrap_or_default();
    if manifest.mode.is_some_and(|mode| mode != Integration::Shim) {
        return None;
    }
    let states = inspect::inspect(dir, &manifest).ok()?;
    let state = states.into_iter().find(|state| state.hook == Hook::PreCommit)?;
    // A framework may run Andon by its own configuration.
    let framework = matches!(state.standing, Standing::Foreign { owner: Owner::PreCommit | Owner::Prek, .. });
    if live::runs(&state) || framework {
        return None;
    }
    let reason = format!("the hook was not there: {}", live::fate(&state));
    Some(Skip { rule: detect::HOOK_BYPASS.id.to_owned(), reason, agent: None })
}
