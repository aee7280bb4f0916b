//! Beside other managers and without the program: what install promises before git starts it, what it leaves of others,
//! and what it would do.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::{collections::BTreeMap, fs};

use crate::support::{Stage, image::built, program};

fn ready() -> Stage {
    built!({
        let stage = Stage::new();
        stage.write("andon.toml", "[test]\ncommand = \"echo 1..1; echo ok 1 - a\"\n");
        stage
    })
}

/// The path without links in the folders that are there.
fn real(path: &str) -> String {
    let path = Path::new(path);
    let there = path.ancestors().find(|folder| folder.exists() && folder.is_dir()).unwrap();
    there.canonicalize().unwrap().join(path.strip_prefix(there).unwrap()).display().to_string()
}

/// Every file of the repository with its bytes.
fn files(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![root.to_owned()];
    while let Some(dir) = waiting.pop() {
        for entry in fs::read_dir(&dir).unwrap() {
            let path = entry.unwrap().path();
            let facts = fs::symlink_metadata(&path).unwrap();
            if facts.is_dir() {
                waiting.push(path);
            } else if facts.is_symlink() {
                let to = fs::read_link(&path).unwrap();
                found.insert(path, to.into_os_string().into_encoded_bytes());
            } else {
                let bytes = fs::read(&path).unwrap();
                found.insert(path, bytes);
            }
        }
    }
    found
}

#[test]
fn until_lefthook_runs_its_hooks_install_ends_with_2_and_commits_say_it() {
    let stage = ready();
    stage.write("lefthook.yml", "pre-commit:\n  commands:\n    lint:\n      run: echo LINT\n");
    stage.git(&["add", "-A"]).ok();
    let out = stage.andon(&["install"]).exits(2);
    assert!(out.stderr.trim_end().ends_with("help: lefthook install"), "{out}");
    assert!(out.stderr.contains("error[hooks]: commits are not guarded yet, lefthook"), "{out}");
    let said = stage.git(&["commit", "-q", "-m", "one"]).ok();
    let lines: Vec<&str> = said.stderr.lines().filter(|line| line.starts_with("andon: ")).collect();
    assert_eq!(lines.len(), 1, "{said}");
    assert!(lines[0].ends_with("run: lefthook install"), "{said}");
    // What lefthook does with the hook that it finds, and its own in all places.
    fs::rename(stage.path(".git/hooks/prepare-commit-msg"), stage.path(".git/hooks/prepare-commit-msg.old"))
        .unwrap();
    for hook in [
        "pre-commit",
        "pre-merge-commit",
        "prepare-commit-msg",
        "post-commit",
        "post-merge",
        "post-rewrite",
        "pre-push",
    ] {
        program(&stage.path(&format!(".git/hooks/{hook}")), "#!/bin/sh\ncall_lefthook run\n");
    }
    stage.andon(&["install"]).ok();
    assert!(!stage.exists(".git/hooks/prepare-commit-msg.old"), "the notice goes");
    let out = stage.andon(&["uninstall"]).ok();
    out.says("lefthook put hooks into").says("lefthook uninstall && lefthook install");
}

#[test]
fn the_notice_stands_behind_nobodys_hook_and_goes_with_andon() {
    let stage = ready();
    stage.write("lefthook.yml", "pre-commit:\n  commands: {}\n");
    program(&stage.path(".git/hooks/prepare-commit-msg"), "#!/bin/sh\nexit 0\n");
    stage.andon(&["install"]).exits(2);
    assert!(stage.exists(".git/hooks/post-commit"));
    stage.andon(&["install"]).exits(2).says("nothing changed");
    stage.andon(&["install", "--mode", "shim"]).ok();
    assert!(!stage.exists(".git/hooks/post-commit.andon-chained"), "it is no hook of somebody");
    stage.andon(&["uninstall"]).ok();
    assert!(!stage.exists(".git/hooks/post-commit"));
    assert_eq!(stage.read(".git/hooks/prepare-commit-msg"), "#!/bin/sh\nexit 0\n");
}

