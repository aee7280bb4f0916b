//! `andon log --events`: every safety event that is known here, from the ledger, the records behind a revision and the
//! journal of this worktree (docs/spec-map.md, loop rules: safety event log). There is no log file that could be edited or
//! lost: the list is a view of facts that are kept anyway.

use std::collections::VecDeque;

use serde_json::{Value, json};

use crate::detect;
use crate::domain::about::EventClass;
use crate::domain::decision::{Halt, LedgerEvent, StopSwitch, SwitchMove};
use crate::domain::facts::{Ack, CommitKind, CommitRecord, Gate, Recording};
use crate::domain::findings::{Level, ReportFile};
use crate::domain::ids::{CommitId, EntryId, TreeId};
use crate::domain::safety::{SafetyFact, SafetyKind};
use crate::engine::error::OpsError;
use crate::engine::timeline::skipped_warning;
use crate::engine::workspace::Workspace;
use crate::ledger::{Entry, Ledger};
use crate::report::message::Diagnostic;
use crate::report::safety::{EventType, SafetyEvent};
use crate::store::journal::{Journal, JournalLine, Position};
use crate::store::notes::NotesStore;
use crate::store::{RecordError, Warning};

/// Most commits that are looked at.
const WALK: usize = 2000;
/// Most safety events of the journal that are kept, the newest.
const MAX_TOLD: usize = 100_000;

/// What an event leads to that neither refuses nor halts, in the words of the document.
const GOES_ON: &str = "continued_monitoring";

/// The newest `max` events, newest first.
pub fn events(
    ws: &Workspace,
    revision: &str,
    max: usize,
) -> Result<(Vec<SafetyEvent>, Vec<Diagnostic>), OpsError> {
    let (entries, skipped) = Ledger::open(&ws.repo).read_all()?;
    let mut warnings: Vec<Diagnostic> =
        skipped.iter().map(|skip| Diagnostic::warning(skip.to_string())).collect();
    let mut events: Vec<SafetyEvent> =
        entries.iter().rev().filter_map(|entry| of_entry(entry, &entries)).collect();
    let mut passed_over = Vec::new();
    let unborn = revision == "HEAD" && ws.repo.head()?.commit().is_none();
    if !unborn {
        let halted = |id: CommitId| halts(&entries).any(|(_, halt)| halt.head == Some(id));
        events.extend(recorded(ws, revision, max, &halted, &mut passed_over)?);
    }
    let (facts, unread) = reported(ws)?;
    warnings.extend(unread.iter().map(skipped_warning));
    for fact in facts.iter().rev() {
        // The record, or the ledger, tells of it too.
        let twice = match fact.kind {
            SafetyKind::Skipped => passed_over.contains(&(fact.tree, fact.rule.clone())),
            SafetyKind::Pulled | SafetyKind::Lifted => {
                stop_switches(&entries).any(|switch| Some(switch.at) == fact.at)
            }
            SafetyKind::Refused
            | SafetyKind::Noticed
            | SafetyKind::RefusedPush
            | SafetyKind::RefusedCompletion => false,
        };
        if !twice {
            events.push(of_fact(fact));
        }
    }
    // Stable: what has the same time stays as its source has it, newest first.
    events.sort_by_key(|event| std::cmp::Reverse(event.at));
    events.truncate(max);
    Ok((events, warnings))
}

/// Every safety event of the journal, however long it is, oldest first; and what of its end could not be read.
fn reported(ws: &Workspace) -> Result<(Vec<SafetyFact>, Vec<Warning>), OpsError> {
    let journal = Journal::open(ws.repo.git_dir());
    let mut facts = VecDeque::new();
    let read = journal.read_on(Position::START, &mut |line| {
        if let JournalLine::Safety(fact) = line {
            if facts.len() >= MAX_TOLD {
                facts.pop_front();
            }
            facts.push_back(*fact);
        }
    });
    read.map_err(|source| RecordError::Io { doing: "read", path: journal.path(), source })?;
    Ok((facts.into(), journal.read_tail().1))
}

fn stop_switches(entries: &[Entry]) -> impl Iterator<Item = &StopSwitch> {
    entries.iter().filter_map(|entry| match entry.event.known() {
        Some(LedgerEvent::StopSwitch(switch)) => Some(&**switch),
        Some(LedgerEvent::Halted(_) | LedgerEvent::Acknowledged(_)) | None => None,
    })
}

