//! The sessions of runners that have begun and that have ended, whatever reads them: a later one that dies must not hide
//! behind the summary of the first.
//!
//! A session begins with the header of its runner, or where a tool such as `make` repeats the command before it starts it.

use std::{collections::BTreeMap, sync::LazyLock};

use crate::told::{LineNumbers, counts_tests};
use crate::words::{PHRASES, RUNNERS, matches};
use crate::{Promise, RunnerCall, WordList, runner_call::KNOWN};

/// Headers and last lines of runners that have no reader: the runner and a phrase.
const BEGINNINGS: WordList = WordList::section(PHRASES, "beginnings of sessions");
const ENDS: WordList = WordList::section(PHRASES, "ends of sessions");
/// Headers of each file and last lines of the whole, of runners whose tests are counted in place of sessions.
const ANNOUNCING: WordList = WordList::section(PHRASES, "beginnings that count tests");
const COUNTING: WordList = WordList::section(PHRASES, "ends that count tests");
/// The marks of tools before a command that they repeat.
const MARKS: WordList = WordList::section(RUNNERS, "marks before commands");
/// Words that stand in sentences and in no command.
const OF_SENTENCES: WordList = WordList::section(RUNNERS, "words of sentences");

/// Sessions by the name of their runner.
#[derive(Debug, Clone, Default)]
pub(super) struct SessionCounts {
    begun: BTreeMap<&'static str, u64>,
    ended: BTreeMap<&'static str, u64>,
    /// Those of repeated commands that an unknown reporter counted tests of, before the next one was repeated.
    told: BTreeMap<&'static str, u64>,
    /// The newest repeated command, until a reporter counts tests of it.
    newest: Option<&'static str>,
}

impl SessionCounts {
    /// Takes the next line of an output: the header or the last line of a session.
    pub(super) fn line(&mut self, line: &str) {
        // A test that ended its process has left its own line open: `adds ... `.
        let line = line.rsplit_once(" ... ").map_or(line, |(_, rest)| rest);
        if !may_count(line) {
            return;
        }
        let runner = |rows: WordList| {
            let mut rows = rows.iter().filter_map(|row| row.split_once(' '));
            rows.find(|(_, phrase)| matches(line, phrase)).map(|(runner, _)| runner)
        };
        if let Some(runner) = runner(BEGINNINGS) {
            *self.begun.entry(runner).or_default() += 1;
            self.ended.entry(runner).or_default();
        } else if let Some(runner) = runner(ENDS) {
            self.end(runner);
        } else if let Some(runner) = runner(ANNOUNCING) {
            *self.begun.entry(runner).or_default() += LineNumbers::of(line).tests();
            self.ended.entry(runner).or_default();
        } else if let Some(runner) = runner(COUNTING) {
            *self.ended.entry(runner).or_default() += LineNumbers::of(line).in_all();
        }
    }

    /// Takes a line that may be a command that a tool repeats.
    pub(super) fn command(&mut self, line: &str) {
        let told = self.newest.filter(|_| counts_tests(line));
        for call in repeated(line) {
            *self.begun.entry(call.runner.0).or_default() += 1;
            self.newest = Some(call.runner.0);
        }
        if let Some(runner) = told {
            *self.told.entry(runner).or_default() += 1;
            self.newest = None;
        }
    }

    /// A session of this runner came to its summary.
    pub(super) fn end(&mut self, runner: &'static str) {
        *self.ended.entry(runner).or_default() += 1;
    }

    pub(super) fn absorb(&mut self, other: Self) {
        let theirs = [other.begun, other.ended, other.told];
        for (ours, theirs) in [&mut self.begun, &mut self.ended, &mut self.told].into_iter().zip(theirs) {
            for (runner, more) in theirs {
                *ours.entry(runner).or_default() += more;
            }
        }
    }

    /// True where a session has begun.
    pub(super) fn has_begun(&self) -> bool {
        !self.begun.is_empty()
    }

    /// The number of sessions that ended; `None` of a runner that was not recognised at all.
    pub(super) fn ended(&self, runner: &str) -> Option<u64> {
        self.ended.get(runner).copied()
    }

    /// A runner of which more sessions began than ended, be it in the words of an unknown reporter.
    pub(super) fn unfinished(&self) -> Option<&'static str> {
        let ended =
            |runner: &str| self.ended(runner).or_else(|| self.told.get(runner).copied()).unwrap_or_default();
        self.begun.iter().find(|(runner, times)| ended(runner) < **times).map(|(runner, _)| *runner)
    }
}

