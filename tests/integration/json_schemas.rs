//! Every verb that shows something does so in JSON as well, and all JSON says what it is.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::people::{halted_and_signed, public, sit_down};
use crate::support::{Out, Stage, andon_path};

/// Verbs without JSON of ours, and why.
const WITHOUT: &[(&str, &str)] = &[
    ("report", "makes an HTML page"),
    ("export", "has the formats of other programs"),
    ("attest record", "prints DSSE, which has a `payloadType`"),
    ("attest check", "prints DSSE, which has a `payloadType`"),
    ("attest resolution", "prints DSSE, which has a `payloadType`"),
    ("demo", "plays a story to a person"),
    ("completions", "prints a script"),
    ("man", "prints a manual page"),
    ("agent hook", "speaks as each client wants it"),
    ("agent run", "passes the output of the client through"),
];

/// Documents whose members are named by a configuration or a schema.
const NAMED_BY_DATA: &[&str] = &["config", "config-schema", "agent-payload-schema", "pin"];

/// What is asked for: arguments, standard input, and what each line is called; `None` where it is only asked whether the
/// verb takes `--format`.
type Row = (&'static [&'static str], &'static str, Option<&'static str>);

/// In an order in which each has something to show.
const ROWS: &[Row] = &[
    (&["config", "show"], "", Some("config")),
    (&["config", "check"], "", Some("config-check")),
    (&["config", "schema"], "", Some("config-schema")),
    (&["doctor"], "", Some("doctor")),
    (&["install"], "", Some("install")),
    (&["install", "--dry-run"], "", Some("install-plan")),
    (&["test"], "", Some("test_run")),
    (&["status"], "", Some("status")),
    (&["status", "--rules"], "", Some("rules")),
    (&["status", "--line"], "", Some("status-line")),
    (&["watch", "--once"], "", Some("watch")),
    (&["log"], "", Some("log")),
    (&["log", "--events"], "", Some("events")),
    (&["show"], "", Some("show")),
    (&["check", "HEAD~1..HEAD"], "", Some("check")),
    (&["replay"], "", Some("replay")),
    (&["replay", "--events", "-"], "{\"type\":\"turn_end\"}\n", Some("replay")),
    (&["backfill", "HEAD~1..HEAD"], "", Some("backfill")),
    (&["calibrate"], "", Some("calibration")),
    (&["advise"], "", Some("advice")),
    (&["explain", "report.tap"], "", Some("explain")),
    (&["complete"], "", Some("complete")),
    (&["context"], "", Some("context")),
    (&["context", "--brief"], "", Some("context")),
    (&["pin", "--check"], "", Some("pin")),
    (&["sync", "--bundle", "../records.bundle"], "", Some("sync")),
    (&["agent", "list"], "", Some("agents")),
    (&["agent", "install", "claude"], "", Some("agent-install")),
    (&["agent", "install", "--command"], "", Some("agent-command")),
    (&["agent", "schema"], "", Some("agent-payload-schema")),
    (&["agent", "uninstall", "claude"], "", Some("agent-uninstall")),
    (&["observe", "turn_start"], "{}\n", Some("observe")),
    (&["observe", "tool_call"], "{\"tool\":\"Bash\"}\n", Some("observe")),
    (&["observe", "output"], "{\"text\":\"words\"}\n", Some("observe")),
    (&["observe", "usage"], "{\"context_tokens\":1}\n", Some("observe")),
    (&["observe", "compaction"], "", Some("observe")),
    (&["observe", "session_start"], "", Some("observe")),
    (&["observe", "verdict"], "{\"approve\":1}\n", Some("observe")),
    (&["observe", "turn_end"], "{}\n", Some("observe")),
    (&["observe", "event"], "{\"type\":\"turn_end\"}\n", Some("observe")),
    (&["observe", "test_run", "--report", "report.tap", "--exit-code", "0"], "", Some("test_run")),
    (&["observe", "round"], "{\"action\":\"open\",\"question\":\"How?\"}\n", Some("round")),
    (&["round", "open"], "{\"question\":\"And how?\"}", Some("round")),
    (&["round", "say"], "{}", None),
    (&["round", "verdict"], "{}", None),
    (&["round", "close"], "{}", None),
    (&["tick"], "", Some("tick")),
    (&["review"], "", Some("review-waiting")),
    (&["review", "show", "halt"], "", Some("review-show")),
    (&["review", "accept", "halt"], "", Some("review-act")),
    (&["review", "status"], "", Some("review-status")),
    (&["review", "concerns"], "", Some("review-concern")),
    (&["review", "resolve", "ffffffff", "--decision", "reject_round", "--rationale", "x"], "", None),
    (&["review", "precedents"], "", Some("review-precedent")),
    (&["review", "simulate", "-", "--now", "0"], "", Some("simulation")),
    (&["witness", "init", "--name", "human:ann"], "", None),
    (&["witness", "add", "human:bo", "--key", "../bo.key.pub"], "", Some("witness-change")),
    (&["witness", "reinstate", "human:ann"], "", Some("witness-change")),
    (&["witness", "revoke", "human:bo"], "", Some("witness-change")),
    (&["witness", "list"], "", Some("witness-list")),
    (&["witness", "key"], "", Some("witness-key")),
    (&["witness", "policy"], "", Some("policy")),
    (&["witness", "sign", "00000000"], "", None),
    (&["ledger", "verify"], "", Some("ledger-verify")),
    (&["stop"], "", Some("stop")),
    (&["pause", "--reason", "x"], "", Some("pause")),
    (&["resume", "--reason", "looked"], "", Some("resume")),
    (&["resume", "--counter", "consecutive-failures", "--reason", "looked"], "", Some("resume")),
    (&["review", "panel", "halt", "--reason", "x"], "", None),
    (&["review", "ballot", "halt", "--decision", "reject_round", "--rationale", "x"], "", None),
    (&["review", "reveal", "halt"], "", None),
    (&["review", "flag", "halt", "--reason", "x"], "", None),
    (&["uninstall"], "", Some("uninstall")),
];

