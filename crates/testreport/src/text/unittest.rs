//! Python's unittest and what is built on it (Django's runner among them), on standard error.
//!
//! `Ran 3 tests in 0.001s` and the verdict after it are the summary. Expected failures count as skipped,
//! unexpected successes as failed. Errors outside of tests (`setUpClass`, modules that cannot be imported)
//! are errored cases and may be more than the tests that ran.

use super::Summary;
use super::sessions::{Sessions, is_seconds, name_first, sum, whole_number};
use crate::tally::{Outcome, Trouble, append_line};
use crate::{Counts, WordList, words::RUNNERS};

/// Length of the rules that unittest draws.
const RULE: usize = 70;

/// Whatever a verdict counts.
const WORDS: WordList = WordList::section(RUNNERS, "unittest summary");

/// The place of the next line in a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Part {
    #[default]
    Other,
    /// After a rule of `=`: the heading of a failure.
    Heading,
    /// Between heading and rule: a description.
    Described,
    /// The frames of a traceback, then the error.
    Frames,
    Error,
    /// `Ran N tests`: the verdict follows.
    Ran(u64),
}

#[derive(Default)]
struct Case {
    id: String,
    made_by: CaseOrigin,
}

/// The origin of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum CaseOrigin {
    /// A module of tests, or a fixture.
    #[default]
    Module,
    /// The loader, for modules that it could not load; no file of the project has been run for it so far.
    Loader,
}

/// Most cases of names that are not there that are kept until the verdict.
const MAX_ABSENT: usize = 64;

/// Reads the text of `unittest`'s runner.
#[derive(Default)]
pub(super) struct UnittestReader {
    part: Part,
    /// The failure that comes, and its error so far.
    case: Case,
    text: String,
    /// Ids and errors of what the command names and the loader did not find.
    absent: Vec<(String, String)>,
    /// Errors in fixtures of classes and modules: no test ran there.
    outside: u64,
}

impl UnittestReader {
    fn rule(&mut self, sessions: &mut Sessions, mark: u8) {
        self.part = match (self.part, mark) {
            (Part::Described, b'-') => Part::Frames,
            (part, _) => {
                if matches!(part, Part::Frames | Part::Error) {
                    self.failed(sessions);
                }
                if mark == b'=' { Part::Heading } else { Part::Other }
            }
        };
    }

    fn other(&mut self, sessions: &mut Sessions, line: &str) {
        if let Some(ran) = ran(line) {
            sessions.prove();
            self.part = Part::Ran(ran);
        } else if let Some((test, outcome)) = verbose(line) {
            sessions.prove();
            sessions.seen(&test_id(test), outcome);
        }
    }

    fn heading(&mut self, sessions: &mut Sessions, line: &str) {
        let named = ["FAIL: ", "ERROR: "].iter().find_map(|word| line.strip_prefix(word));
        if let Some(named) = named {
            sessions.prove();
            let fixtures = ["setUpClass (", "tearDownClass (", "setUpModule (", "tearDownModule ("];
            self.outside += u64::from(fixtures.iter().any(|fixture| named.starts_with(fixture)));
            let made_by =
                if named.contains(" (unittest.loader.") { CaseOrigin::Loader } else { CaseOrigin::Module };
            self.case = Case { id: test_id(named), made_by };
            self.part = Part::Described;
        } else if let Some(named) = line.strip_prefix("UNEXPECTED SUCCESS: ") {
            sessions.fail(&test_id(named), None);
            self.part = Part::Other;
        } else {
            self.part = Part::Other;
        }
    }

    fn verdict(&mut self, sessions: &mut Sessions, ran: u64, line: &str) {
        let Some((word, list)) = verdict(line) else { return };
        let failed = sum(&list, &["failures", "unexpected successes"]);
        let errored = sum(&list, &["errors"]);
        let skipped = sum(&list, &["skipped", "skips", "expected failures"]);
        if (word == "FAILED") != (failed > 0 || errored > 0) {
            return;
        }
        let cases = ran.saturating_add(std::mem::take(&mut self.outside));
        let passed = cases.saturating_sub(failed.saturating_add(errored).saturating_add(skipped));
        let absent = std::mem::take(&mut self.absent);
        if let Some((_, error)) = absent.first()
            && [errored, ran].iter().all(|number| usize::try_from(*number) == Ok(absent.len()))
        {
            let reason = last_line(error).to_owned();
            self.part = Part::Other;
            return sessions.never_started(reason);
        }
        for (id, error) in absent {
            sessions.fail(&id, Some(&error));
        }
        if ran == 0 && failed == 0 && errored == 0 {
            sessions.pending.trouble(Trouble::NoTests);
        }
        sessions.summary(Counts { total: 0, passed, failed, errored, skipped });
        self.part = Part::Other;
    }
}

