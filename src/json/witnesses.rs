//! Who may answer rounds, and what is wrong with the ledger.

use std::collections::BTreeSet;

use andon_review::payload::policy::KeyRole;
use serde::Serialize;

/// `andon witness list --format json`
#[derive(Debug, Serialize)]
pub struct WitnessListJson {
    /// The id of the ledger.
    pub ledger: Option<String>,
    /// The entry of the policy in force.
    pub policy: Option<String>,
    /// Its version.
    pub version: Option<i64>,
    /// How many admin keys must sign a change.
    pub threshold: Option<usize>,
    /// The keys in force.
    pub keys: Vec<WitnessKeyJson>,
}

/// A key in force.
#[derive(Debug, Serialize)]
pub struct WitnessKeyJson {
    /// As a `.pub` file has it, without comment.
    pub key: String,
    /// `SHA256:...`
    pub fingerprint: String,
    /// Whose it is.
    pub who: String,
    /// What it may be used for.
    pub roles: BTreeSet<KeyRole>,
    /// Whether it was revoked.
    pub revoked: bool,
}

/// `andon witness init`: `andon/witness-init@1`.
#[derive(Debug, Serialize)]
pub struct WitnessInitJson<'a> {
    /// The id of the ledger.
    pub ledger: String,
    /// Its only admin and witness.
    pub who: &'a str,
    /// Their key, as a `.pub` file has it, without comment.
    pub key: String,
    /// `SHA256:...`
    pub fingerprint: String,
}

/// `andon witness add`, `revoke`, `policy --from` and `sign`: `andon/witness-change@1`.
#[derive(Debug, Serialize)]
pub struct WitnessChangeJson {
    /// The entry of the ledger that makes the change.
    pub entry: String,
    pub in_force: bool,
    /// How many admin keys have signed it; `null` once it is in force.
    pub signed: Option<usize>,
    /// How many must.
    pub threshold: Option<usize>,
}

/// `andon witness key`: `andon/witness-key@1`.
#[derive(Debug, Serialize)]
pub struct OwnKeyJson<'a> {
    pub key: String,
    pub fingerprint: String,
    /// Whose it is; `null` where the policy here does not know it.
    pub who: Option<&'a str>,
    pub roles: BTreeSet<KeyRole>,
}
