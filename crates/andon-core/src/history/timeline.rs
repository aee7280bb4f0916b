//! The newest window of a loop as a value: the whole input of every rule.
//!
//! Lists of a timeline have a bound each, so that a fold over any history stays small.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};

use super::{Activity, EventEffect, outcome::failing_count, subjects::names_version};
use crate::domain::{
    Ack, CachedTokens, ChangeFacts, CodeId, CommitFact, CommitId, CommitKind, CommitRecord, DiffHash,
    DiffSummary, Digest, Gate, Nature, Recording, Skip, Span, TestEvidence, TestRun, Timestamp, TreeId,
    Uptime, Usage, Weakening, Workflow,
};

/// Iterations that a timeline keeps, the newest. More than any default threshold needs.
pub const MAX_ITERATIONS: usize = 128;
/// Valid test runs that a timeline keeps, the newest: all of them are carried on, so that no batching loses one.
pub const MAX_RUNS: usize = 32;

/// Amended iterations that a timeline keeps, the newest.
pub const MAX_REWRITTEN: usize = 128;

/// States whether an iteration can count against the loop (docs/spec-map.md, settled choice 7).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Strike {
    /// A normal commit or an amend.
    Candidate,
    /// A merge, revert, cherry-pick or rebase: neither a strike nor a reset of strikes.
    Exempt,
    /// A commit of ignored paths alone, such as one that tunes `andon.toml`: no iteration, and not counted as one.
    Beside,
}

impl Strike {
    /// Returns the strike for a commit of this kind and change.
    pub fn new(kind: CommitKind, change: Option<&ChangeFacts>) -> Self {
        let beside = change.is_some_and(|change| change.nature == Nature::Ignored);
        let reported = Self::from(kind);
        if beside && reported == Self::Candidate { Self::Beside } else { reported }
    }
}

impl From<CommitKind> for Strike {
    fn from(kind: CommitKind) -> Self {
        let counts = matches!(kind, CommitKind::Normal | CommitKind::Amend);
        if counts { Self::Candidate } else { Self::Exempt }
    }
}

/// The origin of an iteration (docs/concepts.md).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Source {
    /// An iteration that ended with a commit.
    Commit,
    /// A turn that ended without one.
    Turn(TurnChange),
}

/// The effect of a turn without a commit on the working tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum TurnChange {
    /// The code differs.
    Changed,
    /// Documents differ, the code does not: a plan was moved.
    Documents,
    /// Nothing differs.
    Unchanged,
    Unknown,
}

/// A turn that ended without a commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnIteration {
    pub node: String,
    /// Its number among the iterations.
    pub number: u64,
    /// The effect of the turn on the working tree.
    pub change: TurnChange,
    /// The state that it left.
    pub code: CodeId,
    /// The hash of its diff.
    pub hash: DiffHash,
    /// When it ended.
    pub at: Timestamp,
    /// The hashes of the outputs in the turn.
    pub outputs: Vec<Digest>,
    /// The tests of its state, where they were known by then or came right after.
    pub tests: Option<TestEvidence>,
}

/// One iteration of the window: a commit with what was recorded about it, or a turn that ended without one. Cheap to copy: rules
/// look at the window as it was at earlier iterations, and every branch of a range continues one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Iteration(Arc<IterationFacts>);

impl Deref for Iteration {
    type Target = IterationFacts;

    fn deref(&self) -> &IterationFacts {
        &self.0
    }
}

impl DerefMut for Iteration {
    fn deref_mut(&mut self) -> &mut IterationFacts {
        Arc::make_mut(&mut self.0)
    }
}

/// The facts about an [`Iteration`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IterationFacts {
    /// The origin of the iteration.
    pub source: Source,
    /// Iterations since the last acknowledgement, this one included.
    pub number: u64,
    /// The commit; `None` in event streams that name none.
    pub commit: Option<CommitId>,
    /// Its first parent; `None` for a root commit and in event streams.
    pub parent: Option<CommitId>,
    /// First line of the message. Untrusted text.
    pub subject: String,
    /// States whether the subject names a version.
    pub names_version: bool,
    /// Who wrote the commit; empty where unknown. Untrusted text.
    pub author: String,
    pub kind: CommitKind,
    /// States whether it can count against the loop.
    pub strike: Strike,
    /// When it was recorded.
    pub at: Timestamp,
    /// The same since the system was started; `None` where that is not known.
    pub uptime: Option<Uptime>,
    /// The commit's tree.
    pub tree: TreeId,
    /// Code fingerprint; of a commit that was moved that of the attempt as it was made.
    pub code: CodeId,
    /// The first commit of the attempt; its own, except for a moved one.
    pub root: Option<CommitId>,
    /// The code of a commit that was moved (rebased, picked, applied): the loop never wrote it in this state. `None`
    /// for every other.
    pub moved: Option<CodeId>,
    /// Normalized diff against the first parent.
    pub diff: DiffSummary,
    /// The content of the diff, where it is known.
    pub change: Option<ChangeFacts>,
    /// The test result on exactly this code; a result that was gained on other code is left out.
    pub tests: Option<TestEvidence>,
    /// The weakening of the tests by the iteration while some of them failed.
    pub weakening: Option<Weakening>,
    /// The rules or gates that were passed over for it.
    pub skipped: Vec<Skip>,
    /// Gate receipt.
    pub gate: Gate,
    /// States whether the record was written at the commit.
    pub recording: Recording,
    /// Session, when known.
    pub session: Option<String>,
    /// Node of the workflow.
    pub node: String,
    /// Output hashes of the turn.
    pub outputs: Vec<Digest>,
    /// Tokens and cost of a commit, as clients reported them.
    pub usage: Option<Usage>,
}

