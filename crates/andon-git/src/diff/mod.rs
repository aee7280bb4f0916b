//! What differs between trees and texts, and what merging them gives.

pub(crate) mod changes;
pub(crate) mod hunks;
pub(crate) mod merge;
pub(crate) mod merge_paths;
