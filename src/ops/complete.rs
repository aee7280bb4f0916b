//! `andon complete`: may this task be called done?

use crate::domain::diagnostic::Diagnostic;
use crate::domain::findings::Level;
use crate::domain::view::complete::{CompleteView, OpenQuestion};
use crate::engine::bound;
use crate::engine::completion;
use crate::engine::context::Context;
use crate::engine::error::OpsError;
use crate::engine::workspace::Workspace;

/// Judges the working tree as it is now. For a person whom the guard does not bind, it reports what is open and refuses nothing.
pub fn run(ctx: &Context, ws: &Workspace) -> Result<CompleteView, OpsError> {
    let view = completion::view(ctx, ws)?;
    if bound::binds(ctx, ws) {
        return Ok(view);
    }
    let problems = view.problems.into_iter().map(|problem| Diagnostic { level: Level::Note, ..problem });
    Ok(CompleteView { can_complete: OpenQuestion::Yes, prompt: None, problems: problems.collect(), ..view })
}