impl Iteration {
    /// The iteration of `fact`, under `number`.
    pub fn new(fact: CommitFact, number: u64) -> Self {
        let root = fact.root();
        let CommitFact { id, subject, author, mut record, named } = fact;
        let moved = moved(&mut record);
        let code = record.code;
        Self(Arc::new(IterationFacts {
            root,
            moved,
            source: Source::Commit,
            number,
            commit: id.or(named),
            parent: record.parent,
            author,
            kind: record.kind,
            // One that no hook recorded never counts against the loop.
            strike: if record.recording == Recording::Backfilled {
                Strike::Exempt
            } else {
                Strike::new(record.kind, record.change.as_ref())
            },
            names_version: names_version(&subject),
            subject,
            at: record.recorded_at,
            uptime: record.uptime,
            tree: record.tree,
            code,
            diff: record.diff,
            change: record.change,
            tests: record.tests.filter(|tests| tests.code == code),
            weakening: record.weakening,
            skipped: record.skipped,
            gate: record.gate,
            recording: record.recording,
            session: record.session,
            node: record.node,
            outputs: record.outputs,
            usage: record.usage,
        }))
    }

    /// A turn that ended without a commit: what is the same for all of them, and its state.
    pub(super) fn of_turn(turn: TurnIteration) -> Self {
        let TurnIteration { node, number, change, code, hash, at, outputs, tests } = turn;
        let diff = DiffSummary { hash, empty: change == TurnChange::Unchanged, ..DiffSummary::default() };
        let record = CommitRecord { node, outputs, ..CommitRecord::new(at, TreeId::default(), code, diff) };
        let fact = CommitFact { record, ..CommitFact::default() };
        let mut iteration = Self::new(fact, number);
        (iteration.source, iteration.tests) = (Source::Turn(change), tests);
        iteration
    }

    /// Takes `run`, which came while this was the newest iteration; whether it says something of it.
    pub(super) fn complete(&mut self, run: &TestRun) -> bool {
        let ran = run.evidence.code;
        let own = self.tests.as_ref().is_some_and(|tests| tests.code == self.code);
        let open = self.code == ran && !own;
        // The attempt was moved, and its tests ran again there: that is what they say of it now.
        if !open && self.moved != Some(ran) {
            return false;
        }
        (self.code, self.tests) = (ran, Some(run.evidence.clone()));
        true
    }

    /// The commit's first twelve digits, or `#NUMBER` where there is no commit.
    pub fn name(&self) -> String {
        self.commit.map_or_else(|| format!("#{}", self.number), |commit| commit.short())
    }
}

/// Turns the record of a moved commit into that of the attempt that it carries, and says which code the commit has.
/// Tests that ran on that code since count for the attempt.
fn moved(record: &mut CommitRecord) -> Option<CodeId> {
    let own = record.code;
    let Some(carried) = record.carries.take() else {
        return (record.kind == CommitKind::Rebase).then_some(own);
    };
    record.kind = carried.kind;
    if record.tests.as_ref().is_none_or(|tests| tests.code != own) {
        (record.code, record.tests) = (carried.code, carried.tests);
    }
    Some(own)
}

/// Who says that a test was red before the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KnownRedBy {
    /// `test.known_red`: for every run.
    Configuration,
    /// A person who called a halt about it mistaken: for this run.
    Answer,
}

