//! `tool-loop`: the same tool calls, or the same row of them, again and again.

use std::fmt;

use crate::detect::rule::{ANY_EVENT, Docs, Reads, Rule};
use crate::detect::situation::Situation;
use crate::detect::words;
use crate::domain::about::{About, Advice, EventClass};
use crate::domain::detail::{Figures, Found};
use crate::domain::escalation::Signal;
use crate::domain::events::Arguments;
use crate::domain::findings::{Evidence, Finding, HaltReason, Level, ReportFile};
use crate::domain::ids::ShortHash;
use crate::domain::settings::{Param, RuleSetting, Word};
use crate::domain::suggestion::AdvisedStep;
use crate::history::{Call, Newest, Timeline, is_edit};

pub(in crate::detect) const SOFT: Param<u64> = Param::count("soft", 3, 2, "Identical calls that warn.");
pub(in crate::detect) const HARD: Param<u64> = Param::count("hard", 5, 2, "Identical calls that halt.");
pub(in crate::detect) const INFINITE: Param<u64> =
    Param::count("infinite", 10, 2, "Identical calls that halt with BLOCKER_REPORT.md.");
pub(in crate::detect) const WINDOW: Param<u64> = Param::count("window", 10, 2, "Newest calls that count.");
pub(in crate::detect) const ROUNDS: Param<u64> =
    Param::count("rounds", 3, 2, "Times that a row of calls comes.");
pub(in crate::detect) const SIGNATURE: Param<Word> = Param::word(
    "signature",
    "full",
    &["full", "coarse"],
    "What is compared: all of a call, or its coarse form.",
);

pub(in crate::detect) static RULE: Rule = Rule {
    id: "tool-loop",
    summary: "identical tool calls among the last 10: 3 warn, 5 halt, 10 halt with a report",
    docs: Docs {
        trips: "Calls of one node are identical when tool, arguments (whatever the order of keys) and answer \
                are the same, with times and ids in the answer masked. Where no answer is known, tool and \
                arguments decide. A call without known arguments proves nothing. Among the last `window` \
                calls, `soft` identical ones warn (SOFT_LOOP), `hard` halt (HARD_LOOP) and `infinite` halt \
                with BLOCKER_REPORT.md (INFINITE_LOOP). A sequence of 2 to 12 calls repeated `rounds` times \
                running halts as well (HARD_LOOP). So does one tool that gave the same answer `infinite` \
                times in a row whatever it was asked (HARD_LOOP; from `hard` times on SOFT_LOOP). A new edit, \
                a commit or changed code starts the count anew, and so does a new session. Polling whose answers \
                change is no loop, and be it that only what is masked in them rises or falls each time (a time \
                that elapsed, a count of rows, a line number).",
        why: "In 113 agent runs that solved their task, five identical calls in a row came twice, both real \
              loops. Five among ten tripped 9 of 98 healthy runs, and none once a new edit starts the count \
              anew.",
        source: "docs/spec-map.md: Loop rules, loop detection; settled choice 4",
        example: "`Bash(cargo test)` with the same output for the fifth time, and no edit in between, halts.",
        tune: "`tool-loop = { soft = 4, hard = 6, infinite = 12, window = 12 }`. With `signature = \
               \"coarse\"` editing tools are compared by file name, commands by their words without paths, \
               and others by tool alone.",
    },
    level: Level::Halt,
    reason: HaltReason::Stalled,
    report_file: ReportFile::Checkpoint,
    about: About {
        advice: Advice::Own(
            AdvisedStep::ChangeApproach,
            "tell the agent what that call answers, and ask for another approach",
        ),
        signal: Some(Signal::ToolLoop),
        ..About::of(EventClass::ToolLoop)
    },
    params: &[SOFT.spec, HARD.spec, INFINITE.spec, WINDOW.spec, ROUNDS.spec, SIGNATURE.spec],
    stages: ANY_EVENT,
    reads: Reads::Totals,
    check,
};

/// Longest row of calls that is looked for.
const MAX_PERIOD: usize = 12;