#[test]
fn frameworks_and_husky_are_waited_for_too() {
    let stage = ready();
    stage.write(".pre-commit-config.yaml", "repos:\n- repo: x\n");
    let out = stage.andon(&["install"]).exits(2).says("help: pre-commit install\n");
    out.says("help: where prek runs the hooks: prek install");
    let stage = ready();
    stage.write(".husky/pre-commit", "echo LINT\n");
    stage.andon(&["install"]).exits(2).says("help: npx husky");
}

#[test]
fn a_framework_that_runs_the_gate_and_records_nothing_says_so_at_each_commit() {
    let stage = ready();
    let types = "default_install_hook_types: [pre-commit, commit-msg]\n";
    stage.write(".pre-commit-config.yaml", format!("{types}repos:\n- repo: x\n"));
    let andon = crate::support::andon_path();
    let hook = format!("#!/bin/sh\n# pre-commit\nPRE_COMMIT=1 '{}' hook pre-commit\n", andon.display());
    program(&stage.path(".git/hooks/pre-commit"), &hook);
    stage.steps("git add -A; andon test");
    let said = stage.git(&["commit", "-q", "-m", "one"]).ok();
    assert!(
        said.stderr.contains("this commit will not be recorded: no hook for prepare-commit-msg, post-commit"),
        "{said}"
    );
    assert!(said.stderr.contains("help: pre-commit install --hook-type pre-commit --hook-type"), "{said}");
    // Where nothing is installed, as in CI, the hook is called by hand.
    fs::remove_file(stage.path(".git/hooks/pre-commit")).unwrap();
    stage.set("PRE_COMMIT", "1");
    stage.andon(&["hook", "pre-commit"]).ok().lacks("recorded");
}

#[test]
fn lines_in_files_of_others_let_pass_without_the_program_and_say_so_once() {
    // husky, as it runs its hooks.
    let stage = ready();
    for hook in ["pre-commit", "prepare-commit-msg", "post-commit"] {
        let script = "#!/bin/sh\nsh -e \"$(dirname \"$(dirname \"$0\")\")/$(basename \"$0\")\" \"$@\"\n";
        program(&stage.path(&format!(".husky/_/{hook}")), script);
    }
    stage.steps("git config core.hooksPath .husky/_; andon install");
    fs::remove_file(stage.path(".git/andon/program")).unwrap();
    stage.git(&["add", "-A"]).ok();
    let said = stage.git(&["commit", "-q", "-m", "one"]).ok();
    let lines: Vec<&str> = said.stderr.lines().collect();
    assert_eq!(lines.len(), 1, "{said}");
    assert!(
        lines[0].starts_with("andon: program not found, this commit was not checked; put andon on the PATH"),
        "{said}"
    );
    // A program for another machine.
    let mut other = fs::read("/bin/true").unwrap();
    (other[18], other[19]) = (0xb7, 0x7f);
    fs::write(stage.path(".git/andon/program"), other).unwrap();
    fs::set_permissions(stage.path(".git/andon/program"), fs::Permissions::from_mode(0o755)).unwrap();
    stage.git(&["commit", "-q", "--allow-empty", "-m", "two"]).ok().says("andon: program not found");
    stage.set("ANDON", "0");
    stage.git(&["commit", "-q", "--allow-empty", "-m", "three"]).ok().lacks("andon: program");
}

#[test]
fn hooks_of_all_repositories_are_never_hidden_without_a_word() {
    let stage = ready();
    stage.write("code.c", "1\n");
    let theirs = stage.root().join("my hooks");
    for hook in ["pre-commit", "commit-msg"] {
        program(&theirs.join(hook), &format!("#!/bin/sh\necho THEIR {hook}\n"));
    }
    let global = stage.root().join("gitconfig");
    fs::write(&global, format!("[core]\n\thooksPath = {}\n", theirs.display())).unwrap();
    stage.set("GIT_CONFIG_GLOBAL", global.to_str().unwrap());
    let before = stage.read(".git/config");
    stage.andon(&["install", "--dry-run"]).ok().says("would set core.hooksPath = ");
    stage.andon(&["install"]).ok().says("for all your repositories").says(".git/andon/hooks");
    assert_eq!(fs::read_dir(&theirs).unwrap().count(), 2, "theirs is not touched");
    stage.git(&["add", "-A"]).ok();
    stage.git(&["commit", "-q", "-m", "untested"]).refused().says("THEIR pre-commit").says("untested-edit");
    stage.andon(&["test"]).ok();
    let said = stage.git(&["commit", "-q", "-m", "tested"]).ok();
    assert_eq!(said.stderr, "THEIR pre-commit\nTHEIR commit-msg\n");
    assert_eq!(stage.record("HEAD")["gate"], "passed");
    stage.andon(&["doctor"]).says("shared-hooks").says("the hooks there run too");
    stage.andon(&["install"]).ok().says("nothing changed");
    stage.andon(&["install", "--dry-run"]).ok().says("nothing would change");
    stage.andon(&["uninstall"]).ok();
    assert_eq!(stage.read(".git/config"), before);
    assert!(!stage.exists(".git/andon/hooks"));
    stage.git(&["commit", "-q", "--allow-empty", "-m", "after"]).ok().says("THEIR commit-msg");

    // Hidden by the repository itself, or by another: told.
    stage.git(&["config", "core.hooksPath", ".git/hooks"]).ok();
    stage.andon(&["install"]).ok().says("the hooks there do not run here");
    let out = stage.andon(&["doctor"]).says("the hooks there do not run here");
    out.says("git config --local --unset-all core.hooksPath");
}

