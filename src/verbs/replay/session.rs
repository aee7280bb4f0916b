//! `andon replay --session ID`: what one session did, step by step, and what the engine says at each of them.
//!
//! The facts are those that are kept anyway: the journal of this worktree, the records behind HEAD that it does not know,
//! and the ledger. The engine sees all of them in their order, so that it decides as it would have then; only the steps
//! of the session are shown.

use std::collections::BTreeSet;

use serde::Serialize;

use super::{Engine, serialize_brief, settings};
use andon_core::domain::{
    Ack, AckHow, CommitFact, CommitId, Decision, Diagnostic, Event, EventKind, Fact, SafetyFact, SafetyKind,
    TestRun, Timestamp, Trace, Verdict,
};
use andon_core::policy;
use andon_engine::{OpsError, Workspace, asking};
use andon_store::{Entry, Journal, JournalLine, Marker, NotesStore};

/// Most bytes of the journal that are read, from its end.
const MAX_JOURNAL: u64 = 16 << 20;
/// Most commits that are looked at.
const WALK: usize = 2000;
/// Sessions that an error names.
const NAMED: usize = 20;

/// Walks the session `id`; the warnings name what could not be read.
///
/// # Errors
/// `VerbError::Usage` naming the sessions that are known, when this one is not.
pub fn run(ws: &Workspace, id: &str) -> Result<(Trajectory, Vec<Diagnostic>), OpsError> {
    let store = NotesStore::open(&ws.repo)?;
    let (lines, unread) = Journal::open(ws.repo.git_dir()).read_back(MAX_JOURNAL);
    let (entries, skipped) = asking::read_all(&ws.repo, ws.opened)?;
    let mut warnings: Vec<Diagnostic> = unread;
    warnings.extend(skipped);
    let unsigned = asking::unsigned_answers(ws)?.into_iter();
    warnings
        .extend(unsigned.map(|fault| Diagnostic::warning(fault.message).code(fault.code).help(fault.help)));
    let mut items = recorded_before(ws, &store, &lines, &entries)?;
    items.extend(lines.into_iter().filter_map(|line| item(ws, &store, line, &mut warnings)));
    let mut walk = Walk::new(ws, id);
    for item in items {
        walk.take(item, &entries);
    }
    walk.end().map(|trajectory| (trajectory, warnings))
}

/// One thing that happened.
enum Item {
    /// Something that the engine folds.
    Fact(Fact),
    /// A message of a gate.
    Gate(Box<SafetyFact>),
}

fn item(
    ws: &Workspace,
    store: &NotesStore<'_>,
    line: JournalLine,
    warnings: &mut Vec<Diagnostic>,
) -> Option<Item> {
    match line {
        JournalLine::TestRun(run) => Some(Item::Fact(Fact::TestRun(run))),
        JournalLine::Ack(ack) => Some(Item::Fact(Fact::Ack(ack))),
        JournalLine::Event(event) => Some(Item::Fact(Fact::Event(event))),
        JournalLine::Safety(fact) => Some(Item::Gate(fact)),
        JournalLine::Agent(_) | JournalLine::Halt(_) | JournalLine::Healed(_) | JournalLine::Attempt(_) => {
            None
        }
        JournalLine::CommitRecorded(Marker { commit, .. }) => {
            let fact = fact_of(ws, store, commit);
            if fact.is_none() {
                let what = format!("the record of {} is gone: that step is left out", commit.short());
                warnings.push(Diagnostic::warning(what));
            }
            fact.map(|fact| Item::Fact(Fact::Commit(Box::new(fact))))
        }
    }
}

fn fact_of(ws: &Workspace, store: &NotesStore<'_>, id: CommitId) -> Option<CommitFact> {
    let record = store.get(id).ok().flatten()?.record;
    Some(ws.repo.fact(id, record))
}

/// The records behind HEAD that the journal lacks, oldest first, each with the answers at it: another clone has no
/// other facts.
fn recorded_before(
    ws: &Workspace,
    store: &NotesStore<'_>,
    lines: &[JournalLine],
    entries: &[Entry],
) -> Result<Vec<Item>, OpsError> {
    let recorded = |line: &JournalLine| {
        let JournalLine::CommitRecorded(marker) = line else { return None };
        Some(marker.commit)
    };
    let reported: BTreeSet<CommitId> = lines.iter().filter_map(recorded).collect();
    let (mut found, mut at) = (Vec::new(), ws.repo.head()?.commit());
    for _ in 0..WALK {
        let Some(fact) = at.and_then(|id| fact_of(ws, store, id)) else { break };
        at = fact.record.parent;
        found.extend(Some(fact).filter(|fact| fact.id.is_none_or(|id| !reported.contains(&id))));
    }
    let mut items = Vec::new();
    for fact in found.into_iter().rev() {
        let id = fact.id;
        items.push(Item::Fact(Fact::Commit(Box::new(fact))));
        for entry in entries {
            let counts = |ack: &&Ack| ack.head == id && ack.how != AckHow::Unsigned;
            let answer = entry.event.answer().filter(counts);
            items.extend(answer.map(|ack| Item::Fact(Fact::Ack(Box::new(ack.clone())))));
        }
    }
    Ok(items)
}