fn halts(entries: &[Entry]) -> impl Iterator<Item = (EntryId, &Halt)> {
    entries.iter().filter_map(|entry| match entry.event.known() {
        Some(LedgerEvent::Halted(halt)) => Some((entry.id, &**halt)),
        Some(LedgerEvent::Acknowledged(_) | LedgerEvent::StopSwitch(_)) | None => None,
    })
}

fn of_entry(entry: &Entry, all: &[Entry]) -> Option<SafetyEvent> {
    match entry.event.known()? {
        LedgerEvent::Halted(halt) => Some(of_halt(halt)),
        LedgerEvent::Acknowledged(ack) => {
            let halt = halts(all).find(|(id, _)| Some(*id) == ack.halt).map(|(_, halt)| halt);
            Some(of_ack(ack, halt))
        }
        LedgerEvent::StopSwitch(switch) => Some(of_switch(switch)),
    }
}

fn of_halt(halt: &Halt) -> SafetyEvent {
    let blocker = halt.report_file == ReportFile::BlockerReport;
    let action =
        if blocker { "loop_halted_blocker_report_created" } else { "loop_halted_checkpoint_created" };
    let details = [
        ("rule", json!(halt.rule)),
        ("message", json!(halt.message)),
        ("halt_reason", json!(halt.reason.as_str())),
        ("cycle_id", json!(halt.cycle_id)),
        ("iteration", json!(halt.iteration)),
        ("commit", id(halt.head)),
        ("worktree", json!(halt.worktree)),
    ];
    let kind = EventType::of(detect::about(&halt.rule).event, Level::Halt, blocker);
    SafetyEvent::new(Some(halt.at), kind, details, action).with_figures(&halt.figures)
}

fn of_ack(ack: &Ack, halt: Option<&Halt>) -> SafetyEvent {
    let (kind, action) = match ack.counter {
        Some(_) => (EventType::RESET, "counter_reset"),
        None => (EventType::ANSWERED, "window_reset"),
    };
    let how = ack.how.as_str();
    let rule = ack.counter.as_deref().or(halt.map(|halt| halt.rule.as_str()));
    let details = [
        ("rule", json!(rule)),
        ("by", json!(ack.by)),
        ("how", json!(how)),
        ("reason", json!(ack.reason)),
        ("agent", json!(ack.agent)),
        ("commit", id(ack.head)),
        ("worktree", json!(ack.worktree)),
    ];
    SafetyEvent::new(Some(ack.at), kind, details, action)
}

fn of_switch(switch: &StopSwitch) -> SafetyEvent {
    let kind = match switch.moved {
        SwitchMove::Pulled => EventType::of(detect::USER_STOP.about.event, Level::Halt, false),
        SwitchMove::Lifted => EventType::LIFTED,
    };
    let details = [
        ("rule", json!(detect::USER_STOP.id)),
        ("message", json!(switch.message)),
        ("by", json!(switch.by)),
        ("agent", json!(switch.agent)),
        ("commit", id(switch.head)),
        ("worktree", json!(switch.worktree)),
    ];
    SafetyEvent::new(Some(switch.at), kind, details, "loop_stays_halted")
}

fn id(commit: Option<CommitId>) -> Value {
    commit.map_or(Value::Null, |commit| commit.to_string().into())
}

/// The events of the records along first parents. `passed_over` gets what was skipped, for the journal tells it too.
fn recorded(
    ws: &Workspace,
    revision: &str,
    max: usize,
    halted: &dyn Fn(CommitId) -> bool,
    passed_over: &mut Vec<(Option<TreeId>, String)>,
) -> Result<Vec<SafetyEvent>, OpsError> {
    let store = NotesStore::open(&ws.repo)?;
    let mut events = Vec::new();
    let mut at = Some(ws.repo.resolve(revision)?);
    for _ in 0..WALK {
        let Some(commit) = at.filter(|_| events.len() < max) else { break };
        // What cannot be read is told by `andon log`, and fails `andon check`.
        let stored = store.get(commit).ok().flatten();
        if let Some(stored) = &stored {
            of_record(&stored.record, commit, halted(commit), &mut events);
            let skipped = stored.record.skipped.iter();
            passed_over.extend(skipped.map(|skip| (Some(stored.record.tree), skip.rule.clone())));
        }
        // Records name their parent, so that commits are read only where there are none.
        at = match stored {
            Some(stored) => stored.record.parent,
            None => ws.repo.commit(commit)?.parents.first().copied(),
        };
        // Behind the cut of a shallow clone there is nothing to tell.
        at = at.filter(|parent| ws.repo.tree_of(*parent).is_ok());
    }
    Ok(events)
}

