//! The questions of agents to people, with what was said about them (S12), and the reasons for which a person is needed (H.1).

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::fields::{Time, Whole, lenient, lists, shown_by_name, whole};
use super::member::{Malformed, malformed};
use crate::{Similarity, Words};
use andon_core::format::fields::unless_default;

/// The reasons for which a round waits for a person, in the order in which a round names them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trigger {
    Deferral,
    ParseFailure,
    Agreement,
    ShortCritique,
    Timeout,
    Flag,
    Halt,
}

shown_by_name!(Trigger);

/// The number of unreadable trailers of a verdict from which on a person is asked.
const PARSE_FAILURES: i64 = 2;

/// A question put by agents, as its entry holds it. What did not come is absent.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RoundPayload {
    pub question: String,
    pub issuer: Option<String>,
    pub bounty: Option<Whole>,
    #[serde(default)]
    pub arrived: Arrivals,
    pub proposer: Option<String>,
    pub opposer: Option<String>,
    pub synthesizer: Option<String>,
    /// By role: the people who answer for who played it.
    #[serde(default, deserialize_with = "lists", serialize_with = "unless_default")]
    pub operators: BTreeMap<String, Vec<String>>,
    /// Further people with a hand in it.
    #[serde(default, serialize_with = "unless_default")]
    pub authors: Vec<String>,
    pub opened_at: Option<Time>,
    pub expires_at: Option<Time>,
    pub claim: Option<String>,
    pub critique: Option<String>,
    pub verdict: Option<JudgeStatement>,
    #[serde(default, serialize_with = "unless_default")]
    pub tags: Vec<String>,
    pub paid_to: Option<String>,
    /// The number of witnesses that the issuer asks for.
    pub min_witnesses: Option<Whole>,
    /// The round that this one takes the place of.
    pub revises: Option<String>,
    /// The evidence that each statement names.
    #[serde(default, deserialize_with = "lenient", serialize_with = "unless_default")]
    pub evidence: RoundEvidence,
}

/// The evidence that the statements of a round name, in the order in which they are read. An entry may be a stranger's: what has
/// another form is none.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RoundEvidence {
    #[serde(deserialize_with = "lenient", serialize_with = "unless_default")]
    pub question: Vec<NamedEvidence>,
    #[serde(deserialize_with = "lenient", serialize_with = "unless_default")]
    pub claim: Vec<NamedEvidence>,
    #[serde(deserialize_with = "lenient", serialize_with = "unless_default")]
    pub critique: Vec<NamedEvidence>,
    #[serde(deserialize_with = "lenient", serialize_with = "unless_default")]
    pub verdict: Vec<NamedEvidence>,
}

/// One thing that a statement looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedEvidence {
    pub commit: Option<String>,
    pub run: Option<String>,
    pub file: Option<String>,
    pub lines: Option<String>,
}

/// The verdict of the judge.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct JudgeStatement {
    pub deferred: bool,
    #[serde(with = "whole")]
    pub parse_failures: i64,
    pub recommendation: Option<String>,
}

/// The agents who took part, by role.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Actors {
    pub proposer: Option<String>,
    pub opposer: Option<String>,
    pub synthesizer: Option<String>,
}

impl Actors {
    /// The names of the agents, each once.
    pub fn names(&self) -> BTreeSet<&str> {
        [&self.proposer, &self.opposer, &self.synthesizer].into_iter().flatten().map(String::as_str).collect()
    }
}

/// The times at which claim, critique and verdict came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Arrivals {
    pub claim: Option<Time>,
    pub critique: Option<Time>,
    pub verdict: Option<Time>,
}

/// The statements of proposer and opposer, as far as anything follows from them: their words themselves are not kept, as a ledger
/// has thousands of them.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Statements {
    pub claim: bool,
    pub critique: bool,
    /// The critique has too few words that say something.
    pub is_short: bool,
    /// The similarity of both.
    pub alike: Option<Similarity>,
}

