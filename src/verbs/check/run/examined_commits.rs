//! What is kept of the commits that were looked at: facts as bytes, and of the commits what the rest of the judgement
//! asks for. A range may have a hundred thousand of them.

use std::collections::{HashMap, HashSet};

use super::CommitRef;
use andon_core::domain::facts::{CommitFact, CommitKind};
use andon_core::domain::ids::{CodeId, CommitId};
use andon_core::domain::time::Timestamp;
use andon_git::CommitInfo;
use andon_store::packed::PackedFacts;

/// A commit and what it builds on.
pub(super) struct Link {
    pub id: CommitId,
    pub parents: Box<[CommitId]>,
}

/// The commits that were looked at, parents first.
#[derive(Default)]
pub(super) struct ExaminedCommits {
    commits: Vec<Link>,
    /// Where each of them is.
    index: HashMap<CommitId, usize>,
    /// The code of each, and when its record says that it was written.
    reported: Vec<(CodeId, Timestamp)>,
    /// Facts that may be believed: records that do not hold are replaced by what was derived.
    facts: PackedFacts,
    /// Which of them were amended or rebased.
    rewritten: Vec<usize>,
    /// Which of them have tests.
    tested: Vec<usize>,
    /// Commits that are not judged.
    free: HashSet<CommitId>,
}

impl ExaminedCommits {
    pub(super) fn push(&mut self, commit: &CommitInfo, fact: &CommitFact) {
        let (number, record) = (self.commits.len(), &fact.record);
        self.index.insert(commit.id, number);
        self.reported.push((record.code, record.recorded_at));
        self.facts.push(fact);
        if record.carries.is_some() || matches!(record.kind, CommitKind::Amend | CommitKind::Rebase) {
            self.rewritten.push(number);
        }
        if record.tests.is_some() {
            self.tested.push(number);
        }
        self.commits.push(Link { id: commit.id, parents: commit.parents.as_slice().into() });
    }

    /// Takes in that a commit is not judged: a person made it, and only agents are guarded.
    pub(super) fn set_free(&mut self, commit: CommitId) {
        self.free.insert(commit);
    }

    /// Whether the guard binds a commit.
    pub(super) fn is_bound(&self, commit: CommitId) -> bool {
        !self.free.contains(&commit)
    }

    pub(super) fn commits(&self) -> &[Link] {
        &self.commits
    }

    /// Where a commit is.
    pub(super) fn place(&self, id: CommitId) -> Option<usize> {
        self.index.get(&id).copied()
    }

    /// The commit of the range with that id, all of it.
    pub(super) fn named(&self, id: &str) -> Option<CommitId> {
        id.parse().ok().filter(|known: &CommitId| known.to_string() == id && self.holds(*known))
    }

    /// Whether a commit is in the range.
    pub(super) fn holds(&self, id: CommitId) -> bool {
        self.index.contains_key(&id)
    }

    /// Whether a commit is in the range or right below it.
    pub(super) fn concerns(&self, head: CommitId) -> bool {
        self.commits().iter().any(|commit| commit.id == head || commit.parents.contains(&head))
    }

    /// The code of a commit of the range.
    pub(super) fn code(&self, id: CommitId) -> Option<CodeId> {
        self.reported.get(self.place(id)?).map(|(code, _)| *code)
    }

    /// When a commit of the range was recorded.
    pub(super) fn recorded_at(&self, id: CommitId) -> Option<Timestamp> {
        self.reported.get(self.place(id)?).map(|(_, at)| *at)
    }

    /// All facts, in their order.
    pub(super) fn facts(&self) -> impl Iterator<Item = CommitFact> {
        (0..self.facts.len()).filter_map(|number| self.facts.get(number))
    }

    /// That of one commit.
    pub(super) fn fact(&self, id: CommitId) -> Option<CommitFact> {
        self.facts.get(self.place(id)?)
    }

    /// Those of commits that replace another one.
    pub(super) fn rewritten(&self) -> impl Iterator<Item = CommitFact> {
        self.rewritten.iter().filter_map(|number| self.facts.get(*number))
    }

    /// Those that have tests, the newest first.
    pub(super) fn tested(&self) -> impl Iterator<Item = CommitFact> {
        self.tested.iter().rev().filter_map(|number| self.facts.get(*number))
    }

    /// A commit of the range as a message names it; outside the range without its subject.
    pub(super) fn at(&self, id: CommitId) -> CommitRef {
        let known = self.place(id).and_then(|number| self.facts.subject(number));
        CommitRef { commit: id, subject: known.map(|(_, subject)| subject).unwrap_or_default() }
    }
}
