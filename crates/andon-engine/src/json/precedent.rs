//! Precedents.

use serde::Serialize;

/// A precedent.
#[derive(Debug, Serialize)]
pub struct RoundPrecedentJson {
    /// The round's entry.
    pub round: String,
    /// What it asked.
    pub question: String,
    /// What was decided.
    pub decision: String,
    /// `current`, `overturned` or `dissent`.
    pub standing: &'static str,
    /// By whom.
    pub by: Vec<String>,
    /// Its topics.
    pub tags: Vec<String>,
}
