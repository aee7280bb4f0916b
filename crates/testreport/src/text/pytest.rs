//! pytest in any verbosity, with or without xdist.
//!
//! Ids come from the short summary, which is on by default, and error texts from the lines marked `E`
//! under the headings of `FAILURES` and `ERRORS`: the message in the short summary is cut to the width of
//! the terminal. A collection error is an errored case with the file as its id.

use super::Summary;
use super::sessions::{Explanations, Sessions, counts_of, is_seconds, number_first, whole_number};
use crate::tally::{Outcome, Trouble};
use crate::{Counts, WordList, words::RUNNERS};

/// Whatever a summary counts.
const WORDS: WordList = WordList::section(RUNNERS, "pytest summary");

/// The owner of the lines that come now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Part {
    #[default]
    Progress,
    /// Headings and texts of failures.
    Texts,
    /// The short summary.
    Names,
}

/// Reads pytest's terminal report.
#[derive(Default)]
pub(super) struct PytestReader {
    part: Part,
    texts: Explanations,
    /// Indentation of the error text: that of its first line.
    indent: Option<usize>,
    /// Counted from the short summary: with `-qq` nothing follows it.
    named: Counts,
    /// The last words of an internal error.
    internal: Option<String>,
}

impl PytestReader {
    /// `=== title ===`
    fn section(&mut self, sessions: &mut Sessions, title: &str) {
        self.texts.end();
        self.part = match title {
            "test session starts" => {
                sessions.begin();
                self.texts.unclaimed();
                Part::Progress
            }
            "FAILURES" | "ERRORS" => Part::Texts,
            "short test summary info" => {
                self.named = Counts::default();
                Part::Names
            }
            _ => Part::Progress,
        };
    }

    /// `!!! words !!!`: the session was ended early.
    fn interrupted(sessions: &mut Sessions, words: &str) {
        let gave_up = ["KeyboardInterrupt", "Interrupted: ", "_pytest.outcomes.Exit: "];
        if words.starts_with("stopping after ") {
            sessions.pending.names_are_partial();
        }
        if gave_up.iter().any(|start| words.starts_with(start)) {
            sessions.gave_up(words);
        }
    }

    fn in_texts(&mut self, line: &str) {
        if let Some(heading) = heading(line) {
            self.texts.begin(heading);
            self.indent = None;
        } else if is_rule(line, '-') {
            // Output of the test.
            self.texts.end();
        } else if line == "E" {
            self.texts.line("");
        } else if let Some(text) = line.strip_prefix("E   ") {
            // Indented like the code with long tracebacks, not at all with short ones.
            let own = text.len() - text.trim_start_matches(' ').len();
            let indent = *self.indent.get_or_insert(own);
            self.texts.line(text.get(indent.min(own)..).unwrap_or(text));
        }
    }

    /// `FAILED tests/test_a.py::TestA::test_b[1-2] - AssertionError: assert 1 == 2`
    fn in_names(&mut self, sessions: &mut Sessions, line: &str) {
        let named = ["FAILED ", "ERROR ", "SUBFAILED "].iter().find_map(|word| line.strip_prefix(word));
        let Some(named) = named else { return };
        if line.starts_with("ERROR ") {
            self.named.errored += 1;
        } else {
            self.named.failed += 1;
        }
        let (id, message) = split_message(named);
        let title = id.split_once("::").map_or_else(|| id.to_owned(), |(_, name)| name.replace("::", "."));
        let text = self.texts.claim(&title).filter(|text| !text.is_empty());
        sessions.fail(id, text.as_deref().or(message));
    }

    fn verbose(sessions: &mut Sessions, line: &str) {
        let Some((id, outcome)) = verbose_line(line) else { return };
        sessions.prove();
        sessions.seen(id, outcome);
        if outcome.is_failing() {
            sessions.fail(id, None);
        }
    }

    fn end(&mut self, sessions: &mut Sessions, counts: Counts) {
        // Headings that no line of the short summary claimed: it was off, or other than it says.
        let unclaimed = self.texts.unclaimed();
        if self.part != Part::Names {
            for (heading, text) in unclaimed {
                sessions.fail(&heading, Some(&text));
            }
        }
        if counts == Counts::default() {
            sessions.pending.trouble(Trouble::NoTests);
        }
        if let Some(text) = self.internal.take() {
            sessions.pending.trouble(Trouble::GaveUp);
            sessions.pending.run_error(&text);
        }
        sessions.summary(counts);
        self.part = Part::Progress;
    }
}

impl Summary for PytestReader {
    fn line(&mut self, sessions: &mut Sessions, line: &str) {
        if let Some(counts) = parse_summary(line) {
            return self.end(sessions, counts);
        }
        if is_rule(line, '=') {
            return self.section(sessions, line.trim_matches('=').trim());
        }
        if is_rule(line, '!') {
            return Self::interrupted(sessions, line.trim_matches('!').trim());
        }
        if let Some(text) = line.strip_prefix("INTERNALERROR> ") {
            sessions.prove();
            if !text.starts_with(' ') {
                self.internal = Some(text.to_owned());
            }
            return;
        }
        if is_usage_error(line) {
            sessions.pending.trouble(Trouble::GaveUp);
            sessions.pending.run_error(line);
            return sessions.take_in();
        }
        match self.part {
            Part::Progress => Self::verbose(sessions, line),
            Part::Texts => self.in_texts(line),
            Part::Names => self.in_names(sessions, line),
        }
    }

