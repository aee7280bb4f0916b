//! `weak-change`: the loop is busy, and its changes have no effect.

use crate::WordList;
use crate::detect::excuses::{claims_no_work, excuse};
use crate::detect::prelude::*;
use crate::domain::{Hint, Nature};
use crate::history::{DocsProgress, Iteration, Timeline};

const RUNNING: Param<u64> = Param::count("running", 3, 2);
const HALT_RUNNING: Param<u64> = Param::count("halt_running", 12, 3);
const EXEMPT: Param<Vec<String>> =
    Param::list("exempt", WordList(include_str!("../word_lists/going_back.txt")));

pub(in crate::detect) static RULE: Rule = Rule {
    about: About { signal: Some(Signal::WeakChange), ..About::new(EventClass::Stall) },
    params: &[RUNNING.spec, HALT_RUNNING.spec, EXEMPT.spec],
    ..Rule::of_iterations("weak-change", include_str!("weak_change.md"), check)
};

fn check(situation: &Situation<'_>, setting: &RuleSetting) -> Option<Finding> {
    let weak = weak_run(situation.timeline);
    let running = words::len(&weak);
    if running == 0 || running < setting.count(&RUNNING) {
        return None;
    }
    let newest = weak.last()?;
    let more = running.saturating_sub(setting.count(&RUNNING));
    // Who releases on purpose does something else in between.
    let meant = excuse(RULE.id, newest, situation.timeline, setting).filter(|_| more < MEANT);
    let admitted = more < ADMITTED && weak.iter().all(|one| claims_no_work(one));
    let excuse = meant.or(admitted.then_some("subjects that claim no work"));
    let nature = weak.iter().filter_map(|one| one.weak_nature()).reduce(Nature::and)?;
    let message =
        format!("{} in a row changed only {}", words::count(running, "iteration"), words_for(nature));
    let stuck = goes_over_it(situation.timeline, &weak, setting.count(&HALT_RUNNING));
    let level = if stuck { setting.level } else { setting.level.min(Level::Warn) };
    let evidence = weak.iter().filter_map(|one| one.commit).map(Evidence::Commit).collect();
    let help = newest.commit.map(|commit| Hint::LogNewest.with([&running.to_string(), &commit.short()]));
    let help = help.into_iter().collect();
    Some(Finding { evidence, help, ..RULE.finding(level, message) }.within(excuse.map(Limit::note)))
}

/// So many more iterations in a row it takes where the newest says that it is meant.
const MEANT: u64 = 2;
/// And so many where each says that it is about white space or style, or says nothing: progress is not pretended.
const ADMITTED: u64 = 5;

/// Returns whether hooks saw so many of them, and most go over what those before wrote.
fn goes_over_it(timeline: &Timeline, weak: &[&Iteration], most: u64) -> bool {
    let last = timeline.iterations.len().saturating_sub(1);
    words::len(weak) >= most
        && timeline.unchanged_running(last) >= most
        && !weak.iter().any(|one| one.is_unobserved())
}

/// The longest end of the strike candidates that are weak, empty ones passed over, each in the place of the one before.
fn weak_run(timeline: &Timeline) -> Vec<&Iteration> {
    let mut run: Vec<&Iteration> = Vec::new();
    for iteration in timeline.candidates().rev() {
        if iteration.diff.empty && iteration.diff.files == 0 {
            continue;
        }
        let ticked = timeline.docs_progress(iteration) == DocsProgress::Ticked;
        if iteration.weak_nature().is_none() || ticked {
            break;
        }
        let elsewhere = |later: &&Iteration| {
            // The same file has the versions of other packages.
            let other_version = later.weak_nature() == Some(Nature::Version) && !later.goes_over(iteration);
            !iteration.same_place(later) || other_version
        };
        if run.last().is_some_and(elsewhere) {
            break;
        }
        run.push(iteration);
    }
    run.reverse();
    run
}

