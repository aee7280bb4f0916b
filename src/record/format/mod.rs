//! How facts are written down. Wire formats live here and nowhere else, each version in its own module with its own
//! golden files (`tests/format/<version>/`), so that a change of the domain can never change what an older or newer
//! clone reads.

mod json;
mod members;
pub mod v1;

pub(crate) use json::Json;
pub use members::FormatError;
pub(crate) use members::{Cut, Members, bounded};

/// The notes ref that holds the records.
pub const NOTES_REF: &str = "refs/notes/andon";
