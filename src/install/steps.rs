//! The changes of installing and uninstalling, as values: a preview shows them, and [`apply`] makes them.
//!
//! Everything that can fail for lack of space or permission happens first, in temporary files next to their places. Then
//! each file changes by one rename, so that git finds either the old hook or the new one. Where a change fails, those
//! before it are taken back.

use std::fs::{self, Permissions};
use std::io;
use std::path::{Path, PathBuf};

use serde::{Serialize, Serializer};
use serde_json::json;
use tempfile::NamedTempFile;

use super::{AbsolutePath, Birth, Edit, EditedFile, HookRemoval, InstallError, Manifest, Result, edits};
use andon_core::domain::GitHook;
use andon_git::platform::{files, test_seam::stop_point};
use andon_git::{GitError, Repo, if_there};

/// A key of git's configuration and a value that is added to it or taken out of it.
pub type KeyValue = (String, String);

/// One change of an installation, or of its reversal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// The manifest is written, or goes.
    Manifest(PathBuf, Option<Box<Manifest>>),
    /// A file is written, or lines are put into one.
    Write(Edit),
    /// A hook gets its second name before the shim takes the first: there is no moment without a hook.
    Chain {
        from: PathBuf,
        to: PathBuf,
    },
    Rename {
        from: PathBuf,
        to: PathBuf,
    },
    /// A file goes, or the lines of ours in one, and the rest of it stays.
    Remove {
        path: PathBuf,
        rest: Option<Vec<u8>>,
    },
    /// The link to the program is made.
    Link {
        path: PathBuf,
        to: PathBuf,
    },
    /// A value is added to the configuration of this repository.
    Set(KeyValue),
    Unset(KeyValue),
}

impl Serialize for Step {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let shown = |path: &Path| path.to_string_lossy().into_owned();
        let document = match self {
            Self::Manifest(path, _) => json!({ "action": "write", "path": shown(path) }),
            Self::Write(edit) if edit.is_insertion() => {
                json!({ "action": "insert", "path": shown(&edit.path), "lines": edit.inserted.concat() })
            }
            Self::Write(Edit { path, after, .. }) => {
                json!({ "action": "write", "path": shown(path), "text": String::from_utf8_lossy(after) })
            }
            Self::Chain { from, to } | Self::Rename { from, to } => {
                json!({ "action": "rename", "from": shown(from), "to": shown(to) })
            }
            Self::Remove { path, .. } => json!({ "action": "remove", "path": shown(path) }),
            Self::Link { path, to } => json!({ "action": "link", "path": shown(path), "to": shown(to) }),
            Self::Set((key, value)) => json!({ "action": "set", "key": key, "value": value }),
            Self::Unset((key, value)) => json!({ "action": "unset", "key": key, "value": value }),
        };
        document.serialize(serializer)
    }
}

/// Makes the changes: all of them or none. `repo` has the configuration that they are about.
pub fn apply(repo: Option<&Repo>, steps: &[Step]) -> Result<()> {
    let mut making = Making { repo, ways_back: Vec::new() };
    let Err(cause) = making.make_all(steps) else { return Ok(()) };
    let failed = making.ways_back.into_iter().rev().filter_map(|(path, back)| back().err().map(|_| path));
    let left: Vec<PathBuf> = failed.collect();
    Err(if left.is_empty() { cause } else { InstallError::HalfUndone { cause: Box::new(cause), left } })
}

type WayBack<'a> = Box<dyn FnOnce() -> io::Result<()> + 'a>;

struct Making<'a> {
    repo: Option<&'a Repo>,
    /// The way back from each change, and the place that it is about.
    ways_back: Vec<(PathBuf, WayBack<'a>)>,
}

impl<'a> Making<'a> {
    fn make_all(&mut self, steps: &'a [Step]) -> Result<()> {
        let mut staged = Vec::new();
        for step in steps {
            staged.push(if let Step::Write(edit) = step { Some(self.stage(edit)?) } else { None });
        }
        stop_point("install:staged");
        for (step, file) in steps.iter().zip(staged) {
            self.make(step, file)?;
            stop_point(if let Step::Manifest(..) = step { "install:manifest" } else { "install:put" });
        }
        Ok(())
    }

