//! The policy of a ledger: who may answer rounds, with which keys, and the changes of both. Each change is signed; where the policy
//! asks for several admins, the others sign under it.

use std::{collections::BTreeSet, path::Path};

use serde::Serialize;
use serde_json::{Value, json};

use crate::cli::args::read_text;
use andon_core::domain::{EntryId, Hint, plural::count};
use andon_core::format::members_of;
use andon_engine::asking::{self, Draft, EntryStatement, SignedLedger};
use andon_engine::{Context, OpsError, Result, Workspace};
use andon_review::{
    KeyGrant, KeyRevoke, KeyRole, Payload, PolicySign, ReviewPolicy, ReviewRules, payload::member,
};
use andon_signing::PublicKey;

/// Largest policy and key file that are read, in bytes.
const MAX_FILE: u64 = 1 << 20;
/// The schema of the policy that is printed to be edited; no part of what is signed.
const POLICY: &str = "andon/policy@1";
/// The beginning of a witness's name.
const HUMAN: &str = "human:";

/// The ledger with the first policy that was made for it: `andon/witness-init@1`.
#[derive(Debug, Serialize)]
pub struct NewLedger {
    /// The id of the ledger: that of its first policy.
    pub ledger: EntryId,
    /// The only admin and witness.
    pub who: String,
    /// Their key, as a `.pub` file has it, without comment.
    pub key: String,
    pub fingerprint: String,
}

/// The right of one or two witnesses to answer rounds that they have a stake in.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Solo {
    Allowed,
    Refused,
}

/// Makes the first policy: the key that signs here is its only admin and witness.
///
/// # Errors
/// A policy is there already; the key cannot sign; or an agent asks.
pub fn init(ctx: &Context, ws: &Workspace, who: &str, solo: Solo) -> Result<NewLedger> {
    asking::not_an_agent(ctx, "witness init")?;
    let who = person(who)?;
    let ledger = asking::load(ws)?;
    if let Some((entry, version)) = ledger.policy() {
        let what = format!("a policy is in force already: version {version}, entry {}", ledger.short(entry));
        return Err(OpsError::refused(what, Hint::ListWitnesses));
    }
    let signer = asking::signer(ctx, ws)?;
    let key = signer.public().clone();
    check_fitness(&key, "your signing key")?;
    let said = members_of(&ReviewPolicy {
        version: 1,
        threshold: 1,
        solo: solo == Solo::Allowed,
        keys: vec![KeyGrant::new(&key.to_string(), &who, [KeyRole::Admin, KeyRole::Witness])],
        ..ReviewPolicy::default()
    });
    let draft = Draft { kind: "policy", said: &said, evidence: &[], signer: Some(&signer) };
    let ledger = ledger.append(ctx, ws, &draft)?;
    Ok(NewLedger { ledger, who, key: key.to_string(), fingerprint: key.fingerprint() })
}

/// `human:ID`, with an id that can be shown anywhere.
fn person(who: &str) -> Result<String> {
    let id = who.strip_prefix(HUMAN).unwrap_or_default();
    let is_fit = |c: char| c.is_ascii_alphanumeric() || "._@+-".contains(c);
    if !id.is_empty() && id.len() <= 64 && id.chars().all(is_fit) {
        return Ok(who.to_owned());
    }
    Err(OpsError::usage(
        format!("{who:?} is no name of a witness"),
        "write human: and letters, digits or . _ @ + -, such as human:ann",
    ))
}

/// The key that signs here: `andon/witness-key@1`.
#[derive(Debug, Serialize)]
pub struct OwnKey {
    pub key: String,
    pub fingerprint: String,
    /// The holder; `None` where the policy here does not know the key.
    pub who: Option<String>,
    pub roles: BTreeSet<KeyRole>,
}

/// The key that git would sign with here.
///
/// # Errors
/// git is not set up to sign with an SSH key.
pub fn own_key(ctx: &Context, ws: &Workspace) -> Result<OwnKey> {
    let ledger = asking::load(ws)?;
    let key = asking::signer(ctx, ws)?.public().clone();
    let grant = ledger.folded.authority.at_end.keys.get(&key.to_string());
    Ok(OwnKey {
        key: key.to_string(),
        fingerprint: key.fingerprint(),
        who: grant.map(|grant| grant.who.clone()),
        roles: grant.map(|grant| grant.roles.clone()).unwrap_or_default(),
    })
}

