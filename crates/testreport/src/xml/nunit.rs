//! NUnit 3 (`test-run`) and NUnit 2 (`test-results`): suites in suites, cases in them.
//!
//! A suite that failed while no case below it did (a fixture that cannot be built, a one-time tear-down) is an
//! errored entry of its own.

use super::walk::{Element, Node};
use super::{Dialect, number, value};
use crate::cases::{Case, Cases};
use crate::tally::{Outcome, append};

/// A suite that is open.
struct Suite {
    name: String,
    outcome: Outcome,
    /// `site` of NUnit 3: where the failure came from.
    site: String,
    error: String,
    failing_before: u64,
}

#[derive(Default)]
pub(super) struct NunitReader {
    suites: Vec<Suite>,
    case: Case,
    tests: u64,
    failing: u64,
}

impl NunitReader {
    fn begin_suite(&mut self, cases: &mut Cases, element: &Element<'_>) {
        let is_root = self.suites.is_empty();
        if is_root {
            self.tests = number(element, "total");
            let failing = ["failed", "errors", "failures"];
            self.failing = failing.iter().fold(0, |sum, kind| sum.saturating_add(number(element, kind)));
        }
        self.suites.push(Suite {
            name: if is_root { "test run".to_owned() } else { name_of(element) },
            outcome: outcome_of(element, Outcome::Passed),
            site: value(element, "site"),
            error: String::new(),
            failing_before: cases.failing,
        });
    }

    fn end_suite(&mut self, cases: &mut Cases) {
        let Some(suite) = self.suites.pop() else { return };
        let failed = suite.outcome.is_failing();
        let own = cases.failing == suite.failing_before || suite.site == "TearDown";
        if failed && own {
            cases.errored(&suite.name, &suite.error);
        }
    }
}

impl Dialect for NunitReader {
    fn node(&mut self, cases: &mut Cases, path: &str, node: Node<'_>) {
        let below = below_suite(path);
        // NUnit 2 has a list around the cases of a suite.
        let case = below.strip_prefix("/results").unwrap_or(below).strip_prefix("/test-case");
        match (case.unwrap_or(below), node) {
            ("", Node::Open(element)) if case.is_some() => {
                self.case = Case::new(name_of(&element), outcome_of(&element, Outcome::Errored));
            }
            ("", Node::Open(element)) => self.begin_suite(cases, &element),
            ("/failure/message" | "/reason/message", Node::Text(text)) => {
                let of_suite = self.suites.last_mut().filter(|_| case.is_none());
                append(of_suite.map_or(&mut self.case.error, |suite| &mut suite.error), text);
            }
            ("", Node::Close) if case.is_some() => cases.end(&self.case),
            ("", Node::Close) => self.end_suite(cases),
            _ => {}
        }
    }

    fn conclude(&mut self, cases: &mut Cases) {
        cases.hold_against(self.tests, self.failing);
    }
}

/// The path below the innermost suite, which the root is as well; empty for the suite itself.
fn below_suite(path: &str) -> &str {
    let below_root = || path.match_indices('/').nth(1).and_then(|(at, _)| path.get(at..));
    path.rsplit_once("/test-suite").map_or_else(|| below_root().unwrap_or_default(), |(_, below)| below)
}

fn name_of(element: &Element<'_>) -> String {
    let full = value(element, "fullname");
    if full.is_empty() { value(element, "name") } else { full }
}

