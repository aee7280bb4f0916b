//! The part that git itself has in a change of what guards the loop: a checkout, a stash or a clean is no attack.

use andon_core::domain::{CommitId, TreeId};
use andon_git::{Repo, platform::paths::bytes_of};
use andon_store::{GuardFile, GuardSnapshot};

const STASH: &str = "refs/stash";

/// The origin of a file as it is now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Origin {
    /// HEAD is another commit, or something was stashed: the file is what the checkout says, and stays.
    Checkout,
    /// It was not committed and is gone, by `git clean`, `git restore` or a plain deletion.
    Dropped,
}

/// HEAD and the newest stash, as a snapshot has them.
pub(super) fn marks(repo: &Repo) -> (Option<String>, Option<String>) {
    let head = repo.head().ok().and_then(|head| head.commit());
    let stash = repo.ref_target(STASH).ok().flatten();
    (head.map(|head| head.to_string()), stash.map(|stash| stash.to_string()))
}

/// The origin of the file that is in the place of `before` now; `None` where somebody wrote it, or committed that it is gone.
pub(super) fn origin_by_git(repo: &Repo, kept: &GuardSnapshot, before: &GuardFile) -> Option<Origin> {
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
