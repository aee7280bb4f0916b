//! Who may sign, for people, programs and `ssh-keygen`.

use super::granted;
use crate::json::{WitnessKeyJson, WitnessListJson};
use andon_core::escape;
use andon_engine::asking::{self, SignedLedger};
use andon_engine::error::OpsError;
use andon_engine::workspace::Workspace;
use andon_review::payload::fields::names;
use andon_signing::PublicKey;

/// The ledger with its policy.
///
/// # Errors
/// There is none.
pub fn keys(ws: &Workspace) -> Result<SignedLedger, OpsError> {
    asking::load(ws)?.with_policy()
}

/// Lines of an allowed-signers file: with it plain `git verify-commit` verifies entries.
pub fn allowed_signers(ledger: &SignedLedger) -> String {
    let line = |who: &str, key: &str| format!("{who} namespaces=\"git\" {key}\n");
    granted(ledger).map(|grant| line(&plain(&grant.who), &plain(grant.key()))).collect()
}

/// A principal is one word, and a key one line.
fn plain(text: &str) -> String {
    text.chars().filter(|c| !c.is_control() && *c != '"').collect()
}

/// The same for programs.
pub fn list_json(ledger: &SignedLedger) -> WitnessListJson {
    let authority = &ledger.folded.authority;
    let keys = authority.at_end.keys.values().map(|grant| WitnessKeyJson {
        key: grant.key().to_owned(),
        fingerprint: fingerprint(grant.key()),
        who: grant.who.clone(),
        roles: grant.roles.clone(),
        revoked: authority.is_out(grant.key()),
    });
    WitnessListJson {
        ledger: ledger.id.map(|id| id.to_string()),
        policy: ledger.policy().map(|(entry, _)| ledger.entries[entry].id.to_string()),
        version: ledger.policy().map(|(_, version)| version),
        threshold: authority.at_end.threshold,
        keys: keys.collect(),
    }
}

fn fingerprint(key: &str) -> String {
    PublicKey::parse(key).map_or_else(|_| "no key".to_owned(), |key| key.fingerprint())
}

/// The same for people.
pub fn list_text(found: &WitnessListJson) -> String {
    let version = found.version.unwrap_or_default();
    let ledger: String = found.ledger.iter().flat_map(|id| id.chars().take(8)).collect();
    let mut text =
        format!("policy {version} of ledger {ledger}, threshold {}\n", found.threshold.unwrap_or(1));
    let mut keys: Vec<&WitnessKeyJson> = found.keys.iter().collect();
    keys.sort_by_key(|key| (&key.who, &key.fingerprint));
    for key in keys {
        let revoked = if key.revoked { "  revoked" } else { "" };
        let who = escape::terminal(&key.who);
        text.push_str(&format!("  {who}  {}  {}{revoked}\n", names(&key.roles), key.fingerprint));
    }
    text
}
