//! Commits that went round the gate, by their records.

use super::{Case, Violation, at, violation};
use crate::detect;
use crate::domain::facts::{CommitKind, CommitRecord, Gate, Recording};
use crate::git::CommitInfo;

/// A commit that went round the gate, by its record.
pub(super) fn judge(case: &Case<'_>, commit: &CommitInfo, record: &CommitRecord) -> Option<Violation> {
    let by_name = record.skipped.iter().find(|skip| skip.rule == detect::HOOK_BYPASS.id);
    let by_name = by_name.map(|skip| format!("the commit did not pass the gate ({})", skip.reason));
    let bypassed = match (record.gate, record.kind, record.recording) {
        // Said of the record as a whole.
        (_, _, Recording::Backfilled) => return None,
        (Gate::Bypassed, _, _) => {
            by_name.as_deref().unwrap_or("the commit did not pass the gate (--no-verify)")
        }
        (Gate::NotRun, CommitKind::Normal | CommitKind::Amend, _)
        | (Gate::NotRun, _, Recording::CaughtUp) => {
            by_name.as_deref().unwrap_or("the commit was made while the hooks were off")
        }
        (Gate::Passed, _, _) | (Gate::NotRun, _, Recording::AtCommit | Recording::Derived) => return None,
    };
    let level = detect::bypass_level(&case.config.rules)?;
    let help =
        "a person looks at the commit; then merge by hand, or have it committed again through the hooks";
    Some(violation(Some(at(commit)), "bypassed", level, bypassed.to_owned(), help))
}
