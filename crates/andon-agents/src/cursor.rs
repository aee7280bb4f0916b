//! Cursor, by its documentation: it has not been run here.
//!
//! Cursor reports a shell call, an edit and a call of an MCP server twice. The events that every tool has are used; the
//! others only where they alone are installed. A reply is JSON of Cursor's own, and a refusal has exit code 2 as well.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::shared_dialect::{Member, read_members, with_note};
use crate::{DISARMS, HookPayload, Instruction, OwnDialect, Reply, Request, exits_refusing, tools};
use andon_core::domain::{agent_door::HookMoment, events::CallEnd, usage::Usage};
use andon_core::format::FormatError;

/// See [`OwnDialect`].
pub(crate) const OWN: OwnDialect = OwnDialect {
    read,
    reply,
    rewrites: |_| true,
    canary: |session| json!({ "conversation_id": session, "tool_name": "Shell", "tool_input": { "command": DISARMS } }),
    has_refused: exits_refusing,
};

#[derive(Default, Deserialize)]
#[serde(default, expecting = "an object")]
struct Wire {
    conversation_id: Member<String>,
    workspace_roots: Member<Vec<String>>,
    transcript_path: Member<String>,
    cwd: Member<String>,
    tool_name: Member<String>,
    tool_input: Member<Value>,
    tool_output: Member<Value>,
    tool_use_id: Member<String>,
    error_message: Member<Value>,
    command: Member<String>,
    output: Member<Value>,
    result_json: Member<Value>,
    file_path: Member<String>,
    edits: Member<Value>,
    prompt: Member<String>,
    loop_count: Member<u64>,
    context_tokens: Member<u64>,
}

fn read(event: &str, bytes: &[u8]) -> Result<HookPayload, FormatError> {
    let wire: Wire = read_members(bytes)?;
    let command = wire.command.0;
    let (name, args) = match event {
        "beforeShellExecution" | "afterShellExecution" => {
            (Some("Shell".to_owned()), command.map(|command| json!({ "command": command })))
        }
        "afterFileEdit" => {
            let args = json!({ "file_path": wire.file_path.0, "edits": wire.edits.0 });
            (Some("Write".to_owned()), Some(args))
        }
        _ => (wire.tool_name.name(), wire.tool_input.0),
    };
    let id = wire.tool_use_id.name();
    let mut payload = HookPayload {
        session: wire.conversation_id.name(),
        cwd: wire.cwd.name().or_else(|| wire.workspace_roots.0.and_then(|roots| roots.into_iter().next())),
        transcript: wire.transcript_path.name(),
        calls: name.map(|name| tools::called(&name, id, args)).into_iter().collect(),
        continued: wire.loop_count.0.map(|count| count > 0),
        prompt: wire.prompt.0,
        usage: wire.context_tokens.0.map(|tokens| Usage { context_tokens: Some(tokens), ..Usage::default() }),
        ..HookPayload::default()
    };
    match event {
        "postToolUse" => {
            let answer = wire.tool_output.0;
            let code = answer.as_ref().and_then(|answer| {
                let answer = answer
                    .as_str()
                    .map_or_else(|| Some(answer.clone()), |text| serde_json::from_str(text).ok())?;
                answer.get("exitCode").or_else(|| answer.get("exit_code"))?.as_i64()
            });
            payload.ended(answer, code.map_or(CallEnd::Unknown, tools::by_exit));
        }
        "postToolUseFailure" => payload.ended(wire.error_message.0, CallEnd::Failed),
        "afterShellExecution" => payload.ended(wire.output.0, CallEnd::Unknown),
        "afterMCPExecution" => payload.ended(wire.result_json.0, CallEnd::Unknown),
        "afterFileEdit" => payload.ended(None, CallEnd::Done),
        _ => {}
    }
    Ok(payload)
}

fn reply(request: Request<'_>, say: &Instruction) -> Reply {
    match say {
        Instruction::Nothing => Reply::default(),
        Instruction::Refuse(why) | Instruction::Keep(why) => {
            let decision = json!({ "permission": "deny", "user_message": why, "agent_message": why });
            Reply { exit: 2, stderr: format!("{why}\n"), ..Reply::json(&decision) }
        }
        Instruction::Rewrite(args, note) => {
            let answer = json!({ "permission": "allow", "updated_input": args });
            Reply::json(&with_note(answer, "agent_message", note.as_deref()))
        }
        Instruction::Tell(text) if request.moment == HookMoment::Prompt => Reply::aside(text),
        Instruction::Tell(text) => Reply::json(&json!({ "additional_context": text })),
        Instruction::Hold(what) => Reply::json(&json!({ "followup_message": what })),
        Instruction::LetGo(text) | Instruction::Stop(text) => Reply::aside(text),
    }
}
