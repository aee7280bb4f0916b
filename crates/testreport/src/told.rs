//! Lines that no reader knows, and that still count tests, name them, or say how a run ended, of any program.
//!
//! A run of an unknown runner passes only where its output shows that tests ran: by a line that counts some that passed, or
//! by lines that name them. The grammar is that of numbers beside words; the words are sections of `phrases.txt`.

mod line;
mod table;

use std::{collections::BTreeSet, sync::LazyLock};

use regex::Regex;

use self::line::Kind;
pub(crate) use self::line::LineNumbers;
use self::table::{Table, is_ruled};
use crate::words::{PHRASES, matches};
use crate::{Counts, WordList, pattern};

/// Lines that name a test that passed.
const NAMES: WordList = WordList::section(PHRASES, "names of tests that passed");
/// Words with which a line says at its beginning that a test failed, and that one passed.
const FAILS: WordList = WordList::section(PHRASES, "beginnings of failures");
const PASSES: WordList = WordList::section(PHRASES, "beginnings of passes");
/// Words that say anywhere that a test failed.
const BROKE: WordList = WordList::section(PHRASES, "errors of tests");
/// Lines that end a run that failed.
const ENDINGS: WordList = WordList::section(PHRASES, "endings");
/// Lines with which a tool says that one of its sessions failed, wherever they stand: the tool and a phrase.
const FAILED_SESSIONS: WordList = WordList::section(PHRASES, "failures of sessions");
/// Patterns of lines with which compilers, linkers and interpreters say that there is nothing to run: a place, then an error.
const BUILD_ERRORS: WordList = WordList::section(PHRASES, "errors of builds");
/// Others that are known as such in the output of a build that failed alone.
const PLACED_ERRORS: WordList = WordList::section(PHRASES, "places of errors of builds");

/// The tests that an output names or counts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct ToldTests {
    /// The sum of all lines that count.
    counted: Option<Counts>,
    /// Tests that a line counts without a verdict, and the verdict of another line.
    announced: u64,
    ended_well: bool,
    /// Tests that failed, in words that alone are no count of a run.
    failing: u64,
    /// A line counts all that ran, and some that failed.
    sums_up: bool,
    /// Lines that name a test that passed, and one that failed.
    named: u64,
    names_failed: bool,
    /// The newest line that names one says that it begins: `[ RUN      ] adds`.
    is_running: bool,
    /// Tests of the newest `1 of 3 passed` that did not pass.
    others: u64,
    /// Marks of progress, and whether it reached its end.
    marks: u64,
    is_whole: bool,
    table: Table,
    /// The line before was one of a list of names with their numbers, which is about tests.
    in_list: bool,
}

impl ToldTests {
    /// Takes the next line.
    pub(super) fn line(&mut self, line: &str) {
        if let Some(row) = self.table.row(line) {
            let counted = self.counted;
            self.count(LineNumbers::of(&row));
            // Without rules, the first row that counts is that of the whole.
            if self.counted != counted && !is_ruled(line) {
                self.table = Table::default();
            }
            return;
        }
        let text = line.trim();
        self.is_running = bracketed(text).map_or(self.is_running, |(verdict, _)| verdict == "RUN");
        if let Some((marks, is_whole)) = progress(text) {
            self.marks += marks;
            self.is_whole |= is_whole;
            return;
        }
        if names_a_test(text) {
            self.named += 1;
            return;
        }
        let numbers = LineNumbers::of(text);
        let says_failed = (text.contains("FAIL") || text.contains("failed")) && !numbers.sums_up();
        if says_failed && names_a_test(&text.replace("FAIL", "PASS").replace("failed", "passed")) {
            self.names_failed = true;
        } else {
            self.count(numbers);
        }
    }

