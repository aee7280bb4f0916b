//! `andon watch`.

use serde::Serialize;

use super::findings::DiagnosticJson;
use super::record::TestsJson;
use crate::view::status::LostHooks;
use andon_core::domain::ids::CommitId;
use andon_core::domain::tests::RunValidity;
use andon_core::domain::time::Timestamp;
use andon_engine::asking::WaitingRound;
use andon_engine::json::halt::HaltJson;

/// `andon/watch@1`.
#[derive(Debug, Serialize)]
pub struct WatchJson<'a> {
    /// The name of the document.
    pub schema: &'static str,
    /// When it was looked.
    pub at: Timestamp,
    /// The worktrees of this clone, what needs a person first.
    pub worktrees: Vec<WorktreeJson<'a>>,
    /// Unanswered halts of other clones.
    pub elsewhere: Vec<HaltJson<'a>>,
    /// Loops of other clones in which something was recorded lately.
    pub branches: Vec<WatchedBranchJson<'a>>,
    /// Rounds that wait for people.
    pub rounds: &'a [WaitingRound],
    /// What could not be read.
    pub warnings: Vec<DiagnosticJson<'a>>,
}

/// A worktree.
#[derive(Debug, Serialize)]
pub struct WorktreeJson<'a> {
    /// Its name; `main` for the main one.
    pub worktree: &'a str,
    /// The top of its working tree.
    pub path: &'a str,
    /// That of `andon status`, or `away`, or `unreadable`.
    pub state: &'static str,
    /// Whether it needs a person to continue.
    pub needs_person: bool,
    /// Why it is unreadable.
    pub error: Option<&'a str>,
    /// `null` where it is away or unreadable.
    #[serde(rename = "loop")]
    pub found: Option<WatchedLoopJson<'a>>,
}

/// A loop of another clone.
#[derive(Debug, Serialize)]
pub struct WatchedBranchJson<'a> {
    /// The remote-tracking branch.
    pub branch: &'a str,
    /// What its records tell.
    #[serde(rename = "loop")]
    pub found: WatchedLoopJson<'a>,
}

/// The loop in a worktree.
#[derive(Debug, Serialize)]
pub struct WatchedLoopJson<'a> {
    /// `Loop 3/100`.
    pub badge: String,
    /// Iterations since the last acknowledgement.
    pub iteration: u64,
    /// The cap of `iteration-cap`.
    pub cap: Option<u64>,
    /// HEAD.
    pub head: Option<CommitId>,
    /// `null` when detached.
    pub branch: Option<&'a str>,
    /// The node that acted last.
    pub node: &'a str,
    /// The unanswered halt.
    pub halt: Option<HaltJson<'a>>,
    /// How it is answered: `resume` or `signature`.
    pub answer: Option<&'static str>,
    /// Failing counts, oldest first.
    pub trend: &'a [u64],
    /// The newest test run.
    pub last_run: Option<WatchedRunJson<'a>>,
    /// How full the context window is.
    pub context: Option<WatchedContextWindowJson<'a>>,
    /// When something was last recorded.
    pub last_at: Option<Timestamp>,
    /// What became of the hooks, when they are gone.
    pub hooks_gone: Option<&'a LostHooks>,
    /// What could not be read.
    pub warnings: Vec<DiagnosticJson<'a>>,
}

/// A test run.
#[derive(Debug, Serialize)]
pub struct WatchedRunJson<'a> {
    /// When it ended.
    pub at: Option<Timestamp>,
    /// Whether it can prove anything.
    pub validity: RunValidity,
    /// The result.
    pub run: TestsJson<'a>,
}

/// A context window.
#[derive(Debug, Serialize)]
pub struct WatchedContextWindowJson<'a> {
    /// Whose.
    pub node: &'a str,
    /// Tokens in it.
    pub used: u64,
    /// Its size in tokens.
    pub window: u64,
    /// The used share, rounded down.
    pub percent: u64,
    /// What this fill leads to: `none`, `warning`, `mandatory` or `hard_block`.
    pub threshold: &'static str,
}
