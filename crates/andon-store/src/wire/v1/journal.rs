//! The lines of the journal: the event stream of docs/formats.md, as far as this version has facts for it; and those of
//! `<common git dir>/andon/attempts.jsonl`, commits that were made in any worktree of the repository.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::halt::HaltLine;
use super::overlay::OverlayWire;
use super::{MAX_LINE, event};
use andon_core::domain::agent_door::AgentFact;
use andon_core::domain::attempt::Attempt;
use andon_core::domain::decision::StandingHalt;
use andon_core::domain::events::{Event, RunStart};
use andon_core::domain::facts::Ack;
use andon_core::domain::ids::{CodeId, CommitId, TreeId};
use andon_core::domain::safety::{SafetyFact, SafetyKind};
use andon_core::domain::tests::{OverlayEntry, RunValidity, TestEvidence, TestRun};
use andon_core::domain::time::Timestamp;
use andon_core::format::{Count, FormatError, Kind, List, bounded, line, members_of, object};

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
    CommitRecorded {
        /// The commit.
        commit: CommitId,
        /// Its tree.
        tree: TreeId,
        /// Its code fingerprint.
        code: CodeId,
        /// When.
        at: Option<Timestamp>,
        /// Who made it, and its place in its run; `None` in lines of older versions.
        turn: Option<MarkedTurn>,
    },
    /// `agent`: what an agent's hook did or saw. In a file of its own.
    Agent(Box<AgentFact>),
    /// `attempt`: the same for the whole repository, whatever HEAD is moved to. In a file of its own.
    Attempt(Box<Attempt>),
    /// `halt`: a halt went into the ledger. Without its evidence, which is there.
    Halt(Box<StandingHalt>),
    /// `healed`: something broken was found and repaired.
    Healed {
        /// What, in words.
        what: String,
        /// When.
        at: Option<Timestamp>,
    },
}

/// What a marker says about the turn in which a commit was made: budgets are counted from the journal alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MarkedTurn {
    /// The node.
    pub node: String,
    /// The number of the iteration.
    pub number: u64,
    /// Whether a run began with it.
    pub begins: RunStart,
}

#[derive(Serialize, Deserialize)]
#[serde(expecting = "an object")]
struct MarkerWire {
    node: Option<String>,
    iteration: Option<Count>,
    begins: Option<bool>,
    commit: CommitId,
    tree: TreeId,
    code: CodeId,
    at: Option<Timestamp>,
}

/// What a test run says in addition to its evidence.
#[derive(Serialize, Deserialize)]
#[serde(expecting = "an object")]
struct RunWire {
    at: Option<Timestamp>,
    /// A run that does not say whether it can prove anything proves nothing.
    validity: RunValidity,
    base: Option<TreeId>,
    overlay: Option<List<OverlayWire, { TestRun::MAX_OVERLAY }>>,
    overlay_truncated: Option<bool>,
    beside: Option<List<OverlayWire, { TestRun::MAX_BESIDE }>>,
}

#[derive(Serialize, Deserialize)]
#[serde(expecting = "an object")]
struct AttemptWire {
    commit: CommitId,
    parent: Option<CommitId>,
    worktree: String,
    beside: Option<List<String, { Attempt::MAX_BESIDE }>>,
}

#[derive(Serialize, Deserialize)]
#[serde(expecting = "an object")]
struct HealedWire {
    what: Option<String>,
    at: Option<Timestamp>,
}

/// One line with its LF, at most [`MAX_LINE`] bytes.
pub fn encode_line(fact: &JournalLine) -> String {
    let (kind, mut members) = match fact {
        JournalLine::TestRun(run) => ("test_run", encode_run(run)),
        JournalLine::Ack(ack) => ("ack", members_of(&**ack)),
        JournalLine::Event(fact) => (fact.what.name(), event::encode(fact)),
        JournalLine::Safety(fact) => (fact.kind.as_str(), members_of(&**fact)),
        JournalLine::CommitRecorded { commit, tree, code, at, turn } => {
            let turn = turn.as_ref();
            let begins = turn.is_some_and(|turn| turn.begins == RunStart::Run).then_some(true);
            let node = turn.map(|turn| bounded(&turn.node, MAX_NAME));
            let iteration = turn.map(|turn| Count(turn.number));
            let (commit, tree, code, at) = (*commit, *tree, *code, *at);
            ("commit", members_of(&MarkerWire { node, iteration, begins, commit, tree, code, at }))
        }
        JournalLine::Agent(fact) => ("agent", members_of(&**fact)),
        JournalLine::Attempt(made) => ("attempt", members_of(&AttemptWire::from(&**made))),
        JournalLine::Halt(standing) => ("halt", members_of(&HaltLine::from(&**standing))),
        JournalLine::Healed { what, at } => {
            ("healed", members_of(&HealedWire { what: Some(bounded(what, MAX_REASON)), at: *at }))
        }
    };
    members.insert("type".to_owned(), kind.into());
    line(members)
}

