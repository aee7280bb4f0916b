//! Precedents.

use serde::Serialize;

/// A precedent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RoundPrecedentJson {
    /// The round's entry.
    pub round: String,
    /// What it asked.
    pub question: String,
    /// What was decided, by name.
    pub decision: String,
    /// What is to be done, word for word: the amended text, or the one that was accepted.
    pub words: Option<String>,
    /// Why.
    pub rationale: String,
    /// `current`, `overturned` or `dissent`.
    pub standing: &'static str,
    /// By whom.
    pub by: Vec<String>,
    /// Its topics.
    pub tags: Vec<String>,
}
