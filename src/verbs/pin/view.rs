//! Whether a tree is as it was pinned.

use andon_core::domain::identity::{Files, Mismatch};
use andon_core::domain::ids::Digest;

/// Its status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PinState {
    /// It was pinned just now; before, these differed.
    Pinned(Vec<Mismatch>),
    /// It is as it was pinned.
    AsPinned,
    /// It differs.
    Drifted(Vec<Mismatch>),
    /// Nothing was pinned.
    NotPinned,
}

/// Everything `andon pin` shows. Texts raw.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PinView {
    /// Its status.
    pub state: PinState,
    /// The checksum of what is there.
    pub checksum: Digest,
    /// The files that are there.
    pub files: Files,
    /// The globs that declare them.
    pub globs: Vec<String>,
}

impl PinView {
    /// Whether all is as it was pinned.
    pub fn is_fine(&self) -> bool {
        matches!(self.state, PinState::Pinned(_) | PinState::AsPinned)
    }
}
