//! The rules applied to existing commits: the one judgement that `replay` and `check` share.

use crate::range::uncertainty;
use andon_config::Config;
use andon_core::detect::{self, Situation, Stops};
use andon_core::domain::decision::{Decision, Stage};
use andon_core::domain::settings::RuleSettings;
use andon_core::history::Timeline;
use andon_core::policy;

/// The newest iteration of `timeline` under `rules`; `config` says what an escalation does.
pub fn over(timeline: &Timeline, rules: &RuleSettings, config: &Config) -> Decision {
    let episode = uncertainty::episode(timeline, rules, uncertainty::mode(config));
    let situation = Situation { episode: episode.as_ref(), ..at(timeline, Stage::Replay) };
    policy::decide(detect::run(&situation, rules), None)
}

/// Nothing but a timeline: no candidate, no stop, no episode.
pub fn at(timeline: &Timeline, stage: Stage) -> Situation<'_> {
    Situation { timeline, stage, candidate: None, stops: Stops::NONE, episode: None }
}
