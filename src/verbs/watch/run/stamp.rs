//! What the files look like from which a worktree is read: cheap to ask, and different once any of them has moved.

use std::{fs, path::Path};

use andon_core::domain::time::Timestamp;
use andon_engine::{context::Context, effect::AndonDir};
use andon_git::platform::{FileStat, files};
use andon_git::{Repo, WorktreePlace, read_plain};

/// Most bytes that are read of a `HEAD`.
const MAX_HEAD: u64 = 4096;
/// A file that changed less than so many seconds before it was read may have changed again within one tick of its clock.
const TICK: i64 = 2;

/// The `stat` data of some files, and the contents of some others.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Stamp {
    files: Vec<Option<FileStat>>,
    texts: Vec<Vec<u8>>,
}

impl Stamp {
    fn new<'p>(paths: impl IntoIterator<Item = &'p Path>) -> Self {
        let stat = |path: &Path| fs::metadata(path).ok().map(|facts| files::stat(&facts));
        Self { files: paths.into_iter().map(stat).collect(), texts: Vec::new() }
    }

    /// The configuration of git, as far as it lies in the repository.
    pub(super) fn of_configuration(repo: &Repo, ctx: &Context) -> Self {
        let home = ctx.var("HOME").map(|home| Path::new(home).join(".gitconfig")).unwrap_or_default();
        Self::new([repo.common_dir().join("config").as_path(), home.as_path()])
    }

    /// Returns the stamp of all that every worktree depends on: packed refs, the ledgers, hooks, and the configuration of the
    /// user.
    pub(super) fn shared(repo: &Repo, ctx: &Context, hooks: Option<&Path>, ledger: Option<&str>) -> Self {
        let common = repo.common_dir();
        let andon = common.join("andon");
        let mut paths = vec![common.join("packed-refs"), common.join("config"), andon.join("attempts.jsonl")];
        paths.extend(hooks.map(Path::to_owned));
        paths.extend(hooks.map(|dir| dir.join("pre-commit")));
        paths.extend(ctx.user_config.clone());
        let mut stamp = Self::new(paths.iter().map(AsRef::as_ref));
        stamp.texts.extend(ledger.map(|ledger| ledger.as_bytes().to_vec()));
        stamp
    }

    /// The tip of the notes: each commit of any worktree moves it.
    pub(super) fn of_notes(repo: &Repo) -> Self {
        Self::new([repo.common_dir().join("refs/notes/andon").as_path()])
    }

    /// Returns the stamp of what git writes when it fetches, and of the tip of the notes.
    pub(super) fn of_fetched(repo: &Repo) -> Self {
        let common = repo.common_dir();
        let fetched =
            [repo.git_dir().join("FETCH_HEAD"), common.join("FETCH_HEAD"), common.join("packed-refs")];
        Self::new(fetched.iter().map(AsRef::as_ref)).and(Self::of_notes(repo))
    }

    /// Returns the stamp of what one worktree depends on alone: HEAD and its branch, the journal, `.andon/` and the
    /// configuration.
    pub(super) fn of_worktree(repo: &Repo, place: &WorktreePlace) -> Self {
        let head = place.git_dir.join("HEAD");
        let text = read_plain(&head, MAX_HEAD).ok().flatten().unwrap_or_default();
        let own = place.git_dir.join("andon");
        let mut paths = vec![own.join("journal.jsonl"), own.join("shown")];
        if let Some(branch) = String::from_utf8_lossy(&text).strip_prefix("ref: ") {
            paths.push(repo.common_dir().join(branch.trim_end()));
        }
        if let Some(top) = &place.top {
            paths.extend([AndonDir::below(top).path(), top.join("andon.toml"), top.clone()]);
        }
        let mut stamp = Self::new(paths.iter().map(AsRef::as_ref));
        stamp.texts.push(text);
        stamp
    }

    /// Both of them.
    pub(super) fn and(&self, other: Self) -> Self {
        let files = self.files.iter().copied().chain(other.files).collect();
        let texts = self.texts.iter().cloned().chain(other.texts).collect();
        Self { files, texts }
    }

    /// True when the files were as they are for some time when they were read at `at`.
    pub(super) fn is_settled(&self, at: Timestamp) -> bool {
        let is_old = |stat: &FileStat| {
            [stat.modified.0, stat.changed.0]
                .into_iter()
                .all(|then| then.abs_diff(at.0) >= TICK.unsigned_abs())
        };
        self.files.iter().flatten().all(is_old)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_just_changed_is_not_settled() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a");
        let absent = Stamp::new([file.as_path()]);
        assert!(absent.is_settled(Timestamp(0)));
        fs::write(&file, "a").unwrap();
        let there = Stamp::new([file.as_path()]);
        assert_ne!(there, absent);
        assert_eq!(there, Stamp::new([file.as_path()]));
        let changed = there.files[0].unwrap().changed.0;
        assert!(!there.is_settled(Timestamp(changed + 1)));
        assert!(there.is_settled(Timestamp(changed + 2)));
        assert!(there.is_settled(Timestamp(changed - 100)), "a clock that was set back");
        fs::write(&file, "ab").unwrap();
        assert_ne!(there, Stamp::new([file.as_path()]));
    }
}
