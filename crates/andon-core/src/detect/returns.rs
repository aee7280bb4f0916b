//! States that come back with a period: A/B/A/B, A/B/C/A/B/C and so on up to six, of the whole code or of one path.

/// Longest period that is looked for (docs/spec-map.md, signals and escalation: ring of 6).
pub(super) const LONGEST: usize = 6;

/// One state of a sequence in which neighbours differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct StateStep<K> {
    pub(super) state: K,
    /// The weight of the step that brought the state: it can be held against the loop, or not.
    pub weight: Weight,
}

/// The weight of a return: it can be held against the loop, or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Weight {
    /// Work.
    Strike,
    /// A revert, a reland, a release, a merge, a pick.
    Meant,
}

/// A sequence that repeats itself up to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RepeatedSequence {
    /// The number of states that it goes through.
    pub(super) period: usize,
    /// States at the end that equal the one a period before.
    pub(super) returns: usize,
    /// Those of them that were meant.
    pub(super) meant: usize,
}

impl RepeatedSequence {
    /// The returns that count.
    pub(super) fn strikes(&self) -> usize {
        self.returns.saturating_sub(self.meant)
    }

    /// The returns it takes: `least`, and for longer periods a whole second round.
    pub(super) fn needed(&self, least: usize) -> usize {
        least.max(if self.period > 2 { self.period } else { 0 })
    }
}

/// The shortest period with which `steps` end, with at least `least` returns (a whole second round for periods above
/// two).
pub(super) fn round<K: PartialEq>(steps: &[StateStep<K>], least: usize) -> Option<RepeatedSequence> {
    (2..=LONGEST).find_map(|period| {
        let returning =
            |at: &usize| at.checked_sub(period).is_some_and(|before| steps[before].state == steps[*at].state);
        let run: Vec<usize> = (0..steps.len()).rev().take_while(returning).collect();
        let meant = run.iter().filter(|at| steps[**at].weight == Weight::Meant).count();
        let round = RepeatedSequence { period, returns: run.len(), meant };
        (round.returns >= round.needed(least)).then_some(round)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_period_is_found_within_two_rounds() {
        let found = |text: &str| {
            let steps: Vec<StateStep<char>> =
                text.chars().map(|state| StateStep { state, weight: Weight::Strike }).collect();
            round(&steps, 2).map(|round| (round.period, round.returns))
        };
        for (text, wanted) in [
            ("", None),
            ("aba", None),
            ("abab", Some((2, 2))),
            ("xababa", Some((2, 3))),
            ("ababx", None),
            ("abcab", None),
            ("abcabc", Some((3, 3))),
            ("abcdabcd", Some((4, 4))),
            ("abcdeabcde", Some((5, 5))),
            ("abcdefabcdef", Some((6, 6))),
            ("abcdefgabcdefg", None),
            ("abcdefgh", None),
        ] {
            assert_eq!(found(text), wanted, "{text}");
        }
    }
}
