//! One reading of the entries about keys, with the revocations known so far.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::{Authority, Material, PolicyInForce, Revocation, is_revoked};
use crate::{Code, KeyGrant, KeyRevoke, KeyRole, Payload, ReviewPolicy};

/// A reading of the entries about keys, under way.
pub(super) struct AuthorityReading<'a> {
    material: &'a Material<'a>,
    revoked: &'a [Revocation],
    codes: BTreeMap<usize, Code>,
    came: Vec<(usize, usize)>,
    /// The policy that counts, by version.
    winners: BTreeMap<i64, usize>,
    /// Valid signatures under a policy or an entry about keys: its own, and those of `policy-sign` entries.
    signed: BTreeMap<usize, Vec<usize>>,
    /// Sets of valid entries about keys, and what is in force where they are seen.
    sets: Vec<BTreeSet<usize>>,
    views: Vec<Rc<PolicyInForce>>,
    known: BTreeMap<BTreeSet<usize>, usize>,
    of_entry: Vec<usize>,
}

impl<'a> AuthorityReading<'a> {
    /// Reads everything. A revocation that comes into force ends the reading, which has to be restarted with it.
    pub(super) fn run(
        material: &'a Material<'a>,
        revoked: &'a [Revocation],
    ) -> Result<Authority, Revocation> {
        let count = material.entries.len();
        let mut reading = Self {
            material,
            revoked,
            codes: BTreeMap::new(),
            came: Vec::new(),
            winners: BTreeMap::new(),
            signed: BTreeMap::new(),
            sets: Vec::new(),
            views: Vec::new(),
            known: BTreeMap::new(),
            of_entry: vec![0; count],
        };
        reading.view(BTreeSet::new());
        let mut all = BTreeSet::new();
        for entry in &material.graph.order {
            let view = reading.view_below(*entry, &all);
            reading.of_entry[*entry] = view;
            if material.graph.clock[*entry].is_none() && reading.is_about_keys(*entry) {
                if let Some(code) = reading.judge(*entry) {
                    reading.codes.insert(*entry, code);
                } else {
                    all.insert(*entry);
                    reading.enter(*entry)?;
                }
            }
        }
        let counted = |entry: &usize| (*entry, (reading.signers(*entry, &all), reading.threshold(*entry)));
        let signatures = reading.signed.keys().map(counted).collect();
        let at_end = reading.view(all);
        Ok(Authority {
            signatures,
            codes: reading.codes,
            came: reading.came,
            at_end: Rc::clone(&reading.views[at_end]),
            views: reading.views,
            of_entry: reading.of_entry,
            revoked: revoked.to_vec(),
        })
    }

    fn is_about_keys(&self, entry: usize) -> bool {
        matches!(
            self.material.entries[entry].kind.as_str(),
            "policy" | "policy-sign" | "key-add" | "key-revoke"
        )
    }

    /// The view of an entry: what its parents see, and the parents themselves; `all` are the valid ones so far.
    fn view_below(&mut self, entry: usize, all: &BTreeSet<usize>) -> usize {
        let parents = &self.material.entries[entry].parents;
        let is_new = |parent: &usize| all.contains(parent);
        if let [only] = parents.as_slice()
            && !is_new(only)
        {
            return self.of_entry[*only];
        }
        let mut set = BTreeSet::new();
        for parent in parents {
            set.extend(&self.sets[self.of_entry[*parent]]);
            set.extend(Some(*parent).filter(is_new));
        }
        self.view(set)
    }

