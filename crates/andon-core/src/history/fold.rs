//! The fold itself, and where a window begins.
//!
//! The writer of records asks [`next_iteration`] for the number of a commit, and the reader folds that
//! record: both go by the same test for a new window, so that they cannot drift apart.

use std::{mem::take, sync::Arc};

use super::timeline::{MAX_ITERATIONS, MAX_REWRITTEN, MAX_RUNS, Memo};
use super::{
    EventEffect, Iteration, KnownRedBy, NewestObservation, RedRuns, Refusals, RefusedAttempts, Source,
    Strike, Timeline, activity::RunStart, outcome::failing_count, push_bounded,
};
use crate::domain::{
    Ack, CachedTokens, CodeId, CommitFact, CommitId, CommitKind, CommitRecord, EventKind, Fact, Gate, Moment,
    RunValidity, Span, TestEvidence, TestRun, Timestamp, Uptime, Workflow,
};
use testreport::stable_id;

/// Counters whose resets are remembered: more than there are rules.
const MAX_RESETS: usize = 64;

/// A commit that is about to be recorded: what decides its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NextCommit {
    /// Its first parent: an amend has that of the commit it replaces.
    pub parent: Option<CommitId>,
    /// When it is recorded.
    pub at: Timestamp,
    /// The same since the system was started; `None` where that is not known.
    pub uptime: Option<Uptime>,
    pub kind: CommitKind,
    /// Its code: the same code committed again on the same parent is an amend, whatever the command.
    pub code: CodeId,
    /// States whether it counts.
    pub strike: Strike,
}

impl NextCommit {
    fn from_fact(fact: &CommitFact) -> Self {
        let (record, kind) = (&fact.record, fact.record.made_as());
        let carried = record.carries.as_ref();
        Self {
            parent: carried.map_or(record.parent, |carried| carried.parent),
            at: record.recorded_at,
            uptime: record.uptime,
            kind,
            code: carried.map_or(record.code, |carried| carried.code),
            strike: Strike::new(kind, record.change.as_ref()),
        }
    }
}

/// Facts taken one by one. The answer does not depend on how they were batched.
#[derive(Debug, Clone)]
pub struct Fold {
    pub(super) timeline: Timeline,
}

impl Fold {
    /// A fold over no facts yet; a pause longer than `session_gap` starts a new window.
    pub fn new(session_gap: Span) -> Self {
        Self { timeline: Timeline::new(session_gap) }
    }

    /// The fold that made `timeline`, to continue with.
    pub fn on(timeline: Timeline) -> Self {
        Self { timeline }
    }

    /// The same fold for the nodes of `workflow`.
    #[must_use]
    pub fn in_workflow(mut self, workflow: Arc<Workflow>) -> Self {
        self.timeline.workflow = workflow;
        self
    }

    /// The same fold for clients whose input tokens hold the cached ones, or do not.
    #[must_use]
    pub fn counting(mut self, cached: CachedTokens) -> Self {
        self.timeline.cached = cached;
        self
    }

    /// The same fold where tests with these ids were red before.
    #[must_use]
    pub fn knowing(mut self, red: &[String]) -> Self {
        self.timeline
            .known_red
            .extend(red.iter().map(|id| (stable_id(id).into_owned(), KnownRedBy::Configuration)));
        self
    }

    /// A commit was made here: what was refused before it was not in vain, unless it went around the gate.
    pub fn committed(&mut self, gate: Gate) {
        self.timeline.let_pass(gate);
        self.timeline.activity.refused = RefusedAttempts::default();
    }

    /// Takes the next fact, in the order of observation, and says what it changed.
    pub fn push(&mut self, fact: Fact) -> EventEffect {
        if !matches!(fact, Fact::Event(_)) {
            self.timeline.known_flaky = Memo::default();
        }
        let calls = matches!(&fact, Fact::Event(event) if matches!(event.what, EventKind::ToolCall(_)));
        let effect = self.take(fact);
        if effect != EventEffect::Nothing {
            self.timeline.activity.newest =
                if calls { NewestObservation::Call } else { NewestObservation::Other };
        }
        effect
    }

