//! Test runs that could not be written into the git directory: some agents' shells may write the working tree alone.
//! Such a run waits below `.andon/`, where anyone could have written it, and is taken in as a handed-in test run.

use crate::{Context, Result, Workspace, effect::EffectError};
use andon_config::{HandedInRuns, TestCommand};
use andon_core::domain::{RunOrigin, RunValidity, TestRun};
use andon_store::wire::v1::{decode_line, encode_line};
use andon_store::{Journal, JournalLine};

/// The file in which a run waits.
pub const PENDING_FILE: &str = "pending-run.jsonl";
/// Most bytes that are read of it.
const MAX_PENDING: u64 = 8 << 20;

/// The place where a run was kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunDestination {
    /// Into the journal.
    InJournal,
    /// Below `.andon/`, until a hook takes it in.
    Pending,
}

/// Keeps a run: in the journal, else below `.andon/`. For a person whose git directory cannot be written, that is the
/// error.
///
/// # Errors
/// That of the journal, where neither can be written.
pub fn keep(ctx: &Context, ws: &Workspace, run: &TestRun) -> Result<RunDestination> {
    let line = JournalLine::TestRun(Box::new(run.clone()));
    let Err(error) = Journal::open(ws.repo.git_dir()).append(&line) else {
        return Ok(RunDestination::InJournal);
    };
    let waits = Journal::open(ws.repo.git_dir()).denied().is_some() && ctx.actor().marker.is_some();
    let Some(dir) = ws.andon_dir().filter(|_| waits) else { return Err(error.into()) };
    let written = dir.replace(PENDING_FILE, encode_line(&line).as_bytes());
    written.map(|_| RunDestination::Pending).map_err(|_| error.into())
}

/// Takes in the run that waits, if one does. Anything that is no test run is removed silently.
///
/// # Errors
/// The line cannot be written, or its file not be removed.
pub fn take_in(ws: &Workspace) -> Result<Option<JournalLine>> {
    let Some(dir) = ws.andon_dir().filter(|dir| dir.size(PENDING_FILE).is_some()) else { return Ok(None) };
    let text = dir.newest(PENDING_FILE, MAX_PENDING).unwrap_or_default();
    let newest = text.lines().last().and_then(|line| decode_line(line.as_bytes()).ok());
    let removed = dir.remove(PENDING_FILE);
    let what = "take in";
    removed.map_err(|source| EffectError::File { what, path: dir.path().join(PENDING_FILE), source })?;
    let Some(JournalLine::TestRun(mut run)) = newest else { return Ok(None) };
    run.evidence.origin = RunOrigin::HandedIn;
    let configured = ws.config.test.command.as_ref().map(TestCommand::display);
    run.validity = match (run.validity, ws.config.test.handed_in) {
        (RunValidity::Valid, HandedInRuns::Record) => RunValidity::HandedIn,
        (RunValidity::Valid, HandedInRuns::Count) if configured.as_ref() != Some(&run.evidence.command) => {
            RunValidity::OtherCommand
        }
        (validity, _) => validity,
    };
    let line = JournalLine::TestRun(run);
    Journal::open(ws.repo.git_dir()).append(&line)?;
    Ok(Some(line))
}
