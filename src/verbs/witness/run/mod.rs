//! `andon witness`: who may answer rounds, and with which keys.

mod change;
mod list;

use serde_json::json;

pub use change::{ChangeStatus, KeyChange, add, policy, reinstate, revoke, sign};
pub use list::{allowed_signers, keys, list_json, list_text};

use crate::json::{OwnKeyJson, WitnessChangeJson, WitnessInitJson};
use andon_core::domain::ids::EntryId;
use andon_core::format::members_of;
use andon_engine::asking::{self, Draft, EntryStatement, SignedLedger};
use andon_engine::context::Context;
use andon_engine::error::OpsError;
use andon_engine::workspace::Workspace;
use andon_review::payload::policy::{KeyGrant, KeyRole, ReviewPolicy};
use andon_signing::PublicKey;

/// What the policy that is printed to be edited is called; no part of what is signed.
const POLICY: &str = "andon/policy@1";
/// What a witness's name begins with.
const HUMAN: &str = "human:";

/// The ledger with the first policy that was made for it.
#[derive(Debug)]
pub struct NewLedger {
    /// The id of the ledger: that of its first policy.
    pub ledger: EntryId,
    /// Who is its only admin and witness.
    pub who: String,
    /// Their key.
    pub key: PublicKey,
}

/// Makes the first policy: the key that signs here is its only admin and witness.
///
/// # Errors
/// A policy is there already; the key cannot sign; or an agent asks.
pub fn init(ctx: &Context, ws: &Workspace, who: &str, solo: bool) -> Result<NewLedger, OpsError> {
    asking::not_an_agent(ctx, "witness init")?;
    let who = person(who)?;
    let ledger = asking::load(ws)?;
    if let Some((entry, version)) = ledger.policy() {
        return Err(OpsError::Refused {
            what: format!("a policy is in force already: version {version}, entry {}", ledger.short(entry)),
            help: "see who may change it: andon witness list".to_owned(),
        });
    }
    let signer = asking::signer(ctx, ws)?;
    let key = signer.public().clone();
    key.check_fitness().map_err(|why| OpsError::Usage {
        what: format!("your signing key is {why}"),
        help: "make one and name it: ssh-keygen -t ed25519, then git config user.signingKey FILE".to_owned(),
    })?;
    let said = members_of(&ReviewPolicy {
        version: 1,
        threshold: 1,
        solo,
        keys: vec![KeyGrant::new(&key.to_string(), &who, [KeyRole::Admin, KeyRole::Witness])],
        ..ReviewPolicy::default()
    });
    let draft = Draft { kind: "policy", said: &said, evidence: &[], signer: Some(&signer) };
    let ledger = ledger.append(ctx, ws, &draft)?;
    Ok(NewLedger { ledger, who, key })
}

/// `human:ID`, with an id that can be shown anywhere.
fn person(who: &str) -> Result<String, OpsError> {
    let id = who.strip_prefix(HUMAN).unwrap_or_default();
    let is_fit = |c: char| c.is_ascii_alphanumeric() || "._@+-".contains(c);
    if !id.is_empty() && id.len() <= 64 && id.chars().all(is_fit) {
        return Ok(who.to_owned());
    }
    Err(OpsError::Usage {
        what: format!("{who:?} is no name of a witness"),
        help: "write human: and letters, digits or . _ @ + -, such as human:ann".to_owned(),
    })
}

/// The key that signs here, and what the policy in force says about it.
#[derive(Debug)]
pub struct OwnKey {
    /// The public key.
    pub key: PublicKey,
    /// What it may be used for; nothing is known of it otherwise.
    pub grant: Option<KeyGrant>,
}

/// The key that git would sign with here.
///
/// # Errors
/// git is not set up to sign with an SSH key.
pub fn own_key(ctx: &Context, ws: &Workspace) -> Result<OwnKey, OpsError> {
    let ledger = asking::load(ws)?;
    let key = asking::signer(ctx, ws)?.public().clone();
    let grant = ledger.folded.authority.at_end.keys.get(&key.to_string()).cloned();
    Ok(OwnKey { key, grant })
}

/// The policy in force as JSON, with the next version: to be edited and given to `--from`.
///
/// # Errors
/// There is none.
pub fn next_policy(ws: &Workspace) -> Result<Option<EntryStatement>, OpsError> {
    let ledger = asking::load(ws)?.with_policy()?;
    let Some((entry, version)) = ledger.policy() else { return Ok(None) };
    let mut next = (*ledger.entries[entry].body).clone();
    next.insert("version".to_owned(), json!(version + 1));
    // What was granted since is part of the next one; accounts count in the first alone.
    next.remove("accounts");
    next.insert("keys".to_owned(), granted(&ledger).map(members_of).collect());
    next.insert("schema".to_owned(), json!(POLICY));
    Ok(Some(next))
}

/// The grants in force whose key was not revoked.
fn granted(ledger: &SignedLedger) -> impl Iterator<Item = &KeyGrant> {
    let authority = &ledger.folded.authority;
    authority.at_end.keys.values().filter(|grant| !authority.is_out(grant.key()))
}

/// The ledger that was begun, for a program.
pub fn begun_json(begun: &NewLedger) -> WitnessInitJson<'_> {
    WitnessInitJson {
        ledger: begun.ledger.to_string(),
        who: &begun.who,
        key: begun.key.to_string(),
        fingerprint: begun.key.fingerprint(),
    }
}

/// A change of keys or policy, for a program.
pub fn change_json(changed: &KeyChange) -> WitnessChangeJson {
    let (signed, threshold) = match changed.standing {
        ChangeStatus::InForce => (None, None),
        ChangeStatus::Waits { signed, threshold } => (Some(signed), Some(threshold)),
    };
    WitnessChangeJson { entry: changed.about.to_string(), in_force: signed.is_none(), signed, threshold }
}

/// The key that signs here, for a program.
pub fn own_key_json(own: &OwnKey) -> OwnKeyJson<'_> {
    OwnKeyJson {
        key: own.key.to_string(),
        fingerprint: own.key.fingerprint(),
        who: own.grant.as_ref().map(|grant| grant.who.as_str()),
        roles: own.grant.iter().flat_map(|grant| &grant.roles).copied().collect(),
    }
}
