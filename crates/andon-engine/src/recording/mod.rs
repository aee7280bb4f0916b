//! From a commit to its record: what is derived from git, what the journal holds, and the index of records.

pub mod attempts;
pub mod bound;
pub mod bulk;
pub mod derive;
pub mod pending;
pub mod record_index;
pub mod repairs;
pub mod skip;
pub mod timeline;
