//! A run of the configured test command that the client's shell made and no hook could turn into `andon test`: it is kept
//! as handed in. A failing one is evidence of a loop; a passing one proves nothing, whatever `test.handed_in` says, for what
//! a tool answers may be cut short.

use super::place::Place;
use super::rewrite::{at_work, configured};
use andon_agents::ruling::decided_by;
use andon_agents::{self as agent, HookPayload};
use andon_core::domain::agent_door::{ToolKind, ToolUse};
use andon_core::domain::events::CallEnd;
use andon_core::domain::tests::{RunOrigin, RunValidity};
use andon_engine::earlier_runs::compare;
use andon_engine::error::OpsError;
use andon_engine::tested::TestedCode;
use andon_store::journal::JournalLine;
use serde_json::Value;
use testreport::{ExitKind, Root, RunReader, Stream};

/// Most bytes of an answer that are read, from its end.
const MAX_ANSWER: usize = 1 << 20;

/// A call that was nothing but a run of a configured test command.
pub(super) struct TestCall {
    command: String,
    exit: i32,
    /// The end of what it printed.
    printed: Vec<u8>,
}

/// Whether the only call of a payload was that. Reads nothing but the payload.
pub(super) fn call(
    place: &Place<'_>,
    event: &str,
    payload: &HookPayload,
    transcript: &[u8],
) -> Option<TestCall> {
    let [call] = payload.calls.as_slice() else { return None };
    let [script] = call.used.commands.as_slice() else { return None };
    if call.used.kind != ToolKind::Shell || agent::rewrites(place.client, event) {
        return None;
    }
    let exit = match end(place, &call.used, transcript) {
        CallEnd::Done => 0,
        CallEnd::Failed => 1,
        CallEnd::Unknown => return None,
    };
    let tests = configured(place.ws);
    let command = at_work(place, payload, |at| decided_by(script, &tests, at))?.command.clone();
    let text = call.result.as_ref().and_then(Value::as_str).unwrap_or_default().as_bytes();
    let printed = text[text.len().saturating_sub(MAX_ANSWER)..].to_vec();
    Some(TestCall { command, exit, printed })
}

/// The run as a line of the journal. This looks at the working tree: without its code the run says nothing.
pub(super) fn run(place: &Place<'_>, call: &TestCall) -> Result<JournalLine, OpsError> {
    let tested = TestedCode::now(place.ws)?;
    let top = place.ws.repo.workdir().unwrap_or(&place.ctx.cwd);
    let root = Root::new(&top.to_string_lossy()).with_patterns(&place.ws.config.normalize);
    let mut reader = RunReader::new(root);
    reader.push(Stream::Stdout, &call.printed);
    let parsed = reader.finish(ExitKind::Code(call.exit));
    let validity = if parsed.not_started.is_some() { RunValidity::NotStarted } else { RunValidity::HandedIn };
    let mut run = tested.run(Some(place.ctx.now), parsed, &call.command, validity);
    compare(place.ws, &mut run)?;
    run.evidence.caveats.origin = RunOrigin::HandedIn;
    Ok(JournalLine::TestRun(Box::new(run)))
}

/// How a call ended, from its answer or else from the transcript.
pub(super) fn end(place: &Place<'_>, used: &ToolUse, transcript: &[u8]) -> CallEnd {
    match (used.end, &used.id) {
        (CallEnd::Unknown, Some(id)) => {
            let code = agent::exit_code(place.client, transcript, id);
            code.map_or(CallEnd::Unknown, |code| if code == 0 { CallEnd::Done } else { CallEnd::Failed })
        }
        (end, _) => end,
    }
}