/// The policy in force as JSON, with the next version: to be edited and given to `--from`.
///
/// # Errors
/// There is none.
pub fn next_policy(ws: &Workspace) -> Result<Option<EntryStatement>> {
    let ledger = asking::load(ws)?.with_policy()?;
    let Some((entry, version)) = ledger.policy() else { return Ok(None) };
    let mut next = (*ledger.entries[entry].body).clone();
    next.insert("version".to_owned(), json!(version + 1));
    // Grants since then are part of the next one; accounts count in the first alone.
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

/// Lines of an allowed-signers file: with it plain `git verify-commit` verifies entries.
pub fn allowed_signers(ledger: &SignedLedger) -> String {
    let line = |who: &str, key: &str| format!("{who} namespaces=\"git\" {key}\n");
    granted(ledger).map(|grant| line(&plain(&grant.who), &plain(grant.key()))).collect()
}

/// A principal is one word, and a key one line.
fn plain(text: &str) -> String {
    text.chars().filter(|c| !c.is_control() && *c != '"').collect()
}

/// The keys in force, with the policy that names them: `andon/witness-list@1`.
#[derive(Debug, Serialize)]
pub struct KeyList {
    pub ledger: Option<EntryId>,
    /// The entry of the policy in force.
    pub policy: Option<EntryId>,
    pub version: Option<i64>,
    /// The number of admin keys that must sign a change.
    pub threshold: Option<usize>,
    pub keys: Vec<GrantedKey>,
}

/// A key in force, with its roles.
#[derive(Debug, Serialize)]
pub struct GrantedKey {
    /// As a `.pub` file has it, without comment.
    pub key: String,
    pub fingerprint: String,
    pub who: String,
    pub roles: BTreeSet<KeyRole>,
    pub revoked: bool,
}

/// Lists the keys in force.
pub fn list(ledger: &SignedLedger) -> KeyList {
    let authority = &ledger.folded.authority;
    let keys = authority.at_end.keys.values().map(|grant| GrantedKey {
        key: grant.key().to_owned(),
        fingerprint: PublicKey::parse(grant.key())
            .map_or_else(|_| "no key".to_owned(), |key| key.fingerprint()),
        who: grant.who.clone(),
        roles: grant.roles.clone(),
        revoked: authority.is_out(grant.key()),
    });
    KeyList {
        ledger: ledger.id,
        policy: ledger.policy().map(|(entry, _)| ledger.entries[entry].id),
        version: ledger.policy().map(|(_, version)| version),
        threshold: authority.at_end.threshold,
        keys: keys.collect(),
    }
}

/// Adds a key.
///
/// # Errors
/// The file holds no public key, the roles are unknown, or the policy does not allow it.
pub fn add(ctx: &Context, ws: &Workspace, who: &str, key: &Path, roles: &[String]) -> Result<KeyChange> {
    let role = |role: &String| {
        member::named("role", role).map_err(|_| {
            OpsError::usage(format!("no such role: {role}"), "one of: admin, witness, flag, agent, forge, ci")
        })
    };
    let roles = roles.iter().map(role).collect::<Result<Vec<KeyRole>, _>>()?;
    let is_person = roles.iter().any(|role| matches!(role, KeyRole::Admin | KeyRole::Witness));
    let who = if is_person { person(who)? } else { who.to_owned() };
    let name = key.to_string_lossy();
    let key = PublicKey::parse(&read_text(ctx, key, MAX_FILE)?)
        .map_err(|err| OpsError::usage(format!("{name}: {err}"), "give the .pub file of the key"))?;
    change(ctx, ws, "key-add", |ledger| {
        may_be_granted(ledger, &key, &who)?;
        Ok(members_of(&KeyGrant::new(&key.to_string(), &who, roles)))
    })
}

/// Refuses a key of which no signature would count, and one that is somebody else's: what it signs could be of either.
fn may_be_granted(ledger: &SignedLedger, key: &PublicKey, who: &str) -> Result<()> {
    check_fitness(key, &key.fingerprint())?;
    let in_force = &ledger.folded.authority.at_end.keys;
    let other = in_force.iter().find(|(known, grant)| grant.who != who && is_same(known, key));
    other.map_or(Ok(()), |(_, grant)| Err(two_holders(key, [&grant.who, who])))
}

fn check_fitness(key: &PublicKey, name: &str) -> Result<()> {
    key.check_fitness().map_err(|why| OpsError::usage(format!("{name} is {why}"), Hint::MakeKey))
}

/// True where a key in the policy is this one, whatever comment it has there.
fn is_same(known: &str, key: &PublicKey) -> bool {
    PublicKey::parse(known).is_ok_and(|known| known.is_same(key))
}

fn two_holders(key: &PublicKey, [one, two]: [&str; 2]) -> OpsError {
    OpsError::usage(
        format!("{} is the key of {one}: it cannot be that of {two}, too", key.fingerprint()),
        Hint::MakeKey,
    )
}

/// The same of all keys of a policy, and of a gate that nobody could pass.
fn may_be_policy(ledger: &SignedLedger, policy: &EntryStatement) -> Result<()> {
    // A malformed policy is refused where it is appended.
    let Ok(policy) = member::read::<ReviewPolicy>(policy) else { return Ok(()) };
    let weighs = |grant: &KeyGrant| ledger.folded.weights(&grant.who).total(ledger.folded.epoch()) > 0.0;
    if policy.rules.referee_gate && !policy.solo && !policy.keys.iter().any(weighs) {
        let what =
            "rules.referee_gate would lock everybody out: no witness of this policy has any weight yet";
        return Err(OpsError::usage(what, Hint::OpenGate));
    }
    let mut holders: Vec<(PublicKey, &str)> = Vec::new();
    for grant in &policy.keys {
        let who = grant.who.as_str();
        let key = PublicKey::parse(grant.key()).map_err(|why| {
            OpsError::usage(format!("the key of {who}: {why}"), "give the line of its .pub file")
        })?;
        check_fitness(&key, &format!("the key of {who}"))?;
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
pub fn revoke(ctx: &Context, ws: &Workspace, key: &str, last_good: &[String]) -> Result<KeyChange> {
    change(ctx, ws, "key-revoke", |ledger| {
        let key = named(ctx, ledger, key)?;
        let good: Vec<String> = if last_good.is_empty() {
            heads(ledger)
        } else {
            let found = last_good.iter().map(|id| Ok(ledger.entries[ledger.find(id)?].id.to_string()));
            found.collect::<Result<_>>()?
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

fn named(ctx: &Context, ledger: &SignedLedger, text: &str) -> Result<String> {
    let keys = &ledger.folded.authority.at_end.keys;
    let print = |key: &str| PublicKey::parse(key).map(|key| key.fingerprint()).unwrap_or_default();
    let fits = |key: &&String| **key == text || print(key) == text || keys[*key].who == text;
    let found: Vec<&String> = keys.keys().filter(fits).collect();
    match found.as_slice() {
        [only] => return Ok((*only).clone()),
        [] => {}
        several => {
            let prints: Vec<String> = several.iter().map(|key| print(key)).collect();
            return Err(OpsError::usage(
                format!("{text} has {}", count(several.len(), "key")),
                format!("name one by its fingerprint: {}", prints.join(", ")),
            ));
        }
    }
    let of_file =
        read_text(ctx, Path::new(text), MAX_FILE).ok().and_then(|found| PublicKey::parse(&found).ok());
    let known = of_file.map(|key| key.to_string()).filter(|key| keys.contains_key(key));
    let what = format!("the policy knows no such key: {text}");
    known.ok_or_else(|| OpsError::usage(what, Hint::ListWitnesses.led("name it by its fingerprint")))
}

/// Refuses a member that is misspelt. Those of the policy in force may be of a newer version, and stay.
fn refuse_unknown(said: &EntryStatement, in_force: &EntryStatement) -> Result<()> {
    let shape = json!({ "policy": ReviewPolicy::default(), "rules": ReviewRules::default() });
    let rules = |all: &EntryStatement| all.get("rules").and_then(Value::as_object).cloned();
    let parts =
        [("policy", Some(said.clone()), Some(in_force.clone())), ("rules", rules(said), rules(in_force))];
    for (part, said, in_force) in parts {
        let known: BTreeSet<String> =
            shape[part].as_object().cloned().into_iter().chain(in_force).flatten().map(|one| one.0).collect();
        if let Some((odd, _)) = said.into_iter().flatten().find(|(name, _)| !known.contains(name)) {
            let near = andon_config::suggest(&odd, known.iter().map(String::as_str));
            return Err(OpsError::usage(format!("{odd:?} is no member of a policy"), near));
        }
    }
    Ok(())
}

/// Appends the next policy, from a file of JSON.
///
/// # Errors
/// It is no policy, or not the next one.
pub fn append(ctx: &Context, ws: &Workspace, file: &Path) -> Result<KeyChange> {
    let name = file.to_string_lossy();
    let text = read_text(ctx, file, MAX_FILE)?;
    let malformed = |err: serde_json::Error| {
        OpsError::usage(format!("{name}:{}: no JSON: {err}", err.line()), Hint::BeginPolicy)
    };
    let mut said: EntryStatement = serde_json::from_str(&text).map_err(malformed)?;
    if said.get("schema").is_some_and(|schema| schema == POLICY) {
        said.remove("schema");
    }
    refuse_unknown(&said, &next_policy(ws)?.unwrap_or_default())?;
    change(ctx, ws, "policy", |ledger| {
        may_be_policy(ledger, &said)?;
        Ok(said)
    })
}

/// Appends the next policy, in which a witness begins anew after training (R2).
///
/// # Errors
/// They are no witness, or the policy does not allow it.
pub fn reinstate(ctx: &Context, ws: &Workspace, who: &str) -> Result<KeyChange> {
    let mut said = next_policy(ws)?.unwrap_or_default();
    change(ctx, ws, "policy", |ledger| {
        if !ledger.folded.authority.at_end.witnesses.contains(who) {
            return Err(OpsError::usage(format!("{who} is no witness here"), Hint::ListWitnesses));
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
pub fn sign(ctx: &Context, ws: &Workspace, entry: &str) -> Result<KeyChange> {
    change(ctx, ws, "policy-sign", |ledger| {
        Ok(members_of(&PolicySign { entry: ledger.entries[ledger.find(entry)?].id.to_string() }))
    })
}

fn change(
    ctx: &Context,
    ws: &Workspace,
    kind: &'static str,
    say: impl FnOnce(&SignedLedger) -> Result<EntryStatement>,
) -> Result<KeyChange> {
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
    Ok(KeyChange::new(&asking::load(ws)?, entry))
}

/// A change of keys or policy: `andon/witness-change@1`.
#[derive(Debug, Serialize)]
pub struct KeyChange {
    /// The entry that makes the change.
    pub entry: EntryId,
    pub in_force: bool,
    /// The number of admin keys that have signed it; `None` once it is in force.
    pub signed: Option<usize>,
    /// The number that must sign.
    pub threshold: Option<usize>,
}

impl KeyChange {
    /// The standing of the change that `entry` makes, or that it is a further signature under.
    fn new(ledger: &SignedLedger, entry: EntryId) -> Self {
        let authority = &ledger.folded.authority;
        let payload = |at: usize| ledger.review[at].payload.as_ref().as_ref().ok();
        let signs = |at: usize| match payload(at) {
            Some(Payload::PolicySign(id)) => ledger.review.iter().position(|entry| entry.id == *id),
            Some(_) | None => Some(at),
        };
        let about = ledger.position(entry).and_then(signs);
        // A key takes itself out alone.
        let is_out =
            |at: &usize| matches!(payload(*at), Some(Payload::KeyRevoke(it)) if authority.is_out(&it.key));
        let waits = about.filter(|at| !is_out(at)).and_then(|at| authority.signatures(at));
        let waits = waits.filter(|(signed, threshold)| signed < threshold);
        Self {
            entry: about.map_or(entry, |at| ledger.entries[at].id),
            in_force: waits.is_none(),
            signed: waits.map(|(signed, _)| signed),
            threshold: waits.map(|(_, threshold)| threshold),
        }
    }
}
