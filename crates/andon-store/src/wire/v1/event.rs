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
    Arguments, CallEnd, CodeId, Event, EventKind, MAX_SHOWN, Renewal, SAMPLED, ShortHash, Timestamp,
    ToolCall, Trace, Uptime, Usage, WAITED_MS, usage::micros,
};
use andon_core::format::{Count, FormatError, bounded, members_of, object};

/// Longest name of a node, a tool, a reviewer: bytes as JSON.
const MAX_NAME: usize = 256;
/// Longest short form of a call: bytes as JSON, where a control character has six.
const MAX_LINE_SHOWN: usize = 6 * MAX_SHOWN;
/// Most quantities of one answer.
const MAX_MOVES: usize = 6;
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

/// Quantities: a list, or one number as older lines have it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged, expecting = "a list of numbers")]
pub enum MovesWire {
    /// All of them as their sum.
    One(Count),
    /// The first ones.
    Each(Vec<Count>),
}

/// A tool call as hashes: exact, exact once more (older lines have a masked form there) and coarse.
#[derive(Debug, Serialize, Deserialize)]
pub struct CallWire {
    /// The tool's name.
    pub tool: String,
    /// The hashes; a call that is reported in full has none.
    pub call: Option<[ShortHash; 3]>,
    /// The subagent that made it.
    pub by: Option<ShortHash>,
    /// The hash of its answer.
    pub answer: Option<ShortHash>,
    /// The hash of the refusal without the call's own arguments.
    pub refusal: Option<ShortHash>,
    /// The hash of the program that was not found.
    pub missing: Option<ShortHash>,
    /// The hash of its answer as it is.
    pub whole: Option<ShortHash>,
    /// The hash of what it says in addition to the question.
    pub gist: Option<ShortHash>,
    /// The quantities of its answer.
    pub moves: Option<MovesWire>,
    /// A sample of the lines of its answer.
    pub lines: Option<Vec<Count>>,
    /// The hash of what it asks, with numbers masked.
    pub asks: Option<ShortHash>,
    /// The code of the working tree after it.
    pub code: Option<CodeId>,
    /// Its short form.
    pub shown: Option<String>,
    /// The name of the program that was not found.
    pub program: Option<String>,
    duration_ms: Option<Count>,
    blind: Option<bool>,
    writes: Option<bool>,
    error: Option<bool>,
}

impl CallWire {
    /// The knowledge of the arguments behind the hashes.
    pub fn arguments(&self) -> Arguments {
        if self.blind == Some(true) { Arguments::Unknown } else { Arguments::Known }
    }

    /// The milliseconds that it took, where they are so many that it waited.
    pub fn duration_ms(&self) -> Option<u64> {
        self.duration_ms.as_ref().map(|took| took.0).filter(|took| *took >= WAITED_MS)
    }

    /// The call behind the hashes of a line of the journal.
    ///
    /// # Errors
    /// It has none.
    pub fn hashed(self) -> Result<ToolCall, FormatError> {
        let (args, end, duration_ms) = (self.arguments(), self.end(), self.duration_ms());
        let hashes = self.call.ok_or_else(|| FormatError::Shape("missing field `call`".to_owned()))?;
        let [exact, _, coarse] = hashes;
        let short = |text: String| text.chars().take(MAX_SHOWN).collect();
        let moves = match self.moves {
            Some(MovesWire::Each(each)) => each.into_iter().take(MAX_MOVES).map(|moves| moves.0).collect(),
            Some(MovesWire::One(sum)) => vec![sum.0],
            None => Vec::new(),
        };
        Ok(ToolCall {
            args,
            by: self.by,
            exact,
            coarse,
            result: self.answer,
            whole: self.whole,
            gist: self.gist,
            refusal: self.refusal,
            missing: self.missing,
            moves,
            lines: self.lines.unwrap_or_default().into_iter().take(SAMPLED).map(|line| line.0).collect(),
            asks: self.asks,
            code: self.code,
            duration_ms,
            writes: self.writes == Some(true),
            end,
            shown: self.shown.map(short),
            program: self.program.map(short),
            ..ToolCall::bare(self.tool)
        })
    }

    /// The end of the call.
    pub fn end(&self) -> CallEnd {
        self.error.map_or(CallEnd::Unknown, |error| if error { CallEnd::Failed } else { CallEnd::Done })
    }
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
        EventKind::ToolCall(call) => members_of(&CallWire {
            tool: name(&call.tool),
            call: Some([call.exact, call.exact, call.coarse]),
            by: call.by,
            answer: call.result,
            refusal: call.refusal,
            missing: call.missing,
            whole: call.whole,
            gist: call.gist,
            moves: (!call.moves.is_empty())
                .then(|| MovesWire::Each(call.moves.iter().copied().map(Count).collect())),
            lines: (!call.lines.is_empty()).then(|| call.lines.iter().copied().map(Count).collect()),
            asks: call.asks,
            code: call.code,
            shown: call.shown.as_ref().map(shown),
            program: call.program.as_ref().map(shown),
            blind: (call.args == Arguments::Unknown).then_some(true),
            duration_ms: call.duration_ms.map(Count),
            writes: call.writes.then_some(true),
            error: match call.end {
                CallEnd::Done => Some(false),
                CallEnd::Failed => Some(true),
                CallEnd::Unknown => None,
            },
        }),
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
        "tool_call" => EventKind::ToolCall(object::<CallWire>(line, MAX_LINE)?.hashed()?),
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
