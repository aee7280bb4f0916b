//! The order of the ledger: parents first, then the smaller Lamport number, then the smaller id. Every clone that has
//! the same entries derives the same order, whatever its clocks say.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use super::Entry;
use crate::domain::ids::{CommitId, EntryId};

/// Sorts `entries`; `parents` holds the parents of every commit that was walked, unreadable ones included.
pub(super) fn sort(entries: Vec<Entry>, parents: &BTreeMap<CommitId, Vec<CommitId>>) -> Vec<Entry> {
    let keys: BTreeMap<CommitId, (u64, EntryId)> =
        entries.iter().map(|entry| (entry.commit, (entry.lamport, entry.id))).collect();
    let mut waiting: BTreeMap<CommitId, usize> = BTreeMap::new();
    let mut children: BTreeMap<CommitId, Vec<CommitId>> = BTreeMap::new();
    for (commit, before) in parents {
        let known = before.iter().filter(|parent| parents.contains_key(parent));
        waiting.insert(*commit, known.clone().count());
        known.for_each(|parent| children.entry(*parent).or_default().push(*commit));
    }
    // An unreadable entry has no key of its own: it takes the smallest, and only holds its children back.
    let key = |commit: CommitId| keys.get(&commit).copied().unwrap_or((0, EntryId([0; 32])));
    let mut ready: BinaryHeap<Reverse<((u64, EntryId), CommitId)>> = waiting
        .iter()
        .filter(|(_, count)| **count == 0)
        .map(|(commit, _)| Reverse((key(*commit), *commit)))
        .collect();
    let mut by_commit: BTreeMap<CommitId, Entry> =
        entries.into_iter().map(|entry| (entry.commit, entry)).collect();
    let mut sorted = Vec::with_capacity(by_commit.len());
    while let Some(Reverse((_, commit))) = ready.pop() {
        sorted.extend(by_commit.remove(&commit));
        for child in children.remove(&commit).unwrap_or_default() {
            if let Some(count) = waiting.get_mut(&child) {
                *count = count.saturating_sub(1);
                if *count == 0 {
                    ready.push(Reverse((key(child), child)));
                }
            }
        }
    }
    sorted
}
