//! A commit that is refused for untested code is an attempt: kept in the journal when its code is new, and counted.

use crate::context::Context;
use crate::error::OpsError;
use crate::recording::timeline::LoadedTimeline;
use crate::workspace::Workspace;
use andon_core::domain::about::DirtyBit;
use andon_core::domain::decision::Decision;
use andon_core::domain::events::{CommitRefused, Event, EventKind};
use andon_core::domain::findings::Level;
use andon_core::domain::ids::TreeId;
use andon_store::fingerprint::Fingerprinter;
use andon_store::journal::{Journal, JournalLine};

/// Keeps that the tree was refused for untested code, and counts it in the timeline. Says whether it was refused for that.
///
/// # Errors
/// The tree cannot be read.
pub fn keep(
    ctx: &Context,
    ws: &Workspace,
    loaded: &mut LoadedTimeline,
    decision: &Decision,
    tree: TreeId,
) -> Result<bool, OpsError> {
    let untested = decision
        .findings
        .iter()
        .find(|finding| finding.level >= Level::Block && finding.about.dirty == Some(DirtyBit::TestsRun));
    let Some(rule) = untested.map(|finding| finding.rule.to_owned()) else { return Ok(false) };
    let code = Fingerprinter::new(&ws.repo, &ws.config.paths.rules).of_tree(tree)?;
    if loaded.timeline.activity.refusals.is_new(code) {
        let actor = ctx.actor();
        let event = Box::new(Event {
            at: Some(ctx.now),
            uptime: ctx.uptime(),
            node: actor.node,
            session: actor.session,
            id: None,
            trace: None,
            what: EventKind::Refused(CommitRefused { code, tree: Some(tree), rule }),
        });
        // Refused it is, whether or not that can be kept.
        let kept = Journal::open(ws.repo.git_dir()).append(&JournalLine::Event(event.clone()));
        loaded.warnings.extend(kept.map_err(OpsError::from).err().as_ref().map(OpsError::as_warning));
        loaded.take_in_event(ws, event);
    }
    Ok(true)
}
