//! What people said about the halts in the ledger: one reading for all code that counts them.

use std::collections::BTreeMap;

use crate::error::OpsError;
use crate::workspace::Workspace;
use andon_core::domain::decision::{Halt, LedgerEvent};
use andon_core::domain::diagnostic::Diagnostic;
use andon_core::domain::facts::HaltAssessment;
use andon_core::domain::ids::EntryId;
use andon_store::ledger::{EntryEvent, Ledger};

/// What became of a halt. Clones that do not know of each other may answer it differently. Then the answer that comes last
/// in this list counts, in whichever order they were given: that a halt was mistaken is not taken back by a plain answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum HaltFate {
    /// It is unanswered.
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
    /// What became of it.
    pub fate: HaltFate,
}

/// All halts of the ledger, and what of it could not be read.
///
/// # Errors
/// The ledger cannot be read.
pub fn past_halts(ws: &Workspace) -> Result<(Vec<PastHalt>, Vec<Diagnostic>), OpsError> {
    let (entries, warnings) = Ledger::open(&ws.repo).read_all()?;
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
    use andon_core::domain::facts::{Ack, Fact};
    use andon_testkit::facts::ack;
    use andon_testkit::samples;

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
