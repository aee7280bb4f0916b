//! Who has the hooks, as far as records tell: a commit of theirs without a record went round them, or its record was not
//! sent. The tests of the tip do not stand in for what that record would have said.
//!
//! A name counts for a commit only where it was recorded before it, in the history that the commit builds on: whoever began
//! with the hooks later, or on another branch, had none.

use std::collections::{HashMap, HashSet, VecDeque};
use std::rc::Rc;

use super::{Case, Examined};
use crate::domain::facts::Recording;
use crate::domain::ids::CommitId;
use crate::git::CommitInfo;

/// Commits that are looked at in the range below a commit, and below the range.
const BELOW: usize = 256;

/// People whose commits have records that a hook wrote.
#[derive(Default)]
pub(super) struct HookUsers {
    /// Their addresses, in small letters, of the commits of the range so far.
    known: HashSet<String>,
    /// The same of the commits up to one below the range, by that commit.
    below: HashMap<CommitId, Rc<HashSet<String>>>,
}

impl HookUsers {
    /// Takes in that a commit has a record.
    pub(super) fn take(&mut self, commit: &CommitInfo, recording: Recording) {
        if recording.is_by_hook() {
            self.known.extend(maker(commit));
        }
    }

    /// Whether somebody made an unrecorded commit who has the hooks. Websites commit in their own name, and bots and
    /// colleagues in theirs, so that author and committer both have to be somebody whose earlier commits have records.
    pub(super) fn made(&mut self, case: &Case<'_>, examined: &Examined, commit: &CommitInfo) -> bool {
        let Some(maker) = maker(commit) else { return false };
        let ends = || below_the_range(examined, &commit.parents);
        self.known.contains(&maker) || ends().into_iter().any(|end| self.up_to(case, end).contains(&maker))
    }

    fn up_to(&mut self, case: &Case<'_>, end: CommitId) -> Rc<HashSet<String>> {
        Rc::clone(self.below.entry(end).or_insert_with(|| Rc::new(recorded_up_to(case, end))))
    }
}

/// The address of who made a commit, where author and committer are one.
fn maker(commit: &CommitInfo) -> Option<String> {
    let own = !commit.email.is_empty() && commit.email.eq_ignore_ascii_case(&commit.committer_email);
    own.then(|| commit.email.to_ascii_lowercase())
}

/// The first commits below the range that commits of it lead to.
fn below_the_range(examined: &Examined, parents: &[CommitId]) -> Vec<CommitId> {
    let mut ends = Vec::new();
    walk(parents, |id| {
        if let Some(place) = examined.place(id) {
            return examined.commits()[place].parents.to_vec();
        }
        ends.push(id);
        Vec::new()
    });
    ends
}

/// Who has commits up to `end` with a record that a hook wrote.
fn recorded_up_to(case: &Case<'_>, end: CommitId) -> HashSet<String> {
    let mut makers = HashSet::new();
    walk(&[end], |id| {
        let Ok(commit) = case.repo.commit(id) else { return Vec::new() };
        let recording = case.store.get(id).ok().flatten().map(|stored| stored.record.recording);
        if recording.is_some_and(Recording::is_by_hook) {
            makers.extend(maker(&commit));
        }
        commit.parents
    });
    makers
}

/// The nearest [`BELOW`] commits from `first` on; `step` gives the parents of one.
fn walk(first: &[CommitId], mut step: impl FnMut(CommitId) -> Vec<CommitId>) {
    let mut seen: HashSet<CommitId> = first.iter().copied().collect();
    let mut next: VecDeque<CommitId> = first.iter().copied().collect();
    for _ in 0..BELOW {
        let Some(id) = next.pop_front() else { return };
        next.extend(step(id).into_iter().filter(|parent| seen.insert(*parent)));
    }
}
