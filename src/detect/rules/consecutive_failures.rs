//! `consecutive-failures`: one failure after the other, of whatever kind.

use std::collections::BTreeMap;
use std::fmt;

use crate::detect::attempts::{Attempt, Edit, Step, attempts};
use crate::detect::exempt::{BUILD_STARTS, begins_as};
use crate::detect::rule::{Docs, LOOP, Reads, Rule};
use crate::detect::situation::Situation;
use crate::detect::words;
use crate::domain::about::{About, EventClass, Reset};
use crate::domain::detail::Found;
use crate::domain::findings::{Evidence, Face, Finding, HaltReason, Level};
use crate::domain::ids::Signature;
use crate::domain::settings::{Param, RuleSetting};
use crate::domain::tests::{TestEvidence, TestStatus};
use crate::domain::workflow::Edits;
use crate::history::{Outcome, Source, Timeline, TurnChange, outcome};

pub(in crate::detect) const MAX: Param<u64> =
    Param::count("max", 3, 1, "Failed iterations running that halt the loop.");
pub(in crate::detect) const RISES: Param<u64> = Param::count(
    "rises",
    4,
    0,
    "Times that the failing count may be higher than ever before that is a failure.",
);
pub(in crate::detect) const EXEMPT: Param<Vec<String>> = Param::list(
    "exempt",
    BUILD_STARTS,
    "Beginnings of subjects of empty commits made on purpose; `#` stands for digits.",
);

pub(in crate::detect) static RULE: Rule = Rule {
    id: "consecutive-failures",
    summary: "3 iterations running failed, each in its own way",
    docs: Docs {
        trips: "A counted iteration fails when it changes nothing (unless its subject begins with a pattern \
                of `exempt`), when its tests fail, when its build fails or its run was stopped, or when it \
                shows the same error as the result before it. Passing tests reset the count, unless tests \
                that failed are gone. So does progress: a new low of the failing count with no test gone. A \
                failing count that is higher than ever since then is not a failure, up to `rises` times, and \
                neither is a count on its way down from there. What is unknown (no test result, \
                documentation only) neither counts nor resets. Code that was changed and not tested, merges \
                and picks included, may have repaired what failed before it; those failures count again only \
                when the very same tests fail once more. An iteration that modifies something takes back the \
                empty iterations before it. `max` failures without a reset halt the loop.",
        why: "Three failures in a row are a pattern. But 7, 4, 2 failing tests is work that goes well, so a \
              new low resets the count, and a refactoring breaks more before it repairs it (2, 5, 9, 6, 3, \
              0), so a rise is tolerated.",
        source: "docs/spec-map.md: Loop rules, no-progress heuristic; settled choices 6 to 8",
        example: "The build fails, then three tests fail, then a commit changes nothing: the loop halts with \
                  BLOCKER_REPORT.md.",
        tune: "`consecutive-failures = { max = 5 }`",
    },
    level: Level::Halt,
    reason: HaltReason::RepeatedError,
    face: Face::BlockerReport,
    about: About { reset: Reset::Alone, ..About::of(EventClass::NoProgress) },
    params: &[MAX.spec, RISES.spec, EXEMPT.spec],
    stages: LOOP,
    reads: Reads::Records,
    check,
};

/// What one strike candidate says about the loop.
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Failure {
    Tests,
    Build,
    Runner,
    Stopped,
    SameError,
    NothingModified,
}

impl Failure {
    fn as_str(self) -> &'static str {
        match self {
            Self::Tests => "tests failed",
            Self::Build => "the build failed",
            Self::Runner => "the test runner failed",
            Self::Stopped => "the tests were stopped",
            Self::SameError => "the same error came again",
            Self::NothingModified => "nothing was modified",
        }
    }
}

/// Iterations running that failed, and in what ways.
#[derive(Debug)]
struct Failures {
    times: u64,
    kinds: BTreeMap<Failure, u64>,
}

impl Found for Failures {}

impl fmt::Display for Failures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kinds: Vec<String> =
            self.kinds.iter().map(|(kind, times)| format!("{} in {times}", kind.as_str())).collect();
        write!(f, "{} running failed: {}", words::count(self.times, "iteration"), kinds.join(", "))
    }
}

