//! `andon replay --session ID`: the trajectory of one session (docs/spec-map.md, loop rules: frozen replays), with the
//! decision that the engine gives at each step.

use crate::verbs::replay::view::{Trajectory, TrajectoryStep};
use andon_core::domain::decision::{Decision, Verdict};

use crate::json::{FindingJson, TrajectoryJson, TrajectoryStepJson};
use crate::report::json;
use andon_core::escape::terminal_clip;
use andon_engine::text::message;
use andon_engine::text::page::Page;
use andon_engine::text::phrase;
use andon_engine::text::style::Style;

/// Columns of an action.
const ACTION: usize = 120;

/// The trajectory for a person.
pub fn text(trajectory: &Trajectory, style: Style) -> String {
    let mut page = Page::new(style);
    let unknown = |text: &Option<String>| {
        text.as_ref().map_or_else(|| "unknown".to_owned(), |text| terminal_clip(text, 100))
    };
    page.field("session", &terminal_clip(&trajectory.session, 100));
    page.field("model", &unknown(&trajectory.model));
    page.field("prompt", &unknown(&trajectory.prompt_hash));
    page.blank();
    for step in &trajectory.steps {
        let at = step.at.map_or_else(|| format!("{:<20}", "-"), |at| at.to_string());
        let (from, to) = (step.state.as_str(), step.next.as_str());
        page.line(&format!("{at}  {from:<12} -> {to:<12}  {}", terminal_clip(&step.action, ACTION)));
        if step.decision.standing.is_some() {
            continue;
        }
        for finding in message::gravest_first(&step.decision.findings) {
            let head = message::head(finding.level.into(), Some(finding.rule), style);
            page.line(&format!("{:<22}{head}: {}", "", phrase::message(&finding.message())));
        }
        if let Some(rule) = &step.halt {
            page.line(&style.red(&format!("{:<22}halted by {}", "", terminal_clip(rule, 40))));
        }
    }
    let halts = trajectory.steps.iter().filter(|step| begins_halt(&step.decision)).count();
    let steps = phrase::count(trajectory.steps.len(), "step");
    page.line(&format!("{steps}, {}", phrase::count(halts, "halt")));
    page.finish()
}

fn begins_halt(decision: &Decision) -> bool {
    decision.verdict == Verdict::Halt && decision.standing.is_none()
}

/// The trajectory for a program, as JSON lines: a header, then a line a step.
pub fn json(trajectory: &Trajectory) -> String {
    let header = TrajectoryJson {
        schema: "andon/trajectory@1",
        session_id: &trajectory.session,
        model_version: trajectory.model.as_deref(),
        prompt_hash: trajectory.prompt_hash.as_deref(),
        steps: trajectory.steps.len(),
    };
    let steps: Vec<_> = trajectory.steps.iter().map(step_json).collect();
    json::line(&header) + &json::documents("trajectory-step", &steps)
}

fn step_json(step: &TrajectoryStep) -> TrajectoryStepJson<'_> {
    let decision = &step.decision;
    TrajectoryStepJson {
        at: step.at,
        node: step.node.as_deref(),
        state: step.state.as_str(),
        action: &step.action,
        next_state: step.next.as_str(),
        commit: step.commit,
        decision: decision.verdict.as_str(),
        reason: decision.reason,
        findings: decision.findings.iter().map(FindingJson::brief).collect(),
        halt: step.halt.as_deref(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::verbs::replay::view::SessionState;
    use andon_core::domain::findings::Level;
    use andon_core::domain::time::Timestamp;
    use andon_testkit::samples;

    fn trajectory() -> Trajectory {
        let mut decision = samples::decision(Verdict::Halt);
        decision.findings = vec![samples::finding("tool-loop", Level::Halt)];
        let step = |state, action: &str, next, decision| TrajectoryStep {
            at: Some(Timestamp(0)),
            node: Some("coder".to_owned()),
            state,
            action: action.to_owned(),
            next,
            commit: None,
            decision,
            halt: None,
        };
        Trajectory {
            session: "auto-1".to_owned(),
            model: Some("model-4\u{1b}[2J".to_owned()),
            prompt_hash: None,
            steps: vec![
                step(
                    SessionState::Idle,
                    "turn_start",
                    SessionState::Planning,
                    samples::decision(Verdict::Allow),
                ),
                step(SessionState::Planning, "tool_call Edit", SessionState::Halted, decision),
            ],
        }
    }

    #[test]
    fn a_header_and_a_line_a_step() {
        let text = super::json(&trajectory());
        let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(lines.len(), 3);
        assert_eq!(lines[0]["session_id"], "auto-1");
        assert_eq!(lines[0]["prompt_hash"], Value::Null);
        assert_eq!((&lines[1]["state"], &lines[1]["next_state"]), (&json!("idle"), &json!("planning")));
        assert_eq!((&lines[2]["action"], &lines[2]["decision"]), (&json!("tool_call Edit"), &json!("halt")));
        assert_eq!(lines[2]["findings"][0]["rule"], "tool-loop");
    }

    #[test]
    fn the_text_is_harmless_and_tells_the_halt() {
        let shown = text(&trajectory(), Style::Plain);
        assert!(!shown.contains('\u{1b}') && shown.contains("error[tool-loop]"), "{shown}");
        assert!(shown.ends_with("2 steps, 1 halt\n"), "{shown}");
    }
}
