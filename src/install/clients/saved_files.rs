//! The changes of installing in each settings file, kept so that uninstalling gives the same bytes back.
//!
//! Only the change is kept, never the whole file: a user's settings may hold keys. A file that was edited meanwhile is
//! recognised by its digest; our entries are then taken out of it one by one.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::Digest as _;

use crate::install::{InstallError, Result, manifest::Birth};
use andon_core::domain::Digest;
use andon_git::{if_there, read_plain, replace_private};

/// More than this is no such file.
const MAX_BYTES: u64 = 4 * 1024 * 1024;

/// The format of the file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
enum Schema {
    #[default]
    #[serde(rename = "andon/agent-settings@1")]
    First,
}

/// Every file that was changed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedFiles {
    schema: Schema,
    /// In the order in which they were changed first.
    pub files: Vec<SavedFile>,
}

/// One changed file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedFile {
    /// Absolute.
    pub path: PathBuf,
    pub birth: Birth,
    /// Digest of the file as it was; of nothing where it was not there.
    before: String,
    /// Digest of the file as it was left.
    after: String,
    change: Change,
    /// Directories that were made for it, outermost first.
    pub created: Vec<PathBuf>,
}

/// One replaced stretch: all that differs between two texts lies in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Change {
    at: usize,
    removed: String,
    inserted: String,
}

impl SavedFile {
    /// The way back from `after` to `before`.
    pub fn new(path: &Path, before: Option<&str>, after: &str, created: Vec<PathBuf>) -> Self {
        let birth = if before.is_some() { Birth::There } else { Birth::Made };
        let before = before.unwrap_or_default();
        Self {
            path: path.to_owned(),
            birth,
            before: digest(before),
            after: digest(after),
            change: Change::between(before, after),
            created,
        }
    }

    /// The text from before, if `now` is what was written.
    pub fn undo(&self, now: &str) -> Option<String> {
        if digest(now) != self.after {
            return None;
        }
        let before = self.change.undo(now)?;
        (digest(&before) == self.before).then_some(before)
    }
}

impl Change {
    fn between(before: &str, after: &str) -> Self {
        let same = |(one, other): &(char, char)| one == other;
        let length = |(one, _): (char, char)| one.len_utf8();
        let start: usize = before.chars().zip(after.chars()).take_while(same).map(length).sum();
        let (one, other) = (before.get(start..).unwrap_or_default(), after.get(start..).unwrap_or_default());
        let end: usize = one.chars().rev().zip(other.chars().rev()).take_while(same).map(length).sum();
        let middle = |text: &str| text.get(..text.len() - end).unwrap_or_default().to_owned();
        Self { at: start, removed: middle(one), inserted: middle(other) }
    }

    fn undo(&self, after: &str) -> Option<String> {
        let (head, tail) = (after.get(..self.at)?, after.get(self.at..)?);
        Some([head, &self.removed, tail.strip_prefix(self.inserted.as_str())?].concat())
    }
}

fn digest(text: &str) -> String {
    Digest(sha2::Sha256::digest(text).into()).to_string()
}

impl SavedFiles {
    /// The file, below a directory of ours.
    pub fn path(dir: &Path) -> PathBuf {
        dir.join("agent-settings.json")
    }

    /// Reads it. What is no such file counts as none: our entries are known without it.
    pub fn read(path: &Path) -> Self {
        let bytes = read_plain(path, MAX_BYTES).ok().flatten();
        bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
    }

    /// Writes it, whole or not at all; without an entry the file goes.
    pub fn write(&self, path: &Path) -> Result<()> {
        let failed = |source| InstallError::io("write", path, source);
        if self.files.is_empty() {
            return if_there(std::fs::remove_file(path)).map(drop).map_err(failed);
        }
        let text = serde_json::to_string_pretty(self).map_err(|error| failed(io::Error::other(error)))?;
        replace_private(path, (text + "\n").as_bytes()).map_err(failed)
    }

    /// The entry of `path`.
    pub fn get(&self, path: &Path) -> Option<&SavedFile> {
        self.files.iter().find(|file| file.path == path)
    }

    /// Puts an entry in the place of the one of the same path.
    pub fn put(&mut self, file: SavedFile) {
        self.files.retain(|other| other.path != file.path);
        self.files.push(file);
    }

    /// Takes an entry out.
    pub fn take(&mut self, path: &Path) -> Option<SavedFile> {
        let at = self.files.iter().position(|file| file.path == path)?;
        Some(self.files.remove(at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_leads_back_byte_for_byte() {
        let texts = ["", "a", "{}\n", "{\"a\":1}", "xäy", "xüy", "xx", "xxx", "a\r\nb", "öö"];
        for before in texts {
            for after in texts {
                let saved = SavedFile::new(Path::new("/s"), Some(before), after, Vec::new());
                assert_eq!(saved.undo(after).as_deref(), Some(before));
                assert_eq!(saved.undo(&format!("{after} ")), None);
            }
        }
    }

    #[test]
    fn entries_are_kept_by_path_and_a_broken_file_is_none() {
        let dir = tempfile::tempdir().unwrap();
        let path = SavedFiles::path(dir.path());
        assert_eq!(SavedFiles::read(&path), SavedFiles::default());
        let mut saved = SavedFiles::default();
        saved.put(SavedFile::new(Path::new("/a"), None, "x", vec!["/d".into()]));
        saved.put(SavedFile::new(Path::new("/a"), Some("y"), "x", Vec::new()));
        saved.write(&path).unwrap();
        assert_eq!(SavedFiles::read(&path), saved);
        assert_eq!(saved.get(Path::new("/a")).unwrap().birth, Birth::There);
        assert!(saved.take(Path::new("/a")).is_some() && saved.take(Path::new("/a")).is_none());
        saved.write(&path).unwrap();
        assert!(!path.exists());
        std::fs::write(&path, "{").unwrap();
        assert_eq!(SavedFiles::read(&path), SavedFiles::default());
    }
}
