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
        let got = match reflog_action(message) {
            ReflogAction::Kind(kind) => Some(kind),
            ReflogAction::Plain | ReflogAction::Unclear => None,
        };
        assert_eq!(got, want, "{message}");
    }
}

/// A repository whose post-commit hook keeps git's own state files for each commit, so that the answer
/// can be asked for as the hook would.
struct HookedRepo {
    scratch: crate::testkit::Scratch,
}

impl HookedRepo {
    fn new() -> Self {
        let scratch = crate::testkit::Scratch::new();
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

    /// The kind that post-commit learned of HEAD's commit.
    fn at_hook(&self) -> CommitKind {
        let head = self.scratch.rev("HEAD");
        let seen = self.scratch.path().join(".git/seen").join(head.to_string());
        let env = crate::RepoEnv { git_dir: Some(seen), ..Default::default() };
        let repo = Repo::open(&self.scratch.path(), &env).unwrap();
        assert_eq!(repo.head().unwrap().commit(), Some(head));
        repo.commit_origin(head).unwrap()
    }

    /// The kind that any later process learns.
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
    let it = HookedRepo::new();
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
    let it = HookedRepo::new();
    it.commit("a", "1");
    it.commit("a", "2");
    let named = |args: &[&str]| {
        let mut command = crate::testkit::command(&it.scratch.path(), args);
        assert!(command.env("GIT_REFLOG_ACTION", "custom").status().unwrap().success());
    };
    named(&["commit", "-q", "--allow-empty", "-m", "x"]);
    it.both(CommitKind::Normal, "commit");
    named(&["commit", "-q", "--amend", "--allow-empty", "-m", "y"]);
    it.both(CommitKind::Amend, "amend");
}

#[test]
fn merges() {
    let it = HookedRepo::branches();
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
    let it = HookedRepo::branches();
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
    let it = HookedRepo::branches();
    it.git(&["checkout", "-q", "-b", "topic", "side~1"]);
    it.commit("d", "1");
    it.git(&["rebase", "-q", "main"]);
    it.both(CommitKind::Rebase, "pick");
    assert_eq!(it.later("HEAD~1"), CommitKind::Rebase, "the pick before");
    for (step, rev) in [("reword", "HEAD"), ("squash", "HEAD"), ("fixup", "HEAD")] {
        it.commit("e", step);
        it.commit("f", step);
        let editor = format!("sed -i -e '{}s/pick/{step}/'", if step == "reword" { 1 } else { 2 });
        let mut command = crate::testkit::command(&it.scratch.path(), &["rebase", "-q", "-i", "HEAD~2"]);
        command.env("GIT_SEQUENCE_EDITOR", &editor).env("GIT_EDITOR", "sed -i -e '1s/^/x/'");
        assert!(command.output().unwrap().status.success(), "{step}");
        assert_eq!(it.later(rev), CommitKind::Rebase, "{step}");
        assert_eq!(it.at_hook(), CommitKind::Rebase, "{step}");
    }
}

#[test]
fn commits_at_a_stop_of_a_rebase() {
    let it = HookedRepo::branches();
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
    let mut command = crate::testkit::command(&it.scratch.path(), &["rebase", "-q", "-i", "HEAD~1"]);
    assert!(command.env("GIT_SEQUENCE_EDITOR", "sed -i -e 1s/pick/edit/").output().unwrap().status.success());
    it.scratch.write("y", "2");
    it.git(&["commit", "-q", "-a", "--amend", "--no-edit"]);
    assert_eq!(it.at_hook(), CommitKind::Amend, "amend at an edit stop");
    it.commit("z", "1");
    assert_eq!(it.at_hook(), CommitKind::Normal, "commit at an edit stop");
}

#[test]
fn without_a_reflog_the_state_files_tell() {
    let it = HookedRepo::branches();
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
    let it = HookedRepo::branches();
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
