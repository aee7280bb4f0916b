//! The union of all writers, in an order that every clone with the same entries agrees on.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use super::entry::{self, BadEntry};
use super::open::{WholeEntry, form};
use super::{Entry, EntryEvent, Ledger, Rest, Result, writer_of};
use crate::wire::v1::ledger as wire;
use andon_core::domain::{CommitId, Diagnostic, Oid, TreeId};
use andon_core::history::ledger_order;
use andon_git::{GitError, Repo};

/// Most entries that are read.
const MAX_ENTRIES: usize = 100_000;

/// An entry's place in the graph. Corrupt ones have a place too: what follows them still follows.
pub(super) struct Node {
    pub(super) parents: Vec<CommitId>,
    pub(super) entry: Option<Entry>,
}

/// An entry that was skipped or looks wrong, and why. May quote untrusted text.
pub(super) type SkippedEntry = (CommitId, String);

pub(super) type Nodes = BTreeMap<CommitId, Node>;

/// The refs of all ledgers, their entries, and what could not be read.
pub(super) type Graph = (Vec<(String, Oid)>, Nodes, Vec<SkippedEntry>);

/// Knows which entries were read before.
struct EntryMemory(fn(&Repo) -> Rc<HashMap<CommitId, WholeEntry>>);

/// This command has taken an entry from a memory.
struct FromMemory;

/// All entries, and what could not be read. One command asks more than once.
pub(super) struct AllEntries {
    /// The refs that they were read from.
    pub(super) heads: Vec<(String, Oid)>,
    pub(super) entries: Vec<Entry>,
    pub(super) warnings: Vec<Diagnostic>,
}

impl Ledger<'_> {
    /// Every entry of every writer, in the ledger's order, and what could not be read.
    ///
    /// # Errors
    /// [`LedgerError::Git`](crate::ledger::LedgerError::Git) when the refs themselves cannot be read.
    pub fn read_all(&self) -> Result<(Vec<Entry>, Vec<Diagnostic>)> {
        // Entries that are gone from the refs and known otherwise are put back first.
        let _memory = self.halts();
        let all = all(self.repo)?;
        Ok((all.entries.clone(), all.warnings.clone()))
    }

    /// Has this command not read again what `memory` holds: for commands that only show the state.
    pub fn remember(&self, memory: fn(&Repo) -> Rc<HashMap<CommitId, WholeEntry>>) {
        self.repo.made().keep(String::new(), Rc::new(EntryMemory(memory)));
    }

    /// The command that takes out the ledgers which lead to `commit`; `None` where none does.
    pub fn way_out(&self, commit: CommitId) -> Option<String> {
        let (heads, nodes, _) = graph(self.repo).ok()?;
        taking_out(self.repo, &heads, &nodes, commit)
    }

    /// True when this command took entries from a memory, which only commands that show the state may trust: what it knows is
    /// remembered nowhere else.
    pub fn is_from_memory(&self) -> bool {
        self.repo.made().get::<FromMemory>("").is_some()
    }
}

/// The entries of every writer, read once by a command as long as no ref moves.
pub(super) fn all(repo: &Repo) -> Result<Rc<AllEntries>> {
    let refs = super::refs_of_all(repo)?;
    let heads = super::heads_of(&refs);
    if let Some(all) = repo.made().get::<AllEntries>(&heads) {
        return Ok(all);
    }
    let all = Rc::new(read(repo, repo.made().get::<EntryMemory>("").as_deref())?);
    repo.made().keep(heads, Rc::clone(&all));
    Ok(all)
}

fn read(repo: &Repo, memory: Option<&EntryMemory>) -> Result<AllEntries> {
    let (heads, nodes, mut warnings) = graph_beyond(repo, memory)?;
    for (name, target) in &heads {
        check_writer(&nodes, writer_of(name), CommitId(*target), &mut warnings);
    }
    warnings.sort_by_key(|(commit, _)| *commit);
    warnings.dedup();
    let shown = |(commit, why): (CommitId, String)| {
        Diagnostic::warning(format!("ledger entry {commit}: {why}"))
            .helps(taking_out(repo, &heads, &nodes, commit))
    };
    let warnings = warnings.into_iter().map(shown).collect();
    Ok(AllEntries { heads, entries: in_order(nodes), warnings })
}

/// The command that takes out the ledgers which lead to `commit`, where some do.
fn taking_out(repo: &Repo, heads: &[(String, Oid)], nodes: &Nodes, commit: CommitId) -> Option<String> {
    let leads = |(_, tip): &&(String, Oid)| reaches(nodes, CommitId(*tip), commit);
    // A file in the place of an entry is no entry, and stays all the same.
    let is_there = |tip: Oid| stored(repo, CommitId(tip)).is_ok() || repo.read_blob(tip, 0).is_ok();
    let is_whole = heads.iter().filter(leads).all(|(_, tip)| is_there(*tip));
    let rest = if is_whole { Rest::Whole } else { Rest::Damaged };
    let refs: Vec<String> = heads.iter().filter(leads).map(|(name, _)| name.clone()).collect();
    (!refs.is_empty()).then(|| super::take_out(&refs, rest))
}

