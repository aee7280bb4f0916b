//! The states of single paths over the window: ping-pong in one file shows here, whatever else changes at the same
//! time.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use super::timeline::{Iteration, Timeline};
use crate::domain::change::PathStep;
use crate::domain::ids::HunkHash;

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
    pub fn newest_paths(&self) -> impl Iterator<Item = HunkHash> + '_ {
        let paths = self.newest().and_then(|newest| newest.change.as_ref());
        paths.into_iter().flat_map(|change| change.paths.iter().map(|step| step.path))
    }

    /// The states of `path` over the window, oldest first; neighbours differ. Where the path changed unseen (a commit
    /// of very many paths, an unrecorded one), what came before is left out.
    pub fn path_states(&self, path: HunkHash) -> Vec<PathState<'_>> {
        let mut states: Vec<PathState<'_>> = Vec::new();
        for iteration in &self.iterations {
            let steps = iteration.change.iter().flat_map(|change| &change.paths);
            let Some(step) = steps.into_iter().find(|step| step.path == path) else { continue };
            if states.last().is_none_or(|last| last.state != step.old) {
                states.clear();
                states.push(PathState { state: step.old, brought_by: None });
            }
            if step.old != step.new {
                states.push(PathState { state: step.new, brought_by: Some(iteration) });
            }
        }
        states
    }

    /// Whether commits after `number` that touched neither `path` nor the code brought all other paths together into a
    /// state that the window had not seen: other documents move on.
    pub fn brings_new_documents_beside(&self, path: HunkHash, number: u64) -> bool {
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

    /// Whether iterations from `number` on brought all other paths together into a state that the window had not seen.
    /// Iterations that left the code as it was, such as those of documentation, bring nothing.
    pub fn brings_new_code_beside(&self, path: HunkHash, number: u64) -> bool {
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