/// Adds the path of each member in `value`: `cycles[].badge`. Where it is a map, its keys are data.
fn add_members(value: &Value, path: &str, members: &mut BTreeSet<String>) {
    match value {
        Value::Object(inside) => {
            for (key, value) in inside {
                let path = format!("{path}.{key}");
                add_members(value, &path, members);
                members.insert(path);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| add_members(item, &format!("{path}[]"), members)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn run(stage: &Stage, args: &[&str], stdin: &str) -> Out {
    let args: Vec<&str> = args.iter().copied().chain(["--format", "json"]).collect();
    stage.run_in(stage.dir(), andon_path(), &args, Some(stdin.as_bytes()))
}

#[test]
fn every_json_says_what_it_is() {
    let stage = halted_and_signed();
    public(&stage, "bo");
    sit_down(&stage, "ann");
    stage.write("report.tap", "1..1\nok 1 - a\n");
    let mut wrong = Vec::new();
    let mut members = BTreeSet::new();
    for (args, stdin, schema) in ROWS {
        let out = run(&stage, args, stdin);
        if out.all().contains("argument '--format'") {
            wrong.push(format!("{args:?} takes no --format: {out}"));
        }
        let Some(schema) = schema else { continue };
        let expected = format!("andon/{schema}@1");
        let mut named = |line: &str| {
            let value: Value =
                serde_json::from_str(line).unwrap_or_else(|err| panic!("{args:?}: {err}: {out}"));
            if !NAMED_BY_DATA.contains(schema) {
                add_members(&value, schema, &mut members);
            }
            value["schema"] == expected.as_str()
        };
        // Lists of nothing print nothing.
        let may_be_empty = ["review-concern", "review-precedent"].contains(schema);
        let lines = out.stdout.lines().count();
        if !out.stdout.lines().all(&mut named) || (lines == 0 && !may_be_empty) {
            wrong.push(format!("{args:?}: not {expected}: {out}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    insta::assert_snapshot!("members_of_json", members.into_iter().collect::<Vec<_>>().join("\n"));
}

/// The commands below `path`, as its help lists them.
fn listed(stage: &Stage, path: &[&str]) -> Vec<String> {
    let args: Vec<&str> = path.iter().copied().chain(["--help"]).collect();
    let help = stage.andon(&args).ok().stdout;
    let mut names = Vec::new();
    let mut lists = path.is_empty();
    for line in help.lines() {
        match line {
            _ if line.starts_with("Options:") => lists = false,
            "Commands:" => lists = true,
            _ => {}
        }
        let name =
            line.strip_prefix("  ").filter(|rest| rest.starts_with(|first: char| first.is_ascii_lowercase()));
        names.extend(
            name.filter(|_| lists).and_then(|rest| rest.split_whitespace().next()).map(str::to_owned),
        );
    }
    names.retain(|name| name != "help");
    names
}

#[test]
fn no_verb_is_forgotten() {
    let stage = Stage::bare_ground();
    let mut verbs = BTreeSet::new();
    for verb in listed(&stage, &[]) {
        let below = listed(&stage, &[&verb]);
        if below.is_empty() || verb == "review" {
            verbs.insert(verb.clone());
        }
        verbs.extend(below.iter().map(|name| format!("{verb} {name}")));
    }
    let asked = |verb: &String| ROWS.iter().any(|(args, ..)| args.join(" ").starts_with(verb.as_str()));
    let without = |verb: &String| WITHOUT.iter().any(|(name, _)| name == verb);
    let forgotten: Vec<&String> = verbs.iter().filter(|verb| !asked(verb) && !without(verb)).collect();
    assert!(verbs.len() > 50 && forgotten.is_empty(), "{forgotten:?} of {verbs:?}");
}

#[test]
fn answers_and_stops_say_the_same_in_json() {
    let stage = Stage::installed();
    let value =
        |args: &[&str]| -> Value { serde_json::from_str(&run(&stage, args, "").ok().stdout).unwrap() };
    let stopped = value(&["stop", "--reason", "lunch"]);
    assert_eq!(
        stopped,
        json!({"schema": "andon/stop@1", "file": ".andon/STOP", "reason": "lunch", "help": ["andon resume --reason '<decision>'"]})
    );
    let resumed = value(&["resume", "--reason", "back"]);
    assert_eq!(
        (&resumed["halt"]["rule"], &resumed["mistaken"]),
        (&json!("user-stop"), &json!(false)),
        "{resumed}"
    );
    assert_eq!(resumed["counter"], Value::Null);
    let schema = value(&["config", "schema"]);
    assert_eq!(schema["$schema"], "http://json-schema.org/draft-07/schema#");
    stage.write("andon.toml", "[tset]\n");
    let mistakes = run(&stage, &["config", "check"], "").exits(2).json();
    assert!(mistakes["mistakes"][0]["message"].as_str().unwrap().contains("tset"), "{mistakes}");
}
