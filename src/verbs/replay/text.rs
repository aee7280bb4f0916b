//! `andon replay`: what would have happened, from the same engine (docs/formats.md).

use andon_core::domain::decision::{Decision, Verdict};
use andon_core::domain::ids::CommitId;

use crate::json::ReplayJson;
use crate::verbs::replay::run::test_runs::TestedCommit;
use andon_core::domain::diagnostic::Diagnostic;
use andon_core::escape::terminal_clip;
use andon_engine::text::halt;
use andon_engine::text::message;
use andon_engine::text::page::Page;
use andon_engine::text::phrase;
use andon_engine::text::style::Style;

/// Pieces of evidence per finding in the text; JSON has all.
const EVIDENCE: usize = 6;

/// What a decision was asked about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReplayStep {
    /// A commit of the range.
    Commit {
        /// Its full id; texts show the beginning.
        commit: CommitId,
        /// First line of its message.
        subject: String,
    },
    /// Line number of an event, from 1.
    Event(u64),
}

/// One step and the decision on it. A step under an earlier, unanswered halt has `decision.standing`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplayLine {
    /// The commit or event that was judged.
    pub step: ReplayStep,
    /// What would have been decided then, from what was known then.
    pub decision: Decision,
}

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

    /// What there is to say of one step: often nothing.
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

    /// What was skipped, and the sum of it.
    pub fn end(&mut self, source: &str, warnings: &[Diagnostic]) -> String {
        let mut page = Page::new(self.style);
        held_line(&mut page, &mut self.held);
        for warning in warnings {
            message::push(&mut page, warning);
        }
        page.line(&summary((self.steps, self.halts), source, self.style));
        page.finish()
    }
}

/// One commit whose tests have run: `3 of 20  1a2b3c4d5e6f  2 of 10 failing`.
pub fn tested(tested: &TestedCommit<'_>) -> String {
    let TestedCommit { commit, number, of, result } = tested;
    let said = match result {
        Ok(evidence) => phrase::tests(evidence),
        Err(why) => format!("the tests could not be started: {}", terminal_clip(why, 120)),
    };
    format!("{number} of {of}  {}  {said}\n", commit.short())
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
        ReplayStep::Event(number) => format!("event {number}"),
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

fn summary((steps, halts): (usize, usize), source: &str, style: Style) -> String {
    let steps = phrase::count(steps, "step");
    let source = terminal_clip(source, 100);
    let outcome = if halts == 0 {
        style.green("would not have halted")
    } else {
        style.red(&format!("would have halted {}", phrase::times(halts)))
    };
    format!("replayed {steps} of {source}: {outcome}")
}

/// The document of one step.
pub fn json(line: &ReplayLine) -> ReplayJson<'_> {
    let decided = ReplayJson::from(&line.decision);
    match &line.step {
        ReplayStep::Commit { commit, .. } => ReplayJson { commit: Some(*commit), ..decided },
        ReplayStep::Event(number) => ReplayJson { event: Some(*number), ..decided },
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::report::json as lines;
    use andon_core::domain::findings::Level;
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
        event[2].step = ReplayStep::Event(7);
        let values: Vec<_> = event.iter().map(json).collect();
        assert_eq!(
            lines::line(&values[2]),
            "{\"decision\":\"halt\",\"event\":7,\"findings\":[{\"evidence\":[\
             \"commit 1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a\",\"path src/a.rs\"],\"level\":\"halt\",\
             \"message\":\"it happened\",\"rule\":\"oscillation\"}],\"reason\":\"oscillating\"}\n"
        );
        assert_eq!(
            samples::value_of(&values[0]),
            json!({ "commit": "01".repeat(20), "decision": "allow", "reason": null, "findings": [] })
        );
    }
}
