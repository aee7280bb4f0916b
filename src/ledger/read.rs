//! The union of all writers, in an order that every clone with the same entries agrees on.

use std::collections::BTreeMap;

use super::entry::{self, BadEntry};
use super::{Entry, LedgerError};
use crate::domain::diagnostic::Diagnostic;
use crate::domain::ids::{CommitId, Oid};
use crate::git::Repo;
use crate::history::ledger_order;

/// Most entries that are read.
const MAX_ENTRIES: usize = 100_000;

/// An entry's place in the graph. Corrupt ones have a place too: what follows them still follows.
pub(super) struct Node {
    pub(super) parents: Vec<CommitId>,
    pub(super) entry: Option<Entry>,
}

/// An entry that was skipped or looks wrong, and why. May quote untrusted text.
pub(super) type Skipped = (CommitId, String);

pub(super) type Nodes = BTreeMap<CommitId, Node>;

/// The refs of all ledgers, their entries, and what could not be read.
pub(super) type Graph = (Vec<(String, Oid)>, Nodes, Vec<Skipped>);

pub(super) fn read_all(repo: &Repo) -> Result<(Vec<Entry>, Vec<Diagnostic>), LedgerError> {
    let (heads, nodes, mut warnings) = graph(repo)?;
    for (name, target) in &heads {
        check_writer(&nodes, super::writer_of(name), CommitId(*target), &mut warnings);
    }
    warnings.sort_by_key(|(commit, _)| *commit);
    warnings.dedup();
    let shown =
        |(commit, why): (CommitId, String)| Diagnostic::warning(format!("ledger entry {commit}: {why}"));
    Ok((in_order(nodes), warnings.into_iter().map(shown).collect()))
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
            warnings.push((commit, format!("more than {MAX_ENTRIES} entries: the rest is not read")));
            break;
        }
        let node = read_node(repo, commit, &mut warnings);
        todo.extend(&node.parents);
        nodes.insert(commit, node);
    }
    Ok((heads, nodes, warnings))
}

fn read_node(repo: &Repo, commit: CommitId, warnings: &mut Vec<Skipped>) -> Node {
    let info = match repo.commit(commit) {
        Ok(info) => info,
        Err(error) => {
            warnings.push((commit, error.to_string()));
            return Node { parents: Vec::new(), entry: None };
        }
    };
    let entry = match entry::load(repo, commit, info.tree) {
        Ok(entry) => Some(entry),
        Err(BadEntry::Git(error)) => {
            warnings.push((commit, error.to_string()));
            None
        }
        Err(BadEntry::Corrupt(why)) => {
            warnings.push((commit, why));
            None
        }
    };
    Node { parents: info.parents, entry }
}

/// Along first parents a writer's ref holds its own entries, and below its first one those of whomever it saw then.
/// A foreign entry above an own one, or at the tip, was put there by somebody else.
fn check_writer(nodes: &Nodes, writer: &str, tip: CommitId, warnings: &mut Vec<Skipped>) {
    let mut foreign = Vec::new();
    let mut next = Some(tip);
    while let Some((commit, node)) = next.and_then(|commit| Some((commit, nodes.get(&commit)?))) {
        if let Some(entry) = &node.entry {
            if entry.writer == writer {
                warnings.append(&mut foreign);
            } else {
                let why = format!("it is in the ledger of {writer:?} and says it is of {:?}", entry.writer);
                foreign.push((commit, why));
            }
        }
        next = node.parents.first().copied();
    }
    warnings.extend(foreign.into_iter().filter(|(commit, _)| *commit == tip));
}

fn in_order(mut nodes: Nodes) -> Vec<Entry> {
    let key = |(commit, node): (&CommitId, &Node)| {
        node.entry.as_ref().map(|entry| (*commit, (entry.lamport, entry.id)))
    };
    let keys = nodes.iter().filter_map(key).collect();
    let parents = nodes.iter().map(|(commit, node)| (*commit, node.parents.clone())).collect();
    let take = |commit: CommitId| nodes.remove(&commit).and_then(|node| node.entry);
    ledger_order(&keys, &parents).into_iter().filter_map(take).collect()
}