fn encode_run(run: &TestRun) -> Map<String, Value> {
    let mut members = members_of(&run.evidence.clone().bounded());
    let mut bytes = 0_usize;
    let mut fits = |entry: &OverlayWire| {
        bytes += Value::Object(members_of(entry)).to_string().len() + 1;
        bytes <= MAX_OVERLAY_BYTES
    };
    let overlay: List<OverlayWire, { TestRun::MAX_OVERLAY }> =
        run.overlay.iter().map(OverlayWire::from).take_while(&mut fits).collect();
    let beside: List<OverlayWire, { TestRun::MAX_BESIDE }> =
        run.beside.iter().map(OverlayWire::from).take_while(&mut fits).collect();
    let cut = run.overlay_truncated || overlay.items.len() < run.overlay.len();
    members.extend(members_of(&RunWire {
        at: run.at,
        validity: run.validity,
        base: run.base,
        overlay: Some(overlay),
        overlay_truncated: cut.then_some(true),
        beside: beside.unless_empty(),
    }));
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
        "commit" => Ok(object::<MarkerWire>(line, MAX_LINE)?.into()),
        "agent" => Ok(JournalLine::Agent(object(line, MAX_LINE)?)),
        "attempt" => Ok(JournalLine::Attempt(Box::new(object::<AttemptWire>(line, MAX_LINE)?.into()))),
        "halt" => Ok(JournalLine::Halt(Box::new(object::<HaltLine>(line, MAX_LINE)?.into()))),
        "healed" => {
            let HealedWire { what, at } = object(line, MAX_LINE)?;
            Ok(JournalLine::Healed { what: what.unwrap_or_default(), at })
        }
        other => match (SafetyKind::from_name(other), event::decode(other, line)?) {
            (Some(_), _) => Ok(JournalLine::Safety(object(line, MAX_LINE)?)),
            (None, Some(fact)) => Ok(JournalLine::Event(Box::new(fact))),
            (None, None) => Err(FormatError::unknown_type(other)),
        },
    }
}

fn decode_run(line: &[u8]) -> Result<TestRun, FormatError> {
    let evidence: TestEvidence = object(line, MAX_LINE)?;
    let run: RunWire = object(line, MAX_LINE)?;
    let overlay = run.overlay.unwrap_or_default();
    Ok(TestRun {
        at: run.at,
        evidence: evidence.bounded(),
        validity: run.validity,
        base: run.base,
        overlay_truncated: run.overlay_truncated.unwrap_or(false) || overlay.cut,
        overlay: entries(overlay)?,
        beside: entries(run.beside.unwrap_or_default())?,
    })
}

fn entries<const N: usize>(list: List<OverlayWire, N>) -> Result<Vec<OverlayEntry>, FormatError> {
    list.items.into_iter().map(OverlayEntry::try_from).collect()
}

impl From<MarkerWire> for JournalLine {
    fn from(wire: MarkerWire) -> Self {
        let begins = if wire.begins == Some(true) { RunStart::Run } else { RunStart::Nothing };
        let turn = wire.node.zip(wire.iteration);
        let turn = turn.map(|(node, Count(number))| MarkedTurn { node, number, begins });
        Self::CommitRecorded { commit: wire.commit, tree: wire.tree, code: wire.code, at: wire.at, turn }
    }
}

impl From<&Attempt> for AttemptWire {
    fn from(made: &Attempt) -> Self {
        let beside: List<String, { Attempt::MAX_BESIDE }> =
            made.beside.iter().map(|name| bounded(name, MAX_NAME)).collect();
        let beside = if beside.cut { std::iter::once(Attempt::MANY.to_owned()).collect() } else { beside };
        let worktree = bounded(&made.worktree, MAX_NAME);
        Self { commit: made.commit, parent: made.parent, worktree, beside: beside.unless_empty() }
    }
}

impl From<AttemptWire> for Attempt {
    fn from(wire: AttemptWire) -> Self {
        let beside = wire.beside.unwrap_or_default();
        let many = beside.cut.then(|| Self::MANY.to_owned());
        Self {
            commit: wire.commit,
            parent: wire.parent,
            worktree: wire.worktree,
            beside: beside.items.into_iter().chain(many).collect(),
        }
    }
}
