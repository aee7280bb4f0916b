//! Where configuration comes from, and how it is read: bounded, and never by following a pipe.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use super::mistake::mistake;
use andon_core::domain::diagnostic::Diagnostic;
use andon_core::domain::paths::CONFIG_FILE;

/// Largest configuration file, in bytes.
pub const MAX_BYTES: usize = 1 << 20;

/// Who said it; the later wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Layer {
    /// Built in.
    Default,
    /// `$XDG_CONFIG_HOME/andon/config.toml`.
    User,
    /// `andon.toml` at the root of the repository.
    Repository,
    /// Options of the command.
    CommandLine,
}

impl Layer {
    /// Every layer, lowest first, with its name in `config show`.
    pub const ALL: [(Self, &'static str); 4] = [
        (Self::Default, "default"),
        (Self::User, "user"),
        (Self::Repository, "repository"),
        (Self::CommandLine, "command line"),
    ];

    /// The name in `config show`.
    pub fn as_str(self) -> &'static str {
        Self::ALL.iter().find(|(layer, _)| *layer == self).map_or("", |(_, name)| name)
    }
}

/// One configuration text, not yet looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigSource {
    /// Who says it.
    pub layer: Layer,
    /// How messages name it: a path, `REV:andon.toml`, `command line`.
    pub name: String,
    /// The bytes as they were read, which need not be UTF-8.
    pub text: Vec<u8>,
}

/// Who said an effective value, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SettingOrigin {
    /// No file: it is the built-in default.
    Default,
    /// A text of configuration.
    Given {
        /// Which of the layers it is.
        layer: Layer,
        /// How messages name the text: a path, or `REV:andon.toml`.
        file: String,
        /// The line, from 1.
        line: usize,
    },
}

impl SettingOrigin {
    /// The layer that the value comes from.
    pub fn layer(&self) -> Layer {
        match self {
            Self::Default => Layer::Default,
            Self::Given { layer, .. } => *layer,
        }
    }

    /// `file:line`, when a file sets it.
    pub fn place(&self) -> Option<String> {
        match self {
            Self::Default => None,
            Self::Given { file, line, .. } => Some(format!("{file}:{line}")),
        }
    }
}

/// Reads the user's file and the repository's `andon.toml` in `root`, those that exist. At most
/// [`MAX_BYTES`] each; anything but a regular file is an error (a pipe would hang a hook).
pub fn read_sources(root: &Path, user_file: Option<&Path>) -> Result<Vec<ConfigSource>, Diagnostic> {
    let mut sources = Vec::with_capacity(2);
    if let Some(path) = user_file {
        let name = path.display().to_string();
        sources.extend(read(path, &name)?.map(|text| ConfigSource { layer: Layer::User, name, text }));
    }
    let name = CONFIG_FILE.to_owned();
    let text = read(&root.join(CONFIG_FILE), &name)?;
    sources.extend(text.map(|text| ConfigSource { layer: Layer::Repository, name, text }));
    Ok(sources)
}

fn read(path: &Path, name: &str) -> Result<Option<Vec<u8>>, Diagnostic> {
    let unreadable = |error: &io::Error| {
        whole(name, format!("cannot be read: {error}"), "make it readable, or move it out of the way")
    };
    let metadata = match std::fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if is_missing(&error, path) => return Ok(None),
        Err(error) => return Err(unreadable(&error)),
    };
    if !metadata.is_file() {
        return Err(whole(name, "is not a regular file".to_owned(), "replace it with a file"));
    }
    let mut text =
        Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or(MAX_BYTES).min(MAX_BYTES) + 1);
    let bound = u64::try_from(MAX_BYTES).unwrap_or(u64::MAX).saturating_add(1);
    File::open(path)
        .and_then(|file| file.take(bound).read_to_end(&mut text))
        .map_err(|error| unreadable(&error))?;
    check_size(name, text.len())?;
    Ok(Some(text))
}

/// A link to nowhere is not a missing file: it was made on purpose.
fn is_missing(error: &io::Error, path: &Path) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) && !path.is_symlink()
}

/// Refuses what is larger than [`MAX_BYTES`].
pub(super) fn check_size(name: &str, bytes: usize) -> Result<(), Diagnostic> {
    if bytes <= MAX_BYTES {
        return Ok(());
    }
    Err(whole(name, "is larger than 1 MiB".to_owned(), "shorten it: a configuration is a few dozen lines"))
}

fn whole(name: &str, what: String, hint: &str) -> Diagnostic {
    mistake(name, None, what, hint)
}
