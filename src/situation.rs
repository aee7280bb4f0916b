//! The state of a loop in one worktree, without a look at its files: what `andon status` and `andon watch` both show.

use std::path::{Path, PathBuf};

use super::setup::clients::guard_store;
use super::setup::live::{self, GuardState};
use super::setup::place::{self, HOOKS_PATH};
use andon_core::domain::{GitHook, Hint, Presence, StandingHalt};
use andon_core::{detect, history::Timeline};
use andon_engine::halts::{self, stops};
use andon_engine::recording::{LoadedTimeline, timeline};
use andon_engine::view::{LoopCount, LoopState, LostHooks};
use andon_engine::{Context, Result, Workspace, gate::guard};
use andon_git::{Head, Repo};

/// The state of a loop.
pub struct LoopSituation {
    /// HEAD as it is now.
    pub head: Head,
    /// The newest window, with what the journal has of it.
    pub loaded: LoadedTimeline,
    /// The halt that is recorded, whether or not it was answered by deleting its file.
    pub recorded: Option<StandingHalt>,
    /// The unanswered halt.
    pub standing: Option<StandingHalt>,
    /// The hooks that are gone, if any.
    pub hooks: Option<LostHooks>,
    /// The state that follows from the rest.
    pub state: LoopState,
}

/// The state of the hooks.
#[derive(Clone)]
pub struct HookSituation {
    guarded: GuardState,
    installed: Presence,
}

impl HookSituation {
    /// Asks git where it looks for hooks: starts a process.
    pub fn read(ctx: &Context, repo: &Repo) -> Self {
        match place::of_git(ctx, repo) {
            Ok(dir) => Self::at(repo, &dir),
            Err(_) => Self { guarded: GuardState::Yes, installed: Presence::Absent },
        }
    }

    /// The state of the hooks in `dir`, where git is known to look for them.
    pub fn at(repo: &Repo, dir: &Path) -> Self {
        let there = dir.join(GitHook::PostCommit.name()).symlink_metadata().is_ok();
        let installed = if there { Presence::Present } else { Presence::Absent };
        Self { guarded: live::look_at(repo, dir), installed }
    }

    /// The same, where the user's own folder still knows of hooks of which the repository knows nothing any more.
    fn with_copy(&self, ctx: &Context, repo: &Repo) -> Self {
        let was_armed = || guard_store(ctx, repo).outside().filter(|copy| copy.armed);
        if self.guarded != GuardState::Never || was_armed().is_none() {
            return self.clone();
        }
        let folder = repo.common_dir().join("andon");
        let what = format!(
            "what is kept of this loop ({}) is gone since the newest call of an agent",
            folder.display()
        );
        let gone = LostHooks { what, help: Hint::Install.into() };
        Self { guarded: GuardState::Gone(gone), installed: self.installed }
    }
}

/// The hooks folder of the worktrees of a repository: git is asked once for all that have the same setting.
pub struct SharedHooks {
    setting: Option<String>,
    dir: Option<PathBuf>,
}

impl SharedHooks {
    /// Asks git: starts a process.
    pub fn read(ctx: &Context, repo: &Repo) -> Self {
        Self { setting: repo.config_string(HOOKS_PATH), dir: place::of_git(ctx, repo).ok() }
    }

    /// The state of the hooks of another worktree.
    pub fn seen(&self, ctx: &Context, repo: &Repo) -> HookSituation {
        let setting = repo.config_string(HOOKS_PATH);
        match (&self.dir, setting.as_deref()) {
            (Some(dir), None) if self.setting.is_none() => HookSituation::at(repo, dir),
            (Some(dir), set) if set == self.setting.as_deref() && dir.is_absolute() => {
                // A relative one is looked for in each working tree.
                let own =
                    set.filter(|set| !set.starts_with('~')).map(Path::new).filter(|set| set.is_relative());
                let top = repo.workdir().unwrap_or(repo.git_dir());
                HookSituation::at(repo, &own.map_or_else(|| dir.clone(), |own| top.join(own)))
            }
            (Some(_) | None, _) => HookSituation::read(ctx, repo),
        }
    }

    /// The directory, where git named one.
    pub fn dir(&self) -> Option<&Path> {
        self.dir.as_deref()
    }
}

/// The iterations of a loop, and how many there may be.
pub fn count(ws: &Workspace, timeline: &Timeline) -> LoopCount {
    LoopCount { iteration: timeline.counted(), cap: detect::iteration_cap(&ws.config.rules) }
}

/// Looks at the records, the journal and the ledger.
///
/// # Errors
/// HEAD or the ledger cannot be read.
pub fn look(ctx: &Context, ws: &Workspace, seen: &HookSituation) -> Result<LoopSituation> {
    let seen = &seen.with_copy(ctx, &ws.repo);
    let head = ws.repo.head()?;
    let loaded = timeline::load(ws)?;
    let found = halts::standing(ws)?;
    // The records of others are theirs to answer where no hook of ours would write their halt.
    let binds = seen.guarded != GuardState::Never && !ctx.is_switched_off();
    let owed = if binds && found.is_none() { guard::owed_halt(ctx, ws, &loaded)? } else { None };
    let standing = found.clone().filter(|found| !halts::answered_by_deletion(ctx, ws, found));
    let recorded = found.map(|found| found.halt).or_else(|| owed.clone());
    let standing = standing.map(|found| found.halt).or(owed);
    let state = state(ctx, ws, &head, &loaded, standing.as_ref(), seen);
    Ok(LoopSituation { head, loaded, recorded, standing, hooks: seen.guarded.clone().gone(), state })
}

fn state(
    ctx: &Context,
    ws: &Workspace,
    head: &Head,
    loaded: &LoadedTimeline,
    standing: Option<&StandingHalt>,
    hooks: &HookSituation,
) -> LoopState {
    let stops = stops(ws);
    if ctx.is_switched_off() {
        LoopState::Disabled
    } else if stops.stop == Presence::Present {
        LoopState::Stopped
    } else if stops.pause == Presence::Present {
        LoopState::Paused
    } else if standing.is_some() {
        LoopState::Halted
    } else if matches!(hooks.guarded, GuardState::Gone(_)) {
        LoopState::HooksGone
    } else if hooks.installed == Presence::Absent && loaded.window.facts.is_empty() {
        LoopState::NotInstalled
    } else if head.commit().is_none() || loaded.timeline.iterations.is_empty() {
        LoopState::Idle
    } else {
        LoopState::Running
    }
}
