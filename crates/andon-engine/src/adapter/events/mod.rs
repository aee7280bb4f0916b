//! The event stream from outside: JSON lines of any orchestrator become facts (docs/formats.md).
//!
//! Everything is untrusted. A line that is too long is skipped and not kept. A meaningless line is a named error, and
//! so is an unknown member, because a slip in a name would change the fact. An impossible time is left out and
//! reported. Nothing here panics or guesses.

mod answer;
mod call;
mod command;
mod commit;
mod hash;
mod lines;
mod members;
mod quantities;
mod short_form;

pub use answer::words_of;
pub use call::{OwnCall, seen_call};
pub use lines::{Dates, Line, Lines, MAX_LINE};
pub use members::RequiredMembers;

use serde::Deserialize;
use serde_json::{Map, Value};

use andon_core::domain::{
    Ack, Ballot, CLOCK_SKEW, CodeId, CommitRefused, Digest, Event, EventKind, Fact, Hint, Output, OutputKind,
    Renewal, ShortHash, Span, Timestamp, ToolCall, TreeId, TurnEnd, Uptime,
};
use andon_core::format::{FormatError, bounded, members};
use andon_core::{WordList, change::normalize::Normalizer};
use andon_store::wire::v1::{decode_line, event::trace};
use andon_store::{JournalLine, UsageWire};

/// Lists of words and phrases, a section each.
const WORDS: &str = include_str!("words.txt");
/// Clocks of two machines may differ by so much.
const SKEW: Span = Span(CLOCK_SKEW.unsigned_abs());
/// Longest name of a node or a reviewer, in characters.
const MAX_NAME: usize = 128;

/// The reason that a line is no fact.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EventError {
    /// Longer than a line may be.
    #[error("longer than the {MAX_LINE} bytes that a line may have")]
    TooLong,
    /// A type that this version does not know.
    #[error("unknown type {found:?}{}; known are {}", members::meant(.found, members::types()), members::list(members::types()))]
    UnknownType { found: String },
    /// With a member that facts of its type do not have.
    #[error("unknown member {member:?} of {kind}{}; known are {}", members::meant(.member, members::members(.kind)), members::list(members::members(.kind)))]
    UnknownMember { kind: &'static str, member: String },
    /// Without any of the members that would make it a fact.
    #[error("{kind} says nothing: at least one of {} is needed", members::list(.needed.iter()))]
    Empty { kind: &'static str, needed: WordList },
    /// A run that contradicts itself.
    #[error("the member \"failing\" names tests, and the member \"status\" says that all passed")]
    FailingAndPassed,
    /// Another type than the requested one.
    #[error("type {found:?} where {expected:?} was expected")]
    OtherType { found: String, expected: String },
    /// A commit, which cannot be handed in.
    #[error("a commit is not observed: the hooks record it when it is made")]
    Commit,
    /// An answer to a halt, which cannot be handed in.
    #[error("an ack is not observed: only a person answers a halt, with {}", Hint::Answer)]
    Ack,
    /// Without a member that facts of its type must have.
    #[error("{error}")]
    Lacks { error: FormatError, needed: RequiredMembers },
    /// Not JSON, a member missing or wrong.
    #[error(transparent)]
    Format(#[from] FormatError),
}

impl EventError {
    /// The members that the line must have, with a command that hands in such a one.
    pub fn help(&self) -> Vec<String> {
        if let Self::Lacks { needed, .. } = self { needed.help() } else { Vec::new() }
    }
}

/// A fact, and what was odd about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParsedEvent {
    /// The fact of the line.
    pub fact: Fact,
    /// A remark on something in the line that does not count.
    pub odd: Option<String>,
    /// The time of the line, where it counts; [`Dates`] has the rule for lines without one.
    pub told: Option<Timestamp>,
}

/// The frame in which a stream is read.
#[derive(Debug, Clone, Copy)]
pub struct Frame<'a> {
    /// The time of this process: what is dated later than that cannot be true.
    pub now: Timestamp,
    /// The type of lines that name none.
    pub kind: Option<&'a str>,
    pub purpose: Purpose,
    /// Patterns that are masked in the short form of a call, in addition to secrets.
    pub patterns: &'a Normalizer,
}

/// The use of the facts of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// To be kept: what hooks and people alone can tell is refused.
    Observe,
    /// To see what would have happened.
    Replay,
}

