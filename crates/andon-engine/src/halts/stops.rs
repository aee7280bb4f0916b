//! The files of `.andon/` by which a person stops the loop (STOP, PAUSE), and the presence of those that show a halt.

use crate::context::Context;
use crate::effect::best_effort::OWN_PAUSE;
use crate::effect::{self, AndonDir, FilePresence};
use crate::workspace::Workspace;
use andon_config::Perpetual;
use andon_core::detect::{self, Stops};
use andon_core::domain::diagnostic::Diagnostic;
use andon_core::domain::effect::Effect;
use andon_core::domain::effect::{Notice, NoticeKind};
use andon_core::domain::facts::Presence;
use andon_core::domain::findings::ReportFile;

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
    let alone = stop_files(ws) == Stops { stop: Presence::Absent, pause: Presence::Present };
    alone && ws.andon_dir().is_some_and(|dir| pause_text(&dir).starts_with(OWN_PAUSE))
}

/// True where a file that shows the halt may still be there. Only one that is known to be gone is not: when `.andon` is no
/// directory any more, that is no answer.
pub(super) fn report_file_present(ws: &Workspace, report_file: ReportFile) -> bool {
    ws.andon_dir().is_some_and(|dir| dir.look(report_file.file_name()) != FilePresence::Gone)
}
