//! The order and the past of records. Each names the hash of its parent's: one that was edited or dropped shows in the next. A
//! note that was replaced is still in the history of the notes ref, which is walked back until each note of the range has been
//! seen being added. The walk is bounded, so that notes of other commits do not make a check slow; a rewrite of the ref itself
//! shows when clones are synced, not here.

use std::collections::{BTreeSet, VecDeque};

use super::{Case, Diagnostic, ExaminedCommits, JudgedRange, at, violation};
use andon_core::domain::{CommitId, CommitRecord, Gate, Hint, Level, Oid, PrevRecord, Recording};
use andon_engine::Result;
use andon_git::{CommitInfo, NoteChange, Repo};
use andon_store::{RecordLine, StoredRecord, wire::v1::decode_commit};

/// Commits whose lines are remembered: a parent is among the last ones nearly always.
const REMEMBERED: usize = 32;

/// The lines of the last notes, where they have no more than one.
#[derive(Default)]
pub(super) struct RecentNotes {
    notes: VecDeque<(CommitId, Option<RecordLine>)>,
}

impl RecentNotes {
    /// Takes in that the note of a commit has this line and no other, or that there is no note.
    pub(super) fn push(&mut self, commit: CommitId, stored: Option<&StoredRecord>) {
        let line = stored.map(|stored| RecordLine {
            digest: stored.line_digest,
            prev: stored.record.prev.line(),
            recording: stored.record.recording,
        });
        self.notes.push_front((commit, line));
        self.notes.truncate(REMEMBERED);
    }

    /// The lines of a note; `None` where it cannot be read.
    fn lines(&self, case: &Case<'_>, commit: CommitId) -> Option<Vec<RecordLine>> {
        if let Some((_, line)) = self.notes.iter().find(|(known, _)| *known == commit) {
            return Some(line.iter().copied().collect());
        }
        case.store.get(commit).ok()?;
        let note = case.store.note(commit).ok()?;
        Some(note.map(|note| note.lines()).unwrap_or_default())
    }
}

/// Compares the record of a commit with that of its parent, which it names.
pub(super) fn judge(
    case: &Case<'_>,
    examined: &ExaminedCommits,
    recent: &RecentNotes,
    commit: &CommitInfo,
    stored: &StoredRecord,
) -> Option<Diagnostic> {
    // An unreadable parent record in the range is reported at the parent. Two clones may both have recorded the parent:
    // each line has a successor.
    let lines = recent.lines(case, *commit.parents.first()?)?;
    let message = match stored.record.prev {
        // Records that were backfilled below came later than this one.
        PrevRecord::Unsaid | PrevRecord::Absent
            if lines.iter().all(|line| line.recording == Recording::Backfilled) =>
        {
            return None;
        }
        PrevRecord::Unsaid => "the record does not name its parent's, which is there",
        PrevRecord::Absent if !continues_own(case, examined, commit) => return None,
        PrevRecord::Absent => {
            let what = "the record begins a chain: that of its parent was not there when it was written";
            return Some(violation(at(commit), "chain-begins-anew", Level::Warn, what, Hint::RecordsLog));
        }
        PrevRecord::Line(_) if lines.is_empty() => "the record of its parent was dropped",
        PrevRecord::Line(prev) if lines.iter().any(|line| line.digest == prev) => return None,
        PrevRecord::Line(_) => "the record of its parent was edited after this one was written",
    };
    Some(violation(at(commit), "broken-chain", Level::Block, message, Hint::RecordsLog))
}

/// True when a commit continues one of the range that the same person made. The records of others, and of what the range
/// builds on, were not there yet: nobody is accused of that.
fn continues_own(case: &Case<'_>, examined: &ExaminedCommits, commit: &CommitInfo) -> bool {
    let parent = commit.parents.first().filter(|parent| examined.holds(**parent));
    let parent = parent.and_then(|parent| case.repo.commit(*parent).ok());
    parent.is_some_and(|parent| parent.committer_email.eq_ignore_ascii_case(&commit.committer_email))
}

/// Fewest commits of notes that are looked at, whatever the length of the range.
const FEWEST: usize = 256;
/// Most commits of notes that are looked at.
const MOST: usize = 8_192;
/// Largest note that is read, in bytes.
const MAX_NOTE: usize = 1 << 20;