    /// Writes the file next to its place, in folders that are made for it where they are missing.
    fn stage(&mut self, edit: &Edit) -> Result<NamedTempFile> {
        for folder in missing_folders(&edit.path) {
            fs::create_dir(&folder).map_err(|error| InstallError::io("create", &folder, error))?;
            self.back(&folder.clone(), move || fs::remove_dir(&folder));
        }
        let (fresh, kept) = (edit.made.fresh(), edit.made.kept(&edit.path));
        edits::staged(&edit.path, &edit.after, fresh, kept).map_err(failed("write", &edit.path))
    }

    fn make(&mut self, step: &'a Step, staged: Option<NamedTempFile>) -> Result<()> {
        match step {
            Step::Manifest(path, manifest) => self.keep(path, manifest.as_deref()),
            Step::Write(edit) => self.put(edit, staged),
            Step::Chain { from, to } => self.chain(from, to),
            Step::Rename { from, to } => {
                let over = SavedCopy::of(to);
                fs::rename(from, to).map_err(failed("rename", from))?;
                self.back(to, move || {
                    fs::rename(to, from)?;
                    over.map_or(Ok(()), SavedCopy::put_back)
                });
                Ok(())
            }
            Step::Remove { path, rest } => {
                let before = SavedCopy::of(path);
                match (rest, &before) {
                    (Some(rest), Some(before)) => {
                        before.with(rest).put_back().map_err(failed("write", path))?;
                    }
                    (Some(_), None) => {}
                    (None, _) => fs::remove_file(path).map_err(failed("remove", path))?,
                }
                self.back(path, move || before.map_or(Ok(()), SavedCopy::put_back));
                Ok(())
            }
            Step::Link { path, to } => link(path, to).map_err(failed("write", path)),
            Step::Set(value) => self.configure(value, Repo::config_add, Repo::config_remove),
            Step::Unset(value) => self.configure(value, Repo::config_remove, Repo::config_add),
        }
    }

    fn back(&mut self, place: &Path, way: impl FnOnce() -> io::Result<()> + 'a) {
        self.ways_back.push((place.to_owned(), Box::new(way)));
    }

    fn keep(&mut self, path: &'a Path, manifest: Option<&Manifest>) -> Result<()> {
        let write = |manifest: Option<&Manifest>| match manifest {
            Some(manifest) => manifest.write(path),
            None => remove_manifest(path),
        };
        let before = Manifest::read(path)?;
        write(manifest)?;
        self.back(path, move || write(before.as_ref()).map_err(io::Error::other));
        Ok(())
    }

    fn put(&mut self, edit: &'a Edit, staged: Option<NamedTempFile>) -> Result<()> {
        let (path, Some(file)) = (&edit.path, staged) else { return Ok(()) };
        let before = SavedCopy::of(path);
        // A place that was free is not taken from what came in between.
        let put = if edit.before.is_none() { file.persist_noclobber(path) } else { file.persist(path) };
        put.map_err(|error| InstallError::io("write", path, error.error))?;
        self.back(path, move || before.map_or_else(|| fs::remove_file(path), SavedCopy::put_back));
        Ok(())
    }

    /// File systems without hard links get the rename.
    fn chain(&mut self, from: &'a Path, to: &'a Path) -> Result<()> {
        match fs::hard_link(from, to) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                return Err(InstallError::io("rename a hook to", to, error));
            }
            Err(_) => fs::rename(from, to).map_err(failed("rename", from))?,
        }
        self.back(to, move || {
            fs::rename(to, from)?;
            // Two names of one file are both left by a rename.
            if_there(fs::remove_file(to)).map(drop)
        });
        Ok(())
    }

    fn configure(&mut self, value: &'a KeyValue, make: ConfigChange, undo: ConfigChange) -> Result<()> {
        let (Some(repo), (key, value)) = (self.repo, value) else { return Ok(()) };
        make(repo, key, value)?;
        self.back(Path::new(key), move || undo(repo, key, value).map_err(io::Error::other));
        Ok(())
    }
}

