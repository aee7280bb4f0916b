//! Lines that no reader knows, and that still count tests, name them, or say how a run ended, of any program.
//!
//! A run of an unknown runner passes only where its output shows that tests ran: by a line that counts some that passed, or
//! by lines that name them. The grammar is that of numbers beside words; the words are sections of `phrases.txt`.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

use crate::words::{PHRASES, matches};
use crate::{Counts, WordList, pattern};

/// Words for a test.
const TESTS: WordList = WordList::section(PHRASES, "words for tests");
/// Words for tests that passed, which need no other beside their number.
const PASSED: WordList = WordList::section(PHRASES, "words for tests that passed");
/// Words that mean tests only where the line speaks of tests, or of failures.
const SUCCEEDED: WordList = WordList::section(PHRASES, "words for success");
const FAILED: WordList = WordList::section(PHRASES, "words for tests that failed");
const SKIPPED: WordList = WordList::section(PHRASES, "words for tests that were skipped");
/// Words between a word and its number: `Tests run: 3`, `+3: All tests passed!`.
const BETWEEN: WordList = WordList::section(PHRASES, "words before numbers");
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
/// Patterns of lines that count in another order, and what they say in words.
const ORDERS: WordList = WordList::section(PHRASES, "orders of counts");
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
    /// The columns of a table by their right edges, until its rows end.
    columns: Vec<(usize, String)>,
    /// The line before was one of a list of names with their numbers, which is about tests.
    in_list: bool,
}

impl ToldTests {
    /// Takes the next line.
    pub(super) fn line(&mut self, line: &str) {
        let text = line.trim();
        let is_row = !self.columns.is_empty() && text.contains(|one: char| one.is_ascii_digit());
        let columns = if is_row { std::mem::take(&mut self.columns) } else { headings(line) };
        if is_row {
            let counted = self.counted;
            self.count(LineNumbers::of(&row(line, &columns)));
            self.columns = if self.counted == counted { columns } else { Vec::new() };
            return;
        }
        self.columns = columns;
        self.is_running = bracketed(text).map_or(self.is_running, |(verdict, _)| verdict == "RUN");
        if let Some((marks, is_whole)) = progress(text) {
            self.marks += marks;
            self.is_whole |= is_whole;
        } else if names_a_test(text) {
            self.named += 1;
        } else {
            let line = LineNumbers::of(text);
            if (text.contains("FAIL") || text.contains("failed"))
                && !line.sums_up()
                && names_a_test(&text.replace("FAIL", "PASS").replace("failed", "passed"))
            {
                self.names_failed = true;
            } else {
                self.count(line);
            }
        }
    }

