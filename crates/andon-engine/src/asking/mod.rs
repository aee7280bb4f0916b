//! The signed ledger of a repository, read and folded: who may act, which rounds wait, what was decided.
//!
//! The rules are those of `review`; here the entries come from git, with signatures that were verified.

mod act;
mod answer;
mod faults;
mod memory;
mod texts;
mod waiting;

use std::{collections::HashMap, rc::Rc, sync::Arc};

use rayon::prelude::*;
use serde_json::Map;

pub use act::{CapLeft, Draft, editor, given, not_an_agent, signer};
pub use answer::{
    HaltAnswer, MISTAKEN, asks_signature, config_at, guard_at, halt_subject, ledger_answer, read_all,
    resolve_halt, that_count, unanswered, unfit,
};
pub use faults::{LedgerFault, faults, rewound, subject, unsigned_answers, why_not};
pub use texts::nearest;
pub use waiting::{WaitingList, WaitingRound, call_people, waiting};

use memory::{LedgerMemory, Payloads};

use crate::{OpsError, Result, Workspace};
use andon_core::domain::{CommitId, EntryId, Hint, Timestamp, plural::count};
use andon_git::Repo;
use andon_review::{Code, LedgerState, Payload, ReviewEntry, ReviewPolicy, fold};
use andon_signing::Touch;
use andon_store::{FaultyEntry, Ledger, SignatureState, WholeEntry, WholeLedger, ledger::bridge};

/// The number of times that a ledger is folded again for entries that others signed as well: each time more policies may be in force.
const MAX_PASSES: usize = 16;

/// A ledger, read with a clock at `now`.
#[derive(Debug)]
pub struct SignedLedger {
    /// The id of the ledger: that of its first policy.
    pub id: Option<EntryId>,
    /// Every entry of this ledger, in its order.
    pub entries: Vec<WholeEntry>,
    /// The same as the folds read them, under the same indexes.
    pub review: Vec<ReviewEntry>,
    /// The result of the fold.
    pub folded: LedgerState,
    /// Entries of other ledgers, which were left out.
    pub foreign: Vec<WholeEntry>,
    /// The entries that could not be read.
    pub faulty: Vec<FaultyEntry>,
}

/// Reads the ledger of `ws`: the one that `guard.ledger` names, else the only one that is there.
///
/// # Errors
/// The refs cannot be read, or several first policies are there and nothing says which counts.
pub fn load(ws: &Workspace) -> Result<SignedLedger> {
    open(&ws.repo, ws.config.guard.ledger, ws.opened)
}

/// The ledger `id` of `repo`, or where it is not given the only one, for a reader whose clock says `now`.
///
/// # Errors
/// As [`load`].
pub fn open(repo: &Repo, id: Option<EntryId>, now: Timestamp) -> Result<SignedLedger> {
    folded(Ledger::open(repo).read_whole(&HashMap::new())?, id, now, &Payloads::new())
}

/// The ledger of `ws` to be looked at: what was read before is remembered and not verified again, so that nothing may
/// depend on it. What entries say is there only for policies, and for those that are [`SignedLedger::fetch`]ed.
///
/// # Errors
/// As [`load`].
pub fn look(ws: &Workspace) -> Result<SignedLedger> {
    let memory = LedgerMemory::load(&ws.repo);
    let whole = Ledger::open(&ws.repo).read_whole(&memory.entries)?;
    memory.keep(&ws.repo, &whole);
    folded(whole, ws.config.guard.ledger, ws.opened, &memory.payloads)
}

/// For a command that only shows the state: halts and answers that [`look`] remembered are not read again either.
pub fn only_look(repo: &Repo) {
    Ledger::open(repo).remember(|repo| Rc::clone(&LedgerMemory::load(repo).entries));
}

fn folded(whole: WholeLedger, id: Option<EntryId>, now: Timestamp, known: &Payloads) -> Result<SignedLedger> {
    let id = match id {
        Some(id) => Some(id),
        None => only_first(&whole.entries)?,
    };
    let (mut entries, foreign): (Vec<_>, Vec<_>) =
        whole.entries.into_iter().partition(|entry| belongs(entry, id));
    let gone = foreign.iter().map(|entry| (entry.commit, entry.parents.clone())).collect();
    bridge(&mut entries, &gone);
    let mut review = as_review(&entries, known);
    let mut folded = fold::fold(&review, now.0);
    let mut passes = 0..MAX_PASSES;
    while choose_signatures(&mut entries, &mut review, &folded) && passes.next().is_some() {
        folded = fold::fold(&review, now.0);
    }
    Ok(SignedLedger { id, entries, review, folded, foreign, faulty: whole.faults })
}

/// True for a first policy.
pub fn is_first(entry: &WholeEntry) -> bool {
    entry.kind == "policy" && entry.body.get("version").and_then(serde_json::Value::as_i64) == Some(1)
}

fn only_first(entries: &[WholeEntry]) -> Result<Option<EntryId>> {
    let is_signed = |entry: &&WholeEntry| matches!(entry.signature, SignatureState::Good { .. });
    let first: Vec<EntryId> =
        entries.iter().filter(|entry| is_first(entry)).filter(is_signed).map(|entry| entry.id).collect();
    match first.as_slice() {
        [] => Ok(None),
        [only] => Ok(Some(*only)),
        several => Err(OpsError::usage(
            format!("{} ledgers are here, and nothing says which one counts", several.len()),
            Hint::VerifyLedger.led("see who made them"),
        )),
    }
}

/// An unsigned entry of an older version may lack the id of its ledger.
fn belongs(entry: &WholeEntry, id: Option<EntryId>) -> bool {
    let Some(id) = id else { return true };
    match &entry.ledger {
        Some(named) => *named == id.to_string(),
        None => !is_first(entry) || entry.id == id,
    }
}

