//! The order of the ledger (R24), effective times (T0) and ancestry.
//!
//! Ancestry is needed often. Entries are laid out in chains (an entry continues the chain that one of its parents
//! ends), and each remembers how far down every chain it sees. A ledger of few writers has few chains, so that a
//! question costs one comparison and an entry a few words.

use super::{Code, ReviewEntry};
use andon_core::domain::CLOCK_SKEW;

/// Order, times and ancestry of a list of entries.
#[derive(Debug, Clone)]
pub struct Graph {
    /// The entries in the order of the ledger.
    pub order: Vec<usize>,
    /// The place of each entry in that order.
    pub place: Vec<usize>,
    /// One more than the greatest of the parents'.
    pub lamport: Vec<u64>,
    /// The effective time of each entry.
    pub eff: Vec<i64>,
    /// The fault of its time.
    pub clock: Vec<Option<Code>>,
    chain: Vec<(usize, u32)>,
    seen: Vec<Vec<u32>>,
}

impl Graph {
    /// Reads `entries` as a reader does whose clock says `now`.
    pub fn new(entries: &[ReviewEntry], now: i64) -> Self {
        let mut graph = Self {
            order: (0..entries.len()).collect(),
            place: vec![0; entries.len()],
            lamport: Vec::with_capacity(entries.len()),
            eff: Vec::with_capacity(entries.len()),
            clock: Vec::with_capacity(entries.len()),
            chain: Vec::with_capacity(entries.len()),
            seen: Vec::with_capacity(entries.len()),
        };
        let mut passed_on: Vec<Option<i64>> = Vec::with_capacity(entries.len());
        let mut ends: Vec<usize> = Vec::new();
        for entry in entries {
            let lamports = entry.parents.iter().map(|parent| graph.lamport[*parent]);
            graph.lamport.push(lamports.max().unwrap_or(0) + 1);
            let floor = entry.parents.iter().filter_map(|parent| passed_on[*parent]).max();
            let wrong = wrong_time(entry.at, floor, now);
            let eff = floor.map_or(entry.at, |floor| entry.at.max(floor));
            graph.eff.push(eff);
            graph.clock.push(wrong);
            passed_on.push(if wrong.is_some() { floor } else { Some(eff) });
            graph.lay(&entry.parents, &mut ends);
        }
        let key = |entry: &usize| (graph.lamport[*entry], entries[*entry].rank, *entry);
        // A child's Lamport number is greater than its parents', so this is the topological order as well.
        graph.order.sort_by_key(key);
        for (place, entry) in graph.order.iter().enumerate() {
            graph.place[*entry] = place;
        }
        graph
    }

    /// Puts the next entry on a chain.
    fn lay(&mut self, parents: &[usize], ends: &mut Vec<usize>) {
        let entry = self.chain.len();
        let mut seen: Vec<u32> = Vec::new();
        for parent in parents {
            let theirs = &self.seen[*parent];
            seen.resize(seen.len().max(theirs.len()), 0);
            for (mine, theirs) in seen.iter_mut().zip(theirs) {
                *mine = (*mine).max(*theirs);
            }
        }
        let continued = parents.iter().find(|parent| ends[self.chain[**parent].0] == **parent);
        let (chain, number) = if let Some(parent) = continued {
            let (chain, number) = self.chain[*parent];
            ends[chain] = entry;
            (chain, number + 1)
        } else {
            ends.push(entry);
            (ends.len() - 1, 1)
        };
        seen.resize(seen.len().max(chain + 1), 0);
        seen[chain] = number;
        self.chain.push((chain, number));
        self.seen.push(seen);
    }

    /// True where `elder` is an ancestor of `entry`; nothing is its own ancestor.
    pub fn is_before(&self, elder: usize, entry: usize) -> bool {
        elder != entry && self.is_at_or_before(elder, entry)
    }

