//! The operation that made a commit, and the one that is under way.
//!
//! git keeps no kind of commit. What it does leave at post-commit (measured with git 2.47): the reflog's
//! action (`commit (amend)`, `cherry-pick`, `revert`, `rebase (pick)` ...), `CHERRY_PICK_HEAD` after a clean
//! pick, `rebase-merge/` through a whole rebase. A revert that was resolved and committed by hand leaves
//! nothing but its message. Reflogs can be off and actions renamed by `GIT_REFLOG_ACTION`.

use std::{fs::File, io::Read as _};

use crate::{CommitInfo, ReflogEntry, Repo, Result, refs::reflog::last_lines};
use andon_core::domain::{CommitId, CommitKind};
use andon_core::{WordList, words};

/// Reflog entries that are searched for a commit: a caught-up commit may lie some movements back.
const SEARCHED: usize = 64;
/// Commits of a squash that are read, and most bytes of the message that names them.
const MAX_SQUASHED: usize = 64;
const MAX_SQUASH_MESSAGE: u64 = 64 << 10;
/// Most bytes of a line of a state file.
const MAX_LINE: u64 = 128;
/// Steps of a rebase, as its reflog messages name them in parentheses.
const REBASE_STEPS: WordList =
    words!["start", "pick", "reword", "edit", "squash", "fixup", "continue", "finish", "merge"];
/// Commands of a rebase's list that make a commit out of one that was there.
const REPLAYING: WordList =
    words!["pick", "p", "reword", "r", "squash", "s", "fixup", "f", "merge", "m", "drop", "d"];

/// An operation of git that is under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    None,
    /// A merge that waits for its commit.
    Merge,
    CherryPick,
    /// Made by `git revert`.
    Revert,
    Rebase,
    /// `git am`.
    Patches,
}

impl Operation {
    /// The operation in words, and the command of git that makes it; `None` where git is idle.
    pub fn named(self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::None => None,
            Self::Merge => Some(("the merge", "merge")),
            Self::CherryPick => Some(("the cherry-pick", "cherry-pick")),
            Self::Revert => Some(("the revert", "revert")),
            Self::Rebase => Some(("the rebase", "rebase")),
            Self::Patches => Some(("git am", "am")),
        }
    }
}

/// The meaning of a reflog message for a new commit.
enum ReflogAction {
    Kind(CommitKind),
    /// `commit:` - plain, or the end of something that left no trace in the message.
    Plain,
    /// A message of someone else's making.
    Unclear,
}

impl Repo {
    /// The operation under way, from git's state files. Rebase wins: its picks leave `CHERRY_PICK_HEAD` too.
    pub fn operation(&self) -> Operation {
        let there = |name: &str| self.git_dir().join(name).exists();
        if self.is_applying_patches() {
            Operation::Patches
        } else if there("rebase-merge") || there("rebase-apply") {
            Operation::Rebase
        } else if there("CHERRY_PICK_HEAD") {
            Operation::CherryPick
        } else if there("REVERT_HEAD") {
            Operation::Revert
        } else if there("MERGE_HEAD") {
            Operation::Merge
        } else {
            Operation::None
        }
    }

    /// The origin of commit `id`: right for HEAD at post-commit, and from the reflog for one of its last movements.
    /// With several parents it is a merge, amended or not. Without a reflog an amend looks like a plain commit.
    pub fn commit_origin(&self, id: CommitId) -> Result<CommitKind> {
        let info = self.commit(id)?;
        if info.parents.len() > 1 {
            return Ok(CommitKind::Merge);
        }
        let mut log = self.reflog_entries(SEARCHED)?.enumerate();
        let Some((at, entry)) = log.find(|(_, entry)| entry.new == id.0) else {
            return Ok(self.origin_without_reflog(&info));
        };
        let newest = at == 0;
        Ok(match reflog_action(&entry.message) {
            ReflogAction::Kind(kind) => kind,
            ReflogAction::Plain if newest && self.finishes_a_pick(|| Some(log.next()?.1)) => {
                CommitKind::Rebase
            }
            ReflogAction::Plain if self.says_it_reverts(&info)? => CommitKind::Revert,
            ReflogAction::Unclear if newest => {
                self.amended_or(&entry, &info, self.origin_without_reflog(&info))
            }
            ReflogAction::Plain | ReflogAction::Unclear => self.amended_or(&entry, &info, CommitKind::Normal),
        })
    }

    /// The kind of HEAD's commit when nothing else is believed of it: an amend where HEAD went to a sibling, or a plain one.
    pub fn plain_or_amend(&self, info: &CommitInfo) -> Result<CommitKind> {
        let entry = self.reflog_entries(1)?.next().filter(|entry| entry.new == info.id.0);
        Ok(entry.map_or(CommitKind::Normal, |entry| self.amended_or(&entry, info, CommitKind::Normal)))
    }

    /// From the state files and the message alone.
    fn origin_without_reflog(&self, info: &CommitInfo) -> CommitKind {
        match self.operation() {
            Operation::Rebase if self.last_step_replays() => CommitKind::Rebase,
            Operation::CherryPick => CommitKind::CherryPick,
            Operation::None
            | Operation::Merge
            | Operation::Revert
            | Operation::Rebase
            | Operation::Patches => {
                if self.says_it_reverts(info).unwrap_or(false) {
                    CommitKind::Revert
                } else {
                    CommitKind::Normal
                }
            }
        }
    }