/// The key of a signature that holds, and whether it was touched.
fn signer_of(signature: &SignatureState) -> (Option<String>, bool) {
    match signature {
        SignatureState::Good { key, touch } => (Some(key.clone()), *touch == Touch::Present),
        SignatureState::Unsigned | SignatureState::Bad(_) => (None, false),
    }
}

/// Entries as the folds read them. What is `known` of one need not be read again.
fn as_review(entries: &[WholeEntry], known: &Payloads) -> Vec<ReviewEntry> {
    let at: HashMap<CommitId, usize> =
        entries.iter().enumerate().map(|(index, entry)| (entry.commit, index)).collect();
    let of = |entry: &WholeEntry| {
        let (signer, touched) = signer_of(&entry.signature);
        let payload = match known.get(&entry.commit) {
            Some(payload) => Arc::clone(payload),
            None => Payload::read(&entry.kind, &entry.body).into(),
        };
        ReviewEntry {
            id: entry.id.to_string(),
            rank: entry.id.0,
            writer: entry.writer.clone(),
            at: entry.at.map_or(0, |at| at.0),
            kind: entry.kind.clone(),
            signer,
            touched,
            parents: entry.parents.iter().filter_map(|parent| at.get(parent).copied()).collect(),
            body: Arc::clone(&entry.body),
            payload,
        }
    };
    entries.par_iter().map(of).collect()
}

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

/// The statement of an entry; `None` where it is malformed.
pub fn said(entry: &ReviewEntry) -> Option<&Payload> {
    entry.payload.as_ref().as_ref().ok()
}

/// Takes better signatures for entries that do not count by the one that they have; true where there was one. One payload under
/// several signatures is one entry (S3). Which commit is read first is chance, and signing a copy with another key must not take
/// the entry from its maker: of its signatures, that by a key of the policy counts.
fn choose_signatures(entries: &mut [WholeEntry], review: &mut [ReviewEntry], folded: &LedgerState) -> bool {
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
            // Copies that were tried stay behind, so that each is tried once.
            entry.signature = entry.copies.swap_remove(better);
            (review[at].signer, review[at].touched) = signer_of(&entry.signature);
            is_changed = true;
        }
    }
    is_changed
}

/// True where the policy in force for an entry names the key; a first policy names its own.
fn is_named(folded: &LedgerState, entry: &ReviewEntry, at: usize, key: &str) -> bool {
    let authority = &folded.authority;
    let in_force = &authority.for_entry(at).keys;
    let grants = |policy: &ReviewPolicy| policy.keys.iter().any(|grant| grant.key() == key);
    let own = matches!(said(entry), Some(Payload::Policy(policy)) if in_force.is_empty() && grants(policy));
    own || (in_force.contains_key(key) && !authority.is_out(key))
}

impl SignedLedger {
    /// The index of the entry `id`.
    pub fn position(&self, id: EntryId) -> Option<usize> {
        self.entries.iter().position(|entry| entry.id == id)
    }

    /// The entry whose id begins with `text`, which has at least 4 digits.
    ///
    /// # Errors
    /// None or several do.
    pub fn find(&self, text: &str) -> Result<usize> {
        let fits = |entry: &WholeEntry| entry.id.to_string().starts_with(text);
        let found: Vec<usize> = (0..self.entries.len()).filter(|at| fits(&self.entries[*at])).collect();
        match found.as_slice() {
            [only] if text.len() >= 4 => Ok(*only),
            [] => Err(OpsError::usage(
                format!("no entry of the ledger begins with {text:?}"),
                Hint::Sync.led("entries of other clones arrive so"),
            )),
            _ => Err(OpsError::usage(
                format!("{text:?} is too short: it is the beginning of {}", count(found.len(), "entry")),
                "give more digits of the id, at least 4",
            )),
        }
    }

    /// The policy in force now: its entry and version.
    pub fn policy(&self) -> Option<(usize, i64)> {
        let entry = self.folded.authority.at_end.policy()?;
        let Some(Payload::Policy(policy)) = said(&self.review[entry]) else { return None };
        Some((entry, policy.version))
    }

    /// An error where no policy is in force.
    ///
    /// # Errors
    /// There is none.
    pub fn with_policy(self) -> Result<Self> {
        if self.policy().is_some() {
            return Ok(self);
        }
        if let Some(ahead) = self.policy_ahead() {
            return Err(OpsError::usage(
                format!(
                    "this clock says {}, and the policy was made {ahead} later",
                    Timestamp(self.folded.now)
                ),
                "set the clock: timedatectl set-ntp true",
            ));
        }
        let what = "no witnesses are named in this repository: its ledger has no policy";
        Err(OpsError::usage(what, Hint::InitOrFetch))
    }

    /// The time by which a first policy lies ahead of the reader's clock.
    fn policy_ahead(&self) -> Option<String> {
        let first = self.entries.iter().position(is_first)?;
        let ahead = self.review[first].at.saturating_sub(self.folded.now);
        (self.folded.state.codes.get(&first) == Some(&Code::FromTheFuture)).then(|| faults::span(ahead))
    }

    /// The policy's name for the holder of this key.
    pub fn who(&self, key: &str) -> Option<&str> {
        self.folded.authority.at_end.keys.get(key).map(|grant| grant.who.as_str())
    }

    /// The first 8 digits of an entry's id.
    pub fn short(&self, entry: usize) -> String {
        short(self.entries[entry].id)
    }
}

/// The first 8 digits of an id.
pub fn short(id: EntryId) -> String {
    id.to_string().chars().take(8).collect()
}

/// The body of an entry.
pub type EntryStatement = Map<String, serde_json::Value>;
