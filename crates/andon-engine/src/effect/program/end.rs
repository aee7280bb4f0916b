//! How a command ended, apart from how it was run.

use std::path::PathBuf;
use std::process::ExitStatus;

use andon_git::platform::processes;

/// How the command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandExit {
    /// By itself, with this code.
    Code(i32),
    /// Killed by this signal.
    Signal(i32),
}

/// Whether the command was stopped from outside.
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
    /// Its name and its arguments.
    pub words: Vec<String>,
    /// Its working directory.
    pub directory: PathBuf,
}

/// The end of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramEnd {
    /// Its exit code, or the signal that ended it.
    pub exit: CommandExit,
    /// Whether it was stopped.
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
    pub(super) fn from_status(status: ExitStatus) -> Self {
        match (status.code(), processes::signal_of(status)) {
            (Some(code), _) => Self::Code(code),
            (None, Some(signal)) => Self::Signal(signal),
            (None, None) => Self::Code(1),
        }
    }
}
