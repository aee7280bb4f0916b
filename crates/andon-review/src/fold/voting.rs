//! Witnesses take rounds, ask for panels, and decide: alone, or on a panel, with sealed ballots first that are then all opened
//! (R16), so that no member sees the draft of another.

use super::Fold;
use crate::{
    Acceptance, BallotCommit, BallotReveal, Code, DecidedBy, Office, PanelCause, Payload, Resolution,
    RoundDecision, RoundState, RoundStatus, Seat, Tier, Vote, VoteChoice, VoteMembers,
};
use andon_core::domain::Digest;

/// Witnesses from whom on they take turns.
const ROTATING: usize = 3;

impl Fold<'_> {
    /// The round of an accept, a panel, a ballot or a resolution that still waits for people.
    fn waiting(&self, round: usize) -> Result<(), Code> {
        match self.state.rounds[round].status() {
            RoundStatus::Closed | RoundStatus::Resolved | RoundStatus::Unresolvable => {
                Err(Code::AlreadyResolved)
            }
            RoundStatus::Open | RoundStatus::Accepted | RoundStatus::Panel3 | RoundStatus::Panel5 => Ok(()),
            RoundStatus::Voided => Err(Code::Withdrawn),
        }
    }

    /// The tier of `witness` at the time and place of `entry`; under a solo policy they may do everything.
    fn tier(&self, entry: usize, witness: &str) -> Tier {
        let policy = self.authority.for_entry(entry);
        if policy.is_solo() {
            return Tier::Full;
        }
        self.track_record(entry, witness).tier()
    }

    fn not_suspended(&self, entry: usize, witness: &str) -> Result<(), Code> {
        if self.tier(entry, witness) == Tier::Suspended { Err(Code::Suspended) } else { Ok(()) }
    }

    pub(super) fn accept(&mut self, entry: usize, id: &str) -> Result<(), Code> {
        let round = self.round_of(entry, id)?;
        let witness = self.witness(entry)?;
        self.waiting(round)?;
        let tier = self.tier(entry, &witness);
        if tier == Tier::Suspended {
            return Err(Code::Suspended);
        }
        let seat = self.may_take(entry, round, &witness, tier)?;
        self.not_gated(entry, id, &witness)?;
        let at = self.at(entry);
        let state = &mut self.state.rounds[round];
        if let (Some(seat), Some(panel)) = (seat, state.open_panel_mut()) {
            // Seats are in the order of their accepts: the taker of a free one comes last.
            if seat < panel.seats.len() {
                panel.seats.remove(seat);
            }
            panel.seats.push(Seat::new(&witness, at));
        }
        if state.accepted(&witness).is_none() {
            state.accepts.push(Acceptance { witness, at });
        }
        Ok(())
    }

    /// The seat that the witness gets, if the round is a panel's and they have none yet.
    fn may_take(&self, entry: usize, round: usize, witness: &str, tier: Tier) -> Result<Option<usize>, Code> {
        let policy = self.authority.for_entry(entry);
        let state = &self.state.rounds[round];
        if self.has_conflict(entry, round, witness) && !policy.is_solo() {
            return Err(Code::Conflict);
        }
        let Some(panel) = state.open_panel() else {
            return self.may_take_alone(entry, state, witness, tier).map(|()| None);
        };
        if panel.has(witness) {
            return Ok(None);
        }
        if state.barred.contains(witness) {
            return Err(Code::Conflict);
        }
        panel.free(self.at(entry)).map(Some).ok_or(Code::PanelFull)
    }

    fn may_take_alone(
        &self,
        entry: usize,
        state: &RoundState,
        witness: &str,
        tier: Tier,
    ) -> Result<(), Code> {
        let policy = self.authority.for_entry(entry);
        match tier {
            Tier::Probation | Tier::PanelOnly => return Err(Code::PanelOnly),
            Tier::Full | Tier::Suspended => {}
        }
        let binds = !policy.is_solo() && policy.witnesses.len() >= ROTATING;
        if binds && self.state.topics.is_due_to_rotate(&state.tags, witness, policy.rules.rotation) {
            return Err(Code::Rotation);
        }
        Ok(())
    }

    fn not_gated(&self, entry: usize, id: &str, witness: &str) -> Result<(), Code> {
        if !self.authority.for_entry(entry).rules.referee_gate {
            return Ok(());
        }
        let total = self.total(entry, witness);
        if Office::Referee.draw(id, witness, total).eligible { Ok(()) } else { Err(Code::RefereeGate) }
    }

    pub(super) fn ask_for_panel(&mut self, entry: usize, id: &str) -> Result<(), Code> {
        let round = self.round_of(entry, id)?;
        let witness = self.witness(entry)?;
        self.waiting(round)?;
        self.not_suspended(entry, &witness)?;
        if self.has_conflict(entry, round, &witness) {
            return Err(Code::Conflict);
        }
        if self.state.rounds[round].open_panel().is_none() {
            self.open_panel(round, entry, 3, PanelCause::Request);
        }
        Ok(())
    }
}

