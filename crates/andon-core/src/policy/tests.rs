//! From findings to a plan.

use proptest::prelude::*;

use super::*;
use crate::domain::{
    About, Advice, Detail, Digest, Effect, EntryId, EventClass, Finding, HaltReason, Level, ReportFile,
    StandingHalt, TestEvidence, TestStatus, Timestamp, Verdict,
};
use crate::history::{Timeline, fold};
use crate::testkit::{GAP, arbitrary as facts, commit, green, other, red, timeline};

fn finding(rule: &'static str, level: Level, reason: HaltReason) -> Finding {
    let advice = if rule == "iteration-cap" { Advice::RaiseMax } else { Advice::ByReason };
    Finding {
        rule,
        level,
        reason: Some(reason),
        report_file: ReportFile::Checkpoint,
        about: About { advice, ..About::new(EventClass::Stall) },
        detail: Detail::new(format!("{rule} tripped")),
        echo_of: None,
        page: "",
        files: Vec::new(),
        evidence: Vec::new(),
        help: Vec::new(),
    }
}

pub(super) fn place() -> HaltPlace {
    HaltPlace {
        head: None,
        branch: Some("main".into()),
        worktree: "main".into(),
        at: Timestamp(9),
        client: None,
    }
}

fn standing(reason: HaltReason) -> StandingHalt {
    let earlier = finding("unchanged-diff", Level::Halt, reason);
    StandingHalt { id: EntryId([1; 32]), halt: halt(&earlier, &Timeline::new(GAP), &place()) }
}

#[test]
fn the_verdict_is_that_of_the_gravest_finding() {
    for (levels, verdict) in [
        (vec![], Verdict::Allow),
        (vec![Level::Note], Verdict::Allow),
        (vec![Level::Note, Level::Warn], Verdict::Warn),
        (vec![Level::Warn, Level::Block, Level::Note], Verdict::Block),
        (vec![Level::Halt, Level::Block], Verdict::Halt),
    ] {
        let findings =
            levels.iter().map(|level| finding("oscillation", *level, HaltReason::Oscillating)).collect();
        let decision = decide(findings, None);
        assert_eq!(decision.verdict, verdict, "{levels:?}");
        assert_eq!(decision.reason.is_some(), verdict == Verdict::Halt);
        assert!(decision.findings.windows(2).all(|pair| pair[0].level >= pair[1].level));
        assert_eq!(decision.findings.len(), levels.len(), "notes stay");
    }
}

#[test]
fn the_first_finding_that_halts_gives_reason_rule_and_report_file() {
    let mut blocker = finding("consecutive-failures", Level::Halt, HaltReason::RepeatedError);
    blocker.report_file = ReportFile::BlockerReport;
    let warn = finding("recurrence", Level::Warn, HaltReason::Oscillating);
    let stall = finding("repeated-failures", Level::Halt, HaltReason::Stalled);
    let plan_of = |findings| {
        let decision = decide(findings, None);
        plan(&decision, &timeline(vec![commit(1)]), &place())
    };
    for (findings, rule, report_file) in [
        (vec![warn.clone(), stall.clone(), blocker.clone()], "repeated-failures", ReportFile::Checkpoint),
        (vec![warn, blocker, stall], "consecutive-failures", ReportFile::BlockerReport),
    ] {
        let actions = plan_of(findings);
        let [Effect::WriteReportFile { halt, story }, Effect::RecordHalt(recorded)] = actions.as_slice()
        else {
            panic!("a report file and then its entry: {actions:?}");
        };
        assert_eq!(halt, recorded);
        assert_eq!((halt.rule.as_str(), halt.report_file, halt.iteration), (rule, report_file, 1));
        assert_eq!((halt.cycle_id.as_str(), halt.at), ("agent", Timestamp(9)));
        assert_eq!(story.tried.len(), 1);
    }
}

#[test]
fn while_a_halt_stands_there_is_no_new_one() {
    let again = vec![finding("user-stop", Level::Halt, HaltReason::UserStop)];
    let decision = decide(again, Some(standing(HaltReason::Stalled)));
    assert_eq!((decision.verdict, decision.reason), (Verdict::Halt, Some(HaltReason::Stalled)));
    assert_eq!(plan(&decision, &timeline(vec![commit(1)]), &place()), []);
    let quiet = decide(Vec::new(), Some(standing(HaltReason::Stalled)));
    assert_eq!(quiet.verdict, Verdict::Halt, "it binds without any finding");
}

#[test]
fn nothing_below_a_halt_makes_one() {
    let findings = vec![finding("untested-edit", Level::Block, HaltReason::Stalled)];
    assert_eq!(plan(&decide(findings, None), &timeline(vec![commit(1)]), &place()), []);
}

#[test]
fn a_halt_carries_the_last_six_of_each_hash() {
    let mut commits = Vec::new();
    for state in 1..=9_u8 {
        let mut one = commit(state).tests(red(state, &["a"], 9)).diff(state);
        one.record().outputs = vec![Digest([state; 32])];
        commits.push(one);
    }
    commits.push(commit(10).tests(green(10, 9)).diff(10));
    let stall = finding("repeated-failures", Level::Halt, HaltReason::Stalled);
    let evidence = halt(&stall, &timeline(commits), &place()).evidence;
    let bytes = |all: Vec<u8>| all;
    assert_eq!(bytes(evidence.diffs.iter().map(|diff| diff.0[0]).collect()), [5, 6, 7, 8, 9, 10]);
    assert_eq!(bytes(evidence.outputs.iter().map(|output| output.0[0]).collect()), [4, 5, 6, 7, 8, 9]);
    assert_eq!(evidence.tests.len(), 6);
    assert_eq!(evidence.trend, [1, 1, 1, 1, 1, 1, 1, 1, 1, 0]);
}

