//! Andon's keys in git's configuration of the repository:
//! - hooks, which git 2.54 and newer run in addition to those of the hooks directory: no manager overwrites them,
//!   whatever `core.hooksPath` is;
//! - `andon install --fetch`: what every `git fetch` brings besides branches. It only lands under names of the remote;
//!   taking it over is left to `andon sync`;
//! - `andon.push`: whether every push sends records along. It is the person's choice, made by installing; nothing that is
//!   committed can make it.

use std::path::Path;

use super::InstallArgs;
use crate::install::{KeyValue, Step, start_lines};
use crate::setup::{event_key, fetch_states, is_ours_alone};
use andon_core::{domain::GitHook, escape::shell_quote_bytes};
use andon_engine::sync::PUSH_KEY;
use andon_git::{ConfigScope, GitError, Repo, platform::paths::shell_bytes};

/// The keys and their values. git appends the arguments of the hook to the command.
pub(super) fn hook_keys(program: &Path) -> Vec<KeyValue> {
    let program = shell_quote_bytes(&shell_bytes(program));
    let of_one = |hook: GitHook| {
        let name = hook.name();
        let command = start_lines::command(hook, &program);
        [(event_key(hook), name.to_owned()), (format!("hook.andon-{name}.command"), command)]
    };
    GitHook::ALL.into_iter().flat_map(of_one).collect()
}

/// The values that this repository's own configuration has, and those that it lacks.
fn looked_up(repo: &Repo, values: Vec<KeyValue>) -> Result<(Vec<KeyValue>, Vec<KeyValue>), GitError> {
    let (mut there, mut missing) = (Vec::new(), Vec::new());
    for (key, value) in values {
        let mut found = repo.config_sources(&key)?.into_iter();
        let is_set = found.any(|found| found.scope == ConfigScope::Local && found.value == value);
        let list = if is_set { &mut there } else { &mut missing };
        list.push((key, value));
    }
    Ok((there, missing))
}

/// The values that are still in the configuration of this repository.
pub(super) fn still_set(repo: &Repo, values: Vec<KeyValue>) -> Result<Vec<KeyValue>, GitError> {
    Ok(looked_up(repo, values)?.0)
}

/// The changes from the hooks that were installed once to those of `wanted`.
pub(super) fn hook_changes(
    repo: &Repo,
    wanted: &[KeyValue],
    known: &[KeyValue],
) -> Result<Vec<Step>, GitError> {
    let outdated = known.iter().filter(|one| !wanted.contains(one)).cloned().collect();
    let (outdated, missing) = (looked_up(repo, outdated)?.0, looked_up(repo, wanted.to_vec())?.1);
    Ok(outdated.into_iter().map(Step::Unset).chain(missing.into_iter().map(Step::Set)).collect())
}

/// The changes for all remotes; without `--fetch` only for those with refspecs that write refs of this clone.
pub(super) fn fetch_changes(repo: &Repo, args: &InstallArgs) -> Result<Vec<Step>, GitError> {
    let mut changes = Vec::new();
    for state in fetch_states(&repo.fetch_refspecs()?) {
        let key = format!("remote.{}.fetch", state.remote);
        let of_key = |spec: String| (key.clone(), spec);
        let ours = state.overwrites.into_iter().filter(|spec| is_ours_alone(spec));
        let outdated = still_set(repo, ours.map(of_key).collect())?;
        if args.fetch || !outdated.is_empty() {
            changes.extend(outdated.into_iter().map(Step::Unset));
            changes.extend(state.missing.into_iter().map(of_key).map(Step::Set));
        }
    }
    Ok(changes)
}

/// The changes of the key to what is asked (yes, unless it was chosen before), in the place of the values of this repository.
pub(super) fn push_changes(repo: &Repo, args: &InstallArgs) -> Result<Vec<Step>, GitError> {
    let there = repo.config_sources(PUSH_KEY)?;
    let wanted = match (args.push, args.no_push) {
        (true, _) => "true",
        (false, true) => "false",
        (false, false) if there.is_empty() => "true",
        (false, false) => return Ok(Vec::new()),
    };
    let own = there.into_iter().filter(|found| found.scope == ConfigScope::Local).map(|found| found.value);
    let own: Vec<String> = own.collect();
    if own == [wanted] {
        return Ok(Vec::new());
    }
    let keyed = |value: String| (PUSH_KEY.to_owned(), value);
    let outdated = own.into_iter().map(keyed).map(Step::Unset);
    Ok(outdated.chain([Step::Set(keyed(wanted.to_owned()))]).collect())
}
