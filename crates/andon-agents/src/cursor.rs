//! Cursor, by its documentation: it has not been run here.
//!
//! Cursor reports a shell call, an edit and a call of an MCP server twice. The events that every tool has are used; the
//! others only where they alone are installed. A reply is JSON of Cursor's own, and a refusal has exit code 2 as well.

use serde_json::json;

use crate::shared_dialect::{Members, with_note};
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

fn read(event: &str, bytes: &[u8]) -> Result<HookPayload, FormatError> {
    let mut wire = Members::read(bytes)?;
    let command = wire.text(&["command"]);
    let (name, args) = match event {
        "beforeShellExecution" | "afterShellExecution" => {
            (Some("Shell".to_owned()), command.map(|command| json!({ "command": command })))
        }
        "afterFileEdit" => {
            let args = json!({ "file_path": wire.text(&["file_path"]), "edits": wire.take(&["edits"]) });
            (Some("Write".to_owned()), Some(args))
        }
        _ => (wire.name(&["tool_name"]), wire.take(&["tool_input"])),
    };
    let id = wire.name(&["tool_use_id"]);
    let mut payload = HookPayload {
        session: wire.name(&["conversation_id"]),
        cwd: wire.name(&["cwd"]).or_else(|| wire.root("workspace_roots")),
        transcript: wire.name(&["transcript_path"]),
        calls: name.map(|name| tools::called(&name, id, args)).into_iter().collect(),
        continued: wire.count("loop_count").map(|count| count > 0),
        prompt: wire.text(&["prompt"]),
        usage: wire
            .count("context_tokens")
            .map(|tokens| Usage { context_tokens: Some(tokens), ..Usage::default() }),
        ..HookPayload::default()
    };
    match event {
        "postToolUse" => {
            let answer = wire.take(&["tool_output"]);
            let code = answer.as_ref().and_then(|answer| {
                let answer = answer
                    .as_str()
                    .map_or_else(|| Some(answer.clone()), |text| serde_json::from_str(text).ok())?;
                answer.get("exitCode").or_else(|| answer.get("exit_code"))?.as_i64()
            });
            payload.ended(answer, code.map_or(CallEnd::Unknown, tools::by_exit));
        }
        "postToolUseFailure" => payload.ended(wire.take(&["error_message"]), CallEnd::Failed),
        "afterShellExecution" => payload.ended(wire.take(&["output"]), CallEnd::Unknown),
        "afterMCPExecution" => payload.ended(wire.take(&["result_json"]), CallEnd::Unknown),
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
