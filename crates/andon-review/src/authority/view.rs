//! What is in force for those who see the same policies and keys.

use std::collections::{BTreeMap, BTreeSet};

use super::super::payload::policy::{KeyGrant, ReviewRules};
use super::Material;

/// Policy and keys that are in force for an entry.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PolicyInForce {
    /// The policies from the first version to the one in force, by entry.
    pub chain: Vec<usize>,
    /// What each key may be used for. A revoked key is here too: whether an entry by it is valid is decided separately.
    pub keys: BTreeMap<String, KeyGrant>,
    /// Everybody with a key of role witness.
    pub witnesses: BTreeSet<String>,
    /// The numbers of the policy.
    pub rules: ReviewRules,
    /// As the policy says it.
    pub operators: BTreeMap<String, Vec<String>>,
    /// By witness: the newest policy that reinstated them.
    pub reinstated: BTreeMap<String, usize>,
    /// How many admin keys must sign a change; none without a policy.
    pub threshold: Option<usize>,
    solo: bool,
}

/// Witnesses up to whom a policy may be solo.
const SOLO: usize = 2;

impl PolicyInForce {
    /// The result of `chain` and `added`.
    pub(super) fn new(material: Material<'_>, chain: Vec<usize>, added: &[&KeyGrant]) -> Self {
        let mut reinstated = BTreeMap::new();
        for entry in &chain {
            let named = material.policy(*entry).into_iter().flat_map(|policy| &policy.reinstated);
            reinstated.extend(named.map(|who| (who.clone(), *entry)));
        }
        let policy = chain.last().and_then(|entry| material.policy(*entry));
        let Some(policy) = policy else { return Self { chain, ..Self::default() } };
        let all = policy.keys.iter().chain(added.iter().copied());
        let keys: BTreeMap<_, _> = all.map(|grant| (grant.key().to_owned(), grant.clone())).collect();
        Self {
            chain,
            witnesses: super::witnesses(&keys),
            keys,
            rules: policy.rules,
            operators: policy.operators.clone(),
            reinstated,
            threshold: Some(policy.threshold),
            solo: policy.solo,
        }
    }

    /// The entry of the policy.
    pub fn policy(&self) -> Option<usize> {
        self.chain.last().copied()
    }

    /// Whether people may answer what they have a stake in (R5).
    pub fn is_solo(&self) -> bool {
        self.solo && self.witnesses.len() <= SOLO
    }

    /// The founding number of a witness.
    pub fn founding(&self, who: &str) -> Option<i64> {
        self.keys.values().find(|grant| grant.who == who && grant.founding.is_some())?.founding
    }
}
