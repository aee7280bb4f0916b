//! One ledger entry as the folds read it, and the reasons for which an entry does not count.

use std::sync::Arc;

use serde::Serialize;
use serde_json::{Map, Value};

use super::payload::{Payload, fields::shown_by_name, member::Malformed};

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

/// The reasons, in the order in which they are looked for: the first that applies is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    ClockSetBack,
    FromTheFuture,
    BadPayload,
    UnknownRound,
    PolicyRollback,
    PolicyConflict,
    PolicyThreshold,
    Unsigned,
    RevokedKey,
    SelfGranted,
    UnknownKey,
    WrongRole,
    Withdrawn,
    AlreadyResolved,
    RateLimited,
    Suspended,
    Conflict,
    PanelOnly,
    Rotation,
    PanelFull,
    RefereeGate,
    PanelNeeded,
    NotAccepted,
    NotOnPanel,
    Cap,
    ConcernCooldown,
    DuplicateBallot,
    NoCommitment,
    EarlyReveal,
    CommitmentMismatch,
}

shown_by_name!(Code);
