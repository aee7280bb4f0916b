//! The unanswered halt of this worktree, and whether a person has answered it since.
//!
//! The ledger says what was halted; the files under `.andon/` say whether a person answered. A report file is written
//! before its ledger entry, so a missing report file always means that it was removed.

use std::path::PathBuf;

use super::binding_halts;
use super::context::{self, Context};
use super::deleted_folder;
use super::deletion;
use super::error::OpsError;
use super::lost_halts;
use super::repairs;
use super::settled::Settled;
use super::shown_halts;
use super::witnessing::{self, HaltAnswer};
use super::workspace::Workspace;
use crate::effect::best_effort::{OWN_PAUSE, Programs};
use crate::effect::{self, AndonDir, EffectError, Look, Site};
use crate::text::style::Style;
use andon_config::Perpetual;
use andon_core::detect::{self, Stops};
use andon_core::domain::decision::{Binds, Halt, LedgerEvent, StandingHalt};
use andon_core::domain::diagnostic::Diagnostic;
use andon_core::domain::effect::Effect;
use andon_core::domain::facts::{Ack, AckHow, HaltWas, Presence};
use andon_core::domain::findings::{HaltReason, ReportFile};
use andon_core::domain::ids::{CommitId, EntryId};
use andon_core::domain::response::{AckMode, Notice, NoticeKind};
use andon_store::ledger::Ledger;

/// File that stops the loop (docs/spec-map.md, loop rules: manual override).
pub const STOP_FILE: &str = "STOP";
/// File that pauses it.
pub const PAUSE_FILE: &str = "PAUSE";
/// Most bytes that are read of it.
const MAX_PAUSE: u64 = 4096;

/// What was answered.
#[derive(Debug)]
pub struct Resumed {
    /// The halt that stood, if one was recorded.
    pub halt: Option<StandingHalt>,
    /// Who answered.
    pub by: String,
}

/// Whether `.andon/STOP` or `.andon/PAUSE` holds the loop. In perpetual mode a PAUSE alone holds nothing: the next commit or
/// turn clears it.
pub fn stops(ws: &Workspace) -> Stops {
    let there = stop_files(ws);
    if pause_is_cleared(ws) { Stops { pause: Presence::Absent, ..there } } else { there }
}

/// Whether a PAUSE, were it there alone, would be cleared: it is only told.
pub fn pause_is_cleared(ws: &Workspace) -> bool {
    ws.config.guard.perpetual == Perpetual::Yes
}

/// Looks for `.andon/STOP` and `.andon/PAUSE`.
pub fn stop_files(ws: &Workspace) -> Stops {
    let look = |name: &str| match ws.andon_dir().map(|dir| dir.look(name)) {
        Some(Look::There) => Presence::Present,
        Some(Look::Gone | Look::Unknown) | None => Presence::Absent,
    };
    Stops { stop: look(STOP_FILE), pause: look(PAUSE_FILE) }
}

/// An error when something else than a directory of ours is in the place of `.andon`: an action on files there would
/// happen somewhere else.
pub fn check_directory(ws: &Workspace) -> Result<(), OpsError> {
    let Some(dir) = ws.andon_dir() else { return Ok(()) };
    let what = "look into";
    dir.check().map_err(|source| EffectError::File { what, path: dir.path(), source }.into())
}

/// The recorded halt without a recorded answer, even if its file was deleted: of this worktree, of another one from
/// whose run this one was made, or of any other worktree or clone at a commit that HEAD builds on. Of several it is the
/// newest, so that all clones name the same.
pub fn recorded(ws: &Workspace) -> Result<Option<StandingHalt>, OpsError> {
    recorded_at(ws, ws.repo.head()?.commit())
}

/// The same, with HEAD at `head`.
pub fn recorded_at(ws: &Workspace, head: Option<CommitId>) -> Result<Option<StandingHalt>, OpsError> {
    let ledger = Ledger::open(&ws.repo);
    let here = ledger.standing_here(&ws.repo.worktree_name())?;
    let beside = binding_halts::binding(ws, head, here.beside);
    let other = ledger.standing_elsewhere(head)?;
    // A halt in the ledger binds by itself; a gap in the ledger is only looked for where it holds none.
    let reported =
        here.own.into_iter().chain(beside).chain(other).max_by_key(|found| (found.halt.at, found.id));
    if let Some(found) = reported {
        return Ok(Some(found));
    }
    let settled = Settled::of(ws)?;
    if settled.is_known() {
        return Ok(None);
    }
    if !settled.has_lost_nothing()
        && let Some(found) = lost_halts::standing(ws, head)?
    {
        return Ok(Some(found));
    }
    let unanswered = witnessing::unanswered(ws)?;
    // What was found in a memory that only looking may trust is remembered nowhere else.
    if unanswered.is_none() && !Ledger::open(&ws.repo).is_from_memory() {
        settled.remember();
    }
    Ok(unanswered.filter(|found| concerns(ws, head, found)))
}

