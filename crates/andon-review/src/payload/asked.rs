//! What agents ask people: a question with what was said about it (S12), and why a person is needed (H.1).

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::member::{Malformed, Members, malformed};
use crate::similarity::{Similarity, Words};

/// Why a round waits for a person, in the order in which a round names them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Trigger {
    Deferral,
    ParseFailure,
    Agreement,
    ShortCritique,
    Timeout,
    Flag,
    Halt,
}

impl Trigger {
    const ALL: [(&'static str, Self); 7] = [
        ("deferral", Self::Deferral),
        ("parse_failure", Self::ParseFailure),
        ("agreement", Self::Agreement),
        ("short_critique", Self::ShortCritique),
        ("timeout", Self::Timeout),
        ("flag", Self::Flag),
        ("halt", Self::Halt),
    ];

    /// The trigger of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, trigger)| *trigger)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, trigger)| *trigger == self).map_or("", |(name, _)| name)
    }

    /// Whether agents alone brought it about, without a person or a halt.
    pub fn is_of_agents(self) -> bool {
        self < Self::Flag
    }
}

/// How often a verdict's trailer may fail to parse before a person is asked.
const PARSE_FAILURES: i64 = 2;

/// What the judge said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JudgeStatement {
    pub deferred: bool,
    pub parse_failures: i64,
    pub recommendation: Option<String>,
}

/// Who took part, by name.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Actors {
    pub proposer: Option<String>,
    pub opposer: Option<String>,
    pub synthesizer: Option<String>,
}

impl Actors {
    /// The agents, each once.
    pub fn names(&self) -> BTreeSet<&str> {
        [&self.proposer, &self.opposer, &self.synthesizer].into_iter().flatten().map(String::as_str).collect()
    }
}

/// When claim, critique and verdict came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Arrivals {
    pub claim: Option<i64>,
    pub critique: Option<i64>,
    pub verdict: Option<i64>,
}

/// What proposer and opposer said, as far as anything follows from it: their words themselves are not kept, as a ledger
/// has thousands of them.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Statements {
    pub claim: bool,
    pub critique: bool,
    /// The critique has too few words that say something.
    pub is_short: bool,
    /// What both have in common.
    pub alike: Option<Similarity>,
}

impl Statements {
    fn read(members: Members<'_>) -> Result<Self, Malformed> {
        let claim = members.maybe_text("claim")?.as_deref().map(Words::new);
        let critique = members.maybe_text("critique")?.as_deref().map(Words::new);
        Ok(Self {
            claim: claim.is_some(),
            critique: critique.is_some(),
            is_short: critique.as_ref().is_some_and(Words::is_short),
            alike: claim.as_ref().zip(critique.as_ref()).map(|(claim, critique)| claim.compare(critique)),
        })
    }
}

/// A question put by agents, with what they said. What did not come is absent.
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

impl RoundRequest {
    /// Reads one.
    pub fn read(members: Members<'_>) -> Result<Self, Malformed> {
        let issuer = members.maybe_text("issuer")?;
        let bounty = members.whole("bounty")?.unwrap_or(0);
        if bounty > 0 && issuer.is_none() {
            return Err(malformed("issuer", "must be there: somebody puts up the bounty"));
        }
        let arrived = match members.object("arrived")? {
            None => Arrivals::default(),
            Some(times) => Arrivals {
                claim: times.time("claim")?,
                critique: times.time("critique")?,
                verdict: times.time("verdict")?,
            },
        };
        Ok(Self {
            question: Words::new(&members.text("question")?),
            issuer,
            cast: Actors {
                proposer: members.maybe_text("proposer")?,
                opposer: members.maybe_text("opposer")?,
                synthesizer: members.maybe_text("synthesizer")?,
            },
            operators: members.lists("operators")?,
            authors: members.set("authors")?,
            opened_at: members.time("opened_at")?,
            expires_at: members.time("expires_at")?,
            arrived,
            statements: Statements::read(members)?,
            verdict: verdict(members)?,
            tags: members.set("tags")?,
            bounty,
            paid_to: members.maybe_text("paid_to")?,
            panel: seats(members.whole("min_witnesses")?.unwrap_or(1))?,
            revises: members.maybe_text("revises")?,
        })
    }

    /// Why a person is needed, derived from texts and times; empty when none is. `opened` and `timeout` replace a
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
        let is_late = |came: bool, at: Option<i64>| !came || at.is_some_and(|at| at > expires);
        let late = is_late(said.claim, self.arrived.claim)
            || is_late(said.critique, self.arrived.critique)
            || is_late(self.verdict.is_some(), self.arrived.verdict);
        add(Trigger::Timeout, late);
        found
    }
}

fn verdict(members: Members<'_>) -> Result<Option<JudgeStatement>, Malformed> {
    let Some(said) = members.object("verdict")? else { return Ok(None) };
    Ok(Some(JudgeStatement {
        deferred: said.truth("deferred")?.unwrap_or(false),
        parse_failures: said.whole("parse_failures")?.unwrap_or(0),
        recommendation: said.maybe_text("recommendation")?,
    }))
}

fn seats(min_witnesses: i64) -> Result<Option<usize>, Malformed> {
    match min_witnesses {
        0 | 1 => Ok(None),
        2 | 3 => Ok(Some(3)),
        4 | 5 => Ok(Some(5)),
        _ => Err(malformed("min_witnesses", "must be at most 5")),
    }
}
