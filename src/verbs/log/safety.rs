//! `andon log --events`: every safety event that is known here, from the ledger, the records behind a revision and the
//! journal of this worktree (docs/spec-map.md, loop rules: safety event log). There is no log file that could be edited or
//! lost: the list is a view of facts that are kept anyway.

use std::collections::{BTreeSet, VecDeque};

use serde::{Serialize, Serializer};

use andon_core::domain::{
    Ack, AckHow, CommitId, CommitKind, CommitRecord, Diagnostic, DirtyBit, EventClass, Figures, Gate, Halt,
    HaltReason, LedgerEvent, Level, Recording, ReportFile, SafetyFact, SafetyKind, StopSwitch, SwitchMove,
    Timestamp, TreeId,
};
use andon_core::{detect, escape::terminal_clip, format::members_of};
use andon_engine::text::{Page, Style};
use andon_engine::{Result, Workspace, asking};
use andon_store::{Entry, Journal, JournalLine, NotesStore, Position, RecordError};

/// Most commits that are looked at.
const WALK: usize = 2000;
/// Most safety events of the journal that are kept, the newest.
const MAX_TOLD: usize = 100_000;

/// The action of an event that neither refuses nor halts, in the words of the document.
const GOES_ON: &str = "continued_monitoring";

/// The newest `max` events, newest first.
pub fn events(ws: &Workspace, revision: &str, max: usize) -> Result<(Vec<SafetyEvent>, Vec<Diagnostic>)> {
    let (entries, skipped) = asking::read_all(&ws.repo, ws.opened)?;
    let mut warnings = skipped;
    let mut events: Vec<SafetyEvent> =
        entries.iter().rev().filter_map(|entry| of_entry(entry, &entries)).collect();
    let mut passed_over = Vec::new();
    let unborn = revision == "HEAD" && ws.repo.head()?.commit().is_none();
    if !unborn {
        let halted = entries.iter().filter_map(|entry| entry.event.halt()?.head).collect();
        events.extend(recorded(ws, revision, max, &halted, &mut passed_over)?);
    }
    let (facts, unread) = reported(ws)?;
    warnings.extend(unread);
    for fact in facts.iter().rev() {
        // The record, or the ledger, shows it too.
        let twice = match fact.kind {
            SafetyKind::Skipped => passed_over.contains(&(fact.tree, fact.rule.clone())),
            SafetyKind::Pulled | SafetyKind::Lifted => {
                entries.iter().filter_map(|entry| entry.event.switch()).any(|it| Some(it.at) == fact.at)
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
fn reported(ws: &Workspace) -> Result<(Vec<SafetyFact>, Vec<Diagnostic>)> {
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

fn of_entry(entry: &Entry, all: &[Entry]) -> Option<SafetyEvent> {
    match entry.event.known()? {
        LedgerEvent::Halted(halt) => Some(of_halt(halt)),
        LedgerEvent::Acknowledged(ack) => {
            let halt = all.iter().find(|entry| Some(entry.id) == ack.halt);
            Some(of_ack(ack, halt.and_then(|entry| entry.event.halt())))
        }
        LedgerEvent::StopSwitch(switch) => Some(of_switch(switch)),
    }
}

fn of_halt(halt: &Halt) -> SafetyEvent {
    let action = match halt.report_file {
        ReportFile::BlockerReport => "loop_halted_blocker_report_created",
        ReportFile::Checkpoint => "loop_halted_checkpoint_created",
    };
    let mut details = SafetyDetails {
        message: SafetyDetails::text(&halt.message),
        halt_reason: Some(halt.reason),
        cycle_id: SafetyDetails::text(&halt.cycle_id),
        iteration: Some(halt.iteration),
        commit: halt.head,
        worktree: SafetyDetails::text(&halt.worktree),
        ..about_rule(&halt.rule)
    };
    details.set_figures(&halt.figures);
    let kind = EventType::new(detect::about(&halt.rule).event, Level::Halt, halt.report_file);
    SafetyEvent { at: Some(halt.at), kind, details, action }
}

fn of_ack(ack: &Ack, halt: Option<&Halt>) -> SafetyEvent {
    let (kind, action) = match ack.counter {
        Some(_) => (EventType::RESET, "counter_reset"),
        None if ack.how == AckHow::Unsigned => (EventType::UNSIGNED, "loop_stays_halted"),
        None => (EventType::ANSWERED, "window_reset"),
    };
    let rule = ack.counter.as_deref().or(halt.map(|halt| halt.rule.as_str()));
    let details = SafetyDetails {
        by: SafetyDetails::text(&ack.by),
        how: Some(ack.how.as_str()),
        reason: SafetyDetails::text(&ack.reason),
        agent: ack.agent.clone(),
        commit: ack.head,
        worktree: SafetyDetails::text(&ack.worktree),
        ..about_rule(rule.unwrap_or_default())
    };
    SafetyEvent { at: Some(ack.at), kind, details, action }
}

fn of_switch(switch: &StopSwitch) -> SafetyEvent {
    let kind = match switch.moved {
        SwitchMove::Pulled => {
            EventType::new(detect::USER_STOP.about.event, Level::Halt, ReportFile::Checkpoint)
        }
        SwitchMove::Lifted => EventType::LIFTED,
    };
    let details = SafetyDetails {
        message: SafetyDetails::text(&switch.message),
        by: SafetyDetails::text(&switch.by),
        agent: switch.agent.clone(),
        commit: switch.head,
        worktree: SafetyDetails::text(&switch.worktree),
        ..about_rule(detect::USER_STOP.id)
    };
    SafetyEvent { at: Some(switch.at), kind, details, action: "loop_stays_halted" }
}

fn about_rule(rule: &str) -> SafetyDetails {
    SafetyDetails { rule: SafetyDetails::text(rule), ..SafetyDetails::default() }
}

/// The events of the records along first parents. `passed_over` gets what was skipped, because the journal has it too.
fn recorded(
    ws: &Workspace,
    revision: &str,
    max: usize,
    halted: &BTreeSet<CommitId>,
    passed_over: &mut Vec<(Option<TreeId>, String)>,
) -> Result<Vec<SafetyEvent>> {
    let store = NotesStore::open(&ws.repo)?;
    let mut events = Vec::new();
    let mut at = Some(ws.repo.resolve(revision)?);
    for _ in 0..WALK {
        let Some(commit) = at.filter(|_| events.len() < max) else { break };
        // `andon log` reports what cannot be read, and `andon check` fails.
        let stored = store.get(commit).ok().flatten();
        if let Some(stored) = &stored {
            of_record(&stored.record, commit, halted, &mut events);
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

fn of_record(
    record: &CommitRecord,
    commit: CommitId,
    halted: &BTreeSet<CommitId>,
    events: &mut Vec<SafetyEvent>,
) {
    let at = Some(record.recorded_at);
    let here = |rule: &str| SafetyDetails { commit: Some(commit), ..about_rule(rule) };
    let strike = matches!(record.kind, CommitKind::Normal | CommitKind::Amend);
    let by_name = record.skipped.iter().find(|skip| skip.rule == detect::HOOK_BYPASS.id);
    let lost = by_name.is_some() && record.gate == Gate::NotRun;
    if record.gate == Gate::Bypassed || lost || (strike && record.recording == Recording::CaughtUp) {
        let reason = by_name.map_or("--no-verify, or hooks that were off", |skip| &skip.reason);
        let details = SafetyDetails { reason: SafetyDetails::text(reason), ..here(detect::HOOK_BYPASS.id) };
        events.push(SafetyEvent { at, kind: EventType::BYPASS, details, action: "recorded" });
    }
    for skip in record.skipped.iter().filter(|skip| skip.rule != detect::HOOK_BYPASS.id) {
        let reason = SafetyDetails::text(&skip.reason);
        let details = SafetyDetails { reason, agent: skip.agent.clone(), ..here(&skip.rule) };
        events.push(SafetyEvent { at, kind: EventType::SKIPPED, details, action: "commit_allowed" });
    }
    for finding in &record.findings {
        // The ledger has the halts; where it lacks this one, the record has it.
        let reported = finding.level < Level::Warn || finding.rule == detect::HOOK_BYPASS.id;
        if reported || (finding.level == Level::Halt && halted.contains(&commit)) {
            continue;
        }
        let action = if finding.level == Level::Halt { "loop_halted" } else { GOES_ON };
        let about = detect::about(&finding.rule);
        let message = SafetyDetails::text(&finding.message);
        let mut details = SafetyDetails { message, ..here(&finding.rule) };
        details.set_bits(about.dirty);
        let kind = EventType::new(about.event, finding.level, ReportFile::Checkpoint);
        events.push(SafetyEvent { at, kind, details, action });
    }
}

fn of_fact(fact: &SafetyFact) -> SafetyEvent {
    let about = detect::about(&fact.rule);
    let kind = EventType::new(about.event, fact.level, ReportFile::Checkpoint);
    let (kind, action) = match fact.kind {
        SafetyKind::Refused => (kind, "commit_refused"),
        SafetyKind::Skipped => (EventType::SKIPPED, "commit_allowed"),
        // A remark on an unanswered halt: what continues behind it.
        SafetyKind::Noticed if fact.level == Level::Halt => {
            let kind = EventType::new(about.event, Level::Halt, ReportFile::BlockerReport);
            (kind, "blocker_report_created")
        }
        SafetyKind::Noticed if fact.level >= Level::Block => (kind, "blocked"),
        SafetyKind::Noticed => (kind, GOES_ON),
        SafetyKind::RefusedPush => (kind, "push_refused"),
        // The prompt of `andon complete` is what the document injects.
        SafetyKind::RefusedCompletion if about.event == EventClass::DirtyBit => {
            (kind, "injected_test_prompt")
        }
        SafetyKind::RefusedCompletion => (kind, "completion_refused"),
        SafetyKind::Pulled => (kind, "loop_stays_halted"),
        SafetyKind::Lifted => (EventType::LIFTED, "loop_stays_halted"),
    };
    let text = SafetyDetails::text(&fact.message);
    let (message, reason) = if fact.kind == SafetyKind::Skipped { (None, text) } else { (text, None) };
    let agent = fact.agent.clone();
    let mut details = SafetyDetails { message, reason, tree: fact.tree, agent, ..about_rule(&fact.rule) };
    if matches!(fact.kind, SafetyKind::Refused | SafetyKind::RefusedPush | SafetyKind::RefusedCompletion) {
        details.set_bits(about.dirty);
    }
    // Bits that were known then go before those that the rule implies.
    details.set_figures(&fact.figures);
    SafetyEvent { at: fact.at, kind, details, action }
}

/// Columns of an event's text.
const TEXT: usize = 300;
/// Columns of the longest word.
const WORD: usize = 8;

/// The class of an event, by the names of the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct EventType(pub &'static str);

impl EventType {
    /// A rule was passed over for one commit.
    pub const SKIPPED: Self = Self("DIRTY_BIT_SKIPPED");
    /// A commit went around the gate.
    pub const BYPASS: Self = Self(EventClass::GateBypass.as_str());
    /// A halt was answered.
    pub const ANSWERED: Self = Self("ACKNOWLEDGED");
    /// An answer lacks the signature that its halt asks for.
    pub const UNSIGNED: Self = Self("UNSIGNED_ANSWER");
    /// STOP or PAUSE was lifted while another halt was unanswered.
    pub const LIFTED: Self = Self("CORD_LIFTED");
    /// One counter was reset.
    pub const RESET: Self = Self("COUNTER_RESET");

    /// The type of what a rule says; of a tool loop the level and the file that shows it tell the grade.
    pub fn new(event: EventClass, level: Level, shown: ReportFile) -> Self {
        let is_loop = event == EventClass::ToolLoop;
        Self(if is_loop && shown == ReportFile::BlockerReport {
            "INFINITE_LOOP"
        } else if is_loop && level >= Level::Halt {
            "HARD_LOOP"
        } else {
            event.as_str()
        })
    }
}

/// One safety event, with the names of the document. Texts raw.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SafetyEvent {
    /// The time, where it is known.
    #[serde(rename = "timestamp")]
    pub at: Option<Timestamp>,
    /// The class of the event, which its JSON names.
    #[serde(rename = "type")]
    pub kind: EventType,
    /// The rest of what is known.
    #[serde(serialize_with = "known")]
    pub details: SafetyDetails,
    /// The action that followed.
    #[serde(rename = "action_taken")]
    pub action: &'static str,
}

impl SafetyEvent {
    /// The event in a word for people; JSON has the codes of the document.
    fn word(&self) -> &'static str {
        match (self.kind, self.action) {
            (EventType::SKIPPED, _) => "skipped",
            (EventType::BYPASS, _) => "bypassed",
            (EventType::ANSWERED, _) => "answered",
            (EventType::UNSIGNED, _) => "unsigned",
            (EventType::LIFTED, _) => "lifted",
            (EventType::RESET, _) => "reset",
            (_, "commit_refused" | "push_refused" | "completion_refused") => "refused",
            (_, "blocked") => "blocked",
            (_, "loop_stays_halted") => "stopped",
            (_, action) if action.starts_with("loop_halted") || action == "blocker_report_created" => {
                "halted"
            }
            _ => "warned",
        }
    }

    fn summary(&self) -> String {
        let details = &self.details;
        let text = details.message.as_ref().or(details.reason.as_ref());
        let place = details.commit.map(|commit| commit.short());
        let parts =
            [details.rule.as_deref(), place.as_deref(), details.by.as_deref(), text.map(String::as_str)];
        parts.into_iter().flatten().collect::<Vec<_>>().join(": ")
    }
}

/// The events for a person, in the order given.
pub fn text(events: &[SafetyEvent], style: Style) -> String {
    let mut page = Page::new(style);
    if events.is_empty() {
        page.line("no safety events");
    }
    for event in events {
        let at = event.at.map_or_else(|| "-".to_owned(), |at| page.style.date(at));
        let word = page.style.yellow(&format!("{:<WORD$}", event.word()));
        let summary = terminal_clip(&event.summary(), TEXT);
        page.wrap("", &format!("{at}  {word}  {summary}"), "    ");
    }
    page.finish()
}

/// The known facts of an event. Texts raw, and none of them empty.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct SafetyDetails {
    pub rule: Option<String>,
    pub message: Option<String>,
    pub reason: Option<String>,
    pub by: Option<String>,
    pub how: Option<&'static str>,
    pub agent: Option<String>,
    pub halt_reason: Option<HaltReason>,
    pub cycle_id: Option<String>,
    pub iteration: Option<u64>,
    pub commit: Option<CommitId>,
    pub tree: Option<TreeId>,
    pub worktree: Option<String>,
    /// The figures of a tool loop.
    pub signature: Option<String>,
    pub count: Option<u64>,
    /// The figures of the context gate.
    pub context_pct: Option<u64>,
    pub threshold: Option<u64>,
    pub code_modified: Option<bool>,
    pub tests_run: Option<bool>,
    pub tests_passing: Option<bool>,
    pub docs_updated: Option<bool>,
}

fn known<S: Serializer>(details: &SafetyDetails, serializer: S) -> Result<S::Ok, S::Error> {
    members_of(details).serialize(serializer)
}

impl SafetyDetails {
    /// A text, unless it is empty.
    pub fn text(text: &str) -> Option<String> {
        Some(text.to_owned()).filter(|text| !text.is_empty())
    }

    /// Adds what the dirty bits of a rule are, as the document has them.
    pub fn set_bits(&mut self, dirty: Option<DirtyBit>) {
        match dirty {
            Some(DirtyBit::TestsRun) => (self.code_modified, self.tests_run) = (Some(true), Some(false)),
            Some(DirtyBit::TestsPassing) => (self.tests_run, self.tests_passing) = (Some(true), Some(false)),
            Some(DirtyBit::DocsUpdated) => self.docs_updated = Some(false),
            None => {}
        }
    }

    /// Adds what the document shows of a tool loop (`signature`, `count`) and of the context gate (`context_pct`,
    /// `threshold`).
    pub fn set_figures(&mut self, figures: &Figures) {
        match figures {
            Figures::Unreported => {}
            Figures::Calls { tool, signature, count } => {
                let signature = signature.clone().unwrap_or_else(|| format!("{tool}(...)"));
                (self.signature, self.count) = (Some(signature), Some(*count));
            }
            Figures::Bits { code_modified, tests_run, tests_passing, docs_updated } => {
                (self.code_modified, self.docs_updated) = (*code_modified, *docs_updated);
                (self.tests_run, self.tests_passing) = (*tests_run, *tests_passing);
            }
            Figures::Fill { percent, threshold } => {
                (self.context_pct, self.threshold) = (Some(*percent), Some(*threshold));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use andon_core::detect::REGISTRY;
    use andon_core::domain::{DirtyBit, Figures};

    #[test]
    fn the_types_are_those_of_the_document() {
        for (event, level, shown, kind) in [
            (EventClass::ToolLoop, Level::Warn, ReportFile::Checkpoint, "SOFT_LOOP"),
            (EventClass::ToolLoop, Level::Halt, ReportFile::Checkpoint, "HARD_LOOP"),
            (EventClass::ToolLoop, Level::Halt, ReportFile::BlockerReport, "INFINITE_LOOP"),
            (EventClass::DirtyBit, Level::Block, ReportFile::Checkpoint, "DIRTY_BIT_VIOLATION"),
            (EventClass::Compaction, Level::Block, ReportFile::Checkpoint, "COMPACTION_GATE"),
            (EventClass::Budget, Level::Halt, ReportFile::Checkpoint, "BUDGET_EXCEEDED"),
            (EventClass::Stall, Level::Halt, ReportFile::Checkpoint, "STALL"),
        ] {
            assert_eq!(EventType::new(event, level, shown).0, kind);
        }
        for rule in REGISTRY {
            let kind = EventType::new(rule.about.event, rule.level, ReportFile::Checkpoint).0;
            assert!(kind.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_'), "{kind}");
        }
        for (rule, kind) in
            [("cycle-cost", "BUDGET_EXCEEDED"), ("idle-turns", "STALL"), ("oscillation", "OSCILLATION")]
        {
            assert_eq!(
                EventType::new(andon_core::detect::about(rule).event, Level::Halt, ReportFile::Checkpoint).0,
                kind,
                "{rule}"
            );
        }
    }

    #[test]
    fn a_name_with_a_colon_is_the_whole_signature() {
        let figures = Figures::Calls { tool: "mcp: search".to_owned(), signature: None, count: 5 };
        let mut details = SafetyDetails::default();
        details.set_figures(&figures);
        assert_eq!((details.signature.as_deref(), details.count), (Some("mcp: search(...)"), Some(5)));
    }

    #[test]
    fn the_export_has_the_documented_form() {
        let mut details = SafetyDetails {
            rule: SafetyDetails::text("untested-edit"),
            message: SafetyDetails::text("\u{1b}[2J"),
            agent: SafetyDetails::text(""),
            ..SafetyDetails::default()
        };
        details.set_bits(Some(DirtyBit::TestsRun));
        let kind = EventType::new(EventClass::DirtyBit, Level::Block, ReportFile::Checkpoint);
        let events = [SafetyEvent { at: Some(Timestamp(0)), kind, details, action: "commit_refused" }];
        assert_eq!(
            json!({ "events": events }),
            json!({ "events": [{
                "timestamp": "1970-01-01T00:00:00Z",
                "type": "DIRTY_BIT_VIOLATION",
                "details": {
                    "rule": "untested-edit", "message": "\u{1b}[2J", "code_modified": true, "tests_run": false,
                },
                "action_taken": "commit_refused",
            }] })
        );
        let shown = text(&events, Style::Plain);
        assert!(shown.contains("refused   untested-edit: ") && !shown.contains('\u{1b}'), "{shown}");
        assert_eq!(text(&[], Style::Plain), "no safety events\n");
    }
}
