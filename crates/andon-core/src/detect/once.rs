//! A warning is given once, in the iteration that brings it. While its cause lasts it is a note, because the same words
//! at every commit teach nothing; a cause that lasts long enough halts, or counts together with other signs
//! ([`mod@super::signals`]).

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
    let lasts = before_newest(situation.timeline).is_some_and(|timeline| {
        let earlier = Situation { timeline: &timeline, episode: None, ..*situation };
        rule.found(&earlier, setting).is_some_and(|finding| finding.level >= Level::Warn)
    });
    if lasts { Finding { level: Level::Note, ..finding } } else { finding }
}

/// `timeline` as it was at the iteration before the newest, merges and the like left out.
fn before_newest(timeline: &Timeline) -> Option<Timeline> {
    let (_, earlier) = timeline.iterations.split_last()?;
    let at = earlier.iter().rposition(|one| one.strike == Strike::Candidate)?;
    Some(timeline.until(at + 1))
}

#[cfg(test)]
mod tests {
    use crate::detect::rules::{recurrence, unchanged_diff, weak_change};
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
