//! The policy: who may act with which key, and the numbers of the rules (S6).

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::fields::{lists, numbers, shown_by_name, whole};
use super::member::{Malformed, malformed};
use crate::window::DAY;
use andon_core::{domain::AckMode, format::fields::unless_default};

/// A use of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyRole {
    Admin,
    Witness,
    Flag,
    Agent,
    Forge,
    Ci,
}

shown_by_name!(KeyRole);

/// A key, who holds it, and what for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyGrant {
    pub who: String,
    key: Option<String>,
    pub roles: BTreeSet<KeyRole>,
    #[serde(rename = "founding_id")]
    pub founding: Option<i64>,
}

impl KeyGrant {
    /// A grant to `who`.
    pub fn new(key: &str, who: &str, roles: impl IntoIterator<Item = KeyRole>) -> Self {
        Self {
            who: who.to_owned(),
            key: Some(key.to_owned()),
            roles: roles.into_iter().collect(),
            founding: None,
        }
    }

    /// The key; where none is said, it is called as who holds it.
    pub fn key(&self) -> &str {
        self.key.as_ref().unwrap_or(&self.who)
    }

    /// True where the key has this role. A key of an agent, a forge or a CI is never a witness's (S8).
    pub fn is(&self, role: KeyRole) -> bool {
        let is_machine =
            [KeyRole::Agent, KeyRole::Forge, KeyRole::Ci].iter().any(|role| self.roles.contains(role));
        self.roles.contains(&role) && !(role == KeyRole::Witness && is_machine)
    }
}

/// The numbers that a policy may set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReviewRules {
    /// The length of an epoch, in seconds.
    #[serde(with = "whole")]
    pub epoch: i64,
    /// The way in which halts are answered, as a note: what counts is `guard.ack`.
    pub ack: Option<AckMode>,
    /// Resolutions and ballots of a witness in 24 hours.
    #[serde(with = "whole")]
    pub cap: usize,
    /// Single resolutions of a tag in a row by one witness; 0: as many as they like.
    #[serde(with = "whole")]
    pub rotation: usize,
    /// Seconds that a panel has.
    #[serde(with = "whole")]
    pub panel_deadline: i64,
    /// Seconds that agents have for a round.
    #[serde(with = "whole")]
    pub round_timeout: i64,
    /// Accepting asks for eligibility as a referee (R12).
    pub referee_gate: bool,
    /// Only keys count that a person touched.
    pub require_touch: bool,
}

impl Default for ReviewRules {
    fn default() -> Self {
        Self {
            epoch: 7 * DAY,
            ack: None,
            cap: 10,
            rotation: 3,
            panel_deadline: 3 * DAY,
            round_timeout: 1_800,
            referee_gate: false,
            require_touch: false,
        }
    }
}

/// One version of the policy.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ReviewPolicy {
    #[serde(with = "whole")]
    pub version: i64,
    /// The number of admin keys that must sign a change.
    #[serde(with = "whole")]
    pub threshold: usize,
    pub keys: Vec<KeyGrant>,
    #[serde(default, serialize_with = "unless_default")]
    pub rules: ReviewRules,
    #[serde(default, serialize_with = "unless_default")]
    pub concerns: ConcernAnswers,
    /// A witness may answer what they have a stake in, as long as there are no more than two.
    #[serde(default)]
    pub solo: bool,
    /// For an agent, or `writer:<id>`: the people who answer for it.
    #[serde(default, deserialize_with = "lists", serialize_with = "unless_default")]
    pub operators: BTreeMap<String, Vec<String>>,
    /// The opening balances of the accounts.
    #[serde(default, deserialize_with = "numbers", serialize_with = "unless_default")]
    pub accounts: BTreeMap<String, i64>,
    /// The witnesses who are reinstated by this policy.
    #[serde(default, serialize_with = "unless_default")]
    pub reinstated: BTreeSet<String>,
}

/// The entries whose concern about the rules a policy answers.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ConcernAnswers {
    pub accepted: Vec<String>,
    pub declined: Vec<String>,
}

impl ReviewPolicy {
    /// Checks what serde cannot.
    pub(super) fn check(self) -> Result<Self, Malformed> {
        let of_one =
            |member, number: bool| if number { Ok(()) } else { Err(malformed(member, "must be at least 1")) };
        of_one("version", self.version > 0)?;
        of_one("threshold", self.threshold > 0)?;
        let keys: BTreeSet<&str> = self.keys.iter().map(KeyGrant::key).collect();
        if keys.len() < self.keys.len() {
            return Err(malformed("keys", "must name each key once"));
        }
        if self.threshold > self.keys.iter().filter(|key| key.is(KeyRole::Admin)).count() {
            return Err(malformed("threshold", "must be at most the number of admin keys"));
        }
        if self.rules.epoch == 0 {
            return Err(malformed("rules.epoch", "must be at least 1 second"));
        }
        Ok(self)
    }
}
