//! `unchanged-diff`: the loop makes the same change again, or none.

use std::fmt;

use crate::detect::exempt::{BUILD_STARTS, begins_as};
use crate::detect::rule::{Docs, LOOP, Reads, Rule};
use crate::detect::situation::Situation;
use crate::detect::words;
use crate::domain::about::{About, EventClass};
use crate::domain::change::Nature;
use crate::domain::detail::Found;
use crate::domain::facts::CommitKind;
use crate::domain::findings::{Evidence, Finding, HaltReason, Level, ReportFile};
use crate::domain::ids::DiffHash;
use crate::domain::settings::{Param, RuleSetting};
use crate::history::{DocsProgress, Iteration, Source, Timeline};

pub(in crate::detect) const REPEATS: Param<u64> = Param::count(
    "repeats",
    2,
    1,
    "Consecutive iterations that repeat the diff before them or change nothing.",
);
pub(in crate::detect) const COSMETIC: Param<u64> = Param::count(
    "cosmetic",
    5,
    1,
    "Consecutive repeats, where normalization leaves nothing of some of them.",
);
pub(in crate::detect) const PATIENCE: Param<u64> = Param::count(
    "patience",
    12,
    1,
    "Consecutive repeats, where some are meant (`exempt`) or give a document a new text.",
);
pub(in crate::detect) const REWRITES: Param<u64> = Param::count(
    "rewrites",
    4,
    2,
    "Amends or rebases that bring the same code, with no other commit in between.",
);
pub(in crate::detect) const EXEMPT: Param<Vec<String>> = Param::list(
    "exempt",
    BUILD_STARTS,
    "Beginnings of subjects of empty commits made on purpose; `#` stands for digits.",
);

pub(in crate::detect) static RULE: Rule = Rule {
    id: "unchanged-diff",
    summary: "the normalized diff repeats, or is empty, 2 iterations in a row",
    docs: Docs {
        trips: "An iteration repeats when it changes nothing, or when its diff hash equals that of the \
                counted iteration before it. The rule trips when the newest `repeats` counted iterations all \
                repeat. Three kinds are given more time and warn at most until then: changes of which \
                normalization leaves nothing (white space at line ends, timestamps), `cosmetic` running; \
                empty commits whose subject begins with a pattern of `exempt` (they start a build), and the \
                same lines written into a document that has a new text each time, `patience` running. \
                Merges, reverts, cherry-picks and rebases neither count nor interrupt. An amend replaces the \
                iteration it amends, so amending a message repeats nothing. But `rewrites` amends or rebases \
                that bring the very same code again, with no other commit in between, trip the rule.",
        why: "In 180,000 commits of healthy repositories two repeats in a row were empty commits that start a \
              build, changed line ends (trailing white space, CRLF), or the same lines put into a document \
              at several places. Without those this rule may halt alone.",
        source: "docs/spec-map.md: Loop safety, stall detection 2 (no artifact change); settled choices 2 \
                 and 3",
        example: "Diffs A, A, A trip at the third; an empty commit after an empty commit trips; A, A, B does \
                  not.",
        tune: "`unchanged-diff = { repeats = 3 }`, or `\"warn\"` where empty commits start builds.",
    },
    level: Level::Halt,
    reason: HaltReason::Stalled,
    report_file: ReportFile::Checkpoint,
    about: About::of(EventClass::Stall),
    params: &[REPEATS.spec, COSMETIC.spec, PATIENCE.spec, REWRITES.spec, EXEMPT.spec],
    stages: LOOP,
    reads: Reads::Records,
    check,
};

/// What the newest iterations have in common, with how many of them there are.
#[derive(Debug)]
enum Repeated {
    /// Iterations of which normalization leaves nothing.
    Cosmetic(u64),
    /// Iterations without a change.
    Nothing(u64),
    /// Iterations with the change of the one before.
    Same { iterations: u64, diff: DiffHash },
    /// Some of either kind.
    Mixed { iterations: u64, empty: u64 },
    /// The same code, amended or rebased so many times.
    Rewritten(u64),
}

