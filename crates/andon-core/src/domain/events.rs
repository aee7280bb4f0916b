//! The event stream: what agents and orchestrators report in addition to commits, test runs and answers
//! (docs/formats.md).
//!
//! An event holds hashes of what was said and done: facts are compared, not read, and the journal stays small whatever
//! an agent prints. A tool call also keeps one line of text, shortened and without secrets, so that a person can see
//! which call it was.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{CodeId, Digest, ShortHash, Timestamp, TreeId, Uptime, Usage, codec::flag};
use crate::format::Count;
use crate::format::fields::{Items, Text, count, count_if_any, counts, or_default, unless_default};

/// Bytes of the name of a rule or a reviewer as JSON.
const MAX_NAME: usize = 256;
/// Longest short form of a call: bytes as JSON, where a control character has six.
pub const MAX_LINE_SHOWN: usize = 6 * MAX_SHOWN;
/// Most quantities of one answer.
const MAX_MOVES: usize = 6;

/// One event. Commits, test runs and acknowledgements are facts of their own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// When; unknown where the reporter gives no time, or one that cannot be true.
    pub at: Option<Timestamp>,
    /// The same since the system was started, where Andon itself saw when it happened.
    pub uptime: Option<Uptime>,
    /// Node of the workflow; unknown means the node whose turn it is.
    pub node: Option<String>,
    /// The session of the agent, where it is reported. Untrusted text.
    pub session: Option<String>,
    /// The reporter's id of the event: the same id twice is the same event.
    pub id: Option<ShortHash>,
    /// The model and prompt that the session runs on; `None` where the reporter names neither.
    pub trace: Option<Box<Trace>>,
    /// The event itself.
    pub what: EventKind,
}

/// The description of a trajectory (docs/spec-map.md, loop rules: frozen replays).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Trace {
    /// The model and its version.
    pub model: Option<String>,
    /// A hash of the prompt, as the reporter has it.
    pub prompt_hash: Option<String>,
}

/// The events that orchestrators and agents' clients hand in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EventKind {
    /// A node was invoked.
    TurnStart,
    /// The invocation ended.
    TurnEnd(TurnEnd),
    ToolCall(ToolCall),
    /// The node said something.
    Output(Output),
    /// Tokens and cost since the last such event; the context window as it is now.
    Usage(Usage),
    /// Reviewers judged the work.
    Verdict(Ballot),
    /// A context window, the count of calls, or both begin anew.
    Renewed(Renewal),
    /// The gate refused a commit for untested code.
    Refused(CommitRefused),
    /// A tool call of an agent took away what guards the loop; what that was, in words.
    Disarmed(String),
}

impl EventKind {
    /// The name in the event stream.
    pub fn name(&self) -> &'static str {
        match self {
            Self::TurnStart => "turn_start",
            Self::TurnEnd(_) => "turn_end",
            Self::ToolCall(_) => "tool_call",
            Self::Output(_) => "output",
            Self::Usage(_) => "usage",
            Self::Verdict(_) => "verdict",
            Self::Renewed(renewal) => renewal.as_str(),
            Self::Refused(_) => "commit_refused",
            Self::Disarmed(_) => "guard_disarmed",
        }
    }
}

/// A commit that was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommitRefused {
    /// The code fingerprint of what was to be committed.
    pub code: CodeId,
    pub tree: Option<TreeId>,
    /// The rule that refused it.
    #[serde(default, with = "Text::<MAX_NAME>")]
    pub rule: String,
}

crate::named_enum! {
    /// A new beginning: of a context window, of the count of calls, or of both. Each is an event of its own.
    pub enum Renewal, "compaction, session_start or prompt" {
        /// The client compacted the context window.
        Compaction = "compaction",
        /// A new session began with an empty one.
        SessionStart = "session_start",
        /// A person asked something new in a session that goes on: the context window stays as it is.
        Prompt = "prompt",
    }
}

