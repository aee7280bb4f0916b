//! Properties of every rule.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::domain::{HaltReason, ParamSpec, ParamValue, Presence, Stage};
use crate::history::{Timeline, fold};
use crate::testkit::{GAP, arbitrary as facts, commit, green, red, run as test_run, timeline};

/// The file of a rule, without its tests; `None` for a budget, which is a row of one.
fn source(rule: &Rule) -> Option<String> {
    let name = rule.id.replace('-', "_");
    let rules = format!("{}/src/detect/rules", env!("CARGO_MANIFEST_DIR"));
    let read = |name: &str| std::fs::read_to_string(format!("{rules}/{name}.rs"));
    let Ok(text) = read(&name).or_else(|_| read(&format!("{name}/mod"))) else {
        let declared = format!("    {} = Budget {{\n        id: \"{}\",", name.to_uppercase(), rule.id);
        assert!(read("budgets").unwrap().contains(&declared), "{} has no file and is no budget", rule.id);
        return None;
    };
    text.split("#[cfg(test)]").next().map(str::to_owned)
}

const STAGES: [Stage; 9] = [
    Stage::PreCommit,
    Stage::Halts,
    Stage::PostCommit,
    Stage::PrePush,
    Stage::Complete,
    Stage::Check,
    Stage::Replay,
    Stage::Turn,
    Stage::Event,
];

#[test]
fn ids_are_the_names_of_their_files() {
    for rule in REGISTRY {
        let declared = format!("(\"{}\", include_str!(", rule.id);
        assert!(source(rule).is_none_or(|source| source.contains(&declared)), "{}", rule.id);
    }
    let unique: BTreeSet<&str> = REGISTRY.iter().map(|rule| rule.id).collect();
    assert_eq!(unique.len(), REGISTRY.len());
    for id in unique {
        assert!(
            id.split('-').all(|word| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase()))
        );
        assert_eq!(rule(id).map(|rule| rule.id), Some(id));
    }
    assert!(rule("no-such-rule").is_none());
}

/// No rule has a window shorter than its parameters, also as they may be configured: what is kept holds the largest that
/// configuration takes, and a number without such a bound is compared with a running total.
#[test]
fn no_window_is_shorter_than_the_largest_parameter() {
    use crate::history::{MAX_CALLS, MAX_EDITS, MAX_ITERATIONS, MAX_OUTPUTS, MAX_TURNS};
    // Twice the largest number of records is read, and two reverts of each stretch count.
    for kept in [MAX_CALLS, MAX_EDITS, MAX_OUTPUTS, MAX_TURNS, MAX_ITERATIONS / 2] {
        assert!(kept as u64 >= ParamSpec::WINDOW);
    }
    let mut totals = Vec::new();
    for rule in REGISTRY {
        let counts = rule.params.iter().filter_map(|spec| {
            if let ParamValue::Count(default) = spec.default() { Some((spec, default)) } else { None }
        });
        for (spec, default) in counts {
            assert!((spec.min..=spec.max).contains(&default), "{}.{}", rule.id, spec.name);
            if spec.max > ParamSpec::WINDOW && !spec.rises {
                assert_eq!(rule.reads, RuleInput::Totals, "{}.{} reads a window", rule.id, spec.name);
                totals.push(format!("{}.{}", rule.id, spec.name));
            }
        }
    }
    // Each of these is counted up, however long it takes.
    totals.sort();
    let counted = "context-window.estimate_lines context-window.estimate_percent context-window.window \
                   iteration-cap.max red-runs.max red-runs.same red-runs.switches refused-commits.max \
                   refused-commits.warn repeated-compaction.times";
    assert_eq!(totals.join(" "), counted);
}

