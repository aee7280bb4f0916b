//! The search for installed hooks that are gone, because hook managers overwrite hooks silently. `status` and `doctor` read only
//! a few files for it.

use std::{fs, path::Path, time::UNIX_EPOCH};

use super::{
    HUSKY, event_key, hooks_of_husky,
    place::{self, is_same},
};
use crate::install::inspect::{self, inspect};
use crate::install::{HookFile, HookState, Integration, Layout, Manifest, edits, framework, lefthook};
use andon_core::domain::{Diagnostic, GitHook, Hint, Timestamp};
use andon_core::escape::shell_quote;
use andon_engine::{Context, view::LostHooks};
use andon_git::{Repo, platform::files};

/// A word that only lefthook's own hooks hold.
const LEFTHOOK: &[u8] = b"call_lefthook";

/// Most bytes of a hook that are read.
const MAX_BYTES: u64 = 1024 * 1024;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GuardState {
    /// It was never installed in this clone, as far as is known.
    Never,
    /// Every hook that is needed leads to Andon.
    Yes,
    /// It does not any more.
    Gone(LostHooks),
}

impl GuardState {
    /// The loss, where there is one.
    pub fn gone(self) -> Option<LostHooks> {
        if let Self::Gone(gone) = self { Some(gone) } else { None }
    }
}

fn loss(what: impl Into<String>, hint: impl Into<String>) -> LostHooks {
    LostHooks { what: what.into(), help: hint.into() }
}

/// Looks. An unreadable hook counts as present: `andon doctor` says what is wrong with it.
pub fn look(repo: &Repo) -> GuardState {
    repo.hooks_dir().map_or(GuardState::Yes, |dir| look_at(repo, &dir))
}

/// The warning for a verb of the loop where commits of this worktree go around the guard: an agent never runs `andon status`.
pub fn warning(ctx: &Context, repo: &Repo) -> Option<Diagnostic> {
    let gone = look_at(repo, &place::of_git(ctx, repo).ok()?).gone()?;
    let what = format!("the hooks are gone: commits here are neither checked nor recorded: {}", gone.what);
    Some(Diagnostic::warning(what).code("hooks").help(gone.help))
}

/// The same where git is known to look for hooks in `dir`: starts no process.
pub fn look_at(repo: &Repo, dir: &Path) -> GuardState {
    let manifest = match Manifest::read(&Manifest::path(repo.common_dir())) {
        Ok(manifest) => manifest.unwrap_or_default(),
        Err(_) => return without_manifest(repo, dir),
    };
    let mode = manifest.mode.or_else(|| (!manifest.places.is_empty()).then_some(Integration::Shim));
    let top = repo.workdir().unwrap_or(repo.common_dir());
    let gone = match mode {
        None => return GuardState::Never,
        Some(Integration::Shim) => shims(dir, &manifest),
        Some(Integration::Config) => config(repo),
        Some(Integration::Husky) => husky(repo, top, dir),
        Some(Integration::Lefthook) => lefthook(top, dir),
        Some(Integration::PreCommit) => framework(top, dir, &manifest),
    };
    gone.map_or(GuardState::Yes, GuardState::Gone)
}

/// Hooks that are there count as ours where nothing else is known.
fn without_manifest(repo: &Repo, dir: &Path) -> GuardState {
    let is_there = GitHook::needed().any(|hook| starts(&dir.join(hook.name())));
    if is_there || config(repo).is_none() {
        return GuardState::Yes;
    }
    shims(dir, &Manifest::default()).map_or(GuardState::Yes, GuardState::Gone)
}

fn shims(dir: &Path, manifest: &Manifest) -> Option<LostHooks> {
    let Ok(states) = inspect(dir, manifest) else {
        return Some(loss(
            format!("core.hooksPath is {}, which is no directory", dir.display()),
            Hint::Doctor,
        ));
    };
    let lost: Vec<&HookState> =
        states.iter().filter(|state| state.hook.is_needed() && !runs(state)).collect();
    if lost.is_empty() {
        return None;
    }
    let moved = manifest.places.iter().all(|place| !is_same(&place.dir, dir));
    let what = if moved && lost.len() == GitHook::needed().count() {
        format!("git looks for hooks in {} now (core.hooksPath)", dir.display())
    } else {
        lost.iter().map(|state| fate(state)).collect::<Vec<_>>().join(", ")
    };
    Some(loss(what, Hint::Install))
}

