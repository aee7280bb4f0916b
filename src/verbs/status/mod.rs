//! `andon status`.

pub mod args;
pub mod line;
pub mod rules;
pub mod rules_text;
pub mod run;
pub mod text;

use self::args::StatusArgs;
use self::text::StatusDepth;
use crate::cli::Shell;
use crate::cli::error::Exit;
use crate::cli::output::Format;
use crate::verbs::round::run as round;
use crate::verbs::status::{rules as rule_counts, run as status};
use crate::{
    report::json,
    verbs::status::{rules_text as rules_report, text as report},
};
use andon_engine::asking;
use andon_engine::error::OpsError;
use andon_engine::halts;
use andon_engine::text::message;
use andon_engine::workspace::Workspace;

/// Shows the state of the loop. Ends with 0, and with `--exit-code` with 1 while the loop waits for a person, and with 5 while
/// only a round does.
/// A configuration that cannot be read hides no halt; then it ends with 2.
pub fn run(shell: &Shell, args: &StatusArgs) -> Result<Exit, OpsError> {
    if args.line {
        return line(shell, args);
    }
    shell.take_in_fetched();
    let ws = Workspace::open_lenient(&shell.ctx)?;
    if args.rules {
        return rules(shell, &ws, args);
    }
    // Loops continue by the exit code.
    if !args.exit_code {
        asking::only_look(&ws.repo);
    }
    let mut view = status::run(&shell.ctx, &ws)?;
    // There is no daemon: the next command finds a round whose time is up.
    if !shell.ctx.is_switched_off() {
        let expired = round::expire(&shell.ctx, &ws).map(drop);
        let shown = halts::resolve::keep_shown(&shell.ctx, &ws);
        view.warnings
            .extend([expired, shown].into_iter().filter_map(Result::err).map(|err| err.as_warning()));
    }
    match asking::waiting(&ws) {
        Ok(found) => view.waiting = found.rounds,
        Err(err) => view.warnings.push(err.as_warning()),
    }
    shell.out.result(&match args.format.format {
        Format::Text => {
            let depth = if args.evidence { StatusDepth::Evidence } else { StatusDepth::Short };
            report::text(&view, depth, shell.out.out, shell.glyphs())
        }
        Format::Json => json::line(&report::json(&view)),
    });
    let blocked = args.exit_code && view.state.waits_for_a_person();
    if blocked {
        let failed = status::remind(&shell.ctx, &ws).unwrap_or_else(|err| vec![err.as_warning()]);
        shell.out.message(&message::diagnostics(&failed, shell.out.err));
    }
    let waits = args.exit_code && !view.waiting.is_empty();
    Ok(match (blocked, &ws.config_errors) {
        (true, _) => Exit::Refused,
        (false, Some(_)) => Exit::Usage,
        (false, None) if waits => Exit::Waiting,
        (false, None) => Exit::Allowed,
    })
}

/// Shows the line for the status line of a client.
fn line(shell: &Shell, args: &StatusArgs) -> Result<Exit, OpsError> {
    let Some(found) = line::run(&shell.ctx)? else { return Ok(Exit::Allowed) };
    let style = shell.out.out;
    shell.out.result(&match args.format.format {
        Format::Text => found.text(style) + "\n",
        Format::Json => json::line(&found.json(style)),
    });
    Ok(Exit::Allowed)
}

/// Shows the rules with their halts.
fn rules(shell: &Shell, ws: &Workspace, args: &StatusArgs) -> Result<Exit, OpsError> {
    let (counts, warnings) = rule_counts::run(ws)?;
    shell.out.result(&match args.format.format {
        Format::Text => rules_report::text(&counts, shell.out.out),
        Format::Json => json::line(&rules_report::json(&counts)),
    });
    shell.out.message(&message::diagnostics(&warnings, shell.out.err));
    Ok(Exit::Allowed)
}
