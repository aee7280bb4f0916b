//! The sources of configuration. They are read bounded, and never by following a pipe.

use std::io::{self, Read as _};
use std::{fs::File, ops::Range, path::Path};

use toml::de::DeTable;

use super::mistake::{Problems, mistake};
use andon_core::domain::{CONFIG_FILE, Diagnostic, TextPosition};

/// Largest configuration file, in bytes.
pub const MAX_BYTES: usize = 1 << 20;

andon_core::named_enum! {
    /// Who said it; the later wins. The name is that in `config show`.
    pub enum Layer, "a layer of the configuration" {
        /// Built in.
        Default = "default",
        /// `$XDG_CONFIG_HOME/andon/config.toml`.
        User = "user",
        /// `andon.toml` at the root of the repository.
        Repository = "repository",
        /// Options of the command.
        CommandLine = "command line",
    }
}

/// One configuration text, not yet looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigSource {
    /// Who says it.
    pub layer: Layer,
    /// The name in messages: a path, `REV:andon.toml`, `command line`.
    pub name: String,
    /// The bytes as they were read, which need not be UTF-8.
    pub text: Vec<u8>,
}

/// Who said an effective value, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SettingOrigin {
    /// No file: it is the built-in default.
    Default,
    /// A text of configuration. The text is named by its path or as `REV:andon.toml`; lines count from 1.
    Given { layer: Layer, file: String, line: usize },
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
    check_size(name, usize::try_from(metadata.len()).unwrap_or(usize::MAX).max(text.len()))?;
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
    let what = format!("is larger than 1 MiB: {bytes} bytes");
    Err(whole(name, what, "shorten it: a configuration is a few dozen lines"))
}

fn whole(name: &str, what: String, hint: &str) -> Diagnostic {
    mistake(name, None, what, hint)
}

/// Up to this size all syntax errors of a file are listed; beyond, the first: a parser that recovers over
/// and over again in a megabyte of noise would keep every one of them in memory.
const RECOVER_BYTES: usize = 64 * 1024;

/// A text that is TOML, and where its lines begin.
pub(super) struct Document<'a> {
    pub(super) table: DeTable<'a>,
    pub(super) lines: Lines<'a>,
}

/// The offsets at which the lines of a text begin.
pub(super) struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    /// The lines of `text`.
    pub(super) fn new(text: &'a str) -> Self {
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        Self { text, starts: std::iter::once(0).chain(breaks).collect() }
    }

    /// The line of a byte offset, from 1.
    pub(super) fn line(&self, offset: usize) -> usize {
        self.starts.partition_point(|&start| start <= offset)
    }

    /// The position of a byte offset.
    pub(super) fn position(&self, offset: usize) -> TextPosition {
        let line = self.line(offset);
        let start = self.starts.get(line.saturating_sub(1)).copied().unwrap_or(0);
        let before = self.text.as_bytes().get(start..offset.min(self.text.len())).unwrap_or_default();
        // Continuation bytes do not begin a character; a byte order mark takes no column.
        let marked = usize::from(start == 0 && before.starts_with("\u{feff}".as_bytes()));
        let characters = before.iter().filter(|byte| (**byte & 0xC0) != 0x80).count();
        TextPosition { line, column: characters - marked + 1 }
    }
}

/// Parses a source. Syntax errors go to `problems` and end it for this source, except duplicate keys: the other keys
/// can still be judged.
pub(super) fn parse<'a>(source: &'a ConfigSource, problems: &mut Problems) -> Option<Document<'a>> {
    if let Err(error) = check_size(&source.name, source.text.len()) {
        problems.push(error);
        return None;
    }
    let text = match std::str::from_utf8(&source.text) {
        Ok(text) => text,
        Err(error) => {
            problems.push(not_utf8(source, error.valid_up_to()));
            return None;
        }
    };
    let lines = Lines::new(text);
    let (table, errors) = parse_text(text);
    let Some(table) = table else {
        return report(source, &lines, &errors, problems)
            .then_some(Document { table: DeTable::new(), lines });
    };
    report(source, &lines, &errors, problems).then_some(Document { table, lines })
}

fn parse_text(text: &str) -> (Option<DeTable<'_>>, Vec<toml::de::Error>) {
    if text.len() <= RECOVER_BYTES {
        let (table, errors) = DeTable::parse_recoverable(text);
        return (Some(table.into_inner()), errors);
    }
    match DeTable::parse(text) {
        Ok(table) => (Some(table.into_inner()), Vec::new()),
        Err(error) => (None, vec![error]),
    }
}

/// Words the parser's errors; true when the rest of the document can be relied on.
fn report(
    source: &ConfigSource,
    lines: &Lines<'_>,
    errors: &[toml::de::Error],
    problems: &mut Problems,
) -> bool {
    for error in errors {
        if problems.is_full() {
            problems.push(syntax(source, lines, "syntax error", None));
        } else {
            problems.push(syntax(source, lines, error.message(), error.span()));
        }
    }
    errors.iter().all(|error| error.message() == DUPLICATE)
}

const DUPLICATE: &str = "duplicate key";

fn syntax(source: &ConfigSource, lines: &Lines<'_>, message: &str, span: Option<Range<usize>>) -> Diagnostic {
    let (what, hint) = if message == DUPLICATE {
        let name = span.clone().and_then(|span| lines.text.get(span)).unwrap_or("it");
        let before = span.as_ref().and_then(|span| lines.text.get(..span.start)).unwrap_or_default();
        let is_table = before.lines().last().is_some_and(|line| line.trim_start().starts_with('['));
        let both = if is_table { ", with the keys of both" } else { "" };
        (format!("{} is set twice", super::mistake::quoted(name)), format!("keep one of the two{both}"))
    } else {
        (format!("not valid TOML: {message}"), "fix the syntax; https://toml.io shows it".to_owned())
    };
    let at = span.map(|span| lines.position(span.start));
    mistake(&source.name, at, what, hint)
}

fn not_utf8(source: &ConfigSource, valid_up_to: usize) -> Diagnostic {
    let valid = source.text.get(..valid_up_to).unwrap_or_default();
    let at = std::str::from_utf8(valid).ok().map(|text| Lines::new(text).position(text.len()));
    mistake(&source.name, at, "not UTF-8 text", "save the file as UTF-8")
}
