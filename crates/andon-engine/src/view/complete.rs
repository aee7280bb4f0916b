//! The answer to whether a task may be called done, and why not.

use andon_core::domain::Diagnostic;
use andon_core::policy::{Bit, BitReasons, DirtyBits};

/// The dirty bits. Texts raw.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompleteView {
    /// The bits, by what is recorded.
    pub bits: DirtyBits,
    /// The reasons for the bits that are in the way.
    pub reasons: BitReasons,
    /// States whether the task may be called done.
    pub can_complete: Bit,
    /// The first thing to do when the task may not be called done.
    pub prompt: Option<String>,
    /// The reasons why the task is not done.
    pub problems: Vec<Diagnostic>,
}
