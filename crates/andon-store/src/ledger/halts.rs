//! What all ledgers mean here: the unanswered halts of this clone and of others, and the answers.
//!
//! Every hook needs this, and halts and answers are rare. So the result is remembered
//! (`<common dir>/andon/cache/halts`) under the tip of this clone's ledger and the `stat` data of the files that hold the
//! refs of others; a commit then reads one ref and no object. Where refs only grew, by entries that are neither halt nor
//! answer, the rest of the result still holds, and only those are read. The memory only saves time.

use std::collections::BTreeMap;
use std::rc::Rc;

use serde::{Deserialize, Serialize};

use super::entry::{self, BadEntry};
use super::meaning::{self, EntryPlace, ForeignHalt, Meaning};
use super::stamp;
use super::{Entry, EntryEvent, LedgerError, REF_PREFIX, read, ref_of};
use crate::memory::{Kind, Memory};
use andon_core::domain::decision::{LedgerEvent, StandingHalt};
use andon_core::domain::facts::{Ack, CommitRecord};
use andon_core::domain::ids::{CommitId, EntryId, Oid};
use andon_git::Repo;

/// Most unanswered halts that are shown at once.
const MAX_SHOWN: usize = 64;

/// What was found at the last look, so that the next hook reads only what is new.
#[derive(Serialize, Deserialize, Clone)]
pub(super) struct Halts {
    /// What the refs of all ledgers look like.
    at: Place,
    /// The same when everything was read: since then they only grew, by entries that mean nothing here.
    read_at: Place,
    /// The commits that they point to.
    tips: Vec<Tip>,
    /// The result of the halts and answers.
    meaning: Meaning,
    /// A commit of HEAD that no halt of others binds.
    clear: Option<CommitId>,
}

/// When the memory holds.
#[derive(Serialize, Deserialize, Clone, PartialEq)]
struct Place {
    /// What the files of others' ledgers look like.
    stamp: String,
    /// This clone's id and the tip of its own ledger.
    own: Option<(String, CommitId)>,
}

/// A ref of a ledger.
#[derive(Serialize, Deserialize, Clone)]
struct Tip {
    name: String,
    commit: CommitId,
    /// The entry there and its Lamport number; `None` where it cannot be read.
    entry: Option<(u64, EntryId)>,
}

/// Whether this clone has ever looked at a ledger of its own: then it has, or had, an id.
pub(super) fn had_own(repo: &Repo) -> bool {
    let before: Option<Halts> = Memory::new(repo, Kind::Halts).get(&());
    before.is_some_and(|known| known.at.own.is_some())
}

/// What is known of all ledgers; `own` is this clone's id, if it has one.
pub(super) fn load(repo: &Repo, own: Option<&str>) -> Result<Halts, LedgerError> {
    let stamp = stamp::read(repo, own);
    let tip = own.map(|own| repo.ref_target(&ref_of(own))).transpose()?.flatten().map(CommitId);
    let at = Place { stamp, own: own.map(str::to_owned).zip(tip) };
    let before: Option<Halts> = Memory::new(repo, Kind::Halts).get(&());
    if let Some(known) = before.as_ref().filter(|known| known.at == at) {
        return Ok(known.clone());
    }
    let source = at.state();
    if let Some(known) = repo.made().get::<Halts>(&source) {
        return Ok((*known).clone());
    }
    let known = match before.and_then(|before| before.grown(repo, &at)) {
        Some(known) => known,
        None => Halts::read(repo, at)?,
    };
    known.keep(repo);
    repo.made().keep(source, Rc::new(known.clone()));
    Ok(known)
}

/// The entries of `writer` along the first parents of `tip`, oldest first: what a ref of another says in its name does not count.
fn own_entries(
    repo: &Repo,
    writer: &str,
    (tip, entries): (CommitId, &BTreeMap<CommitId, &Entry>),
) -> Result<Vec<Entry>, LedgerError> {
    let (mut own, mut next) = (Vec::new(), Some(tip));
    while let Some(commit) = next {
        // What could not be read is an error here: whether a halt is unanswered is then unknown.
        let entry = match entries.get(&commit) {
            Some(entry) => Some((*entry).clone()),
            None => entry_at(repo, commit)?,
        };
        // Below a writer's first entry are those of others.
        own.extend(entry.filter(|entry| entry.writer == writer));
        next = repo.commit(commit)?.parents.first().copied();
    }
    own.reverse();
    Ok(own)
}

/// The entry of `commit`; `None` when it is corrupt: `read_all` warns of it.
pub(super) fn entry_at(repo: &Repo, commit: CommitId) -> Result<Option<Entry>, LedgerError> {
    let tree = repo.tree_of(commit)?;
    match entry::load(repo, commit, tree) {
        Ok(entry) => Ok(Some(entry)),
        Err(BadEntry::Corrupt(_)) => Ok(None),
        Err(BadEntry::Git(error)) => Err(error.into()),
    }
}

