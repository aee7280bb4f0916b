//! The messages of agents: their members, the evidence that a statement names, and the trailer of a verdict. Evidence is a commit, a
//! run of the tests, or a file and its lines; it is read when a statement comes, so that what is in the ledger was there to be
//! looked at.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::{Map, Value};

use andon_engine::workspace::Workspace;
use andon_review::payload::member::{Malformed, UNKNOWN, malformed, read_known};
use andon_review::payload::questions::NamedEvidence;

/// Longest statement that is taken, in bytes.
const MAX_TEXT: usize = 1 << 20;

/// The action of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RoundAction {
    Open,
    Say,
    Verdict,
    Close,
}

/// A line that says itself what it does.
#[derive(Deserialize)]
pub(super) struct ActionMember {
    pub(super) action: RoundAction,
}

/// The round that every message but the first is about.
#[derive(Deserialize)]
pub(super) struct RoundName {
    pub(super) round: String,
}

/// The members that open a round, beside the question itself.
#[derive(Deserialize)]
pub(super) struct OpenMessage {
    #[serde(default)]
    pub(super) precedent_tags: BTreeSet<String>,
    #[serde(default)]
    pub(super) evidence: Vec<Map<String, Value>>,
}

/// A statement of a participant, or of the judge.
#[derive(Deserialize)]
pub(super) struct StatementMessage {
    pub(super) round: String,
    pub(super) agent: StatementText,
    pub(super) text: StatementText,
    #[serde(default)]
    pub(super) evidence: Vec<Map<String, Value>>,
}

/// As what a participant speaks.
#[derive(Deserialize)]
pub(super) struct RoleMember {
    pub(super) role: Speaker,
}

/// A participant who is no judge.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Speaker {
    Proposer,
    Opposer,
}

/// The message that ends a round.
#[derive(Deserialize)]
pub(super) struct CloseMessage {
    pub(super) round: String,
    pub(super) paid_to: Option<String>,
}

/// A text of at most [`MAX_TEXT`] bytes.
#[derive(Deserialize)]
#[serde(try_from = "String")]
pub(super) struct StatementText(pub(super) String);

impl TryFrom<String> for StatementText {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        match text.len() {
            0..=MAX_TEXT => Ok(Self(text)),
            bytes => Err(format!("has {bytes} bytes, at most 1 MiB are taken")),
        }
    }
}

/// Most things that one statement names.
const MAX_NAMED: usize = 8;
/// Longest name of a file or a run, in bytes.
const MAX_NAME: usize = 512;

/// The evidence that a statement names; commits by their whole ids.
pub(super) fn evidence(ws: &Workspace, list: &[Map<String, Value>]) -> Result<Vec<NamedEvidence>, Malformed> {
    if list.len() > MAX_NAMED {
        return Err(malformed("", "must name at most 8 things"));
    }
    list.iter().map(|item| one(ws, item)).collect()
}

fn one(ws: &Workspace, item: &Map<String, Value>) -> Result<NamedEvidence, Malformed> {
    let mut found: NamedEvidence = read_known(item, &[]).map_err(|wrong| match &*wrong.wanted {
        UNKNOWN => malformed("", "may name commit, run, file and lines"),
        _ => wrong,
    })?;
    let NamedEvidence { commit, run, file, lines } = &found;
    let is_odd = |text: &Option<String>| {
        text.as_ref().is_some_and(|text| text.trim().is_empty() || text.len() > MAX_NAME)
    };
    let named = [("commit", commit), ("run", run), ("file", file), ("lines", lines)];
    if let Some((member, _)) = named.iter().find(|(_, text)| is_odd(text)) {
        return Err(malformed(member, "must have 1 to 512 bytes"));
    }
    if let Some(lines) = lines
        && (file.is_none() || !is_lines(lines))
    {
        return Err(malformed("lines", "must be of a file: one number, or two as in 12-40"));
    }
    if [commit, run, file].into_iter().all(Option::is_none) {
        return Err(malformed("", "must name a commit, a run or a file"));
    }
    if let Some(commit) = &mut found.commit {
        let missing = |_| malformed("commit", "must name a commit that is here");
        *commit = ws.repo.resolve(commit).map_err(missing)?.to_string();
    }
    Ok(found)
}

