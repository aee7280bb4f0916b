//! Payloads of the shape that Claude Code gave them, which Codex, Gemini CLI, Qwen Code, goose, `OpenHands` and Copilot's
//! events in Pascal case share, and the answers that go with it. How a client differs is in its row.

use std::fmt;

use serde::de::{Deserializer as _, IgnoredAny, MapAccess, Visitor};
use serde_json::{Map, Value, json};

use super::{
    CompletedCall, DISARMS, HookPayload, Instruction, MAX_PAYLOAD, Reply, Request, tools, transcript,
};
use andon_core::domain::{
    Answer, AnswerText, CallEnd, ExitCode, HookMoment, LastRefusal, Shape, Tokens, Usage,
};
use andon_core::{WordList, format::FormatError};

/// Reads the payload of `event`, which is that moment.
pub(super) fn read(
    shape: &Shape,
    moment: Option<HookMoment>,
    event: &str,
    bytes: &[u8],
) -> Result<HookPayload, FormatError> {
    let mut shaped = Members::read(bytes)?;
    let mut payload = common(&mut shaped);
    if let Some((at, tokens)) = shape.tokens
        && moment == Some(at)
    {
        payload.usage = usage(tokens, &shaped);
    }
    if moment == Some(HookMoment::AfterTool) {
        let calls = shaped.get("tool_calls").and_then(Value::as_array);
        if let Some(calls) = calls.filter(|_| event.ends_with("Batch")) {
            payload.calls = refused(calls);
        } else if event.ends_with("Failure") {
            payload.ended(failure(&shape.answer, shaped.take(&["error"])), CallEnd::Failed);
        } else if let Some(error) = shaped.take(&["tool_error"]).filter(is_error) {
            payload.ended(Some(error), CallEnd::Failed);
        } else {
            let tool = payload.calls.first().map_or("", |call| &call.used.name);
            let response = shaped.take(&["tool_response", "tool_result", "tool_output"]);
            let (result, end) = answered(&shape.answer, tool, response);
            payload.ended(result, end);
        }
    }
    let of_model = || tools::context_window_of(shaped.get("model")?.as_str()?);
    if let Some(window) = shaped.count("context_limit").or_else(of_model) {
        payload.usage.get_or_insert_with(Usage::default).window_tokens = Some(window);
    }
    Ok(payload)
}

