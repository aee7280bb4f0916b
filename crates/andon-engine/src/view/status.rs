//! The status of a loop, as `andon status`, `watch` and `report` show it.

use std::{collections::BTreeMap, fmt};

use serde::{Serialize, Serializer};
use serde_json::json;

use crate::{asking::WaitingRound, json};
use andon_core::domain::{
    Ack, CodeId, CommitId, Diagnostic, DiffHash, Digest, EntryId, Finding, Halt, HumanDecision, Level,
    Presence, Signature, Skip, TestEvidence, TestRun, TestStatus, Timestamp, UncreditedFall,
};
use andon_core::history::KnownRedBy;

andon_core::named_enum! {
    /// The state of a loop.
    #[derive(Default)]
    pub enum LoopState, "a state of a loop" {
        /// No iteration yet.
        #[default]
        Idle = "idle",
        /// The loop runs.
        Running = "running",
        /// A halt is unanswered.
        Halted = "halted",
        /// `.andon/STOP` exists.
        Stopped = "stopped",
        /// `.andon/PAUSE` exists.
        Paused = "paused",
        /// The hooks are not installed: nothing is recorded or refused.
        NotInstalled = "not_installed",
        /// The hooks were installed and are gone: nothing is recorded or refused.
        HooksGone = "hooks_gone",
        /// The master switch `ANDON=0` is set.
        Disabled = "disabled",
    }
}

impl LoopState {
    /// True when a person has to act before the loop goes on; `--exit-code` reports it as 1.
    pub fn waits_for_a_person(self) -> bool {
        matches!(self, Self::Halted | Self::Stopped | Self::Paused)
    }
}

/// The test results for one state of the code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TestsOf {
    /// They ran on exactly this code.
    Ran(TestEvidence),
    /// They ran on exactly this code, and that run proves nothing: its validity says why.
    Void(Box<TestRun>),
    /// They ran, but on other code; the newest such run.
    OtherCode(TestEvidence),
    /// They never ran.
    NeverRan,
    /// There is no such state: no commit yet, no working tree.
    Nothing,
    /// It could not be found out.
    Unknown,
}

impl Serialize for TestsOf {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (state, validity, run) = match self {
            Self::Ran(evidence) => ("ran", None, Some(evidence)),
            Self::Void(run) => ("void", Some(run.validity), Some(&run.evidence)),
            Self::OtherCode(evidence) => ("other_code", None, Some(evidence)),
            Self::NeverRan => ("never_ran", None, None),
            Self::Nothing => ("nothing", None, None),
            Self::Unknown => ("unknown", None, None),
        };
        let run = run.map(json::record::tests);
        json!({ "state": state, "validity": validity, "run": run }).serialize(serializer)
    }
}

/// The newest halt, and the answer to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LastHalt {
    /// Its ledger entry.
    pub id: EntryId,
    /// The halt as the ledger has it.
    #[serde(flatten)]
    pub halt: Halt,
    /// The answer; `None` while there is none.
    #[serde(rename = "acknowledged", serialize_with = "json::serialize_answer")]
    pub ack: Option<Ack>,
}

/// Test results with one failure signature.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FailureSummary {
    /// Equal for runs that fail in the same way.
    pub signature: Signature,
    /// Iterations of the window that had it.
    pub iterations: u64,
    /// Its status class.
    pub status: TestStatus,
    /// Ids of the failing tests.
    pub failing: Vec<String>,
}

/// The hashes of the window, oldest first (docs/spec-map.md, loop safety: "Loop Evidence").
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct LoopEvidence {
    /// Normalized diffs.
    pub diffs: Vec<DiffHash>,
    /// Code states.
    pub codes: Vec<CodeId>,
    /// Failure signatures.
    pub tests: Vec<Signature>,
    /// Outputs.
    pub outputs: Vec<Digest>,
    /// The distinct failures behind the signatures, newest last.
    pub failures: Vec<FailureSummary>,
}

/// A cycle of the declared workflow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CycleView {
    /// The id that halts of it carry as `cycle_id`.
    pub id: String,
    /// Its nodes, sorted.
    pub nodes: Vec<String>,
    /// Iterations since the last answer.
    pub iterations: u64,
    /// The budget; `None` for no limit.
    pub max: Option<u64>,
}

impl Serialize for CycleView {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { id, nodes, iterations, max } = self;
        let members = json!({
            "cycle_id": id, "badge": self.badge(), "nodes": nodes, "iterations": iterations, "max": max,
        });
        members.serialize(serializer)
    }
}

impl CycleView {
    /// The badge: `Loop 3/8`, or `Loop 3` without a limit.
    pub fn badge(&self) -> String {
        LoopCount { iteration: self.iterations, cap: self.max }.to_string()
    }
}

