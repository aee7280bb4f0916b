//! What the rules about budgets share: a limit of zero means no limit, and a value that has reached its limit exceeds
//! it.

use crate::domain::time::Span;
use crate::domain::workflow::Cycle;
use crate::history::{Activity, Opening, Timeline, Turn};

/// Whether `used` has reached `limit`; 0 is no limit.
pub(super) fn reached(used: u64, limit: u64) -> bool {
    limit > 0 && used >= limit
}

/// The newest announced turn: the beginning of any other turn is unknown.
pub(super) fn announced(timeline: &Timeline) -> Option<&Turn> {
    timeline.activity.newest_turn().filter(|turn| turn.opening == Opening::Reported)
}

/// Runtime of the ended turns of `node` and of the current one.
pub(super) fn runtime(activity: &Activity, node: &str) -> Span {
    let ended = activity.nodes.get(node).map_or(Span(0), |totals| totals.runtime);
    let open = activity.open.get(node).map_or(Span(0), |turn| turn.runtime(activity.now));
    Span(ended.0.saturating_add(open.0))
}

/// Runtime of all nodes of `cycle` together.
pub(super) fn cycle_runtime(activity: &Activity, cycle: &Cycle) -> Span {
    Span(cycle.nodes.iter().map(|node| runtime(activity, node).0).fold(0, u64::saturating_add))
}

/// Cost of all nodes of `cycle` together, in millionths of a dollar.
pub(super) fn cycle_cost(activity: &Activity, cycle: &Cycle) -> u64 {
    let costs = cycle.nodes.iter().filter_map(|node| activity.nodes.get(node)).map(|totals| totals.cost);
    costs.fold(0, u64::saturating_add)
}

/// Millionths of a dollar for people.
pub(super) fn dollars(micros: u64) -> String {
    format!("{}.{:02} USD", micros / 1_000_000, micros / 10_000 % 100)
}
