//! Votes that count, and what they make of those who cast them: reputation, tiers, the cap, fatigue (R1 to R4, R18, R25).

use std::collections::{BTreeMap, BTreeSet};

use num_rational::Ratio;
use serde::Serialize;

use super::window::{DAY, LOOKBACK, within};
use super::{
    Adjustment, RoundState, SlidingCounts, VoteChoice, VoteMembers, law::AXES, payload::fields::shown_by_name,
};

/// A valid resolution or revealed ballot.
#[derive(Debug, Clone, PartialEq)]
pub struct Vote {
    pub witness: String,
    pub entry: usize,
    pub place: usize,
    pub at: i64,
    /// The index of the round.
    pub round: usize,
    /// The members of the vote, with the tags of the round among its own.
    pub said: VoteMembers,
    /// Given by a person with a stake in it, under a solo policy: earns nothing.
    pub self_reviewed: bool,
    /// The place of the decision that it made.
    pub made: Option<usize>,
}

/// The point of view of a question: the votes before this place in the order, at this time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Vantage {
    pub place: usize,
    pub at: i64,
    /// The place of the policy that reinstated the witness.
    pub since: Option<usize>,
}

/// Counted votes of a witness, and how many of them were overturned (R1, R3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TrackRecord {
    pub n: u64,
    pub o: u64,
}

/// The rights of a witness (R2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Tier {
    Probation,
    Full,
    PanelOnly,
    Suspended,
}

shown_by_name!(Tier);

impl TrackRecord {
    /// The share of votes that was not overturned, exactly.
    pub fn reputation(self) -> Ratio<u64> {
        Ratio::new(self.n - self.o, self.n.max(1))
    }

    /// The tier that this share allows.
    pub fn tier(self) -> Tier {
        let reputation = self.reputation();
        if self.n == 0 {
            Tier::Probation
        } else if reputation >= Ratio::new(2, 5) {
            Tier::Full
        } else if reputation >= Ratio::new(1, 5) {
            Tier::PanelOnly
        } else {
            Tier::Suspended
        }
    }
}

/// The number of votes before which a witness's time says nothing about fatigue.
const FATIGUE_AFTER: u64 = 5;

/// The part of a vote that reputation needs: few bytes, because it is computed at every accept.
#[derive(Debug, Clone, Copy)]
struct CountedVote {
    place: usize,
    at: i64,
    round: usize,
    vote: usize,
}

/// All valid votes, in the order of the ledger.
#[derive(Debug, Clone, Default)]
pub struct Votes {
    pub all: Vec<Vote>,
    by_witness: BTreeMap<String, Vec<usize>>,
    /// The votes of each witness that count for reputation, in the order of the ledger.
    counted: BTreeMap<String, Vec<CountedVote>>,
    /// Rounds that a panel has decided: only there a decision is overturned.
    contested: BTreeSet<usize>,
    seconds: BTreeMap<String, SlidingCounts<i64>>,
    choices: SlidingCounts<(String, VoteChoice)>,
    /// The times at which each witness gave a resolution or a sealed ballot, in order: the cap counts them.
    efforts: BTreeMap<String, Vec<i64>>,
}

impl Votes {
    /// Adds the next vote; returns its index.
    pub fn add(&mut self, vote: Vote) -> usize {
        if !vote.self_reviewed {
            self.choices.add(vote.at, (vote.witness.clone(), vote.said.choice));
            let counted =
                CountedVote { place: vote.place, at: vote.at, round: vote.round, vote: self.all.len() };
            self.counted.entry(vote.witness.clone()).or_default().push(counted);
        }
        self.seconds.entry(vote.witness.clone()).or_default().add(vote.at, vote.said.seconds);
        self.by_witness.entry(vote.witness.clone()).or_default().push(self.all.len());
        self.all.push(vote);
        self.all.len() - 1
    }

    /// All votes of `witness`, oldest first.
    pub fn by_witness(&self, witness: &str) -> impl Iterator<Item = &Vote> {
        self.by_witness.get(witness).into_iter().flatten().map(|vote| &self.all[*vote])
    }

