//! `andon ledger verify`: every entry of every writer again, from the objects alone.

use crate::engine::error::OpsError;
use crate::engine::witnessing::{self, Witnessed};
use crate::engine::workspace::Workspace;
use crate::ledger::{Ledger, SignatureState, TamperedHow};
use crate::wire::v1::output::{LedgerFaultJson, LedgerVerifyJson};

/// What a ledger holds, and what is wrong with it.
#[derive(Debug)]
pub struct LedgerVerified {
    /// The id of the ledger.
    pub id: Option<String>,
    /// Entries that were read.
    pub entries: usize,
    /// Those with a signature that holds.
    pub signed: usize,
    /// What is wrong.
    pub faults: Vec<Witnessed>,
}

/// Verifies the whole ledger.
///
/// # Errors
/// The refs cannot be read.
pub fn verify(ws: &Workspace) -> Result<LedgerVerified, OpsError> {
    let ledger = witnessing::load(ws)?;
    let is_signed = |state: &SignatureState| matches!(state, SignatureState::Good { .. });
    let mut faults = witnessing::faults(&ledger);
    faults.extend(rewound(ws)?);
    Ok(LedgerVerified {
        id: ledger.id.map(|id| id.to_string()),
        entries: ledger.entries.len(),
        signed: ledger.entries.iter().filter(|entry| is_signed(&entry.signature)).count(),
        faults,
    })
}

/// Refs that lack what other writers saw of them.
fn rewound(ws: &Workspace) -> Result<Vec<Witnessed>, OpsError> {
    let found = Ledger::open(&ws.repo).tampered()?;
    let faults = found.into_iter().map(|tampered| {
        let writer = &tampered.writer;
        let message = match tampered.how {
            TamperedHow::Rewound(gone) | TamperedHow::Gone(gone) => {
                format!("ledger of {writer} was rewound: {} is no longer there", gone.short())
            }
            TamperedHow::Forked(one, other) => {
                format!(
                    "ledger of {writer} was rewritten: {} and {} exclude each other",
                    one.short(),
                    other.short()
                )
            }
        };
        let help = "get it back from another clone: andon sync; find out who forced it".to_owned();
        Witnessed { entry: None, code: "rewound", message, help }
    });
    Ok(faults.collect())
}

/// The same for programs.
pub fn json(found: &LedgerVerified) -> LedgerVerifyJson {
    let fault = |fault: &Witnessed| LedgerFaultJson {
        entry: fault.entry.map(|id| id.to_string()),
        code: fault.code,
        message: fault.message.clone(),
        help: fault.help.clone(),
    };
    LedgerVerifyJson {
        ledger: found.id.clone(),
        entries: found.entries,
        signed: found.signed,
        faults: found.faults.iter().map(fault).collect(),
    }
}
