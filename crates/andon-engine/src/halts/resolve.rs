//! Whether a person has answered since, by the files of `.andon/` or by a signature.
//!
//! A report file is written before its ledger entry, so a missing report file always means that it was removed.

use super::answer::{Answer, acknowledge};
use super::shown_halts::{self, report_file_present};
use super::stops::{STOP_FILE, clear_pause, stops};
use super::{BoundBy, Standing, deleted_folder, deletion};
use crate::asking;
use crate::context::{self, Context};
use crate::effect::{self, EffectError};
use crate::error::OpsError;
use crate::workspace::Workspace;
use andon_core::detect::Stops;
use andon_core::domain::decision::{Halt, StandingHalt};
use andon_core::domain::diagnostic::Diagnostic;
use andon_core::domain::effect::Effect;
use andon_core::domain::facts::AckHow;
use andon_core::domain::findings::HaltReason;
use andon_core::domain::response::AckMode;
use andon_store::ledger::Ledger;

/// An error when something else than a directory of ours is in the place of `.andon`: an action on files there would
/// happen somewhere else.
pub fn check_directory(ws: &Workspace) -> Result<(), OpsError> {
    let Some(dir) = ws.andon_dir() else { return Ok(()) };
    let what = "look into";
    dir.check().map_err(|source| EffectError::File { what, path: dir.path(), source }.into())
}

/// Whether the files say that a person answered.
pub fn answered_by_deletion(ctx: &Context, ws: &Workspace, standing: &Standing) -> bool {
    is_deleted(ws, standing) && deletion::unheard(ctx, ws, &standing.halt.halt).is_none()
}

/// Whether a file is gone by whose deletion a person may answer.
fn is_deleted(ws: &Workspace, Standing { halt: standing, bound_by }: &Standing) -> bool {
    let StandingHalt { id, halt } = standing;
    let asks_other = ws.config.guard.ack != AckMode::Delete || asking::asks_signature(ws, standing).is_some();
    if ws.andon_dir().is_none() || asks_other || deleted_folder::is(ws) {
        return false;
    }
    let is_gone = || !report_file_present(ws, halt.report_file);
    match bound_by {
        BoundBy::Sibling | BoundBy::Clone => shown_halts::was(ws, *id) && is_gone(),
        // The entry is gone from this clone's ledger, and the files with it: that is no answer.
        BoundBy::Trace => false,
        BoundBy::Worktree if halt.reason == HaltReason::UserStop => stops(ws) == Stops::NONE,
        BoundBy::Worktree => is_gone(),
    }
}

/// Whether the halt happened in this worktree of this clone, whatever has become of its ledger.
fn made_here(ws: &Workspace, standing: &Standing) -> Result<bool, OpsError> {
    let here = standing.halt.halt.worktree == ws.repo.worktree_name();
    let is_by_this_clone = || Ledger::open(&ws.repo).is_by_this_clone(standing.halt.id);
    Ok(!standing.bound_by.is_foreign() || here && is_by_this_clone()?)
}

/// The halt that binds now, and what failed on the way.
#[derive(Debug, Default)]
pub struct HaltResolution {
    /// The unanswered halt, if any.
    pub halt: Option<StandingHalt>,
    /// What could not be recorded or shown. The halt binds all the same.
    pub failed: Option<OpsError>,
    /// What was done on the way that is worth a word.
    pub notes: Vec<Diagnostic>,
}