    /// Counts for the reputation of `witness` as seen from `from`.
    pub fn standing(&self, rounds: &[RoundState], witness: &str, from: Vantage) -> TrackRecord {
        let counts = |vote: &&CountedVote| {
            vote.place < from.place
                && from.since.is_none_or(|since| vote.place > since)
                && within(from.at, vote.at, LOOKBACK)
        };
        let is_overturned = |counted: &CountedVote| {
            let vote = &self.all[counted.vote];
            vote.made.is_some_and(|made| made < from.place)
                && rounds[vote.round]
                    .panel_decision(from.place, from.at)
                    .is_some_and(|now| now.key != vote.said.key)
        };
        let may_be = |vote: &CountedVote| !self.contested.is_empty() && self.contested.contains(&vote.round);
        let counted = self.counted.get(witness).into_iter().flatten();
        counted.filter(counts).fold(TrackRecord::default(), |found, vote| TrackRecord {
            n: found.n + 1,
            o: found.o + u64::from(may_be(vote) && is_overturned(vote)),
        })
    }

    /// A panel has decided the round.
    pub fn contest(&mut self, round: usize) {
        self.contested.insert(round);
    }

    /// Counts a resolution or a sealed ballot towards the cap.
    pub fn spend(&mut self, witness: &str, at: i64) {
        let efforts = self.efforts.entry(witness.to_owned()).or_default();
        efforts.insert(efforts.partition_point(|known| *known <= at), at);
    }

    /// The number of those that `witness` made in the 24 hours that end with `now`.
    pub fn spent(&self, witness: &str, now: i64) -> usize {
        let Some(efforts) = self.efforts.get(witness) else { return 0 };
        let oldest = now.saturating_sub(DAY);
        efforts.partition_point(|at| *at <= now) - efforts.partition_point(|at| *at <= oldest)
    }

    /// The time at which `witness`, who has reached the cap at `now`, may answer again.
    pub fn free_at(&self, witness: &str, now: i64, cap: usize) -> Option<i64> {
        let efforts = self.efforts.get(witness)?;
        let known = efforts.partition_point(|at| *at <= now);
        let first = known.checked_sub(cap.max(1))?;
        (self.spent(witness, now) >= cap).then(|| efforts[first].saturating_add(DAY))
    }

    /// The time at which the next answer of anybody no longer counts towards a cap.
    pub fn next_free(&self, now: i64) -> Option<i64> {
        let ends = |efforts: &Vec<i64>| {
            let oldest = efforts.get(efforts.partition_point(|at| at.saturating_add(DAY) <= now))?;
            Some(oldest.saturating_add(DAY))
        };
        self.efforts.values().filter_map(ends).min()
    }

    /// True where `seconds` is less than half of what `witness` took before (R18).
    pub fn is_hasty(&mut self, witness: &str, at: i64, seconds: i64) -> bool {
        let Some(prior) = self.seconds.get_mut(witness).map(|all| all.at(at)) else { return false };
        let number: u64 = prior.values().sum();
        if number < FATIGUE_AFTER {
            return false;
        }
        let mut sorted = prior.iter().flat_map(|(seconds, times)| (0..*times).map(|_| i128::from(*seconds)));
        // Twice the median, so that the mean of two middle values stays whole.
        let lower = sorted.nth(usize::try_from((number - 1) / 2).unwrap_or(usize::MAX)).unwrap_or_default();
        let twice = lower + if number.is_multiple_of(2) { sorted.next().unwrap_or(lower) } else { lower };
        4 * i128::from(seconds) < twice
    }

