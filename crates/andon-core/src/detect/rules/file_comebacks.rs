//! `file-comebacks`: one file returns to earlier content again and again, at any distance.

use std::collections::BTreeSet;

use super::oscillation;
use crate::detect::excuses::{GOING_BACK, excuse, is_switch};
use crate::detect::prelude::*;
use crate::domain::HunkHash;
use crate::history::{Iteration, PathState, Strike, Timeline};

const COMEBACKS: Param<u64> = Param::count("comebacks", 4, 2);
const AMONG: Param<u64> = Param::count("among", 12, 2).sense(Sense::Wider);

pub(in crate::detect) static RULE: Rule = Rule {
    level: Level::Warn,
    reason: HaltReason::Oscillating,
    about: About { signal: Some(Signal::FileComebacks), ..About::new(EventClass::Oscillation) },
    params: &[COMEBACKS.spec, AMONG.spec, GOING_BACK.spec],
    ..Rule::of_iterations("file-comebacks", include_str!("file_comebacks.md"), check)
};

fn check(situation: &Situation<'_>, setting: &RuleSetting) -> Option<Finding> {
    let timeline = situation.timeline;
    let found = timeline.newest_paths().find_map(|path| of_path(timeline, path, setting));
    let Comeback { path, back, among, told } = found?;
    let first = back.first()?.number;
    if gained_since(timeline, first) == Gain::NewlyPassing {
        return None;
    }
    let beside_work = is_switch(&back) && timeline.brings_new_code_beside(path, first);
    let limits = [
        beside_work.then_some(Limit::note("a switch beside other work")),
        told.then_some(Limit::note("a file that was reported before")),
    ];
    let evidence = back.iter().filter_map(|one| one.commit).map(Evidence::Commit).collect();
    let (times, among) = (words::times(back.len()), words::count(among, "change"));
    let found = format!("one file came back to earlier contents {times} among {among}");
    let echo_of = Some(oscillation::RULE.id);
    let found = Finding { files: vec![path], evidence, echo_of, ..RULE.finding(setting.level, found) };
    Some(found.within(limits.into_iter().flatten()))
}

/// A file that came back often enough.
struct Comeback<'a> {
    path: HunkHash,
    /// The iterations that brought it back, among so many changes.
    back: Vec<&'a Iteration>,
    among: u64,
    /// True if an earlier comeback found as many.
    told: bool,
}

/// The path, where it came back often enough.
fn of_path<'a>(timeline: &'a Timeline, path: HunkHash, setting: &RuleSetting) -> Option<Comeback<'a>> {
    let states = timeline.path_states(path);
    let (newest, back) = comebacks(&states, timeline, setting);
    let newest_by = newest.last()?.brought_by;
    let current = back.last().copied() == newest_by && newest_by == timeline.newest();
    let least = setting.count(&COMEBACKS).max(1);
    let enough = words::len(&back) >= least;
    // A file that changed while the code stayed is a document.
    let code = back.iter().all(|one| !timeline.leaves_the_code(one));
    if !(current && enough && code) {
        return None;
    }
    let among = u64::try_from(newest.len().saturating_sub(1)).unwrap_or(u64::MAX);
    let told = (1..states.len()).any(|end| {
        let (newest, earlier) = comebacks(&states[..end], timeline, setting);
        let is_one = newest.last().is_some_and(|last| last.brought_by == earlier.last().copied());
        is_one && words::len(&earlier) >= least && earlier.len() >= back.len()
    });
    Some(Comeback { path, back, among, told })
}

/// The newest of `states` that are looked at, and the iterations that brought one of them again.
fn comebacks<'s, 'a>(
    states: &'s [PathState<'a>],
    timeline: &Timeline,
    setting: &RuleSetting,
) -> (&'s [PathState<'a>], Vec<&'a Iteration>) {
    let among = setting.size(&AMONG);
    let newest = states.get(states.len().saturating_sub(among.saturating_add(1))..).unwrap_or_default();
    let mut seen: BTreeSet<HunkHash> = BTreeSet::new();
    let mut back: Vec<&Iteration> = Vec::new();
    for PathState { state, brought_by } in newest {
        if !seen.insert(*state)
            && let Some(one) = brought_by.filter(|one| counts(one, timeline, setting))
        {
            back.push(one);
        }
    }
    (newest, back)
}

