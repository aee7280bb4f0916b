//! The end of a turn: the done gate, and `andon tick` once the turn does end.
//!
//! Moments at which nothing is judged: sessions, prompts, compactions, tokens, and settings that change.

use std::path::Path;

use super::place::{LiveSession, Place};
use super::tool::{Audience, EventOutcome, all_decisions, decisions_first, halt_name, take_usage, telling};
use super::{HaltState, guard_changes};
use crate::verbs::agent_hook::text::{self as words, SessionView};
use andon_agents::ruling::{OpenTurn, Touch, TurnRuling, TurnState, turn_end};
use andon_agents::{self as agent, HookPayload, Instruction};
use andon_core::detect;
use andon_core::domain::{
    AgentAction, BRIEFING, EventKind, Halt, Hint, Renewal, ShortHash, TurnEnd, Verdict,
};
use andon_core::history::{Outcome, outcome};
use andon_core::policy::{self, Bit, BitReasons, Tests};
use andon_engine::gate::{RuleFeed, TurnOwner, WorkingTree, compaction, completion, turn};
use andon_engine::recording::{pending, timeline};
use andon_engine::{Result, Workspace, adapter::events, asking, evidence::earlier_runs, halts};

struct MissingWork {
    text: String,
    /// The turn is held for it. Otherwise it is told.
    holds: bool,
}

/// Judges the end of a turn.
pub(super) fn end(
    place: &mut LiveSession<'_>,
    payload: &HookPayload,
    halted: &HaltState,
) -> Result<EventOutcome> {
    pending::take_in(place.ws)?;
    let habits = place.client.spec().habits;
    if habits.subagent_sessions && !place.known.remembered {
        return Ok(EventOutcome::nothing());
    }
    // No question while halted.
    let left = if matches!(halted, HaltState::Yes(_)) { None } else { Some(left(place)?) };
    let missing = match &left {
        Some(TurnLeft { tree: Some(tree), changed: true }) => missing(place, tree)?,
        Some(_) | None => None,
    };
    let asked = TurnState {
        halted: left.is_none(),
        missing: missing.as_ref().is_some_and(|missing| missing.holds),
        held: place.known.held,
        continued: payload.continued,
        remembered: place.known.remembered,
    };
    let text = missing.as_ref().map_or("", |missing| missing.text.as_str());
    let ruling = turn_end(asked);
    if ruling == TurnRuling::Hold && !habits.ends_regardless {
        // A turn whose hold cannot be remembered would be held for ever.
        place.remember(AgentAction::Held, text, None)?;
        return Ok(EventOutcome::say(Instruction::Hold(words::held(text))));
    }
    if ruling != TurnRuling::Done {
        place.remember(AgentAction::Released, text, None)?;
    }
    let said = match ruling {
        TurnRuling::Done => missing.as_ref().map(|missing| words::red(&missing.text)),
        TurnRuling::Halted => Some(ended(place, halted.halt())?),
        TurnRuling::Hold | TurnRuling::Unfinished => Some(words::unfinished(text)),
    };
    let Some(left) = left else { return Ok(EventOutcome::say(stop(said))) };
    let say = said.map_or(Instruction::Nothing, Instruction::LetGo);
    let node = place.ctx.actor().node;
    let is_question = is_question(place, payload);
    let whose = TurnOwner { node, session: place.session.clone(), id: numbered(place)? };
    take_usage(place, payload)?;
    if !left.changed && is_question {
        let (_, warnings) = RuleFeed::new(place.ctx, place.ws).end()?;
        return Ok(EventOutcome { say, warnings });
    }
    say_last(place, payload)?;
    let end = left.end(place.ws)?;
    let (decision, warnings) = turn::end(place.ctx, place.ws, end, whose)?;
    let halt = if decision.verdict == Verdict::Halt { halts::binding(place.ws)? } else { None };
    let say = match halt {
        Some(halt) => stop(Some(ended(place, Some(&halt.halt))?)),
        None => say,
    };
    Ok(EventOutcome { say, warnings })
}

fn ended(place: &mut LiveSession<'_>, halt: Option<&Halt>) -> Result<String> {
    Ok(words::ended(halt, telling(place, Audience::Person, halt)?))
}

fn stop(said: Option<String>) -> Instruction {
    said.map_or(Instruction::Nothing, Instruction::Stop)
}

/// The id of this end of a turn: two clients' settings may start us for it.
fn numbered(place: &mut LiveSession<'_>) -> Result<Option<ShortHash>> {
    if place.session.is_none() {
        return Ok(None);
    }
    let number = place.known.ended;
    place.remember(AgentAction::Ended, &number.to_string(), None)?;
    Ok(Some(place.id("ended", "", number)))
}

/// The working tree at the end of a turn.
struct TurnLeft {
    /// The working tree, where it had to be looked at.
    tree: Option<WorkingTree>,
    /// This turn may have changed the code.
    changed: bool,
}

impl TurnLeft {
    fn end(&self, ws: &Workspace) -> Result<TurnEnd> {
        let known = if self.tree.is_none() { turn::untouched(ws)? } else { None };
        match (&self.tree, known) {
            (Some(tree), _) => Ok(tree.ended(ws)),
            (None, Some(end)) => Ok(end),
            (None, None) => Ok(WorkingTree::look(ws)?.ended(ws)),
        }
    }
}