/// The halt that binds now. An answer by deletion is recorded on the way; with `guard.ack = "resume"` a deleted file
/// comes back instead. What cannot be recorded is no answer, and a report file that cannot be written ends no halt:
/// otherwise making `.andon/` unwritable would be a way around the guard.
pub fn resolve(ctx: &Context, ws: &Workspace) -> Result<HaltResolution, OpsError> {
    let unseen = check_directory(ws).err().map(|err| err.as_warning());
    let mut notes: Vec<Diagnostic> = clear_pause(ctx, ws).into_iter().chain(unseen).collect();
    let Some(found) = super::standing(ws)? else {
        return Ok(HaltResolution { notes, ..HaltResolution::default() });
    };
    let standing = &found.halt;
    match by_witness(ctx, ws, standing) {
        Ok(true) => return Ok(HaltResolution { notes, ..HaltResolution::default() }),
        Ok(false) => {}
        Err(failed) => return Ok(HaltResolution { halt: Some(found.halt), failed: Some(failed), notes }),
    }
    let unheard = is_deleted(ws, &found).then(|| deletion::unheard(ctx, ws, &standing.halt));
    let failed = if unheard == Some(None) {
        let reason = if notes.is_empty() { "" } else { "perpetual mode: PAUSE was cleared" };
        match acknowledge(ctx, ws, Answer::Loop(Some(standing)), AckHow::FileDeleted, reason) {
            Ok(()) => {
                notes.push(answered_note(standing));
                return Ok(HaltResolution { notes, ..HaltResolution::default() });
            }
            Err(err) => Some(err),
        }
    } else if let Some(Some(place)) = &unheard {
        notes.push(unheard_note(standing, place));
        show_again(ctx, ws, &found).err()
    } else if ws.andon_dir().is_some() && !report_file_present(ws, standing.halt.report_file) {
        // A halt of another worktree or clone: the folder may never have been here.
        if made_here(ws, &found)? || shown_halts::was(ws, standing.id) {
            notes.extend(deleted_folder::remark(ctx, ws, standing, &ws.site(ctx), STOP_FILE));
        }
        show_again(ctx, ws, &found).err()
    } else {
        None
    };
    Ok(HaltResolution { halt: Some(found.halt), failed, notes })
}

/// Shows a halt again whose file was deleted where that answers nothing: somebody only looks.
///
/// # Errors
/// The ledger cannot be read, or the file not be written.
pub fn keep_shown(ctx: &Context, ws: &Workspace) -> Result<(), OpsError> {
    let Some(found) = super::standing(ws)?.filter(|found| is_deleted(ws, found)) else { return Ok(()) };
    if deletion::unheard(ctx, ws, &found.halt.halt).is_none() { Ok(()) } else { show_again(ctx, ws, &found) }
}

/// What deletes the file that shows a halt.
fn deleting(halt: &Halt) -> String {
    if halt.reason == HaltReason::UserStop {
        "removing .andon/STOP or .andon/PAUSE".to_owned()
    } else {
        format!("deleting .andon/{}", halt.report_file.file_name())
    }
}

/// That the halt is still open.
fn unheard_note(standing: &StandingHalt, place: &str) -> Diagnostic {
    let how = deleting(&standing.halt);
    let what = format!("{how} {place} does not answer the halt; the file was restored");
    Diagnostic::warning(what).help("a person answers: andon resume --reason '<decision>'")
}

/// That a halt was answered without a word: said once, at the next commit.
fn answered_note(standing: &StandingHalt) -> Diagnostic {
    let StandingHalt { halt, .. } = standing;
    let how = deleting(halt);
    let at = context::local(halt.at);
    Diagnostic::note(format!("the halt of {at} ({}) was answered by {how}", halt.rule)).code("answered-halt")
}

/// Takes up the answer of a witness to a halt that asks for one; whether there was one for this code.
fn by_witness(ctx: &Context, ws: &Workspace, standing: &StandingHalt) -> Result<bool, OpsError> {
    let Some(ledger) = asking::asks_signature(ws, standing) else { return Ok(false) };
    let Some(answer) = asking::ledger_answer(ws, ledger, standing.id)? else { return Ok(false) };
    if let Some(what) = asking::unfit(ws, &answer, standing)? {
        let help = "put the code back that was halted, or have a witness answer for this one: andon review resolve halt";
        return Err(OpsError::refused(what, help));
    }
    acknowledge(ctx, ws, Answer::Witness(standing, &answer), AckHow::Signed, &answer.rationale)?;
    Ok(true)
}

fn show_again(ctx: &Context, ws: &Workspace, Standing { halt, bound_by }: &Standing) -> Result<(), OpsError> {
    let StandingHalt { id, halt } = halt;
    let story = crate::recording::timeline::load(ws)?.timeline.story();
    let rewrite = Effect::WriteReportFile { halt: Box::new(halt.clone()), story: Box::new(story) };
    effect::carry_out(&[rewrite], &ws.site(ctx))?;
    if bound_by.is_foreign() {
        shown_halts::mark(ws, *id)?;
    } else if halt.reason == HaltReason::UserStop && stops(ws) == Stops::NONE {
        // The file of a stop is gone and that is no answer: it must not look like one once the ledger is whole again.
        effect::write_andon_file(&ws.site(ctx), STOP_FILE, &format!("{}\n", halt.message))?;
    }
    Ok(())
}
