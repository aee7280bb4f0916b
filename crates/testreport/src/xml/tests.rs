use proptest::prelude::*;

use crate::reader::{ReportInput, read};
use crate::run::{ExitKind, ParsedRun};
use crate::{Counts, TestStatus, normalize::Root};

pub(super) fn run_bytes(bytes: &[u8]) -> ParsedRun {
    read(&[ReportInput { name: "r.xml", bytes }], ExitKind::Code(0), &Root::new("/p"))
}

pub(super) fn run(xml: &str) -> ParsedRun {
    run_bytes(xml.as_bytes())
}

pub(super) fn counts(passed: u64, failed: u64, errored: u64, skipped: u64) -> Counts {
    Counts { total: passed + failed + errored + skipped, passed, failed, errored, skipped }
}

pub(super) fn texts(run: &ParsedRun) -> Vec<&str> {
    run.errors.iter().map(|error| error.text.as_str()).collect()
}

/// No cut of a passing or a failing report is a pass.
pub(super) fn no_cut_passes(samples: &[&str]) {
    for text in samples {
        let whole = text.trim_end().len();
        for end in 0..whole {
            let status = run_bytes(&text.as_bytes()[..end]).status;
            assert_ne!(
                status,
                TestStatus::Passed,
                "{:?}",
                &text.as_bytes()[..end].escape_ascii().to_string()
            );
        }
    }
}

#[test]
fn a_root_of_another_format_is_named() {
    for xml in ["<coverage/>", "<html><TestRun/></html>", "<!-- x --><Site/>", "<test-run"] {
        let run = run(xml);
        assert_eq!((run.status, run.warnings.len()), (TestStatus::Incomplete, 1), "{xml}");
    }
}

#[test]
fn a_cut_report_in_another_encoding_never_passes() {
    let xml = "\u{feff}<?xml version='1.0' encoding='utf-16'?><assemblies><assembly total='1'><collection>\
               <test name='é' result='Pass'/></collection></assembly></assemblies>";
    let bytes: Vec<u8> = xml.encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(run_bytes(&bytes).status, TestStatus::Passed);
    for end in 0..bytes.len() {
        assert_ne!(run_bytes(&bytes[..end]).status, TestStatus::Passed, "{end}");
    }
}

proptest! {
    #[test]
    fn any_nesting_is_taken(
        root in proptest::sample::select(vec!["TestRun", "Site", "test-run", "assemblies"]),
        parts in proptest::collection::vec(proptest::sample::select(PARTS.to_vec()), 0..30),
    ) {
        let run = run(&format!("<{root}>{}</{root}>", parts.concat()));
        let counts = run.counts;
        prop_assert_eq!(counts.total, counts.failing() + counts.passed + counts.skipped);
        prop_assert!(run.status != TestStatus::Passed || run.failing.is_empty());
    }
}

const PARTS: [&str; 16] = [
    "<Results>",
    "</Results>",
    "<UnitTestResult testName='a' outcome='Failed'>",
    "</UnitTestResult>",
    "<ResultSummary outcome='x'><Counters total='18446744073709551615' failed='9'/></ResultSummary>",
    "<Testing>",
    "<Test Status='failed'><Name>&#x1B;[1m</Name></Test>",
    "</Testing>",
    "<test-suite result='Failed'>",
    "</test-suite>",
    "<test-case result='Passed'/>",
    "<assembly total='18446744073709551615' errors='1'>",
    "</assembly>",
    "<errors><error/><error/></errors>",
    "<collection><test result='Fail'><failure><message>x</message></failure></test></collection>",
    "text",
];
