//! `andon status`: badge, state, last halt, trend, tests and the Loop Evidence section
//! (`loop-safety.md`, recommended UX).

mod json;
mod text;

pub use json::json;
pub use text::text;

use crate::domain::decision::Halt;
use crate::domain::facts::{Ack, Skip, UncreditedFall};
use crate::domain::findings::Finding;
use crate::domain::ids::{CodeId, CommitId, DiffHash, Digest, EntryId, Signature};
use crate::domain::tests::{TestEvidence, TestRun, TestStatus};

use super::message::Diagnostic;

/// What the loop is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoopState {
    /// No iteration yet.
    Idle,
    /// Iterations go on.
    Running,
    /// A halt stands.
    Halted,
    /// `.andon/STOP` exists.
    Stopped,
    /// `.andon/PAUSE` exists.
    Paused,
    /// The hooks are not installed: nothing is recorded or refused.
    NotInstalled,
    /// The master switch `ANDON=0` is set.
    Disabled,
}

impl LoopState {
    /// The name in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Running => "running",
            Self::Halted => "halted",
            Self::Stopped => "stopped",
            Self::Paused => "paused",
            Self::NotInstalled => "not_installed",
            Self::Disabled => "disabled",
        }
    }
}

/// What is known about the tests of one state of the code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TestsOf {
    /// They ran on exactly this code.
    Ran(TestEvidence),
    /// They ran on exactly this code, and that run proves nothing: its validity says why.
    Void(Box<TestRun>),
    /// They ran, but on other code; the newest such run.
    OtherCode(TestEvidence),
    /// They never ran.
    NeverRan,
    /// There is no such state: no commit yet, no working tree.
    Nothing,
    /// It could not be found out.
    Unknown,
}

/// The newest halt, and the answer to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastHalt {
    /// Its ledger entry.
    pub id: EntryId,
    /// The halt.
    pub halt: Halt,
    /// The acknowledgement; `None` while it stands.
    pub ack: Option<Ack>,
}

/// Test results with one failure signature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailureSummary {
    /// The signature.
    pub signature: Signature,
    /// How many iterations of the window had it.
    pub iterations: u64,
    /// Its status class.
    pub status: TestStatus,
    /// Ids of the failing tests.
    pub failing: Vec<String>,
}

/// The hashes of the window, oldest first (`loop-safety.md`, "Loop Evidence").
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LoopEvidence {
    /// Normalized diffs.
    pub diffs: Vec<DiffHash>,
    /// Code states.
    pub codes: Vec<CodeId>,
    /// Failure signatures.
    pub tests: Vec<Signature>,
    /// Outputs.
    pub outputs: Vec<Digest>,
    /// The distinct failures behind the signatures, newest last.
    pub failures: Vec<FailureSummary>,
}

/// A cycle of the declared workflow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CycleView {
    /// Its id.
    pub id: String,
    /// Its nodes, sorted.
    pub nodes: Vec<String>,
    /// Iterations since the last acknowledgement.
    pub iterations: u64,
    /// The budget; `None` for no limit.
    pub max: Option<u64>,
}

impl CycleView {
    /// The badge: `Loop 3/8`, or `Loop 3` without a limit.
    pub fn badge(&self) -> String {
        badge(self.iterations, self.max)
    }
}

fn badge(iterations: u64, max: Option<u64>) -> String {
    max.map_or_else(|| format!("Loop {iterations}"), |max| format!("Loop {iterations}/{max}"))
}

