//! `same-refusal`: the agent gets the same refusal again and again, for different calls.

use crate::detect::calls::{self, is_moving};
use crate::detect::prelude::*;
use crate::domain::{CallEnd, ToolCall};
use crate::history::Call;

const REPEATS: Param<u64> = Param::count("repeats", 6, 2);
const MISSING: Param<u64> = Param::count("missing", 4, 2);
const FAILED: Param<u64> = Param::count("failed", 12, 2);
const COMMAND: Param<u64> = Param::count("command", 8, 2);

pub(in crate::detect) static RULE: Rule = Rule {
    reason: HaltReason::RepeatedError,
    about: About::nested(EventClass::ToolLoop, RuleSubject::Calls).advising(AdvisedStep::ChangeApproach),
    params: &[REPEATS.spec, MISSING.spec, FAILED.spec, COMMAND.spec],
    ..Rule::of_events("same-refusal", include_str!("same_refusal.md"), check)
};

/// The newest similar calls whose answers are checked for movement.
const POLLED: usize = 5;

/// In which way the agent is refused.
#[derive(Debug, Clone, Copy)]
enum RefusalKind {
    SameAnswer,
    /// A program is not there.
    Missing,
    /// Each time in another way.
    Failed,
    /// One call, each time in another way.
    SameCall,
}

fn message(way: RefusalKind, times: u64, newest: &ToolCall) -> String {
    let tool = words::bounded(&newest.tool);
    let what = match way {
        RefusalKind::SameAnswer => {
            format!("{tool} was refused in the same way {}, the last time", words::in_a_row(times))
        }
        RefusalKind::Missing => {
            let program = newest.program.as_deref();
            let missing = program.map(|program| format!("{program}, which is not installed;"));
            let missing = missing.as_deref().unwrap_or("a program that is not installed;");
            format!("{tool} tried {} to run {missing} the last time", words::times(times))
        }
        RefusalKind::Failed => format!("{} in a row failed, the last one", words::count(times, "call")),
        RefusalKind::SameCall => {
            format!("the same call failed {}, each with an error of its own", words::times(times))
        }
    };
    format!("{what}: {}", calls::named(newest))
}

fn check(situation: &Situation<'_>, setting: &RuleSetting) -> Option<Finding> {
    let calls = &situation.timeline.activity.calls;
    let newest = calls.last()?;
    let of_node: Vec<&Call> = calls.iter().rev().filter(|call| call.node == newest.node).collect();
    let row = |same: &dyn Fn(&Call) -> bool| {
        let in_row = of_node.iter().take_while(|call| call.state == newest.state && same(call));
        words::len(&in_row.collect::<Vec<_>>())
    };
    let (refusal, answer) = (newest.call.refusal, newest.call.result);
    let alike = |call: &Call| {
        call.call.refusal.is_some() && (call.call.refusal == refusal || call.call.result == answer)
    };
    let same = if refusal.is_some() { row(&alike) } else { 0 };
    // The caller waits for something that fails until it exists.
    let polled = of_node.iter().copied().filter(|call| call.call.hashes.exact == newest.call.hashes.exact);
    if is_moving(polled, POLLED) {
        return None;
    }
    let failed = row(&|call| call.call.end == CallEnd::Failed);
    let missing = newest.call.missing.map_or(0, |program| {
        words::len(&of_node.iter().filter(|call| call.call.missing == Some(program)).collect::<Vec<_>>())
    });
    let most = |limit| setting.count(limit).max(2);
    let (way, times) = if missing >= most(&MISSING) {
        (RefusalKind::Missing, missing)
    } else if same >= most(&REPEATS) {
        (RefusalKind::SameAnswer, same)
    } else if failed >= most(&FAILED) {
        (RefusalKind::Failed, failed)
    } else if failing_alike(&of_node) >= most(&COMMAND) {
        (RefusalKind::SameCall, failing_alike(&of_node))
    } else {
        return None;
    };
    let message = message(way, times, &newest.call);
    let evidence = calls::with_answer(&newest.call);
    Some(Finding { evidence, ..RULE.finding(setting.level, calls::detail(message, &[newest], times)) })
}

