//! `oscillation`: the code goes back and forth between two states.

use crate::detect::exempt::{default_subjects, goes_back_on_purpose};
use crate::detect::rule::{Docs, LOOP, Rule};
use crate::detect::situation::Situation;
use crate::detect::words;
use crate::domain::findings::{Evidence, Face, Finding, HaltReason, Level};
use crate::domain::settings::{ParamSpec, ParamValue, RuleSetting};
use crate::history::{CodeState, Iteration, Strike};

/// The rule.
pub(in crate::detect) static RULE: Rule = Rule {
    id: "oscillation",
    summary: "the code state alternates A/B/A/B",
    docs: Docs {
        trips: "Over the code states of the window, neighbours that are equal taken as one, a return is a state \
                that equals the last but one. `returns` returns running trip: with 2, A/B/A/B. Commits that go \
                back on purpose - reverts, and subjects that begin with a pattern of `exempt` - and merges, \
                cherry-picks and rebases bring states like any other but are no strikes: when fewer than `returns` of the returns are by other \
                commits, the rule warns at most.",
        why: "In 130,286 commits of healthy repositories the state alternated A/B/A/B 18 times, each time by \
              reverts, relands, releases or deployments; and once where merging a branch undid a pull request that \
              was then made again. With those exempt this signal may halt alone.",
        source: "loop-safety.md, stall detection 4 (oscillation)",
        example: "A fix breaks one test, its undoing breaks the other: states A, B, A, B trip at the fourth. \
                  Documentation in between changes no state. `Revert \"x\"`, `Reland \"x\"` warns.",
        tune: "oscillation = { returns = 3 }, or exempt = [\"Revert \\\"\", \"Nightly #\"]; `#` stands for digits.",
    },
    level: Level::Halt,
    reason: HaltReason::Oscillating,
    face: Face::Checkpoint,
    params: &[
        ParamSpec {
            name: "returns",
            default: || ParamValue::Count(2),
            min: 2,
            doc: "Returns to the last but one code state, running.",
        },
        ParamSpec {
            name: "exempt",
            default: default_subjects,
            min: 0,
            doc: "Beginnings of subjects of commits that go back on purpose; `#` stands for digits.",
        },
    ],
    stages: LOOP,
    check,
};

fn check(situation: &Situation<'_>, setting: &RuleSetting) -> Option<Finding> {
    let states = situation.timeline.states();
    let limit = setting.count("returns").max(1);
    let returning = returning(&states);
    let returns = words::len(returning);
    if returns < limit {
        return None;
    }
    let patterns = setting.list("exempt");
    let no_strike =
        |brought: &Iteration| brought.strike == Strike::Exempt || goes_back_on_purpose(brought, patterns);
    let meant = returning.iter().filter(|state| no_strike(state.brought_by)).count();
    let strikes = returns.saturating_sub(u64::try_from(meant).unwrap_or(u64::MAX));
    let level = if strikes < limit { setting.level.min(Level::Warn) } else { setting.level };
    let [.., other, newest] = states.as_slice() else { return None };
    let on_purpose = match meant {
        0 => String::new(),
        _ => format!(
            "; {meant} of {} by reverts, relands, releases or merges",
            words::count(returns, "return")
        ),
    };
    let message = format!(
        "the code alternates between two states, {} and {}, for {}{on_purpose}",
        other.code.short(),
        newest.code.short(),
        words::count(returns.saturating_add(2), "change"),
    );
    let mut evidence = vec![Evidence::Code(other.code), Evidence::Code(newest.code)];
    evidence.extend(returning.iter().filter_map(|state| state.brought_by.commit).map(Evidence::Commit));
    let help = words::git_diff(other.brought_by, newest.brought_by);
    Some(Finding { evidence, help: help.into_iter().collect(), ..RULE.finding(level, message) })
}

