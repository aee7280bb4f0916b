//! What a change took from the tests, read from the changed files alone: tests that vanished, that are skipped now,
//! that lost assertions.
//!
//! A test is found by how its language declares one, and reaches as far as its indentation: no language is parsed,
//! so the price of a wrong reading is a word too many or too few, never a refusal by default. A test whose body came
//! up elsewhere or under another name was moved, not removed; so was one that became a row of a new test, which calls
//! all that it called. Assertions that moved into a function beside the tests are not lost.

use std::collections::{BTreeMap, BTreeSet};

use crate::domain::facts::Weakening;

/// Tests per side that are looked at; more of them in one commit is no edit by hand.
const MAX_TESTS: usize = 4096;
/// Lines after a marker in which the name of a test is looked for.
const NAME_WITHIN: usize = 8;
/// Lines of a table of cases before the name of its test.
const TABLE: usize = 64;
/// Share of common lines, in hundredths, from which on a body is the same one.
const SAME_BODY: usize = 60;

/// A changed file: its text before and after; empty where it was not there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedText {
    /// Ending of its name in lower case, such as `rs`.
    pub extension: String,
    /// Text before.
    pub old: String,
    /// Text after.
    pub new: String,
}

/// How tests look, by the parameters `tests`, `skips` and `assertions` of the rule `test-weakening`.
#[derive(Debug, Clone, Copy)]
pub struct Patterns<'a> {
    pub(in crate::detect) tests: &'a [String],
    pub(in crate::detect) skips: &'a [String],
    pub(in crate::detect) assertions: &'a [String],
}

impl Patterns<'_> {
    /// Whether files of this ending can hold tests: for others nothing need be read.
    pub fn knows(&self, extension: &str) -> bool {
        all(self.tests, extension).next().is_some()
    }
}

/// The patterns of one kind for a file: entries are `ENDING,ENDING: TEXT`.
fn all<'a>(entries: &'a [String], extension: &str) -> impl Iterator<Item = &'a str> {
    entries.iter().filter_map(move |entry| {
        let (endings, text) = entry.split_once(": ")?;
        endings.split(',').any(|ending| ending.trim() == extension).then_some(text)
    })
}

/// A test as it stands in a file.
#[derive(Debug, Clone)]
struct Test<'a> {
    name: String,
    lines: Vec<&'a str>,
    skipped: bool,
    assertions: usize,
}

/// The tests of one side, and the assertions outside them.
#[derive(Debug, Default)]
struct Side<'a> {
    tests: Vec<Test<'a>>,
    outside: usize,
}

/// What the change took away; `None` when it is nothing.
pub fn weakened(files: &[ChangedText], patterns: &Patterns<'_>) -> Option<Weakening> {
    let (mut old, mut new) = (Side::default(), Side::default());
    for file in files {
        let words = Words::of(patterns, &file.extension);
        words.read(&file.old, &mut old);
        words.read(&file.new, &mut new);
    }
    let mut found = Weakening::default();
    let mut unmatched = Vec::new();
    let mut loosened = Vec::new();
    let mut named: BTreeMap<&str, Vec<&Test<'_>>> = BTreeMap::new();
    for test in new.tests.iter().rev() {
        named.entry(&test.name).or_default().push(test);
    }
    for test in &old.tests {
        match named.get_mut(test.name.as_str()).and_then(Vec::pop) {
            Some(same) => compare(test, same, &mut found, &mut loosened),
            None => unmatched.push(test),
        }
    }
    let mut unclaimed: Vec<&Test<'_>> = named.into_values().flatten().collect();
    // Tests that came with the change; several old ones may have become rows of one of them.
    let fresh = unclaimed.clone();
    for test in unmatched {
        match unclaimed.iter().position(|other| same_body(test, other)) {
            Some(at) => compare(test, unclaimed.swap_remove(at), &mut found, &mut loosened),
            None if fresh.iter().any(|other| is_row_of(test, other)) => {}
            None => note(&mut found.removed, &mut found.total, &test.name),
        }
    }
    if new.outside <= old.outside {
        for name in loosened {
            note(&mut found.loosened, &mut found.total, &name);
        }
    }
    (found.total > 0).then_some(found)
}

