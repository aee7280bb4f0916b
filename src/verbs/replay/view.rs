//! The steps of a session.

use andon_core::domain::decision::Decision;
use andon_core::domain::ids::CommitId;
use andon_core::domain::time::Timestamp;

/// What a session is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SessionState {
    /// Nothing: before, between and after its turns.
    Idle,
    /// A turn has begun.
    Planning,
    /// Tools are called.
    Executing,
    /// Something was said.
    Reporting,
    /// Reviewers judged.
    Reviewing,
    /// Tests passed.
    TestsPassed,
    /// Tests failed, or could not tell.
    TestsFailed,
    /// A commit was made.
    Committed,
    /// A commit was refused.
    Refused,
    /// The loop is halted.
    Halted,
    /// A person answered a halt.
    Resumed,
}

impl SessionState {
    /// The name in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Planning => "planning",
            Self::Executing => "executing",
            Self::Reporting => "reporting",
            Self::Reviewing => "reviewing",
            Self::TestsPassed => "tests_passed",
            Self::TestsFailed => "tests_failed",
            Self::Committed => "committed",
            Self::Refused => "refused",
            Self::Halted => "halted",
            Self::Resumed => "resumed",
        }
    }
}

/// One iteration as it is drawn in the trajectory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrajectoryStep {
    /// When, where that is known.
    pub at: Option<Timestamp>,
    /// Whose step it was.
    pub node: Option<String>,
    /// The state before.
    pub state: SessionState,
    /// What the agent did in this step, in a few words.
    pub action: String,
    /// The state after.
    pub next: SessionState,
    /// The commit that was made.
    pub commit: Option<CommitId>,
    /// What the engine says.
    pub decision: Decision,
    /// The rule of the halt that the ledger has at that commit.
    pub halt: Option<String>,
}

/// A session. Texts raw.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trajectory {
    /// The id that the client gave the session.
    pub session: String,
    /// The model, as it was first named.
    pub model: Option<String>,
    /// The hash of the prompt, as it was first named.
    pub prompt_hash: Option<String>,
    /// Its steps, oldest first.
    pub steps: Vec<TrajectoryStep>,
}
