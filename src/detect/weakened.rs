//! What a change took from the tests, read from the changed files alone: tests that vanished, that are skipped now,
//! that lost assertions.
//!
//! A test is found by how its language declares one, and reaches as far as its indentation: no language is parsed,
//! so the price of a wrong reading is a word too many or too few, never a refusal by default. A test whose body came
//! up elsewhere or under another name was moved, not removed; so was one that became a row of a new test, which calls
//! all that it called. Assertions that moved into a function beside the tests are not lost.

pub(super) mod patterns;
mod read;

use std::collections::{BTreeMap, BTreeSet};

use read::Words;

use crate::domain::facts::Weakening;
use crate::domain::tests::Extent;

/// Pairs of tests whose bodies are compared at the most: a change beyond that is no edit by hand.
const MAX_PAIRS: usize = 1 << 20;

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
    /// How many rows it may have, as a table: what is bracketed in it.
    rows: usize,
}

/// The tests of one side, and the assertions outside them.
#[derive(Debug, Default)]
struct Side<'a> {
    tests: Vec<Test<'a>>,
    outside: usize,
    /// Whether it has more tests than are read.
    cut: bool,
}

/// What a change did to the tests of its files, by their names there.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Compared {
    /// What it took away; `None` when it is nothing.
    pub taken: Option<Weakening>,
    /// All that are gone.
    pub gone: Vec<String>,
    /// Those that came up under another name, or became rows of another test.
    pub moved: Vec<String>,
    /// How many tests less there are since several became rows of one.
    pub rows: u64,
    /// Those that came with it, and were no other test before.
    pub added: Vec<String>,
}

/// What the change took away; `None` when it is nothing.
pub fn weakened(files: &[ChangedText], patterns: &Patterns<'_>) -> Option<Weakening> {
    compared(files, patterns).taken
}

/// What the change did to the tests.
pub fn compared(files: &[ChangedText], patterns: &Patterns<'_>) -> Compared {
    let (mut old, mut new) = (Side::default(), Side::default());
    for file in files {
        let words = Words::of(patterns, &file.extension);
        words.read(&file.old, &mut old);
        words.read(&file.new, &mut new);
    }
    let mut all = Compared::default();
    let mut found = Weakening { extent: extent(&old, &new), ..Weakening::default() };
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
    let mut tables: Vec<(&Test<'_>, usize)> = unclaimed.iter().map(|test| (*test, test.rows)).collect();
    let mut pairs = MAX_PAIRS;
    for test in unmatched {
        pairs = pairs.saturating_sub(tables.len());
        if pairs == 0 {
            found.extent = Extent::About;
        }
        let known = if pairs == 0 { &[][..] } else { &unclaimed[..] };
        if let Some(at) = known.iter().position(|other| same_body(test, other)) {
            all.moved.push(test.name.clone());
            compare(test, unclaimed.swap_remove(at), &mut found, &mut loosened);
        } else if pairs > 0 && becomes_a_row(test, &mut tables) {
            all.rows += 1;
            all.moved.push(test.name.clone());
        } else {
            all.gone.push(test.name.clone());
            note(&mut found.removed, &mut found.total, &test.name);
        }
    }
    let claimed: BTreeSet<&str> =
        tables.iter().filter(|(test, left)| *left < test.rows).map(|(test, _)| test.name.as_str()).collect();
    all.rows = all.rows.saturating_sub(u64::try_from(claimed.len()).unwrap_or(u64::MAX));
    let added = unclaimed.iter().filter(|test| !claimed.contains(test.name.as_str()));
    all.added = added.map(|test| test.name.clone()).collect();
    if new.outside <= old.outside {
        for name in loosened {
            note(&mut found.loosened, &mut found.total, &name);
        }
    }
    all.taken = (found.total > 0).then_some(found);
    all
}

/// How much of both sides was read.
fn extent(old: &Side<'_>, new: &Side<'_>) -> Extent {
    match (old.cut, new.cut) {
        (_, true) => Extent::About,
        (true, false) => Extent::AtLeast,
        (false, false) => Extent::Whole,
    }
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

/// Whether `one` can have become a row of one of `tables`, each with how many rows are left to be claimed.
fn becomes_a_row(one: &Test<'_>, tables: &mut [(&Test<'_>, usize)]) -> bool {
    let Some((_, left)) = tables.iter_mut().find(|(other, left)| *left > 0 && is_row_of(one, other)) else {
        return false;
    };
    *left -= 1;
    true
}

/// Whether `other` asserts, and calls all that `one` called, but for the words in which it asserts.
fn is_row_of(one: &Test<'_>, other: &Test<'_>) -> bool {
    let (own, theirs) = (calls(one), calls(other));
    !own.is_empty() && !other.skipped && other.assertions > 0 && own.is_subset(&theirs)
}

/// Calls that say how something is asked, not what.
const ASKING: &[&str] =
    &["Error", "Errorf", "Fatal", "Fatalf", "Run", "expect", "is", "not", "unwrap", "unwrap_err"];

/// Whether a call belongs to an assertion.
fn asks(name: &str) -> bool {
    let matcher = name.strip_prefix("to").is_some_and(|rest| rest.starts_with(char::is_uppercase));
    matcher || ASKING.contains(&name) || name.to_lowercase().contains("assert")
}

/// The names that a test calls.
fn calls<'a>(test: &Test<'a>) -> BTreeSet<&'a str> {
    let mut found = BTreeSet::new();
    for line in &test.lines {
        for (at, _) in line.match_indices('(') {
            let before = line.get(..at).unwrap_or_default();
            let name = before.rsplit(|c: char| !(c.is_alphanumeric() || c == '_')).next().unwrap_or_default();
            if !name.is_empty() && !asks(name) {
                found.insert(name);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests;
