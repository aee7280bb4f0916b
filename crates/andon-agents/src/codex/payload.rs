//! What Codex tells.

use serde_json::Value;

use crate::shaped;
use crate::{HookPayload, tools};
use andon_core::domain::agent_door::HookMoment;
use andon_core::domain::events::CallEnd;
use andon_core::format::FormatError;

pub(crate) const EVENTS: &[(&str, HookMoment)] = &[
    shaped::BEFORE,
    shaped::AFTER,
    ("UserPromptSubmit", HookMoment::Prompt),
    ("Stop", HookMoment::TurnEnd),
    ("SessionStart", HookMoment::SessionStart),
    ("PreCompact", HookMoment::Compacting),
    ("PostCompact", HookMoment::Compacted),
    ("PermissionRequest", HookMoment::Aside),
    ("SubagentStart", HookMoment::Aside),
    ("SubagentStop", HookMoment::Aside),
    ("SessionEnd", HookMoment::Aside),
    ("Interrupt", HookMoment::Aside),
];

pub(crate) fn read(event: &str, bytes: &[u8]) -> Result<HookPayload, FormatError> {
    let (mut payload, shaped) = shaped::read(bytes)?;
    if event == shaped::AFTER.0 {
        let response = shaped.tool_response.0;
        // Only `apply_patch` tells its exit code; that of a command is looked up in the rollout file.
        let patch = payload.calls.first().is_some_and(|call| call.used.name == "apply_patch");
        let code = response.as_ref().and_then(Value::as_str).filter(|_| patch).and_then(tools::told_exit);
        payload.ended(response, code.map_or(CallEnd::Unknown, tools::by_exit));
    }
    Ok(payload)
}
