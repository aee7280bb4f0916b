//! Events in the journal: `turn_start`, `turn_end`, `tool_call`, `output`, `usage`, `verdict`, `compaction`,
//! `session_start`. Hashes stand for what was
//! said, so that a line is short whatever an agent prints; `adapter::events` makes them from the full form, and reads
//! this one too, so that a journal can be replayed.
//!
//! Beyond DESIGN section 6: `tool_call` has `"call":["<exact>","<masked>","<coarse>"]` for `args` and `"answer"` for
//! `result` and `"blind":true` where no arguments were told, `turn_end` may have `docs`, any event an `id`, a `session`, a `model` and a `prompt_hash`.

use serde_json::{Map, Value, json};

use super::super::json::Json;
use super::super::members::{FormatError, Members, bounded};
use super::put::{decode_time, put, put_some};
use crate::domain::events::{
    Arguments, Ballot, CallEnd, Clearing, Event, Output, OutputKind, ToolCall, Trace, TurnEnd, What,
};
use crate::domain::facts::Usage;
use crate::domain::ids::ShortHash;
use crate::domain::time::Uptime;

/// Longest name of a node, a tool, a reviewer: bytes as JSON.
const MAX_NAME: usize = 256;
/// Longest amount of money.
const MAX_COST: usize = 64;

pub(super) fn encode(event: &Event, map: &mut Map<String, Value>) {
    put(map, "type", event.what.name());
    put_some(map, "at", event.at.as_ref());
    put_some(map, "uptime", event.uptime.as_ref());
    put_some(map, "node", event.node.as_deref().map(|node| bounded(node, MAX_NAME)).as_ref());
    put_some(map, "session", event.session.as_deref().map(|session| bounded(session, MAX_NAME)).as_ref());
    put_some(map, "id", event.id.as_ref());
    if let Some(trace) = &event.trace {
        for (key, text) in [("model", &trace.model), ("prompt_hash", &trace.prompt_hash)] {
            put_some(map, key, text.as_deref().map(|text| bounded(text, MAX_NAME)).as_ref());
        }
    }
    match &event.what {
        What::TurnStart | What::Cleared(_) => {}
        What::TurnEnd(end) => {
            put_some(map, "code", end.code.as_ref());
            put_some(map, "docs", end.docs.as_ref());
        }
        What::ToolCall(call) => encode_call(call, map),
        What::Output(output) => {
            put(map, "kind", output.kind.as_str());
            put(map, "sha256", &output.hash);
            put_count(map, "lines", output.lines);
        }
        What::Usage(usage) => encode_usage(usage, map),
        What::Verdict(ballot) => {
            put_some(map, "reviewer", ballot.reviewer.as_deref().map(|who| bounded(who, MAX_NAME)).as_ref());
            map.insert("approve".into(), json!(ballot.approve));
            map.insert("reject".into(), json!(ballot.reject));
        }
    }
}

fn encode_call(call: &ToolCall, map: &mut Map<String, Value>) {
    put(map, "tool", &bounded(&call.tool, MAX_NAME));
    map.insert("call".into(), [call.exact, call.masked, call.coarse].map(|hash| hash.to_string()).into());
    put_some(map, "answer", call.result.as_ref());
    match call.args {
        Arguments::Known => {}
        Arguments::Unknown => {
            map.insert("blind".into(), json!(true));
        }
    }
    match call.end {
        CallEnd::Done => map.insert("error".into(), json!(false)),
        CallEnd::Failed => map.insert("error".into(), json!(true)),
        CallEnd::Unknown => None,
    };
}

fn encode_usage(usage: &Usage, map: &mut Map<String, Value>) {
    put_count(map, "context_tokens", usage.context_tokens);
    put_count(map, "input_tokens", usage.input_tokens);
    put_count(map, "output_tokens", usage.output_tokens);
    put_count(map, "cached_tokens", usage.cached_tokens);
    put_count(map, "output_lines", usage.output_lines);
    put_some(map, "cost_usd", usage.cost_usd.as_deref().map(|cost| bounded(cost, MAX_COST)).as_ref());
}

fn put_count(map: &mut Map<String, Value>, key: &str, count: Option<u64>) {
    if let Some(count) = count {
        map.insert(key.into(), json!(count));
    }
}

/// The event of `kind`; `None` when this version knows no such event.
pub(super) fn decode(kind: &str, members: &mut Members<'_>) -> Result<Option<Event>, FormatError> {
    let what = match kind {
        "turn_start" => What::TurnStart,
        "turn_end" => What::TurnEnd(TurnEnd {
            code: members.parsed("code", "a sha256")?,
            docs: members.parsed("docs", "a sha256")?,
        }),
        "tool_call" => What::ToolCall(decode_call(members)?),
        "output" => What::Output(decode_output(members)?),
        "usage" => What::Usage(decode_usage(members)?),
        "verdict" => What::Verdict(decode_ballot(members)?),
        other => match Clearing::from_name(other) {
            Some(clearing) => What::Cleared(clearing),
            None => return Ok(None),
        },
    };
    Ok(Some(Event {
        at: decode_time(members)?,
        uptime: decode_uptime(members)?,
        node: members.text("node")?,
        session: members.text("session")?,
        id: members.parsed("id", "16 digits")?,
        trace: decode_trace(members)?,
        what,
    }))
}

