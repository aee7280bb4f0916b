//! What `OpenHands` tells. It does not say whether a hook holds the turn already.

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
    ("SessionEnd", HookMoment::Aside),
    ("pre_tool_use", HookMoment::BeforeTool),
    ("post_tool_use", HookMoment::AfterTool),
    ("user_prompt_submit", HookMoment::Prompt),
    ("stop", HookMoment::TurnEnd),
    ("session_start", HookMoment::SessionStart),
    ("session_end", HookMoment::Aside),
];

pub(crate) fn read(event: &str, bytes: &[u8]) -> Result<HookPayload, FormatError> {
    let (mut payload, shaped) = shaped::read(bytes)?;
    if matches!(event, "PostToolUse" | "post_tool_use") {
        let response = shaped.tool_response.0.unwrap_or_default();
        let error = response.get("is_error").and_then(Value::as_bool);
        let end = match (response.get("exit_code").and_then(Value::as_i64), error) {
            (_, Some(true)) => CallEnd::Failed,
            // -1 is a command that still runs.
            (Some(code), _) if code >= 0 => tools::by_exit(code),
            (Some(_), _) | (None, None) => CallEnd::Unknown,
            (None, Some(false)) => CallEnd::Done,
        };
        let content = response.get("content").and_then(Value::as_array);
        let texts: Vec<&str> =
            content.into_iter().flatten().filter_map(|part| part.get("text")?.as_str()).collect();
        payload.ended((!texts.is_empty()).then(|| Value::from(texts.join("\n"))), end);
    }
    Ok(payload)
}
