//! The status for a program.

use crate::json::{
    CodesJson, CycleJson, FindingJson, SkippedJson, StatesJson, StatusJson, TestStateJson, TestsJson,
};
use crate::report::json;
use andon_core::domain::findings::Level;
use andon_engine::json::LastHaltJson;

use super::{CycleView, StatusView, TestsOf};

/// The status for a program: `andon/status@1`.
pub fn json(view: &StatusView) -> StatusJson<'_> {
    let shown = view.findings.iter().filter(|finding| finding.level > Level::Off);
    let last = view.last_halt.as_ref();
    StatusJson {
        schema: "andon/status@1",
        badge: view.badge(),
        state: view.state.as_str(),
        iteration: view.iteration,
        unrecorded: view.unrecorded,
        cap: view.cap,
        head: view.head,
        branch: view.branch.as_deref(),
        worktree: &view.worktree,
        hooks_gone: view.hooks_gone.as_ref(),
        cycles: view.cycles.iter().map(cycle_json).collect(),
        node: &view.node,
        who: &view.who,
        session: view.session.as_deref(),
        provider: view.provider.as_deref(),
        last_halt: last.map(|last| LastHaltJson::new(last.id, &last.halt, last.ack.as_ref())),
        decided: &view.decided,
        waiting: &view.waiting,
        refused: view.refused.as_ref(),
        trend: &view.trend,
        trend_in_turn: &view.trend_in_turn,
        trend_without_credit: &view.uncredited,
        flaky: &view.flaky,
        skipped: skipped_json(view),
        test_command: view.test_command.as_deref(),
        code: CodesJson { head: view.head_code, work_tree: view.work_code },
        tests: StatesJson { head: tests_json(&view.head_tests), work_tree: tests_json(&view.work_tests) },
        loop_evidence: &view.evidence,
        findings: shown.map(FindingJson::full).collect(),
        warnings: json::diagnostics(&view.warnings),
    }
}

fn cycle_json(cycle: &CycleView) -> CycleJson<'_> {
    CycleJson {
        cycle_id: &cycle.id,
        badge: cycle.badge(),
        nodes: &cycle.nodes,
        iterations: cycle.iterations,
        max: cycle.max,
    }
}

fn skipped_json(view: &StatusView) -> Vec<SkippedJson<'_>> {
    let skipped = view.skipped.iter();
    skipped.map(|(commit, skip)| SkippedJson { commit: *commit, skip }).collect()
}

fn tests_json(tests: &TestsOf) -> TestStateJson<'_> {
    let (state, validity, run) = match tests {
        TestsOf::Ran(evidence) => ("ran", None, Some(evidence)),
        TestsOf::Void(run) => ("void", Some(run.validity), Some(&run.evidence)),
        TestsOf::OtherCode(evidence) => ("other_code", None, Some(evidence)),
        TestsOf::NeverRan => ("never_ran", None, None),
        TestsOf::Nothing => ("nothing", None, None),
        TestsOf::Unknown => ("unknown", None, None),
    };
    TestStateJson { state, validity, run: run.map(TestsJson::from) }
}
