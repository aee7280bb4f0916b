//! `turn-tokens`: one turn reads and writes too much.

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
    Param::limit("max", None, 1, "Tokens of one turn that halt the loop; \"none\" for no limit.");

pub(in crate::detect) static RULE: Rule = Rule {
    id: "turn-tokens",
    summary: "the reported tokens of one turn; unlimited unless set",
    docs: Docs {
        trips: "The tokens reported for the newest turn (`input_tokens` and `output_tokens` of `andon \
                observe usage`) have reached `max`. `\"none\"` is no limit.",
        why: "How many tokens a turn may take depends on the model, so there is no default.",
        source: "docs/spec-map.md: Loop safety, budget model; settled choice 5",
        example: "With `max = 200000`, the report that brings a turn to 200,000 tokens halts the loop.",
        tune: "`turn-tokens = { max = 200000 }`",
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

/// A turn that used too many tokens.
#[derive(Debug)]
struct LargeTurn {
    node: String,
    tokens: u64,
    limit: u64,
}

impl Found for LargeTurn {}

impl fmt::Display for LargeTurn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let node = words::bounded(&self.node);
        write!(f, "a turn of {node} used {} of {} tokens", self.tokens, self.limit)
    }
}

fn check(situation: &Situation<'_>, setting: &RuleSetting) -> Option<Finding> {
    let turn = situation.timeline.activity.newest_turn()?;
    let limit = setting.limit(&MAX);
    let tokens = turn.tokens();
    if !budget::reached(tokens, limit) {
        return None;
    }
    Some(Finding {
        evidence: vec![Evidence::Text(format!("turn {} of {}", turn.number, words::bounded(&turn.node)))],
        help: vec!["give the node a smaller task, or less to read".to_owned()],
        ..RULE.finding(setting.level, LargeTurn { node: turn.node.clone(), tokens, limit })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::testkit::{asked_of, asked_with};
    use crate::domain::events::{TurnEnd, What};
    use crate::domain::settings::ParamValue;
    use crate::domain::usage::Usage;
    use crate::testkit::{event_of, folded};

    #[test]
    fn reported_tokens_of_the_newest_turn_count() {
        let spent = |input, output| {
            event_of(
                "a",
                1,
                What::Usage(Usage {
                    input_tokens: Some(input),
                    output_tokens: Some(output),
                    ..Usage::default()
                }),
            )
        };
        let end = || event_of("a", 2, What::TurnEnd(TurnEnd::default()));
        let with = |facts, max| {
            asked_with(&RULE, &folded(facts), &[("max", ParamValue::Limit(Some(max)))]).is_some()
        };
        assert!(with(vec![spent(60, 20), spent(15, 5)], 100));
        assert!(!with(vec![spent(60, 20), end(), spent(15, 5)], 100));
        assert!(!with(vec![spent(u64::MAX, 20)], 0));
        assert!(asked_of(&RULE, &folded(vec![spent(u64::MAX, 20)])).is_none(), "unlimited unless set");
    }
}
