//! Escalation and what is done about a halt, with real git: docs/spec-map.md, signals and escalation, loop safety (auto
//! escalation policy), loop rules (advisor, fallback chain).

use std::{collections::BTreeMap, path::Path};

use insta::assert_snapshot;

use crate::support::{Out, Stage, image::built};

/// Commits `content` as `path`, tested.
fn commit(stage: &Stage, path: &str, content: &str, message: &str) -> Out {
    stage.write(path, content);
    stage.git(&["add", "-A"]).ok();
    stage.andon(&["test"]);
    stage.git(&["commit", "-qm", message])
}

/// Rewords the comment of one file. The fourth and the fifth bring back the first and the second wording.
pub(crate) fn reword(stage: &Stage, number: u32) -> Out {
    let version = if matches!(number % 10, 4 | 5) { number - 3 } else { number };
    let content = format!("fn main() {{}}\n// version {version} of these words\n");
    commit(stage, "a.rs", &content, &format!("Explain step {number}"))
}

pub(crate) fn started() -> Stage {
    built!({
        let stage = Stage::installed();
        commit(&stage, "a.rs", "fn main() {}\n// words\n", "Add a program").ok();
        stage
    })
}

/// Words of a comment are changed until the loop halts; the number of commits it took.
pub(crate) fn reword_until_halted(stage: &Stage) -> u32 {
    (1..=10).find(|number| reword(stage, *number).all().contains("co-occurrence")).expect("it never halted")
}

pub(crate) fn user_config(stage: &Stage, text: &str) {
    let dir = stage.root().join("config/andon");
    std::fs::create_dir_all(&dir).unwrap();
    std::fs::write(dir.join("config.toml"), text).unwrap();
    stage.set("XDG_CONFIG_HOME", stage.root().join("config").to_str().unwrap());
}

/// The files under `.andon/`, with their content.
fn report_files(stage: &Stage) -> BTreeMap<String, String> {
    fn walk(dir: &Path, top: &Path, found: &mut BTreeMap<String, String>) {
        for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
            if entry.path().is_dir() {
                walk(&entry.path(), top, found);
            } else {
                let name = entry.path().strip_prefix(top).unwrap().to_string_lossy().into_owned();
                found.insert(name, std::fs::read_to_string(entry.path()).unwrap());
            }
        }
    }
    let mut found = BTreeMap::new();
    walk(&stage.path(".andon"), &stage.path(".andon"), &mut found);
    found
}

pub(crate) fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap_or_else(|err| panic!("{err}: {text}"))
}

