//! `andon tick`: a turn has ended.

use crate::engine::context::Context;
use crate::engine::error::OpsError;
use crate::engine::turn::{self, Ticked, Whose, WorkingTree};
use crate::engine::workspace::Workspace;

/// Ends the turn of `node`.
pub fn run(ctx: &Context, ws: &Workspace, node: Option<String>) -> Result<Ticked, OpsError> {
    turn::end(ctx, ws, &WorkingTree::look(ws)?, Whose { node, session: ctx.actor().session, id: None })
}
