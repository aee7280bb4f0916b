//! `guard.applies_to = "agents"`: people's commits are recorded and nothing else, at any door; an agent is guarded as ever.

use crate::support::{Stage, image::built};

const RED: &[&str] = &["not ok a"];

fn stage() -> Stage {
    built!({
        let stage = Stage::installed();
        let config = stage.read("andon.toml");
        let config = format!("[guard]\napplies_to = \"agents\"\n\n{}", config.replace("[guard]\n", "# "));
        stage.write("andon.toml", config);
        stage.git(&["commit", "-qam", "Guard agents alone"]).ok();
        stage
    })
}

fn commit(stage: &Stage, code: &str, more: &[&str]) -> crate::support::Out {
    stage.write("code.txt", format!("{code}\n"));
    stage.git(&["add", "-A"]).ok();
    let message = format!("Try {code}");
    stage.git(&[&["commit", "-q", "-m", &message], more].concat())
}

#[test]
fn a_person_is_recorded_and_hears_nothing() {
    let stage = stage();
    // Untested code, failing tests, the same failure again and again, and an idle row: silent, recorded.
    assert_eq!(commit(&stage, "untested", &[]).ok().all(), "");
    assert_eq!(stage.record("HEAD")["gate"], "passed");
    for code in ["1", "2", "3", "4", "5", "6"] {
        stage.tests(RED);
        stage.write("code.txt", format!("{code}\n"));
        stage.andon(&["test"]).exits(1);
        assert_eq!(commit(&stage, code, &[]).ok().all(), "", "{code}");
        assert_eq!(stage.record("HEAD")["tests"]["status"], "failed");
    }
    assert_eq!(stage.git(&["commit", "-q", "--amend", "-m", "Six"]).ok().all(), "");
    assert_eq!(stage.git(&["commit", "-q", "--no-verify", "--allow-empty", "-m", "Past it"]).ok().all(), "");
    stage.andon(&["tick"]).ok().lacks("error");
    stage.andon(&["complete"]).ok().lacks("error");
    stage.andon(&["status", "--exit-code"]).ok().lacks("halted").lacks("error");
    let hub = stage.root().join("hub.git");
    stage.git(&["init", "-q", "--bare", hub.to_str().unwrap()]).ok();
    let out = stage.git(&["push", "-q", hub.to_str().unwrap(), "HEAD:refs/heads/x"]).ok().lacks("error");
    out.lacks("warning");
    assert!(!stage.exists(".andon/CHECKPOINT.md") && !stage.exists(".andon/BLOCKER_REPORT.md"));
}

#[test]
fn a_tick_of_a_person_is_no_turn_and_counts_in_no_rule() {
    let stage = stage();
    for _ in 0..8 {
        stage.andon(&["tick"]).ok().lacks("idle").lacks("error");
    }
    let journal = stage.read(".git/andon/journal.jsonl");
    assert!(!journal.contains("turn_end"), "{journal}");
    // The same from an agent halts; and so it does where the loop says whose turn it was.
    for (name, value, args) in
        [("CLAUDECODE", "1", &[][..]), ("ANDON_SESSION", "s1", &[]), ("UNSET", "1", &["--node", "coder"])]
    {
        let stage = self::stage();
        stage.set(name, value);
        let tick = || stage.andon(&[&["tick"], args].concat());
        assert!((0..8).any(|_| tick().code == 1), "{name}: {}", tick());
        // A loop of a person that asks hears of the halt.
        stage.unset(name);
        stage.andon(&["tick"]).exits(1).says("halted");
    }
}

#[test]
fn a_halt_of_the_agents_binds_no_person() {
    let stage = stage();
    stage.andon(&["stop", "--reason", "look at it"]).ok();
    assert_eq!(commit(&stage, "mine", &[]).ok().all(), "");
    stage.set("CLAUDECODE", "1");
    commit(&stage, "its", &[]).refused().says("halted");
}

#[test]
fn an_agent_is_known_by_its_shell_its_node_and_its_message() {
    let stage = stage();
    for (name, value) in [("CLAUDECODE", "1"), ("ANDON_NODE", "agent"), ("ANDON_NODE", "coder")] {
        stage.set(name, value);
        commit(&stage, &format!("{name}{value}"), &[]).refused().says("untested-edit");
        stage.unset(name);
    }
    let trailer = "Co-Authored-By: Claude <noreply@anthropic.com>";
    commit(&stage, "trailer", &["-m", trailer]).refused().says("untested-edit");
    stage.andon(&["test"]).ok();
    commit(&stage, "trailer", &["-m", trailer]).ok();
    assert_eq!(stage.record("HEAD")["guards"], serde_json::json!(["git"]));
    // Agents that are no clients, and leave nothing in the environment.
    stage.set("GIT_AUTHOR_NAME", "Ann (aider)");
    commit(&stage, "aider", &[]).refused().says("untested-edit");
    stage.unset("GIT_AUTHOR_NAME");
    let footer = "🤖 Generated with [Claude Code](https://claude.ai/code)";
    commit(&stage, "footer", &["-m", footer]).refused().says("untested-edit");
    // A row of their commits is a loop.
    for code in ["1", "2", "3"] {
        stage.tests(RED);
        stage.write("code.txt", format!("{code}\n"));
        stage.andon(&["test"]).exits(1);
        commit(&stage, code, &["-m", footer]);
    }
    stage.andon(&["status"]).says("HALTED");
}

