//! The records of writers in a sync: the new ones are taken in, each state of a writer's ref once. The memory of that
//! (`<common dir>/andon/cache/sync`) only saves work: without it all of a ref is compared.

use std::collections::BTreeMap;

use super::Peer;
use crate::Result;
use andon_core::domain::{CommitId, Timestamp};
use andon_git::{NotesUnion, Repo, platform::files};
use andon_store::union::{self, REMOTE_NOTES};
use andon_store::{WriterNews, lost_records};

/// Tips by writer, or by name of a ref.
pub(super) type Tips = BTreeMap<String, CommitId>;

/// Takes in the news at these tips of a peer's writers.
pub(super) fn adopt(
    repo: &Repo,
    peer: &Peer,
    tips: &Tips,
    at: Timestamp,
) -> Result<(NotesUnion, WriterNews)> {
    let mut taken = union::taken(repo);
    let named = |writer: &str| format!("{}{writer}", peer.records);
    let mut incoming = WriterNews::default();
    for (writer, tip) in tips {
        let known = taken.get(&named(writer)).copied();
        if known != Some(*tip) {
            incoming.add(repo, writer, known, *tip);
        }
    }
    let union = union::take_in(repo, &incoming, at)?;
    if peer.is_configured && !incoming.tips.is_empty() {
        let is_read = |writer: &str| incoming.unread.iter().all(|(name, _)| name != writer);
        taken.retain(|name, _| !name.starts_with(&peer.records));
        let read = tips.iter().filter(|(writer, _)| is_read(writer));
        taken.extend(read.map(|(writer, tip)| (named(writer), *tip)));
        union::remember_taken(repo, &taken);
    }
    Ok((union, incoming))
}

/// Puts back what a fetch took away of our own records and ledgers, and takes in what a plain `git fetch` brought of writers
/// and of the notes of remotes, as `andon install` has it set up or as CI does it.
///
/// # Errors
/// When it cannot be read or written.
pub fn take_in_fetched(repo: &Repo, at: Timestamp) -> Result<()> {
    // In a repository that may not be written, it is read from where it lies.
    if files::check_writable(&repo.common_dir().join("refs")).is_err() {
        return Ok(());
    }
    lost_records::put_back(repo, at)?;
    let mut taken = union::taken(repo);
    let found = union::fetched(repo, &taken)?;
    if found.is_empty() {
        return Ok(());
    }
    let mut incoming = WriterNews::default();
    for (name, tip) in found {
        let known = taken.get(&name).copied();
        if name.starts_with(REMOTE_NOTES) {
            union::unite(repo, tip, at)?;
        } else {
            incoming.add(repo, &name, known, tip);
        }
        taken.insert(name, tip);
    }
    union::take_in(repo, &incoming, at)?;
    taken.retain(|name, _| incoming.unread.iter().all(|(unread, _)| unread != name));
    union::remember_taken(repo, &taken);
    Ok(())
}
