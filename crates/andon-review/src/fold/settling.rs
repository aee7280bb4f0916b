//! Votes and their outcomes settle the weights of witnesses (R6 to R11).

use super::Fold;
use super::state::{LedgerState, Settlement};
use crate::authority::PolicyInForce;
use crate::code::Code;
use crate::law::{self, Course, Parts, Reward, Weights};
use crate::payload::acts::AnswerOutcome;
use crate::votes::Vote;

impl Fold<'_> {
    /// The epoch of `at`, as the policy for `entry` counts them (T2).
    fn epoch(&self, entry: usize, at: i64) -> i64 {
        let first = self.authority.first(self.material.graph).unwrap_or(at);
        epoch(at, first, self.authority.for_entry(entry))
    }

    /// The total of `witness` at the time of `entry`.
    pub(super) fn total(&self, entry: usize, witness: &str) -> f64 {
        let now = self.epoch(entry, self.at(entry));
        let Some(weighed) = self.state.weighed.get(witness) else { return 0.0 };
        let mut weights = weighed.weights.clone();
        weights.founding = self.authority.for_entry(entry).founding(witness);
        weights.decay(now - weighed.epoch.unwrap_or(now));
        weights.total(now)
    }

    fn settle(&mut self, entry: usize, witness: &str, parts: &Parts, course: Option<Course>) {
        let now = self.epoch(entry, self.at(entry));
        let weighed = self.state.weighed.entry(witness.to_owned()).or_default();
        let epochs = now - weighed.epoch.unwrap_or(now);
        let settled = weighed.weights.settle(epochs, parts);
        weighed.epoch = Some(now);
        weighed.adjustments.extend(parts.adjustment);
        let witness = witness.to_owned();
        self.state.settlements.push(Settlement {
            entry,
            witness,
            settled,
            adjustment: parts.adjustment,
            course,
        });
    }

    pub(super) fn settle_vote(&mut self, entry: usize, vote: &Vote) {
        let adjustment = self.state.votes.adjustment(&vote.witness, vote.at, vote.choice);
        self.settle(entry, &vote.witness, &Parts { reward: None, adjustment: Some(adjustment) }, None);
    }

    /// The first outcome of a decision rewards who made it; a panel's outcome names the round.
    pub(super) fn outcome(&mut self, entry: usize, outcome: &AnswerOutcome) -> Result<(), Code> {
        let named = self.material.ancestor(&outcome.resolution, entry).ok_or(Code::UnknownRound)?;
        let (decision, votes) = if let Some(round) = self.state.round_at.get(&named) {
            let decided = self.state.rounds[*round].panel_decision(self.place(entry), self.at(entry));
            let decided = decided.ok_or(Code::UnknownRound)?;
            (decided.entry, decided.votes.clone())
        } else {
            let is_resolution = self.material.entries[named].kind == "resolution";
            let vote = self.state.vote_at.get(&named).filter(|_| is_resolution);
            (named, vec![*vote.ok_or(Code::UnknownRound)?])
        };
        if !self.state.outcomes.insert(decision) {
            return Ok(());
        }
        let course = law::course(&outcome.before, &outcome.after, outcome.left);
        let fall = course.h0 - course.h1.unwrap_or(course.h0);
        let reward = Some(Reward { converged: course.converged, fall });
        for vote in votes {
            let vote = &self.state.votes.all[vote];
            if !vote.self_reviewed {
                let witness = vote.witness.clone();
                self.settle(entry, &witness, &Parts { reward, adjustment: None }, Some(course));
            }
        }
        Ok(())
    }
}

fn epoch(at: i64, first: i64, policy: &PolicyInForce) -> i64 {
    at.saturating_sub(first).div_euclid(policy.rules.epoch.max(1))
}

impl LedgerState {
    /// The epoch of now.
    pub fn epoch(&self) -> i64 {
        let first = self.authority.first(&self.graph).unwrap_or(self.now);
        epoch(self.now, first, &self.authority.at_end)
    }

    /// The weights of `witness`, decayed up to now.
    pub fn weights(&self, witness: &str) -> Weights {
        let weighed = self.state.weighed.get(witness);
        let mut weights = weighed.map(|weighed| weighed.weights.clone()).unwrap_or_default();
        weights.founding = self.authority.at_end.founding(witness);
        let now = self.epoch();
        weights.decay(now - weighed.and_then(|weighed| weighed.epoch).unwrap_or(now));
        weights
    }
}
