//! What Cline tells.

use serde::Deserialize;
use serde_json::Value;

use crate::shaped;
use crate::told::{self, Told, text};
use crate::{HookPayload, tools};
use andon_core::domain::agent_door::HookMoment;
use andon_core::domain::events::CallEnd;
use andon_core::format::FormatError;

pub(crate) const EVENTS: &[(&str, HookMoment)] = &[
    shaped::BEFORE,
    ("PostToolUse", HookMoment::AfterTool),
    ("TaskStart", HookMoment::SessionStart),
    ("TaskResume", HookMoment::SessionStart),
    ("UserPromptSubmit", HookMoment::Prompt),
    ("TaskComplete", HookMoment::TurnEnd),
    ("TaskCancel", HookMoment::Aside),
    ("PreCompact", HookMoment::Compacting),
    ("SessionShutdown", HookMoment::Aside),
];

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase", expecting = "an object")]
struct Wire {
    task_id: Told<String>,
    workspace_roots: Told<Vec<String>>,
    #[serde(rename = "parent_agent_id")]
    parent: Told<String>,
    #[serde(rename = "agent_id")]
    agent: Told<String>,
    #[serde(rename = "tool_call")]
    call: Told<Value>,
    #[serde(rename = "tool_result")]
    result: Told<Value>,
    pre_tool_use: Told<Value>,
    post_tool_use: Told<Value>,
    user_prompt_submit: Told<Value>,
    turn: Told<Value>,
}

pub(crate) fn read(event: &str, bytes: &[u8]) -> Result<HookPayload, FormatError> {
    let wire: Wire = told::read(bytes)?;
    let parent = wire.parent.name();
    let told = wire.call.0.as_ref().or(wire.result.0.as_ref());
    let flat = wire.pre_tool_use.0.as_ref().or(wire.post_tool_use.0.as_ref());
    let name = text(told, "name").or_else(|| text(flat, "toolName"));
    let args = told.and_then(|told| told.get("input")).or_else(|| flat?.get("parameters")).cloned();
    let id = text(told, "id").map(str::to_owned);
    let mut payload = HookPayload {
        session: wire.task_id.name(),
        subagent: parent.is_some().then(|| wire.agent.name()).flatten(),
        cwd: wire.workspace_roots.0.and_then(|roots| roots.into_iter().next()),
        calls: name.map(|name| tools::called(name, id, args)).into_iter().collect(),
        said: text(wire.turn.0.as_ref(), "outputText").map(str::to_owned),
        prompt: text(wire.user_prompt_submit.0.as_ref(), "prompt").map(str::to_owned),
        ..HookPayload::default()
    };
    if event == "PostToolUse" {
        let output = told.and_then(|told| told.get("output")).or_else(|| flat?.get("result"));
        payload.ended(output.cloned(), end(output, flat));
    }
    if event == "TaskComplete" && parent.is_some() {
        payload.moment = Some(HookMoment::Aside);
    }
    Ok(payload)
}

/// Each of several commands has its own end.
fn end(output: Option<&Value>, flat: Option<&Value>) -> CallEnd {
    let success = |value: &Value| value.get("success").and_then(Value::as_bool);
    let each: Vec<bool> =
        output.and_then(Value::as_array).into_iter().flatten().filter_map(success).collect();
    let well = if each.is_empty() { flat.and_then(success) } else { Some(each.iter().all(|well| *well)) };
    match well {
        Some(true) => CallEnd::Done,
        Some(false) => CallEnd::Failed,
        None => CallEnd::Unknown,
    }
}
