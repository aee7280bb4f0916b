//! Which decisions are nearest to the work at hand: by the words they share, for agents that start a session.

use std::collections::HashMap;

use super::SignedLedger;
use crate::workspace::Workspace;
use andon_core::domain::briefing::HumanDecision;
use andon_review::precedents::{Precedent, PrecedentQuery, PrecedentStatus};
use andon_review::similarity::Words;
use andon_store::ledger::REF_PREFIX;

/// How many are named.
const NEAREST: usize = 2;

/// The nearest valid decisions; none where the ledger cannot be read, because nothing depends on them.
pub fn nearest(ws: &Workspace, about: &str) -> Vec<HumanDecision> {
    let is_empty = ws.repo.refs_with_prefix(REF_PREFIX).map_or(true, |refs| refs.is_empty());
    if is_empty || about.trim().is_empty() {
        return Vec::new();
    }
    let Ok(mut ledger) = super::look(ws) else { return Vec::new() };
    let about = Words::new(about);
    let all = ledger.folded.precedents(&PrecedentQuery::default()).into_iter();
    let all: Vec<Precedent> = all.filter(|found| found.standing == PrecedentStatus::Current).collect();
    let state = &ledger.folded.state;
    let halts: Vec<usize> =
        state.rounds.iter().filter(|round| round.is_halt).map(|round| round.entry).collect();
    ledger.fetch(&ws.repo, halts);
    let votes = ledger.folded.state.votes.all.iter();
    let reasons: HashMap<usize, &Words> = votes.map(|vote| (vote.entry, &vote.rationale)).collect();
    let near = all.into_iter().map(|found| {
        let asked = question_words(&ledger, &found);
        let all = reasons.get(&vote_of(&found)).map_or_else(|| asked.clone(), |reason| asked.and(reason));
        (about.compare(&all).cosine, found)
    });
    let mut near: Vec<(f64, Precedent)> = near.filter(|(likeness, _)| *likeness > 0.0).collect();
    // The sort is stable: of two that are as near the newer one goes first.
    near.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    near.truncate(NEAREST);
    let near: Vec<Precedent> = near.into_iter().map(|(_, found)| found).collect();
    ledger.fetch_decided(&ws.repo, &near);
    near.into_iter().map(|found| ledger.decided(found)).collect()
}

/// The words of what was asked; a halt asks by its message.
fn question_words(ledger: &SignedLedger, found: &Precedent) -> Words {
    let state = &ledger.folded.state;
    match state.round_at.get(&found.round).map(|round| &state.rounds[*round]) {
        Some(round) if !round.is_halt => round.question.clone(),
        Some(_) | None => Words::new(&ledger.question(found.round)),
    }
}

fn vote_of(found: &Precedent) -> usize {
    found.votes.first().copied().unwrap_or(found.round)
}
