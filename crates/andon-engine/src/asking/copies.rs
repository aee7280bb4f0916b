//! One payload under several signatures is one entry (S3). Which commit is read first is chance, and signing a copy
//! with another key must not take the entry from its maker: of its signatures, that by a key of the policy counts.

use super::signer_of;
use andon_review::code::Code;
use andon_review::entry::ReviewEntry;
use andon_review::fold::LedgerState;
use andon_review::payload::Payload;
use andon_store::ledger::{SignatureState, WholeEntry};

/// The effect of a signature by the wrong key.
const BY_WRONG_KEY: [Code; 7] = [
    Code::Unsigned,
    Code::RevokedKey,
    Code::SelfGranted,
    Code::UnknownKey,
    Code::WrongRole,
    Code::PolicyThreshold,
    Code::BadPayload,
];

/// Takes better signatures for entries that do not count by the one that they have; whether there was one.
pub(super) fn choose(entries: &mut [WholeEntry], review: &mut [ReviewEntry], folded: &LedgerState) -> bool {
    let mut is_changed = false;
    let copied = entries.iter_mut().enumerate().filter(|(_, entry)| !entry.copies.is_empty());
    for (at, entry) in copied {
        if !folded.state.codes.get(&at).is_some_and(|code| BY_WRONG_KEY.contains(code)) {
            continue;
        }
        let is_better = |copy: &SignatureState| {
            let key = signer_of(copy).0;
            key != review[at].signer && key.is_some_and(|key| is_named(folded, &review[at], at, &key))
        };
        if let Some(better) = entry.copies.iter().position(is_better) {
            // What was tried stays behind, so that each is tried once.
            entry.signature = entry.copies.swap_remove(better);
            (review[at].signer, review[at].touched) = signer_of(&entry.signature);
            is_changed = true;
        }
    }
    is_changed
}

/// Whether the policy in force for an entry names the key; a first policy names its own.
fn is_named(folded: &LedgerState, entry: &ReviewEntry, at: usize, key: &str) -> bool {
    let authority = &folded.authority;
    let in_force = &authority.for_entry(at).keys;
    let own = match &*entry.payload {
        Ok(Payload::Policy(policy)) => {
            in_force.is_empty() && policy.keys.iter().any(|grant| grant.key() == key)
        }
        Ok(_) | Err(_) => false,
    };
    own || (in_force.contains_key(key) && !authority.is_out(key))
}
