//! The place of hooks, and whether it is this repository's own.

use andon_core::domain::Hint;
use andon_engine::Context;
use std::path::{Path, PathBuf};

use super::quoted;
use crate::install::{InstallError, Integration, Result, forward};
use andon_git::{ConfigScope, GitError, Repo, SourcedValue};

/// The key that says where git looks for hooks.
pub(crate) const HOOKS_PATH: &str = "core.hooksPath";

/// The hooks folder of git, as far as its configuration shows without starting it.
pub(crate) fn configured(repo: &Repo) -> PathBuf {
    let set = repo.config_string(HOOKS_PATH).filter(|path| !path.is_empty());
    let top = repo.workdir().unwrap_or(repo.git_dir());
    set.map_or_else(|| repo.common_dir().join("hooks"), |path| top.join(path))
}

/// The folder in which git looks for hooks. The shell of a client that switches them off for all of its commands says nothing of the
/// loop: its hooks put them back for git, and record what was committed.
pub(crate) fn of_git(ctx: &Context, repo: &Repo) -> Result<PathBuf, GitError> {
    let is_off = ctx.actor().client.is_some_and(|client| client.spec().habits.shell_without_hooks);
    if is_off { Ok(configured(repo)) } else { repo.hooks_dir() }
}

/// Who decides where hooks are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Override {
    /// No one: they are in the git directory.
    None,
    /// This repository, or its linked worktree.
    Own(SourcedValue),
    /// The user's or the machine's configuration, or the command line.
    Foreign(SourcedValue),
}

/// Says which `core.hooksPath` holds. git lets the last value win.
pub fn hooks_override(repo: &Repo) -> Result<Override, GitError> {
    Ok(judge(repo.config_sources(HOOKS_PATH)?))
}

fn judge(mut values: Vec<SourcedValue>) -> Override {
    let Some(last) = values.pop() else { return Override::None };
    match last.scope {
        ConfigScope::Local | ConfigScope::Worktree => Override::Own(last),
        ConfigScope::System | ConfigScope::Global | ConfigScope::Command => Override::Foreign(last),
    }
}

/// A `core.hooksPath` for all repositories of the user or the machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedHooksPath {
    pub set_by: SourcedValue,
    /// Its target; from the top of the working tree where it is relative.
    pub dir: PathBuf,
    /// This repository looks elsewhere.
    pub hidden: bool,
}

/// The hooks path that would hold if this repository set none; `None` where that is its own directory.
pub fn shared(repo: &Repo) -> Result<Option<SharedHooksPath>, GitError> {
    let values = repo.config_sources(HOOKS_PATH)?;
    let is_shared = |value: &&SourcedValue| matches!(value.scope, ConfigScope::System | ConfigScope::Global);
    let hidden = values.last().is_some_and(|last| !is_shared(&last));
    let Some(set_by) = values.iter().rev().find(is_shared).cloned() else { return Ok(None) };
    let dir = repo.shared_hooks_dir().unwrap_or_else(|| PathBuf::from(&set_by.value));
    Ok(Some(SharedHooksPath { set_by, dir, hidden }))
}

/// The place of the hooks of this repository, and the hooks that they are to run besides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HookPlace {
    pub(crate) dir: PathBuf,
    /// The hooks of all repositories, where they would not run any more.
    pub(crate) theirs: Option<SharedHooksPath>,
}

/// Chooses the directory: where git looks now, or one of this repository alone where that is not its own.
pub(crate) fn choose(repo: &Repo) -> Result<HookPlace> {
    let now = repo.hooks_dir()?;
    let own = forward::dir(repo.common_dir());
    match hooks_override(repo)? {
        Override::Own(_) if is_same(&now, &own) => Ok(HookPlace { dir: own, theirs: shared(repo)? }),
        Override::None | Override::Own(_) => Ok(HookPlace { dir: now, theirs: None }),
        Override::Foreign(found) if found.scope == ConfigScope::Command => {
            let hint = hooks_hint(found.scope);
            Err(InstallError::ForeignHooksPath { value: found.value, hint })
        }
        Override::Foreign(_) => Ok(HookPlace { dir: own, theirs: shared(repo)? }),
    }
}

