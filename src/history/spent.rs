//! Totals that are carried over: a reader of the journal's end knows by them what was spent before it. They are a fact
//! among the others, so that windows begin anew after them as after any other.

use std::collections::BTreeMap;

use super::activity::{Activity, NodeTotals, Opening, Turn};
use super::timeline::Timeline;
use crate::domain::events::{OpenTurn, Spent};
use crate::domain::time::Span;
use crate::domain::usage::Usage;

impl Timeline {
    /// What everything so far comes to; `upto` is how long the journal was when it was read.
    pub fn spent(&self, upto: u64) -> Spent {
        let activity = &self.activity;
        let totals = |(node, totals): (&String, &NodeTotals)| {
            (node.clone(), [totals.turns, totals.runtime.0, totals.tokens, totals.cost])
        };
        let open = activity.open.values().map(|turn| OpenTurn {
            node: turn.node.clone(),
            number: turn.number,
            started: turn.started,
            commits: turn.commits,
            tokens: turn.usage.tokens(),
        });
        Spent {
            iteration: self.iterations.iter().map(|one| one.number).max().unwrap_or(0),
            begun: activity.begun,
            last_node: activity.last_node.clone(),
            nodes: activity.nodes.iter().map(totals).collect(),
            passes: activity
                .passes
                .iter()
                .map(|((from, to), count)| (from.clone(), to.clone(), *count))
                .collect(),
            open: open.collect(),
            upto,
        }
    }

    pub(super) fn take_spent(&mut self, spent: Spent) {
        if let Some(newest) = self.iterations.iter_mut().max_by_key(|one| one.number) {
            newest.number = newest.number.max(spent.iteration);
        }
        let activity = &mut self.activity;
        activity.begun = spent.begun;
        activity.last_node = spent.last_node;
        activity.nodes = spent.nodes.into_iter().map(|(node, figures)| (node, totals(figures))).collect();
        activity.passes = spent.passes.into_iter().map(|(from, to, count)| ((from, to), count)).collect();
        activity.open = open(activity, spent.open);
    }
}

fn totals([turns, runtime, tokens, cost]: [u64; 4]) -> NodeTotals {
    NodeTotals { turns, runtime: Span(runtime), tokens, cost }
}

/// The turns that go on; what was seen of them since stays.
fn open(activity: &mut Activity, told: Vec<OpenTurn>) -> BTreeMap<String, Turn> {
    let mut open = BTreeMap::new();
    for one in told {
        let seen = activity.open.remove(&one.node);
        let mut turn = seen.unwrap_or_else(|| Turn {
            node: one.node.clone(),
            number: one.number,
            opening: Opening::Implied,
            started: None,
            ended: None,
            commits: 0,
            calls: 0,
            test_runs: 0,
            usage: Usage::default(),
            outputs: Vec::new(),
        });
        turn.number = one.number;
        turn.commits = one.commits;
        if one.started.is_some() {
            (turn.opening, turn.started) = (Opening::Told, one.started);
        }
        if one.tokens > turn.usage.tokens() {
            turn.usage = Usage { input_tokens: Some(one.tokens), output_tokens: None, ..turn.usage };
        }
        open.insert(one.node, turn);
    }
    open
}

#[cfg(test)]
mod tests {
    use crate::domain::events::{Event, What};
    use crate::domain::facts::Fact;
    use crate::history::Timeline;
    use crate::history::testkit::{facts, folded};
    use proptest::prelude::*;

    fn is_event(fact: &Fact) -> bool {
        matches!(fact, Fact::Event(event) if event.id.is_none())
    }

    fn budgets(line: &Timeline) -> (Vec<(String, u64, u64, u64, u64)>, Vec<(String, String, u64)>, u64) {
        let spent = line.spent(0);
        let nodes = spent
            .nodes
            .into_iter()
            .map(|(node, [turns, runtime, tokens, cost])| (node, turns, runtime, tokens, cost));
        (nodes.collect(), spent.passes, spent.begun)
    }

    proptest! {
        /// Whatever was cut off before the carried totals: the budgets are those of all facts.
        #[test]
        fn totals_stand_for_what_was_cut_off(all in facts::facts(), cut in 0_usize..60, carried in 0_usize..60) {
            let all: Vec<Fact> = all.into_iter().filter(is_event).collect();
            let carried = carried.min(all.len());
            let cut = cut.min(carried);
            let mut before = folded(all[..carried].to_vec());
            // A clock far ahead would begin a new run at each fact after the cut: the newest time is known to a reader.
            let at = before.activity.now.take();
            let totals = Fact::Event(Box::new(Event { at, node: None, session: None, id: None, what: What::Spent(Box::new(before.spent(0))) }));
            let mut short = all[cut..carried].to_vec();
            short.push(totals);
            short.extend_from_slice(&all[carried..]);
            prop_assert_eq!(budgets(&folded(short)), budgets(&folded(all)));
        }
    }
}
