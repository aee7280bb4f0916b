//! The state of a fold, from which another fold can continue: budgets count from the beginning of a run, and the
//! journal of a long run is longer than a hook may read.
//!
//! It holds what only the journal knows: turns, calls, outputs, spending, context windows. Records of commits are read
//! again each time. Continuing from it gives the same result as folding everything (the property test below).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::timeline::{MAX_ITERATIONS, Memo};
use super::{
    Activity, Fold, Iteration, KnownRedBy, NewestObservation, Source, Timeline, TurnIteration,
    activity::RunStart,
};
use crate::domain::{Ack, CodeId, Gate, TestRun, Timestamp};

/// The state of a fold. Bounded, like a timeline.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Snapshot {
    /// Turns, calls, outputs, verdicts, totals and context windows.
    pub activity: Activity,
    /// Turns that ended without a commit, oldest first.
    pub turns: Vec<TurnIteration>,
    /// The newest test runs, without what they differed by from HEAD.
    pub runs: Vec<TestRun>,
    /// The same of failing runs that were handed in.
    pub reported_runs: Vec<TestRun>,
    /// Counters that a person has reset alone.
    pub resets: BTreeMap<String, u64>,
    /// The newest answer.
    pub ack: Option<Ack>,
    /// The number of the newest commit that was passed without its record.
    pub passed: Option<u64>,
    /// Tests that were red before the run.
    #[serde(default)]
    pub known_red: BTreeMap<String, KnownRedBy>,
    /// When the run began, where an event after a pause began it: commits from before that are of another run.
    pub began: Option<Timestamp>,
}

impl Snapshot {
    /// Returns whether `answer` was given after the newest one that is counted.
    pub fn is_before(&self, answer: &Ack) -> bool {
        self.ack.as_ref().is_none_or(|counted| counted.at < answer.at)
    }
}

/// A commit as the journal knows it, without its record: a turn of its node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PassedCommit {
    /// Who committed.
    pub node: String,
    /// When it was recorded.
    pub at: Option<Timestamp>,
    /// Code fingerprint.
    pub code: CodeId,
    /// The number of its iteration; 0 where records tell the numbers.
    pub number: u64,
    /// States whether a run began with it.
    pub begins: RunStart,
}

impl Fold {
    /// Its state so far.
    pub fn snapshot(&self) -> Snapshot {
        let line = &self.timeline;
        let turn = |one: &Iteration| match one.source {
            Source::Commit => None,
            Source::Turn(change) => Some(TurnIteration {
                node: one.node.clone(),
                number: one.number,
                change,
                code: one.code,
                hash: one.diff.hash,
                at: one.at,
                outputs: one.outputs.clone(),
                tests: one.tests.clone(),
            }),
        };
        let mut activity = line.activity.clone();
        // Only the newest of the ended turns is ever needed.
        activity.turns.drain(..activity.turns.len().saturating_sub(1));
        Snapshot {
            activity,
            turns: line.iterations.iter().filter_map(turn).collect(),
            runs: carried(&line.runs),
            reported_runs: carried(&line.reported_runs),
            resets: line.resets.clone(),
            ack: line.last_ack.clone(),
            passed: line.passed,
            known_red: line.known_red.clone(),
            began: line.began,
        }
    }

    /// Continues from `carry`, which replaces everything that this fold knows about turns and spending. Commits that
    /// were folded already keep their places among the turns.
    pub fn resume(&mut self, snapshot: Snapshot) {
        let line = &mut self.timeline;
        let of_run = |one: &Iteration| snapshot.began.is_none_or(|began| one.at.0 == 0 || one.at >= began);
        line.iterations.retain(|one| one.source == Source::Commit && of_run(one));
        line.began = snapshot.began;
        // Records tell the numbers of commits; without any, the number of the newest one is all that is known.
        line.passed = snapshot.passed.filter(|_| line.iterations.is_empty());
        line.activity = snapshot.activity;
        line.resets = snapshot.resets;
        line.known_red.extend(snapshot.known_red);
        line.last_ack = snapshot.ack.or(line.last_ack.take());
        (line.runs, line.reported_runs) = (snapshot.runs, snapshot.reported_runs);
        line.known_flaky = Memo::default();
        line.iterations.extend(snapshot.turns.into_iter().map(Iteration::of_turn));
        line.iterations.sort_by_key(|one| one.number);
        line.complete_commits();
        let tests = line.iterations.iter().rev().find_map(|one| one.tests.clone());
        line.newest_tests = tests.or(line.newest_tests.take());
        let surplus = line.iterations.len().saturating_sub(MAX_ITERATIONS);
        line.iterations.drain(..surplus);
    }

