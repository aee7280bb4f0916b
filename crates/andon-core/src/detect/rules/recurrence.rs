//! `recurrence`: a code state that was left comes back.

use crate::detect::excuses::{GOING_BACK, LANDS_AGAIN, begins_as, excuse, flips, is_pull_request};
use crate::detect::prelude::*;
use crate::domain::{CommitKind, Hint};
use crate::history::{CodeState, Strike, Timeline, lasted};

pub(in crate::detect) const RING: Param<u64> = Param::count("ring", 6, 2).sense(Sense::Wider);

pub(in crate::detect) static RULE: Rule = Rule {
    level: Level::Warn,
    reason: HaltReason::Oscillating,
    about: About { signal: Some(Signal::Recurrence), ..About::new(EventClass::Oscillation) },
    params: &[RING.spec, GOING_BACK.spec],
    ..Rule::of_iterations("recurrence", include_str!("recurrence.md"), check)
};

fn check(situation: &Situation<'_>, setting: &RuleSetting) -> Option<Finding> {
    let states = situation.timeline.states();
    let (newest, earlier) = states.split_last()?;
    let brought = newest.brought_by;
    if Some(brought) != situation.timeline.newest() || brought.strike == Strike::Exempt {
        return None;
    }
    let ring = setting.size(&RING);
    let back = earlier.iter().rev().take(ring).position(|state| state.code == newest.code)?;
    let seen = earlier.iter().rev().nth(back)?;
    let (changes, brought_by) = (words::count(back.saturating_add(1), "change"), seen.brought_by.name());
    let found = format!("the code is back to where it was {changes} ago ({brought_by})");
    let commits = [seen.brought_by.commit, brought.commit];
    let evidence = std::iter::once(Evidence::Code(newest.code))
        .chain(commits.into_iter().flatten().map(Evidence::Commit));
    let between = seen.newest.commit.zip(brought.commit);
    let help = between.map(|(old, new)| Hint::LogBetween.with([&old.short(), &new.short()]));
    let found = Finding {
        evidence: evidence.collect(),
        help: help.into_iter().collect(),
        ..RULE.finding(setting.level, found)
    };
    Some(found.within(excuse_of(&states, situation.timeline, setting).map(Limit::note)))
}

/// The excuse for the newest of `states`, which came back.
fn excuse_of(states: &[CodeState<'_>], timeline: &Timeline, setting: &RuleSetting) -> Option<&'static str> {
    let [.., left, newest] = states else { return None };
    let (left, brought) = (left.brought_by, newest.brought_by);
    let went_back = || left.kind == CommitKind::Revert || begins_as(left, setting.list(&GOING_BACK));
    let untold = || gained_since(timeline, brought.number) == Gain::Unknown;
    excuse(RULE.id, brought, timeline, setting).or_else(|| {
        if is_pull_request(brought) && went_back() {
            Some(LANDS_AGAIN)
        } else if lasted(left, brought) {
            Some("a state that lasted for an hour")
        } else if untold() && flips(states, states.len() - 1) {
            Some("a switch: one line of one file")
        } else {
            None
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::testkit::{checked, checked_with};
    use crate::domain::{
        CommitKind::{CherryPick, Merge, Rebase, Revert},
        ParamValue,
    };
    use crate::testkit::{Commit, commit};

    fn states(codes: &[u8]) -> Vec<Commit> {
        codes.iter().map(|code| commit(*code)).collect()
    }

    #[test]
    fn a_state_of_the_ring_that_comes_back_trips() {
        let table: [(&[u8], bool); 9] = [
            (&[], false),
            (&[1, 1], false),
            (&[1, 1, 1, 1], false),
            (&[1, 2, 1], true),
            (&[1, 2, 2, 1], true),
            (&[1, 2, 1, 1], false),
            (&[1, 2, 3, 4, 5, 6, 1], true),
            (&[1, 2, 3, 4, 5, 6, 7, 1], false),
            (&[1, 2, 3, 4], false),
        ];
        for (codes, trips) in table {
            assert_eq!(checked(&RULE, states(codes)).is_some(), trips, "{codes:?}");
        }
    }

    #[test]
    fn it_is_a_signal_and_exempt_commits_make_none() {
        assert_eq!(checked(&RULE, states(&[1, 2, 1])).map(|finding| finding.level), Some(Level::Warn));
        let release = vec![commit(1), commit(2), commit(1).subject("Release 2.0")];
        assert_eq!(checked(&RULE, release).map(|finding| finding.level), Some(Level::Note));
        for kind in [Revert, Merge, CherryPick, Rebase] {
            assert!(checked(&RULE, vec![commit(1), commit(2), commit(1).kind(kind)]).is_none(), "{kind:?}");
        }
    }

    #[test]
    fn what_was_thought_about_is_a_note() {
        let level = |commits| checked(&RULE, commits).map(|finding| finding.level);
        let switched = |seconds: i64| {
            vec![commit(1).at(100), commit(2).at(100 + seconds), commit(1).at(100 + 2 * seconds)]
        };
        assert_eq!(level(switched(3600)), Some(Level::Note));
        assert_eq!(level(switched(3599)), Some(Level::Warn));
        let landed = |again: &'static str| {
            vec![
                commit(1),
                commit(2).subject("Add caching (#7)"),
                commit(1).subject("Revert \"Add caching (#7)\" (#8)"),
                commit(2).subject(again),
            ]
        };
        assert_eq!(level(landed("Add caching, again (#9)")), Some(Level::Note));
        assert_eq!(level(landed("Add caching, again")), Some(Level::Warn));
        let released = |last: &'static str| {
            let words = ["Prepare before 1.2 release", "Clean up after 1.2 release", last];
            [1, 2, 1].into_iter().zip(words).map(|(code, words)| commit(code).subject(words)).collect()
        };
        assert_eq!(level(released("Prepare before 1.3 release")), Some(Level::Note));
        assert_eq!(level(released("Prepare before the release")), Some(Level::Warn));
    }

    #[test]
    fn the_ring_is_a_parameter() {
        let with =
            |ring| checked_with(&RULE, states(&[1, 2, 3, 1]), &[("ring", ParamValue::Count(ring))]).is_some();
        assert!(with(3));
        assert!(!with(2));
    }

    #[test]
    fn the_message_says_how_far_back() {
        let finding = checked(&RULE, states(&[1, 2, 3, 1])).unwrap();
        assert!(finding.message().starts_with("the code is back to where it was 3 changes ago ("));
    }
}
