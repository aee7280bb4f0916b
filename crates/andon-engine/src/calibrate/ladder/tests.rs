use proptest::prelude::*;

use super::*;
use andon_core::detect::calibration;
use andon_core::domain::{EventKind, Fact};
use andon_core::history::{EventEffect, Fold};
use andon_testkit::facts::{GAP, arbitrary as facts, call, event, turn_end};

/// The run of `facts`, and by rule the loosest step at which any of them halts, with every rule asked at every step.
fn both(config: &Config, facts: Vec<Fact>) -> (Run, Vec<Score>) {
    let ladder = Ladder::new(config);
    let mut run = ladder.run();
    let mut all = ladder.run();
    let mut fold = Fold::new(GAP);
    for fact in facts {
        let commit = matches!(fact, Fact::Commit(_));
        let stage = match fold.push(fact) {
            EventEffect::Nothing => continue,
            EventEffect::Within => Stage::Event,
            EventEffect::Iteration if commit => Stage::PostCommit,
            EventEffect::Iteration => Stage::Turn,
        };
        ladder.ask(fold.timeline(), stage, &mut run);
        for (step, settings) in ladder.steps.iter().enumerate() {
            for (at, halts) in
                asked_plainly(&ladder, fold.timeline(), stage, settings).into_iter().enumerate()
            {
                if halts {
                    all.halted(at, step);
                }
            }
        }
    }
    (run, all.scores)
}

/// The rules that halt, as a replay asks each.
fn asked_plainly(
    ladder: &Ladder<'_>,
    timeline: &Timeline,
    stage: Stage,
    settings: &RuleSettings,
) -> Vec<bool> {
    let loops = stage != Stage::Event;
    let episode = loops.then(|| uncertainty::episode(timeline, settings, ladder.mode)).flatten();
    let situation =
        Situation { timeline, stage, candidate: None, stops: Stops::NONE, episode: episode.as_ref() };
    let halts = |rule: &'static Rule| {
        detect::evaluate(rule, &situation, settings).is_some_and(|finding| finding.level == Level::Halt)
    };
    ladder.rules().map(halts).collect()
}

/// A run of few different calls, with turns and edits among them: loops of every kind come and go.
fn calls() -> impl Strategy<Value = Vec<Fact>> {
    let one =
        (prop::sample::select(vec!["Bash", "Bash", "Read", "Edit"]), 0_u8..3, prop::option::of(0_u8..2));
    let what = prop_oneof![
        12 => one.prop_map(|(tool, args, answer)| event(EventKind::ToolCall(call(tool, args, answer)))),
        1 => (0_u8..3).prop_map(turn_end),
    ];
    prop::collection::vec(what, 0..90)
}

proptest! {
    #[test]
    fn a_run_is_halted_as_far_up_as_any_step_halts_it(facts in prop_oneof![facts::facts(), calls()]) {
        let config = andon_config::load(&[]).unwrap();
        let (run, all) = both(&config, facts);
        let names = || Ladder::new(&config).rules().map(|rule| rule.id).collect::<Vec<_>>();
        prop_assert_eq!(&run.scores, &all, "{:?}", names());
    }
}

/// Calls: those at `equal` are the same, and each of the others is different.
fn stream(equal: &[u8], count: u8) -> Vec<Fact> {
    let one =
        |at| if equal.contains(&at) { call("Bash", 0, Some(0)) } else { call("Bash", at + 9, Some(at + 9)) };
    (1..=count).map(|at| event(EventKind::ToolCall(one(at)))).collect()
}

#[test]
fn what_halts_at_a_looser_step_counts_as_halted_at_the_stricter_ones() {
    let config = andon_config::load(&[]).unwrap();
    // Five of ten halt as configured (5 of 10); of nine, which is what 0.9 looks at, only four are equal.
    let facts = stream(&[1, 3, 6, 8, 10], 10);
    let (run, _) = both(&config, facts);
    assert_eq!(run.score(), Some(ladder::AS_CONFIGURED));
    for step in 0..=ladder::AS_CONFIGURED {
        assert_eq!(calibration::halted_at(&[run.score()], step), 1, "at {step}");
    }
}

#[test]
fn a_rule_is_asked_whether_another_one_has_halted_or_not() {
    let config = andon_config::load(&[]).unwrap();
    let edits: Vec<Fact> = (0..12).map(|_| event(EventKind::ToolCall(call("Edit", 1, Some(1))))).collect();
    let (run, all) = both(&config, edits);
    let of = |id: &str| {
        let at = Ladder::new(&config).rules().position(|rule| rule.id == id).unwrap();
        assert_eq!(run.scores[at], all[at]);
        run.scores[at]
    };
    assert!(of("repeated-edit").is_some() && of("tool-loop").is_some(), "{:?}", run.scores);
}

#[test]
fn what_a_run_has_not_seen_is_not_asked() {
    let config = andon_config::load(&[]).unwrap();
    let (run, _) = both(&config, stream(&[], 3));
    let seen: Vec<&str> = Ladder::new(&config)
        .rules()
        .zip(&run.seen)
        .filter_map(|(rule, seen)| seen.then_some(rule.id))
        .collect();
    assert_eq!(seen, ["tool-loop", "repeated-edit", "same-refusal", "nothing-new"]);
}
