//! After a tool has run: the call becomes a fact, the rules are asked, and the model gets one message about what they
//! see coming.
//!
//! Before a tool: whether it may run, and with which arguments. The configured test command becomes `andon test`, and
//! Gemini's shell gets git's hooks back.

use std::path::Path;

use super::HaltState;
use super::guard_changes::{self, CallState};
use super::place::{LiveSession, Place, tail_of};
use crate::install::Scope;
use crate::plain_run::{PlainRun, at_work, configured};
use crate::setup::{clients::program, place::configured as configured_hooks};
use crate::verbs::agent_hook::{text as words, text::Telling};
use andon_agents::ruling::{CallRuling, RefusalReason, ToolGround, as_andon_test, before_tool, runs_git};
use andon_agents::{self as agent, CompletedCall, HookPayload, Instruction, ruling};
use andon_core::domain::{
    AgentAction, CallEnd, Decision, Diagnostic, EventClass, EventKind, Finding, Halt, Hint, HumanDecision,
    Level, Pressure, ShortHash, ToolCall, ToolKind, ToolUse, Verdict, WAITED_MS,
};
use andon_core::escape::{shell_quote, terminal_clip};
use andon_core::{detect, history::Timeline};
use andon_engine::adapter::events::{self, words_of};
use andon_engine::gate::{RuleFeed, compaction};
use andon_engine::halts::{self, decisions};
use andon_engine::{OpsError, Result, recording::pending, text::decisions as text};
use andon_store::{JournalLine, Ledger};

/// The outcome of an event.
pub(super) struct EventOutcome {
    /// The message to the model or the person.
    pub(super) say: Instruction,
    pub(super) warnings: Vec<Diagnostic>,
}

impl EventOutcome {
    pub(super) fn nothing() -> Self {
        Self::say(Instruction::Nothing)
    }

    pub(super) fn say(say: Instruction) -> Self {
        Self { say, warnings: Vec::new() }
    }
}

/// Takes in the calls and the tokens of a payload.
pub(super) fn after_tool(
    live: &mut LiveSession<'_>,
    event: &str,
    payload: &HookPayload,
) -> Result<EventOutcome> {
    let transcript = transcript_of(payload);
    let mut feed = RuleFeed::new(live.ctx, live.ws);
    let taken = guard_changes::end(live, payload, &mut feed)?;
    if let Some(line) = pending::take_in(live.ws)? {
        feed.take(line)?;
    }
    let plain_run = plain_run(live, event, payload, &transcript);
    let by = subagent(live, payload.subagent.as_deref());
    touched(live, payload)?;
    // The tokens were spent before the calls that they asked for: a row of calls ends with a call.
    if payload.subagent.is_none()
        && let Some(line) = counted(live, &transcript)?
    {
        keep(live, &mut feed, line)?;
    }
    for call in &payload.calls {
        if let Some(line) = called(live, call, payload, &transcript)? {
            let looked_at = feed.looked(line)?;
            keep(live, &mut feed, looked_at)?;
            // Only of a call that is new: two hooks may report one.
            if let Some(run) = &plain_run {
                keep(live, &mut feed, run.line(live.ctx, live.ws)?)?;
            }
        }
    }
    let ((decision, mut warnings), timeline) = feed.finish()?;
    let mut say = due(live, payload, &decision, timeline.as_ref())?;
    // A halt says more than what a call took from the guard.
    if !taken.is_empty() {
        let text = guard_changes::taken_text(&taken);
        warnings.push(Diagnostic::warning(text.clone()).help(Hint::Doctor));
        say = say.after(text);
    }
    // A subagent is not who was waiting for an answer.
    if let Some(timeline) = timeline
        && by.is_none()
        && decision.verdict != Verdict::Halt
    {
        say = decisions_first(live, &timeline, say)?;
    }
    Ok(EventOutcome { say, warnings })
}

/// Keeps a line in the journal and shows it to the rules.
fn keep(place: &Place<'_>, feed: &mut RuleFeed<'_>, line: JournalLine) -> Result<()> {
    place.append(&line)?;
    feed.take(line)
}

/// The message to the model about what the rules said.
fn due(
    live: &mut LiveSession<'_>,
    payload: &HookPayload,
    decision: &Decision,
    timeline: Option<&Timeline>,
) -> Result<Instruction> {
    if decision.verdict == Verdict::Halt {
        return halted(live, payload);
    }
    let Some(timeline) = timeline else { return Ok(Instruction::Nothing) };
    let say = nearly_full(live, decision)?;
    if say == Instruction::Nothing { told(live, timeline) } else { Ok(say) }
}

