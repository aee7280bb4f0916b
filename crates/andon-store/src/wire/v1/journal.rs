//! The lines of the journal: the event stream of docs/formats.md, as far as this version has facts for it; and those of
//! `<common git dir>/andon/attempts.jsonl`, commits that were made in any worktree of the repository.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{MAX_LINE, event, ledger::HaltWire};
use andon_core::WordList;
use andon_core::domain::{
    Ack, AgentFact, Attempt, CodeId, CommitId, EntryId, Event, Halt, OverlayEntry, RunStart, SafetyFact,
    SafetyKind, StandingHalt, TestRun, Timestamp, TreeId,
};
use andon_core::format::fields::{Text, count_if_any};
use andon_core::format::{FormatError, Kind, bounded, line, map, members, members_of, object};

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
pub struct Marker {
    #[serde(default, with = "Text::<MAX_NAME>")]
    pub node: Option<String>,
    /// The number of the iteration.
    #[serde(default, deserialize_with = "count_if_any")]
    pub iteration: Option<u64>,
    /// The beginning of a run, if it is one.
    pub begins: RunStart,
    pub commit: CommitId,
    pub tree: TreeId,
    /// Its code fingerprint.
    pub code: CodeId,
    /// When.
    pub at: Option<Timestamp>,
}

/// Something broken that was found and repaired.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repair {
    /// The note, in words.
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
        JournalLine::Halt(standing) => ("halt", encode_halt(standing)),
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
        "halt" => Ok(JournalLine::Halt(Box::new(decode_halt(line)?))),
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

/// The type of a line, without all that it says.
#[derive(Debug, Deserialize)]
pub struct Peek<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    commit: Option<CommitId>,
}

impl Peek<'_> {
    /// True for a test run.
    pub fn is_run(&self) -> bool {
        self.kind == "test_run"
    }

    /// True for an event.
    pub fn is_event(&self) -> bool {
        EVENTS.contains(&&*self.kind)
    }

    /// The commit whose record a line marks.
    pub fn marked(&self) -> Option<CommitId> {
        self.commit.filter(|_| self.kind == "commit")
    }
}

/// The types of events that a session makes by the thousand.
const EVENTS: [&str; 6] = ["tool_call", "output", "usage", "turn_start", "turn_end", "verdict"];

/// True when a line is an event by the bytes with which the journal writes its type. No string of JSON can hold them: its
/// quotes would be escaped. A reader that needs no events passes over thousands of them, and need not parse them.
pub fn is_plainly_event(line: &[u8]) -> bool {
    const TYPE: &[u8] = b"\"type\":\"";
    let after = memchr::memmem::find(line, TYPE).and_then(|at| line.get(at + TYPE.len()..));
    let kind = after.and_then(|rest| rest.split(|byte| *byte == b'"').next());
    kind.is_some_and(|kind| EVENTS.iter().any(|event| event.as_bytes() == kind))
}

/// Reads what a line is.
///
/// # Errors
/// As [`super::decode_line`].
pub fn peek(line: &[u8]) -> Result<Peek<'_>, FormatError> {
    object(line, MAX_LINE)
}

const MAX_MESSAGE: usize = 4096;
/// The members of a halt on a line.
const HALT_LINE: WordList = WordList(include_str!("halt_line.txt"));

/// The members of such a line beside those of the halt.
#[derive(Serialize, Deserialize)]
struct HaltPlace {
    at: Timestamp,
    entry: EntryId,
}

fn encode_halt(StandingHalt { id, halt }: &StandingHalt) -> Map<String, Value> {
    let halt = Halt {
        rule: bounded(&halt.rule, MAX_NAME),
        message: bounded(&halt.message, MAX_MESSAGE),
        cycle_id: bounded(&halt.cycle_id, MAX_NAME),
        branch: halt.branch.as_deref().map(|branch| bounded(branch, MAX_NAME)),
        worktree: bounded(&halt.worktree, MAX_NAME),
        ..halt.clone()
    };
    let mut members = members_of(&HaltWire::from(&halt));
    members.retain(|name, _| HALT_LINE.contains(name));
    members.extend(members_of(&HaltPlace { at: halt.at, entry: *id }));
    members
}

fn decode_halt(line: &[u8]) -> Result<StandingHalt, FormatError> {
    let HaltPlace { at, entry } = object(line, MAX_LINE)?;
    let mut all = map(line, MAX_LINE)?;
    all.retain(|name, _| HALT_LINE.contains(name));
    for (name, unsaid) in [("cycle_id", ""), ("worktree", "main")] {
        all.entry(name).or_insert_with(|| unsaid.into());
    }
    let halt = members::<HaltWire>(&all)?.into_halt(at);
    Ok(StandingHalt { id: entry, halt: Halt { beside: Vec::new(), ..halt } })
}

#[cfg(test)]
mod tests {
    use super::*;
    use andon_core::domain::{Figures, HaltEvidence, HaltReach, HaltReason, ReportFile};

    #[test]
    fn events_are_told_by_their_bytes() {
        for (line, expected) in [
            (r#"{"at":"2026-01-01T00:00:00Z","tool":"Bash","type":"tool_call"}"#, true),
            (r#"{"type":"turn_end"}"#, true),
            (r#"{"type": "tool_call"}"#, false),
            (r#"{"command":"echo '\"type\":\"tool_call\"'","type":"test_run"}"#, false),
            (r#"{"type":"commit"}"#, false),
            (r#"{"type":"tool_call_of_a_later_version"}"#, false),
            (r#"{"type":"tool"#, false),
            ("", false),
        ] {
            assert_eq!(is_plainly_event(line.as_bytes()), expected, "{line}");
        }
    }

    use crate::wire::v1::{JournalLine, decode_line, encode_line};
    use andon_core::domain::{EntryId, Halt, StandingHalt, Timestamp};

    #[test]
    fn a_halt_comes_back_without_its_evidence() {
        let halt = Halt {
            cycle_id: "agent".to_owned(),
            reason: HaltReason::UserStop,
            rule: "user-stop".to_owned(),
            message: "lunch\n\u{1b}[31m".to_owned(),
            figures: Figures::Unreported,
            summary: Box::default(),
            report_file: ReportFile::Checkpoint,
            evidence: HaltEvidence::default(),
            suggested_actions: Vec::new(),
            iteration: 3,
            head: None,
            branch: Some("main".to_owned()),
            worktree: "main".to_owned(),
            base: None,
            beside: Vec::new(),
            binds: HaltReach::Worktree,
            at: Timestamp(1_795_188_600),
        };
        let line = JournalLine::Halt(Box::new(StandingHalt { id: EntryId([7; 32]), halt }));
        let text = encode_line(&line);
        assert_eq!(decode_line(text.as_bytes()).unwrap(), line);
        for gone in ["\"entry\"", "\"rule\"", "\"halt_reason\"", "\"at\""] {
            assert!(decode_line(text.replace(gone, "\"x\"").as_bytes()).is_err(), "{gone}");
        }
    }
}
