//! What differs between trees and texts, and what merging them gives.

pub(in crate::git) mod changes;
pub(in crate::git) mod hunks;
pub(in crate::git) mod merge;
pub(in crate::git) mod merge_paths;
