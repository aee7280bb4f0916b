//! Holds the doors against each other.

use std::collections::BTreeSet;

use super::doors::{beyond_gates, range, stream};
use super::live::{Moment, OutcomeSpan, Way, live};
use super::outcomes::{Outcome, ReportedFact};
use super::story::{Answers, Back, Making, Step, Story};

/// What came of a story.
pub struct Comparison {
    /// What differs between the doors, in words.
    pub differ: Vec<String>,
    /// Levels and rules that hooks came to.
    pub reached: BTreeSet<String>,
}

/// What differs between the doors.
pub fn differences(story: &Story) -> Vec<String> {
    tell(story).differ
}

/// Lives through a story at every door.
pub fn tell(story: &Story) -> Comparison {
    let (moments, _, stage) = live(story, Way::Hooks);
    let reached = moments.iter().flat_map(|moment| moment.outcome.rules.iter().cloned()).collect();
    let mut found = Vec::new();
    if is_history(story) && !tested_afterwards(&moments) {
        compare("replay RANGE", &moments, &range(&stage, &moments), &mut found);
    }
    let told = told_to_a_stream(story, &moments);
    let by_stream = stream(&stage, &moments).into_iter().take_while(|one| one.to < told).collect::<Vec<_>>();
    compare("replay --events", &moments, &by_stream, &mut found);
    let ways = [("line by line", Way::Lines(&moments)), ("in one batch", Way::Batch(&moments))];
    for (door, way) in ways {
        match std::panic::catch_unwind(|| live(story, way)) {
            Ok((_, outcomes, _)) => compare(door, &moments, &outcomes, &mut found),
            Err(cause) => {
                let why = cause.downcast_ref::<String>().cloned().unwrap_or_default();
                found.push(format!("{door}: another story: {why}"));
            }
        }
    }
    Comparison { differ: found, reached }
}

/// Whether commits, their records and answers at once are all there is to tell.
fn is_history(story: &Story) -> bool {
    story.answers == Answers::AtOnce
        && story.steps.iter().all(|step| match step {
            Step::Edit(..)
            | Step::Comment(..)
            | Step::Doc(_)
            | Step::Test(_)
            | Step::Commit(Making::New)
            | Step::Answer
            | Step::Pause(_)
            | Step::Session(_)
            | Step::Node(_) => true,
            Step::Commit(Making::Amend | Making::Bypass | Making::Revert)
            | Step::Move(_)
            | Step::Spend(_)
            | Step::Compact
            | Step::End
            | Step::Call(..)
            | Step::Output(_)
            | Step::Vote(..)
            | Step::Usage(_)
            | Step::Start
            | Step::Tick => false,
        })
}

/// Whether tests on the code of a commit said something after it that its record does not hold.
fn tested_afterwards(moments: &[Moment]) -> bool {
    let reported = |moments: &[Moment], kind: &str| -> Vec<serde_json::Value> {
        let lines = moments.iter().filter_map(|moment| match &moment.reported {
            ReportedFact::Line(line) | ReportedFact::Commit(line) if line["type"] == kind => {
                Some(line.clone())
            }
            ReportedFact::Line(_)
            | ReportedFact::Commit(_)
            | ReportedFact::Answer(_)
            | ReportedFact::Refused => None,
        });
        lines.collect()
    };
    (0..moments.len()).any(|at| {
        let newest = reported(&moments[..at], "commit").pop().map(|commit| commit["code"].clone());
        let Some(now) = reported(&moments[at..=at], "test_run").pop() else { return false };
        let runs = reported(&moments[..at], "test_run");
        let before = runs.iter().rfind(|run| run["code"] == now["code"]);
        let same =
            |run: &serde_json::Value| run["status"] == now["status"] && run["failing"] == now["failing"];
        newest.as_ref() == Some(&now["code"]) && !before.is_some_and(same)
    })
}