/// The halt of an entry; `None` where the entry is another one.
fn halt_at(repo: &Repo, (id, commit): EntryPlace) -> Result<Option<StandingHalt>, LedgerError> {
    let entry = entry_at(repo, commit)?.filter(|entry| entry.id == id);
    Ok(entry.and_then(|entry| match entry.event {
        EntryEvent::Known(LedgerEvent::Halted(halt)) => Some(StandingHalt { id, halt: *halt }),
        EntryEvent::Known(LedgerEvent::Acknowledged(_) | LedgerEvent::StopSwitch(_))
        | EntryEvent::Unknown { .. } => None,
    }))
}

/// Whether the first parents of `tip` lead to `before` by way of `new` entries alone.
fn follows(new: &BTreeMap<CommitId, read::Node>, tip: CommitId, before: CommitId) -> bool {
    let mut at = tip;
    while at != before {
        let Some(next) = new.get(&at).and_then(|node| node.parents.first()) else { return false };
        at = *next;
    }
    true
}

impl Halts {
    /// Reads all ledgers. Tips and meaning are of the refs as they were when the entries were read, which may be later than `at`.
    fn read(repo: &Repo, at: Place) -> Result<Self, LedgerError> {
        let all = read::all(repo)?;
        let entries: BTreeMap<CommitId, &Entry> =
            all.entries.iter().map(|entry| (entry.commit, entry)).collect();
        let tip = |(name, target): &(String, Oid)| {
            let commit = CommitId(*target);
            let entry = entries.get(&commit).map(|entry| (entry.lamport, entry.id));
            Tip { name: name.clone(), commit, entry }
        };
        let tips: Vec<Tip> = all.heads.iter().map(tip).collect();
        let own_tip = |writer: &str| tips.iter().find(|tip| tip.name == ref_of(writer));
        let own = at.own.and_then(|(writer, _)| own_tip(&writer).map(|tip| (writer.clone(), tip.commit)));
        let of_own = match &own {
            Some((writer, tip)) => own_entries(repo, writer, (*tip, &entries))?,
            None => Vec::new(),
        };
        let at = Place { own, ..at };
        let meaning = meaning::fold(&all.entries, &of_own, at.own_writer().unwrap_or_default());
        Ok(Self { read_at: at.clone(), at, tips, meaning, clear: None })
    }

    /// The same `at` another time, where refs only grew meanwhile, by entries that mean nothing here: `None` where that is not so.
    fn grown(&self, repo: &Repo, at: &Place) -> Option<Self> {
        if self.at.own_writer() != at.own_writer() {
            return None;
        }
        let refs = super::refs_of_all(repo).ok()?;
        let mut before: BTreeMap<&str, CommitId> =
            self.tips.iter().map(|tip| (tip.name.as_str(), tip.commit)).collect();
        let known: BTreeMap<CommitId, _> = self.tips.iter().map(|tip| (tip.commit, tip.entry)).collect();
        let moved = refs.iter().map(|(_, target)| CommitId(*target)).filter(|tip| !known.contains_key(tip));
        let hidden: Vec<CommitId> = known.keys().copied().collect();
        let new = read::beyond(repo, &moved.collect::<Vec<_>>(), &hidden)?;
        let mut tips = Vec::with_capacity(refs.len());
        for (name, target) in refs {
            let commit = CommitId(target);
            if before.remove(name.as_str()).is_some_and(|tip| !follows(&new, commit, tip)) {
                return None;
            }
            let entry = match new.get(&commit) {
                Some(node) => node.entry.as_ref().map(|entry| (entry.lamport, entry.id)),
                None => *known.get(&commit)?,
            };
            tips.push(Tip { name, commit, entry });
        }
        // What is left is a ref that is gone.
        before.is_empty().then(|| Self { at: at.clone(), tips, ..self.clone() })
    }

    /// Failing to remember costs time only.
    fn keep(&self, repo: &Repo) {
        if !read::is_from_memory(repo) {
            Memory::new(repo, Kind::Halts).put(&(), self);
        }
    }

    /// The newest entries of the ledgers under names of this clone, by writer: this clone's, and of others those that were
    /// written last.
    pub(super) fn heads(&self) -> BTreeMap<String, EntryId> {
        let own = self.at.own_writer();
        let head = |tip: &Tip| {
            let writer = tip.name.strip_prefix(REF_PREFIX).filter(|writer| super::is_writer(writer))?;
            let (lamport, id) = tip.entry?;
            Some((own == Some(writer), lamport, writer.to_owned(), id))
        };
        let mut heads: Vec<_> = self.tips.iter().filter_map(head).collect();
        heads.sort_unstable();
        let newest = heads.into_iter().rev().take(CommitRecord::MAX_LEDGERS);
        newest.map(|(_, _, writer, entry)| (writer, entry)).collect()
    }

    /// Changes whenever a ledger does.
    pub(super) fn state(&self) -> String {
        self.at.state()
    }

