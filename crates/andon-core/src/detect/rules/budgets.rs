//! The budgets: rules that compare what a node, a cycle or a turn has used with a limit. One row of the table a rule; a new
//! one is a row here and its line in the registry.

use crate::detect::prelude::*;
use crate::domain::{Cycle, Node, ParamSpec, RuleSettings, Span};
use crate::history::{Activity, NodeTotals, Timeline, Turn, TurnStart};

/// A row of the table. The limit is the one parameter of the rule; 0 is no limit.
struct Budget {
    id: &'static str,
    prose: &'static str,
    stages: &'static [Stage],
    limit: ParamSpec,
    measure: Measure,
    unit: Unit,
    /// The verb of the message, before the amount.
    verb: &'static str,
}

/// Of what the amount is taken and how. Nodes and cycles may have limits of their own, which go first.
enum Measure {
    /// Of each node of the declared workflow.
    Node(fn(&Activity, &Node) -> u64, fn(&Node) -> Option<u64>),
    /// Of each cycle of the declared workflow.
    Cycle(fn(&Activity, &Cycle) -> u64, fn(&Cycle) -> Option<u64>),
    /// Of the newest turn.
    Turn(fn(&Activity, &Turn) -> u64),
}

/// The unit of the amounts.
#[derive(Clone, Copy)]
enum Unit {
    Turns,
    Iterations,
    Tokens,
    Seconds,
    /// Millionths of a dollar; the parameter is in cents.
    Dollars,
}

/// Millionths of a dollar in a cent.
const CENT: u64 = 10_000;

const fn count(default: Option<u64>) -> ParamSpec {
    Param::limit("max", default, 1).spec
}

const DURATION: Param<Option<Span>> = Param::span_limit("max", None);

/// Makes a rule of each row.
macro_rules! budgets {
    ($($name:ident = $row:expr;)+) => {$(
        pub(in crate::detect) static $name: Rule = {
            static ROW: Budget = $row;
            ROW.rule(|situation, setting| ROW.check(&$name, situation.timeline, setting))
        };
    )+};
}

budgets! {
    NODE_TURNS = Budget {
        id: "node-turns",
        prose: include_str!("node_turns.md"),
        stages: LOOP,
        limit: count(Some(6)),
        measure: Measure::Node(
            |activity, node| total(activity, &node.name, |totals| totals.turns),
            |node| node.max_turns,
        ),
        unit: Unit::Turns,
        verb: "has had",
    };
    NODE_RUNTIME = Budget {
        id: "node-runtime",
        prose: include_str!("node_runtime.md"),
        stages: ANY_EVENT,
        limit: DURATION.spec,
        measure: Measure::Node(
            |activity, node| runtime(activity, &node.name),
            |node| node.max_runtime.map(|span| span.0),
        ),
        unit: Unit::Seconds,
        verb: "has run for",
    };
    CYCLE_ITERATIONS = Budget {
        id: "cycle-iterations",
        prose: include_str!("cycle_iterations.md"),
        stages: ANY_EVENT,
        limit: count(Some(8)),
        measure: Measure::Cycle(Activity::cycle_iterations, |cycle| cycle.budget.max_iterations),
        unit: Unit::Iterations,
        verb: "has reached",
    };
    CYCLE_RUNTIME = Budget {
        id: "cycle-runtime",
        prose: include_str!("cycle_runtime.md"),
        stages: ANY_EVENT,
        limit: DURATION.spec,
        measure: Measure::Cycle(
            |activity, cycle| sum(cycle, |node| runtime(activity, node)),
            |cycle| cycle.budget.max_runtime.map(|span| span.0),
        ),
        unit: Unit::Seconds,
        verb: "has run for",
    };
    CYCLE_COST = Budget {
        id: "cycle-cost",
        prose: include_str!("cycle_cost.md"),
        stages: ANY_EVENT,
        limit: Param::limit("max_cents", None, 1).spec,
        measure: Measure::Cycle(
            |activity, cycle| sum(cycle, |node| total(activity, node, |totals| totals.cost)),
            |cycle| cycle.budget.max_cost,
        ),
        unit: Unit::Dollars,
        verb: "has cost",
    };
    TURN_TIMEOUT = Budget {
        id: "turn-timeout",
        prose: include_str!("turn_timeout.md"),
        stages: ANY_EVENT,
        limit: DURATION.in_workflow(Span(600)).spec,
        measure: Measure::Turn(|activity, turn| {
            if turn.opening == TurnStart::Reported { turn.runtime(activity.now).0 } else { 0 }
        }),
        unit: Unit::Seconds,
        verb: "took",
    };
    TURN_TOKENS = Budget {
        id: "turn-tokens",
        prose: include_str!("turn_tokens.md"),
        stages: ANY_EVENT,
        limit: count(None),
        measure: Measure::Turn(|_, turn| turn.tokens()),
        unit: Unit::Tokens,
        verb: "used",
    };
}

