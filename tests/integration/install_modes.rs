//! Installing beside other hook managers, and taking everything out again. What the managers write is written here as
//! they write it; `tests/frameworks/run.sh` and `docs` tell of the real ones.

mod purge;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use insta::assert_snapshot;

use crate::support::{Stage, image::built, program};

/// What husky 9 writes into `.husky/_/h`, without its own settings.
const HUSKY_H: &str = "#!/usr/bin/env sh\nn=$(basename \"$0\")\ns=$(dirname \"$(dirname \"$0\")\")/$n\n\n\
                       [ ! -f \"$s\" ] && exit 0\n[ \"${HUSKY-}\" = \"0\" ] && exit 0\nsh -e \"$s\" \"$@\"\nc=$?\nexit $c\n";

const HOOKS: [&str; 10] = [
    "pre-commit",
    "pre-merge-commit",
    "prepare-commit-msg",
    "post-commit",
    "post-merge",
    "post-rewrite",
    "pre-push",
    "pre-applypatch",
    "post-applypatch",
    "pre-rebase",
];

/// husky 9, as `npx husky` leaves it.
fn husky(stage: &Stage) {
    for hook in HOOKS {
        program(&stage.path(&format!(".husky/_/{hook}")), "#!/usr/bin/env sh\n. \"$(dirname \"$0\")/h\"");
    }
    stage.write(".husky/_/h", HUSKY_H);
    stage.write(".husky/_/.gitignore", "*");
    stage.git(&["config", "core.hooksPath", ".husky/_"]).ok();
}

fn ready() -> Stage {
    built!({
        let stage = Stage::new();
        stage.write("andon.toml", "[test]\ncommand = \"echo 1..1; echo ok 1 - a\"\n");
        stage
    })
}

