//! The signals that rules give: what is too weak to halt alone and counts together with others.

use std::collections::BTreeSet;

use super::rule::Rule;
use super::rules;
use super::situation::{Situation, Stops};
use crate::domain::decision::Stage;
use crate::domain::escalation::{Knobs, RING, Signal};
use crate::domain::findings::{Finding, Level};
use crate::domain::settings::{RuleSetting, RuleSettings};
use crate::history::{Strike, Timeline};

/// The signals of rules. The proxies of "signals and escalation" (docs/spec-map.md) are folds of their own, in `signals`.
const RULES: [Signal; 5] = [
    Signal::WeakChange,
    Signal::FailuresNotDecreasing,
    Signal::UndoChurn,
    Signal::ToolLoop,
    Signal::FileComebacks,
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
    let situation =
        Situation { timeline, stage: Stage::PostCommit, candidate: None, stops: Stops::NONE, episode: None };
    let hot = |signal: &Signal| {
        let Some(rule) = rules::co_occurrence::rule_of(*signal) else { return false };
        let mut setting = rule.setting(settings);
        if setting.level == Level::Off {
            return false;
        }
        if setting.level < Level::Warn {
            setting.to_mut().level = Level::Warn;
        }
        if *signal == Signal::ToolLoop {
            return rules::tool_loop::is_loop(timeline, &setting);
        }
        (rule.check)(&situation, &setting).is_some_and(|finding| finding.level >= Level::Warn)
    };
    let mut found: BTreeSet<Signal> = RULES.into_iter().filter(hot).collect();
    // What comes back in a file undoes hunks: that is one sign, seen twice.
    if found.contains(&Signal::UndoChurn) {
        found.remove(&Signal::FileComebacks);
    }
    found
}

/// `finding` as it is reported: a signal warns in the iteration that brings it, and is a note while it lasts, for
/// nobody learns from the same warning at every commit. It counts together with others all the same ([`signals`]).
pub(super) fn reported(
    finding: Finding,
    rule: &Rule,
    situation: &Situation<'_>,
    setting: &RuleSetting,
) -> Finding {
    // What can speak within a turn is asked several times an iteration.
    let judges_iterations = rule.about.signal.is_some() && !rule.stages.contains(&Stage::Event);
    if !judges_iterations || finding.level != Level::Warn {
        return finding;
    }
    let lasts = before_newest(situation.timeline).is_some_and(|timeline| {
        let earlier = Situation { timeline: &timeline, ..*situation };
        (rule.check)(&earlier, setting).is_some_and(|finding| finding.level >= Level::Warn)
    });
    if lasts { Finding { level: Level::Note, ..finding } } else { finding }
}

/// `timeline` as it was at the iteration before the newest, merges and the like left out.
fn before_newest(timeline: &Timeline) -> Option<Timeline> {
    let (_, earlier) = timeline.iterations.split_last()?;
    let at = earlier.iter().rposition(|one| one.strike == Strike::Candidate)?;
    Some(timeline.until(at + 1))
}

#[cfg(test)]
mod tests {
    use crate::detect::rules::{recurrence, weak_change};
    use crate::detect::testkit::checked;
    use crate::domain::change::Nature;
    use crate::domain::facts::CommitKind::Merge;
    use crate::domain::findings::Level;
    use crate::history::testkit::{Commit, commit};

    #[test]
    fn a_signal_warns_once_while_it_lasts() {
        let comments = |state: u8| {
            let own = commit(state).change(Nature::Comments, &[(1, state, state + 1)]);
            own.hunks(&[(state, state + 1)])
        };
        let level = |commits: Vec<Commit>| checked(&weak_change::RULE, commits).map(|finding| finding.level);
        let row = |states: &[u8]| states.iter().copied().map(comments).collect::<Vec<_>>();
        assert_eq!(level(row(&[1, 2])), None);
        assert_eq!(level(row(&[1, 2, 3])), Some(Level::Warn), "it comes up");
        assert_eq!(level(row(&[1, 2, 3, 4])), Some(Level::Note), "it lasts");
        let mut merged = row(&[1, 2, 3, 4, 5]);
        merged[3] = merged[3].clone().kind(Merge);
        assert_eq!(level(merged), Some(Level::Note), "a merge ends nothing");
        let mut again = row(&[1, 2, 3, 4, 5, 6, 7]);
        again[3] = commit(40);
        assert_eq!(level(again), Some(Level::Warn), "it comes up again");
    }

    #[test]
    fn what_is_configured_to_refuse_is_reported_each_time() {
        let back = |states: &[u8]| states.iter().map(|state| commit(*state)).collect::<Vec<_>>();
        let level = |states: &[u8], level: Level| {
            let found = crate::detect::testkit::checked_at(&recurrence::RULE, back(states), level);
            found.map(|finding| finding.level)
        };
        assert_eq!(level(&[1, 2, 1], Level::Warn), Some(Level::Warn));
        assert_eq!(level(&[1, 2, 1, 2], Level::Warn), Some(Level::Note));
        assert_eq!(level(&[1, 2, 1, 2], Level::Block), Some(Level::Block));
    }
}
