//! Carries a plan out: the only place with side effects on files, ledger and journal.
//!
//! The order of a plan is kept, and the first failure of an effect that must be ends it: a report file that could not
//! be written leaves no ledger entry behind, so the halt is found again at the next hook. The failure of another is
//! reported, and the rest continues.

mod andon_dir;
pub mod best_effort;
pub mod consult;
pub mod dependencies;
pub mod files;
pub mod hook_program;
pub mod interrupt;
pub mod program;
pub mod report_files;

pub use self::hook_program::{ChainedEnd, HookProgramError, Probe};
pub use self::{
    andon_dir::*, consult::ConsultOutput, dependencies::*, files::*, interrupt::*, program::*,
    report_files::*,
};

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::text::{Forge, Style, report_file, shown_change};
use andon_config::Response;
use andon_core::domain::{
    AckMode, CommitId, Effect, Figures, Halt, HaltEvidence, HaltReach, Hint, LedgerEvent, StandingHalt,
    Timestamp,
};
use andon_core::escape::shell_quote;
use andon_git::{Repo, platform::test_seam::stop_point};
use andon_store::{Journal, JournalLine, Ledger, LedgerError, RecordError};

/// The place where effects are carried out.
pub struct Site<'a> {
    /// The repository whose ledger and journal are written.
    pub repo: &'a Repo,
    /// `.andon/`; `None` in a bare repository, where no report file is written.
    pub andon_dir: Option<AndonDir>,
    /// The way to answer a halt here, for the report file.
    pub ack: AckMode,
    /// The style of times in files.
    pub style: Style,
    /// The programs of the user that effects start, and the bell of a notice.
    pub response: &'a Response,
    /// The transcript of the agent, when the environment names one.
    pub transcript: Option<PathBuf>,
    /// The time of this process.
    pub at: Timestamp,
}

