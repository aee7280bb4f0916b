//! The detectors of H.7: topics that one witness holds (R19), and who comes next (R26); agents whose rounds need a person far
//! more often than others' (R20); concerns about the rules themselves, a list for the admins that changes nothing.

use std::collections::{BTreeMap, BTreeSet};

use num_rational::{BigRational, Ratio};
use serde::{Serialize, Serializer};

use super::window::{DAY, LOOKBACK, MONTH, within};
use super::{Cause, SlidingCounts, Trigger};

/// Resolutions of a tag before concentration says anything.
const LEAST_RESOLUTIONS: u64 = 10;
/// The number of witnesses up to which a share of two fifths is no fault.
const FEW: usize = 3;

/// A topic that came under one witness's hand, or out of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CaptureChange {
    #[serde(skip)]
    pub entry: usize,
    pub witness: String,
    pub on: bool,
}

/// The resolutions of one tag.
#[derive(Debug, Clone, Default)]
pub struct Topic {
    resolutions: SlidingCounts<String>,
    pub changes: Vec<CaptureChange>,
    /// The witnesses who hold it.
    pub on: BTreeSet<String>,
}

/// All topics of counted votes.
#[derive(Debug, Clone, Default)]
pub struct Topics {
    pub by_tag: BTreeMap<String, Topic>,
    /// By tag: who gave the single resolutions, in order.
    singles: BTreeMap<String, Vec<String>>,
}

impl Topics {
    /// A vote of `witness` counts for `tag`.
    pub fn count(&mut self, tag: &str, witness: &str, when: Cause, witnesses: usize) {
        let topic = self.by_tag.entry(tag.to_owned()).or_default();
        topic.resolutions.add(when.at, witness.to_owned());
        let counts = topic.resolutions.at(when.at);
        let all: u64 = counts.values().sum();
        let asked: BTreeSet<String> = counts.keys().chain(&topic.on).cloned().collect();
        for witness in asked {
            let own = counts.get(&witness).copied().unwrap_or(0);
            let is_on = topic.on.contains(&witness);
            let is_off = if witnesses <= FEW { own * 5 <= all * 2 } else { own * 10 < all * 3 };
            let on = if is_on { !is_off } else { all >= LEAST_RESOLUTIONS && own * 5 > all * 2 };
            if on == is_on {
                continue;
            }
            if on {
                topic.on.insert(witness.clone());
            } else {
                topic.on.remove(&witness);
            }
            topic.changes.push(CaptureChange { entry: when.entry, witness, on });
        }
    }

    /// True where a witness holds one of `tags`.
    pub fn is_held(&self, tags: &BTreeSet<String>) -> bool {
        tags.iter().filter_map(|tag| self.by_tag.get(tag)).any(|topic| !topic.on.is_empty())
    }

    /// `witness` resolved a round with `tag` alone.
    pub fn single(&mut self, tag: &str, witness: &str) {
        self.singles.entry(tag.to_owned()).or_default().push(witness.to_owned());
    }

    /// True where `witness` gave the last `row` single resolutions of one of `tags`; never for a row of 0.
    pub fn is_due_to_rotate(&self, tags: &BTreeSet<String>, witness: &str, row: usize) -> bool {
        let mut given =
            tags.iter().filter_map(|tag| self.singles.get(tag)).filter(|given| given.len() >= row);
        row > 0 && given.any(|given| given.iter().rev().take(row).all(|who| who == witness))
    }
}

/// Agents below whom a mean says nothing.
const LEAST_AGENTS: usize = 6;

/// Rounds of an agent below which its rate says nothing: one deferral of a new agent is no gaming.
const LEAST_ROUNDS: u64 = 3;

/// The share of an agent's rounds that ended in a trigger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct AgentRate {
    #[serde(serialize_with = "as_text")]
    pub rate: Ratio<u64>,
    pub flagged: bool,
}

fn as_text<S: Serializer>(rate: &Ratio<u64>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(rate)
}

/// The rounds of all agents.
#[derive(Debug, Clone, Default)]
pub struct Agents {
    rounds: SlidingCounts<(String, bool)>,
    issued: BTreeMap<String, Vec<i64>>,
}

