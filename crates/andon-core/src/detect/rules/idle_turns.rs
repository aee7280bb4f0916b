//! `idle-turns`: turns end and nothing has changed.

use crate::detect::prelude::*;
use crate::domain::Edits;
use crate::history::{Iteration, Source, TurnChange};

const MAX: Param<u64> = Param::count("max", 3, 1);

pub(in crate::detect) static RULE: Rule = Rule {
    about: About::nested(EventClass::Stall, RuleSubject::Turns).advising(AdvisedStep::ClarifyTask),
    params: &[MAX.spec],
    ..Rule::of_iterations("idle-turns", include_str!("idle_turns.md"), check)
};

fn check(situation: &Situation<'_>, setting: &RuleSetting) -> Option<Finding> {
    let iterations = &situation.timeline.iterations;
    let idle =
        iterations.iter().rev().map_while(|one| idle(situation, one)).filter(|idle| *idle == Idle::Yes);
    let idle = u64::try_from(idle.count()).unwrap_or(u64::MAX);
    if idle == 0 || idle < setting.count(&MAX) || newest_is_passed_over(situation) {
        return None;
    }
    let newest = situation.timeline.newest()?;
    Some(Finding {
        evidence: vec![Evidence::Code(newest.code)],
        ..RULE.finding(
            setting.level,
            format!("{} in a row ended without any change", words::count(idle, "turn")),
        )
    })
}

/// The share of an iteration in a row of idle turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Idle {
    Yes,
    /// It neither counts nor interrupts.
    PassedOver,
}

/// `None` for what interrupts.
fn idle(situation: &Situation<'_>, iteration: &Iteration) -> Option<Idle> {
    match iteration.source {
        Source::Commit | Source::Turn(TurnChange::Changed) => None,
        Source::Turn(TurnChange::Documents | TurnChange::Unknown) => Some(Idle::PassedOver),
        Source::Turn(TurnChange::Unchanged)
            if situation.timeline.workflow.edits(&iteration.node) == Edits::None =>
        {
            Some(Idle::PassedOver)
        }
        Source::Turn(TurnChange::Unchanged) => Some(Idle::Yes),
    }
}

/// A finding that was given once is not given again at a turn that is not idle.
fn newest_is_passed_over(situation: &Situation<'_>) -> bool {
    situation.timeline.newest().and_then(|newest| idle(situation, newest)) != Some(Idle::Yes)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::detect::testkit::asked_of;
    use crate::domain::{Digest, EventKind, Fact, Node, TurnEnd, Workflow};
    use crate::history::Timeline;
    use crate::testkit::{ack, chain, code, commit, event, folded, turn_end};

    fn trips(facts: Vec<Fact>) -> bool {
        asked_of(&RULE, &folded(facts)).is_some()
    }

    fn idle(turns: usize) -> Vec<Fact> {
        // The first end is compared with the commit.
        chain(vec![commit(1)]).into_iter().chain(vec![turn_end(1); turns]).collect()
    }

    #[test]
    fn three_running_trip() {
        for (turns, expected) in [(0, false), (1, false), (3, false), (4, true), (9, true)] {
            // The turn of the commit itself is not idle.
            assert_eq!(trips(idle(turns)), expected, "{turns}");
        }
    }

    #[test]
    fn a_change_interrupts_and_what_is_unknown_is_passed_over() {
        let unknown = event(EventKind::TurnEnd(TurnEnd::default()));
        let table: Vec<(&str, Vec<Fact>, bool)> = vec![
            ("an edit", vec![turn_end(2), turn_end(2), turn_end(2)], false),
            ("an edit, then nothing", vec![turn_end(2), turn_end(2), turn_end(2), turn_end(2)], true),
            ("an edit last", vec![turn_end(1), turn_end(1), turn_end(1), turn_end(1), turn_end(2)], false),
            ("an answer", vec![turn_end(1), turn_end(1), turn_end(1), ack(1), turn_end(1)], false),
            (
                "unknown in between",
                vec![turn_end(1), turn_end(1), turn_end(1), unknown.clone(), turn_end(1)],
                true,
            ),
            ("only unknown", vec![unknown.clone(), unknown.clone(), unknown.clone(), unknown], false),
        ];
        for (name, turns, expected) in table {
            assert_eq!(trips(idle(0).into_iter().chain(turns).collect()), expected, "{name}");
        }
    }

    #[test]
    fn a_turn_that_moves_a_plan_is_not_idle() {
        let plan =
            |docs| event(EventKind::TurnEnd(TurnEnd { code: Some(code(1)), docs: Some(Digest([docs; 32])) }));
        let moving: Vec<Fact> = (0..6).map(plan).collect();
        assert!(!trips(idle(0).into_iter().chain(moving).collect()));
        let still: Vec<Fact> = [0; 6].map(plan).into();
        assert!(trips(idle(0).into_iter().chain(still).collect()));
    }

    #[test]
    fn a_node_that_does_not_edit_is_not_idle() {
        let mut line: Timeline = folded(idle(6));
        assert!(asked_of(&RULE, &line).is_some());
        let planner = Node {
            name: "agent".into(),
            edits: Edits::None,
            matches: vec![],
            max_turns: None,
            max_runtime: None,
        };
        line.workflow = Arc::new(Workflow { nodes: vec![planner], ..Workflow::default() });
        assert!(asked_of(&RULE, &line).is_none());
    }
}
