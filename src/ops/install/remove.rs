//! `andon uninstall`: everything as it was, as far as it is certainly ours to change.

use std::path::PathBuf;

use super::fetch::{FetchSpec, unset_fetch};
use super::{DISPLAY_REF_KEY, NOTES_REF, SetupError, quoted};
use crate::action::install::InstallError;
use crate::action::install::apply::{self, Removed};
use crate::action::install::hooks::Hook;
use crate::action::install::inspect::inspect;
use crate::action::install::manifest::{Manifest, Place};
use crate::domain::paths::CONFIG_FILE;
use crate::git::{ConfigScope, Repo};

/// What became of the hooks of one directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlaceReport {
    /// The directory.
    pub dir: PathBuf,
    /// Each hook.
    pub hooks: Vec<(Hook, Removed)>,
}

impl PlaceReport {
    fn left(&self, hook: Hook) -> bool {
        self.hooks.iter().any(|(other, what)| *other == hook && matches!(what, Removed::Left(_)))
    }

    fn left_any(&self) -> bool {
        self.hooks.iter().any(|(_, what)| matches!(what, Removed::Left(_)))
    }
}

/// What uninstalling did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UninstallReport {
    /// Each directory that hooks were installed into.
    pub places: Vec<PlaceReport>,
    /// The values that were taken out of `notes.displayRef`.
    pub display_refs: Vec<String>,
    /// The fetch refspecs that were taken out.
    pub fetch: Vec<FetchSpec>,
    /// What stays, and how to be rid of it, a sentence each.
    pub remarks: Vec<String>,
}

impl UninstallReport {
    /// True when something could not be put back: its `Removed::Left` says why.
    pub fn is_incomplete(&self) -> bool {
        self.places.iter().any(PlaceReport::left_any)
    }
}

/// Takes the hooks out again and restores what was there. It can be run again after an error.
pub fn uninstall(repo: &Repo) -> Result<UninstallReport, SetupError> {
    let manifest_path = Manifest::path(repo.common_dir());
    let mut manifest = Manifest::read(&manifest_path).map_err(InstallError::from)?.unwrap_or_default();
    let display_refs = remove_display_refs(repo, &mut manifest)?;
    let fetch = unset_fetch(repo, &mut manifest)?;
    let mut places = Vec::new();
    for dir in dirs(repo, &manifest)? {
        let states = match inspect(&dir, &manifest) {
            Ok(states) => states,
            // Hooks are switched off here, and were when Andon came.
            Err(InstallError::NoDirectory { .. }) => continue,
            Err(error) => return Err(error.into()),
        };
        let hooks = apply::uninstall(&dir, &states)?;
        places.push(PlaceReport { dir, hooks });
    }
    forget(&mut manifest, &places);
    if manifest.places.is_empty() {
        apply::remove_manifest(&manifest_path)?;
    } else {
        manifest.write(&manifest_path).map_err(InstallError::from)?;
    }
    Ok(UninstallReport { places, display_refs, fetch, remarks: remarks(repo) })
}

/// The directories of the manifest, and the one that git looks into now, should the manifest be lost.
fn dirs(repo: &Repo, manifest: &Manifest) -> Result<Vec<PathBuf>, SetupError> {
    let mut dirs: Vec<PathBuf> = manifest.places.iter().map(|place| place.dir.clone()).collect();
    let now = repo.hooks_dir()?;
    if !dirs.contains(&now) {
        dirs.push(now);
    }
    Ok(dirs)
}

fn remove_display_refs(repo: &Repo, manifest: &mut Manifest) -> Result<Vec<String>, SetupError> {
    let mut removed = Vec::new();
    for value in std::mem::take(&mut manifest.display_refs) {
        let there = repo
            .config_sources(DISPLAY_REF_KEY)?
            .iter()
            .any(|found| found.scope == ConfigScope::Local && found.value == value);
        if there {
            repo.config_remove(DISPLAY_REF_KEY, &value)?;
            removed.push(value);
        }
    }
    Ok(removed)
}

/// Drops what was put back from the manifest, and the directories that were made for it.
fn forget(manifest: &mut Manifest, reports: &[PlaceReport]) {
    let still = |mut place: Place| {
        let report = reports.iter().find(|report| report.dir == place.dir)?;
        place.shims.retain(|hook, _| report.left(*hook));
        if report.left_any() {
            return Some(place);
        }
        apply::remove_dirs(&place.created);
        None
    };
    manifest.places = std::mem::take(&mut manifest.places).into_iter().filter_map(still).collect();
}

fn remarks(repo: &Repo) -> Vec<String> {
    let mut remarks = Vec::new();
    if let Some(file) = repo.workdir().map(|top| top.join(CONFIG_FILE)).filter(|file| file.exists()) {
        remarks.push(format!("{CONFIG_FILE} stays, it is yours: rm {}", quoted(&file)));
    }
    if let Some(own) = Manifest::path(repo.common_dir()).parent().filter(|own| own.exists()) {
        remarks.push(format!("journal and caches stay: rm -r {}", quoted(own)));
    }
    if repo.ref_target(NOTES_REF).is_ok_and(|target| target.is_some()) {
        remarks.push(format!("the records stay in {NOTES_REF}: git update-ref -d {NOTES_REF}"));
    }
    remarks
}