/// True where the length of a turn is limited, so that its beginning has to be reported.
pub fn limits_turns(settings: &RuleSettings) -> bool {
    settings.get(TURN_TIMEOUT.id).is_some_and(|setting| {
        setting.level > Level::Off && TURN_TIMEOUT.params.iter().any(|limit| setting.limit(limit) > 0)
    })
}

/// A scope that has used up its limit.
struct UsedBudget {
    /// As the message names it.
    scope: String,
    /// As the evidence names it.
    place: String,
    used: u64,
    limit: u64,
}

impl Budget {
    const fn rule(&'static self, check: fn(&Situation<'_>, &RuleSetting) -> Option<Finding>) -> Rule {
        Rule {
            reason: HaltReason::BudgetExceeded,
            about: About::new(EventClass::Budget),
            params: std::slice::from_ref(&self.limit),
            stages: self.stages,
            ..Rule::of_events(self.id, self.prose, check)
        }
    }

    fn check(&self, rule: &Rule, timeline: &Timeline, setting: &RuleSetting) -> Option<Finding> {
        let configured = setting.limit(&self.limit);
        let limit = if let Unit::Dollars = self.unit { configured.saturating_mul(CENT) } else { configured };
        let UsedBudget { scope, place, used, limit } = self.measure.reached(timeline, limit)?;
        let evidence = match self.measure {
            Measure::Turn(_) => place,
            Measure::Node(..) | Measure::Cycle(..) => format!("{place}: {}", self.unit.amount(used)),
        };
        Some(Finding {
            evidence: vec![Evidence::Text(evidence)],
            ..rule.finding(setting.level, format!("{scope} {} {}", self.verb, self.unit.share(used, limit)))
        })
    }
}

impl Measure {
    /// The first scope whose amount has reached its own limit, else `otherwise`.
    fn reached(&self, timeline: &Timeline, otherwise: u64) -> Option<UsedBudget> {
        let Timeline { activity, workflow, .. } = timeline;
        let reached = |used: u64, own: Option<u64>| {
            let limit = own.unwrap_or(otherwise);
            (limit > 0 && used >= limit).then_some((used, limit))
        };
        match self {
            Self::Node(used, own) => workflow.nodes.iter().find_map(|node| {
                let (used, limit) = reached(used(activity, node), own(node))?;
                Some(UsedBudget {
                    scope: node.name.clone(),
                    place: format!("node {}", node.name),
                    used,
                    limit,
                })
            }),
            Self::Cycle(used, own) => workflow.cycles.iter().find_map(|cycle| {
                let (used, limit) = reached(used(activity, cycle), own(cycle))?;
                let scope = format!("the cycle of {}", cycle.nodes.join(", "));
                Some(UsedBudget { scope, place: format!("cycle {}", cycle.id), used, limit })
            }),
            Self::Turn(used) => activity.newest_turn().and_then(|turn| {
                let (used, limit) = reached(used(activity, turn), None)?;
                let node = words::bounded(&turn.node);
                let place = format!("turn {} of {node}", turn.number);
                Some(UsedBudget { scope: format!("a turn of {node}"), place, used, limit })
            }),
        }
    }
}

