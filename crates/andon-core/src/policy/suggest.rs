//! The next steps, chosen from the evidence (docs/spec-map.md, loop safety: `suggestedActions`).
//!
//! People do not read a list that is the same for every halt. Each line names the test, the commits or the key that
//! this halt is about.

use super::reason_of;
use crate::domain::{
    Advice, AdvisedStep, EventClass, Finding, HaltReason, Hint, RuleSubject, Suggestion, about::section,
    escalation::splits_running, plural::count,
};
use crate::escape::first;
use crate::history::{Timeline, failing_count};

/// Characters of a test name that a suggestion shows.
const NAME_CHARS: usize = 120;

/// Suggestions for the halt that `finding` makes, the likeliest first. They may hold untrusted text:
/// the renderer escapes.
pub fn suggested_actions(finding: &Finding, timeline: &Timeline) -> Vec<Suggestion> {
    let mut actions = match reason_of(finding) {
        HaltReason::Stalled => stalled(finding, timeline),
        HaltReason::Oscillating => oscillating(finding, timeline),
        HaltReason::RepeatedError => own(finding).into_iter().chain(failing(timeline)).collect(),
        HaltReason::BudgetExceeded => budget(finding, timeline),
        HaltReason::UserStop => {
            let ask = Hint::Answer.led("ask the person who stopped the loop; when it may go on");
            return vec![Suggestion::new(AdvisedStep::AskPerson, ask)];
        }
    };
    actions.extend(best(timeline));
    actions.extend(red_before(finding, timeline));
    let together = Hint::Answer.led("pair with a person on this, then run");
    actions.push(Suggestion::new(AdvisedStep::SwitchToInteractive, together));
    actions
}

fn stalled(finding: &Finding, timeline: &Timeline) -> Vec<Suggestion> {
    // An agent's calls within its turns say more than its last commit.
    if let Some(own) = own(finding) {
        return std::iter::once(own).chain(failing(timeline)).collect();
    }
    // Runs of the tests within a turn, each on other code, are no iterations: none of those changed nothing or repeats a change.
    if finding.about.judges == RuleSubject::Attempts {
        return read_first(&timeline.activity.red.failing);
    }
    // No other words in the task settle a matter on which reviewers cannot agree.
    if splits_running(&timeline.verdict_rounds(u64::MAX)) > 0 {
        let text =
            "spawn a reconciliation node: it writes down what the reviewers disagree about, and decides it";
        let reconcile = Suggestion::new(AdvisedStep::Reconcile, text);
        return std::iter::once(reconcile).chain(failing(timeline)).collect();
    }
    let repeats = match timeline.newest() {
        Some(newest) if newest.diff.empty && finding.about.judges != RuleSubject::Tests => {
            Some("say in the task which file has to change: the last iterations changed nothing")
        }
        Some(_) if !fails(timeline) => {
            Some("add what is missing to the task: the last iterations repeat the same change")
        }
        Some(_) | None => None,
    };
    let repeats = repeats.map(|text| Suggestion::new(AdvisedStep::ClarifyTask, text));
    repeats.into_iter().chain(failing(timeline)).collect()
}

/// The step that the rule itself advises.
fn own(finding: &Finding) -> Option<Suggestion> {
    match finding.about.advice {
        Advice::Own(step) => Some(Suggestion::new(step, section(finding.page, "Advice"))),
        Advice::ByReason | Advice::RaiseMax => None,
    }
}

fn fails(timeline: &Timeline) -> bool {
    timeline.newest_tests().is_some_and(|tests| !tests.is_green())
}

fn hand_over() -> Suggestion {
    Suggestion::new(AdvisedStep::HandOver, "give the task and this file to a fresh session or another model")
}

/// The test to read first, and who else might.
fn failing(timeline: &Timeline) -> Vec<Suggestion> {
    let red = timeline.newest_tests().filter(|tests| !tests.is_green());
    red.map_or_else(|| vec![hand_over()], |tests| read_first(&tests.failing))
}

fn read_first(failing: &[String]) -> Vec<Suggestion> {
    let read = failing.first().map_or_else(
        || Hint::Test.led("read the full output of the test command"),
        |name| Hint::Test.led(&format!("read the full error of {}", first(name, NAME_CHARS))),
    );
    let mut actions = vec![Suggestion::new(AdvisedStep::ReadFirstError, read)];
    if failing.len() > 1 {
        let narrow = "narrow the task to that one test before the others";
        actions.push(Suggestion::new(AdvisedStep::NarrowTask, narrow));
    }
    actions.push(hand_over());
    actions
}