#[test]
fn every_rule_is_documented_and_asked_somewhere() {
    for rule in REGISTRY {
        let Docs { trips, why, example, tune, source } = rule.docs();
        for text in [rule.summary(), &trips, &why, &source, &example, &tune] {
            assert!(text.len() > 8, "{}: {text:?}", rule.id);
            assert!(!text.contains("  ["), "{}: a broken line in {text:?}", rule.id);
        }
        assert!(tune.contains(rule.id), "{}: how to tune names the rule", rule.id);
        assert!(source.starts_with("docs/spec-map.md: "), "{}: {source}", rule.id);
        assert!(
            !rule.stages.is_empty() && (rule.level > Level::Off || rule.id == "docs-not-updated"),
            "{}",
            rule.id
        );
        let named: Vec<&str> = rule.params.iter().map(|param| param.name).collect();
        let docs = rule.param_docs().lines().map(|line| line.split_once(": ").unwrap());
        let documented: Vec<&str> =
            docs.filter(|(_, doc)| doc.ends_with('.')).map(|(name, _)| name).collect();
        assert_eq!(documented, named, "{}: a sentence for each parameter, in order", rule.id);
        for param in rule.params {
            assert!(param.name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'), "{}", param.name);
            if let ParamValue::Count(count) | ParamValue::Limit(Some(count)) = param.default() {
                assert!(count >= param.min, "{}.{}", rule.id, param.name);
            }
        }
    }
}

#[test]
fn every_parameter_is_declared_and_read() {
    for rule in REGISTRY {
        let file = rule.id;
        let Some(source) = source(rule) else { continue };
        let declared = source.lines().filter_map(|line| line.split("const ").nth(1));
        let declared: Vec<&str> =
            declared.filter_map(|rest| rest.split_once(": Param<")).map(|(name, _)| name).collect();
        // The patterns of subjects are shared, and read by the table of excuses.
        let shared =
            ["GOING_BACK", "EMPTY_ON_PURPOSE"].iter().any(|list| source.contains(&format!("{list}.spec")));
        assert!(!shared || source.contains("excuse(RULE.id"), "{file} honours no excuse");
        assert_eq!(declared.len() + usize::from(shared), rule.params.len(), "{file}");
        for name in declared {
            assert!(
                source.contains(&format!("(&{name})")) || name == "EXEMPT" || rule.id == "co-occurrence",
                "{file}: {name} is not read"
            );
        }
        let unique: BTreeSet<&str> = rule.params.iter().map(|param| param.name).collect();
        assert_eq!(unique.len(), rule.params.len(), "{file}");
    }
}

#[test]
fn the_levels_and_reasons_are_those_of_the_design() {
    let expected = [
        ("unchanged-diff", Level::Halt, HaltReason::Stalled, "CHECKPOINT.md"),
        ("idle-turns", Level::Halt, HaltReason::Stalled, "CHECKPOINT.md"),
        ("repeated-output", Level::Halt, HaltReason::Stalled, "CHECKPOINT.md"),
        ("weak-change", Level::Halt, HaltReason::Stalled, "CHECKPOINT.md"),
        ("repeated-failures", Level::Halt, HaltReason::Stalled, "CHECKPOINT.md"),
        ("failures-not-decreasing", Level::Warn, HaltReason::Stalled, "CHECKPOINT.md"),
        ("oscillation", Level::Halt, HaltReason::Oscillating, "CHECKPOINT.md"),
        ("output-oscillation", Level::Halt, HaltReason::Oscillating, "CHECKPOINT.md"),
        ("file-comebacks", Level::Warn, HaltReason::Oscillating, "CHECKPOINT.md"),
        ("recurrence", Level::Warn, HaltReason::Oscillating, "CHECKPOINT.md"),
        ("undo-churn", Level::Warn, HaltReason::Oscillating, "CHECKPOINT.md"),
        ("reverted-attempts", Level::Halt, HaltReason::Oscillating, "CHECKPOINT.md"),
        ("rework", Level::Halt, HaltReason::Stalled, "CHECKPOINT.md"),
        ("verdict-split", Level::Warn, HaltReason::Stalled, "CHECKPOINT.md"),
        ("co-occurrence", Level::Halt, HaltReason::Stalled, "CHECKPOINT.md"),
        ("consecutive-failures", Level::Halt, HaltReason::RepeatedError, "BLOCKER_REPORT.md"),
        ("repeated-error", Level::Note, HaltReason::RepeatedError, "BLOCKER_REPORT.md"),
        ("tool-loop", Level::Halt, HaltReason::RepeatedError, "CHECKPOINT.md"),
        ("repeated-edit", Level::Halt, HaltReason::Stalled, "CHECKPOINT.md"),
        ("same-refusal", Level::Halt, HaltReason::RepeatedError, "CHECKPOINT.md"),
        ("guard-disarmed", Level::Halt, HaltReason::Stalled, "CHECKPOINT.md"),
        ("red-runs", Level::Halt, HaltReason::Stalled, "CHECKPOINT.md"),
        ("refused-commits", Level::Halt, HaltReason::Stalled, "CHECKPOINT.md"),
        ("nothing-new", Level::Halt, HaltReason::Stalled, "CHECKPOINT.md"),
        ("iteration-cap", Level::Halt, HaltReason::BudgetExceeded, "CHECKPOINT.md"),
        ("node-turns", Level::Halt, HaltReason::BudgetExceeded, "CHECKPOINT.md"),
        ("node-runtime", Level::Halt, HaltReason::BudgetExceeded, "CHECKPOINT.md"),
        ("cycle-iterations", Level::Halt, HaltReason::BudgetExceeded, "CHECKPOINT.md"),
        ("cycle-runtime", Level::Halt, HaltReason::BudgetExceeded, "CHECKPOINT.md"),
        ("cycle-cost", Level::Halt, HaltReason::BudgetExceeded, "CHECKPOINT.md"),
        ("turn-timeout", Level::Halt, HaltReason::BudgetExceeded, "CHECKPOINT.md"),
        ("turn-tokens", Level::Halt, HaltReason::BudgetExceeded, "CHECKPOINT.md"),
        ("context-window", Level::Block, HaltReason::BudgetExceeded, "CHECKPOINT.md"),
        ("untested-edit", Level::Block, HaltReason::Stalled, "CHECKPOINT.md"),
        ("failing-tests", Level::Block, HaltReason::RepeatedError, "CHECKPOINT.md"),
        ("docs-not-updated", Level::Off, HaltReason::Stalled, "CHECKPOINT.md"),
        ("test-weakening", Level::Warn, HaltReason::Stalled, "CHECKPOINT.md"),
        ("identity-drift", Level::Block, HaltReason::UserStop, "CHECKPOINT.md"),
        ("hook-bypass", Level::Note, HaltReason::Stalled, "CHECKPOINT.md"),
        ("user-stop", Level::Halt, HaltReason::UserStop, "CHECKPOINT.md"),
    ];
    let settled = REGISTRY.iter().filter(|rule| expected.iter().any(|(id, ..)| *id == rule.id));
    let found = settled.map(|rule| (rule.id, rule.level, rule.reason, rule.report_file.file_name()));
    assert_eq!(found.collect::<Vec<_>>(), expected);
    assert_eq!(defaults().len(), REGISTRY.len());
}

fn situation(timeline: &Timeline, stage: Stage) -> Situation<'_> {
    Situation { timeline, stage, candidate: None, stops: Stops::NONE, episode: None }
}