/// How many moments come before what a stream is not told: that HEAD left a branch whose newest commit passed its tests. In
/// a repository that branch is a task done, and counts no more (`engine::attempts`); a stream knows of no branches.
fn told_to_a_stream(story: &Story, moments: &[Moment]) -> usize {
    let line = |moment: &Moment, kind: &str| match &moment.reported {
        ReportedFact::Line(line) | ReportedFact::Commit(line) if line["type"] == kind => Some(line.clone()),
        ReportedFact::Line(_) | ReportedFact::Commit(_) | ReportedFact::Answer(_) | ReportedFact::Refused => {
            None
        }
    };
    let leaves = |step: usize| {
        let before = || moments.iter().filter(move |moment| moment.step < step);
        let commit = before().filter_map(|moment| line(moment, "commit")).next_back();
        let code = commit.map(|commit| commit["code"].clone());
        let mut runs = before().filter_map(|moment| line(moment, "test_run"));
        runs.rfind(|run| Some(&run["code"]) == code.as_ref()).is_some_and(|run| run["status"] == "passed")
    };
    let left =
        story.steps.iter().enumerate().find(|(at, step)| **step == Step::Move(Back::Branch) && leaves(*at));
    left.map_or(moments.len(), |(step, _)| moments.iter().take_while(|moment| moment.step < step).count())
}

fn compare(door: &str, moments: &[Moment], outcomes: &[OutcomeSpan], found: &mut Vec<String>) {
    for one in outcomes {
        let Some(known) = moments.get(one.from..=one.to) else {
            found.push(format!("{door}: another story from moment {} on", one.from));
            return;
        };
        let expected = together(known);
        let (Some(expected), Some(last)) = (expected, known.last()) else { continue };
        let batch = known.len() > 1;
        let why = differs(&expected, &beyond_gates(&one.outcome), batch);
        if !why.is_empty() {
            let what = match &last.reported {
                ReportedFact::Line(line) | ReportedFact::Commit(line) | ReportedFact::Answer(line) => {
                    line["type"].to_string()
                }
                ReportedFact::Refused => "refused commit".to_owned(),
            };
            found.push(format!("{door}: step {} ({what}): {}", last.step, why.join("; ")));
            return;
        }
    }
}

/// What hooks said of these moments, taken together: the gravest counts.
fn together(moments: &[Moment]) -> Option<Outcome> {
    let mut all = moments.iter().map(|moment| beyond_gates(&moment.outcome));
    let mut whole = all.next()?;
    for next in all {
        // The unanswered halt is the one at the end.
        let halt = next.halt.clone();
        whole = Outcome { halt, ..if rank(&next) > rank(&whole) { next } else { whole } };
    }
    Some(whole)
}

fn rank(outcome: &Outcome) -> usize {
    let verdicts = ["allow", "warn", "block", "halt"];
    let verdict = outcome.verdict.as_deref().unwrap_or("allow");
    verdicts.iter().position(|known| *known == verdict).unwrap_or(verdicts.len())
}

/// What differs between what hooks say and what a door says.
fn differs(hooks: &Outcome, door: &Outcome, batch: bool) -> Vec<String> {
    let mut why = Vec::new();
    // `andon test` and `andon resume` decide nothing.
    let both = hooks.verdict.is_some() && door.verdict.is_some();
    if both && hooks.verdict != door.verdict {
        why.push(format!(
            "hooks {:?} {:?}, door {:?} {:?}",
            hooks.verdict, hooks.rules, door.verdict, door.rules
        ));
    } else if both && hooks.reason != door.reason {
        why.push(format!("reason: hooks {:?}, door {:?}", hooks.reason, door.reason));
    } else if both && !batch && hooks.verdict.as_deref() != Some("halt") && hooks.rules != door.rules {
        why.push(format!("rules: hooks {:?}, door {:?}", hooks.rules, door.rules));
    }
    if let (Some(one), Some(other)) = (hooks.iteration, door.iteration)
        && one != other
    {
        why.push(format!("iteration: hooks {one}, door {other}"));
    }
    if let (Some(one), Some(other)) = (&hooks.halt, &door.halt)
        && one != other
    {
        why.push(format!("halt: hooks {one:?}, door {other:?}"));
    }
    why
}

/// The shortest part of a story in which the doors still differ.
pub fn shortest(story: &Story) -> Story {
    let mut story = story.clone();
    let mut size = story.steps.len().div_ceil(2);
    while size > 0 {
        let mut at = 0;
        while at < story.steps.len() {
            let mut shorter = story.clone();
            shorter.steps.drain(at..(at + size).min(story.steps.len()));
            if differences(&shorter).is_empty() {
                at += size;
            } else {
                story = shorter;
            }
        }
        size = if size == 1 { 0 } else { size.div_ceil(2) };
    }
    story
}
