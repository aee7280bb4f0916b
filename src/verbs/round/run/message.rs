//! What agents send: the members of each message.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::pending::MAX_TEXT;

/// What an agent does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RoundAction {
    /// Puts a question.
    Open,
    /// Claims or criticises.
    Say,
    /// Judges.
    Verdict,
    /// Ends the round.
    Close,
}

/// A line that says itself what it does.
#[derive(Deserialize)]
pub(super) struct ActionMember {
    pub(super) action: RoundAction,
}

/// The round that every message but the first is about.
#[derive(Deserialize)]
pub(super) struct RoundName {
    pub(super) round: String,
}

/// What opens a round, beside the question itself.
#[derive(Deserialize)]
pub(super) struct OpenMessage {
    #[serde(default)]
    pub(super) precedent_tags: BTreeSet<String>,
    #[serde(default)]
    pub(super) evidence: Vec<Map<String, Value>>,
}

/// A statement of a participant, or of the judge.
#[derive(Deserialize)]
pub(super) struct StatementMessage {
    pub(super) round: String,
    pub(super) agent: StatementText,
    pub(super) text: StatementText,
    #[serde(default)]
    pub(super) evidence: Vec<Map<String, Value>>,
}

/// As what a participant speaks.
#[derive(Deserialize)]
pub(super) struct RoleMember {
    pub(super) role: Speaker,
}

/// A participant.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Speaker {
    Proposer,
    Opposer,
}

/// What ends a round.
#[derive(Deserialize)]
pub(super) struct CloseMessage {
    pub(super) round: String,
    pub(super) paid_to: Option<String>,
}

/// A text of at most [`MAX_TEXT`] bytes.
#[derive(Deserialize)]
#[serde(try_from = "String")]
pub(super) struct StatementText(pub(super) String);

impl TryFrom<String> for StatementText {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        match text.len() {
            0..=MAX_TEXT => Ok(Self(text)),
            bytes => Err(format!("has {bytes} bytes, at most 1 MiB are taken")),
        }
    }
}