    fn take(&mut self, fact: Fact) -> EventEffect {
        match fact {
            Fact::Commit(commit) => self.timeline.take_commit(*commit),
            Fact::TestRun(run) => self.timeline.take_run(*run),
            Fact::Ack(ack) => {
                self.timeline.take_known_red(&ack);
                match &ack.counter {
                    Some(counter) => self.timeline.reset(counter),
                    // An answer moves with a rewritten commit: what was spent and tried since it was given stays.
                    None if self.timeline.last_ack.as_ref().is_some_and(|last| ack.is_moved(last)) => {
                        self.timeline.restart_up_to(ack.head);
                    }
                    None => {
                        let at = self.timeline.iterations.pop().filter(|one| one.source == Source::Commit);
                        self.timeline.restart();
                        self.timeline.answered = at.map(Box::new);
                        self.timeline.answer_turns(ack.at);
                    }
                }
                self.timeline.last_ack = Some(*ack);
                EventEffect::Within
            }
            Fact::Event(event) => self.timeline.take_event(*event),
        }
    }

    /// Takes an answer that the numbers of the records in the window already show: their contents stay, and everything
    /// else that was counted begins anew.
    pub fn answered(&mut self, ack: Ack) {
        let line = &mut self.timeline;
        line.take_known_red(&ack);
        match &ack.counter {
            Some(counter) => line.reset(counter),
            None if line.last_ack.as_ref().is_some_and(|last| ack.is_moved(last)) => {}
            None => {
                line.iterations.retain(|one| one.source == Source::Commit);
                // Passed commits lie before the answer: the run that the next commit is of has begun with it.
                line.passed = None;
                line.resets.clear();
                line.known_flaky = Memo::default();
                line.restart_activity();
                line.answer_turns(ack.at);
            }
        }
        line.last_ack = Some(ack);
    }

    /// The timeline so far.
    pub fn timeline(&self) -> &Timeline {
        &self.timeline
    }

    /// The timeline, given away.
    pub fn into_timeline(self) -> Timeline {
        self.timeline
    }
}

/// Folds `facts`, oldest first. A pause longer than `session_gap` starts a new window.
pub fn fold(facts: &[Fact], session_gap: Span) -> Timeline {
    let mut fold = Fold::new(session_gap);
    for fact in facts {
        fold.push(fact.clone());
    }
    fold.into_timeline()
}

/// The number to record for `upcoming`, given the window before it.
///
/// 1 starts a new window: after an acknowledgement, and after a pause longer than the session gap. A new session, node
/// or process begins nothing: a shell loop around an agent has a session for each turn. An amend takes the number of
/// the commit it replaces; a pick of a rebase replays what was counted already and keeps the newest number, but is never numbered 1 inside a window. Every other
/// commit counts, merges and reverts too: they are no strikes, but the cap is a budget.
pub fn next_iteration(timeline: &Timeline, upcoming: &NextCommit) -> u64 {
    if timeline.ends_before(upcoming) { 1 } else { timeline.number_for(upcoming) }
}

/// Returns whether a run begins with `commit`, given the window before it.
pub fn begins(timeline: &Timeline, commit: &CommitFact) -> RunStart {
    let upcoming = NextCommit::from_fact(commit);
    let anew = match commit.record.iteration {
        1 if commit.record.knew_nothing() => timeline.ends_before(&upcoming),
        1 => timeline.amended_by(&upcoming).is_none() || timeline.ends_before(&upcoming),
        // Not numbered: facts of commits without records, and of streams.
        0 => timeline.ends_before(&upcoming),
        // The writer of the record saw what came before it, events included.
        _ => !timeline.has_commits(),
    };
    if anew { RunStart::Run } else { RunStart::Nothing }
}

/// Returns whether a pause lies between the window and `commit`: another run begins. An answer to a halt begins a new count,
/// but no run (docs/concepts.md, "run").
pub fn comes_after_pause(timeline: &Timeline, commit: &CommitFact) -> bool {
    match commit.record.iteration {
        // A record that continues the numbers saw no pause; a first one comes after a pause, or after an answer.
        0 | 1 => timeline.ends_before(&NextCommit::from_fact(commit)),
        _ => timeline.newest().is_none(),
    }
}

/// Returns whether a commit has the tree of an iteration. Streams name none: there it is the code and the change.
fn is_same_tree(one: &Iteration, record: &CommitRecord) -> bool {
    let known = !one.tree.0.is_zero() && !record.tree.0.is_zero();
    if known {
        one.tree == record.tree
    } else {
        one.moved.unwrap_or(one.code) == record.code && one.diff.hash == record.diff.hash
    }
}

