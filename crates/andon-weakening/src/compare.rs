//! Compares what a test asks with what it asked: assertions that are gone, or that ask less of the same thing.

use std::collections::{BTreeMap, BTreeSet};

use crate::asserts::{Assertion, Content, PANICS, Vocabulary, words};
use crate::matching::{ROW, is_asking, is_common, share};
use crate::strength::{Strength, is_wider, operands};
use crate::{declaration::closing, side::Side};

/// Texts, each with how often it is there.
#[derive(Default)]
struct Texts<'a>(BTreeMap<&'a str, usize>);

impl<'a> Texts<'a> {
    fn of(assertions: impl IntoIterator<Item = &'a Assertion>) -> Self {
        let mut texts = Self::default();
        assertions.into_iter().for_each(|it| texts.add(&it.text));
        texts
    }

    fn add(&mut self, text: &'a str) {
        *self.0.entry(text).or_default() += 1;
    }

    /// Takes one away, where there is one.
    fn take(&mut self, text: &str) -> bool {
        self.0.get_mut(text).filter(|count| **count > 0).map(|count| *count -= 1).is_some()
    }
}

/// The assertions of `one` that `other` does not have.
fn without<'a>(one: &'a [Assertion], other: &[Assertion]) -> Vec<&'a Assertion> {
    let mut left = Texts::of(other);
    one.iter().filter(|it| !left.take(&it.text)).collect()
}

/// The texts of the assertions that a test has and did not have.
pub(super) fn added<'a>(old: &Content, new: &'a Content) -> Vec<&'a str> {
    without(&new.assertions, &old.assertions).iter().map(|it| it.text.as_str()).collect()
}

/// True when a test of a file asks less than it did.
pub(super) fn is_looser(
    old: &Content,
    new: &Content,
    file: usize,
    elsewhere: &mut Destinations<'_, '_>,
) -> bool {
    // A test that had to fail and need not any more asks no less where it asserts something.
    let counts =
        |it: &&Assertion| it.strength > Strength::Trivial && (it.text != PANICS || old.assertions.len() == 1);
    let removed: Vec<&Assertion> =
        without(&old.assertions, &new.assertions).into_iter().filter(counts).collect();
    let added = without(&new.assertions, &old.assertions);
    if removed.is_empty() {
        // It may fail now, and need not be right.
        return !old.assertions.is_empty() && added.iter().any(|it| it.text == PANICS);
    }
    let mut left: Vec<&Assertion> = added.clone();
    let mut lost = Vec::new();
    let mut pairs = Vec::new();
    for gone in removed {
        // The likest first: what asks less is taken for another only where nothing else is.
        let best =
            left.iter().enumerate().max_by_key(|(at, it)| (likeness(gone, it), std::cmp::Reverse(*at)));
        match best.map(|(at, _)| at) {
            Some(at) => pairs.push((gone, left.swap_remove(at))),
            None => lost.push(gone),
        }
    }
    for (gone, came) in pairs {
        let shadow = |it: &&Assertion| {
            !std::ptr::eq(*it, came) && it.strength == Strength::Strong && is_within(&gone.words, &it.words)
        };
        if is_weaker(gone, came) && !added.iter().any(shadow) && !elsewhere.takes(&gone.text) {
            return true;
        }
    }
    let weight = |all: &[Assertion]| all.iter().map(|it| it.weight).sum::<usize>();
    if lost.is_empty() || weight(&new.assertions) >= weight(&old.assertions) {
        return false;
    }
    if helped(old, new, elsewhere) {
        return false;
    }
    let excuse = Excuse { old, new, file, added: &added };
    lost.into_iter().any(|gone| !excuse.holds(gone, elsewhere) && !elsewhere.takes(&gone.text))
}

/// The number of words that the subjects of two assertions share.
fn likeness(one: &Assertion, other: &Assertion) -> usize {
    let common = |one: &BTreeSet<String>, other: &BTreeSet<String>| one.intersection(other).count();
    let strong = usize::from(other.strength == Strength::Strong);
    let names = common(&one.words.names, &other.words.names) + common(&one.words.calls, &other.words.calls);
    common(&one.words.values, &other.words.values) * 4 + names * 2 + strong
}

