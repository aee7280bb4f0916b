//! The event stream from outside: JSON lines of any orchestrator become facts (DESIGN section 6).
//!
//! Everything is untrusted. A line that is too long is passed over without being kept, one that means nothing is a
//! named error, and so is a member that the design does not know, for a slip in a name would make another fact of it;
//! a time that cannot be true is left out and said; nothing here panics or guesses.

mod call;
mod commit;
mod hash;
mod known;
mod lines;

pub use lines::{Line, Lines, MAX_LINE};

use crate::domain::events::{Clearing, Event, Output, OutputKind, TurnEnd, What};
use crate::domain::facts::{Ack, AckHow, Fact};
use crate::domain::ids::{CodeId, Digest};
use crate::domain::time::{Span, Timestamp, Uptime};
use crate::record::format::v1::{
    decode_ballot, decode_blind, decode_end, decode_line, decode_trace, decode_uptime, decode_usage,
};
use crate::record::format::{FormatError, Members, bounded};
use crate::record::journal::JournalLine;

/// Clocks of two machines may differ by so much.
const SKEW: Span = Span(300);
/// Longest name of a node or a reviewer, in characters.
const MAX_NAME: usize = 128;

/// Why a line is no fact.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EventError {
    /// Longer than a line may be.
    #[error("longer than the {MAX_LINE} bytes that a line may have")]
    TooLong,
    /// Of a type that this version does not know.
    #[error("unknown type {found:?}{}; known are {}", known::meant(.found, known::types()), known::list(known::types()))]
    UnknownType {
        /// The type, cut to 80 characters.
        found: String,
    },
    /// With a member that facts of its type do not have.
    #[error("unknown member {member:?} of {kind}{}; known are {}", known::meant(.member, known::members(.kind)), known::list(known::members(.kind)))]
    UnknownMember {
        /// The type.
        kind: &'static str,
        /// The member, cut to 80 characters.
        member: String,
    },
    /// Without any of the members that would make it a fact.
    #[error("{kind} tells nothing: at least one of {} is needed", known::list(.needed.iter().copied()))]
    Empty {
        /// The type.
        kind: &'static str,
        /// Of which one is needed.
        needed: &'static [&'static str],
    },
    /// A run that contradicts itself.
    #[error("the member \"failing\" names tests, and the member \"status\" says that all passed")]
    FailingAndPassed,
    /// Of another type than was asked for.
    #[error("type {found:?} where {expected:?} was expected")]
    OtherType {
        /// The type, cut to 80 characters.
        found: String,
        /// What was asked for.
        expected: String,
    },
    /// A commit, which nobody hands in.
    #[error("a commit is not observed: the hooks record it when it is made")]
    Commit,
    /// An answer to a halt, which nobody hands in.
    #[error("an ack is not observed: only a person answers a halt, with andon resume --reason TEXT")]
    Ack,
    /// Not JSON, a member missing or wrong.
    #[error(transparent)]
    Format(#[from] FormatError),
}

/// A fact, and what was odd about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parsed {
    /// The fact.
    pub fact: Fact,
    /// Why something of the line does not count, in words.
    pub odd: Option<String>,
}

/// What is known when a stream is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame<'a> {
    /// The time of this process: what is dated later than that cannot be true.
    pub now: Timestamp,
    /// The type of lines that name none.
    pub kind: Option<&'a str>,
    /// The latest time of the stream so far.
    pub last: Option<Timestamp>,
    /// What the facts are for.
    pub purpose: Purpose,
}

/// What a stream is read for.
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
pub fn parse(line: &[u8], frame: Frame<'_>) -> Result<Parsed, EventError> {
    let mut members = Members::parse_exact(line, MAX_LINE)?;
    let said = members.text("type")?;
    if let (Some(said), Some(expected)) = (&said, frame.kind)
        && said != expected
    {
        return Err(EventError::OtherType { found: cut(said), expected: expected.to_owned() });
    }
    let kind = said.or_else(|| frame.kind.map(str::to_owned));
    let kind = members.required("type", kind)?;
    match (frame.purpose, kind.as_str()) {
        (Purpose::Observe, "ack") => return Err(EventError::Ack),
        (Purpose::Observe, "commit") => return Err(EventError::Commit),
        (Purpose::Observe | Purpose::Replay, _) => {}
    }
    // The journal has it; nobody else can know.
    let uptime = match frame.purpose {
        Purpose::Observe => None,
        Purpose::Replay => decode_uptime(&mut members)?,
    };
    known::check(&kind, &members)?;
    let (at, odd) = time(&mut members, frame)?;
    let fact = match kind.as_str() {
        "commit" => commit::commit(&mut members, at.or(frame.last))?,
        "test_run" => commit::test_run(line, &mut members, at)?,
        "ack" => ack(line, &mut members, at.or(frame.last).unwrap_or(frame.now))?,
        _ => event(&kind, &mut members, (at, uptime))?,
    };
    Ok(Parsed { fact, odd })
}

