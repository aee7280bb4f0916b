//! Whether a call was a test run, and how it ended, by the payload alone: for calls that no hook could turn into `andon test`.

use super::place::Place;
use crate::plain_run::PlainRun;
use andon_agents::{self as agent, HookPayload};
use andon_core::domain::agent_door::ToolUse;
use andon_core::domain::events::CallEnd;

/// Whether the only call of a payload was a plain run of the tests. Reads nothing but the payload.
pub(super) fn run(
    place: &Place<'_>,
    event: &str,
    payload: &HookPayload,
    transcript: &[u8],
) -> Option<PlainRun> {
    let [call] = payload.calls.as_slice() else { return None };
    if agent::rewrites(place.client, event) {
        return None;
    }
    let end = end(place, &call.used, transcript);
    PlainRun::recognize((place.ctx, place.ws), payload.cwd.as_deref(), call, end)
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
