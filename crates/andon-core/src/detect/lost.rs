//! Tests that are missing from a test run, by their ids, without a changed test file that shows it: a module that is
//! not listed any more, or a pattern of the runner's configuration. A test that was renamed, moved, or has other
//! parameters is not lost.

use std::collections::{BTreeMap, BTreeSet};

use crate::domain::{Extent, LostTests, NamedTest, TestEvidence, Weakening};

/// The effect of a change on the tests of its files, by their names there.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TestComparison {
    /// The tests that it took away; `None` when there are none.
    pub taken: Option<Weakening>,
    pub gone: Vec<String>,
    /// Those that came up under another name, or became a part of another test.
    pub moved: Vec<String>,
    /// Tests that are gone because several became rows of one.
    pub rows: u64,
    /// Those that came with it, and were no other test before.
    pub added: Vec<String>,
}

/// Returns the tests that the set `now` lost against the set `before`. `told` holds ids that earlier records report as lost;
/// `files` holds what the test files between the two tell.
pub fn lost_tests(
    before: &[NamedTest],
    now: &[NamedTest],
    told: &BTreeSet<&str>,
    files: &TestComparison,
) -> LostTests {
    let had: BTreeMap<&str, bool> = before.iter().map(|test| (test.id.as_str(), test.skipped)).collect();
    let has: BTreeMap<&str, bool> = now.iter().map(|test| (test.id.as_str(), test.skipped)).collect();
    let gone = unnamed_again(&had, &has, files);
    let is_new_skip = |(id, skipped): &(&&str, &bool)| **skipped && had.get(**id) == Some(&false);
    let skipped: Vec<&str> = has.iter().filter(is_new_skip).map(|(id, _)| *id).collect();
    let runs = |id: &&str| told.contains(*id) && has.get(*id) == Some(&false);
    let was_lost = |id: &&str| had.get(*id) != Some(&false);
    let back: Vec<&str> = has.keys().copied().filter(runs).filter(was_lost).collect();
    let (gone_total, skipped_total) = (count(&gone), count(&skipped));
    LostTests { gone: names(&gone), gone_total, skipped: names(&skipped), skipped_total, back: names(&back) }
}

type Set<'a> = BTreeMap<&'a str, bool>;

/// The tests that are gone, but for each that moved (its own name came elsewhere, or its file tells so), was a row of a test
/// that is still there, or may be one of those that came in its place.
fn unnamed_again<'a>(had: &Set<'a>, has: &Set<'a>, files: &TestComparison) -> Vec<&'a str> {
    let gone: Vec<&str> = had.keys().filter(|id| !has.contains_key(**id)).copied().collect();
    let new: Vec<&str> = has.keys().filter(|id| !had.contains_key(**id)).copied().collect();
    if gone.is_empty() {
        return gone;
    }
    let rows = Rows::new(had, has, &new);
    let mut names: BTreeMap<&str, usize> = BTreeMap::new();
    for id in &new {
        *names.entry(name_of(id)).or_default() += 1;
    }
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    let gone: Vec<&str> = gone.into_iter().filter(|id| !take(&mut names, name_of(id))).collect();
    // A test that its file reports as new has replaced no other.
    let came = new.iter().filter(|id| take(&mut names, name_of(id)));
    for id in came.filter(|id| !is_one_of(&files.added, id)) {
        *places.entry(place_of(id)).or_default() += 1;
    }
    let moved = |id: &str| is_one_of(&files.moved, id) && !is_one_of(&files.gone, id);
    let rest = gone.into_iter().filter(|id| !moved(id) && !rows.had(id));
    rest.filter(|id| !take(&mut places, place_of(id))).collect()
}

/// Names of files that an id is looked for in at the most.
const MAX_NAMED: usize = 1024;

fn is_one_of(names: &[String], id: &str) -> bool {
    names.iter().take(MAX_NAMED).any(|name| says(name, id))
}

