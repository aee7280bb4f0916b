//! Reviews, from ballots that report a whole review or one vote at a time.

use std::collections::BTreeSet;

use super::timeline::Timeline;
use crate::domain::escalation::ReviewTally;

impl Timeline {
    /// The reviews up to those on iteration `iteration`, oldest first. Single votes are one review until a reviewer
    /// votes again or the iteration is another one; counts are a review of their own.
    pub fn verdict_rounds(&self, iteration: u64) -> Vec<ReviewTally> {
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
    use crate::domain::events::Ballot;
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
