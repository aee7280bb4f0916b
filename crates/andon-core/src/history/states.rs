//! The code states of the window, one after the other.
//!
//! A commit of documentation keeps the code state. Rules about states that come back would take a
//! row of such commits (A, A, A) for a return, so they look at the states and not at the commits.

use super::timeline::{Iteration, Timeline};
use crate::domain::ids::CodeId;

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
    /// Whether `one` left the code as it was: what it changed are documents.
    pub fn leaves_the_code(&self, one: &Iteration) -> bool {
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
                Some(last) if last.code == iteration.code => last.newest = iteration,
                Some(_) | None => {
                    states.push(CodeState { code: iteration.code, brought_by: iteration, newest: iteration });
                }
            }
        }
        states
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
