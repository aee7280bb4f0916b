//! The refs that were sent to another repository, and those that were found there.

use serde::Serialize;

use andon_core::domain::Diagnostic;

/// The numbers of records and ledger entries that went one way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct TransferCounts {
    /// Commits whose records are new or larger on the receiving side.
    pub records: usize,
    /// Ledger entries.
    #[serde(rename = "ledger_entries")]
    pub entries: usize,
}

/// The result of `andon sync`. Texts raw.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct SyncReport {
    /// A remote's name, an address without its password, or the path of a bundle.
    pub remote: String,
    /// The counts of what was received from the remote.
    pub received: TransferCounts,
    /// The counts of what was sent to the remote.
    pub sent: TransferCounts,
    /// Writers whose refs were folded into this clone's.
    pub folded: usize,
    /// The number of times that the sync was begun anew because another writer was faster.
    pub retries: u32,
    /// The problems that were found, each with its hint.
    pub found: Vec<Diagnostic>,
}
