//! `unchanged-diff`: the loop makes the same change again, or none.

use crate::detect::rule::{Docs, LOOP, Rule};
use crate::detect::situation::Situation;
use crate::detect::words;
use crate::domain::findings::{Evidence, Face, Finding, HaltReason, Level};
use crate::domain::settings::{ParamSpec, ParamValue, RuleSetting};
use crate::history::Iteration;

/// The rule.
pub(in crate::detect) static RULE: Rule = Rule {
    id: "unchanged-diff",
    summary: "the normalized diff repeats, or is empty, 2 iterations running",
    docs: Docs {
        trips: "An iteration repeats when nothing is left of its diff after normalization, or when its diff hash \
                equals that of the strike candidate before it. The rule trips when the newest `repeats` strike \
                candidates all repeat. Merges, reverts, cherry-picks and rebases neither count nor interrupt. An \
                amend replaces the iteration it amends, so amending a message repeats nothing.",
        why: "`loop-safety.md` suggests 2. Of 130,286 commits of healthy repositories 16 equalled their parent's \
              diff twice running, so this signal may halt alone.",
        source: "loop-safety.md, stall detection 2 (no artifact change); DESIGN section 4, contradictions 2 and 3",
        example: "Diffs A, A, A trip at the third; an empty commit after an empty commit trips; A, A, B does not.",
        tune: "unchanged-diff = { repeats = 3 }, or \"warn\" where empty commits start builds.",
    },
    level: Level::Halt,
    reason: HaltReason::Stalled,
    face: Face::Checkpoint,
    params: &[ParamSpec {
        name: "repeats",
        default: || ParamValue::Count(2),
        min: 1,
        doc: "Iterations running that repeat the diff before them or change nothing.",
    }],
    stages: LOOP,
    check,
};

fn check(situation: &Situation<'_>, setting: &RuleSetting) -> Option<Finding> {
    let candidates: Vec<&Iteration> = situation.timeline.candidates().collect();
    let repeating = repeating(&candidates);
    let repeats = words::len(repeating);
    if repeats == 0 || repeats < setting.count("repeats") {
        return None;
    }
    let newest = repeating.last()?;
    let empty = words::len(&repeating.iter().filter(|iteration| iteration.diff.empty).collect::<Vec<_>>());
    let hash = newest.diff.hash.short();
    let running = format!("{} running", words::count(repeats, "iteration"));
    let message = if empty == repeats {
        format!("{running} changed nothing")
    } else if empty == 0 {
        format!("{running} made the same change as the one before (diff {hash})")
    } else {
        format!("{running} repeated the change before or changed nothing ({empty} of them)")
    };
    let mut evidence: Vec<Evidence> = repeating.iter().map(|one| Evidence::Diff(one.diff.hash)).collect();
    evidence.dedup();
    evidence.extend(repeating.iter().filter_map(|one| one.commit).map(Evidence::Commit));
    let help =
        newest.commit.map(|commit| format!("git log -p -{} {}", repeats.saturating_add(1), commit.short()));
    Some(Finding { evidence, help: help.into_iter().collect(), ..RULE.finding(setting.level, message) })
}

/// The longest end of `candidates` in which each repeats.
fn repeating<'a, 'b>(candidates: &'b [&'a Iteration]) -> &'b [&'a Iteration] {
    let repeats = |at: usize| {
        let before = at.checked_sub(1).and_then(|before| candidates.get(before));
        candidates.get(at).is_some_and(|one| {
            one.diff.empty || before.is_some_and(|before| before.diff.hash == one.diff.hash)
        })
    };
    let mut start = candidates.len();
    while start > 0 && repeats(start - 1) {
        start -= 1;
    }
    candidates.get(start..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::testkit::{checked, checked_with};
    use crate::domain::facts::CommitKind::{Amend, CherryPick, Merge, Rebase, Revert};
    use crate::history::testkit::{Commit, commit};

    fn d(diff: u8) -> Commit {
        commit(diff).diff(diff)
    }

    fn e() -> Commit {
        commit(9).empty()
    }

    #[test]
    fn two_repeats_running_trip() {
        let table: Vec<(&str, Vec<Commit>, bool)> = vec![
            ("nothing", vec![], false),
            ("one commit", vec![d(1)], false),
            ("one repeat", vec![d(1), d(1)], false),
            ("two repeats", vec![d(1), d(1), d(1)], true),
            ("two repeats after work", vec![d(2), d(1), d(1), d(1)], true),
            ("interrupted", vec![d(1), d(1), d(2), d(2)], false),
            ("over", vec![d(1), d(1), d(1), d(2)], false),
            ("alternating", vec![d(1), d(2), d(1), d(2)], false),
            ("one empty", vec![e()], false),
            ("one empty after work", vec![d(1), e()], false),
            ("two empty", vec![e(), e()], true),
            ("empty, work, empty", vec![e(), d(1), e()], false),
            ("a repeat and an empty one", vec![d(1), d(1), e()], true),
        ];
        for (name, commits, trips) in table {
            assert_eq!(checked(&RULE, commits).is_some(), trips, "{name}");
        }
    }

    #[test]
    fn exempt_kinds_neither_count_nor_interrupt() {
        for kind in [Merge, Revert, CherryPick, Rebase] {
            assert!(checked(&RULE, vec![d(1), d(1), d(1).kind(kind)]).is_none(), "{kind:?} does not count");
            assert!(
                checked(&RULE, vec![e().kind(kind), e().kind(kind)]).is_none(),
                "{kind:?} does not count"
            );
            let through = vec![d(1), d(1), d(7).kind(kind), d(1)];
            assert!(checked(&RULE, through).is_some(), "{kind:?} does not interrupt");
        }
    }

    #[test]
    fn amending_a_message_repeats_nothing() {
        assert!(checked(&RULE, vec![d(1), d(1).kind(Amend), d(1).kind(Amend), d(1).kind(Amend)]).is_none());
        let amended = checked(&RULE, vec![d(1), d(1), d(1), d(1).kind(Amend)]);
        assert!(amended.is_some(), "the amended iteration still repeats");
    }

    #[test]
    fn the_threshold_is_a_parameter() {
        let four = || vec![d(1), d(1), d(1), d(1)];
        let with = |repeats| checked_with(&RULE, four(), &[("repeats", ParamValue::Count(repeats))]);
        assert!(with(3).is_some());
        assert!(with(4).is_none());
    }

    #[test]
    fn the_message_tells_which() {
        let message = |commits| checked(&RULE, commits).map(|finding| finding.message).unwrap_or_default();
        assert_eq!(message(vec![e(), e()]), "2 iterations running changed nothing");
        assert_eq!(
            message(vec![d(1), d(1), d(1)]),
            "2 iterations running made the same change as the one before (diff 010101010101)"
        );
        assert_eq!(
            message(vec![d(1), d(1), e()]),
            "2 iterations running repeated the change before or changed nothing (1 of them)"
        );
    }
}
