//! Progress: what test results say about a stretch of work, and the failures that they excuse.
//!
//! An acceptance test that was written first stays red while other tests newly pass, and a test that was red before the
//! run began is not the run's doing. Where the work moves, an output that repeats proves nothing.

use std::{borrow::Cow, collections::BTreeSet};

use super::excuses::{TICKED, WRITTEN};
use crate::domain::{Edits, Nature, Oid, TestEvidence, TestRun};
use crate::history::{
    DocsProgress, Iteration, Outcome, Source, Timeline, TurnChange, failing_count, outcome,
};

/// A step of the failing count, seen from the last time that all tests passed.
/// `gone` are the tests that ran earlier in the window and did not run now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// The count is unknown: no tests, a failed build, a run that was stopped.
    Unknown,
    /// All tests pass and none is gone.
    Green,
    /// The first known count since then.
    First,
    /// Higher than ever since the lowest: what is taken apart breaks more before it is put together again.
    Rise { gone: u64 },
    /// On the way down from there, above the lowest yet.
    Recovery,
    /// A new low.
    Fall { gone: u64 },
    /// Not lower than the lowest.
    NotLower { gone: u64 },
}

/// The decision to hold a failing attempt against the loop, or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Credit {
    /// It is.
    Strike,
    /// It is not: it brought newly passing tests, so that work goes on.
    Gain,
    /// It is not: it fails where the tests failed before the run began.
    Known,
}

/// Attempts running that are given credit.
pub(super) const CREDITS: usize = 5;

/// The credit that was given.
#[derive(Debug, Default)]
pub(super) struct Credits {
    /// Most tests that passed at once.
    passed: Option<u64>,
    /// Attempts running that had credit.
    running: usize,
}

impl Credits {
    /// The credit of a result; the tests in `baseline` failed before the run began.
    pub fn credit(&mut self, tests: &TestEvidence, step: Step, baseline: &BTreeSet<Cow<'_, str>>) -> Credit {
        let passed = passed_count(tests);
        // More that pass because fewer fail is progress of another kind.
        let stays = matches!(step, Step::NotLower { gone: 0 } | Step::Rise { gone: 0 } | Step::Green);
        let newly = stays && passed > self.passed && self.passed.is_some();
        self.passed = self.passed.max(passed);
        let named = outcome(tests) == Outcome::Red && !tests.failing.is_empty() && !tests.truncated;
        let known = named && tests.compared().all(|id| baseline.contains(&id));
        if matches!(step, Step::Green | Step::Fall { .. }) {
            self.running = 0;
        }
        if !(newly || known) || self.running >= CREDITS {
            return Credit::Strike;
        }
        self.running += usize::from(step != Step::Green);
        if newly { Credit::Gain } else { Credit::Known }
    }
}

/// Returns the failures from before the run began: those of the newest run on code from before its first iteration. Records
/// alone tell them where the first iteration left the code as it was.
pub(super) fn baseline(timeline: &Timeline) -> BTreeSet<Cow<'_, str>> {
    let Some(first) = timeline.iterations.first() else { return BTreeSet::new() };
    let before = |run: &&TestRun| {
        let earlier = run.at.is_some_and(|at| first.at.0 != 0 && at <= first.at);
        // Work that is not committed yet belongs to the run.
        let clean = run.overlay.is_empty() && !run.overlay_truncated;
        earlier && clean && !timeline.iterations.iter().any(|one| is_of(run, one))
    };
    let run = timeline.runs.iter().rev().find(before).map(|run| &run.evidence);
    let recorded = || {
        first
            .tests
            .as_ref()
            .filter(|tests| first.number <= 1 && brings_no_code(first) && tests.code == first.code)
    };
    let found = run.or_else(recorded);
    found.into_iter().flat_map(TestEvidence::compared).collect()
}

/// Returns whether `run` ran on what `one` brought. The code alone does not tell: a commit of documents leaves it as it was. Where
/// either tree is unknown, as in event streams, it has to.
fn is_of(run: &TestRun, one: &Iteration) -> bool {
    match run.base {
        Some(base) if one.tree.0 != Oid::ZERO => one.tree == base,
        Some(_) | None => one.code == run.evidence.code && !brings_no_code(one),
    }
}

fn brings_no_code(one: &Iteration) -> bool {
    one.diff.empty || one.change.as_ref().is_some_and(|change| change.nature == Nature::Docs)
}

