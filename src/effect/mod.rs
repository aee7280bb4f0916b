//! Carries a plan out: the only place with side effects on files, ledger and journal.
//!
//! Rank 3. The order of a plan is kept, and the first failure ends it: a face that could not be written leaves no
//! ledger entry behind, so the halt is found again at the next hook.

mod andon_dir;
pub mod capture;
mod consult;
mod files;
pub mod hook_program;
pub mod install;
pub mod interrupt;
pub mod private;
pub mod program;
pub mod react;
pub mod report_files;

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

pub use self::andon_dir::{ANDON_DIR, AndonDir, Look};
pub use self::files::{replace_text, write_andon_file};
use crate::domain::action::Action;
use crate::domain::decision::{Halt, HaltEvidence, LedgerEvent, StandingHalt};
use crate::domain::detail::Figures;
use crate::domain::time::Timestamp;
use crate::git::{Repo, stop_point};
use crate::ledger::{Ledger, LedgerError};
use crate::record::RecordError;
use crate::record::journal::{Journal, JournalLine};
use crate::report::escape::shell_quote;
use crate::report::face::{self, AckMode};

/// Where actions take effect.
pub struct Site<'a> {
    /// The repository.
    pub repo: &'a Repo,
    /// `.andon/`; `None` in a bare repository, where no face is written.
    pub andon_dir: Option<AndonDir>,
    /// How a halt is answered here; the face says so.
    pub ack: AckMode,
    /// The time of this process.
    pub at: Timestamp,
}

/// An action that failed.
#[derive(Debug, thiserror::Error)]
pub enum ActionError {
    /// A file could not be written or removed.
    #[error("cannot {what} {}: {source}", path.display())]
    File {
        /// "write" or "remove".
        what: &'static str,
        /// Which file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The ledger could not be written.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// The journal could not be written.
    #[error(transparent)]
    Record(#[from] RecordError),
}

impl ActionError {
    /// The exact command that mends it, where there is one.
    pub fn help(&self) -> Option<String> {
        match self {
            Self::File { what, path, source } => Some(file_help(what, path, source.kind())),
            Self::Ledger(err) => err.help(),
            Self::Record(err) => err.help(),
        }
    }
}

fn file_help(what: &str, path: &Path, kind: ErrorKind) -> String {
    let dir = path.ancestors().find(|at| at.ends_with(ANDON_DIR));
    // What stands where the directory should be: a file, or a link, wherever it leads.
    let in_the_way = dir.filter(|dir| dir.symlink_metadata().is_ok_and(|found| !found.is_dir()));
    match (in_the_way, kind) {
        (Some(dir), _) => {
            format!("{0} must be a directory: mv {0} {0}.old", shell_quote(&dir.to_string_lossy()))
        }
        (None, ErrorKind::IsADirectory) => format!("rm -r {}", shell_quote(&path.to_string_lossy())),
        (None, _) => format!("check the permissions of the file to {what} and the space on its disk"),
    }
}

/// Carries out a plan in order.
pub fn execute(plan: &[Action], site: &Site<'_>) -> Result<(), ActionError> {
    plan.iter().try_for_each(|action| one(action, site))
}

fn one(action: &Action, site: &Site<'_>) -> Result<(), ActionError> {
    match action {
        Action::WriteFace { halt, story } => {
            if site.andon_dir.is_some() {
                write_andon_file(site, halt.face.file_name(), &face::render(halt, story, site.ack))?;
            }
            stop_point::pass("halt:shown");
        }
        Action::RecordHalt(halt) => {
            let halt = Halt { beside: site.repo.worktrees_beside(), ..(**halt).clone() };
            let id = Ledger::open(site.repo).append(&LedgerEvent::Halted(Box::new(halt.clone())), site.at)?;
            stop_point::pass("halt:kept");
            // Outside of its own ref at once: taking the ref away must show.
            let (evidence, figures) = (HaltEvidence::default(), Figures::Untold);
            let halt = Halt { evidence, figures, suggested_actions: Vec::new(), beside: Vec::new(), ..halt };
            let line = JournalLine::Halt(Box::new(StandingHalt { id, halt }));
            Journal::open(site.repo.git_dir()).append(&line)?;
            stop_point::pass("halt:told");
        }
        Action::RecordAck(ack) => {
            // The journal first: with only the ledger entry written, the window would not start anew.
            Journal::open(site.repo.git_dir()).append(&JournalLine::Ack(ack.clone()))?;
            stop_point::pass("ack:told");
            Ledger::open(site.repo).append(&LedgerEvent::Acknowledged(ack.clone()), site.at)?;
            stop_point::pass("ack:kept");
        }
        Action::RemoveFace(face) => {
            remove(site, face.file_name())?;
            stop_point::pass("ack:cleared");
        }
        Action::RemoveStops => {
            for name in ["STOP", "PAUSE"] {
                remove(site, name)?;
            }
        }
    }
    Ok(())
}

fn remove(site: &Site<'_>, name: &str) -> Result<(), ActionError> {
    let Some(dir) = &site.andon_dir else { return Ok(()) };
    dir.remove(name).map_err(|err| files::error("remove", &dir.path().join(name), err))
}
