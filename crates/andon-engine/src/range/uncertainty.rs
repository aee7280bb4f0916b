//! Computes the signals of the newest iterations, for the rule `co-occurrence` (docs/spec-map.md, signals and
//! escalation).

use std::collections::BTreeSet;

use andon_config::Config;
use andon_core::domain::{Episode, EscalationMode, RuleSettings, Signal};
use andon_core::{detect, history::Timeline, signals};

/// The result of the signals at the end of `timeline`. While the rule is off nothing is computed.
pub fn episode(timeline: &Timeline, rules: &RuleSettings, mode: EscalationMode) -> Option<Episode> {
    episode_by(timeline, rules, mode, &|window| detect::signals(window, rules))
}

/// The same, where `signals` gives the signals of the rules over a window.
pub fn episode_by(
    timeline: &Timeline,
    rules: &RuleSettings,
    mode: EscalationMode,
    signals: &dyn Fn(&Timeline) -> BTreeSet<Signal>,
) -> Option<Episode> {
    let knobs = detect::knobs(rules)?;
    signals::episode(timeline, signals, Some(&knobs), mode)
}

/// The effect of an escalation here.
pub fn mode(config: &Config) -> EscalationMode {
    match config.guard.perpetual {
        andon_config::Perpetual::No => EscalationMode::Halting,
        andon_config::Perpetual::Yes => EscalationMode::Perpetual,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use andon_core::domain::{EscalationCall, EventKind};
    use andon_testkit::facts::{arbitrary as facts, call, chain, commit, event, folded, turn_end};

    /// Turns without a change, with these many equal calls before the last but one of them.
    fn stagnant(turns: usize, calls: usize) -> Timeline {
        let mut facts = facts_of(turns, calls);
        facts.push(turn_end(1));
        folded(facts)
    }

    fn facts_of(turns: usize, calls: usize) -> Vec<andon_core::domain::Fact> {
        let mut facts = chain(vec![commit(1)]);
        facts.extend(vec![turn_end(1); turns]);
        facts.extend((0..calls).map(|_| event(EventKind::ToolCall(call("Bash", 1, Some(1))))));
        facts.push(turn_end(1));
        facts
    }

    #[test]
    fn a_soft_tool_loop_and_no_change_escalate_together_and_neither_alone() {
        let asked = |line: &Timeline| episode(line, &detect::defaults(), EscalationMode::Halting).unwrap();
        let found = asked(&stagnant(5, 3));
        assert_eq!(
            (found.call, found.hot),
            (EscalationCall::Escalate, vec![Signal::NoChange, Signal::ToolLoop])
        );
        let early = asked(&folded(facts_of(5, 3)));
        assert_eq!(
            early.call,
            EscalationCall::Wait,
            "one whole iteration: the calls came after the one before"
        );
        let calm = asked(&stagnant(5, 2));
        assert_eq!((calm.call, calm.hot), (EscalationCall::Wait, vec![Signal::NoChange]));
        let busy = asked(&stagnant(1, 3));
        assert_eq!((busy.call, busy.hot), (EscalationCall::Wait, vec![Signal::ToolLoop]));
        let mut settings = detect::defaults();
        settings.get_mut("tool-loop").unwrap().level = andon_core::domain::Level::Off;
        let off = episode(&stagnant(5, 3), &settings, EscalationMode::Halting).unwrap();
        assert_eq!((off.call, off.hot), (EscalationCall::Wait, vec![Signal::NoChange]));
    }

    proptest! {
        /// If the newest round has no two signals, the earlier ones are not looked at: the answer is the same.
        #[test]
        fn the_short_way_gives_the_answer_of_the_long_one(facts in facts::facts()) {
            let line = folded(facts);
            let settings = detect::defaults();
            let knobs = detect::knobs(&settings).unwrap();
            let rules = |window: &Timeline| detect::signals(window, &settings);
            let short = signals::episode(&line, &rules, Some(&knobs), EscalationMode::Halting);
            let long = signals::every_iteration(&line, &rules, &knobs, EscalationMode::Halting);
            prop_assert_eq!(short, Some(long));
        }
    }
}