/// The walk over all facts.
struct Walk<'a> {
    id: &'a str,
    engine: Engine,
    /// The session whose facts are passing: what names none belongs to it.
    current: Option<String>,
    known: BTreeSet<String>,
    state: SessionState,
    found: Trajectory,
}

impl<'a> Walk<'a> {
    fn new(ws: &Workspace, id: &'a str) -> Self {
        let found = Trajectory { session: id.to_owned(), model: None, prompt_hash: None, steps: Vec::new() };
        Self {
            id,
            engine: Engine::new(&ws.config, settings(&ws.config.rules)),
            current: None,
            known: BTreeSet::new(),
            state: SessionState::Idle,
            found,
        }
    }

    fn take(&mut self, item: Item, entries: &[Entry]) {
        let mine = self.belongs(&item);
        let (mut step, decision) = match item {
            Item::Gate(fact) => (of_gate(&fact, self.state), gate_said(&fact)),
            Item::Fact(fact) => (of_fact(&fact, self.state, entries), self.engine.take(fact)),
        };
        if !mine {
            return;
        }
        if decision.verdict == Verdict::Halt {
            step.next = SessionState::Halted;
        }
        self.state = step.next;
        self.found.steps.push(TrajectoryStep { decision, ..step });
    }

    /// True when it is of the requested session; notes other sessions on the way.
    fn belongs(&mut self, item: &Item) -> bool {
        let nothing = Trace::default();
        let (named, trace) = match item {
            Item::Fact(Fact::Event(event)) => {
                // A turn without a session belongs to none.
                if event.what == EventKind::TurnStart && event.session.is_none() {
                    self.current = None;
                }
                (event.session.as_ref(), event.trace.as_deref().unwrap_or(&nothing))
            }
            // A commit is of the session that its record names, and of no other.
            Item::Fact(Fact::Commit(commit)) => {
                let Some(session) = &commit.record.session else {
                    self.current = None;
                    return false;
                };
                (Some(session), &nothing)
            }
            Item::Fact(Fact::TestRun(_) | Fact::Ack(_)) | Item::Gate(_) => (None, &nothing),
        };
        if let Some(named) = named {
            self.known.insert(named.clone());
            self.current = Some(named.clone());
        }
        let mine = self.current.as_deref() == Some(self.id);
        // An event after the end of a turn that names no session may belong to any.
        if matches!(item, Item::Fact(Fact::Event(event)) if matches!(event.what, EventKind::TurnEnd(_))) {
            self.current = None;
        }
        if mine {
            self.found.model = self.found.model.take().or_else(|| trace.model.clone());
            self.found.prompt_hash = self.found.prompt_hash.take().or_else(|| trace.prompt_hash.clone());
        }
        mine
    }

