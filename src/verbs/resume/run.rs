//! `andon resume`, `andon stop`, `andon pause`: the person's hand on the stop switch.

use std::path::PathBuf;

use andon_core::detect;
use andon_core::detect::Stops;
use andon_core::domain::about::Reset;
use andon_core::domain::decision::{Stage, StandingHalt};
use andon_core::domain::facts::{AckHow, HaltAssessment};
use andon_engine::asking;
use andon_engine::context::Context;
use andon_engine::effect;
use andon_engine::error::OpsError;
use andon_engine::gate::guard;
use andon_engine::gate::safety::SafetyLog;
use andon_engine::halts::{self, Answer, PAUSE_FILE, ResumeReport, STOP_FILE};
use andon_engine::recording::timeline;
use andon_engine::workspace::Workspace;

/// Acknowledges the standing halt and removes STOP and PAUSE. Refuses in the shell of an agent.
pub fn resume(
    ctx: &Context,
    ws: &Workspace,
    reason: Option<&str>,
    (halt_was, how): (HaltAssessment, AckHow),
) -> Result<ResumeReport, OpsError> {
    if let Some(marker) = ctx.agent_above(&ws.repo) {
        return Err(OpsError::AgentShell(marker));
    }
    halts::resolve::check_directory(ws)?;
    let halt = halts::binding(ws)?;
    if halt.is_none() && halts::stop_files(ws) == Stops::NONE {
        return if halts::answer::leftover(ctx, ws)? {
            Ok(ResumeReport { halt, by: ctx.committer(&ws.repo) })
        } else {
            Err(OpsError::NothingToResume)
        };
    }
    let reason = reason.and_then(said);
    if halt.is_some() && reason.is_none() {
        return Err(OpsError::ReasonMissing);
    }
    if halt_was == HaltAssessment::Mistaken && halt.is_none() {
        return Err(OpsError::NothingToResume);
    }
    if let Some(standing) = halt.as_ref().filter(|halt| asking::asks_signature(ws, halt).is_some()) {
        return signed(ctx, ws, standing, halt_was, reason.unwrap_or_default());
    }
    let answer = Answer { halt: halt.as_ref(), halt_was, ..Answer::default() };
    halts::acknowledge(ctx, ws, answer, how, reason.unwrap_or_default())?;
    Ok(ResumeReport { halt, by: ctx.committer(&ws.repo) })
}

/// What a person has to type at a terminal before a halt is answered: its rule, which they have read then; `None` where nothing
/// waits, or a signature is asked for anyway.
///
/// # Errors
/// An agent asks, or the ledger cannot be read.
pub fn typed_word(ctx: &Context, ws: &Workspace) -> Result<Option<String>, OpsError> {
    if let Some(marker) = ctx.agent_above(&ws.repo) {
        return Err(OpsError::AgentShell(marker));
    }
    halts::resolve::check_directory(ws)?;
    let halt = halts::binding(ws)?;
    if halt.as_ref().is_some_and(|halt| asking::asks_signature(ws, halt).is_some()) {
        return Ok(None);
    }
    Ok(halt.map(|standing| standing.halt.rule))
}

/// What hints print in place of a reason. A pasted hint is no decision.
const PLACEHOLDERS: [&str; 7] =
    ["decision", "text", "reason", "why", "what was decided", "what you decided", "todo"];

/// A reason in words; `None` for one without a letter, and for the placeholder of a hint.
pub fn said(reason: &str) -> Option<&str> {
    let reason = Some(reason.trim()).filter(|text| text.chars().any(char::is_alphabetic))?;
    let bare = reason.trim_matches(|c: char| !c.is_alphanumeric()).to_ascii_lowercase();
    (!PLACEHOLDERS.contains(&bare.as_str())).then_some(reason)
}

/// The short form of a resolution: the reason, signed.
fn signed(
    ctx: &Context,
    ws: &Workspace,
    halt: &StandingHalt,
    halt_was: HaltAssessment,
    reason: &str,
) -> Result<ResumeReport, OpsError> {
    asking::resolve_halt(ctx, ws, halt, halt_was, reason)?;
    let found = halts::resolve(ctx, ws)?;
    if let Some(failed) = found.failed {
        return Err(failed);
    }
    let key = asking::signer(ctx, ws)?.public().to_string();
    let by = asking::load(ws)?.who(&key).unwrap_or("a witness").to_owned();
    Ok(ResumeReport { halt: Some(halt.clone()), by })
}

/// Resets one counter, and answers the halt that it made. Everything else stays as it was.
pub fn reset(
    ctx: &Context,
    ws: &Workspace,
    counter: &str,
    (reason, how): (Option<&str>, AckHow),
) -> Result<ResumeReport, OpsError> {
    if let Some(marker) = ctx.agent_above(&ws.repo) {
        return Err(OpsError::AgentShell(marker));
    }
    let counters =
        || detect::REGISTRY.iter().filter(|rule| rule.about.reset == Reset::Alone).map(|rule| rule.id);
    let Some(counter) = counters().find(|known| *known == counter) else {
        return Err(OpsError::Usage {
            what: format!("no counter of that name can be reset alone: {counter:?}"),
            help: format!("one of: {}", counters().collect::<Vec<_>>().join(", ")),
        });
    };
    let reason = reason.and_then(said).ok_or(OpsError::ReasonMissing)?;
    let halt = halts::binding(ws)?.filter(|standing| standing.halt.rule == counter);
    let answer = Answer { halt: halt.as_ref(), counter: Some(counter), ..Answer::default() };
    halts::acknowledge(ctx, ws, answer, how, reason)?;
    Ok(ResumeReport { halt, by: ctx.committer(&ws.repo) })
}

/// Which file stops the loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopFile {
    /// `andon stop`
    Stop,
    /// `andon pause`
    Pause,
}

/// Writes the file that stops or pauses the loop and records the halt.
pub fn pull(
    ctx: &Context,
    ws: &Workspace,
    file: StopFile,
    reason: Option<&str>,
) -> Result<PathBuf, OpsError> {
    ws.top()?;
    let name = match file {
        StopFile::Stop => STOP_FILE,
        StopFile::Pause => PAUSE_FILE,
    };
    let text = format!(
        "{}\nby: {}\nat: {}\n",
        reason.unwrap_or("no reason given"),
        ctx.committer(&ws.repo),
        ctx.now
    );
    let path = effect::write_andon_file(&ws.site(ctx), name, &text)?;
    let standing = halts::binding(ws)?;
    let loaded = timeline::load(ws)?;
    let mut decision = guard::decide(ws, &loaded, Stage::Halts, None, standing);
    if let (Some(reason), Some(finding)) = (reason, decision.findings.first_mut()) {
        finding.detail = finding.detail.before(&format!(": {reason}"));
    }
    guard::settle(ctx, ws, &loaded, &mut decision).map(drop)?;
    SafetyLog { ctx, ws, loaded: &loaded }.stop_switches(decision.standing.as_ref(), reason);
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::said;

    #[test]
    fn a_placeholder_is_no_reason() {
        for none in [
            "",
            "  ",
            "...",
            "<decision>",
            "TEXT",
            "\u{2026}",
            "42",
            "what was decided",
            "'<decision>'",
            "<why>",
        ] {
            assert_eq!(said(none), None, "{none:?}");
        }
        for some in [" the fixture was wrong ", "ok", "decision: keep A", "\u{7b54}\u{3048}"] {
            assert_eq!(said(some), Some(some.trim()), "{some:?}");
        }
    }
}
