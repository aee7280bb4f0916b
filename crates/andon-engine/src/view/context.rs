//! The fill of a context window, and what was done about it.

use andon_core::domain::{CachedTokens, ContextWindowUse, Finding, HumanDecision, Thresholds};

/// The known facts about a context window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextWindowView {
    /// Whose. Untrusted text.
    pub node: String,
    /// The fill of the window; `None` where it is unknown.
    pub fill: Option<ContextWindowUse>,
    /// Its size in tokens.
    pub window: u64,
    /// The fill levels and their consequences.
    pub thresholds: Thresholds,
    /// `usage.cached`
    pub cached: CachedTokens,
    /// The finding of the rule; `None` when there is nothing to say.
    pub finding: Option<Finding>,
    /// The decisions of people for this work, the newest first; empty where they were not asked for.
    pub decided: Vec<HumanDecision>,
    /// True if there is a new `MISSION_BRIEFING.md`.
    pub briefed: bool,
}