/// How bad it is (docs/spec-map.md, loop rules: detection level).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Grade {
    Soft,
    Hard,
    Infinite,
}

/// A call as it is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Signature {
    Full(ShortHash, Option<ShortHash>),
    Coarse(ShortHash),
}

fn check(situation: &Situation<'_>, setting: &RuleSetting) -> Option<Finding> {
    let activity = &situation.timeline.activity;
    let (newest, grade, pattern) = graded(situation.timeline, setting)?;
    // A warning is said at the call, and not again at whatever follows it, be it a call that tells nothing.
    let at_call = activity.newest == Newest::Call && activity.calls.last().is_some_and(is_told);
    let said = grade == Grade::Soft && !at_call;
    (!said).then(|| finding(setting, newest, grade, pattern))
}

/// Whether the newest calls are a loop of any grade: the signal for `co-occurrence`.
pub(in crate::detect) fn is_loop(timeline: &Timeline, setting: &RuleSetting) -> bool {
    graded(timeline, setting).is_some()
}

fn graded<'a>(timeline: &'a Timeline, setting: &RuleSetting) -> Option<(&'a Call, Grade, Pattern)> {
    let activity = &timeline.activity;
    let newest = activity.calls.iter().rev().find(|call| is_told(call))?;
    let coarse = setting.word(&SIGNATURE) == "coarse";
    let of_node = activity.calls.iter().filter(|call| call.node == newest.node && is_told(call));
    // The coarse form does not see what an edit says, so that an edit cannot be told from a new one.
    let calls: Vec<&Call> = of_node.filter(|call| coarse || call.epoch == newest.epoch).collect();
    let signatures: Vec<Signature> = calls.iter().map(|call| signature(call, coarse)).collect();
    if is_moving(&calls, &signatures, setting) {
        return None;
    }
    let of_calls = graver(identical(&signatures, setting), row(&signatures, setting));
    let (grade, pattern) = graver(of_calls, same_answer(&calls, setting))?;
    Some((newest, grade, pattern))
}

/// Whether the arguments of a call are known. Otherwise it proves nothing: two calls may be anything but the same.
fn is_told(call: &Call) -> bool {
    call.call.args == Arguments::Known
}

/// What goes round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pattern {
    /// One call, among that many.
    Identical { times: u64, among: usize },
    /// A row of that many calls.
    Row { calls: usize, times: u64 },
    /// The answer of one tool.
    SameAnswer { times: u64 },
}

/// A loop of calls of one tool.
#[derive(Debug)]
struct Loop {
    grade: Grade,
    tool: String,
    pattern: Pattern,
}

impl fmt::Display for Loop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.grade {
            Grade::Soft => "SOFT_LOOP",
            Grade::Hard => "HARD_LOOP",
            Grade::Infinite => "INFINITE_LOOP",
        };
        write!(f, "{name}: {}: ", self.tool)?;
        match self.pattern {
            Pattern::Identical { times, among } => {
                write!(f, "{times} identical calls among the last {among}")
            }
            Pattern::Row { calls, times } => {
                write!(f, "the same sequence of {calls} calls came {times} times in a row")
            }
            Pattern::SameAnswer { times } => write!(f, "the same answer {times} times in a row"),
        }
    }
}

impl Found for Loop {
    fn figures(&self) -> Figures {
        let (Pattern::Identical { times, .. } | Pattern::Row { times, .. } | Pattern::SameAnswer { times }) =
            self.pattern;
        Figures::Calls { tool: self.tool.clone(), count: times }
    }
}

/// The graver of two patterns, the first of equals.
fn graver(one: Option<(Grade, Pattern)>, other: Option<(Grade, Pattern)>) -> Option<(Grade, Pattern)> {
    match (one, other) {
        (Some((mine, _)), Some((theirs, _))) if theirs > mine => other,
        (Some(_), _) => one,
        (None, _) => other,
    }
}

