//! A commit that the gate did not judge, or not as it was committed. Somebody went round it (`--no-verify`), a hook manager
//! had taken a hook away, or another hook changed the tree behind the gate. Asked only for such a commit.

use crate::detect;
use crate::domain::decision::{Stage, Verdict};
use crate::domain::facts::{Gate, Skip};
use crate::domain::ids::TreeId;
use crate::domain::paths::PathClass;
use crate::effect::install::hooks::Hook;
use crate::effect::install::inspect::{self, Standing};
use crate::effect::install::manifest::Manifest;
use crate::effect::install::mode::Integration;
use crate::effect::install::shim::Owner;
use crate::engine::context::Context;
use crate::engine::error::OpsError;
use crate::engine::evidence::{self, Subject};
use crate::engine::guard;
use crate::engine::setup::live;
use crate::engine::skip;
use crate::engine::timeline;
use crate::engine::workspace::Workspace;
use crate::git::CommitInfo;
use crate::store::asked;
use crate::store::notes::NotesStore;
use crate::store::process::GitProcess;
use crate::store::receipt::Receipt;

/// Most paths that a reason names.
const NAMED: usize = 5;

/// A plain commit that no receipt speaks for.
pub(super) struct Unjudged<'a> {
    pub(super) commit: &'a CommitInfo,
    /// The receipt of the same git process for another tree.
    pub(super) judged: Option<&'a Receipt>,
    /// The git processes that made it.
    pub(super) now: &'a [GitProcess],
}

/// What is recorded of the gate. Where hooks of ours ran, what was committed is judged now, by the same rules; it can only
/// not be refused any more.
pub(super) fn without_receipt(
    ctx: &Context,
    ws: &Workspace,
    store: &mut NotesStore<'_>,
    unjudged: &Unjudged<'_>,
) -> Result<(Gate, Vec<Skip>), OpsError> {
    let Unjudged { commit, judged, now } = unjudged;
    let git_dir = ws.repo.git_dir();
    let marked = asked::is_marked(git_dir, now);
    asked::sweep(git_dir, now);
    let why = match judged {
        Some(receipt) => changed_behind(ws, receipt.tree, commit.tree)?,
        None if marked => {
            let why = lost(ctx, ws, Hook::PrepareCommitMsg);
            why.unwrap_or_else(|| "prepare-commit-msg did not judge it".to_owned())
        }
        None => {
            return Ok(match lost(ctx, ws, Hook::PreCommit) {
                Some(why) => (Gate::NotRun, vec![passed_over(why)]),
                None => (Gate::Bypassed, skip::gate_by_name(ctx).into_iter().collect()),
            });
        }
    };
    if would_pass(ws, store, commit)? {
        return Ok((Gate::Passed, judged.map(|receipt| receipt.skipped.clone()).unwrap_or_default()));
    }
    Ok((Gate::NotRun, vec![passed_over(why)]))
}

fn passed_over(reason: String) -> Skip {
    Skip { rule: detect::HOOK_BYPASS.id.to_owned(), reason, agent: None }
}

/// Whether the gate lets pass what was committed, now that it is.
fn would_pass(ws: &Workspace, store: &mut NotesStore<'_>, commit: &CommitInfo) -> Result<bool, OpsError> {
    let parent = commit.parents.first().copied();
    let before = parent.map(|parent| ws.repo.tree_of(parent)).transpose()?;
    let loaded = timeline::load_at(ws, store, parent);
    let candidate = evidence::candidate(ws, &loaded, &Subject::Tree(commit.tree), before)?;
    Ok(guard::decide(ws, &loaded, Stage::PreCommit, Some(&candidate), None).verdict < Verdict::Block)
}

/// What another hook did after the gate had judged `judged`.
fn changed_behind(ws: &Workspace, judged: TreeId, committed: TreeId) -> Result<String, OpsError> {
    let changed = ws.repo.changes(Some(judged), committed)?.into_iter().map(|change| change.path);
    let code = changed.filter(|path| ws.config.paths.rules.class(path) == PathClass::Code);
    let names: Vec<String> =
        code.take(NAMED).map(|path| String::from_utf8_lossy(&path).into_owned()).collect();
    Ok(format!("a hook changed {} after the gate", names.join(", ")))
}

/// Why a hook of ours could not run, where the files tell.
fn lost(ctx: &Context, ws: &Workspace, hook: Hook) -> Option<String> {
    let manifest = Manifest::read(&Manifest::path(ws.repo.common_dir())).ok().flatten().unwrap_or_default();
    if manifest.mode.is_some_and(|mode| mode != Integration::Shim) {
        return None;
    }
    let dir = ctx.hook_file.as_deref()?.parent()?;
    let states = inspect::inspect(dir, &manifest).ok()?;
    let state = states.into_iter().find(|state| state.hook == hook)?;
    // A framework may run Andon by its own configuration.
    let framework = matches!(state.standing, Standing::Foreign { owner: Owner::PreCommit | Owner::Prek, .. });
    if live::runs(&state) || framework {
        return None;
    }
    Some(format!("the hook was not there: {}", live::fate(&state)))
}
