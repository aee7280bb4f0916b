//! JSON output: one line a document. The documents are the types of `json`.

use serde::Serialize;

use serde_json::Value;

use crate::json::DiagnosticJson;

pub use andon_engine::json::{harmless, line, one_line};

use andon_core::domain::diagnostic::Diagnostic;
use andon_engine::text::message::Severity;

/// As [`line()`], with the name of its schema: `"schema": "andon/WHAT@1"`. docs/formats.md lists the names.
pub fn document(what: &str, document: &impl Serialize) -> String {
    let mut value = serde_json::to_value(document).unwrap_or_default();
    if let Value::Object(members) = &mut value {
        members.entry("schema").or_insert_with(|| format!("andon/{what}@1").into());
    }
    line(&value)
}

/// As [`line()`], for a document that is too large to be held as a value: its keys are in the order of its type.
pub fn line_as_declared(document: &impl Serialize) -> String {
    let mut out = harmless(serde_json::to_string(document).unwrap_or_default());
    out.push('\n');
    out
}

/// Documents as JSON lines, each with the name of its schema.
pub fn documents<T: Serialize>(what: &str, documents: &[T]) -> String {
    documents.iter().map(|one| document(what, one)).collect()
}

/// Messages as a list.
pub fn diagnostics(diagnostics: &[Diagnostic]) -> Vec<DiagnosticJson<'_>> {
    diagnostics.iter().map(diagnostic).collect()
}

fn diagnostic(diagnostic: &Diagnostic) -> DiagnosticJson<'_> {
    DiagnosticJson {
        code: diagnostic.code.as_deref(),
        help: &diagnostic.help,
        location: diagnostic.location.as_ref().map(ToString::to_string),
        message: &diagnostic.message,
        severity: Severity::from(diagnostic.level).as_str(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{DecisionJson, RecordJson};
    use andon_core::domain::decision::Verdict;
    use andon_core::domain::findings::Level;
    use andon_core::escape;
    use andon_engine::json::{AckJson, HaltJson};
    use andon_testkit::samples::{self, value_of};
    use serde_json::json;

    fn keys(value: &Value) -> Vec<&str> {
        value.as_object().unwrap().keys().map(String::as_str).collect()
    }

    #[test]
    fn loop_halted_has_the_keys_programs_rely_on() {
        let value = value_of(&HaltJson::from(&samples::halt()));
        assert_eq!(
            keys(&value),
            [
                "at",
                "branch",
                "cycle_id",
                "evidence",
                "file",
                "halt_reason",
                "head",
                "iteration",
                "message",
                "rule",
                "suggested_actions",
                "type",
                "worktree"
            ]
        );
        assert_eq!(keys(&value["evidence"]), ["diffs", "outputs", "tests", "trend"]);
        assert_eq!(value["halt_reason"], "oscillating");
        assert_eq!(value["evidence"]["trend"], json!([7, 4, 2]));
        assert_eq!(
            value["suggested_actions"][1],
            json!({ "code": "narrow_task", "text": "narrow the task" })
        );
        assert_eq!(value_of(&HaltJson::from(&samples::standing()))["id"], "09".repeat(32));
    }

    #[test]
    fn a_decision_carries_its_findings() {
        let mut value = samples::decision(Verdict::Block);
        value.findings = vec![samples::finding("untested-edit", Level::Block)];
        assert_eq!(
            value_of(&DecisionJson::from(&value)),
            json!({
                "decision": "block", "reason": null, "standing": null, "halted": null,
                "findings": [{
                    "rule": "untested-edit", "level": "block", "message": "it happened", "reason": "oscillating",
                    "evidence": ["commit 1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a", "path src/a.rs"],
                    "help": ["andon test"],
                }],
            })
        );
    }

    #[test]
    fn a_record_has_the_keys_of_its_wire_form() {
        let value = value_of(&RecordJson::from(&samples::record()));
        for key in "recorded_at tree parent prev kind gate node session iteration code diff tests outputs usage findings"
            .split(' ')
        {
            assert!(value.get(key).is_some(), "{key}");
        }
        assert_eq!(value["tests"]["failing"], json!(["suite::case_0", "suite::case_1"]));
    }

    #[test]
    fn json_is_harmless_on_a_terminal_and_means_the_same() {
        let value = json!({ "subject": "\u{9b}31m \u{7f}\u{202e}\u{e0041}\n\u{1b}", "ok": "äö" });
        let text = line(&value);
        assert!(!text.trim_end().chars().any(escape::is_hidden), "{text}");
        assert!(text.contains("äö") && text.ends_with("}\n"));
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
    }

    #[test]
    fn acknowledgements_and_diagnostics() {
        assert_eq!(value_of(&AckJson::from(&samples::ack()))["how"], "resume");
        let note = Diagnostic::note("x").at("y");
        assert_eq!(
            value_of(&diagnostics(&[note])),
            json!([{ "severity": "note", "code": null, "message": "x", "location": "y", "help": [] }])
        );
    }
}
