//! The output of `andon replay`: a line for each step, from the same engine (docs/formats.md), and the trajectory of a session
//! (docs/spec-map.md, loop rules: frozen replays).

use serde_json::json;

use super::{ReplayLine, ReplayStep, session::Trajectory};
use andon_core::domain::{Decision, Diagnostic, TestEvidence, Verdict};
use andon_core::escape::terminal_clip;
use andon_engine::json;
use andon_engine::text::{Page, Style, halt, message, phrase};

/// Pieces of evidence per finding in the text; JSON has all.
const EVIDENCE: usize = 6;

fn begins_halt(decision: &Decision) -> bool {
    decision.verdict == Verdict::Halt && decision.standing.is_none()
}

/// Shows a replay line by line, so that one of any length takes no memory.
#[derive(Debug)]
pub struct Teller {
    style: Style,
    steps: usize,
    halts: usize,
    held: usize,
}

impl Teller {
    /// Nothing shown yet.
    pub fn new(style: Style) -> Self {
        Self { style, steps: 0, halts: 0, held: 0 }
    }

    /// The lines for one step: often none.
    pub fn line(&mut self, line: &ReplayLine) -> String {
        self.steps = self.steps.saturating_add(1);
        if line.decision.standing.is_some() {
            self.held = self.held.saturating_add(1);
            return String::new();
        }
        self.halts = self.halts.saturating_add(usize::from(begins_halt(&line.decision)));
        let mut page = Page::new(self.style);
        held_line(&mut page, &mut self.held);
        step(&mut page, line);
        page.finish()
    }

    /// The warnings, and the sum.
    pub fn end(&mut self, source: &str, warnings: &[Diagnostic]) -> String {
        let mut page = Page::new(self.style);
        held_line(&mut page, &mut self.held);
        for warning in warnings {
            message::push(&mut page, warning);
        }
        page.line(&summary(self.steps, self.halts, source, self.style));
        page.finish()
    }
}

/// One commit whose tests have run: `3 of 20  1a2b3c4d5e6f  2 of 10 failing`.
pub fn tested(place: &str, result: Result<&TestEvidence, &str>) -> String {
    let said = match result {
        Ok(evidence) => phrase::tests(evidence),
        Err(why) => format!("the tests could not be started: {}", terminal_clip(why, 120)),
    };
    format!("{place}  {said}\n")
}

fn held_line(page: &mut Page, held: &mut usize) {
    if *held > 0 {
        let line = page.style.dim(&format!("  then {} under that halt", phrase::count(*held, "step")));
        page.line(&line);
        *held = 0;
    }
}

fn step(page: &mut Page, line: &ReplayLine) {
    let decision = &line.decision;
    let style = page.style;
    let word = match decision.verdict {
        Verdict::Allow => return,
        Verdict::Warn => style.yellow("warn "),
        Verdict::Block => style.red("block"),
        Verdict::Halt => style.red("HALT "),
    };
    let what = match &line.step {
        ReplayStep::Commit { commit, subject } => {
            format!("{} {}", commit.short(), terminal_clip(subject, 72))
        }
        ReplayStep::Event { event } => format!("event {event}"),
    };
    page.line(&format!("{word} {what}"));
    for finding in message::gravest_first(&decision.findings) {
        let head = message::head(finding.level.into(), Some(finding.rule), style);
        let why = finding
            .reason
            .filter(|_| begins_halt(decision))
            .map_or_else(String::new, |reason| format!(" ({})", phrase::reason(reason)));
        page.line(&format!("  {head}{why}: {}", phrase::message(&finding.message())));
        if begins_halt(decision) && !finding.evidence.is_empty() {
            let evidence = phrase::some_of(&finding.evidence, EVIDENCE, phrase::evidence);
            page.line(&style.dim(&format!("    evidence: {evidence}")));
        }
    }
    if let Some(halt) = decision.halted.as_deref() {
        page.line(&style.dim(&format!("    halted: {}", phrase::message(&halt::headline(halt)))));
        for line in halt::evidence(halt) {
            page.line(&style.dim(&format!("    {line}")));
        }
    }
}

fn summary(steps: usize, halts: usize, source: &str, style: Style) -> String {
    let steps = phrase::count(steps, "step");
    let source = terminal_clip(source, 100);
    let outcome = if halts == 0 {
        style.green("would not have halted")
    } else {
        style.red(&format!("would have halted {}", phrase::times(halts)))
    };
    format!("replayed {steps} of {source}: {outcome}")
}

