//! How deep each commit of a history that nobody recorded has to be read: ids first, texts only where a rule can say
//! anything about them.
//!
//! Rules that ask what the changed lines are made of look at strike candidates alone, and only where a window has some
//! of them ([`detect::text_from`]). A window follows first parents and ends at a pause of the session gap. So the
//! largest number of candidates on a way through a commit is known from the commits alone, and where it stays below
//! that number the ids are enough. Answers that are assumed after a halt only make windows shorter. Merges and reverts
//! are no candidates: of theirs only documents are looked at.

use std::collections::HashMap;

use crate::detect;
use crate::domain::facts::CommitKind;
use crate::domain::ids::CommitId;
use crate::domain::settings::RuleSettings;
use crate::domain::time::{Span, Timestamp};
use crate::git::Repo;
use crate::history::Strike;
use crate::ops::derive;
use crate::ops::error::OpsError;
use crate::record::diff::Depth;
use crate::record::store::NotesStore;

/// What is known of a commit before its trees are read.
#[derive(Debug, Clone, Copy)]
pub(in crate::ops) struct Outline {
    pub id: CommitId,
    pub parent: Option<CommitId>,
    at: Timestamp,
    kind: CommitKind,
    /// A record has a time and a number of its own, which say where a window ends.
    recorded: Recorded,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Recorded {
    Yes,
    No,
}

/// The outlines of the commits `ids`.
pub(in crate::ops) fn outlines(
    repo: &Repo,
    store: &NotesStore<'_>,
    ids: &[CommitId],
) -> Result<Vec<Outline>, OpsError> {
    let outline = |id: &CommitId| {
        let commit = repo.outline(*id)?;
        let recorded = if store.has(*id)? { Recorded::Yes } else { Recorded::No };
        let kind = derive::kind(commit.parents, &commit.subject);
        Ok(Outline { id: *id, parent: commit.parent, at: commit.committed_at, kind, recorded })
    };
    ids.iter().map(outline).collect()
}

/// The depth of each commit, in their order; they come parents first.
pub(in crate::ops) fn depths(commits: &[Outline], rules: &RuleSettings, gap: Span) -> Vec<(CommitId, Depth)> {
    let least = detect::text_from(rules);
    let index: HashMap<CommitId, usize> =
        commits.iter().enumerate().map(|(at, commit)| (commit.id, at)).collect();
    let before = |commit: &Outline| {
        let at = *index.get(&commit.parent?)?;
        let parent = commits.get(at)?;
        let recorded = [commit.recorded, parent.recorded].contains(&Recorded::Yes);
        (recorded || commit.at.since(parent.at) <= gap).then_some(at)
    };
    let before: Vec<Option<usize>> = commits.iter().map(before).collect();
    // Candidates of the window up to a commit, itself included; then the most of any window that goes through it.
    let mut most: Vec<u64> = Vec::with_capacity(commits.len());
    for (commit, before) in commits.iter().zip(&before) {
        let own = u64::from(Strike::from(commit.kind) == Strike::Candidate);
        most.push(own + before.map_or(0, |at| most[at]));
    }
    for at in (0..commits.len()).rev() {
        if let Some(before) = before[at] {
            most[before] = most[before].max(most[at]);
        }
    }
    let depth = |(commit, most): (&Outline, &u64)| {
        let depth = match Strike::from(commit.kind) {
            _ if *most < least => Depth::Ids,
            Strike::Candidate => Depth::Text,
            Strike::Exempt => Depth::Documents,
        };
        (commit.id, depth)
    };
    commits.iter().zip(&most).map(depth).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ids::Oid;
    use crate::domain::settings::RuleSettings;

    fn id(number: u8) -> CommitId {
        CommitId(Oid::from_bytes(&[number; 20]).unwrap())
    }

    fn commit(number: u8, parent: u8, at: i64, kind: CommitKind) -> Outline {
        let parent = (parent > 0).then(|| id(parent));
        Outline { id: id(number), parent, at: Timestamp(at), kind, recorded: Recorded::No }
    }

    fn shown(commits: &[Outline]) -> String {
        let letter = |(_, depth): &(CommitId, Depth)| match depth {
            Depth::Ids => 'i',
            Depth::Documents => 'd',
            Depth::Text => 't',
        };
        depths(commits, &RuleSettings::new(), Span(100)).iter().map(letter).collect()
    }

    #[test]
    fn texts_are_read_where_a_window_has_two_candidates() {
        use CommitKind::{Merge, Normal, Revert};
        let line = [commit(1, 0, 0, Normal), commit(2, 1, 200, Normal), commit(3, 2, 400, Merge)];
        assert_eq!(shown(&line), "iii", "each a window of its own");
        let line = [commit(1, 0, 0, Normal), commit(2, 1, 100, Merge), commit(3, 2, 150, Normal)];
        assert_eq!(shown(&line), "tdt");
        let line = [commit(1, 0, 0, Normal), commit(2, 1, 50, Revert), commit(3, 2, 50, Merge)];
        assert_eq!(shown(&line), "iii", "one candidate");
        // A branch: the window of each side goes back to where they part.
        let tree = [
            commit(1, 0, 0, Normal),
            commit(2, 1, 10, Normal),
            commit(3, 1, 10, Merge),
            commit(4, 3, 20, Merge),
        ];
        assert_eq!(shown(&tree), "ttii");
        let line = [commit(1, 0, 500, Normal), commit(2, 1, 0, Normal)];
        assert_eq!(shown(&line), "tt", "a clock that was set back is no pause");
        let recorded = Outline { recorded: Recorded::Yes, ..commit(2, 1, 900, Normal) };
        assert_eq!(shown(&[commit(1, 0, 0, Normal), recorded]), "tt", "records have times of their own");
    }
}
