//! Reading every entry whole. Objects are read one after the other; they are taken apart, and their
//! signatures verified, on all processors.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::rc::Rc;

use rayon::prelude::*;
use serde_json::{Map, Value};
use sha2::Digest as _;

use super::form::{self, Form};
use super::{EntryFault, FaultyEntry, SignatureState, WholeEntry, WholeLedger, append::EVIDENCE};
use crate::ledger::{Ledger, Result, entry::FILE, heads_of, refs_of_all};
use crate::wire::v1::{ledger::MAX_ENTRY, open::decode_open};
use andon_core::domain::{CommitId, EntryId, Oid, TreeId};
use andon_core::history::ledger_order;
use andon_git::{MODE_FILE, Repo, unsigned};
use andon_signing::{NAMESPACE, SshSig};

/// Most entries that are read.
const MAX_ENTRIES: usize = 100_000;

/// The entries that were read so far.
#[derive(Default)]
struct LedgerReading {
    found: BTreeMap<CommitId, WholeEntry>,
    parents: BTreeMap<CommitId, Vec<CommitId>>,
    faults: Vec<FaultyEntry>,
    /// Entries that were read and not taken apart yet.
    unread: Vec<StoredEntry>,
}

/// An entry as it is stored.
struct StoredEntry {
    commit: CommitId,
    raw: Vec<u8>,
    form: Result<Form, String>,
    /// The bytes of its file.
    file: Result<Vec<u8>, EntryFault>,
}

impl Ledger<'_> {
    /// Every entry of every writer, whole and with its signature verified, and what could not be read. The commits of
    /// `known` are not read again but taken as they are. What was read without them is kept while no ref moves.
    ///
    /// # Errors
    /// [`LedgerError::Git`](crate::ledger::LedgerError::Git) when the refs themselves cannot be read.
    pub fn read_whole(&self, known: &HashMap<CommitId, WholeEntry>) -> Result<WholeLedger> {
        let repo = self.repo;
        let refs = refs_of_all(repo)?;
        let heads = heads_of(&refs);
        if known.is_empty()
            && let Some(whole) = repo.made().get::<WholeLedger>(&heads)
        {
            return Ok((*whole).clone());
        }
        let mut reading = LedgerReading::default();
        let mut todo: Vec<CommitId> = refs.into_iter().map(|(_, target)| CommitId(target)).collect();
        while let Some(commit) = todo.pop() {
            if reading.parents.contains_key(&commit) || reading.parents.len() == MAX_ENTRIES {
                continue;
            }
            let parents = if let Some(entry) = known.get(&commit) {
                reading.found.insert(commit, entry.clone());
                entry.parents.clone()
            } else {
                reading.take(repo, commit)
            };
            todo.extend(&parents);
            reading.parents.insert(commit, parents);
        }
        let whole = reading.finish();
        if known.is_empty() {
            repo.made().keep(heads, Rc::new(whole.clone()));
        }
        Ok(whole)
    }

    /// The entries nearest to the tips of the refs, at most `newest`, and those of the commits `more`, whole and verified;
    /// `None` where one of them is no entry.
    ///
    /// # Errors
    /// As [`Self::read_whole`].
    pub fn read_some(&self, newest: usize, more: &[CommitId]) -> Result<Option<Vec<WholeEntry>>> {
        let repo = self.repo;
        let mut reading = LedgerReading::default();
        let mut todo: VecDeque<CommitId> =
            refs_of_all(repo)?.into_iter().map(|(_, target): (String, Oid)| CommitId(target)).collect();
        while reading.parents.len() < newest
            && let Some(commit) = todo.pop_front()
        {
            if !reading.parents.contains_key(&commit) {
                let parents = reading.take(repo, commit);
                todo.extend(&parents);
                reading.parents.insert(commit, parents);
            }
        }
        for commit in more {
            if !reading.parents.contains_key(commit) {
                reading.take(repo, *commit);
            }
        }
        if !reading.faults.is_empty() {
            return Ok(None);
        }
        Ok(reading.unread.par_iter().map(StoredEntry::read).collect::<Result<_, _>>().ok())
    }

    /// The members of the entry of `commit`; nothing where it cannot be read.
    pub fn said(&self, commit: CommitId) -> Option<Map<String, Value>> {
        let bytes = file(self.repo, self.repo.tree_of(commit).ok()?).ok()?;
        decode_open(&bytes).ok().map(|(open, _)| open.body)
    }
}

impl LedgerReading {
    fn fault(&mut self, commit: CommitId, id: Option<EntryId>, fault: EntryFault) {
        self.faults.push(FaultyEntry { commit, id, fault });
    }

    /// Takes one commit; its parents, as far as they are known.
    fn take(&mut self, repo: &Repo, commit: CommitId) -> Vec<CommitId> {
        let Ok(raw) = repo.commit_object(commit) else {
            self.fault(commit, None, EntryFault::Missing);
            return Vec::new();
        };
        let form = form::parse(&raw);
        let parents = match &form {
            Ok(form) => form.parents.clone(),
            // For a commit of another form, git still knows its parents.
            Err(_) => repo.commit(commit).map(|info| info.parents).unwrap_or_default(),
        };
        let file = match &form {
            Ok(form) => file(repo, form.tree),
            Err(header) => Err(EntryFault::Form(header.clone())),
        };
        self.unread.push(StoredEntry { commit, raw, form, file });
        parents
    }

