//! Puts Andon's hooks into a hooks directory and takes them out again.
//!
//! It is careful because hooks are other people's programs. What was there is kept byte for byte and still
//! runs, a failure half way leaves nothing behind, and uninstalling removes only what is certainly ours.
//! Looking ([`inspect`]), deciding ([`plan`]) and doing ([`steps`]) are apart, so that `doctor` can look
//! with the same eyes and every decision has its test.

pub mod clients;
pub mod edits;
pub mod forward;
pub mod framework;
pub mod husky;
pub mod inspect;
pub mod lefthook;
pub mod managers;
pub mod manifest;
pub mod mode;
pub mod plan;
pub mod shim;
pub mod start_lines;
pub mod steps;

use std::io;
use std::path::{Path, PathBuf};

use testreport::WordList;

use self::plan::Conflict;
use andon_core::domain::hint::Hint;
use andon_git::GitError;

/// The list of `words.txt` with that name.
const fn words(list: &str) -> WordList {
    WordList::section(include_str!("words.txt"), list)
}

/// Hooks could not be installed or removed. Nothing was changed, unless it says so.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    #[error(transparent)]
    Git(#[from] GitError),
    /// The place for hooks is no directory: hooks are switched off.
    #[error("the hooks path {} is not a directory, so git runs no hooks; {}", dir.display(), Hint::HooksPathOrigin)]
    NoDirectory { dir: PathBuf },
    /// The disk would not have it.
    #[error("cannot {verb} {}: {source}", path.display())]
    Io {
        /// The verb of what was tried, such as `write`.
        verb: &'static str,
        /// The file or directory that it was tried on.
        path: PathBuf,
        source: io::Error,
    },
    /// Files that are not ours to decide about.
    #[error("{}", list(conflicts))]
    Conflicts {
        /// Every hook that is in the way.
        conflicts: Vec<Conflict>,
    },
    /// A file that is not touched, whatever is in it.
    #[error("{} is left alone: {why}; nothing was changed", path.display())]
    LeftAlone {
        /// The path of the file.
        path: PathBuf,
        /// The reason, as a clause.
        why: &'static str,
    },
    /// A file of a hook manager that cannot be edited safely.
    #[error("{} cannot be edited safely: {why}; nothing was changed", path.display())]
    ByHand {
        /// The file of the manager.
        path: PathBuf,
        /// The reason, as the end of a sentence.
        why: String,
        /// The lines that a person adds.
        lines: String,
    },
    /// A person's own file in the place of ours.
    #[error("{} is a file of your own; nothing was changed", path.display())]
    Theirs {
        /// The path of the file.
        path: PathBuf,
        /// The line that makes it do as ours does, where there is one.
        line: Option<String>,
    },
    /// Settings of an agent's client that cannot be read.
    #[error("{}{}: {why}; nothing was changed", path.display(), line.map_or_else(String::new, |line| format!(":{line}")))]
    Settings {
        /// The settings file.
        path: PathBuf,
        /// From 1, where a line is meant.
        line: Option<usize>,
        /// The mistake, as a clause.
        why: String,
    },
    /// The file is no manifest of an installation, or one of a newer version.
    #[error(
        "{} is no install manifest ({why}); move it away: uninstalling then goes by the hooks themselves",
        path.display()
    )]
    Manifest {
        path: PathBuf,
        /// The mistake, with line and column.
        why: String,
    },
    /// Something failed, and so did part of the way back.
    #[error("{cause}; undoing what was done so far failed too, look at: {}", paths(left))]
    HalfUndone {
        /// The failure after which everything was to be taken back.
        cause: Box<InstallError>,
        /// The changes that could not be undone.
        left: Vec<PathBuf>,
    },
}

impl InstallError {
    fn io(verb: &'static str, path: &Path, source: io::Error) -> Self {
        Self::Io { verb, path: path.to_owned(), source }
    }
}

fn list(conflicts: &[Conflict]) -> String {
    conflicts.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

fn paths(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
}
