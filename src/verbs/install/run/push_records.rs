//! Whether every push sends records along: `andon.push` in git's own configuration of this repository. It is the
//! person's choice, made by installing; nothing that is committed can make it.

use crate::install::InstallError;
use crate::install::manifest::Manifest;
use crate::setup::SetupError;
use andon_engine::sync::PUSH_KEY;
use andon_git::{ConfigScope, Repo};

/// What was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PushChoice {
    /// `--push`.
    Yes,
    /// `--no-push`.
    No,
    /// Nothing: yes, unless it was chosen before.
    Unsaid,
}

/// Sets the key as asked and remembers it for `andon uninstall`. Returns what was set, if anything was.
pub fn set_push(repo: &Repo, push_records: PushChoice) -> Result<Option<&'static str>, SetupError> {
    let Some((wanted, own)) = wanted(repo, push_records)? else { return Ok(None) };
    let path = Manifest::path(repo.common_dir());
    let mut manifest = Manifest::read(&path).map_err(InstallError::from)?.unwrap_or_default();
    manifest.fetch.retain(|(key, _)| key != PUSH_KEY);
    manifest.fetch.push((PUSH_KEY.to_owned(), wanted.to_owned()));
    // First: an entry for what never came to be does no harm.
    manifest.write(&path).map_err(InstallError::from)?;
    for value in own {
        repo.config_remove(PUSH_KEY, &value)?;
    }
    repo.config_add(PUSH_KEY, wanted)?;
    Ok(Some(wanted))
}

/// The value that is to be set, and those of this repository that it takes the place of; `None` where nothing changes.
pub(super) fn wanted(
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
