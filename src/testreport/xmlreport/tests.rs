use super::*;
use crate::domain::tests::{Counts, TestStatus};
use crate::testreport::normalize::Root;
use crate::testreport::run::{ExitKind, ParsedRun};

pub(super) fn run_bytes(bytes: &[u8]) -> ParsedRun {
    let mut tally = Tally::new(&Root::new("/p"));
    if let Err(problem) = read(bytes, "r.xml", &mut tally) {
        tally.problem("r.xml", &problem);
    }
    ParsedRun::conclude(tally, ExitKind::Code(0))
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
