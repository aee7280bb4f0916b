//! What a run of an agent wrote down, and how the agent works.

use serde_json::Value;

use crate::world::Tree;

/// A commit of the script: the numbers of its tree and of its parent's.
#[derive(Clone, Copy)]
pub struct ScriptCommit {
    /// Its tree.
    pub tree: usize,
    /// Its parent's tree.
    pub parent: usize,
}

/// A line of the stream.
pub struct Line {
    /// The event.
    pub event: Value,
    /// The tree whose fingerprint is the member `code`.
    pub code: Option<usize>,
    /// For a commit, what to derive its facts from.
    pub made: Option<ScriptCommit>,
    /// The arguments of a tool call in just this form.
    pub raw_args: Option<String>,
    /// Iterations of the stuck phase up to this one; 0 in healthy work.
    pub stuck: usize,
    /// Tool calls since the stuck phase began.
    pub calls: usize,
    /// Whether it ends an iteration.
    pub ends: bool,
}

/// What a run wrote down.
#[derive(Default)]
pub struct Script {
    /// The states of the project, in order.
    pub trees: Vec<Tree>,
    /// The stream.
    pub lines: Vec<Line>,
}

/// How an agent works and what is seen of it.
#[derive(Clone)]
pub struct Style {
    /// Turns are announced.
    pub turns: bool,
    /// Tool calls are reported.
    pub calls: bool,
    /// Their answers too.
    pub answers: bool,
    /// Final messages are reported.
    pub says: bool,
    /// Tokens are reported.
    pub usage: bool,
    /// Share of commits whose tests are run and reported.
    pub tests: f64,
    /// Share of turns that end without a commit although something changed.
    pub uncommitted: f64,
}
