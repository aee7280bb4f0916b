//! Whether the work moves forward while the same output repeats. Where it does, the repetition proves nothing.

use std::collections::BTreeSet;

use crate::history::{Source, Timeline, TurnChange};

/// The number of the newest iteration that brought a state of the code or a test result that the window had not seen; 0
/// where none did.
pub(super) fn newest(timeline: &Timeline) -> u64 {
    let (mut codes, mut results) = (BTreeSet::new(), BTreeSet::new());
    let mut newest = 0;
    for one in &timeline.iterations {
        let changed = match one.source {
            Source::Commit => !one.diff.empty,
            Source::Turn(change) => change == TurnChange::Changed,
        };
        let new_code = codes.insert(one.code) && changed;
        let new_result = one.tests.as_ref().is_some_and(|tests| {
            let counts = tests.counts();
            results.insert((tests.signature, counts.passed, counts.failing(), counts.skipped))
        });
        if new_code || new_result {
            newest = one.number;
        }
    }
    newest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::facts::Fact;
    use crate::testkit::{commit, folded, green, red, turn_end};

    #[test]
    fn new_code_and_new_results_move_and_nothing_else_does() {
        let work = |state: u8| commit(state).diff(state).fact();
        let tested = |state: u8, tests| commit(state).diff(state).tests(tests).fact();
        let table: Vec<(&str, Vec<Fact>, u64)> = vec![
            ("nothing", vec![], 0),
            ("a commit", vec![work(1)], 1),
            ("another", vec![work(1), work(2)], 2),
            ("back again", vec![work(1), work(2), work(1)], 2),
            ("an empty one", vec![work(1), commit(1).empty().fact()], 1),
            ("a turn that changed nothing", vec![work(1), turn_end(1)], 1),
            ("a turn of which nothing is known", vec![turn_end(1)], 0),
            ("a turn that changed the code", vec![turn_end(1), turn_end(2)], 2),
            ("its commit", vec![turn_end(1), turn_end(2), work(2)], 2),
            ("other tests fail", vec![tested(1, red(1, &["a"], 9)), tested(1, red(1, &["b"], 9))], 2),
            ("the same tests fail", vec![tested(1, red(1, &["a"], 9)), tested(1, red(1, &["a"], 9))], 1),
            ("more tests pass", vec![tested(1, green(1, 9)), tested(1, green(1, 10))], 2),
        ];
        for (name, facts, expected) in table {
            assert_eq!(newest(&folded(facts)), expected, "{name}");
        }
    }
}
