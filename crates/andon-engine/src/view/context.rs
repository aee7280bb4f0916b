//! How full a context window is, and what was done about it.

use andon_core::domain::context::{CachedTokens, ContextWindowUse, Thresholds};
use andon_core::domain::{briefing::HumanDecision, findings::Finding};

/// What is known of a context window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextWindowView {
    /// Whose. Untrusted text.
    pub node: String,
    /// How full it is; `None` where it is unknown.
    pub fill: Option<ContextWindowUse>,
    /// Its size in tokens.
    pub window: u64,
    /// What leads to what.
    pub thresholds: Thresholds,
    /// `usage.cached`
    pub cached: CachedTokens,
    /// What the rule says of it; `None` when there is nothing to say.
    pub finding: Option<Finding>,
    /// What people decided for this work, the newest first; empty where it was not asked for.
    pub decided: Vec<HumanDecision>,
    /// Whether there is a briefing.
    pub briefed: BriefingState,
}

/// Whether a briefing was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BriefingState {
    /// There is a new `MISSION_BRIEFING.md`.
    Yes,
    /// None was due, or it could not be written.
    No,
}
