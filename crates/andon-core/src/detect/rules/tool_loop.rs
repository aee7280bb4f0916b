//! `tool-loop`: the same tool calls, or the same row of them, again and again.

use crate::detect::calls::{self, is_moving, is_told};
use crate::detect::prelude::*;
use crate::domain::{Arguments, CallEnd, RuleSettings, ShortHash, ToolCall};
use crate::history::{Call, NewestObservation, Timeline};

pub(in crate::detect) const SOFT: Param<u64> = Param::count("soft", 3, 2).sense(Sense::Warns);
const HARD: Param<u64> = Param::count("hard", 5, 2);
const INFINITE: Param<u64> = Param::count("infinite", 10, 2);
const WINDOW: Param<u64> = Param::count("window", 10, 2).sense(Sense::Wider);
const ROUNDS: Param<u64> = Param::count("rounds", 3, 2);
const WAITS: Param<u64> = Param::count("waits", 64, 2);
const SIGNATURE: Param<Word> = Param::word("signature", "full", &["full", "coarse"]);

pub(in crate::detect) static RULE: Rule = Rule {
    reason: HaltReason::RepeatedError,
    about: About {
        signal: Some(Signal::ToolLoop),
        ..About::judging(EventClass::ToolLoop, RuleSubject::Calls).advising(AdvisedStep::ChangeApproach)
    },
    params: &[SOFT.spec, HARD.spec, INFINITE.spec, WINDOW.spec, ROUNDS.spec, WAITS.spec, SIGNATURE.spec],
    ..Rule::of_events("tool-loop", include_str!("tool_loop.md"), check)
};

/// Longest row of calls that is looked for.
const MAX_PERIOD: usize = 12;

/// The grade of a loop (docs/spec-map.md, loop rules: detection level).
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

/// Returns whether `call` of `node` has its like among the calls since the code last changed, as far as that is known. Then it is
/// worth a look at the working tree whether the code is still the same: `soft` calls are a row.
pub fn is_repeated(
    timeline: &Timeline,
    settings: &RuleSettings,
    node: Option<&str>,
    call: &ToolCall,
) -> bool {
    let soft = RULE.setting(settings).size(&SOFT);
    let activity = &timeline.activity;
    let node = node.unwrap_or_else(|| activity.current_node());
    let both = |one: Option<ShortHash>, other| one.is_some() && one == other;
    let is_like = |one: &ToolCall| {
        one.hashes.exact == call.hashes.exact
            || both(one.refusal, call.refusal)
            || both(one.gist, call.gist)
            || (both(one.asks, call.asks) && calls::overlap(&one.lines, &call.lines))
            || (one.end == CallEnd::Failed && call.end == CallEnd::Failed)
    };
    let known = activity.calls.iter().filter(|one| one.node == node && one.epoch == activity.epoch);
    // The second last of a row, and this one.
    known.filter(|one| is_like(&one.call)).count() + 2 >= soft
}

fn check(situation: &Situation<'_>, setting: &RuleSetting) -> Option<Finding> {
    let activity = &situation.timeline.activity;
    let waits = |call: &&Call| call.waited > 0 && call.call.args == Arguments::Known;
    let waiting = activity.calls.last().filter(waits);
    let (round, grade, pattern) = match waiting {
        Some(newest) => waited(newest, setting)?,
        None => graded(situation.timeline, setting)?,
    };
    // A warning is given at the call, and not again at later events, such as a call without meaning.
    let is_meant = waiting.is_some() || activity.calls.last().is_some_and(is_told);
    let at_call = activity.newest == NewestObservation::Call && is_meant;
    let said = grade == Grade::Soft && !at_call;
    (!said).then(|| finding(setting, &round, grade, pattern)).flatten()
}

/// Returns whether the newest calls are a loop of any grade: the signal for `co-occurrence`.
pub(in crate::detect) fn is_loop(timeline: &Timeline, setting: &RuleSetting) -> bool {
    graded(timeline, setting).is_some()
}