impl Unit {
    /// An amount with its unit.
    fn amount(self, used: u64) -> String {
        match self {
            Self::Turns => words::count(used, "turn"),
            Self::Iterations => words::count(used, "iteration"),
            Self::Tokens => words::count(used, "token"),
            Self::Seconds => Span(used).to_string(),
            Self::Dollars => format!("{}.{:02} USD", used / 1_000_000, used / CENT % 100),
        }
    }

    /// An amount and its limit.
    fn share(self, used: u64, limit: u64) -> String {
        match self {
            Self::Iterations => format!("Loop {used}/{limit}"),
            Self::Tokens => format!("{used} of {limit} tokens"),
            Self::Turns => format!("{used} of {}", self.amount(limit)),
            Self::Seconds | Self::Dollars => format!("{} of {}", self.amount(used), self.amount(limit)),
        }
    }
}

/// A total of `node`; 0 before its first.
fn total(activity: &Activity, node: &str, of: fn(&NodeTotals) -> u64) -> u64 {
    activity.nodes.get(node).map_or(0, of)
}

/// Seconds of the turns of `node` that ended and of the current one.
fn runtime(activity: &Activity, node: &str) -> u64 {
    let open = activity.open.get(node).map_or(0, |turn| turn.runtime(activity.now).0);
    total(activity, node, |totals| totals.runtime.0).saturating_add(open)
}

