//! Probes: one question to one rule.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::law::{Adjustment, Office, Weights, axes};
use crate::payload::member::{Malformed, malformed, read};
use crate::precedents::PrecedentQuery;
use crate::similarity::Words;

/// What a probe asks.
#[derive(Debug, Clone, PartialEq)]
pub enum ProbeQuestion {
    Agreement(AgreementProbe),
    Draw(DrawProbe),
    Settle(Box<SettleProbe>),
    Entropy(EntropyProbe),
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

/// One draw.
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

/// What is settled.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
pub struct SettledOutcome {
    pub converged: Option<bool>,
    pub h0: Option<f64>,
    pub h1: Option<f64>,
    pub adjustment: Option<Axes>,
}

/// Five numbers, one for each axis.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
pub struct Axes(#[serde(deserialize_with = "axes")] pub Adjustment);

/// How a loop went on.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct EntropyProbe {
    #[serde(default)]
    pub before: Vec<String>,
    #[serde(default)]
    pub after: Vec<String>,
    #[serde(default)]
    pub left: bool,
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
    /// What is wrong with it.
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