/// `result`, with `label` of NUnit 3; the oldest reports say only `executed` and `success`. Writers differ in whether
/// these begin with a capital.
fn outcome_of(element: &Element<'_>, unknown: Outcome) -> Outcome {
    let word = |attribute: &str| value(element, attribute).trim().to_ascii_lowercase();
    match (word("result").as_str(), word("label").as_str()) {
        ("passed" | "success" | "warning", _) => Outcome::Passed,
        ("failed", "error" | "cancelled" | "invalid")
        | ("error" | "notrunnable" | "invalid" | "cancelled", _) => Outcome::Errored,
        ("failed" | "failure", _) => Outcome::Failed,
        ("skipped" | "ignored" | "inconclusive" | "explicit" | "notrun", _) => Outcome::Skipped,
        ("", _) if word("executed") == "false" => Outcome::Skipped,
        ("", _) => match word("success").as_str() {
            "true" => Outcome::Passed,
            "false" => Outcome::Failed,
            _ => unknown,
        },
        _ => Outcome::Errored,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{counts, no_cut_passes, run, texts};
    use crate::TestStatus;

    const THREE: &str = r#"<?xml version="1.0" encoding="utf-8" standalone="no"?>
<test-run id="2" testcasecount="4" result="Failed" total="4" passed="1" failed="2" inconclusive="0" skipped="1">
  <command-line><![CDATA[demo.dll]]></command-line>
  <test-suite type="Assembly" id="0-1" name="demo.dll" fullname="/p/demo.dll" result="Failed" site="Child">
    <failure><message><![CDATA[One or more child tests had errors]]></message></failure>
    <test-suite type="TestFixture" name="MathTests" fullname="Demo.MathTests" result="Failed" site="Child">
      <test-case id="0-2" name="Adds" fullname="Demo.MathTests.Adds(1,2)" result="Passed" />
      <test-case id="0-3" name="Subtracts" fullname="Demo.MathTests.Subtracts" result="Failed">
        <failure><message><![CDATA[  Expected: 2
  But was:  1
]]></message><stack-trace><![CDATA[at Demo.MathTests.Subtracts() in /p/M.cs:line 9]]></stack-trace></failure></test-case>
      <test-case name="Throws" fullname="Demo.MathTests.Throws" result="Failed" label="Error"><failure><message>System.Exception : no</message></failure></test-case>
      <test-case name="Later" fullname="Demo.MathTests.Later" result="Skipped" label="Ignored"><reason><message>x</message></reason></test-case>
    </test-suite>
    <test-suite type="TestFixture" name="Broken" fullname="Demo.Broken" result="Failed" label="Invalid" runstate="NotRunnable">
      <failure><message>No suitable constructor was found</message></failure></test-suite>
  </test-suite>
</test-run>
"#;

    const TWO: &str = r#"<test-results name="/p/demo.dll" total="2" errors="0" failures="1" not-run="1">
<test-suite type="Assembly" name="demo" executed="True" result="Failure" success="False"><results>
<test-case name="Demo.A" executed="True" result="Success" success="True" />
<test-case name="Demo.B" executed="True" success="False"><failure><message><![CDATA[Expected: 1]]></message></failure></test-case>
<test-case name="Demo.C" executed="False" result="Ignored"><reason><message>later</message></reason></test-case>
</results></test-suite></test-results>
"#;

    const PASSING: &str = "<test-run total='1' failed='0' result='Passed'><test-suite result='Passed'>\
        <test-case fullname='a' result='Passed'/></test-suite></test-run>";

    #[test]
    fn samples() {
        let three = run(THREE);
        assert_eq!(
            (three.status, three.counts),
            (TestStatus::Failed, counts(1, 1, 2, 1)),
            "{:?}",
            three.warnings
        );
        assert_eq!(three.failing, ["Demo.Broken", "Demo.MathTests.Subtracts", "Demo.MathTests.Throws"]);
        let errors =
            ["No suitable constructor was found", "Expected: 2\nBut was:  1", "System.Exception : no"];
        assert_eq!((texts(&three), three.runner.as_str()), (errors.to_vec(), "nunit"));
        let two = run(TWO);
        assert_eq!(
            (two.status, two.counts, texts(&two)),
            (TestStatus::Failed, counts(1, 1, 0, 1), vec!["Expected: 1"])
        );
        assert_eq!(two.failing, ["Demo.B"]);
    }

    #[test]
    fn lies_and_gaps() {
        let cases = [
            (PASSING.to_owned(), TestStatus::Passed),
            (PASSING.replace("total='1'", "total='2'"), TestStatus::Incomplete),
            (PASSING.replace("failed='0'", "failed='1'"), TestStatus::Failed),
            (
                PASSING.replace("suite result='Passed'", "suite result='Failed' site='TearDown'"),
                TestStatus::Failed,
            ),
            (PASSING.replace("failed='0' result='Passed'", "result='Failed'"), TestStatus::Failed),
            (PASSING.replace("fullname='a' result='Passed'", "name='a'"), TestStatus::Failed),
            ("<test-run/>".to_owned(), TestStatus::NoTests),
        ];
        for (xml, status) in cases {
            assert_eq!(run(&xml).status, status, "{xml}");
        }
    }

    #[test]
    fn cases_without_result_say_it_by_their_success() {
        let suite = |cases: &str| {
            format!(
                "<test-results total='1' errors='0' failures='0'><test-suite name='s' executed='true' success='true'><results>{cases}</results></test-suite></test-results>"
            )
        };
        let cases = [
            ("<test-case name='a' executed='True' success='True'/>", TestStatus::Passed),
            ("<test-case name='a' executed='true' success='true'/>", TestStatus::Passed),
            ("<test-case name='a' success='true'/>", TestStatus::Passed),
            ("<test-case name='a' result='success'/>", TestStatus::Passed),
            ("<test-case name='a' executed='true' success='false'/>", TestStatus::Failed),
            ("<test-case name='a' executed='false'/>", TestStatus::NoTests),
            ("<test-case name='a'/>", TestStatus::Failed),
        ];
        for (case, status) in cases {
            assert_eq!(run(&suite(case)).status, status, "{case}");
        }
        let claimed = suite("").replace("total='1'", "total='1' not-run='0'");
        assert_eq!(run(&claimed).status, TestStatus::Incomplete);
    }

    #[test]
    fn a_cut_report_never_passes() {
        no_cut_passes(&[THREE, TWO, PASSING]);
    }
}
