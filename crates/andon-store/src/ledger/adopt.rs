//! Takes over the ledgers of other clones. A ledger only grows: a copy that is behind ours, or has diverged, is left as
//! it is and reported.

use super::{LedgerError, entry, ref_of};
use andon_core::domain::ids::CommitId;
use andon_git::{GitError, Repo, Update};

/// How another clone's copy of a ledger relates to ours.
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

pub(super) fn adopt(repo: &Repo, writer: &str, theirs: CommitId) -> Result<Arrival, LedgerError> {
    let name = ref_of(writer);
    let arrival = repo.update_ref(&name, "sync", |tip| {
        let Some(ours) = tip else {
            return Ok(Update::Set(theirs, Arrival::Forward(entries(repo, writer, (None, theirs))?)));
        };
        if ours == theirs {
            Ok(Update::Keep(Arrival::Same))
        } else if repo.is_ancestor(ours, theirs)? {
            Ok(Update::Set(theirs, Arrival::Forward(entries(repo, writer, (Some(ours), theirs))?)))
        } else if repo.is_ancestor(theirs, ours)? {
            Ok(Update::Keep(Arrival::Behind))
        } else {
            Ok(Update::Keep(Arrival::Forked))
        }
    })?;
    Ok(arrival)
}

/// How many entries of `writer` lie between, along first parents. Below a writer's first entry are those of others.
pub(super) fn entries(
    repo: &Repo,
    writer: &str,
    (since, tip): (Option<CommitId>, CommitId),
) -> Result<usize, GitError> {
    let mut count = 0;
    let mut next = Some(tip);
    while let Some(commit) = next.filter(|commit| Some(*commit) != since) {
        let info = repo.commit(commit)?;
        if since.is_none() && entry::load(repo, commit, info.tree).is_ok_and(|entry| entry.writer != writer) {
            break;
        }
        count += 1;
        next = info.parents.first().copied();
    }
    Ok(count)
}