/// The gain of a stretch of work, by its tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Gain {
    /// Too few results to say.
    Unknown,
    /// As many pass as before.
    Nothing,
    /// More pass than ever before.
    NewlyPassing,
}

/// Returns the gain of the tests from iteration `number` on, over what passed before it; where no test ran before it, over what
/// passed in its first run.
pub(super) fn gained_since(timeline: &Timeline, number: u64) -> Gain {
    let (mut before, mut after): (Option<u64>, Option<u64>) = (None, None);
    for iteration in &timeline.iterations {
        let Some(passed) = iteration.tests.as_ref().and_then(passed_count) else { continue };
        let is_first = iteration.number < number || before.is_none();
        let best = if is_first { &mut before } else { &mut after };
        *best = (*best).max(Some(passed));
    }
    match (before, after) {
        (Some(before), Some(after)) if after > before => Gain::NewlyPassing,
        (Some(_), Some(_)) => Gain::Nothing,
        (None, _) | (_, None) => Gain::Unknown,
    }
}

/// The number of passed tests, where the run came to its end and named or counted them.
pub(super) fn passed_count(tests: &TestEvidence) -> Option<u64> {
    failing_count(tests).filter(|_| tests.counts().ran() > 0).map(|_| tests.passed)
}

/// Returns the progress of `one` in documents, by the name of the excuse. What a node without edits wrote in a turn is only known to
/// be another text: `docs-loop` is for those that go round.
pub(super) fn writes(timeline: &Timeline, one: &Iteration) -> Option<&'static str> {
    let is_task = || timeline.workflow.edits(&one.node) == Edits::None;
    match (timeline.docs_progress(one), one.source) {
        (DocsProgress::Ticked, _) => Some(TICKED),
        (DocsProgress::NewText, _) | (_, Source::Turn(TurnChange::Documents)) if is_task() => Some(WRITTEN),
        _ => None,
    }
}

/// The number of the newest iteration that brought a state of the code or a test result that the window had not seen, or
/// progress in documents; 0 where none did.
pub(super) fn last_moved(timeline: &Timeline) -> u64 {
    let (mut codes, mut results) = (BTreeSet::new(), BTreeSet::new());
    let mut newest = 0;
    for one in &timeline.iterations {
        let changed = match one.source {
            Source::Commit => !one.diff.empty,
            Source::Turn(change) => change == TurnChange::Changed,
        };
        let new_code = codes.insert(one.code) && changed;
        let new_result = one.tests.as_ref().is_some_and(|tests| {
            let counts = tests.counts();
            results.insert((tests.signature, counts.passed, counts.failing(), counts.skipped))
        });
        if new_code || new_result || writes(timeline, one).is_some() {
            newest = one.number;
        }
    }
    newest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Timestamp, TreeId};
    use crate::testkit::{Commit, commit, oid, red, run, timeline};

    #[test]
    fn newly_passing_tests_give_credit_five_times_running() {
        let mut credits = Credits::default();
        let none = BTreeSet::new();
        let level = Step::NotLower { gone: 0 };
        let mut of = |total| credits.credit(&red(1, &["acceptance"], total), level, &none);
        assert_eq!(of(9), Credit::Strike, "nothing to compare with");
        assert_eq!(of(9), Credit::Strike);
        let found: Vec<Credit> = (10..16).map(&mut of).collect();
        assert_eq!(found[..5], [Credit::Gain; 5]);
        assert_eq!(found[5], Credit::Strike);
    }

    #[test]
    fn what_was_red_before_the_run_gives_credit() {
        let mut line = timeline(vec![commit(1).at(100), commit(2).at(200)]);
        let tested = |at, code: u8, base: Option<u64>| {
            let mut own = run(red(code, &["old"], 9));
            (own.at, own.base) = (Some(Timestamp(at)), base.map(|tree| TreeId(oid(tree))));
            own
        };
        let uncommitted = TestRun { overlay_truncated: true, ..tested(50, 9, None) };
        for (run, known, why) in [
            (tested(50, 9, Some(9)), 1, "before the first commit"),
            (tested(150, 9, Some(9)), 0, "after it"),
            (tested(50, 1, Some(9)), 1, "the first commit is one of documents"),
            (tested(100, 1, Some(1)), 0, "on the first commit, within its second"),
            (tested(50, 9, None), 1, "an event stream"),
            (tested(50, 1, None), 0, "the code of the first commit, in an event stream"),
            (uncommitted, 0, "not committed"),
        ] {
            line.runs = vec![run];
            assert_eq!(baseline(&line).len(), known, "{why}");
        }
        let mut line = timeline(vec![commit(1).at(100).docs(2, (0, 0), (0, 0)), commit(2).at(200)]);
        line.runs = vec![tested(50, 1, None)];
        assert_eq!(baseline(&line).len(), 1, "it knows that the first commit changes documents only");
        let recorded =
            |first: Commit| baseline(&timeline(vec![first.tests(red(1, &["old"], 9)), commit(1)])).len();
        assert_eq!(recorded(commit(1).docs(2, (0, 0), (0, 0))), 1, "by its record");
        assert_eq!(recorded(commit(1).empty()), 1, "nor does an empty one bring any code");
        assert_eq!(recorded(commit(1)), 0, "the first commit brings the code that failed");
        let (mut credits, level) = (Credits::default(), Step::NotLower { gone: 0 });
        let old = BTreeSet::from([Cow::from("old")]);
        assert_eq!(credits.credit(&red(1, &["old"], 9), level, &old), Credit::Known);
        assert_eq!(credits.credit(&red(2, &["old", "new"], 9), level, &old), Credit::Strike);
    }
}

