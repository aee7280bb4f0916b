//! The lines of the journal: the event stream of DESIGN section 6, as far as this version has facts for it.
//!
//! Paths are bytes: one that is UTF-8 is a text, any other `{"hex":"..."}`.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use super::super::json::Json;
use super::super::members::{Cut, FormatError, Members, bounded};
use super::put::{decode_time, put, put_some};
use super::{MAX_LINE, attempt, event, evidence, halt};
use crate::domain::attempt::Attempt;
use crate::domain::decision::StandingHalt;
use crate::domain::detail::Figures;
use crate::domain::events::Event;
use crate::domain::facts::{Ack, AckHow};
use crate::domain::findings::Level;
use crate::domain::ids::{CodeId, CommitId, TreeId};
use crate::domain::safety::{SafetyFact, SafetyKind};
use crate::domain::tests::{OverlayEntry, RunValidity, TestRun, Tracking};
use crate::domain::time::Timestamp;
use crate::history::Begins;

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
    /// `refused`, `skipped`, `noticed`, `pulled`: a safety event that nothing else tells of.
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
    /// `attempt`: the same for the whole repository, whatever HEAD is moved to. In a file of its own.
    Attempt(Box<Attempt>),
    /// `halt`: a halt went into the ledger. Without its evidence, which is there.
    Halt(Box<StandingHalt>),
    /// `healed`: something broken was found and mended.
    Healed {
        /// What, in words.
        what: String,
        /// When.
        at: Option<Timestamp>,
    },
}

/// What a marker tells of the turn in which a commit was made: budgets are counted from the journal alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MarkedTurn {
    /// The node.
    pub node: String,
    /// The number of the iteration.
    pub number: u64,
    /// Whether a run began with it.
    pub begins: Begins,
}

/// One line with its LF, at most [`MAX_LINE`] bytes.
pub fn encode_line(line: &JournalLine) -> String {
    let mut map = Map::new();
    match line {
        JournalLine::TestRun(run) => encode_run(run, &mut map),
        JournalLine::Ack(ack) => encode_ack(ack, &mut map),
        JournalLine::Event(fact) => event::encode(fact, &mut map),
        JournalLine::Safety(fact) => encode_safety(fact, &mut map),
        JournalLine::CommitRecorded { commit, tree, code, at, turn } => {
            put(&mut map, "type", "commit");
            if let Some(turn) = turn {
                put(&mut map, "node", &bounded(&turn.node, MAX_NAME));
                map.insert("iteration".into(), json!(turn.number));
                if turn.begins == Begins::Run {
                    map.insert("begins".into(), json!(true));
                }
            }
            put(&mut map, "commit", commit);
            put(&mut map, "tree", tree);
            put(&mut map, "code", code);
            put_some(&mut map, "at", at.as_ref());
        }
        JournalLine::Attempt(made) => attempt::encode(made, &mut map),
        JournalLine::Halt(standing) => halt::encode(standing, &mut map),
        JournalLine::Healed { what, at } => {
            put(&mut map, "type", "healed");
            put(&mut map, "what", &bounded(what, MAX_REASON));
            put_some(&mut map, "at", at.as_ref());
        }
    }
    let mut text = Value::Object(map).to_string();
    text.push('\n');
    text
}

fn encode_run(run: &TestRun, map: &mut Map<String, Value>) {
    put(map, "type", "test_run");
    put_some(map, "at", run.at.as_ref());
    evidence::encode(&run.evidence, map);
    put(map, "validity", run.validity.as_str());
    put_some(map, "base", run.base.as_ref());
    let mut bytes = 0_usize;
    let overlay: Vec<Value> = run
        .overlay
        .iter()
        .take(TestRun::MAX_OVERLAY)
        .map(encode_entry)
        .take_while(|entry| {
            bytes += entry.to_string().len() + 1;
            bytes <= MAX_OVERLAY_BYTES
        })
        .collect();
    if run.overlay_truncated || overlay.len() < run.overlay.len() {
        map.insert("overlay_truncated".into(), json!(true));
    }
    map.insert("overlay".into(), Value::Array(overlay));
}

fn encode_entry(entry: &OverlayEntry) -> Value {
    let mut map = Map::new();
    map.insert("path".into(), encode_path(&entry.path));
    if let Some((mode, id)) = entry.entry {
        put(&mut map, "mode", &format!("{mode:o}"));
        put(&mut map, "id", &id);
    }
    match entry.tracking {
        Tracking::Tracked => {}
        Tracking::Untracked => {
            map.insert("untracked".into(), json!(true));
        }
    }
    Value::Object(map)
}

