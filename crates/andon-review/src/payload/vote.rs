//! The decision of a person (S11): a resolution of their own, or a ballot on a panel.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use super::fields::{SignedText, Whole, lenient, shown_by_name};
use super::member::{self, Malformed, malformed};
use super::questions::Trigger;
use crate::Words;
use andon_core::{domain::Digest, format::fields::unless_default, format::members_of};

/// The five decisions; each is an axis of adjustments (R25).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
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
}

shown_by_name!(VoteChoice);

/// A vote as it is signed: the members that a resolution and a ballot share.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VotePayload {
    pub decision: VoteChoice,
    #[serde(default)]
    pub rationale: SignedText,
    /// The instruction, for an amendment alone.
    pub amended_recommendation: Option<SignedText>,
    /// The claims that were checked; there may be none.
    #[serde(default)]
    pub factual_checks: Vec<FactualCheck>,
    pub sycophancy_assessment: Option<SycophancyAssessment>,
    pub policy_concern: Option<PolicyConcern>,
    pub strongest: Option<StrongestClaims>,
    pub time_spent_seconds: Whole,
    pub attributed_to: Option<String>,
    #[serde(default, serialize_with = "unless_default")]
    pub tags: Vec<String>,
    /// The circumstances in which it was given.
    #[serde(default, deserialize_with = "lenient")]
    pub given: Option<VoteSetting>,
}

/// A claim that was checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FactualCheck {
    pub claim: SignedText,
    pub evidence: Option<SignedText>,
    pub verdict: CheckVerdict,
}

/// The result of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckVerdict {
    True,
    False,
    Unverifiable,
}

/// The judgement on a critique that may agree with decoration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SycophancyAssessment {
    pub detected: bool,
    pub rationale: SignedText,
}

/// A flag that the rules themselves are wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PolicyConcern {
    pub subject: SignedText,
    pub rationale: SignedText,
    pub direction: ConcernDirection,
}

/// The direction in which the rules are to change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConcernDirection {
    Increase,
    Decrease,
    Tension,
}

/// The strongest claim of either side (H.2 step 2).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StrongestClaims {
    pub claim: Option<SignedText>,
    pub critique: Option<SignedText>,
}

/// The circumstances of a vote: the presence of a terminal, and the number of processes above that were seen to be no
/// agent's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VoteSetting {
    #[serde(default, deserialize_with = "lenient")]
    pub terminal: Option<bool>,
    #[serde(default, deserialize_with = "lenient")]
    pub unmarked_above: Option<u64>,
}

shown_by_name!(CheckVerdict);
shown_by_name!(ConcernDirection);

impl VotePayload {
    /// A vote for `decision`, and why.
    pub fn new(decision: VoteChoice, rationale: &str) -> Self {
        Self {
            decision,
            rationale: SignedText(rationale.to_owned()),
            amended_recommendation: None,
            factual_checks: Vec::new(),
            sycophancy_assessment: None,
            policy_concern: None,
            strongest: None,
            time_spent_seconds: Whole::default(),
            attributed_to: None,
            tags: Vec::new(),
            given: None,
        }
    }

    /// The body of the resolution of `subject`.
    pub fn resolving(&self, subject: &ResolutionSubject) -> Map<String, Value> {
        let mut said = members_of(self);
        said.extend(members_of(subject));
        said
    }

    /// Checks what serde cannot and what can be judged without its round.
    ///
    /// # Errors
    /// The member.
    pub fn check(&self) -> Result<(), Malformed> {
        let amended = "amended_recommendation";
        match (self.decision == VoteChoice::Amend, &self.amended_recommendation) {
            (true, None) => Err(malformed(amended, "a text is missing: what is to be done instead")),
            (true, Some(text)) if text.is_blank() => Err(malformed(amended, "must not be empty")),
            (false, Some(_)) => Err(malformed(amended, "is for `amend` alone")),
            (true, Some(_)) | (false, None) if self.rationale.is_blank() => {
                Err(malformed("rationale", "must not be empty"))
            }
            (true, Some(_)) | (false, None) => Ok(()),
        }
    }
}

/// The part of a vote that the folds need: thousands of them are held, without their texts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VoteMembers {
    pub choice: VoteChoice,
    /// The key by which votes are counted: the decision, and of an amendment its text, whatever the white space.
    pub key: String,
    /// The words of an amendment.
    pub amended: Option<Words>,
    /// Sycophancy was assessed.
    pub assessed: bool,
    /// The vote says that the rules themselves are wrong.
    pub concern: bool,
    pub rationale: Words,
    pub seconds: i64,
    pub attributed_to: Option<String>,
    pub tags: BTreeSet<String>,
}

impl TryFrom<VotePayload> for VoteMembers {
    type Error = Malformed;

    fn try_from(vote: VotePayload) -> Result<Self, Malformed> {
        vote.check()?;
        let amended = vote.amended_recommendation.as_ref().map(|text| text.0.as_str());
        Ok(Self {
            choice: vote.decision,
            key: key(vote.decision, amended),
            amended: amended.map(Words::new),
            assessed: vote.sycophancy_assessment.is_some(),
            concern: vote.policy_concern.is_some(),
            rationale: Words::new(&vote.rationale.0),
            seconds: vote.time_spent_seconds.get(),
            attributed_to: vote.attributed_to,
            tags: vote.tags.into_iter().collect(),
        })
    }
}

fn key(choice: VoteChoice, amended: Option<&str>) -> String {
    let Some(text) = amended else { return choice.to_string() };
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    format!("{choice}:{}", Digest(Sha256::digest(text.as_bytes()).into()).short())
}

/// The members of a resolution beside its vote: its subject, and the witness that it names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResolutionSubject {
    pub trigger: Trigger,
    pub round: String,
    pub witness: Option<String>,
    /// The halt that it answers.
    #[serde(default, deserialize_with = "lenient")]
    pub halt: Option<String>,
    /// The code that it is for.
    #[serde(default, deserialize_with = "lenient")]
    pub code: Option<String>,
    /// The tree of that code.
    #[serde(default, deserialize_with = "lenient")]
    pub tree: Option<String>,
}

/// The part of a single witness's answer that the folds need.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resolution {
    pub round: String,
    pub trigger: Trigger,
    /// The witness that it names.
    pub witness: Option<String>,
    pub vote: VoteMembers,
}

impl Resolution {
    /// Reads one, as far as it can be judged without its round.
    pub(super) fn read(body: &Map<String, Value>) -> Result<Self, Malformed> {
        let ResolutionSubject { trigger, round, witness, .. } = member::read(body)?;
        let vote = member::read::<VotePayload>(body)?.try_into()?;
        Ok(Self { round, trigger, witness, vote })
    }
}

/// The bytes that a ballot's commitment is over, after the nonce: its canonical form.
pub fn canonical(ballot: &impl Serialize) -> Option<Vec<u8>> {
    serde_json_canonicalizer::to_vec(ballot).ok()
}
