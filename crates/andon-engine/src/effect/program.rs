//! The door through which the test command is started.
//!
//! `andon test` must be invisible: the same output as it comes, the same exit code, the same answer to
//! Ctrl-C. So the command's two streams run to the caller's sink in the order of arrival, through a terminal of
//! their own where they are shown on one and through pipes elsewhere; standard input stays the caller's own, and
//! signals that reach this process reach the command.
//!
//! Process groups: with a terminal on standard input the command stays in the terminal's foreground group,
//! so that it can read from it and gets Ctrl-C from it; other signals and the timeout go to the processes
//! below it, as `/proc` shows them. Otherwise it leads a group of its own, and they go to that group. Windows has neither
//! groups nor terminals to give away: there the command writes to pipes, and is ended with all that it started.

mod command;
mod end;
mod supervisor;

#[cfg(unix)]
#[path = "program/unix/descendants.rs"]
mod descendants;
#[cfg(unix)]
#[path = "program/unix/sightings.rs"]
mod sightings;
#[cfg(unix)]
#[path = "program/unix/signals.rs"]
mod signals;
#[cfg(unix)]
#[path = "program/unix/start.rs"]
mod start;
#[cfg(unix)]
#[path = "program/unix/terminal.rs"]
mod terminal;

#[cfg(windows)]
#[path = "program/windows/signals.rs"]
mod signals;
#[cfg(windows)]
#[path = "program/windows/start.rs"]
mod start;
#[cfg(windows)]
#[path = "program/windows/terminal.rs"]
mod terminal;

use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use thiserror::Error;

use andon_core::domain::time::Span;
use testreport::Stream;

pub use self::end::{CommandExit, ProgramEnd, StartedProgram, StopCause};
pub use self::terminal::{Screens, wait_for_input};

/// What is known of a terminal's input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputState {
    /// There may be some.
    Something,
    /// There is none yet.
    Nothing,
    /// The terminal is gone.
    Gone,
}

use self::command::{Group, Start};
use self::signals::HeldSignals;
use self::supervisor::Supervisor;

/// A test command, as the configuration or the command line gives it. How it is shown and compared is
/// settled in `config`, a neighbour that this module does not know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandLine {
    /// A line for `sh -c`.
    Shell(String),
    /// Program and arguments, started without a shell.
    Argv(Vec<String>),
}

/// The whole environment of a command: names and values.
pub type Environment = Vec<(OsString, OsString)>;

/// Where a command runs.
#[derive(Clone, Copy)]
pub struct Surroundings<'a> {
    /// Its working directory.
    pub directory: &'a Path,
    /// Its whole environment.
    pub environment: &'a Environment,
    /// Where its output is shown.
    pub screens: &'a Screens,
    /// Called when it has ended, before the rest of its output is waited for.
    pub at_end: &'a dyn Fn(),
}

/// Why the command could not be run.
#[derive(Debug, Error)]
pub enum ProgramError {
    /// An empty argument list.
    #[error("the test command is empty")]
    Empty,
    /// The directory is not there.
    #[error("cannot run the test command in {0}: no such directory")]
    NoDirectory(PathBuf),
    /// No such program.
    #[error("{program}: command not found")]
    NotFound {
        /// Its name, as the command has it.
        program: String,
    },
    /// The program could not be started.
    #[error("{program} could not be started: {source}")]
    Start {
        /// Its name, as the command has it.
        program: String,
        /// What the system says.
        source: io::Error,
    },
    /// The program could not be waited for.
    #[error("{program} could not be waited for: {source}")]
    Wait {
        /// Its name, as the command has it.
        program: String,
        /// What the system says.
        source: io::Error,
    },
    /// Signals could not be held back.
    #[error("signals could not be held back for the test command: {0}")]
    Signals(io::Error),
}

impl ProgramError {
    /// What repairs it, where that is known.
    pub fn help(&self) -> Option<String> {
        let help = match self {
            Self::Empty => "set `test.command` in andon.toml",
            Self::NotFound { .. } => {
                "install it, or correct `test.command` in andon.toml (a string runs in a shell, a list does not)"
            }
            Self::NoDirectory(_) | Self::Start { .. } | Self::Wait { .. } | Self::Signals(_) => return None,
        };
        Some(help.to_owned())
    }
}

/// SIGINT, SIGTERM, SIGHUP, SIGQUIT and SIGCHLD held back in the calling thread and those that it starts, for as long as
/// this lives: what runs under it gets the first four. For that no other thread of the process may take them: begin in a
/// process that has no other threads.
pub struct Signals(HeldSignals);

impl Signals {
    /// Holds them back.
    ///
    /// # Errors
    /// The system refuses.
    pub fn hold() -> Result<Self, ProgramError> {
        HeldSignals::hold().map(Self).map_err(ProgramError::Signals)
    }

    /// Runs the test command and hands its output to `sink` in chunks as it comes. Several threads may each run one.
    ///
    /// After `timeout` the command gets SIGTERM, and five seconds later SIGKILL. A process that the command left behind with
    /// its output in its hands is waited for two seconds, not longer.
    ///
    /// # Errors
    /// The command cannot be started or waited for.
    pub fn run(
        &self,
        spec: &CommandLine,
        around: Surroundings<'_>,
        timeout: Option<Span>,
        sink: &mut dyn FnMut(Stream, &[u8]),
    ) -> Result<ProgramEnd, ProgramError> {
        let argv = argv_of(spec)?;
        let program = argv.first().cloned().ok_or(ProgramError::Empty)?;
        let Surroundings { directory, environment: env, screens, .. } = around;
        if !directory.is_dir() {
            return Err(ProgramError::NoDirectory(directory.to_owned()));
        }
        let group = if io::stdin().is_terminal() { Group::Ours } else { Group::Own };
        let Self(held) = self;
        let (command, outputs) = match (Start { argv: &argv, directory, env, screens, group }).run(held) {
            Ok(started) => started,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(ProgramError::NotFound { program });
            }
            Err(source) => return Err(ProgramError::Start { program, source }),
        };
        let ended = Supervisor::new(command, group, timeout).run((held, outputs), around.at_end, sink);
        ended.map_err(|source| ProgramError::Wait { program, source })
    }
}

/// The program and its arguments.
fn argv_of(spec: &CommandLine) -> Result<Vec<String>, ProgramError> {
    match spec {
        CommandLine::Shell(line) if line.trim().is_empty() => Err(ProgramError::Empty),
        CommandLine::Shell(line) => Ok(["sh", "-c", line].map(str::to_owned).to_vec()),
        CommandLine::Argv(argv) => Ok(argv.clone()),
    }
}

#[cfg(test)]
mod tests;
