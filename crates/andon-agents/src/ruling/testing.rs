//! Which command of a shell's line is the configured test command, and the same line with `andon test` in its place.
//!
//! Nothing is guessed: what a shell would have to compute first, and what comes after it, is left alone. So are the background,
//! what another command is piped into, here-documents, loops and everything else that begins with a reserved word.

use std::ops::Range;
use std::path::{Component, Path, PathBuf};

use crate::tools::WORDS;
use andon_core::command_words::{behind_wrapper, is_assignment, program_name};
use andon_core::shell_reading::{End, Item, Reading, Word};
use andon_core::{WordList, words};

/// A configured test command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tests {
    /// The scope; `None` for `test.command`.
    pub name: Option<String>,
    /// The command as a line for `sh`.
    pub command: String,
}

/// The place in which a line runs.
#[derive(Debug, Clone, Copy)]
pub struct TestPlace<'a> {
    /// The directory in which the client starts it.
    pub cwd: &'a Path,
    /// The top of the working tree, in which the test command is meant to run.
    pub top: &'a Path,
}

/// `script` with `program test` for each run of `tests`; `None` where it holds none.
pub fn as_andon_test(script: &str, tests: &[Tests], place: TestPlace<'_>, program: &str) -> Option<String> {
    let mut text = script.to_owned();
    let found = found(script, tests, place);
    for run in found.iter().rev() {
        let with = match &run.tests.name {
            _ if run.has_more => format!("{program} test -- "),
            Some(name) => format!("{program} test {name}"),
            None => format!("{program} test"),
        };
        let span = if run.has_more { run.span.start..run.span.start } else { run.span.clone() };
        text.replace_range(span, &with);
    }
    (!found.is_empty()).then_some(text)
}

/// The configured command whose result is that of `script` as a whole, without further arguments.
pub fn decided_by<'a>(script: &str, tests: &'a [Tests], place: TestPlace<'_>) -> Option<&'a Tests> {
    let mut found = found(script, tests, place);
    let run = found.pop().filter(|run| found.is_empty() && !run.has_more && run.decides)?;
    Some(run.tests)
}

/// The words of a command that is one, and of which every word is known without a shell.
pub fn plain_words(command: &str) -> Option<Vec<String>> {
    let read = Reading::parse(command);
    let word = |item: &Item| match item {
        Item::Word(word) if word.is_exact => Some(word.value.clone()),
        Item::Word(_) | Item::Redirection(_) | Item::End(_) => None,
    };
    let words: Option<Vec<String>> = read.items.split_last()?.1.iter().map(word).collect();
    words.filter(|words| {
        read.is_plain() && !words.is_empty() && !RESERVED.contains(&words[0]) && !is_assignment(&words[0])
    })
}

/// A run of a configured command within a line.
struct Run<'a> {
    tests: &'a Tests,
    /// The words that are the command.
    span: Range<usize>,
    /// True when arguments follow.
    has_more: bool,
    /// True when the line does nothing else, apart from going to the place.
    decides: bool,
}

