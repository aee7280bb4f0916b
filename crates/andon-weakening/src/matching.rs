//! Matches each test before a change with a test after it, by name, text and subject, and finds tests that became a row of
//! another.

use std::collections::{BTreeMap, BTreeSet};

use crate::asserts::{Content, Vocabulary, words};
use crate::words::WORDS;
use andon_core::WordList;

/// Share of what two tests are about, from which on they are the same one.
const SAME: f64 = 0.6;

/// The number of tests that are compared with all others; in a larger change they are compared by their rare words.
const MAX_WEIGHED: usize = 512;

/// The subject of a test: its words, without those of asking and names that only it uses.
pub(super) fn subjects(content: &Content) -> BTreeSet<String> {
    let words = words(content);
    let names = words
        .names
        .iter()
        .chain(&words.calls)
        .filter(|name| !is_common(name) && !words.locals.contains(*name));
    names.chain(&words.values).cloned().collect()
}

/// Words of languages and frameworks, which say nothing of what a test is about.
const COMMON: WordList = WordList::section(WORDS, "common");

pub(super) fn is_common(name: &str) -> bool {
    COMMON.contains(name) || is_asking(name)
}

/// The weight of each word: less, the more tests have it.
pub(super) struct Weights(BTreeMap<String, usize>);

impl Weights {
    pub(super) fn new(sides: [&mut dyn Iterator<Item = &BTreeSet<String>>; 2]) -> Self {
        let mut weights: BTreeMap<String, usize> = BTreeMap::new();
        for side in sides {
            let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
            side.flatten().for_each(|word| *counts.entry(word).or_default() += 1);
            for (word, count) in counts {
                let most = weights.entry(word.to_owned()).or_default();
                *most = count.max(*most);
            }
        }
        Self(weights)
    }

    fn weigh<'a>(&self, words: impl Iterator<Item = &'a String>) -> f64 {
        words
            .map(|word| 1.0 / f64::from(u32::try_from(self.0.get(word).copied().unwrap_or(1)).unwrap_or(1)))
            .sum()
    }

    /// Share of what two tests have in common, from none to one.
    pub(super) fn likeness(&self, one: &BTreeSet<String>, other: &BTreeSet<String>) -> f64 {
        let all = self.weigh(one.iter()) + self.weigh(other.iter());
        if all > 0.0 { 2.0 * self.weigh(one.intersection(other)) / all } else { 0.0 }
    }

    /// The likest of `others` that is like enough.
    pub(super) fn likest(&self, one: &BTreeSet<String>, others: &[&BTreeSet<String>]) -> Option<usize> {
        let near = |it: &&&BTreeSet<String>| others.len() <= MAX_WEIGHED || self.have_rare(one, it);
        let rated = others.iter().enumerate().filter(|(_, other)| near(other));
        let rated = rated.map(|(at, other)| (self.likeness(one, other), at));
        let best = rated.fold(None, |best: Option<(f64, usize)>, it| match best {
            Some(known) if known.0 >= it.0 => Some(known),
            _ => Some(it),
        });
        best.filter(|(share, _)| *share >= SAME).map(|(_, at)| at)
    }

    /// True when two tests share a word that few have.
    fn have_rare(&self, one: &BTreeSet<String>, other: &BTreeSet<String>) -> bool {
        one.iter().any(|word| self.0.get(word).is_some_and(|count| *count < 8) && other.contains(word))
    }
}

/// Calls that say how something is asked, not what.
const ASKING: WordList = WordList::section(WORDS, "asking");

/// True for a call that belongs to an assertion.
pub(super) fn is_asking(name: &str) -> bool {
    let follows =
        |word: &str| name.strip_prefix(word).is_some_and(|rest| rest.starts_with(char::is_uppercase));
    let matcher = follows("to")
        || follows("should")
        || follows("expect")
        || name.starts_with("EXPECT_")
        || name.starts_with("REQUIRE");
    let frame = name.starts_with("CHECK") || name.starts_with("BOOST_") || name.starts_with("TEST");
    matcher || frame || ASKING.contains(name) || name.to_ascii_lowercase().contains("assert")
}

/// Share of a test's values that another test has to have, for it to be a row of that.
pub(super) const ROW: f64 = 0.75;
/// Share of a table's values that tests have to have, for them to be its rows.
const ROWS: f64 = 0.6;

/// A test that came or changed, with the assertions that came.
pub(super) struct Table<'a> {
    pub(super) content: &'a Content,
    pub(super) came: Vec<&'a str>,
}

/// True when `one` can have become a row of `table`, with `beside` added outside the tests.
pub(super) fn is_row(one: &Content, table: &Table<'_>, beside: &Vocabulary) -> bool {
    let Table { content: table, came: texts } = table;
    if table.assertions.is_empty() {
        return false;
    }
    let (own, theirs) = (words(one), words(table));
    let has = |call: &String| {
        theirs.calls.contains(call)
            || theirs.names.contains(call)
            || beside.names.contains(call)
            || beside.calls.contains(call)
    };
    let mut calls = own.calls.iter().filter(|call| !is_asking(call) && !is_common(call)).peekable();
    let calls_something = calls.peek().is_some();
    if !calls.all(has) {
        return false;
    }
    if !one.assertions.is_empty() && one.assertions.iter().all(|it| texts.contains(&it.text.as_str())) {
        return true;
    }
    let held = |value: &String| theirs.values.contains(value) || beside.values.contains(value);
    // Cases that are elsewhere are not known.
    let loops = ["for", "foreach", "GetParam"]
        .iter()
        .any(|it| theirs.names.contains(*it) || theirs.calls.contains(*it));
    let unseen = theirs.values.is_empty() && loops;
    calls_something && (unseen || share(&own.values, held) >= ROW)
}

/// True when the cases of `table`, with those next to it, became tests of their own, whose words are `all`.
pub(super) fn is_split(table: &Content, beside: &BTreeSet<String>, all: &Vocabulary) -> bool {
    let own = words(table);
    let calls = own.calls.iter().filter(|call| !is_asking(call) && !is_common(call));
    let mut same = calls.map(|call| all.calls.contains(call)).peekable();
    let values: BTreeSet<String> = own.values.union(beside).cloned().collect();
    same.peek().is_some() && same.all(|it| it) && share(&values, |value| all.values.contains(value)) >= ROWS
}

pub(super) fn share(values: &BTreeSet<String>, held: impl Fn(&String) -> bool) -> f64 {
    let count = |many: usize| f64::from(u32::try_from(many).unwrap_or(u32::MAX));
    if values.is_empty() {
        0.0
    } else {
        count(values.iter().filter(|it| held(it)).count()) / count(values.len())
    }
}
