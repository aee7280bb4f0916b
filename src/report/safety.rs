//! `andon log --events`: the safety events, in the form that `autonomous-loop-rules.md` (safety event log) documents.

use serde_json::{Map, Value, json};

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
    pub fn of(rule: &str, level: Level, blocker: bool) -> Self {
        Self(match rule {
            "tool-loop" if blocker => "INFINITE_LOOP",
            "tool-loop" if level >= Level::Halt => "HARD_LOOP",
            "tool-loop" => "SOFT_LOOP",
            "untested-edit" | "failing-tests" | "docs-not-updated" | "test-weakening" => {
                "DIRTY_BIT_VIOLATION"
            }
            "context-window" => "COMPACTION_GATE",
            "identity-drift" => "IDENTITY_DRIFT",
            "co-occurrence" => "ESCALATION",
            "hook-bypass" => Self::BYPASS.0,
            "user-stop" => "USER_STOP",
            "iteration-cap" => "ITERATION_CAP",
            "consecutive-failures" | "repeated-failures" | "repeated-error" | "failures-not-decreasing" => {
                "NO_PROGRESS"
            }
            "oscillation" | "recurrence" | "undo-churn" => "OSCILLATION",
            _ if ["node-", "cycle-", "turn-"].iter().any(|budget| rule.starts_with(budget)) => {
                "BUDGET_EXCEEDED"
            }
            _ => "STALL",
        })
    }
}

/// One safety event. Texts raw.
#[derive(Debug, Clone, PartialEq)]
pub struct SafetyEvent {
    /// When, where that is known.
    pub at: Option<Timestamp>,
    /// What happened.
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
    pub fn with_bits(mut self, rule: &str) -> Self {
        let bits: &[(&str, bool)] = match rule {
            "untested-edit" => &[("code_modified", true), ("tests_run", false)],
            "failing-tests" => &[("tests_run", true), ("tests_passing", false)],
            "docs-not-updated" => &[("docs_updated", false)],
            _ => &[],
        };
        self.details.extend(bits.iter().map(|(bit, value)| ((*bit).to_owned(), json!(value))));
        self
    }

    /// What the document shows of a tool loop (`signature`, `count`) and of the context gate (`context_pct`,
    /// `threshold`): the messages of these rules hold it, so that no format has to. `thresholds` are those of the gate.
    #[must_use]
    pub fn with_figures(mut self, rule: &str, message: &str, thresholds: [u64; 3]) -> Self {
        let number = |text: &str| text.rsplit(' ').next().and_then(|word| word.parse::<u64>().ok());
        match rule {
            "tool-loop" => {
                let mut parts = message.splitn(3, ": ").skip(1);
                let (tool, what) = (parts.next(), parts.next().unwrap_or_default());
                let before = |word: &str| what.split_once(word).and_then(|(before, _)| number(before));
                let count = before(" identical calls").or(before(" times running"));
                self.details.extend(tool.map(|tool| ("signature".to_owned(), json!(format!("{tool}(...)")))));
                self.details.extend(count.map(|count| ("count".to_owned(), json!(count))));
            }
            "context-window" => {
                let full = message.split_once(" %)").and_then(|(before, _)| before.rsplit('(').next());
                let full = full.and_then(|text| text.parse::<u64>().ok());
                let [warn, compact, block] = thresholds;
                let reached = match message {
                    said if said.starts_with("no tool call") => block,
                    said if said.starts_with("compaction") => compact,
                    _ => warn,
                };
                self.details.extend(full.map(|full| ("context_pct".to_owned(), json!(full))));
                self.details.insert("threshold".to_owned(), json!(reached));
            }
            _ => {}
        }
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
        for (rule, level, blocker, kind) in [
            ("tool-loop", Level::Warn, false, "SOFT_LOOP"),
            ("tool-loop", Level::Halt, false, "HARD_LOOP"),
            ("tool-loop", Level::Halt, true, "INFINITE_LOOP"),
            ("untested-edit", Level::Block, false, "DIRTY_BIT_VIOLATION"),
            ("context-window", Level::Block, false, "COMPACTION_GATE"),
            ("cycle-cost", Level::Halt, false, "BUDGET_EXCEEDED"),
            ("idle-turns", Level::Halt, false, "STALL"),
        ] {
            assert_eq!(EventType::of(rule, level, blocker).0, kind);
        }
        for rule in REGISTRY {
            let kind = EventType::of(rule.id, rule.level, false).0;
            assert!(kind.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_'), "{kind}");
        }
    }

    #[test]
    fn the_export_has_the_documented_form() {
        let details =
            [("rule", json!("untested-edit")), ("agent", Value::Null), ("message", json!("\u{1b}[2J"))];
        let kind = EventType::of("untested-edit", Level::Block, false);
        let event = SafetyEvent::new(Some(Timestamp(0)), kind, details, "commit_refused");
        let events = [event.with_bits("untested-edit")];
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
