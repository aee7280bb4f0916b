//! Whose commits are judged: with `guard.applies_to = "agents"`, those of agents alone.

use super::Case;
use crate::adapter::agents::DEFAULT_NODE;
use crate::config::AppliesTo;
use crate::domain::agent;
use crate::domain::facts::CommitRecord;
use crate::domain::workflow::Maker;
use crate::git::CommitInfo;

/// Whether the configuration asks for anything of whoever made a commit.
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
            if by_trace(case, commit) || record.is_some_and(|record| by_record(case, record)) =>
        {
            Bound::Judged
        }
        AppliesTo::Agents => Bound::Free,
    }
}

/// What the commit itself gives away: trailers, author and committer, a node of the declared workflow.
fn by_trace(case: &Case<'_>, commit: &CommitInfo) -> bool {
    let author = format!("{} <{}>", commit.author, commit.email);
    let maker = Maker { environment: None, author: &author, trailers: &commit.trailers, branch: None };
    agent::of_trailers(&commit.trailers).is_some()
        || agent::of_address(&commit.email).is_some()
        || agent::of_address(&commit.committer_email).is_some()
        || case.config.workflow.node_for(&maker).is_some()
}

/// What the shell gave away that made it: a session, a node, markers and hooks of a client.
fn by_record(case: &Case<'_>, record: &CommitRecord) -> bool {
    let node = record.node != DEFAULT_NODE || case.config.workflow.node(&record.node).is_some();
    record.session.is_some() || node || !record.guards.is_empty()
}
