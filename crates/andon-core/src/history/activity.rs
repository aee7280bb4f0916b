//! The events within and between turns, as far as rules need them: bounded windows of calls, outputs and verdicts,
//! and totals of each node since the window began.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};

use super::{ContextWindows, RedRuns, Refusals, RefusedAttempts};
pub use crate::domain::RunStart;
use crate::domain::{
    Ballot, CodeId, Cycle, Digest, Edge, OutputKind, ShortHash, Span, TestEvidence, Timestamp, ToolCall,
    Uptime, Usage,
};

/// Tool calls that are kept, the newest.
pub const MAX_CALLS: usize = 64;
/// Edits that are remembered, the newest: an edit that is among them is not new.
pub const MAX_EDITS: usize = 64;
/// Outputs that are kept, the newest.
pub const MAX_OUTPUTS: usize = 64;
/// Ballots that are kept, the newest.
pub const MAX_BALLOTS: usize = 256;
/// Turns that are kept, the newest.
pub const MAX_TURNS: usize = 64;
/// Nodes whose totals are kept; what further nodes do is not counted.
pub const MAX_NODES: usize = 64;
/// Ids of events that are remembered, to know one that is reported twice.
pub const MAX_IDS: usize = 256;

/// The node of what no node is known for (docs/concepts.md).
pub const DEFAULT_NODE: &str = "agent";

/// A tool call of the window.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// Who called.
    pub node: String,
    /// The call itself.
    pub call: ToolCall,
    /// Grows with every new edit, commit, changed state of the code, `session_start` and `prompt`: the agent that made the calls
    /// of one epoch saw the same code and remembers the others.
    pub epoch: u64,
    /// Grows with every state of the code that differs from the one known before it, by the agent, a program or a person.
    #[serde(default)]
    pub state: u64,
    /// The newest iteration then; 0 before the first.
    pub iteration: u64,
    /// The calls before it that waited for the same: each the same call, which took its time, with the same short answer on the
    /// same code.
    #[serde(default)]
    pub waited: u64,
}

/// An output of the window.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeOutput {
    /// Who said it.
    pub node: String,
    pub kind: OutputKind,
    /// Its normalized hash.
    pub hash: Digest,
    /// Number of the turn in which it was said, among all turns of the window, from 1.
    pub turn: u64,
    /// The newest iteration then; 0 before the first.
    pub iteration: u64,
}

/// A ballot of the window.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cast {
    /// Who was asked and how each voted.
    pub ballot: Ballot,
    /// Iterations there were when they were cast.
    pub iteration: u64,
    /// Turns there were when they were cast.
    pub turn: u64,
}

/// The way a turn began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub enum TurnStart {
    /// With `turn_start`.
    Reported,
    /// By what was seen of it first: its next commit is another turn.
    #[default]
    Implied,
}

/// A turn: one invocation of a node (docs/concepts.md).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Turn {
    pub node: String,
    /// Its number among the turns of the window, from 1.
    pub number: u64,
    /// The way the turn began.
    pub opening: TurnStart,
    /// When it began, or when a person last answered a halt in it: known of an announced turn only.
    pub started: Option<Timestamp>,
    /// When it ended; `None` while it lasts.
    pub ended: Option<Timestamp>,
    /// Commits made in it.
    pub commits: u64,
    /// Tool calls made in it.
    pub calls: u64,
    /// Tokens of it that a person has answered for: its budget counts what came after.
    pub answered: u64,
    /// Tokens and cost of it so far; the context window as it is now.
    pub usage: Usage,
    /// The part of it that commits of the turn have in their records.
    #[serde(default)]
    pub committed: Usage,
    /// Output hashes, the newest.
    pub outputs: Vec<Digest>,
}

impl Turn {
    /// Tokens since it began, or since the newest answer in it.
    pub fn tokens(&self) -> u64 {
        self.usage.tokens().saturating_sub(self.answered)
    }

    /// Returns the usage since its newest commit.
    pub fn uncommitted(&self) -> Usage {
        self.usage.since(&self.committed)
    }

    /// Returns the time that it has taken up to its end, or up to `now` while it lasts; zero where that is unknown.
    pub fn runtime(&self, now: Option<Timestamp>) -> Span {
        match (self.started, self.ended.or(now)) {
            (Some(started), Some(end)) => end.since(started),
            (None, _) | (_, None) => Span(0),
        }
    }
}

/// The usage of a node since the window began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct NodeTotals {
    /// The number of its newest turn, among all turns of the window.
    #[serde(default)]
    pub begun: u64,
    /// Turns that ended or committed.
    pub turns: u64,
    /// Runtime of its turns that ended, in seconds.
    pub runtime: Span,
    pub tokens: u64,
    /// Cost in millionths of a dollar.
    pub cost: u64,
}

/// The effect of an event, which determines the rules that can say something new.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum EventEffect {
    /// Nothing: a duplicate.
    #[default]
    Nothing,
    /// Something within a turn.
    Within,
    /// An iteration was added or completed.
    Iteration,
}

/// The kind of the newest observation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub enum NewestObservation {
    /// A tool call.
    Call,
    /// Anything else, or nothing yet.
    #[default]
    Other,
}

