//! JUnit XML in its dialects: `<testsuites>` or a bare `<testsuite>` as root, suites in suites.
//!
//! The cases count; the numbers that suites claim are only held against them. A suite that claims
//! failures and shows none has failed, and one that claims more tests than it lists is not the whole.

use std::borrow::Cow;

use super::Dialect;
use super::walk::{Element, Node};
use crate::cases::{Cases, bounded, printed_escapes};
use crate::tally::{Outcome, TestTime, append};
use crate::{ReportProblem, WordList, words::PHRASES};

enum Open {
    Suite(Suite),
    Case(Case),
    /// `failure` or `error` of a case or a suite.
    Fault(Fault),
    /// Output of a failing case whose failure says nothing.
    Printed(String),
    /// Anything else, and everything inside it.
    Other,
}

struct Fault {
    outcome: Outcome,
    /// The message; empty where it does not say what failed.
    error: String,
    /// The text of the element.
    below: String,
}

impl Fault {
    /// The error text; an exception's type goes before it, where only the text below tells it.
    fn into_text(self) -> String {
        match kind_of(&self.error, &self.below) {
            _ if self.error.is_empty() => self.below,
            Some(kind) => format!("{kind}: {}", self.error),
            None => self.error,
        }
    }
}

/// Reads a report node by node.
#[derive(Default)]
pub(super) struct JunitReader {
    open: Vec<Open>,
}

impl Dialect for JunitReader {
    fn node(&mut self, cases: &mut Cases, _: &str, node: Node<'_>) {
        match node {
            Node::Open(element) => self.open(&element),
            Node::Text(text) => self.text(text),
            Node::Close => self.close(cases),
        }
    }

    /// A report that breaks off inside a case that has failed already shows a failure all the same.
    fn end(&mut self, cases: &mut Cases) {
        for open in std::mem::take(&mut self.open) {
            if let Open::Case(case) = open
                && case.outcome().is_failing()
            {
                self.close_case(cases, &case);
            }
        }
    }
}

impl JunitReader {
    fn open(&mut self, element: &Element<'_>) {
        let opened = match (self.open.last(), element.name()) {
            (None, _) | (Some(Open::Suite(_)), "testsuites" | "testsuite") => {
                Open::Suite(Suite::new(element))
            }
            (Some(Open::Suite(_)), "testcase") => Open::Case(Case::new(element, self.suite_name())),
            (Some(Open::Suite(_) | Open::Case(_)), "failure") => fault(Outcome::Failed, element),
            (Some(Open::Suite(_) | Open::Case(_)), "error") => fault(Outcome::Errored, element),
            (Some(Open::Case(_)), "skipped") => {
                self.skip(element);
                Open::Other
            }
            (Some(Open::Case(case)), "system-out") if case.is_unexplained() => Open::Printed(String::new()),
            // `flakyFailure` and `rerunFailure` report further attempts; the case itself says how it ended.
            (Some(_), _) => Open::Other,
        };
        self.open.push(opened);
    }

    /// Name of the innermost suite that has one.
    fn suite_name(&self) -> &str {
        let names = self.open.iter().rev().map(|open| match open {
            Open::Suite(suite) => suite.name.as_str(),
            Open::Case(_) | Open::Fault(_) | Open::Printed(_) | Open::Other => "",
        });
        names.into_iter().find(|name| !name.is_empty()).unwrap_or_default()
    }

    fn text(&mut self, text: &str) {
        match self.open.last_mut() {
            Some(Open::Fault(Fault { below: into, .. }) | Open::Printed(into)) => append(into, text),
            Some(Open::Suite(_) | Open::Case(_) | Open::Other) | None => {}
        }
    }

    /// `skipped`; of type `todo` it says that the case is expected to fail (node:test).
    fn skip(&mut self, element: &Element<'_>) {
        if let Some(Open::Case(case)) = self.open.last_mut() {
            let [kind, message] = element.attributes(["type", "message"]);
            let message = message.unwrap_or_default();
            if kind.as_deref() == Some("todo") {
                case.todo = true;
            } else if case.outcome() == Outcome::Skipped && NOT_RUN.begins(&message) {
                case.mark(Outcome::Errored, &message);
            } else {
                case.mark(Outcome::Skipped, "");
            }
        }
    }

    fn mark(&mut self, outcome: Outcome, text: &str) {
        match self.open.last_mut() {
            Some(Open::Case(case)) => case.mark(outcome, text),
            Some(Open::Suite(suite)) => suite.mark(text),
            Some(Open::Fault(_) | Open::Printed(_) | Open::Other) | None => {}
        }
    }