type ConfigChange = fn(&Repo, &str, &str) -> Result<(), GitError>;

fn failed<'p>(verb: &'static str, path: &'p Path) -> impl Fn(io::Error) -> InstallError + use<'p> {
    move |error| InstallError::io(verb, path, error)
}

/// A file as it was before a change.
struct SavedCopy {
    path: PathBuf,
    bytes: Vec<u8>,
    permissions: Permissions,
}

impl SavedCopy {
    fn of(path: &Path) -> Option<Self> {
        let (bytes, facts) = (fs::read(path).ok()?, fs::metadata(path).ok()?);
        Some(Self { path: path.to_owned(), bytes, permissions: facts.permissions() })
    }

    fn with(&self, bytes: &[u8]) -> Self {
        Self { path: self.path.clone(), bytes: bytes.to_owned(), permissions: self.permissions.clone() }
    }

    fn put_back(self) -> io::Result<()> {
        let file = edits::staged(&self.path, &self.bytes, None, Some(self.permissions))?;
        file.persist(&self.path).map(|_| ()).map_err(|error| error.error)
    }
}

fn link(path: &Path, program: &Path) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let mut made = tempfile::Builder::new();
    let made = made.prefix(".andon-").make_in(folder, |name| files::link_program(program, name))?;
    made.persist(path).map_err(|error| error.error)
}

/// The folders above `path` that are missing, outermost first.
pub fn missing_folders(path: &Path) -> Vec<PathBuf> {
    let missing = path.ancestors().skip(1).take_while(|folder| !folder.exists());
    let mut missing: Vec<PathBuf> = missing.map(Path::to_owned).collect();
    missing.reverse();
    missing
}

andon_core::named_enum! {
    /// The outcome for an edited file at uninstalling.
    pub enum EditRemoval, "what became of a file" {
        /// Nothing of ours was in it, or it is gone.
        Nothing = "untouched",
        /// Our lines are out of it.
        Restored = "as before",
        /// It was made by Andon, and is gone.
        Gone = "removed",
    }
}

impl EditRemoval {
    /// The outcome of the change of a file; without one nothing of ours was there.
    pub fn of(step: Option<&Step>) -> Self {
        match step {
            Some(Step::Remove { rest: None, .. }) => Self::Gone,
            Some(_) => Self::Restored,
            None => Self::Nothing,
        }
    }
}

/// The change that takes our lines out of a file again; `None` where none of them are in it.
pub fn cleaned(entry: &EditedFile) -> Result<Option<Step>> {
    let path = entry.path.0.clone();
    let Some(bytes) = edits::read(path.parent().unwrap_or(Path::new("/")), &path)? else { return Ok(None) };
    let rest = edits::strip(&bytes, &entry.inserted);
    Ok(if rest.is_empty() && entry.birth == Birth::Made {
        Some(Step::Remove { path, rest: None })
    } else {
        (rest != bytes).then_some(Step::Remove { path, rest: Some(rest) })
    })
}

/// The change that puts a hook in `dir` back. A hook that is in the way is left.
pub fn put_back(dir: &Path, hook: GitHook, removal: HookRemoval) -> Option<Step> {
    let at = dir.join(hook.name());
    match removal {
        HookRemoval::Gone => Some(Step::Remove { path: at, rest: None }),
        HookRemoval::Restored => Some(Step::Rename { from: dir.join(hook.chained_name()), to: at }),
        HookRemoval::Nothing | HookRemoval::Left(_) => None,
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
fn remove_manifest(path: &Path) -> Result<()> {
    if_there(fs::remove_file(path)).map_err(failed("remove", path))?;
    let _ = path.parent().map(fs::remove_dir);
    Ok(())
}
