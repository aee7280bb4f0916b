//! How a commit came to be, and which operation is under way.
//!
//! git keeps no kind of commit. What it does leave at post-commit (measured with git 2.47): the reflog's
//! action (`commit (amend)`, `cherry-pick`, `revert`, `rebase (pick)` ...), `CHERRY_PICK_HEAD` after a clean
//! pick, `rebase-merge/` through a whole rebase. A revert that was resolved and committed by hand leaves
//! nothing but its message. Reflogs can be off and actions renamed by `GIT_REFLOG_ACTION`.

use crate::domain::facts::CommitKind;
use crate::domain::ids::CommitId;
use crate::git::error::GitError;
use crate::git::objects::commits::CommitInfo;
use crate::git::open::repo::Repo;
use crate::git::refs::reflog::{ReflogEntry, last_lines};

/// Reflog entries that are searched for a commit: a caught-up commit may lie some movements back.
const SEARCHED: usize = 64;
/// Steps of a rebase, as its reflog messages name them in parentheses.
const REBASE_STEPS: [&str; 9] =
    ["start", "pick", "reword", "edit", "squash", "fixup", "continue", "finish", "merge"];
/// Commands of a rebase's list that make a commit out of one that was there.
const REPLAYING: [&str; 12] =
    ["pick", "p", "reword", "r", "squash", "s", "fixup", "f", "merge", "m", "drop", "d"];

/// An operation of git that is under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// None.
    None,
    /// A merge that waits for its commit.
    Merge,
    /// A cherry-pick.
    CherryPick,
    /// A revert.
    Revert,
    /// A rebase, or `git am`.
    Rebase,
}

