//! What deriving records for old commits came to.

/// The result of `andon backfill`. Texts raw.
#[derive(Debug, Clone, PartialEq, Eq)]
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
