//! Whether a task may be called done, and why not.

use andon_core::domain::diagnostic::Diagnostic;

/// A question that may be open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenQuestion {
    /// The answer is yes, by what is recorded.
    Yes,
    /// The answer is no, by what is recorded.
    No,
    /// Not known, or does not apply.
    Unknown,
}

impl OpenQuestion {
    /// `None` for what is not known.
    pub fn known(self) -> Option<bool> {
        match self {
            Self::Yes => Some(true),
            Self::No => Some(false),
            Self::Unknown => None,
        }
    }

    /// As people read it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::No => "no",
            Self::Unknown => "not known",
        }
    }
}

/// The dirty bits. Texts raw.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompleteView {
    /// There is code that is not committed.
    pub code_modified: OpenQuestion,
    /// The tests ran on exactly this code.
    pub tests_run: OpenQuestion,
    /// They pass.
    pub tests_passing: OpenQuestion,
    /// Documents moved with the declared API.
    pub docs_updated: OpenQuestion,
    /// The reasons for the bits that are in the way.
    pub reasons: Reasons,
    /// Whether the task may be called done.
    pub can_complete: OpenQuestion,
    /// What to do first when it may not.
    pub prompt: Option<String>,
    /// Why the task is not done.
    pub problems: Vec<Diagnostic>,
}

/// Why a bit is not as it has to be; `None` where it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reasons {
    /// The bit `tests_run`.
    pub tests_run: Option<String>,
    /// The bit `tests_passing`.
    pub tests_passing: Option<String>,
    /// The bit `docs_updated`.
    pub docs_updated: Option<String>,
}
