//! Whether the iteration that a record names can be: one more than its parent's, or more where turns ended without a
//! commit. Fewer only after an answer to a halt, or after the pause that ends a run.

use std::collections::HashMap;

use super::{Case, Diagnostic, Examined, violation};
use crate::domain::facts::{Ack, CommitKind, CommitRecord, Prev, Recording};
use crate::domain::findings::Level;
use crate::domain::ids::CommitId;
use crate::domain::time::Timestamp;

/// Seconds by which the clocks of two machines may differ.
const DRIFT: i64 = 300;

/// A record as far as counting goes.
#[derive(Debug, Clone, Copy)]
struct Count {
    iteration: u64,
    at: Timestamp,
}

/// Judges the counts of the range.
pub(super) fn judge(case: &Case<'_>, examined: &Examined, answers: &[Ack]) -> Vec<Diagnostic> {
    let mut known: HashMap<CommitId, Option<Count>> = HashMap::new();
    let mut violations = Vec::new();
    for (commit, fact) in examined.commits().iter().zip(examined.facts()) {
        let record = &fact.record;
        let parent = commit.parents.first().copied();
        let before = parent.and_then(|parent| {
            *known.entry(parent).or_insert_with(|| {
                let stored = case.store.get(parent).ok().flatten()?;
                count(&stored.record)
            })
        });
        known.insert(commit.id, count(record));
        let Some(before) = before.filter(|_| counts_on(record)) else { continue };
        if record.iteration > before.iteration || starts_anew(case, before.at, record.recorded_at, answers) {
            continue;
        }
        let message = format!(
            "the record was edited: its iteration is {}, that of its parent is {}, and neither an answer nor a pause \
             lies between them",
            record.iteration, before.iteration
        );
        let help = format!("git notes --ref=andon show {}", commit.id.short());
        violations.push(violation(
            Some(examined.at(commit.id)),
            "edited-record",
            Level::Block,
            message,
            &help,
        ));
    }
    violations
}

/// The count of a record that a hook wrote.
fn count(record: &CommitRecord) -> Option<Count> {
    let written = matches!(record.recording, Recording::AtCommit | Recording::CaughtUp);
    written.then_some(Count { iteration: record.iteration, at: record.recorded_at })
}

/// Whether a record counts on from its parent's: a step of a rebase keeps the number that it had, and whoever did not
/// have the parent's record began at 1.
fn counts_on(record: &CommitRecord) -> bool {
    matches!(record.prev, Prev::Line(_)) && record.kind != CommitKind::Rebase && count(record).is_some()
}

/// Whether counting began anew between two records.
fn starts_anew(case: &Case<'_>, from: Timestamp, to: Timestamp, answers: &[Ack]) -> bool {
    let paused = to.since(from) > case.config.guard.session_gap;
    paused
        || answers
            .iter()
            .any(|ack| ack.at.0 >= from.0.saturating_sub(DRIFT) && ack.at.0 <= to.0.saturating_add(DRIFT))
}
