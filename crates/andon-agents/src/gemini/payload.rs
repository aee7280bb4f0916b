//! What Gemini CLI tells. A shell's answer has a line `Exit Code: N` only where that is not 0, and the number of a process
//! group, which differs every time.

use serde_json::Value;

use crate::shaped;
use crate::{HookPayload, told, tools};
use andon_core::domain::agent_door::HookMoment;
use andon_core::domain::events::CallEnd;
use andon_core::domain::usage::Usage;
use andon_core::format::FormatError;

pub(crate) const EVENTS: &[(&str, HookMoment)] = &[
    ("BeforeTool", HookMoment::BeforeTool),
    ("AfterTool", HookMoment::AfterTool),
    ("BeforeAgent", HookMoment::Prompt),
    ("AfterAgent", HookMoment::TurnEnd),
    ("SessionStart", HookMoment::SessionStart),
    ("AfterModel", HookMoment::Answered),
    // It comes before every request to the model: no sign of a compaction.
    ("PreCompress", HookMoment::Aside),
    ("BeforeModel", HookMoment::Aside),
    ("BeforeToolSelection", HookMoment::Aside),
    ("SessionEnd", HookMoment::Aside),
    ("Notification", HookMoment::Aside),
];

pub(crate) fn read(event: &str, bytes: &[u8]) -> Result<HookPayload, FormatError> {
    let (mut payload, shaped) = shaped::read(bytes)?;
    match event {
        "AfterTool" => {
            let response = shaped.tool_response.0.unwrap_or_default();
            let (answer, end) = answer(&response);
            payload.ended(answer, end);
        }
        "AfterModel" => payload.usage = shaped.llm_response.0.as_ref().and_then(usage),
        _ => {}
    }
    Ok(payload)
}

/// The answer of a tool of Gemini or Qwen, without the lines that differ every time, and how the call ended.
pub(crate) fn answer(response: &Value) -> (Option<Value>, CallEnd) {
    let content = response.get("llmContent");
    let text = content.and_then(Value::as_str);
    let failed = response.get("error").is_some_and(|error| !error.is_null());
    let end = match text.and_then(tools::told_exit) {
        _ if failed => CallEnd::Failed,
        Some(code) => tools::by_exit(code),
        None if content.is_some() => CallEnd::Done,
        None => CallEnd::Unknown,
    };
    let answer = text.map(|text| Value::from(lasting(text))).or_else(|| content.cloned());
    (answer, end)
}

/// `text` without the lines that differ in every answer.
pub(crate) fn lasting(text: &str) -> String {
    let lines = text.lines().filter(|line| !line.starts_with("Process Group PGID:"));
    lines.collect::<Vec<_>>().join("\n")
}

/// Tokens, told with the last part of an answer. The prompt holds what came from a cache.
fn usage(response: &Value) -> Option<Usage> {
    let candidates = response.get("candidates")?.as_array()?;
    let last = candidates.iter().any(|candidate| told::text(Some(candidate), "finishReason").is_some());
    let usage = response.get("usageMetadata").filter(|_| last)?;
    let count = |key: &str| usage.get(key).and_then(Value::as_u64);
    let prompt = count("promptTokenCount")?;
    Some(Usage {
        input_tokens: Some(prompt),
        output_tokens: count("candidatesTokenCount"),
        context_tokens: Some(prompt),
        ..Usage::default()
    })
}
