//! What an answer to a halt consists of, and what it takes away.

use super::shown_halts::report_file_present;
use super::stops::own_pause;
use crate::asking::{self, HaltAnswer};
use crate::context::Context;
use crate::effect;
use crate::error::OpsError;
use crate::recording;
use crate::workspace::Workspace;
use andon_core::domain::decision::StandingHalt;
use andon_core::domain::effect::Effect;
use andon_core::domain::facts::{Ack, AckHow, HaltAssessment};
use andon_core::domain::findings::ReportFile;
use andon_core::domain::ids::CommitId;

/// What was answered.
#[derive(Debug)]
pub struct ResumeReport {
    /// The halt that was unanswered, if one was recorded.
    pub halt: Option<StandingHalt>,
    /// Who answered.
    pub by: String,
}

/// What an acknowledgement answers.
#[derive(Debug, Clone, Copy)]
pub enum Answer<'a> {
    /// The unanswered halt, or none: a new window starts.
    Loop(Option<&'a StandingHalt>),
    /// The unanswered halt, which was mistaken: a new window starts.
    Mistaken(&'a StandingHalt),
    /// The unanswered halt, by a witness whose signature was verified.
    Witness(&'a StandingHalt, &'a HaltAnswer),
    /// The unanswered halt, with the prompt of an advisor: the worker gets it word for word.
    Advice(&'a StandingHalt, &'a str),
    /// The unanswered halt, on behalf of the next provider of the fallback chain, which goes on.
    Provider(&'a StandingHalt, &'a str),
    /// One counter, and the halt that it made: the window continues.
    Counter(&'a str, Option<&'a StandingHalt>),
}

/// What an answer consists of.
#[derive(Default)]
struct AnswerParts<'a> {
    halt: Option<&'a StandingHalt>,
    counter: Option<&'a str>,
    witness: Option<&'a HaltAnswer>,
    provider: Option<&'a str>,
    words: Option<&'a str>,
}

impl<'a> Answer<'a> {
    fn parts(self) -> AnswerParts<'a> {
        let none = AnswerParts::default();
        match self {
            Self::Loop(halt) => AnswerParts { halt, ..none },
            Self::Mistaken(halt) => AnswerParts { halt: Some(halt), ..none },
            Self::Provider(halt, name) => AnswerParts { halt: Some(halt), provider: Some(name), ..none },
            Self::Advice(halt, prompt) => AnswerParts { halt: Some(halt), words: Some(prompt), ..none },
            Self::Counter(counter, halt) => AnswerParts { halt, counter: Some(counter), ..none },
            Self::Witness(halt, given) => {
                let words = given.words.as_deref();
                AnswerParts { halt: Some(halt), witness: Some(given), words, ..none }
            }
        }
    }
}

/// Records an acknowledgement and clears the files that it answers.
pub fn acknowledge(
    ctx: &Context,
    ws: &Workspace,
    answer: Answer<'_>,
    how: AckHow,
    reason: &str,
) -> Result<(), OpsError> {
    let AnswerParts { halt, counter, witness, provider, words } = answer.parts();
    if let Some(halt) = halt.filter(|halt| witness.is_none() && asking::asks_signature(ws, halt).is_some()) {
        return Err(OpsError::refused(
            format!("halt {} ends only by the signature of a witness", asking::short(halt.id)),
            "a witness answers: andon review resolve halt",
        ));
    }
    let person = || witness.map_or_else(|| ctx.committer(&ws.repo), |answer| answer.who.clone());
    let ack = Ack {
        halt: halt.map(|halt| halt.id),
        counter: counter.map(str::to_owned),
        by: provider.map_or_else(person, |name| format!("the fallback chain, for {name}")),
        how,
        halt_was: match answer {
            Answer::Mistaken(_) => HaltAssessment::Mistaken,
            Answer::Witness(_, answer) => answer.halt_was,
            Answer::Loop(_) | Answer::Counter(..) | Answer::Provider(..) | Answer::Advice(..) => {
                HaltAssessment::Unsaid
            }
        },
        // A client's hook sees what a person took away before it.
        agent: ctx.actor().marker.filter(|_| how != AckHow::FileDeleted).map(str::to_owned),
        provider: provider.map(str::to_owned),
        reason: reason.to_owned(),
        words: words.map(str::to_owned),
        head: answered_at(ws, halt)?,
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
    // The answer to a halt answers the pause that came with it; one that a person made stays.
    let answers_pause = halt.is_some() && own_pause(ws);
    if (how != AckHow::FileDeleted && counter.is_none()) || answers_pause {
        plan.push(Effect::RemoveStops);
    }
    effect::carry_out(&plan, &ws.site(ctx))?;
    recording::tell_healed_locks(ctx, ws)
}

/// Where the new window begins: HEAD, or the halted commit where HEAD was moved off it.
fn answered_at(ws: &Workspace, halt: Option<&StandingHalt>) -> Result<Option<CommitId>, OpsError> {
    let head = ws.repo.head()?.commit();
    let halted = halt.and_then(|halt| halt.halt.head).filter(|halted| ws.repo.commit(*halted).is_ok());
    Ok(match (head, halted) {
        (Some(head), Some(halted)) if !ws.repo.is_ancestor(halted, head).unwrap_or(true) => Some(halted),
        (head, _) => head,
    })
}

/// Removes report files that a resume which died after its answer left; whether there were any.
pub fn leftover(ctx: &Context, ws: &Workspace) -> Result<bool, OpsError> {
    let there = |report_file: &ReportFile| ws.andon_dir().is_some() && report_file_present(ws, *report_file);
    let left: Vec<ReportFile> =
        ReportFile::ALL.map(|(report_file, _)| report_file).into_iter().filter(there).collect();
    if left.is_empty() {
        return Ok(false);
    }
    let plan: Vec<Effect> = left.into_iter().map(Effect::RemoveReportFile).collect();
    effect::carry_out(&plan, &ws.site(ctx))?;
    recording::tell_repair(
        ctx,
        ws,
        "removed the report file of a halt that was answered already".to_owned(),
    )?;
    Ok(true)
}