/// True for `12` and for `12-40`.
fn is_lines(text: &str) -> bool {
    let number = |text: &str| text.parse::<u32>().ok().filter(|number| *number > 0);
    match text.split_once('-') {
        None => number(text).is_some(),
        Some((first, last)) => number(first).zip(number(last)).is_some_and(|(first, last)| first <= last),
    }
}

/// The beginning of a trailer.
const FENCE: &str = "```json";

/// The decision of a judge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Trailer {
    pub(super) deferred: bool,
    pub(super) recommendation: Option<String>,
    /// The text before the trailer.
    pub(super) prose: Option<String>,
}

#[derive(Deserialize)]
struct TrailerMembers {
    deferred: bool,
    recommendation: Option<Value>,
}

/// Reads the trailer of a verdict: the last fenced JSON block, or the whole text.
///
/// # Errors
/// Why it cannot be read, for the judge's second try.
pub(super) fn trailer(text: &str) -> Result<Trailer, String> {
    let wire: TrailerMembers = serde_json::from_str(block(text)).map_err(|err| {
        format!("the last ```json block is no trailer ({err}): end with ```json {{\"deferred\": false, \"recommendation\": \"...\"}} ```")
    })?;
    let recommendation = match wire.recommendation {
        None | Some(Value::Null) => None,
        Some(Value::String(text)) => Some(text).filter(|text| !text.trim().is_empty()),
        Some(_) => return Err("recommendation must be a text".to_owned()),
    };
    if !wire.deferred && recommendation.is_none() {
        return Err("deferred is false, so a recommendation is asked for".to_owned());
    }
    let prose = text.rfind(FENCE).map(|at| text[..at].trim().to_owned()).filter(|text| !text.is_empty());
    Ok(Trailer { deferred: wire.deferred, recommendation, prose })
}

fn block(text: &str) -> &str {
    let Some(begin) = text.rfind(FENCE) else { return text.trim() };
    let inner = &text[begin + FENCE.len()..];
    inner.split("```").next().unwrap_or(inner).trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_one_number_or_two() {
        let table = [
            ("12", true),
            ("12-40", true),
            ("7-7", true),
            ("0", false),
            ("40-12", false),
            ("12-", false),
            ("-3", false),
            ("12-40-50", false),
            ("a", false),
            ("", false),
        ];
        for (text, want) in table {
            assert_eq!(is_lines(text), want, "{text}");
        }
    }

    #[test]
    fn the_last_block_or_the_whole_text_is_the_trailer() {
        let yes = |text: &str| trailer(text).unwrap();
        assert_eq!(
            yes("{\"deferred\": true}"),
            Trailer { deferred: true, recommendation: None, prose: None }
        );
        let two = "```json\n{\"deferred\": true}\n```\nno:\n```json\n{\"deferred\": false, \"recommendation\": \"Do it.\", \"x\": 1}\n```\n";
        assert_eq!(
            yes(two),
            Trailer {
                deferred: false,
                recommendation: Some("Do it.".into()),
                prose: Some("```json\n{\"deferred\": true}\n```\nno:".into()),
            }
        );
        for bad in [
            "I would say yes.",
            "{\"deferred\": \"no\"}",
            "{\"deferred\": false}",
            "{\"deferred\": false, \"recommendation\": \" \"}",
            "{\"deferred\": false, \"recommendation\": 3}",
            "```json\n{\"deferred\": tru",
            "[]",
            "",
        ] {
            assert!(trailer(bad).is_err(), "{bad}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_text_panics(text in ".{0,100}(```json)?.{0,100}") {
            let _ = trailer(&text);
        }
    }
}
