//! xUnit.net v2 and v3: assemblies, collections, tests; errors of clean-ups next to them.

use super::walk::{Element, Node};
use super::{Dialect, number, value};
use crate::cases::{Case, Cases};
use crate::tally::{Outcome, append};

#[derive(Default)]
pub(super) struct XunitReader {
    /// A test, or an error of the assembly.
    entry: Case,
    /// Errors of assemblies are separate from the tests: they are no cases.
    errors: u64,
    tests: u64,
    failing: u64,
}

impl Dialect for XunitReader {
    fn node(&mut self, cases: &mut Cases, path: &str, node: Node<'_>) {
        // Some loggers write one assembly without the list around it.
        match (path.strip_prefix("/assemblies").unwrap_or(path), node) {
            ("/assembly", Node::Open(element)) => {
                self.tests = self.tests.saturating_add(number(&element, "total"));
                let failing = number(&element, "failed").saturating_add(number(&element, "errors"));
                self.failing = self.failing.saturating_add(failing);
            }
            ("/assembly/errors/error", Node::Open(element)) => {
                self.errors = self.errors.saturating_add(1);
                let id = [value(&element, "type"), value(&element, "name")].join(" ");
                self.entry = Case::new(id, Outcome::Errored);
            }
            ("/assembly/collection/test", Node::Open(element)) => self.entry = test(&element),
            ("/assembly/errors/error/failure" | "/assembly/collection/test/failure", Node::Open(element)) => {
                let kind = value(&element, "exception-type");
                if !kind.is_empty() {
                    append(&mut self.entry.error, &kind);
                    append(&mut self.entry.error, ": ");
                }
            }
            (
                "/assembly/errors/error/failure/message" | "/assembly/collection/test/failure/message",
                Node::Text(text),
            ) => append(&mut self.entry.error, text),
            ("/assembly/errors/error" | "/assembly/collection/test", Node::Close) => cases.end(&self.entry),
            _ => {}
        }
    }

    fn conclude(&mut self, cases: &mut Cases) {
        let tests = self.tests.saturating_add(self.errors);
        cases.hold_against(tests, self.failing);
    }
}

/// The id is the display name, under its class where it does not say it.
fn test(element: &Element<'_>) -> Case {
    let (name, class) = (value(element, "name"), value(element, "type"));
    let id = if class.is_empty() || name.starts_with(&class) { name } else { format!("{class}::{name}") };
    Case::new(id, Outcome::told("xunit", &value(element, "result")).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::super::tests::{counts, no_cut_passes, run, texts};
    use crate::TestStatus;

    const FAILING: &str = r#"<assemblies timestamp="11/20/2026 10:00:00">
  <assembly name="/p/demo.dll" total="3" passed="1" failed="1" skipped="1" errors="1">
    <errors><error type="assembly-cleanup" name="/p/demo.dll"><failure exception-type="E"><message>gone</message></failure></error></errors>
    <collection name="c" total="3"><test name="Demo.T.Adds(a: 1)" type="Demo.T" method="Adds" result="Pass" />
      <test name="subtracts" type="Demo.T" method="Subtracts" result="Fail"><failure exception-type="Xunit.Sdk.EqualException">
        <message><![CDATA[Assert.Equal() Failure
Expected: 2
Actual:   1]]></message><stack-trace>at Demo.T.Subtracts() in /p/T.cs:line 9</stack-trace></failure></test>
      <test name="Demo.T.Later" type="Demo.T" method="Later" result="Skip"><reason>x</reason></test></collection>
  </assembly>
</assemblies>
"#;

    const PASSING: &str = "<assemblies><assembly total='1' failed='0' errors='0'><errors/><collection>\
        <test name='a' result='Pass'/></collection></assembly></assemblies>";

    #[test]
    fn samples() {
        let one = run(FAILING);
        assert_eq!((one.status, one.counts), (TestStatus::Failed, counts(1, 1, 1, 1)), "{:?}", one.warnings);
        assert_eq!((one.failing.len(), one.failing[0].as_str()), (2, "Demo.T::subtracts"));
        let errors =
            ["Xunit.Sdk.EqualException: Assert.Equal() Failure\nExpected: 2\nActual:   1", "E: gone"];
        assert_eq!((texts(&one), one.runner.as_str()), (errors.to_vec(), "xunit"));
    }

    #[test]
    fn lies_and_gaps() {
        let cases = [
            (PASSING.to_owned(), TestStatus::Passed),
            (PASSING.replace("total='1'", "total='2'"), TestStatus::Incomplete),
            (PASSING.replace("errors='0'", "errors='1'"), TestStatus::Failed),
            (PASSING.replace("'Pass'", "'Odd'"), TestStatus::Failed),
            (PASSING.replace("<assemblies>", "").replace("</assemblies>", ""), TestStatus::Passed),
            ("<assembly total='1'/>".to_owned(), TestStatus::Incomplete),
            ("<assemblies/>".to_owned(), TestStatus::NoTests),
        ];
        for (xml, status) in cases {
            assert_eq!(run(&xml).status, status, "{xml}");
        }
    }

    #[test]
    fn a_cut_report_never_passes() {
        no_cut_passes(&[FAILING, PASSING]);
    }
}
