//! `andon log --events`: the safety events, in the form that docs/formats.md documents.

use serde_json::{Map, Value, json};

use crate::domain::about::{DirtyBit, EventClass};
use crate::domain::detail::Figures;
use crate::domain::findings::Level;
use crate::domain::time::Timestamp;

use super::escape::terminal_clip;
use super::page::Page;
use super::style::Style;

/// Columns of a line.
const LINE: usize = 160;

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
    /// STOP or PAUSE was lifted while another halt stood.
    pub const LIFTED: Self = Self("CORD_LIFTED");
    /// One counter was reset.
    pub const RESET: Self = Self("COUNTER_RESET");

    /// The type of what a rule says; of a tool loop the level and the file that shows it tell the grade.
    pub fn of(event: EventClass, level: Level, blocker: bool) -> Self {
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
    pub kind: EventType,
    /// The rest of what is known.
    pub details: Map<String, Value>,
    /// What was done about it.
    pub action: &'static str,
}

impl SafetyEvent {
    /// An event with the details that have a value.
    pub fn new(
        at: Option<Timestamp>,
        kind: EventType,
        details: impl IntoIterator<Item = (&'static str, Value)>,
        action: &'static str,
    ) -> Self {
        let known = details.into_iter().filter(|(_, value)| !value.is_null() && value != "");
        Self { at, kind, details: known.map(|(key, value)| (key.to_owned(), value)).collect(), action }
    }

    /// What the dirty bits of a rule are, as the document has them.
    #[must_use]
    pub fn with_bits(mut self, dirty: Option<DirtyBit>) -> Self {
        let bits: &[(&str, bool)] = match dirty {
            Some(DirtyBit::TestsRun) => &[("code_modified", true), ("tests_run", false)],
            Some(DirtyBit::TestsPassing) => &[("tests_run", true), ("tests_passing", false)],
            Some(DirtyBit::DocsUpdated) => &[("docs_updated", false)],
            None => &[],
        };
        self.details.extend(bits.iter().map(|(bit, value)| ((*bit).to_owned(), json!(value))));
        self
    }

    /// What the document shows of a tool loop (`signature`, `count`) and of the context gate (`context_pct`,
    /// `threshold`).
    #[must_use]
    pub fn with_figures(mut self, figures: &Figures) -> Self {
        let figures: Vec<(&str, Value)> = match figures {
            Figures::Unreported => Vec::new(),
            Figures::Calls { tool, count } => {
                vec![("signature", json!(format!("{tool}(...)"))), ("count", json!(count))]
            }
            Figures::Fill { percent, threshold } => {
                vec![("context_pct", json!(percent)), ("threshold", json!(threshold))]
            }
        };
        self.details.extend(figures.into_iter().map(|(key, value)| (key.to_owned(), value)));
        self
    }

    fn said(&self) -> String {
        let text = |key: &str| self.details.get(key).and_then(Value::as_str).unwrap_or_default();
        let said = if text("message").is_empty() { text("reason") } else { text("message") };
        let place = text("commit").get(..12).unwrap_or_default();
        let parts = [text("rule"), place, text("by"), said];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(": ")
    }
}

/// The events for a person, in the order given.
pub fn text(events: &[SafetyEvent], style: Style) -> String {
    let mut page = Page::new(style);
    if events.is_empty() {
        page.line("no safety events");
    }
    for event in events {
        let at = event.at.map_or_else(|| format!("{:<20}", "-"), |at| at.to_string());
        let said = terminal_clip(&event.said(), LINE.saturating_sub(66));
        let kind = page.style.yellow(&format!("{:<19}", event.kind.0));
        page.line(&format!("{at}  {kind}  {:<20}  {said}", event.action));
    }
    page.finish()
}

/// The documented form: `{"events":[{"timestamp","type","details","action_taken"}]}`.
pub fn json(events: &[SafetyEvent]) -> Value {
    let one = |event: &SafetyEvent| {
        json!({
            "timestamp": event.at.map(|at| at.to_string()),
            "type": event.kind.0,
            "details": event.details,
            "action_taken": event.action,
        })
    };
    json!({ "events": events.iter().map(one).collect::<Value>() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::REGISTRY;

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
            assert_eq!(EventType::of(event, level, blocker).0, kind);
        }
        for rule in REGISTRY {
            let kind = EventType::of(rule.about.event, rule.level, false).0;
            assert!(kind.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_'), "{kind}");
        }
        for (rule, kind) in
            [("cycle-cost", "BUDGET_EXCEEDED"), ("idle-turns", "STALL"), ("oscillation", "OSCILLATION")]
        {
            assert_eq!(EventType::of(crate::detect::about(rule).event, Level::Halt, false).0, kind, "{rule}");
        }
    }

    #[test]
    fn a_name_with_a_colon_is_the_whole_signature() {
        let figures = Figures::Calls { tool: "mcp: search".to_owned(), count: 5 };
        let kind = EventType::of(EventClass::ToolLoop, Level::Halt, false);
        let event = SafetyEvent::new(None, kind, [], "loop_halted").with_figures(&figures);
        assert_eq!(
            (&event.details["signature"], &event.details["count"]),
            (&json!("mcp: search(...)"), &json!(5))
        );
    }

    #[test]
    fn the_export_has_the_documented_form() {
        let details =
            [("rule", json!("untested-edit")), ("agent", Value::Null), ("message", json!("\u{1b}[2J"))];
        let kind = EventType::of(EventClass::DirtyBit, Level::Block, false);
        let event = SafetyEvent::new(Some(Timestamp(0)), kind, details, "commit_refused");
        let events = [event.with_bits(Some(DirtyBit::TestsRun))];
        assert_eq!(
            json(&events),
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
        assert!(
            shown.contains("DIRTY_BIT_VIOLATION  commit_refused") && !shown.contains('\u{1b}'),
            "{shown}"
        );
        assert_eq!(text(&[], Style::Plain), "no safety events\n");
    }
}
