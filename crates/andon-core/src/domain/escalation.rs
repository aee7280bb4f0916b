//! Signs of being stuck, and the conclusion when they are seen together (docs/spec-map.md, signals and escalation).
//!
//! No single sign proves that the loop is stuck: each is a symptom that healthy work also shows now and then. Only
//! several at once, for several iterations, justify calling a person.

/// A symptom. One alone never escalates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Signal {
    /// Proxy 1: nothing that runs has changed for some iterations.
    NoChange,
    /// Proxy 2: the code is in a state of the ring again, two or more iterations back.
    Recurrence,
    /// Proxy 3: reviewers cannot agree.
    VerdictSplit,
    /// Rule `weak-change`.
    WeakChange,
    /// Rule `failures-not-decreasing`.
    FailuresNotDecreasing,
    /// Rule `undo-churn`.
    UndoChurn,
    /// Rule `tool-loop`, SOFT.
    ToolLoop,
    /// Rule `file-comebacks`.
    FileComebacks,
    /// Rule `reverted-attempts`.
    RevertedAttempts,
    /// Rule `rework`.
    Rework,
}

/// The effect of an escalation on the loop (docs/spec-map.md, signals and escalation: honest limits).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EscalationMode {
    /// It halts until a person answers.
    Halting,
    /// It only notifies: the loop is meant to run for ever (`guard.perpetual`).
    Perpetual,
    /// It only notifies, and the run is halted all the same: by another rule, or by a halt that has no answer yet.
    PerpetualHalted,
}

/// The signals of the newest iterations, taken together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Episode {
    /// The decision to escalate in this iteration, or to wait.
    pub call: EscalationCall,
    /// Rounds running in which two or more signals were hot.
    pub consecutive: u64,
    /// The signals that are hot now, in order.
    pub hot: Vec<Signal>,
    /// The iteration at which this episode escalated, if it did.
    pub escalated_at: Option<u64>,
    /// The mode that an escalation has here.
    pub mode: EscalationMode,
}

/// The decision to call a person, or to wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EscalationCall {
    Escalate,
    /// Not in this iteration.
    Wait,
}

/// States that are remembered for proxy 2 (docs/spec-map.md, signals and escalation: section 2: ring of 6).
pub const RING: usize = 6;

/// The knobs of section 2, all of them optional to set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Knobs {
    /// Consecutive iterations with two or more signals that escalate.
    pub iterations: u64,
    /// Iterations running without change that make proxy 1 hot.
    pub no_change_min: u64,
    /// Consecutive split rounds of reviewers that make proxy 3 hot.
    pub split_rounds: u64,
    /// States back that proxy 2 sees, at most [`RING`].
    pub ring: usize,
}

impl Default for Knobs {
    /// The documented ones; `no_change_min` is the stagnation limit of 5 less one.
    fn default() -> Self {
        Self { iterations: 2, no_change_min: 4, split_rounds: 2, ring: RING }
    }
}

/// One round of reviewers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReviewTally {
    /// Votes for the work.
    pub approve: u64,
    /// Votes against it.
    pub reject: u64,
}

impl ReviewTally {
    /// The votes it takes: two thirds, rounded up.
    pub fn threshold(&self) -> u64 {
        let votes = self.approve.saturating_add(self.reject);
        votes.saturating_mul(2).div_ceil(3)
    }

    /// Rejected although one reviewer approved: they could not agree.
    pub fn is_split(&self) -> bool {
        self.approve >= 1 && self.approve < self.threshold()
    }
}

/// Counts how many rounds in a row, up to the newest, were split.
pub fn splits_running(rounds: &[ReviewTally]) -> u64 {
    let running = rounds.iter().rev().take_while(|round| round.is_split()).count();
    u64::try_from(running).unwrap_or(u64::MAX)
}
