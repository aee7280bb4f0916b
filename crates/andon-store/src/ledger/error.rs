//! What can go wrong with the ledger, and the commands that put it right.

use std::path::{Path, PathBuf};

use super::{AppendError, REF_PREFIX};
use andon_git::GitError;

/// What can go wrong with the ledger.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// git could not do its part.
    #[error(transparent)]
    Git(#[from] GitError),
    /// An entry could not be signed or appended.
    #[error(transparent)]
    Append(#[from] AppendError),
    /// A file of ours could not be read or written.
    #[error("cannot {doing} {}: {source}", path.display())]
    Io {
        /// Such as `read`.
        doing: &'static str,
        /// The path of the file, as it was opened.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file that says which ledger is this clone's is damaged. A new id would forget unanswered halts.
    #[error("{} does not hold this clone's ledger id (32 hexadecimal digits)", path.display())]
    BadWriter {
        /// The path of the file, as it was opened.
        path: PathBuf,
        /// The ids that have a ledger here: one of them is this clone's.
        known: Vec<String>,
    },
}

impl LedgerError {
    /// The hint: the exact command that puts it right, where there is one.
    pub fn help(&self) -> Option<String> {
        match self {
            Self::Git(error) | Self::Append(AppendError::Git(error)) => error.help(),
            Self::Append(AppendError::Signing(error)) => Some(error.help()),
            Self::Append(AppendError::NotHeld(_)) => {
                Some("sign with a key of type ed25519, ecdsa (256, 384) or rsa, or a security key".to_owned())
            }
            Self::Append(AppendError::Encoding(_) | AppendError::Raced(_)) => {
                Some("nothing was written: run the command again".to_owned())
            }
            Self::BadWriter { path, known } => Some(bad_writer_help(path, known)),
            Self::Io { path, .. } => {
                Some(format!("check the permissions of {} and the space on its disk", path.display()))
            }
        }
    }
}

/// With one ledger here the hint is exact; a new id would forget the unanswered halts.
fn bad_writer_help(path: &Path, known: &[String]) -> String {
    let file = format!("'{}'", path.to_string_lossy().replace('\'', r"'\''"));
    match known {
        [] => format!("no ledger is here yet, and a new id is made: rm -r {file}"),
        [only] => format!("put the id back, so that its halts are kept: rm -rf {file}; echo {only} > {file}"),
        several => format!(
            "put this clone's id back into {file}: the last part of one of the {} names that \
             `git for-each-ref {REF_PREFIX}` shows",
            several.len()
        ),
    }
}
