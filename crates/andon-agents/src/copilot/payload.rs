//! What Copilot CLI tells. Its camel case payloads have neither the event's name nor an id of the call; a red command ends
//! with `success` and its exit code in the last line. A subagent has a session of its own and names its parent.

use serde::Deserialize;
use serde_json::Value;

use crate::shaped;
use crate::told::{self, Told};
use crate::{HookPayload, tools};
use andon_core::domain::agent_door::HookMoment;
use andon_core::domain::events::CallEnd;
use andon_core::format::FormatError;

pub(crate) const EVENTS: &[(&str, HookMoment)] = &[
    ("preToolUse", HookMoment::BeforeTool),
    ("postToolUse", HookMoment::AfterTool),
    ("postToolUseFailure", HookMoment::AfterTool),
    ("userPromptSubmitted", HookMoment::Prompt),
    ("agentStop", HookMoment::TurnEnd),
    ("sessionStart", HookMoment::SessionStart),
    ("preCompact", HookMoment::Compacting),
    ("subagentStart", HookMoment::Aside),
    ("subagentStop", HookMoment::Aside),
    ("sessionEnd", HookMoment::Aside),
    ("permissionRequest", HookMoment::Aside),
    ("errorOccurred", HookMoment::Aside),
    ("notification", HookMoment::Aside),
    shaped::BEFORE,
    shaped::AFTER,
    ("PostToolUseFailure", HookMoment::AfterTool),
    ("UserPromptSubmit", HookMoment::Prompt),
    ("Stop", HookMoment::TurnEnd),
    ("SessionStart", HookMoment::SessionStart),
    ("PreCompact", HookMoment::Compacting),
    ("SubagentStop", HookMoment::Aside),
    ("SessionEnd", HookMoment::Aside),
];

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase", expecting = "an object")]
struct Flat {
    session_id: Told<String>,
    cwd: Told<String>,
    transcript_path: Told<String>,
    tool_name: Told<String>,
    tool_args: Told<Value>,
    tool_input: Told<Value>,
    tool_result: Told<Value>,
    error: Told<Value>,
    prompt: Told<String>,
    source: Told<String>,
    trigger: Told<String>,
    #[serde(rename = "stop_hook_active")]
    continued: Told<bool>,
    agent_id: Told<String>,
    parent_agent_id: Told<String>,
}

pub(crate) fn read(event: &str, bytes: &[u8]) -> Result<HookPayload, FormatError> {
    if event.starts_with(|c: char| c.is_ascii_uppercase()) {
        return pascal(event, bytes);
    }
    let flat: Flat = told::read(bytes)?;
    let parent = flat.parent_agent_id.name();
    let args = flat.tool_args.0.or(flat.tool_input.0);
    let mut payload = HookPayload {
        session: parent.clone().or(flat.session_id.name()),
        subagent: flat.agent_id.name(),
        cwd: flat.cwd.name(),
        transcript: flat.transcript_path.name(),
        calls: flat.tool_name.name().map(|name| tools::called(&name, None, args)).into_iter().collect(),
        continued: flat.continued.0,
        prompt: flat.prompt.0,
        source: flat.source.name().or(flat.trigger.name()),
        ..HookPayload::default()
    };
    match event {
        "postToolUse" => {
            let result = flat.tool_result.0.unwrap_or_default();
            let (answer, end) = shaped::copilot_result(&result, "textResultForLlm");
            payload.ended(answer, end);
        }
        "postToolUseFailure" => payload.ended(flat.error.0, CallEnd::Failed),
        // A subagent ends a turn of its own, and not that of the session.
        "agentStop" if parent.is_some() => payload.moment = Some(HookMoment::Aside),
        _ => {}
    }
    Ok(payload)
}

fn pascal(event: &str, bytes: &[u8]) -> Result<HookPayload, FormatError> {
    let (mut payload, shaped) = shaped::read(bytes)?;
    match event {
        "PostToolUse" => {
            let result = shaped.tool_result.0.unwrap_or_default();
            let (answer, end) = shaped::copilot_result(&result, "text_result_for_llm");
            payload.ended(answer, end);
        }
        "PostToolUseFailure" => payload.ended(shaped.error.0, CallEnd::Failed),
        _ => {}
    }
    Ok(payload)
}
