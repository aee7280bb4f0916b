//! `andon review`: rounds put to people.

mod act;
mod ballot;
mod evidence;
mod follow;
mod halted_work;
mod panel;
mod precedents;
mod rounds;
mod show;
mod standing;
mod summary;
mod template;
mod views;
mod votes;

use std::io::Read as _;
use std::path::Path;

use serde_json::Value;

use crate::report::json;
use andon_core::domain::time::Timestamp;
use andon_engine::context::Context;
use andon_engine::error::OpsError;
use andon_review::simulation::output::SimulationJson;
use andon_review::simulation::{self, Simulation, read};

pub use act::{Act, ActReport, AnswerSource, act, resolve, wrong_flag};
pub use ballot::{ballot, reveal};
pub use follow::text as follow_text;
pub use precedents::{concerns, concerns_text, precedents, precedents_text};
pub use show::{ShownRound, show, show_text};
pub use standing::{Standings, standing, standing_text};
pub use summary::summary;
pub use views::{acted_json, shown_json, waiting_text};

/// The largest file of entries that is read: some 100,000 rounds.
const MAX_BYTES: u64 = 256 << 20;

/// Folds the entries of `file`, as a reader does whose clock says `now`. Reads no repository.
///
/// # Errors
/// The file cannot be read, or a line of it is no entry.
pub fn simulate(
    ctx: &Context,
    file: &Path,
    now: Timestamp,
    reader: Option<&str>,
) -> Result<Simulation, OpsError> {
    let name = file.to_string_lossy();
    let bytes = bytes(ctx, file).map_err(|err| OpsError::Usage {
        what: format!("{name} cannot be read: {err}"),
        help: "give a file of entries, one JSON object a line, or `-` for standard input".to_owned(),
    })?;
    let script = read::read(&bytes).map_err(|bad| OpsError::Usage {
        what: format!("{name}, {bad}"),
        help: "docs/review.md has the form of an entry".to_owned(),
    })?;
    Ok(simulation::simulate(script, now.0, reader))
}

fn bytes(ctx: &Context, file: &Path) -> std::io::Result<Vec<u8>> {
    let mut found = Vec::new();
    if file == Path::new("-") {
        std::io::stdin().lock().take(MAX_BYTES + 1).read_to_end(&mut found)?;
    } else {
        std::fs::File::open(ctx.cwd.join(file))?.take(MAX_BYTES + 1).read_to_end(&mut found)?;
    }
    if found.len() as u64 > MAX_BYTES {
        return Err(std::io::Error::other("it has more than 256 MiB"));
    }
    Ok(found)
}

/// What a simulation found, for programs: one object.
///
/// # Errors
/// Never in practice: it is written to memory.
pub fn json(found: &SimulationJson) -> Result<String, OpsError> {
    let value: Value = serde_json::to_value(found).map_err(|err| OpsError::Input(err.into()))?;
    Ok(json::line(&value))
}
