//! The answers to probes.

use std::collections::BTreeSet;

use serde::Serialize;

use super::probe::{AgreementProbe, Axes, DrawProbe, EntropyProbe, ProbeQuestion, SettleProbe};
use super::read::Script;
use crate::fold::LedgerState;
use crate::law::{self, Adjustment, Parts, Reward};
use crate::precedents::PrecedentQuery;
use crate::similarity::{Similarity, Words};

/// What one round came to.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum ProbeAnswer {
    Agreement(AgreementJson),
    Draw { required: f64, threshold: f64, u: f64, eligible: bool },
    Settle(Box<SettleJson>),
    Entropy { h0: f64, h1: Option<f64>, converged: bool },
    Vitality { variance: Option<f64>, low: bool },
    Precedents(Vec<PrecedentJson>),
}

/// How alike claim and critique are.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct AgreementJson {
    pub dot: u64,
    pub na: u64,
    pub nb: u64,
    pub cosine: f64,
    pub agreement: bool,
    pub short: bool,
}

impl From<Similarity> for AgreementJson {
    fn from(found: Similarity) -> Self {
        let Similarity { dot, na, nb, cosine, agreement, short } = found;
        Self { dot, na, nb, cosine, agreement, short }
    }
}

/// Weights after a settlement, and what it gave and took.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SettleJson {
    pub conv: f64,
    pub freq: f64,
    pub align: f64,
    pub mean: Adjustment,
    pub prior: u64,
    pub gain: Option<f64>,
    pub bias_score: Option<f64>,
    pub penalty: Option<f64>,
    pub multiplier: f64,
    pub total: f64,
}

/// A decision that later rounds are shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PrecedentJson {
    pub round: String,
    pub decision: String,
    pub standing: &'static str,
    pub by: BTreeSet<String>,
    pub tags: BTreeSet<String>,
}

/// Answers one probe.
pub fn answer(script: &Script, folded: &LedgerState, asking: &ProbeQuestion) -> ProbeAnswer {
    match asking {
        ProbeQuestion::Agreement(AgreementProbe { claim, critique }) => {
            ProbeAnswer::Agreement(Words::new(claim).compare(&Words::new(critique)).into())
        }
        ProbeQuestion::Draw(DrawProbe { round, witness, role, total }) => {
            let law::Draw { required, threshold, u, eligible } = role.draw(round, witness, *total);
            ProbeAnswer::Draw { required, threshold, u, eligible }
        }
        ProbeQuestion::Settle(asked) => ProbeAnswer::Settle(Box::new(settle(asked))),
        ProbeQuestion::Entropy(EntropyProbe { before, after, left }) => {
            let law::Course { h0, h1, converged } = law::course(before, after, *left);
            ProbeAnswer::Entropy { h0, h1, converged }
        }
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
        // What did not converge gives nothing, whatever it was.
        (Some(_) | None, _) => outcome.converged.filter(|converged| !converged).map(|_| 0.0),
    };
    let reward = outcome.converged.zip(fall).map(|(converged, fall)| Reward { converged, fall });
    let adjustment = outcome.adjustment.map(|Axes(adjustment)| adjustment);
    let settled = weights.settle(asked.epochs, &Parts { reward, adjustment });
    SettleJson {
        conv: weights.conv,
        freq: weights.freq,
        align: weights.align,
        mean: weights.mean,
        prior: weights.prior,
        gain: settled.gain,
        bias_score: settled.bias,
        penalty: settled.penalty,
        multiplier: law::multiplier(weights.founding, asked.epoch),
        total: weights.total(asked.epoch),
    }
}

fn precedents(script: &Script, folded: &LedgerState, query: &PrecedentQuery) -> Vec<PrecedentJson> {
    let found = folded.precedents(query).into_iter();
    let json = found.map(|precedent| PrecedentJson {
        round: script.entries[precedent.round].id.clone(),
        decision: precedent.key,
        standing: precedent.standing.name(),
        by: precedent.by,
        tags: precedent.tags,
    });
    json.collect()
}