fn found<'a>(script: &str, tests: &'a [Tests], place: TestPlace<'_>) -> Vec<Run<'a>> {
    let read = Reading::parse(script);
    let wanted = tests.iter().map(|one| (one, Reading::parse(&one.command)));
    let mut wanted: Vec<(&Tests, Reading)> = wanted.filter(|(_, read)| read.is_plain()).collect();
    // The longest first: `npm test` is the beginning of `npm test -w core`.
    wanted.sort_by_key(|(_, read)| std::cmp::Reverse(read.items.len()));
    let (mut runs, mut at, mut alone): (Vec<Run<'_>>, usize, bool) = (Vec::new(), 0, true);
    // The directory, as far as it is known.
    let mut here = Some(place.cwd.to_owned());
    let mut before = None;
    while let Some(end) = read.items.get(at..).and_then(|rest| rest.iter().position(Item::ends)) {
        let end = at + end;
        let words: Vec<&Word> = read.items[at..end].iter().filter_map(Item::word).collect();
        if words.first().is_some_and(|word| RESERVED.contains(&word.value)) {
            break;
        }
        let here_is_top = here.as_ref().is_some_and(|dir| normal(dir) == normal(place.top));
        let mut wanted = wanted.iter().filter(|_| here_is_top);
        let hit = wanted.find_map(|(one, wanted)| hit(&read, at, before, wanted).map(|hit| (*one, hit)));
        let next = if let Some((tests, hit)) = hit {
            let after = read.items.get(hit.next).and_then(Item::end);
            let decides = alone && after == Some(End::Script);
            runs.push(Run { tests, span: hit.span, has_more: hit.has_more, decides });
            hit.next
        } else {
            alone &= goes(&words).is_some();
            here = gone(here, &words, read.items[end].end());
            end
        };
        before = read.items.get(next).and_then(Item::end);
        at = next + 1;
    }
    runs
}

/// The place of a configured command in a line.
struct Hit {
    span: Range<usize>,
    has_more: bool,
    /// The end of the command that it is the last part of.
    next: usize,
}

/// Returns the place of the wanted command if the command that begins at the item `at`, behind `before`, is the wanted one.
fn hit(read: &Reading, at: usize, before: Option<End>, wanted: &Reading) -> Option<Hit> {
    let parts = wanted.items.split_last()?.1;
    let is_compound = parts.iter().any(Item::ends);
    if parts.is_empty() || parts.iter().filter_map(Item::end).any(|end| end != End::And) {
        return None;
    }
    let skipped = if is_compound { vec![0] } else { starts(&read.items[at..]) };
    // Of `x || a && b`, the shell joins the first two.
    if matches!(before, Some(End::Pipe)) || is_compound && matches!(before, Some(End::Or)) {
        return None;
    }
    // An assignment may belong to the command itself.
    let start = skipped.into_iter().find(|skip| is_at(&read.items[at + skip..], parts))? + at;
    let last = start + parts.len() - 1;
    let next = last + read.items.get(last..)?.iter().position(Item::ends)?;
    let end = read.items[next].end()?;
    if matches!(end, End::Background | End::Unread) || is_compound && end == End::Pipe {
        return None;
    }
    let between = read.items.get(last + 1..next).unwrap_or_default();
    let has_more = between.iter().any(|item| item.word().is_some());
    let assigns = parts.first().and_then(Item::word).is_some_and(|word| is_assignment(&word.value));
    if has_more && (is_compound || assigns) {
        return None;
    }
    let span = read.items[start].word()?.span.start..read.items[last].word()?.span.end;
    Some(Hit { span, has_more, next })
}

fn is_at(items: &[Item], parts: &[Item]) -> bool {
    let same = |(at, (one, other)): (usize, (&Item, &Item))| match (one, other) {
        (Item::Word(one), Item::Word(other)) => {
            let exact = one.is_exact && other.is_exact;
            exact && one.value == other.value
                || one.raw == other.raw
                || at == 0 && exact && bare(&one.value) == other.value
        }
        (Item::End(one), Item::End(other)) => one == other,
        // A redirection in the middle would be lost.
        (Item::Word(_) | Item::Redirection(_) | Item::End(_), _) => false,
    };
    items.len() >= parts.len() && items.iter().zip(parts).enumerate().all(same)
}

/// Runners that start a program in an environment of the project.
const IN_PROJECT: WordList = words!["uv run", "poetry run", "pipenv run", "pdm run", "rye run", "hatch run"];
/// Wrappers behind which a program runs as another person, or waits for its turn.
const NOT_THROUGH: WordList = words!["sudo", "doas", "flock"];

/// The numbers of words before a program that may be the command: none, those of variables, and those of each wrapper.
fn starts(items: &[Item]) -> Vec<usize> {
    let before = items.iter().take_while(|item| item.word().is_none() && !item.ends()).count();
    let words = items[before..].iter().map_while(Item::word).map(|word| word.value.as_str());
    let words: Vec<&str> = words.collect();
    let mut found = vec![0];
    let mut rest = &words[..];
    loop {
        // An assignment may belong to the command itself.
        let assigned = rest.iter().take_while(|word| is_assignment(word)).count();
        let at = words.len() - rest.len();
        found.extend(at + 1..=at + assigned);
        rest = &rest[assigned..];
        let in_project = IN_PROJECT.beginning(rest).and_then(|begin| rest.get(begin.split(' ').count()..));
        let wrapped = || behind_wrapper(rest).filter(|_| !NOT_THROUGH.contains(program_name(rest[0])));
        let Some(inner) = in_project.or_else(wrapped).filter(|inner| !inner.is_empty()) else {
            return found.into_iter().map(|at| at + before).collect();
        };
        rest = inner;
        found.push(words.len() - rest.len());
    }
}

/// Directories in which an environment of the project has its programs.
const OF_PROJECT: WordList = WordList::section(WORDS, "folders of programs of a project");

/// A program, without the directory of an environment of the project.
fn bare(word: &str) -> &str {
    let below = word.strip_prefix("./").unwrap_or(word);
    OF_PROJECT.iter().find_map(|dir| below.strip_prefix(dir)).unwrap_or(word)
}

/// Words that begin what is no simple command, or change what the line behind them means.
const RESERVED: WordList = WordList::section(WORDS, "reserved words");

/// The directory that `cd` goes to.
fn goes<'a>(words: &[&'a Word]) -> Option<&'a Word> {
    let [command, rest @ ..] = words else { return None };
    let rest = if rest.first().is_some_and(|word| word.raw == "--") { &rest[1..] } else { rest };
    let [to] = rest else { return None };
    (command.value == "cd" && to.value != "-").then_some(*to)
}

fn gone(here: Option<PathBuf>, words: &[&Word], end: Option<End>) -> Option<PathBuf> {
    if words.first().is_none_or(|word| word.value != "cd") {
        return here;
    }
    // The command after `cd X ||` runs where `cd` failed.
    let surely = matches!(end, Some(End::And | End::Next));
    let to = goes(words).filter(|to| to.is_exact && surely)?;
    Some(here?.join(&to.value))
}

/// A path without `.` and `..`.
fn normal(path: &Path) -> PathBuf {
    let mut parts = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => _ = parts.pop(),
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => parts.push(part),
        }
    }
    parts
}

#[cfg(test)]
mod tests;