/// The call as a line of the journal; none for one that was reported already.
fn called(
    live: &mut LiveSession<'_>,
    call: &CompletedCall,
    payload: &HookPayload,
    transcript: &[u8],
) -> Result<Option<JournalLine>> {
    let used = &call.used;
    let (mark, id, number) = if let Some(id) = &used.id {
        let mark = live.mark(&["call", id]);
        if live.known.called.contains_key(&mark) {
            return Ok(None);
        }
        (mark, mark, String::new())
    } else {
        // Two clients' settings may start us for one call. A call without an id is the n-th of its kind for its client.
        let digest = used.commands.first().cloned().or_else(|| call.args.as_ref().map(ToString::to_string));
        let digest = digest.unwrap_or_else(|| used.name.clone());
        let mark = live.mark(&["args", &digest]);
        let times = live.known.called.get(&mark).copied().unwrap_or(0);
        (mark, live.id("args", &digest, times), times.to_string())
    };
    let end = end_of(live, used, transcript);
    live.remember(AgentAction::Called, &number, Some(mark))?;
    let seen = events::OwnCall { args: call.args.clone(), result: call.result.clone(), end };
    let call = events::seen_call(&used.name, &seen, &live.ws.normalizer()?);
    let by = subagent(live, payload.subagent.as_deref());
    let duration_ms = payload.duration_ms.filter(|took| *took >= WAITED_MS);
    Ok(Some(live.event(Some(id), EventKind::ToolCall(ToolCall { by, duration_ms, ..call }))))
}

/// The subagent that makes the calls of a payload.
fn subagent(live: &LiveSession<'_>, named: Option<&str>) -> Option<ShortHash> {
    let own = live.client.spec().habits.subagent_sessions && live.known.began.is_none();
    match named {
        Some(name) => Some(live.mark(&["subagent", name])),
        None => own.then(|| live.mark(&["subagent"])),
    }
}

/// Keeps once a turn that it may have changed files.
fn touched(live: &mut LiveSession<'_>, payload: &HookPayload) -> Result<()> {
    let touch = payload.calls.iter().map(|call| ruling::touch(&call.used)).max().unwrap_or_default();
    if touch > live.known.turn.touch {
        live.remember(AgentAction::Wrote, touch.as_str(), None)?;
    }
    Ok(())
}

/// Tokens in the transcript that are not known yet.
fn counted(live: &mut LiveSession<'_>, transcript: &[u8]) -> Result<Option<JournalLine>> {
    let Some(counted) = agent::newest_usage(live.client, transcript) else { return Ok(None) };
    let mark = live.mark(&["usage", &counted.id]);
    if live.known.counted.contains(&mark) {
        return Ok(None);
    }
    live.remember(AgentAction::Counted, "", Some(mark))?;
    Ok(Some(live.usage(Some(mark), counted.usage)))
}

/// Says once that the loop is halted now; without the reason where the call's own answer shows it, as that of `andon test` and of a
/// commit does.
fn halted(live: &mut LiveSession<'_>, payload: &HookPayload) -> Result<Instruction> {
    let Some(halt) = halts::binding(live.ws)? else { return Ok(Instruction::Nothing) };
    let reason = terminal_clip(&halt.halt.message, SHOWN_REASON);
    let mut answers = payload.calls.iter().filter_map(|call| call.result.as_ref());
    let is_shown = answers.any(|answer| words_of(answer).contains(reason.trim_end_matches("...")));
    Ok(match telling(live, Audience::Model, Some(&halt.halt))? {
        Telling::First => Instruction::Tell(words::now_halted(Some(&halt.halt).filter(|_| !is_shown))),
        Telling::Again => Instruction::Nothing,
    })
}

/// Columns of a reason by which it is known in an answer.
const SHOWN_REASON: usize = 60;

/// Who reads what is said of a halt.
#[derive(Debug, Clone, Copy)]
pub(super) enum Audience {
    Model,
    Person,
}

/// Returns whether this session has reported the halt to them in full, which counts as done from now on.
pub(super) fn telling(
    live: &mut LiveSession<'_>,
    audience: Audience,
    halt: Option<&Halt>,
) -> Result<Telling> {
    let mark = halt_mark(audience, halt);
    if live.known.nudged.contains(&mark) {
        return Ok(Telling::Again);
    }
    live.remember(AgentAction::Nudged, &halt_name(halt), Some(mark))?;
    Ok(Telling::First)
}

/// The mark of what is said of a halt to them.
pub(super) fn halt_mark(audience: Audience, halt: Option<&Halt>) -> ShortHash {
    let kind = match audience {
        Audience::Model => "halt",
        Audience::Person => "halt for people",
    };
    events::mark(&[kind, &halt_name(halt)])
}

pub(super) fn halt_name(halt: Option<&Halt>) -> String {
    halt.map_or_else(|| "halted by a file".to_owned(), |halt| format!("halted: {} {}", halt.rule, halt.at))
}

/// Says once at each commit that the window fills up, and once that the briefing is due.
fn nearly_full(live: &mut LiveSession<'_>, decision: &Decision) -> Result<Instruction> {
    let due = |finding: &&Finding| finding.about.event == EventClass::Compaction;
    let Some(finding) = decision.findings.iter().find(due) else { return Ok(Instruction::Nothing) };
    let head = live.head()?;
    let [fills, compact] = ["fills", "compact"].map(|step| events::mark(&[step, &head]));
    if finding.level >= Level::Block {
        return once(live, compact, finding.rule, || words::nearly_full(finding));
    }
    if live.known.nudged.contains(&compact) {
        return Ok(Instruction::Nothing);
    }
    once(live, fills, finding.rule, || words::filling(finding))
}

