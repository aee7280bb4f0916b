//! Concerns about the rules themselves, and what becomes of them (H.7): a list for the admins, which changes nothing.

use std::collections::BTreeMap;

use super::lookback::{LOOKBACK, MONTH, within};

/// Answers before which declined concerns say nothing of a witness.
const LEAST: usize = 5;

/// Concerns of a witness that policies of the window answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Answers {
    pub answered: usize,
    pub declined: usize,
}

/// What policies say about concerns.
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
            if found.answered >= LEAST && 2 * found.declined > found.answered {
                self.cooled.entry(witness).or_default().push(at);
            }
        }
    }

    /// What was answered to `witness` in the window that ends with `now`; the newest answer to a concern is the one.
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
        let people: std::collections::BTreeSet<&String> = self.raised.values().collect();
        let found = people.into_iter().map(|who| (who.clone(), self.answers_to(who, now)));
        found.filter(|(_, answers)| answers.answered > 0).collect()
    }

    /// Until when `witness` may raise no new one, if that is after `now`.
    pub fn blocked_until(&self, witness: &str, now: i64) -> Option<i64> {
        let times = self.cooled.get(witness)?;
        times.iter().filter(|at| within(now, **at, MONTH)).map(|at| at + MONTH).max()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
