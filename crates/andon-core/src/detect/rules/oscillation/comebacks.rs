//! Returns of the code without a period, and which of them show that nothing else moves.

use std::collections::BTreeSet;

use crate::detect::returns::{LONGEST, Weight};
use crate::detect::switches::flips;
use crate::domain::ids::CodeId;
use crate::history::{CodeState, lasted};

/// States among which comebacks are counted, the newest.
pub(super) const AMONG: usize = 10;

/// The states in which the code returned to an earlier state, and that count against the loop; `weights` are those of
/// `states`.
pub(super) fn counted<'a, 'b>(states: &'b [CodeState<'a>], weights: &[Weight]) -> Vec<&'b CodeState<'a>> {
    let from = states.len().saturating_sub(AMONG);
    // That a line goes there and back once says nothing: each time it may be from another state, which is new.
    let mut seen: BTreeSet<CodeId> = BTreeSet::new();
    let mut before: Option<usize> = None;
    let mut found = Vec::new();
    for (at, state) in states.iter().enumerate().filter(|(at, _)| comes_back(states, *at)) {
        let moved = before.replace(at).is_some_and(|before| came_up_after(states, before, state.code));
        if at < from || weights.get(at) != Some(&Weight::Strike) {
            continue;
        }
        let again = !seen.insert(state.code);
        if !moved && (again || !flips(states, at)) {
            found.push(state);
        }
    }
    found
}

/// Whether the state at index `at` is one of those of the ring before it.
fn comes_back(states: &[CodeState<'_>], at: usize) -> bool {
    let ring = states.get(at.saturating_sub(LONGEST)..at).unwrap_or_default();
    // A state that lasted for an hour was put back on reflection.
    let left = at.checked_sub(1).and_then(|before| states.get(before));
    states.get(at).is_some_and(|this| {
        let hurried = left.is_none_or(|left| !lasted(left.brought_by, this.brought_by));
        hurried && ring.iter().any(|earlier| earlier.code == this.code)
    })
}

/// Whether `code` is a state that was not there up to index `before`: work went on since then, and something was put on
/// and off on top of it.
fn came_up_after(states: &[CodeState<'_>], before: usize, code: CodeId) -> bool {
    states.iter().position(|state| state.code == code).is_some_and(|first| first > before)
}
