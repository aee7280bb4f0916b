//! What to do next, chosen from the evidence (`loop-safety.md`, `suggestedActions`).
//!
//! A list that is the same for every halt is not read. Each line names the test, the commits or the key
//! that this halt is about.

use super::decide::reason_of;
use crate::domain::briefing::PROMPT;
use crate::domain::findings::{Finding, HaltReason};
use crate::history::{Timeline, failing_count};

/// Characters of a test name that a suggestion shows.
const NAME_CHARS: usize = 120;

/// Suggestions for the halt that `finding` makes, the likeliest first. They may hold untrusted text:
/// the renderer escapes.
pub fn suggested_actions(finding: &Finding, timeline: &Timeline) -> Vec<String> {
    let mut actions = match reason_of(finding) {
        HaltReason::Stalled => stalled(finding, timeline),
        HaltReason::Oscillating => oscillating(timeline),
        HaltReason::RepeatedError => failing(timeline),
        HaltReason::BudgetExceeded => budget(finding, timeline),
        HaltReason::UserStop => {
            return vec![
                "ask the person who stopped the loop; when it may go on: andon resume --reason TEXT"
                    .to_owned(),
            ];
        }
    };
    actions.extend(best(timeline));
    actions.push(
        "switch to interactive: go on together with a person, then: andon resume --reason TEXT".to_owned(),
    );
    actions
}

fn stalled(finding: &Finding, timeline: &Timeline) -> Vec<String> {
    // What an agent did within its turns says more than what its last commit changed.
    let within = match finding.rule {
        "tool-loop" => Some("tell the agent what that call answers, and ask for another approach"),
        "repeated-output" => {
            Some("tighten the context: give the node what it does not know, and drop what it repeats")
        }
        "idle-turns" => Some("say in the task which file has to change, or call it done: andon complete"),
        _ => None,
    };
    if let Some(action) = within {
        return std::iter::once(action.to_owned()).chain(failing(timeline)).collect();
    }
    let repeats = match timeline.newest() {
        Some(newest) if newest.diff.empty => {
            Some("say in the task which file has to change: the last iterations changed nothing")
        }
        Some(_) if !fails(timeline) => {
            Some("say in the task what is missing: the last iterations made the same change again")
        }
        Some(_) | None => None,
    };
    repeats.map(str::to_owned).into_iter().chain(failing(timeline)).collect()
}

fn fails(timeline: &Timeline) -> bool {
    timeline.newest_tests().is_some_and(|tests| !tests.is_green())
}

/// The test to read first, and who else might.
fn failing(timeline: &Timeline) -> Vec<String> {
    let Some(tests) = timeline.newest_tests().filter(|tests| !tests.is_green()) else {
        return vec!["hand the task to another session or model, with this file as its context".to_owned()];
    };
    let read = match tests.failing.first() {
        Some(name) => {
            format!("read the whole error of the first failing test, {}: andon test", bounded(name))
        }
        None => "read the whole output of the test command: andon test".to_owned(),
    };
    let mut actions = vec![read];
    if tests.failing.len() > 1 {
        actions.push("narrow the task to that one test before the others".to_owned());
    }
    actions.push("hand the task to another session or model, with this file as its context".to_owned());
    actions
}

/// The two states between which the code goes back and forth, by name.
fn oscillating(timeline: &Timeline) -> Vec<String> {
    let states = timeline.states();
    let mut actions = Vec::new();
    if let [.., other, newest] = states.as_slice()
        && let (Some(other), Some(newest)) = (other.newest.commit, newest.newest.commit)
    {
        actions.push(format!("choose between the two states: git diff {} {}", other.short(), newest.short()));
    }
    actions.push(
        "write down what each of the two states is for: one of them undoes what the other needs".to_owned(),
    );
    if let [.., before, newest] = timeline.iterations.as_slice()
        && before.node != newest.node
    {
        actions.push(format!(
            "spawn a reconciliation node: {} and {} undo each other's work",
            bounded(&before.node),
            bounded(&newest.node)
        ));
    }
    if fails(timeline) {
        actions.extend(failing(timeline));
    }
    actions
}

fn budget(finding: &Finding, timeline: &Timeline) -> Vec<String> {
    if finding.rule == "context-window" {
        return vec![format!("compact the context window, or begin a new session with: {PROMPT}")];
    }
    let raised = timeline.number().saturating_mul(2).max(2);
    let raise = match finding.rule {
        "iteration-cap" => {
            format!("raise the cap in andon.toml, under [rules]:  {} = {{ max = {raised} }}", finding.rule)
        }
        rule => format!("raise the budget of {rule} in andon.toml, under [rules] or in [workflow]"),
    };
    let split = "split the task: commit what is done and start a new session for the rest".to_owned();
    let trend = timeline.trend();
    match (trend.first(), trend.last()) {
        (Some(first), Some(last)) if last < first => vec![raise, split],
        (Some(_), Some(_)) | (None, _) | (_, None) => vec![split, raise],
    }
}

/// The way back to the commit with the fewest failing tests, where the newest one has more.
fn best(timeline: &Timeline) -> Option<String> {
    let (commit, failing) = timeline.best()?;
    let now = timeline.newest_tests().and_then(failing_count);
    if now.is_some_and(|now| now <= failing) || timeline.newest()?.commit == Some(commit) {
        return None;
    }
    let noun = if failing == 1 { "test" } else { "tests" };
    let short = commit.short();
    Some(format!(
        "go on from the best state so far ({failing} failing {noun}): git switch -c andon-{short} {short}"
    ))
}

fn bounded(name: &str) -> String {
    name.chars().take(NAME_CHARS).collect()
}
