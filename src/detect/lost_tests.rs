//! Tests that a run has no more, by their ids: what no changed test file tells of, such as a module that is not named any
//! more, or a pattern of the runner's configuration. What came under another name, moved, or has other parameters is not lost.

use std::collections::{BTreeMap, BTreeSet};

use crate::domain::facts::Weakening;
use crate::domain::tests::{Identity, LostTests, TestEvidence};

/// What the set `now` lost against the set `before`; `told` are ids that earlier records tell as lost.
pub fn lost_tests(before: &[Identity], now: &[Identity], told: &BTreeSet<&str>) -> LostTests {
    let had: BTreeMap<&str, bool> = before.iter().map(|test| (test.id.as_str(), test.skipped)).collect();
    let has: BTreeMap<&str, bool> = now.iter().map(|test| (test.id.as_str(), test.skipped)).collect();
    let gone: Vec<&str> = had.keys().filter(|id| !has.contains_key(**id)).copied().collect();
    let new: Vec<&str> = has.keys().filter(|id| !had.contains_key(**id)).copied().collect();
    let gone = unnamed_again(gone, &new, &has);
    let is_new_skip = |(id, skipped): &(&&str, &bool)| **skipped && had.get(**id) == Some(&false);
    let skipped: Vec<&str> = has.iter().filter(is_new_skip).map(|(id, _)| *id).collect();
    let runs = |id: &&str| told.contains(*id) && has.get(*id) == Some(&false);
    let was_lost = |id: &&str| had.get(*id) != Some(&false);
    let back: Vec<&str> = has.keys().copied().filter(runs).filter(was_lost).collect();
    let (gone_total, skipped_total) = (count(&gone), count(&skipped));
    LostTests { gone: names(&gone), gone_total, skipped: names(&skipped), skipped_total, back: names(&back) }
}

/// What is left of `gone` when each is taken out that moved (its own name came elsewhere), was a row of a test that is still
/// there, or may be one of those that came in its place.
fn unnamed_again<'a>(gone: Vec<&'a str>, new: &[&str], has: &BTreeMap<&str, bool>) -> Vec<&'a str> {
    let tests: BTreeSet<&str> = has.keys().map(|id| without_row(id)).collect();
    let mut names: BTreeMap<&str, usize> = BTreeMap::new();
    for id in new {
        *names.entry(name_of(id)).or_default() += 1;
    }
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    let moved: Vec<&str> = gone.iter().filter(|id| take(&mut names, name_of(id))).copied().collect();
    let came = new.iter().filter(|id| take(&mut names, name_of(id)));
    for id in came {
        *places.entry(place_of(id)).or_default() += 1;
    }
    let moved: BTreeSet<&str> = moved.into_iter().collect();
    let rest =
        gone.into_iter().filter(|id| !moved.contains(id)).filter(|id| !tests.contains(without_row(id)));
    rest.filter(|id| !take(&mut places, place_of(id))).collect()
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

/// A test without its row: `test_a[1-x]`, `adds/case_2`, `adds (3)` are rows of `test_a`, `adds`.
fn without_row(id: &str) -> &str {
    let start = name_start(id);
    let name = id.get(start..).unwrap_or_default();
    let row = name.find(['[', '(', '#']).filter(|at| *at > 0);
    let numbered = name.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end_matches(['_', '/', ' ']);
    let end = row.unwrap_or(if numbered.is_empty() { name.len() } else { numbered.len() });
    id.get(..start + end).unwrap_or(id).trim_end()
}

/// What sets the last part of an id off, the surest first: a title may hold all of the others.
const MARKS: [&str; 4] = [" > ", "::", "/", "."];

/// Where the last part of an id begins.
fn name_start(id: &str) -> usize {
    // What stands in brackets are parameters, which may hold anything.
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
    u64::try_from(ids.len()).unwrap_or(u64::MAX)
}

/// What a commit took from the tests, by its files and by its run; `None` where that is nothing.
pub fn taken_by(told: Option<&Weakening>, tests: Option<&TestEvidence>) -> Option<Weakening> {
    let told = told.cloned();
    let found = match tests {
        Some(tests) => with_lost(told, &tests.caveats.lost),
        None => told,
    };
    found.filter(|found| found.counts() != [0; 3])
}

/// What runs lost one after the other, the oldest first, without what came back.
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

/// What test files tell, with what only the sets of tests tell.
pub fn with_lost(told: Option<Weakening>, lost: &LostTests) -> Option<Weakening> {
    if lost.gone.is_empty() && lost.skipped.is_empty() {
        return told;
    }
    let mut found = told.unwrap_or_default();
    let [removed, skipped, _] = found.counts();
    let mut more = 0;
    let lists = [
        (&mut found.removed, removed, &lost.gone, lost.gone_total),
        (&mut found.skipped, skipped, &lost.skipped, lost.skipped_total),
    ];
    for (list, told, ids, total) in lists {
        let unsaid: Vec<String> =
            ids.iter().filter(|id| !list.iter().any(|name| says(name, id))).cloned().collect();
        let said = ids.len() - unsaid.len();
        let beyond = total.saturating_sub(u64::try_from(ids.len()).unwrap_or(u64::MAX));
        // Of those that are not listed, so many as test files tell of are taken for the same.
        let rest = beyond.saturating_sub(told.saturating_sub(u64::try_from(said).unwrap_or(u64::MAX)));
        more += u64::try_from(unsaid.len()).unwrap_or(u64::MAX) + rest;
        list.extend(unsaid);
        list.truncate(Weakening::MAX_NAMES);
    }
    found.total = found.total.saturating_add(more);
    Some(found)
}

/// Whether the name of a test in its file is that of `id`, or of the test whose row that is.
fn says(name: &str, id: &str) -> bool {
    let ends = |id: &str| {
        id.strip_suffix(name).is_some_and(|rest| !rest.ends_with(|c: char| c.is_alphanumeric() || c == '_'))
    };
    ends(id) || ends(without_row(id))
}

#[cfg(test)]
mod tests;
