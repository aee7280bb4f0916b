//! What was found out about a range of commits.

use crate::domain::diagnostic::Diagnostic;
use crate::domain::findings::Level;
use crate::domain::ids::CommitId;

/// The outcome of a check; the exit code follows from it (docs/exit-codes.md).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckOutcome {
    /// Exit 0.
    Fine,
    /// Exit 1.
    Violated,
    /// Exit 3: nothing is known to be wrong, and not everything is known.
    Undecided,
}

/// The result of `andon check`. Texts raw.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckReport {
    /// The range as it was asked for.
    pub range: String,
    /// The commit whose configuration counted: the left side of the range.
    pub configuration: Option<CommitId>,
    /// How many commits were looked at.
    pub commits: usize,
    /// What is not as it should be, in the order of the commits.
    pub violations: Vec<Diagnostic>,
    /// What could not be decided.
    pub undecided: Vec<Diagnostic>,
    /// Other remarks: skipped lines, unknown versions.
    pub warnings: Vec<Diagnostic>,
}

/// The code of what is said of a rule that was skipped for a commit.
pub const SKIPPED_RULE: &str = "skipped-rule";

/// Whether it tells of a skip that a person accounted for: with a reason, and not in the shell of an agent.
pub fn accepted(what: &Diagnostic) -> bool {
    what.code.as_deref() == Some(SKIPPED_RULE) && what.level == Level::Warn
}

impl CheckReport {
    /// A violation that is known outweighs what is not known.
    pub fn outcome(&self) -> CheckOutcome {
        if self.violations.iter().any(|violation| violation.level >= Level::Block) {
            CheckOutcome::Violated
        } else if self.undecided.is_empty() {
            CheckOutcome::Fine
        } else {
            CheckOutcome::Undecided
        }
    }
}
