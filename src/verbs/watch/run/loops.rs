//! The loops that are watched: those of the worktrees, and those of other clones, whose remote-tracking branches are ahead of
//! this clone and whose commits have records that came by a sync. What is in none of their records (their journals, their
//! context) is not known here.

use std::path::Path;

use crate::situation::{self, LoopSituation, SharedHooks};
use andon_core::domain::facts::{Fact, Usage};
use andon_core::domain::{
    decision::StandingHalt, diagnostic::Diagnostic, ids::CommitId, summary::HaltSummary, tests::RunValidity,
    time::Timestamp,
};
use andon_core::{detect, history::Timeline, policy};
use andon_engine::recording::timeline::{self, LoadedTimeline};
use andon_engine::view::status::LoopState;
use andon_engine::view::watch::{AnswerBy, BranchView, LastRun, LoopView, WorktreeState, WorktreeView};
use andon_engine::{asking, context::Context, error::OpsError, text::halt, workspace::Workspace};
use andon_git::{Repo, RepoEnv, WorktreePlace};
use andon_store::notes::NotesStore;
use andon_store::window::{self, Window};

/// Most worktrees that are watched.
const MAX_WORKTREES: usize = 1024;

/// The worktrees, the main one first.
pub(super) fn places(repo: &Repo) -> Vec<WorktreePlace> {
    let mut linked: Vec<_> = repo.worktree_places().into_iter().take(MAX_WORKTREES).collect();
    linked.sort_by(|one, other| one.name.cmp(&other.name));
    let (name, git_dir) = ("main".to_owned(), repo.common_dir().to_owned());
    let main = repo.main_worktree().map(|top| WorktreePlace { name, git_dir, top: Some(top) });
    main.into_iter().chain(linked).collect()
}

/// The context of this process as if it had been started in the worktree at `top`.
pub fn context_in(ctx: &Context, top: &Path) -> Context {
    let elsewhere = RepoEnv { git_dir: None, work_tree: None, index_file: None, ..ctx.repo_env.clone() };
    Context { cwd: top.to_owned(), repo_env: elsewhere, ..ctx.clone() }
}

/// Reads one worktree. What cannot be read is said in its place.
pub(super) fn read(ctx: &Context, place: &WorktreePlace, hooks: &SharedHooks) -> WorktreeView {
    let path = place.top.as_ref().map_or(String::new(), |top| top.to_string_lossy().into_owned());
    let seen = match &place.top {
        Some(top) if top.is_dir() => match seen(&context_in(ctx, top), hooks) {
            Ok(found) => WorktreeState::Loop(Box::new(found)),
            Err(err) => WorktreeState::Unreadable(err.to_string()),
        },
        Some(_) | None => WorktreeState::Away,
    };
    WorktreeView { name: place.name.clone(), path, seen }
}

fn seen(ctx: &Context, hooks: &SharedHooks) -> Result<LoopView, OpsError> {
    let ws = Workspace::open_lenient(ctx)?;
    let LoopSituation { head, loaded, standing, hooks, state, .. } =
        situation::look(ctx, &ws, &hooks.seen(&ws.repo))?;
    let answer = standing.as_ref().map(|standing| {
        let signed = asking::asks_signature(&ws, standing).is_some();
        if signed { AnswerBy::Signature } else { AnswerBy::Resume }
    });
    let node = loaded.timeline.context_window_node().to_owned();
    let mut warnings: Vec<Diagnostic> = loaded.warnings.clone();
    warnings.extend(ws.config_errors.iter().flat_map(|wrong| wrong.errors.iter().cloned()));
    Ok(LoopView {
        state,
        head: head.commit(),
        branch: head.branch().map(str::to_owned),
        context: detect::context_use(&loaded.timeline, &node, &ws.config.rules),
        halt: standing,
        answer,
        tests: last_run(&loaded),
        last_at: last_at(&loaded),
        hooks_gone: hooks,
        warnings,
        ..of_timeline(&ws, &loaded.timeline)
    })
}