/// Columns of an action.
const ACTION: usize = 120;

/// The trajectory for a person.
pub fn trajectory(trajectory: &Trajectory, style: Style) -> String {
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

/// The document of one step: `commit` or `event`, and `halted` only where the loop halts.
pub fn document(line: &ReplayLine) -> String {
    let mut shown = json!(line);
    if let Some(halt) = &line.decision.halted {
        shown["halted"] = json!(halt);
    }
    json::document("replay", &shown)
}

/// The trajectory for a program, as JSON lines: a header, then a line a step.
pub fn trajectory_json(trajectory: &Trajectory) -> String {
    let header = json!({
        "session_id": trajectory.session,
        "model_version": trajectory.model,
        "prompt_hash": trajectory.prompt_hash,
        "steps": trajectory.steps.len(),
    });
    json::document("trajectory", &header) + &json::documents("trajectory-step", &trajectory.steps)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::session::SessionState;
    use super::super::session::TrajectoryStep;
    use super::*;
    use andon_core::domain::{Level, Timestamp};
    use andon_testkit::samples;

    fn line(byte: u8, verdict: Verdict) -> ReplayLine {
        let mut decision = samples::decision(verdict);
        decision.findings = match verdict {
            Verdict::Allow => vec![],
            Verdict::Warn => vec![samples::finding("recurrence", Level::Warn)],
            Verdict::Block => vec![samples::finding("untested-edit", Level::Block)],
            Verdict::Halt => vec![samples::finding("oscillation", Level::Halt)],
        };
        let step = ReplayStep::Commit { commit: samples::commit(byte), subject: format!("Change {byte}") };
        ReplayLine { step, decision }
    }

    fn text(lines: &[ReplayLine]) -> String {
        let mut teller = Teller::new(Style::Plain);
        let mut text: String = lines.iter().map(|line| teller.line(line)).collect();
        text.push_str(&teller.end("main~5..main", &[]));
        text
    }

    fn report() -> Vec<ReplayLine> {
        let mut under = line(4, Verdict::Halt);
        under.decision.standing = Some(samples::standing());
        vec![
            line(1, Verdict::Allow),
            line(2, Verdict::Warn),
            line(3, Verdict::Halt),
            under.clone(),
            under,
            line(6, Verdict::Allow),
        ]
    }

    #[test]
    fn the_text_says_where_and_why() {
        let expected = "\
warn  020202020202 Change 2
  warning[recurrence]: it happened
HALT  030303030303 Change 3
  error[oscillation] (oscillating): it happened
    evidence: commit 1a1a1a1a1a1a, src/a.rs
  then 2 steps under that halt
replayed 6 steps of main~5..main: would have halted once
";
        assert_eq!(text(&report()), expected);
    }

    #[test]
    fn a_healthy_history_is_one_line() {
        assert_eq!(text(&report()[..1]), "replayed 1 step of main~5..main: would not have halted\n");
    }

    #[test]
    fn json_is_one_line_a_step_with_the_fixed_keys() {
        let mut event = report();
        event[2].step = ReplayStep::Event { event: 7 };
        let lines: Vec<_> = event.iter().map(document).collect();
        assert_eq!(
            lines[2],
            "{\"decision\":\"halt\",\"event\":7,\"findings\":[{\"evidence\":[\
             \"commit 1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a\",\"path src/a.rs\"],\"level\":\"halt\",\
             \"message\":\"it happened\",\"rule\":\"oscillation\"}],\"reason\":\"oscillating\",\"schema\":\"andon/replay@1\"}\n"
        );
        let first: Value = serde_json::from_str(&lines[0]).unwrap();
        assert_eq!((&first["decision"], &first["findings"]), (&json!("allow"), &json!([])));
        assert_eq!((&first["commit"], &first["reason"]), (&json!("01".repeat(20)), &json!(null)));
    }

    fn sample() -> Trajectory {
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
        let text = trajectory_json(&sample());
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
        let shown = super::trajectory(&sample(), Style::Plain);
        assert!(!shown.contains('\u{1b}') && shown.contains("error[tool-loop]"), "{shown}");
        assert!(shown.ends_with("2 steps, 1 halt\n"), "{shown}");
    }
}
