//! Which rounds wait, and what a round is about.

use serde::{Deserialize, Serialize};

use super::remembered::List;
use crate::view::history::OpenRound;
use andon_core::domain::counted::count;
use andon_core::domain::diagnostic::Diagnostic;
use andon_core::domain::ids::EntryId;
use andon_core::domain::time::Timestamp;
use andon_engine::error::OpsError;
use andon_engine::standing;
use andon_engine::witnessing::{self, SignedLedger};
use andon_engine::workspace::Workspace;
use andon_review::round::{RoundState, RoundStatus};
use andon_signing::PublicKey;

/// A round that waits for people.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct WaitingRound {
    /// The id of the round.
    pub id: String,
    /// Its status.
    pub status: String,
    /// Why a person is needed.
    pub triggers: Vec<String>,
    /// What it asks.
    pub question: String,
    /// Since when.
    pub since: Timestamp,
    /// Who may take it now.
    pub may_answer: Vec<String>,
    /// Witnesses that a panel still needs.
    pub missing: usize,
}

impl From<WaitingRound> for OpenRound {
    fn from(round: WaitingRound) -> Self {
        Self {
            id: round.id,
            status: round.status,
            question: round.question,
            since: round.since,
            may_answer: round.may_answer,
        }
    }
}

/// What waits, and how much of the ledger could not be read for it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct WaitingList {
    /// The rounds, oldest first.
    pub rounds: Vec<WaitingRound>,
    /// Entries that are missing or cannot be read.
    pub unread: usize,
}

impl WaitingList {
    /// That rounds and answers may be missing.
    pub fn warning(&self) -> Option<Diagnostic> {
        let what = match self.unread {
            0 => return None,
            unread => format!("{} cannot be read", count(unread, "ledger entry")),
        };
        Some(Diagnostic::warning(what + ": rounds and answers may be missing").help("andon ledger verify"))
    }
}

/// The rounds that wait.
///
/// # Errors
/// The ledger cannot be read.
pub fn waiting(ws: &Workspace) -> Result<WaitingList, OpsError> {
    witnessing::only_look(&ws.repo);
    let memory = List::read(ws);
    if let Some(known) = memory.as_ref().and_then(|memory| memory.get(ws.opened.0)) {
        return Ok(known);
    }
    // Nothing about a halt that waits for a signature is taken from a memory.
    let mut ledger = if memory.is_some() { witnessing::look(ws)? } else { witnessing::load(ws)? };
    let found = list(ws, &mut ledger);
    if let Some(memory) = memory {
        memory.put(&ledger, &found);
    }
    Ok(found)
}

fn list(ws: &Workspace, ledger: &mut SignedLedger) -> WaitingList {
    let halt = standing::recorded(ws).ok().flatten();
    let halt = halt.filter(|halt| witnessing::asks_signature(ws, halt).is_some()).map(|halt| halt.id);
    let rounds = ledger.folded.state.rounds.iter().filter(|round| waits(ledger, round, halt));
    let shown: Vec<usize> = rounds.map(|round| round.entry).collect();
    ledger.fetch(&ws.repo, shown.iter().copied());
    let may = ledger.may_accept(ws.opened, &shown);
    let rounds: Vec<&RoundState> = shown.iter().filter_map(|entry| state(ledger, *entry)).collect();
    let found = rounds.iter().zip(may).map(|(round, may_answer)| {
        let missing = round.open_panel().map_or(0, |panel| panel.size.saturating_sub(panel.seats.len()));
        WaitingRound {
            id: ledger.entries[round.entry].id.to_string(),
            status: round.status().name().to_owned(),
            triggers: round.triggers.iter().map(|trigger| trigger.name().to_owned()).collect(),
            question: ledger.question(round.entry),
            since: Timestamp(ledger.folded.graph.eff[round.entry]),
            may_answer,
            missing: missing.saturating_sub(usize::from(round.panel.is_none())),
        }
    });
    let mut found: Vec<WaitingRound> = found.collect();
    found.sort_by_key(|round| round.since);
    WaitingList { rounds: found, unread: ledger.faulty.len() }
}

/// A halt waits for a signature only where one is needed, and not after another answer: `halt` is the waiting one.
fn waits(ledger: &SignedLedger, round: &RoundState, halt: Option<EntryId>) -> bool {
    let is_open = matches!(
        round.status(),
        RoundStatus::Open | RoundStatus::Accepted | RoundStatus::Panel3 | RoundStatus::Panel5
    );
    is_open && (!round.is_halt || halt == Some(ledger.entries[round.entry].id))
}

/// The round that a person names: an id, its first digits, or `halt` for the unanswered one here.
///
/// # Errors
/// There is none, or several.
pub fn find(ws: &Workspace, ledger: &SignedLedger, named: &str) -> Result<usize, OpsError> {
    let entry = if named == "halt" {
        let halt = standing::recorded(ws)?.ok_or_else(|| OpsError::Usage {
            what: "no halt waits for an answer here".to_owned(),
            help: "see which rounds wait: andon review".to_owned(),
        })?;
        ledger.find(&halt.id.to_string())?
    } else {
        ledger.find(named)?
    };
    if ledger.folded.state.round_at.contains_key(&entry) {
        return Ok(entry);
    }
    if let Some((what, help)) = witnessing::why_not(ledger, entry) {
        return Err(OpsError::Refused { what, help });
    }
    Err(OpsError::Usage {
        what: format!("{} is no round: it is of type {}", ledger.short(entry), ledger.entries[entry].kind),
        help: "andon review".to_owned(),
    })
}

/// What the folds know of the round of `entry`.
pub fn state(ledger: &SignedLedger, entry: usize) -> Option<&RoundState> {
    let state = &ledger.folded.state;
    state.round_at.get(&entry).map(|at| &state.rounds[*at])
}

/// Whose key signs here, as the policy calls them.
pub fn own_name(ledger: &SignedLedger, key: &PublicKey) -> Option<String> {
    ledger.who(&key.to_string()).map(str::to_owned)
}
