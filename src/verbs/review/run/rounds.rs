//! Which round a person means, and what is known of it.

use andon_engine::asking::{self, SignedLedger};
use andon_engine::error::OpsError;
use andon_engine::halts;
use andon_engine::workspace::Workspace;
use andon_review::round::RoundState;
use andon_signing::PublicKey;

/// The round that a person names: an id, its first digits, or `halt` for the unanswered one here.
///
/// # Errors
/// There is none, or several.
pub fn find(ws: &Workspace, ledger: &SignedLedger, named: &str) -> Result<usize, OpsError> {
    let entry = if named == "halt" {
        let halt = halts::binding(ws)?.ok_or_else(|| OpsError::Usage {
            what: "no halt waits for an answer here".to_owned(),
            help: "see which rounds wait: andon review".to_owned(),
        })?;
        ledger.find(&halt.id.to_string())?
    } else {
        ledger.find(named)?
    };
    if ledger.folded.state.round_at.contains_key(&entry) {
        return Ok(entry);
    }
    if let Some((what, help)) = asking::why_not(ledger, entry) {
        return Err(OpsError::Refused { what, help });
    }
    Err(OpsError::Usage {
        what: format!("{} is no round: it is of type {}", ledger.short(entry), ledger.entries[entry].kind),
        help: "andon review".to_owned(),
    })
}

/// What the folds know of the round of `entry`.
pub fn state(ledger: &SignedLedger, entry: usize) -> Option<&RoundState> {
    let state = &ledger.folded.state;
    state.round_at.get(&entry).map(|at| &state.rounds[*at])
}

/// Whose key signs here, as the policy calls them.
pub fn own_name(ledger: &SignedLedger, key: &PublicKey) -> Option<String> {
    ledger.who(&key.to_string()).map(str::to_owned)
}