/// True when the new assertion asks less of the subject of the one that is gone.
fn is_weaker(gone: &Assertion, came: &Assertion) -> bool {
    if came.strength == Strength::Trivial || is_wider(&gone.text, &came.text) {
        return true;
    }
    let about = operands(&gone.text, &gone.shape);
    let flags = ["true", "false", "True", "False", "nil", "null", "None", "\"\"", "''", "[]", "{}"];
    let of_flags = about.iter().any(|it| flags.contains(it))
        || gone.shape.contains("(true)")
        || gone.shape.contains(" true");
    let of_flags = of_flags
        || ["NotEqual", "not_eq", "assertNot", ".not.", "!="]
            .iter()
            .any(|it| gone.shape.contains(it) && !gone.shape.starts_with("if "));
    if gone.strength < Strength::Strong || of_flags {
        return false;
    }
    let is_value =
        |it: &str| it.is_empty() || it.starts_with(|c: char| c.is_ascii_digit() || "\"'`".contains(c));
    let subject = |it: &&str| !is_value(it) && came.text.contains(*it);
    if came.strength == Strength::Existence {
        return about.iter().any(subject);
    }
    // `assert!(x)` where `assert_eq!(x, 3)` was.
    let now = operands(&came.text, &came.shape);
    let only = now.first().filter(|_| now.len() == 1).map(|it| it.trim_start_matches('!'));
    is_plain(&came.shape) && about.len() > 1 && only.is_some_and(|it| !is_value(it) && about.contains(&it))
}

/// True for an assertion that a value is true, and no more.
fn is_plain(shape: &str) -> bool {
    let head = shape.split('(').next().unwrap_or(shape).trim_end_matches('!').to_ascii_lowercase();
    let open = shape.find('(').unwrap_or(shape.len());
    let rest = shape.get(open..).unwrap_or_default();
    let closed = closing(rest) == Some(rest.len());
    let word = ["assert", "ok", "true", "check", "require", "expect", "test"];
    closed && word.iter().any(|it| head.ends_with(it)) || shape.starts_with("assert ")
}

/// True when a test now calls a function that asserts for it.
fn helped(old: &Content, new: &Content, elsewhere: &Destinations<'_, '_>) -> bool {
    let (before, now) = (words(old), words(new));
    let mut called = now.calls.iter().chain(&now.names);
    called.any(|name| !before.calls.contains(name) && !before.names.contains(name) && elsewhere.asserts(name))
        || now.calls.iter().any(|name| {
            let count = |content: &Content| content.called.get(name).copied().unwrap_or_default();
            count(new) > count(old) && elsewhere.asserts(name)
        })
}

/// Places within its own test to which an assertion may have gone.
struct Excuse<'a> {
    old: &'a Content,
    new: &'a Content,
    file: usize,
    added: &'a [&'a Assertion],
}

impl Excuse<'_> {
    fn holds(&self, gone: &Assertion, elsewhere: &mut Destinations<'_, '_>) -> bool {
        let merged =
            self.added.iter().any(|it| it.strength == Strength::Strong && is_within(&gone.words, &it.words));
        merged || self.is_implied(gone) || self.is_row(gone, elsewhere) || self.is_general(gone)
    }

    /// That a value is there goes without saying where more is asked of it, and where it is not there any more.
    fn is_implied(&self, gone: &Assertion) -> bool {
        let about = |it: &Assertion| {
            it.strength == Strength::Strong
                && (it.words.names.intersection(&gone.words.names).next().is_some()
                    || it.words.calls.iter().any(|call| !is_asking(call) && gone.words.calls.contains(call)))
        };
        let known = || {
            let now = words(self.new);
            let mut names =
                gone.words.names.iter().filter(|name| !is_asking(name) && !is_common(name)).peekable();
            names.peek().is_none() || names.any(|name| now.names.contains(name))
        };
        gone.strength == Strength::Existence && (self.new.assertions.iter().any(about) || !known())
    }

    /// Its values became a row of a table, over which one assertion runs.
    fn is_row(&self, gone: &Assertion, elsewhere: &mut Destinations<'_, '_>) -> bool {
        let values = &gone.words.values;
        let rows: BTreeSet<&String> = self.new.around.values.difference(&self.old.around.values).collect();
        let called = words(self.new);
        let calls = gone.words.calls.iter().filter(|call| !is_asking(call));
        let mut same = calls.map(|call| called.calls.contains(call) || called.names.contains(call));
        let asserts = !self.added.is_empty() && same.all(|it| it);
        asserts && !values.is_empty() && {
            let beside = elsewhere.values(self.file);
            values.iter().all(|value| rows.contains(value) || beside.contains(value))
        }
    }

    /// One assertion over all values replaces some over single ones.
    fn is_general(&self, gone: &Assertion) -> bool {
        let calls: Vec<&String> = gone.words.calls.iter().filter(|call| !is_asking(call)).collect();
        self.new.is_property
            && !self.old.is_property
            && self.added.iter().any(|it| calls.iter().all(|call| it.words.calls.contains(*call)))
    }
}