fn graded<'a>(timeline: &'a Timeline, setting: &RuleSetting) -> Option<(Vec<&'a Call>, Grade, Pattern)> {
    let activity = &timeline.activity;
    let newest = activity.calls.iter().rev().find(|call| is_told(call))?;
    let coarse = setting.word(&SIGNATURE) == "coarse";
    // Subagents begin with an empty memory: each reads for itself what the others have read.
    let same = |call: &&Call| call.node == newest.node && call.call.by == newest.call.by && is_told(call);
    let of_node = activity.calls.iter().filter(same);
    // The coarse form does not see the content of an edit, so that a repeated edit looks like a new one.
    let calls: Vec<&Call> = of_node.filter(|call| coarse || call.epoch == newest.epoch).collect();
    let signature = |Call { call, .. }: &&Call| {
        if coarse {
            Signature::Coarse(call.hashes.coarse)
        } else {
            Signature::Full(call.hashes.exact, call.result)
        }
    };
    let signatures: Vec<Signature> = calls.iter().map(signature).collect();
    let like = calls.iter().zip(&signatures).rev().filter(|(_, one)| Some(*one) == signatures.last());
    let hard = setting.size(&HARD);
    if is_moving(like.map(|(call, _)| *call), hard) {
        return None;
    }
    let (grade, pattern) = graver(identical(&signatures, setting), row(&signatures, setting))?;
    let round = match pattern {
        Pattern::Identical { .. } | Pattern::Wait { .. } => 1,
        Pattern::Row { calls, .. } => calls,
    };
    Some((calls[calls.len().saturating_sub(round)..].to_vec(), grade, pattern))
}

/// A row of calls that waits: it is reported, and halts only where it goes on for very long.
fn waited<'a>(newest: &'a Call, setting: &RuleSetting) -> Option<(Vec<&'a Call>, Grade, Pattern)> {
    let times = newest.waited.saturating_add(1);
    let grade = if times >= setting.count(&WAITS) { Grade::Hard } else { Grade::Soft };
    (times >= setting.count(&INFINITE)).then(|| (vec![newest], grade, Pattern::Wait { times }))
}

/// A repetition of calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pattern {
    /// One call, among that many.
    Identical { times: u64, among: usize },
    /// A row of that many calls.
    Row { calls: usize, times: u64 },
    /// One call that takes its time.
    Wait { times: u64 },
}

impl Pattern {
    fn times(self) -> u64 {
        match self {
            Self::Identical { times, .. } | Self::Row { times, .. } | Self::Wait { times } => times,
        }
    }
}

fn message(pattern: Pattern, round: &[&Call]) -> String {
    let what = match pattern {
        Pattern::Identical { times, among } if usize::try_from(times) == Ok(among) => {
            format!("the last {times} tool calls were the same")
        }
        Pattern::Identical { times, among } => {
            format!("{times} of the last {among} tool calls were the same")
        }
        Pattern::Wait { times } => format!("{} waited for another answer", words::count(times, "tool call")),
        Pattern::Row { calls, times } => {
            format!("the same sequence of {} came {}", words::count(calls, "call"), words::in_a_row(times))
        }
    };
    format!("{what}: {}", calls::row(round))
}

/// The graver of two patterns, the first of equals.
fn graver(one: Option<(Grade, Pattern)>, other: Option<(Grade, Pattern)>) -> Option<(Grade, Pattern)> {
    match (one, other) {
        (Some((mine, _)), Some((theirs, _))) if theirs > mine => other,
        (Some(_), _) => one,
        (None, _) => other,
    }
}

/// The repetition of the newest call among the last `window`.
fn identical(signatures: &[Signature], setting: &RuleSetting) -> Option<(Grade, Pattern)> {
    let window = setting.size(&WINDOW);
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
    let rounds = setting.size(&ROUNDS);
    let period = (2..=MAX_PERIOD).find(|period| {
        let length = period.saturating_mul(rounds);
        let Some(start) = signatures.len().checked_sub(length) else { return false };
        let recent = &signatures[start..];
        recent.iter().zip(recent.iter().skip(*period)).all(|(one, next)| one == next)
            && recent.iter().any(|one| Some(one) != recent.first())
    });
    period.map(|calls| (Grade::Hard, Pattern::Row { calls, times: setting.count(&ROUNDS) }))
}

/// The finding about the repeated calls, oldest first.
fn finding(setting: &RuleSetting, round: &[&Call], grade: Grade, pattern: Pattern) -> Option<Finding> {
    let newest = &round.last()?.call;
    let (level, report_file) = match grade {
        Grade::Soft => (setting.level.min(Level::Warn), ReportFile::Checkpoint),
        Grade::Hard => (setting.level, ReportFile::Checkpoint),
        Grade::Infinite => (setting.level, ReportFile::BlockerReport),
    };
    let (message, times) = (message(pattern, round), pattern.times());
    let evidence = match round {
        [_] => calls::with_answer(newest),
        round => round.iter().map(|call| calls::evidence(&call.call)).collect(),
    };
    let mut found =
        Finding { report_file, evidence, ..RULE.finding(level, calls::detail(message, round, times)) };
    if let Pattern::Wait { .. } = pattern {
        found.help = vec![
            "wait longer between two of them; a person may name the command in [agents] waits".to_owned(),
        ];
    }
    Some(found)
}

#[cfg(test)]
mod tests;
