//! The order of the ledger: parents first, then the smaller Lamport number, then the smaller id. Every clone that has
//! the same entries derives the same order, whatever its clocks say.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap};

use crate::domain::{CommitId, EntryId};

/// The order of two entries where neither is a parent of the other: the Lamport number, then the id.
pub type LedgerKey = (u64, EntryId);

/// The entries with `keys` in order; `parents` holds the parents of every commit that was walked, unreadable ones
/// included.
pub fn ledger_order(
    keys: &BTreeMap<CommitId, LedgerKey>,
    parents: &BTreeMap<CommitId, Vec<CommitId>>,
) -> Vec<CommitId> {
    by_key(keys, parents).unwrap_or_else(|| by_waiting(keys, parents))
}

/// The same where every entry can be read and comes behind its parents by its key alone, as honest ones do: thousands of
/// them are sorted faster than walked.
fn by_key(
    keys: &BTreeMap<CommitId, LedgerKey>,
    parents: &BTreeMap<CommitId, Vec<CommitId>>,
) -> Option<Vec<CommitId>> {
    let follows = |(child, before): (&CommitId, &Vec<CommitId>)| {
        let is_behind = |key| before.iter().all(|parent| keys.get(parent).is_none_or(|theirs| theirs < key));
        keys.get(child).is_some_and(is_behind)
    };
    if !parents.iter().all(follows) {
        return None;
    }
    let mut sorted: Vec<(&LedgerKey, CommitId)> = keys.iter().map(|(commit, key)| (key, *commit)).collect();
    sorted.sort_unstable();
    Some(sorted.into_iter().map(|(_, commit)| commit).collect())
}

fn by_waiting(
    keys: &BTreeMap<CommitId, LedgerKey>,
    parents: &BTreeMap<CommitId, Vec<CommitId>>,
) -> Vec<CommitId> {
    // From here on numbers in the order of the commits replace the ids: a ledger has thousands.
    let commits: Vec<CommitId> = parents.keys().copied().collect();
    let number: HashMap<CommitId, usize> =
        commits.iter().enumerate().map(|(number, commit)| (*commit, number)).collect();
    let mut waiting: Vec<usize> = vec![0; commits.len()];
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); commits.len()];
    for (child, before) in parents.values().enumerate() {
        for parent in before.iter().filter_map(|parent| number.get(parent)) {
            waiting[child] += 1;
            children[*parent].push(child);
        }
    }
    // An unreadable entry has no key of its own: it takes the smallest, and only holds its children back.
    let key = |at: usize| keys.get(&commits[at]).copied().unwrap_or((0, EntryId([0; 32])));
    let ready = (0..commits.len()).filter(|at| waiting[*at] == 0);
    let mut ready: BinaryHeap<Reverse<(LedgerKey, usize)>> = ready.map(|at| Reverse((key(at), at))).collect();
    let mut sorted = Vec::with_capacity(keys.len());
    while let Some(Reverse((_, at))) = ready.pop() {
        sorted.extend(Some(commits[at]).filter(|commit| keys.contains_key(commit)));
        for child in std::mem::take(&mut children[at]) {
            waiting[child] -= 1;
            if waiting[child] == 0 {
                ready.push(Reverse((key(child), child)));
            }
        }
    }
    sorted
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testkit::oid;

    /// Entries as (number, Lamport number, parents); one without a Lamport number cannot be read.
    type EntryOrder<'a> = (u64, Option<u64>, &'a [u64]);

    fn order(entries: &[EntryOrder<'_>]) -> Vec<u64> {
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

    proptest! {
        #[test]
        fn sorting_and_walking_come_to_the_same(
            entries in prop::collection::vec((0u64..6, any::<u8>(), prop::collection::vec(0usize..20, 0..3)), 0..20),
        ) {
            let id = |at: usize| CommitId(oid(u64::try_from(at).unwrap()));
            let mut keys = BTreeMap::new();
            let mut parents = BTreeMap::new();
            for (at, (lamport, digit, before)) in entries.iter().enumerate() {
                let before: Vec<CommitId> = before.iter().filter(|_| at > 0).map(|parent| id(parent % at.max(1))).collect();
                keys.insert(id(at), (*lamport, EntryId([*digit; 32])));
                parents.insert(id(at), before);
            }
            if let Some(sorted) = by_key(&keys, &parents) {
                prop_assert_eq!(sorted, by_waiting(&keys, &parents));
            }
        }
    }

    #[test]
    fn parents_come_first_then_lamport_numbers_then_ids() {
        let table: &[(&[EntryOrder<'_>], &[u64])] = &[
            (&[], &[]),
            (&[(2, Some(1), &[]), (1, Some(2), &[2])], &[2, 1]),
            // Two writers, whatever their order in the walk.
            (&[(3, Some(1), &[]), (4, Some(1), &[])], &[3, 4]),
            (&[(4, Some(1), &[]), (3, Some(2), &[]), (5, Some(3), &[4, 3])], &[4, 3, 5]),
            // A number that lies does not put an entry before its parent.
            (&[(1, Some(9), &[]), (2, Some(1), &[1]), (3, Some(5), &[])], &[3, 1, 2]),
            // A missing parent holds no entry back; an unreadable one only passes on the order.
            (&[(2, Some(2), &[8])], &[2]),
            (&[(1, Some(1), &[]), (2, None, &[1]), (3, Some(3), &[2])], &[1, 3]),
        ];
        for (entries, expected) in table {
            assert_eq!(order(entries), *expected, "{entries:?}");
        }
    }
}
