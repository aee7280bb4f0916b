//! `andon tick`: a turn has ended.

use andon_core::policy;
use andon_engine::context::Context;
use andon_engine::error::OpsError;
use andon_engine::gate::turn::{self, TurnOwner, TurnReport, WorkingTree};
use andon_engine::halts;
use andon_engine::recording::bound;
use andon_engine::workspace::Workspace;

/// Ends the turn of `node`. A person has no turns where only agents are guarded: nothing is noted then, and a halt of
/// the agents is still reported, for the loop that calls.
pub fn run(ctx: &Context, ws: &Workspace, node: Option<String>) -> Result<TurnReport, OpsError> {
    let session = ctx.actor().session;
    if node.is_none() && session.is_none() && !bound::binds(ctx, ws) {
        ws.top()?;
        let resolved = halts::resolve(ctx, ws)?;
        let warnings = resolved.failed.as_ref().map(OpsError::as_warning).into_iter().collect();
        return Ok(TurnReport { decision: policy::decide(Vec::new(), resolved.halt), warnings });
    }
    turn::end(ctx, ws, WorkingTree::look(ws)?.ended(ws), TurnOwner { node, session, id: None })
}
