//! The present content of a hooks directory. Install, uninstall and doctor all judge from this one look.

use std::fs::{self, File, Metadata};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use super::shim::{self, Content};
use super::{InstallError, Manifest, Owner, Result};
use andon_core::domain::GitHook;
use andon_git::{if_there, platform::files};

/// Hooks longer than this are never compared with each other.
const MAX_COMPARED: u64 = 1024 * 1024;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookMode {
    /// It is executable.
    Runs,
    /// It is not: git ignores it.
    Ignored,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HookFile {
    /// There is no file of that name.
    Nothing,
    /// Our shim, untouched.
    Shim {
        /// The program it starts, unless it is of another version.
        program: Option<PathBuf>,
        mode: HookMode,
    },
    /// Our shim with a change, or a link to one.
    EditedShim,
    /// Another hook.
    Foreign {
        /// The tool that wrote it, as far as its words tell.
        owner: Owner,
        mode: HookMode,
    },
    /// A directory, or something else that is no file.
    NoFile,
}

/// Everything about one hook in one directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookState {
    /// The hook, by the name that git calls it.
    pub hook: GitHook,
    /// At its own name.
    pub standing: HookFile,
    /// At `NAME.andon-chained`.
    pub chained: HookFile,
    /// At `NAME.legacy`, where pre-commit and prek put what they replaced, and still run it.
    pub legacy: HookFile,
    /// True if the first two are the same bytes: husky writes its hooks anew on every `npm install`.
    pub are_twins: bool,
}

/// Looks at every hook in `dir`, which need not be there.
pub fn inspect(dir: &Path, manifest: &Manifest) -> Result<Vec<HookState>> {
    let found = if_there(fs::metadata(dir)).map_err(|error| InstallError::io("read", dir, error))?;
    if found.is_some_and(|facts| !facts.is_dir()) {
        return Err(InstallError::NoDirectory { dir: dir.to_owned() });
    }
    GitHook::ALL.into_iter().map(|hook| state(dir, hook, manifest)).collect()
}

fn state(dir: &Path, hook: GitHook, manifest: &Manifest) -> Result<HookState> {
    let (at, chained) = (dir.join(hook.name()), dir.join(hook.chained_name()));
    let recorded = manifest.recorded(dir, hook);
    let look = |path: &Path| {
        standing(path, |bytes| shim::classify(bytes, hook, recorded))
            .map_err(|error| InstallError::io("read", path, error))
    };
    let mut found = HookState {
        hook,
        standing: look(&at)?,
        chained: look(&chained)?,
        legacy: look(&dir.join(format!("{}.legacy", hook.name())))?,
        are_twins: false,
    };
    if matches!((&found.standing, &found.chained), (HookFile::Foreign { .. }, HookFile::Foreign { .. })) {
        found.are_twins = twins(&at, &chained).map_err(|error| InstallError::io("read", &at, error))?;
    }
    Ok(found)
}

fn standing(path: &Path, classify: impl Fn(&[u8]) -> Content) -> io::Result<HookFile> {
    let itself = match fs::symlink_metadata(path) {
        Ok(facts) => facts,
        Err(error) if is_absent(&error) => return Ok(HookFile::Nothing),
        Err(error) => return Err(error),
    };
    let facts = match fs::metadata(path) {
        Ok(facts) => facts,
        // A link to nowhere: git runs nothing, and the link still belongs to a person.
        Err(_) if itself.is_symlink() => {
            return Ok(HookFile::Foreign { owner: Owner::Somebody, mode: HookMode::Ignored });
        }
        Err(error) => return Err(error),
    };
    if !facts.is_file() {
        return Ok(HookFile::NoFile);
    }
    let mode = mode(&facts);
    let mut bytes = Vec::new();
    match File::open(path).and_then(|file| file.take(shim::MAX_BYTES as u64 + 1).read_to_end(&mut bytes)) {
        Ok(_) => {}
        // A program may be executable without being readable; then it is not ours.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            return Ok(HookFile::Foreign { owner: Owner::Somebody, mode });
        }
        Err(error) => return Err(error),
    }
    Ok(match classify(&bytes) {
        Content::Shim { program } if itself.is_file() => HookFile::Shim { program, mode },
        Content::Shim { .. } | Content::EditedShim => HookFile::EditedShim,
        Content::Foreign(owner) => HookFile::Foreign { owner, mode },
    })
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn mode(facts: &Metadata) -> HookMode {
    if files::is_executable(facts) { HookMode::Runs } else { HookMode::Ignored }
}

fn twins(one: &Path, other: &Path) -> io::Result<bool> {
    let short = |path: &Path| match fs::metadata(path) {
        Ok(facts) => Ok(facts.len() <= MAX_COMPARED),
        Err(error) if is_absent(&error) => Ok(false),
        Err(error) => Err(error),
    };
    if !short(one)? || !short(other)? {
        return Ok(false);
    }
    Ok(fs::read(one)? == fs::read(other)?)
}