fn signature(call: &Call, coarse: bool) -> Signature {
    let call = &call.call;
    match call.result {
        _ if coarse => Signature::Coarse(call.coarse),
        Some(answer) => Signature::Full(call.masked, Some(answer)),
        None => Signature::Full(call.exact, None),
    }
}

/// Whether the answers of calls like the newest one only rise or only fall in what masks hide of them: somebody watches
/// something that moves.
fn is_moving(calls: &[&Call], signatures: &[Signature], setting: &RuleSetting) -> bool {
    let hard = usize::try_from(setting.count(&HARD)).unwrap_or(usize::MAX);
    let newest = signatures.last();
    let like = calls.iter().zip(signatures).rev().filter(|(_, one)| Some(*one) == newest);
    let moves: Vec<Option<u64>> = like.take(hard).map(|(call, _)| call.call.moves).collect();
    let each = |way: fn(u64, u64) -> bool| {
        moves.windows(2).all(|pair| pair[0].zip(pair[1]).is_some_and(|(newer, older)| way(newer, older)))
    };
    moves.len() > 1 && (each(|newer, older| newer > older) || each(|newer, older| newer < older))
}

/// How often the newest call came among the last `window`.
fn identical(signatures: &[Signature], setting: &RuleSetting) -> Option<(Grade, Pattern)> {
    let window = usize::try_from(setting.count(&WINDOW)).unwrap_or(usize::MAX);
    let recent = &signatures[signatures.len().saturating_sub(window)..];
    let newest = recent.last()?;
    let times = words::len(&recent.iter().filter(|one| *one == newest).collect::<Vec<_>>());
    let grade = if times >= setting.count(&INFINITE) {
        Grade::Infinite
    } else if times >= setting.count(&HARD) {
        Grade::Hard
    } else if times >= setting.count(&SOFT) {
        Grade::Soft
    } else {
        return None;
    };
    Some((grade, Pattern::Identical { times, among: recent.len() }))
}

/// A row of 2 to 12 calls that came `rounds` times in a row.
fn row(signatures: &[Signature], setting: &RuleSetting) -> Option<(Grade, Pattern)> {
    let rounds = usize::try_from(setting.count(&ROUNDS)).unwrap_or(usize::MAX);
    let period = (2..=MAX_PERIOD).find(|period| {
        let length = period.saturating_mul(rounds);
        let Some(start) = signatures.len().checked_sub(length) else { return false };
        let recent = &signatures[start..];
        recent.iter().zip(recent.iter().skip(*period)).all(|(one, next)| one == next)
            && recent.iter().any(|one| Some(one) != recent.first())
    });
    period.map(|calls| (Grade::Hard, Pattern::Row { calls, times: setting.count(&ROUNDS) }))
}

/// One tool gives the same answer whatever it is asked.
fn same_answer(calls: &[&Call], setting: &RuleSetting) -> Option<(Grade, Pattern)> {
    let newest = calls.last().filter(|call| call.call.result.is_some() && !is_edit(&call.call.tool))?;
    let same = |call: &&&Call| call.call.tool == newest.call.tool && call.call.result == newest.call.result;
    let times = words::len(&calls.iter().rev().take_while(same).collect::<Vec<_>>());
    let grade = if times >= setting.count(&INFINITE) {
        Grade::Hard
    } else if times >= setting.count(&HARD) {
        Grade::Soft
    } else {
        return None;
    };
    Some((grade, Pattern::SameAnswer { times }))
}

