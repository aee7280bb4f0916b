//! Whether tests newly pass. That distinguishes progress, with one thing in it that alternates or stays red, from work
//! that only alternates.

use crate::domain::tests::TestEvidence;
use crate::history::{Timeline, failing_count};

/// What the tests say about a stretch of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Gain {
    /// Too few results to say.
    Unknown,
    /// As many pass as before.
    Nothing,
    /// More pass than ever before.
    NewlyPassing,
}

/// What the tests gained from iteration `number` on, over what passed before it; where no test ran before it, over what
/// passed in its first run.
pub(super) fn since(timeline: &Timeline, number: u64) -> Gain {
    let (mut before, mut after): (Option<u64>, Option<u64>) = (None, None);
    for iteration in &timeline.iterations {
        let Some(passed) = iteration.tests.as_ref().and_then(passed) else { continue };
        let is_first = iteration.number < number || before.is_none();
        let best = if is_first { &mut before } else { &mut after };
        *best = (*best).max(Some(passed));
    }
    match (before, after) {
        (Some(before), Some(after)) if after > before => Gain::NewlyPassing,
        (Some(_), Some(_)) => Gain::Nothing,
        (None, _) | (_, None) => Gain::Unknown,
    }
}

/// How many tests passed, where the run came to its end and named or counted them.
pub(super) fn passed(tests: &TestEvidence) -> Option<u64> {
    failing_count(tests).filter(|_| tests.counts().ran() > 0).map(|_| tests.passed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::tests::TestStatus;
    use crate::testkit::{commit, green, other, red, timeline};

    #[test]
    fn more_than_ever_before_is_a_gain() {
        let of = |first: TestEvidence, second: TestEvidence| {
            let line = timeline(vec![commit(1).tests(first), commit(2), commit(3).tests(second)]);
            since(&line, 2)
        };
        assert_eq!(of(green(1, 5), green(3, 6)), Gain::NewlyPassing);
        assert_eq!(of(green(1, 5), green(3, 5)), Gain::Nothing);
        assert_eq!(of(red(1, &["a"], 5), red(3, &["a"], 6)), Gain::NewlyPassing, "one stays red");
        assert_eq!(of(green(1, 5), red(3, &["a"], 5)), Gain::Nothing);
        assert_eq!(of(green(1, 5), other(3, TestStatus::BuildFailed)), Gain::Unknown);
        assert_eq!(since(&timeline(vec![commit(1).tests(green(1, 5))]), 1), Gain::Unknown);
        let first = |second| {
            since(&timeline(vec![commit(1).tests(green(1, 5)), commit(2).tests(green(2, second))]), 1)
        };
        assert_eq!((first(5), first(6)), (Gain::Nothing, Gain::NewlyPassing), "over the first run of all");
    }
}
