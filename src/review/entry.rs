//! What the folds read: one ledger entry, whoever read it.

use std::sync::Arc;

use serde_json::{Map, Value};

/// Seconds of a day.
pub const DAY: i64 = 86_400;
/// Seconds of the window in which reputations and detectors look back (T1).
pub const WINDOW: i64 = 90 * DAY;
/// Seconds for which an agent's penalties and a witness's declined concerns are remembered.
pub const MONTH: i64 = 30 * DAY;

/// One entry. Entries stand in a list, parents before children; an entry is known by its index there.
#[derive(Debug, Clone, PartialEq)]
pub struct ReviewEntry {
    /// The id: the digest of the canonical bytes.
    pub id: String,
    /// What stands for the id where ids are compared for order.
    pub rank: [u8; 32],
    /// Who wrote it: a clone, not a person.
    pub writer: String,
    /// The time it claims, in seconds since 1970.
    pub at: i64,
    /// The type, such as `round.opened`.
    pub kind: String,
    /// The key that signed it. The signature itself has been verified by the reader.
    pub signer: Option<String>,
    /// Whether a person touched that key, where it can tell.
    pub touched: bool,
    /// The entries it names as its parents.
    pub parents: Vec<usize>,
    /// Everything else it says; untrusted.
    pub body: Arc<Map<String, Value>>,
}

/// Whether `at` lies in the `span` seconds that end with `now`; `now` itself belongs to them.
pub fn within(now: i64, at: i64, span: i64) -> bool {
    let age = now.saturating_sub(at);
    (0..span).contains(&age)
}