/// Times in a row that the newest call failed while nothing was edited; other calls in between do not matter.
fn failing_alike(newest_first: &[&Call]) -> u64 {
    let Some(newest) = newest_first.first().filter(|call| calls::is_told(call)) else { return 0 };
    let (exact, epoch) = (newest.call.hashes.exact, newest.epoch);
    let alike = newest_first.iter().filter(|call| call.call.hashes.exact == exact && call.epoch == epoch);
    words::len(&alike.take_while(|call| call.call.end == CallEnd::Failed).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::testkit::{asked_of, asked_with};
    use crate::domain::{EventKind, Fact, ParamValue, ShortHash, ToolCall};
    use crate::testkit::{ack, call, event, folded};

    fn fact(args: u8, change: impl Fn(&mut ToolCall)) -> Fact {
        let mut own = call("Bash", args, Some(args));
        change(&mut own);
        event(EventKind::ToolCall(own))
    }

    fn refused(args: u8, how: u8) -> Fact {
        fact(args, |call| call.refusal = Some(ShortHash([how; 8])))
    }

    fn failed(args: u8) -> Fact {
        fact(args, |call| (call.end, call.refusal) = (CallEnd::Failed, Some(ShortHash([args; 8]))))
    }

    fn missing(args: u8, program: u8) -> Fact {
        fact(args, |call| call.missing = Some(ShortHash([program; 8])))
    }

    fn message(facts: Vec<Fact>) -> String {
        asked_of(&RULE, &folded(facts)).map(|finding| finding.message()).unwrap_or_default()
    }

    #[test]
    fn the_same_refusal_of_different_calls() {
        assert_eq!(message((0..5).map(|args| refused(args, 1)).collect()), "");
        let six = message((0..6).map(|args| refused(args, 1)).collect());
        assert_eq!(six, "Bash was refused in the same way 6 times in a row, the last time: Bash");
        assert_eq!(message((0..9).map(|args| refused(args, args / 5)).collect()), "", "another refusal");
        let between = (0..6).flat_map(|args| [refused(args, 1), fact(args, |_| {})]).collect();
        assert_eq!(message(between), "", "something worked in between");
        let answered =
            (0..5).map(|args| refused(args, 1)).chain([ack(1)]).chain((0..5).map(|args| refused(args, 1)));
        assert_eq!(message(answered.collect()), "", "a person answered");
    }

    #[test]
    fn a_program_that_is_not_there() {
        let calls =
            |times: u8| (0..times).flat_map(|args| [fact(100 + args, |_| {}), missing(args, 7)]).collect();
        assert_eq!(message(calls(3)), "");
        assert_eq!(
            message(calls(4)),
            "Bash tried 4 times to run a program that is not installed; the last time: Bash"
        );
        assert_eq!(message((0..5).map(|args| missing(args, args)).collect()), "", "each time another one");
    }

    #[test]
    fn the_program_and_the_last_call_are_named() {
        let of = |args: u8| {
            fact(args, |call| {
                call.missing = Some(ShortHash([7; 8]));
                call.program = Some("pytest".to_owned());
                call.shown = Some(format!("Bash: pytest {args}"));
            })
        };
        assert_eq!(
            message((0..4).map(of).collect()),
            "Bash tried 4 times to run pytest, which is not installed; the last time: Bash: pytest 3"
        );
    }

    #[test]
    fn many_failures_of_any_kind() {
        assert_eq!(message((0..11).map(failed).collect()), "");
        assert_eq!(message((0..12).map(failed).collect()), "12 calls in a row failed, the last one: Bash");
        let broken = (0..11).map(failed).chain([fact(1, |_| {})]).chain((0..11).map(failed));
        assert_eq!(message(broken.collect()), "");
    }

    #[test]
    fn one_call_fails_with_ever_other_errors() {
        let once =
            |how: u8| fact(1, |call| (call.end, call.refusal) = (CallEnd::Failed, Some(ShortHash([how; 8]))));
        let with = |between: fn(u8) -> Fact, times: u8| {
            message((0..times).flat_map(|at| [between(at), once(at)]).collect())
        };
        let look = |at: u8| fact(100 + at, |_| {});
        assert_eq!(with(look, 7), "");
        assert_eq!(with(look, 8), "the same call failed 8 times, each with an error of its own: Bash");
        let edit = |at: u8| event(EventKind::ToolCall(call("Edit", 100 + at, None)));
        assert_eq!(with(edit, 8), "", "it is being repaired");
    }

    #[test]
    fn parameters_count() {
        let facts: Vec<Fact> = (0..6).map(|args| refused(args, 1)).collect();
        let seven = [("repeats", ParamValue::Count(7))];
        assert!(asked_with(&RULE, &folded(facts), &seven).is_none());
    }
}
