//! `andon ledger verify`: every entry of every writer again, from the objects alone.

use serde::Serialize;

use andon_core::domain::findings::Level;
use andon_engine::asking::{self, LedgerFault};
use andon_engine::error::OpsError;
use andon_engine::workspace::Workspace;
use andon_store::ledger::SignatureState;

/// What a ledger holds, and what is wrong with it.
#[derive(Debug, Serialize)]
pub struct LedgerReport {
    /// The id of the ledger.
    #[serde(rename = "ledger")]
    pub id: Option<String>,
    /// Entries that were read.
    pub entries: usize,
    /// Those with a signature that holds.
    pub signed: usize,
    /// What is wrong.
    pub faults: Vec<LedgerFault>,
}

/// Verifies the whole ledger.
///
/// # Errors
/// The refs cannot be read.
pub fn verify(ws: &Workspace) -> Result<LedgerReport, OpsError> {
    let ledger = asking::load(ws)?;
    let is_signed = |state: &SignatureState| matches!(state, SignatureState::Good { .. });
    let mut faults = asking::faults(&ledger);
    faults.extend(asking::rewound(&ws.repo)?);
    Ok(LedgerReport {
        id: ledger.id.map(|id| id.to_string()),
        entries: ledger.entries.len(),
        signed: ledger.entries.iter().filter(|entry| is_signed(&entry.signature)).count(),
        faults,
    })
}

impl LedgerReport {
    /// How many entries and refs are a person's wrong.
    pub fn wrong(&self) -> usize {
        self.faults.iter().filter(|fault| fault.level == Level::Block).count()
    }
}
