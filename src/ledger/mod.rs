//! Halts and the answers to them, where every clone can see them: one git ref a writer, one commit an entry.
//!
//! Why commits: they are append-only, travel with fetch and push, chain by hash, and can be signed later. One ref
//! per writer means that two clones never race for the same ref (GIT-FACTS: no retry was needed in push races).
//!
//! An entry is a commit whose tree holds one blob, `entry.json`, in RFC 8785 canonical JSON. Its first parent is the
//! writer's previous entry, the others are the heads of other writers seen then. Order is topological, then by
//! Lamport number, then by id - never by clock (DESIGN section 6).

mod file;
mod order;
mod standing;
mod wire;
mod writer;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};

use sha2::Digest as _;

use crate::domain::decision::{LedgerEvent, StandingHalt};
use crate::domain::ids::{CommitId, EntryId};
use crate::domain::time::Timestamp;
use crate::git::{Blob, GitError, NewCommit, Repo, TreeEntry, Update};

/// Where the writers' refs are.
pub const PREFIX: &str = "refs/andon/ledger/";
/// The one file of an entry.
const FILE: &[u8] = b"entry.json";
/// Larger entries are not read.
const MAX_ENTRY: usize = 1 << 20;
/// Entries that are read at the most.
const MAX_ENTRIES: usize = 200_000;
/// Heads of other writers that one entry names.
const MAX_SEEN: usize = 16;

/// What can go wrong with the ledger.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// git could not.
    #[error(transparent)]
    Git(#[from] GitError),
    /// The writer's id could not be read or made.
    #[error("cannot {doing} {}: {source}", path.display())]
    Writer {
        /// "read" or "write".
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The writer's file is lost, or holds something else.
    #[error("{} does not hold this clone's writer id of 32 hexadecimal digits", path.display())]
    BadWriter {
        /// The file.
        path: PathBuf,
        /// The writers that have a ref here: one of them is this clone.
        known: Vec<String>,
    },
    /// An entry could not be brought into canonical form.
    #[error("the entry has no canonical JSON form: {0}")]
    Canonical(String),
    /// The standing halt's entry is unreadable.
    #[error("the ledger entry {commit} of the standing halt is unreadable: {why}")]
    Unreadable {
        /// The entry's commit.
        commit: CommitId,
        /// What is wrong.
        why: String,
    },
}

impl LedgerError {
    /// The exact command that mends it, where there is one.
    pub fn help(&self) -> Option<String> {
        match self {
            Self::Git(err) => err.help(),
            Self::Writer { path, .. } => {
                Some(format!("check the permissions of {} and the space on its disk", path.display()))
            }
            Self::BadWriter { path, known } => Some(bad_writer_help(path, known)),
            Self::Canonical(_) => None,
            Self::Unreadable { commit, .. } => Some(format!("git show {commit}:entry.json")),
        }
    }
}

fn bad_writer_help(path: &Path, known: &[String]) -> String {
    let file = quoted(path);
    match known {
        [] => format!("this clone has written nothing yet, a new id is made: rm -f {file}"),
        [only] => format!("write the id back, its halts and answers are kept: echo {only} > {file}"),
        several => format!(
            "write this clone's own id back with `echo ID > {file}`; the last word of one of these lines is it: \
             git for-each-ref --format='%(committername) %(committerdate) %(refname:lstrip=3)' {PREFIX} ({} writers)",
            several.len()
        ),
    }
}

/// A path in single quotes for a shell, when it needs any.
fn quoted(path: &Path) -> String {
    let text = path.to_string_lossy();
    if text.chars().all(|c| c.is_ascii_alphanumeric() || "/._-+".contains(c)) {
        text.into_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

/// One entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its id: sha256 of the commit's payload.
    pub id: EntryId,
    /// The commit that holds it.
    pub commit: CommitId,
    /// Who wrote it.
    pub writer: String,
    /// One more than the greatest of its parents.
    pub lamport: u64,
    /// What happened; `None` for a type that this version does not know.
    pub event: Option<LedgerEvent>,
}

/// An entry that was skipped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// The commit; `None` when the whole ref could not be read.
    pub commit: Option<CommitId>,
    /// Why. May quote untrusted text.
    pub why: String,
}

impl fmt::Display for Skipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.commit {
            Some(commit) => write!(f, "ledger entry {commit} was skipped: {}", self.why),
            None => write!(f, "the ledger could not be read whole: {}", self.why),
        }
    }
}

/// The ledger of a repository.
pub struct Ledger<'r> {
    repo: &'r Repo,
}

impl<'r> Ledger<'r> {
    /// The ledger of `repo`. Reads nothing yet.
    pub fn open(repo: &'r Repo) -> Self {
        Self { repo }
    }

    /// The id under which this clone writes; made at the first call.
    pub fn writer_id(&self) -> Result<String, LedgerError> {
        self.known_writer()?.map_or_else(|| self.named(writer::make(self.repo.common_dir())), Ok)
    }

    /// The id under which this clone has written; `None` when it never has.
    fn known_writer(&self) -> Result<Option<String>, LedgerError> {
        let known = self.named(writer::read(self.repo.common_dir()))?;
        // The cache is only ever written for a writer: without its file the id is lost, and its halts with it.
        if known.is_none() && standing::was_written(self.repo.common_dir()) {
            return self.named(Err(writer::lost(self.repo.common_dir())));
        }
        Ok(known)
    }

