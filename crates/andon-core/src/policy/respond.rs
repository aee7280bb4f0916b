//! Responses in addition to a halt: notices, a question to an advisor, the next provider. Pure: the programs are
//! started in `andon-engine`.

use super::plan::{HaltPlace, halt};
use super::{primary, reason_of};
use crate::domain::{
    Condition, Deadlock, Decision, Effect, Episode, EscalationCall, EscalationMode, EventClass, Finding,
    Halt, HaltReason, Handoff, Level, Notice, NoticeKind, OnStall, Pressure, Provider, Question, ReportFile,
    Signal, Span, Start, Timestamp, Verdict, plural::count,
};
use crate::history::{Outcome, Timeline, outcome};

/// The number of failed gates in a row after which the fallback chain moves on (docs/spec-map.md, loop rules: fallback
/// strategy).
pub const FAILED_GATES: usize = 3;

/// The responses that the configuration asks for.
#[derive(Debug, Clone, Copy)]
pub struct Setup<'a> {
    /// `on_stall.policy`
    pub on_stall: OnStall,
    /// `fallback.providers`
    pub providers: &'a [Provider],
    /// The provider at work; `None`: the first of the chain.
    pub current: Option<&'a str>,
    /// The result of the signals; `None` where they were not computed.
    pub episode: Option<&'a Episode>,
    /// The function that returns the name of a signal.
    pub signal_name: fn(Signal) -> &'static str,
    /// The consequence of the fill of the context window.
    pub pressure: Pressure,
    /// `notify.again`
    pub again: Option<Span>,
}

/// The responses to a new halt, or to an escalation that only notifies. While an older halt is unanswered it has had
/// its response, and only a reminder follows.
pub fn responses(
    decision: &Decision,
    timeline: &Timeline,
    place: &HaltPlace,
    setup: &Setup<'_>,
) -> Vec<Effect> {
    if let Some(standing) = &decision.standing {
        return reminder(&standing.halt, place.at, setup.again).into_iter().collect();
    }
    let escalated = decision.findings.iter().find(|finding| finding.about.event == EventClass::Escalation);
    let halting = primary(&decision.findings).filter(|_| decision.verdict == Verdict::Halt);
    // A person who pulls the stop switch knows about it.
    let halting = halting.filter(|finding| reason_of(finding) != HaltReason::UserStop);
    let mut responses = Vec::new();
    if let (Some(finding), Some(episode)) = (escalated.filter(|one| one.level >= Level::Warn), setup.episode)
    {
        let signals = episode.hot.iter().map(|signal| (setup.signal_name)(*signal)).collect();
        let (halt, story) = (halt(finding, timeline, place), timeline.story());
        let episode = Episode { mode: mode_of(episode, decision), ..episode.clone() };
        responses.extend(escalation(finding.level, Handoff { signals, halt, episode, story }));
    }
    let Some(finding) = halting else { return responses };
    let halt = halt(finding, timeline, place);
    if escalated.is_none() {
        responses.push(notice(NoticeKind::Halted, &halt));
    }
    if let Some(deadlock) = deadlock_of(&halt, finding.about.event) {
        let question = Question { deadlock, halt: halt.clone(), story: timeline.story() };
        responses.push(Effect::Ask(Box::new(question)));
    }
    let conditions = conditions(timeline, Some(finding.about.event), setup.pressure);
    responses.extend(on_stall(&halt, &conditions, setup, escalated));
    responses
}

/// Returns the mode of the escalation in this decision: one that only notifies says so where nothing else halts the run.
fn mode_of(episode: &Episode, decision: &Decision) -> EscalationMode {
    let halts = decision.verdict == Verdict::Halt && episode.mode == EscalationMode::Perpetual;
    if halts { EscalationMode::PerpetualHalted } else { episode.mode }
}

/// Handoff, notification, marker and PAUSE, in this order (docs/spec-map.md, signals and escalation: slice B). In perpetual mode
/// nothing is paused.
fn escalation(level: Level, handoff: Handoff) -> Vec<Effect> {
    if handoff.episode.call != EscalationCall::Escalate {
        return Vec::new();
    }
    let (halt, mode) = (handoff.halt.clone(), handoff.episode.mode);
    let mut responses = vec![
        Effect::Handoff(Box::new(handoff)),
        notice(NoticeKind::Escalated, &halt),
        Effect::Marker(Box::new(halt.clone())),
    ];
    if mode == EscalationMode::Halting && level == Level::Halt {
        responses.push(Effect::Pause(Box::new(halt)));
    }
    responses
}

fn notice(kind: NoticeKind, halt: &Halt) -> Effect {
    Effect::Notify(Box::new(about(kind, halt)))
}

fn about(kind: NoticeKind, halt: &Halt) -> Notice {
    let head = halt.head.map_or_else(|| "-".to_owned(), |head| head.short());
    let episode = format!("{}:{}:{}:{head}", halt.worktree, halt.rule, halt.iteration);
    Notice {
        rule: halt.rule.clone(),
        halt: Some(Box::new(halt.clone())),
        branch: halt.branch.clone(),
        ..Notice::new(kind, episode, halt.worktree.clone(), halt.at)
    }
}

