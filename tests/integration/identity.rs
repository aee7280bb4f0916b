//! Agent identity: a pinned configuration, and what happens when it drifts.

use insta::assert_snapshot;

use crate::support::{Stage, image::built};

/// A repository whose agent has two files, pinned and committed.
fn pinned() -> Stage {
    built!({
        let stage = Stage::installed();
        stage.write("CLAUDE.md", "Run the tests.\n");
        stage.write(".claude/settings.json", "{}\n");
        stage.andon(&["pin"]).ok().says("pinned 2 files").says("CLAUDE.md").says(".claude/settings.json");
        commit(&stage, "Pin").ok();
        stage
    })
}

fn commit(stage: &Stage, message: &str) -> crate::support::Out {
    stage.git(&["add", "--all"]).ok();
    stage.andon(&["test"]);
    stage.git(&["commit", "-qm", message])
}

#[test]
fn a_pin_is_written_beside_what_is_there() {
    let stage = Stage::installed();
    let config = format!("# ours\n{}# the end\n", stage.read("andon.toml"));
    stage.write("andon.toml", &config);
    stage.write("AGENTS.md", "Be careful.\n");
    assert_snapshot!(stage.andon(&["pin", "--check"]).shown(), @"
    exit 1
    --- stdout
    nothing is pinned; 1 file make sha256:HASH...
      AGENTS.md
      help: andon pin
    ");
    assert_eq!(stage.read("andon.toml"), config, "a comparison writes nothing");
    stage.andon(&["pin"]).ok();
    let text = stage.read("andon.toml");
    assert!(text.starts_with(&config) && text.contains("[identity]\nchecksum = \"sha256:"), "{text}");
    assert!(text.contains("[identity.pinned]\n\"AGENTS.md\" = \"100644 "), "{text}");
    stage.andon(&["config", "check"]).ok();
    assert_snapshot!(stage.andon(&["pin", "--check"]).shown(), @"
    exit 0
    --- stdout
    as pinned: 1 file, sha256:HASH...
      AGENTS.md
    ");
    let json = stage.andon(&["pin", "--check", "--format", "json"]).ok().json();
    assert_eq!((json["schema"].as_str(), json["state"].as_str()), (Some("andon/pin@1"), Some("as_pinned")));
    stage.andon(&["pin"]).ok();
    assert_eq!(stage.read("andon.toml"), text, "pinning again changes nothing");
}

#[test]
fn a_drift_is_refused_and_names_its_file() {
    let stage = pinned();
    stage.iterate("1\n", &["ok a", "ok b"], "Work").ok();
    stage.write("CLAUDE.md", "Skip the tests.\n");
    assert_snapshot!(stage.andon(&["pin", "--check"]).shown(), @"
    exit 1
    --- stdout
    not as it was pinned: 2 files make sha256:HASH...
      CLAUDE.md changed
      help: put it back, or pin what is there now: andon pin
    ");
    // The working tree is not what is committed.
    stage.steps("echo 2 > code.txt; git add code.txt; andon test; git commit -qm 'Other work'");
    let said = commit(&stage, "Drift").shown();
    assert_snapshot!(said, @"
    exit 1
    --- stderr
    error[identity-drift]: commit refused: not as it was pinned: CLAUDE.md changed
      help: put it back, or let a person pin what is there now: andon pin && git add andon.toml
    ");
    stage.steps("git checkout -q HEAD -- CLAUDE.md; echo new > .claude/skills/x.md");
    assert_snapshot!(commit(&stage, "Drift").shown(), @"
    exit 1
    --- stderr
    error[identity-drift]: commit refused: not as it was pinned: .claude/skills/x.md is new
      help: put it back, or let a person pin what is there now: andon pin && git add andon.toml
    ");
    stage.git(&["rm", "-qrf", ".claude"]).ok();
    assert_snapshot!(commit(&stage, "Drift").shown(), @"
    exit 1
    --- stderr
    error[identity-drift]: commit refused: not as it was pinned: .claude/settings.json is gone
      help: put it back, or let a person pin what is there now: andon pin && git add andon.toml
    ");
    stage.steps("git reset -q --hard; git update-index --chmod=+x CLAUDE.md");
    assert_eq!(stage.git(&["commit", "-qm", "Drift"]).shown(), said);
    assert_snapshot!(stage.andon(&["log", "--events"]).shown());
    // It is no dirty bit.
    stage.set("ANDON_SKIP", "identity-drift");
    assert_snapshot!(stage.git(&["commit", "-qm", "Drift"]).shown(), @"
    exit 1
    --- stderr
    error[skip]: commit refused: ANDON_SKIP: identity-drift is no dirty bit of a commit and cannot be skipped
      help: its level is set in andon.toml, under [rules]
    ");
}

#[test]
fn a_file_of_a_commit_alone_is_judged_by_the_index_of_that_commit() {
    let stage = pinned();
    stage.steps("echo Skip the tests. > CLAUDE.md; echo Words. > README.md; git add README.md");
    // `git commit FILE` commits with an index of its own.
    stage.git(&["commit", "-qm", "Words", "README.md"]).ok();
    let said = stage.git(&["commit", "-qm", "Drift", "CLAUDE.md"]).shown();
    assert_snapshot!(said, @"
    exit 1
    --- stderr
    error[identity-drift]: commit refused: not as it was pinned: CLAUDE.md changed
      help: put it back, or let a person pin what is there now: andon pin && git add andon.toml
    ");
    assert_eq!(stage.git(&["commit", "-qam", "Drift"]).shown(), said);
}

#[test]
fn a_person_pins_anew_and_check_still_sees_the_old_pin() {
    let stage = pinned();
    let base = stage.head();
    stage.write("CLAUDE.md", "Run all the tests.\n");
    assert_snapshot!(stage.andon(&["pin"]).shown(), @"
    exit 0
    --- stdout
    pinned 2 files as sha256:HASH..., in andon.toml; commit it
      CLAUDE.md changed
    ");
    commit(&stage, "New instructions").ok();
    stage.iterate("1\n", &["ok a", "ok b"], "Work").ok();
    assert_snapshot!(stage.andon(&["check", &format!("{base}..HEAD")]).exits(1).shown(), @"
    exit 1
    --- stdout
    error[identity-drift]: not as it was pinned: CLAUDE.md changed
      --> HASH New instructions
      --> HASH Work
      help: put it back, or let a person pin what is there now: andon pin && git add andon.toml
    warning[config-changed]: andon.toml changed in this range; the one of its base was used, HASH
      help: git diff HASH HASH -- andon.toml
    checked 2 commits in HASH..HEAD: 2 errors, 1 warning
    ");
    // Once it is the base, it counts.
    stage.andon(&["check", "HEAD~1..HEAD"]).ok().lacks("identity-drift");
}

#[test]
fn a_drift_around_the_gate_is_seen_by_check_on_each_commit() {
    let stage = pinned();
    let base = stage.head();
    stage.steps("echo Skip the tests. > CLAUDE.md; git commit -qam Around --no-verify");
    stage.steps("echo Run the tests. > CLAUDE.md; git commit -qam 'Back again'");
    let out = stage.andon(&["check", "--format", "json", &format!("{base}..HEAD")]).exits(1).stdout;
    let report: serde_json::Value = serde_json::from_str(&out).unwrap();
    let drifts: Vec<&serde_json::Value> = report["violations"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|one| one["code"] == "identity-drift")
        .collect();
    assert_eq!(drifts.len(), 1, "{out}");
    assert_eq!(drifts[0]["subject"], "Around");
}

#[test]
fn only_a_person_pins() {
    let stage = Stage::installed();
    stage.write("AGENTS.md", "Be careful.\n");
    stage.set("CLAUDECODE", "1");
    let config = stage.read("andon.toml");
    assert_snapshot!(stage.andon(&["pin"]).shown(), @"
    exit 1
    --- stderr
    error[agent-shell]: `andon pin` was called in the shell of an agent (CLAUDECODE is set): only a person pins its configuration
      help: a person runs in a shell of their own: andon pin
    ");
    assert_snapshot!(stage.andon(&["pin", "--check"]).shown(), @"
    exit 1
    --- stdout
    nothing is pinned; 1 file make sha256:HASH...
      AGENTS.md
      help: andon pin
    ");
    assert_eq!(stage.read("andon.toml"), config);
}

#[test]
fn session_and_role_must_be_those_that_are_declared() {
    let stage = Stage::installed();
    let identity = "[identity]\nworkflow_binding = \"flow-7\"\nauthorized_roles = [\"coder\", \"tester\"]\n";
    stage.write("andon.toml", format!("{}{identity}", stage.read("andon.toml")));
    assert_snapshot!(commit(&stage, "Bind").shown(), @r#"
    exit 1
    --- stderr
    error[identity-drift]: commit refused: not as it was pinned: there is no session, and the workflow is bound to "flow-7", the node "agent" is none of the authorized roles: coder, tester
      help: ANDON_SESSION and ANDON_NODE say who commits: andon config show identity
    "#);
    stage.set("ANDON_SESSION", "flow-7");
    stage.set("ANDON_NODE", "planner");
    assert_snapshot!(commit(&stage, "Bind").shown(), @r#"
    exit 1
    --- stderr
    error[identity-drift]: commit refused: not as it was pinned: the node "planner" is none of the authorized roles: coder, tester
      help: ANDON_SESSION and ANDON_NODE say who commits: andon config show identity
    "#);
    stage.set("ANDON_NODE", "coder");
    commit(&stage, "Bind").ok();
    let base = stage.head();
    stage.set("ANDON_SESSION", "flow-8");
    stage.write("code.txt", "1\n");
    assert_snapshot!(commit(&stage, "Other").shown(), @r#"
    exit 1
    --- stderr
    error[identity-drift]: commit refused: not as it was pinned: the session is "flow-8", and the workflow is bound to "flow-7"
      help: ANDON_SESSION and ANDON_NODE say who commits: andon config show identity
    "#);
    stage.git(&["commit", "-qm", "Other", "--no-verify"]).ok();
    stage.unset("ANDON_NODE");
    stage.unset("ANDON_SESSION");
    assert_snapshot!(stage.andon(&["check", &format!("{base}..HEAD")]).shown(), @r#"
    exit 1
    --- stdout
    error[bypassed]: the commit bypassed the gate (--no-verify)
      --> HASH Other
      help: have a person review the commit, then merge it by hand or commit it again with hooks on
    error[identity-drift]: not as it was pinned: the session is "flow-8", and the workflow is bound to "flow-7"
      --> HASH Other
      help: ANDON_SESSION and ANDON_NODE say who commits: andon config show identity
    note[unguarded-agent]: an agent made the commit, and no hook of its client was live
      --> HASH Other
      help: andon agent install CLIENT --project
    checked 1 commit in HASH..HEAD: 2 errors
    "#);
}

#[test]
fn nothing_is_asked_until_something_is_pinned() {
    let stage = Stage::installed();
    stage.write("CLAUDE.md", "a\n");
    commit(&stage, "One").ok();
    stage.write("CLAUDE.md", "b\n");
    commit(&stage, "Two").ok();
    stage.andon(&["check", "HEAD~2..HEAD"]).ok().lacks("identity");
    stage.andon(&["config", "show"]).ok().says("rules.identity-drift.level = \"block\"");
}

#[test]
fn a_configuration_without_files_or_of_another_shape_is_said() {
    let stage = Stage::installed();
    assert_snapshot!(stage.andon(&["pin"]).shown(), @r#"
    exit 2
    --- stderr
    error: no file matches identity.files: AGENTS.md, CLAUDE.md, GEMINI.md, .claude/**, .mcp.json
      help: name the files of the agent's configuration in andon.toml:  [identity]  files = ["AGENTS.md"]
    "#);
    stage.write("AGENTS.md", "x\n");
    let text = format!("identity.files = [\"AGENTS.md\"]\n{}", stage.read("andon.toml"));
    stage.write("andon.toml", &text);
    let out = stage.andon(&["pin"]);
    if out.code != 0 {
        out.exits(2).says("by hand").says("[identity.pinned]");
        assert_eq!(stage.read("andon.toml"), text);
    }
}

#[test]
fn a_drift_that_was_committed_past_the_gate_is_asked_about_at_push() {
    let stage = pinned();
    stage.steps("git init -q --bare ../remote.git; git remote add origin ../remote.git");
    stage.steps("git push -q origin main; echo Skip the tests. > CLAUDE.md");
    stage.set("ANDON", "0");
    commit(&stage, "Drift").ok();
    stage.unset("ANDON");
    let asked = stage.git(&["push", "-q", "origin", "main"]).refused();
    asked.says("error[identity-drift]").says("CLAUDE.md changed");
    // What a person pinned is what the tip itself says, whatever is checked out.
    stage.git(&["checkout", "-q", "-b", "other", "HEAD~1"]).ok();
    stage.git(&["push", "-q", "origin", "main"]).refused().says("identity-drift");
    stage.steps("git push -q origin other; git checkout -q main; andon pin");
    commit(&stage, "Pin it").ok();
    stage.git(&["push", "-q", "origin", "main"]).ok();
}