/// The newest window of facts. Built by [`super::fold()`] and [`super::Fold`] only.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Timeline {
    /// The iterations of the window, oldest first, at most [`MAX_ITERATIONS`].
    pub iterations: Vec<Iteration>,
    /// The versions that amends put in the place of the newest iteration, and that later amends replaced in turn: oldest first,
    /// at most `MAX_REWRITTEN`. They are not iterations of their own, but they were attempts.
    pub amended: Vec<Iteration>,
    /// Valid test runs, newest last, at most [`MAX_RUNS`]; those not yet committed included. They outlive
    /// the window: tests that ran on exactly this code did so whatever a person acknowledged since.
    pub runs: Vec<TestRun>,
    /// Failing runs that were handed in, newest last, at most [`MAX_RUNS`]. What ran is unknown, so they open no gate;
    /// but a claim that the tests fail is believed.
    pub reported_runs: Vec<TestRun>,
    /// The newest acknowledgement.
    pub last_ack: Option<Ack>,
    /// Counters that a person has reset alone, by rule: what is numbered up to there does not count for it.
    pub resets: BTreeMap<String, u64>,
    /// Turns, calls, outputs and verdicts.
    pub activity: Activity,
    /// The declared workflow; empty without one.
    pub workflow: Arc<Workflow>,
    /// The effect of the newest test run.
    pub newest_run: EventEffect,
    /// The newest test result, committed or not.
    pub(super) newest_tests: Option<TestEvidence>,
    /// The commit at which the newest answer was given, until another is made: an amend of it that leaves the tree alone is
    /// no attempt after the answer.
    pub(super) answered: Option<Box<Iteration>>,
    /// Tests that were red before and do not count against the run, by id.
    pub known_red: BTreeMap<String, KnownRedBy>,
    /// When the run began, where an event after a pause began it.
    pub(super) began: Option<Timestamp>,
    /// A longer pause starts a new window.
    pub(super) session_gap: Span,
    /// Derived from the rest, and forgotten whenever that changes.
    pub(super) known_flaky: Memo,
    /// States whether reported input tokens include cached tokens.
    pub(super) cached: CachedTokens,
    /// The number of the newest commit of the run that was passed without its record ([`super::PassedCommit`]): 0 where records
    /// tell the numbers, `None` where nothing was passed since the newest iteration.
    pub passed: Option<u64>,
}

impl Timeline {
    /// A timeline of no facts.
    pub fn new(session_gap: Span) -> Self {
        Self { session_gap, ..Self::default() }
    }

    /// The newest iteration: at post-commit, `check` and `replay` the commit under judgement.
    pub fn newest(&self) -> Option<&Iteration> {
        self.iterations.last()
    }

    /// Iterations since the last answer, refused commits among them: the `3` of the badge `Loop 3/100`.
    pub fn counted(&self) -> u64 {
        self.number().saturating_add(self.activity.refused.counted()).saturating_add(self.rewritten())
    }

    /// The attempts that amends of the newest commit replaced. They have its number until another commit is made.
    pub fn rewritten(&self) -> u64 {
        let states = self.amended.iter().chain(self.newest());
        let codes: Vec<CodeId> = states.map(|one| one.code).collect();
        let changes = codes.windows(2).filter(|pair| pair[0] != pair[1]).count();
        u64::try_from(changes).unwrap_or(u64::MAX)
    }

    /// The number of the newest iteration that ended with a commit or a turn, 0 in an empty window.
    pub fn number(&self) -> u64 {
        self.newest().map_or(0, |newest| newest.number).max(self.passed.unwrap_or(0))
    }

    /// Returns whether the run has an iteration, or a commit that only the journal knows.
    pub(super) fn has_commits(&self) -> bool {
        self.passed.is_some() || !self.iterations.is_empty()
    }

    /// The commits that can be strikes, oldest first. Turns without one have rules of their own.
    pub fn candidates(&self) -> impl DoubleEndedIterator<Item = &Iteration> {
        self.iterations.iter().filter(|one| one.strike == Strike::Candidate && one.source == Source::Commit)
    }

    /// The iterations, and before the newest those that it replaced by amending.
    pub fn attempted(&self) -> impl DoubleEndedIterator<Item = &Iteration> {
        let newest = self.iterations.len().saturating_sub(1);
        let (earlier, newest) = self.iterations.split_at(newest);
        earlier.iter().chain(&self.amended).chain(newest)
    }

    /// The last result of the window with a known count on other code than `code`.
    pub fn last_result_before(&self, code: CodeId) -> Option<&TestEvidence> {
        let earlier = self.iterations.iter().rev().filter(|iteration| iteration.code != code);
        earlier.filter_map(|iteration| iteration.tests.as_ref()).find(|tests| failing_count(tests).is_some())
    }

    /// The newest test result on exactly `code`: a valid run of the journal, else the record of an iteration, else a
    /// failing run that was handed in.
    pub fn proof(&self, code: CodeId) -> Option<&TestEvidence> {
        let run = self.runs.iter().rev().map(|run| &run.evidence).find(|tests| tests.code == code);
        run.or_else(|| {
            let committed = self.iterations.iter().rev().filter_map(|iteration| iteration.tests.as_ref());
            let reported = self.reported_runs.iter().rev().map(|run| &run.evidence);
            committed.into_iter().chain(reported).find(|tests| tests.code == code)
        })
    }