impl Statements {
    fn new(claim: Option<&str>, critique: Option<&str>) -> Self {
        let (claim, critique) = (claim.map(Words::new), critique.map(Words::new));
        Self {
            claim: claim.is_some(),
            critique: critique.is_some(),
            is_short: critique.as_ref().is_some_and(Words::is_short),
            alike: claim.as_ref().zip(critique.as_ref()).map(|(claim, critique)| claim.compare(critique)),
        }
    }
}

/// The part of a round that the folds need.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RoundRequest {
    pub question: Words,
    pub issuer: Option<String>,
    pub cast: Actors,
    /// By role: the people who answer for who played it.
    pub operators: BTreeMap<String, Vec<String>>,
    /// Further people with a hand in it.
    pub authors: BTreeSet<String>,
    pub opened_at: Option<i64>,
    pub expires_at: Option<i64>,
    pub arrived: Arrivals,
    pub statements: Statements,
    pub verdict: Option<JudgeStatement>,
    pub tags: BTreeSet<String>,
    pub bounty: i64,
    pub paid_to: Option<String>,
    /// Members of the panel that the issuer asks for; `None` for one witness.
    pub panel: Option<usize>,
    /// The round that this one takes the place of.
    pub revises: Option<String>,
}

impl TryFrom<RoundPayload> for RoundRequest {
    type Error = Malformed;

    fn try_from(said: RoundPayload) -> Result<Self, Malformed> {
        let bounty = said.bounty.map_or(0, Whole::get);
        if bounty > 0 && said.issuer.is_none() {
            return Err(malformed("issuer", "must be there: somebody puts up the bounty"));
        }
        Ok(Self {
            question: Words::new(&said.question),
            statements: Statements::new(said.claim.as_deref(), said.critique.as_deref()),
            issuer: said.issuer,
            cast: Actors { proposer: said.proposer, opposer: said.opposer, synthesizer: said.synthesizer },
            operators: said.operators,
            authors: said.authors.into_iter().collect(),
            opened_at: said.opened_at.map(|Time(at)| at),
            expires_at: said.expires_at.map(|Time(at)| at),
            arrived: said.arrived,
            verdict: said.verdict,
            tags: said.tags.into_iter().collect(),
            bounty,
            paid_to: said.paid_to,
            panel: match said.min_witnesses.map_or(1, Whole::get) {
                0 | 1 => None,
                2 | 3 => Some(3),
                4 | 5 => Some(5),
                _ => return Err(malformed("min_witnesses", "must be at most 5")),
            },
            revises: said.revises,
        })
    }
}

impl RoundRequest {
    /// The reasons for which a person is needed, derived from texts and times; empty when none is. `opened` and `timeout` replace a
    /// missing time of expiry.
    pub fn triggers(&self, opened: i64, timeout: i64) -> BTreeSet<Trigger> {
        let mut found = BTreeSet::new();
        let mut add = |trigger, holds| {
            if holds {
                found.insert(trigger);
            }
        };
        let judge = self.verdict.as_ref();
        add(Trigger::Deferral, judge.is_some_and(|said| said.deferred));
        add(Trigger::ParseFailure, judge.is_some_and(|said| said.parse_failures >= PARSE_FAILURES));
        let said = self.statements;
        add(Trigger::Agreement, said.alike.is_some_and(|found| found.agreement));
        add(Trigger::ShortCritique, said.is_short);
        let expires =
            self.expires_at.unwrap_or_else(|| self.opened_at.unwrap_or(opened).saturating_add(timeout));
        let is_late = |came: bool, at: Option<Time>| !came || at.is_some_and(|Time(at)| at > expires);
        let late = is_late(said.claim, self.arrived.claim)
            || is_late(said.critique, self.arrived.critique)
            || is_late(self.verdict.is_some(), self.arrived.verdict);
        add(Trigger::Timeout, late);
        found
    }
}
