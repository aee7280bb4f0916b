//! What a tool call took from the guard is found by comparing states, whatever the command line said: it is put back, told and kept,
//! and the second time halts. What people and Andon itself change does not count.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use serde_json::{Value, json};

use crate::support::{Out, Stage, andon_path, image::built, people::fail};

fn hook(stage: &Stage, event: &str, id: &str) -> Out {
    let payload = json!({
        "hook_event_name": event, "session_id": "s1", "cwd": stage.dir(), "tool_name": "Bash", "tool_use_id": id,
        "tool_input": {"command": format!("make {id}")}, "tool_response": {"stdout": id, "stderr": "", "interrupted": false},
    });
    stage.feed(&["agent", "hook", "claude", event], payload.to_string().as_bytes())
}

fn told(out: &Out) -> String {
    let said: Value = serde_json::from_str(&out.stdout).unwrap_or(Value::Null);
    said["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default().to_owned()
}

/// A shell call that does that, whatever its text was; returns the reply to the model.
fn call(stage: &Stage, id: &str, does: impl FnOnce(&Stage)) -> String {
    hook(stage, "PreToolUse", id).ok();
    does(stage);
    told(&hook(stage, "PostToolUse", id))
}

fn guarded() -> Stage {
    built!({
        let stage = Stage::installed();
        stage.steps("andon agent install claude --project; git add -A; git commit -qm 'Guard the agent'");
        stage
    })
}

#[test]
fn facts_and_settings_behind_a_link_are_seen() {
    for script in [
        "rm .git/andon/journal.jsonl",
        "cd .git/andon && for one in *.jsonl; do : > $one; done",
        "sed -i '$d' .git/andon/journal.jsonl",
    ] {
        let stage = guarded();
        call(&stage, "0", |_| {});
        let said = call(&stage, "1", |stage| {
            stage.run_in(stage.dir(), "sh", &["-c", script], None).ok();
        });
        assert!(said.contains("facts of this loop") && said.contains("NOT put back"), "{script}: {said}");
        assert_eq!(call(&stage, "2", |_| {}), "", "{script}");
    }
    let stage = guarded();
    let sh = |script: &str| stage.run_in(stage.dir(), "sh", &["-c", script], None).ok();
    sh(
        "mkdir ../dotfiles && mv .claude/settings.json ../dotfiles && ln -s ../../dotfiles/settings.json .claude",
    );
    let before = stage.read(".claude/settings.json");
    let said = call(&stage, "1", |stage| stage.write("../dotfiles/settings.json", "{}\n"));
    assert!(said.contains("the settings that start Andon") && said.contains("(put back)"), "{said}");
    assert_eq!(stage.read("../dotfiles/settings.json"), before);
    let said = call(&stage, "2", |_| {
        sh("mkdir ../other && rm -r .git/hooks && ln -s ../../other .git/hooks");
    });
    assert!(said.contains("git's hooks") && said.contains("(put back)"), "{said}");
    assert!(!stage.exists("../other/pre-commit") && stage.exists(".git/hooks/pre-commit"));
}

#[test]
fn hooks_that_a_call_removed_are_put_back_and_the_second_time_halts() {
    let stage = guarded();
    let before = stage.read(".git/hooks/post-commit");
    let gone = call(&stage, "1", |stage| std::fs::remove_dir_all(stage.path(".git/hooks")).unwrap());
    assert!(
        gone.contains("took away what guards this loop: git's hooks") && gone.contains("(put back)"),
        "{gone}"
    );
    assert_eq!(stage.read(".git/hooks/post-commit"), before);
    stage.iterate("1\n", &["ok a"], "Go on").ok();
    assert!(stage.git(&["notes", "--ref=andon", "show", "HEAD"]).ok().stdout.contains("andon/commit@1"));
    let again = call(&stage, "2", |stage| {
        stage.git(&["config", "core.hooksPath", "/dev/null"]).ok();
    });
    assert!(again.contains("core.hooksPath") && again.contains("halted"), "{again}");
    assert_ne!(stage.git(&["config", "core.hooksPath"]).stdout.trim(), "/dev/null");
    let status = stage.andon(&["status"]).stdout;
    assert!(status.contains("HALTED") && status.contains("guard-disarmed"), "{status}");
}

#[test]
fn settings_refs_and_stops_are_put_back() {
    let stage = guarded();
    stage.iterate("1\n", &["ok a"], "Go on").ok();
    let settings = stage.read(".claude/settings.json");
    let gone = call(&stage, "1", |stage| stage.write(".claude/settings.json", "{}\n"));
    assert!(gone.contains("settings that start Andon"), "{gone}");
    assert_eq!(stage.read(".claude/settings.json"), settings);
    let stage = guarded();
    stage.iterate("1\n", &["ok a"], "Go on").ok();
    let gone = call(&stage, "1", |stage| {
        stage.git(&["update-ref", "-d", "refs/notes/andon"]).ok();
    });
    assert!(gone.contains("refs of records (refs/notes/andon) (put back)"), "{gone}");
    assert!(stage.git(&["notes", "--ref=andon", "show", "HEAD"]).ok().stdout.contains("andon/commit@1"));
}

#[test]
fn the_file_of_a_halt_that_a_call_deletes_is_no_answer() {
    let stage = guarded();
    hook(&stage, "PreToolUse", "1").ok();
    fail(&stage);
    hook(&stage, "PreToolUse", "2");
    std::fs::remove_file(stage.path(".andon/CHECKPOINT.md")).unwrap();
    let gone = told(&hook(&stage, "PostToolUse", "1"));
    assert!(gone.contains("the file of a halt (.andon/CHECKPOINT.md) (put back)"), "{gone}");
    assert!(stage.exists(".andon/CHECKPOINT.md"));
    stage.iterate("9\n", &["ok a", "ok b"], "Go on").refused();
}

/// One call of a tool each, which takes a part of the guard away in a way of its own: it is put back, or told.
#[test]
fn whatever_part_of_the_guard_a_call_takes_is_put_back_or_told() {
    let included = "git config includeIf.hasconfig:remote.*.url:https://x/**.path /tmp/none; git remote add o https://x/y; \
                    printf '[core]\n\thooksPath = /dev/null\n' > ../included; git config includeIf.hasconfig:remote.*.url:https://x/**.path \"$PWD/../included\"";
    let (folder, of_settings) = ("what is kept of this loop", "the settings that start Andon");
    for (script, told, back) in [
        ("rm -rf .git/hooks .git/andon", folder, "NOT put back"),
        ("rm -rf .git && git init -q", folder, "NOT put back"),
        ("rm .git/andon/guard-state.json; rm -rf .git/hooks", "git's hooks", "(put back)"),
        ("echo >> .git/andon/install.json; rm -rf .git/hooks", "git's hooks", "(put back)"),
        ("rm .git/andon/install.json .git/hooks/post-commit", folder, "(put back)"),
        ("echo '{}' > .git/andon/install.json; rm .git/hooks/*", "git's hooks", "(put back)"),
        ("mv .git/hooks .git/h; echo x > .git/andon/install.json", "git's hooks", "(put back)"),
        ("echo x > .git/andon/install.json", "the list of what is installed", "(put back)"),
        (included, "git's hooks (core.hooksPath is /dev/null", "(put back)"),
        ("git update-ref refs/notes/andon HEAD", "refs of records (refs/notes/andon)", "(put back)"),
        ("git notes --ref=andon remove HEAD", "1 of the records (refs/notes/andon)", "(put back)"),
        ("git notes --ref=andon add -f -m x HEAD", "1 of the records (refs/notes/andon)", "(put back)"),
        (
            "git notes --ref=andon prune; git notes --ref=andon remove HEAD HEAD~1",
            "2 of the records",
            "(put back)",
        ),
        ("echo '{}' > .codex/hooks.json", ".codex/hooks.json", "(put back)"),
        ("git revert --no-edit HEAD~1", of_settings, "(put back)"),
    ] {
        let stage = guarded();
        stage.steps("andon agent install codex --project");
        stage.iterate("1\n", &["ok a"], "Go on").ok();
        let kept = |stage: &Stage| {
            let hooks = stage.git(&["rev-parse", "--git-path", "hooks"]).ok().stdout;
            [
                stage.read(".git/hooks/post-commit"),
                stage.read(".claude/settings.json"),
                stage.read(".codex/hooks.json"),
                hooks,
            ]
        };
        let before = kept(&stage);
        let said = call(&stage, "1", |stage| {
            stage.run_in(stage.dir(), "sh", &["-c", script], None).ok();
        });
        assert!(said.contains("took away") && said.contains(told) && said.contains(back), "{script}: {said}");
        let now = kept(&stage);
        assert_eq!(before[..3], now[..3], "{script}");
        if script.starts_with("git notes") {
            let note = stage.git(&["notes", "--ref=andon", "show", "HEAD"]).ok().stdout;
            assert!(note.contains("andon/commit@1"), "{script}: {note}");
        }
        assert_eq!(call(&stage, "2", |_| {}), "", "{script}");
        stage.andon(&["status"]).ok().lacks("not installed").lacks("hooks are gone");
    }
}

#[test]
fn settings_that_would_start_andon_otherwise_are_put_back() {
    for (place, member, value) in [
        ("/hooks/PreToolUse/0", "matcher", json!("Read")),
        ("/hooks/PreToolUse/0/hooks/0", "timeout", json!(0)),
        ("/hooks/PreToolUse/0/hooks/0", "type", json!("prompt")),
        ("/hooks/PostToolUse/0/hooks/0", "async", json!(true)),
        ("/hooks/Stop/0/hooks/0", "args", json!(["agent", "hook", "claude", "Notification"])),
        ("", "env", json!({"ANDON": "0"})),
        ("", "env", json!({"GIT_CONFIG_COUNT": "1"})),
        ("", "disableAllHooks", json!(true)),
    ] {
        let stage = guarded();
        let before = stage.read(".claude/settings.json");
        let said = call(&stage, "1", |stage| {
            let mut settings: Value = serde_json::from_str(&before).unwrap();
            settings.pointer_mut(place).unwrap()[member] = value.clone();
            stage.write(".claude/settings.json", settings.to_string());
        });
        assert!(said.contains("the settings that start Andon"), "{place} {member}: {said}");
        assert_eq!(stage.read(".claude/settings.json"), before, "{place} {member}");
    }
    // What else a person or an agent writes into them is theirs.
    let stage = guarded();
    let before = stage.read(".claude/settings.json");
    let found = format!("{}:/usr/bin", andon_path().parent().unwrap().display());
    stage.set("PATH", &found);
    let named = before.replace(andon_path().to_str().unwrap(), "andon");
    stage.write(".claude/settings.json", &named);
    for (path, is_lost) in [("/usr/bin:/bin", true), ("/opt/tools/bin:$PATH", false), (found.as_str(), false)]
    {
        let mut settings: Value = serde_json::from_str(&named).unwrap();
        settings["env"] = json!({"PATH": path});
        let said = call(&stage, path, |stage| stage.write(".claude/settings.json", settings.to_string()));
        assert_eq!(said.contains("the settings that start Andon"), is_lost, "{path}: {said}");
        stage.write(".claude/settings.json", &named);
    }
    stage.write(".claude/settings.json", &before);
    let mut settings: Value = serde_json::from_str(&stage.read(".claude/settings.json")).unwrap();
    settings["env"] = json!({"RUST_LOG": "debug"});
    settings["hooks"]["PreToolUse"]
        .as_array_mut()
        .unwrap()
        .insert(0, json!({"hooks": [{"type": "command", "command": "x"}]}));
    assert_eq!(call(&stage, "1", |stage| stage.write(".claude/settings.json", settings.to_string())), "");
}

/// What is lost while no hook of a client comes is known from outside of the repository.
#[test]
fn a_guard_that_is_gone_as_a_whole_is_no_running_loop() {
    let stage = guarded();
    stage.iterate("1\n", &["ok a"], "Go on").ok();
    hook(&stage, "PreToolUse", "1").ok();
    std::fs::remove_dir_all(stage.path(".git/hooks")).unwrap();
    std::fs::remove_dir_all(stage.path(".git/andon")).unwrap();
    stage.andon(&["status"]).ok().says("hooks are gone").says("what is kept of this loop");
    // A person who takes it out says so.
    stage.steps("andon uninstall");
    stage.andon(&["status"]).ok().lacks("hooks are gone");
}

#[test]
fn below_an_agent_nothing_is_uninstalled() {
    let stage = guarded();
    stage.set("CLAUDECODE", "1");
    let said = stage.andon(&["uninstall"]).refused();
    assert!(said.stderr.contains("only a person takes its hooks out"), "{said}");
    assert!(stage.exists(".git/hooks/post-commit") && stage.exists(".claude/settings.json"));
}

#[test]
fn what_people_and_andon_do_meanwhile_is_nobodys() {
    let stage = guarded();
    // Commits, tests and records during a call.
    let quiet = call(&stage, "1", |stage| {
        stage.iterate("1\n", &["ok a"], "Go on").ok();
    });
    assert_eq!(quiet, "");
    // A remark beside a record takes nothing away, nor does a note of a commit that is gone.
    let quiet = call(&stage, "remark", |stage| {
        stage.steps(
            "git notes --ref=andon append -m 'Seen by the reviewer'; git notes --ref=other add -m x; git notes --ref=andon prune",
        );
        stage.iterate("2\n", &["ok a"], "Go further").ok();
    });
    assert_eq!(quiet, "");
    // A person answers, installs anew, changes settings that still start Andon, and takes all of it out between two calls.
    let quiet = call(&stage, "2", |stage| {
        stage.andon(&["install"]).ok();
        let settings = stage.read(".claude/settings.json");
        stage.write(".claude/settings.json", settings + "\n");
        stage.write(".git/hooks/post-checkout", "#!/bin/sh\n");
    });
    assert_eq!(quiet, "");
    fail(&stage);
    hook(&stage, "PreToolUse", "3");
    stage.andon(&["resume", "--reason", "start anew from B"]).ok();
    let heard = told(&hook(&stage, "PostToolUse", "3"));
    assert!(!heard.contains("took away") && heard.contains("start anew from B"), "{heard}");
    stage.steps("andon agent uninstall claude; andon uninstall");
    assert_eq!(call(&stage, "4", |_| {}), "");
}

#[test]
fn nobody_answers_without_a_terminal_unless_they_say_why() {
    let stage = Stage::installed();
    fail(&stage);
    let script = format!("'{}' resume --reason 'go on'", andon_path().display());
    let plain = stage.run_in(stage.dir(), "sh", &["-c", &script], None).exits(1);
    assert!(
        plain.stderr.contains("there is no terminal") && plain.stderr.contains("--yes '<why>'"),
        "{plain}"
    );
    let done =
        stage.andon(&["resume", "--reason", "start from A", "--yes", "the night job restarts it"]).ok();
    assert!(done.stdout.starts_with("resumed: "), "{done}");
    let log = stage.andon(&["log"]).ok().stdout;
    assert!(log.contains("with andon resume --yes") && log.contains("unattended: the night job"), "{log}");
    stage.iterate("9\n", &["ok a", "ok b"], "Go on").ok();
    let check = stage.andon(&["check", "HEAD~4..HEAD"]).stdout;
    assert!(check.contains("andon resume --yes, without a terminal"), "{check}");
}
