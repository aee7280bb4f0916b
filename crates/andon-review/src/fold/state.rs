//! What the fold knows.

use std::collections::{BTreeMap, BTreeSet};

use crate::accounts::Accounts;
use crate::authority::Authority;
use crate::capture::Topics;
use crate::code::Code;
use crate::concerns::Concerns;
use crate::gaming::Agents;
use crate::graph::Graph;
use crate::law::{Adjustment, Course, SettlementResult, Weights};
use crate::round::RoundState;
use crate::votes::Votes;

/// A settlement of a witness's weights.
#[derive(Debug, Clone, PartialEq)]
pub struct Settlement {
    pub entry: usize,
    pub witness: String,
    pub settled: SettlementResult,
    pub adjustment: Option<Adjustment>,
    pub course: Option<Course>,
}

/// The weights of a witness, and since when they are so.
#[derive(Debug, Clone, Default)]
pub struct WeightSpan {
    pub weights: Weights,
    /// The epoch of the last settlement.
    pub epoch: Option<i64>,
    pub adjustments: Vec<Adjustment>,
}

/// Everything that entries came to.
#[derive(Debug, Clone, Default)]
pub struct FoldState {
    pub codes: BTreeMap<usize, Code>,
    pub rounds: Vec<RoundState>,
    /// The round of each round's entry.
    pub round_at: BTreeMap<usize, usize>,
    pub votes: Votes,
    pub accounts: Accounts,
    pub topics: Topics,
    pub agents: Agents,
    pub concerns: Concerns,
    pub weighed: BTreeMap<String, WeightSpan>,
    pub settlements: Vec<Settlement>,
    /// Entries that took their witness suspiciously little time.
    pub hasty: Vec<usize>,
    /// Rounds whose panel colluded, with two members who did.
    pub collusions: Vec<(usize, [String; 2])>,
    /// The vote of each resolution.
    pub(super) vote_at: BTreeMap<usize, usize>,
    /// Panels that have a majority but not all ballots: they decide at their deadline.
    pub(super) pending: BTreeSet<(i64, usize)>,
    /// Decisions whose outcome is known, by entry.
    pub(super) outcomes: BTreeSet<usize>,
    pub(super) policies_seen: usize,
}

/// The state of a ledger, for a reader at `now`.
#[derive(Debug)]
pub struct LedgerState {
    pub state: FoldState,
    pub authority: Authority,
    pub graph: Graph,
    pub now: i64,
}