/// Judges what became of the notes of the range, and of other commits whose records count in it.
pub(super) fn replaced_notes(
    JudgedRange { case, examined }: JudgedRange<'_>,
    others: &[CommitId],
) -> Result<Vec<Diagnostic>> {
    let Some(tip) = case.store.tip() else { return Ok(Vec::new()) };
    let range = examined.commits().iter().rev().map(|commit| commit.id);
    let mut open: BTreeSet<CommitId> = range.take(MOST).chain(others.iter().copied()).collect();
    let steps = open.len().saturating_mul(4).clamp(FEWEST, MOST);
    let mut violations = Vec::new();
    for step in case.repo.notes_history(tip).take(steps) {
        if open.is_empty() {
            break;
        }
        for NoteChange { commit, old, .. } in step? {
            let Some(old) = old.filter(|_| open.contains(&commit)) else {
                open.remove(&commit);
                continue;
            };
            if let Some(what) = better_now(case, commit, old) {
                let message = format!("the record was edited: {what}");
                violations.push(violation(
                    examined.at(commit),
                    "edited-record",
                    Level::Block,
                    message,
                    Hint::RecordsLog,
                ));
                open.remove(&commit);
            }
        }
    }
    Ok(violations)
}

/// The point in which a note says better than its earlier version `old`.
fn better_now(case: &Case<'_>, commit: CommitId, old: Oid) -> Option<&'static str> {
    let now = case.store.get(commit).ok().flatten().map(|stored| stored.record);
    earlier_records(case.repo, old).iter().find_map(|then| whitewashed(then, now.as_ref()))
}

/// The records of a note that was replaced.
pub(super) fn earlier_records(repo: &Repo, old: Oid) -> Vec<CommitRecord> {
    let Ok(Some(text)) = repo.read_blob(old, MAX_NOTE) else { return Vec::new() };
    let lines = text.split(|byte| *byte == b'\n').filter_map(|line| Some(decode_commit(line).ok()?.record));
    lines.collect()
}

fn whitewashed(then: &CommitRecord, now: Option<&CommitRecord>) -> Option<&'static str> {
    let same = |now: &CommitRecord| now.tree == then.tree && now.parent == then.parent;
    if now.is_some_and(|now| !same(now)) {
        return None;
    }
    let gate = now.map(|now| now.gate);
    if then.gate == Gate::Bypassed && gate != Some(Gate::Bypassed) {
        return Some("an earlier version of its note says that the commit bypassed the gate");
    }
    let (before, after) = (then.tests.as_ref()?, now?.tests.as_ref()?);
    let better = before.code == after.code && !before.is_green() && after.is_green();
    better.then_some("an earlier version of its note says that the tests of this code did not pass")
}

#[cfg(test)]
mod tests {
    use super::*;
    use andon_testkit::facts::{commit, green, red};

    fn record(gate: Gate, tests: &[&str]) -> CommitRecord {
        let mut fact = commit(1);
        fact.record().gate = gate;
        fact.record().tests = Some(if tests.is_empty() { green(1, 9) } else { red(1, tests, 9) });
        fact.record().clone()
    }

    #[test]
    fn only_a_note_that_became_better_is_named() {
        use Gate::{Bypassed, NotRun, Passed};
        let gate = "an earlier version of its note says that the commit bypassed the gate";
        let tests = "an earlier version of its note says that the tests of this code did not pass";
        for (then, now, expected) in vec![
            (record(Bypassed, &[]), Some(record(Passed, &[])), Some(gate)),
            (record(Bypassed, &[]), Some(record(NotRun, &[])), Some(gate)),
            (record(Bypassed, &[]), None, Some(gate)),
            (record(Bypassed, &[]), Some(record(Bypassed, &[])), None),
            (record(Passed, &[]), Some(record(Bypassed, &[])), None),
            (record(NotRun, &[]), Some(record(Passed, &[])), None),
            (record(Passed, &["a"]), Some(record(Passed, &[])), Some(tests)),
            (record(Passed, &[]), Some(record(Passed, &["a"])), None),
            (record(Passed, &["a"]), None, None),
        ] {
            assert_eq!(whitewashed(&then, now.as_ref()), expected);
        }
    }
}
