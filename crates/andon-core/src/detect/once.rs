//! A warning is given once, in the iteration that brings it. While its cause lasts it is a note, because the same words
//! at every commit teach nothing; a cause that lasts long enough halts, or counts together with other signs
//! ([`mod@super::signals`]). Two programs that undo each other are quiet for a few commits now and then: some causes may
//! pause at the same files and are still the same ([`pause`](crate::domain::about::About::pause)).

use super::rule::{LOOP, Rule};
use super::situation::Situation;
use crate::domain::findings::{Finding, Level};
use crate::domain::settings::RuleSetting;
use crate::history::{Strike, Timeline};

/// `finding` as it is reported. A rule that runs within a turn or before a commit judges something new each time, and
/// its finding stays unchanged.
pub(super) fn reported(
    finding: Finding,
    rule: &Rule,
    situation: &Situation<'_>,
    setting: &RuleSetting,
) -> Finding {
    if rule.stages != LOOP || finding.level != Level::Warn {
        return finding;
    }
    let lasts =
        before_newest(situation.timeline, rule.about.pause + 1).enumerate().any(|(before, timeline)| {
            let earlier = Situation { timeline: &timeline, episode: None, ..*situation };
            rule.found(&earlier, setting).is_some_and(|told| {
                let same = before == 0 || told.files.iter().any(|file| finding.files.contains(file));
                told.level >= Level::Warn && same
            })
        });
    if lasts { Finding { level: Level::Note, ..finding } } else { finding }
}

/// `timeline` as it was at each of the newest `count` iterations before the last one, merges and the like left out.
fn before_newest(timeline: &Timeline, count: usize) -> impl Iterator<Item = Timeline> {
    let earlier = timeline.iterations.len().saturating_sub(1);
    let candidate =
        move |at: &usize| timeline.iterations.get(*at).is_some_and(|one| one.strike == Strike::Candidate);
    (0..earlier).rev().filter(candidate).take(count).map(|at| timeline.until(at + 1))
}

#[cfg(test)]
mod tests {
    use crate::detect::rules::{recurrence, unchanged_diff, undo_churn, weak_change};
    use crate::detect::testkit::reported;
    use crate::domain::change::Nature;
    use crate::domain::facts::CommitKind::Merge;
    use crate::domain::findings::Level;
    use crate::testkit::{Commit, commit};

    #[test]
    fn a_warning_is_given_once_while_it_lasts() {
        let comments = |state: u8| {
            let own = commit(state).change(Nature::Comments, &[(1, state, state + 1)]);
            own.hunks(&[(state, state + 1)])
        };
        let level = |commits: Vec<Commit>| reported(&weak_change::RULE, commits, Level::Warn);
        let row = |states: &[u8]| states.iter().copied().map(comments).collect::<Vec<_>>();
        assert_eq!(level(row(&[1, 2])), None);
        assert_eq!(level(row(&[1, 2, 3])), Some(Level::Warn), "it comes up");
        assert_eq!(level(row(&[1, 2, 3, 4])), Some(Level::Note), "it lasts");
        let mut merged = row(&[1, 2, 3, 4, 5]);
        merged[3] = merged[3].clone().kind(Merge);
        assert_eq!(level(merged), Some(Level::Note), "a merge ends nothing");
        let mut again = row(&[1, 2, 3, 4, 5, 6, 7]);
        again[3] = commit(40);
        assert_eq!(level(again), Some(Level::Warn), "it comes up again");
    }

    #[test]
    fn churn_that_pauses_at_the_same_files_is_the_same() {
        let churn = |path: u8, from: u8| -> Vec<Commit> {
            let one = |(state, hunk): (u8, &(u8, u8))| {
                commit(state).change(Nature::Work, &[(path, state, state + 1)]).hunks(&[*hunk])
            };
            (from..).zip(&[(1, 2), (2, 1), (1, 2), (2, 1)]).map(one).collect()
        };
        let quiet =
            |at: u8| commit(100 + at).change(Nature::Work, &[(9, at, at + 1)]).hunks(&[(50 + at, 90)]);
        // The level when it comes up again.
        let level = |pause: u8, path: u8| {
            let before: Vec<Commit> = churn(1, 10).into_iter().chain((0..pause).map(quiet)).collect();
            (1..=4).find_map(|count| {
                let again = churn(path, 200).into_iter().take(count);
                reported(&undo_churn::RULE, before.iter().cloned().chain(again).collect(), Level::Warn)
            })
        };
        assert_eq!(level(5, 1), Some(Level::Note), "quiet for a while");
        assert_eq!(level(12, 1), Some(Level::Warn), "for long");
        assert_eq!(level(5, 2), Some(Level::Warn), "another file");
    }

    #[test]
    fn what_refuses_or_halts_is_reported_each_time() {
        let back = |states: &[u8], level: Level| {
            reported(&recurrence::RULE, states.iter().map(|state| commit(*state)).collect(), level)
        };
        assert_eq!(back(&[1, 2, 1], Level::Warn), Some(Level::Warn));
        assert_eq!(back(&[1, 2, 1, 2], Level::Warn), Some(Level::Note));
        assert_eq!(back(&[1, 2, 1, 2], Level::Block), Some(Level::Block));
        let cosmetic =
            |count: usize| reported(&unchanged_diff::RULE, vec![commit(1).cosmetic(); count], Level::Halt);
        assert_eq!(cosmetic(2), Some(Level::Warn));
        assert_eq!(cosmetic(3), Some(Level::Note));
        assert_eq!(cosmetic(5), Some(Level::Halt));
        assert_eq!(cosmetic(6), Some(Level::Halt));
    }
}