pub(super) fn is_same(one: &Path, other: &Path) -> bool {
    one == other
        || one.canonicalize().ok().zip(other.canonicalize().ok()).is_some_and(|(one, other)| one == other)
}

/// The exact fix for a foreign hooks path.
pub fn hooks_hint(scope: ConfigScope) -> String {
    if scope == ConfigScope::Command {
        return "run it without `git -c core.hooksPath=...` and without GIT_CONFIG_* variables".to_owned();
    }
    Hint::Install.into()
}

/// Remarks for a person on the place that was chosen.
pub(crate) fn remarks(repo: &Repo, top: &Path, mode: Integration, dir: &Path) -> Vec<String> {
    let mut remarks = Vec::new();
    let linked = repo.common_dir().join("worktrees").is_dir();
    if matches!(mode, Integration::Husky | Integration::PreCommit) && linked {
        remarks.push("each linked worktree has these files as its branch has them".to_owned());
    }
    let hides = |shared: &SharedHooksPath| shared.hidden && dir != forward::dir(repo.common_dir());
    if mode == Integration::Shim
        && let Some(shared) = shared(repo).ok().flatten().filter(hides)
    {
        remarks.push(format!(
            "core.hooksPath is {:?} for all your repositories ({}), and this one sets another: the hooks there do not run \
             here; to have them run too: {}",
            shared.set_by.value,
            shared.set_by.origin,
            Hint::UseSharedHooks.text()
        ));
    }
    if mode == Integration::Config || mode == Integration::Shim && linked && !dir.starts_with(top) {
        remarks.extend(for_all(repo));
    }
    if mode == Integration::Shim
        && dir.starts_with(top)
        && !dir.starts_with(repo.common_dir())
        && !dir.starts_with(repo.git_dir())
    {
        remarks.push(format!(
            "the hooks are in the working tree ({}): they hold a path of this machine, so do not commit them",
            quoted(dir)
        ));
        if linked {
            let each = "core.hooksPath is inside the working tree, so each linked worktree has its own hooks; in each";
            remarks.push(Hint::Install.led(each));
        }
    }
    remarks
}

/// The link by which lines in files that hold no path of this machine find the program: `<common git dir>/andon/program`.
pub(crate) fn program_link(repo: &Repo) -> PathBuf {
    repo.common_dir().join("andon").join("program")
}

/// The place of the JSON Schema that the first line of `andon.toml` names, below the common git directory.
pub(crate) fn schema_file(repo: &Repo) -> PathBuf {
    let name = Path::new(andon_config::SCHEMA_FILE).file_name().unwrap_or_default();
    repo.common_dir().join("andon").join(name)
}

/// Says that what was done holds for every worktree, where there are several.
pub(crate) fn for_all(repo: &Repo) -> Option<String> {
    repo.common_dir().join("worktrees").is_dir().then(|| {
        "this holds for all worktrees of the repository: they share its hooks and its configuration"
            .to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_value_decides() {
        use ConfigScope::{Command, Global, Local, System, Worktree};
        let value = |scope| SourcedValue { scope, origin: "/o".into(), value: "/v".into() };
        let cases: [(&[ConfigScope], Override); 7] = [
            (&[], Override::None),
            (&[Local], Override::Own(value(Local))),
            (&[System, Global, Local], Override::Own(value(Local))),
            (&[Local, Worktree], Override::Own(value(Worktree))),
            (&[Global], Override::Foreign(value(Global))),
            (&[System], Override::Foreign(value(System))),
            (&[Local, Command], Override::Foreign(value(Command))),
        ];
        for (scopes, wanted) in cases {
            assert_eq!(judge(scopes.iter().copied().map(value).collect()), wanted, "{scopes:?}");
        }
    }
}
