//! `cycle-iterations`: a cycle has used up its iterations.

use std::fmt;

use crate::detect::budget;
use crate::detect::rule::{ANY_EVENT, Docs, Reads, Rule};
use crate::detect::situation::Situation;
use crate::detect::words;
use crate::domain::about::{About, EventClass};
use crate::domain::detail::Found;
use crate::domain::findings::{Evidence, Finding, HaltReason, Level, ReportFile};
use crate::domain::settings::{Param, RuleSetting};

pub(in crate::detect) const MAX: Param<Option<u64>> =
    Param::limit("max", Some(8), 1, "Iterations of one cycle that halt the loop; \"none\" for no limit.");

pub(in crate::detect) static RULE: Rule = Rule {
    id: "cycle-iterations",
    summary: "8 iterations of one cycle since the last answer, in a declared workflow",
    docs: Docs {
        trips: "The anchor edge of a cycle of the declared workflow was passed `max` times since the last \
                answer to a halt: a turn of its `from` was followed by one of its `to`. For a self-loop, a \
                turn of its node ended. `max_iterations` at the anchor edge in `[workflow]` takes \
                precedence. `\"none\"` is no limit.",
        why: "Eight is what the requirement recommends.",
        source: "docs/spec-map.md: Loop safety, budget model; settled choice 5",
        example: "`coder` and `verifier` hand the work back and forth. The eighth time it comes back to \
                  `coder` halts.",
        tune: "`cycle-iterations = { max = 12 }`, or `max_iterations = 12` at the anchor edge in \
               `[workflow]`.",
    },
    level: Level::Halt,
    reason: HaltReason::BudgetExceeded,
    report_file: ReportFile::Checkpoint,
    about: About::of(EventClass::Budget),
    params: &[MAX.spec],
    stages: ANY_EVENT,
    reads: Reads::Totals,
    check,
};

/// A cycle that has gone round as often as it was given.
#[derive(Debug)]
struct GoneRound {
    nodes: Vec<String>,
    passes: u64,
    limit: u64,
}

impl Found for GoneRound {}

impl fmt::Display for GoneRound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { nodes, passes, limit } = self;
        write!(f, "the cycle of {} has reached Loop {passes}/{limit}", nodes.join(", "))
    }
}

fn check(situation: &Situation<'_>, setting: &RuleSetting) -> Option<Finding> {
    let timeline = situation.timeline;
    let otherwise = setting.limit(&MAX);
    let over = timeline.workflow.cycles.iter().find_map(|cycle| {
        let limit = cycle.budget.max_iterations.unwrap_or(otherwise);
        let passes = timeline.activity.cycle_iterations(cycle);
        budget::reached(passes, limit).then_some((cycle, passes, limit))
    });
    let (cycle, passes, limit) = over?;
    Some(Finding {
        evidence: vec![Evidence::Text(format!("cycle {}: {}", cycle.id, words::count(passes, "iteration")))],
        help: vec!["read what the nodes told each other: the loop does not end by itself".to_owned()],
        ..RULE.finding(setting.level, GoneRound { nodes: cycle.nodes.clone(), passes, limit })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::testkit::{asked_of, asked_with};
    use crate::domain::events::{TurnEnd, What};
    use crate::domain::facts::Fact;
    use crate::domain::settings::ParamValue;
    use crate::testkit::{event_of, in_workflow};

    fn rounds(count: i64) -> Vec<Fact> {
        let end = |node, at| event_of(node, at, What::TurnEnd(TurnEnd::default()));
        (0..count).flat_map(|round| [end("coder", round * 2 + 1), end("verifier", round * 2 + 2)]).collect()
    }

    #[test]
    fn the_eighth_pass_of_the_anchor_trips() {
        let line = |count, more: bool| {
            let mut facts = rounds(count);
            if more {
                facts.push(event_of("coder", 1000, What::TurnStart));
            }
            in_workflow(facts, None, None)
        };
        assert!(asked_of(&RULE, &line(8, false)).is_none(), "the eighth has not come back");
        let found = asked_of(&RULE, &line(8, true));
        assert_eq!(
            found.map(|finding| finding.message()).as_deref(),
            Some("the cycle of coder, verifier has reached Loop 8/8")
        );
        assert!(asked_with(&RULE, &line(30, true), &[("max", ParamValue::Limit(None))]).is_none());
        let tighter = in_workflow(rounds(4), Some(3), None);
        assert!(asked_of(&RULE, &tighter).is_some(), "the cycle's own budget goes first");
    }
}