    /// The difference of a decision of `witness` at `at` from those of others (R25).
    #[allow(clippy::cast_precision_loss, reason = "counts of entries")]
    pub fn adjustment(&mut self, witness: &str, at: i64, choice: VoteChoice) -> Adjustment {
        let all = self.choices.at(at);
        let counts = VoteChoice::ALL.map(|choice| {
            let others = all.iter().filter(|((who, chosen), _)| who != witness && *chosen == choice);
            others.map(|(_, number)| number).sum::<u64>()
        });
        let total: u64 = counts.iter().sum();
        let mut parts = [0.0; AXES];
        for ((part, axis), count) in parts.iter_mut().zip(VoteChoice::ALL).zip(counts) {
            let one = if axis == choice { 1.0 } else { 0.0 };
            *part = one - (count + 1) as f64 / (total + AXES as u64) as f64;
        }
        parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Words;

    #[test]
    fn tiers_begin_exactly_at_their_shares() {
        let table = [
            (0, 0, Tier::Probation, "0"),
            (5, 3, Tier::Full, "2/5"),
            (9, 2, Tier::Full, "7/9"),
            (1_000, 601, Tier::PanelOnly, "399/1000"),
            (5, 4, Tier::PanelOnly, "1/5"),
            (1_000, 801, Tier::Suspended, "199/1000"),
            (1, 1, Tier::Suspended, "0"),
            (4, 0, Tier::Full, "1"),
        ];
        for (n, o, tier, text) in table {
            let found = TrackRecord { n, o };
            assert_eq!((found.tier(), found.reputation().to_string()), (tier, text.to_owned()), "{n} {o}");
        }
    }

    fn vote(witness: &str, at: i64, seconds: i64, choice: VoteChoice) -> Vote {
        Vote {
            witness: witness.to_owned(),
            entry: 0,
            place: 0,
            at,
            round: 0,
            said: VoteMembers {
                choice,
                key: choice.to_string(),
                amended: None,
                assessed: false,
                concern: false,
                rationale: Words::default(),
                seconds,
                attributed_to: None,
                tags: BTreeSet::new(),
            },
            self_reviewed: false,
            made: None,
        }
    }

    #[test]
    fn a_witness_at_the_cap_is_told_when_it_ends() {
        let mut votes = Votes::default();
        for at in [100, 200, 300] {
            votes.spend("ann", at);
        }
        assert_eq!(votes.free_at("ann", 400, 4), None);
        assert_eq!(votes.free_at("ann", 400, 3), Some(100 + DAY));
        assert_eq!(votes.free_at("ann", 400, 2), Some(200 + DAY));
        assert_eq!(votes.free_at("ann", 99 + DAY, 3), Some(100 + DAY));
        assert_eq!(votes.free_at("ann", 100 + DAY, 3), None);
        assert_eq!(votes.free_at("bo", 400, 1), None);
    }

    #[test]
    fn haste_is_less_than_half_of_the_median() {
        let mut votes = Votes::default();
        for (seconds, at) in [(600, 1), (700, 2), (800, 3), (900, 4)] {
            votes.add(vote("ann", at, seconds, VoteChoice::Amend));
        }
        assert!(!votes.is_hasty("ann", 9, 0));
        votes.add(vote("ann", 5, 1_000, VoteChoice::Amend));
        // The median of five is 800.
        assert!(votes.is_hasty("ann", 9, 399) && !votes.is_hasty("ann", 9, 400));
        votes.add(vote("ann", 6, 1_001, VoteChoice::Amend));
        // With six votes it is 850.
        assert!(votes.is_hasty("ann", 9, 424) && !votes.is_hasty("ann", 9, 425));
        assert!(!votes.is_hasty("ann", LOOKBACK + 6, 0));
    }

    #[test]
    fn adjustments_are_taken_against_what_others_decide() {
        let near = |found: Adjustment, want: Adjustment| {
            let close = found.iter().zip(want).all(|(found, want)| (found - want).abs() < 1e-12);
            assert!(close, "{found:?} {want:?}");
        };
        let mut votes = Votes::default();
        near(votes.adjustment("ann", 0, VoteChoice::Amend), [-0.2, -0.2, -0.2, 0.8, -0.2]);
        for at in 1..=5 {
            votes.add(vote("bo", at, 0, VoteChoice::AcceptProposer));
        }
        votes.add(vote("ann", 6, 0, VoteChoice::RejectRound));
        // Base rates over five votes of others: 1/10, 6/10, and 1/10 for the rest.
        near(votes.adjustment("ann", 7, VoteChoice::AcceptProposer), [-0.1, 0.4, -0.1, -0.1, -0.1]);
        near(votes.adjustment("ann", 5 + LOOKBACK, VoteChoice::Amend), [-0.2, -0.2, -0.2, 0.8, -0.2]);
    }
}
