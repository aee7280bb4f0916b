//! Whether git itself took away a file of the guard that lies in the working tree: settings may be committed on one branch only,
//! and `git stash` and `git clean` put aside what is not committed. Neither counts as an attack on the guard.

use super::place::Place;
use andon_core::domain::ids::{CommitId, TreeId};
use andon_git::Repo;
use andon_git::platform::paths::bytes_of;
use andon_store::guard_state::{GuardFile, GuardSnapshot};

const STASH: &str = "refs/stash";

/// Where a file as it is now comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Origin {
    /// HEAD is another commit, or something was stashed: the file is what the checkout says, and stays.
    Checkout,
    /// What was not committed is gone, by `git clean`, `git restore` or a plain deletion.
    Dropped,
    /// Somebody wrote it, or committed that it is gone.
    Written,
}

/// HEAD and the newest stash, as a snapshot has them.
pub(super) fn marks(repo: &Repo) -> (Option<String>, Option<String>) {
    let head = repo.head().ok().and_then(|head| head.commit());
    let stash = repo.ref_target(STASH).ok().flatten();
    (head.map(|head| head.to_string()), stash.map(|stash| stash.to_string()))
}

/// Where `before` went.
pub(super) fn origin(place: &Place<'_>, kept: &GuardSnapshot, before: &GuardFile) -> Origin {
    found(&place.ws.repo, kept, before).unwrap_or(Origin::Written)
}

fn found(repo: &Repo, kept: &GuardSnapshot, before: &GuardFile) -> Option<Origin> {
    let path = before
        .path
        .strip_prefix(repo.workdir()?)
        .ok()
        .filter(|_| !before.path.starts_with(repo.common_dir()))?;
    let path = bytes_of(path.as_os_str());
    let entry = |tree: TreeId| repo.entry_at(tree, &path).ok().map(|found| found.map(|(_, id)| id));
    let head = repo.head().ok()?.commit()?;
    let now = entry(repo.tree_of(head).ok()?)?;
    if now != repo.worktree_blob(&path) {
        return None;
    }
    let was: Option<CommitId> = kept.head.as_ref().and_then(|head| head.parse().ok());
    let is_moved = was != Some(head);
    // A commit on top that takes it away is no checkout.
    let is_committed = || {
        let is_next = repo.commit(head).is_ok_and(|commit| commit.parents.first() == was.as_ref());
        let before = was.and_then(|was| entry(repo.tree_of(was).ok()?));
        is_next && before.is_some_and(|before| before != now)
    };
    if is_moved && is_committed() {
        return None;
    }
    let is_stashed = marks(repo).1 != kept.stash;
    Some(if is_moved || is_stashed { Origin::Checkout } else { Origin::Dropped })
}
