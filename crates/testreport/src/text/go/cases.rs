//! The tests of one Go package as their lines come.

use std::collections::BTreeMap;

use crate::{Counts, MAX_FAILING};

use super::super::super::tally::{Outcome, append_line};
use super::super::super::test_names::MAX_IDS;

/// Deepest subtest that is followed.
const MAX_DEPTH: usize = 32;

/// Tests under way whose words are kept.
const MAX_RUNNING: usize = 256;

/// A test whose line has come, and maybe those of its subtests.
#[derive(Debug)]
struct Open {
    name: String,
    outcome: Outcome,
    text: String,
    /// Subtests, and those of them that failed.
    children: u64,
    failed: u64,
}

/// What became of them.
pub(super) struct CaseCounts {
    pub(super) counts: Counts,
    /// All of them, where lines say when tests begin (`-v`): without, only those that failed have one.
    pub(super) named: Option<Vec<(String, Outcome)>>,
    /// Names with error texts, perhaps empty.
    pub(super) failures: Vec<(String, String)>,
    /// A panic that belongs to no test.
    pub(super) panic: Option<String>,
}

/// Collects tests: parents come before their subtests, which are indented.
#[derive(Debug, Default)]
pub(super) struct Cases {
    open: Vec<Open>,
    counts: Counts,
    named: Vec<(String, Outcome)>,
    /// A line said that a test begins.
    verbose: bool,
    failures: Vec<(String, String)>,
    /// With `-v`, what tests say comes before they end.
    running: BTreeMap<String, String>,
    current: Option<String>,
    panic: Option<String>,
    /// Below a panic: `running tests:` names those that hang.
    after_panic: bool,
}

impl Cases {
    /// A line; `Some` when no other program would print it.
    pub(super) fn line(&mut self, line: &str) -> Option<()> {
        let text = line.trim_start_matches(' ');
        let depth = (line.len() - text.len()) / 4;
        if let Some((name, outcome)) = result(text).filter(|_| depth < MAX_DEPTH) {
            self.result(depth, name, outcome);
            return Some(());
        }
        if let Some(name) = line.strip_prefix("=== ").and_then(running) {
            self.start(name);
            return Some(());
        }
        if let Some(words) = line.strip_prefix("panic: ") {
            self.panic.get_or_insert_with(|| format!("panic: {}", words.trim_end_matches(" [recovered]")));
            self.after_panic = true;
        } else if self.after_panic {
            self.hanging(line);
        } else {
            self.words(depth, text);
        }
        None
    }

    fn start(&mut self, name: &str) {
        self.verbose = true;
        self.current = Some(name.to_owned());
        if self.running.len() < MAX_RUNNING {
            self.running.entry(name.to_owned()).or_default();
        }
    }

    fn result(&mut self, depth: usize, name: &str, outcome: Outcome) {
        while self.open.len() > depth {
            self.close();
        }
        let text = self.running.remove(name).unwrap_or_default();
        self.current = None;
        self.after_panic = false;
        self.open.push(Open { name: name.to_owned(), outcome, text, children: 0, failed: 0 });
    }

    /// Words of a test: indented below its result, or with `-v` before it.
    fn words(&mut self, depth: usize, text: &str) {
        let example = self.open.last().is_some_and(|open| open.name.starts_with("Example"));
        let below = depth >= self.open.len() || example;
        let into = match (&self.current, self.open.last_mut()) {
            (Some(name), _) if depth > 0 => self.running.get_mut(name),
            (None, Some(open)) if below => Some(&mut open.text),
            (Some(_) | None, Some(_) | None) => None,
        };
        if let Some(into) = into.filter(|_| !text.is_empty()) {
            append_line(into, text);
        }
    }

    /// `\t\tTestSlow (1.00s)` in the list below a timeout.
    fn hanging(&mut self, line: &str) {
        let named = line.strip_prefix("\t\tTest").and_then(|rest| rest.split_once(" ("));
        if let Some((name, _)) = named {
            self.result(0, &format!("Test{name}"), Outcome::Failed);
            self.after_panic = true;
        }
    }

    /// The last open test has no further subtests.
    fn close(&mut self) {
        let Some(open) = self.open.pop() else { return };
        let failed = open.outcome == Outcome::Failed;
        if let Some(parent) = self.open.last_mut() {
            parent.children += 1;
            parent.failed += u64::from(failed);
        }
        let itself = open.children == 0 || (failed && open.failed == 0);
        if !itself {
            return;
        }
        if self.named.len() < MAX_IDS {
            self.named.push((open.name.clone(), open.outcome));
        }
        match open.outcome {
            Outcome::Passed => self.counts.passed += 1,
            Outcome::Skipped => self.counts.skipped += 1,
            Outcome::Failed | Outcome::Errored => {
                self.counts.failed += 1;
                if self.failures.len() <= MAX_FAILING {
                    self.failures.push((open.name, open.text));
                }
            }
        }
    }

    /// The package has ended. A panic explains the failing test that says nothing itself; a test that was
    /// running when the program died without its result line failed by it.
    pub(super) fn finish(mut self) -> CaseCounts {
        if let (Some(name), Some(_)) = (self.current.take(), &self.panic) {
            self.result(0, &name, Outcome::Failed);
        }
        while !self.open.is_empty() {
            self.close();
        }
        if let (Some(panic), Some((_, text))) = (&self.panic, self.failures.last_mut()) {
            append_line(text, panic);
        }
        let named = self.verbose.then_some(self.named);
        CaseCounts { counts: self.counts, named, failures: self.failures, panic: self.panic }
    }
}

/// `--- FAIL: TestA/b (0.00s)`
fn result(text: &str) -> Option<(&str, Outcome)> {
    let (verdict, rest) = text.strip_prefix("--- ")?.split_once(": ")?;
    let (name, time) = rest.rsplit_once(" (")?;
    let number = time.strip_suffix("s)")?;
    let timed = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let outcome = match verdict {
        "PASS" => Outcome::Passed,
        "FAIL" => Outcome::Failed,
        "SKIP" => Outcome::Skipped,
        _ => return None,
    };
    timed.then_some((name, outcome))
}

/// The test in `RUN   TestA`, `CONT  TestA` and `NAME  TestA`, after `=== `.
fn running(rest: &str) -> Option<&str> {
    ["RUN   ", "CONT  ", "NAME  "].iter().find_map(|word| rest.strip_prefix(word))
}
