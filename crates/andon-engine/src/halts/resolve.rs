//! The halt that binds now, once the answers of people are taken up: by the files of `.andon/`, or by a signature. A deletion is an
//! answer where a person made it. One that is first seen in the shell of an agent, or while the hooks of a client are live, answers
//! nothing, and the file comes back.
//!
//! A report file is written before its ledger entry, so a missing report file always means that it was removed.

use std::fs::{self, OpenOptions};
use std::{io::Write as _, path::PathBuf};

use super::stops::{STOP_FILE, clear_pause, named_by, report_file, stops};
use super::{Answer, BoundBy, Standing, answer::acknowledge};
use crate::effect::{self, EffectError, files};
use crate::{Context, OpsError, Result, Workspace, asking, context, recording};
use andon_core::detect::{self, Stops};
use andon_core::domain::{
    AckHow, AckMode, Diagnostic, Effect, EntryId, Halt, HaltReason, Hint, Presence, StandingHalt,
};
use andon_store::{GuardSnapshot, Ledger, RecordError};

/// An error when something else than a directory of ours is in the place of `.andon`: an action on files there would
/// happen somewhere else.
pub fn check_directory(ws: &Workspace) -> Result<()> {
    let Some(dir) = ws.andon_dir() else { return Ok(()) };
    let what = "look into";
    dir.check().map_err(|source| EffectError::File { what, path: dir.path(), source }.into())
}

/// True where the files say that a person answered.
pub fn answered_by_deletion(ctx: &Context, ws: &Workspace, standing: &Standing) -> bool {
    is_deleted(ws, standing) && unheard(ctx, ws, &standing.halt.halt).is_none()
}

/// True where a file is gone by whose deletion a person may answer.
fn is_deleted(ws: &Workspace, Standing { halt: standing, bound_by }: &Standing) -> bool {
    let StandingHalt { id, halt } = standing;
    let asks_other = ws.config.guard.ack != AckMode::Delete || asking::asks_signature(ws, standing).is_some();
    if ws.andon_dir().is_none() || asks_other || is_folder_gone(ws) {
        return false;
    }
    let is_gone = || report_file(ws, halt.report_file) == Presence::Absent;
    match bound_by {
        BoundBy::Sibling | BoundBy::Clone => was_shown(ws, *id) && is_gone(),
        // The entry is gone from this clone's ledger, and the files with it: that is no answer.
        BoundBy::Trace => false,
        BoundBy::Worktree if halt.rule == detect::USER_STOP.id => stops(ws) == Stops::NONE,
        BoundBy::Worktree => is_gone(),
    }
}

/// True where the halt happened in this worktree of this clone, whatever has become of its ledger.
fn made_here(ws: &Workspace, standing: &Standing) -> Result<bool> {
    let here = standing.halt.halt.worktree == ws.repo.worktree_name();
    let is_own = || Ledger::open(&ws.repo).is_own(standing.halt.id);
    Ok(!standing.bound_by.is_foreign() || here && is_own()? == Some(true))
}

/// The halt that binds now, and what failed on the way.
#[derive(Debug, Default)]
pub struct HaltResolution {
    /// The unanswered halt, if any.
    pub halt: Option<StandingHalt>,
    /// An error in recording or showing it. The halt binds all the same.
    pub failed: Option<OpsError>,
    /// Notes on what was done on the way.
    pub notes: Vec<Diagnostic>,
}

