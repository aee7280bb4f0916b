//! `guard.ack = "signed"` and `guard.ledger` go together: without the ledger it would be unknown whose signature
//! counts.

use super::mistake::mistake;
use super::settings::Config;
use andon_core::domain::diagnostic::Diagnostic;
use andon_core::domain::response::AckMode;

/// One of the two without the other. Layers are joined key by key, so that this is seen only when all of them are read.
pub(super) fn alone(config: &Config) -> Option<Diagnostic> {
    let (key, missing, hint) = match (config.guard.ack, config.guard.ledger) {
        (AckMode::Signed, None) => (
            "guard.ack",
            "`guard.ack` = \"signed\" needs `guard.ledger`",
            "write ledger = \"ID\" under [guard]: andon witness list --format json | jq .ledger",
        ),
        (AckMode::Delete | AckMode::Resume, Some(_)) => (
            "guard.ledger",
            "`guard.ledger` needs `guard.ack` = \"signed\"",
            "write ack = \"signed\" under [guard], or remove ledger",
        ),
        (AckMode::Signed, Some(_)) | (AckMode::Delete | AckMode::Resume, None) => return None,
    };
    let file = config.origin(key).place().unwrap_or_default();
    Some(mistake(&file, None, missing, hint))
}
