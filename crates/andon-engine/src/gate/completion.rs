//! Decides whether this task may be called done, for `andon complete` and the done gate of agents' hooks: the dirty
//! bits of "loop rules" (docs/spec-map.md), by content.

use crate::evidence::{self, Demand, Subject, docs, untracked};
use crate::gate::{GateContext, guard};
use crate::{
    Context, Result, Workspace, context, halts, recording::timeline, text::message, view::CompleteView,
};
use andon_core::detect::{self, Candidate, DocsChange, EvidenceState, Origin};
use andon_core::domain::{Decision, Diagnostic, Hint, Level, Stage, TestStatus, Verdict, scopes::called};
use andon_core::history::red_scopes;
use andon_core::policy::{self, Bit, BitReasons, Completion, Tests};
use andon_git::Overlay;

/// The way out where nothing but the record of the commit says that tests fail.
fn amended(candidate: &Candidate, decision: &Decision) -> Option<String> {
    let failing = decision.findings.iter().find(|found| found.rule == detect::FAILING_TESTS.id);
    let command = failing.filter(|_| candidate.origin == Origin::Recorded)?.help.first()?;
    Some(format!("they passed since; for a record that says so: {command}"))
}

/// Judges the working tree as it is now. No halt is written or answered here; an unfinished task is noted in the safety
/// log.
pub fn view(ctx: &Context, ws: &Workspace) -> Result<CompleteView> {
    ws.top()?;
    of_overlay(ctx, ws, ws.overlay()?)
}

/// The same of a working tree that was looked at already.
pub fn of_overlay(ctx: &Context, ws: &Workspace, mut overlay: Overlay) -> Result<CompleteView> {
    let loaded = timeline::load(ws)?;
    untracked::set_aside(ws, &mut overlay);
    let uncommitted = overlay.entries.iter().any(|entry| ws.is_code(&entry.path));
    let began = docs::began(ws, &loaded.timeline)?;
    let subject = Subject::WorkTree(overlay);
    let docs = docs::between(&ws.repo, &ws.config, began, subject.content())?;
    let mut candidate = evidence::candidate(ws, &loaded, &subject, Demand::Everything)?;
    if let Some(head) = ws.repo.head()?.commit().filter(|_| !uncommitted) {
        candidate = evidence::at_tip(ws, candidate, head)?;
    }
    let candidate = Candidate { docs, ..candidate };
    let standing = halts::unanswered(ctx, ws)?;
    let owed = if standing.is_none() { guard::owed(ws, &loaded) } else { None };
    let decide = || guard::decide(ws, &loaded, Stage::Complete, Some(&candidate), standing);
    let decision = owed.unwrap_or_else(decide);
    let modified = if uncommitted { Bit::Yes } else { Bit::No };
    let tests = tests_in(&candidate.evidence);
    let no_test_ran = matches!(tests, Tests::Ran(tests) if tests.status == TestStatus::NoTests);
    // Without a test command nothing can be known, unless no tests are asked for.
    let asks_for_tests = detect::UNTESTED_EDIT.level_in(&ws.config.rules) > Level::Off;
    let nothing_is_known = matches!(tests, Tests::Unasked) && asks_for_tests;
    let bits = policy::dirty(modified, tests, docs_bit(&candidate.docs));
    let mut problems: Vec<Diagnostic> = decision.findings.iter().map(Diagnostic::from).collect();
    problems.extend(decision.standing.iter().map(|halt| message::standing(halt, context::local)));
    problems.extend(loaded.warnings.iter().cloned());
    problems.extend(evidence::notices(&candidate, &loaded));
    if uncommitted {
        problems
            .push(Diagnostic::note("code in the working tree is not committed yet").help(Hint::GitStatus));
    }
    let (clean, prompt) = match bits.completion() {
        Completion::Clean => (decision.verdict < Verdict::Block, None),
        Completion::Dirty { message, prompt, .. } => {
            (false, Some(format!("{message}; {}", amended(&candidate, &decision).unwrap_or(prompt))))
        }
    };
    if !clean {
        problems.extend(GateContext { ctx, ws, loaded: &loaded }.incomplete(&decision, &bits));
    }
    let mut reasons = bits.reasons();
    name_scopes(&mut reasons, &candidate.evidence);
    if let (Some(reason), DocsChange::Missing(paths)) = (&mut reasons.docs_updated, &candidate.docs) {
        let paths: Vec<_> = paths.iter().map(|path| String::from_utf8_lossy(path)).collect();
        reason.push_str(&format!(": {}", paths.join(", ")));
    }
    Ok(CompleteView {
        bits,
        reasons,
        can_complete: match (clean, no_test_ran && decision.verdict < Verdict::Halt) {
            (true, _) if nothing_is_known => Bit::Unknown,
            (true, _) => Bit::Yes,
            (false, true) => Bit::Unknown,
            (false, false) => Bit::No,
        },
        prompt,
        problems,
    })
}

/// Adds each scope whose tests fail or did not run to the reason for it.
fn name_scopes(reasons: &mut BitReasons, evidence: &EvidenceState) {
    let named =
        |names: Vec<&String>| names.into_iter().map(|name| called(name)).collect::<Vec<_>>().join(", ");
    if let (EvidenceState::Scope { name, more, red, .. }, Some(reason)) = (evidence, &mut reasons.tests_run) {
        reason.push_str(&format!(": {}", named(std::iter::once(name).chain(more).collect())));
        if !red.is_empty() {
            reason.push_str(&format!("; and those of {} fail", named(red.iter().collect())));
        }
    }
    if let (EvidenceState::Tested(tests), Some(reason)) = (evidence, &mut reasons.tests_passing) {
        let red: Vec<&String> = red_scopes(tests).map(|scope| &scope.name).collect();
        if !red.is_empty() {
            reason.push_str(&format!(": {}", named(red)));
        }
    }
}

fn tests_in(evidence: &EvidenceState) -> Tests<'_> {
    match evidence {
        EvidenceState::Tested(tests) => Tests::Ran(tests),
        EvidenceState::Unconfigured => Tests::Unasked,
        EvidenceState::NeverRan
        | EvidenceState::Void(_)
        | EvidenceState::OtherCode { .. }
        | EvidenceState::InTwoScopes(_)
        | EvidenceState::Scope { .. } => Tests::Missing,
    }
}

fn docs_bit(docs: &DocsChange) -> Option<Bit> {
    match docs {
        DocsChange::NotAsked => None,
        DocsChange::Updated => Some(Bit::Yes),
        DocsChange::Missing(_) => Some(Bit::No),
    }
}
