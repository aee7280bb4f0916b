//! The strike candidates of the window and what their tests say, counted once.
//!
//! Three rules ask whether failures go down. They share this reading, so that they agree on which test
//! results belong to an edit and on what counts as progress: a lower failing count, and no credit for
//! tests that are gone (docs/spec-map.md, settled choice 8).

use std::collections::BTreeSet;

use super::excuses::{FEWER_FAIL, NEWLY_PASS, TICKED, WRITTEN};
use super::progress::{CREDITS, Credit, Credits, Step, baseline, writes};
use crate::domain::{Signature, TestEvidence, TestStatus, UncreditedFall, Weakening, signatures::signature};
use crate::history::{Iteration, Outcome, Strike, Timeline, flaky_failures, outcome, steady_count};

/// A strike candidate.
#[derive(Debug, Clone, Copy)]
pub(super) struct Attempt<'a> {
    pub(super) iteration: &'a Iteration,
    /// Its test result, when it says anything. `None` too for a result that was carried over from the
    /// commit before because the code stayed the same: those tests judge that commit, not this one.
    pub tests: Option<&'a TestEvidence>,
    /// The step of the failing count.
    pub step: Step,
    /// The signature of the failures, flaky tests aside.
    pub(super) failures: Option<Signature>,
    /// The credit that decides if a failure of the attempt is held against the loop.
    pub(super) credit: Credit,
    /// The edit of code relative to the iteration before.
    pub(super) edit: Edit,
    /// The change of code by merges, reverts, picks or rebases since the attempt before, without a test run.
    pub(super) between: Edit,
}

/// The kind of edit that an attempt made: code or no code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Edit {
    Code,
    /// Documents or nothing: the earlier test result of the code still holds.
    NoCode,
}

/// The strike candidates of `timeline`, oldest first.
pub(super) fn attempts(timeline: &Timeline) -> Vec<Attempt<'_>> {
    let mut attempts = Vec::new();
    let mut count = Count::default();
    let mut before: Option<&Iteration> = None;
    let mut counted = None;
    let (mut untested, mut between) = (UntestedFailures::default(), Edit::NoCode);
    let (flaky, beside) = (timeline.flaky(), timeline.beside_the_point());
    let (mut credits, baseline) = (Credits::default(), baseline(timeline));
    for iteration in timeline.attempted() {
        let unedited = before.is_some_and(|before| before.code == iteration.code);
        before = Some(iteration);
        if iteration.strike != Strike::Candidate {
            if !unedited && iteration.tests.is_none() {
                (untested.edited, between) = (true, Edit::Code);
            }
            continue;
        }
        let carried = unedited && counted == Some(iteration.code);
        let tests = iteration.tests.as_ref().filter(|tests| !carried && outcome(tests) != Outcome::Nothing);
        if tests.is_some() {
            counted = Some(iteration.code);
        }
        // A result in which only flaky tests fail says nothing about the edit.
        let tests = tests.filter(|tests| {
            !(tests.status == TestStatus::Failed
                && steady_count(tests, &beside) == Some(0)
                && flaky_failures(tests, &flaky) > 0)
        });
        let edit = if unedited { Edit::NoCode } else { Edit::Code };
        let mended = untested.mended_unseen(tests, edit);
        let step = tests.map_or(Step::Unknown, |tests| {
            if mended {
                count.begin_anew(iteration, tests);
            }
            count.step(iteration, tests, &beside)
        });
        let failures = tests.map(|tests| failures(tests, &beside));
        let credit = tests.map_or(Credit::Strike, |tests| credits.credit(tests, step, &baseline));
        let known = tests.is_some_and(|tests| timeline.is_known_red(tests));
        let credit = if known { Credit::Known } else { credit };
        let between = std::mem::replace(&mut between, Edit::NoCode);
        attempts.push(Attempt { iteration, tests, step, failures, credit, edit, between });
    }
    attempts
}

