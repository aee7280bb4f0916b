//! What goose tells.

use serde_json::Value;

use crate::HookPayload;
use crate::shaped;
use andon_core::domain::agent_door::HookMoment;
use andon_core::domain::events::CallEnd;
use andon_core::format::FormatError;

pub(crate) const EVENTS: &[(&str, HookMoment)] = &[
    shaped::BEFORE,
    shaped::AFTER,
    ("PostToolUseFailure", HookMoment::AfterTool),
    ("UserPromptSubmit", HookMoment::Prompt),
    ("Stop", HookMoment::TurnEnd),
    ("SessionStart", HookMoment::SessionStart),
    ("SessionEnd", HookMoment::Aside),
];

pub(crate) fn read(event: &str, bytes: &[u8]) -> Result<HookPayload, FormatError> {
    let (mut payload, shaped) = shaped::read(bytes)?;
    match event {
        "PostToolUse" => {
            let response = shaped.tool_response.0.or(shaped.tool_result.0);
            let failed = response.as_ref().and_then(|response| response.get("is_error")?.as_bool());
            let end = match failed {
                Some(true) => CallEnd::Failed,
                Some(false) => CallEnd::Done,
                None => CallEnd::Unknown,
            };
            payload.ended(response.filter(|response| *response != Value::Null), end);
        }
        "PostToolUseFailure" => payload.ended(shaped.error.0, CallEnd::Failed),
        _ => {}
    }
    Ok(payload)
}
