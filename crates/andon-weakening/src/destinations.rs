//! What a change brought besides a test, where its assertions may have gone.

use std::collections::{BTreeMap, BTreeSet};

use super::side::Side;

/// What a change brought besides a test.
pub(super) struct Destinations<'s, 't> {
    old: &'s Side<'t>,
    new: &'s Side<'t>,
    /// How often each assertion was added in tests and, since it was first asked for, outside of them.
    came: BTreeMap<&'s str, usize>,
    is_complete: bool,
    /// Values that were added outside the tests of a file.
    values: BTreeMap<usize, BTreeSet<String>>,
}

impl<'s, 't> Destinations<'s, 't> {
    pub(super) fn new(old: &'s Side<'t>, new: &'s Side<'t>) -> Self {
        Self { old, new, came: BTreeMap::new(), is_complete: false, values: BTreeMap::new() }
    }

    /// Notes an assertion that came up in a test.
    pub(super) fn add(&mut self, text: &'s str) {
        *self.came.entry(text).or_default() += 1;
    }

    /// Takes an assertion that was added in another test, or outside the tests.
    pub(super) fn takes(&mut self, text: &str) -> bool {
        if !self.is_complete {
            self.is_complete = true;
            let mut before: BTreeMap<&str, usize> = BTreeMap::new();
            for assertion in self.old.assertions_beside() {
                *before.entry(&assertion.text).or_default() += 1;
            }
            for assertion in self.new.assertions_beside() {
                match before.get_mut(assertion.text.as_str()).filter(|count| **count > 0) {
                    Some(count) => *count -= 1,
                    None => *self.came.entry(&assertion.text).or_default() += 1,
                }
            }
        }
        match self.came.get_mut(text).filter(|count| **count > 0) {
            Some(count) => {
                *count -= 1;
                true
            }
            None => false,
        }
    }

    /// Whether a function of this name asserts something.
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
