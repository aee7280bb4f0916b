//! Annotations of a merge request: workflow commands of GitHub Actions, and the code quality report of GitLab, which shows what
//! became worse and what became better. A command of GitHub is a line that begins with `::`, so that a line end in its text
//! would begin another.

use serde_json::{Value, json};

use super::{Entry, body, code, entries, lines, place, plain};
use crate::verbs::check::text as check;
use andon_core::domain::diagnostic::{Diagnostic, Severity};
use andon_engine::json;
use andon_engine::view::check::CheckReport;

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

#[cfg(test)]
mod tests {
    use super::super::samples::{about, hostile, report};
    use super::*;
    use andon_core::domain::findings::Level;

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