    /// The number of the view that sees `set`.
    fn view(&mut self, set: BTreeSet<usize>) -> usize {
        if let Some(known) = self.known.get(&set) {
            return *known;
        }
        let counts = |policy: &usize| set.contains(policy) && self.is_complete(*policy, &set);
        let chain: Vec<usize> = self.winners.values().copied().take_while(counts).collect();
        // The entries that a policy's author saw are in its list, or were left out of it.
        let seen = chain.last().map(|policy| &self.sets[self.of_entry[*policy]]);
        let is_new = |entry: &usize| !seen.is_some_and(|seen| seen.contains(entry));
        let granted = set.iter().copied().filter(|entry| self.grant(*entry).is_some() && is_new(entry));
        let mut added: Vec<usize> = granted.filter(|entry| self.is_complete(*entry, &set)).collect();
        added.sort_by_key(|entry| self.material.graph.place[*entry]);
        let added: Vec<&KeyGrant> = added.into_iter().filter_map(|entry| self.grant(entry)).collect();
        let view = Rc::new(PolicyInForce::new(self.material, chain, &added));
        self.views.push(view);
        self.sets.push(set.clone());
        self.known.insert(set, self.views.len() - 1);
        self.views.len() - 1
    }

    fn grant(&self, entry: usize) -> Option<&'a KeyGrant> {
        if let Ok(Payload::KeyAdd(grant)) = self.material.payload(entry) { Some(grant) } else { None }
    }

    /// True when enough of the keys that may change things have signed `entry`, among what `set` holds.
    fn is_complete(&self, entry: usize, set: &BTreeSet<usize>) -> bool {
        self.signers(entry, set) >= self.threshold(entry)
    }

    /// The number of keys that have signed it.
    fn signers(&self, entry: usize, set: &BTreeSet<usize>) -> usize {
        let signatures =
            self.signed.get(&entry).into_iter().flatten().filter(|signature| set.contains(signature));
        let keys: BTreeSet<_> =
            signatures.filter_map(|signature| self.material.entries[*signature].signer.as_deref()).collect();
        keys.len()
    }

    /// The number of keys that must sign `entry`: as the policy before it says, and as itself says for the first.
    fn threshold(&self, entry: usize) -> usize {
        let before = self.views[self.of_entry[entry]].policy().or(Some(entry));
        before.and_then(|policy| self.material.policy(policy)).map_or(usize::MAX, |policy| policy.threshold)
    }

    /// The fault of an entry about keys.
    fn judge(&self, entry: usize) -> Option<Code> {
        let Ok(payload) = self.material.payload(entry) else { return Some(Code::BadPayload) };
        let judged = if let Payload::Policy(policy) = payload {
            self.judge_policy(entry, policy)
        } else if let Payload::PolicySign(id) = payload {
            self.judge_signature(entry, id)
        } else if let Payload::KeyAdd(grant) = payload {
            let own = BTreeMap::from([(grant.key().to_owned(), (**grant).clone())]);
            self.admin(entry, &self.views[self.of_entry[entry]].keys, self.unknown(entry, &own))
        } else if let Payload::KeyRevoke(revoke) = payload {
            self.judge_revocation(entry, revoke)
        } else {
            Ok(())
        };
        judged.err()
    }

    fn signer(&self, entry: usize) -> &'a str {
        self.material.entries[entry].signer.as_deref().unwrap_or_default()
    }

    fn judge_policy(&self, entry: usize, policy: &ReviewPolicy) -> Result<(), Code> {
        let is_vote = |id: &String| {
            let named = self.material.ancestor(id, entry);
            named.is_some_and(|named| {
                matches!(self.material.entries[named].kind.as_str(), "resolution" | "ballot-reveal")
            })
        };
        if !policy.concerns.accepted.iter().chain(&policy.concerns.declined).all(is_vote) {
            return Err(Code::UnknownRound);
        }
        let before = &self.views[self.of_entry[entry]];
        let version =
            before.policy().and_then(|policy| self.material.policy(policy)).map_or(0, |one| one.version);
        if policy.version != version + 1 {
            return Err(Code::PolicyRollback);
        }
        if self.winners.contains_key(&policy.version) {
            return Err(Code::PolicyConflict);
        }
        let own: BTreeMap<_, _> =
            policy.keys.iter().map(|grant| (grant.key().to_owned(), grant.clone())).collect();
        let signer = self.signer(entry);
        if before.policy().is_some() {
            return self.admin(entry, &before.keys, self.unknown(entry, &own));
        }
        if !own.get(signer).is_some_and(|grant| grant.is(KeyRole::Admin)) {
            return Err(Code::PolicyThreshold);
        }
        self.admin(entry, &own, Code::UnknownKey)
    }

    /// A signature under a first policy is by a key of its own, as there is no other yet.
    fn judge_signature(&self, entry: usize, id: &str) -> Result<(), Code> {
        let named = self.material.ancestor(id, entry).filter(|named| self.signed.contains_key(named));
        let named = named.ok_or(Code::UnknownRound)?;
        let before = &self.views[self.of_entry[entry]];
        let policy = self.material.policy(named);
        let own: BTreeMap<String, KeyGrant> = match (policy, self.grant(named)) {
            (Some(policy), _) => {
                policy.keys.iter().map(|grant| (grant.key().to_owned(), grant.clone())).collect()
            }
            (None, Some(grant)) => BTreeMap::from([(grant.key().to_owned(), grant.clone())]),
            (None, None) => BTreeMap::new(),
        };
        if before.policy().is_none() && policy.is_some() {
            return self.admin(entry, &own, Code::UnknownKey);
        }
        self.admin(entry, &before.keys, self.unknown(entry, &own))
    }

    fn judge_revocation(&self, entry: usize, revoke: &KeyRevoke) -> Result<(), Code> {
        if revoke.last_good.iter().any(|id| self.material.ancestor(id, entry).is_none()) {
            return Err(Code::UnknownRound);
        }
        let keys = &self.views[self.of_entry[entry]].keys;
        if revoke.key == self.signer(entry) && !revoke.key.is_empty() {
            return keys.contains_key(&revoke.key).then_some(()).ok_or(Code::UnknownKey);
        }
        self.admin(entry, keys, Code::UnknownKey)
    }

    /// The fault of a signer whom no key in force names: a change that grants `own` keys does not count by one of them.
    fn unknown(&self, entry: usize, own: &BTreeMap<String, KeyGrant>) -> Code {
        if own.contains_key(self.signer(entry)) { Code::SelfGranted } else { Code::UnknownKey }
    }

    /// An error where no admin's key, of `keys`, signed `entry`: `unknown` where the signer is not among them.
    fn admin(&self, entry: usize, keys: &BTreeMap<String, KeyGrant>, unknown: Code) -> Result<(), Code> {
        let signer = self.material.entries[entry].signer.as_deref().ok_or(Code::Unsigned)?;
        if is_revoked(self.revoked, &self.material.graph, signer, entry) {
            return Err(Code::RevokedKey);
        }
        match keys.get(signer) {
            None => Err(unknown),
            Some(grant) if !grant.is(KeyRole::Admin) => Err(Code::WrongRole),
            Some(_) => Ok(()),
        }
    }

    /// Takes up a valid entry: a signature may be the one that brings something into force.
    fn enter(&mut self, entry: usize) -> Result<(), Revocation> {
        let target = match self.material.payload(entry) {
            Ok(Payload::PolicySign(id)) => self.material.ids.get(id.as_str()).copied().unwrap_or(entry),
            Ok(_) | Err(_) => entry,
        };
        self.signed.entry(target).or_default().push(entry);
        let everything: BTreeSet<usize> = self.signed.get(&target).into_iter().flatten().copied().collect();
        let is_complete = self.is_complete(target, &everything);
        if let Some(policy) = self.material.policy(target)
            && is_complete
            && !self.winners.contains_key(&policy.version)
        {
            self.winners.insert(policy.version, target);
            self.came.push((self.material.graph.place[entry], target));
        }
        let Ok(Payload::KeyRevoke(revoke)) = self.material.payload(target) else { return Ok(()) };
        let is_own = revoke.key == self.signer(target);
        let is_known = self.revoked.iter().any(|known| known.by == target);
        if is_known || !(is_own || is_complete) {
            return Ok(());
        }
        let last_good =
            revoke.last_good.iter().filter_map(|id| self.material.ids.get(id.as_str()).copied()).collect();
        Err(Revocation { by: target, key: revoke.key.clone(), last_good })
    }
}
