//! The doors that take a whole story at once: a stream of events, and a range of commits.

use serde_json::Value;

use super::live::{Moment, OutcomeSpan};
use super::outcomes::{Outcome, ReportedFact, outcome};
use crate::support::{Stage, andon_path};
use andon_core::domain::Stage as Place;

/// `replay --events`: what is said of each moment that is a fact.
pub fn stream(stage: &Stage, moments: &[Moment]) -> Vec<OutcomeSpan> {
    let facts: Vec<(usize, &Value)> = moments
        .iter()
        .enumerate()
        .filter_map(|(number, moment)| match &moment.reported {
            ReportedFact::Line(line) | ReportedFact::Commit(line) | ReportedFact::Answer(line) => {
                Some((number, line))
            }
            ReportedFact::Refused => None,
        })
        .collect();
    let text: String = facts.iter().map(|(_, line)| format!("{line}\n")).collect();
    stage.set_clock(moments.last().map_or(0, |moment| moment.at));
    let args = ["replay", "--events", "-", "--format", "json"];
    let out = stage.run_in(stage.dir(), andon_path(), &args, Some(text.as_bytes())).ok();
    assert_eq!(out.stderr, "", "{text}");
    let lines: Vec<Value> = out.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), facts.len(), "{out}");
    facts
        .iter()
        .zip(&lines)
        .map(|((at, _), line)| OutcomeSpan { from: *at, to: *at, outcome: outcome(line) })
        .collect()
}

/// `replay RANGE`: what is said of each commit. A halt is taken as answered at once.
pub fn range(stage: &Stage, moments: &[Moment]) -> Vec<OutcomeSpan> {
    let commits: Vec<usize> =
        (0..moments.len()).filter(|at| matches!(moments[*at].reported, ReportedFact::Commit(_))).collect();
    if commits.is_empty() {
        return Vec::new();
    }
    let range = format!("HEAD~{}..HEAD", commits.len());
    let out = stage.andon(&["replay", &range, "--format", "json"]).ok();
    let lines: Vec<Value> = out.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), commits.len(), "{out}");
    commits
        .iter()
        .zip(&lines)
        .map(|(at, line)| OutcomeSpan { from: *at, to: *at, outcome: outcome(line) })
        .collect()
}

/// What is left of `outcome` without the rules that speak at gates alone: a stream has none.
pub fn beyond_gates(outcome: &Outcome) -> Outcome {
    let reported = |rule: &&String| {
        let id = rule.split(' ').nth(1).unwrap_or_default();
        andon_core::detect::rule(id).is_some_and(|rule| rule.stages.contains(&Place::Replay))
    };
    Outcome { rules: outcome.rules.iter().filter(reported).cloned().collect(), ..outcome.clone() }
}
