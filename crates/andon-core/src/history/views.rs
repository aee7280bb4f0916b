//! The code states of the window, one after the other.
//!
//! A commit of documentation keeps the code state. Rules about states that come back would take a
//! row of such commits (A, A, A) for a return, so they look at the states and not at the commits.
//!
//! The states of single paths over the window: ping-pong in one file shows here, whatever else changes at the same
//! time.
//!
//! Work on documents as progress of its own (docs/spec-map.md, loop safety: docs progress): a loop that plans or writes is not idle.
//!
//! Reviews, from ballots that report a whole review or one vote at a time.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use super::{Iteration, Timeline};
use crate::domain::{CodeId, HunkHash, PathStep, ReviewTally};

/// A stretch of iterations with one code state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CodeState<'a> {
    /// The state, which differs from that of the stretches before and after.
    pub code: CodeId,
    /// The iteration that brought it: the oldest of the stretch.
    pub brought_by: &'a Iteration,
    /// The newest iteration of the stretch.
    pub newest: &'a Iteration,
}

impl Timeline {
    /// Returns whether `one` left the code as it was: what it changed are documents.
    pub(crate) fn leaves_the_code(&self, one: &Iteration) -> bool {
        let before = self.iterations.iter().rev().find(|before| before.number < one.number);
        before.is_some_and(|before| before.code == one.code)
    }

    /// The code states of the window, oldest first; neighbours always differ. Every kind of commit is
    /// seen: a revert is no strike, but what it brings is a state like any other.
    pub fn states(&self) -> Vec<CodeState<'_>> {
        let mut states: Vec<CodeState<'_>> = Vec::new();
        // A rebase brings no state of new work: the attempts that it moved were there already.
        for iteration in self.iterations.iter().filter(|one| one.moved.is_none()) {
            match states.last_mut() {
                // A change that normalization leaves nothing of, such as the outputs of a notebook, brings none either.
                Some(last) if last.code == iteration.code || iteration.is_cosmetic() => {
                    last.newest = iteration;
                }
                Some(_) | None => {
                    states.push(CodeState { code: iteration.code, brought_by: iteration, newest: iteration });
                }
            }
        }
        states
    }
}

/// One state of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PathState<'a> {
    /// Hash of mode and content; zeros when the path is not there.
    pub state: HunkHash,
    /// The iteration that brought it; `None` for the state that the window found.
    pub brought_by: Option<&'a Iteration>,
}

impl Timeline {
    /// The paths that the newest iteration changed.
    pub(crate) fn newest_paths(&self) -> impl Iterator<Item = HunkHash> + '_ {
        let paths = self.newest().and_then(|newest| newest.change.as_ref());
        paths.into_iter().flat_map(|change| change.paths.iter().map(|step| step.path))
    }

    /// The states of `path` over the window, oldest first; neighbours differ. Where the path changed unseen (a commit
    /// of very many paths, an unrecorded one), what came before is left out; where the line was begun anew from a state that the
    /// path had before, nothing changed.
    pub(crate) fn path_states(&self, path: HunkHash) -> Vec<PathState<'_>> {
        let mut states: Vec<PathState<'_>> = Vec::new();
        let mut before = None;
        for iteration in &self.iterations {
            let goes_on = before.is_none() || iteration.parent == before;
            before = iteration.commit.or(before);
            let steps = iteration.change.iter().flat_map(|change| &change.paths);
            let Some(step) = steps.into_iter().find(|step| step.path == path) else { continue };
            if let Some(last) =
                states.last_mut().filter(|last| iteration.is_cosmetic() && last.state == step.old)
            {
                last.state = step.new;
                continue;
            }
            let was_there = |last: &PathState<'_>| {
                last.state == step.old || !goes_on && states.iter().any(|state| state.state == step.old)
            };
            if !states.last().is_some_and(was_there) {
                states.clear();
                states.push(PathState { state: step.old, brought_by: None });
            }
            if step.old != step.new && states.last().is_none_or(|last| last.state != step.new) {
                states.push(PathState { state: step.new, brought_by: Some(iteration) });
            }
        }
        states
    }

    /// Returns whether commits after `number` that touched neither `path` nor the code brought all other paths together into a
    /// state that the window had not seen: other documents move on.
    pub(crate) fn brings_new_documents_beside(&self, path: HunkHash, number: u64) -> bool {
        let mut beside = PathGroup::default();
        let mut seen = BTreeSet::from([beside.state]);
        let mut found = false;
        for iteration in &self.iterations {
            let Some(change) = &iteration.change else { continue };
            let is_own = change.paths.iter().any(|step| step.path == path);
            let counts = iteration.number > number && !is_own && self.leaves_the_code(iteration);
            change.paths.iter().filter(|step| step.path != path).for_each(|step| beside.take(step));
            found |= seen.insert(beside.state) && counts;
        }
        found
    }

    /// Returns whether iterations from `number` on brought all other paths together into a state that the window had not seen.
    /// Iterations that left the code as it was, such as those of documentation, bring nothing.
    pub(crate) fn brings_new_code_beside(&self, path: HunkHash, number: u64) -> bool {
        let mut beside = PathGroup::default();
        let mut seen = BTreeSet::from([beside.state]);
        let mut code = None;
        let mut found = false;
        for iteration in &self.iterations {
            let moved = code.replace(iteration.code) != Some(iteration.code) && iteration.number >= number;
            let Some(change) = &iteration.change else { continue };
            found |= moved && change.truncated;
            change.paths.iter().filter(|step| step.path != path).for_each(|step| beside.take(step));
            found |= seen.insert(beside.state) && moved;
        }
        found
    }
}

