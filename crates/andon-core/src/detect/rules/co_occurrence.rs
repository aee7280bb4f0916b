//! `co-occurrence`: several signs of being stuck at once, iteration after iteration: a person is called.

use super::{
    failures_not_decreasing, file_comebacks, recurrence, reverted_attempts, rework, tool_loop, undo_churn,
    verdict_split, weak_change,
};
use crate::detect::prelude::*;
use crate::domain::{Detail, Episode, EscalationCall, EscalationMode, Knobs};

const ROUNDS: Param<u64> = Param::count("rounds", 2, 1);
const STAGNATION_LIMIT: Param<u64> = Param::count("stagnation_limit", 5, 2);

/// The rule that takes the signals of others together.
pub static RULE: Rule = Rule {
    about: About::new(EventClass::Escalation),
    params: &[ROUNDS.spec, STAGNATION_LIMIT.spec],
    ..Rule::of_iterations("co-occurrence", include_str!("co_occurrence.md"), check)
};

/// The rules that give a signal.
static SIGNALLING: [&Rule; 9] = [
    &recurrence::RULE,
    &verdict_split::RULE,
    &weak_change::RULE,
    &failures_not_decreasing::RULE,
    &undo_churn::RULE,
    &tool_loop::RULE,
    &file_comebacks::RULE,
    &reverted_attempts::RULE,
    &rework::RULE,
];

/// The rule that gives a signal; none gives `no-change`.
pub(in crate::detect) fn rule_of(signal: Signal) -> Option<&'static Rule> {
    SIGNALLING.into_iter().find(|rule| rule.about.signal == Some(signal))
}

/// The name of a signal in JSON and messages: the id of its rule.
pub fn signal_name(signal: Signal) -> &'static str {
    rule_of(signal).map_or("no-change", |rule| rule.id)
}

/// The knobs of the fold over iterations, but for those of other rules.
pub(in crate::detect) fn knobs(setting: &RuleSetting) -> Knobs {
    Knobs {
        iterations: setting.count(&ROUNDS),
        no_change_min: setting.count(&STAGNATION_LIMIT).saturating_sub(1),
        ..Knobs::default()
    }
}

/// The sentence about `names`, and the one for a perpetual run that another finding has halted.
fn detail(names: &[&str], episode: &Episode) -> Detail {
    let (signs, iterations) =
        (words::count(names.len(), "warning sign"), words::count(episode.consecutive, "iteration"));
    let lasted = format!("{signs} lasted for {iterations} ({})", names.join(", "));
    let halted =
        format!("{lasted}; perpetual mode: this is notify-only, but another finding has halted the run");
    match episode.mode {
        EscalationMode::Halting => Detail::new(lasted),
        EscalationMode::PerpetualHalted => Detail::new(halted),
        EscalationMode::Perpetual => {
            Detail::new(lasted + "; perpetual mode: this is notify-only and does not halt the run")
                .or_in_halt(halted)
        }
    }
}

fn check(situation: &Situation<'_>, setting: &RuleSetting) -> Option<Finding> {
    let episode = situation.episode.filter(|episode| episode.call == EscalationCall::Escalate)?;
    let names: Vec<&'static str> = episode.hot.iter().map(|signal| signal_name(*signal)).collect();
    let level = match episode.mode {
        EscalationMode::Halting => setting.level,
        EscalationMode::Perpetual | EscalationMode::PerpetualHalted => setting.level.min(Level::Warn),
    };
    let mut evidence: Vec<Evidence> =
        names.iter().map(|name| Evidence::Text(format!("signal {name}"))).collect();
    evidence.extend(situation.timeline.newest().and_then(|newest| newest.commit).map(Evidence::Commit));
    Some(Finding { evidence, ..RULE.finding(level, detail(&names, episode)) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::situation::Stops;
    use crate::domain::{EntryId, Episode, Signal, Stage, StandingHalt};
    use crate::{history::Timeline, testkit::GAP};

    fn asked(call: EscalationCall, mode: EscalationMode) -> Option<Finding> {
        let episode = Episode {
            call,
            consecutive: 2,
            hot: vec![Signal::NoChange, Signal::WeakChange],
            escalated_at: None,
            mode,
        };
        let line = Timeline::new(GAP);
        let situation = Situation {
            timeline: &line,
            stage: Stage::PostCommit,
            candidate: None,
            stops: Stops::NONE,
            episode: Some(&episode),
        };
        check(&situation, &RULE.defaults())
    }

    #[test]
    fn it_speaks_when_a_person_is_to_be_called_and_only_then() {
        assert!(asked(EscalationCall::Wait, EscalationMode::Halting).is_none());
        let finding = asked(EscalationCall::Escalate, EscalationMode::Halting).unwrap();
        assert_eq!(finding.level, Level::Halt);
        assert_eq!(finding.message(), "2 warning signs lasted for 2 iterations (no-change, weak-change)");
        assert!(
            finding.help.iter().any(|help| help.contains("co-occurrence = \"off\"")),
            "opt-out at the site"
        );
    }

    #[test]
    fn perpetual_mode_tells_and_does_not_halt() {
        let finding = asked(EscalationCall::Escalate, EscalationMode::Perpetual).unwrap();
        assert_eq!(finding.level, Level::Warn);
        insta::assert_snapshot!(finding.message(), @"2 warning signs lasted for 2 iterations (no-change, weak-change); perpetual mode: this is notify-only and does not halt the run");
    }

    #[test]
    fn perpetual_mode_does_not_say_that_a_halted_run_goes_on() {
        let told = asked(EscalationCall::Escalate, EscalationMode::Perpetual).unwrap();
        let halts = Finding { level: Level::Halt, rule: "oscillation", ..told.clone() };
        let place = crate::policy::HaltPlace {
            head: None,
            branch: None,
            worktree: "main".into(),
            at: crate::domain::Timestamp(9),
            client: None,
        };
        let standing = StandingHalt {
            id: EntryId([1; 32]),
            halt: crate::policy::halt(&told, &Timeline::new(GAP), &place),
        };
        for halted in [
            crate::policy::decide(vec![told.clone(), halts], None),
            crate::policy::decide(vec![told.clone()], Some(standing)),
        ] {
            let said = halted.findings.iter().find(|found| found.rule == "co-occurrence").unwrap().message();
            assert!(!said.contains("does not halt") && said.contains("has halted the run"), "{said}");
        }
        assert!(crate::policy::decide(vec![told], None).findings[0].message().contains("does not halt"));
    }
}
