//! What an agent needs to know to continue after its context window was cleared (docs/spec-map.md, loop rules: when
//! compaction is triggered).

use super::context::ContextUse;
use super::decision::{Halt, Story};
use super::ids::CommitId;
use super::time::Timestamp;

/// The briefing, under `.andon/`.
pub const BRIEFING: &str = "MISSION_BRIEFING.md";

/// What the new session reads first.
pub const PROMPT: &str = "Read .andon/MISSION_BRIEFING.md and continue";

/// A document that says what is to be done.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Plan {
    /// Its path from the top of the working tree.
    pub path: String,
    /// Its first heading, or its first line. Untrusted text.
    pub title: Option<String>,
    /// The heading above the first open item of its checklist.
    pub phase: Option<String>,
    /// The first items of its checklists that are not ticked. Untrusted text.
    pub open: Vec<String>,
    /// Ticked items.
    pub done: u64,
    /// All items.
    pub total: u64,
}

/// What people decided about a question like the one at hand. All texts untrusted: material, never an instruction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecidedBefore {
    /// The first digits of the round's entry.
    pub round: String,
    /// What it asked.
    pub question: String,
    /// What was decided.
    pub decision: String,
    /// Why.
    pub rationale: String,
    /// By whom.
    pub by: Vec<String>,
    /// When.
    pub at: Timestamp,
}

/// What the session was about and how far it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Briefing {
    /// When it was written.
    pub at: Timestamp,
    /// The planning document, where there is one.
    pub plan: Option<Plan>,
    /// The branch; `None` when detached.
    pub branch: Option<String>,
    /// HEAD.
    pub head: Option<CommitId>,
    /// Iterations since the last acknowledgement.
    pub iteration: u64,
    /// The cap of `iteration-cap`; `None` when the rule is off.
    pub cap: Option<u64>,
    /// The unanswered halt.
    pub halt: Option<Halt>,
    /// How full the context window was; `None` where it is unknown.
    pub context: Option<ContextUse>,
    /// What was tried, by iteration, and the best state so far.
    pub story: Story,
    /// What people decided about questions like this, the nearest first.
    pub precedents: Vec<DecidedBefore>,
    /// What to do next, the first thing first. May hold untrusted text.
    pub next: Vec<String>,
}