    /// Adds to a lost writer id which ids it may have been.
    fn named<T>(&self, result: Result<T, LedgerError>) -> Result<T, LedgerError> {
        result.map_err(|err| match err {
            LedgerError::BadWriter { path, .. } => {
                let refs = self.repo.refs_with_prefix(PREFIX).unwrap_or_default();
                let known = refs.iter().filter_map(|(name, _)| name.strip_prefix(PREFIX));
                let known = known.filter(|id| writer::is_id(id)).map(str::to_owned).collect();
                LedgerError::BadWriter { path, known }
            }
            LedgerError::Git(_)
            | LedgerError::Writer { .. }
            | LedgerError::Canonical(_)
            | LedgerError::Unreadable { .. } => err,
        })
    }

    /// Appends an entry and returns its id.
    pub fn append(&self, event: &LedgerEvent, at: Timestamp) -> Result<EntryId, LedgerError> {
        let writer = self.writer_id()?;
        let name = format!("{PREFIX}{writer}");
        let others: Vec<CommitId> = self
            .repo
            .refs_with_prefix(PREFIX)?
            .into_iter()
            .filter(|(other, _)| *other != name)
            .map(|(_, id)| CommitId(id))
            .collect();
        let mut failed = None;
        let commit = self.repo.update_ref(&name, "andon: append to the ledger", |tip| {
            match self.write(event, &writer, tip, &others, at) {
                Ok(commit) => Ok(Update::Set(commit, Some(commit))),
                Err(LedgerError::Git(err)) => Err(err),
                Err(err) => {
                    failed = Some(err);
                    Ok(Update::Keep(None))
                }
            }
        })?;
        match (commit, failed) {
            (Some(commit), _) => self.entry_id(commit),
            (None, Some(err)) => Err(err),
            (None, None) => Err(LedgerError::Canonical("nothing was written".to_owned())),
        }
    }

    fn write(
        &self,
        event: &LedgerEvent,
        writer: &str,
        tip: Option<CommitId>,
        others: &[CommitId],
        at: Timestamp,
    ) -> Result<CommitId, LedgerError> {
        let mut parents: Vec<CommitId> = tip.into_iter().collect();
        for other in others.iter().take(MAX_SEEN) {
            let known = tip.is_some_and(|tip| self.repo.is_ancestor(*other, tip).unwrap_or(false));
            if !known {
                parents.push(*other);
            }
        }
        let seen =
            parents.iter().filter_map(|parent| self.read(*parent).ok()).map(|entry| entry.lamport).max();
        let lamport = seen.unwrap_or(0).saturating_add(1);
        let json = wire::encode(event, writer, lamport, at)?;
        let id = self.repo.write_blob(json.as_bytes())?;
        let file = TreeEntry { name: FILE.to_vec(), mode: crate::git::MODE_FILE, id };
        let tree = self.repo.write_tree_entries(&[file])?;
        let message = format!("{}\n", wire::type_of(event));
        Ok(self.repo.write_commit(&NewCommit { tree, parents: &parents, message: &message, at })?)
    }

    fn entry_id(&self, commit: CommitId) -> Result<EntryId, LedgerError> {
        let payload = self.repo.commit_payload(commit)?;
        Ok(EntryId(sha2::Sha256::digest(&payload).into()))
    }

    /// Reads one entry.
    fn read(&self, commit: CommitId) -> Result<Entry, Skipped> {
        let skipped = |why: String| Skipped { commit: Some(commit), why };
        let git = |err: GitError| skipped(err.to_string());
        let tree = self.repo.tree_of(commit).map_err(git)?;
        let blob = self.repo.blob_at(tree, FILE).map_err(git)?;
        let blob = blob.ok_or_else(|| skipped("it holds no entry.json".to_owned()))?;
        let bytes = match self.repo.read_blob(blob, MAX_ENTRY).map_err(git)? {
            Blob::Content(bytes) => bytes,
            Blob::TooLarge(size) => return Err(skipped(format!("entry.json has {size} bytes"))),
        };
        let decoded = wire::decode(&bytes).map_err(skipped)?;
        let id = self.entry_id(commit).map_err(|err| skipped(err.to_string()))?;
        Ok(Entry { id, commit, writer: decoded.writer, lamport: decoded.lamport, event: decoded.event })
    }

    /// The entries of all writers in the order of the ledger, and what was skipped.
    pub fn read_all(&self) -> Result<(Vec<Entry>, Vec<Skipped>), LedgerError> {
        let heads = self.repo.refs_with_prefix(PREFIX)?;
        let mut queue: Vec<CommitId> = heads.into_iter().map(|(_, id)| CommitId(id)).collect();
        let mut seen: BTreeSet<CommitId> = queue.iter().copied().collect();
        let mut parents: BTreeMap<CommitId, Vec<CommitId>> = BTreeMap::new();
        let (mut entries, mut skipped) = (Vec::new(), Vec::new());
        while let Some(commit) = queue.pop() {
            if parents.len() >= MAX_ENTRIES {
                skipped
                    .push(Skipped { commit: None, why: format!("it has more than {MAX_ENTRIES} entries") });
                break;
            }
            let before = match self.repo.commit(commit) {
                Ok(info) => info.parents,
                Err(err) => {
                    skipped.push(Skipped { commit: Some(commit), why: err.to_string() });
                    continue;
                }
            };
            queue.extend(before.iter().copied().filter(|parent| seen.insert(*parent)));
            parents.insert(commit, before);
            match self.read(commit) {
                Ok(entry) => entries.push(entry),
                Err(why) => skipped.push(why),
            }
        }
        skipped.sort_by_key(|skip| skip.commit);
        Ok((order::sort(entries, &parents), skipped))
    }

    /// The halt of `worktree` that nobody has acknowledged, as this clone's own writer has it. Costs one ref
    /// look-up while nothing changed.
    pub fn standing(&self, worktree: &str) -> Result<Option<StandingHalt>, LedgerError> {
        standing::find(self, worktree)
    }
}

#[cfg(test)]
mod tests;
