//! `node-turns`: a node has used up its turns.

use std::fmt;

use crate::detect::budget;
use crate::detect::rule::{Docs, LOOP, Reads, Rule};
use crate::detect::situation::Situation;
use crate::detect::words;
use crate::domain::about::{About, EventClass};
use crate::domain::detail::Found;
use crate::domain::findings::{Evidence, Finding, HaltReason, Level, ReportFile};
use crate::domain::settings::{Param, RuleSetting};

pub(in crate::detect) const MAX: Param<Option<u64>> =
    Param::limit("max", Some(6), 1, "Turns of one node that halt the loop; \"none\" for no limit.");

pub(in crate::detect) static RULE: Rule = Rule {
    id: "node-turns",
    summary: "6 turns of one node since the last answer, in a declared workflow",
    docs: Docs {
        trips: "A node of the declared workflow has had `max` turns since the last answer to a halt. A turn \
                counts when it ends or at its first commit; commits of a node that announces no turns are \
                one turn each. `max_turns` of the node in `[workflow]` takes precedence. `\"none\"` is no \
                limit.",
        why: "Six is what the requirement recommends. Without a declared workflow it is not known what a \
              node is, and only `iteration-cap` binds.",
        source: "docs/spec-map.md: Loop safety, budget model; settled choice 5",
        example: "The sixth turn of `coder` halts: \"coder has had 6 of 6 turns\".",
        tune: "`node-turns = { max = 12 }`, or `nodes.coder = { max_turns = 12 }` in `[workflow]`.",
    },
    level: Level::Halt,
    reason: HaltReason::BudgetExceeded,
    report_file: ReportFile::Checkpoint,
    about: About::of(EventClass::Budget),
    params: &[MAX.spec],
    stages: LOOP,
    reads: Reads::Totals,
    check,
};

/// A node that has had the turns it was given.
#[derive(Debug)]
struct UsedUp {
    node: String,
    turns: u64,
    limit: u64,
}

impl Found for UsedUp {}

impl fmt::Display for UsedUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} has had {} of {}", self.node, self.turns, words::count(self.limit, "turn"))
    }
}

fn check(situation: &Situation<'_>, setting: &RuleSetting) -> Option<Finding> {
    let timeline = situation.timeline;
    let otherwise = setting.limit(&MAX);
    let over = timeline.workflow.nodes.iter().find_map(|node| {
        let limit = node.max_turns.unwrap_or(otherwise);
        let turns = timeline.activity.nodes.get(&node.name)?.turns;
        budget::reached(turns, limit).then_some((node, turns, limit))
    });
    let (node, turns, limit) = over?;
    Some(Finding {
        evidence: vec![Evidence::Text(format!("node {}: {}", node.name, words::count(turns, "turn")))],
        help: vec!["look at what its turns have achieved: andon status".to_owned()],
        ..RULE.finding(setting.level, UsedUp { node: node.name.clone(), turns, limit })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::testkit::{asked_of, asked_with};
    use crate::domain::events::{TurnEnd, What};
    use crate::domain::settings::ParamValue;
    use crate::history::Timeline;
    use crate::testkit::{event_of, folded, in_workflow};

    fn turns(node: &str, count: i64) -> Timeline {
        let ends = (0..count).map(|at| event_of(node, at + 1, What::TurnEnd(TurnEnd::default())));
        in_workflow(ends.collect(), None, None)
    }

    #[test]
    fn the_sixth_turn_trips_in_a_declared_workflow_only() {
        for (count, trips) in [(5, false), (6, true), (7, true)] {
            assert_eq!(asked_of(&RULE, &turns("coder", count)).is_some(), trips, "{count}");
        }
        assert!(asked_of(&RULE, &turns("stranger", 9)).is_none());
        let undeclared =
            folded((0..9).map(|at| event_of("coder", at, What::TurnEnd(TurnEnd::default()))).collect());
        assert!(asked_of(&RULE, &undeclared).is_none());
    }

    #[test]
    fn the_limit_is_a_parameter_and_that_of_the_node_goes_first() {
        let with = |line: &Timeline, max| asked_with(&RULE, line, &[("max", ParamValue::Limit(Some(max)))]);
        assert_eq!(
            with(&turns("coder", 2), 2).map(|f| f.message()).as_deref(),
            Some("coder has had 2 of 2 turns")
        );
        assert!(with(&turns("coder", 60), 0).is_none(), "no limit");
        let mut line = turns("coder", 3);
        let mut flow = (*line.workflow).clone();
        flow.nodes[0].max_turns = Some(3);
        line.workflow = flow.into();
        assert!(with(&line, 100).is_some());
    }
}
