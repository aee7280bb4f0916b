//! After a tool has run: the call becomes a fact, the rules are asked, and the model gets one message about what they
//! see coming.

use std::path::Path;

use super::decisions;
use super::guard_changes;
use super::place::Place;
use super::tail;
use super::test_report;
use crate::verbs::agent_hook::text as words;
use andon_agents::ruling::{self, Session};
use andon_agents::{self as agent, CompletedCall, HookPayload, Instruction};
use andon_core::detect;
use andon_core::domain::about::EventClass;
use andon_core::domain::agent_door::AgentAction;
use andon_core::domain::decision::{Decision, Verdict};
use andon_core::domain::diagnostic::Diagnostic;
use andon_core::domain::events::{EventKind, ToolCall};
use andon_core::domain::findings::{Finding, Level};
use andon_core::domain::ids::ShortHash;
use andon_core::history::Timeline;
use andon_engine::adapter::events;
use andon_engine::error::OpsError;
use andon_engine::gate::rule_feed::{FeedReport, RuleFeed};
use andon_engine::halts;
use andon_engine::recording::pending;

/// What came of an event.
pub(super) struct EventOutcome {
    /// The message to the model or the person.
    pub(super) say: Instruction,
    /// What was odd on the way.
    pub(super) warnings: Vec<Diagnostic>,
}

impl EventOutcome {
    pub(super) fn nothing() -> Self {
        Self { say: Instruction::Nothing, warnings: Vec::new() }
    }
}

/// Takes in the calls and the tokens of a payload.
pub(super) fn after_tool(
    place: &Place<'_>,
    event: &str,
    payload: HookPayload,
) -> Result<EventOutcome, OpsError> {
    // Two hooks that count at the same time would get the same number.
    let _alone = if payload.calls.iter().any(|call| call.used.id.is_none()) { place.alone() } else { None };
    let mut session = place.remembered();
    let transcript = payload.transcript.as_deref().map(Path::new).and_then(tail::read).unwrap_or_default();
    let mut feed = RuleFeed::new(place.ctx, place.ws);
    let taken = guard_changes::end(place, &payload, &mut feed)?;
    if let Some(line) = pending::take_in(place.ws)? {
        feed.take(line)?;
    }
    let plain_run = test_report::run(place, event, &payload, &transcript);
    let by = subagent(place, &session, payload.subagent.as_deref());
    let main = by.is_none();
    touched(place, &session, &payload)?;
    for call in payload.calls {
        if let Some(line) = called(place, &mut session, (call, by), &transcript)? {
            place.append(&line)?;
            feed.take(line)?;
            // Only of a call that is new: two hooks may report one.
            if let Some(run) = &plain_run {
                let run = run.line(place.ctx, place.ws)?;
                place.append(&run)?;
                feed.take(run)?;
            }
        }
    }
    if payload.subagent.is_none()
        && let Some(line) = counted(place, &mut session, &transcript)?
    {
        place.append(&line)?;
        feed.take(line)?;
    }
    let FeedReport { decision, warnings, timeline } = feed.finish()?;
    let say = due(place, &session, &decision, timeline.as_ref())?;
    let (say, warnings) = tell_taken(&taken, say, warnings);
    // A subagent is not who was waiting for an answer.
    let say = match timeline {
        Some(timeline) if main && decision.verdict != Verdict::Halt => {
            decisions::first(place, &session, &timeline, say)?
        }
        Some(_) | None => say,
    };
    Ok(EventOutcome { say, warnings })
}

/// What the model is to know of what the rules said.
fn due(
    place: &Place<'_>,
    session: &Session,
    decision: &Decision,
    timeline: Option<&Timeline>,
) -> Result<Instruction, OpsError> {
    Ok(match timeline {
        _ if decision.verdict == Verdict::Halt => halted(place, session)?,
        Some(timeline) => match nearly_full(place, session, decision)? {
            Instruction::Nothing => told(place, session, timeline)?,
            say @ (Instruction::Refuse(_)
            | Instruction::Rewrite(..)
            | Instruction::Tell(_)
            | Instruction::Hold(_)
            | Instruction::LetGo(_)
            | Instruction::Stop(_)
            | Instruction::Keep(_)) => say,
        },
        None => Instruction::Nothing,
    })
}

/// Tells the model and the person what a call took from the guard; that the loop is halted now says more.
fn tell_taken(
    taken: &[guard_changes::GuardChange],
    say: Instruction,
    mut warnings: Vec<Diagnostic>,
) -> (Instruction, Vec<Diagnostic>) {
    if taken.is_empty() {
        return (say, warnings);
    }
    let text = words::taken(taken.iter().map(|one| (one.what.as_str(), one.is_back)));
    warnings.push(Diagnostic::warning(text.clone()).help("andon doctor"));
    let say = match say {
        Instruction::Nothing => Instruction::Tell(text),
        Instruction::Tell(more) => Instruction::Tell(format!("{text}\n\n{more}")),
        Instruction::Refuse(_)
        | Instruction::Rewrite(..)
        | Instruction::Hold(_)
        | Instruction::LetGo(_)
        | Instruction::Stop(_)
        | Instruction::Keep(_) => say,
    };
    (say, warnings)
}

