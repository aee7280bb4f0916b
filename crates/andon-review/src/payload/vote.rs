//! What a person decided (S11): by a resolution of their own, or by a ballot on a panel.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::asked::Trigger;
use super::member::{Malformed, Members, is_blank, malformed};
use crate::similarity::Words;

/// The five decisions; each is an axis of adjustments (R25).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum VoteChoice {
    AcceptSynthesis,
    AcceptProposer,
    AcceptOpposer,
    Amend,
    RejectRound,
}

impl VoteChoice {
    /// All of them, in the order of the axes.
    pub const ALL: [Self; 5] =
        [Self::AcceptSynthesis, Self::AcceptProposer, Self::AcceptOpposer, Self::Amend, Self::RejectRound];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::AcceptSynthesis => "accept_synthesis",
            Self::AcceptProposer => "accept_proposer",
            Self::AcceptOpposer => "accept_opposer",
            Self::Amend => "amend",
            Self::RejectRound => "reject_round",
        }
    }
}

/// The members that a resolution and a ballot share.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VoteMembers {
    pub choice: VoteChoice,
    /// What is counted: the decision, and of an amendment its text, whatever the white space.
    pub key: String,
    /// The words of an amendment.
    pub amended: Option<Words>,
    /// Whether sycophancy was assessed.
    pub assessed: bool,
    /// Whether it says that the rules themselves are wrong.
    pub concern: bool,
    pub rationale: Words,
    pub seconds: i64,
    pub attributed_to: Option<String>,
    pub tags: BTreeSet<String>,
}

impl VoteMembers {
    /// Reads one, as far as it can be judged without its round.
    pub fn read(members: Members<'_>) -> Result<Self, Malformed> {
        let choice = members.text("decision")?;
        let choice = VoteChoice::ALL.into_iter().find(|known| known.name() == choice).ok_or_else(|| {
            malformed(
                "decision",
                "must be accept_synthesis, accept_proposer, accept_opposer, amend or reject_round",
            )
        })?;
        let amended = members.signed_text("amended_recommendation")?;
        match (choice == VoteChoice::Amend, &amended) {
            (true, None) => {
                return Err(malformed(
                    "amended_recommendation",
                    "a text is missing: what is to be done instead",
                ));
            }
            (true, Some(text)) if is_blank(text) => {
                return Err(malformed("amended_recommendation", "must not be empty"));
            }
            (false, Some(_)) => return Err(malformed("amended_recommendation", "is for `amend` alone")),
            (true, Some(_)) | (false, None) => {}
        }
        let rationale = members.signed_text("rationale")?.filter(|text| !is_blank(text));
        checks(members)?;
        strongest(members)?;
        Ok(Self {
            choice,
            key: key(choice, amended.as_deref()),
            amended: amended.as_deref().map(Words::new),
            assessed: sycophancy(members)?,
            concern: concern(members)?,
            rationale: Words::new(&rationale.ok_or_else(|| malformed("rationale", "must not be empty"))?),
            seconds: members
                .whole("time_spent_seconds")?
                .ok_or_else(|| malformed("time_spent_seconds", "a whole number of at least 0 is missing"))?,
            attributed_to: members.maybe_text("attributed_to")?,
            tags: members.set("tags")?,
        })
    }
}

fn key(choice: VoteChoice, amended: Option<&str>) -> String {
    let Some(text) = amended else { return choice.name().to_owned() };
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let digest: String =
        Sha256::digest(text.as_bytes()).iter().take(6).map(|byte| format!("{byte:02x}")).collect();
    format!("{}:{digest}", choice.name())
}

/// The claims that were checked; there may be none.
fn checks(members: Members<'_>) -> Result<(), Malformed> {
    for check in members.list("factual_checks")?.unwrap_or_default() {
        let check = check.as_object().ok_or_else(|| malformed("factual_checks", "must hold objects"))?;
        let check = Members::new(check);
        check.signed_text("claim")?.ok_or_else(|| malformed("factual_checks.claim", "a text is missing"))?;
        check.signed_text("evidence")?;
        if !["true", "false", "unverifiable"].contains(&check.text("verdict")?.as_str()) {
            return Err(malformed("factual_checks.verdict", "must be true, false or unverifiable"));
        }
    }
    Ok(())
}

/// The strongest claim of either side (H.2 step 2).
fn strongest(members: Members<'_>) -> Result<(), Malformed> {
    if let Some(strongest) = members.object("strongest")? {
        strongest.signed_text("claim")?;
        strongest.signed_text("critique")?;
    }
    Ok(())
}

fn sycophancy(members: Members<'_>) -> Result<bool, Malformed> {
    let Some(assessment) = members.object("sycophancy_assessment")? else { return Ok(false) };
    let within = |err: Malformed| malformed(&format!("sycophancy_assessment.{}", err.member), err.wanted);
    assessment
        .truth("detected")
        .map_err(within)?
        .ok_or_else(|| malformed("sycophancy_assessment.detected", "true or false is missing"))?;
    assessment
        .signed_text("rationale")
        .map_err(within)?
        .ok_or_else(|| malformed("sycophancy_assessment.rationale", "a text is missing"))?;
    Ok(true)
}

fn concern(members: Members<'_>) -> Result<bool, Malformed> {
    let Some(concern) = members.object("policy_concern")? else { return Ok(false) };
    for name in ["subject", "rationale"] {
        concern
            .signed_text(name)?
            .ok_or_else(|| malformed("policy_concern", "needs subject, direction, rationale"))?;
    }
    if !["increase", "decrease", "tension"].contains(&concern.text("direction")?.as_str()) {
        return Err(malformed("policy_concern.direction", "must be increase, decrease or tension"));
    }
    Ok(true)
}

/// A single witness's answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resolution {
    pub round: String,
    pub trigger: Trigger,
    /// Who it says it is by.
    pub witness: Option<String>,
    pub vote: VoteMembers,
}

impl Resolution {
    /// Reads one, as far as it can be judged without its round.
    pub fn read(members: Members<'_>) -> Result<Self, Malformed> {
        let trigger = members.text("trigger")?;
        Ok(Self {
            round: members.text("round")?,
            trigger: Trigger::named(&trigger)
                .ok_or_else(|| malformed("trigger", "must be a trigger of the round"))?,
            witness: members.maybe_text("witness")?,
            vote: VoteMembers::read(members)?,
        })
    }
}

/// The bytes that a ballot's commitment is over, after the nonce: its canonical form.
pub fn canonical(ballot: &Value) -> Option<Vec<u8>> {
    serde_json_canonicalizer::to_vec(ballot).ok()
}