    /// `Amend` when HEAD went from a commit to its sibling, which only an amend does; else `other`.
    fn amended_or(&self, entry: &ReflogEntry, info: &CommitInfo, other: CommitKind) -> CommitKind {
        let replaced = CommitId(entry.old);
        if other != CommitKind::Normal || entry.old.is_zero() || info.parents.contains(&replaced) {
            return other;
        }
        match self.commit(replaced) {
            Ok(old) if old.parents == info.parents => CommitKind::Amend,
            Ok(_) | Err(_) => other,
        }
    }

    /// A plain `git commit` that resolves the conflict at which a rebase stopped: the movement before it is
    /// the rebase's. A second commit at the same stop is the committer's own.
    fn finishes_a_pick(&self, before: impl FnOnce() -> Option<ReflogEntry>) -> bool {
        let by_rebase =
            |entry: ReflogEntry| rebase_step(&entry.message) || entry.message.contains("fast-forward");
        self.operation() == Operation::Rebase && before().is_none_or(by_rebase) && self.last_step_replays()
    }

    /// The commit that the newest step of the rebase under way replays; of several that it joins the last.
    pub fn rebased_from(&self) -> Option<CommitId> {
        let apply = self.git_dir().join("rebase-apply");
        if apply.join("rebasing").exists() {
            let lines = last_lines(&apply.join("original-commit"), 1).ok()?;
            return String::from_utf8_lossy(lines.first()?).trim().parse().ok();
        }
        let lines = last_lines(&self.git_dir().join("rebase-merge").join("done"), 1).ok()?;
        let line = String::from_utf8_lossy(lines.first()?).into_owned();
        let mut words = line.split_whitespace();
        let step = words.next()?;
        // `fixup -C ID`, `merge -c ID LABEL`
        let named = words.find(|word| !word.starts_with('-'))?;
        if !REPLAYING.contains(step) {
            return None;
        }
        named.parse().ok().or_else(|| self.resolve(named).ok())
    }

    /// The commits that `git merge --squash` left to be committed as one, the newest first; at most 64.
    pub fn squashed(&self) -> Vec<CommitId> {
        let text = self.begin_of("SQUASH_MSG", MAX_SQUASH_MESSAGE);
        let named = text.lines().filter_map(|line| line.strip_prefix("commit ")?.parse().ok());
        named.take(MAX_SQUASHED).collect()
    }

    /// The commit of which the patch was made that `git am` applies, where it is here: `git format-patch` begins it with `From ID`.
    pub fn patched_from(&self) -> Option<CommitId> {
        let number: u32 = self.begin_of("rebase-apply/next", MAX_LINE).trim().parse().ok()?;
        let patch = self.begin_of(&format!("rebase-apply/{number:04}"), MAX_LINE);
        let id = patch.strip_prefix("From ")?.split(' ').next()?.parse().ok()?;
        (self.is_applying_patches() && self.tree_of(id).is_ok()).then_some(id)
    }

    /// The first bytes of a state file; one that is not there is empty.
    fn begin_of(&self, name: &str, most: u64) -> String {
        let mut text = Vec::new();
        let path = self.git_dir().join(name);
        let _ = File::open(path).and_then(|file| file.take(most).read_to_end(&mut text));
        String::from_utf8_lossy(&text).into_owned()
    }

    /// True while `git am` is under way.
    pub fn is_applying_patches(&self) -> bool {
        self.git_dir().join("rebase-apply").join("applying").exists()
    }

    /// True if the rebase's newest step replays a commit, rather than stopping for the user to make some.
    fn last_step_replays(&self) -> bool {
        let done = self.git_dir().join("rebase-merge").join("done");
        match last_lines(&done, 1) {
            Ok(lines) => lines.last().is_none_or(|line| {
                let text = String::from_utf8_lossy(line);
                REPLAYING.contains(text.split_whitespace().next().unwrap_or_default())
            }),
            Err(_) => true,
        }
    }

    /// `This reverts commit ID.` in the message, where ID is a commit of this repository.
    fn says_it_reverts(&self, info: &CommitInfo) -> Result<bool> {
        if !info.subject.starts_with("Revert \"") && !info.subject.starts_with("Reapply \"") {
            return Ok(false);
        }
        let message = self.message(info.id)?;
        let named = message.lines().find_map(|line| line.strip_prefix("This reverts commit "));
        let id = named.and_then(|rest| rest.get(..40)).and_then(|id| id.parse::<CommitId>().ok());
        Ok(id.is_some_and(|id| self.tree_of(id).is_ok()))
    }
}

/// The meaning of the action before the first `: `.
fn reflog_action(message: &str) -> ReflogAction {
    if rebase_step(message) {
        return ReflogAction::Kind(CommitKind::Rebase);
    }
    match action(message) {
        "commit (amend)" => ReflogAction::Kind(CommitKind::Amend),
        "commit (merge)" => ReflogAction::Kind(CommitKind::Merge),
        "commit (cherry-pick)" | "cherry-pick" => ReflogAction::Kind(CommitKind::CherryPick),
        "revert" => ReflogAction::Kind(CommitKind::Revert),
        "commit" => ReflogAction::Plain,
        "commit (initial)" | "am" => ReflogAction::Kind(CommitKind::Normal),
        _ => ReflogAction::Unclear,
    }
}

fn action(message: &str) -> &str {
    message.split_once(": ").map_or(message, |(action, _)| action)
}

/// `rebase (pick)`, `pull --rebase (squash)`, or the same under another action's name.
fn rebase_step(message: &str) -> bool {
    let step = action(message).strip_suffix(')').and_then(|action| action.rsplit_once(" ("));
    step.is_some_and(|(_, step)| REBASE_STEPS.contains(step) && !message.starts_with("commit (merge)"))
}

#[cfg(test)]
mod tests;
