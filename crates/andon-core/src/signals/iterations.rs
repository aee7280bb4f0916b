//! The iterations of a window, each with the signals of its time.

use std::collections::BTreeSet;

use super::decide::{self, Memory, Observation, SignalFacts};
use crate::domain::escalation::{Episode, EscalationCall, EscalationMode, Knobs, Signal};
use crate::history::{Iteration, Strike, Timeline, come_slowly};

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
    // Whether two are hot now does not depend on those of earlier iterations, and with fewer there is no episode.
    let mut memory = Memory::default();
    for at in 0..iterations.saturating_sub(1) {
        decide::remember(&mut memory, &state_of(timeline, at));
    }
    if iterations > 0 {
        let newest = SignalFacts { rules: rules(timeline), ..facts(timeline, iterations - 1) };
        decide::step(&mut memory, &newest, Some(knobs));
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
        facts.rules = match last {
            true => now.clone(),
            false if could_matter(&now, &facts) => rules(&timeline.until(at + 1)),
            false => BTreeSet::new(),
        };
        call = decide::step(&mut memory, &facts, Some(knobs));
    }
    Episode {
        call,
        consecutive: memory.consecutive,
        hot: memory.hot.into_iter().collect(),
        escalated_at: memory.escalated_at,
        mode,
    }
}

/// Whether the signals of rules can decide anything about an earlier iteration: without a signal now there is no episode.
fn could_matter(now: &BTreeSet<Signal>, facts: &SignalFacts) -> bool {
    !now.is_empty() || !facts.verdicts.is_empty()
}

fn facts(timeline: &Timeline, at: usize) -> SignalFacts {
    let state = state_of(timeline, at);
    SignalFacts {
        consecutive_no_change: timeline.unchanged_running(at),
        // A vote after an iteration was not known when that ended.
        verdicts: timeline.verdict_rounds(state.iteration.saturating_sub(1)),
        ..state
    }
}

/// What costs nothing to know of an iteration.
fn state_of(timeline: &Timeline, at: usize) -> SignalFacts {
    let Some(newest) = timeline.iterations.get(at) else { return SignalFacts::default() };
    // A revert brings an old state on purpose.
    let code = Some(newest.code).filter(|code| newest.strike == Strike::Candidate && code.0 != [0; 32]);
    let seen = seen(timeline, at);
    SignalFacts { iteration: newest.number, code, seen, ..SignalFacts::default() }
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
