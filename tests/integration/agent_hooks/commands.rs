//! Commands as agents type them, a set of each kind. What disarms the guard does not succeed, whatever its words are; what
//! people do every day is neither refused nor told. The commands run in a real shell between the two hooks.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;

use super::{bash, halted, hook, lines};
use crate::support::{Stage, andon_path, image::built};
use andon_git::{Repo, RepoEnv};

mod disarming;
mod everyday;

/// All that guards the loop here.
fn guard(stage: &Stage) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(stage.path(".git/hooks")).into_iter().flatten() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if !name.ends_with(".sample") && path.is_file() {
            let mode = path.metadata().unwrap().permissions().mode() & 0o111;
            found.insert(name, format!("{mode:o} {}", std::fs::read_to_string(&path).unwrap()));
        }
    }
    for file in [".claude/settings.json", "../.config/andon/config.toml"] {
        found.insert(file.to_owned(), std::fs::read_to_string(stage.path(file)).unwrap_or_default());
    }
    let hooks = stage.git(&["rev-parse", "--git-path", "hooks"]).stdout;
    let hooks = stage.path(hooks.trim()).canonicalize().unwrap_or_default();
    found.insert("hooks".to_owned(), hooks.to_string_lossy().into_owned());
    let repo = Repo::open(stage.dir(), &RepoEnv::default()).unwrap();
    let refs = ["refs/notes/andon", "refs/andon"].map(|prefix| repo.refs_with_prefix(prefix).unwrap());
    found.insert("refs".to_owned(), format!("{refs:?}"));
    found
}

/// A guarded loop with records, a client's settings and a person's own configuration. A disarming is only told, so that
/// one stage serves for all.
fn guarded() -> Stage {
    built!({
        let stage = Stage::installed();
        let config = format!("{}\n[rules]\nguard-disarmed = \"warn\"\n", stage.read("andon.toml"));
        stage.write("andon.toml", config);
        stage.andon(&["agent", "install", "claude", "--project"]).ok();
        stage.git(&["add", "--all"]).ok();
        stage.iterate("1\n", &["ok a"], "One").ok();
        stage.write("../.config/andon/config.toml", "# mine\n");
        stage.set("GIT_CONFIG_GLOBAL", stage.root().join(".gitconfig").to_str().unwrap());
        let path = std::env::var("PATH").unwrap_or_default();
        stage.set("PATH", &format!("{}:{path}", andon_path().parent().unwrap().display()));
        stage
    })
}

/// A call with all that comes of it.
struct Made {
    is_refused: bool,
    told: String,
}

/// The hook before a command, the command and the hook after it; an agent's shell has no terminal and its mark.
fn call(stage: &Stage, command: &str) -> Made {
    let before = hook(stage, "claude", "PreToolUse", &bash(command));
    assert!(!before.all().contains("loop is halted"), "{command}\n{before}");
    if before.code == 2 {
        return Made { is_refused: true, told: before.all() };
    }
    stage.set("CLAUDECODE", "1");
    stage.run_in(stage.dir(), "bash", &["-c", command], None);
    stage.unset("CLAUDECODE");
    let id = format!("c{}", lines(stage, "agents").len());
    let done = serde_json::json!({
        "session_id": "s", "tool_name": "Bash", "tool_use_id": id,
        "tool_input": { "command": command }, "tool_response": { "stdout": command.replace(' ', "\n") },
    });
    let after = hook(stage, "claude", "PostToolUse", &done.to_string());
    Made { is_refused: false, told: format!("{}{}", before.all(), after.all()) }
}

