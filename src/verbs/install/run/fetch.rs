//! `andon install --fetch`: what every `git fetch` is to bring besides branches. It only lands under names of the
//! remote; taking it over is left to `andon sync`.

use crate::install::InstallError;
use crate::install::manifest::Manifest;
use crate::setup::SetupError;
use crate::setup::fetch::fetch_states;
use andon_git::{ConfigScope, Repo};

/// A configuration key (`remote.NAME.fetch`) and the refspec that was added to it or taken out of it.
pub type FetchSpec = (String, String);

/// Adds the refspecs that the remotes lack and remembers them for `andon uninstall`. Returns what was added.
pub fn set_fetch(repo: &Repo) -> Result<Vec<FetchSpec>, SetupError> {
    let added = missing(repo)?;
    if added.is_empty() {
        return Ok(added);
    }
    let path = Manifest::path(repo.common_dir());
    let mut manifest = Manifest::read(&path).map_err(InstallError::from)?.unwrap_or_default();
    for one in &added {
        if !manifest.fetch.contains(one) {
            manifest.fetch.push(one.clone());
        }
    }
    // First: an entry for what never came to be does no harm.
    manifest.write(&path).map_err(InstallError::from)?;
    for (key, spec) in &added {
        repo.config_add(key, spec)?;
    }
    Ok(added)
}

/// The refspecs that the remotes lack.
pub(super) fn missing(repo: &Repo) -> Result<Vec<FetchSpec>, SetupError> {
    let mut missing: Vec<FetchSpec> = Vec::new();
    for state in fetch_states(&repo.fetch_refspecs()?) {
        let key = format!("remote.{}.fetch", state.remote);
        missing.extend(state.missing.into_iter().map(|spec| (key.clone(), spec)));
    }
    Ok(missing)
}

/// Takes out what was added and is still there.
pub(super) fn unset_fetch(repo: &Repo, manifest: &mut Manifest) -> Result<Vec<FetchSpec>, SetupError> {
    unset(repo, std::mem::take(&mut manifest.fetch))
}

/// Takes values out of the configuration of this repository, those that are still there; returns these.
pub(super) fn unset(repo: &Repo, values: Vec<FetchSpec>) -> Result<Vec<FetchSpec>, SetupError> {
    let mut removed = Vec::new();
    for (key, spec) in values {
        let there = repo
            .config_sources(&key)?
            .iter()
            .any(|found| found.scope == ConfigScope::Local && found.value == spec);
        if there {
            repo.config_remove(&key, &spec)?;
            removed.push((key, spec));
        }
    }
    Ok(removed)
}
