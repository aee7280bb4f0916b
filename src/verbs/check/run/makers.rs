//! Whose commits are judged: with `guard.applies_to = "agents"`, those of agents alone.

use super::Case;
use andon_config::AppliesTo;
use andon_core::domain::facts::CommitRecord;
use andon_engine::bound::{by_record, by_trace};
use andon_git::CommitInfo;

/// Whether the configuration asks for anything of the author of a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bound {
    /// It does.
    Judged,
    /// A person made it, and only agents are guarded.
    Free,
}

/// Who made a commit, as far as that decides whether it is judged.
pub(super) fn bound(case: &Case<'_>, commit: &CommitInfo, record: Option<&CommitRecord>) -> Bound {
    match case.config.guard.applies_to {
        AppliesTo::Everyone => Bound::Judged,
        AppliesTo::Agents
            if by_trace(case.config, commit)
                || record.is_some_and(|record| by_record(case.config, record)) =>
        {
            Bound::Judged
        }
        AppliesTo::Agents => Bound::Free,
    }
}