/// The figures that the iterations of a running loop tell, and nothing of where it runs.
fn of_timeline(ws: &Workspace, timeline: &Timeline) -> LoopView {
    LoopView {
        state: LoopState::Running,
        count: situation::count(ws, timeline),
        node: timeline.context_window_node().to_owned(),
        who: policy::makers(timeline),
        trend: timeline.trend(),
        usual_pause: usual_pause(timeline),
        cost: cost(timeline),
        ..LoopView::default()
    }
}

/// The newest test run of the journal, or of the newest record.
fn last_run(loaded: &LoadedTimeline) -> Option<LastRun> {
    let run = loaded.runs.last().map(LastRun::from);
    run.or_else(|| {
        let tested = loaded.timeline.iterations.iter().rev().find(|iteration| iteration.tests.is_some())?;
        let evidence = tested.tests.clone()?;
        let at = Some(tested.at).filter(|at| at.0 != 0);
        Some(LastRun { evidence, validity: RunValidity::Valid, at })
    })
}

/// Pauses that are looked at, and the fewest that tell what is usual.
const PAUSES: (usize, usize) = (16, 3);

/// The pause in the middle between the newest iterations.
fn usual_pause(timeline: &Timeline) -> Option<u64> {
    let all = &timeline.iterations;
    let newest = all.get(all.len().saturating_sub(PAUSES.0 + 1)..).unwrap_or_default();
    let known: Vec<Timestamp> = newest.iter().map(|one| one.at).filter(|at| at.0 != 0).collect();
    let mut pauses: Vec<u64> = known.windows(2).map(|pair| pair[1].since(pair[0]).0).collect();
    pauses.sort_unstable();
    pauses.get(pauses.len() / 2).copied().filter(|_| pauses.len() >= PAUSES.1)
}

/// The cost of the iterations of the window, where clients report it.
fn cost(timeline: &Timeline) -> String {
    let usage = || timeline.iterations.iter().filter_map(|one| one.usage.as_ref());
    let tokens = usage().map(Usage::tokens).fold(0_u64, u64::saturating_add);
    let cost = usage().map(Usage::cost_micros).fold(0_u64, u64::saturating_add);
    let summary = HaltSummary {
        tokens: (tokens > 0).then_some(tokens),
        cost_micros: (cost > 0).then_some(cost),
        ..HaltSummary::default()
    };
    halt::cost(&summary).join(", ")
}

/// When something was last recorded: a commit, a turn, a test run.
fn last_at(loaded: &LoadedTimeline) -> Option<Timestamp> {
    let iteration = loaded.timeline.newest().map(|newest| newest.at);
    let run = loaded.runs.last().and_then(|run| run.at);
    let event = loaded.timeline.activity.now;
    [iteration, run, event].into_iter().flatten().filter(|at| at.0 != 0).max()
}

const TRACKED: &str = "refs/remotes/";
/// Most branches that are shown, those with the newest commits.
const MAX_BRANCHES: usize = 32;
/// Most records of one that are read.
const MAX_RECORDS: usize = 64;

/// The loops of other clones in which something was recorded within the session gap, the newest first. One that `halted` has
/// is shown by its halt.
pub(super) fn read_branches(
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
        seen_behind(ctx, ws, tip, window).map(|found| BranchView { name, found })
    });
    Ok(branches.collect())
}

/// The loop behind `tip`; `None` where its newest commit has no record, or one that is older than the session gap.
fn seen_behind(ctx: &Context, ws: &Workspace, tip: CommitId, window: Window) -> Option<LoopView> {
    let newest = window.facts.last().filter(|fact| fact.id == Some(tip))?;
    let last_at = newest.record.recorded_at;
    if ctx.now.since(last_at) > ws.config.guard.session_gap {
        return None;
    }
    let facts = window.facts.into_iter().map(|fact| Fact::Commit(Box::new(fact)));
    let timeline = timeline::fold(ws, facts.collect());
    let tested = timeline.iterations.iter().rev().find_map(|one| Some((one.at, one.tests.clone()?)));
    let tests = tested.map(|(at, evidence)| LastRun { evidence, validity: RunValidity::Valid, at: Some(at) });
    let (head, last_at, warnings) = (Some(tip), Some(last_at), window.warnings);
    Some(LoopView { head, tests, last_at, warnings, ..of_timeline(ws, &timeline) })
}
