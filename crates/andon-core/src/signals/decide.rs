//! The decision itself, from the facts of one iteration and what is remembered of those before.

use std::collections::{BTreeSet, VecDeque};

use crate::domain::escalation::{EscalationCall, Knobs, RING, ReviewTally, Signal, splits_running};
use crate::domain::ids::CodeId;
use crate::history::TRIES;

/// What is known of one iteration.
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
    /// Signals of rules.
    pub rules: BTreeSet<Signal>,
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

/// What is remembered from one iteration to the next.
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
