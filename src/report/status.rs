//! `andon status`: badge, state, last halt, trend, tests and the Loop Evidence section
//! (`loop-safety.md`, recommended UX).

use serde_json::{Value, json};

use crate::domain::decision::Halt;
use crate::domain::facts::Ack;
use crate::domain::findings::{Finding, Level};
use crate::domain::ids::{CodeId, CommitId, DiffHash, Digest, EntryId, Signature};
use crate::domain::tests::{TestEvidence, TestStatus};

use super::escape::terminal_clip;
use super::json;
use super::message::{self, Diagnostic};
use super::page::Page;
use super::phrase;
use super::spark::{self, Glyphs};
use super::style::Style;

/// Hashes of each kind shown in the text; JSON has all of them.
const HASHES: usize = 5;
/// Failing tests named per failure summary in the text.
const FAILING: usize = 3;
/// Columns of a name.
const NAME: usize = 100;

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

    fn shown(self, style: Style) -> String {
        match self {
            Self::Idle => style.dim("idle: nothing recorded yet"),
            Self::Running => style.green("running"),
            Self::Halted => style.red("halted"),
            Self::Stopped => style.red("stopped (.andon/STOP)"),
            Self::Paused => style.yellow("paused (.andon/PAUSE)"),
            Self::NotInstalled => style.yellow("not installed: nothing is guarded (andon install)"),
            Self::Disabled => style.yellow("disabled (ANDON=0)"),
        }
    }
}

/// What is known about the tests of one state of the code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TestsOf {
    /// They ran on exactly this code.
    Ran(TestEvidence),
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
    /// Node of the workflow.
    pub node: String,
    /// Session, when one is known.
    pub session: Option<String>,
    /// The newest halt of this worktree.
    pub last_halt: Option<LastHalt>,
    /// Failing counts of the test-bearing iterations of the window, oldest first.
    pub trend: Vec<u64>,
    /// `test.command` as a person would type it; `None` when not configured.
    pub test_command: Option<String>,
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
        self.cap.map_or_else(
            || format!("Loop {}", self.iteration),
            |cap| format!("Loop {}/{cap}", self.iteration),
        )
    }
}

/// The status for a person.
pub fn text(view: &StatusView, style: Style, glyphs: Glyphs) -> String {
    let mut page = Page::new(style);
    page.line(&format!("{}  {}", style.bold(&view.badge()), view.state.shown(style)));
    place(&mut page, view);
    last_halt(&mut page, view);
    trend(&mut page, view, glyphs);
    tests(&mut page, view);
    loop_evidence(&mut page, &view.evidence);
    let findings = message::gravest_first(&view.findings);
    if !findings.is_empty() {
        page.heading("Findings");
        for finding in findings {
            message::push(&mut page, &finding.into());
            if !finding.evidence.is_empty() {
                let evidence = phrase::some_of(&finding.evidence, HASHES, phrase::evidence);
                page.line(&page.style.dim(&format!("  evidence: {evidence}")));
            }
        }
    }
    if !view.warnings.is_empty() {
        page.blank();
        for warning in &view.warnings {
            message::push(&mut page, warning);
        }
    }
    page.finish()
}

fn place(page: &mut Page, view: &StatusView) {
    let at = view.head.map_or_else(|| "no commit yet".to_owned(), |head| head.short());
    let branch =
        view.branch.as_ref().map_or_else(|| "detached HEAD".to_owned(), |name| terminal_clip(name, NAME));
    page.field("branch", &format!("{branch}, {at}"));
    if view.worktree != "main" {
        page.field("worktree", &terminal_clip(&view.worktree, NAME));
    }
    let session = view
        .session
        .as_ref()
        .map_or_else(String::new, |session| format!(", session {}", terminal_clip(session, NAME)));
    page.field("node", &format!("{}{session}", terminal_clip(&view.node, NAME)));
}

fn last_halt(page: &mut Page, view: &StatusView) {
    let Some(last) = &view.last_halt else {
        return page.field("last halt", "none");
    };
    let halt = &last.halt;
    let why = format!("{} ({})", phrase::reason(halt.reason), terminal_clip(&halt.rule, NAME));
    let why = if last.ack.is_some() { why } else { page.style.red(&why) };
    page.field("last halt", &format!("{why} at {}, iteration {}", halt.at, halt.iteration));
    page.field("", &phrase::message(&halt.message));
    let answer = last.ack.as_ref().map_or_else(
        || {
            let file = super::face::path(halt.face);
            format!("not acknowledged: read {file}, then andon resume --reason \"...\"")
        },
        |ack| format!("{} at {}", phrase::acknowledged(ack), ack.at),
    );
    page.field("", &answer);
    if let Some(said) = last.ack.as_ref().and_then(|ack| phrase::said(ack, phrase::MESSAGE)) {
        page.field("", &said);
    }
}

fn trend(page: &mut Page, view: &StatusView, glyphs: Glyphs) {
    if view.trend.is_empty() {
        return page.field("trend", "no tests ran on recorded commits");
    }
    let bars = spark::line(&view.trend, glyphs);
    page.field("trend", &format!("{} failing  {bars}", spark::trend(&view.trend)));
}

fn tests(page: &mut Page, view: &StatusView) {
    match &view.test_command {
        Some(command) => page.field("tests", &terminal_clip(command, NAME)),
        None => page.field("tests", "no test.command is configured (andon.toml, [test])"),
    }
    for (label, tests) in [("HEAD", &view.head_tests), ("work tree", &view.work_tests)] {
        if *tests != TestsOf::Nothing {
            page.field("", &format!("{label}: {}", tests_shown(tests, page.style)));
        }
    }
}

