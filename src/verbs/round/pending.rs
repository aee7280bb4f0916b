//! A round that has not ended: a file with what came so far.

use std::{fs::File, path::PathBuf};

use serde::de::{Deserializer, Error};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value};

use super::{Speaker, Trailer};
use andon_core::domain::Hint;
use andon_core::format::{fields, members_of};
use andon_engine::{OpsError, Result, Workspace, effect};
use andon_git::read_plain;
use andon_review::{
    JudgeStatement, NamedEvidence, RoundPayload, Time, payload::member::read as read_payload,
};
use andon_store::EvidenceText;

/// Longest text of a statement that an entry holds; longer ones are cut there and kept whole next to it.
pub(super) const MAX_SIGNED: usize = 4096;
/// Largest file of a round.
const MAX_FILE: u64 = 16 << 20;
/// Most rounds that wait at once.
const MAX_ROUNDS: usize = 1_000;
/// Ended rounds that are remembered.
const MAX_ENDED: usize = 200;

/// A round that has not ended, with what came so far.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct PendingRound {
    /// The body that its entry will have; empty once it is over.
    #[serde(with = "members")]
    pub(super) body: RoundPayload,
    /// Texts that are kept whole: by name.
    texts: Vec<(String, String)>,
    pub(super) expires_at: i64,
    /// The entry that the round became. A party that still speaks in the round gets this entry as the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) ended: Option<String>,
}

/// A round's entry as the members that it will have.
mod members {
    use super::{
        Deserialize, Deserializer, Error, Map, RoundPayload, Serialize, Serializer, Value, members_of,
        read_payload,
    };

    pub(super) fn serialize<S: Serializer>(body: &RoundPayload, serializer: S) -> Result<S::Ok, S::Error> {
        members_of(body).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<RoundPayload, D::Error> {
        let members = Map::<String, Value>::deserialize(deserializer)?;
        if members.is_empty() {
            return Ok(RoundPayload::default());
        }
        read_payload(&members).map_err(D::Error::custom)
    }
}

impl PendingRound {
    /// A new round, with what a question may say.
    pub(super) fn open(said: RoundPayload, opened_at: i64, expires_at: i64) -> Self {
        let RoundPayload {
            question, issuer, tags, bounty, min_witnesses, operators, authors, revises, ..
        } = said;
        let (opened_at, expires) = (Some(Time(opened_at)), Some(Time(expires_at)));
        let body = RoundPayload {
            question,
            issuer,
            tags,
            bounty,
            min_witnesses,
            operators,
            authors,
            revises,
            opened_at,
            expires_at: expires,
            ..RoundPayload::default()
        };
        Self { body, expires_at, ..Self::default() }
    }

    /// A statement came. Each comes once: what was said is not taken back.
    pub(super) fn take(
        &mut self,
        which: Speaker,
        agent: String,
        text: &str,
        at: i64,
        evidence: Vec<NamedEvidence>,
    ) -> Result<(), String> {
        let RoundPayload { arrived, evidence: all, claim, critique, proposer, opposer, .. } = &mut self.body;
        let (name, role, said, by, arrived, looked_at) = match which {
            Speaker::Proposer => ("claim", "proposer", claim, proposer, &mut arrived.claim, &mut all.claim),
            Speaker::Opposer => {
                ("critique", "opposer", critique, opposer, &mut arrived.critique, &mut all.critique)
            }
        };
        if said.is_some() {
            return Err(format!("the {role} has spoken already"));
        }
        (*said, *by) = (Some(cut(text)), Some(agent));
        (*arrived, *looked_at) = (Some(Time(at)), evidence);
        if text.len() > MAX_SIGNED {
            self.texts.push((name.to_owned(), text.to_owned()));
        }
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
        if self.body.verdict.is_some() && self.failures() < 1 {
            return Err("the judge has spoken already".to_owned());
        }
        self.texts.push(("verdict".to_owned(), text.to_owned()));
        // A judge who recommends nothing and says something all the same recommends that.
        let recommendation = trailer.recommendation.or(trailer.prose);
        let deferred = trailer.deferred || self.is_monologue();
        let parse_failures = self.failures();
        self.verdict(agent, at, JudgeStatement { deferred, parse_failures, recommendation });
        Ok(())
    }

    /// The judge's trailer cannot be read; how often that has happened. Both texts are evidence.
    pub(super) fn unreadable(&mut self, agent: &str, text: &str, at: i64) -> i64 {
        let failures = self.failures() + 1;
        self.texts.push((format!("verdict-{failures}"), text.to_owned()));
        let recommendation = Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        self.verdict(agent, at, JudgeStatement { deferred: false, parse_failures: failures, recommendation });
        failures
    }

    fn verdict(&mut self, agent: &str, at: i64, mut said: JudgeStatement) {
        said.recommendation = said.recommendation.as_deref().map(cut);
        self.body.verdict = Some(said);
        self.body.synthesizer = Some(agent.to_owned());
        self.body.arrived.verdict = Some(Time(at));
    }

    /// True where one agent spoke for both sides: that is no debate, whatever the judge makes of it.
    pub(super) fn is_monologue(&self) -> bool {
        self.body.proposer.is_some() && self.body.proposer == self.body.opposer
    }

    fn failures(&self) -> i64 {
        self.body.verdict.as_ref().map_or(0, |verdict| verdict.parse_failures)
    }

    pub(super) fn evidence(&self) -> Vec<EvidenceText> {
        let text = |(name, text): &(String, String)| EvidenceText {
            name: name.clone(),
            bytes: text.clone().into_bytes(),
        };
        self.texts.iter().map(text).collect()
    }
}

fn cut(text: &str) -> String {
    fields::cut(text, MAX_SIGNED)
}

fn dir(ws: &Workspace) -> PathBuf {
    ws.repo.common_dir().join("andon").join("rounds")
}

/// Holds the rounds for as long as the file is open; `None` while another process does.
pub(super) fn hold(ws: &Workspace) -> Result<Option<File>> {
    let file = File::create(dir(ws).join("lock")).map_err(OpsError::Input)?;
    Ok(file.try_lock().is_ok().then_some(file))
}

/// Keeps a new round under an unused name.
pub(super) fn keep_new(ws: &Workspace, round: &PendingRound) -> Result<String> {
    if all(ws).len() >= MAX_ROUNDS {
        return Err(OpsError::refused(format!("{MAX_ROUNDS} rounds are open already"), Hint::CloseRounds));
    }
    let mut random = [0_u8; 8];
    getrandom::fill(&mut random).map_err(|err| OpsError::Input(std::io::Error::other(err.to_string())))?;
    let name: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
    std::fs::create_dir_all(dir(ws)).map_err(OpsError::Input)?;
    keep(ws, &name, round)?;
    Ok(name)
}

pub(super) fn keep(ws: &Workspace, name: &str, round: &PendingRound) -> Result<()> {
    let text = serde_json::to_string(round).map_err(|err| OpsError::Input(err.into()))?;
    Ok(effect::replace_text(&dir(ws).join(format!("{name}.json")), &text)?)
}

/// The round of that name.
pub(super) fn find(ws: &Workspace, name: &str) -> Result<(String, PendingRound)> {
    let is_name = name.len() == 16 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    let found = is_name.then(|| read(&dir(ws).join(format!("{name}.json")))).flatten();
    let what = || format!("no open round is called {name:?}: it was closed, has expired, or never was");
    found.map(|round| (name.to_owned(), round)).ok_or_else(|| OpsError::usage(what(), Hint::OpenRound))
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
pub(super) fn end(ws: &Workspace, name: &str, round: &PendingRound, entry: String) -> Result<()> {
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
