//! `cycle-runtime`: a cycle has used up its time.

use std::fmt;

use crate::detect::budget;
use crate::detect::rule::{ANY_EVENT, Docs, Reads, Rule};
use crate::detect::situation::Situation;
use crate::domain::about::{About, EventClass};
use crate::domain::detail::Found;
use crate::domain::findings::{Evidence, Finding, HaltReason, Level, ReportFile};
use crate::domain::settings::{Param, RuleSetting};
use crate::domain::time::Span;

pub(in crate::detect) const MAX: Param<Option<Span>> =
    Param::span_limit("max", None, "Runtime of one cycle that halts the loop; \"none\" for no limit.");

pub(in crate::detect) static RULE: Rule = Rule {
    id: "cycle-runtime",
    summary: "the runtime of one cycle, in a declared workflow; unlimited unless set",
    docs: Docs {
        trips: "The announced turns of all nodes of a cycle of the declared workflow have taken `max` \
                together since the last answer to a halt. `max_runtime` at the anchor edge in `[workflow]` \
                takes precedence. `\"none\"` is no limit.",
        why: "How long a cycle may take depends on the project, so there is no default.",
        source: "docs/spec-map.md: Loop safety, budget model; settled choice 5",
        example: "With `max = \"4h\"`, the turn during which the fourth hour ends halts the loop when it \
                  ends.",
        tune: "`cycle-runtime = { max = \"4h\" }`, or `max_runtime = \"4h\"` at the anchor edge in \
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

/// A cycle that has run for as long as it was given.
#[derive(Debug)]
struct Runtime {
    nodes: Vec<String>,
    taken: Span,
    limit: Span,
}

impl Found for Runtime {}

impl fmt::Display for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { nodes, taken, limit } = self;
        write!(f, "the cycle of {} has run for {taken} of {limit}", nodes.join(", "))
    }
}

fn check(situation: &Situation<'_>, setting: &RuleSetting) -> Option<Finding> {
    let timeline = situation.timeline;
    let otherwise = setting.span_limit(&MAX);
    let over = timeline.workflow.cycles.iter().find_map(|cycle| {
        let limit = cycle.budget.max_runtime.unwrap_or(otherwise);
        let taken = budget::cycle_runtime(&timeline.activity, cycle);
        budget::reached(taken.0, limit.0).then_some((cycle, taken, limit))
    });
    let (cycle, taken, limit) = over?;
    Some(Finding {
        evidence: vec![Evidence::Text(format!("cycle {}: {taken}", cycle.id))],
        help: vec!["look at what the cycle has achieved: andon status".to_owned()],
        ..RULE.finding(setting.level, Runtime { nodes: cycle.nodes.clone(), taken, limit })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::testkit::{asked_of, asked_with};
    use crate::domain::events::{TurnEnd, What};
    use crate::domain::settings::ParamValue;
    use crate::domain::time::Span;
    use crate::testkit::{event_of, in_workflow};

    #[test]
    fn the_nodes_of_a_cycle_count_together() {
        let turn = |node, from, to| {
            [event_of(node, from, What::TurnStart), event_of(node, to, What::TurnEnd(TurnEnd::default()))]
        };
        let facts =
            || -> Vec<_> { turn("coder", 100, 160).into_iter().chain(turn("verifier", 200, 240)).collect() };
        let with = |max| {
            let line = in_workflow(facts(), None, None);
            asked_with(&RULE, &line, &[("max", ParamValue::SpanLimit(Some(Span(max))))]).is_some()
        };
        assert!(with(100) && !with(101) && !with(0));
        assert!(asked_of(&RULE, &in_workflow(facts(), None, None)).is_none(), "unlimited unless set");
    }
}
