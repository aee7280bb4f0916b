//! JUnit XML, as GitLab, Jenkins and the actions of GitHub read it: one test case for each code, named by it, so that a history of
//! tests knows it again. A violation is
//! a failure, missing evidence an error, anything else a case that passed and says something.

use super::{WHOLE, body, code, plain};
use crate::verbs::check::{text as check, text::Group};
use andon_core::domain::diagnostic::Severity;
use andon_core::escape;
use andon_engine::text::phrase;
use andon_engine::view::check::CheckReport;

/// Commits that one case names.
const COMMITS: usize = 100;

/// The outcome of a test case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum CaseOutcome {
    Passed,
    Error,
    Failure,
}

/// The document. There is always one case, of the range as a whole, so that no reader takes it for a run without tests.
pub fn document(report: &CheckReport) -> String {
    let violations = check::groups_of(report.violations.iter());
    let undecided = check::groups_of(report.undecided.iter());
    let warnings = check::groups_of(report.warnings.iter());
    let of_violation = |group: &Group<'_>| match group.severity() {
        Severity::Error => CaseOutcome::Failure,
        Severity::Warning | Severity::Note => CaseOutcome::Passed,
    };
    let mut cases: Vec<(CaseOutcome, &Group<'_>)> =
        violations.iter().map(|group| (of_violation(group), group)).collect();
    cases.extend(undecided.iter().map(|group| (CaseOutcome::Error, group)));
    cases.extend(warnings.iter().map(|group| (CaseOutcome::Passed, group)));
    let cases = by_code(&cases);
    let count = |came| cases.iter().filter(|case| case.came == came).count();
    let (failures, errors) = (count(CaseOutcome::Failure), count(CaseOutcome::Error));
    let counts = format!(
        "tests=\"{}\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"0\" time=\"0\"",
        cases.len() + 1
    );
    let mut xml = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"{WHOLE}\" {counts}>\n  <testsuite name=\"{WHOLE}\" {counts}>\n"
    );
    xml.push_str(&whole(report));
    xml.extend(cases.iter().map(case));
    xml.push_str("  </testsuite>\n</testsuites>\n");
    xml
}

/// Always passes: what does not hold has a case of its own, and would be counted twice.
fn whole(report: &CheckReport) -> String {
    let said = format!("checked {} in {}", phrase::count(report.commits, "commit"), report.range);
    format!(
        "    <testcase classname=\"andon\" name=\"{WHOLE}\" time=\"0\">\n      <system-out>{}</system-out>\n    </testcase>\n",
        text(&said)
    )
}

/// A test case: all messages of one code, so that its name is the same in every run.
struct Case<'a> {
    came: CaseOutcome,
    code: &'a str,
    groups: Vec<&'a Group<'a>>,
}

/// The cases in the order in which their codes came, each as bad as the worst of its messages.
fn by_code<'a>(all: &[(CaseOutcome, &'a Group<'a>)]) -> Vec<Case<'a>> {
    let mut cases: Vec<Case<'a>> = Vec::new();
    for (came, group) in all {
        let code = code(group.first);
        match cases.iter_mut().find(|case| case.code == code) {
            Some(known) => {
                known.came = known.came.max(*came);
                known.groups.push(group);
            }
            None => cases.push(Case { came: *came, code, groups: vec![group] }),
        }
    }
    cases
}

fn case(case: &Case<'_>) -> String {
    let message = case.groups.first().map_or_else(String::new, |group| text(&group.first.message));
    let code = text(case.code);
    let element = match case.came {
        CaseOutcome::Failure => format!("failure message=\"{message}\" type=\"{code}\""),
        CaseOutcome::Error => format!("error message=\"{message}\" type=\"{code}\""),
        CaseOutcome::Passed => "system-out".to_owned(),
    };
    let end = element.split(' ').next().unwrap_or_default();
    let bodies: Vec<String> = case.groups.iter().map(|group| body(group, COMMITS, text)).collect();
    format!(
        "    <testcase classname=\"andon\" name=\"{code}\" time=\"0\">\n      <{element}>{}</{end}>\n    </testcase>\n",
        bodies.join("\n")
    )
}

/// Text for an element or an attribute: one line, without what XML 1.0 cannot hold.
fn text(raw: &str) -> String {
    escape::xml(&plain(raw))
}

#[cfg(test)]
mod tests {
    use super::super::samples::{about, hostile, report};
    use super::*;
    use andon_core::domain::{diagnostic::Diagnostic, findings::Level};
    use testreport::{ExitKind, ReportInput, Root};

    #[test]
    fn a_violation_fails_and_missing_evidence_is_an_error() {
        let mut value = report(vec![
            about(1, "missing-record", Level::Block),
            about(2, "missing-record", Level::Block),
            about(3, "hook-bypass", Level::Warn),
        ]);
        value.undecided.push(Diagnostic::error("there are no records").code("no-records"));
        assert_eq!(
            document(&value),
            r#"<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="andon check" tests="4" failures="1" errors="1" skipped="0" time="0">
  <testsuite name="andon check" tests="4" failures="1" errors="1" skipped="0" time="0">
    <testcase classname="andon" name="andon check" time="0">
      <system-out>checked 12 commits in main..HEAD</system-out>
    </testcase>
    <testcase classname="andon" name="missing-record" time="0">
      <failure message="about missing-record" type="missing-record">about missing-record
010101010101 Change 1
020202020202 Change 2
help: andon sync</failure>
    </testcase>
    <testcase classname="andon" name="hook-bypass" time="0">
      <system-out>about hook-bypass
030303030303 Change 3
help: andon sync</system-out>
    </testcase>
    <testcase classname="andon" name="no-records" time="0">
      <error message="there are no records" type="no-records">there are no records</error>
    </testcase>
  </testsuite>
</testsuites>
"#
        );
    }

    #[test]
    fn all_well_is_one_case_that_passed() {
        let shown = document(&report(vec![]));
        assert!(shown.contains("tests=\"1\" failures=\"0\" errors=\"0\""), "{shown}");
        assert_eq!(shown.matches("<testcase").count(), 1);
    }

    #[test]
    fn our_own_reader_of_junit_reads_it_whatever_the_texts_hold() {
        let shown = document(&hostile());
        assert!(!shown.chars().any(|c| c != '\n' && escape::is_hidden(c)), "{shown}");
        assert!(shown.contains("&lt;/failure&gt;&amp;amp;"), "{shown}");
        let input = ReportInput { name: "andon-junit.xml", bytes: shown.as_bytes() };
        let run = testreport::read(&[input], ExitKind::Code(1), &Root::none());
        let counts = (run.counts.total, run.counts.failed, run.counts.errored);
        assert_eq!((run.runner.as_str(), counts), ("junit", (6, 1, 1)), "{:?}", run.warnings);
    }
}
