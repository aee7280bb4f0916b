//! The state of the loop when a session begins.

use andon_core::domain::briefing::HumanDecision;
use andon_core::domain::decision::Halt;
use andon_engine::asking::WaitingRound;

/// The state of the loop when a session begins.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SessionView {
    /// The unanswered halt.
    pub halt: Option<Halt>,
    /// Whether a person stopped or paused the loop by a file that no halt tells of yet.
    pub stopped: bool,
    /// Iterations since the newest answer.
    pub iteration: u64,
    /// How many there may be.
    pub cap: Option<u64>,
    /// Ids of tests that fail now. Untrusted text.
    pub failing: Vec<String>,
    /// Whether there is a command for tests.
    pub tested: bool,
    /// Whether there is a briefing to be read.
    pub briefing: Option<String>,
    /// What people decided for this work, the newest first.
    pub decided: Vec<HumanDecision>,
    /// Rounds that wait for a person.
    pub waiting: Vec<WaitingRound>,
    /// What people decided about questions like this. Untrusted text.
    pub precedents: Vec<HumanDecision>,
}
