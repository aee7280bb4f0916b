//! Halts and the answers to them, kept where an edit shows: one git commit for each entry, one ref for each writer
//! (`refs/andon/ledger/<writer>`), so that clones never race for a ref and merging is a union (docs/formats.md).
//!
//! An entry's tree holds one blob, `entry.json`, in the canonical form of RFC 8785. Its first parent is the writer's
//! previous entry, if there is one; further parents are the heads of other writers seen then that it has not seen
//! yet, at most 16.
//! Its Lamport number is one more than the greatest of its parents. Its id is the sha256 of the commit object
//! without signature headers, so that signing can be added without changing what is there. Order is topological,
//! then by (Lamport, id), never by clock.
//!
//! Durability follows `core.fsync`, as for the records.

mod adopt;
mod append;
mod entry;
mod error;
mod halts;
mod meaning;
mod newest;
mod open;
mod read;
mod stamp;
mod tampering;
mod writer;

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use serde_json::{Map, Value};

use andon_core::domain::decision::{LedgerEvent, StandingHalt};
use andon_core::domain::diagnostic::Diagnostic;
use andon_core::domain::facts::Ack;
use andon_core::domain::ids::{CommitId, EntryId, Oid};
use andon_core::domain::time::Timestamp;
use andon_git::{GitError, Repo};
use andon_signing::Signer;

pub use self::adopt::Arrival;
pub use self::error::LedgerError;
use self::halts::Halts;
pub use self::newest::NewestHalt;
pub use self::open::{
    AppendError, EntryFault, EvidenceText, FaultyEntry, NewEntry, SignatureState, WholeEntry, WholeLedger,
    bridge,
};
pub use self::tampering::{TamperedHow, Tampering};

/// Where the refs of all writers are.
pub const REF_PREFIX: &str = "refs/andon/ledger/";
/// Where what was fetched from remotes is: `<remote>/ledger/<writer>` below it.
pub const REMOTE_PREFIX: &str = "refs/andon/remote/";

/// One entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// sha256 of its commit without signature.
    pub id: EntryId,
    /// The commit that carries the entry.
    pub commit: CommitId,
    /// Who wrote it.
    pub writer: String,
    /// Its Lamport number.
    pub lamport: u64,
    /// When, by the writer's clock. Never used for order.
    pub at: Option<Timestamp>,
    /// The halt, the answer or the stop switch.
    pub event: EntryEvent,
}

/// What an entry says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EntryEvent {
    /// An event this version knows.
    Known(LedgerEvent),
    /// An event of another version: kept, without meaning here.
    Unknown {
        /// Its type; untrusted text, at most 128 characters.
        kind: String,
    },
}

impl EntryEvent {
    /// The event, when this version knows its type.
    pub fn known(&self) -> Option<&LedgerEvent> {
        match self {
            Self::Known(event) => Some(event),
            Self::Unknown { .. } => None,
        }
    }
}

/// The unanswered halts, as one worktree with its HEAD sees them.
#[derive(Debug)]
pub struct UnansweredHalts {
    /// The halt of this worktree.
    pub own: Option<StandingHalt>,
    /// Those of the other worktrees of this clone, which may or may not bind.
    pub beside: Vec<StandingHalt>,
    /// The newest halt of another clone whose commit is HEAD or below it: work from there is work in a halted loop.
    pub elsewhere: Option<StandingHalt>,
}

/// The ledger of a repository: all writers for reading, one for writing.
#[derive(Debug, Clone, Copy)]
pub struct Ledger<'r> {
    repo: &'r Repo,
}

impl<'r> Ledger<'r> {
    /// The ledger of `repo`. Touches nothing.
    pub fn open(repo: &'r Repo) -> Self {
        Self { repo }
    }

    /// This clone's id, made up on first use: 32 hexadecimal digits in `<common dir>/andon/writer`.
    ///
    /// # Errors
    /// [`LedgerError::BadWriter`] when the file holds something else, [`LedgerError::Io`].
    pub fn writer_id(&self) -> Result<String, LedgerError> {
        self.known_writer()?;
        self.with_known(writer::get_or_create(self.repo.common_dir()))
    }

