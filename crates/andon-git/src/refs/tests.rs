use super::*;
use crate::NewCommit;
use crate::testkit::{Scratch, until_free};
use andon_core::domain::Timestamp;

const NAME: &str = "refs/andon/test";

fn append(repo: &Repo, text: &str) -> Result<CommitId> {
    until_free(|| append_once(repo, text))
}

fn append_once(repo: &Repo, text: &str) -> Result<CommitId> {
    repo.update_ref(NAME, "append", |tip| {
        let blob = repo.write_blob(text.as_bytes())?;
        let entry = crate::TreeEntry { name: b"e".to_vec(), mode: 0o100_644, id: blob };
        let tree = repo.write_tree_entries(&[entry])?;
        let new = NewCommit { tree, parents: tip.as_slice(), message: text, at: Timestamp(1_700_000_000) };
        let commit = repo.write_commit(&new)?;
        Ok(Update::Set(commit, commit))
    })
}

#[test]
fn writers_side_by_side_lose_nothing() {
    let scratch = Scratch::new();
    let path = scratch.path();
    std::thread::scope(|scope| {
        for writer in 0..8 {
            let path = path.clone();
            scope.spawn(move || {
                let repo = Repo::open(&path, &crate::RepoEnv::default()).unwrap();
                for number in 0..25 {
                    append(&repo, &format!("{writer}/{number}")).unwrap();
                }
            });
        }
    });
    let subjects = scratch.git(&["log", "--format=%s", NAME]);
    let mut seen: Vec<&str> = subjects.lines().collect();
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), 200);
    assert!(!scratch.path().join(".git/refs/andon/test.lock").exists());
}

#[test]
fn refs_are_listed_by_prefix() {
    let scratch = Scratch::new();
    let commit = scratch.commit("a", "1", "one");
    for name in ["refs/andon/ledger/b", "refs/andon/ledger/a", "refs/andon/ledgers", "refs/notes/x"] {
        scratch.git(&["update-ref", name, "HEAD"]);
    }
    let repo = scratch.open();
    let found = repo.refs_with_prefix("refs/andon/ledger/").unwrap();
    let want = ["a", "b"].map(|name| (format!("refs/andon/ledger/{name}"), commit.0));
    assert_eq!(found, want);
    scratch.git(&["pack-refs", "--all"]);
    assert_eq!(repo.refs_with_prefix("refs/andon/ledger/").unwrap(), want);
    assert_eq!(repo.refs_with_prefix("refs/andon/*").unwrap(), vec![]);
    assert_eq!(repo.ref_target("refs/andon/ledger/a").unwrap(), Some(commit.0));
    assert_eq!(repo.ref_target("refs/andon/ledger/none").unwrap(), None);
    assert!(repo.ref_target("../x").is_err());
    assert!(repo.ref_target("refs/a\0b").is_err());
}

#[test]
fn a_listing_has_what_git_has() {
    let scratch = Scratch::new();
    scratch.commit("a", "1", "one");
    let branches = ["b", "topic/one", "topic/two", "topics"];
    for name in branches {
        scratch.git(&["branch", name]);
    }
    scratch.git(&["tag", "-a", "-m", "x", "v1"]);
    scratch.git(&["symbolic-ref", "refs/heads/link", "refs/heads/b"]);
    scratch.git(&["symbolic-ref", "refs/heads/nowhere", "refs/heads/none"]);
    scratch.git(&["worktree", "add", "-q", "-b", "elsewhere", "wt"]);
    let as_git = |prefix: &str| -> Vec<(String, String)> {
        let all = scratch.git(&["for-each-ref", "--format=%(refname) %(objectname)"]);
        let rows = all.lines().filter_map(|line| line.split_once(' '));
        rows.filter(|(name, _)| name.starts_with(prefix)).map(|(name, id)| (name.into(), id.into())).collect()
    };
    let check = |repo: &Repo| {
        for prefix in
            ["refs/heads/", "refs/heads/topic", "refs/heads/topic/", "refs/tags/", "refs/", "refs/x/"]
        {
            let found = repo.refs_with_prefix(prefix).unwrap().into_iter();
            let found: Vec<_> = found.map(|(name, id)| (name, id.to_string())).collect();
            assert_eq!(found, as_git(prefix), "{prefix}");
        }
        for outside in ["../", "/", "", "refs/heads/../../objects/"] {
            assert_eq!(repo.refs_with_prefix(outside).unwrap(), [], "{outside}");
        }
    };
    check(&scratch.open());
    scratch.git(&["pack-refs", "--all"]);
    let repo = scratch.open();
    check(&repo);
    // Some are packed, others newer and loose, and one is gone.
    scratch.commit("a", "2", "two");
    scratch.git(&["branch", "-f", "topic/one"]);
    scratch.git(&["branch", "-D", "topics"]);
    scratch.git(&["branch", "topics/three"]);
    std::fs::write(scratch.path().join(".git/refs/heads/topic/two.lock"), "").unwrap();
    check(&repo);
    check(&Repo::open(&scratch.path().join("wt"), &crate::RepoEnv::default()).unwrap());
}

