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

mod supervisor;

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
mod windows;
#[cfg(windows)]
use self::{windows as signals, windows as start, windows as terminal};

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::{ffi::OsString, fs::File, process::ExitStatus};

use thiserror::Error;

use self::{signals::HeldSignals, supervisor::Supervisor, terminal::Size};
use andon_config::TestCommand;
use andon_core::domain::Span;
use andon_git::platform::processes;
use testreport::Stream;

pub use self::terminal::{Screens, wait_for_input};

/// The state of a terminal's input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputState {
    /// There may be some.
    Something,
    /// There is none yet.
    Nothing,
    /// The terminal is gone.
    Gone,
}

/// The whole environment of a command: names and values.
pub type Environment = Vec<(OsString, OsString)>;

/// The surroundings that a command runs in.
#[derive(Clone, Copy)]
pub struct Surroundings<'a> {
    /// Its working directory.
    pub directory: &'a Path,
    /// Its whole environment.
    pub environment: &'a Environment,
    /// The terminals that show its output.
    pub screens: &'a Screens,
    /// Called when it has ended, before the rest of its output is waited for.
    pub at_end: &'a dyn Fn(),
}

/// A command that could not be run.
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
    NotFound { program: String },
    /// The program could not be started.
    #[error("{program} could not be started: {source}")]
    Start { program: String, source: io::Error },
    /// The program could not be waited for.
    #[error("{program} could not be waited for: {source}")]
    Wait { program: String, source: io::Error },
    /// Signals could not be held back.
    #[error("signals could not be held back for the test command: {0}")]
    Signals(io::Error),
}

impl ProgramError {
    /// The remedy, where one is known.
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
        spec: &TestCommand,
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
        let ended = Supervisor::new(command, group, timeout).run(held, outputs, around.at_end, sink);
        ended.map_err(|source| ProgramError::Wait { program, source })
    }
}

/// The program and its arguments.
fn argv_of(spec: &TestCommand) -> Result<Vec<String>, ProgramError> {
    match spec {
        TestCommand::Shell(line) if line.trim().is_empty() => Err(ProgramError::Empty),
        TestCommand::Shell(line) => Ok(["sh", "-c", line].map(str::to_owned).to_vec()),
        TestCommand::Argv(argv) => Ok(argv.clone()),
    }
}

#[cfg(test)]
mod tests;

/// The end of the command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandExit {
    /// By itself, with this code.
    Code(i32),
    /// Killed by this signal.
    Signal(i32),
}

/// The outside cause of a command's end, if any.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopCause {
    /// It ended by itself.
    No,
    /// It ran into the timeout.
    TimedOut,
    /// This signal came while it ran, to it or through us.
    Forwarded(i32),
}

/// A program that was seen at work below the command, writing to its output.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct StartedProgram {
    /// Its name and its arguments; none where only its directory is of interest.
    pub words: Vec<String>,
    /// Its working directory.
    pub directory: PathBuf,
}

/// The end of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramEnd {
    /// Its exit code, or the signal that ended it.
    pub exit: CommandExit,
    /// The outside cause, if any.
    pub stopped: StopCause,
    /// Test runners, and scripts that may be one, that were seen below it; none on systems that do not show them.
    pub started: Vec<StartedProgram>,
}

impl ProgramEnd {
    /// The exit code to pass on: its own, or 128 and the number of the signal, as shells do.
    pub fn code(&self) -> u8 {
        match self.exit {
            CommandExit::Code(code) => u8::try_from(code & 0xff).unwrap_or(1),
            CommandExit::Signal(signal) => u8::try_from(128_i32.saturating_add(signal) & 0xff).unwrap_or(1),
        }
    }
}

impl CommandExit {
    /// From what the system says.
    fn from_status(status: ExitStatus) -> Self {
        match (status.code(), processes::signal_of(status)) {
            (Some(code), _) => Self::Code(code),
            (None, Some(signal)) => Self::Signal(signal),
            (None, None) => Self::Code(1),
        }
    }
}

/// A command that is to be started.
struct Start<'a> {
    /// Program, looked for in `PATH`, and its arguments.
    argv: &'a [String],
    /// Its working directory.
    directory: &'a Path,
    env: &'a Environment,
    screens: &'a Screens,
    group: Group,
}

/// The output of a command as we read it.
struct Outputs {
    streams: [(Stream, File); 2],
    /// The sizes of those that are terminals.
    sizes: Vec<Size>,
}

/// The process group of the command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Group {
    /// The command's own: it leads it.
    Own,
    /// Ours, the foreground group of the terminal.
    Ours,
}

/// A report of the system while a command runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Notice {
    /// A signal that is meant to end what runs: [`ending_signals`] has it.
    Ending,
    /// A process that we started may have ended.
    ChildEnded,
    /// The terminal may have another size.
    #[cfg_attr(windows, allow(dead_code, reason = "nothing tells of it there"))]
    Resized,
}

/// A signal for a command and all that it started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SentSignal {
    /// A signal that came for us, by its number.
    Signal(i32),
    /// To end, and to clean up before.
    Terminate,
    /// To end at once.
    Kill,
    /// Its terminal has another size.
    Resized,
}

/// The count of ending signals that came for this process, in the upper half, and the number of the last one. Each is
/// for every command that runs, not only for the one whose watch took it.
static CAME: AtomicU64 = AtomicU64::new(0);

/// Notes that an ending signal came.
fn ending_signal_came(number: i32) {
    let next = |before: u64| ((before >> 32) + 1) << 32 | u64::from(number.unsigned_abs());
    let _always = CAME.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |before| Some(next(before)));
}

/// The count of ending signals that came, and the number of the last one.
fn ending_signals() -> (u64, i32) {
    let came = CAME.load(Ordering::SeqCst);
    (came >> 32, i32::try_from(came & 0xffff_ffff).unwrap_or_default())
}
