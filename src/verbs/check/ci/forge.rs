//! Annotations of a merge request: workflow commands of GitHub Actions, and the code quality report of GitLab, which shows what
//! became worse and what became better. A command of GitHub is a line that begins with `::`, so that a line end in its text
//! would begin another.
//!
//! JUnit XML, as GitLab, Jenkins and the actions of GitHub read it: one test case for each code, named by it, so that a history of
//! tests knows it again. A violation is
//! a failure, missing evidence an error, anything else a case that passed and says something.

use serde_json::{Value, json};

use super::{Entry, WHOLE, body, code, entries, lines, place, plain};
use crate::verbs::check::text::{self as check, Group};
use andon_core::domain::{Diagnostic, Severity};
use andon_core::escape;
use andon_engine::{json, text::phrase, view::CheckReport};

/// Annotations of one severity that GitHub shows of a step.
const SHOWN: usize = 10;
/// Commits that one annotation names.
const COMMITS: usize = 10;

/// One line for each kind of message, gravest first; of each severity as many as GitHub shows.
pub fn annotations(report: &CheckReport) -> String {
    let groups = check::groups(report);
    let mut text = String::new();
    for severity in [Severity::Error, Severity::Warning, Severity::Note] {
        let mut of_it = groups.iter().filter(|group| group.severity() == severity);
        let all = of_it.clone().count();
        // The last place reports the rest.
        let shown = if all > SHOWN { SHOWN - 1 } else { all };
        for group in of_it.by_ref().take(shown) {
            text.push_str(&command(severity, Some(group.first), &body(group, COMMITS, plain)));
        }
        if all > shown {
            let more = format!("{} more: the summary of the job and the log have them", all - shown);
            text.push_str(&command(severity, None, &more));
        }
    }
    text
}

/// Text for the log of a job. The runner takes `##[` for a command anywhere in a line, so that a commit's subject could
/// give one.
pub fn log(text: &str) -> String {
    text.replace("##[", "## [")
}

/// A finding that knows its file is shown in the list of changed files as well.
fn command(severity: Severity, what: Option<&Diagnostic>, body: &str) -> String {
    let word = match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "notice",
    };
    let file =
        what.and_then(|what| what.file.as_deref()).map(|file| format!("file={},", property(&plain(file))));
    let title = property(&plain(what.map_or("andon", code)));
    format!("::{word} {}title={title}::{}\n", file.unwrap_or_default(), data(body))
}

fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

/// A list of issues; empty when all is well.
pub fn code_quality(report: &CheckReport) -> String {
    let (entries, _) = entries(report);
    json::line(&entries.iter().map(issue).collect::<Vec<_>>())
}

fn issue(entry: &Entry<'_>) -> Value {
    json!({
        "check_name": plain(code(entry.what)),
        "description": lines(entry.what).join("; "),
        "fingerprint": entry.fingerprint.to_string(),
        "location": { "path": place(entry.what), "lines": { "begin": 1 } },
        "severity": match entry.severity {
            Severity::Error => "critical",
            Severity::Warning => "minor",
            Severity::Note => "info",
        },
        "type": "issue",
    })
}

/// Commits that one case names.
const CASES: usize = 100;

/// The outcome of a test case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum CaseOutcome {
    Passed,
    Error,
    Failure,
}

