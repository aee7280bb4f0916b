//! The Law of the Witness: decay, reward, bias, grace, the draw, and the quiet sign of being worn out (R6 to R12, R23).
//!
//! These are the only sums in floating point; everything that decides over reputations and money is exact.

use serde::de::{Deserializer, Error};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::payload::fields::{shown_by_name, whole};

/// The five decisions, as the axes of an adjustment.
pub const AXES: usize = 5;
/// The difference of one decision from those of others.
pub type Adjustment = [f64; AXES];

/// Reads five numbers.
///
/// # Errors
/// They are others.
pub fn axes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Adjustment, D::Error> {
    let numbers = Vec::<f64>::deserialize(deserializer).unwrap_or_default();
    numbers.try_into().map_err(|_| D::Error::custom("must hold five numbers"))
}

const DECAY: f64 = 0.95;
const BONUS: f64 = 1.2;
const BIAS_LIMIT: f64 = 0.7;
const BIAS_FACTOR: f64 = 2.0;
/// Adjustments a witness must have made before one can be called biased.
const BIAS_AFTER: u64 = 5;
/// The number of founders who have the multiplier, and of epochs in which they have it.
const FOUNDERS: i64 = 90;
/// Failure signatures before and after a resolution.
pub const ITERATIONS: usize = 8;
/// Three bits: the entropy of eight signatures that all differ.
const MAX_ENTROPY: f64 = 3.0;
const STABLE: f64 = 0.1;
const VARIANCE_FLOOR: f64 = 0.01;
/// The adjustments over which vitality is taken.
pub const VITALITY: usize = 8;

/// The reputation vector of a witness.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Weights {
    pub conv: f64,
    /// Carried and decayed, never added to.
    pub freq: f64,
    pub align: f64,
    /// The running mean of adjustments.
    #[serde(deserialize_with = "axes")]
    pub mean: Adjustment,
    /// The number of adjustments so far.
    #[serde(deserialize_with = "whole::deserialize")]
    pub prior: u64,
    #[serde(rename = "founding_id", skip_serializing)]
    pub founding: Option<i64>,
}

/// The course of the loop after a resolution.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Course {
    pub h0: f64,
    pub h1: Option<f64>,
    pub converged: bool,
}

/// The parts of a settlement that are there.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Parts {
    pub reward: Option<Reward>,
    pub adjustment: Option<Adjustment>,
}

/// The parts of a reward.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reward {
    pub converged: bool,
    /// The fall of the entropy: H0 - H1.
    pub fall: f64,
}

/// The gain and the losses of a settlement.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct SettlementResult {
    pub gain: Option<f64>,
    #[serde(rename = "bias_score")]
    pub bias: Option<f64>,
    pub penalty: Option<f64>,
}

impl Weights {
    /// Applies the decay of `epochs` without a settlement (R6).
    pub fn decay(&mut self, epochs: i64) {
        let factor = DECAY.powi(i32::try_from(epochs.max(0)).unwrap_or(i32::MAX));
        self.conv *= factor;
        self.freq *= factor;
        self.align *= factor;
    }

    /// Decay, reward, bias, clamp, in this order (R11).
    pub fn settle(&mut self, epochs: i64, parts: &Parts) -> SettlementResult {
        self.decay(epochs);
        let gain = parts.reward.map(|reward| self.reward(reward));
        let bias = parts.adjustment.map(|adjustment| self.lean(&adjustment));
        self.conv = self.conv.clamp(0.0, 1.0);
        self.align = self.align.clamp(-1.0, 0.0);
        SettlementResult {
            gain,
            bias: bias.map(|(score, _)| score),
            penalty: bias.map(|(_, penalty)| penalty),
        }
    }

    fn reward(&mut self, reward: Reward) -> f64 {
        let gain = if reward.converged && reward.fall > 0.0 { BONUS * reward.fall } else { 0.0 };
        self.conv += gain;
        gain
    }

    /// Against the mean before the update (R8).
    fn lean(&mut self, adjustment: &Adjustment) -> (f64, f64) {
        let score = cosine(adjustment, &self.mean);
        let is_bias = score > BIAS_LIMIT && self.prior >= BIAS_AFTER;
        let penalty = if is_bias { BIAS_FACTOR * (score - BIAS_LIMIT) } else { 0.0 };
        self.align -= penalty;
        for (mean, part) in self.mean.iter_mut().zip(adjustment) {
            *mean = DECAY * *mean + (1.0 - DECAY) * part;
        }
        self.prior += 1;
        (score, penalty)
    }

    /// The composite that roles ask for (R9).
    pub fn total(&self, epoch: i64) -> f64 {
        ((self.conv + self.align) * multiplier(self.founding, epoch)).clamp(0.0, 1.0)
    }
}