/// Tells the first finding that was not reported yet and will halt the loop if it goes on like this.
fn told(live: &mut LiveSession<'_>, timeline: &Timeline) -> Result<Instruction> {
    for finding in detect::soon(timeline, &live.ws.config.rules) {
        let mark = of_finding(&finding);
        if !live.known.nudged.contains(&mark) {
            return once(live, mark, finding.rule, || words::nudge(&finding));
        }
    }
    Ok(Instruction::Nothing)
}

fn of_finding(finding: &Finding) -> ShortHash {
    let evidence = finding.evidence.first().map_or_else(String::new, ToString::to_string);
    events::mark(&["soon", finding.rule, &evidence])
}

fn once(
    live: &mut LiveSession<'_>,
    mark: ShortHash,
    about: &str,
    text: impl FnOnce() -> String,
) -> Result<Instruction> {
    if live.known.nudged.contains(&mark) {
        return Ok(Instruction::Nothing);
    }
    live.remember(AgentAction::Nudged, about, Some(mark))?;
    Ok(Instruction::Tell(text()))
}

/// The run of tests that the only call of a payload was. Reads nothing but the payload.
fn plain_run(place: &Place<'_>, event: &str, payload: &HookPayload, transcript: &[u8]) -> Option<PlainRun> {
    let [call] = payload.calls.as_slice() else { return None };
    let end = end_of(place, &call.used, transcript);
    let plain = || PlainRun::recognize(place.ctx, place.ws, payload.cwd.as_deref(), call, end);
    let plain = if agent::rewrites(place.client, event) { None } else { plain() };
    plain.or_else(|| PlainRun::seen(place.ws, call, end))
}

/// The end of a call, from its answer or else from the transcript.
fn end_of(place: &Place<'_>, used: &ToolUse, transcript: &[u8]) -> CallEnd {
    match (used.end, &used.id) {
        (CallEnd::Unknown, Some(id)) => {
            let code = agent::exit_code(place.client, transcript, id);
            code.map_or(CallEnd::Unknown, |code| if code == 0 { CallEnd::Done } else { CallEnd::Failed })
        }
        (end, _) => end,
    }
}

/// All decisions, for a model that knows nothing yet. They count as passed on.
pub(super) fn all_decisions(live: &mut LiveSession<'_>, timeline: &Timeline) -> Result<Vec<HumanDecision>> {
    let all = decisions::all(live.ws, timeline);
    for one in &all {
        pass_on(live, one)?;
    }
    Ok(all)
}

/// Puts the decisions that this session has not heard of before what is said to it anyway.
pub(super) fn decisions_first(
    live: &mut LiveSession<'_>,
    timeline: &Timeline,
    say: Instruction,
) -> Result<Instruction> {
    // A reply that the model does not see cannot carry the decision: the next one does.
    if !say.can_tell() {
        return Ok(say);
    }
    let mut texts: Vec<String> = Vec::new();
    for one in unheard(live, timeline)? {
        pass_on(live, &one)?;
        texts.push(text::for_the_worker(&one));
    }
    Ok(if texts.is_empty() { say } else { say.after(texts.join("\n\n")) })
}

fn pass_on(live: &mut LiveSession<'_>, one: &HumanDecision) -> Result<()> {
    let mark = decisions::mark(one);
    if live.known.nudged.contains(&mark) {
        return Ok(());
    }
    live.remember(AgentAction::Nudged, "decided", Some(mark))
}

fn unheard(live: &mut LiveSession<'_>, timeline: &Timeline) -> Result<Vec<HumanDecision>> {
    let mut found: Vec<HumanDecision> = decisions::answer(live.ws, timeline).into_iter().collect();
    // The ledger is read again only where something was added to it.
    let state = Ledger::open(&live.ws.repo).state().unwrap_or_default();
    let mark = events::mark(&["ledger", &state]);
    if decisions::may_be_rounds(live.ws) && !live.known.nudged.contains(&mark) {
        found.extend(decisions::rounds(live.ws));
        live.remember(AgentAction::Nudged, "ledger", Some(mark))?;
    }
    found.retain(|one| !live.known.nudged.contains(&decisions::mark(one)));
    Ok(found)
}

/// Takes in the tokens that a payload or its transcript tells.
pub(super) fn take_usage(live: &mut LiveSession<'_>, payload: &HookPayload) -> Result<()> {
    let usage = match &payload.usage {
        Some(usage) => Some(live.usage(None, usage.clone())),
        None => counted(live, &transcript_of(payload))?,
    };
    usage.map_or(Ok(()), |usage| live.append(&usage))
}

/// The end of the transcript that a payload names.
fn transcript_of(payload: &HookPayload) -> Vec<u8> {
    payload.transcript.as_deref().map(Path::new).and_then(tail_of).unwrap_or_default()
}

/// Judges calls that a client is about to make.
pub(super) fn before(
    place: Place<'_>,
    event: &str,
    payload: &HookPayload,
    halted: &HaltState,
) -> Result<EventOutcome> {
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
    let place_ends = place.client.spec().shape.ends.before_tools.is_some();
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
