//! Writing entries: this clone's own, and those that come from other clones.

use super::entry::{self, FILE};
use super::{Ledger, REF_PREFIX, REMOTE_PREFIX, Result, ref_of, writer_of};
use crate::wire::v1::ledger as wire;
use andon_core::domain::{CommitId, EntryId, LedgerEvent, Timestamp};
use andon_git::{GitError, MODE_FILE, NewCommit, Repo, TreeEntry, Update};

/// Most heads of other writers that one entry names as parents.
const MAX_OTHERS: usize = 16;

/// The relation of another clone's copy of a ledger to ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrival {
    /// Both have the same.
    Same,
    /// It was ahead, or new: ours now has as many entries more.
    Forward(usize),
    /// It is behind ours.
    Behind,
    /// Both have entries that the other lacks: one of them was rewritten, or two clones share an id.
    Forked,
}

impl Ledger<'_> {
    /// Appends an event to this clone's ledger, dated `at`.
    ///
    /// # Errors
    /// [`LedgerError`](crate::ledger::LedgerError); then nothing is appended.
    pub fn append(&self, event: &LedgerEvent, at: Timestamp) -> Result<EntryId> {
        let (repo, writer) = (self.repo, &*self.writer_id()?);
        let name = ref_of(writer);
        let kind = wire::kind(event);
        let commit = repo.update_ref(&name, kind, |tip| {
            let tip = longest(repo, writer, tip);
            let parents: Vec<CommitId> = tip.into_iter().chain(unseen(repo, &name, tip)).collect();
            let lamport =
                parents.iter().map(|parent| lamport(repo, *parent)).max().unwrap_or(0).saturating_add(1);
            let place = wire::PlaceWire { writer, lamport, at };
            let json = wire::encode(event, &place).map_err(|error| GitError::Write {
                what: "a ledger entry".to_owned(),
                message: error.to_string(),
            })?;
            let blob =
                TreeEntry { name: FILE.as_bytes().to_vec(), mode: MODE_FILE, id: repo.write_blob(&json)? };
            let tree = repo.write_tree_entries(&[blob])?;
            let message = format!("{kind}\n");
            let commit = repo.write_commit(&NewCommit { tree, parents: &parents, message: &message, at })?;
            Ok(Update::Set(commit, commit))
        })?;
        // The memory knows of it at once: what is taken away is put back from there.
        let _memory = self.halts();
        Ok(entry::id_of(repo, commit)?)
    }

    /// Takes over what another clone has of the ledger of `writer`, whose tip is `theirs` there. A ledger only grows: a copy
    /// that is behind ours, or has diverged, is left as it is.
    ///
    /// # Errors
    /// [`LedgerError::Git`](crate::ledger::LedgerError::Git) when the ref cannot be written or its history not be read.
    pub fn adopt(&self, writer: &str, theirs: CommitId) -> Result<Arrival> {
        let repo = self.repo;
        let name = ref_of(writer);
        let arrival = repo.update_ref(&name, "sync", |tip| {
            let Some(ours) = tip else {
                return Ok(Update::Set(theirs, Arrival::Forward(self.entries_since(writer, None, theirs)?)));
            };
            if ours == theirs {
                Ok(Update::Keep(Arrival::Same))
            } else if repo.is_ancestor(ours, theirs)? {
                Ok(Update::Set(theirs, Arrival::Forward(self.entries_since(writer, Some(ours), theirs)?)))
            } else if repo.is_ancestor(theirs, ours)? {
                Ok(Update::Keep(Arrival::Behind))
            } else {
                Ok(Update::Keep(Arrival::Forked))
            }
        })?;
        Ok(arrival)
    }

    /// Returns the number of entries that the ledger of `writer` with the tip `tip` has above `since`, along first parents.
    /// Below a writer's first entry are those of others.
    ///
    /// # Errors
    ///
    /// [`GitError`] when its history cannot be read.
    pub fn entries_since(
        &self,
        writer: &str,
        since: Option<CommitId>,
        tip: CommitId,
    ) -> Result<usize, GitError> {
        let repo = self.repo;
        let mut count = 0;
        let mut next = Some(tip);
        while let Some(commit) = next.filter(|commit| Some(*commit) != since) {
            let info = repo.commit(commit)?;
            if since.is_none()
                && entry::load(repo, commit, info.tree).is_ok_and(|entry| entry.writer != writer)
            {
                break;
            }
            count += 1;
            next = info.parents.first().copied();
        }
        Ok(count)
    }
}

/// The end of this writer's ledger: where its ref was removed or rewound, what a remote was seen to have of it, so that
/// it continues and does not begin a second time.
pub(super) fn longest(repo: &Repo, writer: &str, tip: Option<CommitId>) -> Option<CommitId> {
    let fetched = repo.refs_with_prefix(REMOTE_PREFIX).unwrap_or_default();
    let copies =
        fetched.into_iter().filter(|(name, _)| name.contains("/ledger/") && writer_of(name) == writer);
    copies.map(|(_, target)| CommitId(target)).fold(tip, |known, copy| {
        let ahead = match known {
            _ if repo.commit(copy).is_err() => false,
            None => true,
            Some(known) => known != copy && repo.is_ancestor(known, copy).unwrap_or(false),
        };
        if ahead { Some(copy) } else { known }
    })
}

/// Heads of other writers that are not in our history yet. Whatever is wrong with another's ref never keeps us from
/// recording a halt: it is left out here, and `read_all` says what it is.
pub(super) fn unseen(repo: &Repo, own: &str, tip: Option<CommitId>) -> Vec<CommitId> {
    let mut heads = Vec::new();
    for (name, target) in repo.refs_with_prefix(REF_PREFIX).unwrap_or_default() {
        let head = CommitId(target);
        if name == own || heads.len() == MAX_OTHERS || heads.contains(&head) || repo.commit(head).is_err() {
            continue;
        }
        if !tip.is_some_and(|tip| repo.is_ancestor(head, tip).unwrap_or(false)) {
            heads.push(head);
        }
    }
    heads
}

/// The Lamport number of a parent; one that cannot be read counts for nothing, the order is topological first.
pub(super) fn lamport(repo: &Repo, commit: CommitId) -> u64 {
    repo.tree_of(commit)
        .ok()
        .and_then(|tree| entry::load(repo, commit, tree).ok())
        .map_or(0, |entry| entry.lamport)
}
