//! Cursor, by its documentation: it has not been run here.
//!
//! Cursor reports a shell call, an edit and a call of an MCP server twice. The events that every tool has are used; the
//! others only where they alone are installed. A reply is JSON of Cursor's own, and a refusal has exit code 2 as well.

use serde_json::json;

use crate::shared_dialect::{Members, common, end_by_code, with_note};
use crate::{DISARMS, HookPayload, Instruction, OwnDialect, Reply, Request, exits_refusing, tools};
use andon_core::domain::{CallEnd, HookMoment, Usage};
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
    let mut payload = common(&mut wire);
    payload.session = wire.name(&["conversation_id"]);
    let tokens = wire.count("context_tokens");
    payload.usage = tokens.map(|tokens| Usage { context_tokens: Some(tokens), ..Usage::default() });
    let reported = match event {
        "beforeShellExecution" | "afterShellExecution" => {
            Some(("Shell", json!({ "command": wire.text(&["command"]) })))
        }
        "afterFileEdit" => {
            let args = json!({ "file_path": wire.text(&["file_path"]), "edits": wire.take(&["edits"]) });
            Some(("Write", args))
        }
        _ => None,
    };
    if let Some((name, args)) = reported {
        payload.calls = vec![tools::called(name, None, Some(args))];
    }
    match event {
        "postToolUse" => {
            let answer = wire.take(&["tool_output"]);
            let end = answer.as_ref().map_or(CallEnd::Unknown, end_by_code);
            payload.ended(answer, end);
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
