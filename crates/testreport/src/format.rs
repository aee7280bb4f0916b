//! The names of the formats that are read, for callers that name the format instead of having it recognised.

use crate::{WordList, words::RUNNERS};

/// Every format by the name that evidence has for it, in the order in which help lists them.
const NAMES: WordList = WordList::section(RUNNERS, "formats");

/// The format of a run that is read by its exit code alone.
const EXIT: &str = "exit";

/// A format by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Format(&'static str);

impl Format {
    /// The format of that name.
    pub fn named(name: &str) -> Option<Self> {
        NAMES.iter().find(|known| *known == name).map(Self)
    }

    /// The names of all formats.
    pub fn names() -> impl Iterator<Item = &'static str> + Clone {
        NAMES.iter()
    }

    /// Its name: what evidence calls the runner.
    pub fn name(self) -> &'static str {
        self.0
    }

    /// True when reports and output are not looked at.
    pub(super) fn is_exit_only(self) -> bool {
        self.0 == EXIT
    }
}
