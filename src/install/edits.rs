//! Edits files that belong to others: whole or not at all, and so that each edit can be undone byte for byte.

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use super::InstallError;
use super::block;
use super::manifest::{AbsolutePath, Birth, EditedFile};
use andon_git::platform::files;
use andon_git::temporary_beside;

/// Files longer than this are not edited.
const MAX_BYTES: u64 = 1024 * 1024;

/// Whether a file that is made can be started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// It is read, and gets mode 0644.
    Text,
    /// It is started, and gets mode 0755.
    Program,
}

/// A file as it is and as it is to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// Absolute.
    pub path: PathBuf,
    /// Its bytes now; `None` when it is not there.
    pub before: Option<Vec<u8>>,
    /// Its bytes then.
    pub after: Vec<u8>,
    /// What was put in.
    pub inserted: Vec<String>,
    /// What a new one becomes.
    pub made: FileKind,
}

impl Edit {
    /// Whether nothing has to be written.
    pub fn is_there(&self) -> bool {
        self.before.as_ref() == Some(&self.after)
    }

    /// The entry of the manifest. `earlier` is the one from before: a file that was made by Andon stays so.
    pub fn entry(&self, earlier: Option<&EditedFile>) -> EditedFile {
        let birth = match (earlier, &self.before) {
            (Some(earlier), Some(_)) => earlier.birth,
            (_, None) => Birth::Made,
            (None, Some(_)) => Birth::There,
        };
        EditedFile { path: AbsolutePath(self.path.clone()), birth, inserted: self.inserted.clone() }
    }
}

/// The bytes of a file of others below `top`. A link, or what lies outside, is not touched.
pub fn read(top: &Path, path: &Path) -> Result<Option<Vec<u8>>, InstallError> {
    let odd = |why| InstallError::LeftAlone { path: path.to_owned(), why };
    match fs::symlink_metadata(path) {
        Ok(facts) if !facts.is_file() => return Err(odd("it is not a plain file")),
        Ok(facts) if facts.len() > MAX_BYTES => return Err(odd("it is longer than 1 MiB")),
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            inside(top, path)?;
            return Ok(None);
        }
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
            return Err(odd("what should be its folder is a file"));
        }
        Err(error) => return Err(InstallError::io("read", path, error)),
    }
    inside(top, path)?;
    let mut bytes = Vec::new();
    fs::File::open(path)
        .and_then(|file| file.take(MAX_BYTES).read_to_end(&mut bytes))
        .map_err(|error| InstallError::io("read", path, error))?;
    Ok(Some(bytes))
}

/// Fails where a link on the way leads out of `top`.
fn inside(top: &Path, path: &Path) -> Result<(), InstallError> {
    // What is not there yet will be made in the last folder that is.
    let there = |path: &Path| {
        let found = path.ancestors().find(|folder| folder.symlink_metadata().is_ok()).map(Path::to_owned);
        let found = found.unwrap_or_else(|| path.to_owned());
        found.canonicalize().map_err(|error| InstallError::io("edit", path, error))
    };
    if there(path.parent().unwrap_or(top))?.starts_with(there(top)?) {
        return Ok(());
    }
    Err(InstallError::LeftAlone { path: path.to_owned(), why: "a link leads out of the repository" })
}

/// Writes `bytes` to `path`, whole or not at all; a file that was there keeps its permissions.
pub(super) fn write(path: &Path, bytes: &[u8], made: FileKind) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let fresh = files::permissions(if made == FileKind::Program { 0o755 } else { 0o644 });
    let permissions = fs::metadata(path).map_or(fresh, |facts| Some(facts.permissions()));
    let mut file = temporary_beside(folder, permissions.clone())?;
    file.write_all(bytes)?;
    // Not only at its making: the umask has had its say there.
    if let Some(permissions) = permissions {
        file.as_file().set_permissions(permissions)?;
    }
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// Carries all edits out; when one fails, those before it are taken back.
pub fn apply(edits: &[Edit]) -> Result<(), InstallError> {
    for (number, edit) in edits.iter().enumerate() {
        if edit.is_there() {
            continue;
        }
        if let Err(error) = write(&edit.path, &edit.after, edit.made) {
            undo(&edits[..number]);
            return Err(InstallError::io("write", &edit.path, error));
        }
    }
    Ok(())
}

/// Takes edits back.
pub fn undo(edits: &[Edit]) {
    for edit in edits.iter().rev().filter(|edit| !edit.is_there()) {
        // What cannot be put back is still what was asked for.
        let _ = match &edit.before {
            Some(bytes) => write(&edit.path, bytes, edit.made),
            None => fs::remove_file(&edit.path),
        };
    }
}

/// What became of an edited file at uninstalling.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EditRemoval {
    /// Nothing of ours was in it, or it is gone.
    Nothing,
    /// Our lines are out of it.
    Restored,
    /// It was made by Andon, and is gone.
    Gone,
}

/// Takes our lines out of a file again.
pub fn clean(entry: &EditedFile) -> Result<EditRemoval, InstallError> {
    let folder = entry.path.parent().unwrap_or(Path::new("/"));
    let Some(bytes) = read(folder, &entry.path)? else { return Ok(EditRemoval::Nothing) };
    let rest = block::strip(&bytes, &entry.inserted);
    if rest.is_empty() && entry.birth == Birth::Made {
        fs::remove_file(&*entry.path).map_err(|error| InstallError::io("remove", &entry.path, error))?;
        return Ok(EditRemoval::Gone);
    }
    if rest == bytes {
        return Ok(EditRemoval::Nothing);
    }
    write(&entry.path, &rest, FileKind::Text)
        .map_err(|error| InstallError::io("write", &entry.path, error))?;
    Ok(EditRemoval::Restored)
}
