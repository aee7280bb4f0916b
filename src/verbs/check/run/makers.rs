//! Whose commits are judged: with `guard.applies_to = "agents"`, those of agents alone.

use std::collections::BTreeSet;

use super::Case;
use andon_config::AppliesTo;
use andon_core::domain::facts::CommitRecord;
use andon_core::domain::ids::CommitId;
use andon_engine::error::OpsError;
use andon_engine::recording::bound::{by_record, by_trace};
use andon_git::{Blob, CommitInfo, NoteChange, Repo};
use andon_store::journal::{Journal, Reach};
use andon_store::wire::v1::decode_commit;

/// Commits of notes that are looked at for records of agents, at the most.
const STEPS: usize = 8_192;
/// Largest note that is read, in bytes.
const MAX_NOTE: usize = 1 << 20;
/// Commits recorded here that are looked for among those of a range.
const MARKERS: usize = 1_024;

/// Whether the configuration asks for anything of the author of a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bound {
    /// It does.
    Judged,
    /// A person made it, and only agents are guarded.
    Free,
}

/// Commits of which a record once said that an agent made them. A record that was removed, or edited, since then is still
/// in the history of the notes: to take it away makes no commit a person's.
#[derive(Default)]
pub(super) struct OnceAgents(BTreeSet<CommitId>);

impl OnceAgents {
    /// Those of `commits`; none where everybody is judged.
    pub(super) fn among(case: &Case<'_>, commits: &[CommitId]) -> Result<Self, OpsError> {
        let mut found = BTreeSet::new();
        let tip = case.store.tip().filter(|_| case.config.guard.applies_to == AppliesTo::Agents);
        let Some(tip) = tip else { return Ok(Self(found)) };
        let commits: BTreeSet<CommitId> = commits.iter().copied().collect();
        for step in case.repo.notes_history(tip).take(STEPS) {
            for NoteChange { commit, old, .. } in step? {
                let old = old.filter(|_| commits.contains(&commit) && !found.contains(&commit));
                let Some(Blob::Content(note)) = old.and_then(|old| case.repo.read_blob(old, MAX_NOTE).ok())
                else {
                    continue;
                };
                let mut records =
                    note.split(|byte| *byte == b'\n').filter_map(|line| decode_commit(line).ok());
                if records.any(|decoded| by_record(case.config, &decoded.record)) {
                    found.insert(commit);
                }
            }
        }
        Ok(Self(found))
    }

    /// Who made a commit, as far as that decides whether it is judged.
    pub(super) fn bound(&self, case: &Case<'_>, commit: &CommitInfo, record: Option<&CommitRecord>) -> Bound {
        let is_agents = || {
            by_trace(case.config, commit)
                || record.is_some_and(|record| by_record(case.config, record))
                || self.0.contains(&commit.id)
        };
        match case.config.guard.applies_to {
            AppliesTo::Agents if !is_agents() => Bound::Free,
            AppliesTo::Agents | AppliesTo::Everyone => Bound::Judged,
        }
    }
}

/// Whether the hooks recorded one of these commits in this worktree: that there are no records at all is then no sign of
/// a person's.
pub(super) fn were_recorded_here(repo: &Repo, commits: &[CommitId]) -> bool {
    let reach = Reach { runs: 0, commits: MARKERS, turns: 0, since: None };
    let commits: BTreeSet<&CommitId> = commits.iter().collect();
    Journal::open(repo.git_dir()).recent(reach).markers.iter().any(|marker| commits.contains(marker))
}
