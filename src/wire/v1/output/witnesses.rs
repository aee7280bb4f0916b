//! Who may answer rounds, and what is wrong with the ledger.

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
    pub roles: Vec<&'static str>,
    /// Whether it was revoked.
    pub revoked: bool,
}

/// `andon ledger verify --format json`
#[derive(Debug, Serialize)]
pub struct LedgerVerifyJson {
    /// The id of the ledger.
    pub ledger: Option<String>,
    /// How many entries were read.
    pub entries: usize,
    /// How many of them carry a signature that holds.
    pub signed: usize,
    /// What is wrong.
    pub faults: Vec<LedgerFaultJson>,
}

/// Something that is wrong with a ledger.
#[derive(Debug, Serialize)]
pub struct LedgerFaultJson {
    /// The entry's id, where it has one.
    pub entry: Option<String>,
    /// Why, as a word.
    pub code: &'static str,
    /// `block`, or `warn` for what two clones did at once.
    pub level: &'static str,
    /// The same as a sentence.
    pub message: String,
    /// What to do.
    pub help: String,
}
