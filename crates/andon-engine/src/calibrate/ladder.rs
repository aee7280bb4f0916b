//! The rules, asked at every step of the ladder.
//!
//! Each rule is judged by itself, whether another one has halted the run or not, and for each run the loosest step at
//! which it halts is kept. The steps above that one are tried from the loosest down, so that a halt there is never
//! missed. A good run costs little all the same: most rules declare that a halt at larger counts is one at smaller
//! ones, or that nothing is found there where nothing is found at the smallest ones ([`Nesting`]), and one question
//! answers for all steps.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use crate::range::uncertainty;
use andon_config::Config;
use andon_core::detect::ladder::{self, LADDER, Score};
use andon_core::detect::{self, Rule, Situation, Stops};
use andon_core::domain::{Episode, EscalationMode, Level, Nesting, RuleSetting, RuleSettings, Signal, Stage};
use andon_core::history::Timeline;

/// The result of one good run.
#[derive(Debug, Clone)]
pub(super) struct Run {
    /// The highest step at which each rule of the ladder halted it.
    pub(super) scores: Vec<Score>,
    /// For each rule of the ladder, true when the run has what the rule judges.
    pub(super) seen: Vec<bool>,
    /// The budgets that halted it, as configured.
    pub(super) budgets: BTreeSet<&'static str>,
}

impl Run {
    /// Returns the highest step of the ladder at which any rule halts it.
    pub(super) fn score(&self) -> Score {
        self.scores.iter().copied().max().flatten()
    }

    /// It is halted at `step` by the rule at that place.
    pub(super) fn halted(&mut self, at: usize, step: usize) {
        if let Some(score) = self.scores.get_mut(at) {
            *score = (*score).max(Some(step));
        }
    }
}

/// The rules of the ladder at each step, and the budgets outside of it.
pub(super) struct Ladder<'a> {
    pub(super) config: &'a Config,
    mode: EscalationMode,
    steps: Vec<RuleSettings>,
    rungs: Vec<RuleLadder>,
    budgets: Vec<(&'static Rule, RuleSetting)>,
    /// For each signal the first step whose rule is set as at that step.
    same: BTreeMap<Signal, Vec<usize>>,
}

/// One rule, and its different settings.
struct RuleLadder {
    rule: &'static Rule,
    /// Each with the last step that has it, the strictest first.
    settings: Vec<(usize, RuleSetting)>,
}

impl<'a> Ladder<'a> {
    pub(super) fn new(config: &'a Config) -> Self {
        let rules = &config.rules;
        let steps: Vec<RuleSettings> = (0..LADDER.len()).map(|step| ladder::at_step(rules, step)).collect();
        let of_ladder = detect::REGISTRY.iter().filter(|rule| ladder::is_on_ladder(rule, rules));
        let rungs = of_ladder.map(|rule| RuleLadder::new(rule, &steps)).collect();
        let budgets = detect::REGISTRY.iter().filter(|rule| ladder::is_budget(rule, rules));
        let budgets = budgets.map(|rule| (*rule, rule.setting(rules).into_owned())).collect();
        let signalling = detect::REGISTRY.iter().filter_map(|rule| Some((rule.about.signal?, rule)));
        let same = signalling.map(|(signal, rule)| {
            let first = |step: &RuleSettings| {
                let is_same = |other: &RuleSettings| other.get(rule.id) == step.get(rule.id);
                steps.iter().position(is_same).unwrap_or(0)
            };
            (signal, steps.iter().map(first).collect())
        });
        let same = same.collect();
        Self { config, mode: uncertainty::mode(config), steps, rungs, budgets, same }
    }

    /// A run about which nothing is known yet.
    pub(super) fn run(&self) -> Run {
        let count = self.rungs.len();
        Run { scores: vec![None; count], seen: vec![false; count], budgets: BTreeSet::new() }
    }

    /// The rules, in the order of a run's scores.
    pub(super) fn rules(&self) -> impl Iterator<Item = &'static Rule> + '_ {
        self.rungs.iter().map(|rungs| rungs.rule)
    }

