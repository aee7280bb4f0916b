//! The events of node:test as a custom reporter writes them: an event a line, with its type and its data.
//!
//! Tests come in the order in which they were declared, children before the end of their parent, so that
//! nesting and the starts give the path. As in TAP, tests count by their leaves: a parent counts itself only
//! when it fails although nothing below it did. The last diagnostics, or a summary, close the run.

use serde::Deserialize;
use serde_json::Value;

use super::{EventReader, LineUse};
use crate::cases::{Cases, before_frames, bounded};
use crate::{ReportProblem, tally::Outcome};

/// Deepest subtest that is followed.
const MAX_DEPTH: usize = 64;

#[derive(Deserialize)]
struct Event {
    #[serde(rename = "type")]
    kind: String,
    data: Value,
}

/// A test that has begun.
struct Open {
    name: String,
    children: u64,
    failed: u64,
}

/// Reads the events line by line.
#[derive(Default)]
pub(super) struct NodeReader {
    open: Vec<Open>,
    /// Tests at the top since the last plan for it.
    top: u64,
    planned: Option<u64>,
    claimed_failing: u64,
    ended: bool,
}

impl NodeReader {
    fn begin(&mut self, nesting: usize, data: &Value) {
        self.open.truncate(nesting);
        if nesting < MAX_DEPTH && self.open.len() == nesting {
            let name = bounded(word(data, "/name")).to_owned();
            self.open.push(Open { name, children: 0, failed: 0 });
        }
        self.ended = false;
    }

    fn end(&mut self, said: &mut Cases, nesting: usize, data: &Value, outcome: Outcome) {
        let name = bounded(word(data, "/name"));
        self.open.truncate(nesting.saturating_add(1));
        let below = if self.open.len() > nesting { self.open.pop() } else { None };
        let below = below.filter(|open| open.name == name);
        let (children, failed) = below.map_or((0, 0), |open| (open.children, open.failed));
        let outcome = match (outcome, is_set(data, "/skip"), is_set(data, "/todo")) {
            (_, true, _) | (Outcome::Failed | Outcome::Errored, _, true) => Outcome::Skipped,
            (outcome, false, _) => outcome,
        };
        let failing = outcome.is_failing();
        let is_suite = word(data, "/details/type") == "suite";
        let counts =
            if failing { failed == 0 } else { children == 0 && (!is_suite || outcome == Outcome::Skipped) };
        if counts {
            let path: Vec<&str> = self.open.iter().map(|open| open.name.as_str()).chain([name]).collect();
            let path = path.join(" > ");
            said.tally.ended(bounded(&path), outcome, &error(data));
        }
        match self.open.last_mut() {
            Some(parent) => {
                parent.children += 1;
                parent.failed += u64::from(failing);
            }
            None => self.top = self.top.saturating_add(1),
        }
    }

    fn diagnostic(&mut self, message: &str) {
        if let Some(count) = message.strip_prefix("fail ") {
            self.claimed_failing = self.claimed_failing.saturating_add(count.trim().parse().unwrap_or(0));
        }
        if message.starts_with("duration_ms ") {
            self.ended = true;
        }
    }
}

impl EventReader for NodeReader {
    fn line(&mut self, said: &mut Cases, text: &str) -> LineUse {
        if !text.contains("\"type\":\"test:") && !text.contains("\"type\": \"test:") {
            return LineUse::NotMine;
        }
        let Ok(event) = serde_json::from_str::<Event>(text) else {
            return LineUse::Broken;
        };
        said.recognised = true;
        let data = &event.data;
        let nesting = number(data, "/nesting").and_then(|depth| usize::try_from(depth).ok()).unwrap_or(0);
        match event.kind.as_str() {
            "test:start" => self.begin(nesting, data),
            "test:pass" => self.end(said, nesting, data, Outcome::Passed),
            "test:fail" => self.end(said, nesting, data, failure(data)),
            "test:plan" if nesting == 0 => self.planned = number(data, "/count"),
            "test:diagnostic" if nesting == 0 => self.diagnostic(word(data, "/message")),
            "test:summary" if data.get("file").is_none_or(Value::is_null) => {
                self.claimed_failing =
                    number(data, "/counts/failed").or_else(|| number(data, "/counts/fail")).unwrap_or(0);
                self.ended = true;
            }
            _ => {}
        }
        LineUse::Mine
    }

    fn conclude(&mut self, said: &mut Cases) {
        if let Some(planned) = self.planned.filter(|planned| *planned > self.top) {
            said.problem(&ReportProblem::PlanMismatch { planned, came: self.top });
        } else if !self.ended || !self.open.is_empty() {
            said.cut("the run has no end");
        }
        if self.claimed_failing > 0 && !said.tally.has_failures() {
            said.tally.count(Outcome::Errored);
            said.tally.fail("test run", Some("the report counts failures that no test shows"));
        }
    }
}

fn word<'v>(data: &'v Value, path: &str) -> &'v str {
    data.pointer(path).and_then(Value::as_str).unwrap_or_default()
}

fn number(data: &Value, path: &str) -> Option<u64> {
    data.pointer(path).and_then(Value::as_u64)
}

/// `true`, or the reason; an absent directive is `undefined`, `false` or an empty text.
fn is_set(data: &Value, path: &str) -> bool {
    data.pointer(path).is_some_and(|value| match value {
        Value::Bool(set) => *set,
        Value::Null => false,
        Value::String(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => true,
    })
}

/// A test that was cancelled, ran out of time or whose hook failed could not be carried through.
fn failure(data: &Value) -> Outcome {
    match word(data, "/details/error/failureType") {
        "cancelledByParent" | "testAborted" | "testTimeoutFailure" | "hookFailed" => Outcome::Errored,
        _ => Outcome::Failed,
    }
}

/// The error that was thrown, as far as the reporter has written it down: JSON leaves messages out by itself.
fn error(data: &Value) -> String {
    let places = [
        "/details/error/cause/stack",
        "/details/error/cause/message",
        "/details/error/cause",
        "/details/error/message",
    ];
    let error = places.iter().map(|place| word(data, place)).find(|text| !text.is_empty());
    if let Some(text) = error.or_else(|| data.pointer("/details/error").and_then(Value::as_str)) {
        return before_frames(text).to_owned();
    }
    let parts = ["code", "operator", "expected", "actual"].iter().filter_map(|key| {
        let value = data.pointer(&format!("/details/error/cause/{key}"))?;
        Some(format!("{key}: {value}"))
    });
    let text: Vec<String> = parts.collect();
    if text.is_empty() { word(data, "/details/error/failureType").to_owned() } else { text.join("\n") }
}

#[cfg(test)]
mod tests;
