//! The mistakes in a configuration, all of them at once.
//!
//! A person who corrects one line and then meets the next error loses trust as fast as time.

use std::fmt;

use andon_core::domain::{Diagnostic, Location, TextPosition};

/// Most errors that are listed; the rest is counted.
pub(super) const MAX_LISTED: usize = 50;

/// One thing that is wrong with a configuration: in a file, `REV:andon.toml` or `command line`, and where in it; `None`
/// when it concerns the file as a whole. Foreign text in `what` is escaped and cut.
pub(super) fn mistake(
    file: &str,
    at: Option<TextPosition>,
    what: impl Into<String>,
    hint: impl Into<String>,
) -> Diagnostic {
    let file = file.to_owned();
    let location =
        at.map_or_else(|| Location::Named(file.clone()), |at| Location::Text { file: file.clone(), at });
    Diagnostic::error(what).code("config").at(location).help(hint)
}

/// Everything that is wrong with a configuration: never empty.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct ConfigErrors {
    /// The errors, by source and position; at most 50.
    pub errors: Vec<Diagnostic>,
    /// The number of errors beyond those.
    pub more: usize,
}

impl From<Diagnostic> for ConfigErrors {
    fn from(error: Diagnostic) -> Self {
        Self { errors: vec![error], more: 0 }
    }
}

impl fmt::Display for ConfigErrors {
    /// A line for each error and one for its hint.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, error) in self.errors.iter().enumerate() {
            let newline = if index == 0 { "" } else { "\n" };
            write!(f, "{newline}{error}\n  help: {}", error.help.join("\n  help: "))?;
        }
        if self.more > 0 {
            write!(f, "\nand {} more", self.more)?;
        }
        Ok(())
    }
}

/// Collects errors; stops listing, not counting, at [`MAX_LISTED`].
#[derive(Debug, Default)]
pub(super) struct Problems {
    errors: Vec<Diagnostic>,
    more: usize,
}

impl Problems {
    /// Adds one error.
    pub(super) fn push(&mut self, error: Diagnostic) {
        if self.is_full() {
            self.more = self.more.saturating_add(1);
        } else {
            self.errors.push(error);
        }
    }

    /// True when further errors are only counted: no need to word them well.
    pub(super) fn is_full(&self) -> bool {
        self.errors.len() >= MAX_LISTED
    }

    /// The number of errors that are listed so far.
    pub(super) fn listed(&self) -> usize {
        self.errors.len()
    }

    /// Sorts the errors from `start` on by position, and drops what was said twice.
    pub(super) fn sort_from(&mut self, start: usize) {
        if let Some(tail) = self.errors.get_mut(start..) {
            tail.sort_by_key(Diagnostic::position);
        }
        self.errors.dedup();
    }

    /// Shows the lines of `text` that the errors from `start` on are about.
    pub(super) fn quote_from(&mut self, start: usize, text: &str) {
        for error in self.errors.iter_mut().skip(start) {
            let line = error.position().and_then(|at| text.lines().nth(at.line.checked_sub(1)?));
            error.excerpt = line.map(Box::from);
        }
    }

    /// The errors, when there are any.
    pub(super) fn into_result(self) -> Result<(), ConfigErrors> {
        if self.errors.is_empty() {
            Ok(())
        } else {
            Err(ConfigErrors { errors: self.errors, more: self.more })
        }
    }
}

/// Foreign text, fit for a message: escaped, cut, in backquotes.
pub(super) fn quoted(text: &str) -> String {
    const MAX: usize = 60;
    let shown: String = text.chars().take(MAX).flat_map(char::escape_debug).collect();
    let cut = if text.chars().nth(MAX).is_some() { "..." } else { "" };
    format!("`{shown}{cut}`")
}
