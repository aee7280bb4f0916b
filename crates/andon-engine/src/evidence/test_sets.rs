//! The set of tests of a test run, compared with that of the last recorded one.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Workspace, weakening};
use andon_core::detect::{self, TestComparison};
use andon_core::domain::{
    CommitKind, Digest, LostTests, NamedTest, SetNames, TestEvidence, TreeId, signatures::set_of,
};
use andon_core::history::Timeline;
use andon_store::test_sets;
use testreport::ParsedRun;

/// Keeps which tests the run had, for the commits to come.
pub fn keep(ws: &Workspace, run: &ParsedRun) {
    if let Some(tests) = &run.tests {
        test_sets::keep(ws.repo.common_dir(), set_of(tests), tests);
    }
}

/// The tests that `now`, those of a commit, lost against the newest record in `timeline` of a run of the same command,
/// each scope by itself. Other work in between without a test run may have removed them: nothing is reported then.
pub fn lost(ws: &Workspace, timeline: &Timeline, now: &TestEvidence, tree: TreeId) -> LostTests {
    let whole = sets(ws, timeline, now, Some);
    let scopes = now.scopes.iter().filter_map(|row| {
        sets(ws, timeline, &row.tests, |tests| Some(&TestEvidence::of_scope(tests, &row.name)?.tests))
    });
    let all: Vec<Sets> = whole.into_iter().chain(scopes).collect();
    let recorded = timeline.iterations.iter().filter_map(|one| one.tests.as_ref());
    let told = recorded.flat_map(|tests| tests.lost.gone.iter().chain(&tests.lost.skipped));
    let told: BTreeSet<&str> = told.map(String::as_str).collect();
    let mut lost = LostTests::default();
    for (at, Sets { now, before }) in all.iter().enumerate() {
        let Some((before, old)) = before else { continue };
        let files = by_files(ws, *before, tree).unwrap_or_default();
        // A test that moved into another scope is not lost.
        let others = all.iter().enumerate().filter(|(other, _)| *other != at);
        let elsewhere = others.flat_map(|(_, sets)| sets.came());
        let new: Vec<NamedTest> = now.iter().chain(elsewhere).cloned().collect();
        add(&mut lost, detect::lost_tests(old, &new, &told, &files));
    }
    lost
}

/// The set of tests of a commit, or of one scope of it, and the last one before that differs, with its tree.
struct Sets {
    now: Vec<NamedTest>,
    before: Option<(TreeId, Vec<NamedTest>)>,
}

impl Sets {
    /// The tests that are new, as far as is known: all of them where there is nothing to compare with.
    fn came(&self) -> impl Iterator<Item = &NamedTest> {
        let before = self.before.iter().flat_map(|(_, tests)| tests);
        let had: BTreeSet<&str> = before.map(|test| test.id.as_str()).collect();
        self.now.iter().filter(move |test| !had.contains(test.id.as_str()))
    }
}

/// `own` finds in the tests of an earlier commit those that `now` is compared with.
fn sets<'a>(
    ws: &Workspace,
    timeline: &'a Timeline,
    now: &TestEvidence,
    own: impl Fn(&'a TestEvidence) -> Option<&'a TestEvidence>,
) -> Option<Sets> {
    let new = now.set.filter(|_| came_to_its_end(now))?;
    let mut before = None;
    for one in timeline.iterations.iter().rev() {
        let alike = one.tests.as_ref().and_then(&own).filter(|tests| {
            tests.command == now.command && tests.runner == now.runner && came_to_its_end(tests)
        });
        before = alike.and_then(|tests| Some((tests.set?, one.tree)));
        if before.is_some()
            || matches!(one.kind, CommitKind::Merge | CommitKind::CherryPick | CommitKind::Rebase)
        {
            break;
        }
    }
    if before.is_some_and(|(old, _)| old == new) {
        return None;
    }
    let load = |set| load(ws, timeline, set);
    Some(Sets { now: load(new)?, before: before.and_then(|(old, tree)| Some((tree, load(old)?))) })
}

fn add(all: &mut LostTests, lost: LostTests) {
    all.gone_total = all.gone_total.saturating_add(lost.gone_total);
    all.skipped_total = all.skipped_total.saturating_add(lost.skipped_total);
    for (all, more) in
        [(&mut all.gone, lost.gone), (&mut all.skipped, lost.skipped), (&mut all.back, lost.back)]
    {
        all.extend(more);
        all.truncate(LostTests::MAX_NAMES);
    }
}

/// The tests of a set: as this clone keeps them, else as the records tell.
fn load(ws: &Workspace, timeline: &Timeline, set: Digest) -> Option<Vec<NamedTest>> {
    test_sets::load(ws.repo.common_dir(), set).or_else(|| recorded(timeline, set))
}

/// The tests of a set as the records of the window tell: a record that names all, and what changed since.
fn recorded(timeline: &Timeline, set: Digest) -> Option<Vec<NamedTest>> {
    let mut told: BTreeMap<Digest, &SetNames> = BTreeMap::new();
    for tests in timeline.iterations.iter().filter_map(|one| one.tests.as_ref()) {
        if let (Some(set), Some(names)) = (tests.set, &tests.names) {
            told.insert(set, names);
        }
    }
    let (mut steps, mut at) = (Vec::new(), set);
    let all = loop {
        match told.remove(&at)? {
            SetNames::All(all) => break all,
            SetNames::Since { set, came, went } => {
                steps.push((came, went));
                at = *set;
            }
        }
    };
    let mut tests: BTreeMap<&str, bool> = all.iter().filter_map(|test| unmarked(test)).collect();
    for (came, went) in steps.iter().rev() {
        for (id, _) in went.iter().filter_map(|test| unmarked(test)) {
            tests.remove(id);
        }
        tests.extend(came.iter().filter_map(|test| unmarked(test)));
    }
    let tests = tests.into_iter().map(|(id, skipped)| NamedTest { id: id.to_owned(), skipped });
    let tests: Vec<NamedTest> = tests.collect();
    (set_of(&tests) == set).then_some(tests)
}