    /// Changes whenever an entry is lost, and whenever a halt or an answer comes.
    pub(super) fn losses(&self) -> String {
        self.read_at.state()
    }

    /// Changes whenever a halt or an answer comes or goes.
    pub(super) fn events(&self) -> String {
        self.meaning.of.to_string()
    }

    /// The newest halt of each worktree of each clone that an acknowledgement ended.
    pub(super) fn ended(&self, repo: &Repo) -> Result<Vec<StandingHalt>, LedgerError> {
        self.meaning.ended.iter().filter_map(|found| halt_at(repo, *found).transpose()).collect()
    }

    /// The unanswered halt of `worktree` of this clone.
    pub(super) fn of_worktree(
        &mut self,
        repo: &Repo,
        worktree: &str,
    ) -> Result<Option<StandingHalt>, LedgerError> {
        let Some(found) = self.meaning.own.get(worktree) else { return Ok(None) };
        let halt = halt_at(repo, *found)?;
        if halt.is_some() {
            return Ok(halt);
        }
        // The memory named an entry that is no halt: it is wrong about everything.
        *self = Self::read(repo, self.at.clone())?;
        self.keep(repo);
        self.meaning.own.get(worktree).map_or(Ok(None), |found| halt_at(repo, *found))
    }

    /// Those of the other worktrees of this clone, at most [`MAX_SHOWN`].
    pub(super) fn beside(&self, repo: &Repo, worktree: &str) -> Result<Vec<StandingHalt>, LedgerError> {
        let others = self.meaning.own.iter().filter(|(name, _)| *name != worktree).take(MAX_SHOWN);
        others.filter_map(|(_, found)| halt_at(repo, *found).transpose()).collect()
    }

    /// Whether the halt is one of another clone.
    pub(super) fn holds(&self, halt: EntryId) -> bool {
        self.meaning.halts.iter().any(|known| known.id == halt)
    }

    /// The unanswered halts of others, oldest first; at most [`MAX_SHOWN`], the newest.
    pub(super) fn unanswered(&self, repo: &Repo) -> Result<Vec<StandingHalt>, LedgerError> {
        let mut known: Vec<&ForeignHalt> = self.meaning.halts.iter().collect();
        known.sort_by_key(|known| (known.at, known.id));
        let skipped = known.len().saturating_sub(MAX_SHOWN);
        let newest = known[skipped..].iter().map(|known| (known.id, known.commit));
        newest.filter_map(|found| halt_at(repo, found).transpose()).collect()
    }

    /// The newest halt of others that binds at `head`.
    pub(super) fn binding(
        &mut self,
        repo: &Repo,
        head: Option<CommitId>,
    ) -> Result<Option<StandingHalt>, LedgerError> {
        let found = head.and_then(|head| self.newest_binding(repo, head));
        found.map_or(Ok(None), |found| halt_at(repo, found))
    }

    /// The entry of the newest halt that binds at `head`, and its commit. A commit that follows one which none binds can
    /// only be bound by a halt at itself, so that a line of commits is not walked again and again.
    fn newest_binding(&mut self, repo: &Repo, head: CommitId) -> Option<EntryPlace> {
        if self.meaning.halts.is_empty() || self.clear == Some(head) {
            return None;
        }
        let parents = repo.commit(head).map(|commit| commit.parents).unwrap_or_default();
        let follows = matches!(parents.as_slice(), [parent] if self.clear == Some(*parent));
        let binds = |known: &&ForeignHalt| {
            known.head.is_some_and(|id| {
                id == head
                    || (!follows && repo.commit(id).is_ok() && repo.is_ancestor(id, head).unwrap_or(false))
            })
        };
        let binding = self.meaning.halts.iter().filter(binds).max_by_key(|known| (known.at, known.id));
        if let Some(known) = binding {
            return Some((known.id, known.commit));
        }
        self.clear = Some(head);
        self.keep(repo);
        None
    }

    /// The acknowledgements that were given at one of `heads`.
    pub(super) fn acks_at(&self, repo: &Repo, heads: &[CommitId]) -> Result<Vec<Ack>, LedgerError> {
        if self.meaning.acks.is_empty() {
            return Ok(Vec::new());
        }
        let mut found = Vec::new();
        for (_, commit) in self.meaning.acks.iter().filter(|(head, _)| heads.contains(head)) {
            if let Some(EntryEvent::Known(LedgerEvent::Acknowledged(ack))) =
                entry_at(repo, *commit)?.map(|entry| entry.event)
            {
                found.push(*ack);
            }
        }
        Ok(found)
    }
}

impl Place {
    fn own_writer(&self) -> Option<&str> {
        self.own.as_ref().map(|(writer, _)| writer.as_str())
    }

    fn state(&self) -> String {
        let own =
            self.own.as_ref().map_or_else(|| "- -".to_owned(), |(writer, tip)| format!("{writer} {tip}"));
        format!("{own}\n{}", self.stamp)
    }
}

#[cfg(test)]
mod tests;
