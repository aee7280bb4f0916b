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

/// A key of git's configuration and a value that was added to it or taken out of it.
pub type KeyValue = (String, String);

/// The values that are to be taken out of the configuration of this repository, and those that are to be added.
#[derive(Debug, Default)]
pub(super) struct KeyChange {
    /// Those that are there, and are not to be.
    pub outdated: Vec<KeyValue>,
    /// Those that it lacks.
    pub missing: Vec<KeyValue>,
}

impl KeyChange {
    /// Makes the change; true if there was one to make.
    pub(super) fn make(&self, repo: &Repo) -> Result<bool, GitError> {
        for (key, value) in &self.outdated {
            repo.config_remove(key, value)?;
        }
        for (key, value) in &self.missing {
            repo.config_add(key, value)?;
        }
        Ok(!self.outdated.is_empty() || !self.missing.is_empty())
    }

    /// Makes the change and remembers what it adds for `andon uninstall`. Returns that.
    pub(super) fn make_known(self, repo: &Repo) -> Result<Vec<KeyValue>, SetupError> {
        let mut manifest = Manifest::of(repo)?;
        for one in &self.missing {
            let is_replaced =
                |earlier: &KeyValue| earlier == one || (one.0 == PUSH_KEY && earlier.0 == PUSH_KEY);
            manifest.fetch.retain(|earlier| !is_replaced(earlier));
            manifest.fetch.push(one.clone());
        }
        if !self.missing.is_empty() {
            // First: an entry for what never came to be does no harm.
            manifest.write(&Manifest::path(repo.common_dir()))?;
        }
        self.make(repo)?;
        Ok(self.missing)
    }
}

/// The values that this repository's own configuration has, and those that it lacks.
pub(super) fn looked_up(
    repo: &Repo,
    values: Vec<KeyValue>,
) -> Result<(Vec<KeyValue>, Vec<KeyValue>), GitError> {
    let (mut there, mut missing) = (Vec::new(), Vec::new());
    for (key, value) in values {
        let mut found = repo.config_sources(&key)?.into_iter();
        let is_set = found.any(|found| found.scope == ConfigScope::Local && found.value == value);
        let list = if is_set { &mut there } else { &mut missing };
        list.push((key, value));
    }
    Ok((there, missing))
}

/// The change from the hooks that were installed once to those of `wanted`.
pub(super) fn hook_change(
    repo: &Repo,
    wanted: &[KeyValue],
    known: &[KeyValue],
) -> Result<KeyChange, GitError> {
    let outdated = known.iter().filter(|one| !wanted.contains(one)).cloned().collect();
    Ok(KeyChange { outdated: looked_up(repo, outdated)?.0, missing: looked_up(repo, wanted.to_vec())?.1 })
}

/// The change for all remotes; without `--fetch` only for those with refspecs that write refs of this clone.
pub(super) fn fetch_change(repo: &Repo, asked: FetchRefspecs) -> Result<KeyChange, SetupError> {
    let mut change = KeyChange::default();
    for state in fetch_states(&repo.fetch_refspecs()?) {
        let key = format!("remote.{}.fetch", state.remote);
        let of_key = |spec: String| (key.clone(), spec);
        let ours = state.overwrites.into_iter().filter(|spec| is_ours_alone(spec));
        let (outdated, _) = looked_up(repo, ours.map(of_key).collect())?;
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
    let (outdated, _) = looked_up(repo, values)?;
    let change = KeyChange { outdated, missing: Vec::new() };
    change.make(repo)?;
    Ok(change.outdated)
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

/// The change of the key to what is asked, in the place of the values of this repository.
pub(super) fn push_change(repo: &Repo, push_records: PushChoice) -> Result<KeyChange, GitError> {
    let there = repo.config_sources(PUSH_KEY)?;
    let wanted = match push_records {
        PushChoice::Yes => "true",
        PushChoice::No => "false",
        PushChoice::Unsaid if there.is_empty() => "true",
        PushChoice::Unsaid => return Ok(KeyChange::default()),
    };
    let own = there.into_iter().filter(|found| found.scope == ConfigScope::Local).map(|found| found.value);
    let own: Vec<String> = own.collect();
    let keyed = |value: String| (PUSH_KEY.to_owned(), value);
    Ok(if own == [wanted] {
        KeyChange::default()
    } else {
        KeyChange { outdated: own.into_iter().map(keyed).collect(), missing: vec![keyed(wanted.to_owned())] }
    })
}
