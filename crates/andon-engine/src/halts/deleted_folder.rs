//! `.andon/` that is gone as a whole: `git clean -fdx`, `git stash --all` and similar commands remove it without any
//! intent to answer a halt. Only a file that is gone from the folder is an answer.

use crate::context::Context;
use crate::effect::{self, Site};
use crate::recording;
use crate::workspace::Workspace;
use andon_core::domain::decision::StandingHalt;
use andon_core::domain::diagnostic::Diagnostic;
use andon_core::domain::findings::HaltReason;

/// Whether the folder is gone.
pub(crate) fn is(ws: &Workspace) -> bool {
    let gone = |err: std::io::Error| err.kind() == std::io::ErrorKind::NotFound;
    ws.andon_dir().is_some_and(|dir| dir.path().symlink_metadata().err().is_some_and(gone))
}

/// Says why the halt is still unanswered, and keeps that in the journal; a stop by hand gets its file again, because
/// the absence of the file would be its answer at the next hook.
pub(crate) fn remark(
    ctx: &Context,
    ws: &Workspace,
    standing: &StandingHalt,
    site: &Site<'_>,
    stop_file: &str,
) -> Option<Diagnostic> {
    if !is(ws) {
        return None;
    }
    let place = match ctx.actor().marker {
        Some(marker) => format!(" (first seen in the shell of an agent: {marker} is set)"),
        None => String::new(),
    };
    let what = format!("deleting .andon/ does not answer the halt{place}; the report was restored");
    let mut failed = recording::tell_repair(ctx, ws, what.clone()).err();
    if standing.halt.reason == HaltReason::UserStop {
        let text = format!(
            "{}\nwritten again at {}: .andon/ was deleted as a whole\n",
            standing.halt.message, ctx.now
        );
        let written = effect::write_andon_file(site, stop_file, &text);
        failed = failed.or(written.err().map(Into::into));
    }
    let remark = Diagnostic::warning(what).help("a person answers: andon resume --reason '<decision>'");
    Some(match failed {
        Some(err) => remark.help(err.to_string()),
        None => remark,
    })
}
