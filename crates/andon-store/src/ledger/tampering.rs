//! Ledgers that were rewound or rewritten. Each entry names the heads of other writers that were seen then, so an entry
//! that was removed from one ledger is still held by the others.

use std::collections::{BTreeMap, BTreeSet};

use super::read::{Nodes, graph};
use super::{Ledger, LedgerError, writer_of};
use andon_core::domain::ids::CommitId;

/// A ledger that is not what it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tampering {
    /// Whose.
    pub writer: String,
    /// In what way.
    pub how: TamperedHow,
    /// The number of its entries that its refs do not reach.
    pub lost: usize,
}

/// In what way a ledger is not what it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TamperedHow {
    /// Two refs of it, here and of a remote, hold entries that the other lacks.
    Forked(CommitId, CommitId),
    /// Its ref does not reach this entry of it, which another ledger names.
    Rewound(CommitId),
    /// It has no ref any more; this is its newest entry.
    Gone(CommitId),
}

impl Ledger<'_> {
    /// Ledgers that were turned back, rewritten or removed, as far as the others give it away.
    ///
    /// # Errors
    /// [`LedgerError::Git`] when the refs themselves cannot be read.
    pub fn tampered(&self) -> Result<Vec<Tampering>, LedgerError> {
        let (heads, nodes, _) = graph(self.repo)?;
        let mut tips: BTreeMap<&str, Vec<CommitId>> = BTreeMap::new();
        for (name, target) in &heads {
            tips.entry(writer_of(name)).or_default().push(CommitId(*target));
        }
        let mut found = Vec::new();
        let mut reached: BTreeMap<&str, BTreeSet<CommitId>> = BTreeMap::new();
        for (writer, tips) in &tips {
            let chains: Vec<BTreeSet<CommitId>> = tips.iter().map(|tip| entries(&nodes, *tip)).collect();
            let longest = (0..tips.len()).max_by_key(|at| chains[*at].len()).unwrap_or(0);
            if let Some(other) = tips.iter().find(|tip| !chains[longest].contains(tip)) {
                let how = TamperedHow::Forked(tips[longest], *other);
                let lost = chains.iter().flatten().filter(|entry| !chains[longest].contains(entry));
                let lost = lost.collect::<BTreeSet<_>>().len();
                found.push(Tampering { writer: (*writer).to_owned(), how, lost });
            }
            reached.insert(writer, chains.into_iter().flatten().collect());
        }
        found.extend(unreached(&nodes, &reached));
        Ok(found)
    }
}

/// The newest entry of each writer that its own refs do not reach.
fn unreached(nodes: &Nodes, reached: &BTreeMap<&str, BTreeSet<CommitId>>) -> Vec<Tampering> {
    let mut newest: BTreeMap<&str, Vec<(u64, CommitId)>> = BTreeMap::new();
    for entry in nodes.values().filter_map(|node| node.entry.as_ref()) {
        let own = reached.get(entry.writer.as_str());
        if own.is_some_and(|own| own.contains(&entry.commit)) {
            continue;
        }
        newest.entry(&entry.writer).or_default().push((entry.lamport, entry.commit));
    }
    newest
        .into_iter()
        .filter_map(|(writer, lost)| {
            let (_, entry) = *lost.iter().max()?;
            let how = match reached.get(writer) {
                Some(_) => TamperedHow::Rewound(entry),
                None => TamperedHow::Gone(entry),
            };
            Some(Tampering { writer: writer.to_owned(), how, lost: lost.len() })
        })
        .collect()
}

fn entries(nodes: &Nodes, tip: CommitId) -> BTreeSet<CommitId> {
    let mut entries = BTreeSet::new();
    let mut next = Some(tip);
    while let Some(commit) = next.filter(|commit| entries.insert(*commit)) {
        next = nodes.get(&commit).and_then(|node| node.parents.first().copied());
    }
    entries
}
