//! `repeated-edit`: the very same edit is asked for again and again.

use crate::detect::{calls, prelude::*};
use crate::domain::Arguments;
use crate::history::{Call, is_edit};

const REPEATS: Param<u64> = Param::count("repeats", 4, 2);

pub(in crate::detect) static RULE: Rule = Rule {
    about: About::nested(EventClass::ToolLoop, RuleSubject::Calls).advising(AdvisedStep::ChangeApproach),
    params: &[REPEATS.spec],
    ..Rule::of_events("repeated-edit", include_str!("repeated_edit.md"), check)
};

fn check(situation: &Situation<'_>, setting: &RuleSetting) -> Option<Finding> {
    let calls = &situation.timeline.activity.calls;
    let edits = |call: &&Call| is_edit(&call.call.tool) && call.call.args == Arguments::Known;
    let newest = calls.iter().rev().find(edits)?;
    let of_node = calls.iter().rev().filter(|call| call.node == newest.node).filter(edits);
    let same =
        |call: &&Call| call.call.hashes.exact == newest.call.hashes.exact && call.state == newest.state;
    let times = words::len(&of_node.take_while(same).collect::<Vec<_>>());
    if times < setting.count(&REPEATS).max(2) {
        return None;
    }
    let (node, named) = (words::bounded(&newest.node), calls::named(&newest.call));
    let message = format!("{node} asked for the same edit {}: {named}", words::in_a_row(times));
    let evidence = vec![calls::evidence(&newest.call)];
    Some(Finding { evidence, ..RULE.finding(setting.level, calls::detail(message, &[newest], times)) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::testkit::{asked_of, asked_with};
    use crate::domain::{CallEnd, CodeId, Event, EventKind, Fact, ParamValue, ToolCall};
    use crate::testkit::{ack, call, commit, event, folded, turn_end};

    fn made(tool: &str, args: u8, end: CallEnd) -> Fact {
        event(EventKind::ToolCall(ToolCall { end, ..call(tool, args, None) }))
    }

    fn edit(args: u8) -> Fact {
        made("Edit", args, CallEnd::Done)
    }

    fn halts(facts: Vec<Fact>) -> bool {
        asked_of(&RULE, &folded(facts)).is_some_and(|finding| finding.level == Level::Halt)
    }

    #[test]
    fn four_in_a_row_halt_whatever_they_are_answered() {
        assert!(!halts(vec![edit(1), edit(1), edit(1)]));
        assert!(halts(vec![edit(1), edit(1), edit(1), edit(1)]));
        assert!(halts(vec![made("Edit", 1, CallEnd::Failed); 4]));
        let finding = asked_of(&RULE, &folded(vec![edit(1); 4])).unwrap();
        assert_eq!(finding.message(), "agent asked for the same edit 4 times in a row: Edit");
    }

    #[test]
    fn an_edit_that_leaves_another_code_behind_is_another_one() {
        let left = |code: u8| {
            let code = Some(CodeId([code; 32]));
            event(EventKind::ToolCall(ToolCall { code, ..call("Edit", 1, None) }))
        };
        assert!(halts(vec![edit(1), left(1), left(1), left(1)]));
        assert!(!halts(vec![edit(1), left(1), left(2), left(3), left(4)]));
        assert!(halts(vec![left(1), left(2), left(2), left(2), left(2)]));
    }

    #[test]
    fn only_another_edit_breaks_the_row() {
        let with = |between: &[Fact]| -> Vec<Fact> {
            (0..4).flat_map(|_| [vec![edit(1)], between.to_vec()].concat()).collect()
        };
        assert!(halts(with(&[made("Read", 9, CallEnd::Done)])));
        assert!(halts(with(&[turn_end(1)])));
        assert!(!halts(with(&[edit(2)])), "a row of two edits is for tool-loop");
        let mut facts = vec![edit(1); 3];
        facts.extend([edit(2), edit(1)]);
        assert!(!halts(facts));
    }

    #[test]
    fn what_proves_nothing() {
        assert!(!halts(vec![made("Bash", 1, CallEnd::Done); 9]), "no edit");
        let blind = ToolCall { args: Arguments::Unknown, ..call("Edit", 1, None) };
        assert!(!halts(vec![event(EventKind::ToolCall(blind)); 9]));
        let answered = [vec![edit(1); 3], vec![ack(1)], vec![edit(1); 3]].concat();
        assert!(!halts(answered), "a person answered");
        let other = |node: &str| {
            let Fact::Event(own) = edit(1) else { unreachable!() };
            Fact::Event(Box::new(Event { node: Some(node.into()), ..*own }))
        };
        assert!(!halts(vec![other("a"), other("b"), other("a"), other("b")]));
    }

    #[test]
    fn commits_do_not_break_it_and_parameters_count() {
        let facts = vec![edit(1), edit(1), commit(1).fact(), edit(1), edit(1)];
        assert!(halts(facts));
        let five = [("repeats", ParamValue::Count(5))];
        assert_eq!(asked_with(&RULE, &folded(vec![edit(1); 4]), &five), None);
    }
}