/// Several paths together.
#[derive(Debug, Default)]
struct PathGroup {
    contents: BTreeMap<HunkHash, HunkHash>,
    /// All contents folded into one number, relative to those at the beginning.
    state: u64,
}

impl PathGroup {
    fn take(&mut self, step: &PathStep) {
        let before = self.contents.insert(step.path, step.new).unwrap_or(step.old);
        let of = |content: HunkHash| {
            let mut hasher = DefaultHasher::new();
            (step.path, content).hash(&mut hasher);
            hasher.finish()
        };
        self.state ^= of(before) ^ of(step.new);
    }
}

/// The effect of an iteration on documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DocsProgress {
    /// It changed none, or nothing is known of it.
    None,
    /// It brought them into a state that the window has seen before, or ticked items off again.
    Back,
    /// It brought a text that the window has not seen.
    NewText,
    /// More items of their checklists are ticked than before.
    Ticked,
}

impl Timeline {
    /// Returns the effect of `iteration`, which is in this window, on documents.
    pub(crate) fn docs_progress(&self, iteration: &Iteration) -> DocsProgress {
        let docs = |one: &Iteration| one.change.as_ref().and_then(|change| change.docs);
        let Some(now) = docs(iteration) else { return DocsProgress::None };
        let mut before = self.iterations.iter().take_while(|one| !std::ptr::eq(*one, iteration));
        let seen = before.any(|one| docs(one).is_some_and(|docs| docs.hash == now.hash));
        if seen || now.now.done < now.was.done {
            DocsProgress::Back
        } else if now.now.done > now.was.done {
            DocsProgress::Ticked
        } else {
            DocsProgress::NewText
        }
    }
}

impl Timeline {
    /// The reviews up to those on iteration `iteration`, oldest first. Single votes are one review until a reviewer
    /// votes again or the iteration is another one; counts are a review of their own.
    pub(crate) fn verdict_rounds(&self, iteration: u64) -> Vec<ReviewTally> {
        let mut rounds: Vec<ReviewTally> = Vec::new();
        let mut voted: BTreeSet<&str> = BTreeSet::new();
        let mut open: Option<u64> = None;
        for cast in self.activity.ballots.iter().filter(|cast| cast.iteration <= iteration) {
            let ballot = &cast.ballot;
            let Some(reviewer) = ballot.reviewer.as_deref() else {
                rounds.push(ReviewTally { approve: ballot.approve, reject: ballot.reject });
                open = None;
                continue;
            };
            let goes_on = open == Some(cast.iteration) && !voted.contains(reviewer);
            if !goes_on {
                rounds.push(ReviewTally { approve: 0, reject: 0 });
                voted.clear();
                open = Some(cast.iteration);
            }
            voted.insert(reviewer);
            if let Some(round) = rounds.last_mut() {
                round.approve = round.approve.saturating_add(ballot.approve);
                round.reject = round.reject.saturating_add(ballot.reject);
            }
        }
        rounds
    }
}

#[cfg(test)]
mod tests {
    use crate::testkit::{commit, timeline};

    #[test]
    fn equal_neighbours_collapse() {
        let line = timeline(vec![commit(1), commit(1), commit(2), commit(1), commit(1), commit(1)]);
        let shown: Vec<(u8, u64, u64)> = line
            .states()
            .iter()
            .map(|state| (state.code.0[0], state.brought_by.number, state.newest.number))
            .collect();
        assert_eq!(shown, [(1, 1, 2), (2, 3, 3), (1, 4, 6)]);
    }
}

#[cfg(test)]
mod documents_tests {
    use super::*;
    use crate::testkit::{commit, timeline};

    #[test]
    fn new_texts_and_ticks_are_progress_and_old_texts_are_none() {
        let line = timeline(vec![
            commit(1),
            commit(1).docs(1, (0, 3), (0, 3)),
            commit(1).docs(2, (0, 3), (1, 3)),
            commit(1).docs(3, (1, 3), (0, 3)),
            commit(1).docs(2, (0, 3), (1, 3)),
        ]);
        let found: Vec<DocsProgress> = line.iterations.iter().map(|one| line.docs_progress(one)).collect();
        let wanted = [
            DocsProgress::None,
            DocsProgress::NewText,
            DocsProgress::Ticked,
            DocsProgress::Back,
            DocsProgress::Back,
        ];
        assert_eq!(found, wanted);
    }
}

#[cfg(test)]
mod verdicts_tests {
    use crate::domain::Ballot;
    use crate::history::{Cast, Timeline};
    use crate::testkit::GAP;

    #[test]
    fn single_votes_are_gathered_into_rounds() {
        let cast = |reviewer: &str, approve, iteration| {
            let reviewer = (!reviewer.is_empty()).then(|| reviewer.to_owned());
            let reject = u64::from(approve == 0);
            Cast { ballot: Ballot { reviewer, approve, reject }, iteration, turn: 0 }
        };
        let mut line = Timeline::new(GAP);
        line.activity.ballots = vec![
            cast("a", 1, 1),
            cast("b", 0, 1),
            cast("c", 0, 1),
            cast("a", 0, 1),
            cast("b", 0, 2),
            cast("", 1, 2),
            cast("c", 1, 2),
        ];
        let found = |iteration| -> Vec<(u64, u64)> {
            line.verdict_rounds(iteration).iter().map(|round| (round.approve, round.reject)).collect()
        };
        assert_eq!(found(1), [(1, 2), (0, 1)]);
        assert_eq!(found(2), [(1, 2), (0, 1), (0, 1), (1, 0), (1, 0)]);
        assert!(line.verdict_rounds(1)[0].is_split());
    }
}
