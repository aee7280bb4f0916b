//! Decisions as values: computed in `policy`, carried out in `effect`.
//!
//! The suggested next step, as a value: a code for programs, and a sentence for people.

use serde::{Deserialize, Serialize};

pub use super::about::AdvisedStep;
use super::{
    Ack, CodeId, CommitId, CommitKind, DiffHash, Digest, EntryId, Figures, Finding, HaltReason, HaltSummary,
    Level, NamedCall, ReportFile, Signature, TestStatus, Timestamp,
};
use crate::format::fields::{Cut, counts, is_default, or_default};

/// Bytes of a text in an entry of the ledger.
pub const MAX_LEDGER_TEXT: usize = 4096;

/// The stage at which a decision is made. The same rule may have another effect at another stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// pre-commit: a candidate tree, no commit yet.
    PreCommit,
    /// pre-merge-commit and prepare-commit-msg: only halts and stops bind.
    Halts,
    /// post-commit: the newest iteration is there.
    PostCommit,
    /// pre-push: a tip leaves this clone.
    PrePush,
    /// `andon complete`.
    Complete,
    /// `andon check` of one commit in CI.
    Check,
    /// `andon replay`: what would have happened.
    Replay,
    /// `andon tick`: a turn has ended.
    Turn,
    /// Within a turn: a tool was called, something was said or spent.
    Event,
}

crate::named_enum! {
    /// The outcome, in rising order.
    pub enum Verdict, "a verdict" {
        /// Nothing to say.
        Allow = "allow",
        /// Something to report; the commit passes.
        Warn = "warn",
        /// This commit, push or completion only.
        Block = "block",
        /// Latched until acknowledged.
        Halt = "halt",
    }
}

impl From<Level> for Verdict {
    fn from(level: Level) -> Self {
        match level {
            Level::Off | Level::Note => Self::Allow,
            Level::Warn => Self::Warn,
            Level::Block => Self::Block,
            Level::Halt => Self::Halt,
        }
    }
}

/// The result of the findings of one evaluation, serialized as programs see it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Decision {
    /// The outcome: the highest of the findings, or `Halt` while a halt is unanswered.
    #[serde(rename = "decision")]
    pub verdict: Verdict,
    /// Why, when the verdict is `Halt`.
    pub reason: Option<HaltReason>,
    /// The findings, gravest first, then in registry order; notes included.
    pub findings: Vec<Finding>,
    /// The earlier, unanswered halt that binds this commit.
    pub standing: Option<StandingHalt>,
    /// The halt that this decision makes, once it is known where.
    pub halted: Option<Box<Halt>>,
}

/// Hashes behind a halt (docs/spec-map.md, loop safety: required output on stall).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct HaltEvidence {
    /// The last diff hashes, oldest first.
    #[serde(deserialize_with = "or_default")]
    pub diffs: Vec<DiffHash>,
    /// The last failure signatures, oldest first.
    #[serde(deserialize_with = "or_default")]
    pub tests: Vec<Signature>,
    /// The last output hashes, oldest first.
    #[serde(deserialize_with = "or_default")]
    pub outputs: Vec<Digest>,
    /// The tool calls that go round, where a rule about calls halted: those of a row oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "or_default")]
    pub calls: Vec<NamedCall>,
    /// Failing counts of the test-bearing iterations and of the runs of the open turn, oldest first.
    #[serde(deserialize_with = "counts")]
    pub trend: Vec<u64>,
}

crate::named_enum! {
    /// The scope in which a halt binds.
    #[derive(Default)]
    pub enum HaltReach, "line or worktree" {
        /// Wherever work builds on the halted commit.
        #[default]
        Line = "line",
        /// In the worktree where it happened alone: it came of turns, calls or outputs, and no commit is to blame for it.
        Worktree = "worktree",
    }
}

impl HaltReach {
    /// As the optional key of the wire formats, which is there only for a worktree.
    pub fn key(self) -> Option<Self> {
        (self == Self::Worktree).then_some(self)
    }
}

/// A halt: the payload of `loop.halted`. It is serialized as programs see it; the ledger bounds its texts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename = "loop.halted")]
pub struct Halt {
    /// The cycle; `agent` for the default self-loop.
    pub cycle_id: String,
    /// The class of the reason, such as `oscillating`.
    #[serde(rename = "halt_reason")]
    pub reason: HaltReason,
    /// The rule that halted first.
    pub rule: String,
    /// The finding in words.
    pub message: String,
    /// The figures that the rule counted; a halt that was stored by an earlier version has its message alone.
    #[serde(skip)]
    pub figures: Figures,
    /// The file that shows the halt.
    #[serde(rename = "file", serialize_with = "ReportFile::serialize_path")]
    pub report_file: ReportFile,
    /// The newest hashes and failing counts, the oldest first.
    pub evidence: HaltEvidence,
    /// A summary of what is stuck, since when and at what cost, as people see it; empty in a halt that an earlier version
    /// stored.
    #[serde(skip_serializing_if = "is_default")]
    pub summary: Box<HaltSummary>,
    /// The next steps, chosen from the evidence.
    pub suggested_actions: Vec<Suggestion>,
    /// Iterations since the last answer.
    pub iteration: u64,
    /// The commit at which it halted; null before the first commit.
    pub head: Option<CommitId>,
    /// The branch, without `refs/heads/`; `None` when detached.
    pub branch: Option<String>,
    /// Name of the worktree that is halted; `main` for the main worktree.
    pub worktree: String,
    /// The commit that the first commit of the halted run builds on, HEAD where it made none; `None` where that is not known,
    /// or where there is none.
    #[serde(skip)]
    pub base: Option<CommitId>,
    /// The linked worktrees that there were then: they go their own ways.
    #[serde(skip)]
    pub beside: Vec<String>,
    /// The scope in which the halt binds.
    #[serde(skip)]
    pub binds: HaltReach,
    /// When; 0 in a stream that tells no time, which programs see as `null`.
    #[serde(serialize_with = "Timestamp::serialize_known")]
    pub at: Timestamp,
}

