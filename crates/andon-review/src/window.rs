//! Spans of time that rules look back over (T1), in seconds, and counts over the window that ends at a time: for questions
//! whose times mostly rise, each costs what came and went.

use std::collections::BTreeMap;

pub const DAY: i64 = 86_400;
/// Seconds of the window in which reputations and detectors look back (T1).
pub const LOOKBACK: i64 = 90 * DAY;
/// Seconds for which an agent's penalties and a witness's declined concerns are remembered.
pub const MONTH: i64 = 30 * DAY;

/// True where `at` lies in the `span` seconds that end with `now`; `now` itself belongs to them.
pub fn within(now: i64, at: i64, span: i64) -> bool {
    let age = now.saturating_sub(at);
    (0..span).contains(&age)
}

/// Things that happened, counted by what they are; nothing is counted zero times.
#[derive(Debug, Clone)]
pub struct SlidingCounts<K> {
    events: Vec<(i64, K)>,
    from: usize,
    to: usize,
    counts: BTreeMap<K, u64>,
}

impl<K> Default for SlidingCounts<K> {
    fn default() -> Self {
        Self { events: Vec::new(), from: 0, to: 0, counts: BTreeMap::new() }
    }
}

fn put<K: Ord + Clone>(counts: &mut BTreeMap<K, u64>, what: &K) {
    *counts.entry(what.clone()).or_default() += 1;
}

fn take<K: Ord>(counts: &mut BTreeMap<K, u64>, what: &K) {
    if let Some(number) = counts.get_mut(what) {
        *number -= 1;
        if *number == 0 {
            counts.remove(what);
        }
    }
}

impl<K: Ord + Clone> SlidingCounts<K> {
    /// Adds one that happened at `at`.
    pub fn add(&mut self, at: i64, what: K) {
        let place = self.events.partition_point(|(time, _)| *time <= at);
        if place < self.from {
            self.from += 1;
            self.to += 1;
        } else if place < self.to {
            self.to += 1;
            put(&mut self.counts, &what);
        }
        self.events.insert(place, (at, what));
    }

    /// The counts of the window that ends at `now`.
    pub fn at(&mut self, now: i64) -> &BTreeMap<K, u64> {
        let oldest = now.saturating_sub(LOOKBACK);
        while self.to < self.events.len() && self.events[self.to].0 <= now {
            put(&mut self.counts, &self.events[self.to].1);
            self.to += 1;
        }
        while self.to > self.from && self.events[self.to - 1].0 > now {
            self.to -= 1;
            take(&mut self.counts, &self.events[self.to].1);
        }
        while self.from > 0 && self.events[self.from - 1].0 > oldest {
            self.from -= 1;
            let (at, what) = &self.events[self.from];
            if *at <= now {
                put(&mut self.counts, what);
            } else {
                self.to = self.from;
            }
        }
        while self.from < self.to && self.events[self.from].0 <= oldest {
            take(&mut self.counts, &self.events[self.from].1);
            self.from += 1;
        }
        &self.counts
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn counts_are_those_of_the_window(
            steps in prop::collection::vec((any::<bool>(), 0i64..5, 0u8..3), 1..60),
        ) {
            let day = LOOKBACK / 2;
            let mut sliding: SlidingCounts<u8> = SlidingCounts::default();
            let mut all = Vec::new();
            for (asks, time, what) in steps {
                let time = time * day;
                if asks {
                    let mut want = BTreeMap::new();
                    for (_, what) in all.iter().filter(|(at, _)| within(time, *at, LOOKBACK)) {
                        *want.entry(*what).or_insert(0u64) += 1;
                    }
                    prop_assert_eq!(sliding.at(time), &want);
                } else {
                    sliding.add(time, what);
                    all.push((time, what));
                }
            }
        }
    }
}
