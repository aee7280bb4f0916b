//! Hooks in the configuration of the repository, which git 2.54 and newer run in addition to those of the hooks
//! directory: no manager overwrites them, whatever `core.hooksPath` is.

use std::path::Path;

use crate::install::manifest::Manifest;
use crate::install::start_lines;
use crate::setup::{SetupError, event_key};
use andon_core::domain::git_hook::GitHook;
use andon_core::escape::shell_quote_bytes;
use andon_git::platform::paths::shell_bytes;
use andon_git::{ConfigScope, GitError, Repo};

/// The keys and their values. git appends the arguments of the hook to the command.
pub(super) fn keys(program: &Path) -> Vec<(String, String)> {
    let program = shell_quote_bytes(&shell_bytes(program));
    let of_one = |hook: GitHook| {
        let name = hook.name();
        let command = start_lines::command(hook, &program);
        [(event_key(hook), name.to_owned()), (format!("hook.andon-{name}.command"), command)]
    };
    GitHook::ALL.into_iter().flat_map(of_one).collect()
}

/// Brings the configuration to `wanted`; returns whether something changed.
pub(super) fn set(
    repo: &Repo,
    wanted: &[(String, String)],
    manifest: &mut Manifest,
) -> Result<super::StepEffect, GitError> {
    let mut changed = super::StepEffect::Nothing;
    for (key, value) in std::mem::take(&mut manifest.hook_keys) {
        if !wanted.contains(&(key.clone(), value.clone())) && is_set(repo, &key, &value)? {
            repo.config_remove(&key, &value)?;
            changed = super::StepEffect::Something;
        }
    }
    for (key, value) in wanted {
        if !is_set(repo, key, value)? {
            repo.config_add(key, value)?;
            changed = super::StepEffect::Something;
        }
    }
    manifest.hook_keys = wanted.to_vec();
    Ok(changed)
}

/// Takes them out again.
pub(super) fn unset(repo: &Repo, manifest: &mut Manifest) -> Result<usize, SetupError> {
    let mut removed = 0;
    for (key, value) in std::mem::take(&mut manifest.hook_keys) {
        if is_set(repo, &key, &value)? {
            repo.config_remove(&key, &value)?;
            removed += 1;
        }
    }
    Ok(removed)
}

/// Whether this repository's own configuration says so.
pub(super) fn is_set(repo: &Repo, key: &str, value: &str) -> Result<bool, GitError> {
    let found = repo.config_sources(key)?;
    Ok(found.iter().any(|found| found.scope == ConfigScope::Local && found.value == value))
}
