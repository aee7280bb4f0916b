//! Copilot CLI, which has two dialects: events in camel case have flat members, events in Pascal case those of Claude Code.
//!
//! Payloads in camel case have neither the event's name nor an id of the call. A failing command ends with `success`, and
//! its exit code is in the last line. A subagent has a session of its own and names its parent.
//!
//! A reply with exit code 2 alone blocks but loses the reason, so the flat decision is sent with it. A decision continues
//! a turn, and context is a flat member.

use serde_json::json;

use crate::shared_dialect::{self, Members, common, with_note};
use crate::{DISARMS, HookPayload, Instruction, OwnDialect, Reply, Request, exits_refusing, moment};
use andon_core::domain::{CallEnd, Client, HookMoment, ToolKind};
use andon_core::format::FormatError;

/// See [`OwnDialect`].
pub(crate) const OWN: OwnDialect = OwnDialect {
    read,
    reply,
    rewrites: |event| event.starts_with(|c: char| c.is_ascii_lowercase()),
    canary: |session| {
        let args = json!({ "command": DISARMS }).to_string();
        json!({ "sessionId": session, "toolName": "bash", "toolArgs": args })
    },
    has_refused: exits_refusing,
};

fn read(event: &str, bytes: &[u8]) -> Result<HookPayload, FormatError> {
    if event.starts_with(|c: char| c.is_ascii_uppercase()) {
        let shape = &Client::Copilot.spec().shape;
        return shared_dialect::read(shape, moment(Client::Copilot, event), event, bytes);
    }
    let mut flat = Members::read(bytes)?;
    let parent = flat.name(&["parentAgentId"]);
    let mut payload = common(&mut flat);
    payload.session = parent.clone().or(payload.session);
    match event {
        "postToolUse" => {
            let result = flat.take(&["toolResult"]).unwrap_or_default();
            let (answer, end) = shared_dialect::copilot_result(&result, "textResultForLlm");
            payload.ended(answer, end);
        }
        "postToolUseFailure" => payload.ended(flat.take(&["error"]), CallEnd::Failed),
        // A subagent ends a turn of its own, and not that of the session.
        "agentStop" if parent.is_some() => payload.moment = Some(HookMoment::Aside),
        _ => {}
    }
    Ok(payload)
}

fn reply(request: Request<'_>, say: &Instruction) -> Reply {
    let is_shell = request.calls.first().is_some_and(|call| call.used.kind == ToolKind::Shell);
    match say {
        Instruction::Refuse(why) if request.moment == HookMoment::Prompt => {
            Reply::json(&json!({ "decision": "block", "reason": why }))
        }
        Instruction::Refuse(why) | Instruction::Stop(why) if request.moment == HookMoment::Permission => {
            let ends = matches!(say, Instruction::Stop(_));
            Reply::json(&json!({ "behavior": "deny", "message": why, "interrupt": ends }))
        }
        // A refused call is never asked about: one that fails by itself is.
        Instruction::Stop(_) if request.moment == HookMoment::BeforeTool && is_shell => {
            Reply::json(&json!({ "modifiedArgs": { "command": "false", "description": "halted" } }))
        }
        Instruction::Nothing => Reply::default(),
        Instruction::Stop(text) if request.moment != HookMoment::BeforeTool => Reply::aside(text),
        Instruction::LetGo(text) => Reply::aside(text),
        Instruction::Refuse(why) | Instruction::Keep(why) | Instruction::Stop(why) => {
            let decision = json!({ "permissionDecision": "deny", "permissionDecisionReason": why });
            Reply { exit: 2, stderr: format!("{why}\n"), ..Reply::json(&decision) }
        }
        Instruction::Rewrite(args, note) => {
            Reply::json(&with_note(json!({ "modifiedArgs": args }), "additionalContext", note.as_deref()))
        }
        Instruction::Tell(text) => Reply::json(&json!({ "additionalContext": text })),
        Instruction::Hold(what) => Reply::json(&json!({ "decision": "block", "reason": what })),
    }
}
