//! Installing beside other hook managers, and taking everything out again. What the managers write is written here as
//! they write it; `tests/frameworks/run.sh` and `docs` tell of the real ones.

mod purge;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::support::Stage;

/// What husky 9 writes into `.husky/_/h`, without its own settings.
const HUSKY_H: &str = "#!/usr/bin/env sh\nn=$(basename \"$0\")\ns=$(dirname \"$(dirname \"$0\")\")/$n\n\n\
                       [ ! -f \"$s\" ] && exit 0\n[ \"${HUSKY-}\" = \"0\" ] && exit 0\nsh -e \"$s\" \"$@\"\nc=$?\nexit $c\n";

const HOOKS: [&str; 7] = [
    "pre-commit",
    "pre-merge-commit",
    "prepare-commit-msg",
    "post-commit",
    "post-merge",
    "post-rewrite",
    "pre-push",
];

fn program(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

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
    let stage = Stage::new();
    stage.write("andon.toml", "[test]\ncommand = \"echo 1..1; echo ok 1 - a\"\n");
    stage
}

#[test]
fn husky_gets_marked_lines_that_its_prepare_does_not_take_away() {
    let stage = ready();
    husky(&stage);
    stage.write(".husky/pre-commit", "echo LINT");
    stage.write(".husky/pre-push", "cat > pushed\n");
    let config = stage.read(".git/config");
    let said = stage.andon(&["install"]).ok().says("mode husky: .husky is here");
    assert!(said.stdout.contains(".husky/pre-commit: marked lines added"), "{said}");
    let lines = stage.read(".husky/pre-commit");
    assert!(lines.starts_with("echo LINT\n# >>> andon"), "{lines}");
    assert!(!lines.contains(&stage.root().to_string_lossy().into_owned()), "{lines}");
    stage.andon(&["install"]).ok().says("nothing changed");

    // What `prepare` runs at every `npm install`.
    husky(&stage);
    stage.andon(&["status"]).ok().lacks("hooks are gone");
    stage.git(&["add", "-A"]).ok();
    stage.git(&["commit", "-q", "-m", "untested"]).refused().says("LINT").says("untested-edit");
    stage.andon(&["test"]).ok();
    stage.git(&["commit", "-q", "-m", "tested"]).ok();
    assert_eq!(stage.record("HEAD")["gate"], "passed");
    stage.git(&["commit", "-q", "--amend", "-m", "amended"]).ok();
    assert_eq!(stage.record("HEAD")["kind"], "amend");
    stage.git(&["commit", "-q", "--no-verify", "--allow-empty", "-m", "past it"]).ok();
    assert_eq!(stage.record("HEAD")["gate"], "bypassed");

    let remote = stage.root().join("remote.git");
    stage.git(&["init", "-q", "--bare", remote.to_str().unwrap()]).ok();
    stage.git(&["push", "-q", remote.to_str().unwrap(), "HEAD:refs/heads/x"]).ok();
    assert!(stage.read("pushed").contains("refs/heads/x"), "both get the input");

    stage.andon(&["uninstall"]).ok().says("the lines of andon are out of it");
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
    stage.andon(&["install"]).ok().says("mode husky");
    assert!(stage.read(".husky/post-commit").starts_with(&format!("{head}# >>> andon")));
    assert!(stage.read(".husky/pre-commit").starts_with(head));
    stage.git(&["add", "-A"]).ok();
    stage.andon(&["test"]).ok();
    stage.git(&["commit", "-q", "-m", "tested"]).ok().says("mine");
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
    stage
        .andon(&["install"])
        .exits(2)
        .says("line 2 may end the script")
        .says("hook pre-commit \"$@\"")
        .says("andon install --mode shim");
    assert_eq!(stage.read(".husky/pre-commit"), "npm test\nexit 0\n");
    assert!(!stage.exists(".husky/post-commit") && !stage.exists(".git/andon/install.json"));
}