    /// The same loop as one part of its tests has seen it: `own` takes that part out of a result. Iterations without it are
    /// left out, and the code of the others is that which the part ran on.
    #[must_use]
    pub fn of_tests(&self, own: impl Fn(&TestEvidence) -> Option<TestEvidence>) -> Self {
        let mut view = self.clone();
        for iterations in [&mut view.iterations, &mut view.amended] {
            iterations.retain_mut(|iteration| {
                iteration.tests = iteration.tests.as_ref().and_then(&own);
                iteration.code = iteration.tests.as_ref().map_or(iteration.code, |tests| tests.code);
                iteration.tests.is_some()
            });
        }
        view.runs.retain_mut(|run| own(&run.evidence).map(|tests| run.evidence = tests).is_some());
        view.reported_runs.clear();
        view.newest_tests = view.newest_tests.as_ref().and_then(&own);
        view.known_flaky = Memo::default();
        view
    }

    /// The newest test result, committed or not.
    pub(crate) fn newest_tests(&self) -> Option<&TestEvidence> {
        self.newest_tests.as_ref()
    }
}

/// The flaky tests of a timeline, derived once until it changes. It is no part of what the timeline says.
#[derive(Debug, Clone, Default)]
pub(super) struct Memo(OnceLock<Arc<BTreeSet<String>>>);

impl Memo {
    /// Returns the known value, or else the one that `derive` returns.
    pub(super) fn get(&self, derive: impl FnOnce() -> Arc<BTreeSet<String>>) -> Arc<BTreeSet<String>> {
        self.0.get_or_init(derive).clone()
    }
}

impl PartialEq for Memo {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Memo {}

impl Timeline {
    /// The numbers of its commits; `line` are those behind HEAD. `None` for a commit that is counted as another: a pick
    /// of a rebase whose attempt is not known, a commit of ignored paths alone, an attempt that is there a second time.
    pub fn numbers(&self, line: &[CommitFact]) -> BTreeMap<CommitId, Option<u64>> {
        let in_line = |id: CommitId| line.iter().any(|fact| fact.id == Some(id));
        let (mut numbers, mut highest) = (BTreeMap::new(), 0);
        for one in &self.iterations {
            let number = Some(one.number).filter(|number| *number > highest);
            highest = highest.max(one.number);
            let Some(commit) = one.commit else { continue };
            let again = one.root.filter(|root| *root != commit && in_line(*root));
            numbers.insert(commit, if again.is_some() { None } else { number });
            numbers.extend(again.map(|root| (root, number)));
        }
        numbers
    }
}

#[cfg(test)]
mod numbers_tests {
    use super::*;
    use crate::domain::{CarriedAttempt, CommitKind, Fact};
    use crate::testkit::{GAP, chain, commit};

    /// `unknown` where nothing is said, `none` where the commit has no number.
    fn numbers(facts: &[Fact]) -> Vec<String> {
        let line = facts.iter().map(|fact| match fact {
            Fact::Commit(fact) => (**fact).clone(),
            Fact::TestRun(_) | Fact::Ack(_) | Fact::Event(_) => unreachable!(),
        });
        let line: Vec<CommitFact> = line.collect();
        let numbers = crate::history::fold(facts, GAP).numbers(&line);
        let shown =
            |number: Option<u64>| number.map_or_else(|| "none".to_owned(), |number| number.to_string());
        let known = |fact: &CommitFact| numbers.get(&fact.id.unwrap()).copied();
        line.iter().map(|fact| known(fact).map_or_else(|| "unknown".to_owned(), shown)).collect()
    }

    #[test]
    fn commits_are_numbered_where_they_count() {
        let plain = chain(vec![commit(1), commit(2), commit(3)]);
        assert_eq!(numbers(&plain), ["1", "2", "3"]);
        // Picks whose attempts are not known here: all of them hold the number that the count had reached.
        let picks = chain(vec![
            commit(1).number(3).kind(CommitKind::Rebase),
            commit(2).number(3).kind(CommitKind::Rebase),
            commit(3).number(4),
        ]);
        assert_eq!(numbers(&picks), ["3", "none", "4"]);
    }

    #[test]
    fn an_attempt_that_is_there_twice_has_its_number_once() {
        let mut facts = chain(vec![commit(1).number(1), commit(2).number(2), commit(3).number(3)]);
        let Fact::Commit(first) = facts[0].clone() else { unreachable!() };
        if let Fact::Commit(again) = &mut facts[2] {
            again.record.kind = CommitKind::CherryPick;
            again.record.carries = Some(Box::new(CarriedAttempt::new(first.id.unwrap(), &first.record)));
        }
        assert_eq!(numbers(&facts), ["1", "2", "none"]);
    }
}
