//! Pairs the tests before a change with those after it, and finds tests that became a part of another.

use std::collections::{BTreeMap, BTreeSet};

use crate::asserts::{Vocabulary, words};
use crate::matching::{Table, Weights, is_row, is_split, subjects};
use crate::{compare::added, read::Test, side::Side};

/// Tests of before with those of now that they are, and those that are gone.
#[derive(Debug, Default)]
pub(super) struct Pairs {
    pub(super) same: Vec<(usize, usize)>,
    pub(super) gone: Vec<usize>,
    /// Those that became a part of another test, or are in another file as well.
    pub(super) parts: Vec<usize>,
    /// Tests that came.
    pub(super) fresh: Vec<usize>,
    /// True when there were too many to compare them all by their subjects.
    pub(super) many: bool,
}

/// Pairs the tests of two sides.
pub(super) fn pairs<'t>(old: &Side<'t>, new: &Side<'t>) -> Pairs {
    let mut pairing = Pairing {
        old,
        new,
        same: Vec::new(),
        left: (0..old.tests.len()).collect(),
        free: vec![true; new.tests.len()],
    };
    // In the same file first: the same test, then one of the same name.
    pairing.pair(|side, test| {
        (side.tests[test].file.to_string(), side.tests[test].name.clone(), side.text(test))
    });
    pairing.pair(|side, test| (side.tests[test].file.to_string(), side.tests[test].name.clone(), ""));
    pairing.pair(|side, test| (String::new(), side.tests[test].name.clone(), side.text(test)));
    // `version_is_7` became `version_is_8`.
    let without_digits = |text: &str| text.replace(|c: char| c.is_ascii_digit(), "");
    pairing.pair(|side, test| {
        let Test { name, file, .. } = &side.tests[test];
        (*file, without_digits(name), without_digits(side.text(test)))
    });
    let fresh: Vec<usize> = (0..new.tests.len()).filter(|test| pairing.free[*test]).collect();
    let few = pairing.left.len().saturating_mul(fresh.len()) <= MAX_PAIRS;
    if few {
        pairing.by_subject();
    }
    let Pairing { same, left, .. } = pairing;
    let mut pairs = Pairs { same, fresh, many: !few, ..Pairs::default() };
    let copies = Copies::new(new);
    let counts = |test: &usize| {
        !old.tests[*test].skipped && (old.tests[*test].collected || !old.content(*test).assertions.is_empty())
    };
    let mut wholes: Option<Wholes<'_, '_>> = None;
    let (parts, gone): (Vec<usize>, Vec<usize>) = left.into_iter().filter(counts).partition(|test| {
        copies.has(old, new, *test)
            || few && wholes.get_or_insert_with(|| Wholes::new(old, new, &pairs)).have(*test)
    });
    (pairs.parts, pairs.gone) = (parts, gone);
    pairs
}

/// Pairs of tests that are compared by what they are about, at the most: a change beyond that is no edit by hand.
const MAX_PAIRS: usize = 1 << 20;

struct Pairing<'s, 't> {
    old: &'s Side<'t>,
    new: &'s Side<'t>,
    same: Vec<(usize, usize)>,
    left: Vec<usize>,
    free: Vec<bool>,
}

impl<'s, 't> Pairing<'s, 't> {
    /// Pairs tests that have the same key, in their order.
    fn pair<K: Ord>(&mut self, key: impl Fn(&'s Side<'t>, usize) -> K) {
        if self.left.is_empty() {
            return;
        }
        let mut known: BTreeMap<K, Vec<usize>> = BTreeMap::new();
        for test in (0..self.new.tests.len()).rev().filter(|test| self.free[*test]) {
            known.entry(key(self.new, test)).or_default().push(test);
        }
        let mut left = Vec::new();
        for test in std::mem::take(&mut self.left) {
            match known.get_mut(&key(self.old, test)).and_then(Vec::pop) {
                Some(same) => self.take(test, same),
                None => left.push(test),
            }
        }
        self.left = left;
    }

    fn take(&mut self, old: usize, new: usize) {
        self.same.push((old, new));
        self.free[new] = false;
    }

