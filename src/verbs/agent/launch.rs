//! `andon agent run CLIENT -- ARGS...`: a client's headless mode ends with 0 whatever its hooks refused, so that a bare
//! `while` would start it for ever. This one says by its exit code that the loop is halted.

use crate::cli::{Exit, Shell, error, output};
use andon_config::TestCommand;
use andon_core::domain::{Client, Decision, Diagnostic, Hint, Stage, Verdict};
use andon_engine::effect::{ProgramError, Signals, Surroundings};
use andon_engine::gate::{FeedStage, rule_feed};
use andon_engine::text::{Consequence, message};
use andon_engine::{Context, OpsError, Result, Workspace};
use testreport::Stream;

/// Starts the program of `client` with `arguments`, unless the loop is halted.
pub fn run(shell: &Shell, client: Client, arguments: &[String]) -> Result<Exit> {
    let command = command(client, arguments)?;
    if shell.ctx.is_switched_off() {
        return started(shell, &command).map(Exit::Passed);
    }
    let ws = Workspace::open(&shell.ctx)?;
    let (before, warnings) = standing(&shell.ctx, &ws)?;
    if say(shell, &before, &warnings, Consequence::NotStarted) {
        return Ok(Exit::Refused);
    }
    let code = started(shell, &command)?;
    // Another program has run meanwhile: what it wrote is read anew.
    match Workspace::open(&shell.ctx).and_then(|ws| standing(&shell.ctx, &ws)) {
        Ok((after, warnings)) if say(shell, &after, &warnings, Consequence::Done) => Ok(Exit::Refused),
        Ok(_) => Ok(Exit::Passed(code)),
        Err(err) => {
            shell.tell(&error::diagnostics(&err));
            Ok(Exit::Passed(code))
        }
    }
}

/// Runs it in the working directory with our environment, streams and signals; its exit code.
fn started(shell: &Shell, command: &TestCommand) -> Result<u8> {
    let mut pass = |stream: Stream, bytes: &[u8]| match stream {
        Stream::Stdout => shell.out.pass_out(bytes),
        Stream::Stderr => shell.out.pass_err(bytes),
    };
    let (screens, environment) = (output::screens(), shell.ctx.environment_without(&[]));
    let (directory, environment, screens) = (shell.ctx.cwd.as_path(), &environment, &screens);
    let around = Surroundings { directory, environment, screens, at_end: &|| () };
    match Signals::hold().and_then(|held| held.run(command, around, None, &mut pass)) {
        Err(ProgramError::NotFound { program }) => {
            let what = format!("{program}: command not found");
            let missing = Diagnostic::error(what).help("install the client, or put its program on the PATH");
            shell.tell(&[missing]);
            Ok(NOT_FOUND)
        }
        ended => Ok(ended?.code()),
    }
}

/// The exit code of shells where there is no such program.
const NOT_FOUND: u8 = 127;

/// Says why the loop is halted; whether it is.
fn say(shell: &Shell, decision: &Decision, warnings: &[Diagnostic], came: Consequence) -> bool {
    shell.tell(warnings);
    let is_halted = decision.verdict >= Verdict::Block;
    if is_halted {
        shell.out.message(&message::decision(decision, came, shell.out.err));
    }
    is_halted
}

/// The command line that starts `client`.
///
/// # Errors
/// The client has no program of its own, and none is named.
fn command(client: Client, arguments: &[String]) -> Result<TestCommand> {
    let argv: Vec<String> =
        client.program().map(str::to_owned).into_iter().chain(arguments.iter().cloned()).collect();
    if argv.is_empty() {
        return Err(OpsError::usage(
            format!("it is not known which program starts {}", client.title()),
            Hint::AgentRun.with([client.as_str()]),
        ));
    }
    Ok(TestCommand::Argv(argv))
}

/// The decision of the rules about halts and stop files.
///
/// # Errors
/// Whatever keeps that from being known.
fn standing(ctx: &Context, ws: &Workspace) -> Result<(Decision, Vec<Diagnostic>)> {
    let (decision, loaded) = rule_feed::decide(ctx, ws, FeedStage::At(Stage::Halts))?;
    Ok((decision, loaded.warnings))
}
