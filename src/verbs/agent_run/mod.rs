//! `andon agent run CLIENT -- ARGS...`: a client's headless mode ends with 0 whatever its hooks refused, so that a bare
//! `while` would start it for ever. This one says by its exit code that the loop is halted.

pub mod run;

use self::run::LaunchedAgent;
use crate::cli::Shell;
use crate::cli::error::{self, Exit};
use crate::cli::output;
use andon_core::domain::agent::Client;
use andon_core::domain::decision::{Decision, Verdict};
use andon_core::domain::diagnostic::Diagnostic;
use andon_engine::effect::program::ProgramError;
use andon_engine::error::OpsError;
use andon_engine::text::message::{self, Consequence};
use andon_engine::workspace::Workspace;
use testreport::Stream;

/// Starts the program of `client` with `arguments`, unless the loop is halted.
pub fn main(shell: &Shell, client: Client, arguments: &[String]) -> Result<Exit, OpsError> {
    let command = run::command(client, arguments)?;
    if shell.ctx.is_switched_off() {
        return started(shell, &command).map(Exit::Passed);
    }
    let ws = Workspace::open(&shell.ctx)?;
    let (before, warnings) = run::standing(&shell.ctx, &ws)?;
    if say(shell, &before, &warnings, Consequence::NotStarted) {
        return Ok(Exit::Refused);
    }
    let code = started(shell, &command)?;
    // Another program has run meanwhile: what it wrote is read anew.
    match Workspace::open(&shell.ctx).and_then(|ws| run::standing(&shell.ctx, &ws)) {
        Ok((after, warnings)) if say(shell, &after, &warnings, Consequence::Done) => Ok(Exit::Refused),
        Ok(_) => Ok(Exit::Passed(code)),
        Err(err) => {
            shell.out.message(&message::diagnostics(&error::diagnostics(&err), shell.out.err));
            Ok(Exit::Passed(code))
        }
    }
}

/// Runs it with our streams and signals; its exit code.
fn started(shell: &Shell, command: &LaunchedAgent) -> Result<u8, OpsError> {
    let mut pass = |stream: Stream, bytes: &[u8]| match stream {
        Stream::Stdout => shell.out.pass_out(bytes),
        Stream::Stderr => shell.out.pass_err(bytes),
    };
    match run::start(&shell.ctx, command, &output::screens(), &mut pass) {
        Err(ProgramError::NotFound { program }) => {
            let what = format!("{program}: command not found");
            let missing = Diagnostic::error(what).help("install the client, or put its program on the PATH");
            shell.out.message(&message::diagnostic(&missing, shell.out.err));
            Ok(NOT_FOUND)
        }
        ended => Ok(ended?.code()),
    }
}

/// What shells end with where there is no such program.
const NOT_FOUND: u8 = 127;

/// Says why the loop is halted; whether it is.
fn say(shell: &Shell, decision: &Decision, warnings: &[Diagnostic], came: Consequence) -> bool {
    shell.out.message(&message::diagnostics(warnings, shell.out.err));
    let is_halted = decision.verdict >= Verdict::Block;
    if is_halted {
        shell.out.message(&message::decision(decision, came, shell.out.err));
    }
    is_halted
}
