//! The code quality report of GitLab, which a merge request shows as what became worse and what became better.

use serde_json::{Value, json};

use super::{Entry, code, entries, lines, place, plain};
use crate::report::json;
use crate::view::check::CheckReport;
use andon_engine::text::message::Severity;

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
