//! A round that has not ended: a file with what came so far.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::looked::EVIDENCE;
use super::trailer::Trailer;
use andon_engine::effect;
use andon_engine::error::OpsError;
use andon_engine::workspace::Workspace;
use andon_git::read_plain;
use andon_store::ledger::EvidenceText;

/// Longest text of a statement that an entry holds; longer ones are cut there and kept whole next to it.
pub(super) const MAX_SIGNED: usize = 4096;
/// Longest statement that is taken.
pub(super) const MAX_TEXT: usize = 1 << 20;
/// Largest file of a round.
const MAX_FILE: u64 = 16 << 20;
/// Most rounds that wait at once.
const MAX_ROUNDS: usize = 1_000;
/// Ended rounds that are remembered.
const MAX_ENDED: usize = 200;
/// Members of a question that are taken over as they are.
const QUESTION: [&str; 8] =
    ["question", "issuer", "tags", "bounty", "min_witnesses", "operators", "authors", "revises"];

/// Which of the three statements of a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Statement {
    /// The proposer's.
    Claim,
    /// The opposer's.
    Critique,
}

impl Statement {
    /// The member of a round's entry that holds it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Claim => "claim",
            Self::Critique => "critique",
        }
    }

    fn role(self) -> &'static str {
        match self {
            Self::Claim => "proposer",
            Self::Critique => "opposer",
        }
    }
}

/// What came so far.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct PendingRound {
    /// What its entry will say.
    body: Map<String, Value>,
    /// Texts that are kept whole: by name.
    texts: Vec<(String, String)>,
    expires_at: i64,
    /// The entry that the round became. A party that still speaks in the round gets this entry as the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ended: Option<String>,
}

impl PendingRound {
    pub(super) fn open(said: &Map<String, Value>, opened_at: i64, expires_at: i64) -> Self {
        let mut body = Map::new();
        for name in QUESTION {
            body.extend(said.get(name).map(|value| (name.to_owned(), value.clone())));
        }
        body.insert("opened_at".to_owned(), json!(opened_at));
        body.insert("expires_at".to_owned(), json!(expires_at));
        body.insert("arrived".to_owned(), json!({}));
        Self { body, texts: Vec::new(), expires_at, ended: None }
    }

    pub(super) fn body(&self) -> Map<String, Value> {
        self.body.clone()
    }

    pub(super) fn expires_at(&self) -> i64 {
        self.expires_at
    }

    /// The entry that it became.
    pub(super) fn ended(&self) -> Option<&str> {
        self.ended.as_deref()
    }

    pub(super) fn paid_to(&mut self, who: &str) {
        self.body.insert("paid_to".to_owned(), json!(who));
    }

    /// A statement came. Each comes once: what was said is not taken back.
    pub(super) fn take(
        &mut self,
        which: Statement,
        (agent, text): (&str, &str),
        at: i64,
    ) -> Result<(), String> {
        let (name, role) = (which.name(), which.role());
        if self.body.contains_key(name) {
            return Err(format!("the {role} has spoken already"));
        }
        self.body.insert(role.to_owned(), json!(agent));
        self.body.insert(name.to_owned(), json!(cut(text)));
        self.arrive(name, at);
        self.keep_whole(name, text);
        Ok(())
    }

    /// The judge has decided, or deferred.
    pub(super) fn judged(
        &mut self,
        agent: &str,
        text: &str,
        trailer: Trailer,
        at: i64,
    ) -> Result<(), String> {
        if self.body.contains_key("verdict") && self.failures() < 1 {
            return Err("the judge has spoken already".to_owned());
        }
        let mut verdict = json!({"deferred": trailer.deferred, "parse_failures": self.failures()});
        // Who recommends nothing and says something all the same recommends that.
        let said = trailer.recommendation.or(trailer.prose);
        if let (Some(said), Some(members)) = (said, verdict.as_object_mut()) {
            members.insert("recommendation".to_owned(), json!(cut(&said)));
        }
        self.body.insert("synthesizer".to_owned(), json!(agent));
        self.body.insert("verdict".to_owned(), verdict);
        self.arrive("verdict", at);
        self.texts.push(("verdict".to_owned(), text.to_owned()));
        Ok(())
    }

    /// The judge's trailer cannot be read; how often that has happened. Both texts are evidence.
    pub(super) fn unreadable(&mut self, agent: &str, text: &str, at: i64) -> i64 {
        let failures = self.failures() + 1;
        self.texts.push((format!("verdict-{failures}"), text.to_owned()));
        self.body.insert("synthesizer".to_owned(), json!(agent));
        let mut verdict = json!({"deferred": false, "parse_failures": failures});
        if let Some(members) = verdict.as_object_mut().filter(|_| !text.trim().is_empty()) {
            members.insert("recommendation".to_owned(), json!(cut(text.trim())));
        }
        self.body.insert("verdict".to_owned(), verdict);
        self.arrive("verdict", at);
        failures
    }

