//! What is started, and whether it may be.

use andon_core::domain::agent::Client;
use andon_core::domain::decision::{Decision, Stage};
use andon_core::domain::diagnostic::Diagnostic;
use andon_engine::context::Context;
use andon_engine::effect::program::{CommandLine, ProgramEnd, ProgramError, Screens, Signals, Surroundings};
use andon_engine::error::OpsError;
use andon_engine::gate::rule_feed::{self, FeedStage};
use andon_engine::workspace::Workspace;
use testreport::Stream;

/// The program of a client and its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaunchedAgent(CommandLine);

/// The command line that starts `client`.
///
/// # Errors
/// The client has no program of its own, and none is named.
pub fn command(client: Client, arguments: &[String]) -> Result<LaunchedAgent, OpsError> {
    let argv: Vec<String> =
        client.program().map(str::to_owned).into_iter().chain(arguments.iter().cloned()).collect();
    if argv.is_empty() {
        return Err(OpsError::Usage {
            what: format!("it is not known which program starts {}", client.title()),
            help: format!("name it: andon agent run {} -- PROGRAM ARGS...", client.as_str()),
        });
    }
    Ok(LaunchedAgent(CommandLine::Argv(argv)))
}

/// Whether a halt or a stop file holds the loop.
///
/// # Errors
/// Whatever keeps that from being known.
pub fn standing(ctx: &Context, ws: &Workspace) -> Result<(Decision, Vec<Diagnostic>), OpsError> {
    let (decision, warnings, _) = rule_feed::decide(ctx, ws, FeedStage::At(Stage::Halts))?;
    Ok((decision, warnings))
}

/// Runs it in the working directory with the whole environment.
///
/// # Errors
/// It cannot be started or waited for.
pub fn start(
    ctx: &Context,
    command: &LaunchedAgent,
    screens: &Screens,
    pass: &mut dyn FnMut(Stream, &[u8]),
) -> Result<ProgramEnd, ProgramError> {
    let environment = ctx.environment_without(&[]);
    let around = Surroundings { directory: &ctx.cwd, environment: &environment, screens, at_end: &|| () };
    Signals::hold()?.run(&command.0, around, None, pass)
}