/// Compares the working tree with what it was at the prompt, unless the times of the files tell that nothing was written since.
/// Calls say no more than that something may have been: a client may end its turn before the hook of its last call.
fn left(place: &LiveSession<'_>) -> Result<TurnLeft> {
    let session = &place.known;
    let moved = session.began.as_deref() != Some(place.head()?.as_str());
    let OpenTurn { touch, since, code, .. } = session.turn;
    let untouched = match (touch, since) {
        (Touch::Nothing, Some(since)) if code.is_some() => !place.ws.repo.may_be_written_since(since.0),
        (Touch::Nothing, _) => true,
        (Touch::Ran, Some(since)) => !moved && !place.ws.repo.may_be_written_since(since.0),
        (Touch::Ran, None) | (Touch::Edited, _) => false,
    };
    if !moved && untouched {
        return Ok(TurnLeft { tree: None, changed: false });
    }
    let tree = WorkingTree::look(place.ws)?;
    let newer = || since.is_none_or(|since| tree.is_newer(place.ws, since));
    let changed = moved || touch == Touch::Edited || code.map_or_else(newer, |code| code != tree.code);
    Ok(TurnLeft { tree: Some(tree), changed })
}

/// True where a person asked something, and no loop did: a prompt that is new, in a session that has more than one, and no
/// hook that keeps the turn going.
fn is_question(place: &LiveSession<'_>, payload: &HookPayload) -> bool {
    let OpenTurn { asked, first, .. } = place.known.turn;
    asked && (!first || place.is_attended()) && payload.continued != Some(true)
}

/// The last message of a turn becomes a fact before it ends.
fn say_last(place: &Place<'_>, payload: &HookPayload) -> Result<()> {
    if let Some(said) = payload.said.as_deref().filter(|said| !said.trim().is_empty()) {
        place.append(&place.event(None, EventKind::Output(events::final_message(said))))?;
    }
    Ok(())
}

/// The work that `andon complete` finds missing. A turn that touched nothing needs nothing.
fn missing(place: &LiveSession<'_>, left: &WorkingTree) -> Result<Option<MissingWork>> {
    let view = completion::of_overlay(place.ctx, place.ws, left.overlay.clone())?;
    let untouched =
        view.bits.code_modified == Bit::No && place.known.began.as_deref() == Some(place.head()?.as_str());
    if view.can_complete != Bit::No || untouched {
        return Ok(None);
    }
    // Any run that saw this code tells the agent what a hold would, unless it leaves the tests red.
    let run = earlier_runs::newest_on(place.ws, left.code);
    if run.as_ref().is_some_and(|run| outcome(&run.evidence) != Outcome::Red) {
        return Ok(None);
    }
    let red = run.and_then(|run| {
        policy::dirty(view.bits.code_modified, Tests::Ran(&run.evidence), None).reasons().tests_passing
    });
    // A person who is there reads it, and says whether it is meant: nothing but their next prompt costs a turn.
    let holds = !place.is_attended();
    let BitReasons { tests_run, tests_passing, docs_updated } = view.reasons;
    let text = match red {
        Some(red) if holds => Some(format!("{red}; {}", Hint::Test.led("fix them, then run"))),
        None if holds => view.prompt,
        red => red.or(tests_passing).or(tests_run).or(docs_updated),
    };
    let problem = || view.problems.first().map(|problem| problem.message.clone());
    let text = text.or_else(problem).unwrap_or_else(|| format!("{} says no", Hint::Complete));
    Ok(Some(MissingWork { text, holds }))
}

/// A session begins: the context window is empty, unless the session is resumed.
pub(super) fn session_start(
    place: &mut LiveSession<'_>,
    payload: &HookPayload,
    halted: &HaltState,
) -> Result<EventOutcome> {
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
fn context(place: &mut LiveSession<'_>, halted: &HaltState) -> Result<String> {
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
) -> Result<EventOutcome> {
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
        // The code at the beginning of a turn tells its changes: a client may not wait for its hooks.
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
    let blocks = place.client.spec().shape.ends.at_prompts.is_some() && !place.is_attended();
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
) -> Result<EventOutcome> {
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
pub(super) fn answered(place: &Place<'_>, payload: &HookPayload) -> Result<EventOutcome> {
    let Some(usage) = payload.usage.clone() else { return Ok(EventOutcome::nothing()) };
    let line = place.usage(None, usage);
    place.append(&line)?;
    let mut feed = RuleFeed::new(place.ctx, place.ws);
    feed.take(line)?;
    let (_, warnings) = feed.end()?;
    Ok(EventOutcome { say: Instruction::Nothing, warnings })
}

/// Settings of the client changed: they stay, where nothing would start us any more.
pub(super) fn settings(place: &Place<'_>, payload: &HookPayload) -> Result<EventOutcome> {
    if !guard_changes::starts_no_more(place, payload.file.as_deref().map(Path::new)) {
        return Ok(EventOutcome::nothing());
    }
    let file = payload.file.clone().unwrap_or_default();
    place.remember(AgentAction::Kept, &file, None)?;
    Ok(EventOutcome::say(Instruction::Keep(words::kept(&file))))
}
