//! What Claude Code tells. A red command is a failure with `Exit code N` as its error; a call that is refused before it
//! runs shows in `PostToolBatch` alone.

use serde_json::Value;

use crate::shaped::{self, Shaped};
use crate::{Called, HookPayload, told, tools};
use andon_core::domain::agent_door::HookMoment;
use andon_core::domain::events::CallEnd;
use andon_core::domain::usage::Usage;
use andon_core::format::FormatError;

pub(crate) const EVENTS: &[(&str, HookMoment)] = &[
    shaped::BEFORE,
    shaped::AFTER,
    ("PostToolUseFailure", HookMoment::AfterTool),
    ("PostToolBatch", HookMoment::AfterTool),
    ("UserPromptSubmit", HookMoment::Prompt),
    ("Stop", HookMoment::TurnEnd),
    ("SessionStart", HookMoment::SessionStart),
    ("PreCompact", HookMoment::Compacting),
    ("PostCompact", HookMoment::Compacted),
    ("ConfigChange", HookMoment::SettingsChanged),
    ("SubagentStart", HookMoment::Aside),
    ("SubagentStop", HookMoment::Aside),
    ("SessionEnd", HookMoment::Aside),
    ("Notification", HookMoment::Aside),
    ("StopFailure", HookMoment::Aside),
];

pub(crate) fn read(event: &str, bytes: &[u8]) -> Result<HookPayload, FormatError> {
    let (mut payload, shaped) = shaped::read(bytes)?;
    match event {
        "PostToolUse" => {
            // Copilot runs the hooks of Claude Code's settings too, with answers of its own.
            let (result, end) = match (&shaped.tool_response.0, &shaped.tool_result.0) {
                (None, Some(result)) => shaped::copilot_result(result, "text_result_for_llm"),
                (response, _) => (response.as_ref().map(answer), end(response.as_ref())),
            };
            payload.ended(result, end);
        }
        "PostToolUseFailure" => payload.ended(shaped.error.0, CallEnd::Failed),
        "PostToolBatch" => payload.calls = batch(&shaped),
        "SessionStart" => {
            payload.usage = shaped
                .context_tokens
                .0
                .map(|tokens| Usage { context_tokens: Some(tokens), ..Usage::default() });
        }
        _ => {}
    }
    Ok(payload)
}

/// Most calls of a batch that are looked at: no model makes as many at once.
const MAX_BATCH: usize = 256;

fn end(response: Option<&Value>) -> CallEnd {
    match response.and_then(|response| response.get("interrupted")?.as_bool()) {
        Some(true) => CallEnd::Unknown,
        Some(false) | None => CallEnd::Done,
    }
}

/// What a shell wrote; any other answer as it is.
fn answer(response: &Value) -> Value {
    let part = |key| told::text(Some(response), key);
    match (part("stdout"), part("stderr")) {
        (None, None) => response.clone(),
        (out, err) => Value::from(format!("{}{}", out.unwrap_or_default(), err.unwrap_or_default())),
    }
}

/// Only the calls that no other event reports: those that were refused before they ran.
fn batch(shaped: &Shaped) -> Vec<Called> {
    let calls = shaped.tool_calls.0.as_deref().unwrap_or_default();
    let refused = calls.iter().take(MAX_BATCH).filter_map(|call| {
        let answer = call.get("tool_response")?;
        let text = answer.as_str().map_or_else(|| answer.to_string(), str::to_owned);
        let name = told::text(Some(call), "tool_name").filter(|_| text.contains("<tool_use_error>"))?;
        let id = told::text(Some(call), "tool_use_id").map(str::to_owned);
        let mut called = tools::called(name, id, call.get("tool_input").cloned());
        called.result = Some(Value::from(text));
        called.used.end = CallEnd::Failed;
        Some(called)
    });
    refused.collect()
}
