//! `andon review simulate`: the folds over entries of a file, to try a policy (docs/review.md).

pub mod answers;
pub mod output;
pub mod probe;
pub mod read;
mod write;

use std::collections::BTreeMap;

use super::fold::{self, LedgerState};
use crate::entry::ReviewEntry;
use output::{LEDGER_SCHEMA, SimulationJson};
use read::Script;

/// What a file came to.
#[derive(Debug)]
pub struct Simulation {
    pub script: Script,
    pub folded: LedgerState,
    pub json: SimulationJson,
}

/// Folds the entries of a file, as at `now`. Private results are shown for `reader` alone.
pub fn simulate(script: Script, now: i64, reader: Option<&str>) -> Simulation {
    let folded = fold::fold(&script.entries, now);
    let json = write::write(&script, &folded, reader);
    Simulation { script, folded, json }
}

/// The same for a ledger that was read and folded: its result, without the list of its entries.
pub fn of_ledger(entries: &[ReviewEntry], folded: &LedgerState, reader: Option<&str>) -> SimulationJson {
    let script = Script { entries: entries.to_vec(), probes: Vec::new() };
    let json = write::write(&script, folded, reader);
    // `now` is the time of the newest entry that counts: clones that know the same say the same, whatever a stranger added. `andon ledger verify`
    // reports what does not count.
    let counts = |at: &usize| !folded.state.codes.contains_key(at);
    let now = (0..entries.len()).filter(counts).map(|at| folded.graph.eff[at]).max().unwrap_or(0);
    SimulationJson {
        schema: LEDGER_SCHEMA,
        now,
        order: Vec::new(),
        entries: BTreeMap::new(),
        invalid: Vec::new(),
        ..json
    }
}

#[cfg(test)]
mod tests;