    /// Appends an event to this clone's ledger, dated `at`.
    ///
    /// # Errors
    /// [`LedgerError`]; then nothing is appended.
    pub fn append(&self, event: &LedgerEvent, at: Timestamp) -> Result<EntryId, LedgerError> {
        append::append(self.repo, &self.writer_id()?, event, at)
    }

    /// Appends an entry of any type, signed where there is a signer.
    ///
    /// # Errors
    /// [`LedgerError`]; then nothing is appended.
    pub fn append_open(&self, new: &NewEntry<'_>, signer: Option<&Signer>) -> Result<EntryId, LedgerError> {
        Ok(open::append(self.repo, &self.writer_id()?, new, signer)?)
    }

    /// Every entry of every writer, whole and with its signature verified, and what could not be read.
    ///
    /// # Errors
    /// [`LedgerError::Git`] when the refs themselves cannot be read.
    pub fn read_whole(&self) -> Result<WholeLedger, LedgerError> {
        self.read_whole_beyond(&HashMap::new())
    }

    /// The same, where the commits of `known` are not read again but taken as they are.
    ///
    /// # Errors
    /// As [`Self::read_whole`].
    pub fn read_whole_beyond(
        &self,
        known: &HashMap<CommitId, WholeEntry>,
    ) -> Result<WholeLedger, LedgerError> {
        Ok(open::read(self.repo, known)?)
    }

    /// The `newest` entries, and those of the commits `more`, whole and verified; `None` where one of them is no entry.
    ///
    /// # Errors
    /// As [`Self::read_whole`].
    pub fn read_some(
        &self,
        newest: usize,
        more: &[CommitId],
    ) -> Result<Option<Vec<WholeEntry>>, LedgerError> {
        Ok(open::read_some(self.repo, newest, more)?)
    }

    /// From now on this command does not read again what `memory` holds: for commands that only show the state.
    pub fn remember(&self, memory: fn(&Repo) -> Rc<HashMap<CommitId, WholeEntry>>) {
        read::remember(self.repo, read::EntryMemory(memory));
    }

    /// Whether what this command knows of the ledgers is from such a memory: it is remembered nowhere else.
    pub fn is_from_memory(&self) -> bool {
        read::is_from_memory(self.repo)
    }

    /// What the entry of `commit` says; nothing where it cannot be read.
    pub fn said(&self, commit: CommitId) -> Option<Map<String, Value>> {
        open::said(self.repo, commit)
    }

    /// Every entry of every writer, in the ledger's order, and what could not be read.
    ///
    /// # Errors
    /// [`LedgerError::Git`] when the refs themselves cannot be read.
    pub fn read_all(&self) -> Result<(Vec<Entry>, Vec<Diagnostic>), LedgerError> {
        read::read_all(self.repo)
    }

    /// The newest halt of `worktree` with its answer, among the entries of all clones, and what could not be read.
    /// Costs two entries while no ledger has moved.
    ///
    /// # Errors
    /// [`LedgerError`] when the ledgers cannot be read.
    pub fn newest_halt(&self, worktree: &str) -> Result<(Option<NewestHalt>, Vec<Diagnostic>), LedgerError> {
        newest::newest(self.repo, self.halts().ok().map(|known| known.events()).as_deref(), worktree)
    }

    /// The newest halt of `worktree` in this clone's own ledger that no acknowledgement of any clone has answered.
    ///
    /// # Errors
    /// [`LedgerError`] when the ledgers cannot be read: whether a halt is unanswered is then unknown.
    pub fn standing(&self, worktree: &str) -> Result<Option<StandingHalt>, LedgerError> {
        match self.known_writer()? {
            Some(own) => halts::load(self.repo, Some(&own))?.of_worktree(self.repo, worktree),
            None => Ok(None),
        }
    }