    /// What a statement looked at.
    pub(super) fn looked_at(&mut self, statement: &str, evidence: Vec<Value>) {
        if evidence.is_empty() {
            return;
        }
        let all = self.body.entry(EVIDENCE).or_insert_with(|| json!({}));
        if let Some(all) = all.as_object_mut() {
            all.insert(statement.to_owned(), Value::Array(evidence));
        }
    }

    fn failures(&self) -> i64 {
        let verdict = self.body.get("verdict").and_then(|verdict| verdict.get("parse_failures"));
        verdict.and_then(Value::as_i64).unwrap_or(0)
    }

    fn arrive(&mut self, name: &str, at: i64) {
        if let Some(arrived) = self.body.get_mut("arrived").and_then(Value::as_object_mut) {
            arrived.insert(name.to_owned(), json!(at));
        }
    }

    fn keep_whole(&mut self, name: &str, text: &str) {
        if text.len() > MAX_SIGNED {
            self.texts.push((name.to_owned(), text.to_owned()));
        }
    }

    pub(super) fn evidence(&self) -> Vec<EvidenceText> {
        let text = |(name, text): &(String, String)| EvidenceText {
            name: name.clone(),
            bytes: text.clone().into_bytes(),
        };
        self.texts.iter().map(text).collect()
    }
}

/// `text`, cut at a character.
fn cut(text: &str) -> &str {
    let end = (0..=MAX_SIGNED.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    &text[..end.unwrap_or(0)]
}

fn dir(ws: &Workspace) -> PathBuf {
    ws.repo.common_dir().join("andon").join("rounds")
}

/// Keeps a new round under an unused name.
pub(super) fn keep_new(ws: &Workspace, round: &PendingRound) -> Result<String, OpsError> {
    if all(ws).len() >= MAX_ROUNDS {
        return Err(OpsError::Refused {
            what: format!("{MAX_ROUNDS} rounds are open already"),
            help: "close some of them: andon round close".to_owned(),
        });
    }
    let mut random = [0_u8; 8];
    getrandom::fill(&mut random).map_err(|err| OpsError::Input(std::io::Error::other(err.to_string())))?;
    let name: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
    std::fs::create_dir_all(dir(ws)).map_err(OpsError::Input)?;
    keep(ws, &name, round)?;
    Ok(name)
}

pub(super) fn keep(ws: &Workspace, name: &str, round: &PendingRound) -> Result<(), OpsError> {
    let text = serde_json::to_string(round).map_err(|err| OpsError::Input(err.into()))?;
    Ok(effect::replace_text(&dir(ws).join(format!("{name}.json")), &text)?)
}

/// The round of that name.
pub(super) fn find(ws: &Workspace, name: &str) -> Result<(String, PendingRound), OpsError> {
    let is_name = name.len() == 16 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    let found = is_name.then(|| read(&dir(ws).join(format!("{name}.json")))).flatten();
    found.map(|round| (name.to_owned(), round)).ok_or_else(|| OpsError::Usage {
        what: format!("no open round is called {name:?}: it was closed, has expired, or never was"),
        help: "open one: andon round open; see those that wait for people: andon review".to_owned(),
    })
}

fn read(path: &std::path::Path) -> Option<PendingRound> {
    serde_json::from_slice(&read_plain(path, MAX_FILE).ok()??).ok()
}

/// Every round that has not ended.
pub(super) fn all(ws: &Workspace) -> Vec<(String, PendingRound)> {
    kept(ws).into_iter().filter(|(_, round)| round.ended.is_none()).take(MAX_ROUNDS).collect()
}

fn kept(ws: &Workspace) -> Vec<(String, PendingRound)> {
    let files = std::fs::read_dir(dir(ws)).into_iter().flatten().filter_map(Result::ok);
    let mut found: Vec<(String, PendingRound)> = files
        .filter_map(|file| {
            let name = file.file_name().to_string_lossy().strip_suffix(".json")?.to_owned();
            Some((name, read(&file.path())?))
        })
        .take(2 * MAX_ROUNDS)
        .collect();
    found.sort_by(|one, other| one.0.cmp(&other.0));
    found
}

/// Keeps of a round that has ended which entry it became, and no more than the newest of those.
pub(super) fn end(ws: &Workspace, name: &str, round: &PendingRound, entry: String) -> Result<(), OpsError> {
    let ended = PendingRound { expires_at: round.expires_at, ended: Some(entry), ..PendingRound::default() };
    keep(ws, name, &ended)?;
    let mut old: Vec<(String, PendingRound)> =
        kept(ws).into_iter().filter(|(_, round)| round.ended.is_some()).collect();
    old.sort_by_key(|(_, round)| std::cmp::Reverse(round.expires_at));
    for (name, _) in old.into_iter().skip(MAX_ENDED) {
        let _gone = std::fs::remove_file(dir(ws).join(format!("{name}.json")));
    }
    Ok(())
}
