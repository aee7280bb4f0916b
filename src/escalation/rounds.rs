//! The rounds of a window: each iteration with the signals as they were then.

use std::collections::BTreeSet;

use super::decide::{Facts, Memory, step};
use crate::domain::escalation::{Call, Episode, Knobs, Mode, Signal};
use crate::history::{Strike, Timeline};

/// What the signals of `timeline` come to; `None` while the rule is off. `rules` gives the signals of rules over a
/// window that ends earlier. It is asked for earlier rounds only where two signals are hot now.
pub fn episode(
    timeline: &Timeline,
    rules: &dyn Fn(&Timeline) -> BTreeSet<Signal>,
    knobs: Option<&Knobs>,
    mode: Mode,
) -> Option<Episode> {
    let knobs = knobs?;
    let rounds = timeline.iterations.len();
    let now = rules(timeline);
    // Two proxies at the most are hot without a rule's signal only where reviewers voted: cheap to see.
    let mut memory = Memory::default();
    let mut call = Call::Wait;
    for at in 0..rounds {
        let last = at + 1 == rounds;
        let mut facts = facts(timeline, at);
        facts.rules = match last {
            true => now.clone(),
            false if could_matter(&now, &facts) => rules(&timeline.until(at + 1)),
            false => BTreeSet::new(),
        };
        call = step(&mut memory, &facts, Some(knobs));
    }
    Some(Episode {
        call,
        consecutive: memory.consecutive,
        hot: memory.hot.into_iter().collect(),
        escalated_at: memory.escalated_at,
        mode,
    })
}

/// Whether the signals of rules can decide anything about an earlier round: without a signal now there is no episode.
fn could_matter(now: &BTreeSet<Signal>, facts: &Facts) -> bool {
    !now.is_empty() || !facts.verdicts.is_empty()
}

fn facts(timeline: &Timeline, at: usize) -> Facts {
    let seen = timeline.iterations.get(..=at).unwrap_or_default();
    let Some(newest) = seen.last() else { return Facts::default() };
    Facts {
        iteration: newest.number,
        consecutive_no_change: timeline.unchanged_running(at),
        // A revert brings an old state on purpose.
        code: Some(newest.code).filter(|code| newest.strike == Strike::Candidate && code.0 != [0; 32]),
        verdicts: timeline.verdict_rounds(newest.number),
        rules: BTreeSet::new(),
    }
}
