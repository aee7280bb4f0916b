//! Differences between trees and texts, and the result of merging them.

pub(crate) mod changes;
pub(crate) mod hunks;
pub(crate) mod merge;
pub(crate) mod merge_paths;
