//! What other clones' ledgers mean here: halts that bind work on the same commit, and answers to halts.
//!
//! Every hook needs this, and the ledgers of others move only by a sync or a fetch. So the answer is remembered
//! (`<common dir>/andon/cache/elsewhere`) under the `stat` data of the files that hold those refs; a commit then reads
//! no ref and no object. Where refs only grew, by entries that are neither halt nor answer, the rest of the answer
//! still holds, and only those are read. The memory only saves time.

use std::collections::BTreeMap;
use std::rc::Rc;

use serde::{Deserialize, Serialize};

use super::meaning::{self, ForeignHalt, Meaning};
use super::{Entry, EntryEvent, LedgerError, REF_PREFIX, read, ref_of};
use super::{stamp, standing};
use crate::memory::{Kind, Memory};
use andon_core::domain::decision::{LedgerEvent, StandingHalt};
use andon_core::domain::facts::{Ack, CommitRecord};
use andon_core::domain::ids::{CommitId, EntryId};
use andon_git::Repo;

/// Most unanswered halts that are shown at once.
const MAX_SHOWN: usize = 64;

/// What was found at the last look, so that the next hook reads only what is new.
#[derive(Serialize, Deserialize, Clone)]
pub(super) struct Elsewhere {
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

/// What is known of the ledgers of others; `own` is this clone's id, if it has one.
pub(super) fn load(repo: &Repo, own: Option<&str>) -> Result<Elsewhere, LedgerError> {
    let stamp = stamp::read(repo, own);
    let tip = own.map(|own| repo.ref_target(&ref_of(own))).transpose()?.flatten().map(CommitId);
    let at = Place { stamp, own: own.map(str::to_owned).zip(tip) };
    let before: Option<Elsewhere> = Memory::new(repo, Kind::Elsewhere).get(&());
    if let Some(known) = before.as_ref().filter(|known| known.at == at) {
        return Ok(known.clone());
    }
    let source = at.state();
    if let Some(known) = repo.made().get::<Elsewhere>(&source) {
        return Ok((*known).clone());
    }
    let known = match before.and_then(|before| before.grown(repo, &at)) {
        Some(known) => known,
        None => Elsewhere::read(repo, at)?,
    };
    known.keep(repo);
    repo.made().keep(source, Rc::new(known.clone()));
    Ok(known)
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

impl Elsewhere {
    fn read(repo: &Repo, at: Place) -> Result<Self, LedgerError> {
        let all = read::all(repo)?;
        let entries: BTreeMap<CommitId, &Entry> =
            all.entries.iter().map(|entry| (entry.commit, entry)).collect();
        let tip = |(name, target)| {
            let commit = CommitId(target);
            let entry = entries.get(&commit).map(|entry| (entry.lamport, entry.id));
            Tip { name, commit, entry }
        };
        let tips = super::refs_of_all(repo)?.into_iter().map(tip).collect();
        let own = at.own_writer().unwrap_or_default();
        let meaning = meaning::fold(&all.entries, own);
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
            Memory::new(repo, Kind::Elsewhere).put(&(), self);
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
        let halts =
            self.meaning.ended.iter().filter_map(|found| standing::halt_of(repo, Some(found)).transpose());
        halts.collect()
    }

    /// Whether another clone answered this halt.
    pub(super) fn answers(&self, halt: EntryId) -> bool {
        self.meaning.answered.contains(&halt)
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
        let halts = known[skipped..]
            .iter()
            .filter_map(|known| standing::halt_of(repo, Some(&(known.id, known.commit))).transpose());
        halts.collect()
    }

    /// The entry of the newest halt that binds at `head`, and its commit. A commit that follows one which none binds can
    /// only be bound by a halt at itself, so that a line of commits is not walked again and again.
    pub(super) fn binding(&mut self, repo: &Repo, head: CommitId) -> Option<(EntryId, CommitId)> {
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
                standing::load(repo, *commit)?.map(|entry| entry.event)
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
