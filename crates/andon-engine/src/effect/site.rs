//! Where effects take place for a command.

use std::path::PathBuf;

use super::Site;
use super::best_effort::Programs;
use crate::context::{self, Context};
use crate::text::style::Style;
use crate::workspace::Workspace;

/// The programs of the user's own configuration.
fn programs(ctx: &Context, ws: &Workspace) -> Programs {
    let response = &ws.config.response;
    Programs {
        notify: response.notify.clone(),
        advisor: response.advisor.clone(),
        on_stall: response.on_stall_program.clone(),
        bell: response.bell,
        transcript: ctx.var("ANDON_TRANSCRIPT").map(PathBuf::from),
    }
}

/// Where actions take effect.
pub fn site<'a>(ctx: &Context, ws: &'a Workspace) -> Site<'a> {
    let ack = ws.config.guard.ack;
    Site {
        repo: &ws.repo,
        andon_dir: ws.andon_dir(),
        ack,
        style: Style::of_a_file(context::local),
        programs: programs(ctx, ws),
        at: ctx.now,
    }
}
