//! The signals that rules give: what is too weak to halt alone and counts together with others.

use std::collections::BTreeSet;

use super::rule::Rule;
use super::rules;
use super::situation::{Situation, Stops};
use crate::domain::decision::Stage;
use crate::domain::escalation::{Knobs, Signal};
use crate::domain::findings::Level;
use crate::domain::settings::{RuleSetting, RuleSettings};
use crate::history::Timeline;

/// The rules that give one. The proxies of `uncertainty-escalation.md` are folds of their own, in `escalation`.
const RULES: [(&Rule, Signal); 3] = [
    (&rules::weak_change::RULE, Signal::WeakChange),
    (&rules::failures_not_decreasing::RULE, Signal::FailuresNotDecreasing),
    (&rules::undo_churn::RULE, Signal::UndoChurn),
];

/// The knobs of `co-occurrence`; `None` while it is off.
pub fn knobs(settings: &RuleSettings) -> Option<Knobs> {
    let rule = &rules::co_occurrence::RULE;
    let setting = settings.get(rule.id).cloned().unwrap_or_else(|| rule.defaults());
    (setting.level != Level::Off).then(|| rules::co_occurrence::knobs(&setting))
}

/// The signals of rules at the end of `timeline`. A rule that is off gives none; one that was turned down to a note
/// still does.
pub fn signals(timeline: &Timeline, settings: &RuleSettings) -> BTreeSet<Signal> {
    let situation =
        Situation { timeline, stage: Stage::PostCommit, candidate: None, stops: Stops::NONE, episode: None };
    let hot = |(rule, _): &&(&Rule, Signal)| {
        let setting = settings.get(rule.id).cloned().unwrap_or_else(|| rule.defaults());
        if setting.level == Level::Off {
            return false;
        }
        let setting = RuleSetting { level: setting.level.max(Level::Warn), ..setting };
        (rule.check)(&situation, &setting).is_some_and(|finding| finding.level >= Level::Warn)
    };
    RULES.iter().filter(hot).map(|(_, signal)| *signal).collect()
}