    fn count(&mut self, mut line: LineNumbers) {
        line.of_tests |= line.is_label && self.in_list;
        self.in_list = line.is_label && line.of_tests;
        self.ended_well |= line.failed == Some(0) || line.says_passed;
        self.sums_up |= line.sums_up();
        self.others =
            line.others.map_or(self.others, |others| others.saturating_sub(line.skipped.unwrap_or(0)));
        let Some(more) = line.counts() else {
            self.announced = self.announced.max(line.tests.unwrap_or(0));
            self.failing = self.failing.max(line.failed.unwrap_or(0));
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

/// The words of a line without numbers that names the columns of a table, each with its right edge.
fn headings(line: &str) -> Vec<(usize, String)> {
    let words = || cells(line).map(|(edge, word)| (edge, word.to_ascii_lowercase()));
    let has = |known: &dyn Fn(&str) -> bool| words().any(|(_, word)| known(&word));
    let is_heading = !line.contains(|one: char| one.is_ascii_digit())
        && has(&|word| PASSED.contains(word))
        && has(&|word| word == "total" || FAILED.contains(word));
    words().filter(|_| is_heading).collect()
}

/// The row of a table in words: each number behind the name of its column.
fn row(line: &str, columns: &[(usize, String)]) -> String {
    let name = |edge| columns.iter().find(|(column, _)| *column == edge).map(|(_, name)| name);
    let named = cells(line).filter_map(|(edge, cell)| name(edge).map(|name| format!("; {name}: {cell}")));
    cells(line).take(1).map(|(_, label)| label.to_owned()).chain(named).collect()
}

/// The words of a line, each with its right edge.
fn cells(line: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut edge = 0;
    line.split(' ').filter_map(move |word| {
        edge += word.chars().count() + 1;
        (!word.is_empty()).then_some((edge, word))
    })
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

/// The numbers beside the words of a line: `3 tests, 0 failures`, `Passed: 3`, `All 3 tests passed`.
#[derive(Default)]
pub(super) struct LineNumbers {
    tests: Option<u64>,
    total: Option<u64>,
    passed: Option<u64>,
    succeeded: Option<u64>,
    failed: Option<u64>,
    skipped: Option<u64>,
    /// Tests of `1 of 3 passed` that did not pass.
    others: Option<u64>,
    of_tests: bool,
    says_passed: bool,
    /// `DONE 3 tests in 0.1s`: the end of a run that would have told of failures.
    is_end: bool,
    /// A name with its number and nothing else: `Failed Assertions: 1`.
    is_label: bool,
    /// Words in all, and numbers and known words among them: `Ok: 3` is nothing but a count.
    words: usize,
    known: usize,
    numbers: usize,
}

/// A word of a line, or a number: `3`, `no`, `2 of 3`.
struct Word<'a> {
    text: &'a str,
    /// A name with its number behind it: `Failures: 1`.
    is_label: bool,
    number: Option<u64>,
    of: Option<u64>,
}

impl Word<'_> {
    /// The words of a part of a line.
    fn all(part: &str) -> Vec<Word<'_>> {
        let is_end = |one: char| !(one.is_alphanumeric() || matches!(one, '.' | ':' | '='));
        let split = |one: char| is_end(one) || matches!(one, ':' | '=');
        let mut words: Vec<Word<'_>> = Vec::new();
        let mut is_share = false;
        for piece in part.split_inclusive(split) {
            let text = piece.trim_end_matches(split).trim_end_matches('.');
            let number = if text == "no" { Some(0) } else { text.parse().ok() };
            match words.last_mut().filter(|last| is_share && last.number.is_some() && number.is_some()) {
                Some(last) => last.of = number,
                None if text.is_empty() => {}
                None => words.push(Word { text, is_label: piece.ends_with([':', '=']), number, of: None }),
            }
            is_share = piece.ends_with('/') && !text.is_empty();
        }
        words
    }

    fn is_between(&self) -> bool {
        TESTS.contains(self.text) || BETWEEN.contains(self.text)
    }

    fn is_verdict(&self) -> bool {
        [PASSED, SUCCEEDED, FAILED, SKIPPED].iter().any(|list| list.contains(self.text))
            || self.text == "total"
    }
}

impl LineNumbers {
    pub(super) fn of(text: &str) -> Self {
        // Shares are no counts, and numbers in brackets belong to the word before: `Passed: 3 (100%)`, `Fails (0)`.
        static IN_BRACKETS: LazyLock<Option<Regex>> =
            LazyLock::new(|| pattern(r"\(\s*(?:[0-9.]+\s*%|([0-9]+))\s*\)"));
        let mut line = Self::default();
        let text = in_order(&text.to_ascii_lowercase()).replace(". ", ", ");
        let text = text.replace(" out of ", "/").replace(" of ", "/");
        let in_brackets = IN_BRACKETS.as_ref().filter(|_| text.contains('('));
        let text = in_brackets.map_or(text.as_str().into(), |found| found.replace_all(&text, " $1 "));
        let label = text.split('(').next().and_then(|text| text.rsplit_once(':'));
        line.is_label = label.is_some_and(|(_, number)| number.trim().parse::<u64>().is_ok());
        for part in text.split([',', ';', '|', '(', ')', '[', ']']) {
            line.part(&Word::all(part));
        }
        let is_whole =
            line.others == Some(0) && line.passed.or(line.succeeded).is_some_and(|passed| passed > 0);
        line.is_end = line.failed.is_none() && line.tests.is_some() && text.starts_with("done ");
        line.says_passed &= line.of_tests || line.words == 1 || line.total.is_some() && is_whole;
        line
    }

