//! Witnesses take rounds, and ask for panels.

use super::Fold;
use crate::code::Code;
use crate::law::Office;
use crate::round::{Acceptance, DeadEnd, PanelCause, RoundState, RoundStatus, Seat};
use crate::votes::{Tier, Vantage};

impl Fold<'_> {
    /// The round of an accept, a panel, a ballot or a resolution that still waits for people.
    pub(super) fn waiting(&self, round: usize) -> Result<(), Code> {
        let state = &self.state.rounds[round];
        if state.end == Some(DeadEnd::Voided) {
            return Err(Code::Withdrawn);
        }
        match state.status() {
            RoundStatus::Closed | RoundStatus::Resolved | RoundStatus::Unresolvable => {
                Err(Code::AlreadyResolved)
            }
            RoundStatus::Open | RoundStatus::Accepted | RoundStatus::Panel3 | RoundStatus::Panel5 => Ok(()),
            RoundStatus::Voided => Err(Code::Withdrawn),
        }
    }

    /// What `witness` may do, at the time and place of `entry`; under a solo policy everything.
    pub(super) fn tier(&self, entry: usize, witness: &str) -> Tier {
        let policy = self.authority.for_entry(entry);
        if policy.is_solo() {
            return Tier::Full;
        }
        let since = policy.reinstated.get(witness).map(|policy| self.place(*policy));
        let from = Vantage { place: self.place(entry), at: self.at(entry), since };
        self.state.votes.standing(&self.state.rounds, witness, from).tier()
    }

    pub(super) fn not_suspended(&self, entry: usize, witness: &str) -> Result<(), Code> {
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
        let seat = self.may_take(entry, round, (&witness, tier))?;
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
    fn may_take(
        &self,
        entry: usize,
        round: usize,
        (witness, tier): (&str, Tier),
    ) -> Result<Option<usize>, Code> {
        let policy = self.authority.for_entry(entry);
        let state = &self.state.rounds[round];
        if self.has_conflict(entry, round, witness) && !policy.is_solo() {
            return Err(Code::Conflict);
        }
        let Some(panel) = state.open_panel() else {
            return self.may_take_alone(entry, state, (witness, tier)).map(|()| None);
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
        (witness, tier): (&str, Tier),
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

/// Witnesses from whom on they take turns.
const ROTATING: usize = 3;