    fn close(&mut self, cases: &mut Cases) {
        match self.open.pop() {
            Some(Open::Fault(fault)) => self.mark(fault.outcome, &printed_escapes(&fault.into_text())),
            Some(Open::Printed(text)) => {
                if let Some(Open::Case(case)) = self.open.last_mut() {
                    case.explain(&text);
                }
            }
            Some(Open::Case(case)) => self.close_case(cases, &case),
            Some(Open::Suite(suite)) => self.close_suite(cases, suite),
            Some(Open::Other) | None => {}
        }
    }

    fn close_case(&mut self, cases: &mut Cases, case: &Case) {
        let outcome = case.outcome();
        cases.tally.ended(&case.id, outcome, &case.error);
        if outcome == Outcome::Passed {
            case.time.into_iter().for_each(|time| cases.tally.took(time));
        }
        case.file.iter().for_each(|file| cases.tally.in_file(file));
        if let Some(Open::Suite(suite)) = self.open.last_mut() {
            suite.add(ListedCases::one(case));
        }
    }

    fn close_suite(&mut self, cases: &mut Cases, mut suite: Suite) {
        if suite.error.is_some() || (suite.claimed_faults > 0 && suite.cases.faults == 0) {
            cases.tally.count(Outcome::Errored);
            let error =
                suite.error.take().unwrap_or(Cow::Borrowed("the suite counts failures that no case shows"));
            let name = if suite.name.is_empty() { "unnamed suite" } else { &suite.name };
            cases.tally.fail(name, Some(&error));
            suite.add(ListedCases { faults: 1, ..ListedCases::default() });
        }
        if let Some(Open::Suite(parent)) = self.open.last_mut() {
            parent.take(&suite);
        } else if suite.missing() > 0 {
            let listed = suite.cases.cases;
            let claimed = listed.saturating_add(suite.missing());
            cases.problem(&ReportProblem::CasesMissing { suite: suite.name, claimed, listed });
        }
    }
}

/// Reasons of CTest for not running a test, in a report that calls all of them skipped.
const NOT_RUN: WordList = WordList::section(PHRASES, "reasons of CTest for not running a test");

/// The message says what failed, the text below it often where as well. A message that only says where
/// (`panicked at src/lib.rs:3:5`) leaves it to the text.
fn fault(outcome: Outcome, element: &Element<'_>) -> Open {
    let [message, kind] = element.attributes(["message", "type"]);
    let message = message.unwrap_or_default();
    let (mut error, below) = (String::new(), String::new());
    if message.trim().is_empty() || message.contains("panicked at") {
        return Open::Fault(Fault { outcome, error, below });
    }
    if let Some(kind) = kind.filter(|kind| !kind.is_empty() && !message.starts_with(&**kind)) {
        append(&mut error, &kind);
        append(&mut error, ": ");
    }
    append(&mut error, &message);
    Open::Fault(Fault { outcome, error, below })
}

/// The type before the message in one of the lines below it. `error` is the message, with the type of the attribute
/// before it, if there is one.
pub(super) fn kind_of<'t>(error: &str, below: &'t str) -> Option<&'t str> {
    let message = error.split_once(": ").map_or("", |(_, message)| message);
    [error, message].into_iter().find_map(|message| in_front_of(message, error, below))
}

fn in_front_of<'t>(message: &str, error: &str, below: &'t str) -> Option<&'t str> {
    let first = message.lines().map(str::trim).find(|line| !line.is_empty())?;
    below.lines().find_map(|line| {
        let (before, _) = line.split_once(first)?;
        let before = before.trim_end().strip_suffix(':')?.trim_end();
        // `TypeError [Error]`, `Error [ERR_TEST_FAILURE]`
        let bare =
            before.strip_suffix(']').and_then(|rest| rest.rsplit_once(" [")).map_or(before, |(kind, _)| kind);
        let name = bare.rsplit([' ', '[', '(']).next()?;
        let is_specific = name != "Error" && (name.ends_with("Error") || name.ends_with("Exception"));
        (is_specific && !error.contains(name)).then_some(name)
    })
}

/// A suite: what it claims, and what its cases show.
#[derive(Debug)]
pub(super) struct Suite {
    pub(super) name: String,
    /// Tests that its element counts, in that unit.
    tests: u64,
    unit: Unit,
    /// `skipped`, `disabled` and `ignored`: writers may count those and leave them out of their lists.
    claimed_skipped: u64,
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
    pub(super) skipped: u64,
    /// Those with `status="run"` and nothing that googletest or CTest would add to it.
    pub(super) bare: u64,
}