/// The founders' grace, which ends with epoch 90 (R10).
#[allow(clippy::cast_precision_loss, reason = "at most 90")]
pub fn multiplier(founding: Option<i64>, epoch: i64) -> f64 {
    let is_founder = founding.is_some_and(|number| (1..=FOUNDERS).contains(&number));
    if is_founder && (0..=FOUNDERS).contains(&epoch) {
        1.5 - 0.5 * epoch as f64 / FOUNDERS as f64
    } else {
        1.0
    }
}

fn cosine(one: &Adjustment, other: &Adjustment) -> f64 {
    let dot = |a: &Adjustment, b: &Adjustment| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let (na, nb) = (dot(one, one), dot(other, other));
    if na <= 0.0 || nb <= 0.0 { 0.0 } else { dot(one, other) / (na.sqrt() * nb.sqrt()) }
}

/// The failure signatures before and after a resolution; `left` where the loop left the stuck state.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default)]
pub struct Signatures {
    pub before: Vec<String>,
    pub after: Vec<String>,
    pub left: bool,
}

/// Entropy of the failure signatures before a resolution and of the eight after it (R7).
pub fn course(Signatures { before, after, left }: &Signatures) -> Course {
    let h0 = entropy(&before[before.len().saturating_sub(ITERATIONS)..]);
    let h1 = (after.len() == ITERATIONS).then(|| entropy(after));
    Course { h0, h1, converged: *left && h1.is_some_and(|h1| h1 < STABLE) }
}

#[allow(clippy::cast_precision_loss, reason = "at most eight")]
fn entropy(signatures: &[String]) -> f64 {
    let mut sorted: Vec<&str> = signatures.iter().map(String::as_str).collect();
    sorted.sort_unstable();
    let all = sorted.len() as f64;
    let bits = |same: &[&str]| {
        let share = same.len() as f64 / all;
        -share * libm::log2(share)
    };
    let sum: f64 = sorted.chunk_by(|a, b| a == b).map(bits).sum();
    // A single kind gives minus nothing.
    (sum / MAX_ENTROPY).max(0.0)
}

/// A role with the reputation it asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Office {
    Proposer,
    Opposer,
    Synthesizer,
    Referee,
}

shown_by_name!(Office);

/// The draw of who may take an office below its threshold (R12).
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Draw {
    pub required: f64,
    pub threshold: f64,
    pub u: f64,
    pub eligible: bool,
}

impl Office {
    fn required(self) -> f64 {
        match self {
            Self::Proposer | Self::Opposer => 0.2,
            Self::Synthesizer => 0.4,
            Self::Referee => 0.6,
        }
    }

    /// Draws for `witness` in `round`: the same for every reader.
    #[allow(clippy::cast_precision_loss, reason = "a share of 2^64, to 53 bits")]
    pub fn draw(self, round: &str, witness: &str, total: f64) -> Draw {
        let text = format!("witness-grace-v1\0{round}\0{witness}\0{self}");
        let digest = Sha256::digest(text.as_bytes());
        let number = digest.iter().take(8).fold(0u64, |number, byte| number << 8 | u64::from(*byte));
        let u = number as f64 / 18_446_744_073_709_551_616.0;
        let required = self.required();
        let threshold = total / required * 0.3;
        Draw { required, threshold, u, eligible: total >= required || u < threshold }
    }
}

/// The variety of a witness's newest decisions (R23). Private: it goes into no entry.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Vitality {
    pub variance: f64,
    pub low: bool,
}

