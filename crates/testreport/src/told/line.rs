//! The numbers beside the words of a line: `3 tests, 0 failures`, `Passed: 3`, `All 3 tests passed`, `2 of 3 passed`.
//!
//! A line is cut into parts, and a part into words and numbers. A word that is known belongs to the nearest number before it, or
//! to the one behind it where it has a colon or where names come first.

use std::sync::LazyLock;

use regex::Regex;

use crate::{Counts, WordList, pattern, words::PHRASES};

/// Patterns of lines that count in another order, and what they say in words.
const ORDERS: WordList = WordList::section(PHRASES, "orders of counts");

/// One of these is in each of those lines.
const WORDS_OF_ORDERS: WordList = WordList::section(PHRASES, "words of orders");

/// The kinds of words that are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A word for a test.
    Test,
    /// A word between a word and its number: `Tests run: 3`, `+3: All tests passed!`.
    Between,
    /// The number of all of them, which may also be between a word and its number.
    Total,
    /// A word for tests that passed, which needs no other beside its number.
    Passed,
    /// A word that means tests only where the line speaks of tests, or of failures.
    Succeeded,
    Failed,
    Skipped,
}

const KINDS: [(Kind, WordList); 7] = [
    (Kind::Total, crate::words!["total"]),
    (Kind::Test, WordList::section(PHRASES, "words for tests")),
    (Kind::Between, WordList::section(PHRASES, "words before numbers")),
    (Kind::Passed, WordList::section(PHRASES, "words for tests that passed")),
    (Kind::Succeeded, WordList::section(PHRASES, "words for success")),
    (Kind::Failed, WordList::section(PHRASES, "words for tests that failed")),
    (Kind::Skipped, WordList::section(PHRASES, "words for tests that were skipped")),
];

impl Kind {
    /// The kind of a word in small letters.
    pub(super) fn of(word: &str) -> Option<Self> {
        KINDS.iter().find(|(_, words)| words.contains(word)).map(|(kind, _)| *kind)
    }
}

/// A word of a line, or a number: `3`, `no`, `2 of 3`.
struct Word<'a> {
    text: &'a str,
    kind: Option<Kind>,
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
            let is_label = piece.ends_with([':', '=']);
            match words.last_mut().filter(|last| is_share && last.number.is_some() && number.is_some()) {
                Some(last) => last.of = number,
                None if text.is_empty() => {}
                None => words.push(Word { text, kind: Kind::of(text), is_label, number, of: None }),
            }
            is_share = piece.ends_with('/') && !text.is_empty();
        }
        words
    }

    fn is_between(&self) -> bool {
        matches!(self.kind, Some(Kind::Test | Kind::Between | Kind::Total))
    }

    fn is_verdict(&self) -> bool {
        self.kind.is_some_and(|kind| !matches!(kind, Kind::Test | Kind::Between))
    }

    fn is_number(&self) -> bool {
        self.number.is_some() && self.text != "no"
    }
}

/// The numbers of a line.
#[derive(Default)]
pub(crate) struct LineNumbers {
    /// By the kinds of their words.
    sums: [Option<u64>; 7],
    /// Tests of `1 of 3 passed` that did not pass.
    pub(super) others: Option<u64>,
    pub(super) of_tests: bool,
    pub(super) says_passed: bool,
    /// `DONE 3 tests in 0.1s`: the end of a run that would have told of failures.
    is_end: bool,
    /// A name with its number and nothing else: `Failed Assertions: 1`.
    pub(super) is_label: bool,
    /// Words in all, and numbers and known words among them: `Ok: 3` is nothing but a count.
    words: usize,
    known: usize,
    numbers: usize,
}

impl LineNumbers {
    pub(crate) fn of(text: &str) -> Self {
        // Shares are no counts, numbers in brackets belong to the word before, and words may be one or several: `Passed: 3 (100%)`,
        // `Fails (0)`, `2 test(s) passed`.
        static IN_BRACKETS: LazyLock<Option<Regex>> =
            LazyLock::new(|| pattern(r"\(\s*(?:[0-9.]+\s*%|([0-9]+))\s*\)"));
        let mut line = Self::default();
        let text = in_order(&text.to_ascii_lowercase().replace("(s)", "s")).replace(". ", ", ");
        let text = text.replace(" out of ", "/").replace(" of ", "/");
        let in_brackets = IN_BRACKETS.as_ref().filter(|_| text.contains('('));
        let text = in_brackets.map_or(text.as_str().into(), |found| found.replace_all(&text, " $1 "));
        let label = text.split('(').next().and_then(|text| text.rsplit_once(':'));
        line.is_label = label.is_some_and(|(_, number)| number.trim().parse::<u64>().is_ok());
        for part in text.split([',', ';', '|', '(', ')', '[', ']']) {
            line.part(&Word::all(part));
        }
        let is_whole = line.others == Some(0) && line.succeeded().is_some_and(|passed| passed > 0);
        line.is_end = line.number(Kind::Failed).is_none() && line.tests() > 0 && text.starts_with("done ");
        line.says_passed &=
            line.of_tests || line.words == 1 || line.number(Kind::Total).is_some() && is_whole;
        line
    }