/// The halt that binds now. An answer by deletion is recorded on the way; with `guard.ack = "resume"` a deleted file
/// comes back instead. What cannot be recorded is no answer, and a report file that cannot be written ends no halt:
/// otherwise making `.andon/` unwritable would be a way around the guard.
pub fn resolve(ctx: &Context, ws: &Workspace) -> Result<HaltResolution> {
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
    let deleted = is_deleted(ws, &found).then(|| unheard(ctx, ws, &standing.halt));
    let failed = if deleted == Some(None) {
        let reason = if notes.is_empty() { "" } else { "perpetual mode: PAUSE was cleared" };
        let answer = Answer { halt: Some(standing), ..Answer::default() };
        match acknowledge(ctx, ws, answer, AckHow::FileDeleted, reason) {
            Ok(()) => {
                notes.push(answered_note(standing));
                return Ok(HaltResolution { notes, ..HaltResolution::default() });
            }
            Err(err) => Some(err),
        }
    } else if let Some(Some(place)) = &deleted {
        notes.push(unheard_note(standing, place));
        show_again(ctx, ws, &found).err()
    } else if ws.andon_dir().is_some() && report_file(ws, standing.halt.report_file) == Presence::Absent {
        // A halt of another worktree or clone: the folder may never have been here.
        if made_here(ws, &found)? || was_shown(ws, standing.id) {
            notes.extend(folder_remark(ctx, ws, standing));
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
pub fn keep_shown(ctx: &Context, ws: &Workspace) -> Result<()> {
    let Some(found) = super::standing(ws)?.filter(|found| is_deleted(ws, found)) else { return Ok(()) };
    if unheard(ctx, ws, &found.halt.halt).is_none() { Ok(()) } else { show_again(ctx, ws, &found) }
}

/// The deletion of the file that shows a halt, in words.
fn deleting(halt: &Halt) -> String {
    if halt.reason == HaltReason::UserStop {
        "removing .andon/STOP or .andon/PAUSE".to_owned()
    } else {
        format!("deleting .andon/{}", halt.report_file.file_name())
    }
}

/// A warning that the halt is still open.
fn unheard_note(standing: &StandingHalt, place: &str) -> Diagnostic {
    let how = deleting(&standing.halt);
    let what = format!("{how} {place} does not answer the halt; the file was restored");
    Diagnostic::warning(what).help(Hint::Answer.led("a person answers"))
}

/// A note that a halt was answered without a word: shown once, at the next commit.
fn answered_note(standing: &StandingHalt) -> Diagnostic {
    let StandingHalt { halt, .. } = standing;
    let how = deleting(halt);
    let at = context::local(halt.at);
    Diagnostic::note(format!("the halt of {at} ({}) was answered by {how}", halt.rule)).code("answered-halt")
}

/// Takes up the answer of a witness to a halt that asks for one; whether there was one for this code.
fn by_witness(ctx: &Context, ws: &Workspace, standing: &StandingHalt) -> Result<bool> {
    let Some(ledger) = asking::asks_signature(ws, standing) else { return Ok(false) };
    let Some(answer) = asking::ledger_answer(ws, ledger, standing.id)? else { return Ok(false) };
    if let Some(what) = asking::unfit(ws, &answer, standing)? {
        let help = Hint::ResolveHalt.led("put the code back that was halted, or");
        return Err(OpsError::refused(what, help));
    }
    let lifts = &named_by(ws, standing)?;
    let given = Answer { halt: Some(standing), witness: Some(&answer), lifts, ..Answer::default() };
    acknowledge(ctx, ws, given, AckHow::Signed, &answer.rationale)?;
    Ok(true)
}

fn show_again(ctx: &Context, ws: &Workspace, Standing { halt, bound_by }: &Standing) -> Result<()> {
    let StandingHalt { id, halt } = halt;
    let story = recording::timeline::load(ws)?.timeline.story();
    let rewrite = Effect::WriteReportFile { halt: Box::new(halt.clone()), story: Box::new(story) };
    effect::carry_out(&[rewrite], &ws.site(ctx))?;
    if bound_by.is_foreign() {
        mark_shown(ws, *id)?;
    } else if halt.reason == HaltReason::UserStop && stops(ws) == Stops::NONE {
        // The file of a stop is gone and that is no answer: it must not look like one once the ledger is whole again.
        put_back(ctx, ws, halt, "")?;
    }
    Ok(())
}

/// Writes the files again that a stop by hand names.
fn put_back(ctx: &Context, ws: &Workspace, halt: &Halt, why: &str) -> Result<()> {
    let mut named = detect::named_stops(&halt.message).files();
    if named.is_empty() && halt.rule == detect::USER_STOP.id {
        named.push(STOP_FILE);
    }
    for file in named {
        effect::write_andon_file(&ws.site(ctx), file, &format!("{}\n{why}", halt.message))?;
    }
    Ok(())
}

/// The reason for which a deletion that this process sees is no answer to `halt`; `None` where a person may have meant it.
fn unheard(ctx: &Context, ws: &Workspace, halt: &Halt) -> Option<String> {
    if GuardSnapshot::read(ws.repo.git_dir()).is_some_and(|kept| kept.is_live()) {
        return Some("while a client's turn goes on".to_owned());
    }
    if is_hook_of_a_client(ctx) {
        // A file by which a person stopped the loop is theirs to take away; in a call of a tool it would be back by now.
        let by_hand = halt.reason == HaltReason::UserStop;
        return (!by_hand).then(|| "before a client's hook".to_owned());
    }
    ctx.agent_above(&ws.repo).map(|mark| format!("in the shell of an agent ({mark})"))
}

fn is_hook_of_a_client(ctx: &Context) -> bool {
    let mut words = ctx.args.iter().skip(1);
    words.next().is_some_and(|verb| verb == "agent") && words.next().is_some_and(|verb| verb == "hook")
}

/// True where `.andon/` is gone as a whole: `git clean -fdx`, `git stash --all` and similar commands remove it without any intent to
/// answer a halt. Only a file that is gone from the folder is an answer.
fn is_folder_gone(ws: &Workspace) -> bool {
    let gone = |err: std::io::Error| err.kind() == std::io::ErrorKind::NotFound;
    ws.andon_dir().is_some_and(|dir| dir.path().symlink_metadata().err().is_some_and(gone))
}

/// Says why the halt is still unanswered, and keeps that in the journal; a stop by hand gets its file again, because
/// the absence of the file would be its answer at the next hook.
fn folder_remark(ctx: &Context, ws: &Workspace, standing: &StandingHalt) -> Option<Diagnostic> {
    if !is_folder_gone(ws) {
        return None;
    }
    let place = match ctx.actor().marker {
        Some(marker) => format!(" (first seen in the shell of an agent: {marker} is set)"),
        None => String::new(),
    };
    let what = format!("deleting .andon/ does not answer the halt{place}; the report was restored");
    let mut failed = recording::tell_repair(ctx, ws, what.clone()).err();
    if standing.halt.reason == HaltReason::UserStop {
        let why = format!("written again at {}: .andon/ was deleted as a whole\n", ctx.now);
        failed = failed.or(put_back(ctx, ws, &standing.halt, &why).err());
    }
    let remark = Diagnostic::warning(what).help(Hint::Answer.led("a person answers"));
    Some(match failed {
        Some(err) => remark.help(err.to_string()),
        None => remark,
    })
}

/// Most bytes that are read: some thousand halts.
const MAX_SHOWN: u64 = 1 << 18;

/// The halts of other clones that this worktree has shown, an entry id a line. A missing report file means a deletion only where the
/// file was written before. For a halt of this worktree that is always so; a halt that came by a sync has no report file until it is
/// written here.
fn shown_file(ws: &Workspace) -> PathBuf {
    ws.repo.git_dir().join("andon").join("shown")
}

/// True where the report file of `halt` was written here.
fn was_shown(ws: &Workspace, halt: EntryId) -> bool {
    let shown = files::beginning(&shown_file(ws), MAX_SHOWN).unwrap_or_default();
    let halt = halt.to_string();
    shown.split(|byte| *byte == b'\n').any(|line| line == halt.as_bytes())
}

/// Remembers that the report file of `halt` was written here.
fn mark_shown(ws: &Workspace, halt: EntryId) -> Result<()> {
    if was_shown(ws, halt) {
        return Ok(());
    }
    let path = shown_file(ws);
    let write = || {
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        OpenOptions::new().append(true).create(true).open(&path)?.write_all(format!("{halt}\n").as_bytes())
    };
    write().map_err(|source| RecordError::Io { doing: "append to", path: path.clone(), source }.into())
}
