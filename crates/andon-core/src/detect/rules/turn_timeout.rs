//! `turn-timeout`: one turn takes too long.

use std::fmt;

use crate::detect::budget;
use crate::detect::rule::{ANY_EVENT, Docs, Reads, Rule};
use crate::detect::situation::Situation;
use crate::detect::words;
use crate::domain::about::{About, EventClass};
use crate::domain::detail::Found;
use crate::domain::findings::{Evidence, Finding, HaltReason, Level, ReportFile};
use crate::domain::settings::{Param, RuleSetting};
use crate::domain::time::Span;

pub(in crate::detect) const MAX: Param<Option<Span>> = Param::span_limit(
    "max",
    Some(Span(600)),
    "Duration of one turn that halts the loop; \"none\" for no limit.",
);

pub(in crate::detect) static RULE: Rule = Rule {
    id: "turn-timeout",
    summary: "an announced turn that took 10 minutes",
    docs: Docs {
        trips: "The newest turn was announced with `turn_start` and has taken `max` up to its end or, while \
                it goes on, up to the newest event. It is unknown when an unannounced turn began, so it \
                never trips the rule. `\"none\"` is no limit.",
        why: "Ten minutes is what the requirement recommends. Andon starts no node and cannot end one: it \
              says so at the next event.",
        source: "docs/spec-map.md: Loop safety, budget model; settled choice 5",
        example: "`turn_start` at 15:30, `turn_end` at 15:41: halts.",
        tune: "`turn-timeout = { max = \"30m\" }`",
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

/// A turn that took too long.
#[derive(Debug)]
struct LongTurn {
    node: String,
    taken: Span,
    limit: Span,
}

impl Found for LongTurn {}

impl fmt::Display for LongTurn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let node = words::bounded(&self.node);
        write!(f, "a turn of {node} took {} of {}", self.taken, self.limit)
    }
}

fn check(situation: &Situation<'_>, setting: &RuleSetting) -> Option<Finding> {
    let turn = budget::announced(situation.timeline)?;
    let limit = setting.span_limit(&MAX);
    let taken = turn.runtime(situation.timeline.activity.now);
    if !budget::reached(taken.0, limit.0) {
        return None;
    }
    Some(Finding {
        evidence: vec![Evidence::Text(format!("turn {} of {}", turn.number, words::bounded(&turn.node)))],
        help: vec!["give the node a smaller task, or raise the limit under [rules] in andon.toml".to_owned()],
        ..RULE.finding(setting.level, LongTurn { node: turn.node.clone(), taken, limit })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::testkit::{asked_of, asked_with};
    use crate::domain::events::{Ballot, TurnEnd, What};
    use crate::domain::settings::ParamValue;
    use crate::testkit::{event_of, folded};

    #[test]
    fn ten_minutes_trip_while_it_goes_on_and_at_its_end() {
        let start = || event_of("a", 1000, What::TurnStart);
        let end = |at| event_of("a", at, What::TurnEnd(TurnEnd::default()));
        let trips = |facts| asked_of(&RULE, &folded(facts)).is_some();
        assert!(!trips(vec![start(), end(1599)]));
        assert!(trips(vec![start(), end(1600)]));
        assert!(trips(vec![start(), event_of("a", 1700, What::Verdict(Ballot::default()))]));
        assert!(
            !trips(vec![start(), end(1700), event_of("a", 1701, What::TurnStart)]),
            "the next one has begun"
        );
        assert!(!trips(vec![end(1000), end(9000)]), "nobody knows when it began");
        assert!(!trips(vec![start(), end(3)]), "a clock set back");
        let line = folded(vec![start(), end(99_999)]);
        assert!(asked_with(&RULE, &line, &[("max", ParamValue::SpanLimit(None))]).is_none());
    }
}
