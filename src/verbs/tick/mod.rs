//! `andon tick`.

pub mod args;
pub mod run;

use self::args::TickArgs;
use crate::cli::Shell;
use crate::cli::error::Exit;
use crate::cli::output::Format;
use crate::json::DecisionJson;
use crate::report::json;
use crate::verbs::tick::run as tick;
use andon_core::detect;
use andon_core::domain::decision::{Decision, Verdict};
use andon_engine::error::OpsError;
use andon_engine::text::message;
use andon_engine::workspace::Workspace;

/// Ends a turn and says whether the loop may continue.
pub fn run(shell: &Shell, args: &TickArgs) -> Result<Exit, OpsError> {
    let ws = Workspace::open(&shell.ctx)?;
    let node = args.node.clone().or_else(|| shell.ctx.actor().node);
    let ticked = tick::run(&shell.ctx, &ws, node)?;
    shell.out.message(&message::diagnostics(&ticked.warnings, shell.out.err));
    match args.format.format {
        Format::Text => {
            shell.out.message(&message::decision(
                &ticked.decision,
                message::Consequence::Done,
                shell.out.err,
            ));
            shell.out.result(&format!("{}\n", ticked.decision.verdict.as_str()));
        }
        Format::Json => shell.out.result(&json::document("tick", &DecisionJson::from(&ticked.decision))),
    }
    Ok(exit(&ticked.decision))
}

/// The loop may continue, or it must stop: until the context window is compacted, or until a person answers.
pub(super) fn exit(decision: &Decision) -> Exit {
    match decision.verdict {
        Verdict::Allow | Verdict::Warn => Exit::Allowed,
        Verdict::Block if detect::asks_for_compaction_alone(&decision.findings) => Exit::CompactFirst,
        Verdict::Block | Verdict::Halt => Exit::Refused,
    }
}
