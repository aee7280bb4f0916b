//! `verdict-split`: reviewers cannot agree on the work.

use crate::detect::prelude::*;
use crate::domain::{ReviewTally, escalation::splits_running};

pub(in crate::detect) const ROUNDS: Param<u64> = Param::count("rounds", 2, 1);

pub(in crate::detect) static RULE: Rule = Rule {
    level: Level::Warn,
    about: About {
        signal: Some(Signal::VerdictSplit),
        ..About::judging(EventClass::Stall, RuleSubject::Votes)
    },
    params: &[ROUNDS.spec],
    ..Rule::of_iterations("verdict-split", include_str!("verdict_split.md"), check)
};

fn check(situation: &Situation<'_>, setting: &RuleSetting) -> Option<Finding> {
    let rounds = situation.timeline.verdict_rounds(u64::MAX);
    let splits = splits_running(&rounds);
    if splits == 0 || splits < setting.count(&ROUNDS) {
        return None;
    }
    let newest = rounds.last()?;
    let ReviewTally { approve, reject } = newest;
    let message = format!(
        "the reviewers disagreed in {} in a row; in the last one {approve} approved and {reject} rejected, where it takes {}",
        words::count(splits, "round"),
        words::count(newest.threshold(), "approval"),
    );
    let shown = rounds.iter().rev().take(6).rev();
    let evidence = shown.map(|round| Evidence::Text(format!("verdict {}:{}", round.approve, round.reject)));
    Some(Finding { evidence: evidence.collect(), ..RULE.finding(setting.level, message) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::testkit::{asked_of, asked_with};
    use crate::domain::{Ballot, ParamValue};
    use crate::history::{Cast, Timeline};
    use crate::testkit::GAP;

    fn after(rounds: &[(u64, u64)]) -> Timeline {
        let mut line = Timeline::new(GAP);
        let cast = |&(approve, reject): &(u64, u64)| Cast {
            ballot: Ballot { reviewer: None, approve, reject },
            iteration: 1,
            turn: 1,
        };
        line.activity.ballots = rounds.iter().map(cast).collect();
        line
    }

    #[test]
    fn two_split_rounds_running_are_a_signal() {
        let table: [(&[(u64, u64)], bool); 7] = [
            (&[], false),
            (&[(1, 2)], false),
            (&[(1, 2), (1, 2)], true),
            (&[(1, 2), (2, 1)], false),
            (&[(0, 3), (0, 3)], false),
            (&[(2, 1), (1, 1), (3, 2)], true),
            (&[(1, 2), (1, 2), (3, 0)], false),
        ];
        for (rounds, trips) in table {
            let found = asked_of(&RULE, &after(rounds)).map(|finding| finding.level);
            assert_eq!(found, trips.then_some(Level::Warn), "{rounds:?}");
        }
    }

    #[test]
    fn the_length_is_a_parameter() {
        let split = after(&[(1, 2); 3]);
        assert!(asked_with(&RULE, &split, &[("rounds", ParamValue::Count(3))]).is_some());
        assert!(asked_with(&RULE, &split, &[("rounds", ParamValue::Count(4))]).is_none());
    }
}
