//! `output-oscillation`: the output alternates while the code does not change.

use crate::detect::{prelude::*, progress::last_moved};
use crate::history::NodeOutput;

const ROUNDS: Param<u64> = Param::count("rounds", 2, 2);

pub(in crate::detect) static RULE: Rule = Rule {
    reason: HaltReason::Oscillating,
    about: About::nested(EventClass::Oscillation, RuleSubject::Outputs).advising(AdvisedStep::TightenContext),
    params: &[ROUNDS.spec],
    stages: ANY_EVENT,
    ..Rule::of_iterations("output-oscillation", include_str!("output_oscillation.md"), check)
};

/// Longest sequence that is looked for.
const LONGEST: usize = 6;

fn check(situation: &Situation<'_>, setting: &RuleSetting) -> Option<Finding> {
    let outputs = &situation.timeline.activity.outputs;
    let rounds = setting.size(&ROUNDS).max(2);
    let (recent, period) = (2..=LONGEST).find_map(|period| {
        let start = outputs.len().checked_sub(period.saturating_mul(rounds))?;
        let recent = &outputs[start..];
        goes_round(recent, period).then_some((recent, period))
    })?;
    if last_moved(situation.timeline) > recent.first()?.iteration {
        return None;
    }
    let circle = &recent[recent.len() - period..];
    let mut nodes: Vec<String> = Vec::new();
    for said in circle {
        let node = words::bounded(&said.node);
        if !nodes.contains(&node) {
            nodes.push(node);
        }
    }
    let evidence = circle.iter().map(|said| Evidence::Text(format!("output {}", said.hash))).collect();
    let (outputs, times) = (words::count(period, "output"), words::in_a_row(setting.count(&ROUNDS).max(2)));
    let found = match nodes.as_slice() {
        [node] => format!("{node} cycles through the same {outputs}: {times}"),
        nodes => format!("{} answer each other with the same {outputs}: {times}", nodes.join(" and ")),
    };
    Some(Finding { evidence, ..RULE.finding(setting.level, found) })
}

/// Returns whether each output is the one a period before, and no two neighbours say the same: who repeats one answer is for
/// `repeated-output`.
fn goes_round(recent: &[NodeOutput], period: usize) -> bool {
    let said = |one: &NodeOutput| (one.node.clone(), one.kind, one.hash);
    let returns = recent.iter().zip(recent.iter().skip(period)).all(|(one, next)| said(one) == said(next));
    returns && recent.windows(2).all(|pair| pair[0].hash != pair[1].hash)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::testkit::{asked_of, asked_with};
    use crate::domain::{Digest, Event, EventKind, Fact, Output, OutputKind, ParamValue};
    use crate::testkit::{ack, commit, event, folded, turn_end};

    /// `node` said the text of that number.
    fn said(node: &str, text: u8) -> Fact {
        let output = Output { kind: OutputKind::MessageFinal, hash: Some(Digest([text; 32])), lines: None };
        let Fact::Event(own) = event(EventKind::Output(output)) else { unreachable!() };
        Fact::Event(Box::new(Event { node: Some(node.into()), ..*own }))
    }

    /// One node said the texts of these numbers.
    fn row(texts: &[u8]) -> Vec<Fact> {
        texts.iter().map(|text| said("agent", *text)).collect()
    }

    fn message(facts: Vec<Fact>) -> String {
        asked_of(&RULE, &folded(facts)).map(|finding| finding.message()).unwrap_or_default()
    }

    #[test]
    fn one_node_alternates() {
        assert_eq!(message(row(&[1, 2, 1])), "");
        assert_eq!(message(row(&[1, 2, 1, 2])), "agent cycles through the same 2 outputs: 2 times in a row");
        assert_eq!(
            message(row(&[9, 1, 2, 3, 1, 2, 3])),
            "agent cycles through the same 3 outputs: 2 times in a row"
        );
        assert_eq!(message(row(&[1, 2, 1, 2, 3])), "");
        assert_eq!(message(row(&[1, 1, 1, 1])), "", "for repeated-output");
        assert_eq!(message(row(&[1, 1, 2, 1, 1, 2])), "", "neighbours say the same");
        assert_eq!(message(row(&[1, 2, 3, 4, 5, 6, 7, 1, 2, 3, 4, 5, 6, 7])), "", "too long");
    }

    #[test]
    fn nodes_answer_each_other() {
        let talk = |texts: [u8; 4]| {
            let nodes = ["planner", "reviewer", "planner", "reviewer"];
            nodes.iter().zip(texts).map(|(node, text)| said(node, text)).collect::<Vec<_>>()
        };
        assert_eq!(
            message(talk([1, 2, 1, 2])),
            "planner and reviewer answer each other with the same 2 outputs: 2 times in a row"
        );
        assert_eq!(message(talk([1, 2, 3, 2])), "");
    }

    #[test]
    fn new_code_and_answers_begin_anew() {
        let mut facts = row(&[1, 2]);
        facts.insert(0, commit(1).fact());
        let on_old_code = [facts.clone(), vec![turn_end(1)], row(&[1, 2])].concat();
        assert!(!message(on_old_code).is_empty(), "a turn without a change brings nothing new");
        let on_new_code = [facts.clone(), vec![commit(2).fact()], row(&[1, 2])].concat();
        assert_eq!(message(on_new_code), "");
        assert_eq!(message([facts, vec![ack(1)], row(&[1, 2])].concat()), "");
    }

    #[test]
    fn rounds_count() {
        let three = [("rounds", ParamValue::Count(3))];
        assert!(asked_with(&RULE, &folded(row(&[1, 2, 1, 2])), &three).is_none());
        assert!(asked_with(&RULE, &folded(row(&[1, 2, 1, 2, 1, 2])), &three).is_some());
    }
}