/// The progress of the newest iteration, by the name of the excuse that every rule about stalls honours: whatever else goes on,
/// the work moves. What a loop could bring for ever, such as trivial tests, counts [`CREDITS`] times in a row.
pub(crate) fn progress(timeline: &Timeline) -> Option<&'static str> {
    let newest = timeline.newest()?;
    let row = |moves: &dyn Fn(&Iteration) -> bool| {
        timeline.candidates().rev().take_while(|one| moves(one)).take(CREDITS + 1).count()
    };
    let few =
        |times: usize| (1..=CREDITS).contains(&times) && timeline.candidates().next_back() == Some(newest);
    let written =
        || [TICKED, WRITTEN].into_iter().find(|what| few(row(&|one| writes(timeline, one) == Some(*what))));
    if newest.tests.as_ref().is_none_or(|tests| tests.code != newest.code) {
        return written();
    }
    let attempts = attempts(timeline);
    let mut known = attempts.iter().rev().filter(|attempt| attempt.tests.is_some());
    let (own, before) = (known.next(), known.next().map(|before| before.step));
    let fewer = own.filter(|own| own.iteration == newest).is_some_and(|own| match own.step {
        Step::Fall { gone } => gone == 0,
        Step::Recovery => true,
        Step::Green => before.is_some_and(|before| before != Step::Green),
        Step::Unknown | Step::First | Step::Rise { .. } | Step::NotLower { .. } => false,
    });
    let gains = |one: &Iteration| {
        attempts.iter().any(|it| it.iteration == one && it.tests.is_some() && it.credit == Credit::Gain)
    };
    if fewer { Some(FEWER_FAIL) } else { few(row(&gains)).then_some(NEWLY_PASS).or_else(written) }
}

/// The failures before an untested change of code.
#[derive(Debug, Default)]
struct UntestedFailures<'a> {
    newest: Option<&'a TestEvidence>,
    edited: bool,
}

impl<'a> UntestedFailures<'a> {
    /// Returns whether the earlier failures are repaired: code changed without a test run, most of the earlier failures pass,
    /// and most of the present failures passed then. Without such a change in between, each result describes the edit
    /// before it: one test repaired and another broken is no progress.
    fn mended_unseen(&mut self, tests: Option<&'a TestEvidence>, edit: Edit) -> bool {
        let Some(tests) = tests else {
            self.edited |= edit == Edit::Code;
            return false;
        };
        let edited = std::mem::take(&mut self.edited);
        let before = self.newest.replace(tests);
        edited && before.is_some_and(|before| named(before) && named(tests) && others_fail(before, tests))
    }
}

/// Returns whether all that fails is named.
fn named(tests: &TestEvidence) -> bool {
    outcome(tests) == Outcome::Red && !tests.failing.is_empty() && !tests.truncated
}

fn others_fail(before: &TestEvidence, now: &TestEvidence) -> bool {
    let failed: BTreeSet<_> = before.compared().collect();
    let still = now.compared().filter(|id| failed.contains(id)).count();
    still * 2 < before.failing.len() && still * 2 < now.failing.len()
}

/// The falls of the failing count that earn no credit, oldest first.
pub fn uncredited_falls(timeline: &Timeline) -> Vec<UncreditedFall> {
    let flaky = timeline.beside_the_point();
    let mut falls = Vec::new();
    let mut before = None;
    for attempt in attempts(timeline) {
        let Some(to) = attempt.tests.and_then(|tests| steady_count(tests, &flaky)) else { continue };
        let (Step::NotLower { gone } | Step::Rise { gone }) = attempt.step else {
            before = Some(to);
            continue;
        };
        if let Some(from) = before.replace(to)
            && (gone > 0 && to < from)
        {
            falls.push(UncreditedFall { from, to, gone });
        }
    }
    falls
}

/// The failure signature; where flaky tests fail too, the one that the others would give.
fn failures(tests: &TestEvidence, flaky: &BTreeSet<String>) -> Signature {
    if flaky.is_empty() {
        return tests.signature;
    }
    let (_, steady) = tests.apart(flaky);
    signature(&tests.runner, &tests.command, tests.status, &steady)
}

