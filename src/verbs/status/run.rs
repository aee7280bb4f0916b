//! `andon status`: the state of the loop, from the same facts as the hooks.

use std::collections::BTreeMap;

use super::tip;
use crate::situation::{self, HookSituation, LoopSituation};
use andon_core::domain::decision::{Stage, StandingHalt};
use andon_core::domain::{
    diagnostic::Diagnostic, findings::Level, ids::CodeId, tests::RunValidity, workflow::Cycle,
};
use andon_core::history::{self, Iteration, Refusals, RefusedCode, Timeline};
use andon_core::{detect, policy};
use andon_engine::error::{OpsError, or_warn};
use andon_engine::evidence::{self, Asked, Subject, scopes::Demand, untracked};
use andon_engine::gate::{fallback, guard};
use andon_engine::halts::{self, decisions};
use andon_engine::recording::timeline::LoadedTimeline;
use andon_engine::view::status::{
    CycleView, FailureSummary, HeadAndWorkTree, LastHalt, LoopEvidence, RefusedCommits, SkippedAt,
    StatusView, TestsOf,
};
use andon_engine::{context::Context, effect, workspace::Workspace};
use andon_store::fingerprint::Fingerprinter;
use andon_store::ledger::{EntryEvent, Ledger};

/// Hashes of each kind that are shown.
const EVIDENCE: usize = 12;

/// Gathers the status of this worktree.
pub fn run(ctx: &Context, ws: &Workspace) -> Result<StatusView, OpsError> {
    let LoopSituation { head, loaded, recorded, standing, hooks, state } =
        situation::look(ctx, ws, &HookSituation::read(&ws.repo))?;
    let mut decision = guard::decide(ws, &loaded, Stage::PostCommit, None, standing.clone());
    decision.findings.retain(|finding| finding.level > Level::Off);
    if recorded.is_some() && standing.is_none() {
        // Answered: the next hook begins a new window.
        decision.findings.retain(|finding| finding.level < Level::Halt);
    }
    let (last_halt, mut warnings) = last_halt(ws, recorded.as_ref())?;
    warnings.extend(ws.config_errors.iter().flat_map(|wrong| wrong.errors.iter().cloned()));
    warnings.extend(loaded.warnings.iter().cloned());
    let lost = tip::lost_records(ws, head.commit(), &loaded);
    let red = or_warn(tip::red_tip(ws, &loaded, head.commit()), &mut warnings);
    warnings.extend(red.into_iter().chain(tip::told_lost(lost)));
    let actor = ctx.actor();
    let at_head = head.commit().and_then(|commit| ws.repo.tree_of(commit).ok()).map(Subject::Tree);
    let top = ws.repo.workdir();
    let at_work = top.and_then(|_| Some(Subject::WorkTree(untracked::tested_overlay(ws).ok()?.overlay)));
    let code =
        HeadAndWorkTree { head: code_of(ws, at_head.as_ref()), work_tree: code_of(ws, at_work.as_ref()) };
    Ok(StatusView {
        state,
        count: situation::count(ws, &loaded.timeline),
        unrecorded: loaded.beside.unknown.saturating_sub(lost),
        head: head.commit(),
        branch: head.branch().map(str::to_owned),
        worktree: ws.repo.worktree_name(),
        cycles: cycles(ws, &loaded.timeline),
        node: actor.node_name(),
        who: policy::makers(&loaded.timeline),
        session: actor.session,
        provider: provider(ws, &loaded),
        provider_reason: provider_reason(&loaded),
        consecutive_failures: consecutive_failures(ws, &loaded),
        last_compaction: loaded.timeline.activity.compactions.newest,
        last_halt,
        trend: loaded.timeline.trend(),
        trend_in_turn: loaded.timeline.activity.red.counts.clone(),
        uncredited: detect::uncredited_falls(&loaded.timeline),
        flaky: flaky(&loaded),
        known_red: loaded.timeline.known_red.clone(),
        skipped: skipped(&loaded.timeline),
        test_command: ws.config.test.command.as_ref().map(andon_config::TestCommand::display),
        tests: HeadAndWorkTree {
            head: head.commit().map_or(TestsOf::Nothing, |_| tests_of(ws, &loaded, code.head, at_head)),
            work_tree: top.map_or(TestsOf::Nothing, |_| tests_of(ws, &loaded, code.work_tree, at_work)),
        },
        code,
        decided: decisions::all(ws, &loaded.timeline),
        waiting: Vec::new(),
        refused: refused(&loaded.timeline),
        evidence: loop_evidence(&loaded.timeline),
        hooks_gone: hooks,
        findings: decision.findings,
        warnings: once(warnings),
    })
}

