//! What is known of the commits of a history before their trees are read: where their windows end.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::sync::atomic::AtomicBool;

use super::Job;
use super::crew::Hand;
use crate::domain::facts::CommitKind;
use crate::domain::ids::CommitId;
use crate::domain::time::{Span, Timestamp};
use crate::git::CommitInfo;
use crate::ops::derive;
use crate::ops::error::OpsError;
use crate::record::normalize::Normalizer;

/// Commits beyond which not all that they say is kept.
const KEPT: usize = 1 << 15;

/// What is known of a commit before its trees are read.
#[derive(Debug)]
pub(in crate::ops) struct Outline {
    pub id: CommitId,
    pub parent: Option<CommitId>,
    pub(super) at: Timestamp,
    pub(super) kind: CommitKind,
    /// A record has a time and a number of its own, which say where a window ends.
    pub(super) recorded: Recorded,
    /// What it says, but for what nobody here asks for; `None` in a very long range, where it is read again.
    pub(super) info: Option<CommitInfo>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Recorded {
    Yes,
    No,
}

/// The outlines of the commits `ids`, fewer when the walk is stopped.
pub(in crate::ops) fn outlines(
    job: &Job<'_>,
    (threads, stop): (Option<NonZeroUsize>, &AtomicBool),
    ids: &[CommitId],
) -> Result<Vec<Outline>, OpsError> {
    let normalizer = Normalizer::new(&job.config.normalize)?;
    let crew = job.crew(&normalizer, (threads, stop));
    let mut outlines = Vec::with_capacity(ids.len());
    let kept = ids.len() <= KEPT;
    crew.each(ids, &|hand, id| outline(hand, *id, kept), &mut |outline| {
        outlines.push(outline);
        Ok(())
    })?;
    Ok(outlines)
}

fn outline(hand: &mut Hand<'_>, id: CommitId, kept: bool) -> Result<Outline, OpsError> {
    let commit = hand.repo.commit(id)?;
    let recorded = if hand.store.has(id)? { Recorded::Yes } else { Recorded::No };
    let info =
        CommitInfo { trailers: Vec::new(), email: String::new(), committer_email: String::new(), ..commit };
    Ok(Outline {
        id,
        parent: info.parents.first().copied(),
        at: info.committed_at,
        kind: derive::kind(info.parents.len(), &info.subject),
        recorded,
        info: kept.then_some(info),
    })
}

/// For each commit the one before it in its window: its first parent, unless the window ends between them. Commits
/// come parents first.
pub(super) fn windows(commits: &[Outline], gap: Span) -> Vec<Option<usize>> {
    let index: HashMap<CommitId, usize> =
        commits.iter().enumerate().map(|(at, commit)| (commit.id, at)).collect();
    let before = |commit: &Outline| {
        let at = *index.get(&commit.parent?)?;
        let parent = commits.get(at)?;
        let recorded = [commit.recorded, parent.recorded].contains(&Recorded::Yes);
        (recorded || commit.at.since(parent.at) <= gap).then_some(at)
    };
    commits.iter().map(before).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ids::Oid;

    #[test]
    fn windows_follow_first_parents_and_end_at_a_pause() {
        let id = |number: u8| CommitId(Oid::from_bytes(&[number; 20]).unwrap());
        let commit = |number: u8, parent: u8, at: i64| Outline {
            id: id(number),
            parent: (parent > 0).then(|| id(parent)),
            at: Timestamp(at),
            kind: CommitKind::Normal,
            recorded: Recorded::No,
            info: None,
        };
        let line = [commit(1, 0, 0), commit(2, 1, 100), commit(3, 1, 101), commit(4, 2, 0), commit(5, 9, 0)];
        assert_eq!(windows(&line, Span(100)), [None, Some(0), None, Some(1), None]);
        let recorded = Outline { recorded: Recorded::Yes, ..commit(2, 1, 900) };
        assert_eq!(windows(&[commit(1, 0, 0), recorded], Span(100)), [None, Some(0)], "times of their own");
    }
}
