//! `andon uninstall`: everything as it was, as far as it is certainly ours to change.

use std::fs;
use std::path::PathBuf;

use super::config_hooks;
use super::fetch::{FetchSpec, unset, unset_fetch};
use super::managers;
use super::schema::schema_file;
use crate::install::InstallError;
use crate::install::apply::{self, HookRemoval};
use crate::install::edits::{self, EditRemoval};
use crate::install::forward;
use crate::install::inspect::inspect;
use crate::install::lefthook;
use crate::install::manifest::{HooksFolder, Manifest};
use crate::install::mode::Integration;
use crate::setup::leftovers;
use crate::setup::place::{self, HOOKS_PATH, program_link};
use crate::setup::{DISPLAY_REF_KEY, SetupError, quoted};
use andon_core::domain::git_hook::GitHook;
use andon_core::domain::paths::CONFIG_FILE;
use andon_engine::effect::AndonDir;
use andon_git::{ConfigScope, Repo};

/// What became of the hooks of one directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlaceReport {
    /// The hooks directory.
    pub dir: PathBuf,
    /// Each hook.
    pub hooks: Vec<(GitHook, HookRemoval)>,
}

impl PlaceReport {
    fn left(&self, hook: GitHook) -> bool {
        self.hooks.iter().any(|(other, what)| *other == hook && matches!(what, HookRemoval::Left(_)))
    }

    fn left_any(&self) -> bool {
        self.hooks.iter().any(|(_, what)| matches!(what, HookRemoval::Left(_)))
    }

    pub(super) fn took_any(&self) -> bool {
        self.hooks.iter().any(|(_, what)| matches!(what, HookRemoval::Gone | HookRemoval::Restored))
    }
}

/// What uninstalling did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UninstallReport {
    /// Each directory that hooks were installed into.
    pub places: Vec<PlaceReport>,
    /// Files of others that our lines were taken out of.
    pub files: Vec<PathBuf>,
    /// How many hooks were taken out of the configuration.
    pub config_hooks: usize,
    /// The values that were taken out of `notes.displayRef`.
    pub display_refs: Vec<String>,
    /// The fetch refspecs that were taken out.
    pub fetch: Vec<FetchSpec>,
    /// How the hooks had been put in place.
    pub mode: Option<Integration>,
    /// What stays, and how to remove it, a sentence each.
    pub remarks: Vec<String>,
}

impl UninstallReport {
    /// True when something could not be put back: its `HookRemoval::Left` says why.
    pub fn is_incomplete(&self) -> bool {
        self.places.iter().any(PlaceReport::left_any)
    }
}

/// Takes the hooks out again and restores what was there. It can be run again after an error.
pub fn uninstall(repo: &Repo) -> Result<UninstallReport, SetupError> {
    let manifest_path = Manifest::path(repo.common_dir());
    let mut manifest = Manifest::read(&manifest_path).map_err(InstallError::from)?.unwrap_or_default();
    if let Some(top) = repo.workdir() {
        let _ = AndonDir::below(top).remove_unused();
    }
    let display_refs = remove_display_refs(repo, &mut manifest)?;
    let fetch = unset_fetch(repo, &mut manifest)?;
    let files = clean_files(&mut manifest, &[])?;
    let config_hooks = config_hooks::unset(repo, &mut manifest)? / 2;
    let places = take_out_shims(repo, &mut manifest)?;
    let mode = manifest.mode;
    if manifest.places.is_empty() {
        let _ = fs::remove_file(program_link(repo));
        let _ = fs::remove_file(schema_file(repo));
        apply::remove_manifest(&manifest_path)?;
    } else {
        manifest.write(&manifest_path).map_err(InstallError::from)?;
    }
    let remarks = remarks(repo, mode);
    Ok(UninstallReport { places, files, config_hooks, display_refs, fetch, mode, remarks })
}

/// Takes our lines out of every edited file but those of `kept`; returns those that changed.
pub(super) fn clean_files(manifest: &mut Manifest, kept: &[PathBuf]) -> Result<Vec<PathBuf>, SetupError> {
    let mut cleaned = Vec::new();
    for file in std::mem::take(&mut manifest.files) {
        if kept.contains(&file.path) {
            manifest.files.push(file);
        } else if edits::clean(&file)? != EditRemoval::Nothing {
            cleaned.push(file.path);
        }
    }
    Ok(cleaned)
}

/// Takes the shims out of every directory that they were put into.
pub(super) fn take_out_shims(repo: &Repo, manifest: &mut Manifest) -> Result<Vec<PlaceReport>, SetupError> {
    let mut places = Vec::new();
    unset_hooks_path(repo, manifest)?;
    for dir in dirs(repo, manifest)? {
        forward::remove(&dir)?;
        lefthook::take_notice(&dir)?;
        let states = match inspect(&dir, manifest) {
            Ok(states) => states,
            // Hooks are switched off here, and were when Andon came.
            Err(InstallError::NoDirectory { .. }) => continue,
            Err(error) => return Err(error.into()),
        };
        let hooks = apply::uninstall(&dir, &states)?;
        places.push(PlaceReport { dir, hooks });
    }
    forget(manifest, &places);
    Ok(places)
}

/// git looks for hooks where it looked before.
fn unset_hooks_path(repo: &Repo, manifest: &mut Manifest) -> Result<(), SetupError> {
    let (own, others) =
        std::mem::take(&mut manifest.fetch).into_iter().partition(|(key, _)| key == HOOKS_PATH);
    manifest.fetch = others;
    unset(repo, own).map(|_| ())
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
    let still = |mut place: HooksFolder| {
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

/// What stays, and how to remove it.
pub fn remarks(repo: &Repo, mode: Option<Integration>) -> Vec<String> {
    let mut remarks: Vec<String> = place::for_all(repo).into_iter().collect();
    if let (Some(mode), Some(top), Ok(dir)) = (mode, repo.workdir(), repo.hooks_dir()) {
        remarks.extend(managers::stay(top, mode, &dir));
    }
    if let Some(file) = repo.workdir().map(|top| top.join(CONFIG_FILE)).filter(|file| file.exists()) {
        remarks.push(format!("{CONFIG_FILE} stays, it is yours: rm {}", quoted(&file)));
    }
    let left = leftovers::left(repo);
    if !left.is_empty() {
        let left = left.join(", ");
        remarks.push(format!("{left} stay; to delete them too: andon uninstall --purge"));
    }
    remarks
}