/// Reads one line.
///
/// # Errors
/// [`EventError`]; the line is then no fact.
pub fn parse(line: &[u8], frame: Frame<'_>) -> Result<ParsedEvent, EventError> {
    let mut object = andon_core::format::map(line, MAX_LINE)?;
    let named = members::<TypeName>(&object)?.kind;
    if let (Some(named), Some(expected)) = (&named, frame.kind)
        && named != expected
    {
        return Err(EventError::OtherType { found: cut(named), expected: expected.to_owned() });
    }
    let kind = named.or_else(|| frame.kind.map(str::to_owned));
    let kind = kind.ok_or_else(|| FormatError::Shape("missing field `type`".to_owned()))?;
    match (frame.purpose, kind.as_str()) {
        (Purpose::Observe, "ack") => return Err(EventError::Ack),
        (Purpose::Observe, "commit") => return Err(EventError::Commit),
        (Purpose::Observe | Purpose::Replay, _) => {}
    }
    // The journal has the uptime; no other source can know it.
    members::check(&kind, object.keys().filter(|key| *key != "uptime" || frame.purpose == Purpose::Observe))?;
    let mut common: Common = members(&object)?;
    // A time that lies ahead of this machine's clock is left out.
    let odd = common.at.take_if(|at| at.since(frame.now) > SKEW);
    let odd = odd.map(|at| format!("it is dated {at}, which is yet to come: the time does not count"));
    let told = common.at;
    let lacking = members::lacking(&kind, &object);
    let fact = match kind.as_str() {
        "commit" => commit::commit(&object, told).map_err(EventError::from),
        "test_run" => commit::test_run(line, &object, told),
        "ack" => ack(line, &object, told.unwrap_or(frame.now)),
        _ => event(&kind, &mut object, common, frame.patterns),
    };
    let fact = fact.map_err(|error| match (error, lacking) {
        (EventError::Format(error), Some(needed)) => EventError::Lacks { error, needed },
        (error, _) => error,
    })?;
    Ok(ParsedEvent { fact, odd, told })
}

#[derive(Deserialize)]
struct TypeName {
    #[serde(rename = "type")]
    kind: Option<String>,
}

/// The members that lines of every type may have.
#[derive(Deserialize)]
struct Common {
    at: Option<Timestamp>,
    uptime: Option<Uptime>,
    node: Option<String>,
    session: Option<String>,
    id: Option<Value>,
    model: Option<String>,
    prompt_hash: Option<String>,
}

fn event(
    kind: &str,
    object: &mut Map<String, Value>,
    common: Common,
    patterns: &Normalizer,
) -> Result<Fact, EventError> {
    let what = match kind {
        "turn_start" => EventKind::TurnStart,
        "turn_end" => {
            let end: TurnEndWire = members(object)?;
            EventKind::TurnEnd(TurnEnd {
                code: end.code.map(|text| CodeId(hash::state(&text))),
                docs: end.docs.map(|text| Digest(hash::state(&text))),
            })
        }
        "tool_call" => tool_call(object, patterns)?,
        "output" => EventKind::Output(output(object)?),
        "usage" => {
            members::needs("usage", members::USAGE, object)?;
            EventKind::Usage(members::<UsageWire>(object)?.usage()?)
        }
        "verdict" => {
            members::needs("verdict", members::VOTES, object)?;
            let mut ballot: Ballot = members(object)?;
            ballot.reviewer = ballot.reviewer.map(|reviewer| name(&reviewer));
            EventKind::Verdict(ballot)
        }
        "commit_refused" => {
            let RefusedWire { code, tree, rule } = members(object)?;
            EventKind::Refused(CommitRefused {
                code: CodeId(hash::state(&code)),
                tree,
                rule: rule.map(|rule| name(&rule)).unwrap_or_default(),
            })
        }
        other => match Renewal::from_name(other) {
            Some(renewal) => EventKind::Renewed(renewal),
            None => return Err(EventError::UnknownType { found: cut(other) }),
        },
    };
    let Common { at, uptime, node, session, id, model, prompt_hash } = common;
    let (node, session) = (node.map(|node| name(&node)), session.map(|session| name(&session)));
    let id = id.map(|id| hash::short(&[b"id", hash::text_of(&id).as_bytes()]));
    let trace = trace(model, prompt_hash);
    Ok(Fact::Event(Box::new(Event { at, uptime, node, session, id, trace, what })))
}

