//! The plan of an installation, made before anything changes, and how it is carried out.

use std::path::{Path, PathBuf};
use std::{fs, io};

use super::remove::{self, PlaceReport};
use super::{git_config, managers};
use crate::install::edits::{self, Edit};
use crate::install::inspect::{HookFile, HookState, inspect};
use crate::install::mode::{self, Integration, ModeChoice};
use crate::install::plan::{self, Intent};
use crate::install::{InstallError, apply, forward, lefthook, manifest::Manifest};
use crate::setup::place::{self, Override, SharedHooksPath};
use crate::setup::{SetupError, live};
use andon_core::domain::git_hook::GitHook;
use andon_git::{Repo, platform::files};

/// Everything that will be done.
pub(super) struct Plan {
    pub(super) choice: ModeChoice,
    /// The directory in which git looks for hooks, or will.
    pub(super) dir: PathBuf,
    /// In mode `shim`, hooks of all repositories that ours are to run.
    pub(super) theirs: Option<SharedHooksPath>,
    /// The shims, in mode `shim`.
    pub(super) intents: Vec<(GitHook, Intent)>,
    pub(super) edits: Vec<Edit>,
}

#[derive(Default)]
pub(super) struct WriteReport {
    pub(super) files: Vec<(PathBuf, bool)>,
    pub(super) changed_besides: bool,
    pub(super) remarks: Vec<String>,
}

impl Plan {
    pub(super) fn make(
        repo: &Repo,
        top: &Path,
        program: &Path,
        asked: Option<Integration>,
        manifest: &Manifest,
    ) -> Result<Self, SetupError> {
        let now = repo.hooks_dir()?;
        // Where it is no directory only the shims have nowhere to go.
        let looked = inspect(&now, manifest);
        let states: &[HookState] = looked.as_ref().map_or(&[], Vec::as_slice);
        let situation = managers::situation(repo, top, asked, manifest, states);
        let choice = mode::choose(&situation).map_err(SetupError::ModeProblem)?;
        let edits = managers::plan(repo, top, choice.mode, manifest)?;
        if choice.mode != Integration::Shim {
            return Ok(Self { choice, dir: now, theirs: None, intents: Vec::new(), edits });
        }
        let place::HookPlace { dir, theirs } = place::choose(repo)?;
        let mut looked = if dir == now { looked? } else { inspect(&dir, manifest)? };
        if theirs.is_some() {
            // Hooks that call others are written next to the shims.
            for state in &mut looked {
                state.chained = HookFile::Nothing;
            }
        }
        let intents = plan::install(&dir, &looked, program)
            .map_err(|conflicts| InstallError::Conflicts { conflicts })?;
        Ok(Self { choice, dir, theirs, intents, edits })
    }

    /// Installs, and takes out what an earlier mode had put in place.
    pub(super) fn carry_out(
        &self,
        repo: &Repo,
        program: &Path,
        manifest: &mut Manifest,
    ) -> Result<WriteReport, SetupError> {
        let path = Manifest::path(repo.common_dir());
        let before = manifest.clone();
        manifest.mode = Some(self.choice.mode);
        let mut done = WriteReport::default();
        match self.choice.mode {
            Integration::Shim => {
                apply::install(&self.dir, &self.intents, program, &path, manifest)?;
                *manifest = Manifest::of(repo)?;
                if let Some(theirs) = &self.theirs {
                    done.changed_besides = self.lead_on(repo, theirs, manifest, &path)?;
                    done.remarks.push(self.leads_on(theirs));
                }
            }
            Integration::Config => done.changed_besides = Self::configure(repo, program, manifest, &path)?,
            Integration::Husky | Integration::Lefthook | Integration::PreCommit => {
                self.edit(repo, program, manifest, &path)?;
            }
        }
        let had_notice = lefthook::take_notice(&self.dir)?;
        done.changed_besides |= self.take_out_others(repo, manifest, &mut done.remarks)?;
        let notice = self.has_notice(repo)?;
        if notice {
            lefthook::put_notice(&self.dir)?;
        }
        done.changed_besides |= notice != had_notice;
        done.files = self.edits.iter().map(|edit| (edit.path.clone(), !edit.is_there())).collect();
        if *manifest != before || self.choice.mode != Integration::Shim {
            manifest.write(&path)?;
        }
        Ok(done)
    }

