//! The short payloads of entries: a key is revoked, a ballot is cast, a loop continued.

use andon_core::domain::ids::Digest;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use super::fields::SignedText;
use super::member::{self, Malformed, malformed};
use super::vote::{self, VoteMembers, VotePayload};
use crate::law::ITERATIONS;

/// A further signature under a policy or a change of keys.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PolicySign {
    /// What is signed.
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

/// What the folds take of an opened vote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BallotReveal {
    pub round: String,
    /// What its commitment must be.
    pub commitment: Digest,
    pub vote: VoteMembers,
}

impl BallotReveal {
    /// Reads one.
    pub(super) fn read(body: &Map<String, Value>) -> Result<Self, Malformed> {
        let RevealPayload { round, nonce, ballot } = member::read::<RevealPayload<VotePayload>>(body)?;
        let vote = VoteMembers::try_from(ballot).map_err(|wrong| wrong.below("ballot"))?;
        let commitment = body.get("ballot").and_then(|ballot| commitment(nonce, ballot));
        let commitment = commitment.ok_or_else(|| malformed("ballot", "has no canonical form"))?;
        Ok(Self { round, commitment, vote })
    }
}

/// The commitment to a ballot; nothing where it has no canonical form.
pub fn commitment(nonce: Digest, ballot: &impl Serialize) -> Option<Digest> {
    let bytes = vote::canonical(ballot)?;
    Some(Digest(Sha256::new().chain_update(nonce.0).chain_update(bytes).finalize().into()))
}

/// How the loop continued after an answer (R7).
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
    /// What is wrong with it that serde cannot say.
    pub(super) fn check(self) -> Result<Self, Malformed> {
        if !(1..=ITERATIONS).contains(&self.before.len()) {
            return Err(malformed("before", "must hold 1 to 8 signatures"));
        }
        if self.after.len() != ITERATIONS {
            return Err(malformed("after", "must hold 8 signatures"));
        }
        Ok(self)
    }
}
