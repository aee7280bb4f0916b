//! The decisions of people for the work at hand: the newest answer to a halt of this loop, and the rounds that agents of this clone
//! put to people. A worker gets each decision once; until the next halt it comes first in every summary. And what people said about
//! the halts in the ledger: one reading for all code that counts them.

use std::collections::BTreeMap;

use crate::{Result, Workspace, asking};
use andon_core::domain::{
    Ack, AckHow, Diagnostic, EntryId, Halt, HaltAssessment, HumanDecision, LedgerEvent, ShortHash, Timestamp,
};
use andon_core::history::Timeline;
use andon_review::{Precedent, PrecedentQuery, PrecedentStatus, VoteChoice};
use andon_store::{EntryEvent, Ledger, ledger::REF_PREFIX};

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
    let message = halt.and_then(|entry| Some(entry.event.halt()?.message.clone()));
    let decision = match (ack.how == AckHow::Signed, &ack.words) {
        (true, Some(_)) => "amend",
        (true, None) => "resolution",
        (false, Some(_)) => "advice",
        (false, None) => "resume",
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

/// The decisions of rounds that were opened in this clone; none where the ledger cannot be read, which other
/// commands say.
pub fn rounds(ws: &Workspace) -> Vec<HumanDecision> {
    if !may_be_rounds(ws) {
        return Vec::new();
    }
    let (Ok(writer), Ok(mut ledger)) = (Ledger::open(&ws.repo).writer_id(), asking::look(ws)) else {
        return Vec::new();
    };
    let counts = |found: &Precedent| {
        let is_halt = ledger.folded.round(found.round).is_none_or(|round| round.is_halt);
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

/// False where there is no ledger at all.
pub fn may_be_rounds(ws: &Workspace) -> bool {
    ws.repo.refs_with_prefix(REF_PREFIX).is_ok_and(|refs| !refs.is_empty())
}

fn is_fresh(ws: &Workspace, at: Timestamp) -> bool {
    ws.opened.0.saturating_sub(at.0) < FRESH
}

/// The mark by which a decision is known: a worker who has it does not get it again.
pub fn mark(decided: &HumanDecision) -> ShortHash {
    let at = decided.at.to_string();
    crate::adapter::events::mark(&["decided", &decided.round, &at, decided.instruction()])
}

/// The fate of a halt. Clones that do not know of each other may answer it differently. Then the answer that comes last
/// in this list counts, in whichever order they were given: that a halt was mistaken is not taken back by a plain answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum HaltFate {
    Unanswered,
    /// It was answered, and not marked as mistaken.
    Answered,
    /// It was marked as mistaken.
    Mistaken,
}

/// A halt with what became of it.
#[derive(Debug, Clone, PartialEq)]
pub struct PastHalt {
    /// The halt as it was recorded.
    pub halt: Halt,
    pub fate: HaltFate,
}

/// All halts of the ledger, and what of it could not be read.
///
/// # Errors
/// The ledger cannot be read.
pub fn past_halts(ws: &Workspace) -> Result<(Vec<PastHalt>, Vec<Diagnostic>)> {
    let (entries, warnings) = asking::read_all(&ws.repo, ws.opened)?;
    let events = entries.into_iter().map(|entry| (entry.id, entry.event));
    let known = events.filter_map(|(id, event)| match event {
        EntryEvent::Known(event) => Some((id, event)),
        EntryEvent::Unknown { .. } => None,
    });
    Ok((told(known), warnings))
}

/// The halts among `events`, in their order.
fn told(events: impl Iterator<Item = (EntryId, LedgerEvent)>) -> Vec<PastHalt> {
    let mut halts: Vec<(EntryId, Halt)> = Vec::new();
    let mut fates: BTreeMap<EntryId, HaltFate> = BTreeMap::new();
    for (id, event) in events {
        match event {
            LedgerEvent::Halted(halt) => halts.push((id, *halt)),
            LedgerEvent::Acknowledged(ack) => {
                let Some(halt) = ack.halt else { continue };
                let fate = match ack.halt_was {
                    _ if ack.how == AckHow::Unsigned => HaltFate::Unanswered,
                    HaltAssessment::Mistaken => HaltFate::Mistaken,
                    HaltAssessment::Unsaid => HaltFate::Answered,
                };
                let known = fates.entry(halt).or_insert(fate);
                *known = fate.max(*known);
            }
            LedgerEvent::StopSwitch(_) => {}
        }
    }
    let fate = |id: &EntryId| fates.get(id).copied().unwrap_or(HaltFate::Unanswered);
    halts.into_iter().map(|(id, halt)| PastHalt { fate: fate(&id), halt }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use andon_core::domain::{Ack, Fact};
    use andon_testkit::{facts::ack, samples};

    fn answer(halt: u8, halt_was: HaltAssessment) -> (EntryId, LedgerEvent) {
        let Fact::Ack(given) = ack(1) else { unreachable!() };
        let halt = Some(EntryId([halt; 32]));
        (
            EntryId([halt_was as u8 + 100; 32]),
            LedgerEvent::Acknowledged(Box::new(Ack { halt, halt_was, ..*given })),
        )
    }

    #[test]
    fn whoever_calls_a_halt_mistaken_is_heard_whatever_the_order() {
        let halt = |id: u8| (EntryId([id; 32]), LedgerEvent::Halted(Box::new(samples::halt())));
        let fates = |events: Vec<(EntryId, LedgerEvent)>| -> Vec<HaltFate> {
            told(events.into_iter()).into_iter().map(|past| past.fate).collect()
        };
        let (plain, wrong) = (|| answer(1, HaltAssessment::Unsaid), || answer(1, HaltAssessment::Mistaken));
        assert_eq!(fates(vec![halt(1), halt(2), plain()]), [HaltFate::Answered, HaltFate::Unanswered]);
        assert_eq!(fates(vec![halt(1), plain(), wrong()]), [HaltFate::Mistaken]);
        assert_eq!(fates(vec![halt(1), wrong(), plain()]), [HaltFate::Mistaken]);
        assert_eq!(fates(vec![wrong(), halt(1), plain()]), [HaltFate::Mistaken], "in no order at all");
    }
}