    fn finish(mut self) -> WholeLedger {
        let read: Vec<Result<WholeEntry, FaultyEntry>> =
            self.unread.par_iter().map(StoredEntry::read).collect();
        for entry in read {
            match entry {
                Ok(entry) => {
                    self.found.insert(entry.commit, entry);
                }
                Err(fault) => self.faults.push(fault),
            }
        }
        let keys = self.found.iter().map(|(commit, entry)| (*commit, (entry.lamport, entry.id))).collect();
        let mut seen: BTreeMap<EntryId, usize> = BTreeMap::new();
        let mut entries: Vec<WholeEntry> = Vec::with_capacity(self.found.len());
        for commit in ledger_order(&keys, &self.parents) {
            let Some(entry) = self.found.remove(&commit) else { continue };
            // One payload is one entry, however often it was signed.
            if let Some(first) = seen.get(&entry.id).map(|first| &mut entries[*first]) {
                self.faults.push(FaultyEntry { commit, id: Some(entry.id), fault: EntryFault::Twice });
                self.parents.insert(commit, vec![first.commit]);
                first.copies.push(entry.signature);
            } else {
                seen.insert(entry.id, entries.len());
                self.parents.remove(&commit);
                entries.push(entry);
            }
        }
        // The parents that are left belong to no entry.
        bridge(&mut entries, &self.parents);
        self.faults.sort_by_key(|fault| fault.commit);
        WholeLedger { entries, faults: self.faults }
    }
}

/// Makes entries follow the predecessors of those that are `gone`: a commit that is no entry, or one of another ledger,
/// must not hide what came before it.
pub fn bridge(entries: &mut [WholeEntry], gone: &BTreeMap<CommitId, Vec<CommitId>>) {
    for entry in
        entries.iter_mut().filter(|entry| entry.parents.iter().any(|parent| gone.contains_key(parent)))
    {
        let mut seen = BTreeSet::new();
        let mut todo: Vec<CommitId> = entry.parents.iter().rev().copied().collect();
        let mut found = Vec::new();
        while let Some(parent) = todo.pop() {
            match gone.get(&parent) {
                _ if !seen.insert(parent) => {}
                Some(before) => todo.extend(before.iter().rev()),
                None => found.push(parent),
            }
        }
        entry.parents = found;
    }
}

fn verified(armour: &[u8], payload: &[u8]) -> SignatureState {
    let read = SshSig::read(armour).and_then(|read| read.verify(NAMESPACE, payload).map(|()| read));
    match read {
        Ok(read) => SignatureState::Good { key: read.key().to_string(), touch: read.touch() },
        Err(why) => SignatureState::Bad(why),
    }
}

/// The bytes of the file that the tree of an entry holds.
fn file(repo: &Repo, tree: TreeId) -> Result<Vec<u8>, EntryFault> {
    let unreadable = |why: String| EntryFault::Unreadable(why);
    let entries = repo.tree_entries(tree).map_err(|err| unreadable(err.to_string()))?;
    let known = [FILE.as_bytes(), EVIDENCE.as_bytes()];
    if let Some(odd) = entries.iter().find(|entry| !known.contains(&entry.name.as_slice())) {
        return Err(EntryFault::Form(String::from_utf8_lossy(&odd.name).chars().take(40).collect()));
    }
    let file = entries.iter().find(|entry| entry.name == FILE.as_bytes() && entry.mode == MODE_FILE);
    let file = file.ok_or_else(|| unreadable(format!("its tree holds no {FILE}")))?;
    let bytes = repo.read_blob(file.id, MAX_ENTRY).map_err(|err| unreadable(err.to_string()))?;
    bytes.ok_or_else(|| unreadable(format!("{FILE} has more than {MAX_ENTRY} bytes")))
}

impl StoredEntry {
    fn read(&self) -> Result<WholeEntry, FaultyEntry> {
        let payload = unsigned(&self.raw);
        let id = EntryId(sha2::Sha256::digest(&payload).into());
        let faulty = |fault: EntryFault| FaultyEntry { commit: self.commit, id: Some(id), fault };
        let bytes = self.file.as_ref().map_err(|fault| faulty(fault.clone()))?;
        let form = self.form.as_ref().map_err(|header| faulty(EntryFault::Form(header.clone())))?;
        let (open, is_canonical) =
            decode_open(bytes).map_err(|why| faulty(EntryFault::Unreadable(format!("{FILE}: {why}"))))?;
        if !is_canonical {
            return Err(faulty(EntryFault::Form(FILE.to_owned())));
        }
        let armour = form.signature.as_ref();
        Ok(WholeEntry {
            id,
            commit: self.commit,
            writer: open.writer,
            lamport: open.lamport,
            at: open.at,
            kind: open.kind,
            ledger: open.ledger,
            body: open.body.into(),
            parents: form.parents.clone(),
            signature: armour.map_or(SignatureState::Unsigned, |armour| verified(armour, &payload)),
            copies: Vec::new(),
        })
    }
}
