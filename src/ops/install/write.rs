//! What installing is going to do, decided before anything changes; and the doing of it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::managers;
use super::remove;
use super::{Changed, config_hooks};
use crate::effect::install::edits::{self, Edit};
use crate::effect::install::hooks::Hook;
use crate::effect::install::inspect::{HookState, inspect};
use crate::effect::install::manifest::Manifest;
use crate::effect::install::mode::{self, ChosenMode, Integration};
use crate::effect::install::plan::{self, Intent};
use crate::effect::install::{InstallError, apply};
use crate::engine::setup::SetupError;
use crate::engine::setup::place;
use crate::git::Repo;
use crate::platform::files;

/// Everything that will be done.
pub(super) struct Plan {
    pub(super) choice: ChosenMode,
    /// Where git looks for hooks.
    pub(super) dir: PathBuf,
    /// The shims, in mode `shim`.
    pub(super) intents: Vec<(Hook, Intent)>,
    edits: Vec<Edit>,
}

#[derive(Default)]
pub(super) struct Done {
    pub(super) files: Vec<(PathBuf, Changed)>,
    pub(super) besides: Changed,
    pub(super) remarks: Vec<String>,
}

impl Plan {
    /// Looks, and decides.
    pub(super) fn make(
        repo: &Repo,
        top: &Path,
        program: &Path,
        asked: Option<Integration>,
        manifest: &Manifest,
    ) -> Result<Self, SetupError> {
        let dir = repo.hooks_dir()?;
        // Where it is no directory only the shims have nowhere to go.
        let looked = inspect(&dir, manifest);
        let states: &[HookState] = looked.as_ref().map_or(&[], Vec::as_slice);
        let situation = managers::situation(repo, top, asked, manifest, states);
        let choice = mode::choose(&situation).map_err(SetupError::Unfit)?;
        let intents = if choice.mode == Integration::Shim {
            place::refuse_foreign(repo)?;
            plan::install(&dir, &looked?, program)
                .map_err(|conflicts| InstallError::Conflicts { conflicts })?
        } else {
            Vec::new()
        };
        let edits = managers::plan(repo, top, choice.mode, manifest)?;
        Ok(Self { choice, dir, intents, edits })
    }

    /// Does it, and takes out what an earlier mode had put in place.
    pub(super) fn carry_out(
        &self,
        repo: &Repo,
        program: &Path,
        manifest: &mut Manifest,
    ) -> Result<Done, SetupError> {
        let path = Manifest::path(repo.common_dir());
        let before = manifest.clone();
        manifest.mode = Some(self.choice.mode);
        let mut done = Done::default();
        match self.choice.mode {
            Integration::Shim => {
                apply::install(&self.dir, &self.intents, program, (&path, manifest))?;
                *manifest = Manifest::read(&path).map_err(InstallError::from)?.unwrap_or_default();
            }
            Integration::Config => done.besides = Self::configure(repo, program, manifest, &path)?,
            Integration::Husky | Integration::Lefthook | Integration::PreCommit => {
                self.edit(repo, program, manifest, &path)?;
            }
        }
        done.files = self.files();
        if self.take_out_others(repo, manifest, &mut done)? == Changed::Something {
            done.besides = Changed::Something;
        }
        if *manifest != before || self.choice.mode != Integration::Shim {
            manifest.write(&path).map_err(InstallError::from)?;
        }
        Ok(done)
    }

    fn configure(
        repo: &Repo,
        program: &Path,
        manifest: &mut Manifest,
        path: &Path,
    ) -> Result<Changed, SetupError> {
        let wanted = config_hooks::keys(program);
        // First: an entry for a key that never came to be does no harm.
        let both =
            Manifest { hook_keys: [manifest.hook_keys.as_slice(), &wanted].concat(), ..manifest.clone() };
        both.write(path).map_err(InstallError::from)?;
        Ok(config_hooks::set(repo, &wanted, manifest)?)
    }

    fn files(&self) -> Vec<(PathBuf, Changed)> {
        let changed = |edit: &Edit| if edit.is_there() { Changed::Nothing } else { Changed::Something };
        self.edits.iter().map(|edit| (edit.path.clone(), changed(edit))).collect()
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
            manifest.files.retain(|file| file.path != edit.path);
            manifest.files.push(entry);
        }
        // First: an entry for lines that never came to be does no harm.
        manifest.write(path).map_err(InstallError::from)?;
        let result = edits::apply(&self.edits).and_then(|()| link_program(repo, program));
        if let Err(error) = result {
            edits::undo(&self.edits);
            *manifest = before;
            let _ = if *manifest == Manifest::default() {
                apply::remove_manifest(path)
            } else {
                manifest.write(path).map_err(InstallError::from)
            };
            return Err(error.into());
        }
        Ok(())
    }

    fn take_out_others(
        &self,
        repo: &Repo,
        manifest: &mut Manifest,
        done: &mut Done,
    ) -> Result<Changed, SetupError> {
        let mut changed = Changed::Nothing;
        let kept: Vec<PathBuf> = self.edits.iter().map(|edit| edit.path.clone()).collect();
        for path in remove::clean_files(manifest, &kept)? {
            done.remarks.push(format!("the lines of the earlier mode are out of {}", path.display()));
            changed = Changed::Something;
        }
        if self.choice.mode != Integration::Config && config_hooks::unset(repo, manifest)? > 0 {
            done.remarks.push("the hooks of the earlier mode are out of the configuration".to_owned());
            changed = Changed::Something;
        }
        if self.choice.mode == Integration::Shim {
            return Ok(changed);
        }
        for place in remove::take_out_shims(repo, manifest)? {
            if place.took_any() {
                done.remarks
                    .push(format!("the shims of the earlier mode are out of {}", place.dir.display()));
                changed = Changed::Something;
            }
        }
        Ok(changed)
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