/// The refs of all ledgers, everything below them, and what could not be read of it.
pub(super) fn graph(repo: &Repo) -> Result<Graph> {
    graph_beyond(repo, None)
}

/// Most new entries that are read by themselves.
const MAX_NEW: usize = 512;

/// Returns the commits that `from` reach and `known` do not, where those are few entries that are neither halts nor answers,
/// and can all be read.
pub(super) fn beyond(repo: &Repo, from: &[CommitId], known: &[CommitId]) -> Option<Nodes> {
    let new = repo.reached(from, known).ok().filter(|new| new.len() <= MAX_NEW)?;
    let mut nodes = Nodes::new();
    for commit in new {
        let node = read_node(repo, commit, &mut Vec::new());
        nodes.insert(commit, node);
    }
    let says_nothing = |node: &Node| node.entry.as_ref().is_some_and(|entry| entry.event.known().is_none());
    nodes.values().all(says_nothing).then_some(nodes)
}

fn graph_beyond(repo: &Repo, memory: Option<&EntryMemory>) -> Result<Graph> {
    let heads = super::refs_of_all(repo)?;
    let mut warnings = Vec::new();
    let mut nodes = Nodes::new();
    let memory = memory.map(|memory| (memory.0)(repo)).unwrap_or_default();
    let mut is_remembered = false;
    let mut todo: Vec<CommitId> = heads.iter().map(|(_, target)| CommitId(*target)).collect();
    while let Some(commit) = todo.pop() {
        if nodes.contains_key(&commit) {
            continue;
        }
        if nodes.len() == MAX_ENTRIES {
            warnings.push((commit, format!("more than {MAX_ENTRIES} entries: the rest is not read")));
            break;
        }
        let node = match memory.get(&commit).filter(|entry| !wire::is_event(&entry.kind)) {
            Some(entry) => {
                is_remembered = true;
                Node { parents: entry.parents.clone(), entry: Some(without_meaning(entry)) }
            }
            None => read_node(repo, commit, &mut warnings),
        };
        todo.extend(&node.parents);
        nodes.insert(commit, node);
    }
    if is_remembered {
        repo.made().keep(String::new(), Rc::new(FromMemory));
    }
    Ok((heads, nodes, warnings))
}

/// An entry that says nothing here.
fn without_meaning(entry: &WholeEntry) -> Entry {
    Entry {
        id: entry.id,
        commit: entry.commit,
        writer: entry.writer.clone(),
        lamport: entry.lamport,
        at: entry.at,
        event: EntryEvent::Unknown { kind: entry.kind.chars().take(wire::MAX_KIND).collect() },
    }
}

fn read_node(repo: &Repo, commit: CommitId, warnings: &mut Vec<SkippedEntry>) -> Node {
    let (raw, tree, parents) = match stored(repo, commit) {
        Ok(stored) => stored,
        Err(error) => {
            warnings.push((commit, error.to_string()));
            return Node { parents: Vec::new(), entry: None };
        }
    };
    let entry = match entry::read(repo, commit, tree, &raw) {
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
    Node { parents, entry }
}

/// A commit as it is stored, with its tree and its parents.
fn stored(repo: &Repo, commit: CommitId) -> Result<(Vec<u8>, TreeId, Vec<CommitId>), GitError> {
    let raw = repo.commit_object(commit)?;
    if let Ok(form) = form::parse(&raw) {
        return Ok((raw, form.tree, form.parents));
    }
    let info = repo.commit(commit)?;
    Ok((raw, info.tree, info.parents))
}

/// True if the entries of `tip` lead to `commit`, which may be one that cannot be read.
fn reaches(nodes: &Nodes, tip: CommitId, commit: CommitId) -> bool {
    let (mut seen, mut todo) = (BTreeSet::new(), vec![tip]);
    while let Some(id) = todo.pop().filter(|id| *id != commit) {
        if seen.insert(id) {
            todo.extend(nodes.get(&id).into_iter().flat_map(|node| &node.parents));
        }
        if todo.is_empty() {
            return false;
        }
    }
    true
}

/// Along first parents a writer's ref holds its own entries, and below its first one those of a writer that it saw
/// then. A foreign entry above an own one, or at the tip, was put there by another writer.
fn check_writer(nodes: &Nodes, writer: &str, tip: CommitId, warnings: &mut Vec<SkippedEntry>) {
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

// Ledgers that were rewound or rewritten. Each entry names the heads of other writers that were seen then, so an entry
// that was removed from one ledger is still held by the others.

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
    /// [`LedgerError::Git`](crate::ledger::LedgerError::Git) when the refs themselves cannot be read.
    pub fn tampered(&self) -> Result<Vec<Tampering>> {
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
