//! Cline: its payloads and the replies to it. It ignores exit codes and decisions, and `cancel` ends the whole run
//! without a visible reason. So a refused shell call is replaced by a command that prints the reason and fails; any
//! other tool can only be cancelled.

use serde_json::{Value, json};

use crate::shared_dialect::{Members, text, with_note};
use crate::{DISARMS, HookPayload, Instruction, OwnDialect, Reply, Request, tools};
use andon_core::domain::{CallEnd, HookMoment, ToolKind};
use andon_core::{escape::shell_quote, format::FormatError};

/// See [`OwnDialect`].
pub(crate) const OWN: OwnDialect = OwnDialect {
    read,
    reply,
    rewrites: |_| true,
    canary: |session| {
        let call = json!({ "id": session, "name": "run_commands", "input": { "commands": [DISARMS] } });
        json!({ "taskId": session, "tool_call": call })
    },
    has_refused: |_, stdout| stdout.starts_with("{\"overrideInput\":"),
};

fn read(event: &str, bytes: &[u8]) -> Result<HookPayload, FormatError> {
    let wire = Members::read(bytes)?;
    let parent = wire.name(&["parent_agent_id"]);
    let told = wire.get("tool_call").or_else(|| wire.get("tool_result"));
    let flat = wire.get("preToolUse").or_else(|| wire.get("postToolUse"));
    let name = text(told, "name").or_else(|| text(flat, "toolName"));
    let args = told.and_then(|told| told.get("input")).or_else(|| flat?.get("parameters")).cloned();
    let id = text(told, "id").map(str::to_owned);
    let mut payload = HookPayload {
        session: wire.name(&["taskId"]),
        subagent: parent.is_some().then(|| wire.name(&["agent_id"])).flatten(),
        cwd: wire.root("workspaceRoots"),
        calls: name.map(|name| tools::called(name, id, args)).into_iter().collect(),
        said: text(wire.get("turn"), "outputText").map(str::to_owned),
        prompt: text(wire.get("userPromptSubmit"), "prompt").map(str::to_owned),
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

fn reply(request: Request<'_>, say: &Instruction) -> Reply {
    match say {
        Instruction::Nothing | Instruction::Hold(_) => Reply::json(&json!({})),
        Instruction::Refuse(why) => {
            match request.calls.first().filter(|call| call.used.kind == ToolKind::Shell) {
                Some(call) => {
                    // A line each: no shell has to know how to write a line break within quotes.
                    let lines: Vec<String> = why.lines().map(shell_quote).collect();
                    let script = format!("printf '%s\\n' {} >&2; exit 1", lines.join(" "));
                    Reply::json(&json!({ "overrideInput": instead(call.args.as_ref(), &script) }))
                }
                None => cancels(why),
            }
        }
        Instruction::Rewrite(args, note) => {
            Reply::json(&with_note(json!({ "overrideInput": args }), "contextModification", note.as_deref()))
        }
        Instruction::Tell(text) => Reply::json(&json!({ "contextModification": text })),
        Instruction::Stop(why) if request.moment == HookMoment::BeforeTool => cancels(why),
        Instruction::LetGo(text) | Instruction::Stop(text) | Instruction::Keep(text) => {
            Reply { stderr: format!("{text}\n"), ..Reply::json(&json!({})) }
        }
    }
}

fn cancels(why: &str) -> Reply {
    Reply::json(&json!({ "cancel": true, "errorMessage": why }))
}

/// The arguments with `script` as the only command.
fn instead(args: Option<&Value>, script: &str) -> Value {
    match args {
        Some(Value::Object(members)) if !members.contains_key("commands") => {
            let mut members = members.clone();
            members.insert("command".to_owned(), Value::from(script));
            Value::Object(members)
        }
        _ => json!({ "commands": [script] }),
    }
}
