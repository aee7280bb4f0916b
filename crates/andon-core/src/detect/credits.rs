//! Failures that do not count against a loop: an acceptance test that was written first stays red while other tests
//! newly pass, and a test that was red before the run began is not the run's doing.

use std::collections::BTreeSet;

use super::gains;
use super::step::Step;
use crate::domain::change::Nature;
use crate::domain::ids::Oid;
use crate::domain::tests::{TestEvidence, TestRun};
use crate::history::{Iteration, Outcome, Timeline, outcome};

/// Whether a failing attempt is held against the loop.
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
pub(super) const CREDITS: u64 = 5;

/// The credit that was given.
#[derive(Debug, Default)]
pub(super) struct Credits {
    /// Most tests that passed at once.
    passed: Option<u64>,
    /// Attempts running that had credit.
    running: u64,
}

impl Credits {
    /// The credit of a result; the tests in `baseline` failed before the run began.
    pub fn credit(&mut self, tests: &TestEvidence, step: Step, baseline: &BTreeSet<&str>) -> Credit {
        let passed = gains::passed(tests);
        // More that pass because fewer fail is progress of another kind.
        let stays = matches!(step, Step::NotLower { gone: 0 } | Step::Rise { gone: 0 });
        let newly = stays && passed > self.passed && self.passed.is_some();
        self.passed = self.passed.max(passed);
        let named = outcome(tests) == Outcome::Red && !tests.failing.is_empty() && !tests.truncated;
        let known = named && tests.failing.iter().all(|id| baseline.contains(id.as_str()));
        if matches!(step, Step::Green | Step::Fall { .. }) {
            self.running = 0;
        }
        if !(newly || known) || self.running >= CREDITS {
            return Credit::Strike;
        }
        self.running += 1;
        if newly { Credit::Gain } else { Credit::Known }
    }
}

/// What failed before the run began: in the newest run on code from before its first iteration. Records alone tell it where
/// the first iteration left the code as it was.
pub(super) fn baseline(timeline: &Timeline) -> BTreeSet<&str> {
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
    found.into_iter().flat_map(|tests| tests.failing.iter().map(String::as_str)).collect()
}

/// Whether `run` ran on what `one` brought. The code alone does not tell: a commit of documents leaves it as it was. Where
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ids::TreeId;
    use crate::domain::time::Timestamp;
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
        let old = BTreeSet::from(["old"]);
        assert_eq!(credits.credit(&red(1, &["old"], 9), level, &old), Credit::Known);
        assert_eq!(credits.credit(&red(2, &["old", "new"], 9), level, &old), Credit::Strike);
    }
}