fn tests_shown(tests: &TestsOf, style: Style) -> String {
    match tests {
        TestsOf::Ran(evidence) if evidence.is_green() => style.green(&phrase::tests(evidence)),
        TestsOf::Ran(evidence) => style.red(&phrase::tests(evidence)),
        TestsOf::OtherCode(evidence) => style.yellow(&format!(
            "not run on this code (the last run, on other code: {})",
            phrase::tests(evidence)
        )),
        TestsOf::NeverRan => style.yellow("never run"),
        TestsOf::Nothing => "nothing to test".to_owned(),
        TestsOf::Unknown => "not known".to_owned(),
    }
}

fn loop_evidence(page: &mut Page, evidence: &LoopEvidence) {
    let empty = evidence.diffs.is_empty()
        && evidence.codes.is_empty()
        && evidence.tests.is_empty()
        && evidence.outputs.is_empty();
    if empty && evidence.failures.is_empty() {
        return;
    }
    page.heading("Loop Evidence");
    hashes(page, "diffs", &evidence.diffs);
    hashes(page, "code", &evidence.codes);
    hashes(page, "failures", &evidence.tests);
    hashes(page, "outputs", &evidence.outputs);
    let skipped = evidence.failures.len().saturating_sub(HASHES);
    for failure in &evidence.failures[skipped..] {
        page.field("", &failure_shown(failure));
    }
}

fn failure_shown(failure: &FailureSummary) -> String {
    let times = phrase::count(usize::try_from(failure.iterations).unwrap_or(usize::MAX), "iteration");
    let what = if failure.failing.is_empty() {
        failure.status.as_str().replace('_', " ")
    } else {
        phrase::some_of(&failure.failing, FAILING, |test| terminal_clip(test, NAME))
    };
    format!("{} in {times}: {what}", failure.signature.short())
}

/// The newest hashes, oldest first, short: equal ones are what a person looks for.
fn hashes<T: ToString>(page: &mut Page, label: &str, all: &[T]) {
    let skipped = all.len().saturating_sub(HASHES);
    let short = |hash: &T| hash.to_string().chars().take(12).collect::<String>();
    let shown: Vec<String> = all[skipped..].iter().map(short).collect();
    if !shown.is_empty() {
        page.field(label, &format!("{}{}", if skipped > 0 { "... " } else { "" }, shown.join(" ")));
    }
}

/// The status for a program: `andon/status@1`, with the keys of the view.
pub fn json(view: &StatusView) -> Value {
    json!({
        "schema": "andon/status@1",
        "badge": view.badge(),
        "state": view.state.as_str(),
        "iteration": view.iteration,
        "cap": view.cap,
        "head": json::text_or_null(view.head.as_ref()),
        "branch": view.branch,
        "worktree": view.worktree,
        "node": view.node,
        "session": view.session,
        "last_halt": view.last_halt.as_ref().map(last_halt_json),
        "trend": view.trend,
        "test_command": view.test_command,
        "tests": { "head": tests_json(&view.head_tests), "work_tree": tests_json(&view.work_tests) },
        "loop_evidence": evidence_json(&view.evidence),
        "findings": view.findings.iter().filter(|finding| finding.level > Level::Off).map(json::finding)
            .collect::<Value>(),
        "warnings": json::diagnostics(&view.warnings),
    })
}

fn last_halt_json(last: &LastHalt) -> Value {
    let mut value = json::loop_halted(&last.halt);
    value["id"] = last.id.to_string().into();
    value["acknowledged"] = last.ack.as_ref().map_or(Value::Null, json::loop_acknowledged);
    value
}

/// `state` says how the evidence relates to the code; `run` is the evidence.
fn tests_json(tests: &TestsOf) -> Value {
    let (state, run) = match tests {
        TestsOf::Ran(evidence) => ("ran", Some(evidence)),
        TestsOf::OtherCode(evidence) => ("other_code", Some(evidence)),
        TestsOf::NeverRan => ("never_ran", None),
        TestsOf::Nothing => ("nothing", None),
        TestsOf::Unknown => ("unknown", None),
    };
    json!({ "state": state, "run": run.map(json::tests) })
}

fn evidence_json(evidence: &LoopEvidence) -> Value {
    let failure = |failure: &FailureSummary| {
        json!({
            "signature": failure.signature.to_string(),
            "iterations": failure.iterations,
            "status": failure.status.as_str(),
            "failing": failure.failing,
        })
    };
    json!({
        "diffs": json::texts(&evidence.diffs),
        "codes": json::texts(&evidence.codes),
        "tests": json::texts(&evidence.tests),
        "outputs": json::texts(&evidence.outputs),
        "failures": evidence.failures.iter().map(failure).collect::<Value>(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::samples;
    use super::*;

    fn view() -> StatusView {
        StatusView {
            state: LoopState::Running,
            iteration: 3,
            cap: Some(100),
            head: Some(samples::commit(0x1a)),
            branch: Some("main".to_owned()),
            worktree: "main".to_owned(),
            node: "agent".to_owned(),
            session: None,
            last_halt: Some(LastHalt {
                id: EntryId([9; 32]),
                halt: samples::halt(),
                ack: Some(samples::ack()),
            }),
            trend: vec![7, 4, 2],
            test_command: Some("cargo test".to_owned()),
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
    fn a_fresh_repository_is_short() {
        let fresh = StatusView {
            state: LoopState::Idle,
            iteration: 0,
            head: None,
            last_halt: None,
            trend: vec![],
            test_command: None,
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
        let value = json(&view());
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
