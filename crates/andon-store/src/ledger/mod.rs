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

mod append;
mod entry;
mod halts;
mod meaning;
mod newest;
mod open;
mod read;
mod writer;

use std::path::{Path, PathBuf};

use self::writer::Writer;
use andon_core::domain::{Ack, CommitId, EntryId, Halt, Hint, LedgerEvent, Oid, StopSwitch, Timestamp};
use andon_core::escape::shell_quote;
use andon_git::{GitError, Repo};
use andon_signing::{BadSignature, SigningError};

pub use self::append::Arrival;
pub use self::halts::UnansweredHalts;
pub use self::newest::NewestHalt;
pub use self::open::{
    EntryFault, EvidenceText, FaultyEntry, NewEntry, SignatureState, WholeEntry, WholeLedger, bridge,
};
pub use self::read::{TamperedHow, Tampering};

/// The prefix of the refs of all writers.
pub const REF_PREFIX: &str = "refs/andon/ledger/";
/// The prefix of ledgers fetched from remotes: `<remote>/ledger/<writer>` below it.
pub const REMOTE_PREFIX: &str = "refs/andon/remote/";

/// An answer of the ledger, or the reason why there is none.
pub(crate) type Result<T, E = LedgerError> = std::result::Result<T, E>;

/// An error of the ledger.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// git could not do its part.
    #[error(transparent)]
    Git(#[from] GitError),
    /// An object of a ledger is damaged or gone.
    #[error("{source}, an object of a ledger")]
    Damaged { way_out: String, source: Box<GitError> },
    /// Nothing was signed.
    #[error(transparent)]
    Signing(#[from] SigningError),
    /// The signature does not hold.
    #[error("the signature that ssh-keygen made does not hold: {0}")]
    NotHeld(#[from] BadSignature),
    /// The entry has no canonical form.
    #[error("the entry cannot be written: {0}")]
    Encoding(String),
    /// Others were faster, again and again.
    #[error("the ledger moved on each time while the entry was signed, {0} in all")]
    Raced(u32),
    /// A file of ours could not be read or written.
    #[error("cannot {doing} {}: {source}", path.display())]
    Io { doing: &'static str, path: PathBuf, source: std::io::Error },
    /// The file that says which ledger is this clone's is damaged. A new id would forget unanswered halts. One of the `known`
    /// ids, which have a ledger here, is this clone's.
    #[error("{} does not hold this clone's ledger id (32 hexadecimal digits)", path.display())]
    BadWriter { path: PathBuf, known: Vec<String> },
}

impl LedgerError {
    /// The hint: the exact command that puts it right, where there is one.
    pub fn help(&self) -> Option<String> {
        match self {
            Self::Git(error) => error.help(),
            Self::Signing(error) => Some(signing_help(error).into()),
            Self::NotHeld(_) => {
                Some("sign with a key of type ed25519, ecdsa (256, 384) or rsa, or a security key".to_owned())
            }
            Self::Encoding(_) | Self::Raced(_) => {
                Some("nothing was written: run the command again".to_owned())
            }
            Self::Damaged { way_out, .. } => Some(way_out.clone()),
            Self::BadWriter { path, known } => Some(bad_writer_help(path, known)),
            Self::Io { path, .. } => Some(andon_git::access_help(path)),
        }
    }
}

/// The command that takes out the ledgers of `refs`, which lead to what cannot be read. What is whole of them stays under another
/// name: `git update-ref` cannot name a commit that is not there.
fn take_out(refs: &[String], rest: Rest) -> String {
    let out = |name: &String| match rest {
        Rest::Whole => Hint::PutRefAside.with([name.trim_start_matches("refs/"), name]),
        Rest::Damaged => Hint::DeleteRef.with([name]),
    };
    let commands: Vec<String> = refs.iter().map(out).collect();
    Hint::TakeLedgersOut.with([&commands.join(" && ")])
}

fn signing_help(error: &SigningError) -> Hint {
    match error {
        SigningError::NoSetup(_) => Hint::SetSigning,
        SigningError::NoFile { .. } | SigningError::BadFile { .. } => Hint::MakeKey,
        SigningError::NoProgram(_) => Hint::InstallOpenssh,
        SigningError::Refused(_) => Hint::LoadKey,
    }
}

/// The state of the tip of a ledger that is taken out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rest {
    Whole,
    Damaged,
}

/// With one ledger here the hint is exact; a new id would forget the unanswered halts.
fn bad_writer_help(path: &Path, known: &[String]) -> String {
    let file = shell_quote(&path.to_string_lossy());
    match known {
        [] => Hint::NewId.with([&file]),
        [only] => Hint::RestoreId.with([&file, only]),
        several => Hint::FindId.with([&file, &several.len().to_string()]),
    }
}

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

/// The event of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EntryEvent {
    /// An event this version knows.
    Known(LedgerEvent),
    /// An event of another version: kept, without meaning here. Its type is untrusted text of at most 128 characters.
    Unknown { kind: String },
}

impl EntryEvent {
    /// The event, when this version knows its type.
    pub fn known(&self) -> Option<&LedgerEvent> {
        if let Self::Known(event) = self { Some(event) } else { None }
    }

    /// The halt, when it is one.
    pub fn halt(&self) -> Option<&Halt> {
        if let Self::Known(LedgerEvent::Halted(halt)) = self { Some(halt) } else { None }
    }

    /// The answer to a halt, when it is one.
    pub fn answer(&self) -> Option<&Ack> {
        if let Self::Known(LedgerEvent::Acknowledged(ack)) = self { Some(ack) } else { None }
    }

    /// The stop switch, when it is one.
    pub fn switch(&self) -> Option<&StopSwitch> {
        if let Self::Known(LedgerEvent::StopSwitch(switch)) = self { Some(switch) } else { None }
    }
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
    pub fn writer_id(&self) -> Result<String> {
        self.known_writer()?;
        self.with_known(writer::get_or_create(self.repo))
    }

    /// True if this clone wrote the entry, also before it was copied, or where its own ledger is gone and only a remote's copy has it; `None` where no
    /// ledger holds it.
    ///
    /// # Errors
    /// [`LedgerError`] when the ledgers cannot be read.
    pub fn is_own(&self, entry: EntryId) -> Result<Option<bool>> {
        let own = self.known_writer()?;
        let all = read::all(self.repo)?;
        let Some(found) = all.entries.iter().find(|one| one.id == entry) else { return Ok(None) };
        let of_then = |(former, tip): &(String, CommitId)| {
            *former == found.writer && self.repo.is_ancestor(found.commit, *tip).unwrap_or(false)
        };
        Ok(Some(own.is_some_and(|own| own.id == found.writer || own.former.iter().any(of_then))))
    }

    /// The ref of this clone's own ledger, if it has one.
    ///
    /// # Errors
    /// [`LedgerError::BadWriter`] when its id was lost.
    pub fn own_ref(&self) -> Result<Option<String>> {
        Ok(self.own_writer()?.map(|own| ref_of(&own)))
    }

    /// This clone's id, if it has one: no other clone writes under it.
    ///
    /// # Errors
    /// [`LedgerError::BadWriter`] when it was lost.
    pub fn own_writer(&self) -> Result<Option<String>> {
        Ok(self.known_writer()?.map(|own| own.id))
    }

    /// This clone's id, if it has one.
    ///
    /// # Errors
    /// [`LedgerError::BadWriter`] also when its file is gone though it was there once.
    fn known_writer(self) -> Result<Option<Writer>> {
        match writer::of(self.repo) {
            // Another process may have made it up meanwhile: what it remembered came later than its id.
            Ok(None) if halts::had_own(self.repo) => {
                let known = writer::of(self.repo);
                let known = known.and_then(|id| id.ok_or_else(|| writer::lost(self.repo.common_dir())));
                self.with_known(known.map(Some))
            }
            other => self.with_known(other),
        }
    }

    /// Adds to a damaged id which ids it may have been.
    fn with_known<T>(self, result: Result<T>) -> Result<T> {
        result.map_err(|error| {
            let LedgerError::BadWriter { path, .. } = error else { return error };
            let refs = self.repo.refs_with_prefix(REF_PREFIX).unwrap_or_default();
            let ids = refs.iter().filter_map(|(name, _)| name.strip_prefix(REF_PREFIX));
            let known = ids.filter(|id| writer::is_id(id)).map(str::to_owned).collect();
            LedgerError::BadWriter { path, known }
        })
    }
}

/// True if `name` can be the id of a writer.
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

/// The names and tips of refs, as the key of what was read at them.
fn heads_of(refs: &[(String, Oid)]) -> String {
    refs.iter().map(|(name, target)| format!("{name} {target}\n")).collect()
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