#[test]
fn lefthook_gets_a_file_of_this_clone_that_git_ignores() {
    let stage = ready();
    stage.write("lefthook.yml", "pre-commit:\n  commands:\n    lint:\n      run: echo LINT\n");
    stage.git(&["add", "-A"]).ok();
    let exclude = stage.exists(".git/info/exclude").then(|| stage.read(".git/info/exclude"));
    stage.andon(&["install"]).ok().says("mode lefthook: lefthook.yml is here").says("lefthook install");
    let local = stage.read("lefthook-local.yml");
    for hook in HOOKS {
        assert!(local.contains(&format!("\n{hook}:\n  commands:\n    zz-andon:\n")), "{local}");
    }
    stage.git(&["status", "--short"]).ok().lacks("lefthook-local.yml");
    stage.andon(&["status"]).ok().says("hooks are gone").says("help: lefthook install");
    for hook in HOOKS {
        program(&stage.path(&format!(".git/hooks/{hook}")), "#!/bin/sh\ncall_lefthook run\n");
    }
    stage.andon(&["status"]).ok().lacks("hooks are gone");
    stage.andon(&["install"]).ok().says("nothing changed");
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
    stage.andon(&["install"]).ok().says("mode pre-commit").says("pre-commit install");
    let after = stage.read(".pre-commit-config.yaml");
    assert!(
        after.starts_with("# ours\nrepos:\n  - repo: local\n    hooks:\n      - id: lint  # fast\n"),
        "{after}"
    );
    assert!(after.contains("entry: andon hook post-commit\n") && after.contains("\nci: {}\n"), "{after}");
    assert!(after.contains("default_install_hook_types: [pre-commit,"), "{after}");
    stage.andon(&["status"]).ok().says("help: pre-commit install --hook-type pre-commit");
    stage.andon(&["uninstall"]).ok();
    assert_eq!(stage.read(".pre-commit-config.yaml"), before);
    stage.write(".pre-commit-config.yaml", "repos: []\n");
    stage.andon(&["install"]).exits(2).says("cannot be edited safely").says("- repo: local");
    assert_eq!(stage.read(".pre-commit-config.yaml"), "repos: []\n");
}

#[test]
fn the_mode_can_be_said_and_changed() {
    let stage = ready();
    stage
        .andon(&["install", "--mode", "husky"])
        .exits(2)
        .says("husky is not set up here")
        .says("--mode shim");
    stage.andon(&["install", "--mode", "nothing"]).exits(2);
    husky(&stage);
    let hooks = stage.read(".husky/_/pre-commit");
    stage.andon(&["install", "--mode", "shim"]).ok().says("installed; the hook that was there");
    assert!(!stage.exists(".husky/pre-commit"));
    // An earlier choice holds.
    stage.andon(&["install"]).ok().says("nothing changed");
    stage.andon(&["install", "--mode", "husky"]).ok().says("the shims of the earlier mode are out of");
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
        stage.andon(&["install", "--mode", "config"]).ok();
        stage.andon(&["uninstall"]).ok();
        assert_eq!(stage.read(".git/config"), before);
    }
}

#[test]
fn a_hook_that_a_manager_took_away_is_no_bypass() {
    let stage = Stage::installed();
    // lefthook install with one hook: ours is renamed, its own takes the place.
    fs::rename(stage.path(".git/hooks/pre-commit"), stage.path(".git/hooks/pre-commit.old")).unwrap();
    program(&stage.path(".git/hooks/pre-commit"), "#!/bin/sh\ncall_lefthook()\n{\n:\n}\n");
    stage
        .andon(&["status"])
        .ok()
        .says("hooks are gone")
        .says("pre-commit was replaced by lefthook")
        .says("help: andon install");
    stage.write("new.c", "1\n");
    stage.git(&["add", "-A"]).ok();
    stage.git(&["commit", "-q", "-m", "nobody asked"]).ok();
    assert_eq!(stage.record("HEAD")["gate"], "not-run");
    let said = stage.andon(&["check", "HEAD~1..HEAD"]).refused().says("pre-commit was replaced by lefthook");
    assert!(!said.all().contains("--no-verify"), "{said}");

    // husky's prepare: another hooks path. Nothing records, and nobody is accused.
    husky(&stage);
    stage.andon(&["status"]).ok().says("hooks are gone").says("core.hooksPath");
    stage.write("other.c", "1\n");
    stage.git(&["add", "other.c"]).ok();
    stage.git(&["commit", "-q", "-m", "unseen"]).ok();
    stage.andon(&["check", "HEAD~1..HEAD"]).refused().lacks("--no-verify");
    stage.andon(&["install"]).ok().says("mode husky").says("the shims of the earlier mode are out of");
    stage.git(&["commit", "-q", "--allow-empty", "-m", "seen"]).ok();
    stage.andon(&["check", "HEAD~2..HEAD"]).lacks("--no-verify").says("while the hooks were off");

    stage.andon(&["install", "--mode", "shim"]).ok();
    fs::set_permissions(stage.path(".husky/_/post-commit"), fs::Permissions::from_mode(0o644)).unwrap();
    stage.andon(&["status"]).ok().says("post-commit is not executable");
    stage.andon(&["install"]).ok();
    stage.andon(&["status"]).ok().lacks("hooks are gone");
}
