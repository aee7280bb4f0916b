//! The status as a person and a program see it.

use serde_json::json;

use super::*;
use andon_core::domain::{CodeId, Diagnostic, DiffHash, EntryId, Level, Presence, Signature, TestStatus};
use andon_engine::text::{Glyphs, Style};
use andon_engine::view::{CycleView, HeadAndWorkTree, LastHalt, LoopCount, LoopEvidence, LostHooks};
use andon_testkit::samples::{self, value_of};

pub(crate) fn view() -> StatusView {
    StatusView {
        state: LoopState::Running,
        count: LoopCount { iteration: 3, cap: Some(100) },
        unrecorded: 0,
        head: Some(samples::commit(0x1a)),
        branch: Some("main".to_owned()),
        worktree: "main".to_owned(),
        cycles: vec![],
        node: "agent".to_owned(),
        who: vec!["coder".to_owned()],
        session: None,
        provider: None,
        provider_reason: None,
        consecutive_failures: 0,
        last_compaction: None,
        last_halt: Some(LastHalt { id: EntryId([9; 32]), halt: samples::halt(), ack: Some(samples::ack()) }),
        report: Presence::Present,
        flaky: vec![],
        known_red: std::collections::BTreeMap::new(),
        skipped: vec![],
        trend: vec![7, 4, 2],
        trend_in_turn: vec![2, 3, 2],
        uncredited: vec![],
        test_command: Some("cargo test".to_owned()),
        code: HeadAndWorkTree { head: None, work_tree: None },
        tests: HeadAndWorkTree {
            head: TestsOf::Ran(samples::evidence(2)),
            work_tree: TestsOf::OtherCode(samples::evidence(2)),
        },
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
        hooks_gone: None,
        decided: vec![],
        waiting: vec![],
        refused: None,
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
  by         coder
  last halt  oscillation, 2026-11-20T15:30:00Z, iteration 12
             the code state alternates A/B/A/B
             answered by Ada <ada@example.org> with andon resume 2026-11-20T15:30:00Z
             \"fixture repaired\"
  trend      7 -> 4 -> 2 failing  █▅▃
  this turn  2 -> 3 -> 2 failing  ▆█▆
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
    assert_eq!(text(&view(), StatusDepth::Evidence, Style::Plain, Glyphs::Unicode), expected);
    let short = text(&view(), StatusDepth::Short, Style::Plain, Glyphs::Unicode);
    assert!(!short.contains("0303"), "{short}");
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
    let shown = text(&view, StatusDepth::Short, Style::Plain, Glyphs::Ascii);
    assert!(
        shown.contains("  cycle      Loop 3/8  coder, verifier\n             Loop 1  planner\n"),
        "{shown}"
    );
    let value = value_of(&view);
    assert_eq!(value["cycles"][0]["badge"], "Loop 3/8");
    assert_eq!(value["cycles"][1]["max"], serde_json::Value::Null);
}

#[test]
fn a_fresh_repository_is_short() {
    let fresh = StatusView {
        state: LoopState::Idle,
        count: LoopCount { iteration: 0, cap: Some(100) },
        head: None,
        last_halt: None,
        flaky: vec![],
        trend: vec![],
        trend_in_turn: vec![],
        uncredited: vec![],
        test_command: None,
        code: HeadAndWorkTree { head: None, work_tree: None },
        tests: HeadAndWorkTree { head: TestsOf::Nothing, work_tree: TestsOf::NeverRan },
        evidence: LoopEvidence::default(),
        findings: vec![],
        warnings: vec![],
        ..view()
    };
    let expected = "\
Loop 0/100  idle: nothing recorded yet
  branch     main, no commit yet
  by         coder
  tests      no test.command is configured (andon.toml, [test])
             work tree: never run
";
    assert_eq!(text(&fresh, StatusDepth::Short, Style::Plain, Glyphs::Ascii), expected);
}

#[test]
fn an_answered_halt_is_not_nothing_recorded() {
    let answered = StatusView {
        state: LoopState::Idle,
        count: LoopCount { iteration: 0, cap: Some(100) },
        who: vec![],
        ..view()
    };
    let shown = text(&answered, StatusDepth::Short, Style::Plain, Glyphs::Ascii);
    assert!(shown.starts_with("Loop 0/100  idle: no iteration since the halt was answered\n"), "{shown}");
    assert!(!shown.contains("  by  "), "the node of the reader answered nothing: {shown}");
}

#[test]
fn failures_that_run_on_and_the_last_compaction_are_told() {
    let counted = StatusView { consecutive_failures: 2, last_compaction: Some(samples::ack().at), ..view() };
    let shown = text(&counted, StatusDepth::Short, Style::Plain, Glyphs::Ascii);
    let told = "  failures   2 failed iterations running\n  compacted  2026-11-20T15:30:00Z\n";
    assert!(shown.contains(told), "{shown}");
}

#[test]
fn an_open_halt_is_told_at_the_top_and_once() {
    let mut halted = view();
    halted.state = LoopState::Halted;
    halted.findings = vec![samples::finding("oscillation", Level::Halt)];
    let last = halted.last_halt.as_mut().unwrap();
    (last.ack, last.halt) = (None, samples::stuck_halt());
    last.halt.worktree = "shop-checkout".to_owned();
    let expected = "\
Loop 3/100  HALTED 2026-11-20T15:30:00Z
  coder is going in circles in src/retry.py (oscillation)
  what   the last 4 commits switch between the same two versions
         A 030303030303 \"Retry 3 times\"
         B 040404040404 \"Retry 5 times\"
  since  2026-11-20T15:20:00Z, 4 commits, 64k tokens, $0.84; tests: 52 passed
  look   git diff 030303030303 040404040404, or .andon/CHECKPOINT.md
  answer a person decides, then runs: andon resume --reason '<decision>'
  where  worktree shop-checkout, branch main; one answer frees all

  branch     main, 1a1a1a1a1a1a
";
    for columns in [None, Some(80), Some(200)] {
        let style = Style::Plain.within(columns);
        let shown = text(&halted, StatusDepth::Short, style, Glyphs::Unicode);
        assert!(shown.starts_with(expected), "{shown}");
        assert!(!shown.contains("it happened"), "{shown}");
    }
    let value = value_of(&halted);
    assert_eq!(value["last_halt"]["summary"]["steps"][1]["state"], 1);
    assert_eq!(value["last_halt"]["summary"]["cost_micros"], 836_000);
}

#[test]
fn hooks_that_are_gone_come_first() {
    let gone =
        LostHooks { what: "post-commit was replaced by lefthook".into(), help: "andon install".into() };
    let lost = StatusView { state: LoopState::HooksGone, hooks_gone: Some(gone), ..view() };
    let shown = text(&lost, StatusDepth::Short, Style::Plain, Glyphs::Unicode);
    let expected = "\
Loop 3/100  hooks are gone: commits are neither checked nor recorded
  hooks      post-commit was replaced by lefthook
             help: andon install
  branch     main, 1a1a1a1a1a1a
";
    assert!(shown.starts_with(expected), "{shown}");
    let value = value_of(&lost);
    assert_eq!(
        (&value["hooks_gone"]["help"], &value["state"]),
        (&json!("andon install"), &json!("hooks_gone"))
    );
    assert_eq!(value_of(&view())["hooks_gone"], json!(null));
}

#[test]
fn hostile_names_are_harmless() {
    let mut hostile = view();
    hostile.branch = Some(samples::HOSTILE.to_owned());
    hostile.session = Some(samples::HOSTILE.to_owned());
    hostile.evidence.failures[0].failing = vec![samples::HOSTILE.repeat(100)];
    let shown = text(&hostile, StatusDepth::Short, Style::Plain, Glyphs::Unicode);
    assert!(!shown.chars().any(|c| c != '\n' && andon_core::escape::is_hidden(c)), "{shown}");
    assert_eq!(
        shown.lines().count(),
        text(&view(), StatusDepth::Short, Style::Plain, Glyphs::Unicode).lines().count()
    );
}

#[test]
fn json_carries_the_same() {
    let view = view();
    let value = value_of(&view);
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