fn suggestions(reason: HaltReason, rule: &'static str, line: &Timeline) -> Vec<String> {
    let found = suggested_actions(&finding(rule, Level::Halt, reason), line);
    assert!(found.iter().all(|one| one.step.is_some()));
    found.into_iter().map(|one| one.text).collect()
}

#[test]
fn suggestions_name_what_the_halt_is_about() {
    let failing = timeline(vec![
        commit(1).tests(red(1, &["a"], 9)),
        commit(2).tests(red(2, &["suite::x", "suite::y"], 9)),
    ]);
    let stalled = suggestions(HaltReason::Stalled, "repeated-failures", &failing);
    assert_eq!(stalled[0], "read the full error of suite::x: andon test");
    assert!(stalled.iter().any(|line| line.contains("best commit so far (1 failing test): git switch -c")));
    assert!(stalled.last().is_some_and(|line| line.contains("andon resume")));

    let idle = timeline(vec![commit(1).empty(), commit(1).empty()]);
    insta::assert_snapshot!(suggestions(HaltReason::Stalled, "unchanged-diff", &idle)[0], @"say in the task which file has to change: the last iterations changed nothing");

    let swinging = timeline(vec![commit(1), commit(2), commit(1), commit(2)]);
    let named = |at: usize| swinging.iterations[at].commit.map(|commit| commit.short()).unwrap_or_default();
    let expected = format!("choose between the two states: git diff {} {}", named(2), named(3));
    let advised = suggestions(HaltReason::Oscillating, "oscillation", &swinging);
    assert_eq!(advised[0], expected);
    assert!(advised.iter().any(|line| line.starts_with("update the documents: ")), "{advised:?}");

    let stopped = suggestions(HaltReason::UserStop, "user-stop", &failing);
    assert_eq!(stopped.len(), 1);
}

#[test]
fn the_budget_is_raised_for_work_that_goes_well_and_the_task_split_otherwise() {
    let well = timeline(vec![
        commit(1).number(99).tests(red(1, &["a", "b"], 9)),
        commit(2).number(100).tests(red(2, &["a"], 9)),
    ]);
    let first = |line: &Timeline| suggestions(HaltReason::BudgetExceeded, "iteration-cap", line)[0].clone();
    assert!(first(&well).ends_with("iteration-cap = { max = 200 }"));
    assert!(first(&timeline(vec![commit(1).number(100)])).starts_with("split the task"));
}

/// Code modified, tests, documentation; the prompt.
type Case = (Bit, Option<TestEvidence>, Option<Bit>, Option<&'static str>);

#[test]
fn a_task_is_done_only_when_its_code_is_tested_and_passes() {
    let run = "run: andon test";
    let table: [Case; 11] = [
        (Bit::No, None, None, Some(run)),
        (Bit::Yes, None, None, Some(run)),
        (Bit::Unknown, None, None, Some(run)),
        (Bit::Yes, Some(green(1, 9)), None, None),
        (Bit::Yes, Some(red(1, &["a"], 9)), None, Some("fix them, then run: andon test")),
        (Bit::No, Some(red(1, &["a"], 9)), None, Some("fix them, then run: andon test")),
        (Bit::Yes, Some(other(1, TestStatus::NoTests)), None, Some(run)),
        (Bit::Yes, Some(other(1, TestStatus::TimedOut)), None, Some(run)),
        (Bit::Yes, Some(green(1, 9)), Some(Bit::Yes), None),
        (Bit::Yes, Some(green(1, 9)), Some(Bit::Unknown), None),
        (Bit::Yes, Some(green(1, 9)), Some(Bit::No), Some("update the documentation that names it")),
    ];
    for (modified, tests, docs, expected) in table {
        let bits = dirty(modified, tests.as_ref().map_or(Tests::Missing, Tests::Ran), docs);
        let prompt = match bits.completion() {
            Completion::Clean => None,
            Completion::Dirty { prompt, .. } => Some(prompt),
        };
        assert_eq!(prompt.as_deref(), expected, "{modified:?} {tests:?} {docs:?}");
    }
    let bits = dirty(Bit::Yes, Tests::Ran(&red(1, &["a"], 9)), None);
    assert_eq!((bits.tests_run, bits.tests_passing), (Bit::Yes, Bit::No));
    assert_eq!(dirty(Bit::Yes, Tests::Unasked, None).completion(), Completion::Clean);
    assert_eq!(dirty(Bit::Yes, Tests::Missing, None).tests_passing, Bit::Unknown);
}

proptest! {
    #[test]
    fn plans_never_panic(facts in facts::facts(), reason in prop::sample::select(HaltReason::ALL.to_vec())) {
        let line = fold(&facts, GAP);
        let decision = decide(vec![finding("oscillation", Level::Halt, reason.0)], None);
        let actions = plan(&decision, &line, &place());
        prop_assert_eq!(actions.len(), 2);
        for suggestion in suggestions(reason.0, "oscillation", &line) {
            prop_assert!(suggestion.chars().count() < 400);
        }
    }
}