    /// True where `elder` is an ancestor of `entry` or `entry` itself.
    pub fn is_at_or_before(&self, elder: usize, entry: usize) -> bool {
        let (chain, number) = self.chain[elder];
        self.seen[entry].get(chain).is_some_and(|seen| *seen >= number)
    }
}

fn wrong_time(claimed: i64, floor: Option<i64>, now: i64) -> Option<Code> {
    if floor.is_some_and(|floor| claimed < floor.saturating_sub(CLOCK_SKEW)) {
        Some(Code::ClockSetBack)
    } else if claimed > now.saturating_add(CLOCK_SKEW) {
        Some(Code::FromTheFuture)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn entry(name: u8, at: i64, parents: &[usize]) -> ReviewEntry {
        ReviewEntry {
            id: name.to_string(),
            rank: [name; 32],
            writer: "w".into(),
            at,
            kind: "round".into(),
            signer: None,
            touched: true,
            parents: parents.to_vec(),
            body: serde_json::Map::new().into(),
            payload: Ok(crate::Payload::Other).into(),
        }
    }

    #[test]
    fn order_is_by_lamport_then_id_and_never_by_clock() {
        let entries = [
            entry(5, 100, &[]),
            entry(9, 101, &[0]),
            entry(2, 400, &[0]),
            entry(1, 102, &[1]),
            entry(7, 500, &[2, 3]),
        ];
        let graph = Graph::new(&entries, 1_000);
        assert_eq!(graph.order, [0, 2, 1, 3, 4]);
        assert_eq!(graph.lamport, [1, 2, 2, 3, 4]);
        assert_eq!(graph.place, [0, 2, 1, 3, 4]);
    }

    #[test]
    fn times_never_run_back_along_ancestry() {
        let table = [
            ("as claimed", 1_000, 1_001, (1_001, None)),
            ("a little back", 1_000, 700, (1_000, None)),
            ("too far back", 1_000, 699, (1_000, Some(Code::ClockSetBack))),
            ("a little ahead", 1_000, 2_300, (2_300, None)),
            ("from the future", 1_000, 2_301, (2_301, Some(Code::FromTheFuture))),
        ];
        for (what, parent, claimed, want) in table {
            let graph = Graph::new(&[entry(1, parent, &[]), entry(2, claimed, &[0])], 2_000);
            assert_eq!((graph.eff[1], graph.clock[1]), want, "{what}");
        }
        // An invalid entry passes on only the times of its parents; without parents nothing at all.
        let chain = [entry(1, 1_000, &[]), entry(2, 9_000, &[0]), entry(3, 1_100, &[1])];
        assert_eq!(Graph::new(&chain, 2_000).eff, [1_000, 9_000, 1_100]);
        let root = [entry(1, 9_000, &[]), entry(2, 5, &[0])];
        assert_eq!(Graph::new(&root, 2_000).clock, [Some(Code::FromTheFuture), None]);
    }

    proptest! {
        #[test]
        fn ancestry_is_what_a_walk_finds(links in prop::collection::vec(prop::collection::vec(0usize..40, 0..4), 1..40)) {
            let mut entries = Vec::new();
            for (index, parents) in links.iter().enumerate() {
                let parents: Vec<usize> = parents.iter().filter(|_| index > 0).map(|p| p % index.max(1)).collect();
                entries.push(entry(u8::try_from(index).unwrap(), 0, &parents));
            }
            let graph = Graph::new(&entries, 0);
            let mut walked: Vec<std::collections::BTreeSet<usize>> = Vec::new();
            for entry in &entries {
                let mut all: std::collections::BTreeSet<usize> = entry.parents.iter().copied().collect();
                for parent in &entry.parents {
                    all.extend(&walked[*parent]);
                }
                walked.push(all);
            }
            for (one, entry) in entries.iter().enumerate() {
                for (other, walked) in walked.iter().enumerate() {
                    prop_assert_eq!(graph.is_before(one, other), walked.contains(&one));
                }
                prop_assert!(entry.parents.iter().all(|parent| graph.place[*parent] < graph.place[one]));
            }
        }
    }
}
