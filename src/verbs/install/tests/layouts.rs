//! Worktrees, submodules, bare repositories and hooks paths.

use super::*;

#[test]
fn linked_worktrees_submodules_and_separate_git_dirs() {
    let scratch = Scratch::new();
    let at = scratch.init("main");
    scratch.commit(&at);
    let linked = scratch.path("linked\nworktree");
    scratch.git(&at, &["worktree", "add", "-q", "-b", "linked", linked.to_str().unwrap()]);
    let report = scratch.install(&linked).unwrap();
    assert_eq!(report.hooks_dir.canonicalize().unwrap(), at.join(".git/hooks").canonicalize().unwrap());
    assert_eq!(
        (scratch.commit(&linked), scratch.commit(&at)),
        (COMMIT_HOOKS.map(str::to_owned).to_vec(), COMMIT_HOOKS.map(str::to_owned).to_vec())
    );
    assert!(scratch.install(&at).unwrap().hooks.iter().all(|(_, intent)| *intent == Intent::Keep));
    uninstall(&open(&at)).unwrap();
    assert_eq!(scratch.commit(&linked), Vec::<String>::new());

    let outer = scratch.init("outer");
    scratch.git(
        &outer,
        &["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", at.to_str().unwrap(), "sub"],
    );
    scratch.install(&outer.join("sub")).unwrap();
    assert!(outer.join(".git/modules/sub/hooks/pre-commit").exists());
    assert_eq!(scratch.commit(&outer.join("sub")), COMMIT_HOOKS);
    assert_eq!(scratch.commit(&outer), Vec::<String>::new());

    let (work, separate) = (scratch.path("work"), scratch.path("separate dir"));
    scratch.git(
        scratch.dir.path(),
        &["init", "-q", "--separate-git-dir", separate.to_str().unwrap(), work.to_str().unwrap()],
    );
    scratch.install(&work).unwrap();
    assert_eq!(scratch.commit(&work), COMMIT_HOOKS);

    let git_dir = scratch.path("dotfiles.git");
    scratch.git(scratch.dir.path(), &["init", "-q", "--bare", git_dir.to_str().unwrap()]);
    let home = scratch.path("home");
    fs::create_dir(&home).unwrap();
    let env = RepoEnv { git_dir: Some(git_dir.clone()), work_tree: Some(home.clone()), ..RepoEnv::default() };
    let repo = Repo::open(&home, &env).unwrap();
    install(&repo, &scratch.program, &InstallArgs::default()).unwrap();
    assert!(git_dir.join("hooks/pre-commit").exists() && home.join("andon.toml").exists());
    assert!(uninstall(&repo).is_ok());
    assert!(!git_dir.join("hooks/pre-commit").exists());
}

#[test]
fn a_bare_repository_is_refused_and_its_worktree_is_not() {
    let scratch = Scratch::new();
    let at = scratch.init("source");
    scratch.commit(&at);
    let bare = scratch.path("bare.git");
    scratch.git(&at, &["clone", "-q", "--bare", at.to_str().unwrap(), bare.to_str().unwrap()]);
    let before = snapshot(&bare);
    let error = scratch.install(&bare).unwrap_err();
    assert!(matches!(error, InstallError::Bare { .. }) && error.help().is_some());
    assert_eq!(snapshot(&bare), before);
    let linked = scratch.path("of bare");
    scratch.git(&bare, &["worktree", "add", "-q", "-b", "new", linked.to_str().unwrap()]);
    scratch.install(&linked).unwrap();
    assert_eq!(scratch.commit(&linked), COMMIT_HOOKS);
}

#[test]
fn a_local_hooks_path_is_honoured_and_its_folder_goes_again() {
    let scratch = Scratch::new();
    let at = scratch.init("husky");
    scratch.git(&at, &["config", "core.hooksPath", ".made/for us/_"]);
    fs::create_dir(at.join("below")).unwrap();
    let before = snapshot(&at);
    let report = scratch.install(&at.join("below")).unwrap();
    assert!(report.hooks_dir.ends_with(".made/for us/_"), "{report:?}");
    assert!(report.remarks[0].contains("do not commit them"), "{report:?}");
    assert_eq!(scratch.commit(&at.join("below")), COMMIT_HOOKS);
    let keep = at.join(".made/keep");
    fs::write(&keep, "").unwrap();
    uninstall(&open(&at)).unwrap();
    assert!(keep.exists() && !at.join(".made/for us").exists());
    fs::remove_dir_all(at.join(".made")).unwrap();
    scratch.install(&at).unwrap();
    scratch.git(&at, &["config", "core.hooksPath", ".other"]);
    uninstall(&open(&at)).unwrap();
    scratch.git(&at, &["config", "core.hooksPath", ".made/for us/_"]);
    fs::remove_file(at.join("andon.toml")).unwrap();
    let after = snapshot(&at);
    assert_eq!(
        after.keys().filter(|path| !before.contains_key(*path) && !path.starts_with(at.join(".git"))).count(),
        0
    );
}

#[test]
fn a_hooks_path_of_one_worktree_is_its_own() {
    let scratch = Scratch::new();
    let at = scratch.init("wtconfig");
    scratch.commit(&at);
    let linked = scratch.path("other");
    scratch.git(&at, &["worktree", "add", "-q", linked.to_str().unwrap()]);
    scratch.git(&at, &["config", "extensions.worktreeConfig", "true"]);
    scratch.git(&linked, &["config", "--worktree", "core.hooksPath", ".hooks"]);
    let report = scratch.install(&linked).unwrap();
    assert_eq!(report.hooks_dir.canonicalize().unwrap(), linked.join(".hooks").canonicalize().unwrap());
    assert_eq!(scratch.commit(&linked), COMMIT_HOOKS);
    assert_eq!(scratch.commit(&at), Vec::<String>::new());
}

#[test]
fn a_hooks_path_that_is_no_directory_is_refused() {
    let scratch = Scratch::new();
    let at = scratch.init("null");
    scratch.git(&at, &["config", "core.hooksPath", "/dev/null"]);
    let before = snapshot(&at);
    let error = scratch.install(&at).unwrap_err();
    assert!(matches!(error, InstallError::NoDirectory { .. }), "{error}");
    assert_eq!(error.help().unwrap(), "git config --local --unset-all core.hooksPath");
    assert_eq!(snapshot(&at), before);
}
