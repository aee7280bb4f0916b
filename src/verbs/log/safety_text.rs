//! `andon log --events`: the safety events, in the form that docs/formats.md documents.

use andon_core::domain::about::EventClass;
use andon_core::domain::findings::Level;
use andon_core::domain::time::Timestamp;

use crate::json::{SafetyDetails, SafetyEventJson, SafetyLogJson};
use andon_core::escape::terminal_clip;
use andon_engine::text::page::Page;
use andon_engine::text::style::Style;

/// Columns of an event's text.
const TEXT: usize = 300;
/// Columns of the longest word.
const WORD: usize = 8;

/// What happened, by the names of the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventType(pub &'static str);

impl EventType {
    /// A rule was passed over for one commit.
    pub const SKIPPED: Self = Self("DIRTY_BIT_SKIPPED");
    /// A commit went around the gate.
    pub const BYPASS: Self = Self("GATE_BYPASS");
    /// A halt was answered.
    pub const ANSWERED: Self = Self("ACKNOWLEDGED");
    /// STOP or PAUSE was lifted while another halt was unanswered.
    pub const LIFTED: Self = Self("CORD_LIFTED");
    /// One counter was reset.
    pub const RESET: Self = Self("COUNTER_RESET");

    /// The type of what a rule says; of a tool loop the level and the file that shows it tell the grade.
    pub fn new(event: EventClass, level: Level, blocker: bool) -> Self {
        Self(match event {
            EventClass::ToolLoop if blocker => "INFINITE_LOOP",
            EventClass::ToolLoop if level >= Level::Halt => "HARD_LOOP",
            EventClass::ToolLoop => "SOFT_LOOP",
            EventClass::DirtyBit => "DIRTY_BIT_VIOLATION",
            EventClass::Compaction => "COMPACTION_GATE",
            EventClass::IdentityDrift => "IDENTITY_DRIFT",
            EventClass::Escalation => "ESCALATION",
            EventClass::GateBypass => Self::BYPASS.0,
            EventClass::UserStop => "USER_STOP",
            EventClass::IterationCap => "ITERATION_CAP",
            EventClass::Budget => "BUDGET_EXCEEDED",
            EventClass::NoProgress => "NO_PROGRESS",
            EventClass::Oscillation => "OSCILLATION",
            EventClass::Stall => "STALL",
        })
    }
}

/// One safety event. Texts raw.
#[derive(Debug, Clone, PartialEq)]
pub struct SafetyEvent {
    /// When, where that is known.
    pub at: Option<Timestamp>,
    /// The class of the event, which its JSON names.
    pub kind: EventType,
    /// The rest of what is known.
    pub details: SafetyDetails,
    /// What was done about it.
    pub action: &'static str,
}

impl SafetyEvent {
    /// What happened, in a word for people; JSON has the codes of the document.
    fn word(&self) -> &'static str {
        match (self.kind, self.action) {
            (EventType::SKIPPED, _) => "skipped",
            (EventType::BYPASS, _) => "bypassed",
            (EventType::ANSWERED, _) => "answered",
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

/// The documented form: `{"events":[{"timestamp","type","details","action_taken"}]}`.
pub fn json(events: &[SafetyEvent]) -> SafetyLogJson {
    let one = |event: &SafetyEvent| SafetyEventJson {
        timestamp: event.at,
        kind: event.kind.0,
        details: event.details.members(),
        action_taken: event.action,
    };
    SafetyLogJson { events: events.iter().map(one).collect() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use andon_core::detect::REGISTRY;
    use andon_core::domain::about::DirtyBit;
    use andon_core::domain::detail::Figures;

    #[test]
    fn the_types_are_those_of_the_document() {
        for (event, level, blocker, kind) in [
            (EventClass::ToolLoop, Level::Warn, false, "SOFT_LOOP"),
            (EventClass::ToolLoop, Level::Halt, false, "HARD_LOOP"),
            (EventClass::ToolLoop, Level::Halt, true, "INFINITE_LOOP"),
            (EventClass::DirtyBit, Level::Block, false, "DIRTY_BIT_VIOLATION"),
            (EventClass::Compaction, Level::Block, false, "COMPACTION_GATE"),
            (EventClass::Budget, Level::Halt, false, "BUDGET_EXCEEDED"),
            (EventClass::Stall, Level::Halt, false, "STALL"),
        ] {
            assert_eq!(EventType::new(event, level, blocker).0, kind);
        }
        for rule in REGISTRY {
            let kind = EventType::new(rule.about.event, rule.level, false).0;
            assert!(kind.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_'), "{kind}");
        }
        for (rule, kind) in
            [("cycle-cost", "BUDGET_EXCEEDED"), ("idle-turns", "STALL"), ("oscillation", "OSCILLATION")]
        {
            assert_eq!(
                EventType::new(andon_core::detect::about(rule).event, Level::Halt, false).0,
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
        let kind = EventType::new(EventClass::DirtyBit, Level::Block, false);
        let events = [SafetyEvent { at: Some(Timestamp(0)), kind, details, action: "commit_refused" }];
        assert_eq!(
            andon_testkit::samples::value_of(&json(&events)),
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
