//! `andon tick`: a turn has ended.

use clap::Args;

use crate::cli::{Exit, Format, FormatArg, Shell};
use crate::setup::live;
use andon_core::domain::{Decision, Verdict};
use andon_core::{detect, policy};
use andon_engine::gate::{Judged, TurnOwner, WorkingTree, turn};
use andon_engine::{Context, OpsError, Result, Workspace, halts, json, recording::bound};

/// Ends a turn and says whether the loop may continue.
pub fn run(shell: &Shell, args: &TickArgs) -> Result<Exit> {
    let ws = Workspace::open(&shell.ctx)?;
    let node = args.node.clone().or_else(|| shell.ctx.actor().node);
    let (decision, mut warnings) = end_turn(&shell.ctx, &ws, node)?;
    warnings.extend(live::warning(&shell.ctx, &ws.repo));
    shell.tell(&warnings);
    match args.format.format {
        Format::Text => {
            shell.tell_decision(&decision);
            shell.out.result(&format!("{}\n", decision.verdict.as_str()));
        }
        Format::Json => shell.out.result(&json::document("tick", &decision)),
    }
    Ok(exit(&decision))
}

/// The loop may continue, or it must stop: until the context window is compacted, or until a person answers.
pub(super) fn exit(decision: &Decision) -> Exit {
    match decision.verdict {
        Verdict::Allow | Verdict::Warn => Exit::Allowed,
        Verdict::Block if detect::asks_for_compaction_alone(&decision.findings) => Exit::CompactFirst,
        Verdict::Block | Verdict::Halt => Exit::Refused,
    }
}

/// `andon tick`
#[derive(Debug, Args)]
pub struct TickArgs {
    /// Whose turn ends; default: `ANDON_NODE`. With `guard.applies_to = "agents"` a turn without a node, a session or an
    /// agent's mark is a person's, and counts in no rule
    #[arg(long, value_name = "NODE")]
    pub node: Option<String>,
    /// Output format
    #[command(flatten)]
    pub format: FormatArg,
}

/// Ends the turn of `node`. A person has no turns where only agents are guarded: nothing is noted then, and a halt of
/// the agents is still reported, for the loop that calls.
fn end_turn(ctx: &Context, ws: &Workspace, node: Option<String>) -> Result<Judged> {
    let session = ctx.actor().session;
    if node.is_none() && session.is_none() && !bound::binds(ctx, ws) {
        ws.top()?;
        let resolved = halts::resolve(ctx, ws)?;
        let warnings = resolved.failed.as_ref().map(OpsError::as_warning).into_iter().collect();
        return Ok((policy::decide(Vec::new(), resolved.halt), warnings));
    }
    turn::end(ctx, ws, WorkingTree::look(ws)?.ended(ws), TurnOwner { node, session, id: None })
}
