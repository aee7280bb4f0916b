//! States that stood for long: what came after them was no reaction of a loop.

use crate::history::Iteration;

/// How long a state stands that was thought about, in seconds.
const THOUGHT: u64 = 3600;

/// Whether the state that `earlier` brought stood for an hour or longer before `later` took its place. Unknown times
/// prove nothing.
pub(super) fn stood(earlier: &Iteration, later: &Iteration) -> bool {
    earlier.at.0 != 0 && later.at.0 != 0 && later.at.since(earlier.at).0 >= THOUGHT
}