/// Running figures of the window.
#[derive(Debug, Default)]
struct Count {
    /// Lowest count since all tests passed, tests that are gone counted as failing.
    low: Option<u64>,
    /// Highest count since that lowest one.
    peak: u64,
    /// Lowest count since that highest one.
    trough: u64,
    /// Tests that failed in the result before.
    failed: Option<u64>,
    /// Tests that were gone in it.
    gone: u64,
    /// Most tests that ran at once since then; a waiver (`Tests-Removed`) starts it anew.
    most: u64,
    /// Tests that were removed since then, by the diffs.
    taken: u64,
}

impl Count {
    /// Other tests fail than before: their number says nothing about the earlier ones. Unless tests are gone, because
    /// the failing ones may have been removed.
    fn begin_anew(&mut self, iteration: &Iteration, tests: &TestEvidence) {
        let taken = iteration.weakening.as_ref().is_some_and(|it| it.failing > 0 && it.total > 0);
        let gone = self.most > tests.counts().ran() || self.taken > 0 || taken;
        if !gone {
            *self = Self::default();
        }
    }

    fn step(&mut self, iteration: &Iteration, tests: &TestEvidence, flaky: &BTreeSet<String>) -> Step {
        let Some(failing) = steady_count(tests, flaky) else { return Step::Unknown };
        let ran = tests.counts().ran();
        match &iteration.weakening {
            Some(Weakening { waiver: Some(_), .. }) => self.most = ran,
            // Tests removed while nothing fails hide nothing.
            Some(weakening) if weakening.failing > 0 => {
                self.taken = self.taken.saturating_add(weakening.total);
            }
            Some(_) | None => {}
        }
        // A test that the diff removed is missing in the count as well: it is not counted twice.
        if self.low.is_none() && failing > 0 {
            // Tests from before the first failure hide none.
            (self.most, self.taken) = (ran, 0);
        }
        let gone = self.most.saturating_sub(ran).max(self.taken);
        self.most = self.most.max(ran);
        let vanished = gone > std::mem::replace(&mut self.gone, gone);
        let was_green = self.failed.replace(failing) == Some(0);
        // Tests removed while nothing fails hide nothing; tests that are gone for long do not count against a later
        // fix.
        if failing == 0 && (!vanished || was_green) {
            *self = Self { most: ran, failed: Some(0), ..Self::default() };
            return Step::Green;
        }
        self.counted(failing.saturating_add(gone), gone)
    }