/// The call as a line of the journal; none for one that was reported already.
fn called(
    place: &Place<'_>,
    session: &mut Session,
    (call, by): (CompletedCall, Option<ShortHash>),
    transcript: &[u8],
) -> Result<Option<andon_store::journal::JournalLine>, OpsError> {
    let CompletedCall { used, args, result } = call;
    let (mark, id, number) = if let Some(id) = &used.id {
        let mark = place.mark(&["call", id]);
        if session.called.contains_key(&mark) {
            return Ok(None);
        }
        (mark, mark, String::new())
    } else {
        // Two clients' settings may start us for one call. A call without an id is the n-th of its kind for its client.
        let digest = used.commands.first().cloned().or_else(|| args.as_ref().map(ToString::to_string));
        let digest = digest.unwrap_or_else(|| used.name.clone());
        let mark = place.mark(&["args", &digest]);
        let times = session.called.get(&mark).copied().unwrap_or(0);
        (mark, place.id("args", &digest, times), times.to_string())
    };
    let end = test_report::end(place, &used, transcript);
    place.remember(AgentAction::Called, &number, Some(mark))?;
    *session.called.entry(mark).or_default() += 1;
    let seen = events::OwnCall { args, result, end };
    let call = events::seen_call(&used.name, seen, &place.ws.normalizer()?);
    Ok(Some(place.event(Some(id), EventKind::ToolCall(ToolCall { by, ..call }))))
}

/// Which subagent makes the calls of a payload.
fn subagent(place: &Place<'_>, session: &Session, named: Option<&str>) -> Option<ShortHash> {
    let own = place.client.spec().habits.subagent_sessions && session.began.is_none();
    match named {
        Some(name) => Some(place.mark(&["subagent", name])),
        None => own.then(|| place.mark(&["subagent"])),
    }
}

/// Keeps once a turn that it may have changed files.
fn touched(place: &Place<'_>, session: &Session, payload: &HookPayload) -> Result<(), OpsError> {
    let touch = payload.calls.iter().map(|call| ruling::touch(&call.used)).max().unwrap_or_default();
    if touch > session.turn.touch {
        place.remember(AgentAction::Wrote, touch.as_str(), None)?;
    }
    Ok(())
}

/// Tokens in the transcript that are not known yet.
pub(super) fn counted(
    place: &Place<'_>,
    session: &mut Session,
    transcript: &[u8],
) -> Result<Option<andon_store::journal::JournalLine>, OpsError> {
    let Some(counted) = agent::newest_usage(place.client, transcript) else { return Ok(None) };
    let mark = place.mark(&["usage", &counted.id]);
    if !session.counted.insert(mark) {
        return Ok(None);
    }
    place.remember(AgentAction::Counted, "", Some(mark))?;
    Ok(Some(place.usage(Some(mark), counted.usage)))
}

/// That the loop is halted now, once.
fn halted(place: &Place<'_>, session: &Session) -> Result<Instruction, OpsError> {
    let Some(halt) = halts::binding(place.ws)? else { return Ok(Instruction::Nothing) };
    let mark = events::mark(&["halt", &halt.id.to_string()]);
    once(place, session, mark, &halt.halt.rule, || words::now_halted(&halt))
}

/// That the briefing is due, once at each commit.
fn nearly_full(place: &Place<'_>, session: &Session, decision: &Decision) -> Result<Instruction, OpsError> {
    let due =
        |finding: &&Finding| finding.about.event == EventClass::Compaction && finding.level >= Level::Block;
    let Some(finding) = decision.findings.iter().find(due) else { return Ok(Instruction::Nothing) };
    let mark = events::mark(&["compact", &place.head()?]);
    once(place, session, mark, finding.rule, || words::nearly_full(finding))
}

/// What will halt the loop if it continues like this: the first finding that was not reported yet.
fn told(place: &Place<'_>, session: &Session, timeline: &Timeline) -> Result<Instruction, OpsError> {
    for finding in detect::soon(timeline, &place.ws.config.rules) {
        let mark = of_finding(&finding);
        if !session.nudged.contains(&mark) {
            return once(place, session, mark, finding.rule, || words::nudge(&finding));
        }
    }
    Ok(Instruction::Nothing)
}

fn of_finding(finding: &Finding) -> ShortHash {
    let evidence = finding.evidence.first().map_or_else(String::new, ToString::to_string);
    events::mark(&["soon", finding.rule, &evidence])
}

fn once(
    place: &Place<'_>,
    session: &Session,
    mark: ShortHash,
    about: &str,
    text: impl FnOnce() -> String,
) -> Result<Instruction, OpsError> {
    if session.nudged.contains(&mark) {
        return Ok(Instruction::Nothing);
    }
    place.remember(AgentAction::Nudged, about, Some(mark))?;
    Ok(Instruction::Tell(text()))
}