/// What a reflog message says about a new commit.
enum Said {
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
        if there("rebase-merge") || there("rebase-apply") {
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

    /// How commit `id` came to be: right for HEAD at post-commit, and from the reflog for one of its last
    /// movements. With several parents it is a merge, amended or not. Without a reflog an amend cannot be told
    /// from a plain commit.
    pub fn commit_origin(&self, id: CommitId) -> Result<CommitKind, GitError> {
        let info = self.commit(id)?;
        if info.parents.len() > 1 {
            return Ok(CommitKind::Merge);
        }
        let mut log = self.reflog_entries(SEARCHED)?.enumerate();
        let Some((at, entry)) = log.find(|(_, entry)| entry.new == id.0) else {
            return Ok(self.origin_without_reflog(&info));
        };
        let newest = at == 0;
        Ok(match said(&entry.message) {
            Said::Kind(kind) => kind,
            Said::Plain if newest && self.finishes_a_pick(|| Some(log.next()?.1)) => CommitKind::Rebase,
            Said::Plain if self.says_it_reverts(&info)? => CommitKind::Revert,
            Said::Unclear if newest => self.amended_or(&entry, &info, self.origin_without_reflog(&info)),
            Said::Plain | Said::Unclear => self.amended_or(&entry, &info, CommitKind::Normal),
        })
    }

    /// What HEAD's commit is when nothing else is believed of it: an amend where HEAD went to a sibling, or a plain one.
    pub fn plain_or_amend(&self, info: &CommitInfo) -> Result<CommitKind, GitError> {
        let entry = self.reflog_entries(1)?.next().filter(|entry| entry.new == info.id.0);
        Ok(entry.map_or(CommitKind::Normal, |entry| self.amended_or(&entry, info, CommitKind::Normal)))
    }

    /// From the state files and the message alone.
    fn origin_without_reflog(&self, info: &CommitInfo) -> CommitKind {
        match self.operation() {
            Operation::Rebase if self.last_step_replays() => CommitKind::Rebase,
            Operation::CherryPick => CommitKind::CherryPick,
            Operation::None | Operation::Merge | Operation::Revert | Operation::Rebase => {
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

    /// Whether the rebase's newest step replays a commit, rather than stopping for the user to make some.
    fn last_step_replays(&self) -> bool {
        let done = self.git_dir().join("rebase-merge").join("done");
        match last_lines(&done, 1) {
            Ok(lines) => lines.last().is_none_or(|line| {
                let text = String::from_utf8_lossy(line);
                REPLAYING.contains(&text.split_whitespace().next().unwrap_or_default())
            }),
            Err(_) => true,
        }
    }

    /// `This reverts commit ID.` in the message, where ID is a commit of this repository.
    fn says_it_reverts(&self, info: &CommitInfo) -> Result<bool, GitError> {
        if !info.subject.starts_with("Revert \"") && !info.subject.starts_with("Reapply \"") {
            return Ok(false);
        }
        let commit = self.find_commit(info.id)?;
        let message = String::from_utf8_lossy(commit.message_bytes());
        let named = message.lines().find_map(|line| line.strip_prefix("This reverts commit "));
        let id = named.and_then(|rest| rest.get(..40)).and_then(|id| id.parse::<CommitId>().ok());
        Ok(id.is_some_and(|id| self.find_commit(id).is_ok()))
    }
}

/// What the action before the first `: ` means.
fn said(message: &str) -> Said {
    if rebase_step(message) {
        return Said::Kind(CommitKind::Rebase);
    }
    match action(message) {
        "commit (amend)" => Said::Kind(CommitKind::Amend),
        "commit (merge)" => Said::Kind(CommitKind::Merge),
        "commit (cherry-pick)" | "cherry-pick" => Said::Kind(CommitKind::CherryPick),
        "revert" => Said::Kind(CommitKind::Revert),
        "commit" => Said::Plain,
        "commit (initial)" => Said::Kind(CommitKind::Normal),
        _ => Said::Unclear,
    }
}

fn action(message: &str) -> &str {
    message.split_once(": ").map_or(message, |(action, _)| action)
}

/// `rebase (pick)`, `pull --rebase (squash)`, or the same under another action's name.
fn rebase_step(message: &str) -> bool {
    let step = action(message).strip_suffix(')').and_then(|action| action.rsplit_once(" ("));
    step.is_some_and(|(_, step)| REBASE_STEPS.contains(&step) && !message.starts_with("commit (merge)"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reflog_actions_tell_the_kind() {
        let cases = [
            ("commit: x", None),
            ("commit (initial): x", Some(CommitKind::Normal)),
            ("commit (amend): x", Some(CommitKind::Amend)),
            ("commit (merge): x", Some(CommitKind::Merge)),
            ("commit (cherry-pick): x", Some(CommitKind::CherryPick)),
            ("cherry-pick: x", Some(CommitKind::CherryPick)),
            ("revert: Revert \"x\"", Some(CommitKind::Revert)),
            ("rebase (pick): x", Some(CommitKind::Rebase)),
            ("rebase (squash): x", Some(CommitKind::Rebase)),
            ("pull --rebase origin main (pick): x", Some(CommitKind::Rebase)),
            ("custom (continue): x", Some(CommitKind::Rebase)),
            ("commit: rebase (pick): x", None),
            ("", None),
        ];
        for (message, want) in cases {
            let got = match said(message) {
                Said::Kind(kind) => Some(kind),
                Said::Plain | Said::Unclear => None,
            };
            assert_eq!(got, want, "{message}");
        }
    }

    /// A repository whose post-commit hook keeps git's own state files for each commit, so that the answer
    /// can be asked for as the hook would.
    struct Hooked {
        scratch: crate::git::scratch::Scratch,
    }

    impl Hooked {
        fn new() -> Self {
            let scratch = crate::git::scratch::Scratch::new();
            scratch.hook(
                "post-commit",
                r#"seen="$PWD/.git/seen/$(git rev-parse HEAD)"
rm -rf "$seen"; mkdir -p "$seen"
for f in HEAD logs refs objects config rebase-merge rebase-apply CHERRY_PICK_HEAD REVERT_HEAD MERGE_HEAD; do
  test -e ".git/$f" && cp -R ".git/$f" "$seen/"
done; true"#,
            );
            Self { scratch }
        }

        fn git(&self, args: &[&str]) {
            self.scratch.git(args);
        }

        /// A conflict or a stop: git ends with an error.
        fn stops(&self, args: &[&str]) {
            assert!(!self.scratch.try_git(args), "{args:?}");
        }

        fn commit(&self, path: &str, content: &str) -> CommitId {
            self.scratch.commit(path, content, &format!("{path}={content}"))
        }

        /// What post-commit of HEAD's commit was told.
        fn at_hook(&self) -> CommitKind {
            let head = self.scratch.rev("HEAD");
            let seen = self.scratch.path().join(".git/seen").join(head.to_string());
            let env = crate::git::RepoEnv { git_dir: Some(seen), ..Default::default() };
            let repo = Repo::open(&self.scratch.path(), &env).unwrap();
            assert_eq!(repo.head().unwrap().commit(), Some(head));
            repo.commit_origin(head).unwrap()
        }

        /// What anyone is told afterwards.
        fn later(&self, rev: &str) -> CommitKind {
            self.scratch.open().commit_origin(self.scratch.rev(rev)).unwrap()
        }

        fn both(&self, want: CommitKind, what: &str) {
            assert_eq!(self.at_hook(), want, "{what}: at post-commit");
            assert_eq!(self.later("HEAD"), want, "{what}: afterwards");
        }

        /// `main` with two commits of `a`, `side` with a clean and a conflicting one.
        fn branches() -> Self {
            let it = Self::new();
            it.commit("a", "1");
            it.git(&["checkout", "-q", "-b", "side"]);
            it.commit("b", "1");
            it.commit("a", "side");
            it.git(&["checkout", "-q", "main"]);
            it.commit("c", "1");
            it.commit("a", "main");
            it
        }

        fn resolve(&self) {
            self.scratch.write("a", "resolved");
            self.git(&["add", "a"]);
        }
    }

    #[test]
    fn commits_and_amends() {
        let it = Hooked::new();
        it.commit("a", "1");
        it.both(CommitKind::Normal, "initial");
        it.commit("a", "2");
        it.both(CommitKind::Normal, "commit");
        it.scratch.write("a", "3");
        it.git(&["commit", "-q", "-a", "--amend", "-m", "amended"]);
        it.both(CommitKind::Amend, "amend");
        assert_eq!(it.later("HEAD~1"), CommitKind::Normal);
        it.git(&["reset", "-q", "--soft", "HEAD~1"]);
        it.git(&["commit", "-q", "-m", "again"]);
        it.both(CommitKind::Normal, "reset and commit");
        it.git(&["checkout", "-q", "--orphan", "new"]);
        it.git(&["commit", "-q", "-m", "orphan"]);
        it.both(CommitKind::Normal, "orphan");
    }

    #[test]
    fn a_renamed_reflog_action_hides_nothing() {
        let it = Hooked::new();
        it.commit("a", "1");
        it.commit("a", "2");
        let named = |args: &[&str]| {
            let mut command = crate::git::scratch::command(&it.scratch.path(), args);
            assert!(command.env("GIT_REFLOG_ACTION", "custom").status().unwrap().success());
        };
        named(&["commit", "-q", "--allow-empty", "-m", "x"]);
        it.both(CommitKind::Normal, "commit");
        named(&["commit", "-q", "--amend", "--allow-empty", "-m", "y"]);
        it.both(CommitKind::Amend, "amend");
    }

    #[test]
    fn merges() {
        let it = Hooked::branches();
        it.git(&["merge", "-q", "--no-edit", "side~1"]);
        assert_eq!(it.later("HEAD"), CommitKind::Merge, "clean: no post-commit");
        it.stops(&["merge", "-q", "side"]);
        it.resolve();
        it.git(&["commit", "-q", "-m", "merged"]);
        it.both(CommitKind::Merge, "conflicted");
        it.git(&["commit", "-q", "--amend", "-m", "amended"]);
        it.both(CommitKind::Merge, "amended merge");
        it.git(&["checkout", "-q", "-b", "squash", "main~1"]);
        it.git(&["merge", "-q", "--squash", "side~1"]);
        it.git(&["commit", "-q", "--allow-empty", "-m", "squashed"]);
        it.both(CommitKind::Normal, "squash merge");
    }

    #[test]
    fn cherry_picks_and_reverts() {
        let it = Hooked::branches();
        it.git(&["cherry-pick", "side~1"]);
        it.both(CommitKind::CherryPick, "clean pick");
        it.stops(&["cherry-pick", "side"]);
        it.resolve();
        it.git(&["commit", "-q", "-m", "resolved"]);
        it.both(CommitKind::CherryPick, "conflict, commit");
        it.git(&["reset", "-q", "--hard", "HEAD~1"]);
        it.stops(&["cherry-pick", "side"]);
        it.resolve();
        it.git(&["cherry-pick", "--continue"]);
        it.both(CommitKind::CherryPick, "conflict, continue");
        it.git(&["revert", "--no-edit", "HEAD"]);
        it.both(CommitKind::Revert, "clean revert");
        it.commit("a", "x");
        it.commit("a", "y");
        it.stops(&["revert", "--no-edit", "HEAD~1"]);
        it.resolve();
        it.git(&["revert", "--continue"]);
        it.both(CommitKind::Revert, "conflict, continue");
        it.stops(&["revert", "--no-edit", "HEAD~1"]);
        it.scratch.write("a", "resolved again");
        it.git(&["add", "a"]);
        it.git(&["commit", "-q", "--no-edit"]);
        it.both(CommitKind::Revert, "conflict, commit with git's message");
        it.git(&["commit", "-q", "--allow-empty", "-m", "Revert \"x\"", "-m", "This reverts commit 12345."]);
        it.both(CommitKind::Normal, "a message that names no commit");
    }

    #[test]
    fn rebases() {
        let it = Hooked::branches();
        it.git(&["checkout", "-q", "-b", "topic", "side~1"]);
        it.commit("d", "1");
        it.git(&["rebase", "-q", "main"]);
        it.both(CommitKind::Rebase, "pick");
        assert_eq!(it.later("HEAD~1"), CommitKind::Rebase, "the pick before");
        for (step, rev) in [("reword", "HEAD"), ("squash", "HEAD"), ("fixup", "HEAD")] {
            it.commit("e", step);
            it.commit("f", step);
            let editor = format!("sed -i -e '{}s/pick/{step}/'", if step == "reword" { 1 } else { 2 });
            let mut command =
                crate::git::scratch::command(&it.scratch.path(), &["rebase", "-q", "-i", "HEAD~2"]);
            command.env("GIT_SEQUENCE_EDITOR", &editor).env("GIT_EDITOR", "sed -i -e '1s/^/x/'");
            assert!(command.output().unwrap().status.success(), "{step}");
            assert_eq!(it.later(rev), CommitKind::Rebase, "{step}");
            assert_eq!(it.at_hook(), CommitKind::Rebase, "{step}");
        }
    }

    #[test]
    fn commits_at_a_stop_of_a_rebase() {
        let it = Hooked::branches();
        it.git(&["checkout", "-q", "side"]);
        it.stops(&["rebase", "-q", "main"]);
        it.resolve();
        it.git(&["rebase", "--continue"]);
        it.both(CommitKind::Rebase, "conflict, continue");
        it.git(&["checkout", "-q", "-b", "again", "side@{1}"]);
        it.stops(&["rebase", "-q", "main"]);
        it.resolve();
        it.git(&["commit", "-q", "-m", "resolved by hand"]);
        assert_eq!(it.at_hook(), CommitKind::Rebase, "conflict, commit");
        it.commit("x", "1");
        assert_eq!(it.at_hook(), CommitKind::Normal, "a second commit at the same stop");
        it.git(&["rebase", "--continue"]);
        it.commit("y", "1");
        let mut command = crate::git::scratch::command(&it.scratch.path(), &["rebase", "-q", "-i", "HEAD~1"]);
        assert!(
            command.env("GIT_SEQUENCE_EDITOR", "sed -i -e 1s/pick/edit/").output().unwrap().status.success()
        );
        it.scratch.write("y", "2");
        it.git(&["commit", "-q", "-a", "--amend", "--no-edit"]);
        assert_eq!(it.at_hook(), CommitKind::Amend, "amend at an edit stop");
        it.commit("z", "1");
        assert_eq!(it.at_hook(), CommitKind::Normal, "commit at an edit stop");
    }

    #[test]
    fn without_a_reflog_the_state_files_tell() {
        let it = Hooked::branches();
        it.git(&["config", "core.logAllRefUpdates", "false"]);
        std::fs::remove_dir_all(it.scratch.path().join(".git/logs")).unwrap();
        it.git(&["cherry-pick", "side~1"]);
        assert_eq!(it.at_hook(), CommitKind::CherryPick);
        it.git(&["revert", "--no-edit", "HEAD"]);
        assert_eq!(it.at_hook(), CommitKind::Revert);
        it.commit("n", "1");
        assert_eq!(it.at_hook(), CommitKind::Normal);
        it.git(&["checkout", "-q", "side~1"]);
        it.commit("m", "1");
        it.git(&["rebase", "-q", "main"]);
        assert_eq!(it.at_hook(), CommitKind::Rebase);
    }

    #[test]
    fn the_operation_under_way() {
        let it = Hooked::branches();
        let operation = || it.scratch.open().operation();
        assert_eq!(operation(), Operation::None);
        for (start, abort, want) in [
            (&["merge", "-q", "side"][..], &["merge", "--abort"][..], Operation::Merge),
            (&["cherry-pick", "side"], &["cherry-pick", "--abort"], Operation::CherryPick),
            (&["rebase", "-q", "side"], &["rebase", "--abort"], Operation::Rebase),
            (&["rebase", "-q", "--apply", "side"], &["rebase", "--abort"], Operation::Rebase),
            (&["revert", "--no-edit", "HEAD~2"], &["revert", "--abort"], Operation::Revert),
        ] {
            if want == Operation::Revert {
                it.commit("a", "later");
                it.commit("a", "latest");
                it.stops(&["revert", "--no-edit", "HEAD~1"]);
            } else {
                it.stops(start);
            }
            assert_eq!(operation(), want);
            it.git(abort);
            assert_eq!(operation(), Operation::None);
        }
    }
}
