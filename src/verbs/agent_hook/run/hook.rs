//! `andon agent hook CLIENT EVENT`: first whether the loop is halted, then the payload, then the ruling of the moment.

use super::after_tool::{EventOutcome, after_tool};
use super::guard_changes;
use super::place::{Place, of_agent};
use super::rewrite;
use super::{duplicates, observations, turn};
use crate::verbs::agent_hook::text as words;
use andon_agents::ruling::{CallRuling, RefusalReason, ToolGround, before_tool, runs_git};
use andon_agents::{self as agent, HookPayload, Instruction};
use andon_core::domain::agent::Client;
use andon_core::domain::agent_door::{AgentAction, HookMoment, ToolUse};
use andon_core::domain::context::Pressure;
use andon_core::domain::diagnostic::Diagnostic;
use andon_core::domain::findings::Level;
use andon_core::domain::ids::ShortHash;
use andon_engine::adapter::events;
use andon_engine::context::Context;
use andon_engine::effect::best_effort;
use andon_engine::error::OpsError;
use andon_engine::gate::compaction;
use andon_engine::workspace::Workspace;

pub use super::halt_state::{HaltState, halted};
pub use andon_agents::{MAX_PAYLOAD, Reply, reply};

/// The call of a hook.
#[derive(Debug, Clone, Copy)]
pub struct AgentHookCall<'a> {
    /// Whose hook it is.
    pub client: Client,
    /// The client's name of the event.
    pub event: &'a str,
    /// The report of the client.
    pub payload: &'a HookPayload,
    /// What distinguishes this report from another.
    pub report: ShortHash,
}

/// What is said to the client, and to people.
pub struct AgentHookAnswer {
    /// To the client.
    pub say: Instruction,
    /// The moment it is said at.
    pub moment: HookMoment,
    /// What was odd on the way.
    pub warnings: Vec<Diagnostic>,
}

/// What distinguishes a report: its event and its bytes.
pub fn report(event: &str, bytes: &[u8]) -> ShortHash {
    events::mark(&["report", event, &String::from_utf8_lossy(bytes)])
}

/// Judges what a client reports.
///
/// # Errors
/// Whatever keeps it from that.
pub fn run(
    ctx: &Context,
    ws: &Workspace,
    asked: AgentHookCall<'_>,
    halted: &HaltState,
) -> Result<AgentHookAnswer, OpsError> {
    let AgentHookCall { client, event, payload, report } = asked;
    let told = agent::moment(client, event).unwrap_or(HookMoment::Aside);
    let moment = payload.moment.unwrap_or(told);
    let ctx = of_agent(ctx, client);
    let place = Place { ctx: &ctx, ws, client, session: payload.session.clone() };
    if let Some(transcript) = &payload.transcript {
        best_effort::remember_transcript(ws.repo.git_dir(), transcript);
    }
    if duplicates::is_second(&place, (event, moment), payload, report)? {
        return Ok(AgentHookAnswer { say: Instruction::Nothing, moment, warnings: Vec::new() });
    }
    let heard = match moment {
        HookMoment::BeforeTool => before(&place, asked, halted)?,
        HookMoment::AfterTool => after_tool(&place, event, payload.clone())?,
        HookMoment::TurnEnd => {
            let notes = guard_changes::close(&place)?;
            let heard = turn::end(&place, payload, halted)?;
            EventOutcome { warnings: notes.into_iter().chain(heard.warnings).collect(), ..heard }
        }
        HookMoment::SessionStart => observations::session_start(&place, payload.clone(), halted)?,
        HookMoment::Prompt => {
            // A person may change the guard between two turns: the agent is not blamed for it.
            guard_changes::forget(&place)?;
            observations::prompt(&place, payload, halted)?
        }
        HookMoment::Compacting | HookMoment::Compacted => {
            observations::compaction(&place, payload, (moment, halted))?
        }
        HookMoment::SettingsChanged => observations::settings(&place, payload)?,
        HookMoment::Answered => observations::answered(&place, payload.clone())?,
        HookMoment::Aside => EventOutcome::nothing(),
    };
    Ok(AgentHookAnswer { say: heard.say, moment, warnings: heard.warnings })
}

fn before(place: &Place<'_>, asked: AgentHookCall<'_>, halted: &HaltState) -> Result<EventOutcome, OpsError> {
    let payload = asked.payload;
    let uses: Vec<ToolUse> = payload.calls.iter().map(|call| call.used.clone()).collect();
    let is_halted = *halted != HaltState::No;
    let window =
        if is_halted { None } else { Some(compaction::run(place.ws, place.ctx.actor().node.as_deref())?) };
    let full = window.as_ref().filter(|view| {
        let hard = view.fill.as_ref().is_some_and(|fill| fill.pressure == Pressure::HardBlock);
        hard && view.finding.as_ref().is_some_and(|finding| finding.level >= Level::Block)
    });
    let ground = ToolGround { halted: is_halted, full: full.is_some() };
    let before = before_tool(&uses, ground);
    let runs = if matches!(before, CallRuling::Refuse(_)) {
        guard_changes::CallState::Refused
    } else {
        guard_changes::CallState::Runs
    };
    let notes = guard_changes::begin(place, payload, runs)?;
    let CallRuling::Refuse(why) = before else {
        // The record of a commit names the clients whose hooks were live.
        if uses.iter().flat_map(|used| &used.commands).any(|script| runs_git(script)) {
            place.remember(AgentAction::Asked, "git", None)?;
        }
        let skips = (before == CallRuling::PassSkipping).then(words::skips_hooks);
        let say = rewrite::of_call(place, asked.event, payload);
        return Ok(EventOutcome { say, warnings: skips.into_iter().chain(notes).collect() });
    };
    let about = match &why {
        RefusalReason::Disarms(found) => found.what(),
        RefusalReason::Halted => halt_name(halted),
        RefusalReason::Full => "the context window".to_owned(),
    };
    let mark = place.mark(&["refused", &about]);
    let first = !place.remembered().refused.contains(&mark);
    let text = match (&why, halted) {
        (RefusalReason::Disarms(found), _) => words::disarms(found, first),
        (RefusalReason::Full, _) => words::full(full.and_then(|view| view.finding.as_ref()), first),
        (RefusalReason::Halted, HaltState::Unknown(why)) => words::unread(why),
        (RefusalReason::Halted, HaltState::Yes(halt)) => words::halted(halt.as_deref(), first),
        (RefusalReason::Halted, HaltState::No) => words::halted(None, first),
    };
    // A refusal remains one whether or not it can be remembered.
    let kept = place.remember(AgentAction::Refused, &about, Some(mark));
    let warnings = kept.err().as_ref().map(OpsError::as_warning).into_iter().collect();
    Ok(EventOutcome { say: Instruction::Refuse(text), warnings })
}

fn halt_name(halted: &HaltState) -> String {
    match halted {
        HaltState::Yes(Some(halt)) => format!("halted: {} {}", halt.rule, halt.at),
        HaltState::Yes(None) => "halted by a file".to_owned(),
        HaltState::No | HaltState::Unknown(_) => "halted".to_owned(),
    }
}

/// Keeps that a hook could not do its work, once for each reason and session.
pub fn broken(ctx: &Context, ws: &Workspace, client: Client, payload: Option<&HookPayload>, what: &str) {
    let session = payload.and_then(|payload| payload.session.clone());
    let place = Place { ctx, ws, client, session };
    // What cannot even be kept was said on standard error.
    let _ = place.remember(AgentAction::Broken, what, Some(events::mark(&["broken", what])));
}
