//! Appending entries of any type. Signing may take long (a passphrase, a touch), so it is done without the ref's lock;
//! where the ref moved on meanwhile, the entry is made and signed again.

use std::collections::BTreeSet;

use super::{NewEntry, form};
use crate::ledger::append::{longest, unseen};
use crate::ledger::entry::{self, FILE};
use crate::ledger::{Ledger, LedgerError, Result, ref_of};
use crate::{OpenEntry, wire::v1::open::encode_open};
use andon_core::domain::{CLOCK_SKEW, CommitId, EntryId, TreeId};
use andon_git::{GitError, MODE_FILE, MODE_TREE, NewCommit, Repo, TreeEntry, Update};
use andon_signing::{NAMESPACE, Signer, SshSig};

/// The number of times that a moving ledger is followed.
const TRIES: u32 = 8;
/// The folder of the texts of an entry.
pub(super) const EVIDENCE: &str = "evidence";
/// Most entries from the future that are passed over.
const MAX_AHEAD: usize = 1_000;

/// A text that is kept with an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EvidenceText {
    /// Its name, without a slash.
    pub name: String,
    /// The text, as it is stored.
    pub bytes: Vec<u8>,
}

impl Ledger<'_> {
    /// Appends an entry of any type, signed where there is a signer.
    ///
    /// # Errors
    /// [`LedgerError`]; then nothing is appended.
    pub fn append_open(&self, new: &NewEntry<'_>, signer: Option<&Signer>) -> Result<EntryId> {
        let (repo, writer) = (self.repo, self.writer_id()?);
        let name = ref_of(&writer);
        for _ in 0..TRIES {
            let before = repo.ref_commit(&name)?;
            let draft = Draft::new(repo, &writer, new, before)?;
            let payload = draft.payload(repo, new)?;
            let object = match signer {
                None => payload,
                Some(signer) => {
                    let armour = signer.sign(NAMESPACE, &payload)?;
                    SshSig::read(armour.as_bytes())?.verify(NAMESPACE, &payload)?;
                    form::signed(&payload, &armour)
                }
            };
            let written = repo.update_ref(&name, new.kind, |now| {
                if now != before {
                    return Ok(Update::Keep(None));
                }
                draft.tree(repo, new)?;
                let commit = repo.write_commit_object(&object)?;
                Ok(Update::Set(commit, Some(commit)))
            })?;
            if let Some(commit) = written {
                return Ok(entry::id_of(repo, commit)?);
            }
        }
        Err(LedgerError::Raced(TRIES))
    }
}

/// An entry with its place.
struct Draft {
    json: Vec<u8>,
    parents: Vec<CommitId>,
}

impl Draft {
    fn new(repo: &Repo, writer: &str, new: &NewEntry<'_>, before: Option<CommitId>) -> Result<Self> {
        let tip = longest(repo, writer, before);
        let others = unseen(repo, &ref_of(writer), tip).into_iter();
        let mut parents: Vec<CommitId> = tip.into_iter().collect();
        for head in others.flat_map(|head| settled(repo, head, new)) {
            if !parents.contains(&head) {
                parents.push(head);
            }
        }
        let lamports = parents.iter().map(|parent| crate::ledger::append::lamport(repo, *parent));
        let entry = OpenEntry {
            kind: new.kind.to_owned(),
            writer: writer.to_owned(),
            lamport: lamports.max().unwrap_or(0).saturating_add(1),
            at: Some(new.at),
            ledger: new.ledger.map(|id| id.to_string()),
            body: new.body.clone(),
        };
        let json = encode_open(&entry).map_err(|err| LedgerError::Encoding(err.to_string()))?;
        Ok(Self { json, parents })
    }

    fn payload(&self, repo: &Repo, new: &NewEntry<'_>) -> Result<Vec<u8>, GitError> {
        let tree = self.tree(repo, new)?;
        let message = format!("{}\n", new.kind);
        repo.commit_object_of(&NewCommit { tree, parents: &self.parents, message: &message, at: new.at })
    }

    fn tree(&self, repo: &Repo, new: &NewEntry<'_>) -> Result<TreeId, GitError> {
        let file = |name: &str, bytes: &[u8]| -> Result<TreeEntry, GitError> {
            let id = repo.write_blob(bytes)?;
            Ok(TreeEntry { name: name.as_bytes().to_vec(), mode: MODE_FILE, id })
        };
        let mut all = vec![file(FILE, &self.json)?];
        if !new.evidence.is_empty() {
            let beside = new.evidence.iter().map(|text| file(&text.name, &text.bytes));
            let id = repo.write_tree_entries(&beside.collect::<Result<Vec<_>, GitError>>()?)?.0;
            all.push(TreeEntry { name: EVIDENCE.as_bytes().to_vec(), mode: MODE_TREE, id });
        }
        repo.write_tree_entries(&all)
    }
}

/// `head`; of one from the future, what it follows.
fn settled(repo: &Repo, head: CommitId, new: &NewEntry<'_>) -> Vec<CommitId> {
    let mut todo = vec![head];
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    while let Some(commit) = todo.pop().filter(|_| seen.len() < MAX_AHEAD) {
        if !seen.insert(commit) {
            continue;
        }
        if is_ahead(repo, commit, new) {
            todo.extend(repo.commit(commit).map(|info| info.parents).unwrap_or_default());
        } else {
            found.push(commit);
        }
    }
    found
}

/// True if an entry claims a time that is still to come: its followers would be dated by it.
fn is_ahead(repo: &Repo, head: CommitId, new: &NewEntry<'_>) -> bool {
    let read = repo.tree_of(head).ok().and_then(|tree| entry::load(repo, head, tree).ok());
    read.and_then(|entry| entry.at).is_some_and(|at| at.0 > new.at.0.saturating_add(CLOCK_SKEW))
}