/// Most tests that are named as red before.
const RED_BEFORE: usize = 5;

/// The line for tests that failed in each run since the loop began: they may have been red before.
fn red_before(finding: &Finding, timeline: &Timeline) -> Option<Suggestion> {
    let tests = timeline.newest_tests().filter(|_| finding.about.event == EventClass::NoProgress)?;
    let runs = timeline.iterations.iter().filter_map(|one| one.tests.as_ref());
    let failed = |id| runs.clone().all(|tests| tests.compared().any(|own| own == id));
    let known = !tests.truncated && !tests.failing.is_empty() && tests.failing.len() <= RED_BEFORE;
    if !known || !tests.compared().all(failed) {
        return None;
    }
    // A text of JSON is one of TOML as well.
    let names = serde_json::to_string(&tests.failing).ok()?;
    let text = format!(
        "if that was red before the loop began, answer with --mistaken, or add under [test] in andon.toml:  known_red = {names}"
    );
    Some(Suggestion::new(AdvisedStep::NameKnownRed, text))
}

/// The two states between which the code goes back and forth, by name.
fn oscillating(finding: &Finding, timeline: &Timeline) -> Vec<Suggestion> {
    if let Some(own) = own(finding) {
        return std::iter::once(own).chain(between_nodes(timeline)).collect();
    }
    let states = timeline.states();
    let mut actions = Vec::new();
    if let [.., other, newest] = states.as_slice()
        && let (Some(other), Some(newest)) = (other.newest.commit, newest.newest.commit)
    {
        let choose =
            format!("choose between the two states: {}", Hint::Diff.with([&other.short(), &newest.short()]));
        actions.push(Suggestion::new(AdvisedStep::ChooseState, choose));
    }
    let explain = "write down what each of the two states is for: one of them undoes what the other needs";
    actions.push(Suggestion::new(AdvisedStep::ExplainStates, explain));
    actions.extend(between_nodes(timeline));
    if fails(timeline) {
        actions.extend(failing(timeline));
    }
    let decide =
        "update the documents: write into the plan or the contract which of the states holds, and why";
    actions.push(Suggestion::new(AdvisedStep::UpdateDocs, decide));
    actions
}

/// A node between two that undo each other's work.
fn between_nodes(timeline: &Timeline) -> Option<Suggestion> {
    let [.., before, newest] = timeline.iterations.as_slice() else { return None };
    let (one, other) = (first(&before.node, NAME_CHARS), first(&newest.node, NAME_CHARS));
    let reconcile = format!("spawn a reconciliation node: {one} and {other} undo each other's work");
    (before.node != newest.node).then(|| Suggestion::new(AdvisedStep::Reconcile, reconcile))
}

fn budget(finding: &Finding, timeline: &Timeline) -> Vec<Suggestion> {
    let rule = finding.rule;
    let raised = timeline.counted().saturating_mul(2).max(2);
    let raise = match finding.about.advice {
        Advice::Own(_) => return own(finding).into_iter().collect(),
        Advice::RaiseMax => {
            format!("raise the cap in andon.toml, under [rules]:  {rule} = {{ max = {raised} }}")
        }
        Advice::ByReason => {
            format!("raise the budget of {rule} in andon.toml, under [rules] or in [workflow]")
        }
    };
    let raise = Suggestion::new(AdvisedStep::RaiseBudget, raise);
    let split = "split the task: commit what is done and start a new session for the rest";
    let split = Suggestion::new(AdvisedStep::SplitTask, split);
    let trend = timeline.trend_of_attempts();
    match (trend.first(), trend.last()) {
        (Some(first), Some(last)) if last < first => vec![raise, split],
        (Some(_), Some(_)) | (None, _) | (_, None) => vec![split, raise],
    }
}

/// The way back to the commit with the fewest failing tests, where the newest one has more.
fn best(timeline: &Timeline) -> Option<Suggestion> {
    let (commit, failing) = timeline.best()?;
    let now = timeline.newest_tests().and_then(failing_count);
    if now.is_some_and(|now| now <= failing) || timeline.newest()?.commit == Some(commit) {
        return None;
    }
    let tests = match failing {
        0 => "all tests pass".to_owned(),
        _ => count(failing, "failing test"),
    };
    let back = Hint::GoBack.with([&commit.short()]);
    let go_on = format!("or, once answered, start over from the best commit so far ({tests}): {back}");
    Some(Suggestion::new(AdvisedStep::ReturnToBest, go_on))
}
