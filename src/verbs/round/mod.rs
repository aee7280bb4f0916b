//! `andon round`, and `andon observe round`.

pub mod args;
pub mod run;

use std::io::{BufRead as _, Read as _};

use serde_json::{Map, Value};

use self::args::{RoundCommand, RoundCommandArgs};
use crate::cli::Shell;
use crate::cli::error::Exit;
use crate::report::json;
use crate::verbs::round::{run as round, run::RoundAction};
use andon_engine::error::OpsError;
use andon_engine::workspace::Workspace;

/// Largest object that is read, in bytes: a statement of 1 MiB, escaped.
const MAX_INPUT: u64 = 8 << 20;

/// Takes one object.
pub fn run(shell: &Shell, args: &RoundCommandArgs) -> Result<Exit, OpsError> {
    let action = match args.command {
        RoundCommand::Open(_) => RoundAction::Open,
        RoundCommand::Say(_) => RoundAction::Say,
        RoundCommand::Verdict(_) => RoundAction::Verdict,
        RoundCommand::Close(_) => RoundAction::Close,
    };
    let ws = Workspace::open_lenient(&shell.ctx)?;
    let mut bytes = Vec::new();
    std::io::stdin().lock().take(MAX_INPUT).read_to_end(&mut bytes).map_err(OpsError::Input)?;
    take(shell, &ws, Some(action), &bytes)
}

/// Takes an object a line, each with its `action`; the last that is not 0 is the exit code.
pub fn observe(shell: &Shell) -> Result<Exit, OpsError> {
    let ws = Workspace::open_lenient(&shell.ctx)?;
    let mut exit = Exit::Allowed;
    for line in std::io::stdin().lock().lines() {
        let line = line.map_err(OpsError::Input)?;
        if line.trim().is_empty() {
            continue;
        }
        let one = take(shell, &ws, None, line.as_bytes())?;
        exit = if one == Exit::Allowed { exit } else { one };
    }
    Ok(exit)
}

fn take(shell: &Shell, ws: &Workspace, action: Option<RoundAction>, bytes: &[u8]) -> Result<Exit, OpsError> {
    let said: Map<String, Value> = serde_json::from_slice(bytes).map_err(|err| OpsError::Usage {
        what: format!("standard input holds no JSON object: {err}"),
        help: "see what is asked for: andon round --help".to_owned(),
    })?;
    let action = action.map_or_else(|| round::action_of(&said), Ok)?;
    let answer = round::run(&shell.ctx, ws, action, &said)?;
    shell.out.result(&json::document("round", &answer));
    Ok(if answer.again {
        Exit::Usage
    } else if answer.needs_person {
        Exit::Refused
    } else {
        Exit::Allowed
    })
}