/// An effect that failed.
#[derive(Debug, thiserror::Error)]
pub enum EffectError {
    /// A file could not be written or removed.
    #[error("cannot {what} {}: {source}", path.display())]
    File { what: &'static str, path: PathBuf, source: std::io::Error },
    /// The ledger could not be written.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// The journal could not be written.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// A program of the user, or what is made for one.
    #[error("{0}")]
    Response(String),
}

impl EffectError {
    /// The exact command that repairs it, where there is one.
    pub fn help(&self) -> Option<String> {
        match self {
            Self::File { what, path, source } => Some(file_help(what, path, source.kind())),
            Self::Ledger(err) => err.help(),
            Self::Record(err) => err.help(),
            Self::Response(_) => None,
        }
    }
}

fn file_help(what: &str, path: &Path, kind: ErrorKind) -> String {
    let dir = path.ancestors().find(|at| at.ends_with(ANDON_DIR));
    // Something else is in the place of the directory: a file, or a link to anywhere.
    let in_the_way = dir.filter(|dir| dir.symlink_metadata().is_ok_and(|found| !found.is_dir()));
    match (in_the_way, kind) {
        (Some(dir), _) => Hint::DirectoryInTheWay.with([&shell_quote(&dir.to_string_lossy())]),
        // Never a command that deletes: the path may be one that a person mistyped, such as `/`.
        (None, ErrorKind::IsADirectory) if dir.is_some() => {
            Hint::FileInTheWay.with([&shell_quote(&path.to_string_lossy())])
        }
        (None, ErrorKind::IsADirectory) => "name a file in that directory instead".to_owned(),
        (None, ErrorKind::NotFound) if path.parent().is_some_and(Path::is_dir) => {
            "name a file in a directory that can be written to".to_owned()
        }
        (None, ErrorKind::NotFound) => {
            Hint::MakeDirectory.with([&shell_quote(&path.parent().unwrap_or(path).to_string_lossy())])
        }
        (None, _) => format!("check the permissions of the file to {what} and the space on its disk"),
    }
}

/// Carries out a plan in order. Gives what failed of the effects that are done as well as they can be.
pub fn carry_out(plan: &[Effect], site: &Site<'_>) -> Result<Vec<String>, EffectError> {
    let mut failed = Vec::new();
    for effect in plan {
        match one(effect, site) {
            Err(err) if effect.is_needed() => return Err(err),
            ended => failed.extend(ended.err().map(|err| err.to_string())),
        }
    }
    Ok(failed)
}

fn one(effect: &Effect, site: &Site<'_>) -> Result<(), EffectError> {
    if !effect.is_needed() && site.andon_dir.is_none() {
        return Ok(());
    }
    match effect {
        Effect::WriteReportFile { halt, story } => {
            if site.andon_dir.is_some() {
                let text = report_file::render(halt, story, &material(halt, site), site.ack, site.style);
                write_andon_file(site, halt.report_file.file_name(), &text)?;
            }
            stop_point("halt:shown");
        }
        Effect::RecordHalt(halt) => record_halt(halt, site)?,
        Effect::RecordAck(ack) => {
            // The journal first: with only the ledger entry written, no new window would start.
            Journal::open(site.repo.git_dir()).append(&JournalLine::Ack(ack.clone()))?;
            stop_point("ack:told");
            Ledger::open(site.repo).append(&LedgerEvent::Acknowledged(ack.clone()), site.at)?;
            stop_point("ack:kept");
        }
        Effect::RemoveReportFile(report_file) => {
            remove(site, report_file.file_name())?;
            stop_point("ack:cleared");
        }
        Effect::RemoveStop(file) => remove(site, file)?,
        Effect::Handoff(handoff) => best_effort::write_handoff(handoff, site)?,
        Effect::Marker(halt) => best_effort::mark(halt, site)?,
        Effect::Pause(halt) => best_effort::pause(halt, site)?,
        Effect::Notify(notice) => best_effort::notify(notice, site)?,
        Effect::Ask(question) => best_effort::ask(question, site)?,
        Effect::Start(start) => best_effort::start_program(start, site)?,
        Effect::Brief(briefing) => best_effort::write_briefing(briefing, site)?,
    }
    Ok(())
}

/// The part of the report file that is read from the repository; whatever cannot be read is left out.
fn material(halt: &Halt, site: &Site<'_>) -> report_file::ReportSources {
    let is_first = || site.andon_dir.as_ref().is_some_and(|dir| dir.size(best_effort::NOTICES).is_none());
    report_file::ReportSources {
        plan: files::plan(site.repo),
        change: shown_change::of_halt(site.repo, halt).ok().flatten(),
        forge: Forge::of_remote(site.repo, halt.head.as_slice()),
        calls_nobody: site.response.notify.is_none() && is_first(),
    }
}

/// The ledger first, and enough of it to bind into the journal.
fn record_halt(halt: &Halt, site: &Site<'_>) -> Result<(), EffectError> {
    // A run that made no commit here has none: the one at HEAD is of others, and nobody is halted by standing there.
    let here = site.repo.worktree_mark();
    let made_here = |head: CommitId| {
        let attempts = Journal::of_attempts(site.repo.common_dir()).attempts();
        attempts.iter().any(|made| made.commit == head && made.worktree == here)
    };
    let has_own = halt.binds == HaltReach::Line || halt.head.is_some_and(made_here);
    let base = if has_own { halt.base } else { halt.head };
    let halt = Halt { base, beside: site.repo.worktrees_beside(), ..halt.clone() };
    let id = Ledger::open(site.repo).append(&LedgerEvent::Halted(Box::new(halt.clone())), site.at)?;
    stop_point("halt:kept");
    // Outside of its own ref at once: taking the ref away must show.
    let (evidence, figures) = (HaltEvidence::default(), Figures::Unreported);
    let (summary, suggested_actions, beside) = (Box::default(), Vec::new(), Vec::new());
    let halt = Halt { evidence, figures, summary, suggested_actions, beside, ..halt };
    let line = JournalLine::Halt(Box::new(StandingHalt { id, halt }));
    Journal::open(site.repo.git_dir()).append(&line)?;
    stop_point("halt:told");
    Ok(())
}

fn remove(site: &Site<'_>, name: &str) -> Result<(), EffectError> {
    let Some(dir) = &site.andon_dir else { return Ok(()) };
    dir.remove(name).map_err(|err| files::error("remove", &dir.path().join(name), err))
}
