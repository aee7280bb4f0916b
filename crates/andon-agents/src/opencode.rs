//! opencode and Kilo, which is made from it, call Andon through a plugin. The payload is `{"input": ..., "output": ...}` of a hook, or an event of
//! the bus.
//!
//! A refusal is exit code 2 with the reason on standard error, which the plugin throws; with `continue: false` it is the last one, and
//! the plugin ends the session. Any other reply is a member of the
//! JSON on standard output: `args` to run with, `context` for the model, `message` for the person. The plugin cannot keep
//! a turn from ending: what is missing becomes a `prompt` for the next turn, which it may leave out.

use serde_json::{Value, json};

use crate::shared_dialect::{Members, said, text, with_note};
use crate::{DISARMS, HookPayload, Instruction, OwnDialect, Reply, Request, exits_refusing, moment, tools};
use andon_core::domain::{CallEnd, Client, HookMoment, Usage};
use andon_core::format::FormatError;

/// See [`OwnDialect`].
pub(crate) const OWN: OwnDialect = OwnDialect {
    read,
    reply,
    rewrites: |_| true,
    canary: |session| {
        let input = json!({ "tool": "bash", "sessionID": session, "callID": session });
        json!({ "input": input, "output": { "args": { "command": DISARMS } } })
    },
    has_refused: exits_refusing,
};

fn read(event: &str, bytes: &[u8]) -> Result<HookPayload, FormatError> {
    let wire = Members::read(bytes)?;
    match (wire.get("properties"), wire.text(&["type"])) {
        (Some(properties), Some(kind)) => Ok(of_bus(event, &kind, properties)),
        _ => Ok(of_hook(event, wire.get("input"), wire.get("output"))),
    }
}

fn of_hook(event: &str, input: Option<&Value>, output: Option<&Value>) -> HookPayload {
    let args = output.and_then(|output| output.get("args")).or_else(|| input?.get("args")).cloned();
    let id = text(input, "callID").map(str::to_owned);
    let mut payload = HookPayload {
        session: text(input, "sessionID").map(str::to_owned),
        cwd: text(input, "cwd").map(str::to_owned),
        calls: text(input, "tool").map(|name| tools::called(name, id, args)).into_iter().collect(),
        ..HookPayload::default()
    };
    if event == "experimental.chat.system.transform" {
        payload.source = Some("resume".to_owned());
    }
    if event == "tool.execute.after" {
        let (answer, end) = ended(output);
        payload.ended(answer, end);
    }
    if event == "chat.message" {
        payload.prompt = output.and_then(|output| said(output.get("parts")?));
    }
    payload
}

/// The answer of a tool, and how it ended: shells tell their exit code.
fn ended(output: Option<&Value>) -> (Option<Value>, CallEnd) {
    let code = output.and_then(|output| output.pointer("/metadata/exit")?.as_i64());
    (output.and_then(|output| output.get("output")).cloned(), code.map_or(CallEnd::Done, tools::by_exit))
}

fn of_bus(event: &str, kind: &str, properties: &Value) -> HookPayload {
    let session = text(Some(properties), "sessionID").map(str::to_owned);
    let moment = moment(Client::Opencode, kind).unwrap_or(HookMoment::Aside);
    let mut payload = HookPayload { session, moment: Some(moment), ..HookPayload::default() };
    match kind {
        "message.part.updated" => failed_part(&mut payload, properties.get("part")),
        "message.updated" => payload.usage = usage(properties.get("info")),
        "session.created" => {
            let info = properties.get("info");
            payload.cwd = text(info, "directory").map(str::to_owned);
            // A subagent's session is none of a person's.
            if text(info, "parentID").is_some() {
                payload.moment = Some(HookMoment::Aside);
            }
        }
        _ => {}
    }
    if event != "event" && event != kind {
        payload.moment = Some(HookMoment::Aside);
    }
    payload
}

/// A tool that failed: no hook reports it, so the bus has to.
fn failed_part(payload: &mut HookPayload, part: Option<&Value>) {
    let state = part.and_then(|part| part.get("state"));
    let failed = text(part, "type") == Some("tool") && text(state, "status") == Some("error");
    let Some(name) = text(part, "tool").filter(|_| failed) else {
        payload.moment = Some(HookMoment::Aside);
        return;
    };
    let id = text(part, "callID").map(str::to_owned);
    payload.calls = vec![tools::called(name, id, state.and_then(|state| state.get("input")).cloned())];
    payload.ended(state.and_then(|state| state.get("error")).cloned(), CallEnd::Failed);
}

/// Tokens of a message that is finished: while it is not, all are 0.
fn usage(info: Option<&Value>) -> Option<Usage> {
    let tokens = info?.get("tokens")?;
    let count = |pointer: &str| tokens.pointer(pointer).and_then(Value::as_u64);
    let cached = count("/cache/read").unwrap_or(0).saturating_add(count("/cache/write").unwrap_or(0));
    let input = count("/input")?;
    let context = input.saturating_add(cached);
    let cost = info?.get("cost").and_then(Value::as_f64).filter(|cost| *cost > 0.0);
    (context > 0).then(|| Usage {
        input_tokens: Some(input),
        output_tokens: count("/output"),
        cached_tokens: Some(cached),
        context_tokens: Some(context),
        cost_usd: cost.map(|cost| format!("{cost:.6}")),
        ..Usage::default()
    })
}

fn reply(request: Request<'_>, say: &Instruction) -> Reply {
    match say {
        Instruction::Nothing => Reply::default(),
        Instruction::Refuse(why) | Instruction::Keep(why) => Reply::blocks(why),
        Instruction::Rewrite(args, note) => {
            Reply::json(&with_note(json!({ "args": args }), "context", note.as_deref()))
        }
        Instruction::Tell(text) => Reply::json(&json!({ "context": text })),
        Instruction::Hold(what) => Reply::json(&json!({ "prompt": what })),
        Instruction::Stop(why) if request.moment == HookMoment::BeforeTool => {
            Reply { stdout: Reply::json(&json!({ "continue": false })).stdout, ..Reply::blocks(why) }
        }
        Instruction::LetGo(text) | Instruction::Stop(text) => Reply::json(&json!({ "message": text })),
    }
}