/// How long the system ran, and which start of it that was.
pub(crate) fn decode_uptime(members: &mut Members<'_>) -> Result<Option<Uptime>, FormatError> {
    members.parsed("uptime", "a start of a system and seconds since then")
}

/// Model and hash of the prompt, each cut to what a line may hold.
pub(crate) fn decode_trace(members: &mut Members<'_>) -> Result<Option<Box<Trace>>, FormatError> {
    let mut text = |key: &str| -> Result<Option<String>, FormatError> {
        let text = members.text(key)?.map(|text| bounded(&text, MAX_NAME));
        Ok(text.filter(|text| !text.is_empty()))
    };
    let trace = Trace { model: text("model")?, prompt_hash: text("prompt_hash")? };
    Ok((trace != Trace::default()).then(|| Box::new(trace)))
}

fn decode_call(members: &mut Members<'_>) -> Result<ToolCall, FormatError> {
    let tool = members.text("tool")?;
    let hashes = members.read("call", "three hashes of 16 digits", |value| {
        let hashes = value.as_array()?.iter().map(|hash| hash.as_str()?.parse().ok());
        <[ShortHash; 3]>::try_from(hashes.collect::<Option<Vec<_>>>()?).ok()
    })?;
    let [exact, masked, coarse] = members.required("call", hashes)?;
    let result = members.parsed("answer", "16 digits")?;
    let end = decode_end(members)?;
    let args = decode_blind(members)?;
    Ok(ToolCall { tool: members.required("tool", tool)?, args, exact, masked, coarse, result, end })
}

/// Whether the arguments behind the hashes of a call were known.
pub(crate) fn decode_blind(members: &mut Members<'_>) -> Result<Arguments, FormatError> {
    Ok(if members.flag("blind")? { Arguments::Unknown } else { Arguments::Known })
}

/// How a call ended: `error` true, false or absent.
pub(crate) fn decode_end(members: &mut Members<'_>) -> Result<CallEnd, FormatError> {
    let error = members.read("error", "true or false", Json::as_bool)?;
    Ok(error.map_or(CallEnd::Unknown, |error| if error { CallEnd::Failed } else { CallEnd::Done }))
}

fn decode_output(members: &mut Members<'_>) -> Result<Output, FormatError> {
    let kind = members.named("kind", "message.final or structured_output", OutputKind::from_name)?;
    let hash = members.parsed("sha256", "a sha256")?;
    let lines = members.count("lines")?;
    Ok(Output { kind: members.required("kind", kind)?, hash: members.required("sha256", hash)?, lines })
}

/// Tokens and cost. A negative count is none: read as 0 it would clear a full window.
pub(crate) fn decode_usage(members: &mut Members<'_>) -> Result<Usage, FormatError> {
    Ok(Usage {
        input_tokens: members.amount("input_tokens")?,
        output_tokens: members.amount("output_tokens")?,
        cost_usd: members.read("cost_usd", "a decimal number", |value| {
            let number = || value.as_number().map(ToString::to_string);
            let text = value.as_str().map(str::to_owned).or_else(number)?;
            crate::domain::usage::micros(&text).filter(|_| text.len() <= MAX_COST).map(|_| text)
        })?,
        context_tokens: members.amount("context_tokens")?,
        cached_tokens: cached(members)?,
        output_lines: members.amount("output_lines")?,
    })
}

/// Tokens from a cache, under either of the names that clients give them. Two numbers that differ are no report.
fn cached(members: &mut Members<'_>) -> Result<Option<u64>, FormatError> {
    let told = members.amount("cached_tokens")?;
    let read = members.amount("cache_read_input_tokens")?;
    let made = members.amount("cache_creation_input_tokens")?;
    let parts = read.or(made).map(|_| read.unwrap_or(0).saturating_add(made.unwrap_or(0)));
    match (told, parts) {
        (Some(told), Some(parts)) if told != parts => Err(FormatError::Member {
            member: "cached_tokens".into(),
            expected: "the sum of cache_read_input_tokens and cache_creation_input_tokens",
            found: told.to_string(),
        }),
        (told, parts) => Ok(told.or(parts)),
    }
}

/// Votes. A negative number of them is none.
pub(crate) fn decode_ballot(members: &mut Members<'_>) -> Result<Ballot, FormatError> {
    Ok(Ballot {
        reviewer: members.text("reviewer")?,
        approve: members.amount("approve")?.unwrap_or(0),
        reject: members.amount("reject")?.unwrap_or(0),
    })
}