impl ListedCases {
    pub(super) fn one(case: &Case) -> Self {
        let outcome = case.outcome();
        Self {
            cases: 1,
            faults: u64::from(outcome.is_failing()),
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

/// The unit of `tests`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
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
        Self {
            name: bounded(&name).to_owned(),
            tests: number(tests),
            unit: unit_of(element, &name),
            claimed_skipped: number(skipped).saturating_add(number(disabled)).saturating_add(number(ignored)),
            claimed_faults: claimed,
            cases: ListedCases::default(),
            missing_below: 0,
            skipped_below: 0,
            error: None,
        }
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
        self.claimed_skipped.max(self.skipped_below)
    }

    /// Tests or suites that it counts and that are not listed. Those that a suite counts as skipped may be left out,
    /// and only the outermost suite may say how many those are.
    pub(super) fn missing(&self) -> u64 {
        let listed = self.cases.cases;
        let own = match self.unit {
            Unit::Others if listed > 0 => 0,
            Unit::Maybe if listed > 0 && self.cases.bare == listed => 0,
            Unit::Cases | Unit::Others | Unit::Maybe => self.tests.saturating_sub(listed),
        };
        let left_out = self.claimed_skipped().saturating_sub(self.cases.skipped);
        own.max(self.missing_below).saturating_sub(left_out)
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

#[derive(Debug)]
pub(super) struct Case {
    pub(super) id: String,
    /// The outcome by its attributes.
    reported: Outcome,
    /// The outcome by its elements.
    shown: Option<Outcome>,
    /// It is still to be done, and expected to fail.
    todo: bool,
    pub(super) error: String,
    /// Written as doctest writes it: `status="run"`, and no `result`.
    bare: bool,
    time: Option<TestTime>,
    file: Option<String>,
}

impl Case {
    /// The id is `classname::name`; without a class the suite's name replaces it.
    pub(super) fn new(element: &Element<'_>, suite: &str) -> Self {
        let [name, class, status, result, time, file] =
            element.attributes(["name", "classname", "status", "result", "time", "file"]);
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
            todo: false,
            error: String::new(),
            bare: status.as_deref() == Some("run") && result.is_none(),
            time: time.and_then(|time| TestTime::of_seconds(&time)),
            file: file.map(|file| bounded(&file).to_owned()),
        }
    }

    /// The outcome by its elements, unless its attributes say worse. A failure that was expected is none.
    pub(super) fn outcome(&self) -> Outcome {
        let outcome = match self.shown {
            Some(shown) if shown.is_failing() || !self.reported.is_failing() => shown,
            Some(_) | None => self.reported,
        };
        if self.todo && outcome.is_failing() { Outcome::Skipped } else { outcome }
    }

    /// True for a case that has failed and does not say how (CTest).
    pub(super) fn is_unexplained(&self) -> bool {
        let outcome = self.shown.unwrap_or(self.reported);
        outcome.is_failing() && self.error.trim().is_empty()
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

/// The outcome by `status` and `result`, in the words of the writers that have them: googletest and CTest of a case that
/// did not run, without any `skipped`; others of one that failed, without any `failure`. The worse of both counts.
fn reported(status: Option<&str>, result: Option<&str>) -> Outcome {
    [status, result].into_iter().flatten().map(word).max().unwrap_or(Outcome::Passed)
}

fn word(text: &str) -> Outcome {
    let letters = text.chars().filter(char::is_ascii_alphanumeric);
    let letters = letters.collect::<String>().to_ascii_lowercase();
    Outcome::told("junit", &letters).unwrap_or(Outcome::Passed)
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod kind_tests {
    use super::*;

    #[test]
    fn the_type_is_found_where_the_text_tells_it() {
        let node = "[Error [ERR_TEST_FAILURE]: no] {\n  code: 'ERR_TEST_FAILURE',\n  cause: TypeError [Error]: no\n      at f (a.js:1:2)";
        let cases = [
            ("no", node, Some("TypeError")),
            ("\nno\nmore", "RangeError: no", Some("RangeError")),
            ("TypeError: no", "cause: TypeError: no", None),
            ("testCodeFailure: no", node, Some("TypeError")),
            ("org.x.AError: no", "org.x.AError: no", None),
            ("no", "Error: no", None),
            ("no", "cannot say no", None),
            ("no", "AssertionError [ERR_ASSERTION]: no", Some("AssertionError")),
            ("", "TypeError: no", None),
        ];
        for (message, below, expected) in cases {
            assert_eq!(kind_of(message, below), expected, "{message} {below}");
        }
    }
}
