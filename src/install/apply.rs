//! Carries a plan out: all of it or none of it.
//!
//! Everything that can fail for lack of space or permission happens first, in temporary files next to the hooks. Then
//! each hook changes by one rename, so that git finds either the old hook or the new one, and every change leaves
//! behind what undoes it.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::{collections::BTreeMap, fs};

use tempfile::NamedTempFile;

use super::manifest::{AbsolutePath, HooksFolder, Manifest};
use super::plan::{self, Conflict, Displacement, Intent, Removal};
use super::{InstallError, inspect::HookState, shim};
use andon_core::domain::git_hook::GitHook;
use andon_git::platform::test_seam::stop_point;
use andon_git::{platform::files, temporary_beside};

/// Beginning of the names of temporary files in a hooks directory.
const TEMP_PREFIX: &str = ".andon-";

/// The way back from one change.
enum Undo {
    Remove(PathBuf),
    Move { from: PathBuf, to: PathBuf },
    RemoveDir(PathBuf),
}

impl Undo {
    fn run(&self) -> io::Result<()> {
        match self {
            Self::Remove(path) => fs::remove_file(path),
            Self::Move { from, to } => fs::rename(from, to),
            Self::RemoveDir(path) => fs::remove_dir(path),
        }
    }

    fn path(&self) -> &Path {
        match self {
            Self::Remove(path) | Self::RemoveDir(path) => path,
            Self::Move { from, .. } => from,
        }
    }
}

/// Writes the shims of `intents` into `dir` and what was done into the manifest at `manifest_path`.
/// `before` is that manifest, with the caller's own entries (`display_refs`) already in it.
pub fn install(
    dir: &Path,
    intents: &[(GitHook, Intent)],
    program: &Path,
    manifest_path: &Path,
    before: &Manifest,
) -> Result<(), InstallError> {
    let mut change = Change { dir, undo: Vec::new(), backups: Vec::new() };
    let result = change.make(intents, program, manifest_path, before);
    match result {
        Ok(()) => {
            for backup in change.backups {
                // A leftover copy does no harm, and the installation is complete.
                let _ = fs::remove_file(backup);
            }
            Ok(())
        }
        Err(cause) => {
            let failed = change.undo.iter().rev().filter(|undo| undo.run().is_err());
            let left: Vec<PathBuf> = failed.map(|undo| undo.path().to_owned()).collect();
            if left.is_empty() {
                Err(cause)
            } else {
                Err(InstallError::HalfUndone { cause: Box::new(cause), left })
            }
        }
    }
}

struct Change<'a> {
    dir: &'a Path,
    undo: Vec<Undo>,
    /// Copies that only the way back needs.
    backups: Vec<PathBuf>,
}