fn encode_path(path: &[u8]) -> Value {
    if let Ok(text) = std::str::from_utf8(path) {
        return json!(text);
    }
    let mut hex = String::with_capacity(path.len() * 2);
    for byte in path {
        // Writing to a String cannot fail.
        let _ = write!(hex, "{byte:02x}");
    }
    json!({ "hex": hex })
}

fn encode_ack(ack: &Ack, map: &mut Map<String, Value>) {
    put(map, "type", "ack");
    put(map, "at", &ack.at);
    put_some(map, "halt", ack.halt.as_ref());
    put_some(map, "counter", ack.counter.as_deref().map(|rule| bounded(rule, MAX_NAME)).as_ref());
    put(map, "by", &bounded(&ack.by, MAX_NAME));
    put(map, "how", how_name(ack.how));
    put_some(map, "agent", ack.agent.as_ref().map(|agent| bounded(agent, MAX_NAME)).as_ref());
    put(map, "reason", &bounded(&ack.reason, MAX_REASON));
    put_some(map, "head", ack.head.as_ref());
    put(map, "worktree", &bounded(&ack.worktree, MAX_NAME));
}

fn encode_safety(fact: &SafetyFact, map: &mut Map<String, Value>) {
    put(map, "type", fact.kind.as_str());
    put_some(map, "at", fact.at.as_ref());
    put(map, "rule", &bounded(&fact.rule, MAX_NAME));
    put(map, "level", fact.level.as_str());
    put(map, "message", &bounded(&fact.message, MAX_REASON));
    match &fact.figures {
        Figures::Untold => {}
        Figures::Calls { tool, count } => {
            map.insert("figures".into(), json!({ "tool": bounded(tool, MAX_NAME), "count": count }));
        }
        Figures::Fill { percent, threshold } => {
            map.insert("figures".into(), json!({ "percent": percent, "threshold": threshold }));
        }
    }
    put_some(map, "tree", fact.tree.as_ref());
    put_some(map, "agent", fact.agent.as_ref().map(|agent| bounded(agent, MAX_NAME)).as_ref());
}

/// What this version does not know is not told.
fn decode_figures(mut members: Members<'_>) -> Result<Figures, FormatError> {
    let told = (members.text("tool")?, members.count("count")?);
    let fill = (members.count("percent")?, members.count("threshold")?);
    Ok(match (told, fill) {
        ((Some(tool), Some(count)), _) => Figures::Calls { tool, count },
        (_, (Some(percent), Some(threshold))) => Figures::Fill { percent, threshold },
        (_, (_, _)) => Figures::Untold,
    })
}

fn decode_safety(kind: SafetyKind, members: &mut Members<'_>) -> Result<SafetyFact, FormatError> {
    let rule = members.text("rule")?;
    let level = members.named("level", "a level", Level::from_name)?;
    Ok(SafetyFact {
        kind,
        at: decode_time(members)?,
        rule: members.required("rule", rule)?,
        level: members.required("level", level)?,
        message: members.text("message")?.unwrap_or_default(),
        figures: members.object("figures")?.map_or(Ok(Figures::Untold), decode_figures)?,
        tree: members.parsed("tree", "an object id")?,
        agent: members.text("agent")?,
    })
}

fn how_name(how: AckHow) -> &'static str {
    match how {
        AckHow::Resume => "resume",
        AckHow::FileDeleted => "file_deleted",
    }
}

/// Reads one line, with or without its LF.
///
/// # Errors
/// [`FormatError`] when it is longer than [`MAX_LINE`], no JSON object, of a `type` this version does not know, or
/// when a member without which the fact means nothing is missing or wrong.
pub fn decode_line(line: &[u8]) -> Result<JournalLine, FormatError> {
    let mut members = Members::parse(line.strip_suffix(b"\n").unwrap_or(line), MAX_LINE)?;
    let kind = members.text("type")?;
    match members.required("type", kind)?.as_str() {
        "test_run" => decode_run(&mut members).map(|run| JournalLine::TestRun(Box::new(run))),
        "ack" => decode_ack(&mut members).map(|ack| JournalLine::Ack(Box::new(ack))),
        "commit" => decode_marker(&mut members),
        "attempt" => attempt::decode(&mut members).map(|made| JournalLine::Attempt(Box::new(made))),
        "halt" => halt::decode(&mut members).map(|halt| JournalLine::Halt(Box::new(halt))),
        "healed" => Ok(JournalLine::Healed {
            what: members.text("what")?.unwrap_or_default(),
            at: decode_time(&mut members)?,
        }),
        other => match (SafetyKind::from_name(other), event::decode(other, &mut members)?) {
            (Some(kind), _) => {
                decode_safety(kind, &mut members).map(|fact| JournalLine::Safety(Box::new(fact)))
            }
            (None, Some(fact)) => Ok(JournalLine::Event(Box::new(fact))),
            (None, None) => Err(FormatError::unknown_type(other)),
        },
    }
}

