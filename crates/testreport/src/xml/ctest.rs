//! CTest's own XML (`ctest -T Test`): a `Site` with a `Testing`.
//!
//! A test that did not run is skipped only when CTest says why it should be: a missing executable or a
//! failed fixture is an error. What a test printed is often compressed; then its exit alone is its error.

use super::{Dialect, value, walk::Node};
use crate::ReportProblem;
use crate::cases::{Case, Cases, before_frames};
use crate::tally::{Outcome, append};

/// Places of values below a `Testing`.
const NAMED_VALUE: &str = "/Test/Results/NamedMeasurement/Value";
const VALUE: &str = "/Test/Results/Measurement/Value";

/// The subject of a measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Measurement {
    ExitCode,
    ExitValue,
    Completion,
    Output,
    #[default]
    Any,
}

/// A test that is open.
#[derive(Default)]
struct Test {
    status: String,
    name: String,
    full_name: String,
    exit_code: String,
    exit_value: String,
    completion: String,
    output: String,
}

#[derive(Default)]
pub(super) struct CtestReader {
    listed: u64,
    testing: bool,
    test: Test,
    measured: Measurement,
}

impl CtestReader {
    fn text(&mut self, path: &str, more: &str) {
        let test = &mut self.test;
        let into = match (path, self.measured) {
            ("/Test/Name", _) => &mut test.name,
            ("/Test/FullName", _) => &mut test.full_name,
            (NAMED_VALUE, Measurement::ExitCode) => &mut test.exit_code,
            (NAMED_VALUE, Measurement::ExitValue) => &mut test.exit_value,
            (NAMED_VALUE, Measurement::Completion) => &mut test.completion,
            (VALUE, Measurement::Output) => &mut test.output,
            _ => return,
        };
        append(into, more);
    }
}

impl Dialect for CtestReader {
    fn node(&mut self, cases: &mut Cases, path: &str, node: Node<'_>) {
        let Some(path) = path.strip_prefix("/Site/Testing") else { return };
        match (path, node) {
            ("", Node::Open(_)) => self.testing = true,
            ("/TestList/Test", Node::Open(_)) => self.listed = self.listed.saturating_add(1),
            ("/Test", Node::Open(element)) => {
                self.test = Test { status: value(&element, "Status"), ..Test::default() };
            }
            ("/Test/Results/NamedMeasurement", Node::Open(element)) => {
                self.measured = match value(&element, "name").as_str() {
                    "Exit Code" => Measurement::ExitCode,
                    "Exit Value" => Measurement::ExitValue,
                    "Completion Status" => Measurement::Completion,
                    _ => Measurement::Any,
                };
            }
            ("/Test/Results/Measurement", Node::Open(_)) => self.measured = Measurement::Output,
            (NAMED_VALUE | VALUE, Node::Open(element))
                if ["encoding", "compression"].iter().any(|name| element.attribute(name).is_some()) =>
            {
                self.measured = Measurement::Any;
            }
            (path, Node::Text(text)) => self.text(path, text),
            ("/Test", Node::Close) => cases.end(&std::mem::take(&mut self.test).case()),
            _ => {}
        }
    }

    fn conclude(&mut self, cases: &mut Cases) {
        if self.testing {
            cases.hold_against(self.listed, 0);
        } else {
            cases.problem(&ReportProblem::Unknown("a CTest <Site> without <Testing>".to_owned()));
        }
    }
}

impl Test {
    /// The id is the path of the build directory and the name: a name is unique in its directory only.
    fn case(self) -> Case {
        let full = self.full_name.trim();
        let id = if full.is_empty() { self.name.trim() } else { full.strip_prefix("./").unwrap_or(full) };
        let skipped = ["Disabled", "SKIP_"].iter().any(|why| self.completion.contains(why));
        let outcome = match self.status.as_str() {
            "passed" => Outcome::Passed,
            "failed" => Outcome::Failed,
            "notrun" if skipped => Outcome::Skipped,
            _ => Outcome::Errored,
        };
        Case::new(id.to_owned(), outcome).with_error(&self.error())
    }

    fn error(&self) -> String {
        let exit = match (self.exit_code.trim(), self.exit_value.trim()) {
            ("", "") => self.completion.trim().to_owned(),
            (code, "") => code.to_owned(),
            (code, value) => format!("{code} (exit value {value})"),
        };
        format!("{exit}\n{}", before_frames(&self.output))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{counts, no_cut_passes, run, texts};
    use crate::TestStatus;

    const FAILING: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<Site BuildName="(empty)" Name="ci" Generator="ctest-3.28.3"><Testing><StartDateTime>Nov 20 10:00 UTC</StartDateTime>
<TestList><Test>./adds</Test><Test>./sub/crashes</Test><Test>./gone</Test><Test>./off</Test></TestList>
<Test Status="passed"><Name>adds</Name><Path>.</Path><FullName>./adds</FullName><Results>
  <NamedMeasurement type="numeric/double" name="Execution Time"><Value>0.01</Value></NamedMeasurement>
  <NamedMeasurement type="text/string" name="Completion Status"><Value>Completed</Value></NamedMeasurement>
  <Measurement><Value>fine</Value></Measurement></Results></Test>
<Test Status="failed"><Name>crashes</Name><Path>./sub</Path><FullName>./sub/crashes</FullName><Results>
  <NamedMeasurement type="text/string" name="Exit Code"><Value>SEGFAULT</Value></NamedMeasurement>
  <NamedMeasurement type="text/string" name="Exit Value"><Value>11</Value></NamedMeasurement>
  <NamedMeasurement type="text/string" name="Completion Status"><Value>Completed</Value></NamedMeasurement>
  <Measurement><Value encoding="base64" compression="gzip">eJwrzUvOz0vLLEoFAB0eBJY=</Value></Measurement></Results></Test>
<Test Status="notrun"><Name>gone</Name><FullName>./gone</FullName><Results>
  <NamedMeasurement type="text/string" name="Completion Status"><Value>Unable to find executable</Value></NamedMeasurement></Results></Test>
<Test Status="notrun"><Name>off</Name><FullName>./off</FullName><Results>
  <NamedMeasurement type="text/string" name="Completion Status"><Value>Disabled</Value></NamedMeasurement></Results></Test>
<EndTestTime>1</EndTestTime></Testing></Site>
"#;

    const PASSING: &str = "<Site><Testing><TestList><Test>./a</Test></TestList>\
        <Test Status='passed'><Name>a</Name><Results><Measurement><Value>x</Value></Measurement></Results></Test></Testing></Site>\n";

    #[test]
    fn samples() {
        let one = run(FAILING);
        assert_eq!((one.status, one.counts), (TestStatus::Failed, counts(1, 1, 1, 1)), "{:?}", one.warnings);
        assert_eq!(
            (one.failing.clone(), one.runner.as_str()),
            (vec!["gone".to_owned(), "sub/crashes".to_owned()], "ctest-xml")
        );
        assert_eq!(texts(&one), ["Unable to find executable", "SEGFAULT (exit value 11)"]);
        let printed = PASSING.replace("passed", "failed");
        assert_eq!(texts(&run(&printed)), ["x"]);
    }

    #[test]
    fn lies_and_gaps() {
        let cases = [
            (PASSING.to_owned(), TestStatus::Passed),
            (PASSING.replace("</TestList>", "<Test>./b</Test></TestList>"), TestStatus::Incomplete),
            (PASSING.replace("'passed'", "'odd'"), TestStatus::Failed),
            ("<Site><Testing/></Site>".to_owned(), TestStatus::NoTests),
            ("<Site><Build/></Site>".to_owned(), TestStatus::Incomplete),
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