/// The amounts of all nodes of `cycle` together.
fn sum(cycle: &Cycle, of: impl Fn(&str) -> u64) -> u64 {
    cycle.nodes.iter().map(|node| of(node)).fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::testkit::{asked_of, asked_with};
    use crate::domain::{Ballot, EventKind, Fact, ParamValue, TurnEnd, Usage};
    use crate::testkit::{event_of, folded, in_workflow};

    fn start(node: &str, at: i64) -> Fact {
        event_of(node, at, EventKind::TurnStart)
    }

    fn end(node: &str, at: i64) -> Fact {
        event_of(node, at, EventKind::TurnEnd(TurnEnd::default()))
    }

    fn ends(node: &str, count: i64) -> Vec<Fact> {
        (1..=count).map(|at| end(node, at)).collect()
    }

    /// A timeline of a workflow in which `coder` and `verifier` are one cycle.
    fn declared(facts: Vec<Fact>) -> Timeline {
        in_workflow(facts, None, None)
    }

    fn message(found: Option<Finding>) -> Option<String> {
        found.map(|finding| finding.message())
    }

    fn limited(rule: &Rule, line: &Timeline, max: u64) -> Option<Finding> {
        asked_with(rule, line, &[(rule.params[0].name, ParamValue::Limit(Some(max)))])
    }

    fn within(rule: &Rule, line: &Timeline, max: u64) -> Option<Finding> {
        asked_with(rule, line, &[("max", ParamValue::SpanLimit(Some(Span(max))))])
    }

    #[test]
    fn the_sixth_turn_trips_in_a_declared_workflow_only() {
        for (count, trips) in [(5, false), (6, true), (7, true)] {
            assert_eq!(asked_of(&NODE_TURNS, &declared(ends("coder", count))).is_some(), trips, "{count}");
        }
        assert!(asked_of(&NODE_TURNS, &declared(ends("stranger", 9))).is_none());
        assert!(asked_of(&NODE_TURNS, &folded(ends("coder", 9))).is_none());
    }

    #[test]
    fn the_limit_is_a_parameter_and_that_of_the_node_goes_first() {
        let found = limited(&NODE_TURNS, &declared(ends("coder", 2)), 2);
        assert_eq!(message(found).as_deref(), Some("coder has had 2 of 2 turns"));
        assert!(limited(&NODE_TURNS, &declared(ends("coder", 60)), 0).is_none(), "no limit");
        let mut line = declared(ends("coder", 3));
        let mut flow = (*line.workflow).clone();
        flow.nodes[0].max_turns = Some(3);
        line.workflow = flow.into();
        assert!(limited(&NODE_TURNS, &line, 100).is_some());
    }

    #[test]
    fn runtime_is_that_of_announced_turns_and_of_the_one_that_goes_on() {
        let with = |facts, max| within(&NODE_RUNTIME, &declared(facts), max);
        let two = || vec![start("coder", 100), end("coder", 160), start("coder", 200), end("coder", 240)];
        assert_eq!(message(with(two(), 100)).as_deref(), Some("coder has run for 1m 40s of 1m 40s"));
        assert!(with(two(), 101).is_none() && with(two(), 0).is_none());
        assert!(with(vec![start("coder", 100), start("verifier", 200)], 100).is_some());
        assert!(
            with(vec![end("coder", 100), end("coder", 900)], 1).is_none(),
            "it is unknown when these began"
        );
        assert!(asked_of(&NODE_RUNTIME, &declared(two())).is_none(), "unlimited unless set");
    }

    #[test]
    fn the_eighth_pass_of_the_anchor_trips() {
        let rounds = |count: i64| -> Vec<Fact> {
            let round = |at| [end("coder", at * 2 + 1), end("verifier", at * 2 + 2)];
            (0..count).flat_map(round).collect()
        };
        let back = |count| declared(rounds(count).into_iter().chain([start("coder", 1000)]).collect());
        assert!(asked_of(&CYCLE_ITERATIONS, &declared(rounds(8))).is_none(), "the eighth has not come back");
        assert_eq!(
            message(asked_of(&CYCLE_ITERATIONS, &back(8))).as_deref(),
            Some("the cycle of coder, verifier has reached Loop 8/8")
        );
        assert!(asked_with(&CYCLE_ITERATIONS, &back(30), &[("max", ParamValue::Limit(None))]).is_none());
        let tighter = in_workflow(rounds(4), Some(3), None);
        assert!(asked_of(&CYCLE_ITERATIONS, &tighter).is_some(), "the cycle's own budget goes first");
    }

    #[test]
    fn the_nodes_of_a_cycle_count_together() {
        let facts =
            || vec![start("coder", 100), end("coder", 160), start("verifier", 200), end("verifier", 240)];
        let with = |max| within(&CYCLE_RUNTIME, &declared(facts()), max);
        assert_eq!(
            message(with(100)).as_deref(),
            Some("the cycle of coder, verifier has run for 1m 40s of 1m 40s")
        );
        assert!(with(101).is_none() && with(0).is_none());
        assert!(asked_of(&CYCLE_RUNTIME, &declared(facts())).is_none(), "unlimited unless set");
    }

    #[test]
    fn reported_cost_counts() {
        let spent = |node, cost: &str| {
            event_of(node, 1, EventKind::Usage(Usage { cost_usd: Some(cost.into()), ..Usage::default() }))
        };
        let facts = || vec![spent("coder", "3.10"), spent("verifier", "1.90"), spent("stranger", "99")];
        let with = |cents| limited(&CYCLE_COST, &declared(facts()), cents);
        assert_eq!(
            message(with(500)).as_deref(),
            Some("the cycle of coder, verifier has cost 5.00 USD of 5.00 USD")
        );
        assert!(with(501).is_none() && with(0).is_none());
        assert!(asked_of(&CYCLE_COST, &in_workflow(facts(), None, Some(4_000_000))).is_some());
    }

    #[test]
    fn ten_minutes_trip_while_a_turn_goes_on_and_at_its_end() {
        let (start, end) = (|| start("a", 1000), |at| end("a", at));
        let found = |facts| message(within(&TURN_TIMEOUT, &folded(facts), 600));
        let trips = |facts| found(facts).is_some();
        assert!(!trips(vec![start(), end(1599)]));
        assert_eq!(found(vec![start(), end(1600)]).as_deref(), Some("a turn of a took 10m of 10m"));
        assert!(trips(vec![start(), event_of("a", 1700, EventKind::Verdict(Ballot::default()))]));
        assert!(
            !trips(vec![start(), end(1700), event_of("a", 1701, EventKind::TurnStart)]),
            "the next one has begun"
        );
        assert!(!trips(vec![end(1000), end(9000)]), "it is unknown when it began");
        assert!(!trips(vec![start(), end(3)]), "a clock set back");
        let line = folded(vec![start(), end(99_999)]);
        assert!(asked_of(&TURN_TIMEOUT, &line).is_none(), "unlimited unless set");
        assert!(asked_with(&TURN_TIMEOUT, &line, &[("max", ParamValue::SpanLimit(None))]).is_none());
    }

    #[test]
    fn reported_tokens_of_the_newest_turn_count() {
        let spent = |input, output| {
            let usage = Usage { input_tokens: Some(input), output_tokens: Some(output), ..Usage::default() };
            event_of("a", 1, EventKind::Usage(usage))
        };
        let with = |facts, max| message(limited(&TURN_TOKENS, &folded(facts), max));
        let found = with(vec![spent(60, 20), spent(15, 5)], 100);
        assert_eq!(found.as_deref(), Some("a turn of a used 100 of 100 tokens"));
        assert!(with(vec![spent(60, 20), end("a", 2), spent(15, 5)], 100).is_none());
        assert!(with(vec![spent(u64::MAX, 20)], 0).is_none());
        assert!(asked_of(&TURN_TOKENS, &folded(vec![spent(u64::MAX, 20)])).is_none(), "unlimited unless set");
    }

    #[test]
    fn evidence_and_help_name_what_was_measured() {
        let told = |found: Option<Finding>| {
            let finding = found.unwrap();
            let [Evidence::Text(evidence)] = &finding.evidence[..] else { panic!("{finding:?}") };
            format!("{}: {evidence}; {}", finding.rule, finding.help.join("; "))
        };
        let turns = || declared(ends("coder", 6));
        let timed = || declared(vec![start("coder", 100), end("coder", 160)]);
        let spent = || {
            let usage = Usage { input_tokens: Some(9), cost_usd: Some("1.00".into()), ..Usage::default() };
            declared(vec![event_of("coder", 1, EventKind::Usage(usage))])
        };
        let round = declared(vec![end("coder", 1), end("verifier", 2), start("coder", 3)]);
        insta::assert_snapshot!([
            told(asked_of(&NODE_TURNS, &turns())),
            told(within(&NODE_RUNTIME, &timed(), 60)),
            told(limited(&CYCLE_ITERATIONS, &round, 1)),
            told(within(&CYCLE_RUNTIME, &timed(), 60)),
            told(limited(&CYCLE_COST, &spent(), 100)),
            told(within(&TURN_TIMEOUT, &timed(), 60)),
            told(limited(&TURN_TOKENS, &spent(), 9)),
        ].join("\n"), @r"
        node-turns: node coder: 6 turns; look at what its turns have achieved: andon status
        node-runtime: node coder: 1m; look at what its turns have achieved: andon status
        cycle-iterations: cycle coder+verifier:coder->verifier,verifier->coder: 1 iteration; read what the nodes told each other: the loop does not end by itself
        cycle-runtime: cycle coder+verifier:coder->verifier,verifier->coder: 1m; look at what the cycle has achieved: andon status
        cycle-cost: cycle coder+verifier:coder->verifier,verifier->coder: 1.00 USD; look at what the cycle has achieved: andon status
        turn-timeout: turn 1 of coder; give the node a smaller task, or raise the limit under [rules] in andon.toml
        turn-tokens: turn 1 of coder; give the node a smaller task, or less to read
        ");
    }
}
