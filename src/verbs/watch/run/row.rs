//! One worktree: where it is, and what can be seen of its loop.

use std::path::{Path, PathBuf};

use crate::situation::{self, LoopSituation, SharedHooks};
use crate::view::watch::{AnswerBy, BindingHalt, LastRun, LoopView, WorktreeState, WorktreeView};
use andon_core::detect;
use andon_core::domain::diagnostic::Diagnostic;
use andon_core::domain::facts::Usage;
use andon_core::domain::summary::HaltSummary;
use andon_core::domain::tests::RunValidity;
use andon_core::domain::time::Timestamp;
use andon_core::history::Timeline;
use andon_core::policy;
use andon_engine::asking;
use andon_engine::context::Context;
use andon_engine::error::OpsError;
use andon_engine::recording::timeline::LoadedTimeline;
use andon_engine::text::halt;
use andon_engine::workspace::Workspace;
use andon_git::{Repo, RepoEnv};

/// Most worktrees that are watched.
const MAX_WORKTREES: usize = 1024;

/// Where a worktree is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    /// `main` for the main one.
    pub(super) name: String,
    /// Its own git directory.
    pub(super) git_dir: PathBuf,
    /// The top of its working tree, where that is known.
    pub(super) top: Option<PathBuf>,
}

/// The worktrees, the main one first.
pub(super) fn places(repo: &Repo) -> Vec<Place> {
    let mut places: Vec<Place> = repo
        .worktree_places()
        .into_iter()
        .take(MAX_WORKTREES)
        .map(|linked| Place { name: linked.name, git_dir: linked.git_dir, top: linked.top })
        .collect();
    places.sort_by(|one, other| one.name.cmp(&other.name));
    let main = repo.main_worktree().map(|top| Place {
        name: "main".to_owned(),
        git_dir: repo.common_dir().to_owned(),
        top: Some(top),
    });
    places.splice(0..0, main);
    places
}

/// The context of this process as if it had been started in the worktree at `top`.
pub fn context_in(ctx: &Context, top: &Path) -> Context {
    let elsewhere = RepoEnv { git_dir: None, work_tree: None, index_file: None, ..ctx.repo_env.clone() };
    Context { cwd: top.to_owned(), repo_env: elsewhere, ..ctx.clone() }
}

/// Reads one worktree. What cannot be read is said in its place.
pub(super) fn read(ctx: &Context, place: &Place, hooks: &SharedHooks) -> WorktreeView {
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
    let halt = standing.map(|standing| {
        let signed = asking::asks_signature(&ws, &standing).is_some();
        BindingHalt { standing, answer: if signed { AnswerBy::Signature } else { AnswerBy::Resume } }
    });
    let node = loaded.timeline.context_window_node().to_owned();
    let mut warnings: Vec<Diagnostic> = loaded.warnings.clone();
    warnings.extend(ws.config_errors.iter().flat_map(|wrong| wrong.errors.iter().cloned()));
    Ok(LoopView {
        state,
        iteration: loaded.timeline.counted(),
        cap: detect::iteration_cap(&ws.config.rules),
        head: head.commit(),
        branch: head.branch().map(str::to_owned),
        context: detect::context_use(&loaded.timeline, &node, &ws.config.rules),
        node,
        who: policy::makers(&loaded.timeline),
        halt,
        trend: loaded.timeline.trend(),
        tests: last_run(&loaded),
        last_at: last_at(&loaded),
        usual_pause: usual_pause(&loaded.timeline),
        cost: cost(&loaded.timeline),
        hooks_gone: hooks,
        warnings,
    })
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
pub(super) fn usual_pause(timeline: &Timeline) -> Option<u64> {
    let all = &timeline.iterations;
    let newest = all.get(all.len().saturating_sub(PAUSES.0 + 1)..).unwrap_or_default();
    let known: Vec<Timestamp> = newest.iter().map(|one| one.at).filter(|at| at.0 != 0).collect();
    let mut pauses: Vec<u64> = known.windows(2).map(|pair| pair[1].since(pair[0]).0).collect();
    pauses.sort_unstable();
    pauses.get(pauses.len() / 2).copied().filter(|_| pauses.len() >= PAUSES.1)
}

/// What the iterations of the window have cost, where clients report it.
pub(super) fn cost(timeline: &Timeline) -> String {
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