/// In an event stream the epoch means that no time was given.
fn known_time(at: Timestamp) -> Option<Timestamp> {
    Some(at).filter(|at| at.0 != 0)
}

impl Timeline {
    /// Returns whether `upcoming` belongs to another run than the window (docs/concepts.md, "run").
    fn ends_before(&self, upcoming: &NextCommit) -> bool {
        let Some(newest) = self.newest() else { return true };
        // Observations since then are a sign of life as well: one long turn is no pause.
        let last = self.activity.lively.max(known_time(newest.at));
        // A clock set back gives a span of zero, which is no gap; an event without a time measures nothing. Only
        // commits give the time since the system was started: no less has passed since then than since the last sign of
        // life.
        let (Some(last), Some(at)) = (last, known_time(upcoming.at)) else { return false };
        let last = Moment { at: last, uptime: newest.uptime };
        Moment { at, uptime: upcoming.uptime }.pause_since(last) > self.session_gap
    }

    fn number_for(&self, upcoming: &NextCommit) -> u64 {
        let highest = self.iterations.iter().map(|iteration| iteration.number).max().unwrap_or(0);
        if let Some(amended) = self.amended_by(upcoming).and_then(|at| self.iterations.get(at)) {
            return amended.number;
        }
        // The commit is what became of the last refused one.
        let highest = highest.saturating_add(self.activity.refused.given_up).saturating_add(self.rewritten());
        // It keeps the number of its neighbour, and begins nothing.
        let beside = upcoming.kind == CommitKind::Normal && upcoming.strike == Strike::Beside && highest > 0;
        let moved = upcoming.kind == CommitKind::Rebase && !self.iterations.is_empty();
        if beside || moved { highest.max(2) } else { highest.saturating_add(1) }
    }

    /// The place of the iteration that `upcoming` amends: the newest one with the same parent. After a reset a plain
    /// commit amends the newest, if it has its parent and its code.
    fn amended_by(&self, upcoming: &NextCommit) -> Option<usize> {
        let same = |one: &Iteration| one.source == Source::Commit && one.parent == upcoming.parent;
        match upcoming.kind {
            CommitKind::Amend => self.iterations.iter().rposition(same),
            CommitKind::Normal => {
                let newest = self.newest().filter(|_| upcoming.parent.is_some())?;
                (same(newest) && newest.code == upcoming.code).then(|| self.iterations.len() - 1)
            }
            CommitKind::Merge | CommitKind::Revert | CommitKind::CherryPick | CommitKind::Rebase => None,
        }
    }

    /// Takes the tests that an answer says were red before; one that is given once more says nothing new.
    fn take_known_red(&mut self, ack: &Ack) {
        if !self.last_ack.as_ref().is_some_and(|last| ack.is_moved(last)) {
            let known = ack.known_red.iter().map(|id| (stable_id(id).into_owned(), KnownRedBy::Answer));
            self.known_red.extend(known);
        }
    }

    /// Tests that were red and pass in the next result count like all others from now on.
    fn lift_known_red(&mut self, tests: &TestEvidence) {
        let whole = !tests.truncated && tests.counts().ran() > 0 && failing_count(tests).is_some();
        if let Some(before) = self.newest_tests.as_ref().filter(|_| whole) {
            let has = |tests: &TestEvidence, id: &str| tests.compared().any(|own| own == id);
            self.known_red.retain(|id, _| !has(before, id) || has(tests, id));
        }
    }

    fn let_pass(&mut self, gate: Gate) {
        if gate != Gate::Bypassed {
            self.activity.refusals = Refusals::default();
        }
    }

    fn reset(&mut self, counter: &str) {
        if self.resets.len() < MAX_RESETS {
            let number = self.number();
            self.resets.insert(counter.to_owned(), number);
        }
    }

    pub(super) fn restart(&mut self) {
        self.restart_iterations();
        self.restart_activity();
    }

