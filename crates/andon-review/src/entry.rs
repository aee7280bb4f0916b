//! One ledger entry as the folds read it, and the reasons for which an entry does not count.

use std::sync::Arc;

use andon_core::named_enum;
use serde_json::{Map, Value};

use super::{Malformed, Payload, payload::fields::shown_by_name};

/// One entry. Entries are in a list, parents before children; an entry is identified by its index there.
#[derive(Debug, Clone, PartialEq)]
pub struct ReviewEntry {
    /// The id: the digest of the canonical bytes.
    pub id: String,
    /// The key that replaces the id where ids are compared for order.
    pub rank: [u8; 32],
    /// The writer: a clone, not a person.
    pub writer: String,
    /// The time it claims, in seconds since 1970.
    pub at: i64,
    /// The type, such as `round.opened`.
    pub kind: String,
    /// The key that signed it. The signature itself has been verified by the reader.
    pub signer: Option<String>,
    /// A person touched that key, which can tell.
    pub touched: bool,
    /// The entries it names as its parents.
    pub parents: Vec<usize>,
    /// Everything else it says; untrusted.
    pub body: Arc<Map<String, Value>>,
    /// The payload that the body holds.
    pub payload: Arc<Result<Payload, Malformed>>,
}

named_enum! {
    /// The reasons, in the order in which they are looked for: the first that applies is given.
    pub enum Code, "the reason why an entry does not count" {
        ClockSetBack = "clock_set_back",
        FromTheFuture = "from_the_future",
        BadPayload = "bad_payload",
        UnknownRound = "unknown_round",
        PolicyRollback = "policy_rollback",
        PolicyConflict = "policy_conflict",
        PolicyThreshold = "policy_threshold",
        Unsigned = "unsigned",
        RevokedKey = "revoked_key",
        SelfGranted = "self_granted",
        UnknownKey = "unknown_key",
        WrongRole = "wrong_role",
        Withdrawn = "withdrawn",
        AlreadyResolved = "already_resolved",
        RateLimited = "rate_limited",
        Suspended = "suspended",
        Conflict = "conflict",
        PanelOnly = "panel_only",
        Rotation = "rotation",
        PanelFull = "panel_full",
        RefereeGate = "referee_gate",
        PanelNeeded = "panel_needed",
        NotAccepted = "not_accepted",
        NotOnPanel = "not_on_panel",
        Cap = "cap",
        ConcernCooldown = "concern_cooldown",
        DuplicateBallot = "duplicate_ballot",
        NoCommitment = "no_commitment",
        EarlyReveal = "early_reveal",
        CommitmentMismatch = "commitment_mismatch",
    }
}

shown_by_name!(Code);
