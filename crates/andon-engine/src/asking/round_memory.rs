//! The list of rounds that wait, remembered (`<common dir>/andon/cache/rounds`) until a ref of a ledger moves or time
//! alone changes it. It is there to be looked at: nothing is decided by it, and each answer is judged by the whole ledger.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::SignedLedger;
use crate::halts;
use crate::workspace::Workspace;
use andon_core::domain::time::CLOCK_SKEW;
use andon_review::code::Code;
use andon_review::lookback::LOOKBACK;
use andon_store::ledger::Ledger;
use andon_store::memory::{Kind, Memory};

/// The list, and for which clocks it holds.
#[derive(Serialize, Deserialize)]
struct RoundMemory<T> {
    made: i64,
    until: i64,
    list: T,
}

/// Where a list is remembered, and what it depends on apart from the clock.
pub(super) struct List {
    memory: Memory,
    inputs: (String, Option<String>, Option<String>),
}

impl List {
    /// None where a ledger is cut: then nothing is known of its state. None either while a halt waits here for a signature:
    /// an agent that is halted could write a list without it.
    pub(super) fn read(ws: &Workspace) -> Option<Self> {
        let state = Ledger::open(&ws.repo).state().ok()?;
        let halt = halts::binding(ws).ok()?;
        if halt.as_ref().is_some_and(|halt| super::asks_signature(ws, halt).is_some()) {
            return None;
        }
        let halt = halt.map(|halt| halt.id.to_string());
        let ledger = ws.config.guard.ledger.map(|id| id.to_string());
        Some(Self { memory: Memory::new(&ws.repo, Kind::Rounds), inputs: (state, ledger, halt) })
    }

    /// The list, where it is the same at `now`.
    pub(super) fn get<T: DeserializeOwned>(&self, now: i64) -> Option<T> {
        let known: RoundMemory<T> = self.memory.get(&self.inputs)?;
        (known.made..known.until).contains(&now).then_some(known.list)
    }

    /// Failing to remember costs time only.
    pub(super) fn put(&self, ledger: &SignedLedger, list: &impl Serialize) {
        let now = ledger.folded.now;
        let known = RoundMemory { made: now, until: until(ledger), list };
        self.memory.put(&self.inputs, &known);
    }
}

/// When time alone may change who may take what: a vote leaves the window, a panel's deadline passes, an entry that is
/// dated ahead begins to count.
fn until(ledger: &SignedLedger) -> i64 {
    let folded = &ledger.folded;
    let now = folded.now;
    // Weights decay from epoch to epoch.
    if folded.authority.at_end.rules.referee_gate {
        return now;
    }
    let votes = folded.state.votes.all.iter().map(|vote| vote.at.saturating_add(LOOKBACK));
    let panels = folded.state.rounds.iter().filter_map(|round| Some(round.open_panel()?.deadline));
    let ahead = folded.state.codes.iter().filter(|(_, code)| **code == Code::FromTheFuture);
    let ahead = ahead.map(|(at, _)| ledger.review[*at].at.saturating_sub(CLOCK_SKEW));
    let caps = folded.state.votes.next_free(now);
    votes.chain(panels).chain(ahead).chain(caps).filter(|time| *time > now).min().unwrap_or(i64::MAX)
}