    /// Drops the commit at which an answer was given, and what came before it.
    fn restart_up_to(&mut self, answered: Option<CommitId>) {
        let is_it = |one: &Iteration| answered.is_some() && [one.commit, one.root].contains(&answered);
        if let Some(at) = self.iterations.iter().rposition(is_it) {
            self.iterations.drain(..=at);
            self.amended.clear();
        }
    }

    fn restart_iterations(&mut self) {
        self.resets.clear();
        self.iterations.clear();
        self.amended.clear();
        self.passed = None;
        self.began = None;
    }

    fn take_commit(&mut self, mut fact: CommitFact) -> EventEffect {
        let known = fact.id.is_some() && self.iterations.iter().any(|iteration| iteration.commit == fact.id);
        if known {
            return EventEffect::Nothing;
        }
        // A line of a stream names no tests: those on its code are its own, as they are when a record is written.
        if fact.id.is_none() && fact.record.tests.is_none() {
            fact.record.tests = self.proof(fact.record.code).cloned();
        }
        if let Some(at) = self.brought_again(&fact) {
            self.move_attempt(at, fact);
            return EventEffect::Nothing;
        }
        if self.is_answered_again(&fact) {
            let node = self.node_of(&fact);
            self.move_in_turn(&node);
            return EventEffect::Nothing;
        }
        self.answered = None;
        // The first commit of a window does not end the turn in which it was made; what amends it is in that window.
        if begins(self, &fact) == RunStart::Run && self.has_commits() {
            self.restart();
        }
        let at = known_time(fact.record.recorded_at);
        self.pause_before(at, None);
        self.activity.now = self.activity.now.max(at);
        self.activity.lively = None;
        fact.record.node = self.node_of(&fact);
        // A step of a rebase that carries no attempt we know of is not work.
        let step = fact.record.made_as() == CommitKind::Rebase;
        self.activity.code = Some(fact.record.code);
        // The journal says when a commit with an id was made here: a pulled commit ends no count.
        let stream = fact.id.is_none();
        if stream {
            self.let_pass(fact.record.gate);
        }
        let ran = self.activity.ran.take();
        self.commit_in_turn(&fact.record.node, at);
        let amended = self.rewrite(&fact);
        if amended.is_some() {
            fact.record.amend();
        }
        let number = amended.unwrap_or_else(|| self.number_of(&fact));
        let mut iteration = Iteration::new(fact, number);
        if iteration.tests.is_none() && iteration.gate == Gate::Bypassed {
            iteration.tests = ran.and_then(|tests| self.failed_before(tests));
        }
        if let Some(tests) = &iteration.tests {
            self.lift_known_red(tests);
            self.newest_tests = Some(tests.clone());
        }
        self.passed = None;
        push_bounded(&mut self.iterations, iteration, MAX_ITERATIONS);
        if stream {
            self.activity.refused = RefusedAttempts::default();
        }
        if step { EventEffect::Nothing } else { EventEffect::Iteration }
    }

    /// The number of a commit that comes newly. That in the record was counted where and when it was written. It covers what came
    /// before the window, and refused commits; it takes back nothing that was seen here since then. 0 is "not numbered".
    fn number_of(&self, fact: &CommitFact) -> u64 {
        let counted = self.number_for(&NextCommit::from_fact(fact));
        match fact.record.iteration {
            0 => counted,
            recorded if self.iterations.is_empty() => recorded,
            recorded => recorded.max(counted),
        }
    }

    /// The index of the iteration that `fact` is once more, by another commit: moved by a rebase or a pick, or amended
    /// without a change to its tree. It counts once, and there is nothing new to say about it.
    fn brought_again(&self, fact: &CommitFact) -> Option<usize> {
        let record = &fact.record;
        if let Some(carried) = &record.carries {
            let carried = Some(carried.commit);
            return self.iterations.iter().rposition(|one| one.root == carried || one.commit == carried);
        }
        match record.kind {
            CommitKind::Rebase | CommitKind::CherryPick => {
                let committed =
                    |one: &Iteration| one.source == Source::Commit && one.diff.is_again(&record.diff);
                self.iterations.iter().rposition(committed)
            }
            CommitKind::Amend | CommitKind::Normal => self
                .amended_by(&NextCommit::from_fact(fact))
                .filter(|at| self.iterations.get(*at).is_some_and(|one| is_same_tree(one, record))),
            CommitKind::Merge | CommitKind::Revert => None,
        }
    }