/// Facts that are marked: they count, but something about them was not as it should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Marks {
    /// Events dated before one that came earlier: a clock set back, or lines out of order.
    pub backwards: u64,
    /// Events reported twice under one id: dropped.
    pub duplicates: u64,
    /// Turns that began again before they ended.
    pub unended: u64,
    /// Nodes beyond `MAX_NODES`: not counted.
    pub crowded: u64,
}

/// Compactions of one epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Compactions {
    epoch: u64,
    times: u64,
    /// The time of the newest, in any epoch.
    pub newest: Option<Timestamp>,
}

impl Compactions {
    /// Counts how many there were since `epoch` began.
    pub fn running(self, epoch: u64) -> u64 {
        if self.epoch == epoch { self.times } else { 0 }
    }

    /// Those of the epoch that `ended` count on in the one that `began`.
    pub(super) fn carry(&mut self, ended: u64, began: u64) {
        *self = Self { epoch: began, times: self.running(ended), ..*self };
    }

    pub(super) fn one_more(&mut self, epoch: u64, at: Option<Timestamp>) {
        *self = Self { epoch, times: self.running(epoch).saturating_add(1), newest: at.or(self.newest) };
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Activity {
    /// Tool calls, newest last, at most [`MAX_CALLS`].
    pub calls: Vec<Call>,
    /// Outputs, newest last, at most [`MAX_OUTPUTS`].
    pub outputs: Vec<NodeOutput>,
    /// Ballots, newest last, at most `MAX_BALLOTS`.
    pub ballots: Vec<Cast>,
    /// Turns that ended, newest last, at most [`MAX_TURNS`].
    pub turns: Vec<Turn>,
    /// Open turns, one for each node.
    pub open: BTreeMap<String, Turn>,
    pub nodes: BTreeMap<String, NodeTotals>,
    /// The number of times that the second node began a turn after the first had begun one since the second did last, whoever
    /// else was between them.
    pub passes: BTreeMap<(String, String), u64>,
    /// The newest usage; each member the newest that was reported.
    pub usage: Option<Usage>,
    /// The latest time that was seen.
    pub now: Option<Timestamp>,
    /// The uptime of the system at the newest event that reports it.
    pub awake: Option<Uptime>,
    /// The latest time of an event since the newest commit.
    pub lively: Option<Timestamp>,
    /// The marks of facts that were not as they should be.
    pub marks: Marks,
    /// The newest observation: a warning about calls is given at the call, and not again at whatever follows.
    pub newest: NewestObservation,
    /// The context windows of the nodes.
    pub windows: ContextWindows,
    /// Turns that began since the window did.
    pub begun: u64,
    /// The node whose turn began last.
    pub last_node: Option<String>,
    /// The epoch of the next call.
    pub epoch: u64,
    /// The state of the code of the next call.
    #[serde(default)]
    pub state: u64,
    /// The newest code of the working tree that a test run, a call or the end of a turn has told.
    pub seen: Option<CodeId>,
    /// Compactions since the newest edit or changed state of the code, over all sessions.
    pub compactions: Compactions,
    /// Signatures of the newest edits.
    pub edits: VecDeque<ShortHash>,
    /// Ids of the newest events.
    pub ids: VecDeque<ShortHash>,
    /// The parts of the loop's guard that tool calls of agents took away, newest last.
    #[serde(default)]
    pub disarmed: Vec<String>,
    /// The newest known state of the code: of a commit, or of the working tree at the end of a turn.
    pub code: Option<CodeId>,
    /// The code of the newest commit that only the journal knows.
    pub passed_code: Option<CodeId>,
    /// State of the documents at the end of the newest turn.
    pub docs: Option<Digest>,
    /// The newest states of the documents at the ends of turns, while the code stayed and nothing was committed.
    #[serde(default)]
    pub docs_states: Vec<Digest>,
    /// Commits that were refused one after another.
    #[serde(default)]
    pub refusals: Refusals,
    /// The same as attempts, which tests do not end.
    #[serde(default)]
    pub refused: RefusedAttempts,
    /// The turn that ended last was reported by the hook of a client, and nothing was done since: a loop around the client
    /// that reports the end as well means the same turn.
    #[serde(default)]
    pub ended_by_hook: bool,
    /// Failed test runs since the newest iteration, as attempts.
    #[serde(default)]
    pub red: RedRuns,
    /// The newest test run since the newest iteration.
    pub ran: Option<TestEvidence>,
}

impl Activity {
    /// The node of an event that names none: the one with an open turn, else the last, else `agent`.
    pub(crate) fn current_node(&self) -> &str {
        self.last_node.as_deref().unwrap_or(DEFAULT_NODE)
    }

    /// Iterations of `cycle`: passes of its anchor. A self-loop is passed at the end of each turn of its node
    /// (docs/spec-map.md, loop safety: iteration counting).
    pub fn cycle_iterations(&self, cycle: &Cycle) -> u64 {
        let Edge { from, to } = &cycle.anchor;
        if from == to {
            return self.nodes.get(from).map_or(0, |totals| totals.turns);
        }
        self.passes.get(&(from.clone(), to.clone())).copied().unwrap_or(0)
    }

    /// The newest turn: an open one, else the last that ended.
    pub(crate) fn newest_turn(&self) -> Option<&Turn> {
        let open = self.open.values().max_by_key(|turn| turn.number);
        match (open, self.turns.last()) {
            (Some(open), Some(ended)) if ended.number > open.number => Some(ended),
            (Some(open), _) => Some(open),
            (None, ended) => ended,
        }
    }
}
