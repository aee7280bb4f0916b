//! The keys that count for each entry (S6 to S10).
//!
//! Keys are judged by ancestry: the ancestors of an entry are in force for it, never a clock and never the entry
//! itself. Only policies and entries about keys matter here, and they are few: every entry has a *view*, the set of
//! valid ones among its ancestors, and entries share views. Only a revocation reaches back; each one that comes into
//! force restarts the reading without the entries that it revokes.

mod judging;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use judging::AuthorityReading;

use super::{Code, Graph, KeyGrant, KeyRole, Malformed, Payload, ReviewEntry, ReviewPolicy, ReviewRules};

/// Everything that is known of entries before any of them is judged.
#[derive(Debug)]
pub struct Material<'a> {
    pub entries: &'a [ReviewEntry],
    pub graph: Graph,
    /// The index of each id.
    pub ids: HashMap<&'a str, usize>,
}

impl<'a> Material<'a> {
    /// Reads `entries`, parents before children, with a clock that says `now`.
    pub fn new(entries: &'a [ReviewEntry], now: i64) -> Self {
        let ids = entries.iter().enumerate().map(|(index, entry)| (entry.id.as_str(), index)).collect();
        Self { entries, graph: Graph::new(entries, now), ids }
    }

    pub fn payload(&self, entry: usize) -> &'a Result<Payload, Malformed> {
        &self.entries[entry].payload
    }

    /// The policy that `entry` holds.
    pub fn policy(&self, entry: usize) -> Option<&'a ReviewPolicy> {
        match self.payload(entry) {
            Ok(Payload::Policy(policy)) => Some(policy),
            Ok(_) | Err(_) => None,
        }
    }

    /// The entry of that id, if it is an ancestor of `entry`.
    pub fn ancestor(&self, id: &str, entry: usize) -> Option<usize> {
        self.ids.get(id).copied().filter(|named| self.graph.is_before(*named, entry))
    }
}

/// A revocation that is in force.
#[derive(Debug, Clone)]
struct Revocation {
    by: usize,
    key: String,
    last_good: Vec<usize>,
}

/// The people and keys that may act, for every entry.
#[derive(Debug)]
pub struct Authority {
    /// The faults of the entries about keys and policies, and of their signatures.
    pub codes: BTreeMap<usize, Code>,
    /// The policies that came into force: place in the order, and the policy's entry.
    pub came: Vec<(usize, usize)>,
    /// The policy in force once everything has been read.
    pub at_end: Rc<PolicyInForce>,
    views: Vec<Rc<PolicyInForce>>,
    of_entry: Vec<usize>,
    revoked: Vec<Revocation>,
    /// For policies and changes of keys: how many keys have signed, and how many must.
    signatures: BTreeMap<usize, (usize, usize)>,
}

impl Authority {
    /// Reads the entries about keys and policies.
    pub fn new(material: &Material<'_>) -> Self {
        let mut revoked = Vec::new();
        loop {
            match AuthorityReading::run(material, &revoked) {
                Ok(authority) => return authority,
                Err(more) => revoked.push(more),
            }
        }
    }

    /// The policy in force for `entry`.
    pub fn for_entry(&self, entry: usize) -> &PolicyInForce {
        &self.views[self.of_entry[entry]]
    }

    /// The signer of `entry`, with a key of one of `roles`.
    ///
    /// # Errors
    /// The signature's fault.
    pub fn actor(&self, material: &Material<'_>, entry: usize, roles: &[KeyRole]) -> Result<&str, Code> {
        let signer = material.entries[entry].signer.as_deref().ok_or(Code::Unsigned)?;
        if is_revoked(&self.revoked, &material.graph, signer, entry) {
            return Err(Code::RevokedKey);
        }
        let grant = self.for_entry(entry).keys.get(signer).ok_or(Code::UnknownKey)?;
        // The requirements of a policy for keys hold for every role: without touch a key does not count.
        let is_touched = material.entries[entry].touched || !self.for_entry(entry).rules.require_touch;
        if !is_touched || !roles.iter().any(|role| grant.is(*role)) {
            return Err(Code::WrongRole);
        }
        Ok(&grant.who)
    }

    /// The number of keys that have signed a policy or a change of keys, and of those that must; `None` for other entries.
    pub fn signatures(&self, entry: usize) -> Option<(usize, usize)> {
        self.signatures.get(&entry).copied()
    }

    /// True for a revoked key: what it signs from now on counts for nothing.
    pub fn is_out(&self, key: &str) -> bool {
        self.revoked.iter().any(|revocation| revocation.key == key)
    }

    /// The grant to the signer of `entry` among the keys in force.
    pub fn named(&self, material: &Material<'_>, entry: usize) -> Option<&KeyGrant> {
        self.for_entry(entry).keys.get(material.entries[entry].signer.as_deref()?)
    }

    /// The time of the first policy; epochs are counted from there.
    pub fn first(&self, graph: &Graph) -> Option<i64> {
        self.at_end.chain.first().map(|policy| graph.eff[*policy])
    }
}

/// True where a revocation invalidates what `key` signed as `entry` (S7). One of several is enough.
fn is_revoked(revoked: &[Revocation], graph: &Graph, key: &str, entry: usize) -> bool {
    revoked.iter().filter(|revocation| revocation.key == key).any(|revocation| {
        revocation.by != entry && !revocation.last_good.iter().any(|good| graph.is_at_or_before(entry, *good))
    })
}

/// The people who hold a key of role witness.
fn witnesses(keys: &BTreeMap<String, KeyGrant>) -> BTreeSet<String> {
    keys.values().filter(|grant| grant.is(KeyRole::Witness)).map(|grant| grant.who.clone()).collect()
}

/// Policy and keys that are in force for an entry.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PolicyInForce {
    /// The policies from the first version to the one in force, by entry.
    pub chain: Vec<usize>,
    /// The grant of each key. A revoked key is here too: whether an entry by it is valid is decided separately.
    pub keys: BTreeMap<String, KeyGrant>,
    /// Everybody with a key of role witness.
    pub witnesses: BTreeSet<String>,
    /// The numbers of the policy.
    pub rules: ReviewRules,
    /// As the policy says it.
    pub operators: BTreeMap<String, Vec<String>>,
    /// By witness: the newest policy that reinstated them.
    pub reinstated: BTreeMap<String, usize>,
    /// The number of admin keys that must sign a change; none without a policy.
    pub threshold: Option<usize>,
    solo: bool,
}

/// Witnesses up to whom a policy may be solo.
const SOLO: usize = 2;

impl PolicyInForce {
    /// The result of `chain` and `added`.
    fn new(material: &Material<'_>, chain: Vec<usize>, added: &[&KeyGrant]) -> Self {
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
            witnesses: witnesses(&keys),
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

    /// True where people may answer what they have a stake in (R5).
    pub fn is_solo(&self) -> bool {
        self.solo && self.witnesses.len() <= SOLO
    }

    /// The founding number of a witness.
    pub fn founding(&self, who: &str) -> Option<i64> {
        self.keys.values().find(|grant| grant.who == who && grant.founding.is_some())?.founding
    }
}
