//! The end of a turn: the done gate, and `andon tick` once the turn does end.

use super::HaltState;
use super::after_tool::{Audience, EventOutcome, take_usage, telling};
use super::place::{LiveSession, Place};
use crate::verbs::agent_hook::text as words;
use andon_agents::ruling::{OpenTurn, Touch, TurnRuling, TurnState, turn_end};
use andon_agents::{HookPayload, Instruction};
use andon_core::domain::agent_door::AgentAction;
use andon_core::domain::events::{EventKind, TurnEnd};
use andon_core::domain::{
    decision::{Halt, Verdict},
    ids::ShortHash,
};
use andon_core::history::{Outcome, outcome};
use andon_core::policy::{self, Bit, BitReasons, Tests};
use andon_engine::gate::rule_feed::RuleFeed;
use andon_engine::gate::turn::{self, TurnOwner};
use andon_engine::gate::working_tree::WorkingTree;
use andon_engine::{
    adapter::events, error::OpsError, evidence::earlier_runs, gate::completion, halts, recording::pending,
    workspace::Workspace,
};

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
) -> Result<EventOutcome, OpsError> {
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

fn ended(place: &mut LiveSession<'_>, halt: Option<&Halt>) -> Result<String, OpsError> {
    Ok(words::ended(halt, telling(place, Audience::Person, halt)?))
}

fn stop(said: Option<String>) -> Instruction {
    said.map_or(Instruction::Nothing, Instruction::Stop)
}

/// The id of this end of a turn: two clients' settings may start us for it.
fn numbered(place: &mut LiveSession<'_>) -> Result<Option<ShortHash>, OpsError> {
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
    fn end(&self, ws: &Workspace) -> Result<TurnEnd, OpsError> {
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
fn left(place: &LiveSession<'_>) -> Result<TurnLeft, OpsError> {
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
fn say_last(place: &Place<'_>, payload: &HookPayload) -> Result<(), OpsError> {
    if let Some(said) = payload.said.as_deref().filter(|said| !said.trim().is_empty()) {
        place.append(&place.event(None, EventKind::Output(events::final_message(said))))?;
    }
    Ok(())
}

/// The work that `andon complete` finds missing. A turn that touched nothing needs nothing.
fn missing(place: &LiveSession<'_>, left: &WorkingTree) -> Result<Option<MissingWork>, OpsError> {
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
        Some(red) if holds => Some(format!("{red}; fix them, then run: andon test")),
        None if holds => view.prompt,
        red => red.or(tests_passing).or(tests_run).or(docs_updated),
    };
    let problem = || view.problems.first().map(|problem| problem.message.clone());
    let text = text.or_else(problem).unwrap_or_else(|| "andon complete says no".to_owned());
    Ok(Some(MissingWork { text, holds }))
}
