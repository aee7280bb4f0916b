//! Which commits leave a halted one: a resolution lets one of them pass.

use std::collections::BTreeSet;

use super::Case;
use super::examined_commits::ExaminedCommits;
use andon_core::domain::ids::CommitId;
use andon_core::domain::time::Timestamp;
use andon_engine::error::OpsError;
use andon_git::Repo;

/// Branches that are looked at, at the most.
const MAX_BRANCHES: usize = 256;
/// How far the clocks of those who commit may be apart, in seconds.
const CLOCK: i64 = 24 * 3600;
/// Commits of one branch since the halt that are looked at.
const MAX_COMMITS: usize = 4_096;

/// The commits of the range that leave `head`, where another one, there or on a branch of this clone, left it before; with
/// that other one.
pub(super) fn later_ones(
    case: &Case<'_>,
    examined: &ExaminedCommits,
    head: CommitId,
) -> Result<Vec<(CommitId, CommitId)>, OpsError> {
    // Also as a merge: what was halted goes on from there.
    let leaving = examined.commits().iter().filter(|commit| commit.parents.contains(&head));
    let here: Vec<CommitId> = leaving.map(|commit| commit.id).collect();
    if here.is_empty() {
        return Ok(Vec::new());
    }
    let mut all: BTreeSet<(Timestamp, CommitId)> = BTreeSet::new();
    for id in here.iter().copied().chain(elsewhere(case.repo, head)?) {
        all.insert((case.repo.commit(id)?.committed_at, id));
    }
    let Some((_, first)) = all.first().copied() else { return Ok(Vec::new()) };
    Ok(here.into_iter().filter(|id| *id != first).map(|id| (id, first)).collect())
}

/// The commits that leave `head` on any branch.
fn elsewhere(repo: &Repo, head: CommitId) -> Result<Vec<CommitId>, OpsError> {
    let mut found = Vec::new();
    for tip in tips(repo, head)? {
        // What cannot be compared here, as in a shallow clone, says nothing.
        if tip == head || !repo.is_ancestor(head, tip).unwrap_or(false) {
            continue;
        }
        for id in repo.range(&format!("{head}..{tip}"))?.into_iter().take(MAX_COMMITS) {
            if repo.commit(id)?.parents.contains(&head) {
                found.push(id);
            }
        }
    }
    Ok(found)
}

/// The tips of branches that can have grown from `head`, the newest where there are many: what is older than it does not. The
/// copy of a remote may be an older state of the branch of its name: that one counts.
fn tips(repo: &Repo, head: CommitId) -> Result<Vec<CommitId>, OpsError> {
    let local = repo.refs_with_prefix("refs/heads/")?;
    let names: BTreeSet<&str> =
        local.iter().filter_map(|(name, _)| name.strip_prefix("refs/heads/")).collect();
    let remote = repo.refs_with_prefix("refs/remotes/")?;
    let others = remote.iter().filter(|(name, _)| {
        let name = name.strip_prefix("refs/remotes/").and_then(|name| name.split_once('/'));
        name.is_some_and(|(_, name)| name != "HEAD" && !names.contains(name))
    });
    let ids: BTreeSet<CommitId> = local.iter().chain(others).map(|(_, id)| CommitId(*id)).collect();
    let since = repo.commit(head)?.committed_at.0.saturating_sub(CLOCK);
    let made = |id: CommitId| Some((repo.commit(id).ok()?.committed_at, id));
    let mut tips: Vec<_> = ids.into_iter().filter_map(made).filter(|(at, _)| at.0 >= since).collect();
    tips.sort_unstable_by(|one, two| two.cmp(one));
    Ok(tips.into_iter().take(MAX_BRANCHES).map(|(_, id)| id).collect())
}