impl Found for Repeated {}

impl fmt::Display for Repeated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = |iterations: &u64| words::count(*iterations, "iteration");
        match self {
            Self::Cosmetic(iterations) => write!(
                f,
                "{} in a row changed only white space at line ends, or what normalization masks",
                count(iterations)
            ),
            Self::Nothing(iterations) => write!(f, "{} in a row changed nothing", count(iterations)),
            Self::Same { iterations, diff } => write!(
                f,
                "{} in a row made the same change as the one before (diff {})",
                count(iterations),
                diff.short()
            ),
            Self::Mixed { iterations, empty } => write!(
                f,
                "{} in a row repeated the change before them or changed nothing ({empty} changed nothing)",
                count(iterations)
            ),
            Self::Rewritten(times) => write!(
                f,
                "the same code was committed again {} by amending or rebasing",
                words::count(*times, "time")
            ),
        }
    }
}

fn check(situation: &Situation<'_>, setting: &RuleSetting) -> Option<Finding> {
    let timeline = situation.timeline;
    if let Some(found) = rewritten(timeline, setting) {
        return Some(found);
    }
    let candidates: Vec<&Iteration> = timeline.candidates().collect();
    let repeating = repeating(&candidates);
    let repeats = words::len(repeating);
    let limit = setting.count(&REPEATS).max(1);
    if repeats < limit {
        return None;
    }
    let newest = repeating.last()?;
    let (patience, until) = repeating.iter().map(|one| patience(timeline, one, setting)).max()?;
    let level = if repeats < patience { setting.level.min(until) } else { setting.level };
    let empty = words::len(&repeating.iter().filter(|iteration| iteration.diff.empty).collect::<Vec<_>>());
    let cosmetic = repeating.iter().all(|one| one.diff.empty && one.diff.files > 0);
    let found = match empty {
        _ if cosmetic => Repeated::Cosmetic(repeats),
        0 => Repeated::Same { iterations: repeats, diff: newest.diff.hash },
        empty if empty == repeats => Repeated::Nothing(repeats),
        empty => Repeated::Mixed { iterations: repeats, empty },
    };
    let mut evidence: Vec<Evidence> = repeating.iter().map(|one| Evidence::Diff(one.diff.hash)).collect();
    evidence.dedup();
    evidence.extend(repeating.iter().filter_map(|one| one.commit).map(Evidence::Commit));
    let help =
        newest.commit.map(|commit| format!("git log -p -{} {}", repeats.saturating_add(1), commit.short()));
    Some(Finding { evidence, help: help.into_iter().collect(), ..RULE.finding(level, found) })
}

/// The same code, amended or rebased over and over.
fn rewritten(timeline: &Timeline, setting: &RuleSetting) -> Option<Finding> {
    let newest = timeline.newest()?;
    if !matches!(newest.kind, CommitKind::Amend | CommitKind::Rebase) || newest.source != Source::Commit {
        return None;
    }
    let times =
        words::len(&timeline.rewritten.iter().filter(|code| **code == newest.code).collect::<Vec<_>>());
    if times < setting.count(&REWRITES).max(2) {
        return None;
    }
    let mut evidence = vec![Evidence::Code(newest.code)];
    evidence.extend(newest.commit.map(Evidence::Commit));
    let help = vec!["git reflog  (what was rewritten)".to_owned()];
    Some(Finding { evidence, help, ..RULE.finding(setting.level, Repeated::Rewritten(times)) })
}

