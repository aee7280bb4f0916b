//! Words with which shells, task runners and interpreters say that there is nothing to run: a program, a target, a script
//! or a service is not there. Such a run says nothing about the code.

use crate::told::{names_failures, names_passes};
use crate::words::{PHRASES, matches};
use crate::{WordList, command_words::is_shell, words};

/// Words that only these programs print.
const SURE: WordList = WordList::section(PHRASES, "sure");
/// Words that are also found in what a test prints: they count where little else was printed.
const ALONE: WordList = WordList::section(PHRASES, "alone");
/// Words that count as the last ones of a run, with the exit codes that belong to them: what a command says that cannot even
/// begin. A test may print them too, but then its own verdict follows.
const LAST: WordList = WordList::section(PHRASES, "last");
/// Words of tools that did nothing and end with 0. They matter where the exit code is all that is asked for.
const IDLE: WordList = WordList::section(PHRASES, "idle");
/// Lines that callers add when the program that they call has failed.
const CALLERS: WordList = WordList::section(PHRASES, "callers");
/// Lines that explain what was said before them.
const DETAILS: WordList = WordList::section(PHRASES, "details");

/// As [`LAST`], where the lines below decide: behind the row, whether some line has a text or lacks it. A module that no other one
/// asks for is the one that the command names.
const TRACED: WordList = WordList::section(PHRASES, "traced");

/// Programs beside shells that put their own name before a colon, and words that mean one.
const PROGRAMS: WordList = words![
    "env", "time", "nice", "timeout", "sudo", "make", "git", "docker", "podman", "python", "perl", "ruby",
    "php", "lua", "error", "Error", "ERROR",
];

/// Lines that are not blank of an output that is short: a shell that only says what it did not find.
pub(super) const SHORT: usize = 12;

/// The length of an output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Length {
    /// At most [`SHORT`] lines.
    Short,
    /// More: words that a test may print as well prove nothing.
    Long,
}

/// The end of a run, as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ending {
    /// The exit code; `None` of a program that ran among others.
    pub code: Option<i32>,
    /// Tests that a report shows.
    pub tests: Tests,
}

/// Tests that a report shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tests {
    /// None is known.
    None,
    /// Some did: the words of a shell may be theirs.
    Ran,
}

/// The line that says that there was nothing to run.
pub(super) fn reason<'a>(
    lines: &(impl DoubleEndedIterator<Item = &'a str> + Clone),
    length: Length,
    ending: Ending,
) -> Option<String> {
    let says = |table: WordList| {
        let is_one = |line: &&str| !line.contains(OF_CODE) && table.iter().any(|row| is_row(line, row));
        lines.clone().find(is_one).map(str::trim)
    };
    let told = says(SURE);
    let untested = ending.tests == Tests::None && !tells_of_tests(lines);
    // `make: *** [test] Error 127` is known for what it is; the line above it tells what was not found.
    let shell = if length == Length::Short && untested || told.is_some() { says(ALONE) } else { None };
    let best = match (told, shell) {
        (Some(told), Some(shell)) if told.contains("12") => Some(shell),
        (told, shell) => told.or(shell),
    };
    let best = best.or_else(|| if untested { last_words(lines, ending.code) } else { None });
    best.map(str::to_owned)
}

/// True for a line that says that there was nothing to do.
pub(super) fn is_idle(line: &str) -> bool {
    IDLE.iter().any(|row| is_row(line, row))
}

/// True for the name of a program that says such words before a colon.
pub(super) fn is_program(name: &str) -> bool {
    let name = name.rsplit('/').next().unwrap_or_default();
    let bare = name.trim_end_matches(|each: char| each.is_ascii_digit() || each == '.');
    is_shell(bare) || PROGRAMS.contains(bare) || [".sh", ".bash"].iter().any(|script| name.ends_with(script))
}

/// The line to show of a run that ended as one does whose program is not there, and said so in no known words: the last
/// one that is no addition of a caller, and rather one that tells what is not there.
pub(super) fn likeliest<'a>(lines: &(impl DoubleEndedIterator<Item = &'a str> + Clone)) -> Option<String> {
    let own = || lines.clone().rev().filter(|line| !is_of_caller(line) && !is_usage(line));
    let absent = |line: &&str| {
        let line = line.to_lowercase();
        ["not found", "no such", "cannot", "can't", "denied", "not executable", "not recognized"]
            .iter()
            .any(|words| line.contains(words))
    };
    let last = || own().next().or_else(|| lines.clone().next_back());
    own().find(absent).or_else(last).map(|line| line.trim().to_owned())
}