    /// The unanswered halts that `worktree` with HEAD at `head` has to know of. Costs a few `stat`s while no ledger has
    /// moved: the rest is remembered in `<common dir>/andon/cache`.
    ///
    /// # Errors
    /// As [`Self::standing`].
    pub fn unanswered(&self, worktree: &str, head: Option<CommitId>) -> Result<UnansweredHalts, LedgerError> {
        let mut halts = self.halts()?;
        Ok(UnansweredHalts {
            own: halts.of_worktree(self.repo, worktree)?,
            beside: halts.beside(self.repo, worktree)?,
            elsewhere: halts.binding(self.repo, head)?,
        })
    }

    /// The unanswered halts of other clones, as far as they were synced, oldest first; at most 64, the newest. Costs a
    /// few `stat`s while no ledger of another has moved.
    ///
    /// # Errors
    /// [`LedgerError`] when the ledgers cannot be read.
    pub fn unanswered_elsewhere(&self) -> Result<Vec<StandingHalt>, LedgerError> {
        self.halts()?.unanswered(self.repo)
    }

    /// Whether a standing halt is one of another clone.
    ///
    /// # Errors
    /// [`LedgerError`] when the ledgers cannot be read.
    pub fn is_elsewhere(&self, halt: EntryId) -> Result<bool, LedgerError> {
        Ok(self.halts()?.holds(halt))
    }

    /// Whether this clone wrote the halt, also where its own ledger is gone and only a remote's copy has it.
    ///
    /// # Errors
    /// [`LedgerError`] when the ledgers cannot be read.
    pub fn is_by_this_clone(&self, halt: EntryId) -> Result<bool, LedgerError> {
        let own = self.known_writer()?;
        let (entries, _) = self.read_all()?;
        Ok(entries.iter().any(|entry| entry.id == halt && Some(&entry.writer) == own.as_ref()))
    }

    /// The acknowledgements of all clones that were given at one of `heads`, in the ledger's order.
    ///
    /// # Errors
    /// [`LedgerError`] when the ledgers cannot be read.
    pub fn acks_at(&self, heads: &[CommitId]) -> Result<Vec<Ack>, LedgerError> {
        let known = self.halts()?;
        known.acks_at(self.repo, heads)
    }

    /// Ledgers that were turned back, rewritten or removed, as far as the others give it away.
    ///
    /// # Errors
    /// [`LedgerError::Git`] when the refs themselves cannot be read.
    pub fn tampered(&self) -> Result<Vec<Tampering>, LedgerError> {
        tampering::tampered(self.repo)
    }

    /// Takes over what another clone has of the ledger of `writer`, whose tip is `theirs` there: forward only.
    ///
    /// # Errors
    /// [`LedgerError::Git`] when the ref cannot be written or its history not be read.
    pub fn adopt(&self, writer: &str, theirs: CommitId) -> Result<Arrival, LedgerError> {
        adopt::adopt(self.repo, writer, theirs)
    }

    /// How many entries the ledger of `writer` with the tip `tip` has above `since`.
    ///
    /// # Errors
    /// [`LedgerError::Git`] when its history cannot be read.
    pub fn entries_since(
        &self,
        writer: &str,
        since: Option<CommitId>,
        tip: CommitId,
    ) -> Result<usize, LedgerError> {
        Ok(adopt::entries(self.repo, writer, (since, tip))?)
    }

    /// The newest entry of each writer's ledger, at most as many as a record names. Costs a few `stat`s while no
    /// ledger has moved.
    ///
    /// # Errors
    /// [`LedgerError`] when the ledgers cannot be read.
    pub fn heads(&self) -> Result<BTreeMap<String, EntryId>, LedgerError> {
        Ok(self.halts()?.heads())
    }

    /// A text that changes whenever a ref of a ledger does, or this clone's id.
    ///
    /// # Errors
    /// [`LedgerError`] when the ledgers cannot be read.
    pub fn state(&self) -> Result<String, LedgerError> {
        Ok(self.halts()?.state())
    }

