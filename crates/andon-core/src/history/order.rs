//! The order of facts from three places: records of commits, the journal, and answers in ledgers.
//!
//! Each acknowledgement comes right after the commit that was HEAD then; one whose commit is not in the window counts
//! only while no commit was recorded after it (then the new record's `iteration` of 1 says the same). An event comes
//! after the newest commit of the window that was recorded before it. The summary of the first part of the journal
//! comes after the commits that it has seen.

use super::{Fold, PassedCommit, PlacedAttempt, Snapshot};
use crate::domain::{Ack, CommitFact, CommitId, Event, Fact, Gate, TestRun};

/// The place of an acknowledgement in the journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AckPlace {
    /// No commit was recorded after it.
    Last,
    BeforeCommit,
}

/// A commit that was recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MarkedCommit {
    /// The commit that the record belongs to.
    pub commit: CommitId,
    pub passing: PassedCommit,
}

/// One observation of the journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JournalItem {
    /// An event of the journal.
    Event(Box<Event>),
    /// The acknowledgement of that number.
    Ack(usize),
    /// A commit was recorded.
    Commit(MarkedCommit),
    /// The test run of that number.
    Run(usize),
}

/// One step of the fold over a window.
#[derive(Debug, Clone, PartialEq)]
pub enum FoldStep {
    /// Something observed, in its place among the others.
    Fact(Fact),
    /// An answer at a commit that the window does not reach.
    Answered(Box<Ack>),
    /// The summary of the first part of the journal.
    Resume(Box<Snapshot>),
    /// A commit was made here, past the gate or not.
    Committed(Gate),
    /// A commit that the window does not reach or that is not behind HEAD: a turn of its node all the same.
    Pass(PassedCommit),
}

impl Fold {
    /// Takes one step.
    pub fn step(&mut self, step: FoldStep) {
        match step {
            FoldStep::Fact(fact) => {
                self.push(fact);
            }
            FoldStep::Answered(ack) => self.answered(*ack),
            FoldStep::Resume(snapshot) => {
                self.resume(*snapshot);
                self.renumber();
            }
            FoldStep::Committed(gate) => self.committed(gate),
            FoldStep::Pass(commit) => self.pass(&commit),
        }
    }
}

/// The contents of the three places, each in its own order, oldest first.
#[derive(Debug)]
pub struct Observations<'a> {
    pub line: Vec<&'a CommitFact>,
    /// Acknowledgements of the journal, then those of ledgers.
    pub acks: &'a [(Ack, AckPlace)],
    pub runs: &'a [TestRun],
    /// The items that follow the first part of the journal.
    pub items: &'a [JournalItem],
    /// The summary of the first part; `None` where all of it was read.
    pub before: Option<&'a Snapshot>,
}

impl Observations<'_> {
    /// Everything in the order of observation.
    pub fn steps(&self) -> Vec<FoldStep> {
        let mut merge = Merge::new(self);
        if let Some(snapshot) = self.before {
            merge.commits_up_to(merge.leading);
            merge.answers_before(snapshot);
            merge.steps.push(FoldStep::Resume(Box::new(snapshot.clone())));
        }
        for item in self.items {
            merge.take(item);
        }
        merge.commits_up_to(self.line.len());
        merge.finish()
    }

    fn index(&self, commit: CommitId) -> Option<usize> {
        let at = self.line.iter().position(|fact| fact.id == Some(commit));
        at.or_else(|| self.line.iter().position(|fact| fact.root() == Some(commit)))
    }

    /// Counts how many commits come before the first that the journal names.
    fn seen_before(&self) -> usize {
        let marked = self.items.iter().filter_map(|item| match item {
            JournalItem::Commit(marked) => self.index(marked.commit),
            JournalItem::Event(_) | JournalItem::Ack(_) | JournalItem::Run(_) => None,
        });
        marked.min().unwrap_or(self.line.len())
    }
}

/// The commits of a window, with the attempts outside of it at the places where they were made.
pub fn line<'a>(window: &'a [CommitFact], aside: &'a [PlacedAttempt]) -> Vec<&'a CommitFact> {
    let mut line = Vec::with_capacity(window.len() + aside.len());
    let mut aside = aside.iter().peekable();
    for (before, fact) in window.iter().enumerate() {
        while let Some(one) = aside.next_if(|one| one.after <= before) {
            line.push(&one.fact);
        }
        line.push(fact);
    }
    line.extend(aside.map(|one| &one.fact));
    line
}

/// Drops the attempts that a person has answered for. Where they and the answer are both in this journal, it says which
/// came first: `before` and `after` hold the commits that it names before and after the newest answer. Else their times decide.
pub fn forget_answered(
    aside: &mut Vec<PlacedAttempt>,
    acks: &[(Ack, AckPlace)],
    before: &[CommitId],
    after: &[CommitId],
) {
    let answers = acks.iter().map(|(ack, _)| ack).filter(|ack| ack.counter.is_none());
    let Some(answered) = answers.map(|ack| ack.at).max() else { return };
    aside.retain(|one| match one.fact.id {
        Some(id) if after.contains(&id) => true,
        Some(id) if before.contains(&id) => false,
        Some(_) | None => one.fact.record.recorded_at > answered,
    });
}

