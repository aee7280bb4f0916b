//! Suites and cases while they are open.

use std::borrow::Cow;

use super::super::cases::bounded;
use super::super::tally::{Outcome, append};
use super::super::xml::Element;

/// A suite: what it claims, and what its cases show.
#[derive(Debug)]
pub(super) struct Suite {
    pub(super) name: String,
    /// `tests` of the element.
    pub(super) claimed: u64,
    /// `failures` and `errors` of the element, and faults that stand in the suite itself.
    claimed_faults: u64,
    /// Cases in it and below it.
    pub(super) cases: u64,
    /// Failing ones of those.
    pub(super) faults: u64,
    /// First error that stands in the suite itself.
    pub(super) error: Option<Cow<'static, str>>,
}

impl Suite {
    pub(super) fn new(element: &Element<'_>) -> Self {
        let [name, tests, failures, errors] = element.attributes(["name", "tests", "failures", "errors"]);
        let number =
            |text: Option<Cow<'_, str>>| text.and_then(|text| text.trim().parse::<u64>().ok()).unwrap_or(0);
        Self {
            name: bounded(&name.unwrap_or_default()).to_owned(),
            claimed: number(tests),
            claimed_faults: number(failures).saturating_add(number(errors)),
            cases: 0,
            faults: 0,
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

    pub(super) fn add(&mut self, cases: u64, faults: u64) {
        self.cases = self.cases.saturating_add(cases);
        self.faults = self.faults.saturating_add(faults);
    }

    /// True when it has faults of its own, or claims some that no case shows.
    pub(super) fn claims_faults_in_vain(&self) -> bool {
        self.error.is_some() || (self.claimed_faults > 0 && self.faults == 0)
    }
}

/// A test case.
#[derive(Debug)]
pub(super) struct Case {
    pub(super) id: String,
    outcome: Outcome,
    pub(super) expectation: Expectation,
    pub(super) error: String,
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
    /// The id is `classname::name`; without a class the suite's name stands in for it.
    pub(super) fn new(element: &Element<'_>, suite: &str) -> Self {
        let [name, class, status, result] = element.attributes(["name", "classname", "status", "result"]);
        let (name, class) = (name.unwrap_or_default(), class.unwrap_or_default());
        let (name, class) = (bounded(&name), if class.is_empty() { suite } else { bounded(&class) });
        let id = match (class.is_empty(), name.is_empty()) {
            (false, false) => [class, "::", name].concat(),
            (true, _) => name.to_owned(),
            (false, true) => class.to_owned(),
        };
        let outcome = did_not_run(status.as_deref(), result.as_deref());
        Self { id, outcome, expectation: Expectation::ToPass, error: String::new() }
    }

    /// How it ended; a failure that was expected is none.
    pub(super) fn outcome(&self) -> Outcome {
        match (self.expectation, self.outcome) {
            (Expectation::ToFail, Outcome::Failed | Outcome::Errored) => Outcome::Skipped,
            (Expectation::ToFail | Expectation::ToPass, outcome) => outcome,
        }
    }

    /// True for a case that has failed and does not say how (CTest).
    pub(super) fn is_unexplained(&self) -> bool {
        matches!(self.outcome, Outcome::Failed | Outcome::Errored) && self.error.trim().is_empty()
    }

    /// Takes what a case printed for its error.
    pub(super) fn explain(&mut self, text: &str) {
        append(&mut self.error, text);
    }

    /// The first failure or error stays; either goes over a skip.
    pub(super) fn mark(&mut self, outcome: Outcome, text: &str) {
        if matches!(self.outcome, Outcome::Passed | Outcome::Skipped) {
            self.outcome = outcome;
            append(&mut self.error, text);
        }
    }
}

/// Some dialects say in an attribute that a case did not run, without any `skipped` (googletest, CTest).
fn did_not_run(status: Option<&str>, result: Option<&str>) -> Outcome {
    match (status, result) {
        (Some("notrun" | "disabled" | "skipped"), _) | (_, Some("suppressed" | "skipped")) => {
            Outcome::Skipped
        }
        (Some(_) | None, Some(_) | None) => Outcome::Passed,
    }
}
