//! The stored forms of values, in one place: those that others read (`v1`), and those that this program keeps for itself
//! ([`envelope`]).
//!
//! Pure: the journal and the records, the ledger and the JSON output are made of the same wire types, and import
//! nothing of each other.

pub mod envelope;
pub mod v1;

/// The notes ref that holds the records.
pub const NOTES_REF: &str = "refs/notes/andon";