#[test]
fn attempts_of_people_are_no_strikes_of_the_agent() {
    let stage = stage();
    for code in ["1", "2", "3", "4"] {
        stage.tests(RED);
        stage.write("code.txt", format!("{code}\n"));
        stage.andon(&["test"]).exits(1);
        commit(&stage, code, &[]).ok();
    }
    stage.set("CLAUDECODE", "1");
    stage.write("code.txt", "5\n");
    stage.andon(&["test"]).exits(1);
    commit(&stage, "5", &[]).ok().lacks("halted");
    for code in ["6", "7"] {
        stage.write("code.txt", format!("{code}\n"));
        stage.andon(&["test"]).exits(1);
        commit(&stage, code, &[]);
    }
    assert!(
        stage.exists(".andon/CHECKPOINT.md") || stage.exists(".andon/BLOCKER_REPORT.md"),
        "a loop is still seen"
    );
}

#[test]
fn commits_of_people_do_not_raise_the_count_of_the_loop() {
    let stage = stage();
    let badge = || stage.andon(&["status"]).stdout.lines().next().unwrap().to_owned();
    let agent = |code: &str| {
        stage.set("CLAUDECODE", "1");
        stage.tests(&["ok a"]);
        stage.write("code.txt", format!("{code}\n"));
        stage.andon(&["test"]).ok();
        commit(&stage, code, &[]).ok();
        stage.unset("CLAUDECODE");
    };
    agent("one");
    let before = badge();
    for code in ["mine", "mine too", "and this"] {
        commit(&stage, code, &[]).ok();
    }
    assert_eq!(badge(), before);
    agent("two");
    assert!(before.starts_with("Loop 1/100") && badge().starts_with("Loop 2/100"), "{before}: {}", badge());
}

const TRAILER: &str = "Co-Authored-By: Claude <noreply@anthropic.com>";

/// A commit of an agent with passing tests, by what its shell says.
fn of_agent(stage: &Stage, code: &str) {
    stage.set("CLAUDECODE", "1");
    stage.tests(&["ok a"]);
    stage.write("code.txt", format!("{code}\n"));
    stage.andon(&["test"]).ok();
    commit(stage, code, &[]).ok();
    stage.unset("CLAUDECODE");
}

#[test]
fn an_agents_commit_without_its_record_is_missing_evidence() {
    let stage = stage();
    let base = stage.git(&["rev-parse", "HEAD"]).ok().stdout.trim().to_owned();
    let range = format!("{base}..HEAD");
    commit(&stage, "a person's", &[]).ok();
    of_agent(&stage, "one");
    stage.andon(&["check", &range]).ok();
    let whole = stage.git(&["rev-parse", "refs/notes/andon"]).ok().stdout.trim().to_owned();
    // Removed: what it said is in the history of the notes.
    stage.git(&["notes", "--ref=andon", "remove", "HEAD"]).ok();
    stage.forget();
    stage.andon(&["check", &range]).exits(3).says("the commit has no record").says("Try one");
    // Edited: the record names no maker any more.
    stage.git(&["update-ref", "refs/notes/andon", &whole]).ok();
    let mut record = stage.record("HEAD");
    for key in ["session", "guards", "node"] {
        record.as_object_mut().unwrap().remove(key);
    }
    record["tests"] = serde_json::Value::Null;
    record.as_object_mut().unwrap().remove("tests");
    stage.git(&["notes", "--ref=andon", "add", "-f", "-m", &record.to_string(), "HEAD"]).ok();
    assert_ne!(stage.andon(&["check", &range]).code, 0);
    // All of them are gone, where the hooks wrote them.
    stage.git(&["update-ref", "-d", "refs/notes/andon"]).ok();
    stage.forget();
    stage.andon(&["check", &range]).exits(3).says("no-records");
    // By its message alone, wherever it says so.
    for last in [TRAILER, "Signed-off-by: P <p@example.org>"] {
        let said = ["-m", "x", "-m", TRAILER, "-m", last];
        stage
            .git(&[&["-c", "core.hooksPath=/dev/null", "commit", "-q", "--allow-empty"], &said[..]].concat())
            .ok();
        stage.andon(&["check", "HEAD^..HEAD"]).exits(3).says("the commit has no record");
    }
}

#[test]
fn a_persons_commit_needs_no_record() {
    let stage = stage();
    of_agent(&stage, "one");
    commit(&stage, "mine", &[]).ok();
    stage.steps("andon check HEAD^..HEAD; git notes --ref=andon remove HEAD; andon check HEAD^..HEAD");
    stage.steps("echo without hooks > code.txt; git -c core.hooksPath=/dev/null commit -qam 'By hand'");
    stage.steps("andon check HEAD^..HEAD; git update-ref -d refs/notes/andon; andon check HEAD^..HEAD");
}
