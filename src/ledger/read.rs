//! The union of all writers, in an order that every clone with the same entries agrees on.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use super::entry::{self, BadEntry};
use super::{Entry, LedgerError, Warning};
use crate::domain::ids::{CommitId, EntryId, Oid};
use crate::git::Repo;

/// Most entries that are read.
const MAX_ENTRIES: usize = 100_000;

/// An entry's place in the graph. Corrupt ones have a place too: what follows them still follows.
pub(super) struct Node {
    pub(super) parents: Vec<CommitId>,
    pub(super) entry: Option<Entry>,
}

pub(super) type Nodes = BTreeMap<CommitId, Node>;

/// The refs of all ledgers, their entries, and what could not be read.
pub(super) type Graph = (Vec<(String, Oid)>, Nodes, Vec<Warning>);

pub(super) fn read_all(repo: &Repo) -> Result<(Vec<Entry>, Vec<Warning>), LedgerError> {
    let (heads, nodes, mut warnings) = graph(repo)?;
    for (name, target) in &heads {
        check_writer(&nodes, super::writer_of(name), CommitId(*target), &mut warnings);
    }
    warnings.sort_by_key(|warning| warning.commit);
    warnings.dedup();
    Ok((in_order(nodes), warnings))
}

/// The refs of all ledgers, everything below them, and what could not be read of it.
pub(super) fn graph(repo: &Repo) -> Result<Graph, LedgerError> {
    let heads = super::refs_of_all(repo)?;
    let mut warnings = Vec::new();
    let mut nodes = Nodes::new();
    let mut todo: Vec<CommitId> = heads.iter().map(|(_, target)| CommitId(*target)).collect();
    while let Some(commit) = todo.pop() {
        if nodes.contains_key(&commit) {
            continue;
        }
        if nodes.len() == MAX_ENTRIES {
            warnings.push(Warning {
                commit,
                why: format!("more than {MAX_ENTRIES} entries: the rest is not read"),
            });
            break;
        }
        let node = read_node(repo, commit, &mut warnings);
        todo.extend(&node.parents);
        nodes.insert(commit, node);
    }
    Ok((heads, nodes, warnings))
}

fn read_node(repo: &Repo, commit: CommitId, warnings: &mut Vec<Warning>) -> Node {
    let info = match repo.commit(commit) {
        Ok(info) => info,
        Err(error) => {
            warnings.push(Warning { commit, why: error.to_string() });
            return Node { parents: Vec::new(), entry: None };
        }
    };
    let entry = match entry::load(repo, commit, info.tree) {
        Ok(entry) => Some(entry),
        Err(BadEntry::Git(error)) => {
            warnings.push(Warning { commit, why: error.to_string() });
            None
        }
        Err(BadEntry::Corrupt(why)) => {
            warnings.push(Warning { commit, why });
            None
        }
    };
    Node { parents: info.parents, entry }
}

/// Along first parents a writer's ref holds its own entries, and below its first one those of whomever it saw then.
/// A foreign entry above an own one, or at the tip, was put there by somebody else.
fn check_writer(nodes: &Nodes, writer: &str, tip: CommitId, warnings: &mut Vec<Warning>) {
    let mut foreign = Vec::new();
    let mut next = Some(tip);
    while let Some((commit, node)) = next.and_then(|commit| Some((commit, nodes.get(&commit)?))) {
        if let Some(entry) = &node.entry {
            if entry.writer == writer {
                warnings.append(&mut foreign);
            } else {
                let why = format!("it is in the ledger of {writer:?} and says it is of {:?}", entry.writer);
                foreign.push(Warning { commit, why });
            }
        }
        next = node.parents.first().copied();
    }
    warnings.extend(foreign.into_iter().filter(|warning| warning.commit == tip));
}

/// Parents first; among those that are free, the smallest (Lamport, id).
fn in_order(mut nodes: Nodes) -> Vec<Entry> {
    let mut children: BTreeMap<CommitId, Vec<CommitId>> = BTreeMap::new();
    let mut waiting: BTreeMap<CommitId, usize> = BTreeMap::new();
    for (commit, node) in &nodes {
        let parents = node.parents.iter().filter(|parent| nodes.contains_key(parent));
        let mut count = 0;
        for parent in parents {
            children.entry(*parent).or_default().push(*commit);
            count += 1;
        }
        waiting.insert(*commit, count);
    }
    let rank = |nodes: &Nodes, commit: CommitId| {
        let entry = nodes.get(&commit).and_then(|node| node.entry.as_ref());
        Reverse(entry.map_or((0, EntryId([0; 32]), commit), |entry| (entry.lamport, entry.id, commit)))
    };
    let mut free: BinaryHeap<_> =
        waiting.iter().filter(|(_, count)| **count == 0).map(|(commit, _)| rank(&nodes, *commit)).collect();
    let mut ordered = Vec::with_capacity(nodes.len());
    while let Some(Reverse((_, _, commit))) = free.pop() {
        for child in children.remove(&commit).unwrap_or_default() {
            let count = waiting.entry(child).or_default();
            *count = count.saturating_sub(1);
            if *count == 0 {
                free.push(rank(&nodes, child));
            }
        }
        ordered.extend(nodes.remove(&commit).and_then(|node| node.entry));
    }
    ordered
}