/// True when another assertion covers everything of one, or has all its values among others.
fn is_within(one: &Vocabulary, other: &Vocabulary) -> bool {
    let (about, all) = (subjects(one), subjects(other));
    let values =
        one.values.len() < other.values.len() && share(&one.values, |it| other.values.contains(it)) >= ROW;
    let named: BTreeSet<String> = about.difference(&one.values).cloned().collect();
    !about.is_empty() && about.is_subset(&all) || values && !named.is_disjoint(&all)
}

/// The words that an assertion speaks of, each by its parts, and its values.
fn subjects(words: &Vocabulary) -> BTreeSet<String> {
    let names = words.names.iter().chain(&words.calls).filter(|name| !is_asking(name) && !is_common(name));
    names
        .flat_map(|name| parts(name))
        .filter(|part| part != "assert")
        .chain(words.values.iter().cloned())
        .collect()
}

/// The words that a name is made of, in lower case.
pub(super) fn parts(name: &str) -> Vec<String> {
    let (mut found, mut part) = (Vec::new(), String::new());
    for c in name.chars() {
        if (c == '_' || c.is_uppercase()) && !part.is_empty() {
            found.push(std::mem::take(&mut part));
        }
        if c != '_' {
            part.extend(c.to_lowercase());
        }
    }
    if !part.is_empty() {
        found.push(part);
    }
    found
}

/// Assertions and values that a change brought besides a test, where those of the test may have gone.
pub(super) struct Destinations<'s, 't> {
    old: &'s Side<'t>,
    new: &'s Side<'t>,
    /// The number of additions of each assertion in tests and, since it was first asked for, outside of them.
    came: Texts<'s>,
    is_complete: bool,
    /// Values that were added outside the tests of a file.
    values: BTreeMap<usize, BTreeSet<String>>,
}

impl<'s, 't> Destinations<'s, 't> {
    pub(super) fn new(old: &'s Side<'t>, new: &'s Side<'t>) -> Self {
        Self { old, new, came: Texts::default(), is_complete: false, values: BTreeMap::new() }
    }

    /// Notes an assertion that came up in a test.
    pub(super) fn add(&mut self, text: &'s str) {
        self.came.add(text);
    }

    /// Takes an assertion that was added in another test, or outside the tests.
    pub(super) fn takes(&mut self, text: &str) -> bool {
        if !self.is_complete {
            self.is_complete = true;
            let mut before = Texts::of(self.old.assertions_beside());
            let new = self.new.assertions_beside().filter(|it| !before.take(&it.text));
            new.for_each(|it| self.came.add(&it.text));
        }
        self.came.take(text)
    }

    /// True when a function of this name asserts something.
    pub(super) fn asserts(&self, function: &str) -> bool {
        self.new.asserts(function)
    }

    /// Values that were added outside the tests of a file.
    pub(super) fn values(&mut self, file: usize) -> &BTreeSet<String> {
        let (old, new) = (self.old, self.new);
        self.values.entry(file).or_insert_with(|| {
            new.beside(file).values.difference(&old.beside(file).values).cloned().collect()
        })
    }
}