    /// Has git look into the directory of this repository alone, whose hooks run those of all repositories.
    fn lead_on(
        &self,
        repo: &Repo,
        theirs: &SharedHooksPath,
        manifest: &mut Manifest,
        path: &Path,
    ) -> Result<bool, SetupError> {
        let before = manifest.clone();
        let undo = |error: SetupError| {
            // What is left of it is in a directory that git does not look into.
            let _ = forward::remove(&self.dir);
            let _ = inspect(&self.dir, &before).and_then(|states| apply::uninstall(&self.dir, &states));
            error
        };
        forward::write(&self.dir, &forward::files_to(&theirs.dir)).map_err(|error| undo(error.into()))?;
        if theirs.hidden {
            return Ok(false);
        }
        let entry = (place::HOOKS_PATH.to_owned(), self.dir.to_string_lossy().into_owned());
        manifest.fetch.retain(|one| *one != entry);
        manifest.fetch.push(entry.clone());
        // First: an entry for what never came to be does no harm.
        manifest.write(path)?;
        repo.config_add(&entry.0, &entry.1).map_err(|error| undo(error.into()))?;
        Ok(true)
    }

    fn leads_on(&self, theirs: &SharedHooksPath) -> String {
        format!(
            "core.hooksPath is {:?} for all your repositories ({}); for this one it is now {}, whose hooks are andon's and \
             then run those there",
            theirs.set_by.value,
            theirs.set_by.origin,
            self.dir.display()
        )
    }

    fn configure(
        repo: &Repo,
        program: &Path,
        manifest: &mut Manifest,
        path: &Path,
    ) -> Result<bool, SetupError> {
        let wanted = git_config::hook_keys(program);
        // First: an entry for a key that never came to be does no harm.
        let both =
            Manifest { hook_keys: [manifest.hook_keys.as_slice(), &wanted].concat(), ..manifest.clone() };
        both.write(path)?;
        let changed = git_config::hook_change(repo, &wanted, &manifest.hook_keys)?.make(repo)?;
        manifest.hook_keys = wanted;
        Ok(changed)
    }

    /// Commits report that lefthook does not run its hooks yet.
    pub(super) fn has_notice(&self, repo: &Repo) -> Result<bool, SetupError> {
        Ok(self.choice.mode == Integration::Lefthook
            && !live::lefthook_runs(&self.dir)
            && !matches!(place::hooks_override(repo)?, Override::Foreign(_))
            && lefthook::place_of_notice(&self.dir).is_some())
    }

    fn edit(
        &self,
        repo: &Repo,
        program: &Path,
        manifest: &mut Manifest,
        path: &Path,
    ) -> Result<(), SetupError> {
        let before = manifest.clone();
        for edit in &self.edits {
            let entry = edit.entry(manifest.file(&edit.path));
            manifest.files.retain(|file| *file.path != edit.path);
            manifest.files.push(entry);
        }
        // First: an entry for lines that never came to be does no harm.
        manifest.write(path)?;
        let result = edits::apply(&self.edits).and_then(|()| link_program(repo, program));
        if let Err(error) = result {
            edits::undo(&self.edits);
            *manifest = before;
            let _ = if *manifest == Manifest::default() {
                apply::remove_manifest(path)
            } else {
                manifest.write(path)
            };
            return Err(error.into());
        }
        Ok(())
    }

    fn take_out_others(
        &self,
        repo: &Repo,
        manifest: &mut Manifest,
        remarks: &mut Vec<String>,
    ) -> Result<bool, SetupError> {
        let before = remarks.len();
        let kept: Vec<PathBuf> = self.edits.iter().map(|edit| edit.path.clone()).collect();
        for path in remove::clean_files(manifest, &kept)? {
            remarks.push(format!("the lines of the earlier mode are out of {}", path.display()));
        }
        if self.choice.mode != Integration::Config && remove::take_out_hook_keys(repo, manifest)? > 0 {
            remarks.push("the hooks of the earlier mode are out of the configuration".to_owned());
        }
        if self.choice.mode != Integration::Shim {
            let places = remove::take_out_shims(repo, manifest)?;
            let out_of = |place: &PlaceReport| {
                format!("the shims of the earlier mode are out of {}", place.dir.display())
            };
            remarks.extend(places.iter().filter(|place| place.took_any()).map(out_of));
        }
        Ok(remarks.len() > before)
    }
}

fn link_program(repo: &Repo, program: &Path) -> Result<(), InstallError> {
    let link = place::program_link(repo);
    if fs::read_link(&link).is_ok_and(|found| found == program) {
        return Ok(());
    }
    let failed = |source: io::Error| InstallError::Io { verb: "write", path: link.clone(), source };
    let folder = link.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(failed)?;
    let made = tempfile::Builder::new()
        .prefix(".andon-")
        .make_in(folder, |name| files::link_program(program, name))
        .map_err(failed)?;
    made.persist(&link).map_err(|error| failed(error.error))
}
