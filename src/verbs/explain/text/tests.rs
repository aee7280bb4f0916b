//! The output of `andon explain`.

use serde_json::{Value, json};

use super::*;
use andon_core::domain::{CodeId, TestEvidence, signatures::coarse_signature};
use andon_engine::json::line;
use andon_testkit::samples::value_of;
use testreport::{ExitKind, ReportInput, Root, examine};

fn file(name: &str, report: &str) -> ExplainedFile {
    let input = ReportInput { name, bytes: report.as_bytes() };
    let read = examine(input, ExitKind::Code(0), &Root::new("/w/p")).map(|found| ExplainedRun {
        warnings: found.run.warnings.clone(),
        coarse: coarse_signature(&found.run.errors),
        evidence: TestEvidence::from_run(found.run, CodeId([0; 32]), ""),
        failures: found.failures,
    });
    ExplainedFile { name: name.to_owned(), read }
}

fn junit(message: &str) -> String {
    format!(
        "<testsuite><testcase classname='/w/p/t' name='a'><failure message='{message}'/></testcase></testsuite>"
    )
}

#[test]
fn the_text_goes_step_by_step() {
    let shown = text(&[file("a.xml", &junit("took 5ms&#10;at /w/p/x.rs:3:5"))], Style::Plain);
    let steps = "
  t::a
    id as it came
        /w/p/t::a
    root: the project may lie in any directory
      - /w/p/t::a
      + t::a
    error as it came
        took 5ms
        at /w/p/x.rs:3:5
    root: the project may lie in any directory
      - at /w/p/x.rs:3:5
      + at x.rs:3:5
    duration: every run takes another time
      - took 5ms
      + took <duration>
    position: lines move with every edit above them
      - at x.rs:3:5
      + at x.rs:<pos>
    error as it counts
      = took <duration>
      = at x.rs:<pos>
";
    assert!(shown.starts_with("a.xml\n  read as    junit\n  status     failed: 1 of 1 failing\n"), "{shown}");
    assert!(shown.ends_with(steps), "{shown}");
}

#[test]
fn two_files_are_compared() {
    let compared = |one: &str, two: &str| {
        let shown = text(&[file("one", one), file("two", two)], Style::Plain);
        shown.split_once("why they differ\n").map(|(_, why)| why.to_owned()).unwrap()
    };
    assert_eq!(
        compared(&junit("took 5ms"), &junit("took 7ms")),
        "  they do not: the same tests fail with the same errors\n"
    );
    assert_eq!(
        compared(&junit("got 3"), &junit("got 4")),
        "  the same tests fail\n  another error in t::a\n      - got 3\n      + got 4\n  the errors differ in their digits only\n"
    );
    let passing = "<testsuite><testcase name='b'/></testsuite>";
    assert_eq!(
        compared(&junit("got 3"), passing),
        "  status     failed / passed\n  failing only in one\n        t::a\n"
    );
}

#[test]
fn json_is_one_object_a_file_with_the_fixed_keys() {
    let files = [file("a.xml", &junit("took 5ms, got 3")), file("b", "hello")];
    let values: Vec<Value> = json(&files).iter().map(value_of).collect();
    assert_eq!(values.len(), 2);
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(&values[0]), keys(&values[1]));
    let wanted = [
        "format",
        "status",
        "total",
        "passed",
        "failed",
        "errored",
        "skipped",
        "failing",
        "signature",
        "errors",
    ];
    assert!(wanted.iter().all(|key| !values[0][key].is_null() && values[1][key].is_null()), "{values:?}");
    assert_eq!(values[0]["failures"][0]["text"], "took <duration>, got 3");
    assert_eq!(values[0]["failures"][0]["error_rules"], json!(["duration"]));
    assert_eq!(values[1]["error"]["name"], "unknown-format");
}

#[test]
fn hostile_reports_are_escaped_and_bounded() {
    let message = "&#x9b;31m\u{202e}evil ".to_owned() + &"long\n".repeat(10_000);
    let many: String = (0..400)
        .map(|number| format!("<testcase name='n{number}'><failure>{message}</failure></testcase>"))
        .collect();
    let files = [file("evil\u{1b}[2J", &format!("<testsuite>{many}</testsuite>"))];
    let shown = text(&files, Style::Plain);
    assert!(!shown.contains(['\u{1b}', '\u{9b}', '\u{202e}']) && shown.len() < 200_000, "{}", shown.len());
    assert!(json(&files).iter().map(line).all(|line| !line.contains(['\u{1b}', '\u{9b}', '\u{202e}'])));
}