/// The state in which a turn left the working tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TurnEnd {
    /// Code fingerprint of the working tree.
    pub code: Option<CodeId>,
    /// State of the documents (`paths.docs`): a turn that moved a plan is not idle.
    pub docs: Option<Digest>,
}

/// Longest short form of a call, in characters.
pub const MAX_SHOWN: usize = 200;

/// Lines in the sample of an answer; an answer with fewer is a short one.
pub const SAMPLED: usize = 8;

/// The shortest time that counts as waiting, in milliseconds.
pub const WAITED_MS: u64 = 5000;

/// A tool call as hashes (docs/spec-map.md, loop rules: signature-based detection).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ToolCall {
    /// The tool's name.
    #[serde(serialize_with = "Text::<MAX_NAME>::serialize")]
    pub tool: String,
    /// The state of knowledge about its arguments: a call without known arguments proves nothing.
    #[serde(rename = "blind")]
    pub args: Arguments,
    /// The subagent that made it; `None` of the agent of the session itself.
    pub by: Option<ShortHash>,
    #[serde(rename = "call")]
    pub hashes: CallHashes,
    /// The answer with volatile parts masked, where one is known that says something.
    #[serde(rename = "answer")]
    pub result: Option<ShortHash>,
    /// The same as it is.
    pub whole: Option<ShortHash>,
    /// The same with the call's own arguments and all digits masked as well: what it says in addition to the question.
    pub gist: Option<ShortHash>,
    /// The answer with the call's own arguments masked as well, where it is a refusal: the same refusal of other
    /// arguments.
    pub refusal: Option<ShortHash>,
    /// The program that the shell did not find, where the answer says so.
    pub missing: Option<ShortHash>,
    /// The first quantities of the answer, those that masks hide among them: what only rises or falls from call to call
    /// moves, whatever the masks make of it.
    #[serde(default, serialize_with = "Items::<MAX_MOVES>::serialize", deserialize_with = "moves")]
    pub moves: Vec<u64>,
    /// A sample of its lines, by which two answers are compared: the smallest of their hashes, in order.
    #[serde(default, serialize_with = "Items::<SAMPLED>::serialize", deserialize_with = "sample")]
    pub lines: Vec<u64>,
    /// The same tool and arguments with their numbers masked: what pages or widens is asked in the same way.
    pub asks: Option<ShortHash>,
    /// The code of the working tree after it, where a row of calls made that worth a look.
    pub code: Option<CodeId>,
    /// Milliseconds that it took, where they are [`WAITED_MS`] or more: it waited for something.
    #[serde(default, deserialize_with = "waited")]
    pub duration_ms: Option<u64>,
    /// True for a command line that writes files, or may do so.
    #[serde(default, serialize_with = "unless_default", deserialize_with = "or_default")]
    pub writes: bool,
    #[serde(rename = "error", default, serialize_with = "is_error", deserialize_with = "end")]
    pub end: CallEnd,
    /// Tool and arguments in one line of at most [`MAX_SHOWN`] characters, secrets masked; unknown where the arguments
    /// are. For people alone. Untrusted text.
    #[serde(default, serialize_with = "Text::<MAX_LINE_SHOWN>::serialize", deserialize_with = "short")]
    pub shown: Option<String>,
    /// The name behind `missing`, in the same form.
    #[serde(default, serialize_with = "Text::<MAX_LINE_SHOWN>::serialize", deserialize_with = "short")]
    pub program: Option<String>,
}

impl ToolCall {
    /// A call of `tool` about which nothing else is known.
    pub fn bare(tool: String) -> Self {
        Self { tool, ..Self::default() }
    }
}

