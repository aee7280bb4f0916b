//! What deriving records for old commits came to.

use serde::Serialize;

/// The result of `andon backfill`. Texts raw.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BackfillReport {
    /// As it was asked for.
    pub range: String,
    /// Records that were written.
    pub written: usize,
    /// Commits that had one.
    pub there: usize,
    /// Commits that were not reached; more than none when it was stopped.
    pub left: usize,
}