/// The members that mean the same at every event.
pub(super) fn common(shaped: &mut Members) -> HookPayload {
    let id = shaped.name(&["tool_use_id", "tool_call_id", "toolUseId"]);
    let args = shaped.take(&["tool_input", "toolInput", "toolArgs"]);
    let tool = shaped.name(&["tool_name", "toolName"]);
    let again = || shaped.count("loop_count").map(|count| count > 0);
    HookPayload {
        session: shaped.name(&["session_id", "sessionId", "conversation_id"]),
        subagent: shaped.name(&["agent_id", "agentId"]),
        cwd: shaped.name(&["cwd", "working_dir"]).or_else(|| shaped.root("workspace_roots")),
        transcript: shaped.name(&["transcript_path", "transcriptPath"]),
        calls: tool.map(|tool| tools::called(&tool, id, args)).into_iter().collect(),
        usage: None,
        duration_ms: shaped.count("duration_ms"),
        continued: shaped.get("stop_hook_active").and_then(Value::as_bool).or_else(again),
        said: shaped.text(&["last_assistant_message", "prompt_response"]),
        prompt: shaped.get("prompt").and_then(said).or_else(|| shaped.text(&["message"])),
        prompt_id: shaped.name(&["prompt_id"]),
        source: shaped.name(&["source", "trigger"]),
        file: shaped.name(&["file_path"]),
        moment: None,
    }
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

/// The answer of `tool`, and the end of the call.
fn answered(answer: &Answer, tool: &str, response: Option<Value>) -> (Option<Value>, CallEnd) {
    let Some(response) = response else { return (None, answer.unanswered) };
    // Copilot runs the hooks of other clients' settings too, with answers of its own.
    if response.get(COPILOT_TEXT).is_some() {
        return copilot_result(&response, COPILOT_TEXT);
    }
    let result = match &answer.text {
        AnswerText::Whole => Some(response.clone()),
        AnswerText::Joined(members) => {
            let texts: Vec<&str> = members.iter().filter_map(|key| text(Some(&response), key)).collect();
            Some(if texts.is_empty() { response.clone() } else { Value::from(texts.concat()) })
        }
        AnswerText::Lasting(member) => response.get(member).cloned(),
        AnswerText::Parts(member) => {
            let parts = response.get(member).and_then(Value::as_array);
            let texts: Vec<&str> =
                parts.into_iter().flatten().filter_map(|part| part.get("text")?.as_str()).collect();
            (!texts.is_empty()).then(|| Value::from(texts.join("\n")))
        }
    };
    let end = end(answer, tool, &response, result.as_ref());
    match (&answer.text, result) {
        (AnswerText::Lasting(_), Some(Value::String(text))) => (Some(lasting(&text)), end),
        (_, result) => (result, end),
    }
}

/// The end that an answer tells by an exit code among its members, as an object or as the text of one.
pub(super) fn end_by_code(answer: &Value) -> CallEnd {
    let spelled = answer.as_str().and_then(|text| serde_json::from_str::<Value>(text).ok());
    let members = spelled.as_ref().unwrap_or(answer);
    let code = ["exitCode", "exit_code"].iter().find_map(|key| members.get(key)?.as_i64());
    code.map_or(CallEnd::Unknown, tools::by_exit)
}

fn end(answer: &Answer, tool: &str, response: &Value, result: Option<&Value>) -> CallEnd {
    let member = |key: Option<&str>| key.and_then(|key| response.get(key)).filter(|found| !found.is_null());
    if member(answer.interrupted).and_then(Value::as_bool) == Some(true) {
        return CallEnd::Unknown;
    }
    let failed = member(answer.failed).map(is_error);
    if failed == Some(true) {
        return CallEnd::Failed;
    }
    let code = match &answer.exit {
        Some(ExitCode::Member(key)) => member(Some(key)).and_then(Value::as_i64),
        Some(ExitCode::Line(of)) if of.is_empty() || of.contains(&tool) => {
            result.and_then(Value::as_str).and_then(tools::told_exit)
        }
        Some(ExitCode::Line(_)) | None => None,
    };
    match (code, failed) {
        (Some(code), _) if code < 0 && matches!(answer.exit, Some(ExitCode::Member(_))) => CallEnd::Unknown,
        (Some(code), _) => tools::by_exit(code),
        (None, Some(_)) => CallEnd::Done,
        (None, None) if result.is_some() => answer.answered,
        (None, None) => answer.unanswered,
    }
}

/// True for an error, whatever its form: none is a member that says no, or nothing.
fn is_error(found: &Value) -> bool {
    found.as_bool().unwrap_or_else(|| found.as_str() != Some(""))
}

/// The error of a call that failed.
fn failure(answer: &Answer, error: Option<Value>) -> Option<Value> {
    match answer.text {
        AnswerText::Lasting(_) => error.as_ref().and_then(Value::as_str).map(lasting),
        AnswerText::Whole | AnswerText::Joined(_) | AnswerText::Parts(_) => error,
    }
}

/// `text` without the lines that differ in every answer, and without the label before the first line that was printed.
fn lasting(text: &str) -> Value {
    let lines = text.lines().filter(|line| !line.starts_with("Process Group PGID:"));
    let lines = lines.map(|line| line.strip_prefix("Output: ").unwrap_or(line));
    Value::from(lines.collect::<Vec<_>>().join("\n"))
}

/// Most calls of a batch that are looked at: no model makes as many at once.
const MAX_BATCH: usize = 256;

/// Only the calls of a batch that no other event reports: those that were refused before they ran.
fn refused(calls: &[Value]) -> Vec<CompletedCall> {
    let refused = calls.iter().take(MAX_BATCH).filter_map(|call| {
        let answer = call.get("tool_response")?;
        let whole = answer.as_str().map_or_else(|| answer.to_string(), str::to_owned);
        let name = text(Some(call), "tool_name").filter(|_| whole.contains("<tool_use_error>"))?;
        let id = text(Some(call), "tool_use_id").map(str::to_owned);
        let mut called = tools::called(name, id, call.get("tool_input").cloned());
        called.result = Some(Value::from(whole));
        called.used.end = CallEnd::Failed;
        Some(called)
    });
    refused.collect()
}

fn usage(tokens: Tokens, shaped: &Members) -> Option<Usage> {
    let context = |tokens| Usage { context_tokens: Some(tokens), ..Usage::default() };
    match tokens {
        Tokens::Context => shaped.count("context_tokens").map(context),
        Tokens::Input => {
            shaped.count("input_tokens").map(|tokens| Usage { input_tokens: Some(tokens), ..context(tokens) })
        }
        Tokens::Response => shaped.get("llm_response").and_then(of_model),
    }
}

/// Tokens, reported with the last part of a model's answer. The prompt holds what came from a cache; what the model thought is
/// counted beside what it answered.
fn of_model(response: &Value) -> Option<Usage> {
    let candidates = response.get("candidates")?.as_array()?;
    let last = candidates.iter().any(|candidate| text(Some(candidate), "finishReason").is_some());
    let usage = response.get("usageMetadata").filter(|_| last)?;
    let sent = transcript::tokens(usage, "promptTokenCount", "candidatesTokenCount")?;
    let thought = usage.get("thoughtsTokenCount").and_then(Value::as_u64).unwrap_or(0);
    let output_tokens = sent.output_tokens.map(|answered| answered.saturating_add(thought));
    Some(Usage { output_tokens, ..sent })
}

/// The member with the text of Copilot's tools, in snake case.
const COPILOT_TEXT: &str = "text_result_for_llm";

/// The answer of Copilot's tools, under either of its names: without the number of the shell, which differs every time.
pub(super) fn copilot_result(result: &Value, key: &str) -> (Option<Value>, CallEnd) {
    let kind = text(Some(result), if key == "textResultForLlm" { "resultType" } else { "result_type" });
    let text = text(Some(result), key).unwrap_or_default();
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

/// A call of the shell for a canary.
pub(super) fn canary(shape: &Shape, event: &str, session: &str) -> Value {
    json!({
        "session_id": session,
        "hook_event_name": event,
        "tool_name": shape.shell,
        "tool_use_id": session,
        "tool_input": { "command": DISARMS },
    })
}

/// The answers of this shape: exit code 2 with the reason on standard error blocks, context goes in a member of its own.
pub(super) fn reply(shape: &Shape, request: Request<'_>, say: &Instruction) -> Reply {
    let specific = |key: &str, value: &Value| {
        Reply::json(&json!({ "hookSpecificOutput": { "hookEventName": request.event, key: value } }))
    };
    match say {
        Instruction::Nothing => Reply::default(),
        Instruction::Refuse(why)
            if request.moment == HookMoment::Prompt && shape.ends.at_prompts != Some(LastRefusal::Exit) =>
        {
            Reply::json(&json!({ "decision": "block", "reason": why }))
        }
        Instruction::Refuse(why) | Instruction::Hold(why) | Instruction::Keep(why) => Reply::blocks(why),
        Instruction::Rewrite(args, note) => shape.rewrites.map_or_else(Reply::default, |rewrites| {
            let specific = json!({ "hookEventName": request.event, rewrites.member: args });
            let specific = with_note(specific, "permissionDecision", rewrites.decision);
            let specific = with_note(specific, "additionalContext", note.as_deref());
            Reply::json(&json!({ "hookSpecificOutput": specific }))
        }),
        Instruction::Tell(text) if shape.flat => Reply::json(&json!({ "additionalContext": text })),
        Instruction::Tell(text) => specific("additionalContext", &Value::from(text.as_str())),
        Instruction::Stop(why) if request.moment == HookMoment::BeforeTool => {
            let denied = json!({ "permissionDecision": "deny", "permissionDecisionReason": why,
                "hookEventName": request.event });
            let last = Reply::json(&json!({ "continue": false, "stopReason": why, "decision": "block",
                "reason": why, "hookSpecificOutput": denied }));
            let by_plugin = shape.ends.before_tools == Some(LastRefusal::Plugin);
            if by_plugin { Reply { stdout: last.stdout, ..Reply::blocks(why) } } else { last }
        }
        Instruction::LetGo(text) | Instruction::Stop(text) if shape.flat => Reply::aside(text),
        // It goes before the hook of somebody else that holds the turn.
        Instruction::Stop(text) if shape.ends.at_turn_ends => {
            Reply::json(&json!({ "continue": false, "stopReason": text }))
        }
        Instruction::LetGo(text) | Instruction::Stop(text) => Reply::json(&json!({ "systemMessage": text })),
    }
}

/// `answer` with another member, where there is one.
pub(super) fn with_note(mut answer: Value, key: &str, note: Option<&str>) -> Value {
    if let (Some(members), Some(note)) = (answer.as_object_mut(), note) {
        members.insert(key.to_owned(), Value::from(note));
    }
    answer
}

/// The members of a payload that are known to this crate. One of another type than the one that is asked for is as good as
/// none, and so is `null`.
#[derive(Default)]
pub(super) struct Members(Map<String, Value>);

/// Their names; others are passed over unread.
const KNOWN: WordList = WordList::section(tools::WORDS, "members of payloads");

impl<'de> Visitor<'de> for Members {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut members: A) -> Result<Self, A::Error> {
        while let Some(name) = members.next_key::<String>()? {
            if KNOWN.contains(&name) {
                self.0.insert(name, members.next_value()?);
            } else {
                members.next_value::<IgnoredAny>()?;
            }
        }
        Ok(self)
    }
}

impl Members {
    /// Reads the payload: an object of at most [`MAX_PAYLOAD`] bytes.
    pub(super) fn read(bytes: &[u8]) -> Result<Self, FormatError> {
        if bytes.len() > MAX_PAYLOAD {
            return Err(FormatError::TooLarge { bytes: bytes.len(), max: MAX_PAYLOAD });
        }
        if bytes.trim_ascii_start().first().is_some_and(|first| *first != b'{') {
            return Err(FormatError::NotAnObject);
        }
        let mut reader = serde_json::Deserializer::from_slice(bytes);
        let read = reader.deserialize_map(Self::default()).and_then(|read| reader.end().map(|()| read));
        read.map_err(|error| FormatError::Json(error.to_string()))
    }

    pub(super) fn get(&self, name: &str) -> Option<&Value> {
        debug_assert!(KNOWN.contains(name), "{name} is not among the members of payloads");
        self.0.get(name).filter(|value| !value.is_null())
    }

    /// The first of these that is there.
    pub(super) fn take(&mut self, names: &[&str]) -> Option<Value> {
        let is_there = |name: &&&str| self.get(name).is_some();
        names.iter().find(is_there).and_then(|name| self.0.remove(*name))
    }

    /// The first of these that is a text.
    pub(super) fn text(&self, names: &[&str]) -> Option<String> {
        names.iter().find_map(|name| self.get(name)?.as_str()).map(str::to_owned)
    }

    /// The first of these that is a name or a path: not empty, and cut.
    pub(super) fn name(&self, names: &[&str]) -> Option<String> {
        let mut texts = names.iter().filter_map(|name| self.get(name)?.as_str());
        texts.find(|text| !text.is_empty()).map(|text| text.chars().take(MAX_NAME).collect())
    }

    /// The first of a list of folders.
    pub(super) fn root(&self, name: &str) -> Option<String> {
        let roots = self.get(name)?.as_array()?.iter().map(|root| root.as_str().map(str::to_owned));
        roots.collect::<Option<Vec<String>>>()?.into_iter().next()
    }

    pub(super) fn count(&self, name: &str) -> Option<u64> {
        self.get(name)?.as_u64()
    }
}

/// Bound of a name or a path, in characters.
const MAX_NAME: usize = 4096;

/// A message: a text, or the texts of its parts.
pub(super) fn said(value: &Value) -> Option<String> {
    let Value::Array(parts) = value else { return value.as_str().map(str::to_owned) };
    let texts: Vec<&str> = parts.iter().filter_map(|part| text(Some(part), "text")).collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

/// The text of `value`, or of its member `key`.
pub(super) fn text<'a>(value: Option<&'a Value>, key: &str) -> Option<&'a str> {
    value?.get(key)?.as_str()
}
