//! Events: `turn_start`, `turn_end`, `tool_call`, `output`, `usage`, `verdict`, `compaction`, `session_start`, `prompt`,
//! `commit_refused`. In the journal hashes replace what was said, so that a line is short whatever an agent prints;
//! `andon_engine::adapter::events` makes them from the full form, and reads this one too, so that a journal can be
//! replayed.
//!
//! Beyond docs/formats.md: `tool_call` has `"call":["<exact>","<masked>","<coarse>"]` for `args` and `"answer"` for
//! `result`, `"refusal"` and `"missing"` where it was refused, `"whole"`, `"gist"`, `"moves"` and `"lines"` for what else is kept
//! of the answer, `"asks"` for the question with its numbers masked, `"code"` for the code of the working tree after it, `"duration_ms"` for how long it took where it waited, `"writes":true` for a command that writes files, `"by"` for the subagent, `"shown"` and `"program"` for people, and
//! `"blind":true` where the arguments are unknown, `turn_end` may have `docs`, any event an `id`, a `session`, a
//! `model` and a `prompt_hash`.

use serde::{Deserialize, Deserializer, Serialize, de::Error as _};
use serde_json::{Map, Value};

use super::MAX_LINE;
use andon_core::domain::{
    Event, EventKind, MAX_LINE_SHOWN, Renewal, ShortHash, Timestamp, Trace, Uptime, Usage, usage::micros,
};
use andon_core::format::{Count, FormatError, bounded, members_of, object};

/// Longest name of a node, a tool, a reviewer: bytes as JSON.
const MAX_NAME: usize = 256;
/// Longest amount of money.
const MAX_COST: usize = 64;

/// The members that every event may have.
#[derive(Serialize, Deserialize)]
struct EventWire {
    at: Option<Timestamp>,
    uptime: Option<Uptime>,
    node: Option<String>,
    session: Option<String>,
    id: Option<ShortHash>,
    model: Option<String>,
    prompt_hash: Option<String>,
}

/// Tokens and cost, as clients name them. A record has the fewer members of [`Usage`] alone.
#[derive(Debug, Deserialize)]
pub struct UsageWire {
    input_tokens: Option<Count>,
    output_tokens: Option<Count>,
    #[serde(default, deserialize_with = "cost")]
    cost_usd: Option<String>,
    context_tokens: Option<Count>,
    cached_tokens: Option<Count>,
    window_tokens: Option<Count>,
    cache_read_input_tokens: Option<Count>,
    cache_creation_input_tokens: Option<Count>,
    output_lines: Option<Count>,
}

#[derive(Serialize, Deserialize)]
struct DisarmedWire {
    what: Option<String>,
}

/// The members of an event as the journal has it.
pub(super) fn encode(event: &Event) -> Map<String, Value> {
    let name = |text: &String| bounded(text, MAX_NAME);
    let shown = |text: &String| bounded(text, MAX_LINE_SHOWN);
    let trace = event.trace.as_deref().cloned().unwrap_or_default();
    let mut members = members_of(&EventWire {
        at: event.at,
        uptime: event.uptime,
        node: event.node.as_ref().map(name),
        session: event.session.as_ref().map(name),
        id: event.id,
        model: trace.model.as_ref().map(name),
        prompt_hash: trace.prompt_hash.as_ref().map(name),
    });
    members.extend(match &event.what {
        EventKind::TurnStart | EventKind::Renewed(_) => Map::new(),
        EventKind::TurnEnd(end) => members_of(end),
        EventKind::ToolCall(call) => members_of(call),
        EventKind::Output(output) => members_of(output),
        EventKind::Usage(usage) => usage_members(usage),
        EventKind::Disarmed(what) => members_of(&DisarmedWire { what: Some(shown(what)) }),
        EventKind::Refused(refused) => members_of(refused),
        EventKind::Verdict(ballot) => members_of(ballot),
    });
    members
}