/// Each of the warnings once: one thing may be in the way of several readers.
fn once(warnings: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let mut told: Vec<Diagnostic> = Vec::new();
    for warning in warnings {
        if !told.contains(&warning) {
            told.push(warning);
        }
    }
    told
}

fn consecutive_failures(ws: &Workspace, loaded: &LoadedTimeline) -> u64 {
    let setting = ws.config.rules.get(detect::CONSECUTIVE_FAILURES.id);
    setting.map_or(0, |setting| detect::failures_in_a_row(&loaded.timeline, setting))
}

/// The provider at work: the one that was started at the newest stall, else the first of the chain.
fn provider(ws: &Workspace, loaded: &LoadedTimeline) -> Option<String> {
    let primary = ws.config.response.providers.first().map(|one| one.name.as_str())?;
    Some(fallback::current(loaded).unwrap_or(primary).to_owned())
}

/// The reason for which it was started.
fn provider_reason(loaded: &LoadedTimeline) -> Option<String> {
    fallback::handed_on(loaded).map(|(_, reason)| reason.to_owned())
}

/// Reminds of an unanswered halt, for loops that wait by `--exit-code`; returns what failed.
pub fn remind(ctx: &Context, ws: &Workspace) -> Result<Vec<Diagnostic>, OpsError> {
    let Some(standing) = halts::binding(ws)? else { return Ok(Vec::new()) };
    let due = policy::reminder(&standing.halt, ctx.now, ws.config.response.again);
    let failed = effect::carry_out(due.as_slice(), &ws.site(ctx))?;
    Ok(failed.into_iter().map(|what| Diagnostic::warning(what).code("response")).collect())
}

/// Refused commits that no commit or test run has followed yet.
fn refused(timeline: &Timeline) -> Option<RefusedCommits> {
    let Refusals { times, newest } = &timeline.activity.refusals;
    let RefusedCode { code, rule, at } = newest.clone()?;
    Some(RefusedCommits { count: *times, code, rule, at })
}

/// The declared cycles with their counters.
fn cycles(ws: &Workspace, timeline: &Timeline) -> Vec<CycleView> {
    let view = |cycle: &Cycle| CycleView {
        id: cycle.id.clone(),
        nodes: cycle.nodes.clone(),
        iterations: timeline.activity.cycle_iterations(cycle),
        max: detect::cycle_limit(cycle, &ws.config.rules),
    };
    timeline.workflow.cycles.iter().map(view).collect()
}

/// The unanswered halt that binds here, of whichever clone; without one the newest of this worktree with its answer.
fn last_halt(
    ws: &Workspace,
    recorded: Option<&StandingHalt>,
) -> Result<(Option<LastHalt>, Vec<Diagnostic>), OpsError> {
    if let Some(StandingHalt { id, halt }) = recorded {
        return Ok((Some(LastHalt { id: *id, halt: halt.clone(), ack: None }), Vec::new()));
    }
    let ledger = Ledger::open(&ws.repo);
    let (found, warnings) = ledger.newest_halt(&ws.repo.worktree_name())?;
    let Some(found) = found else { return Ok((None, warnings)) };
    // A worktree of another clone may have the same name: its halt is shown where this work builds on it.
    if ledger.is_own(found.halt.id)? != Some(true) && !builds_on(ws, &found.halt.event)? {
        return Ok((None, warnings));
    }
    let ack = found.ack.as_ref().and_then(|ack| ack.event.answer()).cloned();
    let last = found.halt.event.halt().map(|halt| LastHalt { id: found.halt.id, halt: halt.clone(), ack });
    Ok((last, warnings))
}

