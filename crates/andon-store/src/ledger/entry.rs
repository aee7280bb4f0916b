//! One entry, read from its commit.

use sha2::Digest as _;

use super::{Entry, EntryEvent};
use crate::wire::v1::ledger::{self as wire, MAX_ENTRY};
use andon_core::domain::{CommitId, EntryId, TreeId};
use andon_git::{GitError, Repo, unsigned};

/// The blob that every entry's tree holds.
pub(super) const FILE: &str = "entry.json";

/// The reason that an entry could not be read.
pub(super) enum BadEntry {
    /// git could not give it: nothing is known about it.
    Git(GitError),
    /// It is there and is no entry.
    Corrupt(String),
}

/// sha256 of the commit without its signature.
pub(super) fn id_of(repo: &Repo, commit: CommitId) -> Result<EntryId, GitError> {
    Ok(id_in(&repo.commit_object(commit)?))
}

/// The same of a commit as it is stored.
fn id_in(raw: &[u8]) -> EntryId {
    EntryId(sha2::Sha256::digest(unsigned(raw)).into())
}

/// The entry of `commit`, whose tree is `tree`.
pub(super) fn load(repo: &Repo, commit: CommitId, tree: TreeId) -> Result<Entry, BadEntry> {
    read(repo, commit, tree, &repo.commit_object(commit).map_err(BadEntry::Git)?)
}

/// The entry of `commit`, which is stored as `raw`.
pub(super) fn read(repo: &Repo, commit: CommitId, tree: TreeId, raw: &[u8]) -> Result<Entry, BadEntry> {
    let blob = repo
        .blob_at(tree, FILE.as_bytes())
        .map_err(BadEntry::Git)?
        .ok_or_else(|| BadEntry::Corrupt(format!("its tree holds no {FILE}")))?;
    let bytes = repo.read_blob(blob, MAX_ENTRY).map_err(BadEntry::Git)?;
    let bytes = bytes.ok_or_else(|| BadEntry::Corrupt(format!("{FILE} has more than {MAX_ENTRY} bytes")))?;
    let decoded = wire::decode(&bytes).map_err(|why| BadEntry::Corrupt(format!("{FILE}: {why}")))?;
    Ok(Entry {
        id: id_in(raw),
        commit,
        writer: decoded.writer,
        lamport: decoded.lamport,
        at: decoded.at,
        event: decoded.event.map_or_else(|kind| EntryEvent::Unknown { kind }, EntryEvent::Known),
    })
}