/// The names of the tests of `now` for the record, so that other clones know them; none if earlier records have them.
pub fn names(ws: &Workspace, timeline: &Timeline, now: &TestEvidence) -> Option<SetNames> {
    let set = now.set?;
    if recorded(timeline, set).is_some() {
        return None;
    }
    let tests = test_sets::load(ws.repo.common_dir(), set)?;
    if tests.iter().any(|test| test.id.len() > SetNames::MAX_ID) {
        return None;
    }
    let sets = timeline.iterations.iter().rev().filter_map(|one| one.tests.as_ref()?.set);
    let before = sets.take(1).find_map(|set| Some((set, recorded(timeline, set)?)));
    before.and_then(|(set, before)| changed(set, &before, &tests)).or_else(|| all(&tests))
}

fn changed(set: Digest, before: &[NamedTest], now: &[NamedTest]) -> Option<SetNames> {
    let (had, has): (BTreeSet<&NamedTest>, BTreeSet<&NamedTest>) =
        (before.iter().collect(), now.iter().collect());
    let came: Vec<String> = has.difference(&had).map(|test| marked(test)).collect();
    let went: Vec<String> = had.difference(&has).map(|test| marked(test)).collect();
    let fits = came.len().max(went.len()) <= SetNames::MAX_CHANGED;
    fits.then_some(SetNames::Since { set, came, went })
}

fn all(tests: &[NamedTest]) -> Option<SetNames> {
    let bytes: usize = tests.iter().map(|test| test.id.len() + 1).sum();
    let fits = tests.len() <= SetNames::MAX_ALL && bytes <= SetNames::MAX_BYTES;
    fits.then(|| SetNames::All(tests.iter().map(marked).collect()))
}

fn marked(test: &NamedTest) -> String {
    format!("{}{}", if test.skipped { '-' } else { '+' }, test.id)
}

fn unmarked(test: &str) -> Option<(&str, bool)> {
    test.strip_prefix('+').map(|id| (id, false)).or_else(|| test.strip_prefix('-').map(|id| (id, true)))
}

/// The comparison of the test files that differ: it tells which tests have other names now, or are rows.
fn by_files(ws: &Workspace, before: TreeId, now: TreeId) -> Option<TestComparison> {
    let setting = weakening::setting(&ws.config.rules)?;
    weakening::compared(&ws.repo, &weakening::TestReader::new(&setting), before, now).ok()
}

/// True if every test had its turn. A run with one failure may have stopped at it, and one with errors before it began.
fn came_to_its_end(tests: &TestEvidence) -> bool {
    tests.is_green() || (tests.errored == 0 && tests.failed >= 2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use andon_testkit::facts::{commit, green, timeline};

    fn tests(ids: &[&str]) -> Vec<NamedTest> {
        ids.iter()
            .filter_map(|id| unmarked(id))
            .map(|(id, skipped)| NamedTest { id: id.into(), skipped })
            .collect()
    }

    fn told(state: u8, set: Digest, names: Option<SetNames>) -> andon_testkit::facts::Commit {
        let mut tests = green(state, 3);
        (tests.set, tests.names) = (Some(set), names);
        commit(state).tests(tests)
    }

    #[test]
    fn records_tell_a_set_by_all_names_and_what_changed_since() {
        let sets = [tests(&["+a", "-b", "+c"]), tests(&["+a", "+b", "+d"]), tests(&["+a", "+d"])];
        let [first, second, third] = [set_of(&sets[0]), set_of(&sets[1]), set_of(&sets[2])];
        let since = changed(first, &sets[0], &sets[1]).unwrap();
        let line = timeline(vec![
            told(1, first, all(&sets[0])),
            told(2, second, Some(since)),
            told(3, second, None),
            told(4, third, changed(second, &sets[1], &sets[2])),
        ]);
        for (set, tests) in [(first, &sets[0]), (second, &sets[1]), (third, &sets[2])] {
            assert_eq!(recorded(&line, set).as_ref(), Some(tests));
        }
        // Names that are not those of the hash, and a chain without its beginning or with a cycle, prove nothing.
        let forged = timeline(vec![told(1, first, all(&sets[1]))]);
        assert_eq!(recorded(&forged, first), None);
        let round = SetNames::Since { set: first, came: Vec::new(), went: Vec::new() };
        assert_eq!(recorded(&timeline(vec![told(1, first, Some(round))]), first), None);
        assert_eq!(
            recorded(&timeline(vec![told(4, third, changed(second, &sets[1], &sets[2]))]), third),
            None
        );
    }

    #[test]
    fn long_lists_are_not_told() {
        let many: Vec<NamedTest> =
            (0..=SetNames::MAX_ALL).map(|at| NamedTest { id: format!("t{at:05}"), skipped: false }).collect();
        assert!(all(&many).is_none() && all(&many[1..]).is_some());
        let long = NamedTest { id: "x".repeat(SetNames::MAX_BYTES), skipped: false };
        assert!(all(&[long]).is_none());
        let set = Digest([0; 32]);
        assert!(changed(set, &many[..9], &many[..10 + SetNames::MAX_CHANGED]).is_none());
        assert!(changed(set, &many[..9], &many[..9 + SetNames::MAX_CHANGED]).is_some());
    }
}
