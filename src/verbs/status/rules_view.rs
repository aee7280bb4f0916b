//! The rules with their halts, as `andon status --rules` shows them.

use andon_core::domain::findings::Level;

/// What is known of one rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleCount {
    /// Its id; one of another version may be among them.
    pub rule: String,
    /// Its level here; `None` where this version does not know it.
    pub level: Option<Level>,
    /// Halts of all worktrees and clones in the ledger.
    pub halts: u64,
    /// Those that a person called mistaken.
    pub mistaken: u64,
}
