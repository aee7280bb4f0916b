//! `andon review simulate`: the folds over entries of a file, to try a policy (docs/review.md).

pub mod answers;
pub mod output;
pub mod probe;
pub mod read;
mod write;

use super::fold::{self, Folded};
use output::SimulationJson;
use read::Script;

/// What a file came to.
#[derive(Debug)]
pub struct Simulated {
    pub script: Script,
    pub folded: Folded,
    pub json: SimulationJson,
}

/// Folds the entries of a file, as at `now`. Private results are shown for `reader` alone.
pub fn simulate(script: Script, now: i64, reader: Option<&str>) -> Simulated {
    let folded = fold::fold(&script.entries, now);
    let json = write::write(&script, &folded, reader);
    Simulated { script, folded, json }
}

#[cfg(test)]
mod tests;
