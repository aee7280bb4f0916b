//! The fold of the journal up to a place in it: a cache, kept in the worktree's git directory.
//!
//! Budgets count from the beginning of a run, and a hook must not read all of a long journal. So the fold over its
//! first part is kept together with the place that it reached, and the next reader continues from there. The journal
//! only grows, so the kept fold stays true; besides, it depends only on the gap between runs, which it names, and on
//! answers from elsewhere, which are passed in. Safe to delete: then the whole journal is folded again, once. The fold
//! of a journal that was replaced is not used.

use serde::{Deserialize, Serialize};

use super::{Journal, JournalLine, Position, journal::passing};
use crate::{Memory, memory::Kind};
use andon_core::domain::{Ack, Fact, ShortHash, Span, Timestamp};
use andon_core::history::{Fold, Snapshot};

/// A journal that is shorter is folded from its start.
pub const SHORT: u64 = 64 << 10;
/// The number of bytes read beyond a place before a newer one is kept: so few that folding them takes no noticeable time.
const STEP: u64 = 64 << 10;

/// The fold of the journal up to a place in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    /// The place.
    pub at: Position,
    /// The state of the fold.
    pub snapshot: Snapshot,
}

impl Totals {
    /// True if `answer` was given after the newest one that is counted.
    pub fn is_before(&self, answer: &Ack) -> bool {
        self.snapshot.is_before(answer)
    }

    /// True if none of `answers` belongs among what was folded and is not.
    fn knows(&self, answers: &[Ack]) -> bool {
        let among = |answer: &Ack| self.snapshot.activity.now.is_some_and(|now| answer.at <= now);
        !answers.iter().any(|answer| self.is_before(answer) && among(answer))
    }
}

impl Journal {
    /// The fold of the journal up to a place near its end; `None` while it is short enough to be folded from its start.
    /// A pause longer than `gap` ends a run, and so do `answers` that were given elsewhere, at their times.
    pub fn totals(&self, gap: Span, answers: &[Ack]) -> Option<Totals> {
        let size = self.size().unwrap_or(0);
        let kept = self.kept(gap).filter(|kept| kept.knows(answers));
        match kept {
            None if size <= SHORT && !self.is_rotated() => None,
            Some(kept) if self.is_near(kept.at, size) => Some(kept),
            kept => {
                let from = kept.unwrap_or(Totals { at: Position::START, snapshot: Snapshot::default() });
                Some(self.go_on(from, gap, answers))
            }
        }
    }

    /// True if little was written since `at`.
    fn is_near(&self, at: Position, size: u64) -> bool {
        !self.rotated_since(at) && size.saturating_sub(at.offset) <= STEP
    }

    /// Folds what was written since `from`, and keeps the result. A result that cannot be kept only costs time.
    fn go_on(&self, from: Totals, gap: Span, answers: &[Ack]) -> Totals {
        let mut fold = Fold::new(gap);
        fold.resume(from.snapshot.clone());
        let mut waiting: Vec<&Ack> = answers.iter().filter(|answer| from.is_before(answer)).collect();
        waiting.sort_by_key(|answer| std::cmp::Reverse(answer.at));
        let read = self.read_on(from.at, &mut |line| {
            let at = time_of(&line);
            while let Some(answer) = waiting.pop_if(|answer| at.is_some_and(|at| answer.at < at)) {
                fold.push(Fact::Ack(Box::new(answer.clone())));
            }
            take(&mut fold, line);
        });
        let Ok(at) = read else { return from };
        let totals = Totals { at, snapshot: fold.snapshot() };
        if let Some(guard) = self.guard(at) {
            self.memory().put(&gap, &(guard, &totals));
        }
        totals
    }

    /// The totals that are kept, if they are of this journal.
    fn kept(&self, gap: Span) -> Option<Totals> {
        let (guard, totals): (ShortHash, Totals) = self.memory().get(&gap)?;
        (self.guard(totals.at)? == guard).then_some(totals)
    }

    /// The memory of totals, which depend on the pause that ends a run.
    fn memory(&self) -> Memory {
        Memory::below(self.dir(), Kind::TOTALS)
    }
}

fn time_of(line: &JournalLine) -> Option<Timestamp> {
    match line {
        JournalLine::Event(event) => event.at,
        JournalLine::Ack(ack) => Some(ack.at),
        JournalLine::CommitRecorded(marker) => marker.at,
        JournalLine::Halt(standing) => Some(standing.halt.at),
        JournalLine::TestRun(_)
        | JournalLine::Safety(_)
        | JournalLine::Agent(_)
        | JournalLine::Attempt(_)
        | JournalLine::Healed(_) => None,
    }
}

fn take(fold: &mut Fold, line: JournalLine) {
    fold.push(match line {
        JournalLine::Event(event) => Fact::Event(event),
        JournalLine::Ack(ack) => Fact::Ack(ack),
        JournalLine::TestRun(run) => Fact::TestRun(run),
        JournalLine::CommitRecorded(marker) => return fold.pass(&passing(marker)),
        JournalLine::Safety(_)
        | JournalLine::Agent(_)
        | JournalLine::Attempt(_)
        | JournalLine::Halt(_)
        | JournalLine::Healed(_) => return,
    });
}

#[cfg(test)]
mod tests;
