//! Remarks on HEAD that no run on its code tells: it is red by its record or by what git made it of, and records that are gone.

use andon_core::detect::{self, Origin, Situation};
use andon_core::domain::{decision::Stage, diagnostic::Diagnostic, ids::CommitId, plural::count};
use andon_engine::evidence::{self, Subject, scopes::Demand};
use andon_engine::recording::timeline::LoadedTimeline;
use andon_engine::{error::OpsError, range, workspace::Workspace};
use andon_store::notes::NotesStore;

/// The failures of the tip that no run on its code shows: its record tells of them, or what git made it of.
pub(super) fn red_tip(
    ws: &Workspace,
    loaded: &LoadedTimeline,
    head: Option<CommitId>,
) -> Result<Option<Diagnostic>, OpsError> {
    let Some(head) = head else { return Ok(None) };
    let (tree, parent) = (ws.repo.tree_of(head)?, ws.repo.commit(head)?.parents.first().copied());
    let before = parent.map(|parent| ws.repo.tree_of(parent)).transpose()?;
    let candidate = evidence::candidate(ws, loaded, &Subject::Tree(tree), Demand::Commit(before))?;
    let candidate = evidence::at_tip(ws, candidate, head)?;
    if candidate.origin == Origin::Work {
        return Ok(None);
    }
    let (timeline, rules) = (&loaded.timeline, &ws.config.rules);
    let situation = Situation { candidate: Some(&candidate), ..range::situation(timeline, Stage::Complete) };
    let found = detect::evaluate(&detect::FAILING_TESTS, &situation, rules);
    Ok(found.map(|found| {
        Diagnostic::warning(format!("HEAD: {}", found.message())).code(found.rule).helps(found.help)
    }))
}

/// Commits at HEAD and below that are looked at for records that are gone.
const LOOKED_AT: usize = 32;

/// The number of commits that the journal calls recorded here and that have no record any more.
pub(super) fn lost_records(ws: &Workspace, head: Option<CommitId>, loaded: &LoadedTimeline) -> usize {
    let Ok(store) = NotesStore::open(&ws.repo) else { return 0 };
    let below = |id: &CommitId| ws.repo.commit(*id).ok()?.parents.first().copied();
    let line = std::iter::successors(head, below).take(LOOKED_AT);
    let is_lost = |id: &CommitId| loaded.journal.markers.contains(id) && matches!(store.has(*id), Ok(false));
    line.filter(is_lost).count()
}

/// Tells of records that are gone.
pub(super) fn told_lost(lost: usize) -> Option<Diagnostic> {
    let records = count(lost, "commit");
    let are = if lost == 1 { "was" } else { "were" };
    let what = format!("the records of {records} that {are} made here are gone");
    let told = Diagnostic::warning(what).code("lost-records").help("andon sync, where a remote has them");
    (lost > 0).then(|| told.help("find out what removed refs/notes/andon"))
}
