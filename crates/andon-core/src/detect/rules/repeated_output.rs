//! `repeated-output`: a node says the same again and again.

use crate::detect::{prelude::*, progress::last_moved};
use crate::history::NodeOutput;

const REPEATS: Param<u64> = Param::count("repeats", 3, 2);

pub(in crate::detect) static RULE: Rule = Rule {
    about: About::nested(EventClass::Stall, RuleSubject::Outputs).advising(AdvisedStep::TightenContext),
    params: &[REPEATS.spec],
    stages: ANY_EVENT,
    ..Rule::of_iterations("repeated-output", include_str!("repeated_output.md"), check)
};

fn check(situation: &Situation<'_>, setting: &RuleSetting) -> Option<Finding> {
    let outputs = &situation.timeline.activity.outputs;
    let newest = outputs.last()?;
    let of_this = outputs.iter().rev().filter(|said| said.node == newest.node && said.kind == newest.kind);
    let mut same: Vec<&NodeOutput> = of_this.take_while(|said| said.hash == newest.hash).collect();
    let repeats = setting.count(&REPEATS).max(1);
    if words::len(&same) < repeats {
        return None;
    }
    let since = last_moved(situation.timeline);
    same.retain(|said| said.iteration >= since);
    let times = words::len(&same);
    if times < repeats {
        return None;
    }
    let (node, times) = (words::bounded(&newest.node), words::in_a_row(times));
    let message = format!("{node} gave the same {} {times}", newest.kind.as_str());
    let evidence = vec![Evidence::Text(format!("output {}", newest.hash))];
    Some(Finding { evidence, ..RULE.finding(setting.level, message) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::testkit::{asked_of, asked_with};
    use crate::domain::{Digest, Event, EventKind, Fact, Output, OutputKind, ParamValue};
    use crate::testkit::{ack, commit, event, folded, green, red, turn_end};

    fn said(hash: u8) -> Fact {
        event(EventKind::Output(Output {
            kind: OutputKind::MessageFinal,
            hash: Some(Digest([hash; 32])),
            lines: None,
        }))
    }

    /// Too short to have a hash.
    fn short() -> Fact {
        event(EventKind::Output(Output { kind: OutputKind::MessageFinal, hash: None, lines: Some(1) }))
    }

    fn by(node: &str, fact: Fact) -> Fact {
        let Fact::Event(event) = fact else { return fact };
        Fact::Event(Box::new(Event { node: Some(node.into()), ..*event }))
    }

    fn structured(hash: u8) -> Fact {
        event(EventKind::Output(Output {
            kind: OutputKind::StructuredOutput,
            hash: Some(Digest([hash; 32])),
            lines: None,
        }))
    }

    #[test]
    fn three_running_trip() {
        let table: Vec<(&str, Vec<Fact>, bool)> = vec![
            ("none", vec![], false),
            ("two", vec![said(1), said(1)], false),
            ("three", vec![said(1), said(1), said(1)], true),
            ("with turns in between", vec![said(1), turn_end(1), said(1), turn_end(1), said(1)], true),
            ("with new code in between", vec![said(1), turn_end(1), said(1), turn_end(2), said(1)], false),
            ("short ones in between", vec![said(1), short(), said(1), short(), said(1)], true),
            ("short ones alone", vec![short(), short(), short(), short()], false),
            ("another in between", vec![said(1), said(1), said(2), said(1)], false),
            ("over", vec![said(1), said(1), said(1), said(2)], false),
            ("another kind in between", vec![said(1), structured(9), said(1), structured(8), said(1)], true),
            (
                "another node in between",
                vec![said(1), by("b", said(2)), by("agent", said(1)), by("b", said(3)), by("agent", said(1))],
                true,
            ),
            ("an answer in between", vec![said(1), said(1), ack(1), said(1)], false),
        ];
        for (name, facts, expected) in table {
            assert_eq!(asked_of(&RULE, &folded(facts)).is_some(), expected, "{name}");
        }
    }

    #[test]
    fn new_code_and_new_results_begin_the_count_anew() {
        let work = |states: [u8; 3], failing: [&[&str]; 3]| {
            let one = |(state, failing): (u8, &[&str])| {
                let tests = if failing.is_empty() { green(state, 9) } else { red(state, failing, 9) };
                [said(7), commit(state).diff(state).tests(tests).fact()]
            };
            let mut facts: Vec<Fact> = vec![commit(1).tests(red(1, &["a"], 9)).fact()];
            facts.extend(states.into_iter().zip(failing).flat_map(one));
            facts.push(said(7));
            asked_of(&RULE, &folded(facts)).is_some()
        };
        assert!(work([1, 1, 1], [&["a"]; 3]), "nothing moves");
        assert!(!work([2, 3, 4], [&["a"]; 3]), "for `repeated-failures`");
        assert!(!work([2, 3, 4], [&["a", "b"], &["c"], &["d"]]), "other tests fail each time");
        assert!(!work([2, 3, 4], [&[]; 3]), "all is well each time");
        assert!(!work([1, 1, 1], [&["a", "b"], &["b"], &[]]), "other results on the same code");
    }

    #[test]
    fn the_threshold_is_a_parameter() {
        let line = folded(vec![said(1), said(1)]);
        let with = |repeats| asked_with(&RULE, &line, &[("repeats", ParamValue::Count(repeats))]);
        assert_eq!(
            with(2).map(|finding| finding.message()).as_deref(),
            Some("agent gave the same message.final 2 times in a row")
        );
        assert!(with(3).is_none());
    }
}
