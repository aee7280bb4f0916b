//! What a line of the journal is, without all that it says: a reader passes over thousands to find the few that it needs.

use std::borrow::Cow;

use serde::Deserialize;

use super::MAX_LINE;
use andon_core::domain::ids::CommitId;
use andon_core::format::{FormatError, object};

/// What a line is, without all that it says.
#[derive(Debug, Deserialize)]
#[serde(expecting = "an object")]
pub struct Peek<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    commit: Option<CommitId>,
}

impl Peek<'_> {
    /// Whether it is a test run.
    pub fn is_run(&self) -> bool {
        self.kind == "test_run"
    }

    /// Whether it is an event.
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

/// Whether a line is an event by the bytes with which the journal writes its type. No string of JSON can hold them: its
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
