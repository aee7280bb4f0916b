//! What people decided reaches the worker: once in each session, at the next thing that the client asks or reports.

use super::place::Place;
use andon_agents::Instruction;
use andon_agents::ruling::Session;
use andon_core::domain::agent_door::AgentAction;
use andon_core::domain::briefing::HumanDecision;
use andon_core::history::Timeline;
use andon_engine::adapter::events;
use andon_engine::error::OpsError;
use andon_engine::halts::decisions;
use andon_engine::text::decisions as text;
use andon_store::ledger::Ledger;

/// All decisions, for a model that knows nothing yet. They count as passed on.
pub(super) fn all(place: &Place<'_>, timeline: &Timeline) -> Result<Vec<HumanDecision>, OpsError> {
    let session = place.remembered();
    let all = decisions::all(place.ws, timeline);
    for one in all.iter().filter(|one| !session.nudged.contains(&decisions::mark(one))) {
        place.remember(AgentAction::Nudged, "decided", Some(decisions::mark(one)))?;
    }
    Ok(all)
}

/// Puts what this session has not heard of before what is said to it anyway.
pub(super) fn first(
    place: &Place<'_>,
    session: &Session,
    timeline: &Timeline,
    say: Instruction,
) -> Result<Instruction, OpsError> {
    // A reply that the model does not see cannot carry the decision: the next one does.
    let after = match &say {
        Instruction::Nothing => None,
        Instruction::Tell(text) => Some(text.clone()),
        Instruction::Refuse(_)
        | Instruction::Rewrite(..)
        | Instruction::Hold(_)
        | Instruction::LetGo(_)
        | Instruction::Stop(_)
        | Instruction::Keep(_) => {
            return Ok(say);
        }
    };
    let mut texts: Vec<String> = Vec::new();
    for one in unheard(place, session, timeline)? {
        place.remember(AgentAction::Nudged, "decided", Some(decisions::mark(&one)))?;
        texts.push(text::for_the_worker(&one));
    }
    if texts.is_empty() {
        return Ok(say);
    }
    texts.extend(after);
    Ok(Instruction::Tell(texts.join("\n\n")))
}

fn unheard(
    place: &Place<'_>,
    session: &Session,
    timeline: &Timeline,
) -> Result<Vec<HumanDecision>, OpsError> {
    let mut found: Vec<HumanDecision> = decisions::answer(place.ws, timeline).into_iter().collect();
    // The ledger is read again only where something was added to it.
    let state = Ledger::open(&place.ws.repo).state().unwrap_or_default();
    let mark = events::mark(&["ledger", &state]);
    if decisions::may_be_rounds(place.ws) && !session.nudged.contains(&mark) {
        found.extend(decisions::rounds(place.ws));
        place.remember(AgentAction::Nudged, "ledger", Some(mark))?;
    }
    found.retain(|one| !session.nudged.contains(&decisions::mark(one)));
    Ok(found)
}
