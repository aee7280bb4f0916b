//! A witness decides alone.

use super::Fold;
use crate::capture::CountedEntry;
use crate::code::Code;
use crate::payload::vote::{Resolution, VoteChoice, VoteMembers};
use crate::round::{DecidedBy, RoundDecision, RoundState, RoundStatus};
use crate::votes::Vote;

/// Which entry votes on what.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ballots {
    pub(super) entry: usize,
    pub(super) round: usize,
    pub(super) self_reviewed: bool,
}

impl Fold<'_> {
    pub(super) fn resolve(&mut self, entry: usize, resolution: &Resolution) -> Result<(), Code> {
        let round = self.round_of(entry, &resolution.round)?;
        self.fits(entry, round, resolution)?;
        let witness = self.witness(entry)?;
        self.waiting(round)?;
        self.not_suspended(entry, &witness)?;
        let policy = self.authority.for_entry(entry);
        let self_reviewed = self.has_conflict(entry, round, &witness);
        if self_reviewed && !policy.is_solo() {
            return Err(Code::Conflict);
        }
        let state = &self.state.rounds[round];
        if state.open_panel().is_some() {
            return Err(Code::PanelNeeded);
        }
        let accepted = state.accepted(&witness);
        if accepted.is_none() && !state.is_halt {
            return Err(Code::NotAccepted);
        }
        let at = self.at(entry);
        if self.state.votes.spent(&witness, at) >= policy.rules.cap {
            return Err(Code::Cap);
        }
        self.may_raise(entry, &witness, &resolution.vote)?;
        self.state.votes.spend(&witness, at);
        let vote = self.cast(Ballots { entry, round, self_reviewed }, &witness, &resolution.vote);
        for tag in self.state.votes.all[vote].tags.clone() {
            self.state.topics.single(&tag, &witness);
        }
        self.decide_single(round, vote);
        Ok(())
    }

    /// Whether the resolution is one of this round, by whom it says.
    fn fits(&self, entry: usize, round: usize, resolution: &Resolution) -> Result<(), Code> {
        let state = &self.state.rounds[round];
        fits(state, &resolution.vote)?;
        let is_closed = state.status() == RoundStatus::Closed;
        if !is_closed && !state.triggers.contains(&resolution.trigger) {
            return Err(Code::BadPayload);
        }
        let named = self.authority.named(self.material, entry);
        match (&resolution.witness, named) {
            (Some(said), Some(named)) if *said != named.who => Err(Code::BadPayload),
            (_, _) => Ok(()),
        }
    }

    /// A witness whose concerns were mostly declined raises no new one for a month.
    pub(super) fn may_raise(&self, entry: usize, witness: &str, said: &VoteMembers) -> Result<(), Code> {
        let blocked = self.state.concerns.blocked_until(witness, self.at(entry));
        if said.concern && blocked.is_some() { Err(Code::ConcernCooldown) } else { Ok(()) }
    }

    /// Takes up a valid vote with everything that follows from it but the decision.
    pub(super) fn cast(&mut self, casting: Ballots, witness: &str, said: &VoteMembers) -> usize {
        let Ballots { entry, round, self_reviewed } = casting;
        let at = self.at(entry);
        if self.state.votes.is_hasty(witness, at, said.seconds) {
            self.state.hasty.push(entry);
        }
        if said.concern {
            self.state.concerns.raise(entry, witness);
        }
        let state = &mut self.state.rounds[round];
        state.voters.insert(witness.to_owned());
        let tags = state.tags.union(&said.tags).cloned().collect();
        let since = state.accepted(witness).map_or(0, |accepted| at.saturating_sub(accepted));
        let vote = Vote {
            witness: witness.to_owned(),
            entry,
            place: self.place(entry),
            at,
            round,
            choice: said.choice,
            key: said.key.clone(),
            seconds: said.seconds,
            tags,
            rationale: said.rationale.clone(),
            amended: said.amended.clone().unwrap_or_default(),
            attributed_to: said.attributed_to.clone(),
            self_reviewed,
            made: None,
        };
        if !self_reviewed {
            let bounty = self.state.rounds[round].bounty;
            self.state.accounts.earn(entry, witness, said.seconds.min(since), bounty);
            self.settle_vote(entry, &vote);
            let witnesses = self.authority.for_entry(entry).witnesses.len();
            for tag in &vote.tags {
                self.state.topics.count(tag, witness, CountedEntry { entry, at }, witnesses);
            }
        }
        let vote = self.state.votes.add(vote);
        self.state.vote_at.insert(entry, vote);
        vote
    }

    fn decide_single(&mut self, round: usize, vote: usize) {
        let cast = &self.state.votes.all[vote];
        let decided = RoundDecision {
            key: cast.key.clone(),
            by: DecidedBy::Single,
            at: cast.at,
            entry: cast.entry,
            place: cast.place,
            depth: 0,
            votes: vec![vote],
            dissent: Vec::new(),
            self_reviewed: cast.self_reviewed,
        };
        self.decide(round, decided);
    }
}

/// What can be judged of a vote only with its round.
pub(super) fn fits(round: &RoundState, said: &VoteMembers) -> Result<(), Code> {
    misfit(round, said).map_or(Ok(()), |_| Err(Code::BadPayload))
}

/// What does not fit: sycophancy is assessed where there is a critique, what is accepted is there, and who is blamed took
/// part.
pub fn misfit(round: &RoundState, said: &VoteMembers) -> Option<&'static str> {
    let is_there = match said.choice {
        VoteChoice::AcceptSynthesis => round.came.verdict,
        VoteChoice::AcceptProposer => round.came.claim,
        VoteChoice::AcceptOpposer => round.came.critique,
        VoteChoice::Amend | VoteChoice::RejectRound => true,
    };
    let is_assessed = said.assessed || said.choice == VoteChoice::RejectRound || !round.came.critique;
    let takes_part =
        said.attributed_to.as_ref().is_none_or(|agent| round.cast.names().contains(agent.as_str()));
    let is_empty =
        said.choice == VoteChoice::AcceptSynthesis && round.came.verdict && !round.came.recommended;
    if !is_there && !round.is_halt {
        Some("decision: accepts a text that did not come")
    } else if is_empty && !round.is_halt {
        Some("decision: the verdict recommends nothing, so there is no synthesis to accept")
    } else if !is_assessed {
        Some("sycophancy_assessment: is missing, and the round has a critique")
    } else {
        (!takes_part).then_some("attributed_to: names somebody who took no part in the round")
    }
}
