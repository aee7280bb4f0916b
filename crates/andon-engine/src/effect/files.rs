//! Files for people under `.andon/`: written whole or not at all.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use super::{EffectError, Site};
use andon_core::{WordList, domain::Plan, policy};
use andon_git::{Repo, replace_private, temporary_in};

/// Writes `.andon/<name>` through a temporary file and a rename, with the directory's own `.gitignore`.
pub fn write_andon_file(site: &Site<'_>, name: &str, text: &str) -> Result<PathBuf, EffectError> {
    let missing = || io::Error::new(io::ErrorKind::NotFound, "this repository has no working tree");
    let dir = site.andon_dir.as_ref().ok_or_else(|| error("write", Path::new(name), missing()))?;
    dir.replace(name, text.as_bytes()).map_err(|err| error("write", &dir.path().join(name), err))
}

/// Puts `text` into a file of the working tree, through a temporary file next to it and a rename. A link is followed,
/// and the mode stays.
pub fn replace_text(path: &Path, text: &str) -> Result<(), EffectError> {
    let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let mode = std::fs::metadata(&real).ok().map(|found| found.permissions());
    let write = || {
        replace(&real, text.as_bytes())?;
        mode.map_or(Ok(()), |mode| std::fs::set_permissions(&real, mode))
    };
    write().map_err(|err| error("write", path, err))
}

/// Writes a file that its owner alone may read, whole or not at all. Makes its directory.
pub fn write_private(path: &Path, text: &str) -> Result<(), EffectError> {
    replace_private(path, text.as_bytes()).map_err(|err| error("write", path, err))
}

/// Writes a report whole or not at all. A link in its place is replaced and not followed: in CI the working tree is a
/// stranger's. What is there and is no file, such as a pipe or `/dev/stdout`, is written into.
pub fn write_report(path: &Path, text: &str) -> Result<(), EffectError> {
    let found = std::fs::symlink_metadata(path).map(|found| found.file_type());
    let of_system = ["/dev", "/dev/fd"].map(Path::new);
    let is_device = of_system.contains(&path.parent().unwrap_or(path))
        || found.is_ok_and(|kind| !kind.is_file() && !kind.is_symlink());
    let written = if is_device { std::fs::write(path, text) } else { replace(path, text.as_bytes()) };
    written.map_err(|err| error("write", path, err))
}

/// The first `max` bytes of a file.
pub fn beginning(path: &Path, max: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(max).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Appends whole lines to a file that others append to.
pub fn append_text(path: &Path, text: &str) -> Result<(), EffectError> {
    let open = std::fs::OpenOptions::new().append(true).create(true).open(path);
    open.and_then(|mut file| file.write_all(text.as_bytes())).map_err(|err| error("write", path, err))
}

fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    // A bare name has the empty path for its parent.
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = temporary_in(dir)?;
    file.write_all(bytes)?;
    file.persist(path).map_err(|err| err.error)?;
    Ok(())
}

pub(super) fn error(what: &'static str, path: &Path, source: io::Error) -> EffectError {
    EffectError::File { what, path: path.to_owned(), source }
}

/// A private directory; removed with what is in it when the value goes.
#[derive(Debug)]
pub struct PrivateDir(tempfile::TempDir);

impl PrivateDir {
    /// A new one in `<git dir>/andon/`.
    ///
    /// # Errors
    /// When it cannot be created.
    pub fn create(git_dir: &Path) -> io::Result<Self> {
        let parent = git_dir.join("andon");
        std::fs::create_dir_all(&parent)?;
        tempfile::Builder::new().prefix("run-").tempdir_in(parent).map(Self)
    }

    /// A new one where temporary files go: for a working tree, which no tool takes for a part of another.
    ///
    /// # Errors
    /// When it cannot be created.
    pub fn outside() -> io::Result<Self> {
        tempfile::Builder::new().prefix("andon-").tempdir().map(Self)
    }

    /// Its path, for a program that is to write there.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Writes a file of it.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, path: &PathBuf, text: &str) -> io::Result<()> {
        std::fs::write(path, text)
    }
}

/// Candidates for the task or the plan, from the top of the working tree; the first that exists is read.
const PLANS: WordList = WordList(include_str!("plans.txt"));
/// Bytes of it that are read.
const PLAN_BYTES: u64 = 256 << 10;

/// Reads it. Links are not followed: they could lead anywhere.
pub fn plan(repo: &Repo) -> Option<Plan> {
    let top = repo.workdir()?.canonicalize().ok()?;
    PLANS.iter().find_map(|path| {
        let full = top.join(path);
        full.canonicalize().ok().filter(|real| *real == full && real.is_file())?;
        Some(policy::plan_of(path, &String::from_utf8_lossy(&beginning(&full, PLAN_BYTES).ok()?)))
    })
}
