//! The halt that stands in this worktree, and whether a person has answered it.
//!
//! The ledger says what was halted; the files under `.andon/` say whether someone answered. A face is written
//! before its ledger entry, so a missing face always means that somebody removed it.

use std::io;

use super::context::Context;
use super::error::OpsError;
use super::healed;
use super::shown;
use super::workspace::Workspace;
use crate::action::{self, Site};
use crate::config::Ack as AckMode;
use crate::detect::{Presence, Stops};
use crate::domain::action::Action;
use crate::domain::decision::StandingHalt;
use crate::domain::facts::{Ack, AckHow};
use crate::domain::findings::{Face, HaltReason};
use crate::ledger::Ledger;
use crate::report::face;

/// File that stops the loop (`autonomous-loop-rules.md`, manual override).
pub const STOP_FILE: &str = "STOP";
/// File that pauses it.
pub const PAUSE_FILE: &str = "PAUSE";

/// Looks for `.andon/STOP` and `.andon/PAUSE`.
pub fn stops(ws: &Workspace) -> Stops {
    let look = |name: &str| {
        let there = ws.andon_dir().is_some_and(|dir| dir.join(name).symlink_metadata().is_ok());
        if there { Presence::Present } else { Presence::Absent }
    };
    Stops { stop: look(STOP_FILE), pause: look(PAUSE_FILE) }
}

/// The halt that stands here, whether or not it was answered by deleting its file: of this worktree, or of another
/// clone at a commit that HEAD builds on. Of several the newest, so that all clones name the same.
pub fn recorded(ws: &Workspace) -> Result<Option<StandingHalt>, OpsError> {
    let ledger = Ledger::open(&ws.repo);
    let own = ledger.standing(&ws.repo.worktree_name())?;
    let other = ledger.standing_elsewhere(ws.repo.head()?.commit())?;
    Ok(own.into_iter().chain(other).max_by_key(|found| (found.halt.at, found.id)))
}

/// Whether a file that shows the halt is still there. Only one that is known to be gone is not: when `.andon` is
/// no directory any more, nobody has answered.
pub fn face_present(ws: &Workspace, face: Face) -> bool {
    ws.face_path(face).is_some_and(|path| match path.symlink_metadata() {
        Ok(_) => true,
        Err(err) => err.kind() != io::ErrorKind::NotFound,
    })
}

/// Whether the files say that a person answered.
pub fn answered_by_deletion(ws: &Workspace, standing: &StandingHalt) -> bool {
    if ws.andon_dir().is_none() || ws.config.guard.ack != AckMode::Delete {
        return false;
    }
    // What another clone's halt looks like here is only known once it was shown.
    if Ledger::open(&ws.repo).is_elsewhere(standing.id).unwrap_or(true) {
        return shown::was(ws, standing.id) && !face_present(ws, standing.halt.face);
    }
    if standing.halt.reason == HaltReason::UserStop {
        stops(ws) == Stops::NONE
    } else {
        !face_present(ws, standing.halt.face)
    }
}

/// The halt that binds now, and what failed on the way.
#[derive(Debug, Default)]
pub struct Resolved {
    /// The halt.
    pub halt: Option<StandingHalt>,
    /// What could not be recorded or shown. The halt binds all the same.
    pub failed: Option<OpsError>,
}

/// The halt that binds now. An answer by deletion is recorded on the way; with `guard.ack = "resume"` a
/// deleted file comes back instead. What cannot be recorded is no answer, and a face that cannot be written
/// frees nobody: otherwise making `.andon/` unwritable would be a way around the guard.
pub fn resolve(ctx: &Context, ws: &Workspace) -> Result<Resolved, OpsError> {
    let Some(standing) = recorded(ws)? else { return Ok(Resolved::default()) };
    let failed = if answered_by_deletion(ws, &standing) {
        match acknowledge(ctx, ws, Answer::Loop(Some(&standing)), AckHow::FileDeleted, "") {
            Ok(()) => return Ok(Resolved::default()),
            Err(err) => Some(err),
        }
    } else if ws.andon_dir().is_some() && !face_present(ws, standing.halt.face) {
        show_again(ctx, ws, &standing).err()
    } else {
        None
    };
    Ok(Resolved { halt: Some(standing), failed })
}

fn show_again(ctx: &Context, ws: &Workspace, standing: &StandingHalt) -> Result<(), OpsError> {
    let story = super::timeline::load(ws)?.timeline.story();
    let rewrite = Action::WriteFace { halt: Box::new(standing.halt.clone()), story: Box::new(story) };
    action::execute(&[rewrite], &site(ctx, ws))?;
    if Ledger::open(&ws.repo).is_elsewhere(standing.id)? {
        shown::mark(ws, standing.id)?;
    }
    Ok(())
}

/// What an acknowledgement answers.
#[derive(Debug, Clone, Copy)]
pub enum Answer<'a> {
    /// The halt that stands, or none: the window starts anew.
    Loop(Option<&'a StandingHalt>),
    /// One counter, and the halt that it made: the window goes on.
    Counter(&'a str, Option<&'a StandingHalt>),
}

/// Records an acknowledgement and clears the files that it answers.
pub fn acknowledge(
    ctx: &Context,
    ws: &Workspace,
    answer: Answer<'_>,
    how: AckHow,
    reason: &str,
) -> Result<(), OpsError> {
    let (halt, counter) = match answer {
        Answer::Loop(halt) => (halt, None),
        Answer::Counter(counter, halt) => (halt, Some(counter)),
    };
    let ack = Ack {
        halt: halt.map(|halt| halt.id),
        counter: counter.map(str::to_owned),
        by: ctx.identity(&ws.repo),
        how,
        agent: ctx.actor().marker.map(str::to_owned),
        reason: reason.to_owned(),
        head: ws.repo.head()?.commit(),
        worktree: ws.repo.worktree_name(),
        at: ctx.now,
    };
    let mut plan = vec![Action::RecordAck(Box::new(ack))];
    match (counter, halt) {
        (None, _) => plan.extend(Face::ALL.map(|(face, _)| Action::RemoveFace(face))),
        (Some(_), Some(halt)) => plan.push(Action::RemoveFace(halt.halt.face)),
        (Some(_), None) => {}
    }
    if how == AckHow::Resume && counter.is_none() {
        plan.push(Action::RemoveStops);
    }
    action::execute(&plan, &site(ctx, ws))?;
    healed::locks(ctx, ws)
}

/// Removes faces that a resume which died after its answer left; whether there were any.
pub fn leftover(ctx: &Context, ws: &Workspace) -> Result<bool, OpsError> {
    let there = |face: &Face| ws.andon_dir().is_some() && face_present(ws, *face);
    let left: Vec<Face> = Face::ALL.map(|(face, _)| face).into_iter().filter(there).collect();
    if left.is_empty() {
        return Ok(false);
    }
    let plan: Vec<Action> = left.into_iter().map(Action::RemoveFace).collect();
    action::execute(&plan, &site(ctx, ws))?;
    healed::tell(ctx, ws, "removed the face of a halt that was answered already".to_owned())?;
    Ok(true)
}

/// Where actions take effect.
pub fn site<'a>(ctx: &Context, ws: &'a Workspace) -> Site<'a> {
    let ack = match ws.config.guard.ack {
        AckMode::Delete => face::AckMode::Delete,
        AckMode::Resume => face::AckMode::Resume,
    };
    Site { repo: &ws.repo, andon_dir: ws.andon_dir(), ack, at: ctx.now }
}
