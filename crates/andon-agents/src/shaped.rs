//! Payloads of the shape that Claude Code gave them, which Codex, Gemini CLI, Qwen Code, goose, `OpenHands` and Copilot's
//! events in Pascal case share, and the answers that go with it.

use serde::Deserialize;
use serde_json::{Value, json};

use super::told::{self, Told};
use super::{Asked, HookPayload, Reply, Say, tools};
use andon_core::domain::agent_door::HookMoment;
use andon_core::domain::events::CallEnd;
use andon_core::format::FormatError;

/// The members that these clients have in common.
#[derive(Debug, Default, Deserialize)]
#[serde(default, expecting = "an object")]
pub(super) struct Shaped {
    pub(super) session_id: Told<String>,
    transcript_path: Told<String>,
    cwd: Told<String>,
    working_dir: Told<String>,
    agent_id: Told<String>,
    tool_name: Told<String>,
    tool_input: Told<Value>,
    pub(super) tool_response: Told<Value>,
    pub(super) tool_result: Told<Value>,
    tool_use_id: Told<String>,
    tool_call_id: Told<String>,
    pub(super) tool_calls: Told<Vec<Value>>,
    pub(super) error: Told<Value>,
    stop_hook_active: Told<bool>,
    last_assistant_message: Told<String>,
    prompt_response: Told<String>,
    prompt: Told<String>,
    message: Told<String>,
    source: Told<String>,
    trigger: Told<String>,
    file_path: Told<String>,
    pub(super) context_tokens: Told<u64>,
    pub(super) input_tokens: Told<u64>,
    pub(super) llm_response: Told<Value>,
}

/// Reads the members and what they say alike for all clients; the client's own reader says the rest.
pub(super) fn read(bytes: &[u8]) -> Result<(HookPayload, Shaped), FormatError> {
    let mut shaped: Shaped = told::read(bytes)?;
    let id =
        std::mem::take(&mut shaped.tool_use_id).name().or(std::mem::take(&mut shaped.tool_call_id).name());
    let name = std::mem::take(&mut shaped.tool_name).name();
    let args = std::mem::take(&mut shaped.tool_input).0;
    let cwd = std::mem::take(&mut shaped.cwd).name().or(std::mem::take(&mut shaped.working_dir).name());
    let source = std::mem::take(&mut shaped.source).name().or(std::mem::take(&mut shaped.trigger).name());
    let take = |member: &mut Told<String>| std::mem::take(member).0;
    let payload = HookPayload {
        session: std::mem::take(&mut shaped.session_id).name(),
        subagent: std::mem::take(&mut shaped.agent_id).name(),
        cwd,
        transcript: std::mem::take(&mut shaped.transcript_path).name(),
        calls: name.map(|name| tools::called(&name, id, args)).into_iter().collect(),
        usage: None,
        continued: shaped.stop_hook_active.0,
        said: take(&mut shaped.last_assistant_message).or_else(|| take(&mut shaped.prompt_response)),
        prompt: take(&mut shaped.prompt).or_else(|| take(&mut shaped.message)),
        source,
        file: std::mem::take(&mut shaped.file_path).name(),
        moment: None,
    };
    Ok((payload, shaped))
}

impl HookPayload {
    /// Puts the answer and the end of the only call in place.
    pub(super) fn ended(&mut self, result: Option<Value>, end: CallEnd) {
        if let Some(call) = self.calls.first_mut() {
            call.result = result;
            call.used.end = end;
        }
    }
}

/// What `Copilot`'s tools answer, under either of its names: without the number of the shell, which differs every time.
pub(super) fn copilot_result(result: &Value, key: &str) -> (Option<Value>, CallEnd) {
    let kind = told::text(Some(result), if key == "textResultForLlm" { "resultType" } else { "result_type" });
    let text = told::text(Some(result), key).unwrap_or_default();
    let (answer, code) = match text.rsplit_once("<shellId: ") {
        Some((before, trailer)) => {
            let code = trailer
                .split_once("exit code ")
                .and_then(|(_, code)| code.trim_end_matches(['>', '\n']).parse().ok());
            (before, code)
        }
        None => (text, None),
    };
    let end = match (kind, code) {
        (_, Some(code)) => tools::by_exit(code),
        (Some("success"), None) => CallEnd::Done,
        (Some(_), None) => CallEnd::Failed,
        (None, None) => CallEnd::Unknown,
    };
    (Some(Value::from(answer)), end)
}

/// The answers of this shape: exit code 2 with the reason on standard error blocks, context goes in a member of its own.
pub(super) fn reply(asked: Asked<'_>, say: &Say) -> Reply {
    match say {
        Say::Nothing => Reply::default(),
        Say::Refuse(why) | Say::Hold(why) | Say::Keep(why) => Reply::blocks(why),
        Say::Rewrite(args) => specific(asked.event, "updatedInput", args),
        Say::Tell(text) => specific(asked.event, "additionalContext", &Value::from(text.as_str())),
        Say::LetGo(text) => Reply::json(&json!({ "systemMessage": text })),
    }
}

/// An answer to one event.
pub(super) fn specific(event: &str, key: &str, value: &Value) -> Reply {
    Reply::json(&json!({ "hookSpecificOutput": { "hookEventName": event, key: value } }))
}

/// The events that these clients name alike.
pub(super) const BEFORE: (&str, HookMoment) = ("PreToolUse", HookMoment::BeforeTool);
/// See [`BEFORE`].
pub(super) const AFTER: (&str, HookMoment) = ("PostToolUse", HookMoment::AfterTool);
