//! JUnit XML in its dialects: `<testsuites>` or a bare `<testsuite>` as root, suites in suites.
//!
//! What counts are the cases; the numbers that suites claim are only held against them. A suite that claims
//! failures and shows none has failed, and one that claims more tests than it lists is not the whole.

mod kind;
mod suite;

use std::borrow::Cow;

use self::kind::kind_of;
use self::suite::{Case, Expectation, ListedCases, Suite};
use super::cases::printed_escapes;
use super::normalize::Root;
use super::problem::ReportProblem;
use super::tally::{Outcome, Tally, append};
use super::xml::{Element, Node, XmlFormat};

/// Name of the runner in evidence.
const RUNNER: &str = "junit";

/// An open element.
enum Open {
    Suite(Suite),
    Case(Case),
    /// `failure` or `error` of a case or a suite.
    Fault(Fault),
    /// What a failing case printed, whose failure says nothing.
    Printed(String),
    /// Anything else, and everything inside it.
    Other,
}

struct Fault {
    outcome: Outcome,
    error: String,
    /// The text of the element, where the message says what failed.
    below: String,
    source: Source,
}

impl Fault {
    /// The error text; an exception's type goes before it, where only the text below tells it.
    fn into_text(self) -> String {
        match kind_of(&self.error, &self.below) {
            Some(kind) => format!("{kind}: {}", self.error),
            None => self.error,
        }
    }
}

/// Where the error text is.
enum Source {
    /// In the `message` attribute.
    Message,
    /// In the text of the element.
    Text,
}

/// Reads a report node by node.
pub(super) struct JunitReader {
    tally: Tally,
    report: String,
    open: Vec<Open>,
}

impl XmlFormat for JunitReader {
    fn node(&mut self, node: Node<'_>) -> Result<(), ReportProblem> {
        match node {
            Node::Open(element) => return self.open(&element),
            Node::Text(text) => self.text(text),
            Node::Close => self.close(),
        }
        Ok(())
    }

    /// Where the report breaks off inside a case that has failed already, it has failed all the same.
    fn finish(mut self: Box<Self>, read: Result<(), ReportProblem>) -> (Tally, Result<(), ReportProblem>) {
        for open in std::mem::take(&mut self.open) {
            if let Open::Case(case) = open
                && matches!(case.outcome(), Outcome::Failed | Outcome::Errored)
            {
                self.close_case(&case);
            }
        }
        (self.tally, read)
    }
}

impl JunitReader {
    pub(super) fn new(root: &Root, report: &str) -> Self {
        Self { tally: Tally::new(root), report: report.to_owned(), open: Vec::new() }
    }

    fn open(&mut self, element: &Element<'_>) -> Result<(), ReportProblem> {
        let opened = match (self.open.last(), element.name()) {
            (None | Some(Open::Suite(_)), "testsuites" | "testsuite") => {
                self.tally.recognised_as(RUNNER);
                Open::Suite(Suite::new(element))
            }
            (None, other) => {
                let root: String = other.chars().take(80).collect();
                return Err(ReportProblem::Unknown(format!("root element <{root}>")));
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
        Ok(())
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
            Some(Open::Fault(Fault { error, source: Source::Text, .. }) | Open::Printed(error)) => {
                append(error, text);
            }
            Some(Open::Fault(Fault { below, source: Source::Message, .. })) => append(below, text),
            Some(Open::Suite(_) | Open::Case(_) | Open::Other) | None => {}
        }
    }

    /// `skipped`; of type `todo` it says that the case is expected to fail (node:test).
    fn skip(&mut self, element: &Element<'_>) {
        if let Some(Open::Case(case)) = self.open.last_mut() {
            let [kind, message] = element.attributes(["type", "message"]);
            let message = message.unwrap_or_default();
            if kind.as_deref() == Some("todo") {
                case.expectation = Expectation::ToFail;
            } else if case.outcome() == Outcome::Skipped && could_not_run(&message) {
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

    fn close(&mut self) {
        match self.open.pop() {
            Some(Open::Fault(fault)) => self.mark(fault.outcome, &printed_escapes(&fault.into_text())),
            Some(Open::Printed(text)) => {
                if let Some(Open::Case(case)) = self.open.last_mut() {
                    case.explain(&text);
                }
            }
            Some(Open::Case(case)) => self.close_case(&case),
            Some(Open::Suite(suite)) => self.close_suite(suite),
            Some(Open::Other) | None => {}
        }
    }

    fn close_case(&mut self, case: &Case) {
        let outcome = case.outcome();
        self.tally.case(&case.id, outcome);
        let failed = matches!(outcome, Outcome::Failed | Outcome::Errored);
        if failed {
            self.tally.fail(&case.id, Some(&case.error));
        }
        if let Some(Open::Suite(suite)) = self.open.last_mut() {
            suite.add(ListedCases::one(case));
        }
    }

    fn close_suite(&mut self, mut suite: Suite) {
        if suite.claims_faults_in_vain() {
            self.tally.count(Outcome::Errored);
            let error =
                suite.error.take().unwrap_or(Cow::Borrowed("the suite counts failures that no case shows"));
            self.tally.fail(suite.name_or("unnamed suite"), Some(&error));
            suite.add(ListedCases { faults: 1, ..ListedCases::default() });
        }
        if let Some(Open::Suite(parent)) = self.open.last_mut() {
            parent.take(&suite);
        } else if suite.missing() > 0 {
            let listed = suite.cases.cases;
            let claimed = listed.saturating_add(suite.missing());
            let problem = ReportProblem::CasesMissing { suite: suite.name, claimed, listed };
            self.tally.problem(&self.report, &problem);
        }
    }
}

/// Reasons of CTest for not running a test, in a report that calls all of them skipped.
fn could_not_run(message: &str) -> bool {
    let reasons = [
        "Unable to find executable",
        "Fixture dependency failed",
        "Missing Configuration",
        "Required Files Missing",
        "Failed to start",
        "Insufficient resources",
    ];
    reasons.iter().any(|reason| message.starts_with(reason))
}

/// The message says what failed, the text below it often where as well. A message that only says where
/// (`panicked at src/lib.rs:3:5`) leaves it to the text.
fn fault(outcome: Outcome, element: &Element<'_>) -> Open {
    let [message, kind] = element.attributes(["message", "type"]);
    let message = message.unwrap_or_default();
    if message.trim().is_empty() || message.contains("panicked at") {
        let (error, below) = (String::new(), String::new());
        return Open::Fault(Fault { outcome, error, below, source: Source::Text });
    }
    let mut error = String::new();
    if let Some(kind) = kind.filter(|kind| !kind.is_empty() && !message.starts_with(&**kind)) {
        append(&mut error, &kind);
        append(&mut error, ": ");
    }
    append(&mut error, &message);
    Open::Fault(Fault { outcome, error, below: String::new(), source: Source::Message })
}

#[cfg(test)]
mod tests;