/// True when HEAD is, or continues from, the commit that was halted.
fn builds_on(ws: &Workspace, event: &EntryEvent) -> Result<bool, OpsError> {
    let Some(halt) = event.halt() else { return Ok(false) };
    let head = ws.repo.head()?.commit();
    let is_below = |halted, head| head == halted || ws.repo.is_ancestor(halted, head).unwrap_or(false);
    Ok(halt.head.zip(head).is_some_and(|(halted, head)| is_below(halted, head)))
}

/// The flaky tests of the window and of the journal.
fn flaky(loaded: &LoadedTimeline) -> Vec<String> {
    let valid = loaded.runs.iter().filter(|run| run.validity == RunValidity::Valid);
    let mut flaky = loaded.timeline.flaky().as_ref().clone();
    flaky.extend(history::flaky(valid.map(|run| &run.evidence)));
    flaky.into_iter().collect()
}

/// Rules that were passed over for the commits of the window.
fn skipped(timeline: &Timeline) -> Vec<SkippedAt> {
    let of_one = |iteration: &Iteration| {
        let commit = iteration.commit;
        let skips = iteration.skipped.iter();
        let skips = skips.filter_map(move |skip| Some(SkippedAt { commit: commit?, skip: skip.clone() }));
        skips.collect::<Vec<_>>()
    };
    timeline.iterations.iter().flat_map(of_one).collect()
}

fn code_of(ws: &Workspace, subject: Option<&Subject>) -> Option<CodeId> {
    let mut prints = Fingerprinter::new(&ws.repo, &ws.config.paths.rules);
    match subject? {
        Subject::Tree(tree) => prints.of_tree(*tree).ok(),
        Subject::WorkTree(overlay) => prints.of_overlay(overlay.base, &overlay.entries).ok(),
    }
}

fn tests_of(
    ws: &Workspace,
    loaded: &LoadedTimeline,
    code: Option<CodeId>,
    subject: Option<Subject>,
) -> TestsOf {
    let (Some(code), Some(subject)) = (code, subject) else { return TestsOf::Unknown };
    let asked = Asked { ws, loaded, subject: &subject, code };
    let found = evidence::of_subject(asked, Demand::Commit(None));
    if let Some(evidence) = found.ok().flatten() {
        return TestsOf::Ran(evidence);
    }
    // A run on this very code that proves nothing says more than one on other code.
    if let Some(run) = evidence::run_on(ws, loaded, code) {
        return TestsOf::Void(Box::new(run));
    }
    match loaded.runs.last() {
        Some(run) => TestsOf::OtherCode(run.evidence.clone()),
        None => TestsOf::NeverRan,
    }
}

/// "loop safety" (docs/spec-map.md), "Loop Evidence": the hashes of the window and the failures behind them.
fn loop_evidence(timeline: &Timeline) -> LoopEvidence {
    let skip = timeline.iterations.len().saturating_sub(EVIDENCE);
    let window = || timeline.iterations.iter().skip(skip);
    let ran = || window().filter_map(|iteration| iteration.tests.as_ref());
    let red = || ran().filter(|tests| !tests.is_green());
    let mut failures: BTreeMap<_, FailureSummary> = BTreeMap::new();
    let mut order = Vec::new();
    for tests in red() {
        let summary = failures.entry(tests.signature).or_insert_with(|| FailureSummary {
            signature: tests.signature,
            iterations: 0,
            status: tests.status,
            failing: tests.failing.clone(),
        });
        summary.iterations += 1;
        order.retain(|known| *known != tests.signature);
        order.push(tests.signature);
    }
    LoopEvidence {
        diffs: window().map(|iteration| iteration.diff.hash).collect(),
        codes: window().map(|iteration| iteration.code).collect(),
        tests: red().map(|tests| tests.signature).collect(),
        outputs: window().flat_map(|iteration| iteration.outputs.iter().copied()).collect(),
        failures: order.iter().filter_map(|signature| failures.remove(signature)).collect(),
    }
}
