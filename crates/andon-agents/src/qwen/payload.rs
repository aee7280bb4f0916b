//! What Qwen Code tells: Claude Code's shape, Gemini's tools, and the fill of the window when a turn ends.

use serde_json::Value;

use crate::HookPayload;
use crate::gemini::payload::{answer, lasting};
use crate::shaped;
use andon_core::domain::agent_door::HookMoment;
use andon_core::domain::events::CallEnd;
use andon_core::domain::usage::Usage;
use andon_core::format::FormatError;

pub(crate) const EVENTS: &[(&str, HookMoment)] = &[
    shaped::BEFORE,
    shaped::AFTER,
    ("PostToolUseFailure", HookMoment::AfterTool),
    ("UserPromptSubmit", HookMoment::Prompt),
    ("Stop", HookMoment::TurnEnd),
    ("SessionStart", HookMoment::SessionStart),
    ("PreCompact", HookMoment::Compacting),
    ("PostCompact", HookMoment::Compacted),
    ("SubagentStart", HookMoment::Aside),
    ("SubagentStop", HookMoment::Aside),
    ("SessionEnd", HookMoment::Aside),
    ("Notification", HookMoment::Aside),
    ("PermissionRequest", HookMoment::Aside),
];

pub(crate) fn read(event: &str, bytes: &[u8]) -> Result<HookPayload, FormatError> {
    let (mut payload, shaped) = shaped::read(bytes)?;
    match event {
        "PostToolUse" => {
            let (answer, end) = answer(&shaped.tool_response.0.unwrap_or_default());
            payload.ended(answer, end);
        }
        "PostToolUseFailure" => {
            let text = shaped.error.0.as_ref().and_then(Value::as_str).map(lasting);
            payload.ended(text.map(Value::from), CallEnd::Failed);
        }
        "Stop" => {
            payload.usage = shaped.input_tokens.0.map(|tokens| Usage {
                input_tokens: Some(tokens),
                context_tokens: Some(tokens),
                ..Usage::default()
            });
        }
        _ => {}
    }
    Ok(payload)
}