/// Runs all of them: how many were refused by their words, and how many were put back.
fn none_disarms(commands: &[&str]) -> (usize, usize) {
    let stage = guarded();
    let as_before = guard(&stage);
    let (mut refused, mut put_back) = (0, 0);
    for command in commands {
        let made = call(&stage, command);
        // What runs on behind the call is found before the next one.
        if command.contains("setsid -f") || command.contains('&') {
            std::thread::sleep(std::time::Duration::from_millis(700));
            call(&stage, &format!("echo after {command:?}"));
        }
        let now = guard(&stage);
        for (part, was) in &as_before {
            assert_eq!(now.get(part), Some(was), "{part} after: {command}\n{}", made.told);
        }
        refused += usize::from(made.is_refused);
        put_back += usize::from(!made.is_refused);
    }
    (refused, put_back)
}

#[test]
fn commands_that_change_hooks_do_not_succeed() {
    let (refused, put_back) = none_disarms(disarming::HOOKS);
    assert_eq!(refused + put_back, disarming::HOOKS.len());
    assert!(put_back >= refused, "{refused} refused: it is the state that tells");
}

#[test]
fn commands_that_move_the_hooks_path_do_not_succeed() {
    none_disarms(disarming::HOOKS_PATH);
}

#[test]
fn commands_that_change_settings_refs_and_configuration_do_not_succeed() {
    none_disarms(disarming::SETTINGS);
    none_disarms(disarming::REFS);
}

/// Around the hooks, in one call: the commit is made, and `check` says how.
#[test]
fn what_goes_round_the_hooks_in_one_call_is_found_by_check() {
    let stage = guarded();
    let base = stage.head();
    for command in disarming::AROUND {
        stage.write("code.txt", format!("untested {command}\n"));
        if !call(&stage, command).is_refused {
            assert_ne!(stage.head(), base, "no commit was made: {command}");
            let out = stage.andon(&["check", &format!("{base}..HEAD")]);
            assert_ne!(out.code, 0, "{command}\n{out}");
        }
        stage.git(&["reset", "-q", "--hard", &base]);
    }
}

/// While halted none of all these runs, and none answers the halt.
#[test]
fn nothing_of_it_runs_while_the_loop_is_halted() {
    let stage = halted();
    let sets = [
        disarming::HOOKS,
        disarming::HOOKS_PATH,
        disarming::SETTINGS,
        disarming::REFS,
        disarming::AROUND,
        disarming::ANSWERS,
    ];
    for command in sets.into_iter().flatten() {
        let out = hook(&stage, "claude", "PreToolUse", &bash(command));
        assert!(out.code == 2 || out.stdout.contains("\"permissionDecision\":\"deny\""), "{command}: {out}");
    }
    stage.andon(&["status", "--exit-code"]).exits(1);
}

/// No agent's command answers a halt, also where no hook of a client refuses it.
#[test]
fn no_command_of_an_agent_answers_a_halt() {
    let stage = halted();
    let path = std::env::var("PATH").unwrap_or_default();
    stage.set("PATH", &format!("{}:{path}", andon_path().parent().unwrap().display()));
    stage.set("CLAUDECODE", "1");
    // What deletes files is found by the hooks of a client (`state`), and by `check` where there are none.
    for command in disarming::ANSWERS
        .iter()
        .filter(|command| command.contains("andon resume") || command.contains("resume --yes"))
    {
        stage.run_in(stage.dir(), "bash", &["-c", command], None);
        stage.andon(&["status", "--exit-code"]).exits(1);
    }
}

#[test]
fn everyday_commands_are_neither_refused_nor_told() {
    let stage = guarded();
    let as_before = guard(&stage);
    for command in everyday::RUN {
        let made = call(&stage, command);
        assert!(!made.is_refused && made.told.is_empty(), "{command}\n{}", made.told);
    }
    // What one of them had changed and the hook had put back would have been told.
    assert_eq!(guard(&stage), as_before);
    for command in everyday::ASKED {
        let out = hook(&stage, "claude", "PreToolUse", &bash(command));
        assert_eq!((out.code, out.all().as_str()), (0, ""), "{command}");
    }
    let accused = lines(&stage, "journal").iter().filter(|line| line["type"] == "guard_disarmed").count();
    assert_eq!(accused, 0);
}
