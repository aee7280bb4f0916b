//! `undo-churn`: half of what the loop does undoes what it did.

use std::collections::BTreeSet;

use crate::detect::excuses::{GOING_BACK, excuse, is_one_line};
use crate::detect::prelude::*;
use crate::domain::{Hint, Hunk};
use crate::history::{Iteration, lasted};

const SHARE: Param<f64> = Param::share("share", 0.5);
const OVER: Param<u64> = Param::count("over", 4, 2);
const WINDOW: Param<u64> = Param::count("window", 8, 1).sense(Sense::Wider);

/// For as long as a hunk that is undone is looked for.
const PAUSE: usize = 8;

pub(in crate::detect) static RULE: Rule = Rule {
    level: Level::Warn,
    reason: HaltReason::Oscillating,
    about: About { signal: Some(Signal::UndoChurn), pause: PAUSE, ..About::new(EventClass::Oscillation) },
    params: &[SHARE.spec, OVER.spec, WINDOW.spec, GOING_BACK.spec],
    ..Rule::of_iterations("undo-churn", include_str!("undo_churn.md"), check)
};

fn check(situation: &Situation<'_>, setting: &RuleSetting) -> Option<Finding> {
    let over = setting.size(&OVER);
    let window = setting.size(&WINDOW);
    let timeline = situation.timeline;
    let meant = |one: &&Iteration| excuse(RULE.id, one, timeline, setting).is_some();
    let last = situation.timeline.candidates().rev().find(|one| !meant(one))?;
    // A commit without hunks undoes none; most of a long history is judged by ids alone.
    if last.diff.hunks.is_empty() {
        return None;
    }
    // A loop does not take hours.
    let before = timeline.iterations.iter().rev().find(|one| one.number < last.number);
    if before.is_some_and(|before| lasted(before, last)) {
        return None;
    }
    let newest =
        situation.timeline.candidates().rev().filter(|one| !meant(one)).take(over.saturating_add(window));
    let mut candidates: Vec<&Iteration> = newest.collect();
    candidates.reverse();
    let first = candidates.len().checked_sub(over)?;
    // A merge or a revert is not under judgement.
    if Some(last.number) != situation.timeline.newest().map(|newest| newest.number) {
        return None;
    }
    let mut undoing: Vec<&Iteration> = Vec::new();
    let (mut undone, mut all) = (0_u64, 0_u64);
    // The newest first: where it undoes nothing, nothing else has to be looked at.
    for at in (first..candidates.len()).rev() {
        let one = candidates[at];
        let own = telling_hunks(one);
        let count = undone_hunks(one, &own, &candidates[at.saturating_sub(window)..at]);
        if count > 0 {
            undoing.push(one);
        } else if undoing.is_empty() {
            return None;
        }
        undone = undone.saturating_add(count);
        all = all.saturating_add(u64::try_from(own.len()).unwrap_or(u64::MAX));
    }
    let share = setting.share(&SHARE);
    // A line that is put back is a switch more often than churn.
    let enough = if undoing.iter().all(|one| is_one_line(one)) { 3 } else { 2 };
    if undoing.len() < enough || ratio(undone, all) < share {
        return None;
    }
    if gained_since(timeline, undoing.last()?.number) == Gain::NewlyPassing {
        return None;
    }
    let (hunks, commits) = (words::count(all, "hunk"), words::count(over, "commit"));
    let found = format!("{undone} of {hunks} in the last {commits} undo earlier ones");
    let evidence = undoing.iter().rev().filter_map(|one| one.commit).map(Evidence::Commit).collect();
    let help = candidates.last().and_then(|newest| newest.commit);
    let help = help.map(|commit| Hint::LogNewest.with([&over.to_string(), &commit.short()]));
    let files = Iteration::paths_of_all(&undoing);
    Some(Finding { files, evidence, help: help.into_iter().collect(), ..RULE.finding(setting.level, found) })
}

/// The distinct hunks of `one`, without those that it makes there and back: in a generated table the same few values come
/// and go at many places, and undo nothing.
fn telling_hunks(one: &Iteration) -> BTreeSet<Hunk> {
    let all: BTreeSet<Hunk> = one.diff.hunks.iter().copied().collect();
    all.iter().filter(|hunk| !all.contains(&reverse(hunk))).copied().collect()
}

/// The number of hunks of `own`, which are of `one`, that undo one of `before`.
fn undone_hunks(one: &Iteration, own: &BTreeSet<Hunk>, before: &[&Iteration]) -> u64 {
    let near = before.iter().filter(|earlier| may_meet(one, earlier));
    let known: BTreeSet<Hunk> = near.flat_map(|earlier| earlier.diff.hunks.iter().copied()).collect();
    u64::try_from(own.iter().filter(|hunk| known.contains(&reverse(hunk))).count()).unwrap_or(u64::MAX)
}

/// Returns whether two commits may have a path in common; unknown ones may. Blank lines come and go anywhere: what is undone is
/// undone where it was done.
fn may_meet(one: &Iteration, other: &Iteration) -> bool {
    match (&one.change, &other.change) {
        (Some(own), Some(theirs)) => own.meets(theirs),
        (None, _) | (_, None) => true,
    }
}

/// The hunk that undoes `hunk`; of one that changes nothing, itself.
fn reverse(hunk: &Hunk) -> Hunk {
    Hunk { removed: hunk.added, added: hunk.removed }
}