/// States by any name.
#[derive(Deserialize)]
struct TurnEndWire {
    code: Option<String>,
    docs: Option<String>,
}

/// A state by any name, and the rule that refused it.
#[derive(Deserialize)]
struct RefusedWire {
    code: String,
    tree: Option<TreeId>,
    rule: Option<String>,
}

/// In full, or as the journal has it.
fn tool_call(object: &mut Map<String, Value>, patterns: &Normalizer) -> Result<EventKind, EventError> {
    let is_hashed = object.get("call").is_some_and(|hashes| !hashes.is_null());
    let (mut reported, seen) = call::reported(object)?;
    if is_hashed {
        short_form::again(&mut reported, patterns);
        return Ok(EventKind::ToolCall(reported));
    }
    let ToolCall { tool, by, code, duration_ms, .. } = reported;
    Ok(EventKind::ToolCall(ToolCall { by, code, duration_ms, ..seen_call(&tool, &seen, patterns) }))
}

fn output(object: &mut Map<String, Value>) -> Result<Output, EventError> {
    let text = taken(object, "text");
    let mut output: Output = members(object)?;
    if let Some(text) = &text {
        output.lines = u64::try_from(hash::text_of(text).lines().count()).ok();
    }
    let telling = text.as_ref().filter(|text| is_telling(&hash::text_of(text)));
    output.hash = output.hash.or(telling.map(hash::output));
    // The journal has the lines alone of a short text.
    if output.hash.is_none() && output.lines.is_none() {
        return Err(FormatError::Shape("missing field `text`".to_owned()).into());
    }
    Ok(output)
}

/// Letters and digits of a text that says anything: "Done.", "ok" and "All tests pass." end any turn.
const TELLING: usize = 16;

/// In texts of up to so many bytes, times and ids are not counted.
const SHORT: usize = 256;

/// True where a text is long enough for its repetition to mean something.
fn is_telling(text: &str) -> bool {
    let enough = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).nth(TELLING - 1).is_some();
    enough(text) && (text.len() > SHORT || enough(&hash::masked(text)))
}

/// Takes a member out; `null` is none.
fn taken(object: &mut Map<String, Value>, key: &str) -> Option<Value> {
    object.remove(key).filter(|value| !value.is_null())
}

#[derive(Deserialize)]
struct AckWire {
    by: Option<String>,
    reason: Option<String>,
}

fn ack(line: &[u8], object: &Map<String, Value>, at: Timestamp) -> Result<Fact, EventError> {
    if let Ok(JournalLine::Ack(ack)) = decode_line(line) {
        return Ok(Fact::Ack(ack));
    }
    let AckWire { by, reason } = members(object)?;
    let by = by.map(|by| bounded(&by, MAX_NAME)).unwrap_or_default();
    Ok(Fact::Ack(Box::new(Ack { reason: reason.unwrap_or_default(), ..Ack::new(by, at) })))
}

/// The tool call that a line tells in full: the tool, and what is known of the call.
pub fn told_call(line: &[u8]) -> Option<(String, OwnCall)> {
    let mut object = andon_core::format::map(line, MAX_LINE).ok()?;
    let (reported, seen) = call::reported(&mut object).ok()?;
    Some((reported.tool, seen))
}

/// The last message of a turn, as a hash where it says anything.
pub fn final_message(text: &str) -> Output {
    let lines = u64::try_from(text.lines().count()).ok();
    let hash = is_telling(text).then(|| hash::output(&Value::from(text)));
    Output { kind: OutputKind::MessageFinal, hash, lines }
}

/// The mark of something that consists of `parts`: no part can imitate a border.
pub fn mark(parts: &[&str]) -> ShortHash {
    let bytes: Vec<&[u8]> = parts.iter().map(|part| part.as_bytes()).collect();
    hash::short(&bytes)
}

/// True for lines of the journal that are for people alone: no facts, and no mistakes.
pub fn is_note(line: &[u8]) -> bool {
    matches!(
        decode_line(line),
        Ok(JournalLine::Agent(_) | JournalLine::Safety(_) | JournalLine::Halt(_) | JournalLine::Healed(_))
    )
}

fn name(text: &str) -> String {
    text.chars().take(MAX_NAME).collect()
}

fn cut(text: &str) -> String {
    text.chars().take(80).collect()
}

#[cfg(test)]
mod tests;
