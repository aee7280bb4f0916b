//! The fallback chain (docs/spec-map.md, loop rules: model fallback strategy): which provider is at work, and what happens when
//! `on_stall` starts the next one.
//!
//! Which one is at work is no counter: the newest answer says it. An answer on a provider's behalf names the provider, and
//! any other answer is a person's and leads back to the primary.

use crate::effect::{self, Site};
use crate::halts::{self, Answer};
use crate::{Result, asking, gate::GateContext, recording::LoadedTimeline};
use andon_core::detect::Stops;
use andon_core::domain::{AckHow, Diagnostic, Effect, Halt, Hint, OnStall, Start};

/// The provider that an answer handed the work to; `None`: the primary is at work.
pub fn current(loaded: &LoadedTimeline) -> Option<&str> {
    handed_on(loaded).map(|(name, _)| name)
}

/// The same with the reason for which the work was handed on.
pub fn handed_on(loaded: &LoadedTimeline) -> Option<(&str, &str)> {
    let answer = loaded.journal.acks.iter().rev().map(|(ack, _)| ack).find(|ack| ack.counter.is_none())?;
    Some((answer.provider.as_deref()?, answer.reason.as_str()))
}

impl GateContext<'_> {
    /// Starts the program of `[on_stall]`. The next provider of the chain can work: the halt that starts it is answered on its
    /// behalf. Where its program fails, the halt is open again. Without a program, or where only a witness may answer, nothing
    /// is answered.
    ///
    /// # Errors
    /// The answer, or the halt that is open again, cannot be recorded.
    pub(super) fn start(&self, start: &Start, site: &Site<'_>) -> Result<Vec<Diagnostic>> {
        let Self { ctx, ws, loaded } = *self;
        let warn = |what: String| Diagnostic::warning(what).code("response");
        let run = || effect::carry_out(&[Effect::Start(Box::new(start.clone()))], site);
        let provider = start.provider.as_ref().filter(|_| start.policy == OnStall::RetryWithNewProvider);
        let standing = halts::binding(ws)?.filter(|found| found.halt.rule == start.halt.rule);
        let (Some(provider), Some(standing)) = (provider, standing) else {
            return Ok(run()?.into_iter().map(warn).collect());
        };
        if site.response.on_stall_program.is_none() || asking::asks_signature(ws, &standing).is_some() {
            return Ok(run()?.into_iter().map(warn).collect());
        }
        let name = provider.name.as_str();
        if halts::stops::by_people(ws) != Stops::NONE {
            return Ok(vec![warn(format!("a person stopped this loop, so {name} was not started"))]);
        }
        let why: Vec<&str> = provider.on.iter().map(|condition| condition.as_str()).collect();
        let reason =
            format!("on_stall.policy is {}: {name} goes on ({})", start.policy.as_str(), why.join(", "));
        let answer = Answer { halt: Some(&standing), provider: Some(name), ..Answer::default() };
        halts::acknowledge(ctx, ws, answer, AckHow::Resume, &reason)?;
        let failed = run()?;
        if failed.is_empty() {
            let what = format!(
                "the halt was answered for the next provider, {name}, which was started; this worker stops here"
            );
            return Ok(vec![Diagnostic::note(what).code("response").help(Hint::Status)]);
        }
        if halts::binding(ws)?.is_none() {
            let message = format!("{}; {name} did not go on: {}", start.halt.message, failed.join("; "));
            let halt = Box::new(Halt { message, ..start.halt.clone() });
            let shown =
                Effect::WriteReportFile { halt: halt.clone(), story: Box::new(loaded.timeline.story()) };
            effect::carry_out(&[shown, Effect::RecordHalt(halt)], &ws.site(ctx))?;
        }
        Ok(failed.into_iter().map(warn).collect())
    }
}