    /// Pairs what is left by what it is about: tests that were renamed or moved.
    fn by_subject(&mut self) {
        if self.left.is_empty() || !self.free.contains(&true) {
            return;
        }
        let about = |side: &'s Side<'t>| -> Vec<BTreeSet<String>> {
            (0..side.tests.len()).map(|test| subjects(side.content(test))).collect()
        };
        let (before, now) = (about(self.old), about(self.new));
        let weights = Weights::new([&mut before.iter(), &mut now.iter()]);
        for test in std::mem::take(&mut self.left) {
            let others: Vec<usize> = (0..now.len()).filter(|test| self.free[*test]).collect();
            let named = |other: &usize| self.new.tests[*other].name == self.old.tests[test].name;
            let mut namesakes = others.iter().copied().filter(named);
            let namesake = namesakes.find(|other| weights.likeness(&before[test], &now[*other]) > NAMESAKE);
            let sets: Vec<&BTreeSet<String>> = others.iter().map(|other| &now[*other]).collect();
            match namesake.or_else(|| weights.likest(&before[test], &sets).map(|at| others[at])) {
                Some(same) => self.take(test, same),
                None => self.left.push(test),
            }
        }
    }
}

/// Share of what they are about that two tests of one name in two files have in common at the least.
const NAMESAKE: f64 = 0.45;

/// The tests of now by their names.
struct Copies<'s>(BTreeMap<&'s str, Vec<usize>>);

impl<'s> Copies<'s> {
    fn new(new: &'s Side<'_>) -> Self {
        let mut named: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (at, test) in new.tests.iter().enumerate() {
            named.entry(&test.name).or_default().push(at);
        }
        Self(named)
    }

    /// True when an old test is still in another file as well.
    fn has(&self, old: &Side<'_>, new: &Side<'_>, test: usize) -> bool {
        let Test { name, file, .. } = &old.tests[test];
        let is_copy = |other: &usize| new.tests[*other].file != *file && new.text(*other) == old.text(test);
        self.0.get(name.as_str()).is_some_and(|others| others.iter().any(is_copy))
    }
}

/// Tests of which others can have become a part: looked for once for all of them.
struct Wholes<'s, 't> {
    old: &'s Side<'t>,
    new: &'s Side<'t>,
    /// Tests that came or changed, with their files.
    tables: Vec<(usize, Table<'s>)>,
    /// The words of the tests that came, where some did.
    fresh: Option<Vocabulary>,
    /// The words that were added outside the tests of a file, since those of the old file.
    came: BTreeMap<(usize, usize), Vocabulary>,
    /// The values that were removed outside the tests of a file.
    went: BTreeMap<usize, BTreeSet<String>>,
}

impl<'s, 't> Wholes<'s, 't> {
    fn new(old: &'s Side<'t>, new: &'s Side<'t>, pairs: &Pairs) -> Self {
        let differs = |(before, now): &&(usize, usize)| {
            old.text(*before) != new.text(*now) && old.content(*before).differs(new.content(*now))
        };
        let fresh = pairs.fresh.iter().map(|test| (*test, None));
        let changed = pairs.same.iter().filter(differs).map(|(before, now)| (*now, Some(*before)));
        let tables = fresh.chain(changed).filter(|(table, _)| !new.tests[*table].skipped);
        let table = |(table, was): (usize, Option<usize>)| {
            let content = new.content(table);
            let all = || content.assertions.iter().map(|it| it.text.as_str()).collect();
            let came = was.map_or_else(all, |was| added(old.content(was), content));
            (new.tests[table].file, Table { content, came })
        };
        let mut all = Vocabulary::default();
        pairs.fresh.iter().for_each(|test| all.extend(words(new.content(*test))));
        let fresh = Some(all).filter(|_| !pairs.fresh.is_empty());
        let tables = tables.map(table).collect();
        Self { old, new, tables, fresh, came: BTreeMap::new(), went: BTreeMap::new() }
    }

    /// True when a test became a row of one that came or changed, or a table became tests.
    fn have(&mut self, test: usize) -> bool {
        let (old, new) = (self.old, self.new);
        let (content, before) = (old.content(test), old.tests[test].file);
        let is_row = self.tables.iter().any(|(file, table)| {
            let beside = self.came.entry((before, *file));
            is_row(content, table, beside.or_insert_with(|| came(old.beside(before), new.beside(*file))))
        });
        is_row
            || self.fresh.as_ref().is_some_and(|fresh| {
                let went = self.went.entry(before).or_insert_with(|| {
                    old.beside(before).values.difference(&new.beside(before).values).cloned().collect()
                });
                is_split(content, went, fresh)
            })
    }
}

/// The words of `now` that `before` does not have.
fn came(before: &Vocabulary, now: &Vocabulary) -> Vocabulary {
    let without =
        |now: &BTreeSet<String>, before: &BTreeSet<String>| now.difference(before).cloned().collect();
    Vocabulary {
        values: without(&now.values, &before.values),
        calls: without(&now.calls, &before.calls),
        names: without(&now.names, &before.names),
        locals: now.locals.clone(),
    }
}
