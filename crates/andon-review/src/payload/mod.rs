//! What entries say (S6, S11, S12): one type for each kind, which is written and read by serde.

pub mod acts;
pub mod fields;
pub mod member;
pub mod policy;
pub mod questions;
pub mod vote;

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use acts::{AnswerOutcome, BallotCommit, BallotReveal, KeyRevoke, PolicySign, RoundAccept, RoundObjection};
use member::{Malformed, read};
use policy::{KeyGrant, ReviewPolicy};
use questions::{RoundPayload, RoundRequest};
use vote::Resolution;

/// What an entry says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Payload {
    Policy(Box<ReviewPolicy>),
    /// A further signature under the entry it names.
    PolicySign(String),
    KeyAdd(Box<KeyGrant>),
    KeyRevoke(KeyRevoke),
    Round(Box<RoundRequest>),
    /// A halt: the round that only its answer ends.
    Halt,
    /// A witness takes the round.
    Accept(String),
    /// A witness asks for a panel.
    Panel(String),
    /// A decision, or a round that agents closed, was wrong.
    Flag(String),
    BallotCommit(BallotCommit),
    BallotReveal(Box<BallotReveal>),
    Resolution(Box<Resolution>),
    Outcome(AnswerOutcome),
    /// An entry that does not concern rounds.
    Other,
}

impl Payload {
    /// The round that it is about.
    pub fn round(&self) -> Option<&str> {
        match self {
            Self::Accept(round) | Self::Panel(round) | Self::Flag(round) => Some(round),
            Self::BallotCommit(said) => Some(&said.round),
            Self::BallotReveal(said) => Some(&said.round),
            Self::Resolution(said) => Some(&said.round),
            Self::Policy(_)
            | Self::PolicySign(_)
            | Self::KeyAdd(_)
            | Self::KeyRevoke(_)
            | Self::Round(_)
            | Self::Halt
            | Self::Outcome(_)
            | Self::Other => None,
        }
    }

    /// Reads what an entry of type `kind` says.
    ///
    /// # Errors
    /// A member that is missing or wrong.
    pub fn read(kind: &str, body: &Map<String, Value>) -> Result<Self, Malformed> {
        Ok(match kind {
            "policy" => Self::Policy(Box::new(read::<ReviewPolicy>(body)?.check()?)),
            "policy-sign" => Self::PolicySign(read::<PolicySign>(body)?.entry),
            "key-add" => Self::KeyAdd(read(body)?),
            "key-revoke" => Self::KeyRevoke(read(body)?),
            "round" => Self::Round(Box::new(read::<RoundPayload>(body)?.try_into()?)),
            "loop.halted" => Self::Halt,
            "accept" => Self::Accept(read::<RoundAccept>(body)?.round),
            "panel" => Self::Panel(read::<RoundObjection>(body)?.round),
            "flag" => Self::Flag(read::<RoundObjection>(body)?.round),
            "ballot-commit" => Self::BallotCommit(read(body)?),
            "ballot-reveal" => Self::BallotReveal(Box::new(BallotReveal::read(body)?)),
            "resolution" => Self::Resolution(Box::new(Resolution::read(body)?)),
            "outcome" => Self::Outcome(read::<AnswerOutcome>(body)?.check()?),
            _ => Self::Other,
        })
    }
}
