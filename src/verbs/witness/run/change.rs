//! Changes of keys and policy. Each is signed; where the policy asks for several admins, the others sign under it.

use std::collections::BTreeSet;
use std::io::Read as _;
use std::path::Path;

use serde_json::json;

use super::{POLICY, person};
use andon_core::domain::ids::EntryId;
use andon_core::domain::plural::count;
use andon_core::format::members_of;
use andon_engine::asking::{self, Draft, EntryStatement, SignedLedger};
use andon_engine::context::Context;
use andon_engine::error::OpsError;
use andon_engine::workspace::Workspace;
use andon_review::payload::Payload;
use andon_review::payload::acts::{KeyRevoke, PolicySign};
use andon_review::payload::member;
use andon_review::payload::policy::{KeyGrant, KeyRole, ReviewPolicy};
use andon_signing::PublicKey;

/// Largest policy and key file that are read, in bytes.
const MAX_FILE: u64 = 1 << 20;

/// Whether a change holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeStatus {
    /// Now.
    InForce,
    /// Once others have signed: how many have, and how many must.
    Waits {
        /// Admin keys that have signed.
        signed: usize,
        /// Admin keys that must.
        threshold: usize,
    },
}

/// What was appended.
#[derive(Debug)]
pub struct KeyChange {
    /// The entry that was appended.
    pub entry: EntryId,
    /// What it is about, where that is another one.
    pub about: EntryId,
    /// Whether it holds.
    pub standing: ChangeStatus,
}

/// A file of at most 1 MiB; `-` is standard input.
fn read(ctx: &Context, file: &Path) -> Result<String, OpsError> {
    let mut bytes = Vec::new();
    let read = if file == Path::new("-") {
        std::io::stdin().lock().take(MAX_FILE + 1).read_to_end(&mut bytes)
    } else {
        std::fs::File::open(ctx.cwd.join(file))
            .and_then(|found| found.take(MAX_FILE + 1).read_to_end(&mut bytes))
    };
    let name = file.to_string_lossy();
    let wrong = |why: String| OpsError::Usage {
        what: format!("{name} cannot be read: {why}"),
        help: "give a file that can be read, or `-` for standard input".to_owned(),
    };
    read.map_err(|err| wrong(err.to_string()))?;
    if bytes.len() as u64 > MAX_FILE {
        return Err(wrong("it has more than 1 MiB".to_owned()));
    }
    String::from_utf8(bytes).map_err(|_| wrong("it is not UTF-8".to_owned()))
}

/// Adds a key.
///
/// # Errors
/// The file holds no public key, the roles are unknown, or the policy does not allow it.
pub fn add(
    ctx: &Context,
    ws: &Workspace,
    who: &str,
    key: &Path,
    roles: &[String],
) -> Result<KeyChange, OpsError> {
    let role = |role: &String| {
        member::named("role", role).map_err(|_| OpsError::Usage {
            what: format!("no such role: {role}"),
            help: "one of: admin, witness, flag, agent, forge, ci".to_owned(),
        })
    };
    let roles = roles.iter().map(role).collect::<Result<Vec<KeyRole>, _>>()?;
    let is_person = roles.iter().any(|role| matches!(role, KeyRole::Admin | KeyRole::Witness));
    let who = if is_person { person(who)? } else { who.to_owned() };
    let name = key.to_string_lossy();
    let key = PublicKey::parse(&read(ctx, key)?).map_err(|err| OpsError::Usage {
        what: format!("{name}: {err}"),
        help: "give the .pub file of the key".to_owned(),
    })?;
    change(ctx, ws, "key-add", |ledger| {
        may_be_granted(ledger, &key, &who)?;
        Ok(members_of(&KeyGrant::new(&key.to_string(), &who, roles)))
    })
}