fn counts(one: &Iteration, timeline: &Timeline, setting: &RuleSetting) -> bool {
    one.strike == Strike::Candidate && excuse(RULE.id, one, timeline, setting).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::testkit::{checked, checked_with};
    use crate::domain::{Nature, ParamValue};
    use crate::testkit::{Commit, commit, green};

    /// Path 1 in these states, beside new work.
    fn file(states: &[u8]) -> Vec<Commit> {
        let mut old = 0;
        let mut one = |(at, new): (u8, &u8)| {
            let step = (1, std::mem::replace(&mut old, *new), *new);
            commit(at).change(Nature::Work, &[step, (9, at, at + 1)])
        };
        (100..).zip(states).map(&mut one).collect()
    }

    #[test]
    fn a_file_is_told_of_once_until_it_rises() {
        let level = |states: &[u8]| checked(&RULE, file(states)).map(|finding| finding.level);
        let mut states = vec![1, 2, 3, 1, 4, 2, 3, 1];
        assert_eq!(level(&states), Some(Level::Warn));
        states.extend([9, 2]);
        assert_eq!(level(&states), Some(Level::Warn), "a fifth one");
        // New contents come between: no more comebacks among twelve changes than there were.
        states.extend([11, 12, 13, 14, 15, 16, 17, 1, 18, 2]);
        assert_eq!(level(&states).unwrap_or(Level::Note), Level::Note, "{states:?}");
    }

    #[test]
    fn four_comebacks_in_whatever_order_are_a_signal() {
        let table: [(&[u8], bool); 6] = [
            (&[1, 2, 3, 1, 4, 2, 3], false),
            (&[1, 2, 3, 1, 4, 2, 3, 1], true),
            (&[1, 2, 1, 2, 1, 2], true),
            (&[1, 2, 1, 2, 1, 2, 9], false),
            (&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12], false),
            (&[1, 2, 1, 2, 1, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 12], false),
        ];
        for (states, trips) in table {
            let found = checked(&RULE, file(states)).map(|finding| finding.level);
            assert_eq!(found, trips.then_some(Level::Warn), "{states:?}");
        }
        let finding = checked(&RULE, file(&[1, 2, 3, 1, 4, 2, 3, 1])).unwrap();
        assert_eq!(finding.message(), "one file came back to earlier contents 4 times among 8 changes");
        assert_eq!(finding.files, [HunkHash([1; 8])]);
    }

    #[test]
    fn nothing_is_said_while_tests_newly_pass_or_of_what_is_meant() {
        let states = [1, 2, 3, 1, 4, 2, 3, 1];
        let tested = |grows: u64| {
            let one = |(at, commit): (u8, Commit)| commit.tests(green(100 + at, 9 + u64::from(at) * grows));
            checked(&RULE, (0..).zip(file(&states)).map(one).collect()).is_some()
        };
        assert!(tested(0));
        assert!(!tested(1));
        let mut meant = file(&states);
        meant[7] = meant[7].clone().subject("Revert \"x\"");
        assert!(checked(&RULE, meant).is_none());
        let releases = (0..)
            .zip(file(&states))
            .map(|(at, one): (u8, Commit)| one.subject(&format!("Prepare before 1.{at} release")));
        assert!(checked(&RULE, releases.collect()).is_none());
    }

    #[test]
    fn parameters_count() {
        let with = |name, count| {
            let commits = file(&[1, 2, 3, 1, 4, 2, 3, 1]);
            checked_with(&RULE, commits, &[(name, ParamValue::Count(count))]).is_some()
        };
        assert!(with("comebacks", 3));
        assert!(!with("comebacks", 5));
        assert!(!with("among", 4));
    }
}