    /// Asks the rules about the newest fact of `timeline`.
    pub(super) fn ask(&self, timeline: &Timeline, stage: Stage, run: &mut Run) {
        let asked = NewestFact { ladder: self, timeline, stage, hot: RefCell::default() };
        for (at, rungs) in self.rungs.iter().enumerate() {
            if !rungs.rule.stages.contains(&stage) {
                continue;
            }
            run.seen[at] = run.seen[at] || ladder::occurs(rungs.rule.about.judges, timeline);
            if run.seen[at]
                && let Some(step) = asked.loosest(rungs, run.scores[at])
            {
                run.halted(at, step);
            }
        }
        for (rule, setting) in &self.budgets {
            if !run.budgets.contains(rule.id) && asked.says(rule, setting, None) == Some(Level::Halt) {
                run.budgets.insert(rule.id);
            }
        }
    }
}

impl RuleLadder {
    fn new(rule: &'static Rule, steps: &[RuleSettings]) -> Self {
        let mut settings: Vec<(usize, RuleSetting)> = Vec::new();
        // The signals that it judges are set again at each step.
        let by_signals = is_by_signals(rule);
        for (step, all) in steps.iter().enumerate() {
            let setting = rule.setting(all).into_owned();
            match settings.last_mut().filter(|(_, last)| !by_signals && *last == setting) {
                Some((until, _)) => *until = step,
                None => settings.push((step, setting)),
            }
        }
        Self { rule, settings }
    }
}

/// True when a rule judges signals of other rules.
fn is_by_signals(rule: &Rule) -> bool {
    rule.id == detect::CO_OCCURRENCE.id
}

/// The newest fact under judgement.
struct NewestFact<'a> {
    ladder: &'a Ladder<'a>,
    timeline: &'a Timeline,
    stage: Stage,
    /// Signals that are known, by the length of the window, the signal and the first step set like this one.
    hot: RefCell<BTreeMap<(usize, Signal, usize), bool>>,
}

impl NewestFact<'_> {
    /// The loosest step beyond `known` at which a rule halts; none where there is none.
    fn loosest(&self, rungs: &RuleLadder, known: Score) -> Score {
        let beyond = |(step, _): &&(usize, RuleSetting)| known.is_none_or(|known| *step > known);
        let halts = |(step, setting): &&(usize, RuleSetting)| {
            let episode = is_by_signals(rungs.rule).then(|| self.episode(*step)).flatten();
            self.says(rungs.rule, setting, episode.as_ref()) == Some(Level::Halt)
        };
        let mut open = rungs.settings.iter().filter(beyond);
        let found = match rungs.rule.about.counts {
            Nesting::Nested => open.take_while(halts).last(),
            Nesting::Found => {
                let (_, strictest) = rungs.settings.first()?;
                self.says(rungs.rule, strictest, None)?;
                open.rfind(halts)
            }
            Nesting::Free => open.rfind(halts),
        };
        found.map(|(step, _)| *step)
    }

    /// The level of what a rule finds.
    fn says(&self, rule: &Rule, setting: &RuleSetting, episode: Option<&Episode>) -> Option<Level> {
        if !rule.stages.contains(&self.stage) {
            return None;
        }
        let (timeline, stage) = (self.timeline, self.stage);
        let situation = Situation { timeline, stage, candidate: None, stops: Stops::NONE, episode };
        rule.found(&situation, setting).map(|finding| finding.level)
    }

    /// The result of the signals at a step.
    fn episode(&self, step: usize) -> Option<Episode> {
        let settings = self.ladder.steps.get(step)?;
        let signals = |window: &Timeline| {
            detect::signals_by(&mut |signal| {
                let first = self.ladder.same.get(&signal).and_then(|same| same.get(step)).unwrap_or(&step);
                let key = (window.iterations.len(), signal, *first);
                let known = self.hot.borrow().get(&key).copied();
                known.unwrap_or_else(|| {
                    let hot = detect::is_hot(window, settings, signal);
                    self.hot.borrow_mut().insert(key, hot);
                    hot
                })
            })
        };
        uncertainty::episode_by(self.timeline, settings, self.ladder.mode, &signals)
    }
}

#[cfg(test)]
mod tests;