/// How many iterations in a row it takes when `one` is among them, and what is said until then.
fn patience(timeline: &Timeline, one: &Iteration, setting: &RuleSetting) -> (u64, Level) {
    let document = match timeline.docs_progress(one) {
        DocsProgress::NewText | DocsProgress::Ticked => {
            one.change.as_ref().is_some_and(|change| change.nature == Nature::Docs)
        }
        DocsProgress::None | DocsProgress::Back => false,
    };
    let limit = setting.count(&REPEATS).max(1);
    let longer = limit.max(setting.count(&PATIENCE));
    if one.diff.empty && one.diff.files > 0 {
        (limit.max(setting.count(&COSMETIC)), Level::Warn)
    } else if one.diff.empty && begins_as(one, setting.list(&EXEMPT)) {
        (longer, Level::Note)
    } else if document {
        (longer, Level::Warn)
    } else {
        (limit, Level::Warn)
    }
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
    use crate::domain::settings::ParamValue;
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
    fn the_same_code_over_and_over_by_amends_or_rebases_trips() {
        let amends = |codes: &[u8]| -> Vec<Commit> {
            let amends = codes.iter().map(|code| commit(*code).kind(Amend));
            [commit(1), commit(2)].into_iter().chain(amends).collect()
        };
        assert!(checked(&RULE, amends(&[2, 2, 2])).is_none());
        assert!(checked(&RULE, amends(&[2, 2, 2, 2])).is_some(), "only the message");
        assert!(checked(&RULE, amends(&[3, 2, 3, 2, 3, 2])).is_none());
        assert!(checked(&RULE, amends(&[3, 2, 3, 2, 3, 2, 3])).is_some(), "to and fro");
        assert!(checked(&RULE, amends(&[3, 4, 5, 6, 7, 8, 9])).is_none(), "each time something new");
        let rounds = |count: usize| -> Vec<Commit> {
            let picks = (0..count).flat_map(|_| [5, 6, 7]).map(|code| commit(code).kind(Rebase));
            [commit(1), commit(2)].into_iter().chain(picks).collect()
        };
        assert!(checked(&RULE, rounds(3)).is_none());
        assert!(checked(&RULE, rounds(4)).is_some());
        let mut worked = rounds(3);
        worked.push(commit(8));
        worked.extend([commit(5).kind(Rebase), commit(6).kind(Rebase), commit(7).kind(Rebase)]);
        assert!(checked(&RULE, worked).is_none(), "another commit in between");
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

    fn level(commits: Vec<Commit>) -> Option<Level> {
        checked(&RULE, commits).map(|finding| finding.level)
    }

    #[test]
    fn cosmetic_changes_are_given_more_time() {
        for (running, wanted) in
            [(1, None), (2, Some(Level::Warn)), (4, Some(Level::Warn)), (5, Some(Level::Halt))]
        {
            assert_eq!(level(vec![commit(1).cosmetic(); running]), wanted, "{running}");
        }
        assert_eq!(level(vec![e(), commit(1).cosmetic()]), Some(Level::Warn));
    }

    #[test]
    fn empty_commits_that_start_a_build_are_given_more_time() {
        let poke = || e().subject("Trigger CI");
        assert_eq!(level(vec![poke(); 11]), Some(Level::Note));
        assert_eq!(level(vec![poke(); 12]), Some(Level::Halt));
        assert_eq!(level(vec![d(1).subject("Trigger CI"); 3]), Some(Level::Halt), "not empty");
    }

    #[test]
    fn the_same_lines_in_a_document_with_a_new_text_are_given_more_time() {
        let write = |state| d(1).docs(state, (0, 0), (0, 0));
        assert_eq!(level((1..=3).map(write).collect()), Some(Level::Warn));
        assert_eq!(level((1..=13).map(write).collect()), Some(Level::Halt));
        assert_eq!(level(vec![write(1), write(2), write(1), write(2)]), Some(Level::Warn));
        assert_eq!(level(vec![write(1), write(1), write(1)]), Some(Level::Halt), "the text is not new");
    }

    #[test]
    fn the_message_tells_which() {
        let message = |commits| checked(&RULE, commits).map(|finding| finding.message()).unwrap_or_default();
        assert_eq!(message(vec![e(), e()]), "2 iterations in a row changed nothing");
        assert_eq!(
            message(vec![d(1), d(1), d(1)]),
            "2 iterations in a row made the same change as the one before (diff 010101010101)"
        );
        assert_eq!(
            message(vec![d(1), d(1), e()]),
            "2 iterations in a row repeated the change before them or changed nothing (1 changed nothing)"
        );
    }
}
