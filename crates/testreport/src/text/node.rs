//! The `spec` reporter of node:test, its default: a tree of tests, counters, and the failing tests once more.
//!
//! A line that ends in milliseconds is a test; indentation says what it is in. The counters close the run,
//! and the list behind them explains what failed, under its name alone.

use super::Summary;
use super::sessions::{Sessions, listed, whole_number};
use crate::cases::{before_frames, bounded};
use crate::{Counts, tally::append_line};

/// Failing tests that wait for their explanation.
const MAX_WAITING: usize = 1_000;

/// Names of the counters at the end.
const COUNTERS: [&str; 7] = ["tests", "suites", "pass", "fail", "cancelled", "skipped", "todo"];

/// Deepest subtest that is followed.
const MAX_DEPTH: usize = 64;

/// A test that other tests are in.
struct Open {
    name: String,
    failed: u64,
}

/// A failing test that is not explained yet.
struct UnexplainedTest {
    name: String,
    path: String,
}

/// The place in the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Part {
    #[default]
    Tree,
    /// In the counters.
    Counters,
    /// After them.
    Explained,
}

/// Reads the tree line by line.
#[derive(Default)]
pub(super) struct NodeReader {
    part: Part,
    open: Vec<Open>,
    waiting: Vec<UnexplainedTest>,
    counts: Counts,
    /// Tests that the counters say there are.
    total: u64,
    /// The coming explanation: its test, and its text.
    explaining: Option<(String, String)>,
}

/// A line of the tree.
struct TreeLine<'t> {
    depth: usize,
    mark: char,
    name: &'t str,
    /// The text behind the time, such as `# TODO`; `None` when there is no time.
    after: Option<&'t str>,
}

impl NodeReader {
    fn tree(&mut self, sessions: &mut Sessions, tree_line: &TreeLine<'_>) {
        let TreeLine { depth, mark, name, after } = *tree_line;
        let Some(after) = after else {
            if mark == '▶' && depth < MAX_DEPTH {
                self.open.truncate(depth);
                self.open.push(Open { name: bounded(name).to_owned(), failed: 0 });
            }
            return;
        };
        sessions.prove();
        self.open.truncate(depth.saturating_add(1));
        let own = if self.open.last().is_some_and(|open| open.name == name && self.open.len() > depth) {
            self.open.pop().is_none_or(|open| open.failed == 0)
        } else {
            self.open.truncate(depth);
            true
        };
        if mark != '✖' || after.contains("# TODO") {
            return;
        }
        if let Some(parent) = self.open.last_mut() {
            parent.failed += 1;
        }
        if own {
            let path: Vec<&str> = self.open.iter().map(|open| open.name.as_str()).chain([name]).collect();
            let path = bounded(&path.join(" > ")).to_owned();
            sessions.fail(&path, None);
            if self.waiting.len() < MAX_WAITING {
                self.waiting.push(UnexplainedTest { name: bounded(name).to_owned(), path });
            }
        }
    }

    /// `ℹ pass 4`: true when it was one of the counters.
    fn counter(&mut self, sessions: &mut Sessions, line: &str) -> bool {
        let named = line.strip_prefix("ℹ ").and_then(|rest| rest.split_once(' '));
        let Some((name, number)) = named else { return false };
        if name == "duration_ms" && self.part == Part::Counters {
            let counts = std::mem::take(&mut self.counts);
            sessions.summary(counts);
            sessions.hold_against(std::mem::take(&mut self.total), listed(counts));
            self.part = Part::Explained;
            return true;
        }
        let Some(number) = whole_number(number).filter(|_| COUNTERS.contains(&name)) else { return false };
        // Any counter may be the first where the beginning of the output is cut off.
        if self.part != Part::Counters {
            self.part = Part::Counters;
            (self.counts, self.total) = (Counts::default(), 0);
            sessions.prove();
        }
        match name {
            "tests" => self.total = number,
            "pass" => self.counts.passed = number,
            "fail" => self.counts.failed = number,
            "cancelled" => self.counts.errored = number,
            "skipped" | "todo" => self.counts.skipped = self.counts.skipped.saturating_add(number),
            _ => {}
        }
        true
    }

    fn end_explaining(&mut self, sessions: &mut Sessions) {
        let Some((name, text)) = self.explaining.take() else { return };
        let Some(at) = self.waiting.iter().position(|waiting| waiting.name == name) else { return };
        let waiting = self.waiting.remove(at);
        sessions.closed.fail(&waiting.path, Some(before_frames(&text)));
    }
}

impl Summary for NodeReader {
    fn line(&mut self, sessions: &mut Sessions, line: &str) {
        if self.counter(sessions, line) {
            return;
        }
        let tree_line = parse_line(line);
        match (self.part, tree_line) {
            (Part::Tree, Some(tree_line)) => self.tree(sessions, &tree_line),
            (Part::Explained, Some(tree_line)) if tree_line.depth == 0 && tree_line.mark == '✖' => {
                self.end_explaining(sessions);
                self.explaining =
                    tree_line.after.map(|_| (bounded(tree_line.name).to_owned(), String::new()));
            }
            (Part::Explained, Some(tree_line)) if tree_line.depth == 0 => {
                self.end_explaining(sessions);
                self.waiting.clear();
                self.part = Part::Tree;
                self.tree(sessions, &tree_line);
            }
            (Part::Explained, _) if line.starts_with("test at ") => self.end_explaining(sessions),
            (Part::Explained, _) => {
                if let Some((_, text)) = &mut self.explaining {
                    append_line(text, line.strip_prefix("  ").unwrap_or(line));
                }
            }
            (Part::Tree | Part::Counters, _) => {}
        }
    }

    fn end(&mut self, sessions: &mut Sessions) {
        self.end_explaining(sessions);
    }
}

/// `  ✖ child bad (0.17ms) # TODO`.
fn parse_line(line: &str) -> Option<TreeLine<'_>> {
    let trimmed = line.trim_start_matches(' ');
    let mark = trimmed.chars().next().filter(|mark| matches!(mark, '▶' | '✔' | '✖' | '﹣'))?;
    let rest = trimmed.strip_prefix(mark)?.strip_prefix(' ')?;
    let timed = rest.rsplit_once("ms)").and_then(|(head, after)| {
        let (name, number) = head.rsplit_once(" (")?;
        let number_is_one =
            number.contains('.') && number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        let after_is_directive = after.is_empty() || after.starts_with(" # ");
        (number_is_one && after_is_directive).then_some((name, after))
    });
    let depth = (line.len() - trimmed.len()) / 2;
    Some(match timed {
        Some((name, after)) => TreeLine { depth, mark, name, after: Some(after) },
        None => TreeLine { depth, mark, name: rest, after: None },
    })
}

#[cfg(test)]
mod tests;
