//! SARIF 2.1.0, as code scanning takes it in.

use std::{collections::BTreeMap, fmt::Write as _};

use serde_json::{Value, json};

use super::{Entry, WHOLE, code, entries, lines, place, plain};
use andon_core::domain::{Hint, Level, Severity, plural::count};
use andon_core::{detect, escape::shell_quote};
use andon_engine::view::{CheckOutcome, CheckReport, check::accepted};
use andon_engine::{json, text::Forge};

/// The address of its schema.
const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";
/// Name and version of how fingerprints are made: another way has another number.
const FINGERPRINT: &str = "andonFinding/v1";

/// One run with all results, of the repository that the forge names.
pub fn document(report: &CheckReport, forge: &Forge) -> String {
    let (entries, more) = entries(report);
    let mut rules: Vec<&str> = Vec::new();
    let mut index: BTreeMap<&str, usize> = BTreeMap::new();
    for entry in &entries {
        index.entry(code(entry.what)).or_insert_with(|| {
            rules.push(code(entry.what));
            rules.len() - 1
        });
    }
    let results: Vec<Value> = entries.iter().map(|entry| result(entry, &index)).collect();
    json::line(&json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "automationDetails": { "id": format!("{WHOLE}/") },
            "columnKind": "unicodeCodePoints",
            "invocations": [invocation(report, more)],
            "results": results,
            "tool": { "driver": {
                "informationUri": env!("CARGO_PKG_REPOSITORY"),
                "name": "andon",
                "rules": rules.iter().map(|code| rule(code)).collect::<Vec<_>>(),
                "semanticVersion": env!("CARGO_PKG_VERSION"),
            } },
            "versionControlProvenance":
                forge.repository().map(|address| json!({ "repositoryUri": address })).into_iter().collect::<Vec<_>>(),
        }],
    }))
}

/// A rule with what it is about, as readers show it beside its results.
fn rule(code: &str) -> Value {
    let text = lookup(code);
    json!({
        "defaultConfiguration": { "level": text.severity.as_str() },
        "fullDescription": { "text": unlinked(&text.help) },
        "help": { "text": unlinked(&text.help) },
        "helpUri": text.page,
        "id": plain(code),
        "name": code.split('-').map(capital).collect::<String>(),
        "shortDescription": { "text": unlinked(&text.summary) },
    })
}

