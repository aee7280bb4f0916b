//! A turn has ended, as `andon tick` or an agent's hook reports: the state of the working tree goes into the journal,
//! and the rules decide.

use crate::gate::rule_feed::{self, FeedStage};
use crate::{Context, Result, Workspace, gate::guard::Judged, recording::timeline};
use andon_core::domain::{Event, EventKind, ShortHash, Stage, TurnEnd};
use andon_store::{Journal, JournalLine};

/// The owner of the turn that ends.
#[derive(Debug, Clone, Default)]
pub struct TurnOwner {
    /// The node; without one, the node whose turn it is.
    pub node: Option<String>,
    /// The session of the agent.
    pub session: Option<String>,
    /// Identifies the end when it is reported twice.
    pub id: Option<ShortHash>,
}

/// The end of a turn that touched nothing, where it is known what there was before.
///
/// # Errors
/// Whatever keeps the timeline from being read.
pub fn untouched(ws: &Workspace) -> Result<Option<TurnEnd>> {
    let activity = timeline::load(ws)?.timeline.activity;
    Ok(activity.code.map(|code| TurnEnd { code: Some(code), docs: activity.docs }))
}

/// Ends a turn that left the working tree like this.
pub fn end(ctx: &Context, ws: &Workspace, end: TurnEnd, whose: TurnOwner) -> Result<Judged> {
    let TurnOwner { node, session, id } = whose;
    let (at, uptime, what) = (Some(ctx.now), ctx.uptime(), EventKind::TurnEnd(end));
    let event = Event { at, uptime, node, session, id, trace: None, what };
    Journal::open(ws.repo.git_dir()).append(&JournalLine::Event(Box::new(event)))?;
    let (decision, loaded) = rule_feed::decide(ctx, ws, FeedStage::At(Stage::Turn))?;
    Ok((decision, loaded.warnings))
}
