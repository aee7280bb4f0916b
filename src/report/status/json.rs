//! The status for a program.

use serde_json::{Value, json};

use crate::domain::facts::Skip;
use crate::domain::findings::Level;
use crate::domain::ids::CommitId;
use crate::report::json;

use super::{CycleView, FailureSummary, LastHalt, LoopEvidence, StatusView, TestsOf};

/// The status for a program: `andon/status@1`, with the keys of the view.
pub fn json(view: &StatusView) -> Value {
    json!({
        "schema": "andon/status@1",
        "badge": view.badge(),
        "state": view.state.as_str(),
        "iteration": view.iteration,
        "cap": view.cap,
        "head": json::text_or_null(view.head.as_ref()),
        "branch": view.branch,
        "worktree": view.worktree,
        "hooks_gone": view.hooks_gone.as_ref()
            .map(|gone| json!({ "message": gone.what, "help": gone.help })),
        "cycles": view.cycles.iter().map(cycle_json).collect::<Value>(),
        "node": view.node,
        "session": view.session,
        "last_halt": view.last_halt.as_ref().map(last_halt_json),
        "trend": view.trend,
        "trend_without_credit": view.uncredited.iter()
            .map(|fall| json!({ "from": fall.from, "to": fall.to, "gone": fall.gone })).collect::<Value>(),
        "flaky": view.flaky,
        "skipped": view.skipped.iter().map(skipped_json).collect::<Value>(),
        "test_command": view.test_command,
        "code": {
            "head": json::text_or_null(view.head_code.as_ref()),
            "work_tree": json::text_or_null(view.work_code.as_ref()),
        },
        "tests": { "head": tests_json(&view.head_tests), "work_tree": tests_json(&view.work_tests) },
        "loop_evidence": evidence_json(&view.evidence),
        "findings": view.findings.iter().filter(|finding| finding.level > Level::Off).map(json::finding)
            .collect::<Value>(),
        "warnings": json::diagnostics(&view.warnings),
    })
}

fn cycle_json(cycle: &CycleView) -> Value {
    json!({
        "cycle_id": cycle.id,
        "badge": cycle.badge(),
        "nodes": cycle.nodes,
        "iterations": cycle.iterations,
        "max": cycle.max,
    })
}

fn skipped_json((commit, skip): &(CommitId, Skip)) -> Value {
    let mut value = json::skip(skip);
    value["commit"] = commit.to_string().into();
    value
}

fn last_halt_json(last: &LastHalt) -> Value {
    let mut value = json::loop_halted(&last.halt);
    value["id"] = last.id.to_string().into();
    value["acknowledged"] = last.ack.as_ref().map_or(Value::Null, json::loop_acknowledged);
    value
}

/// `state` says how the evidence relates to the code; `run` is the evidence.
fn tests_json(tests: &TestsOf) -> Value {
    let (state, run) = match tests {
        TestsOf::Ran(evidence) => ("ran", Some(evidence)),
        TestsOf::Void(run) => ("void", Some(&run.evidence)),
        TestsOf::OtherCode(evidence) => ("other_code", Some(evidence)),
        TestsOf::NeverRan => ("never_ran", None),
        TestsOf::Nothing => ("nothing", None),
        TestsOf::Unknown => ("unknown", None),
    };
    let validity = match tests {
        TestsOf::Void(run) => Some(run.validity.as_str()),
        TestsOf::Ran(_) | TestsOf::OtherCode(_) | TestsOf::NeverRan | TestsOf::Nothing | TestsOf::Unknown => {
            None
        }
    };
    json!({ "state": state, "validity": validity, "run": run.map(json::tests) })
}

fn evidence_json(evidence: &LoopEvidence) -> Value {
    let failure = |failure: &FailureSummary| {
        json!({
            "signature": failure.signature.to_string(),
            "iterations": failure.iterations,
            "status": failure.status.as_str(),
            "failing": failure.failing,
        })
    };
    json!({
        "diffs": json::texts(&evidence.diffs),
        "codes": json::texts(&evidence.codes),
        "tests": json::texts(&evidence.tests),
        "outputs": json::texts(&evidence.outputs),
        "failures": evidence.failures.iter().map(failure).collect::<Value>(),
    })
}
