//! Switches: one line of one file that goes there and back, such as a status, a flag or a version. People and programs
//! set it on purpose during other work, and its old value says little about that work.

use crate::history::{CodeState, Iteration, Source};

/// Whether a commit changed one line in one file, or put an empty file there or took it away.
pub(super) fn is_one_line(one: &Iteration) -> bool {
    let path = one.change.as_ref().filter(|change| !change.truncated).map(|change| change.paths.as_slice());
    let Some([step]) = path else { return false };
    let (added, removed) = (one.diff.added, one.diff.removed);
    // A mode alone is no line.
    let something = added > 0 || removed > 0 || !step.stays();
    something && one.source == Source::Commit && added <= 1 && removed <= 1
}

/// Whether the state at index `at` is the one before the last, and one line is the whole difference: where one of two
/// commits that undo each other changed a line, the other did too, whatever documents it also wrote.
pub(super) fn flips(states: &[CodeState<'_>], at: usize) -> bool {
    let before = |steps: usize| at.checked_sub(steps).and_then(|at| states.get(at));
    let (Some(first), Some(left), Some(this)) = (before(2), before(1), states.get(at)) else { return false };
    first.code == this.code && (is_one_line(left.brought_by) || is_one_line(this.brought_by))
}

/// Whether a file that was changed by `toggles` holds a switch: in a third of them or more that line was all that changed.
pub(super) fn is_switch(toggles: &[&Iteration]) -> bool {
    let lines = toggles.iter().filter(|one| is_one_line(one)).count();
    lines > 0 && lines * 3 >= toggles.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::change::Nature;
    use crate::testkit::{Commit, commit, timeline};

    fn line(state: u8) -> Commit {
        commit(state).change(Nature::Work, &[(1, 1, 2)])
    }

    #[test]
    fn a_line_of_one_file_is_a_switch() {
        let with_document = commit(1).change(Nature::Work, &[(1, 1, 2), (2, 3, 4)]).lines(29, 31);
        let longer = commit(2).change(Nature::Work, &[(1, 1, 2)]).lines(2, 1);
        let mode = line(4).lines(0, 0);
        let file = commit(5).change(Nature::Work, &[(1, 0, 2)]).lines(0, 0);
        let history = timeline(vec![line(3), with_document.clone(), longer, commit(9), mode, file]);
        let found: Vec<bool> = history.iterations.iter().map(is_one_line).collect();
        assert_eq!(found, [true, false, false, false, false, true], "the fourth is not known");
        let flipping = |commits: Vec<Commit>| {
            let history = timeline(commits);
            let states = history.states();
            (0..states.len()).map(|at| flips(&states, at)).collect::<Vec<_>>()
        };
        assert_eq!(flipping(vec![line(1), line(2), line(1)]), [false, false, true]);
        assert_eq!(flipping(vec![line(1), line(2), with_document.clone()]), [false, false, true]);
        assert_eq!(flipping(vec![commit(1), commit(2), commit(1)]), [false, false, false]);
        assert_eq!(flipping(vec![line(1), line(2), line(3)]), [false, false, false]);
        let of = |commits: Vec<Commit>| is_switch(&timeline(commits).iterations.iter().collect::<Vec<_>>());
        assert!(of(vec![line(1), with_document.clone(), with_document.clone()]));
        assert!(!of(vec![with_document.clone(), with_document]));
    }
}
