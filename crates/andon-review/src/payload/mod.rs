//! The payloads of entries (S6, S11, S12): one type for each kind, which is written and read by serde.

pub mod fields;
pub mod member;
pub mod policy;
pub mod questions;
pub mod vote;

#[cfg(test)]
mod tests;

pub use self::{fields::*, member::*, policy::*, questions::*, vote::*};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use crate::law::ITERATIONS;
use andon_core::domain::Digest;

/// The body of an entry.
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
        if let Self::Accept(round) | Self::Panel(round) | Self::Flag(round) = self {
            Some(round)
        } else if let Self::BallotCommit(said) = self {
            Some(&said.round)
        } else if let Self::BallotReveal(said) = self {
            Some(&said.round)
        } else if let Self::Resolution(said) = self {
            Some(&said.round)
        } else {
            None
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

/// A further signature under a policy or a change of keys.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PolicySign {
    /// The id of the entry that is signed.
    pub entry: String,
}

/// A witness takes a round.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoundAccept {
    pub round: String,
}

/// A panel is asked for, or what was decided is flagged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoundObjection {
    pub round: String,
    pub reason: SignedText,
}

/// A key that no longer counts, except for earlier entries (S7).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyRevoke {
    pub key: String,
    /// Entries that are good still, with all their ancestors.
    pub last_good: Vec<String>,
}

/// The sealed vote of a panel's member.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BallotCommit {
    pub round: String,
    pub commitment: Digest,
}

/// The opened vote of a panel's member, as it is written. The ballot is kept as it was committed to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RevealPayload<Ballot> {
    pub round: String,
    pub nonce: Digest,
    pub ballot: Ballot,
}

/// The part of an opened vote that the folds need.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BallotReveal {
    pub round: String,
    /// The commitment that its member must have made.
    pub commitment: Digest,
    pub vote: VoteMembers,
}

impl BallotReveal {
    /// Reads a revealed ballot, and computes its commitment.
    fn read(body: &Map<String, Value>) -> Result<Self, Malformed> {
        let RevealPayload { round, nonce, ballot } = read::<RevealPayload<VotePayload>>(body)?;
        let vote = VoteMembers::try_from(ballot).map_err(|wrong| wrong.below("ballot"))?;
        let commitment = body.get("ballot").and_then(|ballot| commitment(nonce, ballot));
        let commitment = commitment.ok_or_else(|| malformed("ballot", "has no canonical form"))?;
        Ok(Self { round, commitment, vote })
    }
}

/// The commitment to a ballot; nothing where it has no canonical form.
pub fn commitment(nonce: Digest, ballot: &impl Serialize) -> Option<Digest> {
    let bytes = canonical(ballot)?;
    Some(Digest(Sha256::new().chain_update(nonce.0).chain_update(bytes).finalize().into()))
}

/// The course of the loop after an answer (R7).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnswerOutcome {
    #[serde(default)]
    pub before: Vec<String>,
    #[serde(default)]
    pub after: Vec<String>,
    pub left: bool,
    /// A resolution, or the round that a panel decided.
    pub resolution: String,
}

impl AnswerOutcome {
    /// Checks what serde cannot.
    fn check(self) -> Result<Self, Malformed> {
        if !(1..=ITERATIONS).contains(&self.before.len()) {
            return Err(malformed("before", "must hold 1 to 8 signatures"));
        }
        if self.after.len() != ITERATIONS {
            return Err(malformed("after", "must hold 8 signatures"));
        }
        Ok(self)
    }
}
