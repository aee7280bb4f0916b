//! The lines of the journal: the event stream of docs/formats.md, as far as this version has facts for it; and those of
//! `<common git dir>/andon/attempts.jsonl`, commits that were made in any worktree of the repository.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::halt::HaltLine;
use super::{MAX_LINE, event};
use andon_core::domain::agent_door::AgentFact;
use andon_core::domain::attempt::Attempt;
use andon_core::domain::decision::StandingHalt;
use andon_core::domain::events::{Event, RunStart};
use andon_core::domain::facts::Ack;
use andon_core::domain::ids::{CodeId, CommitId, TreeId};
use andon_core::domain::safety::{SafetyFact, SafetyKind};
use andon_core::domain::tests::{OverlayEntry, TestRun};
use andon_core::domain::time::Timestamp;
use andon_core::format::fields::{Text, count_if_any};
use andon_core::format::{FormatError, Kind, line, members_of, object};

/// Bound of the overlay on the line, in bytes: what is beyond is cut, and the line says so.
const MAX_OVERLAY_BYTES: usize = 512 << 10;
const MAX_REASON: usize = 8192;
const MAX_NAME: usize = 1024;

/// One fact of the journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JournalLine {
    /// `test_run`: tests ran.
    TestRun(Box<TestRun>),
    /// `ack`: a halt was acknowledged.
    Ack(Box<Ack>),
    /// Any other fact of the event stream.
    Event(Box<Event>),
    /// `refused`, `skipped`, `noticed`, `pulled`: a safety event that no other fact shows.
    Safety(Box<SafetyFact>),
    /// `commit`: a commit was recorded in the notes. Marks which facts before it are spent.
    CommitRecorded(Marker),
    /// `agent`: what an agent's hook did or saw. In a file of its own.
    Agent(Box<AgentFact>),
    /// `attempt`: the same for the whole repository, whatever HEAD is moved to. In a file of its own.
    Attempt(Box<Attempt>),
    /// `halt`: a halt went into the ledger. Without its evidence, which is there.
    Halt(Box<StandingHalt>),
    /// `healed`: something broken was found and repaired.
    Healed(Repair),
}

/// A commit that was recorded, and the turn in which it was made: budgets are counted from the journal alone. Lines of older
/// versions and of rebases name no turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub struct Marker {
    /// The node.
    #[serde(default, with = "Text::<MAX_NAME>")]
    pub node: Option<String>,
    /// The number of the iteration.
    #[serde(default, deserialize_with = "count_if_any")]
    pub iteration: Option<u64>,
    /// Whether a run begins with it.
    pub begins: RunStart,
    /// The commit.
    pub commit: CommitId,
    /// Its tree.
    pub tree: TreeId,
    /// Its code fingerprint.
    pub code: CodeId,
    /// When.
    pub at: Option<Timestamp>,
}

/// Something broken that was found and repaired.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub struct Repair {
    /// What, in words.
    #[serde(default, with = "Text::<MAX_REASON>")]
    pub what: String,
    /// When.
    pub at: Option<Timestamp>,
}

/// One line with its LF, at most [`MAX_LINE`] bytes.
pub fn encode_line(fact: &JournalLine) -> String {
    let (kind, mut members) = match fact {
        JournalLine::TestRun(run) => ("test_run", encode_run(run)),
        JournalLine::Ack(ack) => ("ack", members_of(&**ack)),
        JournalLine::Event(fact) => (fact.what.name(), event::encode(fact)),
        JournalLine::Safety(fact) => (fact.kind.as_str(), members_of(&**fact)),
        JournalLine::CommitRecorded(marker) => ("commit", members_of(marker)),
        JournalLine::Agent(fact) => ("agent", members_of(&**fact)),
        JournalLine::Attempt(made) => ("attempt", members_of(&**made)),
        JournalLine::Halt(standing) => ("halt", members_of(&HaltLine::from(&**standing))),
        JournalLine::Healed(repair) => ("healed", members_of(repair)),
    };
    members.insert("type".to_owned(), kind.into());
    line(members)
}

fn encode_run(run: &TestRun) -> Map<String, Value> {
    let mut run = run.clone().bounded();
    let mut bytes = 0_usize;
    let mut fits = |entry: &&OverlayEntry| {
        bytes += Value::Object(members_of(entry)).to_string().len() + 1;
        bytes <= MAX_OVERLAY_BYTES
    };
    let overlay = run.overlay.iter().take_while(&mut fits).count();
    let beside = run.beside.iter().take_while(&mut fits).count();
    run.overlay_truncated |= overlay < run.overlay.len();
    run.overlay.truncate(overlay);
    run.beside.truncate(beside);
    let mut members = members_of(&run.evidence);
    members.extend(members_of(&run));
    members
}

/// Reads one line, with or without its LF.
///
/// # Errors
/// [`FormatError`] when it is longer than [`MAX_LINE`], no JSON object, of a `type` this version does not know, or
/// when a member without which the fact means nothing is missing or wrong.
pub fn decode_line(line: &[u8]) -> Result<JournalLine, FormatError> {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let Kind { kind } = object(line, MAX_LINE)?;
    match &*kind {
        "test_run" => decode_run(line).map(|run| JournalLine::TestRun(Box::new(run))),
        "ack" => Ok(JournalLine::Ack(object(line, MAX_LINE)?)),
        "commit" => Ok(JournalLine::CommitRecorded(object(line, MAX_LINE)?)),
        "agent" => Ok(JournalLine::Agent(object(line, MAX_LINE)?)),
        "attempt" => Ok(JournalLine::Attempt(object(line, MAX_LINE)?)),
        "halt" => Ok(JournalLine::Halt(Box::new(object::<HaltLine>(line, MAX_LINE)?.into()))),
        "healed" => Ok(JournalLine::Healed(object(line, MAX_LINE)?)),
        other => match (SafetyKind::from_name(other), event::decode(other, line)?) {
            (Some(_), _) => Ok(JournalLine::Safety(object(line, MAX_LINE)?)),
            (None, Some(fact)) => Ok(JournalLine::Event(Box::new(fact))),
            (None, None) => Err(FormatError::unknown_type(other)),
        },
    }
}

fn decode_run(line: &[u8]) -> Result<TestRun, FormatError> {
    let evidence = object(line, MAX_LINE)?;
    Ok(TestRun { evidence, ..object(line, MAX_LINE)? }.bounded())
}
