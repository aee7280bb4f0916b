//! Before a tool: whether it may run, and with which arguments. The configured test command becomes `andon test`, and
//! Gemini's shell gets git's hooks back.

use super::HaltState;
use super::after_tool::{Audience, EventOutcome, halt_mark, halt_name, telling};
use super::guard_changes::{self, CallState};
use super::place::Place;
use crate::install::clients::place::Scope;
use crate::plain_run::{at_work, configured};
use crate::setup::{clients::program, place::configured as configured_hooks};
use crate::verbs::agent_hook::text::{self as words, Telling};
use andon_agents::ruling::{CallRuling, RefusalReason, ToolGround, as_andon_test, before_tool, runs_git};
use andon_agents::{self as agent, HookPayload, Instruction};
use andon_core::domain::agent_door::{AgentAction, ToolKind, ToolUse};
use andon_core::domain::context::Pressure;
use andon_core::domain::findings::{Finding, Level};
use andon_core::escape::shell_quote;
use andon_engine::{error::OpsError, gate::compaction};

/// Judges calls that a client is about to make.
pub(super) fn before(
    place: Place<'_>,
    event: &str,
    payload: &HookPayload,
    halted: &HaltState,
) -> Result<EventOutcome, OpsError> {
    let uses: Vec<ToolUse> = payload.calls.iter().map(|call| call.used.clone()).collect();
    let is_halted = *halted != HaltState::No;
    let window =
        if is_halted { None } else { Some(compaction::run(place.ws, place.ctx.actor().node.as_deref())?) };
    let full = window.as_ref().filter(|view| {
        let hard = view.fill.as_ref().is_some_and(|fill| fill.pressure == Pressure::HardBlock);
        hard && view.finding.as_ref().is_some_and(|finding| finding.level >= Level::Block)
    });
    let ruling = before_tool(&uses, ToolGround { halted: is_halted, full: full.is_some() });
    let runs = if matches!(ruling, CallRuling::Refuse(_)) { CallState::Refused } else { CallState::Runs };
    let notes = guard_changes::begin(&place, payload, runs)?;
    let CallRuling::Refuse(why) = ruling else {
        // The record of a commit names the clients whose hooks were live.
        if uses.iter().flat_map(|used| &used.commands).any(|script| runs_git(script)) {
            place.remember(AgentAction::Asked, "git", None)?;
        }
        let skips = (ruling == CallRuling::PassSkipping).then(words::skips_hooks);
        let say = rewritten(&place, event, payload);
        return Ok(EventOutcome { say, warnings: skips.into_iter().chain(notes).collect() });
    };
    let finding = full.and_then(|view| view.finding.as_ref());
    Ok(refused(place, &why, finding, halted))
}

fn refused(
    place: Place<'_>,
    why: &RefusalReason,
    full: Option<&Finding>,
    halted: &HaltState,
) -> EventOutcome {
    let about = match why {
        RefusalReason::Disarms(found) => found.what(),
        RefusalReason::Halted => halt_name(halted.halt()),
        RefusalReason::Full => "the context window".to_owned(),
    };
    let place_ends = place.client.spec().shape.ends.before_tools;
    let mut live = place.fold();
    let mark = live.mark(&["refused", &about]);
    let again = live.known.heard.contains_key(&mark);
    let heard = if again { Telling::Again } else { Telling::First };
    // A client shows its person what a hook refuses. A refusal remains one whether or not it can be remembered.
    let told = match (why, halted) {
        (RefusalReason::Halted, HaltState::Yes(halt)) => {
            let is_told = live.known.nudged.contains(&halt_mark(Audience::Model, halt.as_deref()));
            if !again && !is_told {
                let _shown = telling(&mut live, Audience::Person, halt.as_deref());
            }
            if is_told { Telling::Again } else { heard }
        }
        (RefusalReason::Halted | RefusalReason::Disarms(_) | RefusalReason::Full, _) => heard,
    };
    let text = match (why, halted) {
        (RefusalReason::Disarms(found), _) => words::disarms(found, told),
        (RefusalReason::Full, _) => words::full(full, told),
        (RefusalReason::Halted, HaltState::Unknown(why)) => words::unread(why),
        (RefusalReason::Halted, HaltState::Yes(halt)) => words::halted(halt.as_deref(), told),
        (RefusalReason::Halted, HaltState::No) => words::halted(None, told),
    };
    let kept = live.remember(AgentAction::Refused, &about, Some(mark));
    let warnings = kept.err().as_ref().map(OpsError::as_warning).into_iter().collect();
    // A model that was refused for the halt and goes on asks for ever: its session ends, where the client has a way.
    let ends = place_ends && *why == RefusalReason::Halted && again;
    let say = if ends { Instruction::Stop(text) } else { Instruction::Refuse(text) };
    EventOutcome { say, warnings }
}

/// Rewrites a call of the shell where it needs it.
fn rewritten(place: &Place<'_>, event: &str, payload: &HookPayload) -> Instruction {
    let Some(call) = payload.calls.first().filter(|call| call.used.kind == ToolKind::Shell) else {
        return Instruction::Nothing;
    };
    let Some(given) = call.args.as_ref().filter(|_| agent::rewrites(place.client, event)) else {
        return Instruction::Nothing;
    };
    let (mut args, mut is_changed, mut note) = (given.clone(), false, None);
    // The shell says it then.
    let deaf = place.client.spec().habits.deaf_before_tools;
    for script in &call.used.commands {
        let tested = tested(place, payload, script);
        let told = tested.as_deref().map(words::turned);
        let now = with_hooks(place, tested.as_deref().unwrap_or(script)).or(tested);
        let now = match &told {
            Some(told) if deaf => now.map(|now| format!("printf '%s\\n' {} >&2; {now}", shell_quote(told))),
            Some(_) | None => now,
        };
        let Some(changed) = now.and_then(|now| agent::with_command(&args, script, &now)) else { continue };
        (args, is_changed) = (changed, true);
        note = note.or(told);
    }
    if is_changed { Instruction::Rewrite(args, note.filter(|_| !deaf)) } else { Instruction::Nothing }
}

fn tested(place: &Place<'_>, payload: &HookPayload, script: &str) -> Option<String> {
    let tests = configured(place.ws);
    let program = shell_quote(&program(place.ctx, Scope::Project));
    at_work(place.ctx, place.ws, payload.cwd.as_deref(), |at| as_andon_test(script, &tests, at, &program))
}

/// Gemini's shell switches git's hooks off: a command that runs git there gets the repository's own hooks back.
fn with_hooks(place: &Place<'_>, script: &str) -> Option<String> {
    if !place.client.spec().habits.shell_without_hooks || !runs_git(script) {
        return None;
    }
    let hooks = configured_hooks(&place.ws.repo).to_string_lossy().into_owned();
    // A path that would need quotes within quotes stays as it is: the catch-up after the tool still records.
    let plain = |text: &str| text.chars().all(|c| c.is_alphanumeric() || "/._-+@ ,:".contains(c));
    // The shell does not say which session it is of.
    let session = place.session.as_deref().filter(|session| plain(session) && !session.is_empty());
    let session = session.map_or_else(String::new, |session| format!(" ANDON_SESSION='{session}'"));
    plain(&hooks)
        .then(|| format!("export GIT_CONFIG_PARAMETERS=\"'core.hooksPath={hooks}'\"{session}; {script}"))
}