/// Takes one of `counts`, where there is one.
fn take(counts: &mut BTreeMap<&str, usize>, of: &str) -> bool {
    match counts.get_mut(of) {
        Some(left) if *left > 0 => {
            *left -= 1;
            true
        }
        Some(_) | None => false,
    }
}

/// The tests that have rows, by their names without them.
struct Rows<'a> {
    /// Those that are there, and those whose numbered rows came.
    tests: BTreeSet<&'a str>,
    /// Numbers that rows of a test had and have, where both are counted from the first.
    numbers: BTreeMap<&'a str, [BTreeSet<u64>; 2]>,
}

impl<'a> Rows<'a> {
    fn new(had: &Set<'a>, has: &Set<'a>, new: &[&'a str]) -> Self {
        let mut tests: BTreeSet<&str> = has.keys().map(|id| without_row(id)).collect();
        tests.extend(new.iter().filter_map(|id| numbered(id)).map(|(test, _)| test));
        let mut numbers: BTreeMap<&str, [BTreeSet<u64>; 2]> = BTreeMap::new();
        for (side, set) in [had, has].into_iter().enumerate() {
            for (test, number) in set.keys().filter_map(|id| numbered(id)) {
                numbers.entry(test).or_default()[side].insert(number);
            }
        }
        for test in new {
            // A test that took the place of its rows.
            if numbered(test).is_none() {
                numbers.entry(test).or_default()[1].insert(0);
            }
        }
        Self { tests, numbers }
    }

    /// Returns whether a test that is gone was a row of one that is still there. Rows are numbered in order, so that a table that
    /// loses some loses its last numbers.
    fn had(&self, id: &str) -> bool {
        let counted = |numbers: &BTreeSet<u64>| match (numbers.first(), numbers.last()) {
            (Some(first @ (0 | 1)), Some(last)) => usize::try_from(last - first + 1) == Ok(numbers.len()),
            (_, _) => false,
        };
        let was_numbered = || {
            let (test, _) = numbered(id)?;
            let [had, has] = self.numbers.get(test)?;
            let shrank = had.first() == has.first() && counted(has);
            let became_one = has.len() == 1 && has.first() == Some(&0);
            Some(had.len() > 1 && counted(had) && (shrank || became_one))
        };
        self.tests.contains(without_row(id)) || was_numbered().unwrap_or(false)
    }
}

/// A test without its row: `test_a[1-x]`, `adds(int)[2]`, `adds (3)`, `TestA#01` are rows of `test_a`, `adds`, `TestA`.
fn without_row(id: &str) -> &str {
    let start = name_start(id);
    let name = id.get(start..).unwrap_or_default();
    let begins_row = |(at, mark): &(usize, &str)| {
        let spoken = *mark == "(" && name.get(..*at).is_some_and(|before| before.ends_with(' '));
        // In a title, brackets hold words as well.
        *at > 0
            && (!spoken
                || name.get(at + 1..).is_some_and(|row| row.starts_with(|c: char| c.is_ascii_digit())))
    };
    let row = name.match_indices(['[', '(', '#']).find(begins_row).map_or(name.len(), |(at, _)| at);
    id.get(..start + row).unwrap_or(id).trim_end()
}

/// A test and the number of its row: `adds_case_2`, `Adds/0`, `adds 3`.
fn numbered(id: &str) -> Option<(&str, u64)> {
    let rest = id.trim_end_matches(|c: char| c.is_ascii_digit());
    let number = id.get(rest.len()..)?.parse().ok()?;
    let test = rest.strip_suffix(['_', '/', ' '])?;
    (!test.is_empty()).then_some((test, number))
}

/// Separators before the last part of an id, the surest first: a title may hold all of the others.
const MARKS: [&str; 4] = [" > ", "::", "/", "."];

/// The byte at which the last part of an id begins.
fn name_start(id: &str) -> usize {
    // Text in brackets is parameters, which may hold anything.
    let whole = id.find(['[', '(']).filter(|at| *at > 0).and_then(|at| id.get(..at)).unwrap_or(id);
    MARKS.iter().find_map(|mark| whole.rfind(mark).map(|at| at + mark.len())).unwrap_or(0)
}

fn name_of(id: &str) -> &str {
    id.get(name_start(id)..).unwrap_or(id)
}

fn place_of(id: &str) -> &str {
    id.get(..name_start(id)).unwrap_or_default()
}

fn names(ids: &[&str]) -> Vec<String> {
    ids.iter().take(LostTests::MAX_NAMES).map(|id| (*id).to_owned()).collect()
}

fn count(ids: &[&str]) -> u64 {
    length(ids.len())
}

/// The tests that a commit took away, by its files and by its run; `None` where there are none.
pub fn taken_by(told: Option<&Weakening>, tests: Option<&TestEvidence>) -> Option<Weakening> {
    let told = told.cloned();
    let found = match tests {
        Some(tests) => with_lost(told, &tests.lost),
        None => told,
    };
    found.filter(|found| found.counts() != [0; 3])
}

/// The tests that runs lost one after the other, oldest first, without those that came back.
pub fn lost_in_all(runs: impl Iterator<Item = LostTests>) -> LostTests {
    let mut all = LostTests::default();
    for lost in runs {
        for (names, total) in
            [(&mut all.gone, &mut all.gone_total), (&mut all.skipped, &mut all.skipped_total)]
        {
            let before = names.len();
            names.retain(|id| !lost.back.contains(id));
            *total = total.saturating_sub(u64::try_from(before - names.len()).unwrap_or(u64::MAX));
        }
        all.gone_total = all.gone_total.saturating_add(lost.gone_total);
        all.skipped_total = all.skipped_total.saturating_add(lost.skipped_total);
        all.gone.extend(lost.gone);
        all.skipped.extend(lost.skipped);
    }
    all
}

/// The weakening that test files show, joined with the one that only the sets of tests show.
pub fn with_lost(told: Option<Weakening>, lost: &LostTests) -> Option<Weakening> {
    if lost.gone.is_empty() && lost.skipped.is_empty() {
        return told;
    }
    let mut found = told.unwrap_or_default();
    let [removed, skipped, _] = found.counts();
    if lost.gone_total >= removed && lost.skipped_total >= skipped {
        found.extent = Extent::Whole;
    }
    // A test that its file marks as skipped may be gone from the run, and the other way round: it is reported once.
    let named: Vec<String> = found.removed.iter().chain(&found.skipped).cloned().collect();
    let mut told = removed.saturating_add(skipped);
    let mut more = 0_u64;
    let lists = [
        (&mut found.removed, &lost.gone, lost.gone_total),
        (&mut found.skipped, &lost.skipped, lost.skipped_total),
    ];
    for (list, ids, total) in lists {
        let mut unsaid: Vec<String> =
            ids.iter().filter(|id| !named.iter().any(|name| says(name, id))).cloned().collect();
        told = told.saturating_sub(length(ids.len() - unsaid.len()));
        // Some runners call tests by other names than their files do. So many as test files tell of, and the run does not
        // name, are taken for the same; so are those that are not listed.
        let renamed = unsaid.len().min(usize::try_from(told).unwrap_or(usize::MAX));
        unsaid.drain(..renamed);
        told -= length(renamed);
        let beyond = total.saturating_sub(length(ids.len()));
        let same = beyond.min(told);
        told -= same;
        more += length(unsaid.len()) + (beyond - same);
        list.extend(unsaid);
        list.truncate(Weakening::MAX_NAMES);
    }
    found.total = found.total.saturating_add(more);
    Some(found)
}

fn length(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

/// Returns whether the name of a test in its file is that of `id`, or of the test whose row that is.
fn says(name: &str, id: &str) -> bool {
    let ends = |id: &str| {
        id.strip_suffix(name).is_some_and(|rest| !rest.ends_with(|c: char| c.is_alphanumeric() || c == '_'))
    };
    ends(id) || ends(without_row(id))
}

#[cfg(test)]
mod tests;
