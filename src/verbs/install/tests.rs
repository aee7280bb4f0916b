//! Installing into real repositories of every layout, made by the real git.

mod layouts;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::{collections::BTreeMap, fs, os::unix::fs::PermissionsExt as _};

use super::{InstallArgs, plan::InstallReport, plan::install, remove::uninstall, *};
use crate::install::{HookRemoval, InstallError, Result, steps};
use crate::setup::{DISPLAY_REF, names_notes_ref};
use andon_git::RepoEnv;

/// A folder with repositories in it, and a program that hooks can start.
pub(crate) struct Scratch {
    dir: tempfile::TempDir,
    pub(crate) program: PathBuf,
}

const PROGRAM: &str = "#!/bin/sh\n{ printf '%s' \"$*\"; [ -t 0 ] || cat; echo; } >> \"$LOG\"\nexit 0\n";

impl Scratch {
    pub(crate) fn new() -> Self {
        let dir = tempfile::Builder::new().prefix("it's an andon ").tempdir().unwrap();
        let program = dir.path().join("bin dir/an'don");
        fs::create_dir(program.parent().unwrap()).unwrap();
        write_hook(&program, PROGRAM, 0o755);
        Self { dir, program }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    #[allow(clippy::disallowed_methods, reason = "a test runs the real git")]
    pub(crate) fn run(&self, at: &Path, args: &[&str]) -> Output {
        Command::new(args[0])
            .args(&args[1..])
            .current_dir(at)
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("HOME", self.dir.path())
            .env("LOG", self.path("log"))
            .envs([("GIT_CONFIG_NOSYSTEM", "1"), ("GIT_AUTHOR_NAME", "a"), ("GIT_AUTHOR_EMAIL", "a@b")])
            .envs([("GIT_COMMITTER_NAME", "a"), ("GIT_COMMITTER_EMAIL", "a@b")])
            .output()
            .unwrap()
    }

    pub(crate) fn git(&self, at: &Path, args: &[&str]) -> String {
        let out = self.run(at, &[&["git"], args].concat());
        assert!(out.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8_lossy(&out.stdout).trim_end_matches('\n').to_owned()
    }

    pub(crate) fn init(&self, name: &str) -> PathBuf {
        let at = self.path(name);
        self.git(self.dir.path(), &["init", "-q", at.to_str().unwrap()]);
        at
    }

    pub(crate) fn install(&self, at: &Path) -> Result<InstallReport> {
        let report = install(&open(at), &self.program, &InstallArgs::default())?;
        self.settle(&report.hooks_dir);
        Ok(report)
    }

    /// As `andon install --fetch`.
    pub(crate) fn fetch(&self, at: &Path) {
        let options = InstallArgs { fetch: true, ..InstallArgs::default() };
        install(&open(at), &self.program, &options).unwrap();
    }

    /// Puts copies in place of the shims: this process wrote them, and a child that another test forked just
    /// then may still hold them open, which keeps git from starting them (`ETXTBSY`).
    fn settle(&self, hooks: &Path) {
        let script = r#"for f in "$1"/*; do
            if grep -q '^# andon hook shim' "$f"; then cp -p "$f" "$1/copy" && mv "$1/copy" "$f"; fi
        done"#;
        self.run(hooks, &["sh", "-c", script, "sh", hooks.to_str().unwrap()]);
    }

    fn log(&self) -> Vec<String> {
        let text = fs::read_to_string(self.path("log")).unwrap_or_default();
        let _ = fs::remove_file(self.path("log"));
        text.lines().map(|line| line.split(' ').take(2).collect::<Vec<_>>().join(" ")).collect()
    }

    /// The hooks that a commit runs, in order.
    pub(crate) fn commit(&self, at: &Path) -> Vec<String> {
        self.log();
        self.git(at, &["commit", "-q", "--allow-empty", "-m", "x"]);
        self.log()
    }
}

/// The hooks of one commit that start the program: pre-commit only leaves a mark.
const COMMIT_HOOKS: [&str; 2] = ["hook prepare-commit-msg", "hook post-commit"];

fn open(at: &Path) -> Repo {
    Repo::open(at, &RepoEnv::default()).unwrap()
}

fn write_hook(path: &Path, text: &str, mode: u32) {
    andon_testkit::write_program(path, text, mode);
}

/// Every file below `dir`: mode and bytes, or the target of a link.
fn snapshot(dir: &Path) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![dir.to_owned()];
    while let Some(dir) = waiting.pop() {
        let Ok(entries) = fs::read_dir(&dir) else { continue };
        for entry in entries {
            let path = entry.unwrap().path();
            let facts = fs::symlink_metadata(&path).unwrap();
            if facts.is_symlink() {
                let target = fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes();
                found.insert(path, (0, target));
            } else if facts.is_dir() {
                found.insert(path.clone(), (facts.permissions().mode(), Vec::new()));
                waiting.push(path);
            } else {
                found.insert(path.clone(), (facts.permissions().mode(), fs::read(&path).unwrap()));
            }
        }
    }
    found
}

#[test]
fn installed_twice_runs_once_and_goes_without_a_trace() {
    let scratch = Scratch::new();
    let at = scratch.init("plain");
    fs::write(at.join("Cargo.toml"), "").unwrap();
    fs::create_dir(at.join("tests")).unwrap();
    fs::write(at.join("tests/all.rs"), "").unwrap();
    let before = snapshot(&at);
    let report = scratch.install(&at).unwrap();
    assert_eq!(report.hooks.len(), GitHook::ALL.len());
    assert!(report.first_config.as_ref().is_some_and(|first| first.guess.command() == Some("cargo test")));
    assert!(fs::read_to_string(at.join("andon.toml")).unwrap().contains("\ncommand = \"cargo test\"\n"));
    assert!(!scratch.git(&at, &["config", "--list"]).contains("displayref"));
    assert!(!report.display_ref_added);
    assert_eq!(report.remarks, Vec::<String>::new());
    let installed = snapshot(&at);
    assert!(!report.changed_nothing());
    assert!(scratch.install(&at).unwrap().changed_nothing());
    assert_eq!(snapshot(&at), installed);

    // Asked for once, it stays until it is taken out.
    let shown = InstallArgs { show_notes: true, ..InstallArgs::default() };
    assert!(install(&open(&at), &scratch.program, &shown).unwrap().display_ref_added);
    assert!(install(&open(&at), &scratch.program, &shown).unwrap().changed_nothing());
    assert!(scratch.install(&at).unwrap().changed_nothing());
    assert_eq!(scratch.git(&at, &["config", "--get-all", "notes.displayRef"]), DISPLAY_REF);

    let report = uninstall(&open(&at)).unwrap();
    assert!(!report.is_incomplete());
    assert_eq!(report.display_refs, [DISPLAY_REF]);
    assert!(report.remarks[0].starts_with("andon.toml stays"), "{:?}", report.remarks);
    fs::remove_file(at.join("andon.toml")).unwrap();
    assert_eq!(snapshot(&at), before);
    assert_eq!(uninstall(&open(&at)).unwrap().display_refs, Vec::<String>::new());
    assert_eq!(snapshot(&at), before);
}

#[test]
fn git_runs_what_was_installed() {
    let scratch = Scratch::new();
    let at = scratch.init("runs");
    scratch.install(&at).unwrap();
    assert_eq!(scratch.commit(&at), COMMIT_HOOKS);
    scratch.git(&at, &["commit", "-q", "--amend", "--allow-empty", "-m", "y"]);
    assert_eq!(scratch.log()[2], "hook post-rewrite");
    scratch.git(&at, &["checkout", "-q", "-b", "side", "HEAD"]);
    scratch.git(&at, &["commit", "-q", "--allow-empty", "-m", "another message, another id"]);
    scratch.git(&at, &["checkout", "-q", "-"]);
    scratch.commit(&at);
    scratch.git(&at, &["merge", "-q", "--no-ff", "--no-edit", "side"]);
    assert_eq!(scratch.log(), ["hook pre-merge-commit", "hook prepare-commit-msg", "hook post-merge"]);
    let remote = scratch.path("remote.git");
    scratch.git(&at, &["init", "-q", "--bare", remote.to_str().unwrap()]);
    scratch.git(&at, &["push", "-q", remote.to_str().unwrap(), "HEAD"]);
    assert_eq!(scratch.log()[0], "hook pre-push");
}

#[test]
fn the_shim_finds_another_program_or_runs_the_chained_hook() {
    let scratch = Scratch::new();
    let at = scratch.init("shim");
    write_hook(&at.join(".git/hooks/pre-commit"), "#!/bin/sh\necho chained >> \"$LOG\"\nexit 9\n", 0o755);
    scratch.install(&at).unwrap();
    fs::remove_file(&scratch.program).unwrap();
    let hooks = at.join(".git/hooks");
    for shell in ["dash", "bash", "sh"] {
        let out = scratch.run(&at, &[shell, hooks.join("pre-commit").to_str().unwrap()]);
        assert_eq!(out.status.code(), Some(9), "{shell}");
        assert_eq!(scratch.log(), ["chained"], "{shell}");
        // One line a commit: the hook that every commit runs says it.
        for (hook, off, lines) in [
            ("post-commit", "1", 0),
            ("prepare-commit-msg", "1", 1),
            ("pre-push", "1", 1),
            ("prepare-commit-msg", "0", 0),
        ] {
            let hook = hooks.join(hook);
            let off = format!("ANDON={off}");
            let out = scratch.run(&at, &["env", &off, shell, hook.to_str().unwrap()]);
            let said = String::from_utf8_lossy(&out.stderr).into_owned();
            assert_eq!(out.status.code(), Some(0), "{shell}");
            assert_eq!(said.matches("no program that starts here").count(), lines, "{shell} {said}");
        }
    }
    let other = scratch.path("other");
    fs::create_dir(&other).unwrap();
    write_hook(&other.join("andon"), PROGRAM, 0o755);
    let path = format!("PATH={}:/usr/bin:/bin", other.display());
    let out = scratch.run(&at, &["env", &path, "dash", hooks.join("pre-push").to_str().unwrap(), "a b"]);
    assert_eq!((out.status.code(), out.stderr.as_slice()), (Some(0), &b""[..]));
    assert_eq!(scratch.log(), ["hook pre-push"]);
}

#[test]
fn hooks_that_were_there_come_back_byte_for_byte() {
    let scratch = Scratch::new();
    let at = scratch.init("chained");
    let hooks = at.join(".git/hooks");
    write_hook(&hooks.join("pre-commit"), "#!/bin/sh\necho \u{e9}\n", 0o700);
    write_hook(&hooks.join("post-commit"), "#!/bin/sh\n", 0o644);
    write_hook(&at.join("elsewhere"), "#!/bin/sh\n", 0o755);
    std::os::unix::fs::symlink("../../elsewhere", hooks.join("pre-push")).unwrap();
    std::os::unix::fs::symlink("nowhere", hooks.join("post-merge")).unwrap();
    scratch.git(&at, &["config", "--add", "notes.displayRef", "refs/notes/mine"]);
    let before = snapshot(&at);
    let shown = InstallArgs { show_notes: true, ..InstallArgs::default() };
    let report = install(&open(&at), &scratch.program, &shown).unwrap();
    let chained: Vec<&str> = report
        .hooks
        .iter()
        .filter(|(_, intent)| *intent == Intent::Write(Displacement::Chained))
        .map(|(hook, _)| hook.name())
        .collect();
    assert_eq!(chained, ["pre-commit", "post-commit", "post-merge", "pre-push"]);
    assert!(scratch.install(&at).unwrap().changed_nothing());
    assert_eq!(fs::read_link(hooks.join("pre-push.andon-chained")).unwrap(), Path::new("../../elsewhere"));
    assert_eq!(
        scratch.git(&at, &["config", "--get-all", "notes.displayRef"]),
        format!("refs/notes/mine\n{DISPLAY_REF}")
    );
    uninstall(&open(&at)).unwrap();
    fs::remove_file(at.join("andon.toml")).unwrap();
    assert_eq!(snapshot(&at), before);
}

#[test]
fn a_lost_manifest_still_lets_hooks_be_restored() {
    let scratch = Scratch::new();
    let at = scratch.init("lost");
    write_hook(&at.join(".git/hooks/pre-commit"), "#!/bin/sh\n", 0o755);
    let before = snapshot(&at.join(".git/hooks"));
    scratch.install(&at).unwrap();
    let manifest = at.join(".git/andon/install.json");
    fs::write(&manifest, "{").unwrap();
    assert!(uninstall(&open(&at)).unwrap_err().to_string().contains("install.json"));
    fs::remove_file(&manifest).unwrap();
    uninstall(&open(&at)).unwrap();
    assert_eq!(snapshot(&at.join(".git/hooks")), before);
}

#[test]
fn a_moved_program_updates_the_shims() {
    let mut scratch = Scratch::new();
    let at = scratch.init("moved");
    scratch.install(&at).unwrap();
    let before = scratch.program.clone();
    scratch.program = scratch.path("andon2");
    write_hook(&scratch.program, &fs::read_to_string(before).unwrap(), 0o755);
    let report = scratch.install(&at).unwrap();
    assert!(report.hooks.iter().all(|(_, intent)| *intent == Intent::Write(Displacement::OlderShim)));
    assert!(fs::read_to_string(at.join(".git/hooks/pre-commit")).unwrap().contains("/andon2'"));
    let names = fs::read_dir(at.join(".git/hooks")).unwrap().map(|entry| entry.unwrap().file_name());
    assert!(names.into_iter().all(|name| !name.to_string_lossy().starts_with(".andon-")));
    assert_eq!(scratch.commit(&at), COMMIT_HOOKS);
}

#[test]
fn what_somebody_changed_is_left_alone() {
    let scratch = Scratch::new();
    let at = scratch.init("edited");
    let hooks = at.join(".git/hooks");
    write_hook(&hooks.join("pre-commit"), "#!/bin/sh\necho mine\n", 0o755);
    write_hook(&hooks.join("pre-push"), "#!/bin/sh\necho push\n", 0o755);
    scratch.install(&at).unwrap();
    let mut edited = fs::read(hooks.join("pre-commit")).unwrap();
    edited.extend_from_slice(b"echo more\n");
    fs::write(hooks.join("pre-commit"), &edited).unwrap();
    write_hook(&hooks.join("pre-push"), "#!/bin/sh\necho replaced\n", 0o755);
    let before = snapshot(&at);
    let error = scratch.install(&at).unwrap_err().to_string();
    assert!(
        error.contains("pre-commit is the andon shim, edited") && error.contains("pre-push was replaced"),
        "{error}"
    );
    assert_eq!(snapshot(&at), before);

    let report = uninstall(&open(&at)).unwrap();
    let left: Vec<&str> = report.places[0]
        .hooks
        .iter()
        .filter(|(_, what)| matches!(what, HookRemoval::Left(_)))
        .map(|(hook, _)| hook.name())
        .collect();
    assert_eq!(left, ["pre-commit", "pre-push"]);
    assert!(report.is_incomplete());
    assert_eq!(fs::read(hooks.join("pre-commit")).unwrap(), edited);
    assert!(hooks.join("pre-commit.andon-chained").exists() && hooks.join("pre-push.andon-chained").exists());
    assert!(!hooks.join("post-commit").exists());
    fs::remove_file(hooks.join("pre-commit")).unwrap();
    fs::remove_file(hooks.join("pre-push")).unwrap();
    assert!(!uninstall(&open(&at)).unwrap().is_incomplete());
    assert_eq!(fs::read(hooks.join("pre-commit")).unwrap(), b"#!/bin/sh\necho mine\n");
    assert!(!at.join(".git/andon").exists());
}

#[test]
fn what_regenerated_itself_or_took_us_in_is_understood() {
    let scratch = Scratch::new();
    let at = scratch.init("tools");
    let hooks = at.join(".git/hooks");
    let husky = "#!/usr/bin/env sh\n. \"$(dirname \"$0\")/h\"";
    write_hook(&hooks.join("pre-push"), husky, 0o755);
    let framework = "#!/usr/bin/env bash\n# File generated by pre-commit: https://pre-commit.com\n";
    write_hook(&hooks.join("post-merge"), framework, 0o755);
    scratch.install(&at).unwrap();
    write_hook(&hooks.join("pre-push"), husky, 0o755);
    write_hook(&hooks.join("post-merge"), &format!("{framework}# newer\n"), 0o755);
    fs::rename(hooks.join("pre-commit"), hooks.join("pre-commit.legacy")).unwrap();
    write_hook(&hooks.join("pre-commit"), framework, 0o755);
    let report = scratch.install(&at).unwrap();
    let done: BTreeMap<&str, Intent> =
        report.hooks.iter().map(|(hook, intent)| (hook.name(), *intent)).collect();
    assert_eq!(done["pre-push"], Intent::Write(Displacement::Twin));
    assert_eq!(done["post-merge"], Intent::Write(Displacement::NewerOfSameTool));
    assert!(matches!(done["pre-commit"], Intent::RunsThrough(_)));
    assert!(fs::read_to_string(hooks.join("post-merge.andon-chained")).unwrap().ends_with("# newer\n"));
    assert!(scratch.install(&at).unwrap().changed_nothing());
    let report = uninstall(&open(&at)).unwrap();
    assert!(report.is_incomplete());
    assert!(hooks.join("pre-commit.legacy").exists());
    assert_eq!(fs::read_to_string(hooks.join("pre-push")).unwrap(), husky);
}

#[test]
fn failing_half_way_leaves_everything_as_it_was() {
    let scratch = Scratch::new();
    let at = scratch.init("half");
    let hooks = at.join(".git/hooks");
    write_hook(&hooks.join("pre-commit"), "#!/bin/sh\necho mine\n", 0o755);
    // The manifest cannot be written where its folder is a file.
    fs::write(at.join(".git/andon"), "").unwrap();
    let before = snapshot(&at);
    let error = scratch.install(&at).unwrap_err();
    assert!(error.to_string().contains("andon"), "{error}");
    assert_eq!(snapshot(&at), before);

    fs::remove_file(at.join(".git/andon")).unwrap();
    let before = snapshot(&at);
    // The last hook's place is taken between looking and writing.
    let planned = plan::preview(&open(&at), Path::new("/bin/andon"), &InstallArgs::default()).unwrap();
    let shim = |step: &&Step| matches!(step, Step::Write(edit) if edit.path == hooks.join("post-commit"));
    let again = planned.steps.iter().find(shim).unwrap().clone();
    let steps = [planned.steps, vec![again]].concat();
    assert!(steps::apply(Some(&open(&at)), &steps).is_err());
    assert_eq!(snapshot(&at), before);
}

#[test]
fn a_program_path_must_be_absolute() {
    let scratch = Scratch::new();
    let at = scratch.init("relative");
    let error = install(&open(&at), Path::new("target/andon"), &InstallArgs::default()).unwrap_err();
    assert!(matches!(error, InstallError::RelativeProgram { .. }));
}

#[test]
fn patterns_that_mean_our_notes() {
    for (pattern, wanted) in [
        ("refs/notes/andon", true),
        (DISPLAY_REF, true),
        ("refs/notes/*", true),
        ("refs/*", true),
        ("*", true),
        ("refs/notes/commits", false),
        ("refs/notes/andon2", false),
        ("refs/notes/[", false),
        ("", false),
    ] {
        assert_eq!(names_notes_ref(pattern), wanted, "{pattern}");
    }
}
