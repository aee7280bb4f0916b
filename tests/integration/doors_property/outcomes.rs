//! What doors say, read from their answers.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::Out;
use andon_core::domain::{CommitId, StandingHalt};
use andon_git::Repo;
use andon_store::{Ledger, NotesStore, wire::v1::encode_commit};

/// A fact, as the other doors can take it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReportedFact {
    /// An event or a test run.
    Line(Value),
    /// A commit, as a stream tells of it.
    Commit(Value),
    /// The answer to a halt.
    Answer(Value),
    /// A commit that was refused: no fact.
    Refused,
}

/// Rule and iteration of the unanswered halt; `None` where there is none.
pub type OpenHalt = Option<(String, u64)>;

/// What a door says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The decision; `None` where the door does not say one.
    pub verdict: Option<String>,
    /// Why the loop must stop.
    pub reason: Option<String>,
    /// Level and rule of what was found, from a warning on.
    pub rules: BTreeSet<String>,
    /// The number of a commit.
    pub iteration: Option<u64>,
    /// The unanswered halt behind it, by its rule and iteration, where the door keeps one.
    pub halt: Option<OpenHalt>,
}

/// Adds to a line what the environment said.
pub fn reported_by(line: &mut Value, (at, node, session): (i64, Option<&str>, Option<&str>)) {
    line["at"] = time(at).into();
    for (key, value) in [("node", node), ("session", session)] {
        if let Some(value) = value {
            line[key] = value.into();
        }
    }
}

/// RFC 3339, as the stage's clock has it.
pub fn time(seconds: i64) -> String {
    andon_core::domain::Timestamp(crate::support::START + seconds).to_string()
}

/// The decision in an answer.
pub fn decision(out: &Out) -> Outcome {
    let value: Value = serde_json::from_str(out.stdout.lines().last().unwrap_or_default())
        .unwrap_or_else(|err| panic!("{err}: {out}"));
    outcome(&value)
}

/// The decision in a line of JSON.
pub fn outcome(value: &Value) -> Outcome {
    let none = Vec::new();
    let text = |key: &str| value[key].as_str().map(str::to_owned);
    Outcome {
        verdict: text("decision"),
        reason: text("reason"),
        rules: value["findings"].as_array().unwrap_or(&none).iter().filter_map(loud).collect(),
        iteration: None,
        halt: None,
    }
}

/// A finding that is a warning or more.
pub fn loud(finding: &Value) -> Option<String> {
    let (level, rule) = (finding["level"].as_str()?, finding["rule"].as_str()?);
    (level != "note").then(|| format!("{level} {rule}"))
}

/// The unanswered halt.
pub fn standing(repo: &Repo) -> Option<StandingHalt> {
    Ledger::open(repo).standing("main").unwrap()
}

/// What the record of a commit tells.
pub fn recorded(repo: &Repo, commit: CommitId, out: &Out) -> (ReportedFact, Outcome) {
    let stored = NotesStore::open(repo).unwrap().get(commit).unwrap();
    let stored = stored.unwrap_or_else(|| panic!("no record of {commit}: {out}"));
    let text = encode_commit(&stored.record, &stored.extra);
    let record: Value = serde_json::from_str(&text).unwrap();
    let mut reported = json!({ "type": "commit", "at": record["recorded_at"] });
    for key in ["parent", "code", "kind", "node", "session", "change", "weakening"] {
        if !record[key].is_null() {
            reported[key] = record[key].clone();
        }
    }
    reported["diff"] = record["diff"]["hash"].clone();
    for key in ["empty", "files", "added", "removed", "hunks"] {
        reported[key] = record["diff"][key].clone();
    }
    reported["commit"] = commit.to_string().into();
    if !record["carries"].is_null() {
        reported["carries"] = record["carries"]["commit"].clone();
    }
    reported["subject"] = repo.commit(commit).unwrap().subject.into();
    let none = Vec::new();
    let findings = record["findings"].as_array().unwrap_or(&none);
    let standing = standing(repo);
    let levels: BTreeSet<&str> = findings.iter().filter_map(|found| found["level"].as_str()).collect();
    let verdict = if standing.is_some() || levels.contains("halt") {
        "halt"
    } else if levels.contains("block") || levels.contains("warn") {
        "warn"
    } else {
        "allow"
    };
    let outcome = Outcome {
        verdict: Some(verdict.to_owned()),
        reason: standing.map(|standing| standing.halt.reason.as_str().to_owned()),
        rules: findings.iter().filter_map(loud).collect(),
        iteration: record["iteration"].as_u64(),
        halt: None,
    };
    (ReportedFact::Commit(reported), outcome)
}
