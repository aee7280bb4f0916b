//! The short payloads of entries: a key is revoked, a ballot is cast, a loop continued.

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::member::{Malformed, Members, malformed};
use super::vote::{self, VoteMembers};
use crate::law::ITERATIONS;

/// The round of a panel or flag entry, which gives its reason.
pub fn reasoned(members: Members<'_>) -> Result<String, Malformed> {
    let round = members.text("round")?;
    members.signed_text("reason")?.ok_or_else(|| malformed("reason", "a text is missing"))?;
    Ok(round)
}

/// A key that no longer counts, except for earlier entries (S7).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyRevoke {
    pub key: String,
    /// Entries that are good still, with all their ancestors.
    pub last_good: Vec<String>,
}

impl KeyRevoke {
    /// Reads one.
    pub fn read(members: Members<'_>) -> Result<Self, Malformed> {
        let key = members.text("key")?;
        members.list("last_good")?.ok_or_else(|| malformed("last_good", "a list is missing"))?;
        Ok(Self { key, last_good: members.texts("last_good")? })
    }
}

/// The sealed vote of a panel's member.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BallotCommit {
    pub round: String,
    pub commitment: [u8; 32],
}

impl BallotCommit {
    /// Reads one.
    pub fn read(members: Members<'_>) -> Result<Self, Malformed> {
        Ok(Self { round: members.text("round")?, commitment: hex(members, "commitment")? })
    }
}

/// The opened vote of a panel's member.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BallotReveal {
    pub round: String,
    /// What its commitment must be.
    pub commitment: [u8; 32],
    pub vote: VoteMembers,
}

impl BallotReveal {
    /// Reads one.
    pub fn read(members: Members<'_>) -> Result<Self, Malformed> {
        let round = members.text("round")?;
        let nonce = hex(members, "nonce")?;
        let ballot = members.object("ballot")?.ok_or_else(|| malformed("ballot", "an object is missing"))?;
        let vote = VoteMembers::read(ballot)?;
        let bytes = members.get("ballot").and_then(vote::canonical);
        let bytes = bytes.ok_or_else(|| malformed("ballot", "has no canonical form"))?;
        let commitment = Sha256::new().chain_update(nonce).chain_update(bytes).finalize().into();
        Ok(Self { round, commitment, vote })
    }
}

/// How the loop continued after an answer (R7).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnswerOutcome {
    /// A resolution, or the round that a panel decided.
    pub resolution: String,
    pub before: Vec<String>,
    pub after: Vec<String>,
    pub left: bool,
}

impl AnswerOutcome {
    /// Reads one.
    pub fn read(members: Members<'_>) -> Result<Self, Malformed> {
        let before = members.texts("before")?;
        if !(1..=ITERATIONS).contains(&before.len()) {
            return Err(malformed("before", "must hold 1 to 8 signatures"));
        }
        let after = members.texts("after")?;
        if after.len() != ITERATIONS {
            return Err(malformed("after", "must hold 8 signatures"));
        }
        let left = members.truth("left")?.ok_or_else(|| malformed("left", "true or false is missing"))?;
        Ok(Self { resolution: members.text("resolution")?, before, after, left })
    }
}

fn hex(members: Members<'_>, name: &str) -> Result<[u8; 32], Malformed> {
    let text = members.text(name)?;
    let wrong = || malformed(name, "must be 64 hexadecimal digits");
    if text.len() != 64 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(wrong());
    }
    let mut bytes = [0; 32];
    for (byte, at) in bytes.iter_mut().zip((0..64).step_by(2)) {
        *byte = u8::from_str_radix(&text[at..at + 2], 16).map_err(|_| wrong())?;
    }
    Ok(bytes)
}
