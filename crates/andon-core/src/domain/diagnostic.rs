//! One message about something that is wrong or worth knowing: what happened, where, and a hint, the command that
//! solves it. Warnings, mistakes of a configuration, violations and errors of commands are all of this one type;
//! `report` renders it.

use std::{fmt, path::PathBuf};

use serde::{Serialize, Serializer};

use super::{CommitId, Evidence, Finding, Level};

/// A place in a text, both counted from 1; columns count characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct TextPosition {
    pub line: usize,
    pub column: usize,
}

/// A commit as a message names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitRef {
    /// Its id; texts show the beginning.
    pub commit: CommitId,
    /// First line of its message.
    pub subject: String,
}

/// The subject of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    /// A path, a source of configuration or anything else, by its name.
    Named(String),
    /// A place in a text: the file, or what else holds the text.
    Text { file: String, at: TextPosition },
    /// A line of a file that begins at this byte, from 0.
    Line { path: PathBuf, offset: u64 },
    /// A line of the note of a commit, from 1.
    Note { commit: CommitId, line: usize },
    /// A commit of the range.
    Commit(CommitRef),
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Named(name) => f.write_str(name),
            Self::Text { file, at: TextPosition { line, column } } => write!(f, "{file}:{line}:{column}"),
            Self::Line { path, offset } => write!(f, "{} at byte {offset}", path.display()),
            Self::Note { commit, line } => write!(f, "refs/notes/andon, commit {commit}, line {line}"),
            Self::Commit(CommitRef { commit, subject }) => write!(f, "{} {subject}", commit.short()),
        }
    }
}

impl Serialize for Location {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<T: Into<String>> From<T> for Location {
    fn from(name: T) -> Self {
        Self::Named(name.into())
    }
}

crate::named_enum! {
    /// The severity of a message, in rising order.
    pub enum Severity {
        /// For information.
        Note = "note",
        /// Nothing is refused.
        Warning = "warning",
        /// Something is refused or went wrong.
        Error = "error",
    }
}

impl Severity {
    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
    fn serialize_of_level<S: Serializer>(level: &Level, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(Self::from(*level).as_str())
    }
}

impl From<Level> for Severity {
    fn from(level: Level) -> Self {
        match level {
            Level::Off | Level::Note => Self::Note,
            Level::Warn => Self::Warning,
            Level::Block | Level::Halt => Self::Error,
        }
    }
}

/// A message about anything: an error of a command, a warning about a file, a violation in a range. All texts raw. Its JSON has its members in the
/// order of their names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Diagnostic {
    /// The id in the brackets: a rule id or an error id, kebab-case.
    pub code: Option<String>,
    /// Hints: commands or steps that put it right, the likeliest first.
    pub help: Vec<String>,
    /// The place; `None` for what concerns everything. Boxed, as errors are best small.
    pub location: Option<Box<Location>>,
    /// One sentence without a full stop that says what happened.
    pub message: String,
    /// The level of severity: [`Level::Block`] and [`Level::Halt`] are errors.
    #[serde(rename = "severity", serialize_with = "Severity::serialize_of_level")]
    pub level: Level,
    /// The file of the work that it is about, from the top; forges show it there.
    #[serde(skip)]
    pub file: Option<Box<str>>,
    /// The line of the text that `location` is a place in; boxed for the same reason.
    #[serde(skip)]
    pub excerpt: Option<Box<str>>,
}

impl Diagnostic {
    /// A message without code, location or help.
    pub fn new(level: Level, message: impl Into<String>) -> Self {
        Self {
            level,
            code: None,
            message: message.into(),
            location: None,
            file: None,
            excerpt: None,
            help: Vec::new(),
        }
    }

    /// A message about what was refused or failed.
    pub fn error(message: impl Into<String>) -> Self {
        Self::new(Level::Block, message)
    }

    /// A message about something that does not stop the work.
    pub fn warning(message: impl Into<String>) -> Self {
        Self::new(Level::Warn, message)
    }

    /// A message that asks for nothing.
    pub fn note(message: impl Into<String>) -> Self {
        Self::new(Level::Note, message)
    }

    /// With what goes into the brackets.
    #[must_use]
    pub fn code(mut self, code: impl Into<String>) -> Self {
        self.code = Some(code.into());
        self
    }

    /// With a place.
    #[must_use]
    pub fn at(mut self, location: impl Into<Location>) -> Self {
        self.location = Some(Box::new(location.into()));
        self
    }

    /// With more help lines.
    #[must_use]
    pub fn helps<T: Into<String>>(self, help: impl IntoIterator<Item = T>) -> Self {
        help.into_iter().fold(self, Self::help)
    }

    /// With one more help line.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help.push(help.into());
        self
    }

    /// The commit that it is about.
    pub fn commit(&self) -> Option<&CommitRef> {
        if let Some(Location::Commit(commit)) = self.location.as_deref() { Some(commit) } else { None }
    }

    /// Returns the position in the text, if the location is in a text.
    pub fn position(&self) -> Option<TextPosition> {
        if let Some(Location::Text { at, .. }) = self.location.as_deref() { Some(*at) } else { None }
    }
}

impl fmt::Display for Diagnostic {
    /// `andon.toml:3:7: what is wrong`, without help.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(location) = &self.location {
            write!(f, "{location}: ")?;
        }
        f.write_str(&self.message)
    }
}

impl From<&Finding> for Diagnostic {
    fn from(finding: &Finding) -> Self {
        let help = finding.help.clone();
        let file = finding.evidence.iter().find_map(Evidence::path).map(Box::from);
        Self { help, file, ..Self::new(finding.level, finding.message()).code(finding.rule) }
    }
}

/// The known word nearest to `word`, when it is near enough to be a slip: a third of its letters at most,
/// or one is the beginning of the other.
pub fn nearest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    // The longest known word has about 25 letters; anything long is no slip, and slow to compare.
    if word.chars().count() > 64 {
        return None;
    }
    let folded = word.to_ascii_lowercase();
    known
        .filter_map(|candidate| {
            let distance = strsim::damerau_levenshtein(&folded, candidate);
            let letters = folded.len().max(candidate.len());
            let beginning =
                folded.len() >= 3 && (candidate.starts_with(&folded) || folded.starts_with(candidate));
            (beginning || distance * 3 <= letters).then_some((distance, candidate))
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Returns whether `word` is `known` but for one letter that is wrong, missing, too many, or swapped with its neighbour.
pub fn is_one_slip(word: &str, known: &str) -> bool {
    word.chars().count() <= 64 && strsim::damerau_levenshtein(word, known) <= 1
}
