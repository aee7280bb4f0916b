#![doc = include_str!("../README.md")]

mod asserts;
mod code_mask;
mod compare;
mod declaration;
mod matching;
mod pairing;
mod read;
mod reader;
mod side;
mod skips;
mod source;
mod statements;
mod strength;
mod words;

use std::{collections::BTreeSet, sync::Arc};

use compare::{Destinations, added, is_looser};
use pairing::{Pairs, pairs};
use side::Side;

use andon_core::detect::TestComparison;
use andon_core::domain::{Extent, Weakening};

pub use reader::{FileText, TestReader};

/// A changed file: its text before and after; empty where it was not there.
#[derive(Debug)]
pub struct ChangedText<'p> {
    /// Its path, that after the change where it has one.
    pub path: String,
    pub old: Arc<FileText<'p>>,
    pub new: Arc<FileText<'p>>,
}

/// The patterns of one kind for a file: entries are `ENDING,ENDING: TEXT`.
fn all<'a>(
    entries: impl IntoIterator<Item = &'a (impl AsRef<str> + ?Sized + 'a)>,
    extension: &str,
) -> impl Iterator<Item = &'a str> {
    entries.into_iter().filter_map(move |entry| {
        let (endings, text) = entry.as_ref().split_once(": ")?;
        endings.split(',').any(|ending| ending.trim() == extension).then_some(text)
    })
}

/// Compares the tests before and after the change.
pub fn compared(files: &[ChangedText<'_>]) -> TestComparison {
    let old = Side::read(files, |file| [&file.old, &file.new]);
    let new = Side::read(files, |file| [&file.new, &file.old]);
    let pairs = pairs(&old, &new);
    let taken = taken(files, &old, &new, &pairs);
    let before = |test: &usize| old.tests[*test].name.clone();
    let paired: BTreeSet<usize> = pairs.same.iter().map(|(_, now)| *now).collect();
    let added = pairs.fresh.iter().filter(|test| !paired.contains(*test));
    let added: Vec<String> = added.map(|test| new.tests[*test].name.clone()).collect();
    let renamed = pairs.same.iter().filter(|(was, is)| old.tests[*was].name != new.tests[*is].name);
    let parts = u64::try_from(pairs.parts.len()).unwrap_or(u64::MAX);
    TestComparison {
        taken,
        gone: pairs.gone.iter().map(before).collect(),
        moved: renamed.map(|(was, _)| was).chain(&pairs.parts).map(before).collect(),
        // A table that came is a test itself.
        rows: parts.saturating_sub(u64::from(!added.is_empty())),
        added,
    }
}

fn taken<'t>(files: &[ChangedText<'_>], old: &Side<'t>, new: &Side<'t>, pairs: &Pairs) -> Option<Weakening> {
    let mut first = None;
    let mut found = Weakening { extent: extent(old, new, pairs), ..Weakening::default() };
    for test in &pairs.gone {
        first = first.or(Some(old.tests[*test].file));
        note(&mut found.removed, &mut found.total, &old.tests[*test].name);
    }
    let changed: Vec<(usize, usize)> =
        pairs.same.iter().copied().filter(|(before, now)| old.text(*before) != new.text(*now)).collect();
    // A focus elsewhere skips tests that did not change.
    for (before, now) in &pairs.same {
        let (before, now) = (&old.tests[*before], &new.tests[*now]);
        if !before.skipped && (now.skipped || !now.collected && before.collected) {
            first = first.or(Some(now.file));
            note(&mut found.skipped, &mut found.total, &now.name);
        }
    }
    let mut elsewhere = Destinations::new(old, new);
    let paired: BTreeSet<usize> = pairs.same.iter().map(|(_, now)| *now).collect();
    for test in pairs.fresh.iter().filter(|test| !paired.contains(test)) {
        new.content(*test).assertions.iter().for_each(|it| elsewhere.add(&it.text));
    }
    for (before, now) in &changed {
        for text in added(old.content(*before), new.content(*now)) {
            elsewhere.add(text);
        }
    }
    for (before, now) in changed {
        let test = &new.tests[now];
        let ran = !old.tests[before].skipped;
        if ran && !test.skipped && (test.collected || !old.tests[before].collected) {
            let file = test.file;
            if is_looser(old.content(before), new.content(now), file, &mut elsewhere) {
                first = first.or(Some(file));
                note(&mut found.loosened, &mut found.total, &test.name);
            }
        }
    }
    found.file = first.and_then(|file| files.get(file)).map(|file| file.path.clone());
    (found.total > 0).then_some(found)
}

/// The extent to which both sides were read and compared.
fn extent(old: &Side<'_>, new: &Side<'_>, pairs: &Pairs) -> Extent {
    match (old.cut, new.cut || pairs.many) {
        (_, true) => Extent::About,
        (true, false) => Extent::AtLeast,
        (false, false) => Extent::Whole,
    }
}

/// The names of the tests that a file declares and does not skip, in order.
pub fn declared_tests(text: &FileText<'_>) -> Vec<String> {
    let found = read::tests(text.source(), &text.words, 0, &skips::Heirs::new(vec![text.raw()]));
    found.into_iter().filter(|test| !test.skipped).map(|test| test.name).collect()
}

fn note(names: &mut Vec<String>, total: &mut u64, name: &str) {
    *total = total.saturating_add(1);
    if names.len() < Weakening::MAX_NAMES {
        names.push(name.to_owned());
    }
}

#[cfg(test)]
mod tests;
