//! Agents whose rounds need a person far more often than others' (R20), and how often those may ask.

use std::collections::{BTreeMap, BTreeSet};

use num_rational::{BigRational, Ratio};

use super::lookback::{DAY, within};
use super::sliding::SlidingCounts;

/// Agents below whom a mean says nothing.
const LEAST: usize = 6;

/// Rounds of an agent below which its rate says nothing: one deferral of a new agent is no gaming.
const LEAST_ROUNDS: u64 = 3;

/// How often an agent's rounds ended in a trigger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AgentRate {
    pub rate: Ratio<u64>,
    pub flagged: bool,
}

/// The rounds of all agents.
#[derive(Debug, Clone, Default)]
pub struct Agents {
    rounds: SlidingCounts<(String, bool)>,
    issued: BTreeMap<String, Vec<i64>>,
}

impl Agents {
    /// Adds a round in which `agents` had roles.
    pub fn add(&mut self, at: i64, agents: &BTreeSet<&str>, triggered: bool) {
        for agent in agents {
            self.rounds.add(at, ((*agent).to_owned(), triggered));
        }
    }

    /// Adds a round that `issuer` opened.
    pub fn issue(&mut self, issuer: &str, at: i64) {
        let times = self.issued.entry(issuer.to_owned()).or_default();
        times.insert(times.partition_point(|known| *known <= at), at);
    }

    /// Whether `issuer` may not open another round now.
    pub fn is_limited(&mut self, issuer: &str, now: i64) -> bool {
        let newest = |times: &Vec<i64>| times[..times.partition_point(|at| *at <= now)].last().copied();
        let opened = self.issued.get(issuer).and_then(newest).is_some_and(|at| within(now, at, DAY));
        opened && self.rates(now).get(issuer).is_some_and(|rate| rate.flagged)
    }

    /// The rates of the window that ends with `now`.
    pub fn rates(&mut self, now: i64) -> BTreeMap<String, AgentRate> {
        let mut counts: BTreeMap<String, (u64, u64)> = BTreeMap::new();
        for ((agent, triggered), number) in self.rounds.at(now) {
            let (hit, all) = counts.entry(agent.clone()).or_default();
            *all += number;
            *hit += if *triggered { *number } else { 0 };
        }
        let rates: Vec<Ratio<u64>> = counts.values().map(|(hit, all)| Ratio::new(*hit, *all)).collect();
        let enough: Vec<bool> = counts.values().map(|(_, all)| *all >= LEAST_ROUNDS).collect();
        let flagged = outliers(&rates).into_iter().zip(enough).map(|(outlier, enough)| outlier && enough);
        let rate = |((agent, rate), flagged)| (agent, AgentRate { rate, flagged });
        counts.into_keys().zip(rates).zip(flagged).map(rate).collect()
    }
}

/// What rounding may cost in [`roughly`], and far more.
const DOUBT: f64 = 1e-9;

/// Which of `rates` exceed the mean by more than two standard deviations, compared squared. Fractions of many agents are
/// slow, so that only what rounded numbers leave in doubt is compared exactly.
fn outliers(rates: &[Ratio<u64>]) -> Vec<bool> {
    let are_equal = rates.windows(2).all(|pair| pair[0] == pair[1]);
    if rates.len() < LEAST || are_equal {
        return vec![false; rates.len()];
    }
    match roughly(rates) {
        Some(found) => found,
        None => exactly(rates),
    }
}

/// `None` where one is in doubt.
#[allow(clippy::cast_precision_loss, reason = "the lost digits are within the uncertainty")]
fn roughly(rates: &[Ratio<u64>]) -> Option<Vec<bool>> {
    let rounded: Vec<f64> = rates.iter().map(|rate| *rate.numer() as f64 / *rate.denom() as f64).collect();
    let all = rounded.len() as f64;
    let mean = rounded.iter().sum::<f64>() / all;
    let variance = rounded.iter().map(|rate| (rate - mean).powi(2)).sum::<f64>() / all;
    let judge = |rate: &f64| {
        let over = rate - mean;
        let past = over * over - 4.0 * variance;
        if over < -DOUBT { Some(false) } else { (past.abs() > DOUBT).then_some(past > 0.0) }
    };
    rounded.iter().map(judge).collect()
}

fn exactly(rates: &[Ratio<u64>]) -> Vec<bool> {
    let exact = |rate: &Ratio<u64>| BigRational::new((*rate.numer()).into(), (*rate.denom()).into());
    let whole = |number: usize| BigRational::from_integer(number.into());
    let all = whole(rates.len());
    let sum: BigRational = rates.iter().map(exact).sum();
    let squares: BigRational = rates.iter().map(|rate| exact(rate) * exact(rate)).sum();
    let mean = sum / &all;
    let variance = squares / &all - &mean * &mean;
    let limit = whole(4) * variance;
    let is_outlier = |rate: &Ratio<u64>| {
        let over = exact(rate) - &mean;
        over > whole(0) && &over * &over > limit
    };
    rates.iter().map(is_outlier).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_two_deviations_is_compared_exactly() {
        let rate = |hit, all| Ratio::new(hit, all);
        // One of six at 1, the rest at 0: mean 1/6, variance 5/36; (5/6)^2 = 25/36 > 20/36.
        let mut six = vec![rate(0, 1); 5];
        six.push(rate(1, 1));
        assert_eq!(outliers(&six), [false, false, false, false, false, true]);
        // One of five is never asked.
        assert_eq!(outliers(&six[1..]), [false; 5]);
        // Two of ten at 1: mean 1/5, variance 4/25; (4/5)^2 = 16/25 = 4 * 4/25: exactly two deviations are no more.
        let mut ten = vec![rate(0, 3); 8];
        ten.extend([rate(1, 1), rate(2, 2)]);
        assert_eq!(outliers(&ten), [false; 10]);
        assert_eq!(outliers(&[rate(1, 2); 7]), [false; 7]);
    }

    #[test]
    fn who_is_flagged_may_ask_once_a_day() {
        let mut agents = Agents::default();
        for agent in ["a", "b", "c", "d", "e"] {
            agents.add(0, &BTreeSet::from([agent]), false);
        }
        // One deferral of a new agent is no gaming, and neither are two.
        for _ in 1..LEAST_ROUNDS {
            agents.add(0, &BTreeSet::from(["x"]), true);
            assert_eq!(agents.rates(11)["x"], AgentRate { rate: Ratio::new(1, 1), flagged: false });
        }
        agents.add(0, &BTreeSet::from(["x"]), true);
        assert!(!agents.is_limited("x", 10));
        agents.issue("x", 10);
        assert!(agents.is_limited("x", 10 + DAY - 1) && !agents.is_limited("x", 10 + DAY));
        agents.issue("a", 10);
        assert!(!agents.is_limited("a", 11));
        assert_eq!(agents.rates(11)["x"], AgentRate { rate: Ratio::new(1, 1), flagged: true });
    }
}