fn check(situation: &Situation<'_>, setting: &RuleSetting) -> Option<Finding> {
    let timeline = situation.timeline;
    let reset = timeline.resets.get(RULE.id).copied().unwrap_or(0);
    let mut attempts = attempts(timeline);
    // What a person has answered for with `andon resume --counter` does not count.
    attempts.retain(|attempt| attempt.iteration.number > reset && says_something(attempt, timeline));
    let failed = failed_running(&attempts, setting);
    let failures = words::len(&failed);
    if failures == 0 || failures < setting.count(&MAX) {
        return None;
    }
    let mut kinds: BTreeMap<Failure, u64> = BTreeMap::new();
    for (failure, _) in &failed {
        *kinds.entry(*failure).or_default() += 1;
    }
    let mut evidence: Vec<Evidence> = Vec::new();
    for (_, attempt) in failed.iter().rev() {
        evidence.extend(attempt.iteration.commit.map(Evidence::Commit));
        evidence.extend(attempt.tests.map(|tests| Evidence::Tests(tests.signature)));
    }
    let help = vec!["read the first error before the next edit: andon test".to_owned()];
    Some(Finding {
        evidence,
        help,
        echo_of: Some("repeated-failures"),
        ..RULE.finding(setting.level, Failures { times: failures, kinds })
    })
}

/// A turn says nothing when nobody knows what it changed, or when it was not meant to change code.
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
fn failed_running<'a>(attempts: &[Attempt<'a>], setting: &RuleSetting) -> Vec<(Failure, Attempt<'a>)> {
    let mut streak = Streak::default();
    let mut errors: Option<Signature> = None;
    for attempt in attempts {
        let judged = judge(attempt, errors, setting.list(&EXEMPT));
        streak.take(judged, attempt, setting.count(&RISES));
        if let Some(tests) = &attempt.iteration.tests {
            errors = tests.errors;
        }
    }
    streak.failed.reverse();
    streak.failed
}

