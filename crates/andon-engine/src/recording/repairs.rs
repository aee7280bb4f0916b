//! Repairs: a hook completes what an earlier, killed hook left undone, and the journal says so.

use crate::context::Context;
use crate::error::OpsError;
use crate::workspace::Workspace;
use andon_store::journal::{Journal, JournalLine, Repair};

/// Reports refs whose locks a dead writer had left.
pub fn locks(ctx: &Context, ws: &Workspace) -> Result<(), OpsError> {
    for name in ws.repo.healed_locks() {
        tell(ctx, ws, format!("removed the lock of {name}, which a process that died had left"))?;
    }
    Ok(())
}

/// Reports another repair.
pub(crate) fn tell(ctx: &Context, ws: &Workspace, what: String) -> Result<(), OpsError> {
    Ok(Journal::open(ws.repo.git_dir()).append(&JournalLine::Healed(Repair { what, at: Some(ctx.now) }))?)
}