/// True if git comes to start Andon through this hook. A hook that was changed by hand may do so.
pub(crate) fn runs(state: &HookState) -> bool {
    use inspect::HookMode::Runs;
    match &state.standing {
        HookFile::Shim { mode: Runs, .. } | HookFile::EditedShim => true,
        HookFile::Foreign { mode: Runs, .. } => matches!(state.legacy, HookFile::Shim { mode: Runs, .. }),
        HookFile::Nothing | HookFile::NoFile | HookFile::Shim { .. } | HookFile::Foreign { .. } => false,
    }
}

/// The fate of a hook that does not start Andon.
pub(crate) fn fate(state: &HookState) -> String {
    let name = state.hook.name();
    match &state.standing {
        HookFile::Nothing => format!("{name} is missing"),
        HookFile::Foreign { owner, .. } => format!("{name} was replaced by {}", owner.as_str()),
        HookFile::NoFile => format!("{name} is no file"),
        HookFile::Shim { .. } | HookFile::EditedShim => format!("{name} is not executable"),
    }
}

/// Since when git starts Andon for the patches of `git am`, as far as files tell; `None` where it does not.
pub(crate) fn patches_since(repo: &Repo, dir: &Path) -> Option<Timestamp> {
    let hook = GitHook::PostApplypatch;
    let manifest = Manifest::of(repo).unwrap_or_default();
    let own = dir.join(hook.name());
    let by = match manifest.mode {
        // No framework has a stage for patches, so that only a shim of ours runs.
        None | Some(Integration::Shim | Integration::PreCommit) => {
            let states = inspect(dir, &manifest).ok()?;
            states.iter().any(|state| state.hook == hook && runs(state)).then_some(own)
        }
        Some(Integration::Husky) => {
            let lines = repo.workdir()?.join(HUSKY).join(hook.name());
            (starts(&own) && holds(&lines, edits::MARK)).then_some(lines)
        }
        Some(Integration::Lefthook) => (starts(&own) && holds(&own, LEFTHOOK)).then_some(own),
        Some(Integration::Config) => {
            repo.config_string(&event_key(hook)).map(|_| repo.common_dir().join("config"))
        }
    };
    let written = fs::metadata(by?).ok()?.modified().ok()?;
    let since = written.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    Some(Timestamp(i64::try_from(since).unwrap_or(i64::MAX)))
}

/// The names of the hooks that Andon needs and that are not as asked; `None` where all are.
fn missing(is_there: impl Fn(GitHook) -> bool) -> Option<String> {
    let lost: Vec<&str> = GitHook::needed().filter(|hook| !is_there(*hook)).map(GitHook::name).collect();
    (!lost.is_empty()).then(|| lost.join(", "))
}

fn config(repo: &Repo) -> Option<LostHooks> {
    let lost = missing(|hook| repo.config_string(&event_key(hook)).is_some())?;
    let what = format!("{lost} is not in the configuration any more");
    Some(loss(what, Hint::InstallMode.with(["config"])))
}

fn husky(repo: &Repo, top: &Path, dir: &Path) -> Option<LostHooks> {
    if let Some(lost) = missing(|hook| holds(&top.join(HUSKY).join(hook.name()), edits::MARK)) {
        let what = format!("the lines of andon are not in {HUSKY}/{lost} any more");
        return Some(loss(what, Hint::Install));
    }
    husky_runs(repo, dir)
}

