//! The signals that rules give: findings too weak to halt alone, which count together with others.

use std::collections::BTreeSet;

use super::rules;
use super::situation::{Situation, Stops};
use crate::domain::decision::Stage;
use crate::domain::escalation::{Knobs, RING, Signal};
use crate::domain::findings::Level;
use crate::domain::settings::{RuleSetting, RuleSettings};
use crate::history::Timeline;

/// The signals of rules. The proxies of "signals and escalation" (docs/spec-map.md) are folds of their own, in `signals`.
const RULES: [Signal; 7] = [
    Signal::WeakChange,
    Signal::FailuresNotDecreasing,
    Signal::UndoChurn,
    Signal::ToolLoop,
    Signal::FileComebacks,
    Signal::RevertedAttempts,
    Signal::Rework,
];

/// The knobs of `co-occurrence`, those of the rules behind the proxies included; `None` while it is off. A rule that
/// is off gives no signal.
pub fn knobs(settings: &RuleSettings) -> Option<Knobs> {
    let setting = rules::co_occurrence::RULE.setting(settings);
    let split = rules::verdict_split::RULE.setting(settings);
    let recurrence = rules::recurrence::RULE.setting(settings);
    let on = |setting: &RuleSetting| setting.level != Level::Off;
    let ring = usize::try_from(recurrence.count(&rules::recurrence::RING)).unwrap_or(RING).min(RING);
    on(&setting).then(|| Knobs {
        split_rounds: if on(&split) { split.count(&rules::verdict_split::ROUNDS) } else { u64::MAX },
        ring: if on(&recurrence) { ring } else { 0 },
        ..rules::co_occurrence::knobs(&setting)
    })
}

/// The signals of rules at the end of `timeline`. A rule that is off gives none; one that was turned down to a note
/// still does.
pub fn signals(timeline: &Timeline, settings: &RuleSettings) -> BTreeSet<Signal> {
    signals_by(&mut |signal| is_hot(timeline, settings, signal))
}

/// The same, by what `hot` says of each.
pub fn signals_by(hot: &mut dyn FnMut(Signal) -> bool) -> BTreeSet<Signal> {
    let mut found: BTreeSet<Signal> = RULES.into_iter().filter(|signal| hot(*signal)).collect();
    // What comes back in a file undoes hunks: that is one sign, seen twice.
    if found.contains(&Signal::UndoChurn) {
        found.remove(&Signal::FileComebacks);
    }
    // What undoes hunks rewrites them as well.
    if found.contains(&Signal::UndoChurn) || found.contains(&Signal::FileComebacks) {
        found.remove(&Signal::Rework);
    }
    found
}

/// Whether a rule gives that signal at the end of `timeline`.
pub fn is_hot(timeline: &Timeline, settings: &RuleSettings, signal: Signal) -> bool {
    let situation =
        Situation { timeline, stage: Stage::PostCommit, candidate: None, stops: Stops::NONE, episode: None };
    let Some(rule) = rules::co_occurrence::rule_of(signal) else { return false };
    let mut setting = rule.setting(settings);
    if setting.level == Level::Off {
        return false;
    }
    if setting.level < Level::Warn {
        setting.to_mut().level = Level::Warn;
    }
    if signal == Signal::ToolLoop {
        return rules::tool_loop::is_loop(timeline, &setting);
    }
    rule.found(&situation, &setting).is_some_and(|finding| finding.level >= Level::Warn)
}
