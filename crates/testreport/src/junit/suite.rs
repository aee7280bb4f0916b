//! Suites and cases while they are open.

use std::borrow::Cow;

use super::super::cases::bounded;
use super::super::tally::{Outcome, append};
use super::super::xml::Element;

/// A suite: what it claims, and what its cases show.
#[derive(Debug)]
pub(super) struct Suite {
    pub(super) name: String,
    claims: Claims,
    /// `failures` and `errors` of the element, and faults in the suite itself.
    claimed_faults: u64,
    /// Cases in it and below it.
    pub(super) cases: ListedCases,
    /// Tests that suites in it count and do not list.
    missing_below: u64,
    /// Tests that suites in it count as skipped.
    skipped_below: u64,
    /// First error in the suite itself.
    pub(super) error: Option<Cow<'static, str>>,
}

/// Cases that a suite lists.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ListedCases {
    pub(super) cases: u64,
    /// Failing ones of those.
    pub(super) faults: u64,
    /// Skipped ones.
    pub(super) skipped: u64,
    /// Those with `status="run"` and nothing that googletest or CTest would add to it.
    pub(super) bare: u64,
}

impl ListedCases {
    /// One case.
    pub(super) fn one(case: &Case) -> Self {
        let outcome = case.outcome();
        Self {
            cases: 1,
            faults: u64::from(matches!(outcome, Outcome::Failed | Outcome::Errored)),
            skipped: u64::from(outcome == Outcome::Skipped),
            bare: u64::from(case.bare),
        }
    }

    fn add(&mut self, more: Self) {
        self.cases = self.cases.saturating_add(more.cases);
        self.faults = self.faults.saturating_add(more.faults);
        self.skipped = self.skipped.saturating_add(more.skipped);
        self.bare = self.bare.saturating_add(more.bare);
    }
}

/// The numbers of a suite's element.
#[derive(Debug)]
struct Claims {
    tests: u64,
    /// `skipped`, `disabled` and `ignored`: writers may count those and leave them out of their lists.
    skipped: u64,
    unit: Unit,
}

/// What `tests` counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
    /// Cases.
    Cases,
    /// Assertions (Catch2), or cases and their subtests (pytest): it says nothing about the list.
    Others,
    /// Assertions, if the cases look like doctest's as well.
    Maybe,
}

impl Suite {
    pub(super) fn new(element: &Element<'_>) -> Self {
        let [name, tests, failures, errors, skipped, disabled, ignored, status, result] =
            element.attributes([
                "name", "tests", "failures", "errors", "skipped", "disabled", "ignored", "status", "result",
            ]);
        let number =
            |text: Option<Cow<'_, str>>| text.and_then(|text| text.trim().parse::<u64>().ok()).unwrap_or(0);
        let name = name.unwrap_or_default();
        let is_failure =
            matches!(reported(status.as_deref(), result.as_deref()), Outcome::Failed | Outcome::Errored);
        let claimed = number(failures).saturating_add(number(errors)).saturating_add(u64::from(is_failure));
        let claims = Claims {
            tests: number(tests),
            skipped: number(skipped).saturating_add(number(disabled)).saturating_add(number(ignored)),
            unit: unit_of(element, &name),
        };
        Self {
            name: bounded(&name).to_owned(),
            claims,
            claimed_faults: claimed,
            cases: ListedCases::default(),
            missing_below: 0,
            skipped_below: 0,
            error: None,
        }
    }

    pub(super) fn name_or<'a>(&'a self, other: &'a str) -> &'a str {
        if self.name.is_empty() { other } else { &self.name }
    }

    /// Notes a fault that belongs to no case.
    pub(super) fn mark(&mut self, text: &str) {
        self.claimed_faults = self.claimed_faults.saturating_add(1);
        self.error.get_or_insert_with(|| Cow::Owned(text.to_owned()));
    }

    pub(super) fn add(&mut self, shown: ListedCases) {
        self.cases.add(shown);
    }

    /// Takes a suite in it that has ended.
    pub(super) fn take(&mut self, suite: &Self) {
        self.cases.add(suite.cases);
        self.missing_below = self.missing_below.saturating_add(suite.missing());
        self.skipped_below = self.skipped_below.saturating_add(suite.claimed_skipped());
    }

    fn claimed_skipped(&self) -> u64 {
        self.claims.skipped.max(self.skipped_below)
    }

    /// Tests or suites that it counts and that are not listed. Those that a suite counts as skipped may be left out,
    /// and only the outermost suite may say how many those are.
    pub(super) fn missing(&self) -> u64 {
        let Claims { tests, unit, .. } = self.claims;
        let listed = self.cases.cases;
        let own = match unit {
            Unit::Others if listed > 0 => 0,
            Unit::Maybe if listed > 0 && self.cases.bare == listed => 0,
            Unit::Cases | Unit::Others | Unit::Maybe => tests.saturating_sub(listed),
        };
        let left_out = self.claimed_skipped().saturating_sub(self.cases.skipped);
        own.max(self.missing_below).saturating_sub(left_out)
    }

