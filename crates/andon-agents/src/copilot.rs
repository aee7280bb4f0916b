//! Copilot CLI, which has two dialects: events in camel case have flat members, events in Pascal case those of Claude Code.
//!
//! Payloads in camel case have neither the event's name nor an id of the call. A failing command ends with `success`, and
//! its exit code is in the last line. A subagent has a session of its own and names its parent.
//!
//! A reply with exit code 2 alone blocks but loses the reason, so the flat decision is sent with it. A decision continues
//! a turn, and context is a flat member.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::shared_dialect::{self, Member, read_members, with_note};
use crate::{DISARMS, HookPayload, Instruction, OwnDialect, Reply, Request, exits_refusing, moment, tools};
use andon_core::domain::client_spec::{Answer, AnswerText, Shape};
use andon_core::domain::{agent::Client, agent_door::HookMoment, events::CallEnd};
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

/// Of the events in Pascal case. What its tools answer is known by its members.
const PASCAL: Shape = Shape {
    shell: "bash",
    answer: Answer {
        text: AnswerText::Whole,
        interrupted: None,
        failed: None,
        exit: None,
        answered: CallEnd::Unknown,
        unanswered: CallEnd::Unknown,
    },
    tokens: None,
    rewrites: None,
    flat: true,
};

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase", expecting = "an object")]
struct Flat {
    session_id: Member<String>,
    cwd: Member<String>,
    transcript_path: Member<String>,
    tool_name: Member<String>,
    tool_args: Member<Value>,
    tool_input: Member<Value>,
    tool_result: Member<Value>,
    error: Member<Value>,
    prompt: Member<String>,
    source: Member<String>,
    trigger: Member<String>,
    #[serde(rename = "stop_hook_active")]
    continued: Member<bool>,
    agent_id: Member<String>,
    parent_agent_id: Member<String>,
}

fn read(event: &str, bytes: &[u8]) -> Result<HookPayload, FormatError> {
    if event.starts_with(|c: char| c.is_ascii_uppercase()) {
        return shared_dialect::read(&PASCAL, moment(Client::Copilot, event), event, bytes);
    }
    let flat: Flat = read_members(bytes)?;
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
            let (answer, end) = shared_dialect::copilot_result(&result, "textResultForLlm");
            payload.ended(answer, end);
        }
        "postToolUseFailure" => payload.ended(flat.error.0, CallEnd::Failed),
        // A subagent ends a turn of its own, and not that of the session.
        "agentStop" if parent.is_some() => payload.moment = Some(HookMoment::Aside),
        _ => {}
    }
    Ok(payload)
}

fn reply(_: Request<'_>, say: &Instruction) -> Reply {
    match say {
        Instruction::Nothing => Reply::default(),
        Instruction::Refuse(why) | Instruction::Keep(why) => {
            let decision = json!({ "permissionDecision": "deny", "permissionDecisionReason": why });
            Reply { exit: 2, stderr: format!("{why}\n"), ..Reply::json(&decision) }
        }
        Instruction::Rewrite(args, note) => {
            Reply::json(&with_note(json!({ "modifiedArgs": args }), "additionalContext", note.as_deref()))
        }
        Instruction::Tell(text) => Reply::json(&json!({ "additionalContext": text })),
        Instruction::Hold(what) => Reply::json(&json!({ "decision": "block", "reason": what })),
        Instruction::LetGo(text) | Instruction::Stop(text) => Reply::aside(text),
    }
}
