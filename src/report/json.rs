//! The shapes that several JSON outputs share. Keys are fixed by docs/formats.md and by the tests here: programs
//! rely on them. Every key is always there; what is not known is `null`.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::domain::decision::{Decision, Halt, StandingHalt};
use crate::domain::facts::{
    Ack, CommitRecord, DiffSummary, RecordedFinding, Recording, Skip, Usage, Weakening,
};
use crate::domain::findings::Finding;
use crate::domain::suggestion::{AdvisedStep, Suggestion};
use crate::domain::tests::{RunOrigin, TestEvidence};

use super::escape;
use super::message::Diagnostic;
use super::report_file;

/// One line of JSON with a line feed. Characters that a terminal would obey or hide are written as `\u....`
/// (the same value for a program), since `serde_json` only does so below U+0020.
pub fn line(value: &Value) -> String {
    let mut out = one_line(value);
    out.push('\n');
    out
}

/// As [`line()`], without the line feed.
pub(super) fn one_line(value: &Value) -> String {
    let text = value.to_string();
    if !text.chars().any(escape::is_hidden) {
        return text;
    }
    let mut out = String::new();
    let mut units = [0_u16; 2];
    for c in text.chars() {
        if escape::is_hidden(c) {
            for unit in c.encode_utf16(&mut units) {
                // Writing to a String cannot fail.
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(c);
        }
    }
    out
}

/// Values as JSON lines.
pub fn lines<'a>(values: impl IntoIterator<Item = &'a Value>) -> String {
    values.into_iter().map(line).collect()
}

/// Anything that prints itself, as a list of texts.
pub(super) fn texts<T: ToString>(items: &[T]) -> Value {
    items.iter().map(|item| Value::String(item.to_string())).collect()
}

pub(super) fn text_or_null<T: ToString>(item: Option<&T>) -> Value {
    item.map_or(Value::Null, |item| Value::String(item.to_string()))
}

/// A finding as `replay` shows it: `rule`, `level`, `message`, `evidence`.
pub fn finding_brief(finding: &Finding) -> Value {
    json!({
        "rule": finding.rule,
        "level": finding.level.as_str(),
        "message": finding.message(),
        "evidence": texts(&finding.evidence),
    })
}

/// A finding in full: as [`finding_brief`], and `reason`, `help`.
pub fn finding(finding: &Finding) -> Value {
    let mut value = finding_brief(finding);
    value["reason"] = finding.reason.map_or(Value::Null, |reason| reason.as_str().into());
    value["help"] = texts(&finding.help);
    value
}

/// A decision: `decision`, `reason`, `findings` (notes included), `standing`, and `halted` at the call that halts.
pub fn decision(decision: &Decision) -> Value {
    json!({
        "decision": decision.verdict.as_str(),
        "reason": decision.reason.map(crate::domain::findings::HaltReason::as_str),
        "findings": decision.findings.iter().map(finding).collect::<Value>(),
        "standing": decision.standing.as_ref().map(standing),
        "halted": halted(decision),
    })
}

/// Adds the members of another object.
pub fn extend(value: &mut Value, with: Value) {
    if let (Value::Object(members), Value::Object(with)) = (value, with) {
        members.extend(with);
    }
}

/// The halt that a decision makes, whole; `null` where it makes none.
pub(super) fn halted(decision: &Decision) -> Value {
    decision.halted.as_deref().map_or(Value::Null, loop_halted)
}

fn suggestion(suggestion: &Suggestion) -> Value {
    json!({ "code": suggestion.step.map(AdvisedStep::as_str), "text": suggestion.text })
}

/// A halt: the keys of `loop.halted` in docs/formats.md, and where it happened.
pub fn loop_halted(halt: &Halt) -> Value {
    json!({
        "type": "loop.halted",
        "cycle_id": halt.cycle_id,
        "halt_reason": halt.reason.as_str(),
        "rule": halt.rule,
        "message": halt.message,
        "file": report_file::path(halt.report_file),
        "evidence": {
            "diffs": texts(&halt.evidence.diffs),
            "tests": texts(&halt.evidence.tests),
            "outputs": texts(&halt.evidence.outputs),
            "trend": halt.evidence.trend,
        },
        "suggested_actions": halt.suggested_actions.iter().map(suggestion).collect::<Value>(),
        "iteration": halt.iteration,
        "head": text_or_null(halt.head.as_ref()),
        "branch": halt.branch,
        "worktree": halt.worktree,
        // A stream may tell no time.
        "at": (halt.at.0 != 0).then(|| halt.at.to_string()),
    })
}

/// A halt that stands: as [`loop_halted`], and `id`, its ledger entry.
pub fn standing(standing: &StandingHalt) -> Value {
    let mut value = loop_halted(&standing.halt);
    value["id"] = standing.id.to_string().into();
    value
}

/// The `loop.acknowledged` event, as it is notified and exported.
pub fn loop_acknowledged(ack: &Ack) -> Value {
    json!({
        "type": "loop.acknowledged",
        "halt": text_or_null(ack.halt.as_ref()),
        "counter": ack.counter,
        "by": ack.by,
        "how": ack.how.as_str(),
        "agent": ack.agent,
        "reason": ack.reason,
        "head": text_or_null(ack.head.as_ref()),
        "worktree": ack.worktree,
        "at": ack.at.to_string(),
    })
}

