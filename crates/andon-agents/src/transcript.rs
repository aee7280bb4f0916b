//! The end of a client's transcript: tokens where no payload has them, and exit codes of commands. What cannot be read is
//! unknown; lines of other types are passed over.

use serde_json::Value;

use crate::tools;
use andon_core::domain::{Client, Transcript, Usage};

/// Tokens with the id of the message that they are of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadUsage {
    /// The message, or the amount that was spent by then.
    pub id: String,
    /// Its result.
    pub usage: Usage,
}

/// The newest tokens in `tail`, the last bytes of a transcript.
pub fn newest_usage(client: Client, tail: &[u8]) -> Option<ReadUsage> {
    let of = match client.spec().transcript? {
        Transcript::Claude => claude,
        Transcript::Codex => codex,
        Transcript::Qwen => qwen,
        Transcript::Copilot => copilot,
    };
    // A request that failed, or is on its way, is reported as nothing.
    lines(tail).filter_map(|line| of(&line)).find(|found| found.usage.context_tokens != Some(0))
}

/// The exit code of the command with that id, where the client keeps it there.
pub fn exit_code(client: Client, tail: &[u8], id: &str) -> Option<i64> {
    client.spec().transcript.filter(|format| *format == Transcript::Codex)?;
    lines(tail).find_map(|line| {
        let item = line.pointer("/payload/item")?;
        (item.get("id")?.as_str()? == id).then(|| item.get("exit_code")?.as_i64())?
    })
}

/// The lines that are JSON, the newest first.
fn lines(tail: &[u8]) -> impl Iterator<Item = Value> {
    tail.rsplit(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok())
}

fn claude(line: &Value) -> Option<ReadUsage> {
    let side = line.get("isSidechain").and_then(Value::as_bool) == Some(true);
    if side || line.get("type")?.as_str()? != "assistant" {
        return None;
    }
    let message = line.get("message")?;
    let usage = message.get("usage")?;
    let count = |key: &str| usage.get(key).and_then(Value::as_u64).unwrap_or(0);
    let cached = count("cache_read_input_tokens").saturating_add(count("cache_creation_input_tokens"));
    let sent = tokens(usage, "input_tokens", "output_tokens")?;
    let usage = Usage {
        cached_tokens: Some(cached),
        context_tokens: sent.input_tokens.map(|input| input.saturating_add(cached)),
        window_tokens: message.get("model").and_then(Value::as_str).and_then(tools::context_window_of),
        ..sent
    };
    Some(ReadUsage { id: message.get("id")?.as_str()?.to_owned(), usage })
}

/// Its input holds what came from a cache.
fn codex(line: &Value) -> Option<ReadUsage> {
    let info = line
        .pointer("/payload/info")
        .filter(|_| line.pointer("/payload/type").and_then(Value::as_str) == Some("token_count"))?;
    let window_tokens = info.get("model_context_window").and_then(Value::as_u64);
    let sent = tokens(info.get("last_token_usage")?, "input_tokens", "output_tokens")?;
    let total = info.get("total_token_usage").map_or_else(String::new, Value::to_string);
    Some(ReadUsage { id: total, usage: Usage { window_tokens, ..sent } })
}

/// Its prompt holds what came from a cache.
fn qwen(line: &Value) -> Option<ReadUsage> {
    if line.get("type")?.as_str()? != "assistant" {
        return None;
    }
    let usage = tokens(line.get("usageMetadata")?, "promptTokenCount", "candidatesTokenCount")?;
    Some(ReadUsage { id: line.get("uuid")?.as_str()?.to_owned(), usage })
}

/// Its input holds what came from a cache.
fn copilot(line: &Value) -> Option<ReadUsage> {
    if line.get("type")?.as_str()? != "session.usage_record" {
        return None;
    }
    let usage = line.pointer("/data/usage")?;
    let window_tokens = usage.get("maxPromptTokens").and_then(Value::as_u64).filter(|tokens| *tokens > 0);
    let read = Usage { window_tokens, ..tokens(usage, "inputTokens", "outputTokens")? };
    Some(ReadUsage { id: usage.get("apiCallId")?.as_str()?.to_owned(), usage: read })
}

