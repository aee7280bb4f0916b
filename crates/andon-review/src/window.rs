//! Spans of time that rules look back over (T1), in seconds, and counts over the window that ends at a time: for questions
//! whose times mostly rise, each costs what came and went.

use std::collections::BTreeMap;

/// Seconds of a day.
pub const DAY: i64 = 86_400;
/// Seconds of the window in which reputations and detectors look back (T1).
pub const LOOKBACK: i64 = 90 * DAY;
/// Seconds for which an agent's penalties and a witness's declined concerns are remembered.
pub const MONTH: i64 = 30 * DAY;

/// Whether `at` lies in the `span` seconds that end with `now`; `now` itself belongs to them.
pub fn within(now: i64, at: i64, span: i64) -> bool {
    let age = now.saturating_sub(at);
    (0..span).contains(&age)
}

/// What is kept of the things in the window.
pub trait Tally<K>: Default {
    /// One comes.
    fn put(&mut self, what: &K);
    /// One that is there goes.
    fn take(&mut self, what: &K);
}

/// How often each is there; nothing is counted zero times.
impl<K: Ord + Clone> Tally<K> for BTreeMap<K, u64> {
    fn put(&mut self, what: &K) {
        *self.entry(what.clone()).or_default() += 1;
    }

    fn take(&mut self, what: &K) {
        if let Some(number) = self.get_mut(what) {
            *number -= 1;
            if *number == 0 {
                self.remove(what);
            }
        }
    }
}

/// All of them in their order, each as often as it is there.
impl Tally<i64> for Vec<i64> {
    fn put(&mut self, what: &i64) {
        self.insert(self.partition_point(|known| known < what), *what);
    }

    fn take(&mut self, what: &i64) {
        self.remove(self.partition_point(|known| known < what));
    }
}

/// Things that happened, counted by what they are.
#[derive(Debug, Clone)]
pub struct SlidingCounts<K, T = BTreeMap<K, u64>> {
    events: Vec<(i64, K)>,
    from: usize,
    to: usize,
    tally: T,
}

impl<K, T: Tally<K>> Default for SlidingCounts<K, T> {
    fn default() -> Self {
        Self { events: Vec::new(), from: 0, to: 0, tally: T::default() }
    }
}

impl<K, T: Tally<K>> SlidingCounts<K, T> {
    /// Adds one that happened at `at`.
    pub fn add(&mut self, at: i64, what: K) {
        let place = self.events.partition_point(|(time, _)| *time <= at);
        if place < self.from {
            self.from += 1;
            self.to += 1;
        } else if place < self.to {
            self.to += 1;
            self.tally.put(&what);
        }
        self.events.insert(place, (at, what));
    }

    /// What the window holds that ends at `now`.
    pub fn at(&mut self, now: i64) -> &T {
        let oldest = now.saturating_sub(LOOKBACK);
        while self.to < self.events.len() && self.events[self.to].0 <= now {
            self.tally.put(&self.events[self.to].1);
            self.to += 1;
        }
        while self.to > self.from && self.events[self.to - 1].0 > now {
            self.to -= 1;
            self.tally.take(&self.events[self.to].1);
        }
        while self.from > 0 && self.events[self.from - 1].0 > oldest {
            self.from -= 1;
            let (at, what) = &self.events[self.from];
            if *at <= now {
                self.tally.put(what);
            } else {
                self.to = self.from;
            }
        }
        while self.from < self.to && self.events[self.from].0 <= oldest {
            self.tally.take(&self.events[self.from].1);
            self.from += 1;
        }
        &self.tally
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
            let mut sorted: SlidingCounts<i64, Vec<i64>> = SlidingCounts::default();
            let mut all = Vec::new();
            for (asks, time, what) in steps {
                let time = time * day;
                if asks {
                    let mut want = BTreeMap::new();
                    for (_, what) in all.iter().filter(|(at, _)| within(time, *at, LOOKBACK)) {
                        *want.entry(*what).or_insert(0u64) += 1;
                    }
                    prop_assert_eq!(sliding.at(time), &want);
                    let row = want.iter().flat_map(|(what, count)| (0..*count).map(|_| i64::from(*what)));
                    prop_assert_eq!(sorted.at(time), &row.collect::<Vec<_>>());
                } else {
                    sliding.add(time, what);
                    sorted.add(time, i64::from(what));
                    all.push((time, what));
                }
            }
        }
    }
}