#[test]
fn rules_that_are_off_or_of_another_stage_are_silent() {
    let line = timeline(vec![commit(1).empty(), commit(1).empty()]);
    let found = |stage, settings: &RuleSettings| -> Vec<&str> {
        run(&situation(&line, stage), settings).iter().map(|finding| finding.rule).collect()
    };
    assert_eq!(found(Stage::PostCommit, &defaults()), ["unchanged-diff"]);
    assert_eq!(found(Stage::Replay, &defaults()), ["unchanged-diff"]);
    assert_eq!(found(Stage::PreCommit, &defaults()), [""; 0]);
    let mut off = defaults();
    off.entry("unchanged-diff").and_modify(|setting| setting.level = Level::Off);
    assert_eq!(found(Stage::PostCommit, &off), [""; 0]);
    assert_eq!(found(Stage::PostCommit, &RuleSettings::new()), ["unchanged-diff"], "defaults fill in");
}

#[test]
fn the_same_failure_three_times_is_a_repeated_failure_first() {
    let commits = [1, 2, 3].map(|state| commit(state).tests(red(state, &["a"], 9)));
    let line = timeline(commits.into());
    let found = run(&situation(&line, Stage::PostCommit), &defaults());
    let halting: Vec<&str> =
        found.iter().filter(|finding| finding.level == Level::Halt).map(|finding| finding.rule).collect();
    assert_eq!(halting, ["repeated-failures", "consecutive-failures"]);
}