/// The halt of a ledger entry.
///
/// # Errors
/// The entry is no halt.
pub fn of_entry(ws: &Workspace, id: EntryId) -> Result<StandingHalt, OpsError> {
    let (entries, _) = Ledger::open(&ws.repo).read_all()?;
    let found = entries.iter().find(|entry| entry.id == id).and_then(|entry| entry.event.known());
    match found {
        Some(LedgerEvent::Halted(halt)) => Ok(StandingHalt { id, halt: (**halt).clone() }),
        Some(LedgerEvent::Acknowledged(_) | LedgerEvent::StopSwitch(_)) | None => {
            Err(OpsError::NothingToResume)
        }
    }
}

/// Whether a halt of any worktree or clone concerns work that continues from `head` here.
fn concerns(ws: &Workspace, head: Option<CommitId>, found: &StandingHalt) -> bool {
    let is_here = found.halt.worktree == ws.repo.worktree_name();
    let is_own = !Ledger::open(&ws.repo).is_elsewhere(found.id).unwrap_or(false);
    let builds_on = |halted: CommitId| {
        head.is_some_and(|head| head == halted || ws.repo.is_ancestor(halted, head).unwrap_or(false))
    };
    let binds_line = found.halt.binds == Binds::Line;
    (is_here && is_own) || (binds_line && found.halt.head.is_some_and(builds_on))
}

/// Whether a halt is one of another worktree or clone: what it looks like here is only known once it was shown.
fn is_foreign(ws: &Workspace, standing: &StandingHalt) -> Result<bool, OpsError> {
    let other = standing.halt.worktree != ws.repo.worktree_name();
    Ok(other || Ledger::open(&ws.repo).is_elsewhere(standing.id)?)
}

/// Whether the halt happened in this worktree of this clone, whatever has become of its ledger.
fn made_here(ws: &Workspace, standing: &StandingHalt) -> Result<bool, OpsError> {
    let here = standing.halt.worktree == ws.repo.worktree_name();
    Ok(!is_foreign(ws, standing)? || here && Ledger::open(&ws.repo).is_by_this_clone(standing.id)?)
}

/// Whether a file that shows the halt is still there. Only one that is known to be gone is not: when `.andon` is no
/// directory any more, that is no answer.
pub fn report_file_present(ws: &Workspace, report_file: ReportFile) -> bool {
    ws.andon_dir().is_some_and(|dir| dir.look(report_file.file_name()) != Look::Gone)
}

/// Whether the files say that a person answered.
pub fn answered_by_deletion(ctx: &Context, ws: &Workspace, standing: &StandingHalt) -> bool {
    is_deleted(ws, standing) && deletion::unheard(ctx, ws, &standing.halt).is_none()
}

/// Whether a file is gone by whose deletion a person may answer.
fn is_deleted(ws: &Workspace, standing: &StandingHalt) -> bool {
    let asks_other =
        ws.config.guard.ack != AckMode::Delete || witnessing::asks_signature(ws, standing).is_some();
    if ws.andon_dir().is_none() || asks_other || deleted_folder::is(ws) {
        return false;
    }
    if is_foreign(ws, standing).unwrap_or(true) {
        return shown_halts::was(ws, standing.id) && !report_file_present(ws, standing.halt.report_file);
    }
    // The entry is gone from this clone's ledger, and the files with it: that is no answer.
    let own = Ledger::open(&ws.repo).standing_here(&ws.repo.worktree_name()).map(|here| here.own);
    if !own.is_ok_and(|own| own.is_some_and(|own| own.id == standing.id)) {
        return false;
    }
    if standing.halt.reason == HaltReason::UserStop {
        stops(ws) == Stops::NONE
    } else {
        !report_file_present(ws, standing.halt.report_file)
    }
}