fn of_record(record: &CommitRecord, commit: CommitId, halted: bool, events: &mut Vec<SafetyEvent>) {
    let at = Some(record.recorded_at);
    let place = || ("commit", json!(commit.to_string()));
    let strike = matches!(record.kind, CommitKind::Normal | CommitKind::Amend);
    let by_name = record.skipped.iter().find(|skip| skip.rule == detect::HOOK_BYPASS.id);
    let lost = by_name.is_some() && record.gate == Gate::NotRun;
    if record.gate == Gate::Bypassed || lost || (strike && record.recording == Recording::CaughtUp) {
        let reason = by_name.map_or("--no-verify, or hooks that were off", |skip| &skip.reason);
        let details = [("rule", json!(detect::HOOK_BYPASS.id)), ("reason", json!(reason)), place()];
        events.push(SafetyEvent::new(at, EventType::BYPASS, details, "recorded"));
    }
    for skip in record.skipped.iter().filter(|skip| skip.rule != detect::HOOK_BYPASS.id) {
        let said = [("rule", json!(skip.rule)), ("reason", json!(skip.reason)), ("agent", json!(skip.agent))];
        events.push(SafetyEvent::new(
            at,
            EventType::SKIPPED,
            said.into_iter().chain([place()]),
            "commit_allowed",
        ));
    }
    for finding in &record.findings {
        // The ledger tells of halts; where it does not know this one, the record does.
        let reported = finding.level < Level::Warn || finding.rule == detect::HOOK_BYPASS.id;
        if reported || (finding.level == Level::Halt && halted) {
            continue;
        }
        let action = if finding.level == Level::Halt { "loop_halted" } else { GOES_ON };
        let details = [("rule", json!(finding.rule)), ("message", json!(finding.message)), place()];
        let about = detect::about(&finding.rule);
        let kind = EventType::of(about.event, finding.level, false);
        events.push(SafetyEvent::new(at, kind, details, action).with_bits(about.dirty));
    }
}

fn of_fact(fact: &SafetyFact) -> SafetyEvent {
    let about = detect::about(&fact.rule);
    let kind = EventType::of(about.event, fact.level, false);
    let (kind, action, said) = match fact.kind {
        SafetyKind::Refused => (kind, "commit_refused", "message"),
        SafetyKind::Skipped => (EventType::SKIPPED, "commit_allowed", "reason"),
        // Said of a halt that stands: what goes on behind it.
        SafetyKind::Noticed if fact.level == Level::Halt => {
            let kind = EventType::of(about.event, Level::Halt, true);
            (kind, "blocker_report_created", "message")
        }
        SafetyKind::Noticed if fact.level >= Level::Block => (kind, "blocked", "message"),
        SafetyKind::Noticed => (kind, GOES_ON, "message"),
        SafetyKind::RefusedPush => (kind, "push_refused", "message"),
        // The prompt of `andon complete` is what the document injects.
        SafetyKind::RefusedCompletion if about.event == EventClass::DirtyBit => {
            (kind, "injected_test_prompt", "message")
        }
        SafetyKind::RefusedCompletion => (kind, "completion_refused", "message"),
        SafetyKind::Pulled => (kind, "loop_stays_halted", "message"),
        SafetyKind::Lifted => (EventType::LIFTED, "loop_stays_halted", "message"),
    };
    let tree = fact.tree.map_or(Value::Null, |tree| tree.to_string().into());
    let details = [
        ("rule", json!(fact.rule)),
        (said, json!(fact.message)),
        ("tree", tree),
        ("agent", json!(fact.agent)),
    ];
    let event = SafetyEvent::new(fact.at, kind, details, action);
    let event = event.with_figures(&fact.figures);
    match fact.kind {
        SafetyKind::Refused | SafetyKind::RefusedPush | SafetyKind::RefusedCompletion => {
            event.with_bits(about.dirty)
        }
        SafetyKind::Skipped | SafetyKind::Noticed | SafetyKind::Pulled | SafetyKind::Lifted => event,
    }
}