#[test]
fn work_that_goes_well_trips_nothing() {
    let mut commits = Vec::new();
    for (state, failing) in (1_u8..).zip([0_usize, 5, 3, 3, 2, 0, 0, 4, 1, 0]) {
        let names = &["a", "b", "c", "d", "e"][..failing];
        let tests = if failing == 0 { green(state, 9) } else { red(state, names, 9) };
        commits.push(commit(state).tests(tests));
        commits.push(commit(state).subject("docs"));
        let line = timeline(commits.clone());
        assert_eq!(run(&situation(&line, Stage::PostCommit), &defaults()), [], "after state {state}");
    }
}

fn evidence() -> impl Strategy<Value = EvidenceState> {
    facts::evidence().prop_flat_map(|tests| {
        let other = EvidenceState::OtherCode {
            run: Box::new(test_run(tests.clone())),
            differing: Vec::new(),
            total: 0,
            staging: Staging::OnlyUnstaged,
        };
        prop_oneof![
            Just(EvidenceState::Unconfigured),
            Just(EvidenceState::NeverRan),
            Just(EvidenceState::Void(Box::new(test_run(tests.clone())))),
            Just(EvidenceState::Tested(Box::new(tests))),
            Just(other),
        ]
    })
}

proptest! {
    #[test]
    fn rules_never_panic_and_keep_their_bounds(
        facts in facts::facts(),
        evidence in evidence(),
        count in prop_oneof![0_u64..5, Just(u64::MAX)],
        level in prop::sample::select(vec![Level::Note, Level::Warn, Level::Block, Level::Halt]),
    ) {
        let line = fold(&facts, GAP);
        let candidate = Candidate { code_changed: CodeChange::Changed, evidence, ..Candidate::default() };
        let stops = Stops { stop: Presence::Present, pause: Presence::Absent };
        let mut settings = defaults();
        for setting in settings.values_mut() {
            setting.level = level;
            for value in setting.params.values_mut() {
                if matches!(value, ParamValue::Limit(_)) {
                    *value = ParamValue::Limit(Some(count));
                }
                if matches!(value, ParamValue::Count(_)) {
                    *value = ParamValue::Count(count);
                }
            }
        }
        for stage in STAGES {
            let situation = Situation { timeline: &line, stage, candidate: Some(&candidate), stops, episode: None };
            for finding in run(&situation, &settings) {
                prop_assert!(finding.level <= level || finding.rule == "hook-bypass");
                prop_assert!(finding.level > Level::Off);
                prop_assert!(finding.message().chars().count() < 2000);
                prop_assert!(finding.evidence.len() <= 300);
            }
        }
    }

    #[test]
    fn defaults_never_panic(facts in facts::facts()) {
        let line = fold(&facts, GAP);
        for stage in STAGES {
            for finding in run(&situation(&line, stage), &defaults()) {
                prop_assert!(rule(finding.rule).is_some());
            }
        }
    }
}
