//! What entries say (S6, S11, S12), read from untrusted members.

pub mod acts;
pub mod asked;
pub mod member;
pub mod policy;
pub mod vote;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use acts::{AnswerOutcome, BallotCommit, BallotReveal, KeyRevoke};
use asked::RoundRequest;
use member::{Malformed, Members};
use policy::{KeyGrant, ReviewPolicy};
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
    /// The first member that is missing or wrong.
    pub fn read(kind: &str, body: &Map<String, Value>) -> Result<Self, Malformed> {
        let members = Members::new(body);
        Ok(match kind {
            "policy" => Self::Policy(Box::new(ReviewPolicy::read(members)?)),
            "policy-sign" => Self::PolicySign(members.text("entry")?),
            "key-add" => Self::KeyAdd(Box::new(KeyGrant::read(members)?)),
            "key-revoke" => Self::KeyRevoke(KeyRevoke::read(members)?),
            "round" => Self::Round(Box::new(RoundRequest::read(members)?)),
            "loop.halted" => Self::Halt,
            "accept" => Self::Accept(members.text("round")?),
            "panel" => Self::Panel(acts::reasoned(members)?),
            "flag" => Self::Flag(acts::reasoned(members)?),
            "ballot-commit" => Self::BallotCommit(BallotCommit::read(members)?),
            "ballot-reveal" => Self::BallotReveal(Box::new(BallotReveal::read(members)?)),
            "resolution" => Self::Resolution(Box::new(Resolution::read(members)?)),
            "outcome" => Self::Outcome(AnswerOutcome::read(members)?),
            _ => Self::Other,
        })
    }
}
