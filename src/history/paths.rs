//! The states of single paths over the window: ping-pong in one file shows here, whatever else changes beside it.

use super::timeline::{Iteration, Timeline};
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
}