fn words_for(nature: Nature) -> &'static str {
    match nature {
        Nature::Space => "white space, or what normalization masks",
        Nature::Comments => "comments",
        Nature::Version => "a version number",
        Nature::Log => "a log",
        Nature::Mode => "file modes",
        Nature::Weak | Nature::Work | Nature::Docs | Nature::Nothing | Nature::Ignored => {
            "comments, white space, versions, logs or modes"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::testkit::{checked, checked_with};
    use crate::domain::{
        CommitKind::{CherryPick, Merge, Rebase, Revert},
        ParamValue, Recording,
    };
    use crate::testkit::{Commit, commit};

    /// Iteration `step` on path 1.
    fn made_of(step: u8, nature: Nature) -> Commit {
        commit(step).change(nature, &[(1, step, step + 1)])
    }

    fn row(natures: &[Nature]) -> Vec<Commit> {
        (1..).zip(natures).map(|(step, nature)| made_of(step, *nature)).collect()
    }

    #[test]
    fn three_weak_changes_running_are_a_signal() {
        use Nature::{Comments, Docs, Log, Mode, Nothing, Space, Version, Weak, Work};
        let table: [(&[Nature], bool); 11] = [
            (&[], false),
            (&[Comments, Comments], false),
            (&[Comments, Comments, Comments], true),
            (&[Version, Version, Version], true),
            (&[Log, Log, Log], true),
            (&[Mode, Space, Weak], true),
            (&[Work, Comments, Log, Version], true),
            (&[Comments, Comments, Work], false),
            (&[Comments, Work, Comments, Comments], false),
            (&[Comments, Docs, Comments, Comments], false),
            (&[Comments, Nothing, Comments], true),
        ];
        for (natures, trips) in table {
            let found = checked(&RULE, row(natures)).map(|finding| finding.level);
            assert_eq!(found, trips.then_some(Level::Warn), "{natures:?}");
        }
    }

    #[test]
    fn different_files_and_unknown_changes_are_work() {
        let tour = (1..5_u8).map(|at| commit(at).change(Nature::Comments, &[(at, 1, 2)])).collect();
        assert!(checked(&RULE, tour).is_none(), "comments of file after file");
        assert!(checked(&RULE, (1..5).map(commit).collect()).is_none(), "records of earlier versions");
        assert!(checked(&RULE, (1..5).map(|at| commit(at).empty()).collect()).is_none(), "no files at all");
    }

    #[test]
    fn releases_are_notes_and_exempt_kinds_neither_count_nor_interrupt() {
        let mut bumps = row(&[Nature::Version; 3]);
        bumps[2] = bumps[2].clone().subject("Bump version to 1.2.3");
        assert_eq!(checked(&RULE, bumps).map(|finding| finding.level), Some(Level::Note));
        let named = |one: Commit| one.subject("Bump version to 1.2.3");
        let five = row(&[Nature::Version; 5]).into_iter().map(named).collect();
        assert_eq!(checked(&RULE, five).map(|finding| finding.level), Some(Level::Warn));
        for kind in [Merge, Revert, CherryPick, Rebase] {
            let mut commits = row(&[Nature::Comments, Nature::Comments, Nature::Work, Nature::Comments]);
            commits[2] = commits[2].clone().kind(kind);
            assert!(checked(&RULE, commits).is_some(), "{kind:?}");
            let only = row(&[Nature::Comments; 3]).into_iter().map(|one| one.kind(kind)).collect();
            assert!(checked(&RULE, only).is_none(), "{kind:?}");
        }
    }

    #[test]
    fn the_length_is_a_parameter() {
        let with =
            |running| checked_with(&RULE, row(&[Nature::Log; 4]), &[("running", ParamValue::Count(running))]);
        let message = with(4).map(|finding| finding.message());
        assert_eq!(message.as_deref(), Some("4 iterations in a row changed only a log"));
        assert!(with(5).is_none());
    }

    #[test]
    fn a_dozen_that_go_over_the_same_halt_where_hooks_saw_them() {
        let row = |count: u8, one: &dyn Fn(u8) -> Commit| {
            checked(&RULE, (1..=count).map(one).collect()).map(|found| found.level)
        };
        let again = |at: u8| made_of(at, Nature::Comments).hunks(&[(at, at + 1)]);
        assert_eq!(row(11, &again), Some(Level::Warn));
        assert_eq!(row(12, &again), Some(Level::Halt));
        assert_eq!(row(12, &|at| made_of(at, Nature::Log)), Some(Level::Halt));
        let elsewhere = |at: u8| made_of(at, Nature::Comments).hunks(&[(at, at + 100)]).lines(9, 9);
        assert_eq!(row(20, &elsewhere), Some(Level::Warn), "a tour through a file");
        let derived = |at: u8| again(at).recording(Recording::Derived);
        assert_eq!(row(20, &derived), Some(Level::Warn), "a history without hooks");
        assert_eq!(row(20, &|at| if at == 12 { commit(99) } else { again(at) }), Some(Level::Warn));
    }

    #[test]
    fn the_versions_of_other_packages_are_other_lines() {
        let upgrade =
            |state: u8, hunk| commit(state).change(Nature::Version, &[(1, state, state + 1)]).hunks(&[hunk]);
        let row = |next: fn(u8) -> (u8, u8)| {
            checked(&RULE, (2..9).map(|state| upgrade(state, next(state))).collect())
        };
        assert!(row(|state| (state, state + 100)).is_none(), "package after package");
        assert!(row(|state| (state, state + 1)).is_some(), "one version goes up and up");
    }

    #[test]
    fn who_says_that_only_the_looks_change_pretends_nothing() {
        let row = |count: u8, subject: &str| {
            let one = |state| commit(state).change(Nature::Space, &[(1, state, state + 1)]).subject(subject);
            checked(&RULE, (0..count).map(one).collect()).map(|found| found.level)
        };
        assert_eq!(row(7, "fix code style"), Some(Level::Note));
        assert_eq!(row(8, "fix code style"), Some(Level::Warn));
        assert_eq!(row(7, "_"), Some(Level::Note), "nothing is claimed");
        assert_eq!(row(3, "Mend the parser"), Some(Level::Warn));
    }
}