/// The time of a line; one that lies ahead of this machine's clock is left out.
fn time(
    members: &mut Members<'_>,
    frame: Frame<'_>,
) -> Result<(Option<Timestamp>, Option<String>), EventError> {
    let at: Option<Timestamp> = members.parsed("at", "an RFC 3339 time")?;
    match at {
        Some(at) if at.since(frame.now) > SKEW => {
            Ok((None, Some(format!("it is dated {at}, which is yet to come: the time does not count"))))
        }
        Some(_) | None => Ok((at, None)),
    }
}

fn event(
    kind: &str,
    members: &mut Members<'_>,
    (at, uptime): (Option<Timestamp>, Option<Uptime>),
) -> Result<Fact, EventError> {
    let node = members.text("node")?.map(|node| name(&node));
    let session = members.text("session")?.map(|session| name(&session));
    let id = members.take("id").map(|id| hash::short(&[b"id", hash::text_of(&id).as_bytes()]));
    let trace = decode_trace(members)?;
    let what = match kind {
        "turn_start" => What::TurnStart,
        "turn_end" => What::TurnEnd(TurnEnd {
            code: members.text("code")?.map(|text| CodeId(hash::state(&text))),
            docs: members.text("docs")?.map(|text| Digest(hash::state(&text))),
        }),
        "tool_call" => tool_call(members)?,
        "output" => What::Output(output(members)?),
        "usage" => {
            known::needs("usage", &known::USAGE, members)?;
            What::Usage(decode_usage(members)?)
        }
        "verdict" => {
            known::needs("verdict", &known::VOTES, members)?;
            let mut ballot = decode_ballot(members)?;
            ballot.reviewer = ballot.reviewer.map(|reviewer| name(&reviewer));
            What::Verdict(ballot)
        }
        other => match Clearing::from_name(other) {
            Some(clearing) => What::Cleared(clearing),
            None => return Err(EventError::UnknownType { found: cut(other) }),
        },
    };
    Ok(Fact::Event(Box::new(Event { at, uptime, node, session, id, trace, what })))
}

/// In full, or as the journal has it.
fn tool_call(members: &mut Members<'_>) -> Result<What, EventError> {
    let tool = members.text("tool")?;
    let tool = members.required("tool", tool)?;
    let end = decode_end(members)?;
    let args = call::arguments(members)?;
    let mut call = call::signature(&call::Reported { tool, args, result: members.take("result"), end });
    let hashed = members.read("call", "three hashes of 16 digits", |value| {
        let hashes = value.as_array()?.iter().map(|hash| hash.as_str()?.parse().ok());
        <[crate::domain::ids::ShortHash; 3]>::try_from(hashes.collect::<Option<Vec<_>>>()?).ok()
    })?;
    if let Some([exact, masked, coarse]) = hashed {
        (call.exact, call.masked, call.coarse) = (exact, masked, coarse);
        call.args = decode_blind(members)?;
        call.result = members.parsed("answer", "16 digits")?;
    }
    Ok(What::ToolCall(call))
}

fn output(members: &mut Members<'_>) -> Result<Output, EventError> {
    let kind = members.named("kind", "message.final or structured_output", OutputKind::from_name)?;
    let kind = members.required("kind", kind)?;
    let handed_in: Option<Digest> = members.parsed("sha256", "a sha256")?;
    let text = members.take("text");
    let lines = match &text {
        Some(text) => u64::try_from(hash::text_of(text).lines().count()).ok(),
        None => members.count("lines")?,
    };
    let hash = members.required("text", handed_in.or(text.as_ref().map(hash::output)))?;
    Ok(Output { kind, hash, lines })
}

fn ack(line: &[u8], members: &mut Members<'_>, at: Timestamp) -> Result<Fact, EventError> {
    if let Ok(JournalLine::Ack(ack)) = decode_line(line) {
        return Ok(Fact::Ack(ack));
    }
    let ack = Ack {
        halt: None,
        counter: None,
        by: members.text("by")?.map(|by| bounded(&by, MAX_NAME)).unwrap_or_default(),
        how: AckHow::Resume,
        agent: None,
        reason: members.text("reason")?.unwrap_or_default(),
        head: None,
        worktree: String::new(),
        at,
    };
    Ok(Fact::Ack(Box::new(ack)))
}

/// Whether a line of the journal tells something that is for people alone: no fact, and nothing wrong with it.
pub fn is_note(line: &[u8]) -> bool {
    matches!(
        decode_line(line),
        Ok(JournalLine::Safety(_) | JournalLine::Halt(_) | JournalLine::Healed { .. })
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