/// The longest end of `states` in which each equals the last but one.
fn returning<'a, 'b>(states: &'b [CodeState<'a>]) -> &'b [CodeState<'a>] {
    let returns = |at: usize| {
        let earlier = at.checked_sub(2).and_then(|earlier| states.get(earlier));
        earlier.zip(states.get(at)).is_some_and(|(earlier, state)| earlier.code == state.code)
    };
    let mut start = states.len();
    while start > 0 && returns(start - 1) {
        start -= 1;
    }
    states.get(start..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::testkit::{checked, checked_with};
    use crate::domain::facts::CommitKind::{CherryPick, Merge, Rebase, Revert};
    use crate::history::testkit::{Commit, commit};

    fn states(codes: &[u8]) -> Vec<Commit> {
        codes.iter().map(|code| commit(*code)).collect()
    }

    fn level(commits: Vec<Commit>) -> Option<Level> {
        checked(&RULE, commits).map(|finding| finding.level)
    }

    #[test]
    fn alternation_trips_at_the_fourth_state() {
        let table: [(&[u8], bool); 10] = [
            (&[], false),
            (&[1, 2, 1], false),
            (&[1, 2, 1, 2], true),
            (&[1, 2, 1, 2, 1], true),
            (&[3, 1, 2, 1, 2], true),
            (&[1, 2, 1, 2, 3], false),
            (&[1, 2, 3, 1, 2, 3], false),
            (&[1, 1, 1, 1], false),
            (&[1, 1, 2, 2, 1, 1, 2, 2], true),
            (&[1, 2, 1, 1, 1], false),
        ];
        for (codes, trips) in table {
            assert_eq!(level(states(codes)), trips.then_some(Level::Halt), "{codes:?}");
        }
    }

    #[test]
    fn going_back_on_purpose_warns() {
        let named = |third: &str, fourth: &str| {
            vec![commit(1), commit(2), commit(1).subject(third), commit(2).subject(fourth)]
        };
        assert_eq!(level(named("Revert \"x\"", "Reland \"x\"")), Some(Level::Warn));
        assert_eq!(level(named("Release 1.0", "work")), Some(Level::Warn));
        assert_eq!(level(named("work", "v1.2.3")), Some(Level::Warn));
        assert_eq!(level(named("work", "more work")), Some(Level::Halt));
    }

    #[test]
    fn a_loop_that_hides_behind_reverts_halts_all_the_same() {
        let mut commits = vec![commit(2), commit(1).kind(Revert), commit(2), commit(1).kind(Revert)];
        assert_eq!(level(commits.clone()), Some(Level::Warn));
        commits.push(commit(2));
        let finding = checked(&RULE, commits).unwrap();
        assert_eq!(finding.level, Level::Halt);
        assert!(
            finding.message.ends_with("1 of 3 returns by reverts, relands, releases or merges"),
            "{}",
            finding.message
        );
    }

    #[test]
    fn merges_and_picks_bring_states_but_are_no_strikes() {
        for kind in [Merge, Rebase, CherryPick] {
            let commits = states(&[1, 2, 1, 2]).into_iter().map(|commit| commit.kind(kind)).collect();
            assert_eq!(level(commits), Some(Level::Warn), "{kind:?}");
        }
        // A pull request is merged, merging another branch undoes it, a commit makes it again.
        let merged = vec![commit(1), commit(2).kind(Merge), commit(1).kind(Merge), commit(2)];
        assert_eq!(level(merged), Some(Level::Warn));
    }

    #[test]
    fn thresholds_and_patterns_are_parameters() {
        let with = |codes: &[u8], returns| {
            checked_with(&RULE, states(codes), &[("returns", ParamValue::Count(returns))]).is_some()
        };
        assert!(!with(&[1, 2, 1, 2], 3));
        assert!(with(&[1, 2, 1, 2, 1], 3));
        let none = checked_with(
            &RULE,
            vec![commit(1), commit(2), commit(1), commit(2).subject("Release 1.0")],
            &[("exempt", ParamValue::List(vec![]))],
        );
        assert_eq!(none.map(|finding| finding.level), Some(Level::Halt));
    }

    #[test]
    fn a_lower_level_is_kept() {
        use crate::detect::testkit::checked_at;
        let exempt = || vec![commit(1), commit(2), commit(1).kind(Revert), commit(2).kind(Revert)];
        assert_eq!(checked_at(&RULE, exempt(), Level::Note).map(|finding| finding.level), Some(Level::Note));
        assert_eq!(checked_at(&RULE, states(&[1, 2, 1, 2]), Level::Warn).map(|f| f.level), Some(Level::Warn));
    }
}
