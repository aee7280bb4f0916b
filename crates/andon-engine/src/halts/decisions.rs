//! What people decided for the work at hand: the newest answer to a halt of this loop, and the rounds that agents of this clone
//! put to people. A worker gets each decision once; until the next halt it comes first in every summary.

use crate::asking;
use crate::workspace::Workspace;
use andon_core::domain::briefing::HumanDecision;
use andon_core::domain::decision::LedgerEvent;
use andon_core::domain::facts::{Ack, AckHow};
use andon_core::domain::ids::ShortHash;
use andon_core::domain::time::Timestamp;
use andon_core::history::Timeline;
use andon_review::payload::vote::VoteChoice;
use andon_review::precedents::{Precedent, PrecedentQuery, PrecedentStatus};
use andon_store::ledger::{Ledger, REF_PREFIX};

/// For how many seconds a decision is passed on: after a week it is history.
const FRESH: i64 = 7 * 86_400;
/// Most rounds that are passed on at once.
const ROUNDS: usize = 3;

/// Everything that counts now, the newest first.
pub fn all(ws: &Workspace, timeline: &Timeline) -> Vec<HumanDecision> {
    let mut found: Vec<HumanDecision> = answer(ws, timeline).into_iter().chain(rounds(ws)).collect();
    found.sort_by_key(|decided| std::cmp::Reverse(decided.at));
    found
}

/// The newest answer to a halt of this loop, with what was said. One that was given by deleting a file says nothing.
pub fn answer(ws: &Workspace, timeline: &Timeline) -> Option<HumanDecision> {
    let ack = timeline.last_ack.as_ref().filter(|ack| is_fresh(ws, ack.at) && ack.provider.is_none())?;
    let said = ack.words.as_ref().unwrap_or(&ack.reason);
    (!said.trim().is_empty()).then(|| of_answer(ws, ack))
}

fn of_answer(ws: &Workspace, ack: &Ack) -> HumanDecision {
    let newest = Ledger::open(&ws.repo).newest_halt(&ack.worktree).ok().and_then(|(newest, _)| newest);
    let halt = newest.map(|found| found.halt).filter(|entry| Some(entry.id) == ack.halt);
    let message = halt.and_then(|entry| match entry.event.known() {
        Some(LedgerEvent::Halted(halt)) => Some(halt.message.clone()),
        Some(LedgerEvent::Acknowledged(_) | LedgerEvent::StopSwitch(_)) | None => None,
    });
    let decision = match (ack.how, &ack.words) {
        (AckHow::Signed, Some(_)) => "amend",
        (AckHow::Signed, None) => "resolution",
        (AckHow::Resume | AckHow::Unattended | AckHow::FileDeleted, Some(_)) => "advice",
        (AckHow::Resume | AckHow::Unattended | AckHow::FileDeleted, None) => "resume",
    };
    HumanDecision {
        round: ack.halt.map(asking::short).unwrap_or_default(),
        question: message.unwrap_or_else(|| "the halt of this loop".to_owned()),
        decision: decision.to_owned(),
        words: ack.words.clone(),
        rationale: ack.reason.clone(),
        by: vec![ack.by.clone()],
        at: ack.at,
    }
}

/// What people decided of the rounds that were opened in this clone; none where the ledger cannot be read, which other
/// commands say.
pub fn rounds(ws: &Workspace) -> Vec<HumanDecision> {
    if !may_be_rounds(ws) {
        return Vec::new();
    }
    let (Ok(writer), Ok(mut ledger)) = (Ledger::open(&ws.repo).writer_id(), asking::look(ws)) else {
        return Vec::new();
    };
    let state = &ledger.folded.state;
    let counts = |found: &Precedent| {
        let is_halt = state.round_at.get(&found.round).is_none_or(|at| state.rounds[*at].is_halt);
        let decided = found.votes.first().map(|vote| Timestamp(ledger.folded.graph.eff[*vote]));
        found.standing == PrecedentStatus::Current
            && !is_halt
            && ledger.entries[found.round].writer == writer
            && decided.is_some_and(|at| is_fresh(ws, at))
    };
    let all = ledger.folded.precedents(&PrecedentQuery::default()).into_iter();
    let own: Vec<Precedent> = all.filter(counts).take(ROUNDS).collect();
    ledger.fetch_decided(&ws.repo, &own);
    let told = own.into_iter().map(|found| {
        let id = ledger.entries[found.round].id;
        let mut decided = ledger.decided(found);
        if decided.decision == VoteChoice::RejectRound.to_string() {
            decided.words = Some(format!(
                "revise the question, and open a new round that names this one: \"revises\": \"{id}\""
            ));
        }
        decided
    });
    told.collect()
}

/// Whether there is a ledger at all.
pub fn may_be_rounds(ws: &Workspace) -> bool {
    ws.repo.refs_with_prefix(REF_PREFIX).is_ok_and(|refs| !refs.is_empty())
}

fn is_fresh(ws: &Workspace, at: Timestamp) -> bool {
    ws.opened.0.saturating_sub(at.0) < FRESH
}

/// What distinguishes a decision from others: a worker who has it does not get it again.
pub fn mark(decided: &HumanDecision) -> ShortHash {
    let at = decided.at.to_string();
    crate::adapter::events::mark(&["decided", &decided.round, &at, decided.instruction()])
}