    /// Returns whether `fact` amends the commit at which the newest answer was given, and leaves its tree alone.
    fn is_answered_again(&self, fact: &CommitFact) -> bool {
        let upcoming = NextCommit::from_fact(fact);
        let amends = |one: &Iteration| one.parent == upcoming.parent && is_same_tree(one, &fact.record);
        upcoming.kind == CommitKind::Amend
            && self.iterations.is_empty()
            && self.answered.as_deref().is_some_and(amends)
    }

    /// The attempt at `at` is `fact` from now on. Tests of the new commit's own code count for it.
    fn move_attempt(&mut self, at: usize, fact: CommitFact) {
        let recorded_at = known_time(fact.record.recorded_at);
        self.activity.now = self.activity.now.max(recorded_at);
        self.activity.code = Some(fact.record.code);
        let node = self.node_of(&fact);
        self.move_in_turn(&node);
        let Some(one) = self.iterations.get_mut(at) else { return };
        let code = fact.record.code;
        let again = &mut *Iteration::new(fact, one.number);
        one.commit = again.commit.or(one.commit);
        (one.parent, one.tree) = (again.parent, again.tree);
        (one.subject, one.names_version) = (take(&mut again.subject), again.names_version);
        // An amended message may give the reason why tests went.
        one.weakening = again.weakening.take().or(one.weakening.take());
        one.moved = again.moved.or_else(|| (one.moved.is_some() || one.code != code).then_some(code));
        if again.tests.is_some() && again.code == code {
            (one.code, one.tests) = (code, again.tests.take());
        }
    }

    /// Applies the effect of a commit on those before it. Returns the number of the one that it amends.
    fn rewrite(&mut self, fact: &CommitFact) -> Option<u64> {
        let amended = self.amended_by(&NextCommit::from_fact(fact));
        let Some(at) = amended else {
            self.amended.clear();
            return None;
        };
        let newest = at + 1 == self.iterations.len();
        let before = self.iterations.remove(at);
        let number = before.number;
        if newest {
            push_bounded(&mut self.amended, before, MAX_REWRITTEN);
        } else {
            self.amended.clear();
        }
        Some(number)
    }

    fn take_run(&mut self, run: TestRun) -> EventEffect {
        if run.is_by_the_program() {
            self.activity.refusals = Refusals::default();
        }
        self.saw(run.evidence.code);
        let (committed, is_valid) = (self.committed(), run.validity == RunValidity::Valid);
        let may_tell = matches!(run.validity, RunValidity::HandedIn | RunValidity::OtherCommand);
        if is_valid || (may_tell && run.is_reported_failing()) {
            if is_valid {
                self.lift_known_red(&run.evidence);
            }
            self.newest_tests = Some(run.evidence.clone());
            self.activity.ran = Some(run.evidence.clone());
            if self.is_known_red(&run.evidence) {
                self.activity.red = RedRuns::default();
            } else {
                self.activity.red.take(&run, committed);
            }
            self.newest_run = self.complete_newest(&run);
            let kept = if is_valid { &mut self.runs } else { &mut self.reported_runs };
            push_bounded(kept, run, MAX_RUNS);
        } else {
            if run.is_reported() {
                self.activity.red.take_claim(&run.evidence);
            } else {
                self.activity.red.take_part(&run, committed);
            }
            self.newest_run = EventEffect::Within;
        }
        self.newest_run
    }

    /// The code of the newest commit, as far as it is known.
    fn committed(&self) -> Option<CodeId> {
        let commits = self.iterations.iter().rev().filter(|one| one.source == Source::Commit);
        let newest = commits.chain(self.answered.as_deref()).next();
        let passed = self.activity.passed_code.filter(|_| self.passed.is_some());
        passed.or(newest.map(|one| one.moved.unwrap_or(one.code)))
    }

    /// Tests may run after the commit or the turn whose code they are about: then the iteration is what they say.
    fn complete_newest(&mut self, run: &TestRun) -> EventEffect {
        let passed = self.passed.unwrap_or(0);
        let newest = self.iterations.last_mut().filter(|newest| newest.number >= passed);
        if newest.is_some_and(|newest| newest.complete(run)) {
            EventEffect::Iteration
        } else {
            EventEffect::Within
        }
    }
}

#[cfg(test)]
mod tests;
