//! Andon's keys in git's configuration of the repository:
//! - hooks, which git 2.54 and newer run in addition to those of the hooks directory: no manager overwrites them,
//!   whatever `core.hooksPath` is;
//! - `andon install --fetch`: what every `git fetch` brings besides branches. It only lands under names of the remote;
//!   taking it over is left to `andon sync`;
//! - `andon.push`: whether every push sends records along. It is the person's choice, made by installing; nothing that is
//!   committed can make it.

use std::path::Path;

use crate::install::manifest::Manifest;
use crate::install::start_lines;
use crate::setup::{SetupError, event_key, fetch_states, is_ours_alone};
use andon_core::domain::git_hook::GitHook;
use andon_core::escape::shell_quote_bytes;
use andon_engine::sync::PUSH_KEY;
use andon_git::platform::paths::shell_bytes;
use andon_git::{ConfigScope, GitError, Repo};

/// The keys and their values. git appends the arguments of the hook to the command.
pub(super) fn hook_keys(program: &Path) -> Vec<(String, String)> {
    let program = shell_quote_bytes(&shell_bytes(program));
    let of_one = |hook: GitHook| {
        let name = hook.name();
        let command = start_lines::command(hook, &program);
        [(event_key(hook), name.to_owned()), (format!("hook.andon-{name}.command"), command)]
    };
    GitHook::ALL.into_iter().flat_map(of_one).collect()
}

/// Brings the configuration to `wanted`; true if something changed.
pub(super) fn set_hooks(
    repo: &Repo,
    wanted: &[(String, String)],
    manifest: &mut Manifest,
) -> Result<bool, SetupError> {
    let outdated = std::mem::take(&mut manifest.hook_keys).into_iter().filter(|one| !wanted.contains(one));
    let removed = unset(repo, outdated.collect())?;
    let mut changed = !removed.is_empty();
    for (key, value) in wanted {
        if !is_set(repo, key, value)? {
            repo.config_add(key, value)?;
            changed = true;
        }
    }
    manifest.hook_keys = wanted.to_vec();
    Ok(changed)
}

/// True if this repository's own configuration says so.
pub(super) fn is_set(repo: &Repo, key: &str, value: &str) -> Result<bool, GitError> {
    let found = repo.config_sources(key)?;
    Ok(found.iter().any(|found| found.scope == ConfigScope::Local && found.value == value))
}

/// A key of git's configuration and a value that was added to it or taken out of it.
pub type KeyValue = (String, String);

/// The refspecs that are to be taken out and added.
#[derive(Debug, Default)]
pub(super) struct FetchChange {
    /// Those that write refs of this clone.
    pub outdated: Vec<KeyValue>,
    /// Those that the remotes lack.
    pub missing: Vec<KeyValue>,
}

/// Takes out the refspecs that write refs of this clone, adds those that the remotes lack, and remembers them for `andon
/// uninstall`. Returns what was added.
pub(super) fn set_fetch(repo: &Repo, change: FetchChange) -> Result<Vec<KeyValue>, SetupError> {
    let FetchChange { outdated, missing: added } = change;
    if added.is_empty() && outdated.is_empty() {
        return Ok(added);
    }
    let path = Manifest::path(repo.common_dir());
    let mut manifest = Manifest::of(repo)?;
    for one in &added {
        if !manifest.fetch.contains(one) {
            manifest.fetch.push(one.clone());
        }
    }
    // First: an entry for what never came to be does no harm.
    manifest.write(&path)?;
    unset(repo, outdated)?;
    for (key, spec) in &added {
        repo.config_add(key, spec)?;
    }
    Ok(added)
}

/// The change for all remotes; without `--fetch` only for those with refspecs that write refs of this clone.
pub(super) fn fetch_change(repo: &Repo, asked: FetchRefspecs) -> Result<FetchChange, SetupError> {
    let mut change = FetchChange::default();
    for state in fetch_states(&repo.fetch_refspecs()?) {
        let key = format!("remote.{}.fetch", state.remote);
        let of_key = |spec: String| (key.clone(), spec);
        let mut outdated: Vec<KeyValue> = Vec::new();
        for one in state.overwrites.into_iter().filter(|spec| is_ours_alone(spec)).map(of_key) {
            if is_set(repo, &one.0, &one.1)? {
                outdated.push(one);
            }
        }
        if asked == FetchRefspecs::Wanted || !outdated.is_empty() {
            change.missing.extend(state.missing.into_iter().map(of_key));
            change.outdated.extend(outdated);
        }
    }
    Ok(change)
}

/// `--fetch`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum FetchRefspecs {
    Wanted,
    #[default]
    AsTheyAre,
}

/// Takes values out of the configuration of this repository, those that are still there; returns these.
pub(super) fn unset(repo: &Repo, values: Vec<KeyValue>) -> Result<Vec<KeyValue>, SetupError> {
    let mut removed = Vec::new();
    for (key, value) in values {
        if is_set(repo, &key, &value)? {
            repo.config_remove(&key, &value)?;
            removed.push((key, value));
        }
    }
    Ok(removed)
}

/// `--push` and `--no-push`.
#[derive(Debug, Clone, Copy, Default)]
pub enum PushChoice {
    Yes,
    No,
    /// Yes, unless it was chosen before.
    #[default]
    Unsaid,
}

/// Sets the key as asked and remembers it for `andon uninstall`. Returns what was set, if anything was.
pub(super) fn set_push(repo: &Repo, push_records: PushChoice) -> Result<Option<&'static str>, SetupError> {
    let Some((wanted, own)) = wanted_push(repo, push_records)? else { return Ok(None) };
    let path = Manifest::path(repo.common_dir());
    let mut manifest = Manifest::of(repo)?;
    manifest.fetch.retain(|(key, _)| key != PUSH_KEY);
    manifest.fetch.push((PUSH_KEY.to_owned(), wanted.to_owned()));
    // First: an entry for what never came to be does no harm.
    manifest.write(&path)?;
    for value in own {
        repo.config_remove(PUSH_KEY, &value)?;
    }
    repo.config_add(PUSH_KEY, wanted)?;
    Ok(Some(wanted))
}

/// The value that is to be set, and those of this repository that it takes the place of; `None` where nothing changes.
pub(super) fn wanted_push(
    repo: &Repo,
    push_records: PushChoice,
) -> Result<Option<(&'static str, Vec<String>)>, SetupError> {
    let there = repo.config_sources(PUSH_KEY)?;
    let wanted = match push_records {
        PushChoice::Yes => "true",
        PushChoice::No => "false",
        PushChoice::Unsaid if there.is_empty() => "true",
        PushChoice::Unsaid => return Ok(None),
    };
    let own = there.into_iter().filter(|found| found.scope == ConfigScope::Local).map(|found| found.value);
    let own: Vec<String> = own.collect();
    Ok(if own == [wanted] { None } else { Some((wanted, own)) })
}
