//! What one runner says in one stream: sessions one after another, each closed by its summary line.

use crate::Counts;

use super::super::normalize::Root;
use super::super::problem::ReportProblem;
use super::super::tally::{Outcome, Tally, Trouble};

/// Whether a session of the runner is under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Nothing has shown that there is one: what was noted may be other output.
    Unproven,
    /// A line that only this runner prints was seen.
    Open,
}

/// Holds back what a session says until its summary proves that it was one.
pub(super) struct Sessions {
    runner: &'static str,
    root: Root,
    /// What closed sessions said.
    tally: Tally,
    recognised: bool,
    state: State,
    /// What the session says, counts aside.
    pending: Tally,
    /// Counted from the lines of tests: only needed when no summary comes.
    seen: Tally,
    unfinished: bool,
    /// The first summary that counts fewer tests than were announced: both numbers.
    short: Option<(u64, u64)>,
}

impl Sessions {
    pub(super) fn new(runner: &'static str, root: &Root) -> Self {
        Self {
            runner,
            root: root.clone(),
            tally: Tally::new(root),
            recognised: false,
            state: State::Unproven,
            pending: Tally::new(root),
            seen: Tally::new(root),
            unfinished: false,
            short: None,
        }
    }

    /// A session begins; one that is open was cut short.
    pub(super) fn begin(&mut self) {
        self.give_up();
        self.prove();
    }

    /// A line that only this runner prints.
    pub(super) fn prove(&mut self) {
        self.state = State::Open;
    }

    /// True when such a line has come and no summary yet.
    pub(super) fn is_open(&self) -> bool {
        self.state == State::Open
    }

    /// A test of this id that ended so; what a failing one says comes with [`Sessions::fail`].
    pub(super) fn seen(&mut self, id: &str, outcome: Outcome) {
        self.seen.count(outcome);
        self.named(id, outcome);
    }

    /// Names a test that is counted elsewhere.
    pub(super) fn named(&mut self, id: &str, outcome: Outcome) {
        self.pending.named(id, outcome);
    }

    /// Tests of that many outcomes.
    pub(super) fn seen_several(&mut self, counts: Counts) {
        self.seen.add_counts(counts);
    }

    /// What closed sessions said, for runners that explain failures after their summary.
    pub(super) fn closed(&mut self) -> &mut Tally {
        &mut self.tally
    }

    /// Notes a failing test of the session.
    pub(super) fn fail(&mut self, id: &str, error: Option<&str>) {
        self.pending.fail(id, error);
    }

    /// Notes that tests may be missing among those that were named.
    pub(super) fn names_are_partial(&mut self) {
        self.pending.names_are_partial();
    }

    /// Notes an error of the session that belongs to no test.
    pub(super) fn run_error(&mut self, text: &str) {
        self.pending.run_error(text);
    }

    pub(super) fn trouble(&mut self, trouble: Trouble) {
        self.pending.trouble(trouble);
    }

    /// Words with which only this runner says that it gave up, before its summary or, because that is drawn first, after it.
    pub(super) fn gave_up(&mut self, words: &str) {
        if self.state == State::Unproven {
            self.take_in();
            self.tally.trouble(Trouble::GaveUp);
            self.tally.run_error(words);
        } else {
            self.pending.trouble(Trouble::GaveUp);
            self.pending.run_error(words);
        }
    }

    /// The summary line: what was noted before it counts, and the session is over.
    pub(super) fn summary(&mut self, counts: Counts) {
        self.take_in();
        self.tally.add_counts(counts);
        self.seen = Tally::new(&self.root);
    }

    /// The summary line of a session in which nothing of what was asked for was there, and what says so.
    pub(super) fn never_started(&mut self, reason: String) {
        self.pending = Tally::new(&self.root);
        self.pending.trouble(Trouble::NoTests);
        self.pending.never_started(reason);
        self.summary(Counts::default());
    }

    /// Compares a summary with what was announced before it, or elsewhere.
    pub(super) fn hold_against(&mut self, planned: u64, counted: u64) {
        if planned > counted {
            self.short.get_or_insert((planned, counted));
        }
    }

    /// What was noted counts, without any summary: words of the runner that need none.
    pub(super) fn take_in(&mut self) {
        self.recognised = true;
        self.state = State::Unproven;
        let pending = std::mem::replace(&mut self.pending, Tally::new(&self.root));
        self.tally.absorb(pending);
    }

    /// Without a summary, what the lines said is all there is.
    fn give_up(&mut self) {
        let seen = std::mem::replace(&mut self.seen, Tally::new(&self.root));
        if self.state == State::Open {
            self.summary(seen.counts());
            self.unfinished = true;
        }
        self.pending = Tally::new(&self.root);
    }

    /// What was read; `None` when nothing of it was the runner's.
    pub(super) fn finish(mut self, report: &str) -> Option<Tally> {
        self.give_up();
        if !self.recognised {
            return None;
        }
        if self.unfinished {
            self.tally.problem(report, &ReportProblem::SummaryMissing { runner: self.runner });
        }
        // Where a test failed, that may be why others did not run.
        if let Some((planned, counted)) = self.short.filter(|_| !self.tally.has_failures()) {
            let problem = ReportProblem::SummaryShort { runner: self.runner, planned, counted };
            self.tally.problem(report, &problem);
        }
        self.tally.recognised_as(self.runner);
        Some(self.tally)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sessions() -> Sessions {
        Sessions::new("x", &Root::none())
    }

    #[test]
    fn what_no_summary_proves_is_dropped() {
        let mut alone = sessions();
        alone.fail("a", None);
        alone.seen("a", Outcome::Failed);
        assert!(alone.finish("out").is_none());
    }

    #[test]
    fn an_open_session_without_a_summary_is_incomplete() {
        let mut cut = sessions();
        cut.begin();
        cut.seen("a", Outcome::Passed);
        cut.fail("a", None);
        let tally = cut.finish("out").unwrap();
        assert_eq!((tally.worst(), tally.counts().passed), (Some(Trouble::Incomplete), 1));
        assert!(tally.has_failures());
    }

    #[test]
    fn sessions_add_up() {
        let mut two = sessions();
        for _ in 0..2 {
            two.begin();
            two.seen("a", Outcome::Passed);
            two.summary(Counts { passed: 3, ..Counts::default() });
        }
        let tally = two.finish("out").unwrap();
        assert_eq!((tally.worst(), tally.counts().total), (None, 6));
    }
}
