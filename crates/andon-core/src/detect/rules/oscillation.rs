//! `oscillation`: the code, or a file of it, goes round in a circle.

use std::collections::BTreeSet;

use crate::detect::excuses::{GOING_BACK, NEWLY_PASS, excuse, flips, is_pull_request, is_switch};
use crate::detect::prelude::*;
use crate::detect::returns::{self, RepeatedSequence, StateStep, Weight};
use crate::domain::{CodeId, Hint, HunkHash};
use crate::history::{
    CodeState, Iteration, PathState, Strike, TRIES, Timeline, come_slowly, lasted, mostly_lasted,
};

const RETURNS: Param<u64> = Param::count("returns", 2, 2);
const PATH_RETURNS: Param<u64> = Param::count("path_returns", 3, 2);
const BESIDE: Param<u64> = Param::count("beside", 8, 2);
const COMEBACKS: Param<u64> = Param::count("comebacks", 3, 2);

/// The demo waits for its warning.
pub static RULE: Rule = Rule {
    reason: HaltReason::Oscillating,
    about: About { counts: Nesting::Found, ..About::new(EventClass::Oscillation) },
    params: &[RETURNS.spec, PATH_RETURNS.spec, BESIDE.spec, COMEBACKS.spec, GOING_BACK.spec],
    ..Rule::of_iterations("oscillation", include_str!("oscillation.md"), check)
};

fn check(situation: &Situation<'_>, setting: &RuleSetting) -> Option<Finding> {
    let timeline = situation.timeline;
    let found = if is_back(timeline) {
        [of_code(timeline, setting), of_a_path(timeline, setting), comebacks(timeline, setting)]
    } else {
        [None, of_a_path(timeline, setting), None]
    };
    // The first of the gravest: the whole code says more than a path.
    found.into_iter().flatten().reduce(|first, next| if next.level > first.level { next } else { first })
}

/// Returns whether the newest state of the code can be part of a cycle or a comeback. Otherwise the code does not go round, and
/// nothing else has to be checked.
fn is_back(timeline: &Timeline) -> bool {
    let Some(newest) = timeline.newest() else { return false };
    let mut before = timeline.iterations.iter().rev().skip_while(|one| one.code == newest.code);
    before.any(|one| one.code == newest.code)
}

/// The weight of each of a row of states, by the iterations that brought them.
fn weights(brought: &[Option<&Iteration>], timeline: &Timeline, setting: &RuleSetting) -> Vec<Weight> {
    let mut weights: Vec<Weight> = Vec::with_capacity(brought.len());
    for one in brought {
        let after_revert = weights.last() == Some(&Weight::Meant);
        let meant = one.is_none_or(|one| {
            one.strike == Strike::Exempt
                || excuse(RULE.id, one, timeline, setting).is_some()
                || (after_revert && is_pull_request(one))
        });
        weights.push(if meant { Weight::Meant } else { Weight::Strike });
    }
    weights
}

/// The limit where too few of the returns count; `otherwise` where some do.
fn meant(round: RepeatedSequence, least: usize, otherwise: Level) -> Option<Limit> {
    let most = if round.strikes() == 0 { Level::Note } else { otherwise };
    let too_few = round.strikes() < round.needed(least);
    too_few.then_some(Limit { most, excuse: "returns on purpose" })
}

