//! When to call a person: several signs of being stuck, seen together, for several iterations (docs/spec-map.md,
//! signals and escalation).
//!
//! Deciding and acting are separate. The decision is a fold over recorded facts: it reads no file, starts no program
//! and keeps no state but what it returns, so that a test, another clone and a replay all decide alike. The responses
//! (handoff, notification, marker, PAUSE) are in `policy` and `effect`.

use std::collections::{BTreeSet, VecDeque};

use crate::detect::progress;
use crate::domain::{
    CodeId, Episode, EscalationCall, EscalationMode, Knobs, RING, ReviewTally, Signal,
    escalation::splits_running,
};
use crate::history::{Iteration, Strike, TRIES, Timeline, come_slowly};

/// The known facts about one iteration.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SignalFacts {
    /// Its number, as the timeline counts iterations.
    pub iteration: u64,
    /// Iterations running that changed nothing which runs, this one included.
    pub consecutive_no_change: u64,
    /// The code state; `None` where nothing is known.
    pub code: Option<CodeId>,
    /// The newest rounds of reviewers, oldest first; they may be stale between votes.
    pub verdicts: Vec<ReviewTally>,
    pub rules: BTreeSet<Signal>,
    /// True if the work moves, whatever else it looks like (`detect::progress`): no sign counts then.
    pub progress: bool,
    /// Who saw it.
    pub seen: Observation,
}

/// Who saw an iteration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Observation {
    /// A hook, a stream of events, or tests.
    #[default]
    Observed,
    /// No hook: git gives its date, its subject and its diff. People who guess what a check elsewhere wants look like a
    /// loop for two iterations, so it takes one more.
    Unobserved,
    /// No hook, and it came minutes after the one before, as those before it did: a person tries something out, and it
    /// takes [`TRIES`] more.
    Tried,
}

/// The state that is remembered from one iteration to the next.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Memory {
    /// The newest code states, oldest first, at most [`RING`]; neighbours differ.
    pub ring: VecDeque<CodeId>,
    /// Consecutive iterations with two or more signals.
    pub consecutive: u64,
    /// The iteration at which this episode escalated.
    pub escalated_at: Option<u64>,
    /// The newest iteration.
    pub last_iteration: u64,
    /// The signals of the newest iteration.
    pub hot: BTreeSet<Signal>,
}

/// Takes one iteration. Without knobs (the rule is off) nothing is read and nothing remembered.
pub fn step(memory: &mut Memory, facts: &SignalFacts, knobs: Option<&Knobs>) -> EscalationCall {
    let Some(knobs) = knobs else { return EscalationCall::Wait };
    memory.hot.clone_from(&facts.rules);
    let proxies = [
        (Signal::NoChange, facts.consecutive_no_change >= knobs.no_change_min.max(1)),
        (Signal::Recurrence, recurs(memory, facts, knobs)),
        (Signal::VerdictSplit, splits_running(&facts.verdicts) >= knobs.split_rounds.max(1)),
    ];
    memory.hot.extend(proxies.into_iter().filter(|(_, hot)| *hot).map(|(signal, _)| signal));
    // A weak change and the code that it leaves as it was are one fact, seen twice.
    if memory.hot.contains(&Signal::WeakChange) {
        memory.hot.remove(&Signal::NoChange);
    }
    if facts.progress {
        memory.hot.clear();
    }
    remember(memory, facts);
    if memory.hot.len() < 2 {
        // The episode is over; another may escalate again.
        memory.consecutive = 0;
        memory.escalated_at = None;
        return EscalationCall::Wait;
    }
    memory.consecutive = memory.consecutive.saturating_add(1);
    let more = match facts.seen {
        Observation::Observed => 0,
        Observation::Unobserved => 1,
        Observation::Tried => u64::try_from(TRIES).unwrap_or(u64::MAX),
    };
    if memory.consecutive < knobs.iterations.max(1).saturating_add(more) || memory.escalated_at.is_some() {
        return EscalationCall::Wait;
    }
    memory.escalated_at = Some(facts.iteration);
    EscalationCall::Escalate
}

/// Proxy 2: the state equals one of the ring, but for the newest of it (that would be proxy 1).
fn recurs(memory: &Memory, facts: &SignalFacts, knobs: &Knobs) -> bool {
    let Some(code) = facts.code else { return false };
    memory.ring.back() != Some(&code) && memory.ring.iter().rev().take(knobs.ring).any(|seen| *seen == code)
}

