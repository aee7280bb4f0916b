//! The facts that an agent needs to continue after its context window was cleared (docs/spec-map.md, loop rules: when
//! compaction is triggered).

use serde::Serialize;

use super::{CommitId, ContextWindowUse, Halt, Story, Timestamp};

/// The briefing, under `.andon/`.
pub const BRIEFING: &str = "MISSION_BRIEFING.md";

/// The prompt that the new session reads first.
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

/// A decision that people made: on a round or on a halt. All texts are untrusted: they are shown with who said them and when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HumanDecision {
    /// The first digits of the entry of the round or halt.
    pub round: String,
    /// The question of the round; for a halt, its message.
    pub question: String,
    /// The decision by name: `amend`, `accept_proposer`, `resume`.
    pub decision: String,
    /// The instruction, word for word: the amended text, the text that was accepted, the prompt of an advisor. `None` where the
    /// rationale is all that was said.
    pub words: Option<String>,
    pub rationale: String,
    /// By whom.
    pub by: Vec<String>,
    pub at: Timestamp,
}

impl HumanDecision {
    /// The instruction for the worker.
    pub fn instruction(&self) -> &str {
        self.words.as_deref().unwrap_or(&self.rationale)
    }
}

/// The inputs of a briefing in addition to the timeline.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BriefingGround {
    /// The planning document, where there is one.
    pub plan: Option<Plan>,
    /// The first line of the message of HEAD. Untrusted text.
    pub subject: Option<String>,
    /// The cap of `iteration-cap`; `None` when the rule is off.
    pub cap: Option<u64>,
    /// The unanswered halt.
    pub halt: Option<Halt>,
    /// The fill of the context window; `None` where it is unknown.
    pub context: Option<ContextWindowUse>,
    /// The decisions that people made for this very work, the newest first. They come before all else.
    pub decided: Vec<HumanDecision>,
    /// The decisions that people made about questions like this, the nearest first.
    pub precedents: Vec<HumanDecision>,
}

/// The subject and the progress of the session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Briefing {
    /// When it was written.
    pub at: Timestamp,
    /// The branch; `None` when detached.
    pub branch: Option<String>,
    pub head: Option<CommitId>,
    /// Iterations since the last acknowledgement.
    pub iteration: u64,
    /// The attempts, by iteration, and the best state so far.
    pub story: Story,
    /// The plan, the halt, the decisions of people and the fill of the window.
    pub ground: BriefingGround,
    /// The next steps, the first one first. May hold untrusted text.
    pub next: Vec<String>,
}