fn of_code(timeline: &Timeline, setting: &RuleSetting) -> Option<Finding> {
    let states = timeline.states();
    let brought: Vec<Option<&Iteration>> = states.iter().map(|state| Some(state.brought_by)).collect();
    let weights = weights(&brought, timeline, setting);
    let step = |(state, weight): (&CodeState<'_>, Weight)| StateStep { state: state.code, weight };
    let steps: Vec<StateStep<_>> = states.iter().zip(weights).map(step).collect();
    let least = setting.size(&RETURNS).max(1);
    let round = returns::round(&steps, least)?;
    let limits = [
        meant(round, least, Level::Warn),
        unhurried(round, &brought, least),
        switched(round, timeline, setting).then_some(Limit::warn(SWITCH)),
    ];
    let [.., other, newest] = states.as_slice() else { return None };
    let circle = states.get(states.len().saturating_sub(round.period)..).unwrap_or_default();
    let found = code_message(circle, round);
    let mut evidence: Vec<Evidence> = circle.iter().map(|state| Evidence::Code(state.code)).collect();
    let returning = states.iter().rev().take(round.returns).rev();
    evidence.extend(returning.filter_map(|state| state.brought_by.commit).map(Evidence::Commit));
    let help = words::git_diff(other.brought_by, newest.brought_by);
    let files = files(timeline);
    let help = help.into_iter().collect();
    let found = Finding { files, evidence, help, ..RULE.finding(setting.level, found) };
    Some(found.within(limits.into_iter().flatten()))
}

/// The excuse of one line that goes to and fro.
const SWITCH: &str = "a switch: one line of one file";

/// Returns whether a line is all that goes to and fro, and has not done so for long enough.
fn switched(round: RepeatedSequence, timeline: &Timeline, setting: &RuleSetting) -> bool {
    let states = timeline.states();
    let first = states.len().saturating_sub(round.returns);
    let untold = |first: &CodeState<'_>| gained_since(timeline, first.brought_by.number) == Gain::Unknown;
    is_early(round, setting)
        && (first..states.len()).all(|at| flips(&states, at))
        && states.get(first).is_some_and(untold)
}

/// Returns whether a switch has been set to and fro less often than it takes: one return more than a path.
fn is_early(round: RepeatedSequence, setting: &RuleSetting) -> bool {
    let least = setting.size(&PATH_RETURNS);
    round.period == 2 && round.strikes() <= least
}

/// The files that made the code go round: those that the newest iteration changed.
fn files(timeline: &Timeline) -> Vec<HunkHash> {
    let whole = timeline.newest().and_then(|newest| newest.change.as_ref()).is_some_and(|it| !it.truncated);
    if whole { timeline.newest_paths().collect() } else { Vec::new() }
}

/// The same for each path of the newest commit; the first path that goes round is named with a command that shows it.
fn of_a_path(timeline: &Timeline, setting: &RuleSetting) -> Option<Finding> {
    let found = timeline.newest_paths().filter_map(|path| {
        let states = timeline.path_states(path);
        let (round, limits) = of_states(timeline, path, &states, setting)?;
        let returning = returning(round, &states);
        Some(of_file(path, round, &returning, setting.level).within(limits))
    });
    found.reduce(|first, next| if next.level > first.level { next } else { first })
}

/// The finding about one file.
fn of_file(path: HunkHash, round: RepeatedSequence, returning: &[&Iteration], level: Level) -> Finding {
    let evidence = returning.iter().filter_map(|one| one.commit).map(Evidence::Commit).collect();
    let commits: Vec<String> = returning.iter().filter_map(|one| one.commit).map(|one| one.short()).collect();
    let help = (!commits.is_empty()).then(|| Hint::ShowStat.with([&commits.join(" ")]));
    let help = help.into_iter().collect();
    let (states, returns) = (words::count(round.period, "state"), words::count(round.returns, "return"));
    let message = format!("one file goes back and forth between {states}, {returns}{}", on_purpose(round));
    Finding { files: vec![path], evidence, help, ..RULE.finding(level, message) }
}

/// The iterations that brought the states of a cycle again.
fn returning<'a>(round: RepeatedSequence, states: &[PathState<'a>]) -> Vec<&'a Iteration> {
    let newest = states.get(states.len().saturating_sub(round.returns)..).unwrap_or_default();
    newest.iter().filter_map(|state| state.brought_by).collect()
}