/// The names of the tests that a file declares and does not skip, in order.
pub fn declared_tests(extension: &str, text: &str, patterns: &Patterns<'_>) -> Vec<String> {
    let mut side = Side::default();
    Words::of(patterns, extension).read(text, &mut side);
    side.tests.into_iter().filter(|test| !test.skipped).map(|test| test.name).collect()
}

fn compare(old: &Test<'_>, new: &Test<'_>, found: &mut Weakening, loosened: &mut Vec<String>) {
    if new.skipped && !old.skipped {
        note(&mut found.skipped, &mut found.total, &new.name);
    } else if new.assertions < old.assertions {
        loosened.push(new.name.clone());
    }
}

fn note(names: &mut Vec<String>, total: &mut u64, name: &str) {
    *total = total.saturating_add(1);
    if names.len() < Weakening::MAX_NAMES {
        names.push(name.to_owned());
    }
}

/// Whether two bodies share most of their lines.
fn same_body(one: &Test<'_>, other: &Test<'_>) -> bool {
    let mut left = other.lines.clone();
    let mut common = 0_usize;
    for line in &one.lines {
        if let Some(at) = left.iter().position(|known| known == line) {
            left.swap_remove(at);
            common += 1;
        }
    }
    let all = one.lines.len() + other.lines.len();
    common > 0 && common * 200 >= all * SAME_BODY
}

/// Whether `one` can have become a row of the table of `other`: that asserts, and calls all that it called.
fn is_row_of(one: &Test<'_>, other: &Test<'_>) -> bool {
    let (own, theirs) = (calls(one), calls(other));
    !own.is_empty() && !other.skipped && other.assertions > 0 && own.is_subset(&theirs)
}

/// The names that a test calls.
fn calls<'a>(test: &Test<'a>) -> BTreeSet<&'a str> {
    let mut found = BTreeSet::new();
    for line in &test.lines {
        for (at, _) in line.match_indices('(') {
            let before = line.get(..at).unwrap_or_default();
            let name = before.rsplit(|c: char| !(c.is_alphanumeric() || c == '_')).next().unwrap_or_default();
            if !name.is_empty() {
                found.insert(name);
            }
        }
    }
    found
}

/// The patterns for one file.
struct Words<'a> {
    tests: Vec<&'a str>,
    skips: Vec<&'a str>,
    assertions: Vec<&'a str>,
}

impl<'a> Words<'a> {
    fn of(patterns: &Patterns<'a>, extension: &str) -> Self {
        let all = |entries| all(entries, extension).collect();
        Self { tests: all(patterns.tests), skips: all(patterns.skips), assertions: all(patterns.assertions) }
    }

