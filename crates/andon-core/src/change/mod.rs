//! The change of a commit, as values: its hunks, normalized and hashed, the nature of its lines, the hash of a directory.
//!
//! Everything that another clone or CI has to derive again from the same commits is defined here, once. Pure:
//! `andon_store` reads the trees and texts that are hashed here.

pub mod hash;
mod nature;
pub mod normalize;
mod notebook;
pub mod release;
pub mod rewrites;
pub mod secrets;
mod survey;

pub use nature::is_source;
pub use survey::{is_pipeline, path_hash};
