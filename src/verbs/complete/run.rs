//! `andon complete`: may this task be called done?

use andon_core::domain::diagnostic::Diagnostic;
use andon_core::domain::findings::Level;
use andon_engine::context::Context;
use andon_engine::error::OpsError;
use andon_engine::gate::completion;
use andon_engine::recording::bound;
use andon_engine::view::complete::{CompleteView, OpenQuestion};
use andon_engine::workspace::Workspace;

/// Judges the working tree as it is now. For a person whom the guard does not bind, it reports what is open and refuses nothing.
pub fn run(ctx: &Context, ws: &Workspace) -> Result<CompleteView, OpsError> {
    let view = completion::view(ctx, ws)?;
    if bound::binds(ctx, ws) {
        return Ok(view);
    }
    let problems = view.problems.into_iter().map(|problem| Diagnostic { level: Level::Note, ..problem });
    Ok(CompleteView { can_complete: OpenQuestion::Yes, prompt: None, problems: problems.collect(), ..view })
}