#[cfg(test)]
mod gains_tests {
    use super::*;
    use crate::domain::TestStatus;
    use crate::testkit::{commit, green, other, red, timeline};

    #[test]
    fn more_than_ever_before_is_a_gain() {
        let of = |first: TestEvidence, second: TestEvidence| {
            let line = timeline(vec![commit(1).tests(first), commit(2), commit(3).tests(second)]);
            gained_since(&line, 2)
        };
        assert_eq!(of(green(1, 5), green(3, 6)), Gain::NewlyPassing);
        assert_eq!(of(green(1, 5), green(3, 5)), Gain::Nothing);
        assert_eq!(of(red(1, &["a"], 5), red(3, &["a"], 6)), Gain::NewlyPassing, "one stays red");
        assert_eq!(of(green(1, 5), red(3, &["a"], 5)), Gain::Nothing);
        assert_eq!(of(green(1, 5), other(3, TestStatus::BuildFailed)), Gain::Unknown);
        assert_eq!(gained_since(&timeline(vec![commit(1).tests(green(1, 5))]), 1), Gain::Unknown);
        let first = |second| {
            gained_since(&timeline(vec![commit(1).tests(green(1, 5)), commit(2).tests(green(2, second))]), 1)
        };
        assert_eq!((first(5), first(6)), (Gain::Nothing, Gain::NewlyPassing), "over the first run of all");
    }
}

#[cfg(test)]
mod movement_tests {
    use super::*;
    use crate::domain::Fact;
    use crate::testkit::{commit, folded, green, red, turn_end};

    #[test]
    fn new_code_and_new_results_move_and_nothing_else_does() {
        let work = |state: u8| commit(state).diff(state).fact();
        let tested = |state: u8, tests| commit(state).diff(state).tests(tests).fact();
        let table: Vec<(&str, Vec<Fact>, u64)> = vec![
            ("nothing", vec![], 0),
            ("a commit", vec![work(1)], 1),
            ("another", vec![work(1), work(2)], 2),
            ("back again", vec![work(1), work(2), work(1)], 2),
            ("an empty one", vec![work(1), commit(1).empty().fact()], 1),
            ("a turn that changed nothing", vec![work(1), turn_end(1)], 1),
            ("a turn of which nothing is known", vec![turn_end(1)], 0),
            ("a turn that changed the code", vec![turn_end(1), turn_end(2)], 2),
            ("its commit", vec![turn_end(1), turn_end(2), work(2)], 2),
            ("other tests fail", vec![tested(1, red(1, &["a"], 9)), tested(1, red(1, &["b"], 9))], 2),
            ("the same tests fail", vec![tested(1, red(1, &["a"], 9)), tested(1, red(1, &["a"], 9))], 1),
            ("more tests pass", vec![tested(1, green(1, 9)), tested(1, green(1, 10))], 2),
        ];
        for (name, facts, expected) in table {
            assert_eq!(last_moved(&folded(facts)), expected, "{name}");
        }
    }
}
