use super::*;
use crate::testkit::{Scratch, git_in};
use crate::{Head, Repo, RepoEnv};

fn with_git_dir(git_dir: PathBuf) -> RepoEnv {
    RepoEnv { git_dir: Some(git_dir), ..RepoEnv::default() }
}

#[test]
fn a_plain_repository_is_found_from_below() {
    let scratch = Scratch::new();
    let commit = scratch.commit("a/b/c", "1", "one");
    for dir in ["", "a", "a/b", ".git", ".git/refs"] {
        let repo = Repo::open(&scratch.path().join(dir), &RepoEnv::default()).unwrap();
        assert_eq!(repo.git_dir(), scratch.path().join(".git"), "{dir}");
        assert_eq!(repo.common_dir(), repo.git_dir());
        assert_eq!(repo.index_path(), scratch.path().join(".git/index"));
        assert_eq!(repo.worktree_name(), "main");
        assert_eq!(repo.head().unwrap(), Head::Branch { name: "main".into(), commit });
        assert_eq!(repo.workdir(), Some(scratch.path().as_path()), "{dir}");
        assert!(!repo.is_bare() && !repo.is_shallow());
    }
}

#[test]
fn heads_without_a_commit_or_a_branch() {
    let scratch = Scratch::new();
    let head = scratch.open().head().unwrap();
    assert_eq!(head, Head::Unborn { branch: "main".into() });
    assert_eq!((head.commit(), head.branch()), (None, Some("main")));
    let commit = scratch.commit("a", "1", "one");
    scratch.git(&["checkout", "-q", "--detach"]);
    assert_eq!(scratch.open().head().unwrap(), Head::Detached { commit });
    scratch.git(&["checkout", "-q", "--orphan", "feature/x"]);
    assert_eq!(scratch.open().head().unwrap(), Head::Unborn { branch: "feature/x".into() });
}

#[test]
fn bare_repositories_have_no_working_tree() {
    let scratch = Scratch::with(&["--bare"]);
    let repo = scratch.open();
    assert!(repo.is_bare());
    assert_eq!(repo.workdir(), None);
    assert!(matches!(repo.worktree_overlay(), Err(GitError::NoWorkTree { .. })));
    assert_eq!(repo.hooks_dir().unwrap(), scratch.path().join("hooks"));
}

#[test]
fn an_embedded_bare_repository_is_refused_where_git_refuses_it() {
    let scratch = Scratch::new();
    scratch.commit("a", "1", "one");
    let embedded = scratch.path().join("deep/er/embedded");
    scratch.git(&["init", "-q", "--bare", embedded.to_str().unwrap()]);
    assert!(Repo::open(&embedded, &RepoEnv::default()).unwrap().is_bare());
    assert!(is_implicitly_bare(&embedded, &embedded));
    assert!(is_implicitly_bare(&embedded.join("refs"), &embedded));
    for ordinary in ["", "deep", ".git", ".git/refs"] {
        let dir = scratch.path().join(ordinary);
        assert!(!is_implicitly_bare(&dir, &scratch.path().join(".git")), "{ordinary}");
    }
}

#[test]
fn the_search_ends_at_a_ceiling() {
    let scratch = Scratch::new();
    scratch.commit("a/b/c", "1", "one");
    let below = scratch.path().join("a/b");
    let under = |ceilings: &[&Path]| {
        let list: Vec<&str> = ceilings.iter().map(|path| path.to_str().unwrap()).collect();
        let env = RepoEnv { ceilings: Some(list.join(":").into()), ..RepoEnv::default() };
        Repo::open(&below, &env).map(drop)
    };
    let (top, a) = (scratch.path(), scratch.path().join("a"));
    assert!(under(&[]).is_ok());
    assert!(under(&[Path::new("relative")]).is_ok());
    // The directory where the search begins is always looked at, and one that is not above it says nothing.
    assert!(under(&[&below]).is_ok());
    assert!(matches!(under(&[&a]), Err(GitError::NotARepository { .. })));
    assert!(matches!(under(&[Path::new("/elsewhere"), &top]), Err(GitError::NotARepository { .. })));
    assert!(under(&[top.parent().unwrap()]).is_ok());
}