    fn part(&mut self, words: &[Word<'_>]) {
        let numbered = |at: usize| words.get(at).filter(|word| word.number.is_some());
        let is_of_tests = |at: usize| words[at + 1..].iter().find(|word| !BETWEEN.contains(word.text));
        let before = |at: usize| {
            // `2 modules passed unittests`.
            let has_noun = is_of_tests(at).is_some_and(|word| TESTS.contains(word.text));
            let before = (0..at).rev().find(|before| !words[*before].is_between())?;
            numbered(before).or_else(|| numbered(before.checked_sub(1).filter(|_| has_noun)?))
        };
        // `Failed Assertions: 1`: the name may have a noun.
        let behind = |at: usize| {
            let next = (at + 1..words.len()).find(|behind| !words[*behind].is_between())?;
            let noun = |word: &Word<'_>| word.is_label && word.number.is_none() && !word.is_verdict();
            let has_noun = words[at].is_verdict() && noun(&words[next]);
            numbered(if has_noun { next + 1 } else { next })
        };
        // `Total 3 Passed 2`: names have their numbers behind them where one of them comes first.
        let first = words.iter().find(|word| word.number.is_some() || word.is_verdict());
        let names_first = first.is_some_and(|first| first.number.is_none() && !first.is_label);
        self.words += words.iter().filter(|word| word.text.is_ascii()).count();
        let is_whole = words.iter().any(|word| word.of.is_some() && word.of == word.number);
        self.others = self.others.or(is_whole.then_some(0));
        for (at, Word { text: word, is_label, .. }) in words.iter().enumerate() {
            // `1 error` is a count, `Error 1` an exit code.
            let beside = match *word {
                "error" => before(at),
                _ if *is_label || names_first => behind(at).or(before(at)),
                _ => before(at).or(behind(at)),
            };
            let number = beside.and_then(|beside| beside.number);
            if *word == "total" {
                self.total = number.or(self.total);
            }
            let known = [TESTS, PASSED, SUCCEEDED, FAILED, SKIPPED];
            let sums =
                [&mut self.tests, &mut self.passed, &mut self.succeeded, &mut self.failed, &mut self.skipped];
            for (list, sum) in known.into_iter().zip(sums).filter(|(list, _)| list.contains(word)) {
                let more = number.filter(|_| list != TESTS || sum.is_none());
                *sum = more.map(|more| sum.unwrap_or(0).saturating_add(more)).or(*sum);
            }
            let is_number = word.parse::<u64>().is_ok();
            self.numbers += usize::from(is_number);
            self.known += usize::from(is_number || words[at].is_between() || words[at].is_verdict());
            self.of_tests |= TESTS.contains(word);
            if PASSED.contains(word) || SUCCEEDED.contains(word) {
                self.says_passed = true;
                let others = beside.and_then(|beside| Some(beside.of?.saturating_sub(beside.number?)));
                self.others = others.max(self.others);
            }
        }
    }

    /// True for a line that counts what failed of all that ran.
    fn sums_up(&self) -> bool {
        let failed = self.failed.unwrap_or(0);
        let is_of_all = self.tests.or(self.total).is_some_and(|all| all >= failed);
        let is_count = self.of_tests && self.known == self.words;
        failed > 0 && (self.passed.is_some() || is_of_all && self.numbers > 1 || is_count)
    }

    /// The number of tests that the line counts without a verdict.
    pub(super) fn tests(&self) -> u64 {
        self.tests.unwrap_or(0)
    }

    /// The number of tests that the line counts by their verdicts.
    pub(super) fn in_all(&self) -> u64 {
        [self.passed, self.failed, self.skipped].into_iter().flatten().fold(0, u64::saturating_add)
    }

    /// The tests of a line that counts some with a verdict, or that counts none.
    fn counts(&self) -> Option<Counts> {
        let (failed, skipped) = (self.failed.unwrap_or(0), self.skipped.unwrap_or(0));
        let is_verdict = self.failed.is_some() || self.says_passed || self.is_end || self.tests == Some(0);
        let total = self.total.filter(|_| self.of_tests || self.failed.and(self.skipped).is_some());
        let rest = || self.tests.or(total).map(|all| all.saturating_sub(failed.saturating_add(skipped)));
        let is_count = self.words == 2;
        let succeeded = self.succeeded.filter(|_| self.of_tests || self.failed.is_some() || is_count);
        let passed = self.passed.or(succeeded).or_else(|| rest().filter(|_| is_verdict));
        let passed = passed.or_else(|| (failed > 0 && (self.of_tests || is_count)).then_some(0))?;
        Some(Counts { passed, failed, skipped, ..Counts::default() })
    }
}

/// `00:01 +2 -1: Some tests failed.`, `1 out of 3 tests failed`: the same, each number before its word. The text is in small letters.
fn in_order(text: &str) -> String {
    static COMPILED: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
        let rows = ORDERS.iter().filter_map(|row| row.split_once(" => "));
        rows.filter_map(|(row, words)| Some((pattern(row)?, words))).collect()
    });
    let found = COMPILED.iter().filter(|_| text.contains("failed")).find(|(order, _)| order.is_match(text));
    found.map_or_else(|| text.to_owned(), |(order, words)| order.replace(text, *words).into_owned())
}

