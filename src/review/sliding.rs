//! Counts over the window that ends at a time (T1), for questions whose times mostly rise: each costs what came and went.

use std::collections::BTreeMap;

use super::entry::WINDOW;

/// Things that happened, counted by what they are.
#[derive(Debug, Clone)]
pub struct Sliding<K> {
    events: Vec<(i64, K)>,
    from: usize,
    to: usize,
    counts: BTreeMap<K, u64>,
}

impl<K> Default for Sliding<K> {
    fn default() -> Self {
        Self { events: Vec::new(), from: 0, to: 0, counts: BTreeMap::new() }
    }
}

impl<K: Ord + Clone> Sliding<K> {
    /// Adds one that happened at `at`.
    pub fn add(&mut self, at: i64, what: K) {
        let place = self.events.partition_point(|(time, _)| *time <= at);
        if place < self.from {
            self.from += 1;
            self.to += 1;
        } else if place < self.to {
            self.to += 1;
            *self.counts.entry(what.clone()).or_default() += 1;
        }
        self.events.insert(place, (at, what));
    }

    /// What the window holds that ends at `now`; nothing in it is counted zero times.
    pub fn at(&mut self, now: i64) -> &BTreeMap<K, u64> {
        let oldest = now.saturating_sub(WINDOW);
        while self.to < self.events.len() && self.events[self.to].0 <= now {
            count(&mut self.counts, &self.events[self.to].1, true);
            self.to += 1;
        }
        while self.to > self.from && self.events[self.to - 1].0 > now {
            self.to -= 1;
            count(&mut self.counts, &self.events[self.to].1, false);
        }
        while self.from > 0 && self.events[self.from - 1].0 > oldest {
            self.from -= 1;
            let (at, what) = &self.events[self.from];
            if *at <= now {
                count(&mut self.counts, what, true);
            } else {
                self.to = self.from;
            }
        }
        while self.from < self.to && self.events[self.from].0 <= oldest {
            count(&mut self.counts, &self.events[self.from].1, false);
            self.from += 1;
        }
        &self.counts
    }
}

fn count<K: Ord + Clone>(counts: &mut BTreeMap<K, u64>, what: &K, comes: bool) {
    if comes {
        *counts.entry(what.clone()).or_default() += 1;
    } else if let Some(number) = counts.get_mut(what) {
        *number -= 1;
        if *number == 0 {
            counts.remove(what);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::review::entry::within;

    proptest! {
        #[test]
        fn counts_are_those_of_the_window(
            steps in prop::collection::vec((any::<bool>(), 0i64..5, 0u8..3), 1..60),
        ) {
            let day = WINDOW / 2;
            let mut sliding = Sliding::default();
            let mut all = Vec::new();
            for (asks, time, what) in steps {
                let time = time * day;
                if asks {
                    let mut want = BTreeMap::new();
                    for (_, what) in all.iter().filter(|(at, _)| within(time, *at, WINDOW)) {
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
