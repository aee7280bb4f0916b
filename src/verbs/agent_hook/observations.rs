//! Moments at which nothing is judged: sessions, prompts, compactions, tokens, and settings that change.

use std::path::Path;

use super::after_tool::{
    Audience, EventOutcome, all_decisions, decisions_first, halt_name, take_usage, telling,
};
use super::place::{LiveSession, Place};
use super::{HaltState, guard_changes};
use crate::verbs::agent_hook::text::{self as words, SessionView};
use andon_agents::{self as agent, HookPayload, Instruction};
use andon_core::detect;
use andon_core::domain::events::{EventKind, Renewal};
use andon_core::domain::{agent_door::AgentAction, briefing::BRIEFING};
use andon_engine::gate::{rule_feed::RuleFeed, working_tree::WorkingTree};
use andon_engine::{adapter::events, asking, error::OpsError, gate::compaction, recording::timeline};

/// A session begins: the context window is empty, unless the session is resumed.
pub(super) fn session_start(
    place: &mut LiveSession<'_>,
    payload: &HookPayload,
    halted: &HaltState,
) -> Result<EventOutcome, OpsError> {
    match payload.source.as_deref() {
        // The turn goes on.
        Some("compact") => place.compacted()?,
        source => {
            let head = place.head()?;
            place.remember(AgentAction::Session, &head, None)?;
            if !matches!(source, Some("resume" | "fork")) {
                place.append(&place.event(None, EventKind::Renewed(Renewal::SessionStart)))?;
            }
        }
    }
    if let Some(usage) = &payload.usage {
        place.append(&place.usage(None, usage.clone()))?;
    }
    Ok(EventOutcome::say(Instruction::Tell(context(place, halted)?)))
}

/// The state of the loop, for a model that does not know it.
fn context(place: &mut LiveSession<'_>, halted: &HaltState) -> Result<String, OpsError> {
    let loaded = timeline::load(place.ws)?;
    // While a halt is unanswered, earlier decisions are not the answer that it waits for.
    let decided = if *halted == HaltState::No { all_decisions(place, &loaded.timeline)? } else { Vec::new() };
    let waiting = asking::waiting(place.ws).map_or_else(|_| Vec::new(), |found| found.rounds);
    let precedents = compaction::precedents(place.ws, &loaded);
    let timeline = loaded.timeline;
    if let HaltState::Yes(halt) = halted {
        telling(place, Audience::Model, halt.as_deref())?;
    }
    let briefed = place.ws.andon_dir().is_some_and(|dir| dir.size(BRIEFING).is_some());
    Ok(words::session(&SessionView {
        halt: halted.halt().cloned(),
        stopped: *halted == HaltState::Yes(None),
        iteration: timeline.counted(),
        cap: detect::iteration_cap(&place.ws.config.rules),
        failing: timeline.story().failing_now,
        tested: place.ws.config.test.command.is_some(),
        briefing: briefed.then(|| format!(".andon/{BRIEFING}")),
        decided,
        waiting,
        precedents,
    }))
}

/// A prompt to the agent: counts per turn begin anew, where it comes from a person.
pub(super) fn prompt(
    place: &mut LiveSession<'_>,
    payload: &HookPayload,
    halted: &HaltState,
) -> Result<EventOutcome, OpsError> {
    let own = place.client.spec().habits.prompts_itself;
    // A client that asks before every request says by an id which prompt of a person it is about.
    let again = own && {
        let told = payload.prompt_id.as_deref().map(|id| place.mark(&["prompt", id]));
        let known = told.is_none_or(|mark| place.known.heard.contains_key(&mark));
        if !known {
            place.remember(AgentAction::Heard, "prompt", told)?;
        }
        known
    };
    let is_asked = !again && agent::is_of_a_person(payload.prompt.as_deref(), words::HELD);
    if is_asked {
        let text = payload.prompt.as_deref().map(str::trim).filter(|text| !text.is_empty());
        let mark = text.map(|text| events::mark(&["prompt", text]));
        // What the turn changed is told by the code at its beginning: a client may not wait for its hooks.
        let code = WorkingTree::look(place.ws).map(|tree| format!(" {}", tree.code)).unwrap_or_default();
        let began = place.head()? + &code;
        place.remember(AgentAction::Prompt, &began, mark)?;
        if detect::limits_turns(&place.ws.config.rules) {
            place.append(&place.event(None, EventKind::TurnStart))?;
        }
    }
    // An agent that is asked something else may read again what it read for the question before.
    if is_asked && place.known.turn.asked && !place.known.turn.first {
        place.append(&place.event(None, EventKind::Renewed(Renewal::Prompt)))?;
    }
    // Without a person who could be answered the prompt of a loop costs nothing. A client that asks before every request is
    // let go on until its model was refused twice: it hears of the halt, and can read and leave its work in order.
    let blocks = place.client.spec().shape.ends.at_prompts && !place.is_attended();
    let refusals = place.known.heard.get(&place.mark(&["refused", &halt_name(halted.halt())]));
    let goes_on = refusals.is_some_and(|times| *times > 1);
    if blocks
        && (!again || goes_on)
        && let HaltState::Yes(halt) = halted
    {
        let text = words::halted(halt.as_deref(), telling(place, Audience::Person, halt.as_deref())?);
        return Ok(EventOutcome::say(Instruction::Refuse(text)));
    }
    if place.client.spec().habits.deaf_at_prompts || *halted != HaltState::No {
        return Ok(EventOutcome::nothing());
    }
    let timeline = timeline::load(place.ws)?.timeline;
    Ok(EventOutcome::say(decisions_first(place, &timeline, Instruction::Nothing)?))
}

/// The window is about to be compacted: the briefing is what is left to know.
pub(super) fn compacting(
    place: &mut LiveSession<'_>,
    payload: &HookPayload,
    halted: &HaltState,
) -> Result<EventOutcome, OpsError> {
    take_usage(place, payload)?;
    compaction::brief(place.ctx, place.ws, place.ctx.actor().node.as_deref())?;
    let habits = place.client.spec().habits;
    if habits.compacts_in_silence {
        place.compacted()?;
    }
    let hears = habits.hears_at_compaction.then(|| context(place, halted)).transpose()?;
    Ok(EventOutcome::say(hears.map_or(Instruction::Nothing, Instruction::Tell)))
}

/// The client reported tokens.
pub(super) fn answered(place: &Place<'_>, payload: &HookPayload) -> Result<EventOutcome, OpsError> {
    let Some(usage) = payload.usage.clone() else { return Ok(EventOutcome::nothing()) };
    let line = place.usage(None, usage);
    place.append(&line)?;
    let mut feed = RuleFeed::new(place.ctx, place.ws);
    feed.take(line)?;
    let (_, warnings) = feed.end()?;
    Ok(EventOutcome { say: Instruction::Nothing, warnings })
}

/// Settings of the client changed: they stay, where nothing would start us any more.
pub(super) fn settings(place: &Place<'_>, payload: &HookPayload) -> Result<EventOutcome, OpsError> {
    if !guard_changes::starts_no_more(place, payload.file.as_deref().map(Path::new)) {
        return Ok(EventOutcome::nothing());
    }
    let file = payload.file.clone().unwrap_or_default();
    place.remember(AgentAction::Kept, &file, None)?;
    Ok(EventOutcome::say(Instruction::Keep(words::kept(&file))))
}