/// Commits, answers and the rest of the journal, being put in order.
struct Merge<'a> {
    observed: &'a Observations<'a>,
    steps: Vec<FoldStep>,
    /// The number of commits of the window that were recorded before everything that follows in the journal.
    leading: usize,
    /// The number of commits that have their place.
    placed: usize,
    /// After how many commits each answer comes that does not have its place in the journal.
    answers: Vec<(usize, usize)>,
    /// Answers to nothing that the window knows, and nothing came after them.
    last: Vec<usize>,
}

impl<'a> Merge<'a> {
    fn new(observed: &'a Observations<'a>) -> Self {
        let in_place = |number: usize| observed.items.contains(&JournalItem::Ack(number));
        let (mut answers, mut last) = (Vec::new(), Vec::new());
        for (number, (ack, place)) in
            observed.acks.iter().enumerate().filter(|(number, _)| !in_place(*number))
        {
            match (ack.head.and_then(|head| observed.index(head)), place) {
                (Some(at), _) => answers.push((at + 1, number)),
                (None, AckPlace::Last) => last.push(number),
                (None, AckPlace::BeforeCommit) => {}
            }
        }
        Self { observed, steps: Vec::new(), leading: observed.seen_before(), placed: 0, answers, last }
    }

    fn take(&mut self, item: &JournalItem) {
        match item {
            JournalItem::Event(event) => {
                if self.placed == 0 && self.observed.before.is_none() {
                    // Commits from elsewhere come before what was observed here.
                    self.commits_up_to(self.leading);
                }
                self.steps.push(FoldStep::Fact(Fact::Event(event.clone())));
            }
            JournalItem::Commit(marked) => {
                let mut gate = Gate::NotRun;
                if let Some(at) = self.observed.index(marked.commit) {
                    self.commits_up_to(at + 1);
                    gate = self.observed.line.get(at).map_or(gate, |fact| fact.record.gate);
                } else {
                    self.steps.push(FoldStep::Pass(PassedCommit { number: 0, ..marked.passing.clone() }));
                }
                self.steps.push(FoldStep::Committed(gate));
            }
            JournalItem::Run(number) => {
                let run = self.observed.runs.get(*number).cloned();
                self.steps.extend(run.map(|run| FoldStep::Fact(Fact::TestRun(Box::new(run)))));
            }
            JournalItem::Ack(number) => {
                let Some((ack, place)) = self.observed.acks.get(*number) else { return };
                match (ack.head.and_then(|head| self.observed.index(head)), place) {
                    (Some(at), _) => self.commits_up_to(at + 1),
                    (None, AckPlace::Last) => self.commits_up_to(self.observed.line.len()),
                    (None, AckPlace::BeforeCommit) => {
                        // The record after it begins the commits anew; of events and votes it says nothing.
                        self.steps.push(FoldStep::Answered(Box::new(ack.clone())));
                        return;
                    }
                }
                self.answer(*number);
            }
        }
    }

    fn answer(&mut self, number: usize) {
        if let Some((ack, _)) = self.observed.acks.get(number) {
            self.steps.push(FoldStep::Fact(Fact::Ack(Box::new(ack.clone()))));
        }
    }

    /// Gives the first `count` commits their places, and the answers at them.
    fn commits_up_to(&mut self, count: usize) {
        while self.placed < count {
            self.answers_at(self.placed);
            if let Some(commit) = self.observed.line.get(self.placed) {
                self.steps.push(FoldStep::Fact(Fact::Commit(Box::new((*commit).clone()))));
            }
            self.placed += 1;
        }
    }

    fn answers_at(&mut self, count: usize) {
        for (_, number) in self.answers.extract_if(.., |(at, _)| *at == count).collect::<Vec<_>>() {
            self.answer(number);
        }
    }

    /// The answers that `snapshot` counts already: the facts after them must not begin a new window.
    fn answers_before(&mut self, snapshot: &Snapshot) {
        let acks = self.observed.acks;
        let counted = |number: usize| acks.get(number).is_some_and(|(ack, _)| !snapshot.is_before(ack));
        let placed = self.placed;
        let here = self.answers.extract_if(.., |(at, number)| *at <= placed && counted(*number));
        let mut here: Vec<usize> = here.map(|(_, number)| number).collect();
        here.append(&mut self.last);
        for number in here {
            self.answer(number);
        }
    }

    fn finish(mut self) -> Vec<FoldStep> {
        self.answers_at(self.placed);
        for number in std::mem::take(&mut self.last) {
            self.answer(number);
        }
        self.steps
    }
}

#[cfg(test)]
mod tests;