impl Fold<'_> {
    pub(super) fn commit(&mut self, entry: usize, ballot: &BallotCommit) -> Result<(), Code> {
        let round = self.round_of(entry, &ballot.round)?;
        let witness = self.witness(entry)?;
        self.waiting(round)?;
        let seat = self.state.rounds[round].open_panel_mut().and_then(|panel| panel.seat(&witness));
        let has_commit = seat.ok_or(Code::NotOnPanel)?.commit.is_some();
        let at = self.at(entry);
        if self.state.votes.spent(&witness, at) >= self.authority.for_entry(entry).rules.cap {
            return Err(Code::Cap);
        }
        if has_commit {
            return Err(Code::DuplicateBallot);
        }
        self.state.votes.spend(&witness, at);
        let seat = self.state.rounds[round].open_panel_mut().and_then(|panel| panel.seat(&witness));
        if let Some(seat) = seat {
            seat.commit = Some(entry);
        }
        Ok(())
    }

    pub(super) fn reveal(&mut self, entry: usize, ballot: &BallotReveal) -> Result<(), Code> {
        let round = self.round_of(entry, &ballot.round)?;
        fits(&self.state.rounds[round], &ballot.vote)?;
        let witness = self.witness(entry)?;
        self.waiting(round)?;
        let panel = self.state.rounds[round].open_panel().filter(|panel| panel.has(&witness));
        let panel = panel.ok_or(Code::NotOnPanel)?.clone();
        self.may_raise(entry, &witness, &ballot.vote)?;
        let seat = panel.seats.iter().find(|seat| seat.witness == witness).ok_or(Code::NotOnPanel)?;
        if seat.vote.is_some() {
            return Err(Code::DuplicateBallot);
        }
        let is_seen = |commit: usize| self.material.graph.is_before(commit, entry);
        let commit = seat.commit.filter(|commit| is_seen(*commit)).ok_or(Code::NoCommitment)?;
        // The valid ballots from before a tie need no second look.
        let is_in = |seat: &Seat| seat.vote.is_some() || seat.commit.is_some_and(is_seen);
        let all_in = panel.seats.len() == panel.size && panel.seats.iter().all(is_in);
        if !all_in && self.at(entry) < panel.deadline {
            return Err(Code::EarlyReveal);
        }
        if self.commitment(commit) != Some(ballot.commitment) {
            return Err(Code::CommitmentMismatch);
        }
        let vote = self.cast(Ballots { entry, round, self_reviewed: false }, &witness, &ballot.vote);
        if let Some(seat) = self.state.rounds[round].open_panel_mut().and_then(|panel| panel.seat(&witness)) {
            seat.vote = Some(vote);
        }
        self.count_ballots(round, entry);
        Ok(())
    }

    fn commitment(&self, commit: usize) -> Option<Digest> {
        match self.material.payload(commit) {
            Ok(Payload::BallotCommit(ballot)) => Some(ballot.commitment),
            Ok(_) | Err(_) => None,
        }
    }
}

/// An entry that votes on a round.
#[derive(Debug, Clone, Copy)]
struct Ballots {
    entry: usize,
    round: usize,
    self_reviewed: bool,
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
        for tag in self.state.votes.all[vote].said.tags.clone() {
            self.state.topics.single(&tag, &witness);
        }
        let cast = &self.state.votes.all[vote];
        let decided = RoundDecision {
            key: cast.said.key.clone(),
            by: DecidedBy::Single,
            at: cast.at,
            entry,
            place: cast.place,
            depth: 0,
            votes: vec![vote],
            dissent: Vec::new(),
            self_reviewed,
        };
        self.decide(round, decided);
        Ok(())
    }

    /// An error where the resolution is not one of this round, by the witness that it names.
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
    fn may_raise(&self, entry: usize, witness: &str, said: &VoteMembers) -> Result<(), Code> {
        let blocked = self.state.concerns.blocked_until(witness, self.at(entry));
        if said.concern && blocked.is_some() { Err(Code::ConcernCooldown) } else { Ok(()) }
    }

    /// Takes up a valid vote with everything that follows from it but the decision.
    fn cast(&mut self, casting: Ballots, witness: &str, said: &VoteMembers) -> usize {
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
            said: VoteMembers { tags, ..said.clone() },
            self_reviewed,
            made: None,
        };
        if !self_reviewed {
            let bounty = self.state.rounds[round].bounty;
            self.state.accounts.earn(entry, witness, said.seconds.min(since), bounty);
            self.settle_vote(entry, &vote);
            let witnesses = self.authority.for_entry(entry).witnesses.len();
            for tag in &vote.said.tags {
                self.state.topics.count(tag, witness, self.cause(entry), witnesses);
            }
        }
        let vote = self.state.votes.add(vote);
        self.state.vote_at.insert(entry, vote);
        vote
    }
}

/// An error where a vote does not fit its round.
fn fits(round: &RoundState, said: &VoteMembers) -> Result<(), Code> {
    misfit(round, said).map_or(Ok(()), |_| Err(Code::BadPayload))
}

/// The part that does not fit: sycophancy is assessed where there is a critique, what is accepted is there, and who is blamed took
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