    fn part(&mut self, words: &[Word<'_>]) {
        // `Total 3 Passed 2`: names have their numbers behind them where one of them comes first.
        let first = words.iter().find(|word| word.number.is_some() || word.is_verdict());
        let names_first = first.is_some_and(|first| first.number.is_none() && !first.is_label);
        if words.iter().any(|word| word.of.is_some() && word.of == word.number) {
            self.others.get_or_insert(0);
        }
        for (at, word) in words.iter().enumerate() {
            self.words += usize::from(word.text.is_ascii());
            self.numbers += usize::from(word.is_number());
            self.known += usize::from(word.is_number() || word.kind.is_some());
            let Some(kind) = word.kind else { continue };
            let beside = match word.text {
                // `1 error` is a count, `Error 1` an exit code.
                "error" => before(words, at),
                _ if word.is_label || names_first => behind(words, at).or(before(words, at)),
                _ => before(words, at).or(behind(words, at)),
            };
            let (number, sum) = (beside.and_then(|beside| beside.number), &mut self.sums[kind as usize]);
            *sum = match kind {
                Kind::Test => sum.or(number),
                Kind::Between | Kind::Total => number.or(*sum),
                Kind::Passed | Kind::Succeeded | Kind::Failed | Kind::Skipped => {
                    number.map(|more| sum.unwrap_or(0).saturating_add(more)).or(*sum)
                }
            };
            self.of_tests |= kind == Kind::Test;
            if matches!(kind, Kind::Passed | Kind::Succeeded) {
                self.says_passed = true;
                let others = beside.and_then(|beside| Some(beside.of?.saturating_sub(beside.number?)));
                self.others = others.max(self.others);
            }
        }
    }

    /// The number of that kind.
    pub(super) fn number(&self, kind: Kind) -> Option<u64> {
        self.sums[kind as usize]
    }

    /// The number that passed, in whatever words.
    pub(super) fn succeeded(&self) -> Option<u64> {
        self.number(Kind::Passed).or(self.number(Kind::Succeeded))
    }

    /// True for a line that counts what failed of all that ran.
    pub(super) fn sums_up(&self) -> bool {
        let failed = self.number(Kind::Failed).unwrap_or(0);
        let is_of_all = self.number(Kind::Test).or(self.number(Kind::Total)).is_some_and(|all| all >= failed);
        let is_count = self.of_tests && self.known == self.words;
        failed > 0 && (self.number(Kind::Passed).is_some() || is_of_all && self.numbers > 1 || is_count)
    }

    /// True for a line that counts tests that failed.
    pub(super) fn is_failing(&self) -> bool {
        let of_tests = self.of_tests || self.succeeded().is_some() || self.words == 2;
        of_tests && self.number(Kind::Failed).is_some_and(|failed| failed > 0)
    }

    /// The number of tests that the line counts without a verdict.
    pub(crate) fn tests(&self) -> u64 {
        self.number(Kind::Test).unwrap_or(0)
    }

    /// The number of tests that the line counts by their verdicts.
    pub(crate) fn in_all(&self) -> u64 {
        let numbers = [Kind::Passed, Kind::Failed, Kind::Skipped].map(|kind| self.number(kind).unwrap_or(0));
        numbers.into_iter().fold(0, u64::saturating_add)
    }

    /// The tests of a line that counts some with a verdict, or that counts none.
    pub(super) fn counts(&self) -> Option<Counts> {
        let [tests, total, failed, skipped] =
            [Kind::Test, Kind::Total, Kind::Failed, Kind::Skipped].map(|kind| self.number(kind));
        let is_verdict = failed.is_some() || self.says_passed || self.is_end || tests == Some(0);
        let total = total.filter(|_| self.of_tests || failed.and(skipped).is_some());
        let is_count = self.of_tests || self.words == 2;
        let succeeded = self.number(Kind::Succeeded).filter(|_| is_count || failed.is_some());
        let passed = self.number(Kind::Passed).or(succeeded);
        let (failed, skipped) = (failed.unwrap_or(0), skipped.unwrap_or(0));
        let rest = tests.or(total).map(|all| all.saturating_sub(failed.saturating_add(skipped)));
        let passed = passed.or(rest.filter(|_| is_verdict)).or((failed > 0 && is_count).then_some(0))?;
        Some(Counts { passed, failed, skipped, ..Counts::default() })
    }
}

/// The number before a word. Behind it there may be a noun: `2 modules passed unittests`.
fn before<'w, 'a>(words: &'w [Word<'a>], at: usize) -> Option<&'w Word<'a>> {
    let next = words[at + 1..].iter().find(|word| !matches!(word.kind, Some(Kind::Between | Kind::Total)));
    let has_noun = next.is_some_and(|word| word.kind == Some(Kind::Test));
    let mut before = words[..at].iter().rev().skip_while(|word| word.is_between());
    let is_number = |word: &&Word<'_>| word.number.is_some();
    let nearest = before.next()?;
    Some(nearest).filter(is_number).or_else(|| before.next().filter(|_| has_noun).filter(is_number))
}

/// The number behind a word, which may have a noun: `Failed Assertions: 1`.
fn behind<'w, 'a>(words: &'w [Word<'a>], at: usize) -> Option<&'w Word<'a>> {
    let is_noun = |word: &Word<'_>| word.is_label && word.number.is_none() && !word.is_verdict();
    let mut behind = words[at + 1..].iter().skip_while(|word| word.is_between());
    let next = behind.next()?;
    let number = if words[at].is_verdict() && is_noun(next) { behind.next() } else { Some(next) };
    number.filter(|word| word.number.is_some())
}

/// `00:01 +2 -1: Some tests failed.`, `1 out of 3 tests failed`: the same, each number before its word. The text is in small letters.
fn in_order(text: &str) -> String {
    static COMPILED: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
        let rows = ORDERS.iter().filter_map(|row| row.split_once(" => "));
        rows.filter_map(|(row, words)| Some((pattern(row)?, words))).collect()
    });
    let is_likely = WORDS_OF_ORDERS.iter().any(|word| text.contains(word));
    let found = COMPILED.iter().filter(|_| is_likely).find(|(order, _)| order.is_match(text));
    found.map_or_else(|| text.to_owned(), |(order, words)| order.replace(text, *words).into_owned())
}
