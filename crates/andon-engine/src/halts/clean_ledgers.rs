//! Remembers that no halt was found in any ledger, until a ledger moves, so that not every hook searches again. Without this
//! memory the search is repeated.

use sha2::Digest as _;

use crate::error::OpsError;
use crate::workspace::Workspace;
use andon_core::domain::ids::Digest;
use andon_store::ledger::Ledger;
use andon_store::memory::{Kind, Memory};

/// The ledgers as they are now, and where it is remembered that nothing was found in them.
pub(super) struct CleanLedgers {
    /// Changes whenever a ledger loses an entry, and whenever a halt or an answer comes.
    losses: String,
    /// Changes whenever a ledger moves.
    state: String,
    memory: Memory,
}

impl CleanLedgers {
    /// # Errors
    /// The ledgers cannot be read.
    pub fn open(ws: &Workspace) -> Result<Self, OpsError> {
        let (losses, state) = Ledger::open(&ws.repo).losses_and_state()?;
        let digest = |text: &str| Digest(sha2::Sha256::digest(text.as_bytes()).into()).to_string();
        let (losses, state) = (digest(&losses), digest(&state));
        let memory = Memory::new(&ws.repo, Kind::Traces);
        Ok(Self { losses, state, memory })
    }

    /// Whether nothing was found in these ledgers.
    pub(super) fn is_known(&self) -> bool {
        self.known().is_some_and(|known| known == (self.losses.clone(), self.state.clone()))
    }

    /// Whether nothing was found to be lost, and nothing was lost since.
    pub(super) fn has_lost_nothing(&self) -> bool {
        self.known().is_some_and(|(losses, _)| losses == self.losses)
    }

    /// Remembers that nothing was found.
    pub(super) fn remember(&self) {
        self.memory.put(&(), &(&self.losses, &self.state));
    }

    fn known(&self) -> Option<(String, String)> {
        self.memory.get(&())
    }
}
