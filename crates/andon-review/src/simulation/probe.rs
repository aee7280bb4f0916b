//! Probes: one question to one rule.

use serde_json::{Map, Value};

use crate::law::{AXES, Adjustment, Office, Weights};
use crate::payload::member::{Malformed, Members, malformed};
use crate::precedents::PrecedentQuery;
use crate::similarity::Words;

/// What a probe asks.
#[derive(Debug, Clone, PartialEq)]
pub enum ProbeQuestion {
    Agreement { claim: String, critique: String },
    Draw { round: String, witness: String, role: Office, total: f64 },
    Settle(Box<SettleProbe>),
    Entropy { before: Vec<String>, after: Vec<String>, left: bool },
    Vitality(Vec<Vec<f64>>),
    Precedents(PrecedentQuery),
}

/// One settlement, of weights as they are given.
#[derive(Debug, Clone, PartialEq)]
pub struct SettleProbe {
    pub weights: Weights,
    pub epochs: i64,
    pub epoch: i64,
    pub converged: Option<bool>,
    pub h0: Option<f64>,
    pub h1: Option<f64>,
    pub adjustment: Option<Adjustment>,
}

impl ProbeQuestion {
    /// Reads a line with a probe.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read(body: &Map<String, Value>) -> Result<Self, String> {
        Self::from_members(Members::new(body)).map_err(|err| err.to_string())
    }

    fn from_members(members: Members<'_>) -> Result<Self, Malformed> {
        let probe = members.text("probe")?;
        Ok(match probe.as_str() {
            "agreement" => {
                Self::Agreement { claim: members.text("claim")?, critique: members.text("critique")? }
            }
            "draw" => Self::Draw {
                round: members.text("round")?,
                witness: members.text("witness")?,
                role: Office::named(&members.text("role")?)
                    .ok_or_else(|| malformed("role", "must be Proposer, Opposer, Synthesizer or Referee"))?,
                total: number(members, "total")?.ok_or_else(|| malformed("total", "a number is missing"))?,
            },
            "settle" => Self::Settle(Box::new(SettleProbe::read(members)?)),
            "entropy" => Self::Entropy {
                before: members.texts("before")?,
                after: members.texts("after")?,
                left: members.truth("left")?.unwrap_or(false),
            },
            "vitality" => Self::Vitality(vectors(members)?),
            "precedents" => Self::Precedents(PrecedentQuery {
                tag: members.maybe_text("tag")?,
                text: members.maybe_text("text")?.as_deref().map(Words::new),
            }),
            _ => {
                let known = "must be agreement, draw, settle, entropy, vitality or precedents";
                return Err(malformed("probe", known));
            }
        })
    }
}

impl SettleProbe {
    fn read(members: Members<'_>) -> Result<Self, Malformed> {
        let state = members.object("state")?.ok_or_else(|| malformed("state", "an object is missing"))?;
        let part = |name| Ok::<f64, Malformed>(number(state, name)?.unwrap_or(0.0));
        let mean = state.get("mean").map(|mean| vector(mean, "mean")).transpose()?;
        let outcome = members.object("outcome")?;
        let of_outcome = |name| outcome.map_or(Ok(None), |outcome| number(outcome, name));
        let adjustment = outcome.and_then(|outcome| outcome.get("adjustment"));
        let adjustment = adjustment.map(|parts| vector(parts, "adjustment")).transpose()?;
        Ok(Self {
            weights: Weights {
                conv: part("conv")?,
                freq: part("freq")?,
                align: part("align")?,
                mean: mean.unwrap_or_default(),
                prior: u64::try_from(state.whole("prior")?.unwrap_or(0)).unwrap_or(0),
                founding: whole(state, "founding_id")?,
            },
            epochs: whole(members, "epochs")?.unwrap_or(0),
            epoch: whole(members, "epoch")?.unwrap_or(0),
            converged: outcome.map_or(Ok(None), |outcome| outcome.truth("converged"))?,
            h0: of_outcome("h0")?,
            h1: of_outcome("h1")?,
            adjustment,
        })
    }
}

fn number(members: Members<'_>, name: &str) -> Result<Option<f64>, Malformed> {
    let read = |value: &Value| value.as_f64().ok_or_else(|| malformed(name, "must be a number"));
    members.get(name).map(read).transpose()
}

fn whole(members: Members<'_>, name: &str) -> Result<Option<i64>, Malformed> {
    let read = |value: &Value| value.as_i64().ok_or_else(|| malformed(name, "must be a whole number"));
    members.get(name).map(read).transpose()
}

fn vector(value: &Value, name: &str) -> Result<Adjustment, Malformed> {
    let parts = numbers(value).and_then(|parts| <[f64; AXES]>::try_from(parts).ok());
    parts.ok_or_else(|| malformed(name, "must hold five numbers"))
}

fn vectors(members: Members<'_>) -> Result<Vec<Vec<f64>>, Malformed> {
    let list = members.list("vectors")?.ok_or_else(|| malformed("vectors", "a list is missing"))?;
    let read: Option<Vec<Vec<f64>>> = list.iter().map(numbers).collect();
    let are_alike = |vectors: &Vec<Vec<f64>>| vectors.windows(2).all(|pair| pair[0].len() == pair[1].len());
    read.filter(are_alike).ok_or_else(|| malformed("vectors", "must be lists of numbers of one length"))
}

fn numbers(value: &Value) -> Option<Vec<f64>> {
    value.as_array()?.iter().map(Value::as_f64).collect()
}
