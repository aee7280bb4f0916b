//! The order of the ledger: parents first, then the smaller Lamport number, then the smaller id. Every clone that has
//! the same entries derives the same order, whatever its clocks say.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use crate::domain::ids::{CommitId, EntryId};

/// By what an entry comes before another of which it is no parent: its Lamport number, then its id.
pub type LedgerKey = (u64, EntryId);

/// The entries with `keys` in order; `parents` holds the parents of every commit that was walked, unreadable ones
/// included.
pub fn ledger_order(
    keys: &BTreeMap<CommitId, LedgerKey>,
    parents: &BTreeMap<CommitId, Vec<CommitId>>,
) -> Vec<CommitId> {
    let mut waiting: BTreeMap<CommitId, usize> = BTreeMap::new();
    let mut children: BTreeMap<CommitId, Vec<CommitId>> = BTreeMap::new();
    for (commit, before) in parents {
        let known = before.iter().filter(|parent| parents.contains_key(parent));
        waiting.insert(*commit, known.clone().count());
        known.for_each(|parent| children.entry(*parent).or_default().push(*commit));
    }
    // An unreadable entry has no key of its own: it takes the smallest, and only holds its children back.
    let key = |commit: CommitId| keys.get(&commit).copied().unwrap_or((0, EntryId([0; 32])));
    let mut ready: BinaryHeap<Reverse<(LedgerKey, CommitId)>> = waiting
        .iter()
        .filter(|(_, count)| **count == 0)
        .map(|(commit, _)| Reverse((key(*commit), *commit)))
        .collect();
    let mut sorted = Vec::with_capacity(keys.len());
    while let Some(Reverse((_, commit))) = ready.pop() {
        sorted.extend(keys.contains_key(&commit).then_some(commit));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::testkit::oid;

    /// Entries as (number, Lamport number, parents); one without a Lamport number cannot be read.
    type Written<'a> = (u64, Option<u64>, &'a [u64]);

    fn order(entries: &[Written<'_>]) -> Vec<u64> {
        let id = |number: u64| CommitId(oid(number));
        let entry = |number: u64| EntryId([u8::try_from(number).unwrap(); 32]);
        let keys = entries
            .iter()
            .filter_map(|(number, lamport, _)| Some((id(*number), ((*lamport)?, entry(*number)))));
        let parents =
            entries.iter().map(|(number, _, before)| (id(*number), before.iter().copied().map(id).collect()));
        let sorted = ledger_order(&keys.collect(), &parents.collect());
        let number =
            |commit: CommitId| entries.iter().map(|(number, ..)| *number).find(|one| id(*one) == commit);
        sorted.into_iter().filter_map(number).collect()
    }

    #[test]
    fn parents_come_first_then_lamport_numbers_then_ids() {
        let table: &[(&[Written<'_>], &[u64])] = &[
            (&[], &[]),
            (&[(2, Some(1), &[]), (1, Some(2), &[2])], &[2, 1]),
            // Of two writers, whatever their order in the walk.
            (&[(3, Some(1), &[]), (4, Some(1), &[])], &[3, 4]),
            (&[(4, Some(1), &[]), (3, Some(2), &[]), (5, Some(3), &[4, 3])], &[4, 3, 5]),
            // A number that lies does not put an entry before its parent.
            (&[(1, Some(9), &[]), (2, Some(1), &[1]), (3, Some(5), &[])], &[3, 1, 2]),
            // A parent that is not here holds nobody back; one that cannot be read only passes on the order.
            (&[(2, Some(2), &[8])], &[2]),
            (&[(1, Some(1), &[]), (2, None, &[1]), (3, Some(3), &[2])], &[1, 3]),
        ];
        for (entries, expected) in table {
            assert_eq!(order(entries), *expected, "{entries:?}");
        }
    }
}
