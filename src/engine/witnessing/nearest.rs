//! Which decisions are nearest to the work at hand: by the words they share, for agents that begin anew.

use super::{SignedLedger, short};
use crate::domain::briefing::DecidedBefore;
use crate::domain::time::Timestamp;
use crate::engine::workspace::Workspace;
use crate::ledger::REF_PREFIX;
use crate::review::precedents::{Precedent, PrecedentQuery, PrecedentStanding};
use crate::review::similarity::Words;

/// How many are named.
const NEAREST: usize = 2;

/// The nearest decisions that stand; none where the ledger cannot be read, for nothing depends on them.
pub fn nearest(ws: &Workspace, about: &str) -> Vec<DecidedBefore> {
    let is_empty = ws.repo.refs_with_prefix(REF_PREFIX).map_or(true, |refs| refs.is_empty());
    if is_empty || about.trim().is_empty() {
        return Vec::new();
    }
    let Ok(ledger) = super::load(ws) else { return Vec::new() };
    let about = Words::of(about);
    let all = ledger.folded.precedents(&PrecedentQuery::default()).into_iter();
    let mut near: Vec<(f64, DecidedBefore)> = all
        .filter(|found| found.standing == PrecedentStanding::Current)
        .map(|found| decided(&ledger, found))
        .map(|found| (likeness(&about, &found), found))
        .filter(|(likeness, _)| *likeness > 0.0)
        .collect();
    // The sort is stable: of two that are as near the newer one goes first.
    near.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    near.into_iter().take(NEAREST).map(|(_, found)| found).collect()
}

fn likeness(about: &Words, found: &DecidedBefore) -> f64 {
    about.compare(&Words::of(&format!("{}\n{}", found.question, found.rationale))).cosine
}

fn decided(ledger: &SignedLedger, found: Precedent) -> DecidedBefore {
    let vote = found.votes.first().copied().unwrap_or(found.round);
    DecidedBefore {
        round: short(ledger.entries[found.round].id),
        question: ledger.question(found.round),
        decision: found.key,
        rationale: ledger.rationale(vote),
        by: found.by.into_iter().collect(),
        at: Timestamp(ledger.folded.graph.eff[vote]),
    }
}