/// A halt has had no answer for as long as `again`. Its episode is one of its own, so that it is reported once. A
/// person who pulled the stop switch knows about it.
pub fn reminder(halt: &Halt, now: Timestamp, again: Option<Span>) -> Option<Effect> {
    let since = now.since(halt.at);
    if halt.reason == HaltReason::UserStop || again.is_none_or(|again| since < again) {
        return None;
    }
    let told = about(NoticeKind::Unanswered, halt);
    Some(Effect::Notify(Box::new(Notice {
        message: format!("no answer for {}: ", count(since.0 / 60, "minute")),
        episode: format!("{}:unanswered", told.episode),
        at: now,
        ..told
    })))
}

/// The type of deadlock that an advisor can say something about; `event` is the class of the rule that halted.
pub fn deadlock_of(halt: &Halt, event: EventClass) -> Option<Deadlock> {
    match halt.reason {
        _ if event == EventClass::ToolLoop => Some(match halt.report_file {
            ReportFile::BlockerReport => Deadlock::Infinite,
            ReportFile::Checkpoint => Deadlock::Hard,
        }),
        HaltReason::Stalled | HaltReason::Oscillating => Some(Deadlock::Stalled),
        HaltReason::RepeatedError => Some(Deadlock::RepeatedError),
        HaltReason::BudgetExceeded | HaltReason::UserStop => None,
    }
}

fn on_stall(
    halt: &Halt,
    conditions: &[Condition],
    setup: &Setup<'_>,
    escalated: Option<&Finding>,
) -> Option<Effect> {
    let start =
        |provider| Effect::Start(Box::new(Start { policy: setup.on_stall, halt: halt.clone(), provider }));
    match setup.on_stall {
        OnStall::Interactive => None,
        OnStall::Pause if escalated.is_some() => None,
        OnStall::Pause => Some(Effect::Pause(Box::new(halt.clone()))),
        OnStall::SpawnReviewer => Some(start(None)),
        // Without a chain the program itself knows who is next; where no provider of a chain is for this, a person is.
        OnStall::RetryWithNewProvider if setup.providers.is_empty() => Some(start(None)),
        OnStall::RetryWithNewProvider => {
            let next = next_provider(setup.providers, setup.current, conditions)?;
            let on = next.on.iter().copied().filter(|wanted| conditions.contains(wanted));
            let why: Vec<Condition> = if next.on.is_empty() { conditions.to_vec() } else { on.collect() };
            Some(start(Some(Provider { on: why, ..next.clone() })))
        }
    }
}

/// The conditions of the fallback chain that hold; `halted` is the class of the rule behind the unanswered halt.
///
/// A window that must be compacted is not exhausted: that it still can be is the point of the threshold.
pub fn conditions(timeline: &Timeline, halted: Option<EventClass>, pressure: Pressure) -> Vec<Condition> {
    let failed = timeline.iterations.iter().rev().filter_map(|one| one.tests.as_ref());
    let failed = failed.take_while(|tests| matches!(outcome(tests), Outcome::Red | Outcome::Stopped));
    let mut conditions = Vec::new();
    // A commit that the gate refused failed it too.
    let refused = usize::try_from(timeline.activity.refusals.times).unwrap_or(usize::MAX);
    let failed = failed.count().saturating_add(refused);
    // While the loop is halted, no gate can fail once more.
    if failed > FAILED_GATES || (failed == FAILED_GATES && halted.is_some()) {
        conditions.push(Condition::FailedGate);
    }
    if pressure == Pressure::HardBlock || halted == Some(EventClass::Compaction) {
        conditions.push(Condition::ContextExhausted);
    }
    if halted.is_some() {
        conditions.push(Condition::StopEvent);
    }
    conditions
}

