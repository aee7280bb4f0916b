//! Agent identity: a pinned configuration, and what happens when it drifts.

use crate::support::Stage;

/// A repository whose agent has two files, pinned and committed.
fn pinned() -> Stage {
    let stage = Stage::installed();
    stage.write("CLAUDE.md", "Run the tests.\n");
    stage.write(".claude/settings.json", "{}\n");
    stage.andon(&["pin"]).ok().says("pinned 2 files").says("CLAUDE.md").says(".claude/settings.json");
    commit(&stage, "Pin").ok();
    stage
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
    stage.andon(&["pin", "--check"]).exits(1).says("nothing is pinned");
    assert_eq!(stage.read("andon.toml"), config, "a comparison writes nothing");
    stage.andon(&["pin"]).ok();
    let text = stage.read("andon.toml");
    assert!(text.starts_with(&config) && text.contains("[identity]\nchecksum = \"sha256:"), "{text}");
    assert!(text.contains("[identity.pinned]\n\"AGENTS.md\" = \"100644 "), "{text}");
    stage.andon(&["config", "check"]).ok();
    stage.andon(&["pin", "--check"]).ok().says("as pinned: 1 file");
    let json = stage.andon(&["pin", "--check", "--format", "json"]).ok().stdout;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((json["schema"].as_str(), json["state"].as_str()), (Some("andon/pin@1"), Some("as_pinned")));
    stage.andon(&["pin"]).ok();
    assert_eq!(stage.read("andon.toml"), text, "pinning again changes nothing");
}

#[test]
fn a_drift_is_refused_and_names_its_file() {
    let stage = pinned();
    stage.iterate("1\n", &["ok a"], "Work").ok();
    stage.write("CLAUDE.md", "Skip the tests.\n");
    stage.andon(&["pin", "--check"]).exits(1).says("CLAUDE.md changed");
    // The working tree is not what is committed.
    stage.write("code.txt", "2\n");
    stage.git(&["add", "code.txt"]).ok();
    stage.andon(&["test"]).ok();
    stage.git(&["commit", "-qm", "Other work"]).ok();
    commit(&stage, "Drift").refused().says("error[identity-drift]").says("CLAUDE.md changed");
    stage.git(&["checkout", "-q", "HEAD", "--", "CLAUDE.md"]).ok();
    stage.write(".claude/skills/x.md", "new\n");
    commit(&stage, "Drift").refused().says(".claude/skills/x.md is new");
    stage.git(&["rm", "-qrf", ".claude"]).ok();
    commit(&stage, "Drift").refused().says(".claude/settings.json is gone");
    stage.git(&["reset", "-q", "--hard"]).ok();
    stage.git(&["update-index", "--chmod=+x", "CLAUDE.md"]).ok();
    stage.git(&["commit", "-qm", "Drift"]).refused().says("CLAUDE.md changed");
    stage.andon(&["log", "--events"]).ok().says("IDENTITY_DRIFT").says("commit_refused");
    // It is no dirty bit.
    stage.set("ANDON_SKIP", "identity-drift");
    stage.git(&["commit", "-qm", "Drift"]).refused().says("cannot be skipped");
}

#[test]
fn a_file_of_a_commit_alone_is_judged_by_the_index_of_that_commit() {
    let stage = pinned();
    stage.write("CLAUDE.md", "Skip the tests.\n");
    stage.write("README.md", "Words.\n");
    stage.git(&["add", "README.md"]).ok();
    // `git commit FILE` commits with an index of its own.
    stage.git(&["commit", "-qm", "Words", "README.md"]).ok();
    stage.git(&["commit", "-qm", "Drift", "CLAUDE.md"]).refused().says("CLAUDE.md changed");
    stage.git(&["commit", "-qam", "Drift"]).refused().says("CLAUDE.md changed");
}

#[test]
fn a_person_pins_anew_and_check_still_sees_the_old_pin() {
    let stage = pinned();
    let base = stage.head();
    stage.write("CLAUDE.md", "Run all the tests.\n");
    stage.andon(&["pin"]).ok().says("CLAUDE.md changed");
    commit(&stage, "New instructions").ok();
    stage.iterate("1\n", &["ok a"], "Work").ok();
    let out = stage.andon(&["check", &format!("{base}..HEAD")]).exits(1);
    let out = out.says("error[identity-drift]").says("CLAUDE.md changed").says("warning[config-changed]");
    assert!(out.stdout.contains("New instructions") && out.stdout.contains("Work"), "{out}");
    // Once it is the base, it counts.
    stage.andon(&["check", "HEAD~1..HEAD"]).ok().lacks("identity-drift");
}

#[test]
fn a_drift_around_the_gate_is_seen_by_check_on_each_commit() {
    let stage = pinned();
    let base = stage.head();
    stage.write("CLAUDE.md", "Skip the tests.\n");
    stage.git(&["commit", "-qam", "Around", "--no-verify"]).ok();
    stage.write("CLAUDE.md", "Run the tests.\n");
    stage.git(&["commit", "-qam", "Back again"]).ok();
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
    stage.andon(&["pin"]).exits(1).says("error[agent-shell]").says("CLAUDECODE");
    stage.andon(&["pin", "--check"]).exits(1).says("nothing is pinned");
    assert_eq!(stage.read("andon.toml"), config);
}

#[test]
fn session_and_role_must_be_those_that_are_declared() {
    let stage = Stage::installed();
    let identity = "[identity]\nworkflow_binding = \"flow-7\"\nauthorized_roles = [\"coder\", \"tester\"]\n";
    stage.write("andon.toml", format!("{}{identity}", stage.read("andon.toml")));
    commit(&stage, "Bind").refused().says("there is no session").says("\"agent\" is none of the authorized");
    stage.set("ANDON_SESSION", "flow-7");
    stage.set("ANDON_NODE", "planner");
    commit(&stage, "Bind").refused().says("\"planner\" is none of the authorized roles: coder, tester");
    stage.set("ANDON_NODE", "coder");
    commit(&stage, "Bind").ok();
    let base = stage.head();
    stage.set("ANDON_SESSION", "flow-8");
    stage.write("code.txt", "1\n");
    commit(&stage, "Other").refused().says("flow-8");
    stage.git(&["commit", "-qm", "Other", "--no-verify"]).ok();
    stage.unset("ANDON_NODE");
    stage.unset("ANDON_SESSION");
    stage.andon(&["check", &format!("{base}..HEAD")]).exits(1).says("error[identity-drift]").says("flow-8");
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
    stage.andon(&["pin"]).exits(2).says("no file matches identity.files").says("AGENTS.md");
    stage.write("AGENTS.md", "x\n");
    let text = format!("identity.files = [\"AGENTS.md\"]\n{}", stage.read("andon.toml"));
    stage.write("andon.toml", &text);
    let out = stage.andon(&["pin"]);
    if out.code != 0 {
        out.exits(2).says("by hand").says("[identity.pinned]");
        assert_eq!(stage.read("andon.toml"), text);
    }
}