    fn count(&mut self, mut line: LineNumbers) {
        line.of_tests |= line.is_label && self.in_list;
        self.in_list = line.is_label && line.of_tests;
        self.ended_well |= line.number(Kind::Failed) == Some(0) || line.says_passed;
        self.sums_up |= line.sums_up();
        let skipped = line.number(Kind::Skipped).unwrap_or(0);
        self.others = line.others.map_or(self.others, |others| others.saturating_sub(skipped));
        let Some(more) = line.counts() else {
            self.announced = self.announced.max(line.tests());
            self.failing = self.failing.max(line.number(Kind::Failed).unwrap_or(0));
            return;
        };
        self.counted.get_or_insert_default().absorb(more);
    }

    /// The tests that passed; `None` where none did, or where one is counted that failed.
    pub(super) fn passed(&self) -> Option<Counts> {
        let announced = if self.counted.is_none() && self.ended_well { self.announced } else { 0 };
        let Counts { passed, failed, skipped, .. } = self.counted.unwrap_or_default();
        let marks = if self.is_whole { self.marks } else { 0 };
        let passed = [passed, announced, self.named, marks].into_iter().find(|number| *number > 0)?;
        let named_alone = self.counted.is_none() && (self.names_failed || self.is_running);
        let failed = if named_alone { failed + 1 } else { failed + self.others };
        let total = passed.saturating_add(skipped);
        (failed == 0).then_some(Counts { total, passed, skipped, ..Counts::default() })
    }

    /// The tests that it counts or names, some of which failed: words for an error alone are no summary.
    fn red(&self) -> Option<Counts> {
        let Counts { passed, failed, skipped, .. } = self.counted.unwrap_or_default();
        let failed = [failed, self.failing, self.others, u64::from(self.names_failed)]
            .into_iter()
            .find(|number| *number > 0)?;
        let others = [passed, self.announced.saturating_sub(failed), self.named];
        let is_summary = self.sums_up || self.announced >= failed;
        let passed = others.into_iter().find(|number| *number > 0).or(is_summary.then_some(0))?;
        let total = passed.saturating_add(failed).saturating_add(skipped);
        Some(Counts { total, passed, failed, skipped, ..Counts::default() })
    }

    /// True where it says that there was no test.
    pub(super) fn none(&self) -> bool {
        self.passed().is_none() && self.counted.is_some_and(|counts| counts.failed == 0)
    }
}

/// `..s.   [ 57%]`, `[2/3] Testing adds`: the tests that passed, and whether they are all.
fn progress(text: &str) -> Option<(u64, bool)> {
    if let Some((so_far, all)) =
        text.strip_prefix('[').and_then(|text| text.split_once("] Testing ")?.0.split_once('/'))
    {
        return Some((1, so_far == all));
    }
    let (marks, rest) = text.split_once([' ', '['])?;
    let percent = rest.trim_start_matches([' ', '[']).strip_suffix("%]")?;
    let are_marks = !marks.is_empty() && marks.bytes().all(|mark| b".sxX".contains(&mark));
    are_marks.then(|| (marks.bytes().map(|mark| u64::from(mark == b'.')).sum(), percent == "100"))
}

/// True for a line that names a test beside its verdict. A number is no name.
fn names_a_test(text: &str) -> bool {
    // A time may stand behind the verdict: `adds ... ok (3ms)`.
    let text = text.rsplit_once(" (").filter(|(_, time)| time.ends_with("s)")).map_or(text, |(text, _)| text);
    let is_name = |rest: &str| {
        rest.split(' ').find(|word| !word.is_empty()).is_some_and(|word| word.parse::<u64>().is_err())
    };
    let first = text.split_once(' ').filter(|(first, _)| !first.contains("OK"));
    let verdict = bracketed(text).or(first.map(|(first, rest)| (first.trim_end_matches(':'), rest)));
    verdict.is_some_and(|(verdict, rest)| matches!(verdict, "OK" | "PASS" | "PASSED") && is_name(rest))
        || NAMES.iter().any(|phrase| matches(text, phrase))
}