#[allow(clippy::cast_precision_loss, reason = "counts of hunks are small")]
pub(super) fn ratio(part: u64, all: u64) -> f64 {
    if all == 0 { 0.0 } else { part as f64 / all as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::testkit::{checked, checked_with};
    use crate::domain::{CommitKind::Revert, Nature, ParamValue};
    use crate::testkit::{Commit, commit};

    fn row(hunks: &[&[(u8, u8)]]) -> Vec<Commit> {
        (1..).zip(hunks).map(|(state, hunks)| commit(state).hunks(hunks)).collect()
    }

    const NEW: (u8, u8) = (7, 8);
    const THERE: (u8, u8) = (1, 2);
    const BACK: (u8, u8) = (2, 1);

    #[test]
    fn one_line_that_is_put_back_is_a_switch_at_first() {
        let line = |commits: Vec<Commit>| {
            (1..)
                .zip(commits)
                .map(|(at, one): (u8, Commit)| one.change(Nature::Work, &[(1, at, at + 1)]))
                .collect()
        };
        assert!(checked(&RULE, line(row(&[&[NEW], &[THERE], &[BACK], &[THERE]]))).is_none());
        assert!(checked(&RULE, line(row(&[&[THERE], &[BACK], &[THERE], &[BACK]]))).is_some());
        let longer =
            row(&[&[NEW], &[THERE], &[BACK], &[THERE]]).into_iter().map(|one| one.lines(4, 4)).collect();
        assert!(checked(&RULE, line(longer)).is_some());
    }

    #[test]
    fn what_is_undone_by_the_hour_is_no_churn() {
        let every = |seconds: i64| {
            let commits = row(&[&[THERE], &[BACK], &[THERE], &[BACK]]);
            let timed = (1..).zip(commits).map(|(at, one): (i64, Commit)| one.at(at * seconds));
            checked(&RULE, timed.collect()).is_some()
        };
        assert!(every(600));
        assert!(!every(3600));
    }

    #[test]
    fn half_of_the_hunks_of_four_commits_trip() {
        type Row = (&'static str, &'static [&'static [(u8, u8)]], bool);
        let table: [Row; 8] = [
            ("nothing", &[], false),
            ("alternating", &[&[THERE], &[BACK], &[THERE], &[BACK]], true),
            (
                "behind other work",
                &[&[(9, 8), THERE], &[(9, 7), BACK], &[(9, 6), THERE], &[(9, 5), BACK], &[(9, 4), THERE]],
                true,
            ),
            (
                "behind much other work",
                &[
                    &[(9, 8), (9, 3), THERE],
                    &[(9, 7), (9, 10), BACK],
                    &[(9, 6), (9, 11), THERE],
                    &[(9, 5), (9, 12), BACK],
                    &[(9, 4), (9, 13), THERE],
                ],
                false,
            ),
            ("one undone", &[&[(5, 6)], &[(6, 7)], &[THERE], &[BACK]], false),
            ("over", &[&[THERE], &[BACK], &[THERE], &[BACK], &[(5, 6)]], false),
            ("nothing in common", &[&[(1, 2)], &[(3, 4)], &[(5, 6)], &[(7, 8)]], false),
            ("without hunks", &[&[], &[], &[], &[]], false),
        ];
        for (name, hunks, trips) in table {
            let found = checked(&RULE, row(hunks)).map(|finding| finding.level);
            assert_eq!(found, trips.then_some(Level::Warn), "{name}");
        }
    }

    #[test]
    fn values_that_come_and_go_in_a_table_undo_nothing() {
        // The first 8 hunks put a value in, the next ones take it out elsewhere, and one line is new.
        let both: Vec<(u8, u8)> = [THERE; 8].into_iter().chain([BACK; 7]).collect();
        let table = |state: u8| commit(state).hunks(&[&both[..], &[(state + 20, state + 30)]].concat());
        assert!(checked(&RULE, (1..=6).map(table).collect()).is_none());
        let many: Vec<(u8, u8)> = [BACK; 9].into_iter().chain([(41, 42), (43, 44)]).collect();
        let once = |hunks: &[(u8, u8)]| row(&[&[NEW], &[THERE], hunks, &[THERE], hunks]);
        assert!(checked(&RULE, once(&many)).is_none(), "the same line at nine places is one hunk");
        assert!(checked(&RULE, once(&[BACK; 9])).is_some(), "all that the commit does is undone");
    }

    #[test]
    fn going_back_on_purpose_is_not_counted() {
        let mut commits = row(&[&[(5, 6)], &[THERE], &[BACK], &[THERE], &[BACK]]);
        commits[4] = commits[4].clone().kind(Revert);
        assert!(checked(&RULE, commits.clone()).is_none());
        commits[4] = commits[4].clone().kind(crate::domain::CommitKind::Normal).subject("Revert \"x\"");
        assert!(checked(&RULE, commits).is_none());
    }

    #[test]
    fn share_length_and_window_are_parameters() {
        let mixed: &[&[(u8, u8)]] =
            &[&[THERE], &[(9, 8), BACK], &[(9, 7), THERE], &[(9, 6), BACK], &[(9, 5), THERE]];
        let with = |name, value| checked_with(&RULE, row(mixed), &[(name, value)]).is_some();
        assert!(with("share", ParamValue::Share(0.5)));
        assert!(!with("share", ParamValue::Share(0.6)));
        assert!(with("over", ParamValue::Count(2)));
        assert!(!with("over", ParamValue::Count(6)));
        let far: &[&[(u8, u8)]] = &[&[THERE], &[(3, 4)], &[BACK], &[(4, 3)], &[THERE], &[(3, 4)]];
        assert!(checked_with(&RULE, row(far), &[("window", ParamValue::Count(1))]).is_none());
        assert!(checked_with(&RULE, row(far), &[("window", ParamValue::Count(2))]).is_some());
    }
}