impl Agents {
    /// Adds a round in which `agents` had roles.
    pub fn add(&mut self, at: i64, agents: &BTreeSet<&str>, triggers: &BTreeSet<Trigger>) {
        for agent in agents {
            self.rounds.add(at, ((*agent).to_owned(), !triggers.is_empty()));
        }
    }

    /// Adds a round that `issuer` opened.
    pub fn issue(&mut self, issuer: &str, at: i64) {
        let times = self.issued.entry(issuer.to_owned()).or_default();
        times.insert(times.partition_point(|known| *known <= at), at);
    }

    /// True where `issuer` may not open another round now.
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

/// A bound far above the error of rounding in [`roughly`].
const DOUBT: f64 = 1e-9;

/// Marks those of `rates` that exceed the mean by more than two standard deviations, compared squared. Fractions of many agents are
/// slow, so that only what rounded numbers leave in doubt is compared exactly.
fn outliers(rates: &[Ratio<u64>]) -> Vec<bool> {
    let are_equal = rates.windows(2).all(|pair| pair[0] == pair[1]);
    if rates.len() < LEAST_AGENTS || are_equal {
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

/// Answers before which declined concerns say nothing of a witness.
const LEAST_ANSWERS: usize = 5;

/// Concerns of a witness that policies of the window answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Answers {
    pub answered: usize,
    pub declined: usize,
}

/// The answers of policies to concerns.
#[derive(Debug, Clone, Default)]
pub struct Concerns {
    /// By entry: who raised one.
    raised: BTreeMap<usize, String>,
    /// Answers in the order of the policies that gave them: when, to which entry, and whether it was declined.
    answers: Vec<(i64, usize, bool)>,
    /// By witness: when a cool-down began.
    cooled: BTreeMap<String, Vec<i64>>,
}

impl Concerns {
    /// `witness` raised one in `entry`.
    pub fn raise(&mut self, entry: usize, witness: &str) {
        self.raised.insert(entry, witness.to_owned());
    }

    /// A policy of time `at` answered.
    pub fn answer(&mut self, at: i64, accepted: &[usize], declined: &[usize]) {
        let all =
            accepted.iter().map(|entry| (*entry, false)).chain(declined.iter().map(|entry| (*entry, true)));
        let mut asked: Vec<String> = Vec::new();
        for (entry, is_declined) in all {
            if let Some(witness) = self.raised.get(&entry) {
                asked.push(witness.clone());
                self.answers.push((at, entry, is_declined));
            }
        }
        asked.sort();
        asked.dedup();
        for witness in asked {
            let found = self.answers_to(&witness, at);
            if found.answered >= LEAST_ANSWERS && 2 * found.declined > found.answered {
                self.cooled.entry(witness).or_default().push(at);
            }
        }
    }

    /// The answers to `witness` in the window that ends with `now`; the newest answer to a concern is the one that counts.
    pub fn answers_to(&self, witness: &str, now: i64) -> Answers {
        let mut newest = BTreeMap::new();
        for (at, entry, declined) in &self.answers {
            if within(now, *at, LOOKBACK) && self.raised.get(entry).is_some_and(|who| who == witness) {
                newest.insert(entry, *declined);
            }
        }
        Answers { answered: newest.len(), declined: newest.values().filter(|declined| **declined).count() }
    }

    /// Everybody who was answered in the window that ends with `now`.
    pub fn all(&self, now: i64) -> BTreeMap<String, Answers> {
        let people: BTreeSet<&String> = self.raised.values().collect();
        let found = people.into_iter().map(|who| (who.clone(), self.answers_to(who, now)));
        found.filter(|(_, answers)| answers.answered > 0).collect()
    }

    /// The end of the time in which `witness` may raise no new concern; `None` where it is over.
    pub fn blocked_until(&self, witness: &str, now: i64) -> Option<i64> {
        let times = self.cooled.get(witness)?;
        times.iter().filter(|at| within(now, **at, MONTH)).map(|at| at + MONTH).max()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One vote a day by each letter's witness; the days on which a topic changes hands.
    fn changes(votes: &str, witnesses: usize) -> Vec<(usize, String, bool)> {
        let mut topics = Topics::default();
        for (day, who) in (0i64..).zip(votes.chars()) {
            let entry = usize::try_from(day).unwrap_or_default();
            topics.count("db", &who.to_string(), Cause { entry, place: entry, at: day * DAY }, witnesses);
        }
        let changes = topics.by_tag["db"].changes.iter();
        changes.map(|change| (change.entry, change.witness.clone(), change.on)).collect()
    }

    #[test]
    fn a_topic_is_held_from_more_than_two_fifths_of_ten() {
        let on = |entry, who: &str| (entry, who.to_owned(), true);
        let off = |entry, who: &str| (entry, who.to_owned(), false);
        assert_eq!(changes("aaaabbbccc", 4), []);
        assert_eq!(changes("aaaaabbcc", 4), []);
        assert_eq!(changes("aaaaabbccd", 4), [on(9, "a")]);
        // 5 of 16 is 31 %, 5 of 17 is 29 %.
        assert_eq!(changes("aaaaabbccdbcdbcdb", 4), [on(9, "a"), off(16, "a")]);
        // With three witnesses 5 of 12 still is more than two fifths, 5 of 13 is not.
        assert_eq!(changes("aaaaabbbccbcb", 3), [on(9, "a"), off(12, "a")]);
    }

    #[test]
    fn three_in_a_row_are_enough() {
        let mut topics = Topics::default();
        let tags = BTreeSet::from(["db".to_owned(), "ui".to_owned()]);
        for who in ["b", "a", "a"] {
            topics.single("db", who);
        }
        assert!(!topics.is_due_to_rotate(&tags, "a", 3));
        topics.single("db", "a");
        assert!(topics.is_due_to_rotate(&tags, "a", 3) && !topics.is_due_to_rotate(&tags, "b", 3));
        assert!(!topics.is_due_to_rotate(&tags, "a", 0) && !topics.is_due_to_rotate(&tags, "a", 4));
    }

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
            agents.add(0, &BTreeSet::from([agent]), &BTreeSet::new());
        }
        // One deferral of a new agent is no gaming, and neither are two.
        for _ in 1..LEAST_ROUNDS {
            agents.add(0, &BTreeSet::from(["x"]), &BTreeSet::from([Trigger::Deferral]));
            assert_eq!(agents.rates(11)["x"], AgentRate { rate: Ratio::new(1, 1), flagged: false });
        }
        agents.add(0, &BTreeSet::from(["x"]), &BTreeSet::from([Trigger::Deferral]));
        assert!(!agents.is_limited("x", 10));
        agents.issue("x", 10);
        assert!(agents.is_limited("x", 10 + DAY - 1) && !agents.is_limited("x", 10 + DAY));
        agents.issue("a", 10);
        assert!(!agents.is_limited("a", 11));
        assert_eq!(agents.rates(11)["x"], AgentRate { rate: Ratio::new(1, 1), flagged: true });
    }

    #[test]
    fn who_is_mostly_declined_waits_a_month() {
        let mut concerns = Concerns::default();
        for entry in 0..6 {
            concerns.raise(entry, "ann");
        }
        concerns.answer(100, &[0], &[1, 2, 9]);
        assert_eq!(concerns.answers_to("ann", 100), Answers { answered: 3, declined: 2 });
        assert_eq!(concerns.blocked_until("ann", 100), None);
        concerns.answer(200, &[3], &[4]);
        // Three of five.
        assert_eq!(concerns.blocked_until("ann", 200), Some(200 + MONTH));
        assert_eq!(concerns.blocked_until("ann", 199), None);
        assert_eq!(concerns.blocked_until("ann", 200 + MONTH), None);
        // The newest answer counts, and once: two of five are declined now.
        concerns.answer(300, &[4], &[]);
        assert_eq!(concerns.answers_to("ann", 300), Answers { answered: 5, declined: 2 });
        assert_eq!(concerns.blocked_until("ann", 300), Some(200 + MONTH));
        assert!(concerns.all(300 + LOOKBACK).is_empty());
    }
}