#[test]
fn a_lock_left_behind_is_named_with_its_hint() {
    let scratch = Scratch::new();
    let repo = scratch.open();
    append(&repo, "one").unwrap();
    let lock = scratch.path().join(".git/refs/andon/test.lock");
    std::fs::write(&lock, "").unwrap();
    let error = append(&repo, "two").unwrap_err();
    assert!(matches!(error, GitError::RefLocked { .. }), "{error}");
    assert!(error.to_string().contains("refs/andon/test.lock"), "{error}");
    assert!(error.help().unwrap().contains("rm "));
    std::fs::remove_file(&lock).unwrap();
    append(&repo, "two").unwrap();
}

#[test]
fn a_lock_that_goes_away_is_waited_for() {
    let scratch = Scratch::new();
    let repo = scratch.open();
    append(&repo, "one").unwrap();
    let lock = scratch.path().join(".git/refs/andon/test.lock");
    std::fs::write(&lock, "").unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(100));
            std::fs::remove_file(&lock).unwrap();
        });
        append(&repo, "two").unwrap();
    });
}

#[test]
fn a_tip_that_is_no_commit_is_never_replaced() {
    let scratch = Scratch::new();
    let repo = scratch.open();
    let blob = repo.write_blob(b"someone's").unwrap();
    scratch.git(&["update-ref", NAME, &blob.to_string()]);
    let error = append(&repo, "one").unwrap_err();
    assert!(matches!(error, GitError::TipNotCommit { .. }), "{error}");
    assert_eq!(repo.ref_target(NAME).unwrap(), Some(blob));
    // The hint of the error works unchanged.
    for command in error.help().unwrap().split_once(": ").unwrap().1.split(" && ") {
        let words: Vec<&str> = command.split(' ').skip(1).collect();
        scratch.git(&words);
    }
    append(&repo, "one").unwrap();
}

#[test]
fn an_error_of_the_caller_leaves_ref_and_lock_alone() {
    let scratch = Scratch::new();
    let repo = scratch.open();
    let tip = append(&repo, "one").unwrap();
    let error = repo.update_ref::<()>(NAME, "", |_| Err(repo.ref_message(NAME, "no"))).unwrap_err();
    assert!(error.to_string().contains("no"));
    assert_eq!(repo.update_ref(NAME, "", |tip| Ok(Update::Keep(tip))).unwrap(), Some(tip));
    append(&repo, "two").unwrap();
}

#[test]
fn a_symbolic_ref_is_followed_not_replaced() {
    let scratch = Scratch::new();
    let repo = scratch.open();
    scratch.git(&["symbolic-ref", "refs/andon/test", "refs/andon/real"]);
    let tip = append(&repo, "one").unwrap();
    assert_eq!(scratch.rev("refs/andon/real"), tip);
    assert_eq!(scratch.git(&["symbolic-ref", "refs/andon/test"]), "refs/andon/real");
}