#[test]
fn a_linked_worktree_has_its_own_head_and_index_and_shares_the_rest() {
    let scratch = Scratch::new();
    scratch.commit("a", "1", "one");
    let linked = scratch.beside("linked");
    scratch.git(&["worktree", "add", "-q", "-b", "side", linked.to_str().unwrap()]);
    let private = scratch.path().join(".git/worktrees/linked");
    for env in [RepoEnv::default(), with_git_dir(private.clone())] {
        let repo = Repo::open(&linked, &env).unwrap();
        assert_eq!(repo.git_dir(), private);
        assert_eq!(repo.common_dir(), scratch.path().join(".git"));
        assert_eq!(repo.workdir(), Some(linked.as_path()));
        assert_eq!(repo.worktree_name(), "linked");
        assert_eq!(repo.head().unwrap().branch(), Some("side"));
        assert_eq!(repo.index_path(), private.join("index"));
        assert_eq!(repo.write_tree().unwrap(), scratch.tree("HEAD"));
        assert_eq!(repo.hooks_dir().unwrap(), scratch.path().join(".git/hooks"));
    }
}

#[test]
fn a_linked_worktree_that_was_moved_by_hand_is_where_it_is() {
    let scratch = Scratch::new();
    scratch.commit("a", "1", "one");
    let (linked, moved) = (scratch.beside("linked"), scratch.beside("moved"));
    scratch.git(&["worktree", "add", "-q", linked.to_str().unwrap()]);
    std::fs::rename(&linked, &moved).unwrap();
    std::fs::create_dir(moved.join("below")).unwrap();
    let private = scratch.path().join(".git/worktrees/linked");
    let below = moved.join("below");
    for (dir, env) in
        [(&moved, RepoEnv::default()), (&below, RepoEnv::default()), (&moved, with_git_dir(private))]
    {
        let repo = Repo::open(dir, &env).unwrap();
        assert_eq!(repo.workdir(), Some(moved.as_path()));
        assert_eq!(repo.worktree_overlay().unwrap().entries, vec![]);
    }
}

#[test]
fn a_submodule_is_a_repository_of_its_own() {
    let scratch = Scratch::new();
    scratch.commit("a", "1", "one");
    let other = Scratch::new();
    other.commit("b", "1", "b");
    scratch.git(&["submodule", "-q", "add", other.path().to_str().unwrap(), "sub"]);
    let top = scratch.path().join("sub");
    for env in [RepoEnv::default(), with_git_dir(scratch.path().join(".git/modules/sub"))] {
        let repo = Repo::open(&top, &env).unwrap();
        assert_eq!(repo.git_dir(), scratch.path().join(".git/modules/sub"));
        assert_eq!(repo.workdir(), Some(top.as_path()));
        assert_eq!(repo.worktree_name(), "main");
    }
}

#[test]
fn git_dir_alone_makes_the_current_directory_the_top() {
    let scratch = Scratch::new();
    scratch.commit("a", "1", "one");
    let apart = scratch.beside("apart.git");
    std::fs::rename(scratch.path().join(".git"), &apart).unwrap();
    let repo = Repo::open(&scratch.path(), &with_git_dir("../apart.git".into())).unwrap();
    assert_eq!(repo.git_dir(), apart);
    assert_eq!(repo.workdir(), Some(scratch.path().as_path()));
    assert_eq!(repo.worktree_overlay().unwrap().entries, vec![]);
    let env = RepoEnv { work_tree: Some(scratch.path()), ..with_git_dir(apart.clone()) };
    let repo = Repo::open(&scratch.beside(""), &env).unwrap();
    assert_eq!(repo.workdir(), Some(scratch.path().as_path()));
}

#[test]
fn the_given_index_is_the_effective_one() {
    let scratch = Scratch::new();
    scratch.commit("a", "1", "one");
    std::fs::copy(scratch.path().join(".git/index"), scratch.path().join(".git/other")).unwrap();
    scratch.commit("a", "2", "two");
    for file in [PathBuf::from(".git/other"), scratch.path().join(".git/other")] {
        let env = RepoEnv { index_file: Some(file), ..RepoEnv::default() };
        let repo = Repo::open(&scratch.path(), &env).unwrap();
        assert_eq!(repo.index_path(), scratch.path().join(".git/other"));
        assert_eq!(repo.write_tree().unwrap(), scratch.tree("HEAD~1"));
    }
}