/// Those of a record, and what only events have.
fn usage_members(usage: &Usage) -> Map<String, Value> {
    let more = [
        ("cached_tokens", usage.cached_tokens),
        ("window_tokens", usage.window_tokens),
        ("output_lines", usage.output_lines),
    ];
    let more = more.into_iter().filter_map(|(key, count)| Some((key.to_owned(), count?.into())));
    members_of(usage).into_iter().chain(more).collect()
}

/// The event of `kind` on a line; `None` when this version knows no such event.
pub(super) fn decode(kind: &str, line: &[u8]) -> Result<Option<Event>, FormatError> {
    let what = match kind {
        "turn_start" => EventKind::TurnStart,
        "turn_end" => EventKind::TurnEnd(object(line, MAX_LINE)?),
        "tool_call" => EventKind::ToolCall(object(line, MAX_LINE)?),
        "output" => EventKind::Output(object(line, MAX_LINE)?),
        "usage" => EventKind::Usage(object::<UsageWire>(line, MAX_LINE)?.usage()?),
        "commit_refused" => EventKind::Refused(object(line, MAX_LINE)?),
        "guard_disarmed" => {
            EventKind::Disarmed(object::<DisarmedWire>(line, MAX_LINE)?.what.unwrap_or_default())
        }
        "verdict" => EventKind::Verdict(object(line, MAX_LINE)?),
        other => match Renewal::from_name(other) {
            Some(renewal) => EventKind::Renewed(renewal),
            None => return Ok(None),
        },
    };
    let EventWire { at, uptime, node, session, id, model, prompt_hash } = object(line, MAX_LINE)?;
    Ok(Some(Event { at, uptime, node, session, id, trace: trace(model, prompt_hash), what }))
}

/// Returns the trace of what a session runs on: model and hash of the prompt, each cut to what a line may hold.
pub fn trace(model: Option<String>, prompt_hash: Option<String>) -> Option<Box<Trace>> {
    let text =
        |text: Option<String>| text.map(|text| bounded(&text, MAX_NAME)).filter(|text| !text.is_empty());
    let trace = Trace { model: text(model), prompt_hash: text(prompt_hash) };
    (trace != Trace::default()).then(|| Box::new(trace))
}

impl UsageWire {
    /// The tokens and the cost.
    ///
    /// # Errors
    /// [`FormatError`] where tokens from a cache are reported under both of the names that clients use, and differ.
    pub fn usage(self) -> Result<Usage, FormatError> {
        let count = |count: Option<Count>| count.map(|count| count.0);
        let (read, made) = (count(self.cache_read_input_tokens), count(self.cache_creation_input_tokens));
        let parts = read.or(made).map(|_| read.unwrap_or(0).saturating_add(made.unwrap_or(0)));
        let cached_tokens = match (count(self.cached_tokens), parts) {
            (Some(reported), Some(parts)) if reported != parts => {
                let sum = "cache_read_input_tokens and cache_creation_input_tokens";
                let why = format!("{reported} is not the sum of {sum}");
                return Err(FormatError::member("cached_tokens", why));
            }
            (reported, parts) => reported.or(parts),
        };
        Ok(Usage {
            input_tokens: count(self.input_tokens),
            output_tokens: count(self.output_tokens),
            cost_usd: self.cost_usd,
            context_tokens: count(self.context_tokens),
            cached_tokens,
            window_tokens: count(self.window_tokens),
            output_lines: count(self.output_lines),
        })
    }
}

/// US dollars, as a text or a number.
fn cost<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let Some(reported) = Option::<Value>::deserialize(deserializer)? else { return Ok(None) };
    let text = reported.as_str().map_or_else(|| reported.to_string(), str::to_owned);
    if text.len() <= MAX_COST && micros(&text).is_some() {
        return Ok(Some(text));
    }
    let found: String = text.chars().take(MAX_COST).collect();
    Err(D::Error::custom(format!("{found:?} is not a decimal number of dollars such as 0.03")))
}