    /// Two texts: one that changes whenever a ledger loses an entry, and whenever a halt or an answer comes; and
    /// [`Self::state`].
    ///
    /// # Errors
    /// [`LedgerError`] when the ledgers cannot be read.
    pub fn losses_and_state(&self) -> Result<(String, String), LedgerError> {
        let known = self.halts()?;
        Ok((known.losses(), known.state()))
    }

    /// The newest halt of each worktree of each clone that an acknowledgement ended. Costs a few `stat`s while no ledger has
    /// moved.
    ///
    /// # Errors
    /// [`LedgerError`] when the ledgers cannot be read.
    pub fn ended(&self) -> Result<Vec<StandingHalt>, LedgerError> {
        self.halts()?.ended(self.repo)
    }

    /// The ref of this clone's own ledger, if it has one.
    ///
    /// # Errors
    /// [`LedgerError::BadWriter`] when its id was lost.
    pub fn own_ref(&self) -> Result<Option<String>, LedgerError> {
        Ok(self.known_writer()?.map(|writer| ref_of(&writer)))
    }

    /// Who wrote the entry of `commit`; `None` when it is no entry.
    ///
    /// # Errors
    /// [`LedgerError::Git`] when it cannot be read.
    pub fn writer_at(&self, commit: CommitId) -> Result<Option<String>, LedgerError> {
        Ok(halts::entry_at(self.repo, commit)?.map(|entry| entry.writer))
    }

    /// What all ledgers mean here.
    fn halts(self) -> Result<Halts, LedgerError> {
        halts::load(self.repo, self.known_writer()?.as_deref())
    }

    /// This clone's id, if it has one.
    ///
    /// # Errors
    /// [`LedgerError::BadWriter`] also when its file is gone though it was there once.
    fn known_writer(self) -> Result<Option<String>, LedgerError> {
        match writer::get(self.repo.common_dir()) {
            // Another process may have made it up meanwhile: what it remembered came later than its id.
            Ok(None) if halts::had_own(self.repo) => {
                let known = writer::get(self.repo.common_dir());
                let known = known.and_then(|id| id.ok_or_else(|| writer::lost(self.repo.common_dir())));
                self.with_known(known.map(Some))
            }
            other => self.with_known(other),
        }
    }

    /// Adds to a damaged id which ids it may have been.
    fn with_known<T>(self, result: Result<T, LedgerError>) -> Result<T, LedgerError> {
        result.map_err(|error| match error {
            LedgerError::BadWriter { path, .. } => {
                let refs = self.repo.refs_with_prefix(REF_PREFIX).unwrap_or_default();
                let ids = refs.iter().filter_map(|(name, _)| name.strip_prefix(REF_PREFIX));
                let known = ids.filter(|id| writer::is_id(id)).map(str::to_owned).collect();
                LedgerError::BadWriter { path, known }
            }
            other @ (LedgerError::Git(_) | LedgerError::Append(_) | LedgerError::Io { .. }) => other,
        })
    }
}

/// Whether `name` can be the id of a writer.
pub fn is_writer(name: &str) -> bool {
    writer::is_id(name)
}

/// The refs of all writers: those of this clone, and what was fetched from remotes.
fn refs_of_all(repo: &Repo) -> Result<Vec<(String, Oid)>, GitError> {
    let mut refs = repo.refs_with_prefix(REF_PREFIX)?;
    let fetched = repo.refs_with_prefix(REMOTE_PREFIX)?;
    refs.extend(fetched.into_iter().filter(|(name, _)| name.contains("/ledger/")));
    Ok(refs)
}

/// Whose ledger a ref holds.
fn writer_of(name: &str) -> &str {
    name.rsplit_once("/ledger/").map_or(name, |(_, writer)| writer)
}

/// The ref of a writer.
fn ref_of(writer: &str) -> String {
    format!("{REF_PREFIX}{writer}")
}

#[cfg(test)]
mod tests;