/// Quantities: a list, or one number, the sum of them, as older lines have it.
fn moves<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u64>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "a list of numbers")]
    enum Moves {
        One(Count),
        Each(Vec<Count>),
    }
    if !deserializer.is_human_readable() {
        return Vec::deserialize(deserializer);
    }
    Ok(match Option::deserialize(deserializer)? {
        Some(Moves::One(Count(sum))) => vec![sum],
        Some(Moves::Each(each)) => each.into_iter().take(MAX_MOVES).map(|Count(one)| one).collect(),
        None => Vec::new(),
    })
}

fn sample<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u64>, D::Error> {
    Ok(counts(deserializer)?.into_iter().take(SAMPLED).collect())
}

fn waited<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    Ok(count_if_any(deserializer)?.filter(|took| *took >= WAITED_MS))
}

fn short<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    Ok(Option::<String>::deserialize(deserializer)?.map(|text| text.chars().take(MAX_SHOWN).collect()))
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_error<S: Serializer>(end: &CallEnd, serializer: S) -> Result<S::Ok, S::Error> {
    (*end != CallEnd::Unknown).then_some(*end == CallEnd::Failed).serialize(serializer)
}

fn end<'de, D: Deserializer<'de>>(deserializer: D) -> Result<CallEnd, D::Error> {
    let error: Option<bool> = Option::deserialize(deserializer)?;
    Ok(error.map_or(CallEnd::Unknown, |error| if error { CallEnd::Failed } else { CallEnd::Done }))
}

/// The forms of a call that are compared. A line has three: exact, exact once more, where older lines have a masked one, and
/// coarse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(from = "[ShortHash; 3]", into = "[ShortHash; 3]")]
pub struct CallHashes {
    /// Tool and full canonical arguments: keys sorted.
    pub exact: ShortHash,
    /// An editing tool with the file's base name, a command with its paths generalized, else the tool.
    pub coarse: ShortHash,
}

impl From<[ShortHash; 3]> for CallHashes {
    fn from([exact, _, coarse]: [ShortHash; 3]) -> Self {
        Self { exact, coarse }
    }
}

impl From<CallHashes> for [ShortHash; 3] {
    fn from(CallHashes { exact, coarse }: CallHashes) -> Self {
        [exact, exact, coarse]
    }
}

/// The state of knowledge about the arguments of a call: reported or not. A line says so of those that were not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Arguments {
    /// Reported, even where there are none.
    Known,
    /// Not reported.
    #[default]
    Unknown,
}

flag!(Arguments, Unknown, Known);

/// The end of a tool call.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum CallEnd {
    /// Well.
    Done,
    /// With an error.
    Failed,
    /// Not reported.
    #[default]
    Unknown,
}

/// Something a node said: its normalized hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Output {
    pub kind: OutputKind,
    /// sha256 of the normalized text, or handed in; `None` of a text that is too short to prove anything.
    #[serde(rename = "sha256")]
    pub hash: Option<Digest>,
    /// The number of lines, where it is known.
    #[serde(default, deserialize_with = "count_if_any")]
    pub lines: Option<u64>,
}

crate::named_enum! {
    /// The outputs that are compared (docs/spec-map.md, loop safety: stall detection 1).
    pub enum OutputKind, "message.final or structured_output" {
        /// The final message of a turn.
        MessageFinal = "message.final",
        /// The structured output of a turn.
        StructuredOutput = "structured_output",
    }
}

/// Votes of reviewers: a whole round as counts, or one reviewer at a time.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Ballot {
    /// Who voted, for one vote at a time.
    #[serde(default, with = "Text::<MAX_NAME>")]
    pub reviewer: Option<String>,
    /// Votes for the work.
    #[serde(default, deserialize_with = "count")]
    pub approve: u64,
    /// Votes against it.
    #[serde(default, deserialize_with = "count")]
    pub reject: u64,
}

/// The role of a commit as the start of a run when it was recorded. The member is there, and true, where the commit began a
/// run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RunStart {
    /// It did: what was spent before it belongs to another one.
    Run,
    /// It did not.
    Nothing,
}

flag!(RunStart, Run, Nothing);