/// The tests that a text counts in words that no reader knows, where some of them failed.
pub fn counted_red(text: &str) -> Option<Counts> {
    let mut told = ToldTests::default();
    text.lines().for_each(|line| told.line(line));
    told.red()
}

/// True for a line that counts tests that failed.
fn counts_failing(line: &str) -> bool {
    let line = LineNumbers::of(line);
    let of_tests = line.of_tests || line.passed.or(line.succeeded).is_some() || line.words == 2;
    of_tests && line.failed.is_some_and(|failed| failed > 0)
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
    begins(text, FAILS) || BROKE.iter().any(|word| text.contains(word)) || counts_failing(text)
}

/// True for a line that says that a test passed.
pub(super) fn names_passes(line: &str) -> bool {
    let text = line.trim_start();
    begins(text, PASSES) || LineNumbers::of(text).passed.is_some_and(|passed| passed > 0)
}

fn begins(text: &str, words: WordList) -> bool {
    let is_end = |rest: &str| rest.is_empty() || rest.starts_with([' ', '\t', ':', '!']);
    words.iter().any(|word| text.strip_prefix(word).is_some_and(is_end))
}

/// The first error of a build.
pub(super) fn build_error<'a>(mut lines: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    static COMPILED: LazyLock<Vec<Regex>> =
        LazyLock::new(|| BUILD_ERRORS.iter().filter_map(pattern).collect());
    lines.find(|line| COMPILED.iter().any(|pattern| pattern.is_match(line)))
}

/// The number of different errors in the output of a build that failed, by their places.
pub(super) fn build_errors(text: &str) -> usize {
    static COMPILED: LazyLock<Vec<Regex>> = LazyLock::new(|| {
        let rows = BUILD_ERRORS.iter().chain(PLACED_ERRORS.iter());
        rows.filter_map(|row| pattern(&format!("(?m){row}"))).collect()
    });
    let found = COMPILED.iter().flat_map(|pattern| pattern.find_iter(text));
    found.map(|found| found.as_str()).collect::<BTreeSet<_>>().len()
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
    let is_failure = |line: &&str| counts_failing(line) || ENDINGS.iter().any(|phrase| matches(line, phrase));
    lines.clone().rev().take(WINDOW).find(is_failure)
}

#[cfg(test)]
mod tests;
