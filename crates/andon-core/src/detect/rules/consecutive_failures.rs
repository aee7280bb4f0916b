//! `consecutive-failures`: one failure after another, of any kind.

use std::collections::BTreeMap;

use super::{idle_turns, repeated_failures, unchanged_diff};
use crate::detect::attempts::{Attempt, Edit, attempts};
use crate::detect::excuses::{EMPTY_ON_PURPOSE, excuse};
use crate::detect::prelude::*;
use crate::detect::progress::{Credit, Step};
use crate::domain::{Edits, Signature, TestEvidence, TestStatus};
use crate::history::{Iteration, Outcome, Source, Timeline, TurnChange, outcome};

pub(in crate::detect) const MAX: Param<u64> = Param::count("max", 3, 1);
const RISES: Param<u64> = Param::count("rises", 3, 0);

/// `andon status` shows its count.
pub static RULE: Rule = Rule {
    reason: HaltReason::RepeatedError,
    report_file: ReportFile::BlockerReport,
    about: About { resets_alone: true, counts: Nesting::Nested, ..About::new(EventClass::NoProgress) },
    params: &[MAX.spec, RISES.spec, EMPTY_ON_PURPOSE.spec],
    ..Rule::of_iterations("consecutive-failures", include_str!("consecutive_failures.md"), check)
};

/// The judgement on one strike candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Judgement {
    Failed(Failure),
    /// More tests fail than ever since the lowest count.
    Rise,
    Progress,
    Unknown,
    /// Not a word about failing: neither counts, nor resets, nor takes back.
    Nothing,
}

crate::named_enum! {
    enum Failure {
        Tests = "tests failed",
        Build = "the build failed",
        Runner = "the test runner failed",
        Stopped = "the tests were stopped",
        SameError = "the same error came again",
        NothingModified = "nothing was modified",
    }
}

/// The number of failures in a row, as the rule counts them now.
pub fn in_a_row(timeline: &Timeline, setting: &RuleSetting) -> u64 {
    words::len(&failed_running(&counted(timeline), timeline, setting))
}

/// The attempts that say something. Failures that a person answered with `andon resume --counter` do not count.
fn counted(timeline: &Timeline) -> Vec<Attempt<'_>> {
    let reset = timeline.resets.get(RULE.id).copied().unwrap_or(0);
    let mut attempts = attempts(timeline);
    attempts.retain(|attempt| attempt.iteration.number > reset && says_something(attempt, timeline));
    attempts
}

fn check(situation: &Situation<'_>, setting: &RuleSetting) -> Option<Finding> {
    let attempts = counted(situation.timeline);
    let mut failed = failed_running(&attempts, situation.timeline, setting);
    // Several empty commits are for `unchanged-diff`: what it gives time has time here.
    let is_empty_commit = |(failure, attempt): &(Failure, Attempt<'_>)| {
        *failure == Failure::NothingModified && attempt.iteration.source == Source::Commit
    };
    if failed.iter().filter(|one| is_empty_commit(one)).count() > 1 && !unchanged_diff::halts(situation) {
        failed.retain(|one| !is_empty_commit(one));
    }
    let failures = words::len(&failed);
    if failures == 0 || failures < setting.count(&MAX) {
        return None;
    }
    let mut evidence: Vec<Evidence> = Vec::new();
    for (_, attempt) in failed.iter().rev() {
        evidence.extend(attempt.iteration.commit.map(Evidence::Commit));
        evidence.extend(attempt.tests.map(|tests| Evidence::Tests(tests.signature)));
    }
    let found = RULE.finding(setting.level, message(&failed));
    // A loop that modified nothing has no error to read.
    let is_idle = failed.iter().all(|(failure, _)| *failure == Failure::NothingModified);
    let help = if is_idle { idle_turns::RULE.finding(setting.level, "").help } else { found.help };
    Some(Finding { evidence, help, echo_of: Some(repeated_failures::RULE.id), ..found })
}

