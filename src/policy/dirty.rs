//! The dirty bits of `andon complete` (`autonomous-loop-rules.md`, dirty bit checks).
//!
//! They are derived from content each time they are asked for: there is no stored bit that can rot or
//! that an agent can set.

use crate::domain::tests::{Counts, TestEvidence};
use crate::history::{Outcome, outcome};

/// A bit that may be unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Bit {
    /// It is so.
    Yes,
    /// It is not.
    No,
    /// Nobody can say.
    Unknown,
}

impl Bit {
    /// For JSON: `true`, `false` or `null`.
    pub fn as_option(self) -> Option<bool> {
        match self {
            Self::Yes => Some(true),
            Self::No => Some(false),
            Self::Unknown => None,
        }
    }
}

/// The dirty bits of the code at hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DirtyBits {
    /// Code differs from what the task began with.
    pub code_modified: Bit,
    /// The tests ran, to their end, on exactly this code.
    pub tests_run: Bit,
    /// They pass; unknown when they did not run.
    pub tests_passing: Bit,
    /// Relevant documentation moved with the code; `None` when that is not asked for.
    pub docs_updated: Option<Bit>,
    /// Counts of that run, for the prompt.
    counts: Counts,
}

/// Whether a task may be called done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Completion {
    /// It may.
    Clean,
    /// It may not.
    Dirty {
        /// What is missing, in one sentence.
        message: String,
        /// The command that mends it, as `run: andon test`.
        prompt: String,
    },
}

/// The dirty bits, given the newest valid result on exactly this code.
pub fn dirty(code_modified: Bit, tests: Option<&TestEvidence>, docs_updated: Option<Bit>) -> DirtyBits {
    let (tests_run, tests_passing) = match tests.map(outcome) {
        Some(Outcome::Green) => (Bit::Yes, Bit::Yes),
        Some(Outcome::Red) => (Bit::Yes, Bit::No),
        Some(Outcome::Stopped | Outcome::Nothing) | None => (Bit::No, Bit::Unknown),
    };
    let counts = tests.map(|tests| tests.counts).unwrap_or_default();
    DirtyBits { code_modified, tests_run, tests_passing, docs_updated, counts }
}

/// Why a bit is not as it has to be, in words; `None` where it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reasons {
    /// Of `tests_run`.
    pub tests_run: Option<String>,
    /// Of `tests_passing`.
    pub tests_passing: Option<String>,
    /// Of `docs_updated`.
    pub docs_updated: Option<String>,
}

impl DirtyBits {
    /// Why each bit that stands in the way is as it is.
    pub fn reasons(&self) -> Reasons {
        let untested = self.code_modified != Bit::No && self.tests_run != Bit::Yes;
        Reasons {
            tests_run: untested.then(|| "the code was modified and the tests have not run on it".to_owned()),
            tests_passing: (self.tests_passing == Bit::No).then(|| match self.counts.failing() {
                0 => "the tests of this code fail".to_owned(),
                failing => format!("{failing} of {} tests of this code fail", self.counts.total),
            }),
            docs_updated: (self.docs_updated == Some(Bit::No))
                .then(|| "the API was modified and no documentation with it".to_owned()),
        }
    }

    /// Whether the task may be called done. Tests are asked for unless the code is known to be unmodified;
    /// tests that fail are never passed over, and documentation only where it is configured.
    pub fn completion(&self) -> Completion {
        let Reasons { tests_run, tests_passing, docs_updated } = self.reasons();
        let prompts = [
            (tests_passing, "mend them, then run: andon test"),
            (tests_run, "run: andon test"),
            (docs_updated, "update the documentation that names it"),
        ];
        for (reason, prompt) in prompts {
            if let Some(message) = reason {
                return Completion::Dirty { message, prompt: prompt.to_owned() };
            }
        }
        Completion::Clean
    }
}
