//! From a commit to its record: what is derived from git, what the journal holds, and the index of records.

use crate::{Context, Result, Workspace};
use andon_store::{Journal, JournalLine, Repair};

pub mod attempts;
pub mod bound;
pub mod bulk;
pub mod derive;
pub mod pending;
pub mod skip;
pub mod timeline;

pub use self::{bulk::*, derive::*, pending::*, timeline::*};

/// Reports refs whose locks a dead writer had left.
pub fn tell_healed_locks(ctx: &Context, ws: &Workspace) -> Result<()> {
    for name in ws.repo.healed_locks() {
        tell_repair(ctx, ws, format!("removed the lock of {name}, which a process that died had left"))?;
    }
    Ok(())
}

/// Reports another repair.
pub(crate) fn tell_repair(ctx: &Context, ws: &Workspace, what: impl Into<String>) -> Result<()> {
    let what = what.into();
    Ok(Journal::open(ws.repo.git_dir()).append(&JournalLine::Healed(Repair { what, at: Some(ctx.now) }))?)
}