    /// Numbers the turns after the commits that count here: the first part of the journal counted commits as well that
    /// were moved to another branch since.
    pub(crate) fn renumber(&mut self) {
        let line = &mut self.timeline;
        let alone = line.iterations.iter().all(|one| one.source != Source::Commit);
        if alone {
            line.passed = line.passed.map(|_| 0);
        }
        let mut number = alone.then_some(0);
        let mut moved = Vec::new();
        for one in &mut line.iterations {
            number = match (one.source, number) {
                (Source::Commit, _) => Some(one.number),
                (Source::Turn(_), None) => None,
                (Source::Turn(_), Some(before)) => {
                    moved.push((one.number, before + 1));
                    one.number = before + 1;
                    Some(before + 1)
                }
            };
        }
        for reset in line.resets.values_mut() {
            let now = moved.iter().rev().find(|(was, _)| was <= reset).map(|(_, now)| *now);
            *reset = now.map_or(*reset, |now| now.min(*reset));
        }
    }

    /// Takes a commit that only the journal knows.
    pub fn pass(&mut self, commit: &PassedCommit) {
        self.committed(Gate::NotRun);
        let line = &mut self.timeline;
        if commit.begins == RunStart::Run && line.has_commits() {
            line.restart();
        }
        line.pause_before(commit.at, None);
        line.activity.now = line.activity.now.max(commit.at);
        line.activity.lively = None;
        // An amend that leaves the code alone keeps the number: the attempt was moved, and no turn was taken.
        let moved = commit.number > 0
            && line.passed == Some(commit.number)
            && line.activity.passed_code == Some(commit.code);
        if moved {
            line.move_in_turn(&commit.node);
        } else {
            line.commit_in_turn(&commit.node, commit.at);
        }
        line.activity.code = Some(commit.code);
        line.activity.passed_code = Some(commit.code);
        line.activity.newest = NewestObservation::Other;
        line.passed = Some(commit.number).max(line.passed);
    }
}

/// Returns the part of `runs` that says something about the loop: of runs on uncommitted work, only that they were on such
/// work.
fn carried(runs: &[TestRun]) -> Vec<TestRun> {
    let light = |run: &TestRun| {
        let clean = run.overlay.is_empty() && !run.overlay_truncated;
        TestRun {
            at: run.at,
            evidence: run.evidence.clone(),
            validity: run.validity,
            base: run.base.filter(|_| clean),
            overlay: Vec::new(),
            overlay_truncated: !clean,
            beside: Vec::new(),
        }
    };
    runs.iter().map(light).collect()
}

impl Timeline {
    /// Gives commits the tests that ran on their code afterwards, while each was the newest iteration: of earlier commits of
    /// the same code they say nothing.
    fn complete_commits(&mut self) {
        let mut runs: Vec<&TestRun> = self.runs.iter().chain(&self.reported_runs).collect();
        runs.sort_by_key(|run| run.at);
        for run in runs {
            let before = |one: &Iteration| run.at.is_none_or(|at| one.at <= at);
            let newest = self.iterations.iter().rposition(before).and_then(|at| self.iterations.get_mut(at));
            if let Some(newest) = newest.filter(|newest| newest.source == Source::Commit) {
                newest.complete(run);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::domain::Fact;
    use crate::testkit::{GAP, arbitrary as facts};

    /// As the journal knows a commit: nothing but its marker.
    fn reported(fold: &mut Fold, fact: Fact) {
        let Fact::Commit(commit) = fact else {
            fold.push(fact);
            return;
        };
        let record = &commit.record;
        let before = fold.timeline();
        // Some commits are amends, which keep the number of what they replace.
        let amended = before.passed.filter(|_| record.iteration.is_multiple_of(2));
        let (node, number) = (before.node_of(&commit), amended.unwrap_or(before.number() + 1));
        let at = Some(record.recorded_at).filter(|at| at.0 != 0);
        let begins = if record.iteration == 1 { RunStart::Run } else { RunStart::Nothing };
        fold.pass(&PassedCommit { node, at, code: record.code, number, begins });
    }

    fn over(mut fold: Fold, facts: &[Fact]) -> Fold {
        for fact in facts {
            reported(&mut fold, fact.clone());
        }
        fold
    }

    proptest! {
        #[test]
        fn going_on_from_any_place_comes_to_the_same(facts in facts::facts(), cuts in prop::collection::vec(0_usize..60, 0..4)) {
            let whole = over(Fold::new(GAP), &facts).snapshot();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(facts.len())).collect();
            cuts.extend([0, facts.len()]);
            cuts.sort_unstable();
            let mut snapshot = Snapshot::default();
            for part in cuts.windows(2) {
                let mut fold = Fold::new(GAP);
                fold.resume(snapshot);
                snapshot = over(fold, &facts[part[0]..part[1]]).snapshot();
            }
            prop_assert_eq!(snapshot, whole);
        }
    }
}