#[test]
fn what_is_no_repository_says_so() {
    let empty = tempfile::tempdir().unwrap();
    let error = Repo::open(empty.path(), &RepoEnv::default()).unwrap_err();
    assert!(matches!(error, GitError::NotARepository { .. }), "{error}");
    let error = Repo::open(empty.path(), &with_git_dir("nowhere".into())).unwrap_err();
    assert!(matches!(error, GitError::NotARepository { .. }), "{error}");
    assert!(error.help().is_some());
}

#[test]
fn formats_that_cannot_be_read_are_named() {
    for (args, want) in
        [(["--ref-format=reftable"], "reftable"), (["--object-format=sha256"], "SHA-256 object ids")]
    {
        let scratch = Scratch::with(&args);
        let error = Repo::open(&scratch.path(), &RepoEnv::default()).unwrap_err();
        let GitError::Unsupported { feature, .. } = &error else { panic!("{error}") };
        assert_eq!(feature, want);
        assert!(error.help().is_some());
    }
}

#[test]
fn another_users_repository_names_the_directory_to_list() {
    let error = git2::Error::new(
        ErrorCode::Owner,
        git2::ErrorClass::Config,
        "repository path '/some where/r/.git' is not owned by current user",
    );
    let help = open_error(Path::new("/x"), &error).help().unwrap();
    assert_eq!(help, "git config --global --add safe.directory '/some where/r'");
}

#[test]
fn ownership_is_checked_as_git_does() {
    let scratch = Scratch::new();
    let give_away = |path: &Path| std::os::unix::fs::chown(path, Some(4_294), None);
    if give_away(&scratch.path()).is_err() || give_away(&scratch.path().join(".git")).is_err() {
        return; // Only the superuser can give files away.
    }
    let error = Repo::open(&scratch.path(), &RepoEnv::default()).unwrap_err();
    let GitError::Unsafe { dir } = &error else { panic!("{error}") };
    assert_eq!(dir, &scratch.path());
}

#[test]
fn the_hooks_directory_is_what_git_says() {
    let scratch = Scratch::new();
    assert_eq!(scratch.open().hooks_dir().unwrap(), scratch.path().join(".git/hooks"));
    scratch.git(&["config", "core.hooksPath", ".githooks"]);
    assert_eq!(scratch.open().hooks_dir().unwrap(), scratch.path().join(".githooks"));
    std::fs::create_dir(scratch.path().join("below")).unwrap();
    let below = Repo::open(&scratch.path().join("below"), &RepoEnv::default()).unwrap();
    assert_eq!(below.hooks_dir().unwrap(), scratch.path().join(".githooks"));
}

#[test]
fn the_last_value_of_a_key_counts() {
    let scratch = Scratch::new();
    scratch.git(&["config", "andon.x", "one"]);
    scratch.git(&["config", "--add", "andon.x", "two"]);
    scratch.git(&["config", "user.name", "Name"]);
    scratch.git(&["config", "user.email", "n@m"]);
    std::fs::OpenOptions::new()
        .append(true)
        .open(scratch.path().join(".git/config"))
        .and_then(|mut file| std::io::Write::write_all(&mut file, b"[andon]\n\tbare\n"))
        .unwrap();
    let repo = scratch.open();
    assert_eq!(repo.config_string("andon.x").as_deref(), Some("two"));
    assert_eq!(repo.config_string("andon.none"), None);
    assert_eq!(repo.config_string("andon.bare").as_deref(), Some("true"));
    assert_eq!(repo.config_string("not a key"), None);
    assert_eq!(repo.committer(), "Name <n@m>");
}

#[test]
fn an_unreadable_git_dir_file_is_an_error() {
    let scratch = Scratch::new();
    std::fs::write(scratch.path().join(".git/config"), "[core\n").unwrap();
    let error = Repo::open(&scratch.path(), &RepoEnv::default()).unwrap_err();
    assert!(error.to_string().contains("config"), "{error}");
    assert!(!git_in(Path::new("/"), &["--version"]).is_empty());
}
