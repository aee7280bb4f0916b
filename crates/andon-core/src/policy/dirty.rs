//! The dirty bits of `andon complete` (docs/spec-map.md, loop rules: dirty bit checks).
//!
//! They are derived from content each time: no stored bit can go wrong or be set by an agent.

use crate::domain::{Counts, DirtyBit, Figures, Hint, TestEvidence, plural::count};
use crate::history::{Outcome, outcome};

/// A bit that may be unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Bit {
    /// It is so.
    Yes,
    /// It is certainly not so.
    No,
    Unknown,
}

impl Bit {
    /// `None` for what is not known.
    pub fn known(self) -> Option<bool> {
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
    /// There is code that is not committed.
    pub code_modified: Bit,
    /// The tests ran, to their end, on exactly this code; unknown where no test command is configured.
    pub tests_run: Bit,
    /// They pass; unknown when they did not run.
    pub tests_passing: Bit,
    /// Relevant documentation moved with the code; `None` when that is not asked for.
    pub docs_updated: Option<Bit>,
    /// Counts of that run, for the prompt.
    pub counts: Counts,
}

/// States whether a task may be called done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Completion {
    /// It may.
    Clean,
    /// It may not: the bit that is in the way, a sentence that says what is missing, and the command that clears it, as
    /// `run: andon test`.
    Dirty { bit: DirtyBit, message: String, prompt: String },
}

/// The known state of the tests of exactly this code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tests<'a> {
    /// No test command is configured: nothing can be asked for.
    Unasked,
    /// No run on this code counts.
    Missing,
    /// The newest valid result.
    Ran(&'a TestEvidence),
}

/// The dirty bits, given what is known of the tests of exactly this code.
pub fn dirty(code_modified: Bit, tests: Tests<'_>, docs_updated: Option<Bit>) -> DirtyBits {
    let (tests_run, tests_passing, counts) = match tests {
        Tests::Unasked => (Bit::Unknown, Bit::Unknown, Counts::default()),
        Tests::Missing => (Bit::No, Bit::Unknown, Counts::default()),
        Tests::Ran(tests) => match outcome(tests) {
            Outcome::Green => (Bit::Yes, Bit::Yes, tests.counts()),
            Outcome::Red => (Bit::Yes, Bit::No, tests.counts()),
            Outcome::Stopped | Outcome::Nothing => (Bit::No, Bit::Unknown, tests.counts()),
        },
    };
    DirtyBits { code_modified, tests_run, tests_passing, docs_updated, counts }
}

/// The reasons, in words, why bits are not as they have to be; `None` for a bit that is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BitReasons {
    /// The bit `tests_run`.
    pub tests_run: Option<String>,
    /// The bit `tests_passing`.
    pub tests_passing: Option<String>,
    /// The bit `docs_updated`.
    pub docs_updated: Option<String>,
}

impl DirtyBits {
    /// The reason for each bit that is in the way.
    pub fn reasons(&self) -> BitReasons {
        let untested = match self.code_modified {
            Bit::Yes => "the code was modified and the tests have not run on it",
            Bit::No | Bit::Unknown => "the tests have not run on this code",
        };
        BitReasons {
            tests_run: (self.tests_run == Bit::No).then(|| untested.to_owned()),
            tests_passing: (self.tests_passing == Bit::No).then(|| match self.counts.failing() {
                0 => "the tests of this code fail".to_owned(),
                failing => {
                    let fail = if failing == 1 { "fails" } else { "fail" };
                    format!("{failing} of {} of this code {fail}", count(self.counts.total, "test"))
                }
            }),
            docs_updated: (self.docs_updated == Some(Bit::No))
                .then(|| "the API was modified and no documentation with it".to_owned()),
        }
    }

    /// As the safety event log shows them.
    pub fn figures(&self) -> Figures {
        Figures::Bits {
            code_modified: self.code_modified.known(),
            tests_run: self.tests_run.known(),
            tests_passing: self.tests_passing.known(),
            docs_updated: self.docs_updated.and_then(Bit::known),
        }
    }

    /// Returns whether the task may be called done. Tests are required where there is a command for them, and documentation
    /// where it is configured; failing tests never pass.
    pub fn completion(&self) -> Completion {
        let BitReasons { tests_run, tests_passing, docs_updated } = self.reasons();
        let prompts = [
            (DirtyBit::TestsPassing, tests_passing, Hint::Test.led("fix them, then run")),
            (DirtyBit::TestsRun, tests_run, Hint::Test.led("run")),
            (DirtyBit::DocsUpdated, docs_updated, "update the documentation that names it".to_owned()),
        ];
        for (bit, reason, prompt) in prompts {
            if let Some(message) = reason {
                return Completion::Dirty { bit, message, prompt };
            }
        }
        Completion::Clean
    }
}