/// The sequence that the states of one path repeat, and the limits of a finding about it.
fn of_states(
    timeline: &Timeline,
    path: HunkHash,
    states: &[PathState<'_>],
    setting: &RuleSetting,
) -> Option<(RepeatedSequence, Vec<Limit>)> {
    let least = setting.size(&PATH_RETURNS).max(1);
    let brought: Vec<Option<&Iteration>> = states.iter().map(|state| state.brought_by).collect();
    let weights = weights(&brought, timeline, setting);
    let step = |(state, weight): (&PathState<'_>, Weight)| StateStep { state: state.state, weight };
    let steps: Vec<StateStep<_>> = states.iter().zip(weights).map(step).collect();
    let round = returns::round(&steps, least)?;
    let returning = returning(round, states);
    if returning.iter().any(|one| timeline.leaves_the_code(one)) {
        return None;
    }
    let gain = lately(timeline, &returning, setting);
    let switch = gain == Gain::Unknown && is_switch(&returning);
    let beside_work = timeline.brings_new_code_beside(path, returning.first()?.number);
    let limits = [
        // A file that is put back on purpose is not reported.
        meant(round, least, Level::Note),
        patient(round, states, least).then_some(Limit::note("returns over many iterations")),
        unhurried(round, &brought, least),
        (switch && is_early(round, setting)).then_some(Limit::warn(SWITCH)),
        // A switch may be set during real work for as long as that lasts.
        (switch && beside_work).then_some(Limit::note(SWITCH)),
        (!switch && beside_work).then(|| beside(round, least, gain, setting)).flatten(),
    ];
    Some((round, limits.into_iter().flatten().collect()))
}

/// Returns the gain of the tests while a file went round. It covers the newest two stretches of `beside` returns, because tests
/// that newly passed long ago excuse nothing.
fn lately(timeline: &Timeline, returning: &[&Iteration], setting: &RuleSetting) -> Gain {
    let newest = setting.size(&BESIDE).saturating_mul(2);
    let from = returning.len().saturating_sub(newest);
    returning.get(from).map_or(Gain::Unknown, |first| gained_since(timeline, first.number))
}

/// The limit for a file that goes round beside other new code: work continues, and newly passing tests show it.
fn beside(round: RepeatedSequence, least: usize, gain: Gain, setting: &RuleSetting) -> Option<Limit> {
    let excuse = "new code beside it";
    let is_late = round.strikes() >= round.needed(least).saturating_add(SLOW);
    match gain {
        Gain::Nothing if round.strikes() >= round.needed(setting.size(&BESIDE)) => None,
        Gain::Nothing | Gain::Unknown if is_late => Some(Limit::warn(excuse)),
        Gain::Nothing | Gain::Unknown => Some(Limit::note(excuse)),
        Gain::NewlyPassing => Some(Limit::note(NEWLY_PASS)),
    }
}

/// The limit by how long each state of a cycle lasted. Where a state lasted so long that the next one was no
/// reaction to it, a person switches something on and off; where no hook recorded the commits and a state lasted for
/// minutes, a person tries something out. Both have to go on for longer.
fn unhurried(round: RepeatedSequence, brought: &[Option<&Iteration>], least: usize) -> Option<Limit> {
    let back = brought.len().saturating_sub(round.returns.saturating_add(1));
    let bringing: Vec<&Iteration> =
        brought.get(back..).unwrap_or_default().iter().copied().flatten().collect();
    let from = brought.len().saturating_sub(round.returns.saturating_add(round.period));
    let circle: Vec<&Iteration> = brought.get(from..).unwrap_or_default().iter().copied().flatten().collect();
    let few = circle.iter().all(|one| one.diff.files <= FEW);
    let all = (bringing.len() > 1 && bringing.windows(2).all(|pair| lasted(pair[0], pair[1])))
        || (few && mostly_lasted(&circle));
    let before = |more: usize| round.strikes() < round.needed(least).saturating_add(more);
    if all && before(SLOW) {
        Some(Limit::note("states that lasted for an hour"))
    } else if before(TRIES) && come_slowly(&bringing) {
        Some(Limit::warn(TRIED_OUT))
    } else {
        None
    }
}

/// Files of a change that is a setting and no work: where a commit is the command to deploy, or has a build elsewhere begin,
/// it is taken back at once now and then.
const FEW: u64 = 3;

/// Between the states of a file that a loop brings there is no more than one other iteration; where there is, it takes
/// `SLOW` returns more.
const NEAR: u64 = 2;
/// See [`NEAR`].
const SLOW: usize = 2;

/// Returns whether a file goes back and forth so slowly that it has to do so for longer: over days of work between people a file
/// is put in, moved and taken out again.
fn patient(round: RepeatedSequence, states: &[PathState<'_>], least: usize) -> bool {
    let back = states.len().saturating_sub(round.returns.saturating_add(1));
    let numbers: Vec<u64> =
        states[back..].iter().filter_map(|state| state.brought_by).map(|one| one.number).collect();
    let slow = numbers.windows(2).any(|pair| pair[1].saturating_sub(pair[0]) > NEAR);
    slow && round.strikes() < round.needed(least).saturating_add(SLOW)
}

/// Returns without a period: to any of the states of the ring.
fn comebacks(timeline: &Timeline, setting: &RuleSetting) -> Option<Finding> {
    let states = timeline.states();
    let newest = states.last()?;
    let brought: Vec<Option<&Iteration>> = states.iter().map(|state| Some(state.brought_by)).collect();
    let back = counted(&states, &weights(&brought, timeline, setting));
    let least = setting.size(&COMEBACKS).max(1);
    let under_judgement = back.last().is_some_and(|last| Some(last.brought_by) == timeline.newest());
    if back.len() < least || !under_judgement {
        return None;
    }
    // Work that is tried out minutes apart comes back more often before it is a loop.
    let since = back.first()?.brought_by.number;
    let row = states.iter().map(|state| state.brought_by).filter(|one| one.number >= since);
    let row: Vec<&Iteration> = row.collect();
    let tries = come_slowly(&row) && back.len() < least.saturating_add(TRIES);
    let mut evidence = vec![Evidence::Code(newest.code)];
    evidence.extend(back.iter().filter_map(|state| state.brought_by.commit).map(Evidence::Commit));
    let (files, times) = (files(timeline), words::times(back.len()));
    let message = format!("the code came back to an earlier state {times} in {AMONG} changes");
    let found = Finding { files, evidence, ..RULE.finding(setting.level, message) };
    Some(found.within(tries.then_some(Limit::warn(TRIED_OUT))))
}

/// The excuse of what a person tries out, minutes apart.
const TRIED_OUT: &str = "commits without hooks, minutes apart";

/// States among which comebacks are counted, the newest.
const AMONG: usize = 10;

/// The states in which the code returned to an earlier state, and that count against the loop; `weights` are those of
/// `states`.
fn counted<'a, 'b>(states: &'b [CodeState<'a>], weights: &[Weight]) -> Vec<&'b CodeState<'a>> {
    let from = states.len().saturating_sub(AMONG);
    let newest = states.last().map(|newest| newest.code);
    // That a line goes there and back once says nothing: each time it may be from another state, which is new.
    let mut seen: BTreeSet<CodeId> = BTreeSet::new();
    let mut before: Option<usize> = None;
    let mut found = Vec::new();
    for (at, state) in states.iter().enumerate().filter(|(at, _)| comes_back(states, *at)) {
        let moved = before.replace(at).is_some_and(|before| came_up_after(states, before, state.code));
        if (at < from && Some(state.code) != newest) || weights.get(at) != Some(&Weight::Strike) {
            continue;
        }
        let again = !seen.insert(state.code);
        if !moved && (again || !flips(states, at)) {
            found.push(state);
        }
    }
    found
}

/// Returns whether the state at index `at` was there before it.
fn comes_back(states: &[CodeState<'_>], at: usize) -> bool {
    let earlier = states.get(..at).unwrap_or_default();
    // A state that lasted for an hour was put back on reflection.
    let left = at.checked_sub(1).and_then(|before| states.get(before));
    states.get(at).is_some_and(|this| {
        let hurried = left.is_none_or(|left| !lasted(left.brought_by, this.brought_by));
        hurried && earlier.iter().any(|earlier| earlier.code == this.code)
    })
}

/// Returns whether `code` is a state that was not there up to index `before`: work went on since then, and something was put on
/// and off on top of it.
fn came_up_after(states: &[CodeState<'_>], before: usize, code: CodeId) -> bool {
    states.iter().position(|state| state.code == code).is_some_and(|first| first > before)
}

/// The sentence about a circle of the code: a halt has to name the commits.
fn code_message(circle: &[CodeState<'_>], round: RepeatedSequence) -> String {
    let changes = round.returns + round.period;
    let gone = match round.period {
        2 => format!("switched between the same two versions {}", words::times(changes)),
        period => {
            let versions = words::count(period, "version");
            format!("gone round the same {versions} in {}", words::count(changes, "change"))
        }
    };
    format!("the code has {gone}{}{}", named(circle), on_purpose(round))
}

/// The states of a circle by their commits, where all are commits; of two states the hashes say enough.
fn named(circle: &[CodeState<'_>]) -> String {
    let commits: Option<Vec<String>> =
        circle.iter().map(|state| state.brought_by.commit.map(|commit| commit.short())).collect();
    match (commits.as_deref().and_then(<[String]>::split_last), circle) {
        (Some((last, before)), _) => format!(" (commits {} and {last})", before.join(", ")),
        (None, [one, other]) => format!(" ({} and {})", one.code.short(), other.code.short()),
        (None, _) => String::new(),
    }
}

/// A clause about returns that were meant.
fn on_purpose(round: RepeatedSequence) -> String {
    let returns = words::count(round.returns, "return");
    match round.meant {
        0 => String::new(),
        meant => format!("; {meant} of {returns} by reverts, relands, releases or merges"),
    }
}

#[cfg(test)]
mod tests;
