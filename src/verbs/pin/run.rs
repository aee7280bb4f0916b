//! `andon pin`: the checksum of the agent's own configuration goes into `andon.toml`
//! (docs/spec-map.md, loop rules: agentic identity).

use std::path::PathBuf;

use crate::verbs::pin::view::{PinState, PinView};
use andon_config::{self as config, MAX_BYTES};
use andon_core::domain::paths::CONFIG_FILE;
use andon_core::domain::{identity as domain, identity::Mismatch};
use andon_engine::context::Context;
use andon_engine::effect;
use andon_engine::error::OpsError;
use andon_engine::gate::identity;
use andon_engine::workspace::Workspace;

/// The request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PinRequest {
    /// Pin what is there.
    Pin,
    /// Compare, and write nothing.
    Check,
}

/// Pins the configuration as the working tree has it, or compares it with what is pinned.
pub fn run(ctx: &Context, ws: &Workspace, mode: PinRequest) -> Result<PinView, OpsError> {
    let top = ws.top()?;
    let overlay = ws.repo.worktree_overlay()?;
    let rules = &ws.config.identity;
    let files = identity::files(&ws.config, |declared| Ok(declared.of_overlay(&ws.repo, &overlay)?))?;
    let checksum = domain::checksum(&files);
    let view = |state| PinView { state, checksum, files: files.clone(), globs: rules.files.clone() };
    if mode == PinRequest::Check {
        return Ok(view(match (rules.checksum, domain::drift(rules, &files)) {
            (None, _) => PinState::NotPinned,
            (Some(_), drift) if drift.is_empty() => PinState::AsPinned,
            (Some(_), drift) => PinState::Drifted(drift),
        }));
    }
    if let Some(marker) = ctx.agent_mark() {
        return Err(OpsError::AgentPin(marker));
    }
    if files.is_empty() {
        return Err(OpsError::Usage {
            what: format!("no file matches identity.files: {}", rules.files.join(", ")),
            help: "name the files of the agent's configuration in andon.toml:  [identity]  files = [\"AGENTS.md\"]"
                .to_owned(),
        });
    }
    let was: Vec<Mismatch> = domain::drift(rules, &files);
    let listed = files.iter().map(|(path, state)| (String::from_utf8_lossy(path).into_owned(), *state));
    if rules.checksum == Some(checksum) && rules.pinned == listed.collect() {
        return Ok(view(PinState::AsPinned));
    }
    let path = top.join(CONFIG_FILE);
    let text = read(&path)?;
    let edited = config::with_pin(&text, &files).map_err(|by_hand| OpsError::Usage {
        what: format!("{CONFIG_FILE} has a shape that cannot be edited without changing more than the pin"),
        help: format!("write this into it by hand:\n{by_hand}"),
    })?;
    effect::replace_text(&path, &edited)?;
    Ok(view(PinState::Pinned(was)))
}

/// The configuration as it is; none is an empty one.
fn read(path: &PathBuf) -> Result<String, OpsError> {
    use std::io::Read as _;
    let mut text = String::new();
    match std::fs::File::open(path) {
        Ok(file) => {
            file.take(MAX_BYTES as u64).read_to_string(&mut text).map_err(OpsError::Input)?;
            Ok(text)
        }
        Err(err) if err.kind() == std::io::ErrorKind::NotFound => Ok(text),
        Err(err) => Err(OpsError::Input(err)),
    }
}