/// The next provider: the first after `current` (the first of the chain when it is unknown) that any of `conditions`
/// leads to. A provider without conditions takes anything.
pub fn next_provider<'a>(
    providers: &'a [Provider],
    current: Option<&str>,
    conditions: &[Condition],
) -> Option<&'a Provider> {
    if conditions.is_empty() {
        return None;
    }
    let at = current.and_then(|name| providers.iter().position(|one| one.name == name)).unwrap_or(0);
    let fits = |one: &&Provider| one.on.is_empty() || one.on.iter().any(|wanted| conditions.contains(wanted));
    providers.iter().skip(at + 1).find(fits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{About, Detail};

    fn providers() -> Vec<Provider> {
        ["a", "b on failed_gate", "c on context_exhausted, stop_event", "d"]
            .iter()
            .filter_map(|text| Provider::parse(text))
            .collect()
    }

    #[test]
    fn an_exhausted_context_is_a_condition_and_one_to_be_compacted_is_none() {
        let line = Timeline::new(crate::testkit::GAP);
        for (pressure, expected) in [
            (Pressure::Free, vec![]),
            (Pressure::Warning, vec![]),
            (Pressure::Mandatory, vec![]),
            (Pressure::HardBlock, vec![Condition::ContextExhausted]),
        ] {
            assert_eq!(conditions(&line, None, pressure), expected, "{pressure:?}");
        }
    }

    #[test]
    fn a_halt_for_an_exhausted_context_starts_the_provider_that_is_for_it() {
        let finding = Finding {
            rule: "context-window",
            level: Level::Halt,
            reason: Some(HaltReason::BudgetExceeded),
            report_file: ReportFile::Checkpoint,
            about: About::new(EventClass::Compaction),
            detail: Detail::new("full"),
            echo_of: None,
            page: "",
            files: Vec::new(),
            evidence: Vec::new(),
            help: Vec::new(),
        };
        let decision = crate::policy::decide(vec![finding], None);
        let at = crate::domain::Timestamp(9);
        let place = HaltPlace { head: None, branch: None, worktree: "main".into(), at, client: None };
        let providers = providers();
        let (on_stall, pressure) = (OnStall::RetryWithNewProvider, Pressure::HardBlock);
        let again = None;
        let setup = Setup {
            on_stall,
            providers: &providers,
            current: None,
            episode: None,
            signal_name: |_| "",
            pressure,
            again,
        };
        let line = Timeline::new(crate::testkit::GAP);
        let found = responses(&decision, &line, &place, &setup);
        let started = found.iter().find_map(|one| {
            let Effect::Start(start) = one else { return None };
            start.provider.as_ref().map(|provider| provider.name.as_str())
        });
        assert_eq!(started, Some("c"), "{found:?}");
    }

    #[test]
    fn a_halt_is_told_once_more_after_a_while_and_a_stop_by_hand_never() {
        let line = Timeline::new(crate::testkit::GAP);
        let at = Timestamp(1_000);
        let place = HaltPlace { head: None, branch: None, worktree: "main".into(), at, client: None };
        let finding = Finding {
            rule: "some-loop",
            level: Level::Halt,
            reason: Some(HaltReason::Stalled),
            report_file: ReportFile::Checkpoint,
            about: About::new(EventClass::Stall),
            detail: Detail::new("it is stuck"),
            evidence: Vec::new(),
            files: Vec::new(),
            help: Vec::new(),
            echo_of: None,
            page: "",
        };
        let halt = halt(&finding, &line, &place);
        let reminded = |seconds: i64, again| reminder(&halt, Timestamp(1_000 + seconds), again);
        for (seconds, again, is_told) in [
            (1_799, Some(Span(1_800)), false),
            (1_800, Some(Span(1_800)), true),
            (90_000, None, false),
            (-5, Some(Span(60)), false),
        ] {
            assert_eq!(reminded(seconds, again).is_some(), is_told, "{seconds} {again:?}");
        }
        let Some(Effect::Notify(told)) = reminded(1_860, Some(Span(1_800))) else { panic!() };
        assert_eq!(told.kind, NoticeKind::Unanswered);
        assert_eq!(told.message, "no answer for 31 minutes: ");
        assert_eq!(told.episode, "main:some-loop:0:-:unanswered");
        let by_hand = Halt { reason: HaltReason::UserStop, ..halt.clone() };
        assert_eq!(reminder(&by_hand, Timestamp(90_000), Some(Span(60))), None);
    }

    #[test]
    fn a_tool_named_infinite_is_no_infinite_loop() {
        let line = Timeline::new(crate::testkit::GAP);
        let at = crate::domain::Timestamp(9);
        let place = HaltPlace { head: None, branch: None, worktree: "main".into(), at, client: None };
        let deadlock = |report_file| {
            let finding = Finding {
                rule: "some-loop",
                level: Level::Halt,
                reason: Some(HaltReason::Stalled),
                report_file,
                about: About::new(EventClass::ToolLoop),
                detail: Detail::new("the last 5 tool calls were the same: INFINITE_search"),
                files: Vec::new(),
                evidence: Vec::new(),
                help: Vec::new(),
                echo_of: None,
                page: "",
            };
            deadlock_of(&halt(&finding, &line, &place), finding.about.event)
        };
        assert_eq!(deadlock(ReportFile::Checkpoint), Some(Deadlock::Hard));
        assert_eq!(deadlock(ReportFile::BlockerReport), Some(Deadlock::Infinite));
    }

    #[test]
    fn the_chain_goes_on_to_the_first_that_a_condition_leads_to() {
        use Condition::{ContextExhausted, FailedGate, StopEvent};
        let table: [(Option<&str>, &[Condition], Option<&str>); 8] = [
            (None, &[], None),
            (None, &[FailedGate], Some("b")),
            (None, &[StopEvent], Some("c")),
            (None, &[ContextExhausted, FailedGate], Some("b")),
            (Some("b"), &[FailedGate], Some("d")),
            (Some("c"), &[StopEvent], Some("d")),
            (Some("d"), &[StopEvent], None),
            (Some("unknown"), &[StopEvent], Some("c")),
        ];
        for (current, conditions, wanted) in table {
            let providers = providers();
            let found = next_provider(&providers, current, conditions).map(|one| one.name.as_str());
            assert_eq!(found, wanted, "{current:?} {conditions:?}");
        }
        assert!(next_provider(&[], None, &[StopEvent]).is_none());
    }
}