    fn end(self) -> Result<Trajectory, OpsError> {
        if self.known.contains(self.id) {
            return Ok(self.found);
        }
        let listed: Vec<&str> = self.known.iter().take(NAMED).map(String::as_str).collect();
        let more = self.known.len().saturating_sub(NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let help = if listed.is_empty() {
            "no session is known here: set ANDON_SESSION, or name `session` in events of `andon observe`"
                .to_owned()
        } else {
            format!("known here: {}{more}", listed.join(", "))
        };
        Err(OpsError::usage(format!("no such session: {:?}", self.id), help))
    }
}

/// A step without its decision.
fn step(state: SessionState, action: String, next: SessionState) -> TrajectoryStep {
    let decision = policy::decide(Vec::new(), None);
    TrajectoryStep { at: None, node: None, state, action, next, commit: None, decision, halt: None }
}

fn of_fact(fact: &Fact, state: SessionState, entries: &[Entry]) -> TrajectoryStep {
    match fact {
        Fact::Event(event) => of_event(event, state),
        Fact::TestRun(run) => of_run(run, state),
        Fact::Ack(ack) => {
            let action = match &ack.counter {
                Some(counter) => format!("reset {counter}: {}", ack.reason),
                None => format!("resume: {}", ack.reason),
            };
            TrajectoryStep { at: Some(ack.at), ..step(state, action, SessionState::Resumed) }
        }
        Fact::Commit(commit) => {
            let mut halts = entries.iter().filter_map(|entry| entry.event.halt());
            let halted = halts.find(|halt| halt.head == commit.id).map(|halt| halt.rule.clone());
            TrajectoryStep {
                at: Some(commit.record.recorded_at),
                node: Some(commit.record.node.clone()),
                commit: commit.id,
                halt: halted,
                ..step(state, format!("commit {}", commit.subject), SessionState::Committed)
            }
        }
    }
}

fn of_event(event: &Event, state: SessionState) -> TrajectoryStep {
    let (action, next) = match &event.what {
        EventKind::TurnStart => ("turn_start".to_owned(), SessionState::Planning),
        EventKind::TurnEnd(_) => ("turn_end".to_owned(), SessionState::Idle),
        // The short form begins with the tool.
        EventKind::ToolCall(call) => {
            let shown = call.shown.as_deref().unwrap_or(&call.tool);
            (format!("tool_call {shown}"), SessionState::Executing)
        }
        EventKind::Output(output) => (format!("output {}", output.kind.as_str()), SessionState::Reporting),
        EventKind::Usage(_) => ("usage".to_owned(), state),
        EventKind::Renewed(_) => (event.what.name().to_owned(), SessionState::Planning),
        EventKind::Refused(_) | EventKind::Disarmed(_) => {
            (event.what.name().to_owned(), SessionState::Executing)
        }
        EventKind::Verdict(_) => ("verdict".to_owned(), SessionState::Reviewing),
    };
    TrajectoryStep { at: event.at, node: event.node.clone(), ..step(state, action, next) }
}

fn of_run(run: &TestRun, state: SessionState) -> TrajectoryStep {
    let evidence = &run.evidence;
    let next = if evidence.is_green() { SessionState::TestsPassed } else { SessionState::TestsFailed };
    let counts = evidence.counts();
    let action =
        format!("test_run {}: {} of {} failing", evidence.status.as_str(), counts.failing(), counts.total);
    TrajectoryStep { at: run.at, ..step(state, action, next) }
}

fn of_gate(fact: &SafetyFact, state: SessionState) -> TrajectoryStep {
    let refused =
        matches!(fact.kind, SafetyKind::Refused | SafetyKind::RefusedPush | SafetyKind::RefusedCompletion);
    let next = if refused { SessionState::Refused } else { state };
    let action = format!("{} {}: {}", fact.kind.as_str(), fact.rule, fact.message);
    TrajectoryStep { at: fact.at, ..step(state, action, next) }
}

/// The verdict of a gate is kept: it saw a tree that the engine does not see again.
fn gate_said(fact: &SafetyFact) -> Decision {
    let verdict = match fact.kind {
        SafetyKind::Refused | SafetyKind::RefusedPush | SafetyKind::RefusedCompletion => {
            Verdict::from(fact.level).min(Verdict::Block)
        }
        SafetyKind::Skipped | SafetyKind::Noticed => Verdict::Warn,
        // The halt is unanswered, with the stop switch and without it.
        SafetyKind::Pulled | SafetyKind::Lifted => Verdict::Halt,
    };
    Decision { verdict, ..policy::decide(Vec::new(), None) }
}

andon_core::named_enum! {
    /// The state of a session.
    pub enum SessionState, "the state of a session" {
        /// Nothing: before, between and after its turns.
        Idle = "idle",
        /// A turn has begun.
        Planning = "planning",
        /// Tools are called.
        Executing = "executing",
        /// Something was said.
        Reporting = "reporting",
        /// Reviewers judged.
        Reviewing = "reviewing",
        TestsPassed = "tests_passed",
        /// Tests failed, or could not tell.
        TestsFailed = "tests_failed",
        /// A commit was made.
        Committed = "committed",
        /// A commit was refused.
        Refused = "refused",
        /// The loop is halted.
        Halted = "halted",
        /// A person answered a halt.
        Resumed = "resumed",
    }
}

/// One iteration as it is drawn in the trajectory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TrajectoryStep {
    /// When, where that is known.
    pub at: Option<Timestamp>,
    /// Whose step it was.
    pub node: Option<String>,
    /// The state before.
    pub state: SessionState,
    /// The action of the agent in this step, in a few words.
    pub action: String,
    /// The state after.
    #[serde(rename = "next_state")]
    pub next: SessionState,
    /// The commit that was made.
    pub commit: Option<CommitId>,
    /// The decision of the engine.
    #[serde(flatten, serialize_with = "serialize_brief")]
    pub decision: Decision,
    /// The rule of the halt that the ledger has at that commit.
    pub halt: Option<String>,
}

/// A session. Texts raw.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trajectory {
    /// The id that the client gave the session.
    pub session: String,
    /// The model, as it was first named.
    pub model: Option<String>,
    /// The hash of the prompt, as it was first named.
    pub prompt_hash: Option<String>,
    /// Its steps, oldest first.
    pub steps: Vec<TrajectoryStep>,
}