    fn end(&mut self, sessions: &mut Sessions) {
        if self.part == Part::Names && self.named.failing() > 0 && !sessions.is_open() {
            sessions.summary(self.named);
        }
    }
}

/// `=== 1 failed, 2 passed in 0.12s ===`, or without the rules (`-q`). Nothing counted means no test ran.
fn parse_summary(line: &str) -> Option<Counts> {
    let (list, time) = line.trim_matches('=').trim().rsplit_once(" in ")?;
    if !is_seconds(time) {
        return None;
    }
    if list == "no tests ran" || list.starts_with("no tests collected") || is_collection(list) {
        return Some(Counts::default());
    }
    let list = number_first(list, ", ", WORDS)?;
    if list.iter().all(|(name, _)| name.starts_with("warning")) {
        return None;
    }
    let kinds: [&[&str]; 4] = [
        &["passed", "xpassed"],
        &["failed", "subtests failed"],
        &["error", "errors"],
        &["skipped", "xfailed"],
    ];
    Some(counts_of(&list, kinds))
}

/// `3 tests collected`, `2/3 tests collected (1 deselected)`: `--collect-only` runs none of them.
fn is_collection(list: &str) -> bool {
    let numbers = list.split_once(" tests collected").or_else(|| list.split_once(" test collected"));
    numbers.is_some_and(|(number, rest)| {
        let (chosen, all) = number.split_once('/').unwrap_or((number, number));
        let is_number = |text| whole_number(text).is_some();
        let rest_fits =
            rest.is_empty() || rest.starts_with(" (") || rest.starts_with(", ") || rest.starts_with(" / ");
        is_number(chosen) && is_number(all) && rest_fits
    })
}

/// A title between runs of one character, as in `=== FAILURES ===`.
fn is_rule(line: &str, mark: char) -> bool {
    line.strip_prefix(mark)
        .and_then(|rest| rest.strip_suffix(mark))
        .map(|rest| rest.trim_matches(mark))
        .is_some_and(|title| title.len() > 2 && title.starts_with(' ') && title.ends_with(' '))
}

/// `____ TestA.test_b ____`; the separators in tracebacks have no words.
fn heading(line: &str) -> Option<&str> {
    if !is_rule(line, '_') {
        return None;
    }
    let title = line.trim_matches('_').trim();
    let at = ["ERROR at setup of ", "ERROR at teardown of ", "ERROR collecting "];
    let title = at.iter().find_map(|start| title.strip_prefix(start)).unwrap_or(title);
    title.contains(|each: char| each != '_' && each != ' ').then_some(title)
}

/// Splits the id from the message. Parameters may hold ` - ` as well.
fn split_message(named: &str) -> (&str, Option<&str>) {
    let plain = named.split_once(" - ");
    let split = match plain {
        Some((id, _)) if id.contains('[') && !id.ends_with(']') => {
            let end = named.find("] - ").map(|at| at + 1);
            end.and_then(|end| Some((named.get(..end)?, named.get(end + 3..)?)))
                .or_else(|| if named.ends_with(']') { None } else { plain })
        }
        other => other,
    };
    split.map_or((named, None), |(id, message)| (id, Some(message)))
}

/// `tests/test_a.py::test_b FAILED [ 50%]`, or from a worker `[gw0] [ 50%] FAILED tests/test_a.py::test_b`.
fn verbose_line(line: &str) -> Option<(&str, Outcome)> {
    if !line.contains("::") {
        return None;
    }
    let (id, verdict) = if let Some(rest) = line.strip_prefix("[gw") {
        let (_, rest) = rest.split_once("%] ")?;
        let (verdict, id) = rest.split_once(' ')?;
        (id, verdict)
    } else {
        let (head, _) = line.strip_suffix("%]")?.rsplit_once('[')?;
        without_reason(head.trim_end()).rsplit_once(' ')?
    };
    Some((id.trim(), Outcome::told("pytest", verdict)?))
}

/// `tests/test_a.py::test_b SKIPPED (why)` without the reason, which may hold anything and may be cut.
fn without_reason(head: &str) -> &str {
    let reasons = [" SKIPPED (", " XFAIL (", " XPASS ("];
    let at = reasons.iter().filter_map(|word| head.find(word).map(|at| at + word.len() - 2)).min();
    at.and_then(|at| head.get(..at)).unwrap_or(head)
}

/// True for pytest's words on standard error when it cannot begin (exit 4).
fn is_usage_error(line: &str) -> bool {
    (line.starts_with("ERROR: usage: ") && line.contains(" [file_or_dir]"))
        || line.starts_with("ERROR: file or directory not found: ")
        || line.starts_with("ImportError while loading conftest '")
        || (line.starts_with("ERROR: not found: ") && line.contains(".py"))
}

#[cfg(test)]
mod tests;
