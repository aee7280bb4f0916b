//! Each record names the hash of its parent's: one that was edited or dropped shows in the next.

use std::collections::VecDeque;

use super::{Case, Diagnostic, at, violation};
use andon_core::domain::facts::{PrevRecord, Recording};
use andon_core::domain::findings::Level;
use andon_core::domain::ids::CommitId;
use andon_git::CommitInfo;
use andon_store::notes::{RecordLine, StoredRecord};

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

/// Whether the record of a commit names that of its parent.
pub(super) fn judge(
    case: &Case<'_>,
    recent: &RecentNotes,
    commit: &CommitInfo,
    stored: &StoredRecord,
) -> Option<Diagnostic> {
    // An unreadable parent record in the range is reported at the parent. Two clones may both have recorded the parent:
    // each line has a successor.
    let lines = recent.lines(case, *commit.parents.first()?)?;
    let help = "git log -p refs/notes/andon";
    let message = match stored.record.prev {
        // What was backfilled below came later than this record.
        PrevRecord::Unsaid | PrevRecord::Absent
            if lines.iter().all(|line| line.recording == Recording::Backfilled) =>
        {
            return None;
        }
        PrevRecord::Unsaid => "the record does not name its parent's, which is there",
        PrevRecord::Absent => {
            let what = "the record begins a chain: that of its parent was not there when it was written";
            return Some(violation(
                Some(at(commit)),
                "chain-begins-anew",
                Level::Warn,
                what.to_owned(),
                help,
            ));
        }
        PrevRecord::Line(_) if lines.is_empty() => "the record of its parent was dropped",
        PrevRecord::Line(prev) if lines.iter().any(|line| line.digest == prev) => return None,
        PrevRecord::Line(_) => "the record of its parent was edited after this one was written",
    };
    Some(violation(Some(at(commit)), "broken-chain", Level::Block, message.to_owned(), help))
}