/// Everything `andon status` shows. Texts raw.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatusView {
    /// What the loop is doing.
    pub state: LoopState,
    /// Iterations since the last acknowledgement.
    pub iteration: u64,
    /// The cap of `iteration-cap`; `None` when the rule is off.
    pub cap: Option<u64>,
    /// HEAD; `None` before the first commit.
    pub head: Option<CommitId>,
    /// The branch; `None` when detached.
    pub branch: Option<String>,
    /// Name of the worktree; `main` for the main one.
    pub worktree: String,
    /// The cycles of the declared workflow; none without one.
    pub cycles: Vec<CycleView>,
    /// Node of the workflow.
    pub node: String,
    /// Session, when one is known.
    pub session: Option<String>,
    /// The newest halt of this worktree.
    pub last_halt: Option<LastHalt>,
    /// Failing counts of the test-bearing iterations of the window, oldest first.
    pub trend: Vec<u64>,
    /// Falls of the trend that earn no credit.
    pub uncredited: Vec<UncreditedFall>,
    /// Tests of the window that gave different results on the same code: no part of the trend.
    pub flaky: Vec<String>,
    /// What was passed over for commits of the window, oldest first.
    pub skipped: Vec<(CommitId, Skip)>,
    /// `test.command` as a person would type it; `None` when not configured.
    pub test_command: Option<String>,
    /// Code fingerprint of HEAD.
    pub head_code: Option<CodeId>,
    /// Code fingerprint of the working tree.
    pub work_code: Option<CodeId>,
    /// Tests of HEAD's code.
    pub head_tests: TestsOf,
    /// Tests of the working tree's code.
    pub work_tests: TestsOf,
    /// Hashes and failure summaries.
    pub evidence: LoopEvidence,
    /// What the rules say now.
    pub findings: Vec<Finding>,
    /// What went wrong while looking: unreadable records, skipped lines.
    pub warnings: Vec<Diagnostic>,
}