#[test]
fn a_dry_run_names_every_file_and_changes_none() {
    let cases: [(&str, &[(&str, &str)]); 5] = [
        ("shim", &[]),
        ("shim", &[(".git/hooks/pre-commit", "#!/bin/sh\n")]),
        ("husky", &[(".husky/pre-commit", "echo LINT\n")]),
        ("lefthook", &[("lefthook.yml", "pre-commit:\n  commands: {}\n")]),
        ("pre-commit", &[(".pre-commit-config.yaml", "# mine\nrepos:\n- repo: x\n")]),
    ];
    for (mode, there) in cases {
        let stage = Stage::new();
        for (name, text) in there {
            program(&stage.path(name), text);
        }
        let before = files(stage.dir());
        stage.andon(&["install", "--dry-run", "--mode", mode]).ok().says("nothing was changed (--dry-run)");
        let plan = stage.andon(&["install", "--dry-run", "--mode", mode, "--format", "json"]).ok();
        let plan = plan.json();
        assert_eq!(files(stage.dir()), before, "{mode}");
        stage.andon(&["install", "--mode", mode]);
        let after = files(stage.dir());
        let mut changed: Vec<String> = after
            .iter()
            .filter(|(path, bytes)| before.get(*path) != Some(bytes))
            .map(|(path, _)| real(path.to_str().unwrap()))
            .collect();
        let mut named: Vec<String> = Vec::new();
        for step in plan["steps"].as_array().unwrap() {
            let name = |key: &str| step[key].as_str().map(real);
            named.extend(name("path").or_else(|| name("to")));
            if step["action"] == "set" {
                named.push(real(stage.path(".git/config").to_str().unwrap()));
            }
            if let (Some(path), Some(text)) = (name("path"), step["text"].as_str()) {
                assert_eq!(String::from_utf8_lossy(&after[Path::new(&path)]), text, "{mode}: {path}");
            }
        }
        changed.sort();
        named.sort();
        named.dedup();
        assert_eq!(changed, named, "{mode}: {plan:#}");
    }
}

#[test]
fn uninstall_takes_the_hooks_of_clients_along_or_names_the_command() {
    let stage = ready();
    stage.andon(&["install"]).ok();
    stage.write(".claude/settings.json", "{\n  \"model\": \"x\"\n}\n");
    stage.steps("andon agent install claude; andon agent install gemini --user");
    let out = stage.andon(&["uninstall"]).ok();
    let out = out.says(".claude/settings.json: the hooks of andon in Claude Code are out of it");
    out.says(
        "in the settings of Gemini CLI for all your repositories stay: andon agent uninstall gemini --user",
    );
    assert_eq!(stage.read(".claude/settings.json"), "{\n  \"model\": \"x\"\n}\n");
    // What a colleague committed is not ours to take out.
    stage.andon(&["agent", "install", "claude"]).ok();
    let committed = stage.read(".claude/settings.json");
    let _ = fs::remove_dir_all(stage.path(".git/andon"));
    stage.andon(&["uninstall"]).ok().says("of the project stay: andon agent uninstall claude --project");
    assert_eq!(stage.read(".claude/settings.json"), committed);
}