fn capital(word: &str) -> String {
    let mut chars = word.chars().filter(char::is_ascii_alphanumeric);
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// Describes how the run went. That it could not decide, or that results are missing, is a property of the run and of no line
/// of code.
fn invocation(report: &CheckReport, more: usize) -> Value {
    let mut notes = Vec::new();
    let mut note =
        |level: &str, text: String| notes.push(json!({ "level": level, "message": { "text": text } }));
    if report.outcome() == CheckOutcome::Undecided {
        note("error", "cannot decide: evidence is missing".to_owned());
    }
    if more > 0 {
        let all = Hint::CheckJson.with([&shell_quote(&report.range)]);
        note("warning", format!("left out: {}; all of them: {all}", count(more, "more result")));
    }
    json!({
        "executionSuccessful": report.outcome() != CheckOutcome::Undecided,
        "exitCodeDescription": match report.outcome() {
            CheckOutcome::Fine => "in order",
            CheckOutcome::Violated => "violated",
            CheckOutcome::Undecided => "undecided",
        },
        "properties": { "commits": report.commits, "range": plain(&report.range) },
        "toolExecutionNotifications": notes,
    })
}

fn result(entry: &Entry<'_>, rules: &BTreeMap<&str, usize>) -> Value {
    let what = entry.what;
    let mut value = json!({
        "level": entry.severity.as_str(),
        "locations": [location(entry)],
        "message": { "text": unlinked(&lines(what).join("\n")) },
        "partialFingerprints": { FINGERPRINT: entry.fingerprint.to_string() },
        "ruleId": plain(code(what)),
        "ruleIndex": rules.get(code(what)),
    });
    if accepted(what) {
        value["suppressions"] =
            json!([{ "justification": plain(&what.message), "kind": "external", "status": "accepted" }]);
    }
    value
}

fn location(entry: &Entry<'_>) -> Value {
    let physical =
        json!({ "artifactLocation": { "uri": uri(&place(entry.what)) }, "region": { "startLine": 1 } });
    match entry.what.commit() {
        None => json!({ "physicalLocation": physical }),
        Some(at) => json!({
            "logicalLocations": [{
                "fullyQualifiedName": at.commit.to_string(), "kind": "commit", "name": plain(&at.subject),
            }],
            "physicalLocation": physical,
        }),
    }
}

/// A path as a relative reference of RFC 3986.
fn uri(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            out.push(char::from(byte));
        } else {
            // Writing to a String cannot fail.
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

/// A message of SARIF may hold links, `[text](target)`, so that brackets are escaped.
fn unlinked(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '\\' | '[' | ']') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// A code as a reader of results shows it.
struct CodeText {
    /// In one sentence.
    summary: String,
    /// All that is to be known of it.
    help: String,
    /// The page about it.
    page: String,
    /// Its severity where nothing is configured.
    severity: Severity,
}

/// The description of `code`.
fn lookup(code: &str) -> CodeText {
    let pages = concat!(env!("CARGO_PKG_REPOSITORY"), "/blob/main/docs");
    if let Some(rule) = detect::rule(code) {
        let docs = rule.docs();
        return CodeText {
            summary: rule.summary().to_owned(),
            help: format!("{}\n\n{}\n\nExample: {}", docs.trips, docs.why, docs.example),
            page: format!("{pages}/rules/{code}.md"),
            severity: rule.level.into(),
        };
    }
    let row = |line: &'static str| {
        let (level, summary) = line.strip_prefix(code)?.strip_prefix(' ')?.split_once(' ')?;
        Some((summary, Level::from_name(level)?))
    };
    let known = OF_CHECK.lines().find_map(row);
    let (summary, level) = known.unwrap_or(("a message of andon check", Level::Warn));
    CodeText {
        summary: summary.to_owned(),
        help: format!("{summary}. What andon check looks at, and what helps: docs/ci.md."),
        page: format!("{pages}/ci.md"),
        severity: level.into(),
    }
}

/// The codes of `check`, a line each, with the usual level and a sentence.
const OF_CHECK: &str = include_str!("codes.txt");

#[cfg(test)]
mod tests {
    use super::super::samples::{about, hostile, report};
    use super::*;
    use andon_core::domain::{Diagnostic, Level};
    use andon_engine::view::check::SKIPPED_RULE;

    fn run(report: &CheckReport) -> Value {
        let mut value: Value = serde_json::from_str(&document(report, &Forge::default())).unwrap();
        assert_eq!(value["version"], "2.1.0");
        value["runs"][0].take()
    }

    #[test]
    fn a_result_names_rule_commit_and_fingerprint() {
        let run = run(&report(vec![about(1, "missing-record", Level::Block)]));
        let result = &run["results"][0];
        assert_eq!(result["ruleId"], "missing-record");
        let rule = &run["tool"]["driver"]["rules"][0];
        assert_eq!(rule["id"], "missing-record");
        assert_eq!(rule["name"], "MissingRecord");
        assert_eq!(rule["shortDescription"]["text"], "a commit has no record");
        assert_eq!(rule["defaultConfiguration"]["level"], "error");
        assert!(rule["helpUri"].as_str().unwrap().starts_with("https://"), "{rule}");
        assert_eq!(result["ruleIndex"], 0);
        assert_eq!(result["level"], "error");
        assert_eq!(
            result["message"]["text"],
            "about missing-record\n010101010101 Change 1\nhelp: andon sync"
        );
        assert_eq!(result["partialFingerprints"]["andonFinding/v1"].as_str().unwrap().len(), 64);
        assert_eq!(
            result["locations"][0],
            json!({
                "logicalLocations": [
                    { "fullyQualifiedName": "01".repeat(20), "kind": "commit", "name": "Change 1" }
                ],
                "physicalLocation": { "artifactLocation": { "uri": "andon.toml" }, "region": { "startLine": 1 } },
            })
        );
        assert_eq!(result.get("suppressions"), None);
    }

    #[test]
    fn a_finding_that_knows_its_file_is_shown_there() {
        let mut weaker = about(1, "test-weakening", Level::Warn);
        weaker.file = Some("tests/a b:\u{fc}.py".into());
        let run = run(&report(vec![weaker]));
        let place = &run["results"][0]["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], "tests/a%20b%3A%C3%BC.py");
    }

    #[test]
    fn a_skip_that_was_accounted_for_is_suppressed_and_no_other() {
        let run = run(&report(vec![
            about(1, SKIPPED_RULE, Level::Block),
            about(2, SKIPPED_RULE, Level::Warn),
            about(3, "hook-bypass", Level::Warn),
        ]));
        let suppressed: Vec<bool> =
            run["results"].as_array().unwrap().iter().map(|one| one.get("suppressions").is_some()).collect();
        assert_eq!(suppressed, [false, true, false]);
        assert_eq!(
            run["results"][1]["suppressions"],
            json!([{ "justification": "about skipped-rule", "kind": "external", "status": "accepted" }])
        );
    }

    #[test]
    fn what_could_not_be_decided_is_told_of_the_run_too() {
        let mut value = report(vec![]);
        value.undecided.push(Diagnostic::error("there are no records").code("no-records"));
        let run = run(&value);
        assert_eq!(run["invocations"][0]["executionSuccessful"], false);
        assert_eq!(run["results"][0]["level"], "error");
        assert_eq!(
            super::document(&report(vec![]), &Forge::default()).matches("executionSuccessful\":true").count(),
            1
        );
    }

    #[test]
    fn texts_give_no_links_and_no_hidden_characters() {
        let run = run(&hostile());
        for result in run["results"].as_array().unwrap() {
            let text = result["message"]["text"].as_str().unwrap();
            assert!(!text.replace("\\[", "").replace("\\]", "").contains(['[', ']']), "{text}");
            assert!(!text.chars().any(|c| c != '\n' && andon_core::escape::is_hidden(c)), "{text}");
        }
    }

    #[test]
    fn every_code_has_a_sentence_and_a_page() {
        let mut codes: Vec<&str> = OF_CHECK.lines().filter_map(|line| line.split(' ').next()).collect();
        let sorted = codes.clone();
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes, sorted, "sorted, and each once");
        for code in codes.into_iter().chain(detect::REGISTRY.iter().map(|rule| rule.id)).chain(["new-code"]) {
            let text = lookup(code);
            assert!(!text.summary.is_empty() && text.help.len() >= text.summary.len(), "{code}");
            assert!(text.page.starts_with("https://"), "{code}");
        }
        assert!(lookup("oscillation").page.ends_with("rules/oscillation.md"));
    }
}