    /// True when it has faults of its own, or claims some that no case shows.
    pub(super) fn claims_faults_in_vain(&self) -> bool {
        self.error.is_some() || (self.claimed_faults > 0 && self.cases.faults == 0)
    }
}

/// Catch2 counts assertions, and writes no host (`tbd`). doctest counts them as well, and writes nothing but four
/// attributes. pytest counts subtests that it does not list.
fn unit_of(element: &Element<'_>, name: &str) -> Unit {
    let [host, stamp, time, skipped, disabled, errors, failures] =
        element.attributes(["hostname", "timestamp", "time", "skipped", "disabled", "errors", "failures"]);
    let pytest = name == "pytest" && host.is_some() && stamp.is_some();
    if pytest || host.as_deref() == Some("tbd") {
        return Unit::Others;
    }
    let more = [&host, &stamp, &time, &skipped, &disabled].into_iter().any(Option::is_some);
    if !more && errors.is_some() && failures.is_some() { Unit::Maybe } else { Unit::Cases }
}

/// A test case.
#[derive(Debug)]
pub(super) struct Case {
    pub(super) id: String,
    /// What its attributes say.
    reported: Outcome,
    /// What its elements show.
    shown: Option<Outcome>,
    pub(super) expectation: Expectation,
    pub(super) error: String,
    /// Written as doctest writes it: `status="run"`, and no `result`.
    bare: bool,
}

/// What the suite expects of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Expectation {
    /// To pass.
    ToPass,
    /// To fail: it is still to be done.
    ToFail,
}

impl Case {
    /// The id is `classname::name`; without a class the suite's name replaces it.
    pub(super) fn new(element: &Element<'_>, suite: &str) -> Self {
        let [name, class, status, result] = element.attributes(["name", "classname", "status", "result"]);
        let (name, class) = (name.unwrap_or_default(), class.unwrap_or_default());
        let (name, class) = (bounded(&name), if class.is_empty() { suite } else { bounded(&class) });
        let id = match (class.is_empty(), name.is_empty()) {
            (false, false) => [class, "::", name].concat(),
            (true, _) => name.to_owned(),
            (false, true) => class.to_owned(),
        };
        Self {
            id,
            reported: reported(status.as_deref(), result.as_deref()),
            shown: None,
            expectation: Expectation::ToPass,
            error: String::new(),
            bare: status.as_deref() == Some("run") && result.is_none(),
        }
    }

    /// How it ended: what its elements show, unless its attributes say worse. A failure that was expected is none.
    pub(super) fn outcome(&self) -> Outcome {
        let failed = |outcome| matches!(outcome, Outcome::Failed | Outcome::Errored);
        let outcome = match self.shown {
            Some(shown) if failed(shown) || !failed(self.reported) => shown,
            Some(_) | None => self.reported,
        };
        match (self.expectation, outcome) {
            (Expectation::ToFail, Outcome::Failed | Outcome::Errored) => Outcome::Skipped,
            (Expectation::ToFail | Expectation::ToPass, outcome) => outcome,
        }
    }

    /// True for a case that has failed and does not say how (CTest).
    pub(super) fn is_unexplained(&self) -> bool {
        let outcome = self.shown.unwrap_or(self.reported);
        matches!(outcome, Outcome::Failed | Outcome::Errored) && self.error.trim().is_empty()
    }

    /// Takes what a case printed for its error.
    pub(super) fn explain(&mut self, text: &str) {
        append(&mut self.error, text);
    }

    /// The first failure or error stays; either goes over a skip.
    pub(super) fn mark(&mut self, outcome: Outcome, text: &str) {
        if matches!(self.shown, None | Some(Outcome::Passed | Outcome::Skipped)) {
            self.shown = Some(outcome);
            append(&mut self.error, text);
        }
    }
}

/// What `status` and `result` say, in the words of the writers that have them: googletest and CTest of a case that
/// did not run, without any `skipped`; others of one that failed, without any `failure`. The worse of both counts.
fn reported(status: Option<&str>, result: Option<&str>) -> Outcome {
    let weight = |outcome: &Outcome| match outcome {
        Outcome::Passed => 0,
        Outcome::Skipped => 1,
        Outcome::Failed => 2,
        Outcome::Errored => 3,
    };
    let words = [status, result].into_iter().flatten().map(word);
    words.max_by_key(weight).unwrap_or(Outcome::Passed)
}

fn word(text: &str) -> Outcome {
    let letters = text.chars().filter(char::is_ascii_alphanumeric);
    match letters.collect::<String>().to_ascii_lowercase().as_str() {
        "failed" | "fail" | "failure" | "failing" | "ko" | "notok" | "false" => Outcome::Failed,
        "error" | "errored" | "broken" | "panicked" | "crash" | "crashed" | "timedout" | "timeout"
        | "aborted" | "interrupted" | "killed" | "cancelled" | "canceled" => Outcome::Errored,
        "notrun" | "disabled" | "skipped" | "skip" | "suppressed" | "ignored" | "pending" | "notexecuted"
        | "inconclusive" | "untested" | "undefined" | "filtered" | "blocked" | "todo" => Outcome::Skipped,
        _ => Outcome::Passed,
    }
}