#[test]
fn fake_progress_escalates_and_leaves_a_handoff() {
    let stage = started();
    assert_eq!(reword_until_halted(&stage), 5);
    let found = report_files(&stage);
    let names: Vec<&str> = found.keys().map(String::as_str).collect();
    assert!(names.contains(&"CHECKPOINT.md") && names.contains(&"PAUSE"), "{names:?}");
    let handoff = names.iter().find(|name| name.starts_with("handoffs/")).unwrap();
    let shown = json(&found[*handoff]);
    assert_eq!(shown["signals"], serde_json::json!(["recurrence", "weak-change"]));
    assert_eq!(shown["halt"]["rule"], "co-occurrence");
    let told = &found[&handoff.replace(".json", ".md")];
    assert!(told.contains("co-occurrence = \"off\""), "opt-out at the site: {told}");
    assert!(told.contains("symptoms, not proof"), "{told}");
    assert_eq!(json(&found["signals/UNCERTAINTY_ESCALATION"])["halt_reason"], "stalled");
    assert_eq!(json(&found["notifications.jsonl"])["type"], "escalated");
    // It holds, and one answer clears the pause that came with it.
    assert_snapshot!(reword(&stage, 20).shown(), @r"
    exit 1
    --- stderr
    error[co-occurrence]: commit refused: halted AGE: the loop is making no progress
      what   2 warning signs lasted for 2 iterations (recurrence, weak-change)
      since  TIME, 1 commit; tests: 2 passed
      look   git show HASH, or .andon/CHECKPOINT.md
      answer a person decides, then runs: andon resume --reason '<decision>'
    error[user-stop]: .andon/PAUSE exists: this loop is paused
    ");
    assert_eq!(report_files(&stage)["notifications.jsonl"].lines().count(), 1, "told once");
    stage.andon(&["resume", "--reason", "the words are good"]).ok();
    assert!(!stage.exists(".andon/PAUSE") && !stage.exists(".andon/CHECKPOINT.md"));
    reword(&stage, 21).ok();
}

#[test]
fn deleting_the_checkpoint_clears_the_pause_that_came_with_it() {
    let stage = started();
    reword_until_halted(&stage);
    std::fs::remove_file(stage.path(".andon/CHECKPOINT.md")).unwrap();
    reword(&stage, 20).ok();
    assert!(!stage.exists(".andon/PAUSE"));
}

#[test]
fn a_pause_of_a_person_survives_the_answer_to_a_halt() {
    let stage = started();
    reword_until_halted(&stage);
    stage.write(".andon/PAUSE", "lunch\n");
    std::fs::remove_file(stage.path(".andon/CHECKPOINT.md")).unwrap();
    assert_snapshot!(reword(&stage, 20).shown(), @r"
    exit 1
    --- stderr
    note[answered-halt]: the halt of TIME (co-occurrence) was answered by deleting .andon/CHECKPOINT.md
    error[user-stop]: commit refused: HALTED: a person stopped the loop
      what   .andon/PAUSE exists: this loop is paused
      since  TIME; tests: 2 passed
      look   .andon/CHECKPOINT.md
      answer a person decides, then runs: andon resume --reason '<decision>'
      No commit is accepted until then.
    ");
    assert!(stage.exists(".andon/PAUSE"));
}

/// Case 8 of "signals and escalation" (docs/spec-map.md): off means that nothing is read, written or said.
#[test]
fn opt_out_byte_identical() {
    let stage = started();
    let plain = "[test]\ncommand = \"sh check.sh\"\n[rules]\n";
    stage.write(
        "andon.toml",
        format!("{plain}co-occurrence = \"off\"\nrecurrence = \"off\"\nweak-change = \"off\"\n"),
    );
    stage.commit_of("-A", "Opt out");
    let before = report_files(&stage);
    for number in 1..=8 {
        let out = reword(&stage, number).ok();
        assert_eq!((out.stdout.as_str(), out.stderr.as_str()), ("", ""), "{number}");
    }
    assert_eq!(report_files(&stage), before);
}

/// Case 9: in perpetual mode a PAUSE is cleared and told, and an escalation only tells.
#[test]
fn perpetual_degrade_to_notify() {
    let stage = started();
    let config = "[guard]\nperpetual = true\n[test]\ncommand = \"sh check.sh\"\n";
    stage.write("andon.toml", config);
    stage.commit_of("-A", "Run for ever");
    let told = (1..=6)
        .find(|number| reword(&stage, *number).ok().all().contains("notify-only and does not halt the run"));
    assert!(told.is_some_and(|number| number <= 5), "{told:?}");
    let found = report_files(&stage);
    assert!(!found.contains_key("CHECKPOINT.md") && !found.contains_key("PAUSE"), "{:?}", found.keys());
    assert!(found.keys().any(|name| name.starts_with("handoffs/")));
    assert!(found.values().any(|text| text.contains("the run is NOT halted")));
    assert_eq!(json(&found["notifications.jsonl"])["type"], "escalated");
    for number in 7..=9 {
        reword(&stage, number).ok().lacks("notify-only");
    }
    assert_eq!(report_files(&stage)["notifications.jsonl"].lines().count(), 1, "once an episode");
    stage.write(".andon/PAUSE", "please wait\n");
    assert_snapshot!(reword(&stage, 10).shown(), @"
    exit 0
    --- stderr
    warning: perpetual mode: PAUSE was cleared, it does not hold the run (please wait)
      help: to make a pause hold, in andon.toml under [guard]:  perpetual = false
    ");
    assert!(!stage.exists(".andon/PAUSE"));
    let told = report_files(&stage)["notifications.jsonl"].clone();
    assert_eq!(json(told.lines().last().unwrap())["type"], "pause_cleared");
    stage.write(".andon/STOP", "stop\n");
    assert_snapshot!(reword(&stage, 11).shown());
}

#[test]
fn chmod_and_rename_ping_pong_halt() {
    use std::os::unix::fs::PermissionsExt as _;
    for (name, there, back) in [
        ("chmod", ["update-index", "--chmod=+x", "a.rs"], ["update-index", "--chmod=-x", "a.rs"]),
        ("rename", ["mv", "a.rs", "b.rs"], ["mv", "b.rs", "a.rs"]),
    ] {
        let stage = started();
        stage.git(&["config", "core.fileMode", "false"]).ok();
        let halted = (1..=6).find(|number| {
            let step = if number % 2 == 1 { there } else { back };
            stage.git(&step).ok();
            // What the tests see is what is committed.
            let mode = if name == "chmod" && number % 2 == 1 { 0o755 } else { 0o644 };
            if stage.exists("a.rs") {
                std::fs::set_permissions(stage.path("a.rs"), std::fs::Permissions::from_mode(mode)).unwrap();
            }
            stage.andon(&["test"]);
            stage.git(&["commit", "-qm", "Arrange the files"]).all().contains("oscillation")
        });
        assert!(halted.is_some_and(|number| number <= 4), "{name}: {halted:?}");
    }
}

#[test]
fn ping_pong_in_one_file_behind_other_work_halts() {
    let stage = started();
    // Under one name it would be `rework`.
    let names = "Parse Print Read Write Sort Group Count Name Find Mark Load Save";
    let names: Vec<&str> = names.split(' ').collect();
    let halted = (1..=12_usize).find(|number| {
        stage.write("other.rs", format!("fn other() -> u32 {{ {number} }}\n").repeat(5));
        let flip = if number % 2 == 1 { "true" } else { "false" };
        let said = commit(&stage, "a.rs", &format!("fn main() {{ {flip} }}\n"), names[number - 1]).all();
        said.contains("HALTED") && said.contains("a.rs")
    });
    assert_eq!(halted, Some(10), "the tests stand still");
}

#[test]
fn a_program_of_ones_own_is_told_and_its_failure_changes_nothing() {
    let stage = started();
    let told = stage.root().join("told.json");
    let script = format!("cat > '{}'; exit 3", told.display());
    user_config(&stage, &format!("[notify]\ncommand = [\"sh\", \"-c\", \"{script}\"]\n"));
    reword_until_halted(&stage);
    let notice = json(&std::fs::read_to_string(&told).unwrap());
    assert_eq!(
        (notice["type"].as_str(), notice["rule"].as_str()),
        (Some("escalated"), Some("co-occurrence"))
    );
    assert!(stage.exists(".andon/CHECKPOINT.md"));
    reword(&stage, 20).refused();
}

#[test]
fn a_program_that_hangs_is_ended_and_changes_nothing() {
    let stage = started();
    user_config(&stage, "[notify]\ncommand = [\"sleep\", \"600\"]\nbell = false\n");
    for number in 1..=4 {
        reword(&stage, number).ok();
    }
    let out = reword(&stage, 5);
    assert_snapshot!(out.clone().shown());
    assert!(stage.exists(".andon/CHECKPOINT.md"));
}

#[test]
fn a_repository_names_no_programs() {
    let stage = started();
    for section in ["notify", "advisor", "on_stall"] {
        stage.write("andon.toml", format!("[{section}]\ncommand = [\"touch\", \"owned\"]\n"));
        stage.andon(&["config", "check"]).exits(2).says("your own configuration only");
        assert!(!stage.exists("owned"));
    }
}

#[test]
fn the_advisor_is_asked_and_its_approach_answers_the_halt() {
    let stage = started();
    let asked = stage.root().join("asked.md");
    let script = format!("cat > '{}'; echo Leave the comments alone.", asked.display());
    user_config(&stage, &format!("[advisor]\ncommand = [\"sh\", \"-c\", \"{script}\"]\n"));
    reword_until_halted(&stage);
    let question = std::fs::read_to_string(&asked).unwrap();
    assert!(question.contains("Deadlock type: STALLED") && question.contains("co-occurrence"), "{question}");
    assert!(question.contains("\"type\":\"commit_recorded\"") || question.contains("commit"), "{question}");
    assert_eq!(stage.read(".andon/ADVISOR_ANSWER.md").trim(), "Leave the comments alone.");
    // Halted until the approach is recorded.
    reword(&stage, 20).refused();
    let answer = stage.read(".andon/ADVISOR_ANSWER.md");
    stage.write(".andon/ADVISOR_ANSWER.md", "go on as before\n");
    assert_snapshot!(stage.andon(&["advise", "--record"]).shown(), @r"
    exit 1
    --- stderr
    error: no advice to record: the advisor has not answered this halt, or its answer was edited
      help: a person answers instead: andon resume --reason '<decision>'
    ");
    stage.write(".andon/ADVISOR_ANSWER.md", answer);
    assert_snapshot!(stage.andon(&["advise"]).shown());
    stage.set("CLAUDECODE", "1");
    assert_snapshot!(stage.andon(&["advise", "--record"]).brief(),
        @"exit 0, stdout: resumed: the halt was answered by the advisor sh, recorded by A. Author <author@example.org>; counting starts over");
    stage.unset("CLAUDECODE");
    stage.andon(&["log"]).ok();
    reword(&stage, 21).ok();
    // An advisor's approach answers halts alone: a STOP is nothing to it, and is not denied.
    stage.write(".andon/STOP", "");
    assert_snapshot!(stage.andon(&["advise", "--record"]).shown(), @"
    exit 1
    --- stderr
    error: no advice to record: no halt waits for an answer
      help: andon status
    ");
}

#[test]
fn without_an_advisor_the_question_is_there_and_a_person_answers() {
    let stage = started();
    reword_until_halted(&stage);
    assert!(stage.read(".andon/ADVISOR_PROMPT.md").contains("A completely different approach"));
    assert_snapshot!(stage.andon(&["advise", "--record"]).shown(), @r"
    exit 1
    --- stderr
    error: no advice to record: your configuration names no [advisor]
      help: a person answers instead: andon resume --reason '<decision>'
    ");
}

#[test]
fn the_fallback_chain_names_the_next_provider_and_why() {
    let stage = started();
    let chain = "[fallback]\nproviders = [\"claude\", \"gemini on failed_gate\", \"local on stop_event\"]\n";
    stage.write("andon.toml", format!("[test]\ncommand = \"sh check.sh\"\n{chain}"));
    let advice = |stage: &Stage, args: &[&str]| {
        let args: Vec<&str> = ["advise", "--format", "json"].iter().chain(args).copied().collect();
        json(&stage.andon(&args).ok().stdout)
    };
    assert_eq!(advice(&stage, &[])["next"], serde_json::Value::Null);
    stage.commit_of("-A", "Name the chain");
    reword_until_halted(&stage);
    let found = advice(&stage, &[]);
    assert_eq!((found["current"].as_str(), found["next"].as_str()), (Some("claude"), Some("local")));
    assert_eq!(found["why"], "stop_event leads to it");
    assert_eq!(found["deadlock"], "STALLED");
    assert_eq!(advice(&stage, &["--current", "local"])["next"], serde_json::Value::Null);
    stage.andon(&["advise", "--current", "nobody"]).exits(2);
}

#[test]
fn a_stall_starts_the_program_that_the_user_named() {
    let stage = started();
    let got = stage.root().join("got.json");
    user_config(&stage, &format!("[on_stall]\ncommand = [\"sh\", \"-c\", \"cat > '{}'\"]\n", got.display()));
    let chain = "[fallback]\nproviders = [\"claude\", \"gemini\"]\n";
    let policy = "[on_stall]\npolicy = \"retry_with_new_provider\"\n";
    stage.write("andon.toml", format!("[test]\ncommand = \"sh check.sh\"\n{policy}{chain}"));
    stage.commit_of("-A", "Name the chain");
    reword_until_halted(&stage);
    let started = json(&std::fs::read_to_string(&got).unwrap());
    assert_eq!(started["policy"], "retry_with_new_provider");
    assert_eq!(started["provider"], "gemini");
    assert_eq!(started["halt"]["rule"], "co-occurrence");
}

#[test]
fn a_policy_of_pause_pauses_on_every_halt() {
    let stage = started();
    stage.write("andon.toml", "[test]\ncommand = \"sh check.sh\"\n[on_stall]\npolicy = \"pause\"\n");
    stage.commit_of("-A", "Pause when stuck");
    for _ in 0..2 {
        stage.git(&["commit", "-qm", "Again", "--allow-empty"]);
    }
    assert!(stage.read(".andon/PAUSE").contains("paused by unchanged-diff"));
    assert_eq!(json(&stage.read(".andon/notifications.jsonl"))["type"], "halted");
    stage.andon(&["resume", "--reason", "work is at hand"]).ok();
    assert!(!stage.exists(".andon/PAUSE"));
}

#[test]
fn split_verdicts_and_no_change_escalate() {
    let stage = started();
    let config = "[test]\ncommand = \"sh check.sh\"\n[rules]\nunchanged-diff = \"off\"\nconsecutive-failures = \"off\"\n";
    stage.write("andon.toml", config);
    stage.commit_of("-A", "Leave it to the reviewers");
    let vote = |lines: &str| {
        stage.feed(&["observe", "verdict"], lines.as_bytes()).ok();
    };
    let halted = (1..=8).find(|number| {
        let out = stage.git(&["commit", "-qm", "Try again", "--allow-empty"]);
        if out.all().contains("co-occurrence") {
            return true;
        }
        if number % 2 == 0 {
            vote("{\"approve\":1,\"reject\":2}\n");
        } else {
            let names = ["ann", "ben", "cem"].into_iter().zip([1, 0, 0]);
            let line = |(name, approve): (&str, u32)| {
                format!("{{\"reviewer\":\"{name}\",\"approve\":{approve},\"reject\":{}}}\n", 1 - approve)
            };
            vote(&names.map(line).collect::<String>());
        }
        false
    });
    assert!(halted.is_some_and(|number| (4..=6).contains(&number)), "{halted:?}");
    let found = report_files(&stage);
    let handoff = found.iter().find(|(name, _)| name.starts_with("handoffs/")).unwrap().1;
    assert_eq!(json(handoff)["signals"], serde_json::json!(["no-change", "verdict-split"]));
    let halt = &json(&stage.andon(&["status", "--format", "json"]).stdout)["last_halt"];
    assert_eq!(halt["suggested_actions"][0]["code"], "reconcile", "{halt}");
}
