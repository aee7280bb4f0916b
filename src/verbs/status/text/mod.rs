//! `andon status`: badge, state, last halt, trend, tests and the Loop Evidence section
//! (docs/spec-map.md, loop safety: recommended UX).

mod json;
mod lines;

pub use json::json;
pub use lines::{StatusDepth, text};

use crate::view::status::{CycleView, FailureSummary, LoopState, StatusView, TestsOf};

#[cfg(test)]
pub(crate) mod tests;
