//! Records that a fetch overwrote or pruned, found again. The tips that our writes left tell of them, and where those are forgotten,
//! what else has seen our notes: the memories of readers, the guard of a client's calls, and the copies of what was sent.

use super::Result;
use crate::{GuardSnapshot, Ledger, results, union, window, wire::NOTES_REF};
use andon_core::domain::{CommitId, Timestamp};
use andon_git::Repo;

/// Restores the records for a reader, where the ref is gone or does not go on from what was written here, and returns how many.
/// Other traces count where the tips that we wrote are forgotten too.
///
/// # Errors
/// [`RecordError::Git`](crate::RecordError::Git); then nothing has changed.
pub fn put_back(repo: &Repo, at: Timestamp) -> Result<usize> {
    trace(repo);
    if repo.notes_went_back(NOTES_REF)? { union::restore(repo, at) } else { Ok(0) }
}

/// Restores the records that another program took out of the notes too, by a commit of notes that goes on from ours, and returns
/// how many.
///
/// # Errors
/// [`RecordError::Git`](crate::RecordError::Git); then nothing has changed.
pub fn put_back_removed(repo: &Repo, at: Timestamp) -> Result<usize> {
    trace(repo);
    union::restore(repo, at)
}

fn trace(repo: &Repo) {
    if repo.written_tips(NOTES_REF).is_empty() {
        for tip in traces(repo) {
            repo.remember_written(NOTES_REF, None, tip);
        }
    }
}

/// The commits of our notes that memories, the guard and copies of what we sent name.
fn traces(repo: &Repo) -> Vec<CommitId> {
    let guarded = GuardSnapshot::read(repo.git_dir()).map(|kept| kept.refs).unwrap_or_default();
    let guarded = guarded.into_iter().filter(|(name, _)| name == NOTES_REF);
    let own = Ledger::open(repo).own_writer().ok().flatten().map(|writer| format!("/{writer}"));
    let sent = own.and_then(|own| {
        let sent = repo.refs_with_prefix(union::REMOTE_PREFIX).ok()?.into_iter();
        Some(sent.filter(move |(name, _)| name.ends_with(&own)).map(|(_, tip)| CommitId(tip)))
    });
    let guarded = guarded.filter_map(|(_, tip)| tip.parse().ok());
    let remembered = results::last_tip(repo).into_iter().chain(window::last_tip(repo));
    sent.into_iter().flatten().chain(guarded).chain(remembered).collect()
}