fn finding(setting: &RuleSetting, newest: &Call, grade: Grade, pattern: Pattern) -> Finding {
    let (level, report_file) = match grade {
        Grade::Soft => (setting.level.min(Level::Warn), ReportFile::Checkpoint),
        Grade::Hard => (setting.level, ReportFile::Checkpoint),
        Grade::Infinite => (setting.level, ReportFile::BlockerReport),
    };
    let tool = words::bounded(&newest.call.tool);
    let mut evidence = vec![Evidence::Text(format!("call {}", newest.call.exact))];
    evidence.extend(newest.call.result.map(|answer| Evidence::Text(format!("answer {answer}"))));
    Finding {
        report_file,
        evidence,
        help: vec!["do something else than this call: its answer is known by now".to_owned()],
        ..RULE.finding(level, Loop { grade, tool, pattern })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::testkit::{asked_of, asked_with};
    use crate::domain::events::{ToolCall, What};
    use crate::domain::facts::Fact;
    use crate::domain::settings::ParamValue;
    use crate::history::testkit::{ack, call, commit, event, folded, turn_end};

    /// A call of `Bash` with arguments and an answer.
    fn bash(args: u8, answer: u8) -> Fact {
        event(What::ToolCall(call("Bash", args, Some(answer))))
    }

    fn edit(args: u8) -> Fact {
        event(What::ToolCall(call("Edit", args, None)))
    }

    fn blind(args: u8) -> Fact {
        event(What::ToolCall(call("Bash", args, None)))
    }

    fn said(facts: Vec<Fact>) -> String {
        let found = asked_of(&RULE, &folded(facts));
        found.map_or_else(String::new, |finding| {
            format!("{} {}", finding.level.as_str(), finding.message().split(':').next().unwrap_or_default())
        })
    }

    #[test]
    fn the_grades_are_those_of_the_document() {
        for (times, expected) in [
            (2, ""),
            (3, "warn SOFT_LOOP"),
            (4, "warn SOFT_LOOP"),
            (5, "halt HARD_LOOP"),
            (9, "halt HARD_LOOP"),
            (10, "halt INFINITE_LOOP"),
            (30, "halt INFINITE_LOOP"),
        ] {
            assert_eq!(said(vec![bash(1, 1); times]), expected, "{times}");
            assert_eq!(said(vec![blind(1); times]), expected, "{times} without answers");
        }
        let infinite = asked_of(&RULE, &folded(vec![bash(1, 1); 10])).map(|finding| finding.report_file);
        assert_eq!(infinite, Some(ReportFile::BlockerReport));
    }

    #[test]
    fn calls_without_known_arguments_prove_nothing() {
        let unknown = |tool: &str, answer| {
            event(What::ToolCall(ToolCall { args: Arguments::Unknown, ..call(tool, 1, answer) }))
        };
        assert_eq!(said(vec![unknown("Bash", None); 30]), "");
        assert_eq!(said(vec![unknown("Bash", Some(1)); 30]), "", "whatever they answer");
        let between: Vec<Fact> = (0..5).flat_map(|_| [bash(1, 1), unknown("Bash", None)]).collect();
        assert_eq!(said(between), "halt HARD_LOOP", "nor do they hide those that are known");
        assert_eq!(said(vec![bash(1, 1), bash(1, 1), bash(1, 1), unknown("Bash", None)]), "", "said before");
        let edits = (0..9).flat_map(|_| [unknown("Edit", None), bash(1, 1)]).collect();
        assert_eq!(said(edits), "", "an edit that nobody tells of may be a new one");
    }

    #[test]
    fn interleaved_calls_count_and_a_long_way_apart_they_do_not() {
        let every = |step: u8| -> Vec<Fact> {
            (0..5_u8)
                .flat_map(|round| {
                    (1..step).map(move |other| bash(100 + round * step + other, round)).chain([bash(1, 1)])
                })
                .collect()
        };
        assert_eq!(said(every(2)), "halt HARD_LOOP");
        assert_eq!(said(every(3)), "warn SOFT_LOOP", "4 of 10");
        assert_eq!(said(every(5)), "", "2 of 10");
    }

    #[test]
    fn polling_whose_answers_change_is_no_loop() {
        assert_eq!(said((0..30).map(|answer| bash(1, answer)).collect()), "");
        assert_eq!(said((0..30).map(|answer| bash(1, answer / 2)).collect()), "");
    }

    #[test]
    fn what_masks_hide_may_move() {
        let moving = |values: &[u64]| {
            let one = |value: &u64| {
                event(What::ToolCall(ToolCall { moves: Some(*value), ..call("Bash", 1, Some(1)) }))
            };
            said(values.iter().map(one).collect())
        };
        assert_eq!(moving(&[30, 60, 90, 120, 150, 180, 210, 240, 270, 300, 330]), "");
        assert_eq!(moving(&[9, 8, 7, 6, 5, 4]), "");
        assert_eq!(moving(&[12, 31, 8, 22, 14]), "halt HARD_LOOP", "jitter");
        assert_eq!(moving(&[5, 5, 5, 5, 5]), "halt HARD_LOOP");
    }

    #[test]
    fn another_session_begins_the_count_anew() {
        let start = || event(What::Cleared(crate::domain::events::Clearing::SessionStart));
        let read = || [start(), bash(1, 1), bash(1, 1)];
        assert_eq!(said([read(), read(), read()].concat()), "");
        assert_eq!(said(vec![bash(1, 1); 5]), "halt HARD_LOOP");
    }

    #[test]
    fn a_new_edit_begins_the_count_anew_and_an_old_one_does_not() {
        let tests_after_each_edit = (0..20).flat_map(|number| [edit(number), bash(200, 1)]).collect();
        assert_eq!(said(tests_after_each_edit), "");
        let same_edit = (0..6).flat_map(|_| [edit(7), bash(200, 1)]).collect();
        assert_eq!(said(same_edit), "halt HARD_LOOP");
        let ping_pong = (0..9).map(|number| edit(number % 2)).collect();
        assert_eq!(said(ping_pong), "halt HARD_LOOP");
        assert_eq!(said(vec![bash(1, 1), bash(1, 1), commit(1).fact(), bash(1, 1)]), "");
        assert_eq!(said(vec![turn_end(1), bash(1, 1), bash(1, 1), turn_end(2), bash(1, 1)]), "");
        assert_eq!(said(vec![bash(1, 1), bash(1, 1), ack(1), bash(1, 1)]), "");
    }

    #[test]
    fn rows_of_two_to_twelve_calls_trip_at_the_third_round() {
        for period in 2..=12_u8 {
            let rounds = |rounds: u8| -> String {
                said((0..rounds * period).map(|at| bash(at % period, at % period)).collect())
            };
            assert_ne!(rounds(2), "halt HARD_LOOP", "{period}");
            assert_eq!(rounds(3), "halt HARD_LOOP", "{period}");
        }
        let thirteen: Vec<Fact> = (0..39).map(|at| bash(at % 13, at % 13)).collect();
        assert_eq!(said(thirteen), "", "longer rows are not looked for");
    }

    #[test]
    fn the_same_answer_to_ever_other_questions() {
        let asked = |times: u8| said((0..times).map(|args| bash(args, 9)).collect());
        assert_eq!([asked(4), asked(5), asked(10)], ["", "warn SOFT_LOOP", "halt HARD_LOOP"]);
    }

    #[test]
    fn the_coarse_form_is_an_option() {
        let line = folded((0..5).map(edit).collect());
        let with =
            |is| asked_with(&RULE, &line, &[("signature", ParamValue::Word { is, of: &["full", "coarse"] })]);
        assert!(with("full").is_none());
        assert_eq!(with("coarse").map(|finding| finding.level), Some(Level::Halt));
    }

    #[test]
    fn the_thresholds_are_parameters() {
        let line = folded(vec![bash(1, 1); 4]);
        let count = |name, count| asked_with(&RULE, &line, &[(name, ParamValue::Count(count))]);
        assert_eq!(count("hard", 4).map(|finding| finding.level), Some(Level::Halt));
        assert!(count("soft", 5).is_none());
        assert!(count("window", 2).is_none());
        let rows = folded((0..4).map(|at| bash(at % 2, at % 2)).collect());
        let found = asked_with(&RULE, &rows, &[("rounds", ParamValue::Count(2))]);
        assert_eq!(found.map(|finding| finding.level), Some(Level::Halt));
        let found = asked_with(&RULE, &line, &[("infinite", ParamValue::Count(4))]);
        assert_eq!(found.map(|finding| finding.report_file), Some(ReportFile::BlockerReport));
    }
}