/// True for a line that begins as one of the phrases does: all of them begin with these bytes, or with a number.
fn may_count(line: &str) -> bool {
    static FIRST: LazyLock<Vec<u8>> = LazyLock::new(|| {
        let rows = [BEGINNINGS, ENDS, ANNOUNCING, COUNTING].into_iter().flat_map(WordList::iter);
        rows.filter_map(|row| row.split_once(" ^")?.1.bytes().next()).collect()
    });
    let first = line.trim_start().bytes().next();
    first.is_some_and(|first| first.is_ascii_digit() || FIRST.contains(&first))
}

/// The calls of runners that end with a summary in a command that a tool has repeated.
fn repeated(line: &str) -> Vec<RunnerCall> {
    // Most lines name no runner at all.
    if !KNOWN.iter().any(|runner| line.contains(runner)) {
        return Vec::new();
    }
    let behind_environment = line.split_once("commands[").and_then(|(_, rest)| rest.split_once("]> "));
    let marked = MARKS.iter().find_map(|mark| line.strip_prefix(mark)?.strip_prefix(' '));
    let command = behind_environment.map(|(_, command)| command).or(marked).unwrap_or(line);
    if command.starts_with(char::is_whitespace) || command.contains(['|', '<', '>', ';', '`', '$']) {
        return Vec::new();
    }
    let call = |command: &str| {
        let words: Vec<&str> = command.split_whitespace().collect();
        let is_call = RunnerCall::of_words(&words).filter(|call| call.promise == Promise::Summary);
        is_call.filter(|_| !is_sentence(&words))
    };
    command.split("&&").filter_map(call).collect()
}

/// True for words about a runner rather than to it: `pytest 8.3.4`, `jest did not exit`.
fn is_sentence(words: &[&str]) -> bool {
    let is_version = words.get(1).is_some_and(|word| word.starts_with(|one: char| one.is_ascii_digit()));
    is_version || words.iter().any(|word| OF_SENTENCES.contains(word) || word.ends_with([',', ':', '!', '…']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_reporter_counts_for_the_command_before_it() {
        for (text, unfinished) in [
            ("pytest\njest is not started here\n2 tests passed", None),
            ("pytest", Some("pytest")),
            ("2 tests passed\npytest", Some("pytest")),
            ("pytest a\n2 tests passed\nrspec\ndone", Some("rspec")),
            ("rspec\npytest a\n2 tests passed", Some("rspec")),
            ("pytest a\n2 tests passed\npytest b", Some("pytest")),
        ] {
            let mut counts = SessionCounts::default();
            text.lines().for_each(|line| counts.command(line));
            assert_eq!(counts.unfinished(), unfinished, "{text}");
        }
    }

    #[test]
    fn what_begins_and_ends_is_counted() {
        for (text, runner, begun, ended) in [
            (
                "bun test v1.2.19 (aad3abea)\nRan 1 test across 1 file. [9.00ms]\nbun test v1.2.19 (aad3abea)",
                "bun",
                2,
                Some(1),
            ),
            (
                "running 1 test from ./a.ts\nrunning 2 tests from ./b.ts\nok | 3 passed | 0 failed (9ms)",
                "deno",
                3,
                Some(3),
            ),
            ("running 1 test from ./a.ts", "deno", 1, Some(0)),
            ("running 2 tests from ./a.ts\nadds ... running 2 tests from ./b.ts", "deno", 4, Some(0)),
            ("running 3 tests", "deno", 0, None),
            ("pytest -q a", "pytest", 1, None),
            ("cd a && bundle exec rspec", "rspec", 1, None),
            ("> mocha test/unit", "mocha", 1, None),
            ("+ npx jest --ci", "jest", 1, None),
            ("$ vitest run", "vitest", 1, None),
            ("py311: commands[0]> pytest -q tests", "pytest", 1, None),
            ("pytest -q | tee log", "pytest", 0, None),
            ("pytest --co", "pytest", 0, None),
            ("pytest 8.3.4", "pytest", 0, None),
            ("pytest passed", "pytest", 0, None),
            ("  mocha test", "mocha", 0, None),
            ("jest: done", "jest", 0, None),
        ] {
            let mut counts = SessionCounts::default();
            for line in text.lines() {
                counts.line(line);
                counts.command(line);
            }
            let found = counts.begun.get(runner).copied().unwrap_or_default();
            assert_eq!((found, counts.ended(runner)), (begun, ended), "{text}");
        }
    }
}