/// A message: `severity`, `code`, `message`, `location`, `help`.
pub fn diagnostic(diagnostic: &Diagnostic) -> Value {
    json!({
        "severity": diagnostic.severity.as_str(),
        "code": diagnostic.code,
        "message": diagnostic.message,
        "location": diagnostic.location,
        "help": diagnostic.help,
    })
}

/// Messages as a list.
pub fn diagnostics(diagnostics: &[Diagnostic]) -> Value {
    diagnostics.iter().map(diagnostic).collect()
}

/// The result of a test run, with the keys of `tests` in `andon/commit@1`.
pub fn tests(evidence: &TestEvidence) -> Value {
    let counts = &evidence.counts;
    json!({
        "code": evidence.code.to_string(),
        "status": evidence.status.as_str(),
        "total": counts.total,
        "passed": counts.passed,
        "failed": counts.failed,
        "errored": counts.errored,
        "skipped": counts.skipped,
        "signature": evidence.signature.to_string(),
        "errors": text_or_null(evidence.errors.as_ref()),
        "failing": evidence.failing,
        "truncated": evidence.truncated,
        "runner": evidence.runner,
        "known_by": if evidence.is_by_exit_code() { "exit_code" } else { "report" },
        "command": evidence.command,
        "handed_in": evidence.caveats.origin == RunOrigin::HandedIn,
        "full_run": evidence.caveats.full_run,
        "flaky": evidence.caveats.flaky,
    })
}

/// A normalized diff, with the keys of `diff` in `andon/commit@1`.
pub fn diff(diff: &DiffSummary) -> Value {
    let hunks = diff.hunks.iter().map(|hunk| json!([hunk.removed.to_string(), hunk.added.to_string()]));
    json!({
        "hash": diff.hash.to_string(),
        "empty": diff.empty,
        "files": diff.files,
        "added": diff.added,
        "removed": diff.removed,
        "hunks": hunks.collect::<Value>(),
        "truncated": diff.truncated,
    })
}

/// A commit record, with the keys of `andon/commit@1` (docs/formats.md), unknown parts as `null`.
pub fn record(record: &CommitRecord) -> Value {
    json!({
        "recorded_at": record.recorded_at.to_string(),
        "caught_up": record.recording == Recording::CaughtUp,
        "backfilled": record.recording == Recording::Backfilled,
        "tree": record.tree.to_string(),
        "parent": text_or_null(record.parent.as_ref()),
        "prev": text_or_null(record.prev.line().as_ref()),
        "kind": record.kind.as_str(),
        "gate": record.gate.as_str(),
        "node": record.node,
        "session": record.session,
        "iteration": record.iteration,
        "code": record.code.to_string(),
        "diff": diff(&record.diff),
        "tests": record.tests.as_ref().map(tests),
        "weakening": record.weakening.as_ref().map(weakening),
        "skipped": record.skipped.iter().map(skip).collect::<Value>(),
        "outputs": texts(&record.outputs),
        "usage": record.usage.as_ref().map(usage),
        "findings": record.findings.iter().map(recorded_finding).collect::<Value>(),
    })
}

fn weakening(weakening: &Weakening) -> Value {
    json!({
        "removed": weakening.removed,
        "skipped": weakening.skipped,
        "loosened": weakening.loosened,
        "total": weakening.total,
        "failing": weakening.failing,
        "ran": weakening.ran,
        "waiver": weakening.waiver,
    })
}

/// A rule that was passed over.
pub fn skip(skip: &Skip) -> Value {
    json!({ "rule": skip.rule, "reason": skip.reason, "agent": skip.agent })
}

fn usage(usage: &Usage) -> Value {
    json!({
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cost_usd": usage.cost_usd,
        "context_tokens": usage.context_tokens,
    })
}

fn recorded_finding(finding: &RecordedFinding) -> Value {
    json!({ "rule": finding.rule, "level": finding.level.as_str(), "message": finding.message })
}

#[cfg(test)]
mod tests {
    use super::super::samples;
    use super::*;
    use crate::domain::decision::Verdict;
    use crate::domain::findings::Level;

    fn keys(value: &Value) -> Vec<&str> {
        value.as_object().unwrap().keys().map(String::as_str).collect()
    }

    #[test]
    fn loop_halted_has_the_keys_programs_rely_on() {
        let value = loop_halted(&samples::halt());
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
        assert_eq!(standing(&samples::standing())["id"], "09".repeat(32));
    }

    #[test]
    fn a_decision_carries_its_findings() {
        let mut value = samples::decision(Verdict::Block);
        value.findings = vec![samples::finding("untested-edit", Level::Block)];
        assert_eq!(
            decision(&value),
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
        let value = record(&samples::record());
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
        assert_eq!(loop_acknowledged(&samples::ack())["how"], "resume");
        let note = Diagnostic::note("x").at("y");
        assert_eq!(
            diagnostics(&[note]),
            json!([{ "severity": "note", "code": null, "message": "x", "location": "y", "help": [] }])
        );
    }
}
