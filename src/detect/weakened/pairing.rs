//! Which test of before is which of now, and which became a part of another.

use std::collections::{BTreeMap, BTreeSet};

use super::asserts::{Content, Vocabulary};
use super::compare::added;
use super::matching::{Table, Weights, is_row, is_split, subjects};
use super::read::Test;
use super::side::Side;

/// Tests of before with those of now that they are, and those that are gone.
#[derive(Debug, Default)]
pub(super) struct Pairs {
    pub(super) same: Vec<(usize, usize)>,
    pub(super) gone: Vec<usize>,
    /// Tests that came.
    pub(super) fresh: Vec<usize>,
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
    let fresh = (0..new.tests.len()).filter(|test| pairing.free[*test]).collect();
    pairing.by_subject();
    let Pairing { same, left, .. } = pairing;
    let mut pairs = Pairs { same, gone: Vec::new(), fresh };
    let known = |test: &usize| !has_copy(old, new, *test) && !is_part(old, new, &pairs, *test);
    let counts = |test: &usize| {
        !old.tests[*test].skipped && (old.tests[*test].collected || !old.content(*test).assertions.is_empty())
    };
    pairs.gone = left.into_iter().filter(counts).filter(known).collect();
    pairs
}

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
        let weights = Weights::of([&mut before.iter(), &mut now.iter()]);
        for test in std::mem::take(&mut self.left) {
            let others: Vec<usize> = (0..now.len()).filter(|test| self.free[*test]).collect();
            let named = |other: &usize| self.new.tests[*other].name == self.old.tests[test].name;
            let namesake = others
                .iter()
                .copied()
                .find(|other| named(other) && weights.likeness(&before[test], &now[*other]) > NAMESAKE);
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

/// Whether a test still stands in another file as well.
fn has_copy(old: &Side<'_>, new: &Side<'_>, test: usize) -> bool {
    let Test { name, file, .. } = &old.tests[test];
    let copies = |(at, other): (usize, &Test)| {
        other.file != *file && other.name == *name && new.text(at) == old.text(test)
    };
    new.tests.iter().enumerate().any(copies)
}

/// Whether a test became a row of one that came or changed, or a table became tests.
fn is_part(old: &Side<'_>, new: &Side<'_>, pairs: &Pairs, test: usize) -> bool {
    let content = old.content(test);
    let before = old.beside(old.tests[test].file);
    let differs = |(before, now): &&(usize, usize)| {
        old.text(*before) != new.text(*now) && old.content(*before).differs(new.content(*now))
    };
    let none = Content::default();
    let fresh = pairs.fresh.iter().map(|test| (*test, &none));
    let changed = pairs.same.iter().filter(differs).map(|(before, now)| (*now, old.content(*before)));
    let mut around: BTreeMap<usize, Vocabulary> = BTreeMap::new();
    let is_row = fresh.chain(changed).filter(|(table, _)| !new.tests[*table].skipped).any(|(table, was)| {
        let file = new.tests[table].file;
        let beside = around.entry(file).or_insert_with(|| came(&before, new.beside(file)));
        let now = new.content(table);
        is_row(content, &Table { content: now, came: added(was, now) }, beside)
    });
    let went = || -> BTreeSet<String> {
        let now = new.beside(old.tests[test].file).values;
        before.values.difference(&now).cloned().collect()
    };
    let fresh: Vec<&Content> = pairs.fresh.iter().map(|test| new.content(*test)).collect();
    is_row || !fresh.is_empty() && is_split(content, &went(), &fresh)
}

/// The words of `now` that `before` does not have.
fn came(before: &Vocabulary, now: Vocabulary) -> Vocabulary {
    let without = |now: BTreeSet<String>, before: &BTreeSet<String>| {
        now.into_iter().filter(|it| !before.contains(it)).collect()
    };
    Vocabulary {
        values: without(now.values, &before.values),
        calls: without(now.calls, &before.calls),
        names: without(now.names, &before.names),
        locals: now.locals,
    }
}