fn decode_marker(members: &mut Members<'_>) -> Result<JournalLine, FormatError> {
    let commit = members.parsed("commit", "an object id")?;
    let tree = members.parsed("tree", "an object id")?;
    let code = members.parsed("code", "a sha256")?;
    let (node, number) = (members.text("node")?, members.count("iteration")?);
    let begins = if members.flag("begins")? { Begins::Run } else { Begins::Nothing };
    Ok(JournalLine::CommitRecorded {
        turn: node.zip(number).map(|(node, number)| MarkedTurn { node, number, begins }),
        commit: members.required("commit", commit)?,
        tree: members.required("tree", tree)?,
        code: members.required("code", code)?,
        at: decode_time(members)?,
    })
}

fn decode_run(members: &mut Members<'_>) -> Result<TestRun, FormatError> {
    let evidence = evidence::decode(members)?;
    // A run that does not say whether it can prove anything proves nothing.
    let validity = members.named("validity", "a validity", RunValidity::from_name)?;
    let (overlay, cut) = members.list("overlay", TestRun::MAX_OVERLAY, decode_entry)?;
    Ok(TestRun {
        at: decode_time(members)?,
        evidence,
        validity: members.required("validity", validity)?,
        base: members.parsed("base", "an object id")?,
        overlay,
        overlay_truncated: members.flag("overlay_truncated")? || cut == Cut::Truncated,
    })
}

fn decode_entry(item: &Json<'_>) -> Option<OverlayEntry> {
    let map = item.as_object()?;
    let entry = match (map.get("mode"), map.get("id")) {
        (None, None) => None,
        (mode, id) => {
            let mode = mode?.as_str().filter(|mode| mode.bytes().all(|byte| byte.is_ascii_digit()))?;
            Some((u32::from_str_radix(mode, 8).ok()?, id?.as_str()?.parse().ok()?))
        }
    };
    let tracking = match map.get("untracked") {
        Some(Json::Bool(true)) => Tracking::Untracked,
        None | Some(Json::Bool(false)) => Tracking::Tracked,
        Some(Json::Null | Json::Number(_) | Json::String(_) | Json::Array(_) | Json::Object(_)) => {
            return None;
        }
    };
    Some(OverlayEntry { path: decode_path(map.get("path")?)?, entry, tracking })
}

fn decode_path(value: &Json<'_>) -> Option<Vec<u8>> {
    if let Some(text) = value.as_str() {
        return Some(text.as_bytes().to_vec());
    }
    let hex = value.get("hex")?.as_str()?;
    if !hex.len().is_multiple_of(2) || !hex.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    hex.as_bytes()
        .chunks_exact(2)
        .map(|pair| std::str::from_utf8(pair).ok().and_then(|pair| u8::from_str_radix(pair, 16).ok()))
        .collect()
}

fn decode_ack(members: &mut Members<'_>) -> Result<Ack, FormatError> {
    let at = decode_time(members)?;
    let by = members.text("by")?;
    let how = members.named("how", "resume or file_deleted", |name| {
        [AckHow::Resume, AckHow::FileDeleted].into_iter().find(|how| how_name(*how) == name)
    })?;
    Ok(Ack {
        halt: members.parsed("halt", "a sha256")?,
        counter: members.text("counter")?,
        by: members.required("by", by)?,
        how: how.unwrap_or(AckHow::Resume),
        agent: members.text("agent")?,
        reason: members.text("reason")?.unwrap_or_default(),
        head: members.parsed("head", "an object id")?,
        worktree: members.text("worktree")?.unwrap_or_else(|| "main".to_owned()),
        at: members.required("at", at)?,
    })
}