/// Refuses a key of which no signature would count, and one that is somebody else's: what it signs could be of either.
fn may_be_granted(ledger: &SignedLedger, key: &PublicKey, who: &str) -> Result<(), OpsError> {
    key.check_fitness().map_err(|why| OpsError::Usage {
        what: format!("{} is {why}", key.fingerprint()),
        help: "make one: ssh-keygen -t ed25519".to_owned(),
    })?;
    let in_force = &ledger.folded.authority.at_end.keys;
    let others = in_force.iter().find(|(known, grant)| grant.who != who && is_same(known, key));
    match others {
        Some((_, grant)) => Err(two_holders(key, [&grant.who, who])),
        None => Ok(()),
    }
}

/// Whether a key in the policy is this one, whatever comment it has there.
fn is_same(known: &str, key: &PublicKey) -> bool {
    PublicKey::parse(known).is_ok_and(|known| known.is_same(key))
}

fn two_holders(key: &PublicKey, [one, two]: [&str; 2]) -> OpsError {
    OpsError::Usage {
        what: format!("{} is the key of {one}: it cannot be that of {two}, too", key.fingerprint()),
        help: "each person needs a key of their own: ssh-keygen -t ed25519".to_owned(),
    }
}

/// The same of all keys of a policy.
fn may_be_policy(policy: &EntryStatement) -> Result<(), OpsError> {
    // What is malformed is refused where it is appended.
    let Ok(policy) = member::read::<ReviewPolicy>(policy) else { return Ok(()) };
    let mut holders: Vec<(PublicKey, &str)> = Vec::new();
    for grant in &policy.keys {
        let who = grant.who.as_str();
        let key = PublicKey::parse(grant.key()).map_err(|why| OpsError::Usage {
            what: format!("the key of {who}: {why}"),
            help: "give the line of its .pub file".to_owned(),
        })?;
        key.check_fitness().map_err(|why| OpsError::Usage {
            what: format!("the key of {who} is {why}"),
            help: "make one: ssh-keygen -t ed25519".to_owned(),
        })?;
        if let Some((_, other)) = holders.iter().find(|(known, other)| known.is_same(&key) && *other != who) {
            return Err(two_holders(&key, [other, who]));
        }
        holders.push((key, who));
    }
    Ok(())
}

/// Revokes a key, named by its fingerprint, its file or whose it is.
///
/// # Errors
/// No such key, or the policy does not allow it.
pub fn revoke(ctx: &Context, ws: &Workspace, key: &str, last_good: &[String]) -> Result<KeyChange, OpsError> {
    change(ctx, ws, "key-revoke", |ledger| {
        let key = named(ctx, ledger, key)?;
        let good: Vec<String> = if last_good.is_empty() {
            heads(ledger)
        } else {
            let found = last_good.iter().map(|id| Ok(ledger.entries[ledger.find(id)?].id.to_string()));
            found.collect::<Result<_, OpsError>>()?
        };
        Ok(members_of(&KeyRevoke { key, last_good: good }))
    })
}

/// The entries that nothing follows yet: with their ancestors they are all that is known.
fn heads(ledger: &SignedLedger) -> Vec<String> {
    let parents: BTreeSet<usize> =
        ledger.review.iter().flat_map(|entry| entry.parents.iter().copied()).collect();
    let head = |at: &usize| !parents.contains(at);
    (0..ledger.review.len()).filter(head).map(|at| ledger.review[at].id.clone()).collect()
}

fn named(ctx: &Context, ledger: &SignedLedger, text: &str) -> Result<String, OpsError> {
    let keys = &ledger.folded.authority.at_end.keys;
    let print = |key: &str| PublicKey::parse(key).map(|key| key.fingerprint()).unwrap_or_default();
    let fits = |key: &&String| **key == text || print(key) == text || keys[*key].who == text;
    let found: Vec<&String> = keys.keys().filter(fits).collect();
    match found.as_slice() {
        [only] => return Ok((*only).clone()),
        [] => {}
        several => {
            let prints: Vec<String> = several.iter().map(|key| print(key)).collect();
            return Err(OpsError::Usage {
                what: format!("{text} has {}", count(several.len(), "key")),
                help: format!("name one by its fingerprint: {}", prints.join(", ")),
            });
        }
    }
    let of_file = read(ctx, Path::new(text)).ok().and_then(|found| PublicKey::parse(&found).ok());
    let known = of_file.map(|key| key.to_string()).filter(|key| keys.contains_key(key));
    known.ok_or_else(|| OpsError::Usage {
        what: format!("the policy knows no such key: {text}"),
        help: "name it by its fingerprint: andon witness list".to_owned(),
    })
}

