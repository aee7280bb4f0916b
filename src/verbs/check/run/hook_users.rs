//! People who have the hooks, as far as records show: a commit of theirs without a record bypassed them, and the tests
//! of the tip do not replace its record.

use std::collections::{BTreeSet, HashSet};

use super::Case;
use andon_core::domain::facts::Recording;
use andon_core::domain::ids::CommitId;
use andon_engine::error::OpsError;
use andon_git::CommitInfo;

/// Moves of HEAD that are looked at.
const REFLOG: usize = 256;
/// The number of first parents below a commit that are searched for a record.
const BELOW: usize = 16;

/// People whose commits have records that a hook wrote.
#[derive(Default)]
pub(super) struct HookUsers {
    /// Their addresses, in small letters, of the commits of the range so far.
    known: HashSet<String>,
    /// The commits that were made in this clone; read when it is first asked for.
    made_here: Option<BTreeSet<CommitId>>,
}

impl HookUsers {
    /// Takes in that a commit has a record.
    pub(super) fn take(&mut self, commit: &CommitInfo, recording: Recording) {
        if recording.is_by_hook() {
            self.known.extend(maker(commit));
        }
    }

    /// Whether an unrecorded commit was made by a person who has the hooks. Websites commit in their own name, and bots
    /// and colleagues in theirs, so that author and committer must both have earlier commits with records.
    pub(super) fn made(&mut self, case: &Case<'_>, commit: &CommitInfo) -> Result<bool, OpsError> {
        let Some(maker) = maker(commit) else { return Ok(false) };
        if self.known.contains(&maker) {
            return Ok(true);
        }
        // A clone that has the hooks saw it being made, and they said nothing.
        let here = match self.made_here.take() {
            Some(here) => here,
            None => made_here(case)?,
        };
        let is_here = here.contains(&commit.id);
        self.made_here = Some(here);
        Ok(is_here && recorded_below(case, commit, &maker))
    }
}

/// The address of who made a commit, where author and committer are one.
fn maker(commit: &CommitInfo) -> Option<String> {
    let own = !commit.email.is_empty() && commit.email.eq_ignore_ascii_case(&commit.committer_email);
    own.then(|| commit.email.to_ascii_lowercase())
}

fn made_here(case: &Case<'_>) -> Result<BTreeSet<CommitId>, OpsError> {
    let moves = case.repo.reflog_head(REFLOG)?;
    Ok(moves.iter().filter(|one| one.made().is_some()).map(|one| CommitId(one.new)).collect())
}

/// Whether a commit below has a record that a hook wrote, and is by the same person.
fn recorded_below(case: &Case<'_>, commit: &CommitInfo, maker_of_it: &str) -> bool {
    let mut at = commit.parents.first().copied();
    for _ in 0..BELOW {
        let Some(id) = at else { return false };
        let Ok(below) = case.repo.commit(id) else { return false };
        let recording = case.store.get(id).ok().flatten().map(|stored| stored.record.recording);
        let by_hook = recording.is_some_and(Recording::is_by_hook);
        if by_hook && maker(&below).as_deref() == Some(maker_of_it) {
            return true;
        }
        at = below.parents.first().copied();
    }
    false
}