/// Notes the state of an iteration.
pub(super) fn remember(memory: &mut Memory, facts: &SignalFacts) {
    memory.last_iteration = facts.iteration;
    let Some(code) = facts.code.filter(|code| memory.ring.back() != Some(code)) else { return };
    if memory.ring.len() >= RING {
        memory.ring.pop_front();
    }
    memory.ring.push_back(code);
}

/// The result of the signals of `timeline`; `None` while the rule is off. `rules` gives the signals of rules over a
/// window that ends earlier. It is asked for earlier iterations only where two signals are hot now.
pub fn episode(
    timeline: &Timeline,
    rules: &dyn Fn(&Timeline) -> BTreeSet<Signal>,
    knobs: Option<&Knobs>,
    mode: EscalationMode,
) -> Option<Episode> {
    let knobs = knobs?;
    let iterations = timeline.iterations.len();
    // Earlier iterations have no say in whether two are hot now, and with fewer there is no episode.
    let mut memory = Memory::default();
    for at in 0..iterations.saturating_sub(1) {
        remember(&mut memory, &state_of(timeline, at));
    }
    if iterations > 0 {
        let newest = SignalFacts {
            rules: rules(timeline),
            progress: progress(timeline).is_some(),
            ..facts(timeline, iterations - 1)
        };
        step(&mut memory, &newest, Some(knobs));
    }
    if memory.hot.len() < 2 {
        let hot = memory.hot.into_iter().collect();
        return Some(Episode { call: EscalationCall::Wait, consecutive: 0, hot, escalated_at: None, mode });
    }
    Some(every_iteration(timeline, rules, knobs, mode))
}

/// The same over all iterations, whatever is hot now.
pub fn every_iteration(
    timeline: &Timeline,
    rules: &dyn Fn(&Timeline) -> BTreeSet<Signal>,
    knobs: &Knobs,
    mode: EscalationMode,
) -> Episode {
    let iterations = timeline.iterations.len();
    let now = rules(timeline);
    let mut memory = Memory::default();
    let mut call = EscalationCall::Wait;
    for at in 0..iterations {
        let last = at + 1 == iterations;
        let mut facts = facts(timeline, at);
        if last {
            (facts.rules, facts.progress) = (now.clone(), progress(timeline).is_some());
        } else if !now.is_empty() || !facts.verdicts.is_empty() {
            let window = timeline.until(at + 1);
            (facts.rules, facts.progress) = (rules(&window), progress(&window).is_some());
        }
        call = step(&mut memory, &facts, Some(knobs));
    }
    Episode {
        call,
        consecutive: memory.consecutive,
        hot: memory.hot.into_iter().collect(),
        escalated_at: memory.escalated_at,
        mode,
    }
}

fn facts(timeline: &Timeline, at: usize) -> SignalFacts {
    let state = state_of(timeline, at);
    SignalFacts {
        seen: seen(timeline, at),
        consecutive_no_change: timeline.unchanged_running(at),
        // A vote after an iteration was not known when that ended.
        verdicts: timeline.verdict_rounds(state.iteration.saturating_sub(1)),
        ..state
    }
}

/// Returns the facts about an iteration that cost nothing to get.
fn state_of(timeline: &Timeline, at: usize) -> SignalFacts {
    let Some(newest) = timeline.iterations.get(at) else { return SignalFacts::default() };
    // A revert brings an old state on purpose.
    let code = Some(newest.code).filter(|code| newest.strike == Strike::Candidate && code.0 != [0; 32]);
    SignalFacts { iteration: newest.number, code, ..SignalFacts::default() }
}

/// Iterations over which the pace of tries is taken.
const NEWEST: usize = 6;

fn seen(timeline: &Timeline, at: usize) -> Observation {
    let row = timeline.iterations.iter().take(at + 1).skip((at + 1).saturating_sub(NEWEST));
    let row: Vec<&Iteration> = row.collect();
    match row.last() {
        Some(newest) if !newest.is_unobserved() => Observation::Observed,
        Some(_) if come_slowly(&row) => Observation::Tried,
        Some(_) | None => Observation::Unobserved,
    }
}

#[cfg(test)]
mod tests;