/// Appends the next policy, from a file of JSON.
///
/// # Errors
/// It is no policy, or not the next one.
pub fn policy(ctx: &Context, ws: &Workspace, file: &Path) -> Result<KeyChange, OpsError> {
    let name = file.to_string_lossy();
    let text = read(ctx, file)?;
    // Signed as it is, with members that this version does not know.
    let mut said: EntryStatement = serde_json::from_str(&text).map_err(|err| OpsError::Usage {
        what: format!("{name}:{}: no JSON: {err}", err.line()),
        help: "begin from the policy in force: andon witness policy > policy.json".to_owned(),
    })?;
    if said.get("schema").is_some_and(|schema| schema == POLICY) {
        said.remove("schema");
    }
    change(ctx, ws, "policy", |_| {
        may_be_policy(&said)?;
        Ok(said)
    })
}

/// Appends the next policy, in which a witness begins anew after training (R2).
///
/// # Errors
/// They are no witness, or the policy does not allow it.
pub fn reinstate(ctx: &Context, ws: &Workspace, who: &str) -> Result<KeyChange, OpsError> {
    let mut said = super::next_policy(ws)?.unwrap_or_default();
    change(ctx, ws, "policy", |ledger| {
        if !ledger.folded.authority.at_end.witnesses.contains(who) {
            return Err(OpsError::Usage {
                what: format!("{who} is no witness here"),
                help: "andon witness list".to_owned(),
            });
        }
        said.remove("schema");
        // It is for this policy: who was reinstated by an earlier one is not again.
        said.insert("reinstated".to_owned(), json!([who]));
        Ok(said)
    })
}

/// Signs under a policy or a change of keys that another admin made.
///
/// # Errors
/// `entry` is no such entry, or the key may not sign it.
pub fn sign(ctx: &Context, ws: &Workspace, entry: &str) -> Result<KeyChange, OpsError> {
    let mut about = None;
    let mut changed = change(ctx, ws, "policy-sign", |ledger| {
        let id = ledger.entries[ledger.find(entry)?].id;
        about = Some(id);
        Ok(members_of(&PolicySign { entry: id.to_string() }))
    })?;
    if let Some(about) = about {
        changed.about = about;
        changed.standing = standing(&asking::load(ws)?, about);
    }
    Ok(changed)
}

fn change(
    ctx: &Context,
    ws: &Workspace,
    kind: &'static str,
    say: impl FnOnce(&SignedLedger) -> Result<EntryStatement, OpsError>,
) -> Result<KeyChange, OpsError> {
    let verb = match kind {
        "key-add" => "witness add",
        "key-revoke" => "witness revoke",
        "policy" => "witness policy",
        _ => "witness sign",
    };
    asking::not_an_agent(ctx, verb)?;
    let ledger = asking::load(ws)?.with_policy()?;
    let said = say(&ledger)?;
    let signer = asking::signer(ctx, ws)?;
    let draft = Draft { kind, said: &said, evidence: &[], signer: Some(&signer) };
    let entry = ledger.append(ctx, ws, &draft)?;
    let standing = standing(&asking::load(ws)?, entry);
    Ok(KeyChange { entry, about: entry, standing })
}

/// Whether enough admins have signed `entry`.
fn standing(ledger: &SignedLedger, entry: EntryId) -> ChangeStatus {
    let Some(at) = ledger.entries.iter().position(|found| found.id == entry) else {
        return ChangeStatus::InForce;
    };
    // A key takes itself out alone.
    if let Ok(Payload::KeyRevoke(revoke)) = &*ledger.review[at].payload
        && ledger.folded.authority.is_out(&revoke.key)
    {
        return ChangeStatus::InForce;
    }
    match ledger.folded.authority.signatures(at) {
        Some((signed, threshold)) if signed < threshold => ChangeStatus::Waits { signed, threshold },
        Some(_) | None => ChangeStatus::InForce,
    }
}