/// The halt that binds now, and what failed on the way.
#[derive(Debug, Default)]
pub struct Resolved {
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
pub fn resolve(ctx: &Context, ws: &Workspace) -> Result<Resolved, OpsError> {
    let unseen = check_directory(ws).err().map(|err| err.as_warning());
    let mut notes: Vec<Diagnostic> = clear_pause(ctx, ws).into_iter().chain(unseen).collect();
    let Some(standing) = recorded(ws)? else { return Ok(Resolved { notes, ..Resolved::default() }) };
    match by_witness(ctx, ws, &standing) {
        Ok(true) => return Ok(Resolved { notes, ..Resolved::default() }),
        Ok(false) => {}
        Err(failed) => return Ok(Resolved { halt: Some(standing), failed: Some(failed), notes }),
    }
    let unheard = is_deleted(ws, &standing).then(|| deletion::unheard(ctx, ws, &standing.halt));
    let failed = if unheard == Some(None) {
        let reason = if notes.is_empty() { "" } else { "perpetual mode: PAUSE was cleared" };
        match acknowledge(ctx, ws, Answer::Loop(Some(&standing)), AckHow::FileDeleted, reason) {
            Ok(()) => {
                notes.push(answered_note(&standing));
                return Ok(Resolved { notes, ..Resolved::default() });
            }
            Err(err) => Some(err),
        }
    } else if let Some(Some(place)) = &unheard {
        notes.push(unheard_note(&standing, place));
        show_again(ctx, ws, &standing).err()
    } else if ws.andon_dir().is_some() && !report_file_present(ws, standing.halt.report_file) {
        // A halt of another worktree or clone: the folder may never have been here.
        if made_here(ws, &standing)? || shown_halts::was(ws, standing.id) {
            notes.extend(deleted_folder::remark(ctx, ws, &standing, &site(ctx, ws), STOP_FILE));
        }
        show_again(ctx, ws, &standing).err()
    } else {
        None
    };
    Ok(Resolved { halt: Some(standing), failed, notes })
}

/// Shows a halt again whose file was deleted where that answers nothing: somebody only looks.
///
/// # Errors
/// The ledger cannot be read, or the file not be written.
pub fn keep_shown(ctx: &Context, ws: &Workspace) -> Result<(), OpsError> {
    let Some(standing) = recorded(ws)?.filter(|standing| is_deleted(ws, standing)) else { return Ok(()) };
    if deletion::unheard(ctx, ws, &standing.halt).is_none() { Ok(()) } else { show_again(ctx, ws, &standing) }
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

/// In perpetual mode a PAUSE does not hold: it is cleared, and that is reported (docs/spec-map.md, signals and
/// escalation: section 5). A STOP holds, and so does every other halt.
fn clear_pause(ctx: &Context, ws: &Workspace) -> Option<Diagnostic> {
    let stops = stop_files(ws);
    let clears = pause_is_cleared(ws) && stops.pause == Presence::Present && stops.stop == Presence::Absent;
    let dir = ws.andon_dir().filter(|_| clears)?;
    let why = pause_text(&dir);
    if let Err(err) = dir.remove(PAUSE_FILE) {
        return Some(Diagnostic::warning(format!(
            "perpetual mode: .andon/{PAUSE_FILE} could not be cleared: {err}"
        )));
    }
    let message = format!("perpetual mode: PAUSE was cleared, it does not hold the run ({why})");
    let notice = Notice {
        kind: NoticeKind::PauseCleared,
        rule: detect::USER_STOP.id.to_owned(),
        message: message.clone(),
        halt: None,
        episode: format!("pause:{}", ctx.now),
        branch: None,
        worktree: ws.repo.worktree_name(),
        at: ctx.now,
    };
    let reported = effect::carry_out(&[Effect::Notify(Box::new(notice))], &site(ctx, ws));
    let failed = reported.unwrap_or_else(|err| vec![err.to_string()]);
    let help = "to make a pause hold, in andon.toml under [guard]:  perpetual = false";
    Some(failed.into_iter().fold(Diagnostic::warning(message).help(help), Diagnostic::help))
}

/// The first line of PAUSE, cut.
fn pause_text(dir: &AndonDir) -> String {
    let text = dir.newest(PAUSE_FILE, MAX_PAUSE).unwrap_or_default();
    text.lines().next().unwrap_or("no reason given").chars().take(200).collect()
}

/// Whether the PAUSE that is there was written by Andon itself, together with a halt.
pub(crate) fn own_pause(ws: &Workspace) -> bool {
    let alone = stop_files(ws) == Stops { stop: Presence::Absent, pause: Presence::Present };
    alone && ws.andon_dir().is_some_and(|dir| pause_text(&dir).starts_with(OWN_PAUSE))
}

/// Takes up the answer of a witness to a halt that asks for one; whether there was one for this code.
fn by_witness(ctx: &Context, ws: &Workspace, standing: &StandingHalt) -> Result<bool, OpsError> {
    let Some(ledger) = witnessing::asks_signature(ws, standing) else { return Ok(false) };
    let Some(answer) = witnessing::ledger_answer(ws, ledger, standing.id)? else { return Ok(false) };
    if let Some(what) = witnessing::unfit(ws, &answer, standing)? {
        let help = "put the code back that was halted, or have a witness answer for this one: andon review resolve halt";
        return Err(OpsError::Refused { what, help: help.to_owned() });
    }
    acknowledge(ctx, ws, Answer::Witness(standing, &answer), AckHow::Signed, &answer.rationale)?;
    Ok(true)
}

fn show_again(ctx: &Context, ws: &Workspace, standing: &StandingHalt) -> Result<(), OpsError> {
    let story = super::timeline::load(ws)?.timeline.story();
    let rewrite = Effect::WriteReportFile { halt: Box::new(standing.halt.clone()), story: Box::new(story) };
    effect::carry_out(&[rewrite], &site(ctx, ws))?;
    if is_foreign(ws, standing)? {
        shown_halts::mark(ws, standing.id)?;
    } else if standing.halt.reason == HaltReason::UserStop && stops(ws) == Stops::NONE {
        // The file of a stop is gone and that is no answer: it must not look like one once the ledger is whole again.
        effect::write_andon_file(&site(ctx, ws), STOP_FILE, &format!("{}\n", standing.halt.message))?;
    }
    Ok(())
}

/// What an acknowledgement answers.
#[derive(Debug, Clone, Copy)]
pub enum Answer<'a> {
    /// The unanswered halt, or none: a new window starts.
    Loop(Option<&'a StandingHalt>),
    /// The unanswered halt, which was mistaken: a new window starts.
    Mistaken(&'a StandingHalt),
    /// The unanswered halt, by a witness whose signature was verified.
    Witness(&'a StandingHalt, &'a HaltAnswer),
    /// The unanswered halt, with the prompt of an advisor: the worker gets it word for word.
    Advice(&'a StandingHalt, &'a str),
    /// The unanswered halt, on behalf of the next provider of the fallback chain, which goes on.
    Provider(&'a StandingHalt, &'a str),
    /// One counter, and the halt that it made: the window continues.
    Counter(&'a str, Option<&'a StandingHalt>),
}

/// What an answer consists of.
#[derive(Default)]
struct AnswerParts<'a> {
    halt: Option<&'a StandingHalt>,
    counter: Option<&'a str>,
    witness: Option<&'a HaltAnswer>,
    provider: Option<&'a str>,
    words: Option<&'a str>,
}

impl<'a> Answer<'a> {
    fn parts(self) -> AnswerParts<'a> {
        let none = AnswerParts::default();
        match self {
            Self::Loop(halt) => AnswerParts { halt, ..none },
            Self::Mistaken(halt) => AnswerParts { halt: Some(halt), ..none },
            Self::Provider(halt, name) => AnswerParts { halt: Some(halt), provider: Some(name), ..none },
            Self::Advice(halt, prompt) => AnswerParts { halt: Some(halt), words: Some(prompt), ..none },
            Self::Counter(counter, halt) => AnswerParts { halt, counter: Some(counter), ..none },
            Self::Witness(halt, given) => {
                let words = given.words.as_deref();
                AnswerParts { halt: Some(halt), witness: Some(given), words, ..none }
            }
        }
    }
}

/// Records an acknowledgement and clears the files that it answers.
pub fn acknowledge(
    ctx: &Context,
    ws: &Workspace,
    answer: Answer<'_>,
    how: AckHow,
    reason: &str,
) -> Result<(), OpsError> {
    let AnswerParts { halt, counter, witness, provider, words } = answer.parts();
    if let Some(halt) =
        halt.filter(|halt| witness.is_none() && witnessing::asks_signature(ws, halt).is_some())
    {
        return Err(OpsError::Refused {
            what: format!("halt {} ends only by the signature of a witness", witnessing::short(halt.id)),
            help: "a witness answers: andon review resolve halt".to_owned(),
        });
    }
    let person = || witness.map_or_else(|| ctx.identity(&ws.repo), |answer| answer.who.clone());
    let ack = Ack {
        halt: halt.map(|halt| halt.id),
        counter: counter.map(str::to_owned),
        by: provider.map_or_else(person, |name| format!("the fallback chain, for {name}")),
        how,
        halt_was: match answer {
            Answer::Mistaken(_) => HaltWas::Mistaken,
            Answer::Witness(_, answer) => answer.halt_was,
            Answer::Loop(_) | Answer::Counter(..) | Answer::Provider(..) | Answer::Advice(..) => {
                HaltWas::Unsaid
            }
        },
        // A client's hook sees what a person took away before it.
        agent: ctx.actor().marker.filter(|_| how != AckHow::FileDeleted).map(str::to_owned),
        provider: provider.map(str::to_owned),
        reason: reason.to_owned(),
        words: words.map(str::to_owned),
        head: answered_at(ws, halt)?,
        worktree: ws.repo.worktree_name(),
        at: ctx.now,
    };
    let mut plan = vec![Effect::RecordAck(Box::new(ack))];
    match (counter, halt) {
        (None, _) => {
            plan.extend(ReportFile::ALL.map(|(report_file, _)| Effect::RemoveReportFile(report_file)));
        }
        (Some(_), Some(halt)) => plan.push(Effect::RemoveReportFile(halt.halt.report_file)),
        (Some(_), None) => {}
    }
    // The answer to a halt answers the pause that came with it; one that a person made stays.
    let answers_pause = halt.is_some() && own_pause(ws);
    if (how != AckHow::FileDeleted && counter.is_none()) || answers_pause {
        plan.push(Effect::RemoveStops);
    }
    effect::carry_out(&plan, &site(ctx, ws))?;
    repairs::locks(ctx, ws)
}

/// Where the new window begins: HEAD, or the halted commit where HEAD was moved off it.
fn answered_at(ws: &Workspace, halt: Option<&StandingHalt>) -> Result<Option<CommitId>, OpsError> {
    let head = ws.repo.head()?.commit();
    let halted = halt.and_then(|halt| halt.halt.head).filter(|halted| ws.repo.commit(*halted).is_ok());
    Ok(match (head, halted) {
        (Some(head), Some(halted)) if !ws.repo.is_ancestor(halted, head).unwrap_or(true) => Some(halted),
        (head, _) => head,
    })
}

/// Removes report files that a resume which died after its answer left; whether there were any.
pub fn leftover(ctx: &Context, ws: &Workspace) -> Result<bool, OpsError> {
    let there = |report_file: &ReportFile| ws.andon_dir().is_some() && report_file_present(ws, *report_file);
    let left: Vec<ReportFile> =
        ReportFile::ALL.map(|(report_file, _)| report_file).into_iter().filter(there).collect();
    if left.is_empty() {
        return Ok(false);
    }
    let plan: Vec<Effect> = left.into_iter().map(Effect::RemoveReportFile).collect();
    effect::carry_out(&plan, &site(ctx, ws))?;
    repairs::tell(ctx, ws, "removed the report file of a halt that was answered already".to_owned())?;
    Ok(true)
}

/// The programs of the user's own configuration.
fn programs(ctx: &Context, ws: &Workspace) -> Programs {
    let response = &ws.config.response;
    Programs {
        notify: response.notify.clone(),
        advisor: response.advisor.clone(),
        on_stall: response.on_stall_program.clone(),
        bell: response.bell,
        transcript: ctx.var("ANDON_TRANSCRIPT").map(PathBuf::from),
    }
}

/// Where actions take effect.
pub fn site<'a>(ctx: &Context, ws: &'a Workspace) -> Site<'a> {
    let ack = ws.config.guard.ack;
    Site {
        repo: &ws.repo,
        andon_dir: ws.andon_dir(),
        ack,
        style: Style::of_a_file(context::local),
        programs: programs(ctx, ws),
        at: ctx.now,
    }
}
