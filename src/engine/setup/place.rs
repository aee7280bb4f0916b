//! Where hooks go, and whether that place is this repository's own.

use std::path::{Path, PathBuf};

use super::{SetupError, quoted};
use crate::effect::install::mode::Integration;
use crate::git::{ConfigScope, GitError, Repo, SourcedValue};

/// Who decides where hooks are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Override {
    /// Nobody: they are in the git directory.
    None,
    /// This repository, or its linked worktree.
    Own(SourcedValue),
    /// The user's or the machine's configuration, or the command line.
    Foreign(SourcedValue),
}

/// Says which `core.hooksPath` holds. git lets the last value win.
pub fn hooks_override(repo: &Repo) -> Result<Override, GitError> {
    Ok(judge(repo.config_sources("core.hooksPath")?))
}

fn judge(mut values: Vec<SourcedValue>) -> Override {
    let Some(last) = values.pop() else { return Override::None };
    match last.scope {
        ConfigScope::Local | ConfigScope::Worktree => Override::Own(last),
        ConfigScope::System | ConfigScope::Global | ConfigScope::Command => Override::Foreign(last),
    }
}

/// Refuses a hooks path that is not this repository's own, with the command that gives it one.
pub(crate) fn refuse_foreign(repo: &Repo) -> Result<(), SetupError> {
    match hooks_override(repo)? {
        Override::None | Override::Own(_) => Ok(()),
        Override::Foreign(found) => {
            let hint = hooks_hint(repo, found.scope);
            Err(SetupError::ForeignHooksPath {
                scope: found.scope,
                origin: found.origin,
                value: found.value,
                hint,
            })
        }
    }
}

/// The exact fix for a foreign hooks path.
pub fn hooks_hint(repo: &Repo, scope: ConfigScope) -> String {
    match scope {
        ConfigScope::Command => {
            "run it without `git -c core.hooksPath=...` and without GIT_CONFIG_* variables".to_owned()
        }
        ConfigScope::System | ConfigScope::Global | ConfigScope::Local | ConfigScope::Worktree => {
            format!("git config --local core.hooksPath {}", quoted(&own_hooks_dir(repo)))
        }
    }
}

fn own_hooks_dir(repo: &Repo) -> PathBuf {
    repo.common_dir().join("hooks")
}

/// What a person should know about the place that was chosen.
pub(crate) fn remarks(repo: &Repo, top: &Path, mode: Integration, dir: &Path) -> Vec<String> {
    let mut remarks = Vec::new();
    let linked = repo.common_dir().join("worktrees").is_dir();
    if matches!(mode, Integration::Husky | Integration::PreCommit) && linked {
        remarks.push("each linked worktree has these files as its branch has them".to_owned());
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
            remarks.push(
                "core.hooksPath is inside the working tree: each linked worktree has its own hooks; \
                 run `andon install` in each"
                    .to_owned(),
            );
        }
    }
    remarks
}

/// Where lines in files that hold no path of this machine find the program: `<common git dir>/andon/program`.
pub(crate) fn program_link(repo: &Repo) -> PathBuf {
    repo.common_dir().join("andon").join("program")
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