/// The tokens of one request, by the members that count them: what was sent fills the window.
pub(super) fn tokens(counts: &Value, input: &str, output: &str) -> Option<Usage> {
    let count = |key: &str| counts.get(key).and_then(Value::as_u64);
    let input_tokens = Some(count(input)?);
    let (context_tokens, output_tokens) = (input_tokens, count(output));
    Some(Usage { input_tokens, output_tokens, context_tokens, ..Usage::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_tokens_count() {
        let tail = b"cut off\"}\n\
            {\"type\":\"assistant\",\"isSidechain\":false,\"message\":{\"id\":\"m1\",\"usage\":{\"input_tokens\":10,\"cache_read_input_tokens\":5,\"output_tokens\":2}}}\n\
            {\"type\":\"assistant\",\"isSidechain\":true,\"message\":{\"id\":\"m2\",\"usage\":{\"input_tokens\":99}}}\n\
            {\"type\":\"last-prompt\"}\nhalf a li";
        let found = newest_usage(Client::Claude, tail).unwrap();
        assert_eq!(
            (found.id.as_str(), found.usage.context_tokens, found.usage.cached_tokens),
            ("m1", Some(15), Some(5))
        );
        let tail = b"{\"type\":\"event_msg\",\"payload\":{\"type\":\"token_count\",\"info\":{\"total_token_usage\":{\"a\":1},\"last_token_usage\":{\"input_tokens\":7,\"output_tokens\":1}}}}\n\
            {\"type\":\"event_msg\",\"payload\":{\"type\":\"x\",\"item\":{\"type\":\"CommandExecution\",\"id\":\"c1\",\"exit_code\":3}}}";
        assert_eq!(newest_usage(Client::Codex, tail).unwrap().usage.context_tokens, Some(7));
        assert_eq!(
            (exit_code(Client::Codex, tail, "c1"), exit_code(Client::Codex, tail, "c2")),
            (Some(3), None)
        );
        let named = b"{\"payload\":{\"type\":\"token_count\",\"info\":{\"model_context_window\":258400,\"last_token_usage\":{\"input_tokens\":7}}}}\n\
            {\"payload\":{\"type\":\"token_count\",\"info\":{\"last_token_usage\":{\"input_tokens\":0}}}}";
        let found = newest_usage(Client::Codex, named).unwrap().usage;
        assert_eq!(
            (found.context_tokens, found.window_tokens),
            (Some(7), Some(258_400)),
            "nothing is passed over"
        );
        for (model, window) in [
            ("claude-sonnet-4-5[1m]", Some(1_000_000)),
            ("gpt[400k]", Some(400_000)),
            ("claude-sonnet-4-5", None),
            ("x[]", None),
            ("x[\u{e9}]", None),
            ("x[0m]", None),
        ] {
            assert_eq!(tools::context_window_of(model), window, "{model}");
        }
        let qwen = b"{\"uuid\":\"u1\",\"type\":\"assistant\",\"usageMetadata\":{\"promptTokenCount\":4000,\"candidatesTokenCount\":20,\"cachedContentTokenCount\":3000}}\n\
            {\"uuid\":\"u2\",\"type\":\"system\",\"subtype\":\"ui_telemetry\"}";
        let found = newest_usage(Client::Qwen, qwen).unwrap();
        assert_eq!((found.id.as_str(), found.usage.context_tokens), ("u1", Some(4000)));
        let copilot = b"{\"type\":\"session.usage_record\",\"data\":{\"usage\":{\"inputTokens\":4000,\"cacheReadTokens\":3000,\"outputTokens\":20,\"maxPromptTokens\":128000,\"apiCallId\":\"c1\"}}}\n\
            {\"type\":\"tool.execution_complete\",\"data\":{}}";
        let found = newest_usage(Client::Copilot, copilot).unwrap();
        assert_eq!((found.id.as_str(), found.usage.context_tokens), ("c1", Some(4000)));
        assert_eq!(found.usage.window_tokens, Some(128_000));
        assert_eq!(newest_usage(Client::Gemini, tail), None);
        assert_eq!(newest_usage(Client::Claude, b"\xff\n\n"), None);
    }
}
