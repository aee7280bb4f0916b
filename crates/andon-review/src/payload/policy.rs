//! The policy: who may act with which key, and the numbers of the rules (S6).

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::member::{Malformed, Members, malformed};
use crate::lookback::DAY;

/// What a key may be used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum KeyRole {
    Admin,
    Witness,
    Flag,
    Agent,
    Forge,
    Ci,
}

impl KeyRole {
    const ALL: [(&'static str, Self); 6] = [
        ("admin", Self::Admin),
        ("witness", Self::Witness),
        ("flag", Self::Flag),
        ("agent", Self::Agent),
        ("forge", Self::Forge),
        ("ci", Self::Ci),
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, role)| *role == self).map_or("", |(name, _)| name)
    }

    /// The role of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, role)| *role)
    }
}

/// A key, who holds it, and what for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyGrant {
    pub key: String,
    pub who: String,
    pub roles: BTreeSet<KeyRole>,
    pub founding: Option<i64>,
}

impl KeyGrant {
    /// Reads one; `key` defaults to `who`.
    pub fn read(members: Members<'_>) -> Result<Self, Malformed> {
        let who = members.text("who")?;
        let key = members.maybe_text("key")?.unwrap_or_else(|| who.clone());
        let named = members.list("roles")?.ok_or_else(|| malformed("roles", "a list is missing"))?;
        let roles = named.iter().map(|role| KeyRole::named(role.as_str()?)).collect::<Option<_>>();
        let roles =
            roles.ok_or_else(|| malformed("roles", "must be of admin, witness, flag, agent, forge, ci"))?;
        let founding = match members.get("founding_id") {
            None => None,
            Some(number) => {
                Some(number.as_i64().ok_or_else(|| malformed("founding_id", "must be a whole number"))?)
            }
        };
        Ok(Self { key, who, roles, founding })
    }

    /// Whether it may be used so. A key of an agent, a forge or a CI is never a witness's (S8).
    pub fn is(&self, role: KeyRole) -> bool {
        let is_machine =
            [KeyRole::Agent, KeyRole::Forge, KeyRole::Ci].iter().any(|role| self.roles.contains(role));
        self.roles.contains(&role) && !(role == KeyRole::Witness && is_machine)
    }
}

/// The numbers that a policy may set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewRules {
    /// Seconds of an epoch.
    pub epoch: i64,
    /// Resolutions and ballots of a witness in 24 hours.
    pub cap: usize,
    /// Single resolutions of a tag in a row by one witness; 0: as many as they like.
    pub rotation: usize,
    /// Seconds that a panel has.
    pub panel_deadline: i64,
    /// Seconds that agents have for a round.
    pub round_timeout: i64,
    /// Whether accepting asks for eligibility as a referee (R12).
    pub referee_gate: bool,
    /// Whether only keys count that a person touched.
    pub require_touch: bool,
}

impl Default for ReviewRules {
    fn default() -> Self {
        Self {
            epoch: 7 * DAY,
            cap: 10,
            rotation: 3,
            panel_deadline: 3 * DAY,
            round_timeout: 1_800,
            referee_gate: false,
            require_touch: false,
        }
    }
}

impl ReviewRules {
    fn read(members: Members<'_>) -> Result<Self, Malformed> {
        let default = Self::default();
        let count = |name, default: usize| -> Result<usize, Malformed> {
            Ok(members.whole(name)?.map_or(default, |number| usize::try_from(number).unwrap_or(usize::MAX)))
        };
        let epoch = members.whole("epoch")?.unwrap_or(default.epoch);
        if epoch == 0 {
            return Err(malformed("rules.epoch", "must be at least 1 second"));
        }
        let ack = members.maybe_text("ack")?;
        if ack.is_some_and(|ack| !["delete", "resume", "signed"].contains(&ack.as_str())) {
            return Err(malformed("rules.ack", "must be delete, resume or signed"));
        }
        Ok(Self {
            epoch,
            cap: count("cap", default.cap)?,
            rotation: count("rotation", default.rotation)?,
            panel_deadline: members.whole("panel_deadline")?.unwrap_or(default.panel_deadline),
            round_timeout: members.whole("round_timeout")?.unwrap_or(default.round_timeout),
            referee_gate: members.truth("referee_gate")?.unwrap_or(default.referee_gate),
            require_touch: members.truth("require_touch")?.unwrap_or(default.require_touch),
        })
    }
}

/// One version of the policy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewPolicy {
    pub version: i64,
    /// How many admin keys must sign a change.
    pub threshold: usize,
    /// A witness may answer what they have a stake in, as long as there are no more than two.
    pub solo: bool,
    pub keys: Vec<KeyGrant>,
    /// For an agent, or `writer:<id>`: the people who answer for it.
    pub operators: BTreeMap<String, Vec<String>>,
    /// What the accounts hold at first.
    pub accounts: BTreeMap<String, i64>,
    pub rules: ReviewRules,
    /// Witnesses who are reinstated.
    pub reinstated: BTreeSet<String>,
    /// Entries whose concern about the rules was accepted.
    pub accepted: Vec<String>,
    /// The same, declined.
    pub declined: Vec<String>,
}

impl ReviewPolicy {
    /// Reads one.
    pub fn read(members: Members<'_>) -> Result<Self, Malformed> {
        let whole = |name: &'static str| {
            members
                .whole(name)?
                .filter(|number| *number > 0)
                .ok_or_else(|| malformed(name, "must be at least 1"))
        };
        let (version, threshold) = (whole("version")?, whole("threshold")?);
        let keys = keys(members)?;
        let admins = keys.iter().filter(|key| key.is(KeyRole::Admin)).count();
        let threshold = usize::try_from(threshold)
            .ok()
            .filter(|threshold| *threshold <= admins)
            .ok_or_else(|| malformed("threshold", "must be at most the number of admin keys"))?;
        let rules = members.object("rules")?.map(ReviewRules::read).transpose()?.unwrap_or_default();
        let answered = |name| match members.object("concerns")? {
            Some(concerns) => concerns.texts(name),
            None => Ok(Vec::new()),
        };
        Ok(Self {
            version,
            threshold,
            solo: members.truth("solo")?.unwrap_or(false),
            keys,
            operators: members.lists("operators")?,
            accounts: members.numbers("accounts")?,
            rules,
            reinstated: members.set("reinstated")?,
            accepted: answered("accepted")?,
            declined: answered("declined")?,
        })
    }
}

fn keys(members: Members<'_>) -> Result<Vec<KeyGrant>, Malformed> {
    let list = members.list("keys")?.ok_or_else(|| malformed("keys", "a list is missing"))?;
    let mut keys = Vec::with_capacity(list.len());
    let mut seen = BTreeSet::new();
    for key in list {
        let key = key.as_object().ok_or_else(|| malformed("keys", "must hold objects"))?;
        let grant = KeyGrant::read(Members::new(key))?;
        if !seen.insert(grant.key.clone()) {
            return Err(malformed("keys", "must name each key once"));
        }
        keys.push(grant);
    }
    Ok(keys)
}