fn husky_runs(repo: &Repo, dir: &Path) -> Option<LostHooks> {
    let Some(layout) = hooks_of_husky(repo) else {
        return Some(loss(format!("git looks for hooks in {}, not in {HUSKY}", dir.display()), "npx husky"));
    };
    missing(|hook| starts(&dir.join(hook.name())))?;
    let how = if layout == Layout::Sourced { Hint::MakeHuskyExecutable.text() } else { "npx husky" };
    Some(loss(format!("{} holds no hooks that git can start", dir.display()), how))
}

fn lefthook(top: &Path, dir: &Path) -> Option<LostHooks> {
    if !holds(&top.join(lefthook::LOCAL), edits::MARK) {
        let what = format!("the lines of andon are not in {} any more", lefthook::LOCAL);
        return Some(loss(what, Hint::Install));
    }
    started_by(dir, LEFTHOOK, "lefthook install")
}

/// A manager's own hooks that are missing in `dir`, whatever they run; none in the modes without a manager.
pub(crate) fn manager_waits(repo: &Repo, mode: Integration, dir: &Path) -> Option<LostHooks> {
    let top = repo.workdir().unwrap_or(repo.common_dir());
    match mode {
        Integration::Shim | Integration::Config => None,
        Integration::Husky => husky_runs(repo, dir),
        Integration::Lefthook => started_by(dir, LEFTHOOK, "lefthook install"),
        Integration::PreCommit => framework_runs(top, dir),
    }
}

/// True if lefthook's own hooks are there, whatever they run.
pub(crate) fn lefthook_runs(dir: &Path) -> bool {
    started_by(dir, LEFTHOOK, "").is_none()
}

/// True if a configuration of pre-commit or prek names andon.
pub(crate) fn names_andon(top: &Path) -> bool {
    framework::FILES.iter().any(|name| holds(&top.join(name), b"andon"))
}

fn framework(top: &Path, dir: &Path, manifest: &Manifest) -> Option<LostHooks> {
    if !names_andon(top) {
        return Some(loss(format!("{} does not name andon any more", framework::FILE), Hint::Install));
    }
    // A shim of ours that runs from before, or as its legacy hook, does as well.
    if inspect(dir, manifest)
        .is_ok_and(|states| states.iter().filter(|state| state.hook.is_needed()).all(runs))
    {
        return None;
    }
    framework_runs(top, dir)
}

/// The hooks that Andon needs and a framework does not run, where it runs pre-commit as git's hook.
pub(crate) fn half_installed(top: &Path, dir: &Path) -> Option<LostHooks> {
    framework_runs(top, dir).filter(|_| starts(&dir.join(GitHook::PreCommit.name())))
}

fn framework_runs(top: &Path, dir: &Path) -> Option<LostHooks> {
    let types: String =
        GitHook::of_frameworks().map(|hook| format!(" --hook-type {}", hook.name())).collect();
    let listed = short(&top.join(framework::FILE)).is_none_or(|bytes| framework::installs_all(&bytes));
    let types = if listed { "" } else { types.as_str() };
    started_by(dir, b"pre", &format!("pre-commit install{types}"))
}

/// The state of the hooks that a manager writes for itself.
fn started_by(dir: &Path, sign: &[u8], hint: &str) -> Option<LostHooks> {
    let lost = missing(|hook| {
        let path = dir.join(hook.name());
        starts(&path) && holds(&path, sign)
    })?;
    let dir = shell_quote(&dir.to_string_lossy());
    Some(loss(format!("no hook for {lost} that git could start is in {dir}"), hint))
}

pub(crate) fn starts(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|facts| facts.is_file() && files::is_executable(&facts))
}

/// The text of a short file.
pub(crate) fn text(path: &Path) -> Option<String> {
    short(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

/// True if a short file at `path` holds `part`.
fn holds(path: &Path, part: &[u8]) -> bool {
    short(path).is_some_and(|bytes| edits::find(&bytes, part).is_some())
}

fn short(path: &Path) -> Option<Vec<u8>> {
    let facts = fs::metadata(path).ok().filter(|facts| facts.is_file() && facts.len() <= MAX_BYTES)?;
    fs::read(path).ok().filter(|bytes| bytes.len() as u64 >= facts.len().min(1))
}
