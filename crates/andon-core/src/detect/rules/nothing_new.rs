//! `nothing-new`: call after call fails or gets the same answer, each in other words.

use crate::detect::calls::{self, is_told};
use crate::detect::prelude::*;
use crate::{domain::CallEnd, history::Call};

const CALLS: Param<u64> = Param::count("calls", 14, 2);
const WINDOW: Param<u64> = Param::count("window", 20, 2);

pub(in crate::detect) static RULE: Rule = Rule {
    about: About::judging(EventClass::ToolLoop, RuleSubject::Calls).advising(AdvisedStep::ChangeApproach),
    params: &[CALLS.spec, WINDOW.spec],
    ..Rule::of_events("nothing-new", include_str!("nothing_new.md"), check)
};

fn check(situation: &Situation<'_>, setting: &RuleSetting) -> Option<Finding> {
    let all = &situation.timeline.activity.calls;
    let newest = all.last().filter(|call| is_told(call))?;
    let told = all.iter().filter(|call| call.node == newest.node && call.epoch == newest.epoch);
    let told: Vec<&Call> = told.filter(|call| is_told(call)).collect();
    let window = setting.size(&WINDOW);
    let first = told.len().saturating_sub(window);
    let in_vain = |at: &usize| brings_nothing(told[*at], &told[..*at]);
    if words::len(&told[first..]) < setting.count(&CALLS) || !in_vain(&(told.len() - 1)) {
        return None;
    }
    let vain: Vec<&Call> = (first..told.len()).filter(in_vain).map(|at| told[at]).collect();
    let count = words::len(&vain);
    if count < setting.count(&CALLS) {
        return None;
    }
    let newest_of_them = &vain[vain.len().saturating_sub(calls::NAMED)..];
    let (among, named) = (told.len() - first, calls::row(newest_of_them));
    let message = format!(
        "{count} of the last {among} tool calls failed or returned the same answer; the newest of them: {named}"
    );
    let evidence = newest_of_them.iter().map(|call| calls::evidence(&call.call)).collect();
    Some(Finding { evidence, ..RULE.finding(setting.level, calls::detail(message, newest_of_them, count)) })
}

/// Returns whether `call` fails or says what one of those `before` it said.
fn brings_nothing(call: &Call, before: &[&Call]) -> bool {
    let again = before.iter().rev().find(|one| one.call.hashes.exact == call.call.hashes.exact);
    let failed = call.call.end == CallEnd::Failed;
    let differs = |one: &Call| {
        if failed { one.call.moves != call.call.moves } else { one.call.whole != call.call.whole }
    };
    let polls = again.is_some_and(|one| differs(one));
    let same = |one: &&Call| one.call.gist == call.call.gist;
    // The same lines, through a window that grows.
    let rereads =
        |one: &&Call| one.call.asks == call.call.asks && calls::overlap(&one.call.lines, &call.call.lines);
    let known = || call.call.gist.is_some() && before.iter().any(|one| same(one) || rereads(one));
    !polls && (failed || known())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::testkit::{asked_of, asked_with};
    use crate::domain::{Arguments, EventKind, Fact, ParamValue, ShortHash, ToolCall};
    use crate::testkit::{ack, call, event, folded};

    fn fact(args: u8, change: impl Fn(&mut ToolCall)) -> Fact {
        let mut own = call("Bash", args, Some(args));
        change(&mut own);
        event(EventKind::ToolCall(own))
    }

    fn failed(args: u8) -> Fact {
        fact(args, |call| call.end = CallEnd::Failed)
    }

    fn known(args: u8) -> Fact {
        fact(args, |call| call.gist = Some(ShortHash([9; 8])))
    }

    fn news(args: u8) -> Fact {
        fact(100 + args, |_| {})
    }

    fn message(facts: Vec<Fact>) -> String {
        asked_of(&RULE, &folded(facts)).map(|finding| finding.message()).unwrap_or_default()
    }

    #[test]
    fn fourteen_of_twenty_halt() {
        assert_eq!(message((0..13).map(failed).collect()), "");
        let all = "14 of the last 14 tool calls failed or returned the same answer; the newest of them: Bash; Bash; Bash";
        assert_eq!(message((0..14).map(failed).collect()), all);
        assert_eq!(message((0..14).map(known).collect()), "", "the first of them was new");
        assert!(!message((0..15).map(known).collect()).is_empty());
        let mixed = |news_in: u8| {
            let one = |at: u8| if at % 20 < news_in { news(at) } else { failed(at) };
            message((0..20).map(one).collect())
        };
        assert!(!mixed(6).is_empty());
        assert_eq!(mixed(7), "");
        let ended = (0..19).map(failed).chain([news(1)]).collect();
        assert_eq!(message(ended), "", "the newest brings something");
    }

    #[test]
    fn a_window_that_grows_reads_the_same() {
        let window = |first: u64, last: u64, at: u8| {
            fact(at, |call| {
                call.asks = Some(ShortHash([1; 8]));
                call.lines = (first..last).map(|line| line.wrapping_mul(0x9e37_79b9) % (1 << 32)).collect();
                call.lines.sort_unstable();
                call.lines.truncate(8);
            })
        };
        let pages = (0..40).map(|at| window(u64::from(at) * 40, u64::from(at) * 40 + 40, at));
        assert_eq!(message(pages.collect()), "", "page by page");
        let grows = (0..30).map(|at| window(0, 40 + 4 * u64::from(at), at));
        assert!(!message(grows.collect()).is_empty());
    }

    #[test]
    fn what_proves_nothing() {
        let quiet = |args| fact(args, |call| (call.result, call.gist) = (None, None));
        assert_eq!(message((0..30).map(quiet).collect()), "");
        let blind = |args| fact(args, |call| (call.args, call.end) = (Arguments::Unknown, CallEnd::Failed));
        assert_eq!(message((0..30).map(blind).collect()), "");
        let polled = |at: u8| fact(1, |call| (call.moves, call.end) = (vec![u64::from(at)], CallEnd::Failed));
        assert_eq!(message((0..30).map(polled).collect()), "");
        let clock = |at: u8| {
            fact(1, |call| (call.gist, call.whole) = (Some(ShortHash([9; 8])), Some(ShortHash([at; 8]))))
        };
        assert_eq!(message((0..30).map(clock).collect()), "", "times in the answer");
        let edit = |at: u8| event(EventKind::ToolCall(call("Edit", at, None)));
        let repaired = (0..30).flat_map(|at| if at % 10 == 0 { vec![edit(at)] } else { vec![failed(at)] });
        assert_eq!(message(repaired.collect()), "");
        let written =
            (0..30).map(|at| if at % 10 == 0 { fact(at, |call| call.writes = true) } else { failed(at) });
        assert_eq!(message(written.collect()), "");
        let answered = (0..13).map(failed).chain([ack(1)]).chain((0..13).map(failed));
        assert_eq!(message(answered.collect()), "", "a person answered");
    }

    #[test]
    fn parameters_count() {
        let asked = |name, value| {
            let timeline = folded((0..14).map(failed).collect());
            asked_with(&RULE, &timeline, &[(name, ParamValue::Count(value))]).is_some()
        };
        assert!(!asked("calls", 15));
        assert!(!asked("window", 13));
    }
}
