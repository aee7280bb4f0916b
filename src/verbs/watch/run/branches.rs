//! Loops of other clones: remote-tracking branches that are ahead of this clone, and whose commits have records that came by
//! a sync. What is in none of their records (their journals, their context) is not known here.

use super::row;
use crate::view::status::LoopState;
use crate::view::watch::{BranchView, LastRun, LoopView};
use andon_core::detect;
use andon_core::domain::decision::StandingHalt;
use andon_core::domain::facts::Fact;
use andon_core::domain::ids::CommitId;
use andon_core::domain::tests::RunValidity;
use andon_core::policy;
use andon_engine::context::Context;
use andon_engine::error::OpsError;
use andon_engine::recording::timeline;
use andon_engine::workspace::Workspace;
use andon_store::notes::NotesStore;
use andon_store::window::{self, Window};

const TRACKED: &str = "refs/remotes/";
/// Most branches that are shown, those with the newest commits.
const MAX_BRANCHES: usize = 32;
/// Most records of one that are read.
const MAX_RECORDS: usize = 64;

/// The loops of other clones in which something was recorded within the session gap, the newest first. One that `halted` has
/// is shown by its halt.
pub(super) fn read(
    ctx: &Context,
    ws: &Workspace,
    halted: &[StandingHalt],
) -> Result<Vec<BranchView>, OpsError> {
    let gap = ws.config.guard.session_gap;
    let mut tips = Vec::new();
    for (name, id) in ws.repo.refs_with_prefix(TRACKED)? {
        let tip = CommitId(id);
        // A tip that is not here, or is no commit, is no loop.
        let Ok(info) = ws.repo.commit(tip) else { continue };
        let is_halted = halted.iter().any(|standing| standing.halt.head == Some(tip));
        if !is_halted && ctx.now.since(info.committed_at) <= gap {
            tips.push((info.committed_at, name, tip));
        }
    }
    tips.sort_by(|one, other| other.cmp(one));
    tips.dedup_by_key(|(_, _, tip)| *tip);
    tips.truncate(MAX_BRANCHES);
    let store = NotesStore::open(&ws.repo)?;
    let head = ws.repo.head()?.commit();
    let is_here = |tip| head.is_some_and(|head| ws.repo.is_ancestor(tip, head).unwrap_or(false));
    let tips = tips.into_iter().filter(|(_, _, tip)| !is_here(*tip));
    let branches = tips.filter_map(|(_, name, tip)| {
        let window = window::read_apart(&ws.repo, &store, tip, MAX_RECORDS);
        let name = name.strip_prefix(TRACKED).unwrap_or(&name).to_owned();
        seen(ctx, ws, tip, window).map(|found| BranchView { name, found })
    });
    Ok(branches.collect())
}

/// The loop behind `tip`; `None` where its newest commit has no record, or one that is older than the session gap.
fn seen(ctx: &Context, ws: &Workspace, tip: CommitId, window: Window) -> Option<LoopView> {
    let newest = window.facts.last().filter(|fact| fact.id == Some(tip))?;
    let last_at = newest.record.recorded_at;
    if ctx.now.since(last_at) > ws.config.guard.session_gap {
        return None;
    }
    let facts = window.facts.into_iter().map(|fact| Fact::Commit(Box::new(fact)));
    let timeline = timeline::fold(ws, facts.collect());
    let tested = timeline.iterations.iter().rev().find_map(|one| Some((one.at, one.tests.clone()?)));
    let tests = tested.map(|(at, evidence)| LastRun { evidence, validity: RunValidity::Valid, at: Some(at) });
    Some(LoopView {
        state: LoopState::Running,
        iteration: timeline.counted(),
        cap: detect::iteration_cap(&ws.config.rules),
        head: Some(tip),
        branch: None,
        node: timeline.context_window_node().to_owned(),
        who: policy::makers(&timeline),
        halt: None,
        trend: timeline.trend(),
        tests,
        context: None,
        last_at: Some(last_at),
        usual_pause: row::usual_pause(&timeline),
        cost: row::cost(&timeline),
        hooks_gone: None,
        warnings: window.warnings,
    })
}
