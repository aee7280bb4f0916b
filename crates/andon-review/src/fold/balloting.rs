//! A panel votes: sealed ballots first, then all of them are opened (R16), so that no member sees the draft of another.

use andon_core::domain::ids::Digest;

use super::Fold;
use super::resolving::{Ballots, fits};
use crate::code::Code;
use crate::payload::Payload;
use crate::payload::acts::{BallotCommit, BallotReveal};
use crate::round::Seat;

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