/// The trace of the population covariance of `vectors`; `None` for no vectors.
#[allow(clippy::cast_precision_loss, reason = "a count of vectors in memory")]
pub fn vitality(vectors: &[Vec<f64>]) -> Option<Vitality> {
    let axes = vectors.first()?.len();
    let count = vectors.len() as f64;
    let variance = (0..axes)
        .map(|axis| {
            let mean = vectors.iter().map(|vector| vector[axis]).sum::<f64>() / count;
            vectors.iter().map(|vector| (vector[axis] - mean).powi(2)).sum::<f64>() / count
        })
        .sum();
    Some(Vitality { variance, low: variance < VARIANCE_FLOOR })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(one: f64, other: f64) {
        assert!((one - other).abs() < 1e-9, "{one} is not {other}");
    }

    fn texts(list: &[&str]) -> Vec<String> {
        list.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn what_is_not_used_decays() {
        let mut weights = Weights { conv: 1.0, freq: 0.5, align: -0.4, ..Weights::default() };
        weights.decay(2);
        near(weights.conv, 0.9025);
        near(weights.freq, 0.451_25);
        near(weights.align, -0.361);
        weights.decay(-3);
        near(weights.conv, 0.9025);
        // "Below 0.35 after about 20 epochs."
        let mut weights = Weights { conv: 0.9, ..Weights::default() };
        weights.decay(20);
        assert!(weights.conv < 0.35);
    }

    #[test]
    fn only_a_fall_of_entropy_that_converged_is_rewarded() {
        let table = [
            ("half of it fell", true, 0.5, 0.6),
            ("it rose", true, -0.5, 0.0),
            ("it did not converge", false, 0.5, 0.0),
        ];
        for (what, converged, fall, gain) in table {
            let mut weights = Weights::default();
            let settled =
                weights.settle(0, &Parts { reward: Some(Reward { converged, fall }), adjustment: None });
            near(settled.gain.unwrap(), gain);
            near(weights.conv, gain);
            assert_eq!(settled.bias, None, "{what}");
        }
        let mut weights = Weights { conv: 0.9, ..Weights::default() };
        let reward = Some(Reward { converged: true, fall: 1.0 });
        near(weights.settle(0, &Parts { reward, adjustment: None }).gain.unwrap(), 1.2);
        near(weights.conv, 1.0);
    }

    #[test]
    fn bias_is_taken_against_the_mean_before_and_from_the_sixth_on() {
        let adjustment = [0.8, -0.2, -0.2, -0.2, -0.2];
        let parts = Parts { reward: None, adjustment: Some(adjustment) };
        let mut weights = Weights::default();
        near(weights.settle(0, &parts).bias.unwrap(), 0.0);
        near(weights.mean[0], 0.04);
        for _ in 0..4 {
            let settled = weights.settle(0, &parts);
            near(settled.bias.unwrap(), 1.0);
            near(settled.penalty.unwrap(), 0.0);
        }
        let settled = weights.settle(0, &parts);
        near(settled.penalty.unwrap(), 0.6);
        near(weights.align, -0.6);
        near(weights.settle(0, &parts).penalty.unwrap(), 0.6);
        near(weights.align, -1.0);
        assert_eq!(weights.prior, 7);
    }

    #[test]
    fn founders_lose_their_grace_by_epoch_90() {
        let table = [
            (Some(1), 0, 1.5),
            (Some(90), 45, 1.25),
            (Some(90), 90, 1.0),
            (Some(91), 0, 1.0),
            (Some(0), 0, 1.0),
            (None, 0, 1.0),
            (Some(1), -1, 1.0),
            (Some(1), 91, 1.0),
        ];
        for (founding, epoch, want) in table {
            near(multiplier(founding, epoch), want);
        }
        let weights = Weights { conv: 0.5, align: -0.1, founding: Some(7), ..Weights::default() };
        near(weights.total(0), 0.6);
    }

    #[test]
    fn entropy_is_a_share_of_three_bits() {
        let table = [
            (vec!["a", "b", "c", "d", "e", "f", "g", "h"], 1.0),
            (vec!["a", "a", "a", "a"], 0.0),
            (vec!["a", "b", "a", "b"], 1.0 / 3.0),
            (vec!["old", "a", "b", "a", "b", "a", "b", "a", "b"], 1.0 / 3.0),
            (vec![], 0.0),
        ];
        for (before, want) in table {
            near(course(&Signatures { before: texts(&before), ..Signatures::default() }).h0, want);
        }
        let green = texts(&[""; 8]);
        let before = texts(&["a", "b", "a", "b"]);
        let all = Signatures { before, after: green, left: true };
        assert!(course(&all).converged);
        assert!(!course(&Signatures { left: false, ..all.clone() }).converged);
        assert_eq!(course(&Signatures { after: all.after[..7].to_vec(), ..all.clone() }).h1, None);
        let mut one_red = all;
        one_red.after[0] = "a".into();
        // H(1/8) = 0.5436 bits, a share of 0.1812.
        assert!(!course(&one_red).converged);
    }

    #[test]
    fn the_draw_is_the_same_for_everybody() {
        // printf 'witness-grace-v1\0r1\0human:ann\0Referee' | sha256sum: 96547c80691833c6...
        let draw = Office::Referee.draw("r1", "human:ann", 0.3);
        near(draw.threshold, 0.15);
        near(draw.required, 0.6);
        assert!((draw.u - f64::from(0x9654_7c80_u32) / 4_294_967_296.0).abs() < 1e-9);
        assert!(!draw.eligible);
        assert!(Office::Referee.draw("r1", "human:ann", 0.6).eligible);
        assert!(!Office::Referee.draw("r1", "human:ann", 0.0).eligible);
    }

    #[test]
    fn vitality_is_the_variance_of_what_was_decided() {
        let same = vec![vec![0.8, -0.2, -0.2, -0.2, -0.2]; 8];
        assert_eq!(vitality(&same).map(|found| found.low), Some(true));
        let mut two = same[..1].to_vec();
        two.push(vec![-0.2, 0.8, -0.2, -0.2, -0.2]);
        // Two axes differ by 1: a variance of 1/4 each.
        near(vitality(&two).unwrap().variance, 0.5);
        assert_eq!(vitality(&[]), None);
    }
}