    /// Adds the tests of a file to a side.
    fn read<'t>(&self, text: &'t str, side: &mut Side<'t>) {
        let lines: Vec<&str> = text.lines().collect();
        let mut inside = BTreeSet::new();
        let mut at = 0;
        while at < lines.len() && side.tests.len() < MAX_TESTS {
            let Some((name, named)) = self.declared(&lines, at) else {
                at += 1;
                continue;
            };
            let from = with_attributes(&lines, at);
            let to = end_of(&lines, named);
            let block = lines.get(from..to).unwrap_or_default();
            let body = lines.get(named + 1..to).unwrap_or_default();
            side.tests.push(Test {
                name,
                lines: body.iter().map(|line| line.trim()).filter(|line| !is_noise(line)).collect(),
                skipped: block.iter().any(|line| has(line, &self.skips)),
                assertions: block.iter().filter(|line| has(line, &self.assertions)).count(),
            });
            inside.extend(from..to);
            at = to.max(at + 1);
        }
        let outside =
            lines.iter().enumerate().filter(|(at, line)| !inside.contains(at) && has(line, &self.assertions));
        side.outside = side.outside.saturating_add(outside.count());
    }

    /// The name of the test that is declared at a line, and the line of the name.
    fn declared(&self, lines: &[&str], at: usize) -> Option<(String, usize)> {
        let line = code(lines.get(at)?);
        // `it.skip("x")` declares a test as `it("x")` does.
        let skipped =
            || self.skips.iter().find(|word| word.ends_with(['(', ' ']) && line.starts_with(**word));
        let word = self.tests.iter().find(|word| line.starts_with(**word)).or_else(skipped)?;
        let rest = line.get(word.len()..).unwrap_or_default();
        if let Some(name) = quoted(rest) {
            return Some((name, at));
        }
        if word.strip_suffix(".each").is_some() {
            // `it.each([...])("name", ...)`: the name comes behind the table.
            return (at..lines.len().min(at + TABLE)).find_map(|at| {
                let line = lines.get(at)?;
                let behind = line.rfind(")(").map(|found| found + 1).or_else(|| line.rfind("`("))?;
                Some((quoted(line.get(behind..)?.trim_start_matches('`'))?, at))
            });
        }
        if word.ends_with('(') {
            // `TEST(Suite, Name)`; a call without a text names no test.
            let name = rest.split(')').next().unwrap_or_default().trim();
            return (name.contains(',') && word.starts_with(char::is_uppercase))
                .then(|| (name.to_owned(), at));
        }
        if word.ends_with(char::is_alphanumeric) || word.ends_with('_') {
            let tail: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            let head = word.rsplit(' ').next().unwrap_or_default();
            if !word.starts_with(['@', '[']) {
                return Some((format!("{head}{tail}"), at));
            }
        }
        (at..lines.len().min(at + NAME_WITHIN)).find_map(|at| Some((function(lines.get(at)?)?, at)))
    }
}

/// A line without white space and what may stand before a declaration.
fn code(line: &str) -> &str {
    let mut line = line.trim_start();
    for word in ["export ", "public ", "pub ", "async ", "static "] {
        line = line.strip_prefix(word).unwrap_or(line);
    }
    line
}

/// The text in quotes at the beginning.
fn quoted(rest: &str) -> Option<String> {
    let rest = rest.trim_start_matches(['(', ' ']);
    let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\'' | '`'))?;
    let inner = rest.get(1..)?;
    Some(inner.get(..inner.find(quote)?)?.to_owned())
}

/// The function that a line declares.
fn function(line: &str) -> Option<String> {
    let words = ["fn ", "def ", "func ", "fun ", "function ", "void "];
    let after = words.iter().find_map(|word| line.find(word).and_then(|at| line.get(at + word.len()..)))?;
    let name: String = after.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    (!name.is_empty()).then_some(name)
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

fn is_noise(line: &str) -> bool {
    line.chars().all(|c| !c.is_alphanumeric())
}

fn has(line: &str, words: &[&str]) -> bool {
    let line = line.trim();
    !(line.starts_with("//") || line.starts_with("# ")) && words.iter().any(|word| line.contains(word))
}

/// Attributes and decorators above a declaration belong to it.
fn with_attributes(lines: &[&str], mut at: usize) -> usize {
    let belongs = |line: &&str| {
        let line = line.trim_start();
        line.starts_with('@') || line.starts_with("#[")
    };
    while at > 0 && lines.get(at - 1).is_some_and(belongs) {
        at -= 1;
    }
    at
}

/// The line after a declaration's last one, by indentation.
fn end_of(lines: &[&str], named: usize) -> usize {
    let Some(declared) = lines.get(named) else { return lines.len() };
    let depth = indent(declared);
    for (at, line) in lines.iter().enumerate().skip(named + 1) {
        let text = line.trim_start();
        if text.is_empty() || indent(line) > depth || text.starts_with('{') || text.starts_with(") {") {
            continue;
        }
        let closes = text.starts_with(['}', ')', ']']) || text.starts_with("end");
        return if closes { at + 1 } else { at };
    }
    lines.len()
}

#[cfg(test)]
mod tests;
