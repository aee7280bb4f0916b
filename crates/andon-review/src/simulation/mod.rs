//! `andon review simulate`: the folds over entries of a file, to try a policy (docs/review.md).

pub mod answers;
pub mod output;
pub mod probe;
pub mod read;
mod write;

use super::fold::{self, LedgerState};
use output::SimulationJson;
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

#[cfg(test)]
mod tests;
