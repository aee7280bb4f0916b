//! The language of the stories.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::payload::vote::canonical;
use crate::simulation::{read, simulate};

pub(super) const HOUR: i64 = 3_600;
pub(super) const DAY: i64 = 24 * HOUR;

/// Entries, one after the other, ten seconds apart.
#[derive(Clone)]
pub(super) struct Story {
    lines: Vec<Value>,
    pub(super) at: i64,
}

/// The result of a story.
pub(super) struct StoryResult(pub(super) Value);

/// A policy: `witnesses` and one admin, `human:root`.
pub(super) fn policy(witnesses: &[&str]) -> Value {
    let mut keys = vec![json!({"who": "human:root", "roles": ["admin"]})];
    keys.extend(witnesses.iter().map(|who| json!({"who": format!("human:{who}"), "roles": ["witness"]})));
    json!({"version": 1, "threshold": 1, "solo": false, "keys": keys})
}

/// `base` with the members of `more`.
pub(super) fn with(mut base: Value, more: Value) -> Value {
    if let (Some(base), Value::Object(more)) = (base.as_object_mut(), more) {
        base.extend(more);
    }
    base
}

/// A round whose judge deferred.
pub(super) fn deferred() -> Value {
    json!({
        "question": "Which migration?", "issuer": "agent:boss", "proposer": "agent:p", "opposer": "agent:o",
        "synthesizer": "agent:s", "claim": "Add the column online in small batches of rows.",
        "critique": "Locks will pile up behind every batch, replicas lag for hours, rollback becomes impossible afterwards, \
            so copy into shadow tables instead.",
        "verdict": {"deferred": true, "parse_failures": 0}, "tags": ["db"], "bounty": 0, "min_witnesses": 1,
    })
}

/// A vote with all its members.
pub(super) fn vote(decision: &str) -> Value {
    json!({
        "decision": decision, "factual_checks": [], "rationale": format!("because {decision}"),
        "sycophancy_assessment": {"detected": false, "rationale": "they differ"}, "time_spent_seconds": 600,
    })
}

pub(super) fn resolution(round: &str, decision: &str) -> Value {
    with(vote(decision), json!({"round": round, "trigger": "deferral"}))
}

fn nonce(who: &str) -> [u8; 32] {
    Sha256::digest(who.as_bytes()).into()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(super) fn commitment(who: &str, ballot: &Value) -> String {
    hex(&Sha256::new().chain_update(nonce(who)).chain_update(canonical(ballot).unwrap()).finalize())
}

/// A ballot of `who`, with a rationale of its own.
pub(super) fn ballot(who: &str, decision: &str) -> Value {
    let rationale = ["one", "two", "six"].map(|word| format!("{who}{word}")).join(" ");
    with(vote(decision), json!({"rationale": rationale}))
}

impl Story {
    pub(super) fn new(policy: Value) -> Self {
        let mut story = Self { lines: Vec::new(), at: 1_000_000 };
        story.by("human:root").add("policy", "policy", policy);
        story
    }

    /// A story in which `witnesses` have one valid vote each.
    pub(super) fn seasoned(policy: Value, witnesses: &[&str]) -> Self {
        let mut story = Self::new(policy);
        story.add("first", "round", with(deferred(), json!({"min_witnesses": 3, "tags": []})));
        story.panel("first", &witnesses[..3].iter().map(|who| (*who, "reject_round")).collect::<Vec<_>>());
        story
    }

    fn by(&mut self, who: &str) -> By<'_> {
        By { story: self, who: who.to_owned() }
    }

    /// Adds an entry without a signer, or by `human:NAME` for a type of `NAME TYPE`.
    pub(super) fn add(&mut self, id: &str, kind: &str, payload: Value) -> &mut Self {
        match kind.split_once(' ') {
            Some((who, kind)) => {
                let who = if who.contains(':') { who.to_owned() } else { format!("human:{who}") };
                By { story: self, who }.add(id, kind, payload);
            }
            None => self.push(id, kind, payload),
        }
        self
    }

    fn push(&mut self, id: &str, kind: &str, payload: Value) {
        self.at += 10;
        self.lines.push(with(json!({"id": id, "type": kind, "at": self.at}), payload));
    }

    /// An entry as it is given.
    pub(super) fn raw(&mut self, line: Value) -> &mut Self {
        self.lines.push(line);
        self
    }

    /// Puts another line in place of one.
    pub(super) fn replace(&mut self, line: usize, with: Value) {
        self.lines[line] = with;
    }

    pub(super) fn wait(&mut self, seconds: i64) -> &mut Self {
        self.at += seconds;
        self
    }

    /// `who` accepts the round and resolves it. Ids are `<round>-a-<who>` and `<round>-<who>`.
    pub(super) fn solve(&mut self, round: &str, who: &str, decision: &str) -> &mut Self {
        self.add(&format!("{round}-a-{who}"), &format!("{who} accept"), json!({"round": round}));
        self.add(&format!("{round}-{who}"), &format!("{who} resolution"), resolution(round, decision))
    }

    pub(super) fn accept(&mut self, round: &str, who: &str) -> &mut Self {
        self.add(&format!("{round}-a-{who}"), &format!("{who} accept"), json!({"round": round}))
    }

    pub(super) fn commit(&mut self, round: &str, who: &str, ballot: &Value) -> &mut Self {
        let payload = json!({"round": round, "commitment": commitment(who, ballot)});
        self.add(&format!("{round}-c-{who}"), &format!("{who} ballot-commit"), payload)
    }

    pub(super) fn reveal(&mut self, round: &str, who: &str, ballot: &Value) -> &mut Self {
        let payload = json!({"round": round, "nonce": hex(&nonce(who)), "ballot": ballot});
        self.add(&format!("{round}-r-{who}"), &format!("{who} ballot-reveal"), payload)
    }

    /// All accept, commit and reveal.
    pub(super) fn panel(&mut self, round: &str, votes: &[(&str, &str)]) -> &mut Self {
        for (who, _) in votes {
            self.accept(round, who);
        }
        self.vote(round, votes)
    }

    pub(super) fn vote(&mut self, round: &str, votes: &[(&str, &str)]) -> &mut Self {
        for (who, decision) in votes {
            self.commit(round, who, &ballot(who, decision));
        }
        for (who, decision) in votes {
            self.reveal(round, who, &ballot(who, decision));
        }
        self
    }

    pub(super) fn lines(&self) -> Vec<Value> {
        self.lines.clone()
    }

    /// As it is ten seconds later.
    pub(super) fn told(&self) -> StoryResult {
        self.told_at(self.at + 10, None)
    }

    pub(super) fn told_at(&self, now: i64, reader: Option<&str>) -> StoryResult {
        tell(&self.lines, now, reader)
    }
}

