//! An answer to a halt: its parts, and what it takes away.

use super::stops::{PAUSE_FILE, own_pause, report_file};
use crate::asking::{self, HaltAnswer};
use crate::{Context, OpsError, Result, Workspace, effect, recording};
use andon_core::detect;
use andon_core::domain::{
    Ack, AckHow, CommitId, Effect, EventClass, HaltAssessment, Hint, Presence, ReportFile, StandingHalt,
};

/// A halt that was answered.
#[derive(Debug)]
pub struct ResumeReport {
    /// The halt that was unanswered, if one was recorded.
    pub halt: Option<StandingHalt>,
    /// The name of the person who answered.
    pub by: String,
}

/// An answer. Without a counter a new window starts.
#[derive(Debug, Clone, Copy, Default)]
pub struct Answer<'a> {
    /// The unanswered halt, where there is one.
    pub halt: Option<&'a StandingHalt>,
    pub halt_was: HaltAssessment,
    /// The one counter that is reset: the window continues.
    pub counter: Option<&'a str>,
    /// The answer of a witness whose signature was verified.
    pub witness: Option<&'a HaltAnswer>,
    /// The next provider of the fallback chain, on whose behalf the halt is answered.
    pub provider: Option<&'a str>,
    /// The prompt of an advisor: the worker gets it word for word.
    pub words: Option<&'a str>,
    /// The files among STOP and PAUSE that the answer names: it takes them down, and no other.
    pub lifts: &'a [&'static str],
}

/// Records an acknowledgement and clears the files that it answers.
pub fn acknowledge(
    ctx: &Context,
    ws: &Workspace,
    answer: Answer<'_>,
    how: AckHow,
    reason: &str,
) -> Result<()> {
    let Answer { halt, counter, witness, provider, words, halt_was, lifts } = answer;
    if let Some(halt) = halt.filter(|halt| witness.is_none() && asking::asks_signature(ws, halt).is_some()) {
        let what = format!("halt {} ends only by the signature of a witness", asking::short(halt.id));
        return Err(OpsError::refused(what, Hint::ResolveHalt));
    }
    let person = || witness.map_or_else(|| ctx.committer(&ws.repo), |answer| answer.who.clone());
    let ack = Ack {
        halt: halt.map(|halt| halt.id),
        counter: counter.map(str::to_owned),
        by: provider.map_or_else(person, |name| format!("the fallback chain, for {name}")),
        how,
        halt_was: witness.map_or(halt_was, |answer| answer.halt_was),
        // A client's hook sees what a person took away before it.
        agent: ctx.actor().marker.filter(|_| how != AckHow::FileDeleted).map(str::to_owned),
        provider: provider.map(str::to_owned),
        reason: reason.to_owned(),
        words: witness.and_then(|answer| answer.words.as_deref()).or(words).map(str::to_owned),
        head: answered_at(ws, halt)?,
        known_red: known_red(ws, halt, witness.map_or(halt_was, |answer| answer.halt_was))?,
        worktree: ws.repo.worktree_name(),
        at: ctx.now,
    };
    let mut plan = vec![Effect::RecordAck(Box::new(ack))];
    match (counter, halt) {
        (None, _) => {
            plan.extend(ReportFile::ALL.map(|(report_file, _)| Effect::RemoveReportFile(report_file)));
        }
        (Some(_), Some(halt)) => plan.push(Effect::RemoveReportFile(halt.halt.report_file)),
        (Some(_), None) => {}
    }
    // The answer to a halt answers the pause that came with it.
    let own = [PAUSE_FILE].into_iter().filter(|_| halt.is_some() && own_pause(ws));
    plan.extend(lifts.iter().copied().chain(own).map(Effect::RemoveStop));
    effect::carry_out(&plan, &ws.site(ctx))?;
    recording::tell_healed_locks(ctx, ws)
}

/// The tests that fail where a person says that a halt about failures was mistaken: they were red before.
fn known_red(ws: &Workspace, halt: Option<&StandingHalt>, halt_was: HaltAssessment) -> Result<Vec<String>> {
    let is_of_tests = halt.is_some_and(|halt| detect::about(&halt.halt.rule).event == EventClass::NoProgress);
    if !is_of_tests || halt_was != HaltAssessment::Mistaken {
        return Ok(Vec::new());
    }
    Ok(recording::timeline::load(ws)?.timeline.story().failing_now)
}

/// The commit from which the new window begins: HEAD, or the halted commit where HEAD was moved off it.
fn answered_at(ws: &Workspace, halt: Option<&StandingHalt>) -> Result<Option<CommitId>> {
    let head = ws.repo.head()?.commit();
    let halted = halt.and_then(|halt| halt.halt.head).filter(|halted| ws.repo.commit(*halted).is_ok());
    Ok(match (head, halted) {
        (Some(head), Some(halted)) if !ws.repo.is_ancestor(halted, head).unwrap_or(true) => Some(halted),
        (head, _) => head,
    })
}

/// Removes report files that a resume which died after its answer left; whether there were any.
pub fn leftover(ctx: &Context, ws: &Workspace) -> Result<bool> {
    let there = |file: &ReportFile| report_file(ws, *file) == Presence::Present;
    let left: Vec<ReportFile> = ReportFile::ALL.map(|(file, _)| file).into_iter().filter(there).collect();
    if left.is_empty() {
        return Ok(false);
    }
    let plan: Vec<Effect> = left.into_iter().map(Effect::RemoveReportFile).collect();
    effect::carry_out(&plan, &ws.site(ctx))?;
    recording::tell_repair(ctx, ws, "removed the report file of a halt that was answered already")?;
    Ok(true)
}