impl Change<'_> {
    fn make(
        &mut self,
        intents: &[(GitHook, Intent)],
        program: &Path,
        manifest_path: &Path,
        before: &Manifest,
    ) -> Result<(), InstallError> {
        let writes: Vec<(GitHook, Displacement)> = intents
            .iter()
            .filter_map(|(hook, intent)| match intent {
                Intent::Write(displaced) => Some((*hook, *displaced)),
                Intent::Keep | Intent::RunsThrough(_) => None,
            })
            .collect();
        let created = if writes.is_empty() { Vec::new() } else { self.make_dirs()? };
        let mut staged = Vec::new();
        for (hook, displaced) in writes {
            staged.push((hook, displaced, self.stage(&shim::render(program, hook))?));
        }
        stop_point("install:staged");
        let after = self.entry(intents, program, created, before);
        if Manifest::read(manifest_path)?.as_ref() != Some(&after) {
            self.write_manifest(manifest_path, &after)?;
        }
        stop_point("install:manifest");
        for (hook, displaced, file) in staged {
            self.put(hook, displaced, file)?;
            stop_point("install:put");
        }
        Ok(())
    }

    /// Makes the hooks directory and those above it that are missing, outermost first.
    fn make_dirs(&mut self) -> Result<Vec<PathBuf>, InstallError> {
        let mut missing: Vec<&Path> = self.dir.ancestors().take_while(|dir| !dir.exists()).collect();
        missing.reverse();
        for dir in &missing {
            fs::create_dir(dir).map_err(|error| InstallError::io("create", dir, error))?;
            self.undo.push(Undo::RemoveDir((*dir).to_owned()));
        }
        Ok(missing.into_iter().map(Path::to_owned).collect())
    }

    fn stage(&self, bytes: &[u8]) -> Result<NamedTempFile, InstallError> {
        let failed = |error| InstallError::io("write to", self.dir, error);
        let mut file = temporary_beside(self.dir, files::permissions(0o755)).map_err(failed)?;
        file.write_all(bytes).map_err(failed)?;
        Ok(file)
    }

    fn entry(
        &self,
        intents: &[(GitHook, Intent)],
        program: &Path,
        created: Vec<PathBuf>,
        before: &Manifest,
    ) -> Manifest {
        let mut after = before.clone();
        let earlier = after.places.iter().position(|place| *place.dir == self.dir);
        let dir = || AbsolutePath(self.dir.to_owned());
        let mut place = earlier.map_or_else(
            || HooksFolder { dir: dir(), created: Vec::new(), shims: BTreeMap::new() },
            |at| after.places.remove(at),
        );
        if !created.is_empty() {
            place.created = created.into_iter().map(AbsolutePath).collect();
        }
        for (hook, intent) in intents {
            if !matches!(intent, Intent::RunsThrough(_)) {
                let digest = shim::digest(&shim::render(program, *hook));
                place.shims.insert(hook.name().to_owned(), digest);
            }
        }
        after.places.insert(earlier.unwrap_or(after.places.len()), place);
        after
    }

    fn write_manifest(&mut self, path: &Path, after: &Manifest) -> Result<(), InstallError> {
        let folder = path.parent().unwrap_or(Path::new("."));
        if !folder.exists() {
            fs::create_dir(folder).map_err(|error| InstallError::io("create", folder, error))?;
            self.undo.push(Undo::RemoveDir(folder.to_owned()));
        }
        if path.exists() {
            self.back_up(path)?;
        } else {
            self.undo.push(Undo::Remove(path.to_owned()));
        }
        after.write(path)
    }

    /// Keeps `path` under a second name, so that whatever is renamed over it can be undone.
    fn back_up(&mut self, path: &Path) -> Result<(), InstallError> {
        let folder = path.parent().unwrap_or(self.dir);
        let name = tempfile::Builder::new()
            .prefix(TEMP_PREFIX)
            .suffix(".old")
            .make_in(folder, |name| keep(path, name));
        let ((), name) = name
            .and_then(|file| file.keep().map_err(|error| error.error))
            .map_err(|error| InstallError::io("back up", path, error))?;
        self.undo.push(Undo::Move { from: name.clone(), to: path.to_owned() });
        self.backups.push(name);
        Ok(())
    }

    fn put(
        &mut self,
        hook: GitHook,
        displaced: Displacement,
        file: NamedTempFile,
    ) -> Result<(), InstallError> {
        let (at, chained) = (self.dir.join(hook.name()), self.dir.join(hook.chained_name()));
        let failed = |error| InstallError::io("write", &at, error);
        match displaced {
            Displacement::Nothing => {
                file.persist_noclobber(&at).map_err(|error| failed(error.error))?;
                self.undo.push(Undo::Remove(at));
            }
            Displacement::OlderShim | Displacement::Twin => {
                self.back_up(&at)?;
                file.persist(&at).map_err(|error| failed(error.error))?;
            }
            Displacement::Chained => {
                self.chain(&at, &chained, file)?;
            }
            Displacement::NewerOfSameTool => {
                self.back_up(&chained)?;
                fs::rename(&at, &chained).map_err(|error| InstallError::io("rename", &at, error))?;
                self.undo.push(Undo::Move { from: chained, to: at.clone() });
                file.persist_noclobber(&at).map_err(|error| failed(error.error))?;
            }
        }
        Ok(())
    }

    /// Gives the hook at `at` its second name before the shim takes the first: there is no moment without
    /// a hook. File systems without hard links get the rename.
    fn chain(&mut self, at: &Path, chained: &Path, file: NamedTempFile) -> Result<(), InstallError> {
        let failed = |error| InstallError::io("write", at, error);
        let back = || Undo::Move { from: chained.to_owned(), to: at.to_owned() };
        match fs::hard_link(at, chained) {
            Ok(()) => {
                self.undo.push(Undo::Remove(chained.to_owned()));
                stop_point("install:linked");
                file.persist(at).map_err(|error| failed(error.error))?;
                self.undo.pop();
                self.undo.push(back());
                Ok(())
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                Err(InstallError::io("rename a hook to", chained, error))
            }
            Err(_) => {
                fs::rename(at, chained).map_err(|error| InstallError::io("rename", at, error))?;
                self.undo.push(back());
                file.persist_noclobber(at).map(|_| ()).map_err(|error| failed(error.error))
            }
        }
    }
}

/// A second name for `path`, or a copy where the file system has no hard links.
fn keep(path: &Path, name: &Path) -> io::Result<()> {
    match fs::hard_link(path, name) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
        Err(_) => fs::copy(path, name).map(|_| ()),
    }
}

/// The outcome for one hook at uninstalling.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HookRemoval {
    /// Nothing of ours was there.
    Nothing,
    /// The shim is gone; there was no hook before it.
    Gone,
    /// The hook from before is back.
    Restored,
    /// It stays as it is, and this is why.
    Left(Conflict),
}

/// Puts the hooks of `states` in `dir` back. What is in the way is left and reported.
pub fn uninstall(dir: &Path, states: &[HookState]) -> Result<Vec<(GitHook, HookRemoval)>, InstallError> {
    states.iter().map(|state| Ok((state.hook, put_back(dir, state)?))).collect()
}

fn put_back(dir: &Path, state: &HookState) -> Result<HookRemoval, InstallError> {
    let at = dir.join(state.hook.name());
    match plan::uninstall(state) {
        Removal::Nothing => Ok(HookRemoval::Nothing),
        Removal::Remove => {
            fs::remove_file(&at).map_err(|error| InstallError::io("remove", &at, error))?;
            Ok(HookRemoval::Gone)
        }
        Removal::Restore => {
            let chained = dir.join(state.hook.chained_name());
            fs::rename(&chained, &at).map_err(|error| InstallError::io("rename", &chained, error))?;
            Ok(HookRemoval::Restored)
        }
        Removal::Leave(why) => Ok(HookRemoval::Left(Conflict { hook: state.hook, path: at, why })),
    }
}

/// Removes the directories that were made for hooks, as far as they are empty again.
pub fn remove_dirs(created: &[AbsolutePath]) {
    for dir in created.iter().rev() {
        // Not empty: it is in use, and so it stays.
        if fs::remove_dir(&**dir).is_err() {
            return;
        }
    }
}

/// Takes the manifest away, and its folder if nothing else is in it.
pub fn remove_manifest(path: &Path) -> Result<(), InstallError> {
    match fs::remove_file(path) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(InstallError::io("remove", path, error)),
    }
    if let Some(folder) = path.parent() {
        let _ = fs::remove_dir(folder);
    }
    Ok(())
}
