//! Rounds are opened, withdrawn, and flagged.

use std::collections::BTreeSet;

use super::{FLAG, Fold};
use crate::{
    Actors, Cause, Code, FlagRoute, Panel, PanelCause, Parties, ReceivedStatements, RoundRequest, RoundState,
    RoundStatus, Seat, Trigger, accounts::ESCROW, window::DAY,
};

/// Seconds in which a decision may be flagged.
const FLAG_TIME: i64 = 7 * DAY;

impl Fold<'_> {
    pub(super) fn cause(&self, entry: usize) -> Cause {
        Cause { entry, place: self.place(entry), at: self.at(entry) }
    }

    pub(super) fn open_round(&mut self, entry: usize, asked: &RoundRequest) -> Result<(), Code> {
        let revised = asked.revises.as_ref().map(|id| self.round_of(entry, id)).transpose()?;
        let at = self.at(entry);
        if let Some(issuer) = &asked.issuer {
            if self.state.agents.is_limited(issuer, at) {
                return Err(Code::RateLimited);
            }
            self.state.agents.issue(issuer, at);
        }
        let policy = self.authority.for_entry(entry);
        let triggers = asked.triggers(at, policy.rules.round_timeout);
        self.state.agents.add(at, &asked.cast.names(), &triggers);
        let captured = !policy.is_solo() && self.state.topics.is_held(&asked.tags);
        let panel = match asked.panel {
            Some(size) => Some((size, PanelCause::MinWitnesses)),
            None => captured.then_some((3, PanelCause::Capture)),
        };
        let mut round = asked_round(entry, asked);
        round.triggers = triggers;
        round.similarity = asked.statements.alike;
        self.add(round);
        if let Some((size, cause)) = panel {
            self.open_panel(self.state.rounds.len() - 1, entry, size, cause);
        }
        self.pay_opening(entry, asked);
        if let Some(revised) = revised {
            self.withdraw(entry, revised, asked.issuer.as_deref());
        }
        Ok(())
    }

    pub(super) fn open_halt(&mut self, entry: usize) {
        let writer = format!("writer:{}", self.material.entries[entry].writer);
        let cast = Actors { proposer: Some(writer), ..Actors::default() };
        let triggers = BTreeSet::from([Trigger::Halt]);
        self.add(RoundState { is_halt: true, cast, triggers, ..RoundState::new(entry) });
    }

    fn add(&mut self, round: RoundState) {
        self.state.round_at.insert(round.entry, self.state.rounds.len());
        self.state.rounds.push(round);
    }

    fn pay_opening(&mut self, entry: usize, asked: &RoundRequest) {
        let Some(issuer) = &asked.issuer else { return };
        let cause = self.cause(entry);
        self.state.accounts.transfer(cause, Parties { from: issuer, to: ESCROW }, asked.bounty, "bounty");
        if let Some(paid_to) = &asked.paid_to {
            let parties = Parties { from: ESCROW, to: paid_to };
            self.state.accounts.transfer(cause, parties, asked.bounty, "payout");
        }
    }

    /// A new round of the same issuer replaces an undecided one.
    fn withdraw(&mut self, entry: usize, revised: usize, issuer: Option<&str>) {
        let round = &self.state.rounds[revised];
        let is_decided = !round.decisions.is_empty() || round.end.is_some();
        let is_theirs = issuer.is_some() && round.issuer.as_deref() == issuer;
        if is_decided || !is_theirs || round.status() == RoundStatus::Closed {
            return;
        }
        self.pay(revised, self.cause(entry), None);
        self.end(revised, RoundStatus::Voided);
    }

    /// Ends a round without a decision.
    pub(super) fn end(&mut self, round: usize, end: RoundStatus) {
        let round = &mut self.state.rounds[round];
        round.end = Some(end);
        if let Some(panel) = &mut round.panel {
            panel.is_open = false;
        }
    }

    /// Opens a panel of a round; those who accepted the round before sit on it as far as they may.
    pub(super) fn open_panel(&mut self, round: usize, opening: usize, size: usize, cause: PanelCause) {
        let rules = &self.authority.for_entry(opening).rules;
        let deadline = self.at(opening).saturating_add(rules.panel_deadline);
        let state = &mut self.state.rounds[round];
        let is_fresh = matches!(cause, PanelCause::Flag | PanelCause::Collusion);
        if is_fresh {
            state.barred.extend(state.voters.iter().cloned());
        }
        let mut panel = Panel { size, cause, opening, deadline, seats: Vec::new(), is_open: true };
        match (cause, state.panel.take()) {
            (PanelCause::Tie, Some(before)) => panel.seats = before.seats,
            (PanelCause::Request, _) => {
                let first = state.accepts.iter().take(size);
                panel.seats = first.map(|accept| Seat::new(&accept.witness, accept.at)).collect();
            }
            (_, _) => {}
        }
        state.panel = Some(panel);
    }

    pub(super) fn flag(&mut self, entry: usize, id: &str) -> Result<(), Code> {
        let round = self.round_of(entry, id)?;
        self.authority.actor(self.material, entry, FLAG)?;
        if self.state.rounds[round].end == Some(RoundStatus::Voided) {
            return Err(Code::Withdrawn);
        }
        let route = self.route(entry, round);
        self.state.rounds[round].flags.push((entry, route));
        if route.has_effect() {
            self.state.rounds[round].triggers.insert(Trigger::Flag);
        }
        match route {
            FlagRoute::Panel3 => self.open_panel(round, entry, 3, PanelCause::Flag),
            FlagRoute::Panel5 => self.open_panel(round, entry, 5, PanelCause::Flag),
            FlagRoute::Open => self.begin_panel(round, entry),
            FlagRoute::ConstitutionalOnly | FlagRoute::Late | FlagRoute::Pending => {}
        }
        Ok(())
    }

    /// A panel that was asked for at opening begins with the flag that opens its round.
    fn begin_panel(&mut self, round: usize, entry: usize) {
        let waiting = self.state.rounds[round].open_panel().map(|panel| (panel.size, panel.cause));
        if let Some((size, cause)) = waiting {
            self.open_panel(round, entry, size, cause);
        }
    }

    fn route(&self, entry: usize, round: usize) -> FlagRoute {
        let state = &self.state.rounds[round];
        if state.status() == RoundStatus::Closed {
            return FlagRoute::Open;
        }
        if state.end.is_some() || state.open_panel().is_some() {
            return FlagRoute::Pending;
        }
        let at = self.at(entry);
        let is_seen = |made: usize| self.material.graph.is_before(made, entry);
        let seen = state.decisions.iter().rev().find(|decided| is_seen(decided.entry) && decided.at <= at);
        match seen.map(|decided| (decided.depth, at.saturating_sub(decided.at) <= FLAG_TIME)) {
            None => FlagRoute::Pending,
            Some((2.., _)) => FlagRoute::ConstitutionalOnly,
            Some((_, false)) => FlagRoute::Late,
            Some((0, true)) => FlagRoute::Panel3,
            Some((1, true)) => FlagRoute::Panel5,
        }
    }
}

fn asked_round(entry: usize, asked: &RoundRequest) -> RoundState {
    let mut stakes = asked.authors.clone();
    // The writer of the verdict is an author of the lineage; a person who only operates the judge is not.
    let people = [&asked.issuer, &asked.cast.proposer, &asked.cast.opposer, &asked.cast.synthesizer];
    stakes.extend(people.into_iter().flatten().cloned());
    let operators = ["proposer", "opposer"].into_iter().filter_map(|role| asked.operators.get(role));
    stakes.extend(operators.flatten().cloned());
    let recommendation = asked.verdict.as_ref().and_then(|said| said.recommendation.as_ref());
    RoundState {
        issuer: asked.issuer.clone(),
        cast: asked.cast.clone(),
        stakes,
        came: ReceivedStatements {
            claim: asked.statements.claim,
            critique: asked.statements.critique,
            verdict: asked.verdict.is_some(),
            recommended: recommendation.is_some_and(|text| !text.trim().is_empty()),
        },
        tags: asked.tags.clone(),
        bounty: asked.bounty,
        question: asked.question.clone(),
        paid: asked.paid_to.clone().filter(|_| asked.issuer.is_some()),
        ..RoundState::new(entry)
    }
}