/// The iterations of a loop; its text is a badge: `Loop 3/100`, or `Loop 3` without a cap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LoopCount {
    /// Iterations since the last answer.
    pub iteration: u64,
    /// The cap of `iteration-cap`; `None` when the rule is off.
    pub cap: Option<u64>,
}

impl LoopCount {
    /// `3/100`, or `3` without a cap.
    pub fn turns(self) -> String {
        self.cap.map_or_else(|| self.iteration.to_string(), |cap| format!("{}/{cap}", self.iteration))
    }
}

impl fmt::Display for LoopCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Loop {}", self.turns())
    }
}

impl Serialize for LoopCount {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { iteration, cap } = self;
        json!({ "iteration": iteration, "cap": cap, "badge": self.to_string() }).serialize(serializer)
    }
}

/// A value of HEAD, and the same of the working tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HeadAndWorkTree<T> {
    /// That of HEAD.
    pub head: T,
    /// That of the working tree.
    pub work_tree: T,
}

/// A rule that was passed over for a commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SkippedAt {
    /// The commit.
    pub commit: CommitId,
    /// The rule, and why.
    #[serde(flatten)]
    pub skip: Skip,
}

/// Commits that the gate refused for untested code, each with new code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RefusedCommits {
    /// Their number.
    pub count: u64,
    /// The code of the newest.
    pub code: CodeId,
    /// The rule that refused it.
    pub rule: String,
    /// When, where that is known.
    pub at: Option<Timestamp>,
}

/// Hooks that were installed and that git does not start any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LostHooks {
    /// The missing hook, and the file in its place.
    #[serde(rename = "message")]
    pub what: String,
    /// The hint: the command that puts it right.
    pub help: String,
}

/// Everything `andon status` shows: `andon/status@1`. Texts raw.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StatusView {
    /// The state of the loop.
    pub state: LoopState,
    /// Its iterations.
    #[serde(flatten)]
    pub count: LoopCount,
    /// Commits of the window without a record: nothing is known of them, so they prove nothing.
    pub unrecorded: usize,
    /// HEAD; `None` before the first commit.
    pub head: Option<CommitId>,
    /// The branch; `None` when detached.
    pub branch: Option<String>,
    /// Name of the worktree; `main` for the main one.
    pub worktree: String,
    /// The cycles of the declared workflow; none without one.
    pub cycles: Vec<CycleView>,
    /// Node of the workflow that the reader is, by its environment.
    pub node: String,
    /// Who made the newest iterations.
    pub who: Vec<String>,
    /// Session, when one is known.
    pub session: Option<String>,
    /// The provider of the fallback chain that is at work; `None` without a chain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// The reason for which it was started; `None` for the first of the chain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider_reason: Option<String>,
    /// Failed iterations in a row, as `consecutive-failures` counts them.
    pub consecutive_failures: u64,
    /// The time at which a client reported the newest compaction of a context window.
    pub last_compaction: Option<Timestamp>,
    /// The halt that binds here; where none does, the newest of this worktree.
    pub last_halt: Option<LastHalt>,
    /// Its report file in this worktree: a halt that is only shown so far, and one of another worktree, may have none here.
    #[serde(skip)]
    pub report: Presence,
    /// Failing counts of the test-bearing iterations of the window, oldest first.
    pub trend: Vec<u64>,
    /// Failing counts of the runs since the newest iteration, each on edited code, oldest first.
    pub trend_in_turn: Vec<u64>,
    /// Falls of the trend that earn no credit.
    #[serde(rename = "trend_without_credit")]
    pub uncredited: Vec<UncreditedFall>,
    /// Tests of the window that gave different results on the same code: no part of the trend.
    pub flaky: Vec<String>,
    /// Tests that were red before the run, each with who says so.
    pub known_red: BTreeMap<String, KnownRedBy>,
    /// Rules that were passed over for commits of the window, oldest first.
    pub skipped: Vec<SkippedAt>,
    /// `test.command` as a person would type it; `None` when not configured.
    pub test_command: Option<String>,
    /// Code fingerprints.
    pub code: HeadAndWorkTree<Option<CodeId>>,
    /// Tests of that code.
    pub tests: HeadAndWorkTree<TestsOf>,
    /// Decisions of people for the work at hand, the newest first.
    pub decided: Vec<HumanDecision>,
    /// Rounds that wait for a person.
    pub waiting: Vec<WaitingRound>,
    /// Commits that were refused one after another since the newest commit or run of the tests.
    pub refused: Option<RefusedCommits>,
    /// Hashes and failure summaries.
    #[serde(rename = "loop_evidence")]
    pub evidence: LoopEvidence,
    /// The hooks that are gone, if any.
    pub hooks_gone: Option<LostHooks>,
    /// Findings of the rules at this moment.
    pub findings: Vec<Finding>,
    /// Problems with the sources: unreadable records, skipped lines.
    pub warnings: Vec<Diagnostic>,
}

/// The halts of one rule, for `andon status --rules`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
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