impl Summary for UnittestReader {
    fn line(&mut self, sessions: &mut Sessions, line: &str) {
        if let Some(mark) = rule(line) {
            return self.rule(sessions, mark);
        }
        match self.part {
            Part::Other => self.other(sessions, line),
            Part::Heading => self.heading(sessions, line),
            Part::Described => {}
            Part::Frames | Part::Error if line.is_empty() => append_line(&mut self.text, ""),
            // Another traceback in the same failure.
            Part::Frames | Part::Error if line.starts_with("Traceback (most recent call last)") => {
                self.part = Part::Frames;
            }
            Part::Frames if line.starts_with(' ') => self.case.frame(line),
            Part::Frames | Part::Error => {
                append_line(&mut self.text, line);
                self.part = Part::Error;
            }
            Part::Ran(ran) => self.verdict(sessions, ran, line),
        }
    }

    fn end(&mut self, sessions: &mut Sessions) {
        self.rule(sessions, b'-');
        for (id, error) in std::mem::take(&mut self.absent) {
            sessions.fail(&id, Some(&error));
        }
    }
}

impl Case {
    /// A line among the frames of its traceback.
    fn frame(&mut self, line: &str) {
        let file = line.trim_start().strip_prefix("File \"");
        if file.is_some_and(|file| !file.replace('\\', "/").contains("/unittest/loader.py\"")) {
            self.made_by = CaseOrigin::Module;
        }
    }

    /// True when the loader found nothing of the name that the command gives. A module that is there and imports one that
    /// is not has a frame of its own.
    fn is_absent(&self, error: &str) -> bool {
        let last = last_line(error);
        let module = || {
            let name = last.strip_prefix("ModuleNotFoundError: No module named '")?.strip_suffix('\'')?;
            let before = name.strip_suffix(self.id.as_str())?;
            (before.is_empty() || before.ends_with('.')).then_some(())
        };
        let attribute = last.starts_with("AttributeError: ")
            && last
                .strip_suffix('\'')
                .is_some_and(|text| text.ends_with(&format!("has no attribute '{}", self.id)));
        self.made_by == CaseOrigin::Loader && (attribute || module().is_some())
    }
}

impl UnittestReader {
    fn failed(&mut self, sessions: &mut Sessions) {
        let (case, error) = (std::mem::take(&mut self.case), std::mem::take(&mut self.text));
        if self.absent.len() < MAX_ABSENT && case.is_absent(&error) {
            self.absent.push((case.id, error));
        } else {
            sessions.fail(&case.id, Some(&error));
        }
    }
}

/// The last line that is not blank.
fn last_line(text: &str) -> &str {
    text.lines().rfind(|line| !line.is_empty()).unwrap_or_default()
}

fn rule(line: &str) -> Option<u8> {
    let mark = *line.as_bytes().first()?;
    (line.len() == RULE && matches!(mark, b'=' | b'-') && line.bytes().all(|byte| byte == mark))
        .then_some(mark)
}

/// `Ran 3 tests in 0.001s`
fn ran(line: &str) -> Option<u64> {
    let (number, rest) = line.strip_prefix("Ran ")?.split_once(' ')?;
    let time = rest.strip_prefix("tests in ").or_else(|| rest.strip_prefix("test in "))?;
    if is_seconds(time) { whole_number(number) } else { None }
}

/// `OK`, or `FAILED (failures=1, errors=2)`. A list that is cut is no list.
fn verdict(line: &str) -> Option<(&str, Vec<(&str, u64)>)> {
    let (word, list) = match line.split_once(" (") {
        Some((word, list)) => (word, name_first(list.strip_suffix(')')?, '=', WORDS)?),
        None => (line, Vec::new()),
    };
    matches!(word, "OK" | "PASSED" | "FAILED" | "NO TESTS RAN").then_some((word, list))
}

/// `test_a (tests.test_x.TestX.test_a) ... ok`
fn verbose(line: &str) -> Option<(&str, Outcome)> {
    let (test, verdict) = line.rsplit_once(" ... ")?;
    if !test.contains(" (") || !test.contains(')') {
        return None;
    }
    let outcome = Outcome::told("unittest", verdict);
    Some((test, outcome.or_else(|| verdict.starts_with("skipped ").then_some(Outcome::Skipped))?))
}

/// `test_a (tests.test_x.TestX.test_a) (i=1)` is `tests.test_x.TestX.test_a (i=1)`; before Python 3.11 the
/// parentheses do not hold the name.
fn test_id(named: &str) -> String {
    let Some((name, rest)) = named.split_once(" (") else { return named.to_owned() };
    let Some((class, after)) = rest.split_once(')') else { return named.to_owned() };
    if class.starts_with("unittest.loader.") {
        return name.to_owned();
    }
    let own = class.strip_suffix(name).is_some_and(|before| before.ends_with('.'));
    if own { format!("{class}{after}") } else { format!("{class}.{name}{after}") }
}

#[cfg(test)]
mod tests;
