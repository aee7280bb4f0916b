//! Probes: one question to one rule, and its answer.

use std::collections::BTreeSet;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use super::Script;
use crate::law::{self, axes};
use crate::payload::member::{malformed, read};
use crate::{
    Adjustment, Course, Draw, LedgerState, Malformed, Office, Parts, PrecedentQuery, PrecedentStatus, Reward,
    SettlementResult, Signatures, Similarity, Weights, Words,
};

/// A question to one rule.
#[derive(Debug, Clone, PartialEq)]
pub enum ProbeQuestion {
    Agreement(AgreementProbe),
    Draw(DrawProbe),
    Settle(Box<SettleProbe>),
    Entropy(Signatures),
    Vitality(Vec<Vec<f64>>),
    Precedents(PrecedentQuery),
}

#[derive(Deserialize)]
struct Kind {
    probe: ProbeKind,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum ProbeKind {
    Agreement,
    Draw,
    Settle,
    Entropy,
    Vitality,
    Precedents,
}

/// Two texts that are compared.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct AgreementProbe {
    pub claim: String,
    pub critique: String,
}

/// A draw of R12.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct DrawProbe {
    pub round: String,
    pub witness: String,
    pub role: Office,
    pub total: f64,
}

/// One settlement, of weights as they are given.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct SettleProbe {
    pub state: Weights,
    #[serde(default)]
    pub epochs: i64,
    #[serde(default)]
    pub epoch: i64,
    #[serde(default)]
    pub outcome: SettledOutcome,
}

/// The outcome that is settled.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default)]
pub struct SettledOutcome {
    pub converged: Option<bool>,
    pub h0: Option<f64>,
    pub h1: Option<f64>,
    #[serde(deserialize_with = "some_axes")]
    pub adjustment: Option<Adjustment>,
}

fn some_axes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Adjustment>, D::Error> {
    axes(deserializer).map(Some)
}

#[derive(Deserialize)]
struct VitalityProbe {
    vectors: Vec<Vec<f64>>,
}

#[derive(Deserialize)]
struct PrecedentsProbe {
    tag: Option<String>,
    text: Option<String>,
}

impl ProbeQuestion {
    /// Reads a line with a probe.
    ///
    /// # Errors
    /// The member that is malformed.
    pub fn read(body: &Map<String, Value>) -> Result<Self, Malformed> {
        Ok(match read::<Kind>(body)?.probe {
            ProbeKind::Agreement => Self::Agreement(read(body)?),
            ProbeKind::Draw => Self::Draw(read(body)?),
            ProbeKind::Settle => Self::Settle(read(body)?),
            ProbeKind::Entropy => Self::Entropy(read(body)?),
            ProbeKind::Vitality => {
                let VitalityProbe { vectors } = read(body)?;
                if vectors.windows(2).any(|pair| pair[0].len() != pair[1].len()) {
                    return Err(malformed("vectors", "must be lists of numbers of one length"));
                }
                Self::Vitality(vectors)
            }
            ProbeKind::Precedents => {
                let PrecedentsProbe { tag, text } = read(body)?;
                Self::Precedents(PrecedentQuery { tag, text: text.as_deref().map(Words::new) })
            }
        })
    }
}

/// The answer to a probe.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum ProbeAnswer {
    Agreement(Similarity),
    Draw(Draw),
    Settle(Box<SettleJson>),
    Entropy(Course),
    Vitality { variance: Option<f64>, low: bool },
    Precedents(Vec<PrecedentJson>),
}

/// Weights after a settlement, and what it gave and took.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SettleJson {
    #[serde(flatten)]
    pub weights: Weights,
    #[serde(flatten)]
    pub settled: SettlementResult,
    pub multiplier: f64,
    pub total: f64,
}

/// A decision that later rounds are shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PrecedentJson {
    pub round: String,
    pub decision: String,
    pub standing: PrecedentStatus,
    pub by: BTreeSet<String>,
    pub tags: BTreeSet<String>,
}

pub fn answer(script: &Script, folded: &LedgerState, asking: &ProbeQuestion) -> ProbeAnswer {
    match asking {
        ProbeQuestion::Agreement(AgreementProbe { claim, critique }) => {
            ProbeAnswer::Agreement(Words::new(claim).compare(&Words::new(critique)))
        }
        ProbeQuestion::Draw(DrawProbe { round, witness, role, total }) => {
            ProbeAnswer::Draw(role.draw(round, witness, *total))
        }
        ProbeQuestion::Settle(asked) => ProbeAnswer::Settle(Box::new(settle(asked))),
        ProbeQuestion::Entropy(asked) => ProbeAnswer::Entropy(law::course(asked)),
        ProbeQuestion::Vitality(vectors) => {
            let found = law::vitality(vectors);
            ProbeAnswer::Vitality {
                variance: found.map(|found| found.variance),
                low: found.is_some_and(|found| found.low),
            }
        }
        ProbeQuestion::Precedents(query) => ProbeAnswer::Precedents(precedents(script, folded, query)),
    }
}

fn settle(asked: &SettleProbe) -> SettleJson {
    let (mut weights, outcome) = (asked.state.clone(), &asked.outcome);
    let fall = match (outcome.h0, outcome.h1) {
        (Some(h0), Some(h1)) => Some(h0 - h1),
        // A loop that did not converge gives nothing, whatever the fall was.
        (Some(_) | None, _) => outcome.converged.filter(|converged| !converged).map(|_| 0.0),
    };
    let reward = outcome.converged.zip(fall).map(|(converged, fall)| Reward { converged, fall });
    let settled = weights.settle(asked.epochs, &Parts { reward, adjustment: outcome.adjustment });
    SettleJson {
        settled,
        multiplier: law::multiplier(weights.founding, asked.epoch),
        total: weights.total(asked.epoch),
        weights,
    }
}

fn precedents(script: &Script, folded: &LedgerState, query: &PrecedentQuery) -> Vec<PrecedentJson> {
    let found = folded.precedents(query).into_iter();
    let json = found.map(|precedent| PrecedentJson {
        round: script.entries[precedent.round].id.clone(),
        decision: precedent.key,
        standing: precedent.standing,
        by: precedent.by,
        tags: precedent.tags,
    });
    json.collect()
}