#[test]
fn husky_gets_marked_lines_that_its_prepare_does_not_take_away() {
    let stage = ready();
    husky(&stage);
    stage.write(".husky/pre-commit", "echo LINT");
    stage.write(".husky/pre-push", "cat > pushed\n");
    let config = stage.read(".git/config");
    let said = stage.andon(&["install"]);
    assert_snapshot!(said.shown());
    let lines = stage.read(".husky/pre-commit");
    assert!(lines.starts_with("echo LINT\n# >>> andon"), "{lines}");
    assert!(!lines.contains(&stage.root().to_string_lossy().into_owned()), "{lines}");
    assert_snapshot!(stage.andon(&["install"]).brief(), @"exit 0, stdout: Andon is installed by husky already; nothing changed");

    // What `prepare` runs at every `npm install`.
    husky(&stage);
    stage.andon(&["status"]).ok().lacks("hooks are gone");
    stage.git(&["add", "-A"]).ok();
    assert_snapshot!(stage.git(&["commit", "-q", "-m", "untested"]).brief(), @"
    exit 1, stderr: LINT
    error[untested-edit]: commit refused: code changed and its tests never ran on it
    ");
    stage.steps("andon test; git commit -q -m tested");
    assert_eq!(stage.record("HEAD")["gate"], "passed");
    stage.git(&["commit", "-q", "--amend", "-m", "amended"]).ok();
    assert_eq!(stage.record("HEAD")["kind"], "amend");
    stage.git(&["commit", "-q", "--no-verify", "--allow-empty", "-m", "past it"]).ok();
    assert_eq!(stage.record("HEAD")["gate"], "bypassed");

    let remote = stage.root().join("remote.git");
    stage.git(&["init", "-q", "--bare", remote.to_str().unwrap()]).ok();
    stage.git(&["push", "-q", remote.to_str().unwrap(), "HEAD:refs/heads/x"]).ok();
    assert!(stage.read("pushed").contains("refs/heads/x"), "both get the input");

    assert_snapshot!(stage.andon(&["uninstall"]).shown(), @"
    exit 0
    --- stdout
      ROOT/repo/.husky/pre-commit: the lines of andon are out of it
      ROOT/repo/.husky/pre-merge-commit: the lines of andon are out of it
      ROOT/repo/.husky/prepare-commit-msg: the lines of andon are out of it
      ROOT/repo/.husky/post-commit: the lines of andon are out of it
      ROOT/repo/.husky/post-merge: the lines of andon are out of it
      ROOT/repo/.husky/post-rewrite: the lines of andon are out of it
      ROOT/repo/.husky/pre-push: the lines of andon are out of it
      ROOT/repo/.husky/pre-applypatch: the lines of andon are out of it
      ROOT/repo/.husky/post-applypatch: the lines of andon are out of it
      ROOT/repo/.husky/pre-rebase: the lines of andon are out of it
    andon.push: taken out again
    note: andon.toml stays, it is yours: rm ROOT/repo/andon.toml
    note: the records of 3 commits in refs/notes/andon, ROOT/repo/.git/andon stay; to delete them too: andon uninstall --purge
    ");
    assert_eq!(stage.read(".husky/pre-commit"), "echo LINT");
    assert_eq!(stage.read(".husky/pre-push"), "cat > pushed\n");
    assert_eq!(stage.read(".git/config"), config);
    assert!(!stage.exists(".husky/post-commit") && !stage.exists(".git/andon/program"));
}

#[test]
fn older_husky_reads_its_script_first() {
    let stage = ready();
    stage.write(".husky/_/husky.sh", "export SOURCED=1\n");
    let head = "#!/usr/bin/env sh\n. \"$(dirname -- \"$0\")/_/husky.sh\"\n";
    program(&stage.path(".husky/post-commit"), &format!("{head}\necho mine\n"));
    stage.git(&["config", "core.hooksPath", ".husky"]).ok();
    let said = stage
        .andon(&["install"])
        .ok()
        .says("mode husky: .husky is here (another: andon install --mode MODE)");
    assert_eq!(said.stdout.matches(": marked lines added\n").count(), HOOKS.len(), "{said}");
    assert!(stage.read(".husky/post-commit").starts_with(&format!("{head}# >>> andon")));
    assert!(stage.read(".husky/pre-commit").starts_with(head));
    stage.steps("git add -A; andon test");
    assert_snapshot!(stage.git(&["commit", "-q", "-m", "tested"]).brief(), @"exit 0, stderr: mine");
    assert_eq!(stage.record("HEAD")["gate"], "passed");
    stage.andon(&["uninstall"]).ok();
    assert_eq!(stage.read(".husky/post-commit"), format!("{head}\necho mine\n"));
    assert!(!stage.exists(".husky/pre-commit"));
}

#[test]
fn a_script_that_ends_early_is_left_to_the_person() {
    let stage = ready();
    husky(&stage);
    stage.write(".husky/pre-commit", "npm test\nexit 0\n");
    let out = stage.andon(&["install"]).exits(2).says("line 2 may end the script");
    out.says("hook pre-commit \"$@\"").says("andon install --mode shim");
    assert_eq!(stage.read(".husky/pre-commit"), "npm test\nexit 0\n");
    assert!(!stage.exists(".husky/post-commit") && !stage.exists(".git/andon/install.json"));
}

#[test]
fn lefthook_gets_a_file_of_this_clone_that_git_ignores() {
    let stage = ready();
    stage.write("lefthook.yml", "pre-commit:\n  commands:\n    lint:\n      run: echo LINT\n");
    stage.git(&["add", "-A"]).ok();
    let exclude = stage.exists(".git/info/exclude").then(|| stage.read(".git/info/exclude"));
    assert_snapshot!(stage.andon(&["install"]).shown(), @"
    exit 2
    --- stdout
    mode lefthook: lefthook.yml is here (another: andon install --mode MODE)
      ROOT/repo/lefthook-local.yml: marked lines added
      ROOT/repo/.git/info/exclude: marked lines added
    note: lefthook-local.yml is for this clone alone; for everybody, move its lines into the configuration of the project
    each git push also sends the records; to turn that off: git config andon.push false
    --- stderr
    error[hooks]: commits are not guarded yet, lefthook does not start andon here: no hook for pre-commit, prepare-commit-msg, post-commit that git could start is in ROOT/repo/.git/hooks
      help: lefthook install
    ");
    let local = stage.read("lefthook-local.yml");
    for hook in HOOKS {
        assert!(local.contains(&format!("\n{hook}:\n  commands:\n    zz-andon:\n")), "{local}");
    }
    stage.git(&["status", "--short"]).ok().lacks("lefthook-local.yml");
    assert_snapshot!(stage.andon(&["status"]).shown(), @"
    exit 0
    --- stdout
    Loop 0/100  hooks are gone: commits are neither checked nor recorded
      hooks      no hook for pre-commit, prepare-commit-msg, post-commit that git could start is in ROOT/repo/.git/hooks
                 help: lefthook install
      branch     main, no commit yet
      tests      echo 1..1; echo ok 1 - a
                 work tree: never run
    ");
    for hook in HOOKS {
        program(&stage.path(&format!(".git/hooks/{hook}")), "#!/bin/sh\ncall_lefthook run\n");
    }
    stage.andon(&["status"]).ok().lacks("hooks are gone");
    assert_snapshot!(stage.andon(&["install"]).brief(), @"exit 0, stdout: Andon is installed by lefthook already; nothing changed");
    stage.andon(&["uninstall"]).ok();
    assert!(!stage.exists("lefthook-local.yml"));
    assert_eq!(stage.exists(".git/info/exclude").then(|| stage.read(".git/info/exclude")), exclude);

    stage.write("lefthook-local.yml", "pre-push:\n  jobs:\n    - run: x\n");
    stage.andon(&["install"]).exits(2).says("it configures pre-push already").says("zz-andon");
    assert_eq!(stage.read("lefthook-local.yml"), "pre-push:\n  jobs:\n    - run: x\n");
}

#[test]
fn pre_commit_gets_an_entry_and_keeps_its_comments() {
    let stage = ready();
    let before = "# ours\nrepos:\n  - repo: local\n    hooks:\n      - id: lint  # fast\n        name: lint\n\nci: {}\n";
    stage.write(".pre-commit-config.yaml", before);
    assert_snapshot!(stage.andon(&["install"]).shown(), @"
    exit 2
    --- stdout
    mode pre-commit: .pre-commit-config.yaml is here (another: andon install --mode MODE)
      ROOT/repo/.pre-commit-config.yaml: marked lines added
    note: commit the file: its lines are the same for everybody, and let pass where andon is not installed
    each git push also sends the records; to turn that off: git config andon.push false
    --- stderr
    error[hooks]: commits are not guarded yet, pre-commit does not start andon here: no hook for pre-commit, prepare-commit-msg, post-commit that git could start is in ROOT/repo/.git/hooks
      help: pre-commit install
      help: where prek runs the hooks: prek install
    ");
    let after = stage.read(".pre-commit-config.yaml");
    assert!(after.contains("\nrepos:\n  - repo: local\n    hooks:\n      - id: lint  # fast\n"), "{after}");
    assert!(
        after.contains("\"$ANDON_PROGRAM\" hook post-commit \"$@\"") && after.contains("\nci: {}\n"),
        "{after}"
    );
    assert!(after.contains("default_install_hook_types: [pre-commit,"), "{after}");
    assert!(after.contains("\ndefault_stages: [pre-commit]\n"), "{after}");
    stage.andon(&["status"]).ok().says("help: pre-commit install\n");
    stage.andon(&["uninstall"]).ok();
    assert_eq!(stage.read(".pre-commit-config.yaml"), before);
    stage.write(".pre-commit-config.yaml", "repos: []\n");
    stage.andon(&["install"]).exits(2).says("cannot be edited safely").says("- repo: local");
    assert_eq!(stage.read(".pre-commit-config.yaml"), "repos: []\n");
}

#[test]
fn the_mode_can_be_said_and_changed() {
    let stage = ready();
    assert_snapshot!(stage.andon(&["install", "--mode", "husky"]).shown(), @"
    exit 2
    --- stderr
    error: husky is not set up here
      help: npx husky init, or: andon install --mode shim
    ");
    stage.andon(&["install", "--mode", "nothing"]).exits(2);
    husky(&stage);
    let hooks = stage.read(".husky/_/pre-commit");
    assert_snapshot!(stage.andon(&["install", "--mode", "shim"]).shown(), @"
    exit 0
    --- stdout
    hooks in ROOT/repo/.husky/_:
      pre-commit          installed; the hook that was there, now pre-commit.andon-chained, runs before it
      pre-merge-commit    installed; the hook that was there, now pre-merge-commit.andon-chained, runs before it
      prepare-commit-msg  installed; the hook that was there, now prepare-commit-msg.andon-chained, runs before it
      post-commit         installed; the hook that was there, now post-commit.andon-chained, runs after it
      post-merge          installed; the hook that was there, now post-merge.andon-chained, runs after it
      post-rewrite        installed; the hook that was there, now post-rewrite.andon-chained, runs after it
      pre-push            installed; the hook that was there, now pre-push.andon-chained, runs before it
      pre-applypatch      installed; the hook that was there, now pre-applypatch.andon-chained, runs before it
      post-applypatch     installed; the hook that was there, now post-applypatch.andon-chained, runs after it
      pre-rebase          installed; the hook that was there, now pre-rebase.andon-chained, runs before it
    note: the hooks are in the working tree (ROOT/repo/.husky/_): they hold a path of this machine, so do not commit them
    each git push also sends the records; to turn that off: git config andon.push false
    ");
    assert!(!stage.exists(".husky/pre-commit"));
    // An earlier choice holds.
    assert_snapshot!(stage.andon(&["install"]).brief(), @"exit 0, stdout: Andon is installed in ROOT/repo/.husky/_ already; nothing changed");
    let said = stage.andon(&["install", "--mode", "husky"]).ok();
    assert_eq!(said.stdout.matches(": marked lines added\n").count(), HOOKS.len(), "{said}");
    said.says("note: the shims of the earlier mode are out of ").says("note: commit .husky: ");
    assert_eq!(stage.read(".husky/_/pre-commit"), hooks);
    stage.andon(&["uninstall"]).ok();
    assert!(!stage.exists(".husky/pre-commit"));
    assert_eq!(stage.read(".husky/_/pre-commit"), hooks);
}

#[test]
fn config_hooks_need_a_git_that_reads_them() {
    let stage = ready();
    let version = stage.git(&["--version"]).ok().stdout;
    let number = version.trim().trim_start_matches("git version ");
    let minor: u32 = number.split('.').nth(1).unwrap().parse().unwrap();
    let before = stage.read(".git/config");
    if number.starts_with("2.") && minor < 54 {
        let said = stage.andon(&["install", "--mode", "config"]).exits(2);
        assert!(said.stderr.contains("config hooks need git 2.54; this is 2."), "{said}");
        assert!(said.stderr.contains("help: andon install --mode shim"), "{said}");
        assert_eq!(stage.read(".git/config"), before);
        assert!(!stage.exists(".git/andon/install.json"));
    } else {
        stage.steps("andon install --mode config; andon uninstall");
        assert_eq!(stage.read(".git/config"), before);
    }
}

#[test]
fn a_hook_that_a_manager_took_away_is_no_bypass() {
    let stage = Stage::installed();
    // lefthook install with one hook: ours is renamed, its own takes the place.
    fs::rename(stage.path(".git/hooks/pre-commit"), stage.path(".git/hooks/pre-commit.old")).unwrap();
    program(&stage.path(".git/hooks/pre-commit"), "#!/bin/sh\ncall_lefthook()\n{\n:\n}\n");
    let out = stage.andon(&["status"]).ok().says("hooks are gone");
    out.says("pre-commit was replaced by lefthook").says("help: andon install");
    stage.steps("echo 1 > new.c; git add -A; git commit -q -m 'nobody asked'");
    assert_eq!(stage.record("HEAD")["gate"], "not-run");
    let said = stage.andon(&["check", "HEAD~1..HEAD"]);
    assert_snapshot!(said.shown(), @"
    exit 1
    --- stdout
    error[gate-not-run]: the gate did not run for the commit (pre-commit was replaced by lefthook)
      --> HASH nobody asked
      help: have a person review the commit, then merge it by hand or commit it again with hooks on
    error[untested-code]: the code changed, and no test run on exactly this code is recorded
      --> HASH nobody asked
      help: git rebase -r --exec 'andon test && git commit --amend --no-edit' HASH
    checked 1 commit in HEAD~1..HEAD: 2 errors
    ");
    assert!(!said.all().contains("--no-verify"), "{said}");

    // husky's prepare: another hooks path. Nothing records, and no one is accused.
    husky(&stage);
    stage.andon(&["status"]).ok().says("hooks are gone").says("core.hooksPath");
    stage.steps("echo 1 > other.c; git add other.c; git commit -q -m unseen");
    stage.andon(&["check", "HEAD~1..HEAD"]).refused().lacks("--no-verify");
    assert_snapshot!(stage.andon(&["install"]).shown());
    stage.git(&["commit", "-q", "--allow-empty", "-m", "seen"]).ok();
    assert_snapshot!(stage.andon(&["check", "HEAD~2..HEAD"]).lacks("--no-verify").brief(), @"
    exit 1, stdout: error[bypassed]: the commit was made while the hooks were off --> HASH unseen
    error[untested-code]: the code changed, and no test run on exactly this code is recorded --> HASH unseen
    checked 2 commits in HEAD~2..HEAD: 2 errors
    ");

    stage.andon(&["install", "--mode", "shim"]).ok();
    fs::set_permissions(stage.path(".husky/_/post-commit"), fs::Permissions::from_mode(0o644)).unwrap();
    stage.andon(&["status"]).ok().says("post-commit is not executable");
    stage.andon(&["install"]).ok();
    stage.andon(&["status"]).ok().lacks("hooks are gone");
}
