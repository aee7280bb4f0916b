//! `iteration-cap`: the last line of defence, whatever the progress.

use crate::detect::prelude::*;

pub(in crate::detect) const MAX: Param<u64> = Param::total("max", 100, 1);

/// Its limit is the second number of the badge `Loop 12/100`.
pub static RULE: Rule = Rule {
    reason: HaltReason::BudgetExceeded,
    about: About { advice: Advice::RaiseMax, ..About::new(EventClass::IterationCap) },
    params: &[MAX.spec],
    ..Rule::of_events("iteration-cap", include_str!("iteration_cap.md"), check)
};

fn check(situation: &Situation<'_>, setting: &RuleSetting) -> Option<Finding> {
    let newest = situation.timeline.newest();
    let refused = situation.timeline.activity.refused;
    // The last refused commit may still be tested and committed: it counts as that.
    let spent = refused.given_up.saturating_add(situation.timeline.rewritten());
    let number = newest.map_or(0, |newest| newest.number).saturating_add(spent);
    let max = setting.count(&MAX);
    // Of commits that no hook recorded, it is unknown which were one run.
    let counted = newest.is_none_or(|newest| newest.recording.is_by_hook());
    // Within a turn only a refused commit can be the one too many.
    let asked = situation.stage != Stage::Event || refused.given_up > 0;
    if number < max || number == 0 || !counted || !asked {
        return None;
    }
    let code = refused.open.filter(|_| refused.given_up > 0).map(Evidence::Code);
    let commit = newest.and_then(|newest| newest.commit).map(Evidence::Commit);
    Some(Finding {
        evidence: commit.into_iter().chain(code).collect(),
        ..RULE.finding(setting.level, format!("Reached iteration cap: {number}/{max}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::testkit::{asked_at, checked, checked_with};
    use crate::domain::{CommitRefused, EventKind, Fact, ParamValue, Recording};
    use crate::testkit::{code, commit, event, folded};

    #[test]
    fn the_hundredth_trips() {
        for (number, trips) in [(2, false), (99, false), (100, true), (101, true), (u64::MAX, true)] {
            assert_eq!(checked(&RULE, vec![commit(1).number(number)]).is_some(), trips, "{number}");
        }
        assert!(checked(&RULE, vec![]).is_none());
    }

    #[test]
    fn commits_that_nobody_recorded_are_of_no_run() {
        let derived = |recording| checked(&RULE, vec![commit(1).number(200).recording(recording)]).is_some();
        assert!(!derived(Recording::Derived) && !derived(Recording::Backfilled));
        assert!(derived(Recording::CaughtUp));
    }

    #[test]
    fn refused_commits_that_were_given_up_count_and_the_last_one_does_not_yet() {
        let refused = |state| {
            event(EventKind::Refused(CommitRefused {
                code: code(state),
                tree: None,
                rule: "untested-edit".to_owned(),
            }))
        };
        let at = |facts: Vec<Fact>, stage| {
            let line = folded(facts);
            let setting = [("max", ParamValue::Count(3))];
            asked_at(&RULE, &line, stage, &setting).is_some()
        };
        let before = || vec![commit(1).fact(), commit(2).fact()];
        let with = |states: &[u8]| before().into_iter().chain(states.iter().copied().map(refused)).collect();
        assert!(!at(before(), Stage::Event));
        assert!(!at(with(&[3]), Stage::Event), "it may still be tested and committed");
        assert!(!at(with(&[3, 3]), Stage::Event), "the same code");
        assert!(at(with(&[3, 4]), Stage::Event), "one was given up");
        assert!(
            at([3, 4, 5].map(refused).into_iter().chain([refused(6)]).collect(), Stage::Event),
            "no commit at all"
        );
    }

    #[test]
    fn amends_of_one_commit_are_attempts() {
        let amended = |states: std::ops::Range<u8>| {
            let amend = |state| commit(state).kind(crate::domain::CommitKind::Amend);
            let commits = std::iter::once(commit(1)).chain(states.map(amend)).collect();
            checked_with(&RULE, commits, &[("max", ParamValue::Count(6))]).map(|found| found.message())
        };
        assert_eq!(amended(2..6), None);
        assert_eq!(amended(2..7).as_deref(), Some("Reached iteration cap: 6/6"));
    }

    #[test]
    fn the_cap_is_a_parameter() {
        let with = |max| checked_with(&RULE, vec![commit(1), commit(2)], &[("max", ParamValue::Count(max))]);
        assert_eq!(with(2).map(|finding| finding.message()).as_deref(), Some("Reached iteration cap: 2/2"));
        assert!(with(3).is_none());
    }
}
