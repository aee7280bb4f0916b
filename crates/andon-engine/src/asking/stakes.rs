//! What keeps a person or a key from counting, in words.

use super::{SignedLedger, short};
use andon_core::domain::plural::count;
use andon_review::entry::ReviewEntry;
use andon_review::payload::Payload;

/// Which stake `who` has in the round of `entry` (R5).
pub(super) fn stake(ledger: &SignedLedger, entry: &ReviewEntry, who: &str) -> &'static str {
    let unknown = "has a stake in the round";
    let named = entry
        .payload
        .as_ref()
        .as_ref()
        .ok()
        .and_then(Payload::round)
        .and_then(|id| ledger.review.iter().position(|entry| entry.id == id));
    let Some(at) = named else { return unknown };
    let state = &ledger.folded.state;
    let Some(round) = state.round_at.get(&at).map(|round| &state.rounds[*round]) else { return unknown };
    let is = |name: &Option<String>| name.as_deref() == Some(who);
    let asked = match &*ledger.review[at].payload {
        Ok(Payload::Round(asked)) => Some(asked),
        Ok(_) | Err(_) => None,
    };
    let policy = &ledger.folded.authority.at_end.operators;
    let operates = |role: &str, agent: &Option<String>| {
        let by_round = asked.and_then(|asked| asked.operators.get(role)).into_iter().flatten();
        let by_policy = agent.as_ref().and_then(|agent| policy.get(agent)).into_iter().flatten();
        by_round.chain(by_policy).any(|person| person == who)
    };
    if is(&round.issuer) {
        "is its issuer"
    } else if is(&round.cast.proposer) {
        "is the proposer"
    } else if is(&round.cast.opposer) {
        "is the opposer"
    } else if operates("proposer", &round.cast.proposer) {
        "operates the proposer"
    } else if operates("opposer", &round.cast.opposer) {
        "operates the opposer"
    } else if asked.is_some_and(|asked| asked.authors.contains(who)) {
        "is among its authors"
    } else if round.barred.contains(who) {
        "voted in the round before"
    } else {
        unknown
    }
}

/// The change that would name the key, where too few have signed it.
pub(super) fn unsigned_grant(ledger: &SignedLedger, key: &str) -> Option<String> {
    let grants = |entry: &ReviewEntry| match &*entry.payload {
        Ok(Payload::Policy(policy)) => {
            let found = policy.keys.iter().any(|grant| grant.key() == key);
            found.then(|| format!("policy {}", policy.version))
        }
        Ok(Payload::KeyAdd(grant)) => (grant.key() == key).then(|| "key-add".to_owned()),
        Ok(_) | Err(_) => None,
    };
    (0..ledger.review.len()).rev().find_map(|at| {
        let what = grants(&ledger.review[at])?;
        let (has, needs) = ledger.folded.authority.signatures(at).filter(|(has, needs)| has < needs)?;
        let what = if what == "key-add" { format!("{what} {}", short(ledger.entries[at].id)) } else { what };
        Some(format!("{what} has {has} of {}", count(needs, "signature")))
    })
}
