//! Which numbers of test points have come: any order is fine, a number twice or beyond the plan is not.

use std::collections::BTreeMap;

use super::super::problem::ReportProblem;

/// Runs of numbers that are kept apart. Points in any sensible order make few.
const MAX_RUNS: usize = 100_000;

/// Numbers as runs of neighbours: first to last.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    runs: BTreeMap<u64, u64>,
    /// The first number that came twice.
    twice: Option<u64>,
    overflow: bool,
}

impl Numbers {
    /// Takes the number of a point.
    pub(super) fn take(&mut self, number: u64) {
        let before = self.runs.range(..=number).next_back().map(|(first, last)| (*first, *last));
        if before.is_some_and(|(_, last)| last >= number) {
            self.twice.get_or_insert(number);
            return;
        }
        let first =
            before.filter(|(_, last)| last.checked_add(1) == Some(number)).map_or(number, |run| run.0);
        let last = number.checked_add(1).and_then(|next| self.runs.remove(&next)).unwrap_or(number);
        if self.runs.len() >= MAX_RUNS && !self.runs.contains_key(&first) {
            self.overflow = true;
            return;
        }
        self.runs.insert(first, last);
    }

    /// Why these are not the numbers of a plan of so many points.
    pub(super) fn problem(&self, planned: u64) -> Option<ReportProblem> {
        if let Some(number) = self.twice {
            return Some(ReportProblem::NumberTwice(number));
        }
        if self.overflow {
            return Some(ReportProblem::TooManyCases(u64::try_from(MAX_RUNS).unwrap_or(u64::MAX)));
        }
        let first = self.runs.first_key_value().map(|(first, _)| *first);
        let last = self.runs.last_key_value().map(|(_, last)| *last);
        let outside = first.filter(|first| *first == 0).or(last.filter(|last| *last > planned));
        outside.map(|number| ReportProblem::NumberOutsidePlan { number, planned })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(numbers: &[u64], planned: u64) -> Option<&'static str> {
        let mut taken = Numbers::default();
        for number in numbers {
            taken.take(*number);
        }
        taken.problem(planned).map(|problem| problem.name())
    }

    #[test]
    fn any_order_is_fine_and_each_number_counts_once() {
        let cases: [(&[u64], u64, Option<&str>); 9] = [
            (&[], 0, None),
            (&[1, 2, 3], 3, None),
            (&[3, 1, 2], 3, None),
            (&[4, 3, 2, 1], 4, None),
            (&[1, 1], 2, Some("number-twice")),
            (&[1, 3, 2, 3], 4, Some("number-twice")),
            (&[2, 3], 2, Some("number-outside-plan")),
            (&[0, 1], 2, Some("number-outside-plan")),
            (&[u64::MAX, 1], 2, Some("number-outside-plan")),
        ];
        for (numbers, planned, expected) in cases {
            assert_eq!(problem(numbers, planned), expected, "{numbers:?}");
        }
    }

    #[test]
    fn a_stream_of_gaps_is_bounded() {
        let mut taken = Numbers::default();
        for number in 0..300_000 {
            taken.take(number * 2 + 1);
        }
        assert!(taken.runs.len() <= MAX_RUNS && taken.problem(600_000).is_some());
    }
}
