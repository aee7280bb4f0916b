//! The state of a round: who accepted it, the panel it waits for, what was decided (section 3, R16, R17).

use std::collections::BTreeSet;

use serde::Serialize;

use super::{Actors, Similarity, Trigger, Words, payload::fields::shown_by_name};

/// The status of a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RoundStatus {
    Closed,
    Open,
    Accepted,
    Panel3,
    Panel5,
    Resolved,
    Unresolvable,
    Voided,
}

shown_by_name!(RoundStatus);

/// The cause for which a round became a panel's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PanelCause {
    MinWitnesses,
    Capture,
    Request,
    Flag,
    Collusion,
    Tie,
}

shown_by_name!(PanelCause);

/// The consequence of a flag (R17).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FlagRoute {
    Open,
    Panel3,
    Panel5,
    ConstitutionalOnly,
    Late,
    Pending,
}

shown_by_name!(FlagRoute);

impl FlagRoute {
    /// True where it opens the matter again, and is not only recorded.
    pub fn has_effect(self) -> bool {
        match self {
            Self::Open | Self::Panel3 | Self::Panel5 => true,
            Self::ConstitutionalOnly | Self::Late | Self::Pending => false,
        }
    }
}

/// A member's seat on a panel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seat {
    pub witness: String,
    /// The time at which they took it.
    pub since: i64,
    /// The entry of the sealed ballot.
    pub commit: Option<usize>,
    /// The opened one, among the votes.
    pub vote: Option<usize>,
}

impl Seat {
    /// The seat that `witness` takes at `since`.
    pub fn new(witness: &str, since: i64) -> Self {
        Self { witness: witness.to_owned(), since, commit: None, vote: None }
    }
}

/// The witnesses who decide one round together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Panel {
    pub size: usize,
    pub cause: PanelCause,
    /// The entry that brought it.
    pub opening: usize,
    /// The time by which every ballot must be revealed.
    pub deadline: i64,
    /// In the order of their accepts.
    pub seats: Vec<Seat>,
    /// The panel still has to decide.
    pub is_open: bool,
}

impl Panel {
    /// The seat that `witness` holds.
    pub fn seat(&mut self, witness: &str) -> Option<&mut Seat> {
        self.seats.iter_mut().find(|seat| seat.witness == witness)
    }

    /// True where `witness` has a seat.
    pub fn has(&self, witness: &str) -> bool {
        self.seats.iter().any(|seat| seat.witness == witness)
    }

    /// The seat that the next accept may take, at `now`: one that is empty, or had no ballot at the deadline. A member
    /// who takes such a seat keeps it.
    pub fn free(&self, now: i64) -> Option<usize> {
        if self.seats.len() < self.size {
            return Some(self.seats.len());
        }
        let is_late = now >= self.deadline;
        self.seats.iter().position(|seat| is_late && seat.commit.is_none() && seat.since < self.deadline)
    }

    /// The opened ballots, in the order of the seats.
    pub fn votes(&self) -> impl Iterator<Item = usize> {
        self.seats.iter().filter_map(|seat| seat.vote)
    }
}

/// The way in which a decision came about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DecidedBy {
    Single,
    Majority,
    Reputation,
}

shown_by_name!(DecidedBy);

/// The decision of a round, by a witness or a panel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoundDecision {
    pub key: String,
    pub by: DecidedBy,
    pub at: i64,
    /// The entry that made it, and its place in the order.
    pub entry: usize,
    pub place: usize,
    pub depth: u8,
    /// The votes that made it.
    pub votes: Vec<usize>,
    /// The votes that lost.
    pub dissent: Vec<usize>,
    pub self_reviewed: bool,
}

/// A witness who took a round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Acceptance {
    pub witness: String,
    pub at: i64,
}

/// The statements that came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ReceivedStatements {
    pub claim: bool,
    pub critique: bool,
    pub verdict: bool,
    /// The verdict recommends something.
    pub recommended: bool,
}

/// The state of a round.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RoundState {
    /// The index of its entry in the ledger.
    pub entry: usize,
    pub is_halt: bool,
    pub issuer: Option<String>,
    pub cast: Actors,
    /// The people who have a stake in it, as far as the round itself says.
    pub stakes: BTreeSet<String>,
    pub came: ReceivedStatements,
    pub tags: BTreeSet<String>,
    pub bounty: i64,
    /// The words of the question.
    pub question: Words,
    pub triggers: BTreeSet<Trigger>,
    pub similarity: Option<Similarity>,
    /// Valid accepts, the first of each witness.
    pub accepts: Vec<Acceptance>,
    pub panel: Option<Panel>,
    pub decisions: Vec<RoundDecision>,
    /// `Unresolvable` or `Voided`, where it ended without a decision.
    pub end: Option<RoundStatus>,
    pub flags: Vec<(usize, FlagRoute)>,
    /// The number of panels that colluded.
    pub collusions: u32,
    /// Everybody who resolved it or revealed a ballot.
    pub voters: BTreeSet<String>,
    /// The witnesses who may not sit on the panel: voters of before the newest flag or collusion.
    pub barred: BTreeSet<String>,
    /// The holder of the bounty; `None` before a payout.
    pub paid: Option<String>,
    /// The agent who was fined, and the amount.
    pub penalty: Option<(String, i64)>,
}

impl RoundState {
    /// A round about which nothing is known but its entry.
    pub fn new(entry: usize) -> Self {
        Self { entry, ..Self::default() }
    }

    pub fn status(&self) -> RoundStatus {
        if let Some(end) = self.end {
            return end;
        }
        if self.triggers.is_empty() {
            return RoundStatus::Closed;
        }
        match (self.open_panel().map(|panel| panel.size), self.decisions.is_empty(), self.accepts.is_empty())
        {
            (Some(3), _, _) => RoundStatus::Panel3,
            (Some(_), _, _) => RoundStatus::Panel5,
            (None, false, _) => RoundStatus::Resolved,
            (None, true, false) => RoundStatus::Accepted,
            (None, true, true) => RoundStatus::Open,
        }
    }

    /// The panel that still has to decide.
    pub fn open_panel(&self) -> Option<&Panel> {
        self.panel.as_ref().filter(|panel| panel.is_open)
    }

    /// The same, to be changed.
    pub fn open_panel_mut(&mut self) -> Option<&mut Panel> {
        self.panel.as_mut().filter(|panel| panel.is_open)
    }

    /// The valid decision; none once the round is unresolvable.
    pub fn decision(&self) -> Option<&RoundDecision> {
        if self.end.is_some() { None } else { self.decisions.last() }
    }

    /// The time at which `witness` first accepted it.
    pub fn accepted(&self, witness: &str) -> Option<i64> {
        self.accepts.iter().find(|accept| accept.witness == witness).map(|accept| accept.at)
    }

    /// The newest decision of a panel before `place`, made by `now`.
    pub fn panel_decision(&self, place: usize, now: i64) -> Option<&RoundDecision> {
        let is_panel = |decided: &&RoundDecision| {
            decided.by != DecidedBy::Single && decided.place < place && decided.at <= now
        };
        self.decisions.iter().rev().find(is_panel)
    }
}
