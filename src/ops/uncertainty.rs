//! Asks the signals of the newest rounds, for the rule `co-occurrence` (`uncertainty-escalation.md`).

use crate::config::Config;
use crate::detect;
use crate::domain::escalation::{Episode, Mode};
use crate::domain::settings::RuleSettings;
use crate::escalation;
use crate::history::Timeline;

/// What the signals at the end of `timeline` come to. While the rule is off nothing is looked at.
pub fn episode(timeline: &Timeline, rules: &RuleSettings, mode: Mode) -> Option<Episode> {
    let knobs = detect::knobs(rules)?;
    escalation::episode(timeline, &|window| detect::signals(window, rules), Some(&knobs), mode)
}

/// What an escalation does here.
pub fn mode(config: &Config) -> Mode {
    match config.guard.perpetual {
        crate::config::Perpetual::No => Mode::Halting,
        crate::config::Perpetual::Yes => Mode::Perpetual,
    }
}
