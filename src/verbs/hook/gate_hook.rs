//! A commit that the gate did not judge, or not as it was committed. It was bypassed (`--no-verify`), a hook manager
//! had removed a hook, or another hook changed the tree after the gate. Runs only for such a commit.

use std::path::{Path, PathBuf};

use crate::install::{HookFile, Integration, Manifest, framework, inspect};
use crate::setup::{live, place};
use andon_core::detect;
use andon_core::domain::{Gate, GitHook, PathClass, Skip, Stage, Timestamp, TreeId, Verdict};
use andon_engine::evidence::{self, Subject};
use andon_engine::recording::{skip, timeline};
use andon_engine::{Context, Result, Workspace, gate::guard};
use andon_git::CommitInfo;
use andon_store::{GitProcess, NotesStore, Receipt, pre_commit_mark};

/// Most paths that a reason names.
const NAMED: usize = 5;

/// A plain commit without a receipt.
pub(super) struct CommitWithoutReceipt<'a> {
    pub(super) commit: &'a CommitInfo,
    /// The receipt of the same git process for another tree.
    pub(super) judged: Option<&'a Receipt>,
    /// The git processes that made it.
    pub(super) now: &'a [GitProcess],
}

/// The gate as it is recorded. Where hooks of ours ran, the commit is judged now, by the same rules; it can only
/// not be refused any more.
pub(super) fn without_receipt(
    ctx: &Context,
    ws: &Workspace,
    store: &NotesStore<'_>,
    unjudged: &CommitWithoutReceipt<'_>,
) -> Result<(Gate, Vec<Skip>)> {
    let CommitWithoutReceipt { commit, judged, now } = unjudged;
    let git_dir = ws.repo.git_dir();
    let marked = pre_commit_mark::is_marked(git_dir, now);
    pre_commit_mark::sweep(git_dir, now);
    let why = match judged {
        Some(receipt) => changed_behind(ws, receipt.tree, commit.tree)?,
        None if marked => {
            let why = lost(ctx, ws, GitHook::PrepareCommitMsg);
            why.unwrap_or_else(|| "prepare-commit-msg did not judge it".to_owned())
        }
        None => {
            return Ok(match lost(ctx, ws, GitHook::PreCommit) {
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

/// True where the gate would let pass what was committed.
fn would_pass(ws: &Workspace, store: &NotesStore<'_>, commit: &CommitInfo) -> Result<bool> {
    let parent = commit.parents.first().copied();
    let before = parent.map(|parent| ws.repo.tree_of(parent)).transpose()?;
    let loaded = timeline::load_at(ws, store, parent);
    let (subject, demand) = (Subject::Tree(commit.tree), evidence::scopes::Demand::Commit(before));
    let candidate = evidence::candidate(ws, &loaded, &subject, demand)?;
    Ok(guard::decide(ws, &loaded, Stage::PreCommit, Some(&candidate), None).verdict < Verdict::Block)
}

/// The change of another hook after the gate had judged `judged`.
fn changed_behind(ws: &Workspace, judged: TreeId, committed: TreeId) -> Result<String> {
    let changed = ws.repo.changes(Some(judged), committed)?.into_iter().map(|change| change.path);
    let code = changed.filter(|path| ws.config.paths.rules.class(path) == PathClass::Code);
    let names: Vec<String> =
        code.take(NAMED).map(|path| String::from_utf8_lossy(&path).into_owned()).collect();
    Ok(format!("a hook changed {} after the gate", names.join(", ")))
}

/// The reason that a hook of ours could not run, where the files tell.
fn lost(ctx: &Context, ws: &Workspace, hook: GitHook) -> Option<String> {
    let manifest = Manifest::of(&ws.repo).unwrap_or_default();
    let dir = hooks_dir(ctx, ws);
    match manifest.mode {
        None | Some(Integration::Shim) => of_files(ws, &dir, &manifest, hook),
        Some(Integration::PreCommit) => gone(ws, &dir).or_else(|| not_named(ws, hook)),
        Some(Integration::Config | Integration::Husky | Integration::Lefthook) => gone(ws, &dir),
    }
}

/// True where a patch of `git am` is from a time (`at`) before a hook of ours was there for patches.
pub(super) fn is_unhooked_patch(ctx: &Context, ws: &Workspace, at: Timestamp) -> bool {
    live::patches_since(&ws.repo, &hooks_dir(ctx, ws)).is_none_or(|since| since > at)
}

/// The directory of git's hooks, without asking git.
pub(super) fn hooks_dir(ctx: &Context, ws: &Workspace) -> PathBuf {
    if let Some(dir) = ctx.hook_file.as_deref().and_then(Path::parent) {
        return dir.to_owned();
    }
    place::configured(&ws.repo)
}

/// The file that is in the place of the hook.
fn of_files(ws: &Workspace, dir: &Path, manifest: &Manifest, hook: GitHook) -> Option<String> {
    let state = inspect::inspect(dir, manifest).ok()?.into_iter().find(|state| state.hook == hook)?;
    if live::runs(&state) {
        return None;
    }
    // A framework may run Andon by its own configuration.
    if matches!(state.standing, HookFile::Foreign { owner, .. } if owner.is_framework()) {
        return not_named(ws, hook);
    }
    Some(live::fate(&state))
}

/// The loss of our lines in the files of a manager.
fn gone(ws: &Workspace, dir: &Path) -> Option<String> {
    live::look_at(&ws.repo, dir).gone().map(|gone| gone.what)
}

/// Tells that the framework's configuration runs other hooks of Andon and not this one.
fn not_named(ws: &Workspace, hook: GitHook) -> Option<String> {
    let top = ws.repo.workdir()?;
    let mut names = framework::FILES.iter();
    let (name, text) = names.find_map(|name| Some((name, live::text(&top.join(name))?)))?;
    let stage = hook.name();
    let ids = if hook == GitHook::PreCommit {
        ["andon".to_owned(), "andon-wheel".to_owned()]
    } else {
        [format!("andon-{stage}"), format!("andon-wheel-{stage}")]
    };
    let is_it = |word: &str| ids.iter().any(|id| id == word.trim_matches(['"', '\'']));
    let words = || text.split(|char: char| char.is_whitespace() || matches!(char, ',' | '{' | '}'));
    if text.contains(&format!("hook {stage}")) || !text.contains("andon") || words().any(is_it) {
        return None;
    }
    Some(format!("{name} runs no andon at {stage}"))
}