/// The word in brackets with which a line begins or ends, and the rest of it: `( PASSED )  t/a.t`, `adds [ OK ] [ 0.1 ]`.
fn bracketed(text: &str) -> Option<(&str, &str)> {
    let first = text.strip_prefix(['[', '(']).map(|text| text.split_once([']', ')']));
    let (word, rest) = first.unwrap_or_else(|| {
        let (name, behind) = text.strip_suffix(']')?.split_once('[')?;
        Some((behind.split(']').next()?, name))
    })?;
    Some((word.trim(), rest.trim()))
}

/// The tests that a text counts in words that no reader knows, where some of them failed.
pub fn counted_red(text: &str) -> Option<Counts> {
    let mut told = ToldTests::default();
    text.lines().for_each(|line| told.line(line));
    told.red()
}

/// True for a line that counts tests that passed. One that names a test is no end of a run.
pub(super) fn counts_tests(line: &str) -> bool {
    let mut told = ToldTests::default();
    told.line(line);
    told.named == 0 && (told.is_whole || told.passed().is_some())
}

/// True for a line that says that a test failed.
pub(super) fn names_failures(line: &str) -> bool {
    let text = line.trim_start();
    begins(text, FAILS) || BROKE.iter().any(|word| text.contains(word)) || LineNumbers::of(text).is_failing()
}

/// True for a line that says that a test passed.
pub(super) fn names_passes(line: &str) -> bool {
    let text = line.trim_start();
    begins(text, PASSES) || LineNumbers::of(text).number(Kind::Passed).is_some_and(|passed| passed > 0)
}

fn begins(text: &str, words: WordList) -> bool {
    let is_end = |rest: &str| rest.is_empty() || rest.starts_with([' ', '\t', ':', '!']);
    words.iter().any(|word| text.strip_prefix(word).is_some_and(is_end))
}

/// The first error of a build.
pub(super) fn build_error<'a>(mut lines: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    lines.find(|line| of_build(line).is_some())
}

/// The beginning of a line that names an error of a build, up to its place.
fn of_build(line: &str) -> Option<&str> {
    static COMPILED: LazyLock<Vec<Regex>> =
        LazyLock::new(|| BUILD_ERRORS.iter().filter_map(pattern).collect());
    COMPILED.iter().find_map(|pattern| pattern.find(line)).map(|found| found.as_str())
}

/// The number of different errors in the output of a build that failed, by their places.
pub(super) fn build_errors(text: &str) -> usize {
    static COMPILED: LazyLock<Vec<Regex>> =
        LazyLock::new(|| PLACED_ERRORS.iter().filter_map(|row| pattern(&format!("(?m){row}"))).collect());
    let placed = COMPILED.iter().flat_map(|pattern| pattern.find_iter(text)).map(|found| found.as_str());
    text.lines().filter_map(of_build).chain(placed).collect::<BTreeSet<_>>().len()
}

/// True for a line with which a tool says that one of its sessions failed.
pub(super) fn is_failed_session(line: &str) -> bool {
    FAILED_SESSIONS.iter().any(|row| row.split_once(' ').is_some_and(|(_, phrase)| matches(line, phrase)))
}

/// Lines that are not blank, from the last one back.
const WINDOW: usize = 12;

/// The line with which a run that failed ends.
pub(super) fn failure<'a>(lines: &(impl DoubleEndedIterator<Item = &'a str> + Clone)) -> Option<&'a str> {
    let last = lines.clone().next_back()?;
    if matches!(last.trim(), "FAIL" | "FAILURES!" | "TEST FAILED") {
        return Some(last);
    }
    lines.clone().rev().take(WINDOW).find(|line| LineNumbers::of(line).is_failing() || is_ending(line))
}

/// True for a line that ends a run that failed.
pub(super) fn is_ending(line: &str) -> bool {
    ENDINGS.iter().any(|phrase| matches(line, phrase))
}

#[cfg(test)]
mod tests;