fn message(failed: &[(Failure, Attempt<'_>)]) -> String {
    let mut kinds: BTreeMap<Failure, u64> = BTreeMap::new();
    for (failure, _) in failed {
        *kinds.entry(*failure).or_default() += 1;
    }
    if let (Some((kind, times)), 1) = (kinds.first_key_value(), kinds.len()) {
        return format!("{} {}", kind.as_str(), words::in_a_row(*times));
    }
    let kinds: Vec<String> =
        kinds.iter().map(|(kind, times)| format!("{} in {times}", kind.as_str())).collect();
    format!("{} in a row failed: {}", words::count(failed.len(), "iteration"), kinds.join(", "))
}

/// A turn says nothing when its changes are unknown, or when it was not meant to change code.
fn says_something(attempt: &Attempt<'_>, timeline: &Timeline) -> bool {
    match attempt.iteration.source {
        Source::Turn(TurnChange::Unknown | TurnChange::Documents) => false,
        Source::Turn(TurnChange::Unchanged) => {
            timeline.workflow.edits(&attempt.iteration.node) == Edits::Expected
        }
        Source::Turn(TurnChange::Changed) | Source::Commit => true,
    }
}

/// The failures since the newest reset, newest first.
fn failed_running<'a>(
    attempts: &[Attempt<'a>],
    timeline: &Timeline,
    setting: &RuleSetting,
) -> Vec<(Failure, Attempt<'a>)> {
    let mut streak = Streak::default();
    let mut errors: Option<Signature> = None;
    let mut before: Option<&Iteration> = None;
    for attempt in attempts {
        let another = before.replace(attempt.iteration).is_some_and(|it| attempt.iteration.is_by_another(it));
        let judged = judge(attempt, errors, timeline, setting);
        let forgiven = another && judged == Judgement::Failed(Failure::NothingModified);
        let judged = if forgiven { Judgement::Nothing } else { judged };
        streak.take(judged, attempt, setting.count(&RISES));
        if let Some(tests) = &attempt.iteration.tests {
            errors = tests.errors;
        }
    }
    streak.failed.reverse();
    streak.failed
}

/// The output of a failed run; `None` where it printed nothing, or its output was not kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct RunOutput(Option<Signature>);

/// Failures running.
#[derive(Debug, Default)]
struct Streak<'a> {
    /// Those that count.
    failed: Vec<(Failure, Attempt<'a>)>,
    /// The failures before an untested change: whether the change repaired them is unknown until the next result.
    unreported: Vec<(Failure, Attempt<'a>)>,
    /// Times that the failing count was higher than ever.
    rises: u64,
    /// The output of the newest failed run that names no test.
    printed: Option<RunOutput>,
    /// That run, until another one prints the same: until then it is unknown whether it was a step.
    unread: Option<(Failure, Attempt<'a>)>,
}

impl<'a> Streak<'a> {
    fn take(&mut self, judged: Judgement, attempt: &Attempt<'a>, rises: u64) {
        if attempt.between == Edit::Code {
            self.unreported.append(&mut self.failed);
        }
        if !matches!(judged, Judgement::Failed(Failure::NothingModified) | Judgement::Nothing) {
            // Something was modified: that much is known, and contradicts what an empty iteration counted for.
            self.failed.retain(|(failure, _)| *failure != Failure::NothingModified);
        }
        if judged == Judgement::Failed(Failure::SameError) || attempt.tests.is_some() {
            self.reported(judged, attempt);
        }
        if attempt.step == Step::First {
            self.rises = 0;
        }
        match judged {
            Judgement::Rise if self.rises < rises => self.rises = self.rises.saturating_add(1),
            Judgement::Rise => self.failed.push((Failure::Tests, *attempt)),
            Judgement::Failed(failure) => match attempt.tests.filter(|tests| names_nothing(tests)) {
                Some(tests) => self.unread(failure, attempt, RunOutput(tests.errors)),
                None => self.failed.push((failure, *attempt)),
            },
            Judgement::Progress => *self = Self::default(),
            Judgement::Unknown if attempt.edit == Edit::Code => self.unreported.append(&mut self.failed),
            Judgement::Unknown | Judgement::Nothing => {}
        }
    }

    /// A run failed and names no test: it is held against the loop only where it printed what the one before it did.
    fn unread(&mut self, failure: Failure, attempt: &Attempt<'a>, printed: RunOutput) {
        if self.printed.replace(printed) == Some(printed) {
            self.failed.extend(self.unread.take());
            self.failed.push((failure, *attempt));
            return;
        }
        self.failed.retain(|(_, earlier)| !earlier.tests.is_some_and(names_nothing));
        self.unread = Some((failure, *attempt));
    }

    /// A result came: the failures before an untested change were not repaired if the very same tests fail again. If
    /// other tests fail, it is unknown.
    fn reported(&mut self, judged: Judgement, attempt: &Attempt<'a>) {
        let mut before = std::mem::take(&mut self.unreported);
        if judged != Judgement::Failed(Failure::SameError) {
            before.retain(|(_, earlier)| earlier.failures.is_some() && earlier.failures == attempt.failures);
        }
        before.append(&mut self.failed);
        self.failed = before;
    }
}

fn judge(
    attempt: &Attempt<'_>,
    errors_before: Option<Signature>,
    timeline: &Timeline,
    setting: &RuleSetting,
) -> Judgement {
    let diff = &attempt.iteration.diff;
    // Line ends and what normalization masks are for `unchanged-diff`: files did change.
    let is_excused = || excuse(RULE.id, attempt.iteration, timeline, setting).is_some();
    if diff.empty && (diff.files > 0 || is_excused()) {
        return Judgement::Nothing;
    }
    if diff.empty {
        return Judgement::Failed(Failure::NothingModified);
    }
    match attempt.step {
        Step::Green | Step::Fall { gone: 0 } => return Judgement::Progress,
        Step::Recovery => return Judgement::Nothing,
        Step::Rise { .. } => return Judgement::Rise,
        Step::Unknown | Step::First | Step::Fall { .. } | Step::NotLower { .. } => {}
    }
    match attempt.tests.map(|tests| (outcome(tests), tests)) {
        // All that is left passes.
        Some((Outcome::Green, _)) => Judgement::Nothing,
        Some((Outcome::Red, tests)) => match attempt.credit {
            Credit::Strike => Judgement::Failed(failure(tests)),
            Credit::Gain => Judgement::Progress,
            Credit::Known => Judgement::Nothing,
        },
        Some((Outcome::Stopped, tests)) => Judgement::Failed(failure(tests)),
        Some((Outcome::Nothing, _)) | None => same_error(attempt, errors_before),
    }
}

/// A report that is cut short proves nothing but for the errors it does show.
fn same_error(attempt: &Attempt<'_>, errors_before: Option<Signature>) -> Judgement {
    let shown = attempt.iteration.tests.as_ref().filter(|tests| outcome(tests) == Outcome::Nothing);
    match shown.and_then(|tests| tests.errors) {
        Some(errors) if errors_before == Some(errors) => Judgement::Failed(Failure::SameError),
        Some(_) | None => Judgement::Unknown,
    }
}

/// Returns whether the runner failed and no report says which tests did.
fn names_nothing(tests: &TestEvidence) -> bool {
    tests.status == TestStatus::RunnerError && tests.failing.is_empty() && tests.counts().failing() == 0
}

fn failure(tests: &TestEvidence) -> Failure {
    match tests.status {
        TestStatus::BuildFailed => Failure::Build,
        TestStatus::RunnerError => Failure::Runner,
        TestStatus::TimedOut | TestStatus::Crashed => Failure::Stopped,
        TestStatus::Passed | TestStatus::Failed | TestStatus::NoTests | TestStatus::Incomplete => {
            Failure::Tests
        }
    }
}

#[cfg(test)]
mod tests;
