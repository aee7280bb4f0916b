//! `cycle-cost`: a cycle has used up its cost budget.

use std::fmt;

use crate::detect::budget;
use crate::detect::rule::{ANY_EVENT, Docs, Reads, Rule};
use crate::detect::situation::Situation;
use crate::domain::about::{About, EventClass};
use crate::domain::detail::Found;
use crate::domain::findings::{Evidence, Finding, HaltReason, Level, ReportFile};
use crate::domain::settings::{Param, RuleSetting};

pub(in crate::detect) const MAX_CENTS: Param<Option<u64>> = Param::limit(
    "max_cents",
    None,
    1,
    "Cost of one cycle that halts the loop, in US cents; \"none\" for no limit.",
);

pub(in crate::detect) static RULE: Rule = Rule {
    id: "cycle-cost",
    summary: "the reported cost of one cycle, in a declared workflow; unlimited unless set",
    docs: Docs {
        trips: "The cost reported (`cost_usd` of `andon observe usage`) for all nodes of a cycle of the \
                declared workflow has reached `max_cents` since the last answer to a halt. `max_cost` at the \
                anchor edge in `[workflow]` takes precedence. `\"none\"` is no limit.",
        why: "Prices differ, so there is no default.",
        source: "docs/spec-map.md: Loop safety, budget model; settled choice 5",
        example: "With `max_cents = 500`, the report that brings the cycle to five dollars halts the loop.",
        tune: "`cycle-cost = { max_cents = 500 }`, or `max_cost = \"5.00\"` at the anchor edge in \
               `[workflow]`.",
    },
    level: Level::Halt,
    reason: HaltReason::BudgetExceeded,
    report_file: ReportFile::Checkpoint,
    about: About::of(EventClass::Budget),
    params: &[MAX_CENTS.spec],
    stages: ANY_EVENT,
    reads: Reads::Totals,
    check,
};

/// Millionths of a dollar in a cent.
const CENT: u64 = 10_000;

/// A cycle that has cost what it was given, in millionths of a dollar.
#[derive(Debug)]
struct Spent {
    nodes: Vec<String>,
    cost: u64,
    limit: u64,
}

impl Found for Spent {}

impl fmt::Display for Spent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (cost, limit) = (budget::dollars(self.cost), budget::dollars(self.limit));
        write!(f, "the cycle of {} has cost {cost} of {limit}", self.nodes.join(", "))
    }
}

fn check(situation: &Situation<'_>, setting: &RuleSetting) -> Option<Finding> {
    let timeline = situation.timeline;
    let otherwise = setting.limit(&MAX_CENTS).saturating_mul(CENT);
    let over = timeline.workflow.cycles.iter().find_map(|cycle| {
        let limit = cycle.budget.max_cost.unwrap_or(otherwise);
        let cost = budget::cycle_cost(&timeline.activity, cycle);
        budget::reached(cost, limit).then_some((cycle, cost, limit))
    });
    let (cycle, cost, limit) = over?;
    Some(Finding {
        evidence: vec![Evidence::Text(format!("cycle {}: {}", cycle.id, budget::dollars(cost)))],
        help: vec!["look at what the cycle has achieved: andon status".to_owned()],
        ..RULE.finding(setting.level, Spent { nodes: cycle.nodes.clone(), cost, limit })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::testkit::{asked_of, asked_with};
    use crate::domain::events::What;
    use crate::domain::settings::ParamValue;
    use crate::domain::usage::Usage;
    use crate::testkit::{event_of, in_workflow};

    #[test]
    fn reported_cost_counts() {
        let spent = |node, cost: &str| {
            event_of(node, 1, What::Usage(Usage { cost_usd: Some(cost.into()), ..Usage::default() }))
        };
        let facts = || vec![spent("coder", "3.10"), spent("verifier", "1.90"), spent("stranger", "99")];
        let with = |cents| {
            let line = in_workflow(facts(), None, None);
            asked_with(&RULE, &line, &[("max_cents", ParamValue::Limit(Some(cents)))])
                .map(|finding| finding.message())
        };
        assert_eq!(with(500).as_deref(), Some("the cycle of coder, verifier has cost 5.00 USD of 5.00 USD"));
        assert!(with(501).is_none() && with(0).is_none());
        assert!(asked_of(&RULE, &in_workflow(facts(), None, Some(4_000_000))).is_some());
    }
}