/// The document. There is always one case, of the range as a whole, so that no reader takes it for a run without tests.
pub fn junit(report: &CheckReport) -> String {
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
    let bodies: Vec<String> = case.groups.iter().map(|group| body(group, CASES, text)).collect();
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
    use andon_core::domain::Level;

    #[test]
    fn one_line_for_each_kind_of_message() {
        let mut violations: Vec<_> =
            (1..=12).map(|byte| about(byte, "missing-record", Level::Block)).collect();
        violations.push(about(20, "hook-bypass", Level::Warn));
        violations.push(about(21, "answered-halt", Level::Note));
        let shown = annotations(&report(violations));
        let lines: Vec<&str> = shown.lines().collect();
        assert_eq!(lines.len(), 3);
        assert!(
            lines[0].starts_with(
                "::error title=missing-record::about missing-record%0A010101010101 Change 1%0A020202020202 Change 2%0A"
            ),
            "{shown}"
        );
        assert!(lines[0].ends_with("%0Aand 2 more%0Ahelp: andon sync"), "{shown}");
        assert_eq!(
            lines[1..],
            [
                "::warning title=hook-bypass::about hook-bypass%0A141414141414 Change 20%0Ahelp: andon sync",
                "::notice title=answered-halt::about answered-halt%0A151515151515 Change 21%0Ahelp: andon sync",
            ]
        );
        assert_eq!(annotations(&report(vec![])), "");
    }

    #[test]
    fn github_shows_ten_and_the_last_tells_of_the_rest() {
        let violations = (1..=12).map(|byte| about(byte, &format!("code-{byte}"), Level::Block)).collect();
        let shown = annotations(&report(violations));
        assert_eq!(shown.lines().count(), 10);
        assert!(
            shown.ends_with("::error title=andon::3 more: the summary of the job and the log have them\n")
        );
    }

    #[test]
    fn a_finding_that_knows_its_file_is_shown_there() {
        let mut weaker = about(1, "test-weakening", Level::Warn);
        weaker.file = Some("tests/a,b: 100%.py".into());
        assert_eq!(
            annotations(&report(vec![weaker])),
            "::warning file=tests/a%2Cb%3A 100%25.py,title=test-weakening::about test-weakening%0A010101010101 Change 1\
             %0Ahelp: andon sync\n"
        );
    }

    #[test]
    fn no_text_gives_a_command() {
        let shown = annotations(&hostile());
        for line in shown.lines() {
            let (head, rest) = line.strip_prefix("::").unwrap().split_once("::").unwrap();
            let (properties, title) = head.rsplit_once("title=").unwrap();
            let (word, file) = properties.split_once(' ').unwrap();
            assert!(file.is_empty() || file.starts_with("file=") && file.ends_with(','), "{line}");
            assert!(["error", "warning", "notice"].contains(&word), "{line}");
            assert!(!title.contains([',', ':']) && file.matches(',').count() < 2, "{line}");
            assert!(!rest.chars().any(andon_core::escape::is_hidden), "{line}");
        }
        // The escape of `%` itself stays unchanged.
        assert!(shown.contains("100%25\\r\\n::error::x"), "{shown}");
        assert_eq!(log("  --> ab ##[add-mask]x\n"), "  --> ab ## [add-mask]x\n");
    }

    fn issues(report: &CheckReport) -> Vec<Value> {
        serde_json::from_str(&code_quality(report)).unwrap()
    }

    #[test]
    fn an_issue_has_what_gitlab_asks_for() {
        let found = issues(&report(vec![about(1, "missing-record", Level::Block)]));
        let fingerprint = found[0]["fingerprint"].as_str().unwrap();
        assert_eq!(fingerprint.len(), 64);
        assert_eq!(
            found[0],
            json!({
                "check_name": "missing-record",
                "description": "about missing-record; 010101010101 Change 1; help: andon sync",
                "fingerprint": fingerprint,
                "location": { "path": "andon.toml", "lines": { "begin": 1 } },
                "severity": "critical",
                "type": "issue",
            })
        );
        assert_eq!(code_quality(&report(vec![])), "[]\n");
        let mut weaker = about(1, "test-weakening", Level::Warn);
        weaker.file = Some("tests/a.py".into());
        assert_eq!(issues(&report(vec![weaker]))[0]["location"]["path"], "tests/a.py");
    }

    #[test]
    fn every_issue_has_a_fingerprint_of_its_own() {
        let found = issues(&hostile());
        let prints: std::collections::BTreeSet<_> =
            found.iter().map(|one| one["fingerprint"].as_str().unwrap()).collect();
        assert_eq!((found.len(), prints.len()), (5, 5));
        let severities: Vec<_> = found.iter().map(|one| one["severity"].as_str().unwrap()).collect();
        assert_eq!(severities, ["critical", "critical", "minor", "minor", "info"]);
    }
}

#[cfg(test)]
mod junit_tests {
    use super::super::samples::{about, hostile, report};
    use super::*;
    use andon_core::domain::{Diagnostic, Level};
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
            junit(&value),
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
        let shown = junit(&report(vec![]));
        assert!(shown.contains("tests=\"1\" failures=\"0\" errors=\"0\""), "{shown}");
        assert_eq!(shown.matches("<testcase").count(), 1);
    }

    #[test]
    fn our_own_reader_of_junit_reads_it_whatever_the_texts_hold() {
        let shown = junit(&hostile());
        assert!(!shown.chars().any(|c| c != '\n' && escape::is_hidden(c)), "{shown}");
        assert!(shown.contains("&lt;/failure&gt;&amp;amp;"), "{shown}");
        let input = ReportInput { name: "andon-junit.xml", bytes: shown.as_bytes() };
        let run = testreport::read(&[input], ExitKind::Code(1), &Root::none());
        let counts = (run.counts.total, run.counts.failed, run.counts.errored);
        assert_eq!((run.runner.as_str(), counts), ("junit", (6, 1, 1)), "{:?}", run.warnings);
    }
}