/// A halt in the ledger without an acknowledgement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StandingHalt {
    /// The ledger entry.
    pub id: EntryId,
    /// The halt that stopped the loop.
    #[serde(flatten)]
    pub halt: Halt,
}

/// One line of "what was tried".
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TriedLine {
    /// Number of the iteration.
    pub iteration: u64,
    /// The commit of the iteration; none where it was not made.
    pub commit: Option<CommitId>,
    /// The way in which the commit was made.
    pub kind: CommitKind,
    /// Its subject, unescaped.
    pub subject: String,
    /// Its code state.
    pub code: CodeId,
    /// Failing tests, when tests ran on it.
    pub failing: Option<u64>,
    /// Passed tests, when tests ran on it.
    pub passed: Option<u64>,
    /// The outcome of its test run, when there was one: a build that failed has no counts.
    pub status: Option<TestStatus>,
}

/// The window in words: what was tried and what came nearest.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Story {
    /// A line per iteration, oldest first.
    pub tried: Vec<TriedLine>,
    /// The commit with the fewest failing tests, the newest of equals, and that count.
    pub best: Option<(CommitId, u64)>,
    /// Ids of the tests that fail now.
    pub failing_now: Vec<String>,
    /// Ids of the tests that gave different results on the same code.
    pub flaky: Vec<String>,
    /// Files that the window changed; `None` where that is not known of each commit.
    pub files: Option<u64>,
    /// The last action: a tool call, a commit or a turn. Untrusted text.
    pub last_action: Option<String>,
    /// Added lines in the window.
    pub lines_added: u64,
    /// Removed lines in the window.
    pub lines_removed: u64,
}

/// An event that the ledger keeps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LedgerEvent {
    /// `loop.halted`
    Halted(Box<Halt>),
    /// `loop.acknowledged`
    Acknowledged(Box<Ack>),
    /// `loop.cord`
    StopSwitch(Box<StopSwitch>),
}

/// A change to STOP or PAUSE while the loop was halted for another reason. That halt is the one to answer, and this records the
/// rest (docs/spec-map.md, loop rules: manual override).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StopSwitch {
    /// The change to the switch.
    pub moved: SwitchMove,
    /// In words; may hold the reason that was given. Untrusted text.
    #[serde(default, with = "Cut::<MAX_LEDGER_TEXT>")]
    pub message: String,
    /// Name and address of the git user.
    #[serde(serialize_with = "Cut::<MAX_LEDGER_TEXT>::serialize")]
    pub by: String,
    /// The marker of the agent's shell in which it was seen.
    #[serde(default, with = "Cut::<MAX_LEDGER_TEXT>")]
    pub agent: Option<String>,
    pub head: Option<CommitId>,
    /// Name of the worktree.
    #[serde(serialize_with = "Cut::<MAX_LEDGER_TEXT>::serialize")]
    pub worktree: String,
    /// When it was seen.
    pub at: Timestamp,
}

crate::named_enum! {
    /// A change to a stop switch.
    pub enum SwitchMove, "pulled or lifted" {
        /// STOP or PAUSE was put there.
        Pulled = "pulled",
        /// It was removed.
        Lifted = "lifted",
    }
}

/// A next step for the person or the agent, with what it is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Suggestion {
    /// The kind of step; `None` in ledgers of earlier versions, and for a kind that a later version has.
    #[serde(rename = "code")]
    pub step: Option<AdvisedStep>,
    /// In words. May hold untrusted text.
    pub text: String,
}

impl Suggestion {
    /// A suggestion of a known kind.
    pub fn new(step: AdvisedStep, text: impl Into<String>) -> Self {
        Self { step: Some(step), text: text.into() }
    }
}

#[cfg(test)]
mod suggestion_tests {
    use super::*;

    #[test]
    fn codes_are_unique_and_read_back() {
        for (step, code) in AdvisedStep::ALL {
            assert_eq!((step.as_str(), AdvisedStep::from_name(code)), (code, Some(step)));
        }
        assert_eq!(AdvisedStep::from_name("dance"), None);
    }
}
