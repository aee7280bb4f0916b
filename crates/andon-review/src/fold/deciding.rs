//! The decision of a panel and its consequences; votes and their outcomes settle the weights of witnesses (R6 to R11).

use std::collections::{BTreeMap, BTreeSet};

use super::{Fold, LedgerState, Settlement};
use crate::{
    AnswerOutcome, Cause, Code, Course, DecidedBy, Panel, PanelCause, Parties, Parts, PolicyInForce, Reward,
    RoundDecision, RoundStatus, Signatures, Vote, VoteChoice, Weights, accounts::ESCROW, law,
};

/// The size of a panel that a tie, or collusion, leads to.
const SECOND: usize = 5;

impl Fold<'_> {
    /// A ballot was opened: its panel may be done.
    pub(super) fn count_ballots(&mut self, round: usize, entry: usize) {
        let Some(panel) = self.state.rounds[round].open_panel().cloned() else { return };
        self.state.pending.remove(&(panel.deadline, round));
        let votes: Vec<usize> = panel.votes().collect();
        let has_majority = self.majority(&votes, panel.size).is_some();
        let is_late = self.at(entry) >= panel.deadline;
        if votes.len() == panel.size || (is_late && has_majority) {
            self.conclude(round, &panel, self.cause(entry));
        } else if has_majority {
            self.state.pending.insert((panel.deadline, round));
        }
    }

    /// Panels that had a majority at a deadline that is over by `now` decided then.
    pub(super) fn expire(&mut self, now: i64) {
        while let Some((deadline, round)) = self.state.pending.first().copied()
            && deadline <= now
        {
            self.state.pending.pop_first();
            let Some(panel) = self.state.rounds[round].open_panel().cloned() else { continue };
            let votes = panel.votes().map(|vote| &self.state.votes.all[vote]);
            if let Some(last) = votes.max_by_key(|vote| vote.place).map(|vote| vote.entry) {
                self.conclude(round, &panel, Cause { at: deadline, ..self.cause(last) });
            }
        }
    }

    /// The panel is done with a reveal, at once or at the deadline.
    fn conclude(&mut self, round: usize, panel: &Panel, done: Cause) {
        let votes: Vec<usize> = panel.votes().collect();
        if self.colludes(round, &votes) {
            return self.begin_anew(round, done.entry);
        }
        if let Some(key) = self.majority(&votes, panel.size) {
            return self.decide_panel(round, done, &key, DecidedBy::Majority);
        }
        if panel.size >= SECOND {
            return self.give_up(round, done.entry);
        }
        match self.weightiest(panel.opening, &votes) {
            Some(key) => self.decide_panel(round, done, &key, DecidedBy::Reputation),
            None => self.open_panel(round, done.entry, SECOND, PanelCause::Tie),
        }
    }

    /// The key that more than half of the seats chose.
    fn majority(&self, votes: &[usize], size: usize) -> Option<String> {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for vote in votes {
            *counts.entry(&self.state.votes.all[*vote].said.key).or_default() += 1;
        }
        counts.into_iter().find(|(_, count)| 2 * count > size).map(|(key, _)| key.to_owned())
    }

    /// The one key that the members of the highest reputation chose, as of the opening of the panel.
    fn weightiest(&self, opening: usize, votes: &[usize]) -> Option<String> {
        let votes = votes.iter().map(|vote| &self.state.votes.all[*vote]);
        let cast: Vec<_> =
            votes.map(|vote| (self.track_record(opening, &vote.witness).reputation(), vote)).collect();
        let best = cast.iter().map(|(reputation, _)| *reputation).max()?;
        let weightiest = cast.iter().filter(|(reputation, _)| *reputation == best);
        let keys: BTreeSet<&str> = weightiest.map(|(_, vote)| vote.said.key.as_str()).collect();
        if keys.len() == 1 { keys.into_iter().next().map(str::to_owned) } else { None }
    }

    /// True where two of the rationales are one (R22).
    fn colludes(&mut self, round: usize, votes: &[usize]) -> bool {
        let all = &self.state.votes.all;
        let mut pairs: Vec<[String; 2]> = Vec::new();
        for (index, one) in votes.iter().enumerate() {
            let like = votes[..index]
                .iter()
                .filter(|other| all[**other].said.rationale.is_like(&all[*one].said.rationale));
            pairs.extend(like.map(|other| [all[*other].witness.clone(), all[*one].witness.clone()]));
        }
        for pair in &mut pairs {
            pair.sort();
        }
        let found = !pairs.is_empty();
        self.state.collusions.extend(pairs.into_iter().map(|pair| (round, pair)));
        found
    }

    /// The first time a fresh panel decides; the second time there is no decision.
    fn begin_anew(&mut self, round: usize, entry: usize) {
        self.state.rounds[round].collusions += 1;
        if self.state.rounds[round].collusions > 1 {
            self.give_up(round, entry);
        } else {
            self.open_panel(round, entry, SECOND, PanelCause::Collusion);
        }
    }

    fn give_up(&mut self, round: usize, entry: usize) {
        self.pay(round, self.cause(entry), None);
        self.end(round, RoundStatus::Unresolvable);
    }

    fn decide_panel(&mut self, round: usize, done: Cause, key: &str, by: DecidedBy) {
        let Cause { entry, place, at } = done;
        let Some(panel) = self.state.rounds[round].open_panel_mut() else { return };
        panel.is_open = false;
        let depth = if panel.size >= SECOND { 2 } else { 1 };
        let all: Vec<usize> = panel.votes().collect();
        let (votes, dissent) = all.into_iter().partition(|vote| self.state.votes.all[*vote].said.key == key);
        let key = key.to_owned();
        self.decide(
            round,
            RoundDecision { key, by, at, entry, place, depth, votes, dissent, self_reviewed: false },
        );
    }

    /// Takes up a decision with its consequences.
    pub(super) fn decide(&mut self, round: usize, decided: RoundDecision) {
        let cause = Cause { entry: decided.entry, place: decided.place, at: decided.at };
        for vote in &decided.votes {
            self.state.votes.all[*vote].made = Some(decided.place);
        }
        let is_upheld =
            self.state.rounds[round].decisions.last().is_some_and(|before| before.key == decided.key);
        let choice = decided.votes.first().map(|vote| self.state.votes.all[*vote].said.choice);
        let blamed = self.blamed(&decided);
        if decided.by != DecidedBy::Single {
            self.state.votes.contest(round);
        }
        self.state.rounds[round].decisions.push(decided);
        if !is_upheld {
            let winner = choice.and_then(|choice| self.winner(round, choice));
            self.pay(round, cause, winner);
            self.penalise(round, cause, blamed);
        }
    }

    /// The agent whom more than half of the votes that decided name.
    fn blamed(&self, decided: &RoundDecision) -> Option<String> {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for vote in &decided.votes {
            if let Some(agent) = &self.state.votes.all[*vote].said.attributed_to {
                *counts.entry(agent).or_default() += 1;
            }
        }
        counts
            .into_iter()
            .find(|(_, count)| 2 * count > decided.votes.len())
            .map(|(agent, _)| agent.to_owned())
    }

    /// The agent who is paid for a decision.
    fn winner(&self, round: usize, choice: VoteChoice) -> Option<String> {
        let cast = &self.state.rounds[round].cast;
        match choice {
            VoteChoice::AcceptProposer => cast.proposer.clone(),
            VoteChoice::AcceptOpposer => cast.opposer.clone(),
            VoteChoice::AcceptSynthesis => cast.synthesizer.clone(),
            VoteChoice::Amend | VoteChoice::RejectRound => None,
        }
    }

    /// Moves the bounty to `winner`, or back to the issuer (R14): a round that ends without a decision pays no one.
    pub(super) fn pay(&mut self, round: usize, cause: Cause, winner: Option<String>) {
        if let Some((agent, amount)) = self.state.rounds[round].penalty.take() {
            self.state.accounts.forgive(cause, &agent, round, amount);
        }
        let state = &mut self.state.rounds[round];
        let why = if winner.is_some() { "payout" } else { "refund" };
        let Some(to) = winner.or_else(|| state.issuer.clone()) else { return };
        let bounty = state.bounty;
        let before = state.paid.replace(to.clone());
        let accounts = &mut self.state.accounts;
        match before {
            Some(before) if before == to => {}
            None => accounts.transfer(cause, Parties { from: ESCROW, to: &to }, bounty, why),
            Some(before) => {
                accounts.transfer(cause, Parties { from: &before, to: ESCROW }, bounty, "reverse");
                accounts.transfer(cause, Parties { from: ESCROW, to: &to }, bounty, why);
            }
        }
    }

    /// Fines the agent whom a decision blames, whether or not anything was paid out before (R14, R15).
    fn penalise(&mut self, round: usize, cause: Cause, blamed: Option<String>) {
        let Some(agent) = blamed else { return };
        let state = &mut self.state.rounds[round];
        let amount = self.state.accounts.penalise(cause, &agent, round, state.bounty);
        state.penalty = (amount > 0).then_some((agent, amount));
    }
}

impl Fold<'_> {
    /// The epoch of `at`, as the policy for `entry` counts them (T2).
    fn epoch(&self, entry: usize, at: i64) -> i64 {
        let first = self.authority.first(&self.material.graph).unwrap_or(at);
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
        let adjustment = self.state.votes.adjustment(&vote.witness, vote.at, vote.said.choice);
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
        let AnswerOutcome { before, after, left, .. } = outcome.clone();
        let course = law::course(&Signatures { before, after, left });
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
    /// The present epoch.
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
