//! `node-runtime`: a node has used up its time.

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
    Param::span_limit("max", None, "Runtime of one node that halts the loop; \"none\" for no limit.");

pub(in crate::detect) static RULE: Rule = Rule {
    id: "node-runtime",
    summary: "the runtime of one node, in a declared workflow; unlimited unless set",
    docs: Docs {
        trips: "The announced turns of a node of the declared workflow have taken `max` together since the \
                last answer to a halt, including a turn still going on. `max_runtime` of the node in \
                `[workflow]` takes precedence. `\"none\"` is no limit.",
        why: "How long a node may take depends on the project, so there is no default. `turn-timeout` bounds \
              a single turn.",
        source: "docs/spec-map.md: Loop safety, budget model; settled choice 5",
        example: "With `max = \"2h\"`, three turns of 50 minutes halt the loop.",
        tune: "`node-runtime = { max = \"2h\" }`, or `nodes.coder = { max_runtime = \"2h\" }` in \
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

/// A node that has run for as long as it was given.
#[derive(Debug)]
struct Runtime {
    node: String,
    taken: Span,
    limit: Span,
}

impl Found for Runtime {}

impl fmt::Display for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} has run for {} of {}", self.node, self.taken, self.limit)
    }
}

fn check(situation: &Situation<'_>, setting: &RuleSetting) -> Option<Finding> {
    let timeline = situation.timeline;
    let otherwise = setting.span_limit(&MAX);
    let over = timeline.workflow.nodes.iter().find_map(|node| {
        let limit = node.max_runtime.unwrap_or(otherwise);
        let taken = budget::runtime(&timeline.activity, &node.name);
        budget::reached(taken.0, limit.0).then_some((node, taken, limit))
    });
    let (node, taken, limit) = over?;
    Some(Finding {
        evidence: vec![Evidence::Text(format!("node {}: {taken}", node.name))],
        help: vec!["look at what its turns have achieved: andon status".to_owned()],
        ..RULE.finding(setting.level, Runtime { node: node.name.clone(), taken, limit })
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
    fn runtime_is_that_of_announced_turns_and_of_the_one_that_goes_on() {
        let start = |at| event_of("coder", at, What::TurnStart);
        let end = |at| event_of("coder", at, What::TurnEnd(TurnEnd::default()));
        let with = |facts, max| {
            asked_with(
                &RULE,
                &in_workflow(facts, None, None),
                &[("max", ParamValue::SpanLimit(Some(Span(max))))],
            )
            .is_some()
        };
        let two = || vec![start(100), end(160), start(200), end(240)];
        assert!(with(two(), 100) && !with(two(), 101) && !with(two(), 0));
        assert!(with(vec![start(100), event_of("verifier", 200, What::TurnStart)], 100));
        assert!(!with(vec![end(100), end(900)], 1), "nobody knows when these began");
        assert!(asked_of(&RULE, &in_workflow(two(), None, None)).is_none(), "unlimited unless set");
    }
}