    fn counted(&mut self, count: u64, gone: u64) -> Step {
        match self.low {
            Some(low) if count < low => {
                (self.low, self.peak, self.trough) = (Some(count), count, count);
                Step::Fall { gone }
            }
            Some(_) if count > self.peak => {
                (self.peak, self.trough) = (count, count);
                Step::Rise { gone }
            }
            // A single step back to the lowest goes to and fro; the last of several is the end of the way down.
            Some(low) if count < self.trough && (count > low || self.trough < self.peak) => {
                self.trough = count;
                Step::Recovery
            }
            Some(_) => Step::NotLower { gone },
            None => {
                (self.low, self.peak, self.trough) = (Some(count), count, count);
                Step::First
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{CommitKind, TestStatus};
    use crate::testkit::{Commit, commit, green, other, red, timeline};

    fn steps(commits: Vec<Commit>) -> Vec<Step> {
        attempts(&timeline(commits)).iter().map(|attempt| attempt.step).collect()
    }

    #[test]
    fn counts_fall_only_below_the_lowest() {
        let abc = &["a", "b", "c"];
        let found = steps(vec![
            commit(1).tests(red(1, abc, 9)),
            commit(2).tests(red(2, &abc[..2], 9)),
            commit(3).tests(red(3, abc, 9)),
            commit(4).tests(red(4, &abc[..2], 9)),
            commit(5).tests(green(5, 9)),
            commit(6).tests(red(6, &abc[..1], 9)),
        ]);
        let (rise, level) = (Step::Rise { gone: 0 }, Step::NotLower { gone: 0 });
        assert_eq!(found, [Step::First, Step::Fall { gone: 0 }, rise, level, Step::Green, Step::First]);
    }

    #[test]
    fn what_rises_and_falls_again_is_told_from_what_stays() {
        let names = ["a", "b", "c", "d", "e", "f", "g"];
        let of = |counts: &[usize]| {
            let commits = (1_u8..).zip(counts);
            steps(
                commits.map(|(state, count)| commit(state).tests(red(state, &names[..*count], 9))).collect(),
            )
        };
        let (rise, level) = (Step::Rise { gone: 0 }, Step::NotLower { gone: 0 });
        let fall = Step::Fall { gone: 0 };
        assert_eq!(of(&[2, 4, 7, 5, 3, 1]), [Step::First, rise, rise, Step::Recovery, Step::Recovery, fall]);
        assert_eq!(of(&[2, 3, 2, 3, 2]), [Step::First, rise, level, level, level], "to and fro");
        assert_eq!(
            of(&[2, 6, 4, 2]),
            [Step::First, rise, Step::Recovery, Step::Recovery],
            "down to where it began"
        );
        assert_eq!(of(&[2, 6, 4, 2, 6, 4, 2])[4..], [level; 3], "the same way again");
        assert_eq!(of(&[3, 3, 3]), [Step::First, level, level]);
    }

    #[test]
    fn other_failures_after_a_change_that_nobody_tested_are_counted_anew() {
        let of = |first: &[&str], then: &[&str], between: Option<Commit>| {
            let mut commits = vec![commit(1).tests(red(1, first, 9))];
            commits.extend(between);
            commits.push(commit(3).tests(red(3, then, 9)));
            *steps(commits).last().unwrap()
        };
        let level = Step::NotLower { gone: 0 };
        assert_eq!(of(&["a", "b"], &["c", "d"], Some(commit(2))), Step::First);
        assert_eq!(of(&["a", "b"], &["c", "d"], Some(commit(2).kind(CommitKind::Merge))), Step::First);
        assert_eq!(of(&["a", "b"], &["c", "d"], None), level, "one mended, another broken");
        assert_eq!(of(&["a", "b"], &["c", "d"], Some(commit(1))), level, "no code changed in between");
        assert_eq!(of(&["a", "b"], &["b", "c"], Some(commit(2))), level, "half of it fails still");
        assert_eq!(of(&["a"], &["a", "b", "c"], Some(commit(2))), Step::Rise { gone: 0 }, "and more");
        let taken =
            vec![commit(1).tests(red(1, &["a", "b"], 9)), commit(2), commit(3).tests(red(3, &["c", "d"], 7))];
        assert_eq!(*steps(taken).last().unwrap(), Step::Rise { gone: 2 }, "tests are gone");
    }

    #[test]
    fn tests_taken_away_while_all_pass_hide_nothing() {
        let found = steps(vec![
            commit(1).tests(green(1, 9)),
            commit(2).tests(green(2, 8)),
            commit(3).tests(red(3, &["a"], 8)),
            commit(4).tests(green(4, 7)),
            commit(5).tests(green(5, 7)),
            commit(6).tests(red(6, &["a"], 7)),
        ]);
        let hidden = Step::NotLower { gone: 1 };
        assert_eq!(found, [Step::Green, Step::Green, Step::First, hidden, Step::Green, Step::First]);
    }

    #[test]
    fn tests_that_are_gone_earn_no_credit() {
        let found = steps(vec![
            commit(1).tests(red(1, &["a", "b", "c"], 9)),
            commit(2).tests(red(2, &["a", "b"], 8)),
            commit(3).tests(green(3, 6)),
            commit(4).tests(red(4, &["a"], 8)),
        ]);
        let expected =
            [Step::First, Step::NotLower { gone: 1 }, Step::NotLower { gone: 3 }, Step::Fall { gone: 1 }];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_carried_result_counts_once_and_exempt_commits_not_at_all() {
        let found = attempts(&timeline(vec![
            commit(1).tests(red(1, &["a"], 9)),
            commit(1).tests(red(1, &["a"], 9)).subject("docs"),
            commit(2).tests(green(2, 9)).kind(CommitKind::Merge),
            commit(1).tests(red(1, &["a"], 9)),
        ]))
        .iter()
        .map(|attempt| attempt.tests.is_some())
        .collect::<Vec<_>>();
        assert_eq!(found, [true, false, true]);
    }

    #[test]
    fn what_is_unknown_has_no_count() {
        let found = steps(vec![
            commit(1),
            commit(2).tests(other(2, TestStatus::BuildFailed)),
            commit(3).tests(other(3, TestStatus::NoTests)),
        ]);
        assert_eq!(found, [Step::Unknown; 3]);
    }
}

#[cfg(test)]
mod progress_tests {
    use std::sync::Arc;

    use super::*;
    use crate::detect::rule::{ANY_EVENT, LOOP};
    use crate::detect::{REGISTRY, RuleInput};
    use crate::domain::{Edits, Node, RuleSubject, Workflow};
    use crate::testkit::{Commit, commit, green, red, timeline};

    fn of(commits: Vec<Commit>, edits: Edits) -> Option<&'static str> {
        let mut line = timeline(commits);
        let node = Node { name: "agent".into(), edits, matches: vec![], max_turns: None, max_runtime: None };
        line.workflow = Arc::new(Workflow { nodes: vec![node], ..Workflow::default() });
        progress(&line)
    }

    #[test]
    fn what_moves_is_one_notion() {
        let tick = |done: u64| commit(1).docs(u8::try_from(done).unwrap(), (done - 1, 9), (done, 9));
        let text = |state: u8| commit(1).docs(state, (0, 0), (0, 0));
        let passing = |state: u8, total: u64| commit(state).tests(green(state, total));
        let stays = |state: u8, total: u64| commit(state).tests(red(state, &["a"], total));
        let many = |count: u64, one: &dyn Fn(u64) -> Commit| (1..=count).map(one).collect::<Vec<_>>();
        let byte = |number: u64| u8::try_from(number).unwrap();
        let table: Vec<(&str, Vec<Commit>, Option<&str>)> = vec![
            ("nothing", vec![], None),
            ("work alone", vec![commit(1), commit(2)], None),
            (
                "fewer fail",
                vec![commit(1).tests(red(1, &["a", "b"], 9)), commit(2).tests(red(2, &["a"], 9))],
                Some(FEWER_FAIL),
            ),
            ("one stays red and another newly passes", vec![stays(1, 9), stays(2, 10)], Some(NEWLY_PASS)),
            ("more tests pass", vec![passing(1, 9), passing(2, 10)], Some(NEWLY_PASS)),
            ("as many pass", vec![passing(1, 9), passing(2, 9)], None),
            ("five times in a row", many(6, &|it| passing(byte(it), it)), Some(NEWLY_PASS)),
            ("six times in a row", many(7, &|it| passing(byte(it), it)), None),
            ("six times in a row, red", many(7, &|it| stays(byte(it), it + 1)), None),
            ("it was then", vec![passing(1, 9), passing(2, 10), commit(3)], None),
            ("an item is ticked off", vec![commit(1), tick(1)], Some(TICKED)),
            ("and off again", vec![tick(1), commit(1).docs(9, (1, 9), (0, 9)), tick(1)], None),
            ("item after item", many(5, &tick), Some(TICKED)),
            ("without end", many(6, &tick), None),
            ("a text of a node that edits", vec![commit(1), text(1)], None),
        ];
        for (name, commits, expected) in table {
            assert_eq!(of(commits, Edits::Expected), expected, "{name}");
        }
        assert_eq!(of(vec![commit(1), text(1)], Edits::None), Some(WRITTEN));
        assert_eq!(of(vec![text(1), text(2), text(1)], Edits::None), None, "an old text");
    }

    #[test]
    fn every_rule_about_stalls_honours_it() {
        for rule in REGISTRY.iter().filter(|rule| [LOOP, ANY_EVENT].contains(&rule.stages)) {
            let honoured = super::super::excuses::PROGRESS
                .iter()
                .filter(|name| rule.excuses().any(|it| it.name == **name));
            let count = honoured.count();
            // Budgets bind whatever moves. What happens within a turn begins anew with each iteration, or each edit.
            let other = rule.reads != RuleInput::Records || rule.about.judges == RuleSubject::Calls;
            assert!(count == 4 || other && count == 0, "{}: {count}", rule.id);
        }
    }
}