pub(super) fn tell(lines: &[Value], now: i64, reader: Option<&str>) -> StoryResult {
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let found = simulate(&read(text.as_bytes()).unwrap(), now, reader);
    StoryResult(serde_json::to_value(&found).unwrap())
}

struct By<'a> {
    story: &'a mut Story,
    who: String,
}

impl By<'_> {
    fn add(&mut self, id: &str, kind: &str, payload: Value) {
        let who = self.who.clone();
        self.story.push(id, kind, with(json!({"by": who}), payload));
    }
}

impl StoryResult {
    /// Invalid entries with their codes.
    pub(super) fn codes(&self) -> Vec<(String, String)> {
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        self.0["invalid"]
            .as_array()
            .unwrap()
            .iter()
            .map(|entry| (text(&entry["id"]), text(&entry["code"])))
            .collect()
    }

    /// Panics unless exactly these entries are invalid.
    #[track_caller]
    pub(super) fn invalid(&self, want: &[(&str, &str)]) -> &Self {
        let want: Vec<_> = want.iter().map(|(id, code)| ((*id).to_owned(), (*code).to_owned())).collect();
        assert_eq!(self.codes(), want);
        self
    }

    /// Panics unless the value at `pointer` is `want`.
    #[track_caller]
    pub(super) fn is(&self, pointer: &str, want: Value) -> &Self {
        assert_eq!(self.0.pointer(pointer), Some(&want), "{pointer}");
        self
    }

    /// Transfers as texts: `id from to amount why`.
    pub(super) fn ops(&self) -> Vec<String> {
        let ops = self.0["accounts"]["ops"].as_array().unwrap().iter();
        let text = |op: &Value, name: &str| op[name].as_str().unwrap().to_owned();
        ops.map(|op| {
            let ends = format!("{} {} {}", text(op, "id"), text(op, "from"), text(op, "to"));
            format!("{ends} {} {}", op["amount"], text(op, "why"))
        })
        .collect()
    }

    pub(super) fn statuses(&self) -> BTreeMap<String, String> {
        let rounds = self.0["rounds"].as_object().unwrap().iter();
        rounds.map(|(id, round)| (id.clone(), round["status"].as_str().unwrap().to_owned())).collect()
    }
}