impl StatusView {
    /// The cycle badge: `Loop 3/100`, or `Loop 3` without a cap.
    pub fn badge(&self) -> String {
        badge(self.iteration, self.cap)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::samples;
    use super::super::spark::Glyphs;
    use super::super::style::Style;
    use super::*;
    use crate::domain::findings::Level;

    fn view() -> StatusView {
        StatusView {
            state: LoopState::Running,
            iteration: 3,
            cap: Some(100),
            head: Some(samples::commit(0x1a)),
            branch: Some("main".to_owned()),
            worktree: "main".to_owned(),
            cycles: vec![],
            node: "agent".to_owned(),
            session: None,
            last_halt: Some(LastHalt {
                id: EntryId([9; 32]),
                halt: samples::halt(),
                ack: Some(samples::ack()),
            }),
            flaky: vec![],
            skipped: vec![],
            trend: vec![7, 4, 2],
            uncredited: vec![],
            test_command: Some("cargo test".to_owned()),
            head_code: None,
            work_code: None,
            head_tests: TestsOf::Ran(samples::evidence(2)),
            work_tests: TestsOf::OtherCode(samples::evidence(2)),
            evidence: LoopEvidence {
                diffs: (1..=7).map(|byte| DiffHash([byte; 32])).collect(),
                codes: vec![CodeId([5; 32])],
                tests: vec![Signature([3; 32]); 2],
                outputs: vec![],
                failures: vec![FailureSummary {
                    signature: Signature([3; 32]),
                    iterations: 2,
                    status: TestStatus::Failed,
                    failing: (0..5).map(|number| format!("suite::case_{number}")).collect(),
                }],
            },
            findings: vec![
                samples::finding("hook-bypass", Level::Note),
                samples::finding("recurrence", Level::Warn),
            ],
            warnings: vec![Diagnostic::warning("skipped a line").at("journal.jsonl:3")],
        }
    }

    #[test]
    fn the_text_shows_all_of_it() {
        let expected = "\
Loop 3/100  running
  branch     main, 1a1a1a1a1a1a
  node       agent
  last halt  oscillating (oscillation) at 2026-11-20T15:30:00Z, iteration 12
             the code state alternates A/B/A/B
             acknowledged by Ada <ada@example.org> with andon resume at 2026-11-20T15:30:00Z
             \"fixture repaired\"
  trend      7 -> 4 -> 2 failing  █▅▃
  tests      cargo test
             HEAD: 2 of 120 failing
             work tree: not run on this code (the last run, on other code: 2 of 120 failing)

Loop Evidence
  diffs      ... 030303030303 040404040404 050505050505 060606060606 070707070707
  code       050505050505
  failures   030303030303 030303030303
             030303030303 in 2 iterations: suite::case_0, suite::case_1, suite::case_2 and 2 more

Findings
warning[recurrence]: it happened
  help: andon test
  evidence: commit 1a1a1a1a1a1a, src/a.rs

warning: skipped a line
  --> journal.jsonl:3
";
        assert_eq!(text(&view(), Style::Plain, Glyphs::Unicode), expected);
    }

    #[test]
    fn each_cycle_has_its_badge() {
        let cycle = |nodes: &[&str], iterations, max| CycleView {
            id: nodes.join("+"),
            nodes: nodes.iter().map(ToString::to_string).collect(),
            iterations,
            max,
        };
        let cycles = vec![cycle(&["coder", "verifier"], 3, Some(8)), cycle(&["planner"], 1, None)];
        let view = StatusView { cycles, ..view() };
        let shown = text(&view, Style::Plain, Glyphs::Ascii);
        assert!(
            shown.contains("  cycle      Loop 3/8  coder, verifier\n             Loop 1  planner\n"),
            "{shown}"
        );
        let value = super::json(&view);
        assert_eq!(value["cycles"][0]["badge"], "Loop 3/8");
        assert_eq!(value["cycles"][1]["max"], serde_json::Value::Null);
    }

    #[test]
    fn a_fresh_repository_is_short() {
        let fresh = StatusView {
            state: LoopState::Idle,
            iteration: 0,
            head: None,
            last_halt: None,
            flaky: vec![],
            trend: vec![],
            uncredited: vec![],
            test_command: None,
            head_code: None,
            work_code: None,
            head_tests: TestsOf::Nothing,
            work_tests: TestsOf::NeverRan,
            evidence: LoopEvidence::default(),
            findings: vec![],
            warnings: vec![],
            ..view()
        };
        let expected = "\
Loop 0/100  idle: nothing recorded yet
  branch     main, no commit yet
  node       agent
  last halt  none
  trend      no tests ran on recorded commits
  tests      no test.command is configured (andon.toml, [test])
             work tree: never run
";
        assert_eq!(text(&fresh, Style::Plain, Glyphs::Ascii), expected);
    }

    #[test]
    fn an_answered_halt_is_not_nothing_recorded() {
        let answered = StatusView { state: LoopState::Idle, iteration: 0, ..view() };
        let shown = text(&answered, Style::Plain, Glyphs::Ascii);
        assert!(shown.starts_with("Loop 0/100  idle: no iteration since the halt was answered\n"), "{shown}");
    }

    #[test]
    fn a_halt_that_stands_says_how_to_go_on() {
        let mut halted = view();
        halted.state = LoopState::Halted;
        halted.last_halt.as_mut().unwrap().ack = None;
        let shown = text(&halted, Style::Plain, Glyphs::Unicode);
        assert!(shown.starts_with("Loop 3/100  halted\n"), "{shown}");
        assert!(
            shown.contains(
                "not acknowledged: read .andon/CHECKPOINT.md, then andon resume --reason \"...\"\n"
            ),
            "{shown}"
        );
    }

    #[test]
    fn hostile_names_are_harmless() {
        let mut hostile = view();
        hostile.branch = Some(samples::HOSTILE.to_owned());
        hostile.session = Some(samples::HOSTILE.to_owned());
        hostile.evidence.failures[0].failing = vec![samples::HOSTILE.repeat(100)];
        let shown = text(&hostile, Style::Plain, Glyphs::Unicode);
        assert!(!shown.chars().any(|c| c != '\n' && super::super::escape::is_hidden(c)), "{shown}");
        assert_eq!(shown.lines().count(), text(&view(), Style::Plain, Glyphs::Unicode).lines().count());
    }

    #[test]
    fn json_carries_the_same() {
        let value = super::json(&view());
        assert_eq!(value["badge"], "Loop 3/100");
        assert_eq!(value["state"], "running");
        assert_eq!(value["trend"], json!([7, 4, 2]));
        assert_eq!(value["last_halt"]["acknowledged"]["reason"], "fixture repaired");
        assert_eq!(value["tests"]["head"]["state"], "ran");
        assert_eq!(value["tests"]["work_tree"]["run"]["failed"], 2);
        assert_eq!(value["loop_evidence"]["diffs"].as_array().unwrap().len(), 7);
        assert_eq!(value["loop_evidence"]["failures"][0]["iterations"], 2);
        assert_eq!(value["findings"].as_array().unwrap().len(), 2);
        assert_eq!(value["warnings"][0]["location"], "journal.jsonl:3");
    }
}
