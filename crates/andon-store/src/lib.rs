#![doc = include_str!("../README.md")]

pub mod derived;
pub mod diff;
mod file;
pub mod fingerprint;
pub mod guard_state;
pub mod identity;
pub mod journal;
pub mod ledger;
pub mod lost_records;
pub mod memory;
pub mod notes;
pub mod operation;
pub mod packed;
pub mod pre_commit_mark;
pub mod process;
pub mod receipt;
pub mod results;
pub mod test_sets;
#[cfg(test)]
mod testkit;
pub mod totals;
pub mod union;
pub mod window;
pub mod wire;

pub use self::union::WriterNews;
pub use self::{
    derived::*, diff::*, fingerprint::*, guard_state::*, identity::*, journal::*, ledger::*, memory::*,
    notes::*, operation::OperationInProgress, packed::*, process::*, receipt::Receipt, results::*, totals::*,
    window::*, wire::envelope::Row, wire::v1::event::UsageWire, wire::v1::open::OpenEntry, wire::v1::*,
};

use std::path::{Path, PathBuf};

use andon_core::domain::{CommitId, Diagnostic, Hint, Location};
use andon_core::format::FormatError;
use andon_git::GitError;

/// A record or an entry, or the reason why it cannot be read or written.
pub type Result<T, E = RecordError> = std::result::Result<T, E>;

/// An error of the stores.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// git could not do its part.
    #[error(transparent)]
    Git(#[from] GitError),
    /// A file of ours could not be read or written.
    #[error("cannot {doing} {}: {source}", path.display())]
    Io { doing: &'static str, path: PathBuf, source: std::io::Error },
    /// A note without one readable line. The fault is that of its first line that is not blank.
    #[error("the andon record of commit {commit} is unreadable: {source}")]
    Unreadable { commit: CommitId, source: FormatError },
    /// A note that would outgrow what is read back.
    #[error("the andon note of commit {commit} would have {bytes} bytes, more than {max}")]
    NoteTooLarge { commit: CommitId, bytes: usize, max: usize },
    /// A tree that no file system could hold: built to exhaust its reader.
    #[error("tree {tree} has more than {max} {what}: it cannot be fingerprinted")]
    HostileTree { tree: String, max: usize, what: &'static str },
}

impl RecordError {
    /// The exact command that repairs it, where there is one.
    pub fn help(&self) -> Option<String> {
        match self {
            Self::Git(error) => error.help(),
            Self::Unreadable { commit, source } => Some(note_help(*commit, source)),
            Self::NoteTooLarge { commit, .. } => Some(Hint::EditNote.with([&commit.to_string()])),
            Self::Io { path, .. } => Some(andon_git::access_help(path)),
            Self::HostileTree { .. } => None,
        }
    }
}

/// A line of a file that is skipped: where it begins, and how to remove it.
fn skipped_line(path: &Path, offset: u64, why: String) -> Diagnostic {
    let help = Hint::SetAside.with([&path.to_string_lossy()]);
    Diagnostic::warning(why).at(Location::Line { path: path.to_path_buf(), offset }).help(help)
}

/// A line of a note that is skipped. Why may quote untrusted text: the renderer escapes.
fn skipped_note(commit: CommitId, line: usize, why: String) -> Diagnostic {
    Diagnostic::warning(why).at(Location::Note { commit, line })
}

/// A person takes a damaged line out; a line of another version is whole, and goes nowhere.
fn note_help(commit: CommitId, why: &FormatError) -> String {
    if matches!(why, FormatError::Schema { .. }) {
        return "install the version of andon that wrote it, or a newer one".to_owned();
    }
    Hint::EditNote.with([&commit.to_string()])
}
