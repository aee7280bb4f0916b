//! `andon complete`: may this task be called done?

use crate::domain::view::complete::CompleteView;
use crate::engine::completion;
use crate::engine::context::Context;
use crate::engine::error::OpsError;
use crate::engine::workspace::Workspace;

/// Judges the working tree as it is now.
pub fn run(ctx: &Context, ws: &Workspace) -> Result<CompleteView, OpsError> {
    completion::view(ctx, ws)
}
