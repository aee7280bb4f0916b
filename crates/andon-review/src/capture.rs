//! Whether one witness decides most of a topic (R19), and who comes next (R26).

use std::collections::{BTreeMap, BTreeSet};

use super::sliding::SlidingCounts;

/// Resolutions of a tag before concentration says anything.
const LEAST: u64 = 10;
/// The number of witnesses up to which a share of two fifths is no fault.
const FEW: usize = 3;

/// A topic that came under one witness's hand, or out of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaptureChange {
    pub entry: usize,
    pub witness: String,
    pub on: bool,
}

/// The entry that counts, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CountedEntry {
    pub entry: usize,
    pub at: i64,
}

/// What is known of one tag.
#[derive(Debug, Clone, Default)]
pub struct Topic {
    resolutions: SlidingCounts<String>,
    pub changes: Vec<CaptureChange>,
    /// Who holds it.
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
    pub fn count(&mut self, tag: &str, witness: &str, when: CountedEntry, witnesses: usize) {
        let topic = self.by_tag.entry(tag.to_owned()).or_default();
        topic.resolutions.add(when.at, witness.to_owned());
        let counts = topic.resolutions.at(when.at);
        let all: u64 = counts.values().sum();
        let asked: BTreeSet<String> = counts.keys().chain(&topic.on).cloned().collect();
        for witness in asked {
            let own = counts.get(&witness).copied().unwrap_or(0);
            let is_on = topic.on.contains(&witness);
            let is_off = if witnesses <= FEW { own * 5 <= all * 2 } else { own * 10 < all * 3 };
            let on = if is_on { !is_off } else { all >= LEAST && own * 5 > all * 2 };
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

    /// Whether any witness holds one of `tags`.
    pub fn is_held(&self, tags: &BTreeSet<String>) -> bool {
        tags.iter().filter_map(|tag| self.by_tag.get(tag)).any(|topic| !topic.on.is_empty())
    }

    /// `witness` resolved a round with `tag` alone.
    pub fn single(&mut self, tag: &str, witness: &str) {
        self.singles.entry(tag.to_owned()).or_default().push(witness.to_owned());
    }

    /// Whether `witness` gave the last `row` single resolutions of one of `tags`; a row of 0 never does.
    pub fn is_due_to_rotate(&self, tags: &BTreeSet<String>, witness: &str, row: usize) -> bool {
        row > 0
            && tags
                .iter()
                .filter_map(|tag| self.singles.get(tag))
                .any(|given| given.len() >= row && given.iter().rev().take(row).all(|who| who == witness))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lookback::DAY;

    /// One vote a day by each letter's witness; the days on which a topic changes hands.
    fn changes(votes: &str, witnesses: usize) -> Vec<(usize, String, bool)> {
        let mut topics = Topics::default();
        for (day, who) in (0i64..).zip(votes.chars()) {
            let entry = usize::try_from(day).unwrap_or_default();
            topics.count("db", &who.to_string(), CountedEntry { entry, at: day * DAY }, witnesses);
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
}