/// Failures running.
#[derive(Debug, Default)]
struct Streak<'a> {
    /// Those that count.
    failed: Vec<(Failure, Attempt<'a>)>,
    /// Those before a change that nobody tested: whether it mended them is not known until the next result.
    untold: Vec<(Failure, Attempt<'a>)>,
    /// How often the failing count was higher than ever.
    rises: u64,
}

impl<'a> Streak<'a> {
    fn take(&mut self, judged: Judgement, attempt: &Attempt<'a>, rises: u64) {
        if attempt.between == Edit::Code {
            self.untold.append(&mut self.failed);
        }
        if !matches!(judged, Judgement::Failed(Failure::NothingModified) | Judgement::Nothing) {
            // Something was modified: that much is known, and contradicts what an empty iteration counted for.
            self.failed.retain(|(failure, _)| *failure != Failure::NothingModified);
        }
        if judged == Judgement::Failed(Failure::SameError) || attempt.tests.is_some() {
            self.told(judged, attempt);
        }
        if attempt.step == Step::First {
            self.rises = 0;
        }
        match judged {
            Judgement::Rise if self.rises < rises => self.rises = self.rises.saturating_add(1),
            Judgement::Rise => self.failed.push((Failure::Tests, *attempt)),
            Judgement::Failed(failure) => self.failed.push((failure, *attempt)),
            Judgement::Progress => *self = Self::default(),
            Judgement::Unknown if attempt.edit == Edit::Code => self.untold.append(&mut self.failed),
            Judgement::Unknown | Judgement::Nothing => {}
        }
    }

    /// A result came: what failed before an untested change was not mended where the very same fails again. Where
    /// something else does, nobody knows.
    fn told(&mut self, judged: Judgement, attempt: &Attempt<'a>) {
        let mut before = std::mem::take(&mut self.untold);
        if judged != Judgement::Failed(Failure::SameError) {
            before.retain(|(_, earlier)| earlier.failures.is_some() && earlier.failures == attempt.failures);
        }
        before.append(&mut self.failed);
        self.failed = before;
    }
}

fn judge(attempt: &Attempt<'_>, errors_before: Option<Signature>, exempt: &[String]) -> Judgement {
    let diff = &attempt.iteration.diff;
    // Line ends and what normalization masks are for `unchanged-diff`: files did change.
    if diff.empty && (diff.files > 0 || begins_as(attempt.iteration, exempt)) {
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
        Some((Outcome::Red | Outcome::Stopped, tests)) => Judgement::Failed(failure(tests)),
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
mod tests {
    use super::*;
    use crate::detect::testkit::asked_of;
    use crate::detect::testkit::{checked, checked_with};
    use crate::domain::facts::CommitKind::{CherryPick, Merge, Rebase, Revert};
    use crate::domain::settings::ParamValue;
    use crate::history::testkit::{Commit, commit, green, other, red};
    use crate::history::testkit::{chain, folded, reset, turn_end};

    const NAMES: [&str; 9] = ["a", "b", "c", "d", "e", "f", "g", "h", "i"];

    /// `failing` of `total` tests fail on code `state`.
    fn f(state: u8, failing: usize, total: u64) -> Commit {
        commit(state).tests(red(state, &NAMES[..failing], total))
    }

    fn only(state: u8, failing: &str) -> Commit {
        commit(state).tests(red(state, &[failing], 9))
    }

    fn g(state: u8) -> Commit {
        commit(state).tests(green(state, 9))
    }

    fn o(state: u8, status: TestStatus) -> Commit {
        commit(state).tests(other(state, status))
    }

    fn trips(commits: Vec<Commit>) -> bool {
        checked(&RULE, commits).is_some()
    }

    #[test]
    fn three_failures_running_trip() {
        use TestStatus::{BuildFailed, Crashed, NoTests, RunnerError, TimedOut};
        let table: Vec<(&str, Vec<Commit>, bool)> = vec![
            ("two", vec![f(1, 2, 9), f(2, 3, 9)], false),
            ("three", vec![f(1, 2, 9), f(2, 2, 9), f(3, 2, 9)], true),
            ("to and fro", vec![f(1, 2, 9), f(2, 3, 9), f(3, 2, 9), f(4, 3, 9)], true),
            (
                "a refactoring",
                vec![f(1, 2, 9), f(2, 4, 9), f(3, 7, 9), f(4, 9, 9), f(5, 6, 9), f(6, 3, 9), f(7, 1, 9)],
                false,
            ),
            ("worse and worse", (1..=8).map(|at| f(at, usize::from(at), 9)).collect(), true),
            ("mended unseen", vec![only(1, "a"), commit(8), only(2, "b"), commit(9), only(3, "c")], false),
            ("one after the other", vec![only(1, "a"), only(2, "b"), only(3, "c")], true),
            ("green in between", vec![f(1, 2, 9), f(2, 3, 9), g(3), f(4, 2, 9)], false),
            ("green at last", vec![f(1, 2, 9), f(2, 3, 9), f(3, 2, 9), g(4)], false),
            ("untested in between", vec![f(1, 2, 9), commit(8), f(2, 2, 9), commit(9), f(3, 2, 9)], true),
            ("only untested", vec![commit(1), commit(2), commit(3), commit(4)], false),
            ("builds", vec![o(1, BuildFailed), o(2, BuildFailed), o(3, BuildFailed)], true),
            ("of every kind", vec![o(1, RunnerError), o(2, TimedOut), o(3, Crashed)], true),
            ("no tests", vec![o(1, NoTests), o(2, NoTests), o(3, NoTests)], false),
            ("empty diffs", vec![commit(1).empty(), commit(1).empty(), commit(1).empty()], true),
            (
                "empty diffs with edits in between",
                vec![commit(1).empty(), commit(2), commit(2).empty(), commit(3), commit(3).empty()],
                false,
            ),
            ("a mixture", vec![o(1, BuildFailed), f(2, 3, 9), commit(2).empty()], true),
        ];
        for (name, commits, expected) in table {
            assert_eq!(trips(commits), expected, "{name}");
        }
    }

    #[test]
    fn a_new_low_resets_unless_tests_are_gone() {
        assert!(!trips(vec![f(1, 7, 9), f(2, 4, 9), f(3, 2, 9)]), "7 -> 4 -> 2 goes well");
        assert!(!trips(vec![g(9), f(1, 7, 9), f(2, 4, 9), f(3, 2, 9)]), "after a green one too");
        assert!(
            !trips(vec![f(1, 7, 9), f(2, 7, 9), f(3, 6, 9), f(4, 6, 9), f(5, 6, 9)]),
            "two since the low"
        );
        assert!(
            trips(vec![f(1, 7, 9), f(2, 6, 9), f(3, 6, 9), f(4, 6, 9), f(5, 6, 9)]),
            "three since the low"
        );
        assert!(trips(vec![f(1, 7, 9), f(2, 5, 8), f(3, 4, 7)]), "tests are gone");
        assert!(
            trips(vec![f(1, 1, 9), commit(2).tests(green(2, 8)), f(3, 1, 8), f(4, 1, 8), f(5, 1, 8)]),
            "a failing test was taken away, and the next ones fail"
        );
        assert!(!trips(vec![f(1, 7, 9), f(2, 5, 12), f(3, 4, 15)]), "tests were added");
    }

    #[test]
    fn documentation_counts_once_and_resets_nothing() {
        assert!(!trips(vec![f(1, 2, 9), f(1, 2, 9), f(1, 2, 9), f(1, 2, 9)]));
        assert!(trips(vec![f(1, 2, 9), f(1, 2, 9), f(2, 2, 9), f(2, 2, 9), f(3, 2, 9)]));
        assert!(!trips(vec![f(1, 2, 9), f(2, 3, 9), g(3), g(3), f(4, 3, 9)]));
    }

    #[test]
    fn what_may_be_mended_does_not_count_until_it_fails_again() {
        let red_then = |rest: Vec<crate::domain::facts::Fact>| -> Vec<crate::domain::facts::Fact> {
            chain(vec![only(1, "a"), commit(2)]).into_iter().chain(rest).collect()
        };
        let idle = |count: usize| vec![turn_end(2); count];
        // The first end belongs to the turn of the commit.
        assert!(asked_of(&RULE, &folded(red_then(idle(3)))).is_none(), "red, mended unseen, two idle turns");
        assert!(asked_of(&RULE, &folded(red_then(idle(4)))).is_some(), "three idle turns");
        let docs = |state: u8, failing: &str| only(state, failing).subject("docs");
        assert!(
            trips(vec![only(1, "a"), docs(1, "a"), only(2, "b"), docs(2, "b"), only(3, "c")]),
            "nothing untested"
        );
        for kind in [Merge, Rebase] {
            let merged = vec![only(1, "a"), only(2, "a"), commit(7).kind(kind), only(3, "b")];
            assert!(!trips(merged), "{kind:?}");
            let same = vec![only(1, "a"), only(2, "a"), commit(7).kind(kind), only(3, "a")];
            assert!(trips(same), "{kind:?}");
        }
        assert!(
            !trips(vec![o(1, TestStatus::BuildFailed), commit(2), only(3, "a"), only(4, "a")]),
            "the build was mended, who knows when"
        );
        assert!(
            trips(vec![
                o(1, TestStatus::BuildFailed),
                commit(2),
                o(3, TestStatus::BuildFailed),
                only(4, "a")
            ]),
            "the build fails again"
        );
    }

    #[test]
    fn exempt_kinds_neither_count_nor_reset() {
        for kind in [Merge, Revert, CherryPick, Rebase] {
            assert!(!trips(vec![f(1, 2, 9), f(2, 3, 9), f(3, 3, 9).kind(kind)]), "{kind:?}");
            assert!(trips(vec![f(1, 3, 9), f(2, 3, 9), g(8).kind(kind), f(3, 3, 9)]), "{kind:?}");
        }
    }

    #[test]
    fn the_same_error_counts_where_the_report_is_cut_short() {
        let cut = |state: u8, error: u8| {
            let mut tests = other(state, TestStatus::Incomplete);
            tests.errors = Some(Signature([error; 32]));
            commit(state).tests(tests)
        };
        assert!(!trips(vec![cut(1, 1), cut(2, 1), cut(3, 1)]), "the first shows it for the first time");
        assert!(trips(vec![cut(1, 1), cut(2, 1), cut(3, 1), cut(4, 1)]));
        assert!(!trips(vec![cut(1, 1), cut(2, 2), cut(3, 1), cut(4, 2)]));
    }

    #[test]
    fn the_threshold_is_a_parameter_and_the_face_a_blocker_report() {
        let two = || vec![f(1, 2, 9), o(2, TestStatus::BuildFailed)];
        let with = |max| checked_with(&RULE, two(), &[("max", ParamValue::Count(max))]);
        assert!(with(3).is_none());
        let finding = with(2).unwrap();
        assert_eq!(finding.face, Face::BlockerReport);
        assert_eq!(
            finding.message(),
            "2 iterations running failed: tests failed in 1, the build failed in 1"
        );
    }

    #[test]
    fn idle_turns_fail_and_a_person_can_reset_this_counter_alone() {
        let red_then = |turns: usize| -> Vec<crate::domain::facts::Fact> {
            let red = commit(1).tests(red(1, &["a"], 9));
            chain(vec![red]).into_iter().chain(vec![turn_end(1); turns]).collect()
        };
        // The first end belongs to the turn of the commit.
        assert!(asked_of(&RULE, &folded(red_then(2))).is_none());
        assert!(asked_of(&RULE, &folded(red_then(3))).is_some());
        let mut answered = red_then(3);
        answered.push(reset("consecutive-failures"));
        answered.push(turn_end(1));
        let line = folded(answered);
        assert!(asked_of(&RULE, &line).is_none());
        assert_eq!(line.number(), 4, "the window goes on");
    }
}