/// True when some line is the verdict on a test.
fn tells_of_tests<'a>(lines: &(impl Iterator<Item = &'a str> + Clone)) -> bool {
    // ninja calls every command that fails so.
    let ninja = lines.clone().any(|line| line.starts_with("ninja: build stopped"));
    lines.clone().filter(|line| !(is_of_caller(line) || ninja && line.starts_with("FAILED: "))).any(|line| {
        !line.contains("Traceback (most recent call last)") && names_failures(line) || names_passes(line)
    })
}

/// The last words, except those that callers and the program itself add, where the exit code belongs to them.
fn last_words<'a>(
    lines: &(impl DoubleEndedIterator<Item = &'a str> + Clone),
    code: Option<i32>,
) -> Option<&'a str> {
    let (mut code, mut below, mut others) = (code, Vec::new(), 0);
    for line in lines.clone().rev() {
        let says = |row: &str| is_said(line, row, code);
        let traced = || TRACED.iter().any(|row| is_traced(row, &below, says));
        if !line.contains(OF_CODE) && (LAST.iter().any(says) || traced()) {
            return Some(line.trim());
        }
        if is_of_caller(line) {
            code = told_code(line).or(code);
        } else if !is_detail(line) {
            others += 1;
            // Codes that a failing test has as well allow for no other word.
            if others > usize::from(!matches!(code, None | Some(1))) {
                return None;
            }
        }
        below.push(line);
    }
    None
}

/// A row of [`LAST`] and of [`TRACED`]: a program, its exit codes and the phrase.
fn is_said(line: &str, row: &str, code: Option<i32>) -> bool {
    let (codes, phrase) = row.split_once(' ').and_then(|(_, row)| row.split_once(' ')).unwrap_or_default();
    let fits = |code: i32| codes.split(',').any(|one| one.parse() == Ok(code));
    matches(line, phrase) && code.is_none_or(fits)
}

/// A row of [`SURE`] and of [`ALONE`]: a program and the phrase.
fn is_row(line: &str, row: &str) -> bool {
    row.split_once(' ').is_some_and(|(_, phrase)| matches(line, phrase))
}

/// A row of [`TRACED`].
fn is_traced(row: &str, below: &[&str], says: impl Fn(&str) -> bool) -> bool {
    let mut parts = row.split('\t');
    let (phrase, wanted, text) = (parts.next(), parts.next(), parts.next().unwrap_or_default());
    phrase.is_some_and(says) && below.iter().any(|line| line.contains(text)) == (wanted == Some("has"))
}

/// True for a line that a caller adds when what it calls has failed.
fn is_of_caller(line: &str) -> bool {
    CALLERS.iter().any(|phrase| matches(line, phrase))
}

/// The exit code that a caller reports: `Error 2`, `exit code 2.`, `exit status 2`, `exited with code 2`.
fn told_code(line: &str) -> Option<i32> {
    let number = |(_, rest): (&str, &str)| {
        let digits = rest.split(|each: char| !each.is_ascii_digit()).next()?;
        digits.parse().ok()
    };
    ["] Error ", "exit code ", "exit status ", "exited with code ", "non-zero status ", "error code "]
        .iter()
        .find_map(|words| line.split_once(words).and_then(number))
}

/// True for a line that explains the one before it.
fn is_detail(line: &str) -> bool {
    line.starts_with(char::is_whitespace)
        || DETAILS.iter().any(|phrase| matches(line, phrase))
        || is_usage(line)
}

/// True for a line that `time` adds.
fn is_usage(line: &str) -> bool {
    let line = line.trim_start();
    let begins = line.starts_with(|each: char| each.is_ascii_digit());
    let gnu = line.contains("elapsed ") && line.contains("maxresident") || line.contains("pagefaults ");
    begins && gnu || ["real\t", "user\t", "sys\t"].iter().any(|start| line.starts_with(start))
}

/// `No rule to make target 'a.c', needed by 'a.o'`: a file of the code is gone.
const OF_CODE: &str = ", needed by ";

#[cfg(test)]
mod tests;
