//! The files of `.andon/` by which a person stops the loop (STOP, PAUSE), and the presence of those that show a halt.

use crate::effect::{self, AndonDir, FilePresence, best_effort::OWN_PAUSE};
use crate::{Context, Result, Workspace};
use andon_config::Perpetual;
use andon_core::detect::{self, Stops};
use andon_core::domain::{Diagnostic, Effect, Notice, NoticeKind, Presence, ReportFile, StandingHalt};
use andon_core::escape;
use andon_store::Ledger;

/// File that stops the loop (docs/spec-map.md, loop rules: manual override).
pub const STOP_FILE: &str = "STOP";
/// File that pauses the loop.
pub const PAUSE_FILE: &str = "PAUSE";
/// Most bytes that are read of it.
const MAX_PAUSE: u64 = 4096;

/// The files among `.andon/STOP` and `.andon/PAUSE` that hold the loop. In perpetual mode a PAUSE alone holds nothing: the next commit or
/// turn clears it.
pub fn stops(ws: &Workspace) -> Stops {
    let there = stop_files(ws);
    if pause_is_cleared(ws) { Stops { pause: Presence::Absent, ..there } } else { there }
}

/// True where a PAUSE, were it there alone, would be cleared. It is only reported here.
pub fn pause_is_cleared(ws: &Workspace) -> bool {
    ws.config.guard.perpetual == Perpetual::Yes
}

/// Looks for `.andon/STOP` and `.andon/PAUSE`.
pub fn stop_files(ws: &Workspace) -> Stops {
    let look = |name: &str| match ws.andon_dir().map(|dir| dir.look(name)) {
        Some(FilePresence::There) => Presence::Present,
        Some(FilePresence::Gone | FilePresence::Unknown) | None => Presence::Absent,
    };
    Stops { stop: look(STOP_FILE), pause: look(PAUSE_FILE) }
}

/// In perpetual mode a PAUSE does not hold: it is cleared, and that is reported (docs/spec-map.md, signals and
/// escalation: section 5). A STOP holds, and so does every other halt.
pub(super) fn clear_pause(ctx: &Context, ws: &Workspace) -> Option<Diagnostic> {
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
    let (episode, worktree) = (format!("pause:{}", ctx.now), ws.repo.worktree_name());
    let notice = Notice {
        rule: detect::USER_STOP.id.to_owned(),
        message: message.clone(),
        ..Notice::new(NoticeKind::PauseCleared, episode, worktree, ctx.now)
    };
    let reported = effect::carry_out(&[Effect::Notify(Box::new(notice))], &ws.site(ctx));
    let failed = reported.unwrap_or_else(|err| vec![err.to_string()]);
    let help = "to make a pause hold, in andon.toml under [guard]:  perpetual = false";
    Some(Diagnostic::warning(message).help(help).helps(failed))
}

/// The first line of PAUSE, cut.
fn pause_text(dir: &AndonDir) -> String {
    let text = dir.newest(PAUSE_FILE, MAX_PAUSE).unwrap_or_default();
    text.lines().next().unwrap_or("no reason given").chars().take(200).collect()
}

/// True where the PAUSE that is there was written by Andon itself, together with a halt.
pub(crate) fn own_pause(ws: &Workspace) -> bool {
    stop_files(ws).pause == Presence::Present
        && ws.andon_dir().is_some_and(|dir| pause_text(&dir).starts_with(OWN_PAUSE))
}

/// Those that hold the loop and that a person put up.
pub(crate) fn by_people(ws: &Workspace) -> Stops {
    let there = stops(ws);
    if own_pause(ws) { Stops { pause: Presence::Absent, ..there } } else { there }
}

/// The files that a halt names which was made in this worktree, by nothing but them.
///
/// # Errors
/// The ledger cannot be read.
pub fn named_by(ws: &Workspace, StandingHalt { id, halt }: &StandingHalt) -> Result<Vec<&'static str>> {
    let is_of_here = halt.rule == detect::USER_STOP.id && halt.worktree == ws.repo.worktree_name();
    // An entry that no ledger holds any more is known by the traces of this worktree.
    let is_named = is_of_here && Ledger::open(&ws.repo).is_own(*id)? != Some(false);
    Ok(if is_named { detect::named_stops(&halt.message).files() } else { Vec::new() })
}

/// A file with who put it up, and when, as far as it says so.
pub fn put_up(ws: &Workspace, file: &str) -> String {
    let Some(dir) = ws.andon_dir() else { return file.to_owned() };
    let text = dir.newest(file, MAX_PAUSE).unwrap_or_default();
    let line = |key| text.lines().find_map(|line| line.strip_prefix(key));
    let written = || dir.path().join(file).symlink_metadata().ok()?.modified().ok();
    let made = || jiff::Timestamp::try_from(written()?).ok();
    let minute = |at: jiff::Timestamp| at.strftime("%F %H:%M UTC").to_string();
    let said = line("at: ").map(|at| at.parse().map_or_else(|_| at.to_owned(), minute));
    let at = said.or_else(|| made().map(minute)).unwrap_or_default();
    let shown = format!("{file}, put up by {} at {at}", line("by: ").unwrap_or("hand"));
    escape::terminal(&shown).into_owned()
}

/// The file that shows the halt, present where it may still be there. Only one that is known to be gone is not: when `.andon` is
/// no directory any more, that is no answer.
pub fn report_file(ws: &Workspace, report_file: ReportFile) -> Presence {
    match ws.andon_dir().map(|dir| dir.look(report_file.file_name())) {
        Some(FilePresence::There | FilePresence::Unknown) => Presence::Present,
        Some(FilePresence::Gone) | None => Presence::Absent,
    }
}
